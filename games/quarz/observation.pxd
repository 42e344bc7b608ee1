# cython: language_level=3
"""What a seat sees of a position: a scene (a dict), its text, a vector of numbers."""
from libc.stdint cimport int32_t

from games.quarz.state cimport State
from games.quarz.tables cimport QuarzTables

cdef dict scene_of(QuarzTables rules, const State *s, int32_t observer)
cdef int32_t tensor_size() noexcept
cdef void fill_tensor(QuarzTables rules, const State *s, int32_t observer, float *out) noexcept
