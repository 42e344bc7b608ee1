# cython: language_level=3
"""What the question on top of the stack allows."""
from libc.stdint cimport int32_t, uint8_t, uint32_t

from games.quarriors.casting cimport *
from games.quarriors.reading cimport *
from games.quarriors.scoring cimport usable
from games.quarriors.state cimport *


# ---- options of one kind -------------------------------------------------------------------------

cdef inline int32_t add_done(int32_t *out, int32_t n) noexcept nogil:
    """Where there is a choice, it may be declined."""
    if n:
        out[n] = A_DONE << SHIFT
        n += 1
    return n

cdef inline int32_t add_zone(const uint8_t *zone, int32_t first, int32_t family, int32_t *out) noexcept nogil:
    """The classes that lie in a zone."""
    cdef int32_t slot, n = 0
    for slot in range(first, SLOTS):
        if zone[slot]:
            out[n] = family << SHIFT | slot
            n += 1
    return n

cdef inline int32_t add_creatures(const Tables *T, const State *s, int32_t seat, uint32_t family, uint32_t mask,
                                  int32_t *out, int32_t n) noexcept nogil:
    """One option a distinct creature whose bit is in mask; k counts distinct creatures of one die."""
    cdef const Player *p = &s.player[seat]
    cdef int32_t i, k = 0
    for i in range(p.n_ready):
        k = number_of(p, i, k)
        if mask >> i & 1 and not (i and mask >> (i - 1) & 1 and alike(&p.ready[i], &p.ready[i - 1])):
            if family == A_RETURN:
                out[n] = A_RETURN << SHIFT | <int32_t>p.ready[i].die << 4 | k
            else:
                out[n] = A_CREATURE << SHIFT | (seat << 7 | p.ready[i].die) << 4 | k
            n += 1
    return n

cdef inline int32_t add_uses_of(const Tables *T, const State *s, uint8_t die, bint drawable, int32_t *out,
                                int32_t n) noexcept nogil:
    """The ways to use one immediate face of the pool."""
    cdef const FaceTable *face = face_of(T, s, die)
    cdef const Use *use
    cdef int32_t u
    for u in range(face.n_uses):
        use = &face.uses[u]
        if use.draw and not drawable and not use.besides and (T.lvd or not use.spend):
            continue              # A86; in the base edition a spent die is in the pile itself
        out[n] = (A_USE0 + u) << SHIFT | die
        n += 1
    return n

cdef inline int32_t add_uses(const Tables *T, const State *s, int32_t *out, int32_t n) noexcept nogil:
    """Immediate faces that may be used (B39)."""
    cdef int32_t slot, i
    cdef bint drawable = may_draw(s)
    for slot in range(1, SLOTS):
        if row(s.pool[slot]) == 0:
            continue
        for i in range(6):
            if s.pool[slot][i] and T.card[s.card[slot]].face[i].kind & IS_IMMEDIATE:
                n = add_uses_of(T, s, slot * 8 + i, drawable, out, n)
    return n

cdef inline int32_t add_ready(const Tables *T, const State *s, int32_t *out, int32_t n) noexcept nogil:
    """Spell icons that may be readied (D35, A89)."""
    cdef int32_t slot, i
    for slot in range(FIRST_SPELL, SLOTS):
        if s.card[slot] != NONE and row(s.pool[slot]):
            for i in range(6):
                if s.pool[slot][i] and T.card[s.card[slot]].face[i].kind & IS_SPELL:
                    out[n] = A_READY << SHIFT | slot * 8 + i
                    n += 1
    return n

cdef inline int32_t add_anchored(const Tables *T, const State *s, int32_t *out, int32_t n) noexcept nogil:
    """Anchored Spells of creature cards in the Wilds that can be paid and do something (D26 to D29, A116)."""
    cdef int32_t slot
    cdef const FaceTable *face
    if s.flags & S_ANCHORED:
        return n
    for slot in range(FIRST_CREATURE, FIRST_SPELL):
        if s.card[slot] != NONE:
            face = &T.card[s.card[slot]].face[6]
            if face.n_ops and s.avail[face.flavour] >= face.quid and castable(T, s, face, 0):
                out[n] = A_ANCHORED << SHIFT | slot
                n += 1
    return n

