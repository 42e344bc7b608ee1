# cython: language_level=3
"""Positions of Qu'arz as dicts."""
from games.quarz.state cimport State
from games.quarz.tables cimport QuarzTables

cdef dict write_table(QuarzTables rules, const State *s)
cdef dict write_dict(QuarzTables rules, const State *s)
cdef read_dict(QuarzTables rules, State *s, dict position)
