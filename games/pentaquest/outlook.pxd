# cython: language_level=3
"""The estimate among several: what tables.pyx, machine.pyx and rules.pyx take from outlook.pyx."""
from games.pentaquest.state cimport State, Tables

cdef void estimate_among(const void *tables, const void *state, double *out) noexcept nogil
cdef object learn_outlook(Tables *t)
cdef object terms_of(const Tables *t, const State *s)
