# cython: language_level=3
"""The game's own judgement: what tables.pyx, machine.pyx and rules.pyx take from plan.pyx."""
from libc.stdint cimport int32_t

from engine_ext.rng cimport Rng
from games.pentaquest.state cimport Tables

cdef int32_t suggest(const void *tables, const void *state, Rng *rng) noexcept nogil
cdef void estimate_alone(const void *tables, const void *state, double *out) noexcept nogil
cdef object judge_cards(Tables *t)
