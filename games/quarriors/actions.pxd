# cython: language_level=3
"""What each action does."""
from libc.stdint cimport int32_t, uint8_t

from games.quarriors.casting cimport *
from games.quarriors.destruction cimport *
from games.quarriors.reading cimport *
from games.quarriors.scoring cimport *
from games.quarriors.state cimport *
from games.quarriors.steps cimport *
from games.quarriors.turn cimport *
from games.quarriors.zones cimport *


cdef inline void use_face(const Tables *T, State *s, uint8_t die, int32_t number) noexcept nogil:
    """Use an immediate face (B37 to B48)."""
    cdef const Use *use = &face_of(T, s, die).uses[number]
    cdef Player *p = &s.player[s.active]
    cdef int32_t slot = die >> 3, i, others = 0
    park(s)
    pool_take(T, s, die)
    if use.itself:
        p.wait[slot] += 1
    else:
        spend(T, s, slot)                                                 # B40
    if use.quid:
        add_quid(s, use.flavour, use.quid)
    s.captures += use.captures
    if use.lone >= 0:
        for i in range(SLOTS):
            if i != slot:
                others += p.bag[i] + p.used[i]
        if others == 0:                                                   # A87
            if T.lvd:
                p.spent[slot] -= 1
            else:
                p.used[slot] -= 1
            pool_add(T, s, slot * 8 + use.lone)
            return
    if use.draw or use.itself or use.others:
        dearer_again(s)
        push(s, Q_ROLL, 0, 0, 0)
        if use.draw:
            push(s, Q_DRAW, use.draw, s.active, 0)
        if use.others:
            push(s, Q_REROLL, use.others, 0, 0)

cdef inline void decline_recopy(Player *q, bint alike_too) noexcept nogil:
    """The marked creature stays what it is. Before scoring that is for the whole turn; before a summon it is not asked
    about again until the next, and neither are its likes."""
    cdef int32_t i, k
    for i in range(q.n_ready):
        if q.ready[i].flags & F_MARK:
            q.ready[i].flags &= ~F_MARK
            if not alike_too:
                q.ready[i].flags |= F_RECOPIED
                return
            for k in range(q.n_ready):
                if k != i and alike(&q.ready[k], &q.ready[i]):
                    q.ready[k].flags |= F_DECLINED
            q.ready[i].flags |= F_DECLINED
            return

cdef inline void do_done(const Tables *T, State *s, Frame *f, int32_t op) noexcept nogil:
    if op == P_RECOPY or op == P_SURCHARGE:
        decline_recopy(&s.player[s.active if op == P_RECOPY else (s.active + f.a) % T.n_players], op == P_SURCHARGE)
    elif op == Q_EVENT or op == P_WINDOW:
        step(T, s)
    elif op == P_CLEAN:
        go(s, P_END, 0, 0, 0)
    elif op == Q_REROLL:
        pop(s)
    elif op == Q_CULL:
        leave_cull(s)
    else:
        step(T, s)

cdef inline void do_summon(const Tables *T, State *s, Frame *f, int32_t op, int32_t arg) noexcept nogil:
    cdef uint8_t die
    die = arg
    pool_take(T, s, die)
    if op == Q_TOGETHER:
        f.a -= 1
        push(s, Q_JOINS, die, 0, 0)
        charge(T, s, surcharge(T, s, s.active), 0)
        return
    push(s, Q_SUMMONED, die, 0, 0)
    charge(T, s, face_of(T, s, die).level + surcharge(T, s, s.active), 0)          # B59

cdef inline void do_capture(const Tables *T, State *s, int32_t arg) noexcept nogil:
    push(s, Q_CAPTURED, arg, 0, 0)
    charge(T, s, max(0, <int32_t>T.card[s.card[arg]].cost - s.discount), 0)

cdef inline void do_capture_discounted(const Tables *T, State *s, int32_t arg) noexcept nogil:
    push(s, Q_CAPTURED, arg, 0, 0)
    charge(T, s, max(0, <int32_t>T.card[s.card[arg]].discounted - s.discount), T.card[s.card[arg]].energy)

