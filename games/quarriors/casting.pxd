# cython: language_level=3
"""Spells, Anchored Spells and the abilities of summons and locks: what they would do, and their steps."""
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memset

from engine_ext.debug cimport QUANDARY_CHECK
from games.quarriors.destruction cimport *
from games.quarriors.reading cimport *
from games.quarriors.state cimport *
from games.quarriors.turn cimport *
from games.quarriors.zones cimport *


# ---- summons -------------------------------------------------------------------------------------

cdef inline void enter(const Tables *T, State *s, int32_t seat, uint8_t die) noexcept nogil:
    """A creature comes into the Ready Area; what it copies is asked at once (A38)."""
    cdef Player *p = &s.player[seat]
    cdef Creature *c
    QUANDARY_CHECK(p.n_ready < MAX_READY, "enter: the Ready Area is full")
    c = &p.ready[p.n_ready]
    memset(c, 0, sizeof(Creature))
    c.die, c.copy = die, NONE
    p.n_ready += 1
    if face_of(T, s, die).copy_enter:
        c.flags = F_MARK
        push(s, Q_COPY, seat, 0, 0)

cdef inline void count_summons(const Tables *T, State *s, uint8_t die) noexcept nogil:
    """A51: of the own summons of a turn, class by class, where the class has a limit."""
    cdef int32_t slot = die >> 3
    if T.card[s.card[slot]].features & FEAT_LIMIT and summons(s, slot) < 15:
        s.summoned[slot >> 1] += 1 << 4 * (slot & 1)

cdef inline void dearer_again(State *s) noexcept nogil:
    """Creatures came, or dice may have come that show some: once all of it is done, the rivals are asked whether
    they make summons dearer (W5)."""
    cdef int32_t i
    if s.stack[0].op != P_MAIN or s.features & (FEAT_COPY | FEAT_SURCHARGE) != FEAT_COPY | FEAT_SURCHARGE:
        return
    for i in range(1, s.n_stack):
        if s.stack[i].op == P_SURCHARGE:
            return
    push(s, P_SURCHARGE, 1, 0, 0)
    for i in range(s.n_stack - 1, 1, -1):
        s.stack[i] = s.stack[i - 1]
    s.stack[1] = Frame(P_SURCHARGE, 1, 0, 0)

cdef inline void summoned(const Tables *T, State *s) noexcept nogil:
    """A creature that was paid for enters; then its abilities, then the window W5 (B60, B64)."""
    cdef uint8_t die = s.stack[s.n_stack - 1].a
    cdef const FaceTable *face = face_of(T, s, die)
    count_summons(T, s, die)
    go(s, P_SURCHARGE, 1, 0, 0)
    if face.n_ops:
        push(s, Q_STEPS, die, 0, 1)
    enter(T, s, s.active, die)

cdef inline void charge(const Tables *T, State *s, int32_t price, int32_t flavour) noexcept nogil:
    """Pay a price with the flavours the player names, at least 1 of `flavour` if not 0. In the base edition only
    cards of one's own bring others than normal."""
    if price > 0 and (T.lvd or s.avail[1] or s.avail[2]):                 # D21
        push(s, Q_PAY, price, flavour, 0)
    else:
        pay(T, s, 0, price)


# ---- summons for nothing -------------------------------------------------------------------------

cdef inline int32_t can_join(const Tables *T, const State *s, int32_t *out) noexcept nogil:
    """Pool creatures that an effect may summon at once with others, for the surcharge alone (K21); how many
    kinds, and unless out is NULL as options."""
    cdef int32_t slot, i, n = 0
    cdef const FaceTable *face
    if s.player[s.active].n_ready == MAX_READY or surcharge(T, s, s.active) > total_avail(s):
        return 0
    for slot in range(1, FIRST_SPELL):
        if row(s.pool[slot]):
            for i in range(6):
                face = &T.card[s.card[slot]].face[i]
                if (s.pool[slot][i] and face.kind & IS_CREATURE
                        and not (face.summonlimit and summons(s, slot) >= face.summonlimit)):
                    if out != NULL:
                        out[n] = A_SUMMON << SHIFT | slot * 8 + i
                    n += 1
    return n

