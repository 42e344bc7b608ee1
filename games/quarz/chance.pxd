# cython: language_level=3
"""Chance: the outcomes of a chance node, and what an outcome does."""
from libc.stdint cimport int32_t, uint64_t

from engine_ext.bits cimport bit, count_bits, pop_bit
from engine_ext.rng cimport rng_combine
from games.quarz.frames cimport note, owner, pop, tableau, top
from games.quarz.moves cimport *
from games.quarz.set_up cimport field_mob, put_tile
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
    cdef const Frame *f = &s.stack[s.depth - 1]
    cdef int32_t kind = f.kind, n = 0, k, total, cell, left
    cdef uint64_t cards
    cdef double ways
    if kind == K_DRAW:
        # Cards drawn together come in ascending order, each set once.
        cards = s.deck[f.a] & ~((1 << f.c) - 1)
        left = count_bits(cards)
        ways = choose_count(left, f.b)
        while left >= f.b:
            left -= 1
            ids[n] = O_CARD + pop_bit(&cards)
            probs[n] = choose_count(left, f.b - 1) / ways
            n += 1
            if not cards:
                break
        return n
    if kind == K_SAP:
        cards = s.hand[f.a]
        total = count_bits(cards)
        while cards:
            ids[n] = O_CARD + pop_bit(&cards)
            probs[n] = 1.0 / total
            n += 1
        return n
    if kind == K_TILE:
        if f.step == 2:
            for k in range(t.period[f.c]):
                ids[k] = O_TURN + k
                probs[k] = 1.0 / t.period[f.c]
            return t.period[f.c]
        total = 0
        for k in range(t.n_patterns):
            total += s.pool_left[k]
        for k in range(t.n_patterns):
            if s.pool_left[k]:
                ids[n] = O_PATTERN + k
                probs[n] = s.pool_left[k] / <double>total
                n += 1
        return n
    if kind == K_ROLL:
        for k in range(6):
            total = 0
            for cell in range(6):
                if t.monsters[s.who[f.a]].die[cell] == t.monsters[s.who[f.a]].die[k]:
                    total += 1
                    if cell < k:
                        total = -6
            if total > 0:
                ids[n] = O_FACE + k
                probs[n] = total / 6.0
                n += 1
        return n
    if kind == K_TIME:
        cards = time_choices(t, s)
        total = count_bits(cards)
        while cards:
            ids[n] = O_TIME + pop_bit(&cards)
            probs[n] = 1.0 / total
            n += 1
        return n
    total = 0
    if kind == K_SHRINE_CARD:
        for k in range(f.a):
            total |= 1 << s.shrine_card[k]
    elif kind == K_MOB:
        for k in range(t.players):
            if s.mob[k] >= 0:
                total |= 1 << s.mob[k]
    for k in range(4):
        if not total >> k & 1:
            ids[n] = (O_SHRINE if kind == K_SHRINE_CARD else O_MOB if kind == K_MOB else O_LEAVE) + k
            n += 1
    for k in range(n):
        probs[k] = 1.0 / n
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
