# cython: language_level=3
"""The open decisions of a walk of external sampling: records of varying size, one behind the other in an arena.

They hold places, no pointers, so that their bytes can be kept in a checkpoint.
"""
from libc.stdint cimport int32_t, int64_t


cdef enum:
    NOTHING = -1           # no record, no decision


cdef struct Open:
    # A decision of the walking player whose actions are being tried. Behind it in memory: double policy[count],
    # double child[count], int32 ids[count] (padded to 8 bytes), the state.
    int64_t below      # place in the arena of the open decision before; NOTHING where there is none
    int64_t record     # place in the table; NOTHING where the set has no record
    double own         # the player's own reach
    double value       # of the actions tried so far
    int32_t count
    int32_t next       # index of the action to try next


cdef inline double *policy_of(Open *open_) noexcept nogil:
    return <double *>(open_ + 1)


cdef inline double *child_of(Open *open_) noexcept nogil:
    return <double *>(open_ + 1) + open_.count


cdef inline int32_t *ids_of(Open *open_) noexcept nogil:
    return <int32_t *>(<double *>(open_ + 1) + 2 * <int64_t>open_.count)


cdef inline char *state_of(Open *open_) noexcept nogil:
    return <char *>ids_of(open_) + 8 * ((open_.count + 1) // 2)


cdef inline int64_t size_of_open(int32_t count, int32_t state_size) noexcept nogil:
    return <int64_t>sizeof(Open) + 16 * <int64_t>count + 8 * ((count + 1) // 2) + ((state_size + 7) & ~7)
