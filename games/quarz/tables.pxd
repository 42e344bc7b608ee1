# cython: language_level=3
"""The rules' tables as a base class, for the modules that need the names of monsters, cards and cells."""
from libc.stdint cimport int32_t

from engine_ext.hexgrid cimport HexBoard
from engine_ext.position cimport Rules
from games.quarz.state cimport Tables


cdef class QuarzTables(Rules):
    cdef Tables data
    cdef readonly object content
    cdef readonly object board
    cdef readonly list instructions
    cdef HexBoard hexes       # owns what data.grid was copied from

    cdef int32_t _compile(self, effects, source) except -1
