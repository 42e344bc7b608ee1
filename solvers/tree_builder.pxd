# cython: language_level=3
"""Declarations of what builds a flat tree, for the walks that fill it."""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint64_t

from engine_ext.game cimport GameOps
from solvers.pools cimport Pool


cdef enum:
    NODE_LIMIT = 0x7FFFFFFE                    # node numbers are int32

cdef inline uint64_t exact_seed() noexcept nogil:
    """Seed of the second hash of an information set's content."""
    return <uint64_t>0x6A09E667F3BCC909u


@cython.final
cdef class Builder:
    cdef int32_t n_players
    cdef bint by_key               # information sets by key alone
    cdef bint by_node              # every decision is an information set of its own
    cdef Pool player, parent, first, count, infoset, action, prob, utility
    cdef Pool info_player, info_first, info_parent, info_key, info_exact, info_node
    cdef int32_t *table            # open addressing: information set + 1, 0 where free
    cdef uint64_t mask
    cdef int32_t clash             # after MISMATCH: the information set
    # what a walk meets that may rule a solver out
    cdef bint forgets              # an information set with two own sequences before it
    cdef bint unbalanced           # utilities that do not sum to zero
    cdef int32_t widest_decision, widest_chance
    cdef bint news                 # since it was last looked at, for the first time
    # the stack of open nodes of the native walk
    cdef Pool frames, states, last
    cdef int32_t depth             # frames in use - 1

    cdef int add_nodes(self, int32_t parent, int32_t count) noexcept nogil
    cdef int set_node(self, int32_t node, int32_t player, int32_t first, int32_t count, int32_t infoset) noexcept nogil
    cdef int rehash(self) noexcept nogil
    cdef uint64_t place(self, int32_t infoset) noexcept nogil
    cdef uint64_t hash_of(self, int32_t player, int32_t last, uint64_t key, uint64_t exact) noexcept nogil
    cdef int find_infoset(self, int32_t node, int32_t player, int32_t last, uint64_t key, uint64_t exact,
                          const int32_t *actions, int32_t count) noexcept nogil
    cdef int add_infoset(self, int32_t player, int32_t last, uint64_t key, int32_t count) noexcept nogil
    cdef int open_native(self, const GameOps *ops, const void *tables, const void *state, int32_t node,
                         const int32_t *last, int32_t depth_left) noexcept nogil
    cdef int push(self, const GameOps *ops, int32_t node) noexcept nogil
    cdef int start_native(self, const GameOps *ops, const void *tables, const void *state,
                          int32_t limit) noexcept nogil
    cdef int walk_native(self, const GameOps *ops, const void *tables, int64_t pause_at, int32_t limit) noexcept nogil
    cdef dict take(self)
