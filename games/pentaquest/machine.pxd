# cython: language_level=3
"""The functions of the contract (engine_ext/game.pxd) for Pentaquest."""
from libc.stdint cimport int32_t, int64_t, uint64_t

from engine_ext.rng cimport Rng

cdef int32_t turn(const void *tables, const void *state) noexcept nogil
cdef int32_t legal(const void *tables, const void *state, int32_t *out) noexcept nogil
cdef int32_t random_action(const void *tables, const void *state, Rng *rng) noexcept nogil
cdef int32_t outcomes(const void *tables, const void *state, int32_t *ids, double *probs) noexcept nogil
cdef int32_t sample(const void *tables, const void *state, Rng *rng) noexcept nogil
cdef void apply(const void *tables, void *state, int32_t id) noexcept nogil
cdef int32_t run_chance(const void *tables, void *state, Rng *rng) noexcept nogil
cdef int64_t playout(const void *tables, void *state, Rng *rng) noexcept nogil
cdef void returns(const void *tables, const void *state, double *out) noexcept nogil
cdef void estimate(const void *tables, const void *state, double *out) noexcept nogil
cdef uint64_t state_key(const void *tables, const void *state) noexcept nogil
cdef int64_t clock(const void *tables, const void *state) noexcept nogil
cdef int32_t check(const void *tables, const void *state) noexcept nogil
