# cython: language_level=3
"""Declarations of stages of simultaneous choices, for the searchers that solve one at their root."""
from libc.stdint cimport int32_t, int64_t

from engine_ext.game cimport PLAYER_LIMIT, GameOps
from engine_ext.position cimport Rules
from engine_ext.rng cimport Rng


cdef struct Choices:             # of one seat of a stage
    int32_t seat
    int32_t count                # its actions, ascending by id
    int32_t first                # of its block in arrays over all seats' actions


cdef class OneShot:
    # ---- the game ----------------------------------------------------------------------------
    cdef readonly int32_t n_seats
    cdef readonly int32_t n_actions      # of all seats together
    cdef readonly int64_t n_cells        # joint choices, one action a seat
    cdef Choices seats[PLAYER_LIMIT]
    cdef int32_t width                   # seats that the payoffs tell of, those of the stage among them
    cdef double *payoff                  # [n_cells, width] utility; owned
    cdef int32_t *place                  # [n_cells, n_seats] each seat's action, by its place in `policy`; owned
    cdef double least_regret             # regrets below it are rounding
    # ---- CFR+ --------------------------------------------------------------------------------
    cdef double *regret                  # [n_actions] never negative; owned
    cdef double *policy                  # [n_actions] of the next iteration; owned
    cdef double *total                   # [n_actions] policies weighted by iteration; owned
    cdef double *utility                 # [n_actions] of the seat being updated; owned
    cdef int64_t iterations

    cdef _lay_out(self, list counts, list seats, int32_t width)
    cdef void restart(self) noexcept nogil
    cdef void run(self, int64_t count) noexcept nogil
    cdef void update(self, int32_t i) noexcept nogil
    cdef void value_actions(self, int32_t i, const double *policies) noexcept nogil


cdef class Stage(OneShot):
    cdef Rules rules                     # keeps the borrowed table alive
    cdef const GameOps *ops
    cdef const void *tables
    cdef int32_t n_players
    cdef int32_t *actions                # [n_actions] action ids; owned
    cdef int64_t *order                  # [n_cells] the cells in the order of their first visit; owned
    cdef int64_t *visits                 # [n_cells] simulations; owned
    cdef double *sums                    # [n_cells, n_players] of their returns; owned
    cdef int64_t simulations
    cdef int64_t next_solution           # simulations after which the stage is solved again
    cdef bint differs                    # a state had other choices than the first

    cdef bint take(self, unsigned char *state, int64_t cell) noexcept nogil
    cdef int64_t draw(self, Rng *rng) noexcept nogil
    cdef void credit(self, int64_t cell, const double *values) noexcept nogil
    cdef void average_cells(self) noexcept nogil
    cdef void fill_gaps(self, int32_t seat, int64_t met) noexcept nogil