cdef inline void join(const Tables *T, State *s) noexcept nogil:
    """One of several summoned at once enters; its abilities wait until all are there (D34)."""
    cdef uint8_t die = s.stack[s.n_stack - 1].a
    pop(s)
    count_summons(T, s, die)
    if face_of(T, s, die).n_ops:
        push(s, Q_TOGETHER, s.stack[s.n_stack - 1].a, 0, 0)
        s.stack[s.n_stack - 2] = Frame(Q_WAITS, die, 0, 0)
    enter(T, s, s.active, die)


# ---- what would do something ---------------------------------------------------------------------

cdef inline bint can_do(const Tables *T, const State *s, const Op *op, int32_t itself) noexcept nogil:
    """Whether a step would do anything now (A8). `itself`: 1 where its spell has still to be cast, whose die is spent
    first (B89), 0 otherwise."""
    cdef const Player *p = &s.player[s.active]
    cdef uint8_t faces[8]
    cdef int32_t i, code = op.code
    if code == O_ATTACK:
        return not s.flags & S_ATTACKED and count_unlocked(p) > 0
    if code == O_DEFENSE:
        return count_unlocked(p) > 0
    if code == O_QUIDDITY or code == O_GLORY or code == O_CAPTURES:
        return True
    if code == O_GLORY_SCORED:
        return s.scored >= 2                                              # A69
    if code == O_GLORY_FOES:
        return s.flags & S_ATTACKED and s.foes_hit != 0                   # A70
    if code == O_DESTROY_ONE:
        return any_target(T, s, op, 0, T.n_players)
    if code == O_DESTROY_PER_FOE or code == O_DESTROY_FOE:
        return any_target(T, s, op, 1, T.n_players)
    if code == O_DESTROY_CLASS:
        return True
    if code == O_DESTROYSPELL:
        return count_spells(T, s) > itself                                # A55
    if code == O_ROTATE_ALL:
        for i in range(p.n_ready):
            if next_level(T, s, &p.ready[i], True, faces) > 0:
                return True
        return False
    if code == O_ROTATE_OWN:
        return any_target(T, s, op, 0, 1)
    if code == O_ROTATE_ANY:
        return any_target(T, s, op, 0, T.n_players)
    if code == O_DRAWROLL:
        return zone_sum(p.bag) + zone_sum(p.used) > 0 or (itself and not T.lvd)
    if code == O_CULL:
        return zone_sum(p.used) > 0 or (itself and not T.lvd)             # the spell's own die lies there then (K16)
    if code == O_CULL_SPENT:                                              # D17; of large dice not (D9, D20)
        return itself or (zone_sum(p.spent) - p.spent[0] if T.lvd else zone_sum(p.used)) > 0
    if code == O_SUMMON:
        return can_join(T, s, NULL) > 0
    return False

cdef inline bint castable(const Tables *T, const State *s, const FaceTable *f, int32_t itself) noexcept nogil:
    """Whether a spell would do anything; `itself`: 1 where it is a die in the Ready Area, 0 for an Anchored Spell."""
    cdef int32_t i
    if f.attach:
        return s.player[s.active].n_ready > 0
    for i in range(f.n_ops):
        if can_do(T, s, &f.ops[i], itself):
            return True
        if i + 1 < f.n_ops and f.ops[i + 1].then:
            return False
    return False


# ---- the steps -----------------------------------------------------------------------------------

cdef inline void leave_cull(State *s) noexcept nogil:
    """A cull ends before all its dice are culled: nothing more is wanted, or nothing more is there. What hangs on
    it needs all of them (D30, T15, A140)."""
    pop(s)
    if s.stack[s.n_stack - 1].op == Q_STEPS:
        s.stack[s.n_stack - 1].c = 0

cdef inline void leave_together(const Tables *T, State *s) noexcept nogil:
    """No more are summoned together; nobody summoned is nothing carried out (D30, A140). Then their abilities."""
    cdef Frame *below = &s.stack[s.n_stack - 2]
    if below.op == Q_STEPS and s.stack[s.n_stack - 1].a == face_of(T, s, below.a).ops[below.b - 1].n:
        below.c = 0
    go(s, Q_ORDER, 0, 0, 0)

