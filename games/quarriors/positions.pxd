# cython: language_level=3
"""Positions of Quarriors as dicts."""
from libc.stdint cimport int32_t

from games.quarriors.state cimport State
from games.quarriors.tables cimport QuarriorsTables

cdef dict write_dict(QuarriorsTables rules, const State *s)
cdef dict write_figures(QuarriorsTables rules, const State *s)
cdef object write_use(QuarriorsTables rules, const State *s, int32_t option)
cdef object write_targets(QuarriorsTables rules, const State *s, int32_t option)
cdef read_dict(QuarriorsTables rules, State *s, dict position)
cdef str name_of(QuarriorsTables rules, const State *s, int32_t slot)
