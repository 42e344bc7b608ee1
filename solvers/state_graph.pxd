# cython: language_level=3
"""All states that can be reached from one, and the steps between them."""
from libc.stdint cimport int32_t, int64_t

from engine_ext.game cimport GameOps
from engine_ext.position cimport Position
from solvers.pace cimport Pace
from solvers.state_table cimport StateTable


cdef class StateGraph:
    cdef StateTable table
    cdef const GameOps *ops
    cdef int32_t n_values       # values a state: 1 where seat 0's says all
    cdef int64_t max_bytes
    cdef int64_t n_steps
    cdef int64_t step_room, state_room
    # While listing, states go by their number in the table; `rearrange` puts them by place in `order`,
    # so that the states of a component, which are swept together, lie together.
    cdef int64_t *first         # [n_states + 1] where a state's steps begin
    cdef signed char *turn      # [n_states]
    cdef int32_t *target        # [n_steps]
    cdef int32_t *action        # [n_steps]
    cdef double *prob           # [n_steps] chance: probability; decision: 1
    cdef double *values         # [n_states, n_values] returns of terminal states; of others 0, for a solver to renew
    cdef int32_t *order         # [n_states] components one after the other, those they hang on first
    cdef int32_t *place         # [n_states] where each number stands in `order`
    cdef int32_t *component     # [n_components + 1] where each begins in `order`
    cdef int32_t n_components

    cdef int64_t bytes_used(self) noexcept nogil
    cdef double most_states(self) noexcept nogil
    cdef int64_t state_bytes(self) noexcept nogil
    cdef bint list_from(self, Position position, Pace pace) except -1
    cdef int list_steps(self, int64_t *at, int64_t count) noexcept nogil
    cdef bint make_room(self, int64_t number) noexcept nogil
    cdef bint cut(self, Pace pace) except -1
    cdef int rearrange(self) except -1
    cdef int64_t place_of(self, Position position) noexcept
