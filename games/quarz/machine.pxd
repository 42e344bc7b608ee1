# cython: language_level=3
"""The functions of the contract (engine_ext/game.pxd) for Qu'arz, and what positions are built with."""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from engine_ext.rng cimport Rng
from games.quarz.state cimport State, Tables

cdef int32_t turn(const void *tables, const void *state) noexcept nogil
cdef int32_t legal(const void *tables, const void *state, int32_t *out) noexcept nogil
cdef int32_t outcomes(const void *tables, const void *state, int32_t *ids, double *probs) noexcept nogil
cdef int32_t sample(const void *tables, const void *state, Rng *rng) noexcept nogil
cdef void apply(const void *tables, void *state, int32_t id) noexcept nogil
cdef int32_t run_chance(const void *tables, void *state, Rng *rng) noexcept nogil
cdef int64_t playout(const void *tables, void *state, Rng *rng) noexcept nogil
cdef void returns(const void *tables, const void *state, double *out) noexcept nogil
cdef uint64_t state_key(const void *tables, const void *state) noexcept nogil
cdef uint64_t info_key(const void *tables, const void *state, int32_t observer) noexcept nogil
cdef int32_t info_bytes(const void *tables, const void *state, int32_t observer, uint8_t *out) noexcept nogil
cdef void resample(const void *tables, void *state, int32_t observer, Rng *rng) noexcept nogil
cdef int32_t suggest(const void *tables, const void *state, Rng *rng) noexcept nogil
cdef void estimate(const void *tables, const void *state, double *out) noexcept nogil
cdef int64_t clock(const void *tables, const void *state) noexcept nogil
cdef int32_t check(const void *tables, const void *state) noexcept nogil
cdef int32_t rewind(const void *tables, void *state) noexcept nogil

# Play a state that was written by hand on to its first decision or chance node, as play.pxd's `run`.
cdef int32_t settle(const Tables *t, State *s, int32_t *out) noexcept nogil
