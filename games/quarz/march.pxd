# cython: language_level=3
"""The march: all three monsters of a mob move in one action (rules 77 to 80)."""
from libc.stdint cimport int8_t, int32_t, uint64_t

from engine_ext.bits cimport bit, count_bits, has_bit, pop_bit
from games.quarz.field cimport reach, reach_from
from games.quarz.moves cimport *
from games.quarz.state cimport *


cdef inline int32_t march_price(const Tables *t, const State *s, int32_t seat) noexcept nogil:
    """Rules 77, 80."""
    return t.march_cost + s.stun[3 * seat] + s.stun[3 * seat + 1] + s.stun[3 * seat + 2]

cdef inline bint can_march(const Tables *t, const State *s, int32_t seat, int32_t moved, int32_t spare,
                           const int8_t *at) noexcept nogil:
    """Whether the monsters not in `moved` can each march in some order, from where `at` has the seat's
    three: 1 step each, and with a spare step 2, unless one carries the idol (rules 77, 78; Q44, Q72)."""
    cdef int8_t later[3]
    cdef int32_t k, j, m, more
    cdef uint64_t friends, cells, near, rivals = s.occupied & ~s.own[seat]
    if moved == 7:
        return True
    for k in range(3):
        if moved >> k & 1:
            continue
        m = 3 * seat + k
        friends = 0
        for j in range(3):
            if j != k:
                friends |= bit(at[j])
            later[j] = at[j]
        near = reach_from(t, s, m, at, friends, rivals, 1, s.powers[m])
        for more in range(2 if spare > 0 and s.idol_by != m else 1):
            cells = near if more == 0 else reach_from(t, s, m, at, friends, rivals, 2, s.powers[m]) & ~near
            while cells:
                later[k] = pop_bit(&cells)
                if can_march(t, s, seat, moved | 1 << k, spare - more, later):
                    return True
    return False

cdef inline int32_t list_march(const Tables *t, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    """Rules 77, 78; Q44, Q72: who moves next, and where to."""
    cdef int32_t k, m, n = 0, cell, moved = f.d, spare
    cdef int8_t at[3]
    cdef uint64_t cells, near
    for k in range(3):
        if moved >> k & 1:
            continue
        m = 3 * f.b + k
        spare = max(0, f.c - 3 + count_bits(moved))
        near = reach(t, s, m, 1, s.powers[m])
        cells = reach(t, s, m, 2, s.powers[m]) if spare > 0 and s.idol_by != m else near
        while cells:
            cell = pop_bit(&cells)
            at[0], at[1], at[2] = s.at[3 * f.b], s.at[3 * f.b + 1], s.at[3 * f.b + 2]
            at[k] = cell
            if can_march(t, s, f.b, moved | 1 << k, spare - (not has_bit(near, cell)), at):
                out[n] = A_MOVE + 48 * k + cell
                n += 1
    return n
