# cython: language_level=3
"""Declarations of `Rules` and `Position`, for the games (which subclass Rules) and the solvers."""
from libc.stdint cimport int32_t

from engine_ext.game cimport GameOps


cdef class Rules:
    cdef GameOps ops              # the function table; filled by the subclass before seal()
    cdef const void *tables       # the subclass's immutable tables; passed to every function
    cdef void *start              # initial state, ops.state_size bytes; owned
    cdef readonly str name        # the name the game is registered under with OpenSpiel
    cdef readonly dict parameters  # every parameter with its value
    cdef readonly object start_dict  # a hand-made initial position, or None
    cdef public dict recommended  # searcher's name -> its settings that play this game well, by parameter
    cdef readonly str digest      # SHA-256 hex of all data files behind the rules; "" without data
    cdef dict _action_ids         # action name -> id, built on first use
    cdef bytes _stamp             # header of saved positions

    cdef void write_start(self, void *state) noexcept
    cdef seal(self)


cdef class Position:
    cdef readonly Rules rules
    cdef const GameOps *ops       # borrowed from rules
    cdef const void *tables       # borrowed from rules
    cdef void *state              # ops.state_size bytes; owned

    cdef int32_t require_legal(self, int32_t id) except -1
    cdef int32_t _seat(self, player) except -1


cdef Position new_position(Rules rules, const void *state)