cdef inline int32_t add_locks(const Tables *T, const State *s, int32_t *out, int32_t n) noexcept nogil:
    """Lock faces of the pool: one into the own area a turn, some into rivals' (LK2, LK3, LK21)."""
    cdef int32_t slot, i, q
    for slot in range(FIRST_CREATURE, FIRST_SPELL):
        if row(s.pool[slot]) == 0:
            continue
        for i in range(6):
            if s.pool[slot][i] == 0 or not T.card[s.card[slot]].face[i].kind & IS_LOCK:
                continue
            if not s.flags & S_LOCKED:
                out[n] = A_LOCK << SHIFT | slot * 8 + i
                n += 1
            if T.card[s.card[slot]].face[i].lock_rival:
                for q in range(T.n_players):
                    if q != s.active:
                        out[n] = A_LOCK_WITH << SHIFT | q << 7 | slot * 8 + i
                        n += 1
    return n

cdef inline int32_t add_unlocks(const Tables *T, const State *s, int32_t *out, int32_t n) noexcept nogil:
    """Locked dice that 2 Quiddity pay off (LK18 to LK20, A108, A114)."""
    cdef int32_t q, i
    if total_avail(s) < 2:
        return n
    for q in range(T.n_players):
        i = locked_index(&s.player[q])
        if (i >= 0 and not locked_now(&s.player[q].ready[i])
                and not face_of(T, s, s.player[q].ready[i].die).no_payoff):
            out[n] = A_UNLOCK << SHIFT | q
            n += 1
    return n

cdef inline int32_t add_casts(const Tables *T, const State *s, int32_t *out, int32_t n) noexcept nogil:
    cdef const Player *p = &s.player[s.active]
    cdef int32_t j, kind
    for j in range(SPELL_SLOTS):
        if p.spells[j]:
            for kind in range(2):
                if readied(p, j, kind) and castable(T, s, face_of(T, s, spell_die(T, s, j, kind)), 1):
                    out[n] = A_CAST << SHIFT | spell_die(T, s, j, kind)
                    n += 1
    return n

cdef inline int32_t add_recopies(const Tables *T, const State *s, int32_t seat, int32_t *out, int32_t n) noexcept nogil:
    cdef int32_t i, k = 0
    if s.features & FEAT_COPY:
        for i in range(s.player[seat].n_ready):
            if may_recopy(T, s, seat, &s.player[seat].ready[i]):
                if k == 0 or not alike(&s.player[seat].ready[i], &s.player[seat].ready[i - 1]):
                    out[n] = A_RECOPY << SHIFT | k
                    n += 1
                k += 1
    return n


# ---- reactions -----------------------------------------------------------------------------------

cdef inline bint has_react(const Tables *T, const State *s, int32_t seat) noexcept nogil:
    """Whether the seat holds a reaction or a recopy it could use against destruction."""
    cdef const Player *p = &s.player[seat]
    cdef const FaceTable *f
    cdef int32_t i, j, kind
    for j in range(SPELL_SLOTS):
        if p.spells[j]:
            for kind in range(2):
                if readied(p, j, kind):
                    f = face_of(T, s, spell_die(T, s, j, kind))
                    if f.react_def or f.react_pool or f.react_return:
                        return True
    if s.features & FEAT_COPY:
        for i in range(p.n_ready):
            if may_recopy(T, s, seat, &p.ready[i]):
                return True
    return False

cdef inline bint defense_helps(const Tables *T, const State *s, int32_t seat, int32_t n) noexcept nogil:
    """Whether more defence for all can change the outcome of this event (W2)."""
    cdef const Player *q = &s.player[seat]
    cdef int32_t i, count = 0, total = 0, alone = 0
    if s.ev_cause == EV_DAMAGE:
        for i in range(q.n_ready):
            if not q.ready[i].flags & (F_SAFE | F_LOCKED):
                count += 1
                total += defense_of(T, s, seat, &q.ready[i]) + n
                if not q.ready[i].flags & F_DOOMED:
                    alone = max(alone, <int32_t>eff(T, s, &q.ready[i]).def_alone)
        if count > 1 and count == q.n_ready:                              # whoever is left last stands alone
            total += alone
        return s.rem < total
    if (s.ev_cause == EV_SPELL or s.ev_cause == EV_ABILITY) and s.ev_defense != NO_CAP:
        for i in range(q.n_ready):
            if (q.ready[i].flags & F_DOOMED and unlocked(&q.ready[i])
                    and defense_of(T, s, seat, &q.ready[i]) + n > s.ev_defense):
                return True
    return False

