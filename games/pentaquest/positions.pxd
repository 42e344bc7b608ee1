# cython: language_level=3
"""Positions of Pentaquest in words and as dicts."""
from games.pentaquest.state cimport State
from games.pentaquest.tables cimport PentaquestTables

cdef str describe(PentaquestTables rules, const State *s)
cdef dict write_dict(PentaquestTables rules, const State *s)
cdef read_dict(PentaquestTables rules, State *s, dict position)