cdef inline void take_step(const Tables *T, State *s) noexcept nogil:
    """Carry out the step of a cast or summon on top of the stack (can_do has not been asked yet)."""
    cdef Frame *f = &s.stack[s.n_stack - 1]
    cdef const FaceTable *face = face_of(T, s, f.a)
    cdef const Op *op
    cdef Player *p = &s.player[s.active]
    cdef uint8_t faces[8]
    cdef uint8_t die = f.a
    cdef int32_t i, seat, index = f.b
    cdef bint doomed = False
    if f.b >= face.n_ops:
        pop(s)
        return
    op = &face.ops[index]
    f.b += 1
    if (op.then and not f.c) or not can_do(T, s, op, 0):
        f.c = 0
        return
    f.c = 1
    if op.code == O_ATTACK:
        for i in range(p.n_ready):
            p.ready[i].atk += op.n                                        # the locked one too: it may be turned (LK17)
            if p.ready[i].rec:
                s.rec[p.ready[i].rec - 1].value += op.n
    elif op.code == O_DEFENSE:
        for i in range(p.n_ready):
            p.ready[i].dfn += op.n
    elif op.code == O_QUIDDITY:
        add_quid(s, op.flavour, op.n)
    elif op.code == O_CAPTURES:
        s.captures += op.n
    elif op.code == O_GLORY:
        gain_glory(T, s, op.n)
    elif op.code == O_GLORY_SCORED:
        gain_glory(T, s, s.scored)
    elif op.code == O_GLORY_FOES:
        i = 0
        for seat in range(T.n_players):
            i += s.foes_hit >> seat & 1
        gain_glory(T, s, i)
    elif op.code == O_DESTROY_ONE or op.code == O_DESTROY_FOE:
        if op.energy:
            open_event(s, EV_SPELL_LIGHT if op.energy == 1 else EV_SPELL_DARK, op.level, op.defense, s.active)
        else:
            open_event(s, EV_SPELL if op.spell else EV_ABILITY, op.level, op.defense, s.active)
        push(s, Q_TARGET, index, 0, die)
    elif op.code == O_DESTROY_PER_FOE:
        open_event(s, EV_SPELL if op.spell else EV_ABILITY, op.level, op.defense, s.active)
        for i in range(T.n_players - 1, 0, -1):
            push(s, Q_TARGET, index, i, die)
    elif op.code == O_DESTROY_CLASS:
        for seat in range(T.n_players):
            if seat == s.active:
                continue
            for i in range(s.player[seat].n_ready):
                if shape(&s.player[seat].ready[i]) >> 3 == die >> 3:
                    s.player[seat].ready[i].flags |= F_DOOMED
                    doomed = True
        if doomed:
            open_event(s, EV_CLASS, die >> 3, 0, s.active)
    elif op.code == O_DESTROYSPELL:
        f.c = 2
    elif op.code == O_ROTATE_ALL:
        for i in range(p.n_ready):
            if next_level(T, s, &p.ready[i], True, faces):
                p.ready[i].flags |= F_MARK
        push(s, Q_ROTATE, 1, 0, 0)
    elif op.code == O_ROTATE_OWN or op.code == O_ROTATE_ANY:
        push(s, Q_TARGET, index, 0, die)
    elif op.code == O_DRAWROLL:
        if s.stack[0].op == P_USE or s.stack[0].op == P_MAIN:
            s.stack[0].a = 0                                              # a forced lock that draws: phase 2 goes on
        park(s)
        dearer_again(s)
        push(s, Q_ROLL, 0, 0, 0)
        push(s, Q_DRAW, op.n, s.active, 0)
    elif op.code == O_CULL:
        push(s, Q_CULL, op.n, 0, 0)
    elif op.code == O_CULL_SPENT:
        push(s, Q_CULL, op.n, T.lvd, 0)
    elif op.code == O_SUMMON:
        push(s, Q_TOGETHER, op.n, 0, 0)
