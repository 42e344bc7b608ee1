# cython: language_level=3
"""Values over dice: what a keeper is worth from what rolls are worth, and the best that a roll can keep.

Arrays of values have N_KEEPERS entries; those of the 252 whole rolls start at FIRST_ROLL. Verhoeff and Scheffers
(1999) and Glenn (2006) solve Yahtzee in this way.
"""
from libc.stdint cimport int32_t

from games.pentaquest.state cimport FIRST_ROLL, N_KEEPERS, NO_KEEPER, Tables


cdef inline void expect(const Tables *t, float *value) noexcept nogil:
    """From values of the rolls, fill in those of all smaller keepers: the mean over one more die, from
    four dice down to none."""
    cdef int32_t keeper, face
    cdef float total
    for keeper in range(FIRST_ROLL - 1, -1, -1):
        total = 0.0
        for face in range(6):
            total += value[t.more[keeper][face]]
        value[keeper] = total * <float>(1.0 / 6.0)


cdef inline void best_kept(const Tables *t, const float *value, float *best) noexcept nogil:
    """For every keeper, the best value of a keeper inside it."""
    cdef int32_t keeper, face
    best[0] = value[0]
    for keeper in range(1, N_KEEPERS):
        best[keeper] = value[keeper]
        for face in range(6):
            if t.less[keeper][face] != NO_KEEPER and best[t.less[keeper][face]] > best[keeper]:
                best[keeper] = best[t.less[keeper][face]]