cdef inline void do_pay(const Tables *T, State *s, Frame *f, int32_t arg) noexcept nogil:
    cdef int32_t k
    k = f.a
    pop(s)
    pay(T, s, 1, arg >> 4)
    pay(T, s, 2, arg & 15)
    pay(T, s, 0, k - (arg >> 4) - (arg & 15))

cdef inline void do_ready(const Tables *T, State *s, int32_t arg) noexcept nogil:
    cdef Player *p = &s.player[s.active]
    pool_take(T, s, arg)
    readied_add(p, (arg >> 3) - FIRST_SPELL, spell_kind(T, s, arg), 1)

cdef inline void do_anchored(const Tables *T, State *s, int32_t arg) noexcept nogil:
    push(s, Q_ANCHORED, arg, 0, 0)
    pay(T, s, T.card[s.card[arg]].face[6].flavour, T.card[s.card[arg]].face[6].quid)       # D27

cdef inline void do_lock(const Tables *T, State *s, int32_t op, int32_t family, int32_t arg) noexcept nogil:
    if op == Q_LOCK:
        pop(s)
    lock_die(T, s, s.active if family == A_LOCK else arg >> 7, arg & 127)
    if op == Q_LOCK and lock_waits(T, s):
        push(s, Q_LOCK, 0, 0, 0)

cdef inline void do_unlock(const Tables *T, State *s, int32_t arg) noexcept nogil:
    push(s, Q_UNLOCKED, arg, 0, 0)
    charge(T, s, 2, 0)

cdef inline void do_use(const Tables *T, State *s, int32_t op, int32_t family, int32_t arg) noexcept nogil:
    cdef int32_t i, k
    if op == Q_FRESH:
        i = s.n_stack - 1
        while s.stack[i].a != arg:
            i -= 1
        s.stack[i].b -= 1
        if s.stack[i].b == 0:
            for k in range(i, s.n_stack - 1):
                s.stack[k] = s.stack[k + 1]
            pop(s)
    use_face(T, s, arg, family - A_USE0)

cdef inline void do_reroll(const Tables *T, State *s, Frame *f, int32_t arg) noexcept nogil:
    cdef Player *p = &s.player[s.active]
    pool_take(T, s, arg)
    p.wait[arg >> 3] += 1
    f.a -= 1
    if f.a == 0:
        pop(s)

cdef inline void do_cull(const Tables *T, State *s, Frame *f, int32_t op, int32_t arg) noexcept nogil:
    cdef Player *p = &s.player[s.active]
    if op == Q_CULL and f.b:
        p.spent[arg] -= 1
    else:
        p.used[arg] -= 1
        left_pile(T, s, arg)
    s.wilds[arg] += 1
    if op == P_CULL:
        s.culls -= 1
        if s.culls == 0:
            go(s, P_DRAW, 0, 0, 0)
    elif op == Q_CULL:
        f.a -= 1
        if f.a == 0:
            pop(s)
    else:
        go(s, Q_TAKE, 0, T.card[s.card[arg]].cost + f.a, 0)

cdef inline void do_creature(const Tables *T, State *s, Frame *f, int32_t op, int32_t arg) noexcept nogil:
    cdef Player *q
    cdef Creature *c
    cdef uint8_t die
    cdef int32_t i, k, seat, before
    k = arg & 15
    die = arg >> 4 & 127
    seat = arg >> 11
    q = &s.player[seat]
    c = &q.ready[find_creature(q, die, k)]
    if op == P_DEFEND:
        if s.rem >= defense_of(T, s, seat, c):
            c.flags |= F_DOOMED
            open_event(s, EV_DAMAGE, 0, 0, s.active)
        else:
            c.flags |= F_SAFE
            s.rem = 0
    elif op == Q_TARGET:
        i = face_of(T, s, f.c).ops[f.a].code
        if i == O_ROTATE_OWN or i == O_ROTATE_ANY:
            c.flags |= F_MARK
            go(s, Q_ROTATE, face_of(T, s, f.c).ops[f.a].n, 0, 0)
        else:
            c.flags |= F_DOOMED
            pop(s)
    elif op == Q_HOST:
        att_add(T, c, (f.a >> 3) - FIRST_SPELL, spell_kind(T, s, f.a), 1)
        if c.rec:
            s.rec[c.rec - 1].value += face_of(T, s, f.a).host_atk
        pop(s)
    elif op == Q_ZERO:
        c.flags |= F_ZERO
        s.rec[c.rec - 1].zero = 1
        pop(s)
    elif op == Q_RETURN:
        c.flags |= F_KEEP
        pop(s)
    elif op == Q_SPELLHOST:
        before = 0
        if c.rec:
            before = face_of(T, s, f.b).host_atk
            s.rec[c.rec - 1].value -= before
        att_add(T, c, (f.b >> 3) - FIRST_SPELL, spell_kind(T, s, f.b), -1)
        q.used[f.b >> 3] += 1
        pop(s)

