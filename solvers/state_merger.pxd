# cython: language_level=3
"""Declarations of the walk that makes one node of equal states."""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint64_t

from engine_ext.game cimport GameOps
from solvers.pools cimport Pool


@cython.final
cdef class Merger:
    cdef int32_t n_players
    cdef bint exact                # states are equal only where their bytes are, too
    cdef Pool player, first, count, row, key, check, left
    cdef Pool action, prob, target, utility
    cdef int32_t *table            # open addressing: node + 1, 0 where free
    cdef uint64_t mask
    cdef Pool frames, states
    cdef int32_t depth
    cdef int64_t n_left            # nodes left for good

    cdef int rehash(self) noexcept nogil
    cdef int visit(self, const GameOps *ops, const void *tables, const void *state, int32_t depth_left,
                   int32_t *out) noexcept nogil
    cdef int room(self, const GameOps *ops) noexcept nogil
    cdef int start(self, const GameOps *ops, const void *tables, const void *state, int32_t limit) noexcept nogil
    cdef int walk(self, const GameOps *ops, const void *tables, int64_t pause_at, int32_t limit) noexcept nogil
    cdef dict take(self)
