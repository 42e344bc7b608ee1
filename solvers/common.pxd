# cython: language_level=3
"""Small things that several solvers need."""
from libc.stdint cimport uint64_t

from engine_ext.game cimport STATE_LIMIT, ZERO_SUM, GameOps


ctypedef union StateBuffer:
    # Room for one state of any game on the stack, aligned for whatever its struct holds.
    uint64_t word
    unsigned char bytes[STATE_LIMIT]    # `buffer.bytes` is passed where a state is wanted


cdef inline bint one_value(const GameOps *ops) noexcept nogil:
    """Whether seat 0's utility says all: one player, or two with a zero sum."""
    return ops.n_players == 1 or (ops.n_players == 2 and ops.flags & ZERO_SUM)