cdef inline void do_cast(const Tables *T, State *s, Frame *f, int32_t op, int32_t arg) noexcept nogil:
    cdef Player *q
    cdef const FaceTable *face
    cdef uint8_t die
    cdef int32_t i, seat
    die = arg
    face = face_of(T, s, die)
    seat = s.active
    if op == Q_EVENT:
        seat = (s.active + f.b) % T.n_players
    elif op == P_WINDOW:
        seat = s.defender if f.a == 0 else (s.active + f.a) % T.n_players
    q = &s.player[seat]
    readied_add(q, (die >> 3) - FIRST_SPELL, spell_kind(T, s, die), -1)
    if seat == s.active and face.attach:
        push(s, Q_HOST, die, 0, 0)
        return
    if seat == s.active:
        spend(T, s, die >> 3)                                         # B89
        push(s, Q_STEPS, die, 0, 1)
        return
    q.used[die >> 3] += 1
    if op == P_WINDOW:
        push(s, Q_ZERO, die, seat, 0)
    else:
        q.charm |= face.react_pool
        if face.react_def:
            for i in range(q.n_ready):
                q.ready[i].dfn += face.react_def
            recheck(T, s)
        if face.react_return and any_not_kept(q):
            push(s, Q_RETURN, die, seat, 0)

cdef inline void do_recopy(const Tables *T, State *s, Frame *f, int32_t op, int32_t arg) noexcept nogil:
    cdef Player *q
    cdef int32_t i, k, seat
    seat = s.active
    if op == Q_EVENT:
        seat = (s.active + f.b) % T.n_players
    elif op == P_WINDOW:
        seat = s.defender
    q = &s.player[seat]
    k = arg
    for i in range(q.n_ready):
        if may_recopy(T, s, seat, &q.ready[i]):
            if k == 0:
                q.ready[i].flags |= F_MARK | F_RECOPIED
                push(s, Q_COPY, seat, 0, 0)
                return
            k -= 1

cdef inline void do_copy(const Tables *T, State *s, Frame *f, int32_t op, int32_t arg) noexcept nogil:
    cdef Player *q
    cdef int32_t i, seat
    seat = f.a if op == Q_COPY else ((s.active + f.a) % T.n_players if op == P_SURCHARGE else s.active)
    q = &s.player[seat]
    for i in range(q.n_ready):
        if q.ready[i].flags & F_MARK:
            set_copy(T, s, &q.ready[i], arg)
            q.ready[i].flags &= ~F_MARK
            if op != Q_COPY:
                q.ready[i].flags |= F_RECOPIED
            break
    if op == Q_COPY:
        pop(s)
        if s.stack[s.n_stack - 1].op == Q_EVENT:
            recheck(T, s)

cdef inline void do_return(const Tables *T, State *s, Frame *f, int32_t arg) noexcept nogil:
    cdef Player *q
    cdef Creature *c
    cdef int32_t slot
    q = &s.player[(s.active + f.b) % T.n_players]
    c = &q.ready[find_creature(q, arg >> 4, arg & 15)]
    slot = slot_of_class(T, s, eff(T, s, c).dead_cull - 1)
    q.used[slot] -= 1
    s.wilds[slot] += 1
    c.flags |= F_KEEP

