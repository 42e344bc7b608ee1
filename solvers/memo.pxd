# cython: language_level=3
"""Declarations of `Memo`; see memo.pyx."""
from libc.stdint cimport int32_t, int64_t

from engine_ext.game cimport GameOps
from engine_ext.position cimport Position
from solvers.state_table cimport StateTable


cdef enum Trouble:
    FINE = 0
    FULL = 1
    CIRCLE = 2

cdef struct Frame:
    int64_t number      # of the state
    int64_t pending     # the child that was being solved, or -1
    int64_t ids         # where its ids and probabilities begin on their stacks
    int32_t turn
    int32_t count
    int32_t at          # next child
    int32_t best

cdef class Memo:
    cdef StateTable table
    cdef const GameOps *ops
    cdef int32_t n_players
    cdef double *values         # [state, seat]
    cdef int32_t *best          # [state] best action, NO_ACTION or RUNNING
    cdef int64_t room           # states that fit into them
    cdef Frame *frames          # the stack
    cdef int64_t n_frames, frame_room
    cdef int32_t *ids           # stacks of the frames' ids and probabilities
    cdef double *probs
    cdef int64_t n_ids, id_room
    cdef readonly int64_t steps  # apply calls so far

    cdef solve(self, Position position, double *out)
    cdef forget(self)
    cdef bint push(self, int64_t number) noexcept nogil
    cdef void combine(self, Frame *frame, const double *child) noexcept nogil
    cdef Trouble run(self, int64_t most_steps) noexcept nogil
