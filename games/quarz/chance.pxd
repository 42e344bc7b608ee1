# cython: language_level=3
"""Chance: the outcomes of a chance node, and what an outcome does."""
from libc.stdint cimport int32_t, uint64_t

from engine_ext.bits cimport bit, count_bits, pop_bit
from engine_ext.rng cimport rng_combine
from games.quarz.frames cimport note, owner, pop, tableau, top
from games.quarz.moves cimport *
from games.quarz.set_up cimport field_mob, put_tile, taken
from games.quarz.state cimport *
from games.quarz.tableau cimport leave_hand


cdef inline uint64_t time_choices(const Tables *t, const State *s) noexcept nogil:
    """The tiles that may lie next in the stack: unused ones of the level due (rules 20, 23; Q13)."""
    cdef int32_t level = 0, i, shown = t.n_stack - s.time_left
    cdef uint64_t tiles = 0
    while level < 2 and shown >= t.stack[level]:
        shown -= t.stack[level]
        level += 1
    for i in range(t.n_time):
        if t.time_level[i] == level + 1 and not s.time_used >> i & 1:
            tiles |= bit(i)
    return tiles

cdef inline double choose_count(int32_t n, int32_t k) noexcept nogil:
    """n over k, for cards of one deck."""
    cdef double total = 1.0
    cdef int32_t i
    if k > n:
        return 0.0
    for i in range(k):
        total = total * (n - i) / (i + 1)
    return total

cdef inline int32_t list_outcomes(const Tables *t, const State *s, int32_t *ids, double *probs) noexcept nogil:
    """The outcomes of the top frame with their probabilities; how many."""
    cdef const Frame *f = &s.stack[s.depth - 1]
    cdef int32_t kind = f.kind, k, out_already = 0
    if kind == K_DRAW:
        return list_draw(s, f, ids, probs)
    if kind == K_SAP:
        return put_alike(s.hand[f.a], O_CARD, ids, probs)
    if kind == K_TILE:
        if f.step == 2:
            return put_alike((1 << t.period[f.c]) - 1, O_TURN, ids, probs)
        return list_patterns(t, s, ids, probs)
    if kind == K_ROLL:
        return list_faces(tableau(t, s, f.a), ids, probs)
    if kind == K_TIME:
        return put_alike(time_choices(t, s), O_TIME, ids, probs)
    if kind == K_SHRINE_CARD:
        for k in range(f.a):
            out_already |= 1 << s.shrine_card[k]
        return put_alike(15 & ~out_already, O_SHRINE, ids, probs)
    if kind == K_MOB:
        return put_alike(15 & ~taken(t, s.mob), O_MOB, ids, probs)
    return put_alike(15, O_LEAVE, ids, probs)                               # K_LEAVE

cdef inline int32_t put_alike(uint64_t members, int32_t base, int32_t *ids, double *probs) noexcept nogil:
    """An outcome for each member of a set, all alike likely."""
    cdef int32_t n = 0
    cdef double each = 1.0 / <double>count_bits(members)
    while members:
        ids[n] = base + pop_bit(&members)
        probs[n] = each
        n += 1
    return n

cdef inline int32_t list_draw(const State *s, const Frame *f, int32_t *ids, double *probs) noexcept nogil:
    """The next of f.b cards. Cards drawn together come in ascending order, each set once."""
    cdef uint64_t cards = s.deck[f.a] & ~((1 << f.c) - 1)
    cdef int32_t n = 0, left = count_bits(cards)
    cdef double ways = choose_count(left, f.b)
    while left >= f.b:
        left -= 1
        ids[n] = O_CARD + pop_bit(&cards)
        probs[n] = choose_count(left, f.b - 1) / ways
        n += 1
        if not cards:
            break
    return n

cdef inline int32_t list_patterns(const Tables *t, const State *s, int32_t *ids, double *probs) noexcept nogil:
    """The pattern of a tile drawn from those that are left."""
    cdef int32_t k, n = 0, total = 0
    for k in range(t.n_patterns):
        total += s.pool_left[k]
    for k in range(t.n_patterns):
        if s.pool_left[k]:
            ids[n] = O_PATTERN + k
            probs[n] = s.pool_left[k] / <double>total
            n += 1
    return n

cdef inline int32_t list_faces(const Monster *mon, int32_t *ids, double *probs) noexcept nogil:
    """The faces of a monster's die; equal ones are one outcome, that of the lowest place."""
    cdef int32_t k, other, alike, n = 0
    for k in range(6):
        alike = 0
        for other in range(6):
            if mon.die[other] == mon.die[k]:
                if other < k:
                    break
                alike += 1
        if alike:
            ids[n] = O_FACE + k
            probs[n] = alike / 6.0
            n += 1
    return n

cdef inline void settle_chance(const Tables *t, State *s, int32_t id) noexcept nogil:
    """A chance outcome takes effect; only draws are not seen by all."""
    cdef Frame *f = top(s)
    cdef int32_t kind = f.kind, m = f.a, k
    if kind == K_DRAW:
        for k in range(t.players):
            s.info[k] = rng_combine(s.info[k], <uint64_t>2 << 32 | m << 16
                                    | (id + 1 if k == owner(m) else 0))
        s.deck[m] &= ~(1 << id)
        s.hand[m] |= 1 << id
        s.drawn[m][id] = s.epoch[m]
        f.b -= 1
        f.c = id + 1
        f.d += 1
        if f.b == 0:
            pop(s)
        return
    note(t, s, <uint64_t>3 << 32 | id)
    if kind == K_SAP:
        leave_hand(t, s, m, id)
        s.pile[m] |= 1 << id
        f.b -= 1
        if f.b == 0:
            pop(s)
    elif kind == K_TILE:
        if f.step == 2:
            put_tile(t, s, f, id - O_TURN)
        else:
            f.c = id - O_PATTERN
            s.pool_left[f.c] -= 1
            f.step = 1
            if t.placing == 1:
                f.d = t.modifiable[f.a]
                f.step = 2
    elif kind == K_ROLL:
        k = tableau(t, s, m).die[id - O_FACE]
        pop(s)
        top(s).d = k
    elif kind == K_TIME:
        s.time_now = id - O_TIME
        s.time_used |= 1 << s.time_now
        pop(s)
    elif kind == K_SHRINE_CARD:
        s.shrine_card[f.a] = id - O_SHRINE
        pop(s)
    elif kind == K_MOB:
        s.mob[f.b] = id - O_MOB
        pop(s)
    elif kind == K_LEAVE:
        field_mob(t, s, f.b, id - O_LEAVE)
        pop(s)
