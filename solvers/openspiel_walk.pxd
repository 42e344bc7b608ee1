# cython: language_level=3
"""The walk through a game of OpenSpiel's: what it calls things."""
from libc.stdint cimport int32_t


cdef class Labels:
    cdef str game
    cdef dict action_names     # id -> text, of those met
    cdef dict outcome_names
    cdef bint observations     # information sets go by observation strings

    cdef str text(self, state, int32_t player)
    cdef name_actions(self, state, player, actions)
    cdef name_outcomes(self, state, outcomes)