cdef inline void do_destination(const Tables *T, State *s, Frame *f, int32_t family) noexcept nogil:
    cdef Player *q
    cdef int32_t i
    q = &s.player[(s.active + f.b) % T.n_players]
    for i in range(q.n_ready):
        if q.ready[i].flags & F_DOOMED and not q.ready[i].flags & (F_KEEP | F_MARK) and eff(
                T, s, &q.ready[i]).dead_aside:
            q.ready[i].flags |= F_MARK | (F_ASIDE if family == A_ASIDE else 0)
            break

cdef inline void do_discard(const Tables *T, State *s, Frame *f, int32_t arg) noexcept nogil:
    cdef Player *p = &s.player[s.active]
    f.a = 1
    readied_add(p, (arg >> 3) - FIRST_SPELL, spell_kind(T, s, arg), -1)
    p.used[arg >> 3] += 1

cdef inline void do_rotate(const Tables *T, State *s, int32_t arg) noexcept nogil:
    cdef Player *q
    cdef Creature *c
    cdef int32_t i, seat, before
    for seat in range(T.n_players):
        q = &s.player[seat]
        for i in range(q.n_ready):
            c = &q.ready[i]
            if c.flags & F_MARK:
                before = attack_of(T, s, seat, c)
                c.die = arg
                c.flags &= ~(F_MARK | F_LOCKED | (F_RECOPIED if locked_now(c) else 0))   # LK17
                if c.rec:
                    s.rec[c.rec - 1].value += attack_of(T, s, seat, c) - before
                    s.rec[c.rec - 1].level = level_of(T, s, c)
                    s.rec[c.rec - 1].die = shape(c)
                return

cdef inline void do_order(const Tables *T, State *s, int32_t arg) noexcept nogil:
    """D34"""
    cdef int32_t i, k
    i = s.n_stack - 2
    while s.stack[i].a != arg:
        i -= 1
    for k in range(i, s.n_stack - 1):
        s.stack[k] = s.stack[k + 1]
    s.stack[s.n_stack - 1] = Frame(Q_STEPS, arg, 0, 1)

cdef inline void do_resolve(const Tables *T, State *s, int32_t op, int32_t family, int32_t arg) noexcept nogil:
    cdef int32_t i, die, chosen = -1
    if op == Q_ORDER:
        do_order(T, s, arg)
        return
    for i in range(s.n_pend):
        die = s.pend[i][1] & ~LEFT
        if ((family == A_RESOLVE and s.pend[i][0] == arg and die == arg)
                or (family == A_RESOLVE_OF and s.pend[i][0] == arg >> 4 and die >> 3 == (arg & 15))):
            if usable(T, s, i) and (chosen < 0 or s.pend[i][1] & LEFT):    # whose die has left can fetch more
                chosen = i
    resolve(T, s, chosen)

cdef inline void do_cullspell(const Tables *T, State *s, Frame *f, int32_t family, int32_t arg) noexcept nogil:
    cdef Player *p = &s.player[s.active]
    cdef int32_t slot, i, k, kind
    slot = arg if family == A_CULL_POOL else arg >> 3
    if family == A_CULL_POOL:
        p.wait[slot] -= 1
    elif family == A_CULL_READY:
        readied_add(p, slot - FIRST_SPELL, spell_kind(T, s, arg), -1)
    else:
        kind = spell_kind(T, s, arg)
        k = -1
        for i in range(p.n_ready):
            if att_get(T, &p.ready[i], slot - FIRST_SPELL, kind) and (k < 0 or not unlocked(&p.ready[k])):
                k = i
        att_add(T, &p.ready[k], slot - FIRST_SPELL, kind, -1)
    s.wilds[slot] += 1
    gain_glory(T, s, f.a)