cdef inline uint32_t zero_targets(const Tables *T, const State *s, int32_t caster) noexcept nogil:
    """Bits of the active seat's creatures that attack for more than 0 (W1, A17)."""
    cdef const Player *p = &s.player[s.active]
    cdef int32_t i, offset, d
    cdef uint32_t mask = 0
    for i in range(p.n_ready):
        if p.ready[i].rec == 0 or p.ready[i].flags & F_ZERO or not may_target(T, s, caster, s.active, &p.ready[i]):
            continue
        for offset in range(s.stack[find_frame(s, P_NEXT)].a, T.n_players):
            d = (s.active + offset) % T.n_players
            if count_unlocked(&s.player[d]) and value_against(T, s, d, p.ready[i].rec - 1) > 0:
                mask |= 1u << i
                break
    return mask


# ---- the questions -------------------------------------------------------------------------------

cdef inline int32_t ask_main(const Tables *T, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    cdef const Player *p = &s.player[s.active]
    cdef const FaceTable *face
    cdef int32_t n = 0, slot, i, extra, money
    if f.op == P_MAIN:
        extra = surcharge(T, s, s.active)
        money = total_avail(s)
        if p.n_ready < MAX_READY and money > extra:
            for slot in range(1, FIRST_SPELL):
                if row(s.pool[slot]) == 0:
                    continue
                for i in range(6):
                    if s.pool[slot][i]:
                        face = &T.card[s.card[slot]].face[i]
                        if (face.kind & IS_CREATURE and face.level + extra <= money
                                and not (face.summonlimit and summons(s, slot) >= face.summonlimit)):
                            out[n] = A_SUMMON << SHIFT | slot * 8 + i
                            n += 1
        n = add_recopies(T, s, s.active, out, n)
        n = add_ready(T, s, out, n)                                   # base: rolled in this phase (B58)
        if T.lvd:
            n = add_uses(T, s, out, n)
            if s.features & FEAT_LOCK:
                n = add_locks(T, s, out, n)
        if s.features & FEAT_ANCHORED:
            n = add_anchored(T, s, out, n)
    if s.features & FEAT_LOCK:
        n = add_unlocks(T, s, out, n)
    n = add_casts(T, s, out, n)
    return add_done(out, n)

cdef inline int32_t ask_use(const Tables *T, const State *s, int32_t *out) noexcept nogil:
    cdef int32_t n = add_uses(T, s, out, 0)
    if s.features & FEAT_LOCK:
        n = add_locks(T, s, out, n)
        n = add_unlocks(T, s, out, n)
    return add_done(out, n)

cdef inline int32_t ask_capture(const Tables *T, const State *s, int32_t *out) noexcept nogil:
    cdef const CardTable *card
    cdef int32_t n = 0, slot, extra, money
    if s.captures:
        money = total_avail(s)
        for slot in range(SLOTS):
            if s.wilds[slot] and T.card[s.card[slot]].cost - s.discount <= money:
                out[n] = A_CAPTURE << SHIFT | slot
                n += 1
            if T.lvd and s.wilds[slot]:
                card = &T.card[s.card[slot]]
                extra = max(0, card.discounted - s.discount)
                if (extra < card.cost - s.discount and extra <= money
                        and (s.avail[card.energy] > 0 or extra == 0)):     # D23, A81
                    out[n] = A_CAPTURE_DISCOUNTED << SHIFT | slot
                    n += 1
    if s.features & FEAT_ANCHORED:
        n = add_anchored(T, s, out, n)
    if s.features & FEAT_LOCK:
        n = add_unlocks(T, s, out, n)
    n = add_casts(T, s, out, n)
    return add_done(out, n)

cdef inline int32_t ask_cull_scored(const Tables *T, const State *s, int32_t *out) noexcept nogil:
    return add_done(out, add_zone(s.player[s.active].used, 0, A_CULL, out))

cdef inline int32_t ask_clean(const Tables *T, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    cdef const Player *p = &s.player[s.active]
    cdef int32_t n = 0, j, kind
    for j in range(SPELL_SLOTS):
        for kind in range(2):
            if readied(p, j, kind):
                out[n] = A_DISCARD << SHIFT | spell_die(T, s, j, kind)
                n += 1
    if f.a and T.lvd:                                                 # D28, D46: before that, nothing is new in phase 5
        n = add_casts(T, s, out, n)
        if s.features & FEAT_ANCHORED:
            n = add_anchored(T, s, out, n)
    return add_done(out, n)

cdef inline int32_t ask_reroll(const Tables *T, const State *s, int32_t *out) noexcept nogil:
    cdef int32_t n = 0, slot, i
    for slot in range(SLOTS):
        if row(s.pool[slot]):
            for i in range(6):
                if s.pool[slot][i]:
                    out[n] = A_REROLL << SHIFT | slot * 8 + i
                    n += 1
    return add_done(out, n)

cdef inline int32_t ask_defend(const Tables *T, const State *s, int32_t *out, int32_t *seat) noexcept nogil:
    cdef const Player *q
    cdef const FaceTable *face
    cdef uint32_t mask
    cdef bint order_counts
    cdef int32_t n = 0, i, k, count, h
    seat[0] = s.defender
    q = &s.player[s.defender]
    mask = defenders(q)
    if s.rem <= 0 or mask == 0:
        return 0
    n = add_creatures(T, s, s.defender, A_CREATURE, mask, out, 0)
    if n == 1:
        return 1
    count = 0
    k = NO_CAP
    order_counts = False
    for i in range(q.n_ready):
        if mask >> i & 1:
            h = defense_of(T, s, s.defender, &q.ready[i])
            count += h
            k = min(k, h)
            face = eff(T, s, &q.ready[i])
            order_counts |= (face.dead_draw or face.dead_pool or face.dead_aside or face.dead_cull
                             or face.def_alone)                       # its defence may rise (A123)
    if s.rem < k:
        return 0                                                      # A94: below every defence
    if s.rem >= count and not order_counts and not has_react(T, s, s.defender):
        return 1                                                      # enough for all of them
    return n

cdef inline int32_t ask_event(const Tables *T, const State *s, const Frame *f, int32_t *out,
                              int32_t *seat) noexcept nogil:
    cdef const Player *q
    cdef const FaceTable *face
    cdef uint32_t mask
    cdef int32_t n = 0, i, j, k, kind
    seat[0] = (s.active + f.b) % T.n_players
    q = &s.player[seat[0]]
    if f.a == 0:
        mask = 0
        for i in range(q.n_ready):
            if q.ready[i].flags & F_DOOMED and unlocked(&q.ready[i]):  # unlocked is not destroyed (K11, A115)
                mask |= 1u << i
        if mask == 0:
            return 0
        if seat[0] != s.active:
            for j in range(SPELL_SLOTS):
                if q.spells[j] == 0:
                    continue
                for kind in range(2):
                    if readied(q, j, kind) == 0:
                        continue
                    face = face_of(T, s, spell_die(T, s, j, kind))
                    if ((face.react_pool and not q.charm)
                            or (face.react_return and any_not_kept(q))
                            or (face.react_def and defense_helps(T, s, seat[0], face.react_def))):
                        out[n] = A_CAST << SHIFT | spell_die(T, s, j, kind)
                        n += 1
            n = add_recopies(T, s, seat[0], out, n)
        mask = 0
        for i in range(q.n_ready):
            if q.ready[i].flags & F_DOOMED and not q.ready[i].flags & F_KEEP:
                k = eff(T, s, &q.ready[i]).dead_cull
                if k and slot_of_class(T, s, k - 1) < SLOTS and q.used[slot_of_class(T, s, k - 1)]:
                    mask |= 1u << i
        if mask:
            n = add_creatures(T, s, seat[0], A_RETURN, mask, out, n)
        return add_done(out, n)
    if q.charm:                                                       # A13: two forced destinations
        for i in range(q.n_ready):
            if q.ready[i].flags & F_DOOMED and not q.ready[i].flags & (F_KEEP | F_MARK) and eff(
                    T, s, &q.ready[i]).dead_aside:
                out[0] = A_POOL << SHIFT
                out[1] = A_ASIDE << SHIFT
                return 2
    return 0

cdef inline int32_t ask_window(const Tables *T, const State *s, const Frame *f, int32_t *out,
                               int32_t *seat) noexcept nogil:
    cdef const Player *q
    cdef int32_t n = 0, j, kind
    seat[0] = s.defender if f.a == 0 else (s.active + f.a) % T.n_players
    if f.a and seat[0] == s.defender:
        return 0
    if count_unlocked(&s.player[s.defender]) == 0 or attack_total(T, s, s.defender) == 0:
        return 0                                                      # nothing to defend, nothing to fear
    q = &s.player[seat[0]]
    for j in range(SPELL_SLOTS):
        if q.spells[j]:
            for kind in range(2):
                if (readied(q, j, kind) and face_of(T, s, spell_die(T, s, j, kind)).react_zero
                        and zero_targets(T, s, seat[0])):
                    out[n] = A_CAST << SHIFT | spell_die(T, s, j, kind)
                    n += 1
    if f.a == 0:
        n = add_recopies(T, s, seat[0], out, n)
    return add_done(out, n)

cdef inline int32_t ask_zero(const Tables *T, const State *s, const Frame *f, int32_t *out,
                             int32_t *seat) noexcept nogil:
    seat[0] = f.b
    return add_creatures(T, s, s.active, A_CREATURE, zero_targets(T, s, f.b), out, 0)

cdef inline int32_t ask_return(const Tables *T, const State *s, const Frame *f, int32_t *out,
                               int32_t *seat) noexcept nogil:
    cdef const Player *q
    cdef uint32_t mask
    cdef int32_t i
    seat[0] = f.b
    q = &s.player[f.b]
    mask = 0
    for i in range(q.n_ready):
        if q.ready[i].flags & F_DOOMED and not q.ready[i].flags & (F_KEEP | F_LOCKED):
            mask |= 1u << i
    return add_creatures(T, s, f.b, A_CREATURE, mask, out, 0)

cdef inline int32_t ask_target(const Tables *T, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    cdef Op wanted
    cdef uint32_t mask
    cdef int32_t n = 0, i, k, h
    wanted = face_of(T, s, f.c).ops[f.a]
    for i in range(T.n_players):
        if wanted.code == O_DESTROY_PER_FOE and i != f.b:
            continue
        if wanted.code == O_ROTATE_OWN and i or wanted.code == O_DESTROY_FOE and i == 0:
            continue
        h = (s.active + i) % T.n_players
        mask = 0
        for k in range(s.player[h].n_ready):
            if legal_target(T, s, &wanted, h, &s.player[h].ready[k]):
                mask |= 1u << k
        n = add_creatures(T, s, h, A_CREATURE, mask, out, n)
    return n

cdef inline int32_t ask_host(const Tables *T, const State *s, int32_t *out) noexcept nogil:
    cdef const Player *p = &s.player[s.active]
    return add_creatures(T, s, s.active, A_CREATURE, (1u << p.n_ready) - 1, out, 0)

cdef inline int32_t ask_copy(const Tables *T, const State *s, const Frame *f, int32_t *out,
                             int32_t *seat) noexcept nogil:
    cdef const Player *q
    cdef uint8_t dice[MAX_SEATS * MAX_READY]
    cdef int32_t n = 0, i, k, count
    seat[0] = f.a if f.op == Q_COPY else ((s.active + f.a) % T.n_players if f.op == P_SURCHARGE else s.active)
    q = &s.player[seat[0]]
    for i in range(q.n_ready):
        if q.ready[i].flags & F_MARK:
            count = copies(T, s, seat[0], &q.ready[i], dice,
                           f.op == Q_COPY and not q.ready[i].flags & F_RECOPIED)
            for k in range(count):
                if f.op != P_SURCHARGE or face_of(T, s, dice[k]).surcharge:
                    out[n] = A_COPY << SHIFT | dice[k]
                    n += 1
            if n and f.op != Q_COPY:
                out[n] = A_DONE << SHIFT
                n += 1
            return n
    return 0

cdef inline int32_t ask_rotate(const Tables *T, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    cdef uint8_t faces[8]
    cdef int32_t i, k, count, h
    for h in range(T.n_players):
        for i in range(s.player[h].n_ready):
            if s.player[h].ready[i].flags & F_MARK:
                count = next_level(T, s, &s.player[h].ready[i], f.a, faces)
                for k in range(count):
                    out[k] = A_ROTATE << SHIFT | (s.player[h].ready[i].die & ~7) | faces[k]
                return count
    return 0

cdef inline int32_t ask_cullspells(const Tables *T, const State *s, int32_t *out) noexcept nogil:
    cdef const Player *p = &s.player[s.active]
    cdef int32_t n = 0, i, j, kind
    for j in range(SPELL_SLOTS):
        if s.card[FIRST_SPELL + j] == NONE:
            continue
        for kind in range(2):
            if readied(p, j, kind):
                out[n] = A_CULL_READY << SHIFT | spell_die(T, s, j, kind)
                n += 1
            for i in range(p.n_ready):
                if att_get(T, &p.ready[i], j, kind):
                    out[n] = A_CULL_ATTACHED << SHIFT | spell_die(T, s, j, kind)
                    n += 1
                    break
        if p.wait[FIRST_SPELL + j]:
            out[n] = A_CULL_POOL << SHIFT | (FIRST_SPELL + j)
            n += 1
    return add_done(out, n)

cdef inline int32_t ask_ability(const Tables *T, const State *s, int32_t *out) noexcept nogil:
    cdef bint mandatory
    cdef int32_t n = 0, i, k, u, die
    mandatory = False
    for i in range(s.n_pend):
        if not usable(T, s, i):
            continue
        mandatory |= face_of(T, s, s.pend[i][0]).score_draw > 0
        die = s.pend[i][1] & ~LEFT
        if s.pend[i][0] == die:
            k = A_RESOLVE << SHIFT | s.pend[i][0]
        else:
            k = A_RESOLVE_OF << SHIFT | <int32_t>s.pend[i][0] << 4 | die >> 3
        for u in range(n):
            if out[u] == k:
                break
        else:
            out[n] = k
            n += 1
    if n and not mandatory:
        out[n] = A_DONE << SHIFT
        n += 1
    return n

cdef inline int32_t ask_swap(const Tables *T, const State *s, int32_t *out) noexcept nogil:
    cdef int32_t n = 0, slot, h
    for h in range(T.n_players):
        if h != s.active:
            for slot in range(SLOTS):
                if s.player[h].used[slot]:
                    out[n] = A_SWAP << SHIFT | slot * 4 + h
                    n += 1
    return n

cdef inline int32_t ask_take(const Tables *T, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    cdef int32_t n = 0, slot
    for slot in range(FIRST_SPELL if f.a else 0, SLOTS):
        if s.wilds[slot] and T.card[s.card[slot]].cost <= f.b:
            out[n] = A_TAKE << SHIFT | slot
            n += 1
    return n

cdef inline int32_t ask_culltake(const Tables *T, const State *s, int32_t *out) noexcept nogil:
    return add_zone(s.player[s.active].used, 0, A_CULL, out)

cdef inline int32_t ask_fetch(const Tables *T, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    cdef const Player *p = &s.player[s.active]
    cdef int32_t n = 0, slot
    for slot in range(SLOTS):
        if p.used[slot] > (slot == f.a and not f.b) and T.card[s.card[slot]].creature_die:
            out[n] = A_FETCH << SHIFT | slot
            n += 1
    return n

cdef inline int32_t ask_destroyspell(const Tables *T, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    """destroyspell asks which"""
    cdef int32_t n = 0, i, j, kind, h
    if f.c != 2:
        return 0
    for h in range(T.n_players):
        for j in range(SPELL_SLOTS):
            if s.card[FIRST_SPELL + j] == NONE:
                continue
            for kind in range(2):
                if readied(&s.player[h], j, kind):
                    out[n] = A_SPELL << SHIFT | h << 7 | spell_die(T, s, j, kind)
                    n += 1
                for i in range(s.player[h].n_ready):
                    if att_get(T, &s.player[h].ready[i], j, kind):
                        out[n] = A_ATTACHED << SHIFT | h << 7 | spell_die(T, s, j, kind)
                        n += 1
                        break
    return n

cdef inline int32_t ask_pay(const Tables *T, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    """A80"""
    cdef int32_t n = 0, i, j
    for i in range(min(<int32_t>f.a, <int32_t>s.avail[1]) + 1):
        for j in range(min(f.a - i, <int32_t>s.avail[2]) + 1):
            if f.a - i - j <= s.avail[0] and not (f.b == 1 and i == 0) and not (f.b == 2 and j == 0):
                out[n] = A_PAY << SHIFT | i << 4 | j
                n += 1
    return n

cdef inline int32_t ask_lock(const Tables *T, const State *s, int32_t *out) noexcept nogil:
    return add_locks(T, s, out, 0)

cdef inline int32_t ask_together(const Tables *T, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    return add_done(out, can_join(T, s, out)) if f.a else 0

cdef inline int32_t ask_order(const Tables *T, const State *s, int32_t *out) noexcept nogil:
    """D34"""
    cdef int32_t n = 0, i, k, u
    i = s.n_stack - 2
    while s.stack[i].op == Q_WAITS:
        k = A_RESOLVE << SHIFT | s.stack[i].a
        for u in range(n):
            if out[u] == k:
                break
        else:
            out[n] = k
            n += 1
        i -= 1
    return n

cdef inline int32_t ask_cull(const Tables *T, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    cdef const Player *p = &s.player[s.active]
    return add_done(out, add_zone(p.spent, 1, A_CULL, out) if f.b else add_zone(p.used, 0, A_CULL, out))

cdef inline int32_t ask_fresh(const Tables *T, const State *s, int32_t *out) noexcept nogil:
    """all that were rolled together, in any order"""
    cdef int32_t n = 0, i
    i = s.n_stack - 1
    while s.stack[i].op == Q_FRESH:
        if s.pool[s.stack[i].a >> 3][s.stack[i].a & 7]:
            n = add_uses_of(T, s, s.stack[i].a, may_draw(s), out, n)
        i -= 1
    return add_done(out, n)

cdef inline int32_t ask_spellhost(const Tables *T, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    cdef uint32_t mask
    cdef int32_t i
    mask = 0
    for i in range(s.player[f.a].n_ready):
        if att_get(T, &s.player[f.a].ready[i], (f.b >> 3) - FIRST_SPELL, spell_kind(T, s, f.b)):
            mask |= 1u << i
    return add_creatures(T, s, f.a, A_CREATURE, mask, out, 0)

cdef inline int32_t options(const Tables *T, const State *s, int32_t *out, int32_t *seat) noexcept nogil:
    """The options of the question on top of the stack and whose it is; 0 for a step that asks nothing."""
    cdef const Frame *f = &s.stack[s.n_stack - 1]
    cdef int32_t op = f.op
    seat[0] = s.active
    if (op == P_MAIN or op == P_USE) and f.a:                             # ended by its player
        return 0
    if op == P_MAIN or op == P_BETWEEN:
        return ask_main(T, s, f, out)
    elif op == P_USE:
        return ask_use(T, s, out)
    elif op == P_CAPTURE:
        return ask_capture(T, s, out)
    elif op == P_CULL:
        return ask_cull_scored(T, s, out)
    elif op == P_CLEAN:
        return ask_clean(T, s, f, out)
    elif op == Q_REROLL:
        return ask_reroll(T, s, out)
    elif op == P_DEFEND:
        return ask_defend(T, s, out, seat)
    elif op == Q_EVENT:
        return ask_event(T, s, f, out, seat)
    elif op == P_WINDOW:
        return ask_window(T, s, f, out, seat)
    elif op == Q_ZERO:
        return ask_zero(T, s, f, out, seat)
    elif op == Q_RETURN:
        return ask_return(T, s, f, out, seat)
    elif op == Q_TARGET:
        return ask_target(T, s, f, out)
    elif op == Q_HOST:
        return ask_host(T, s, out)
    elif op == Q_COPY or op == P_RECOPY or op == P_SURCHARGE:
        return ask_copy(T, s, f, out, seat)
    elif op == Q_ROTATE:
        return ask_rotate(T, s, f, out)
    elif op == P_CULLSPELLS:
        return ask_cullspells(T, s, out)
    elif op == P_ABILITY:
        return ask_ability(T, s, out)
    elif op == Q_SWAP:
        return ask_swap(T, s, out)
    elif op == Q_TAKE:
        return ask_take(T, s, f, out)
    elif op == Q_CULLTAKE:
        return ask_culltake(T, s, out)
    elif op == Q_FETCH:
        return ask_fetch(T, s, f, out)
    elif op == Q_STEPS:
        return ask_destroyspell(T, s, f, out)
    elif op == Q_PAY:
        return ask_pay(T, s, f, out)
    elif op == Q_LOCK:
        return ask_lock(T, s, out)
    elif op == Q_TOGETHER:
        return ask_together(T, s, f, out)
    elif op == Q_ORDER:
        return ask_order(T, s, out)
    elif op == Q_CULL:
        return ask_cull(T, s, f, out)
    elif op == Q_FRESH:
        return ask_fresh(T, s, out)
    elif op == Q_SPELLHOST:
        return ask_spellhost(T, s, f, out)
    return 0
