# cython: language_level=3
"""A table of states: each distinct state of a game gets a number, in the order of arrival."""
from libc.stdint cimport int32_t, int64_t, uint64_t

from engine_ext.game cimport GameOps
from engine_ext.position cimport Rules


cdef class StateTable:
    cdef Rules rules            # keeps the function table alive
    cdef const GameOps *ops
    cdef const void *tables
    cdef int64_t size           # bytes a state
    cdef int64_t n_states       # states so far: numbers 0 .. n_states - 1
    cdef int64_t room           # states that fit before the arrays grow; only ever doubles
    cdef int64_t limit          # most states allowed
    cdef unsigned char *states  # [n_states, size]
    cdef uint64_t *keys         # [n_states] state_key of each
    cdef int32_t *slots         # hash table by key: number + 1, or 0
    cdef uint64_t slot_mask

    cdef int64_t find(self, const void *state) noexcept nogil
    cdef int64_t intern(self, const void *state, bint *fresh) noexcept nogil
    cdef bint grow(self) noexcept nogil