cdef inline void do_swap(const Tables *T, State *s, Frame *f, int32_t arg) noexcept nogil:
    cdef Player *p = &s.player[s.active]
    cdef int32_t slot, seat
    slot, seat = arg >> 2, arg & 3
    p.used[f.a] -= 1
    p.used[slot] += 1
    s.player[seat].used[slot] -= 1
    s.player[seat].used[f.a] += 1
    pop(s)

cdef inline void do_take(const Tables *T, State *s, Frame *f, int32_t arg) noexcept nogil:
    cdef Player *p = &s.player[s.active]
    s.wilds[arg] -= 1
    if f.a:
        p.bag[arg] += 1
    else:
        p.used[arg] += 1
    pop(s)
    after_capture(T, s)                                               # A63, A64

cdef inline void do_fetch(const Tables *T, State *s, int32_t arg) noexcept nogil:
    cdef Player *p = &s.player[s.active]
    p.used[arg] -= 1
    p.wait[arg] += 1
    pop(s)
    left_pile(T, s, arg)

cdef inline void do_spell(const Tables *T, State *s, Frame *f, int32_t arg) noexcept nogil:
    cdef Player *q
    cdef uint8_t die
    cdef int32_t seat
    seat, die = arg >> 7, arg & 127
    q = &s.player[seat]
    readied_add(q, (die >> 3) - FIRST_SPELL, spell_kind(T, s, die), -1)
    q.used[die >> 3] += 1
    f.c = 1

cdef inline void do_attached(const Tables *T, State *s, Frame *f, int32_t arg) noexcept nogil:
    f.c = 1
    push(s, Q_SPELLHOST, arg >> 7, arg & 127, 0)

cdef inline void act(const Tables *T, State *s, int32_t action) noexcept nogil:
    """One option of the question on top of the stack, arguments in slots."""
    cdef Frame *f = &s.stack[s.n_stack - 1]
    cdef int32_t family = action >> SHIFT, arg = action & 0xFFFF, op = f.op
    if family == A_DONE:
        do_done(T, s, f, op)
    elif family == A_SUMMON:
        do_summon(T, s, f, op, arg)
    elif family == A_CAPTURE:
        do_capture(T, s, arg)
    elif family == A_CAPTURE_DISCOUNTED:
        do_capture_discounted(T, s, arg)
    elif family == A_PAY:
        do_pay(T, s, f, arg)
    elif family == A_READY:
        do_ready(T, s, arg)
    elif family == A_ANCHORED:
        do_anchored(T, s, arg)
    elif family == A_LOCK or family == A_LOCK_WITH:
        do_lock(T, s, op, family, arg)
    elif family == A_UNLOCK:
        do_unlock(T, s, arg)
    elif family == A_USE0 or family == A_USE1 or family == A_USE2:
        do_use(T, s, op, family, arg)
    elif family == A_REROLL:
        do_reroll(T, s, f, arg)
    elif family == A_CULL:
        do_cull(T, s, f, op, arg)
    elif family == A_CREATURE:
        do_creature(T, s, f, op, arg)
    elif family == A_CAST:
        do_cast(T, s, f, op, arg)
    elif family == A_RECOPY:
        do_recopy(T, s, f, op, arg)
    elif family == A_COPY:
        do_copy(T, s, f, op, arg)
    elif family == A_RETURN:
        do_return(T, s, f, arg)
    elif family == A_POOL or family == A_ASIDE:
        do_destination(T, s, f, family)
    elif family == A_DISCARD:
        do_discard(T, s, f, arg)
    elif family == A_ROTATE:
        do_rotate(T, s, arg)
    elif family == A_RESOLVE or family == A_RESOLVE_OF:
        do_resolve(T, s, op, family, arg)
    elif family == A_CULL_READY or family == A_CULL_ATTACHED or family == A_CULL_POOL:
        do_cullspell(T, s, f, family, arg)
    elif family == A_SWAP:
        do_swap(T, s, f, arg)
    elif family == A_TAKE:
        do_take(T, s, f, arg)
    elif family == A_FETCH:
        do_fetch(T, s, arg)
    elif family == A_SPELL:
        do_spell(T, s, f, arg)
    elif family == A_ATTACHED:
        do_attached(T, s, f, arg)
