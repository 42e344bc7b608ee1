# cython: language_level=3
"""Regret matching over the regrets of one information set, and drawing actions from it."""
from libc.stdint cimport int32_t

from engine_ext.rng cimport Rng, rng_below, rng_double


cdef inline double positive_sum(const double *regret, int32_t count) noexcept nogil:
    """The sum of the positive regrets."""
    cdef double total = 0.0
    cdef int32_t a
    for a in range(count):
        total += regret[a] if regret[a] > 0.0 else 0.0
    return total


cdef inline void match(const double *regret, int32_t count, double *policy) noexcept nogil:
    """Regret matching: in proportion to positive regrets, uniform where there are none."""
    cdef double total = positive_sum(regret, count)
    cdef double scale
    cdef int32_t a
    if total > 0.0:
        scale = 1.0 / total
        for a in range(count):
            policy[a] = regret[a] * scale if regret[a] > 0.0 else 0.0
    else:
        play_uniformly(count, policy)


cdef inline void play_uniformly(int32_t count, double *policy) noexcept nogil:
    cdef int32_t a
    for a in range(count):
        policy[a] = 1.0 / <double>count


cdef inline int32_t draw_positive(const double *regret, int32_t count, double total, Rng *rng) noexcept nogil:
    """An action in proportion to positive regrets, whose sum is `total`; uniform where it is 0."""
    cdef double left
    cdef int32_t a, last = 0
    if total <= 0.0:
        return rng_below(rng, count)
    left = rng_double(rng) * total
    for a in range(count):
        if regret[a] > 0.0:
            last = a
            left -= regret[a]
            if left < 0.0:
                return a
    return last


cdef inline int32_t draw(const double *policy, int32_t count, Rng *rng) noexcept nogil:
    """An action by its probability."""
    cdef double left = rng_double(rng)
    cdef int32_t a
    for a in range(count - 1):
        left -= policy[a]
        if left < 0.0:
            return a
    return count - 1
