# cython: language_level=3
"""Random streams as plain structs, inlined into every caller.

The generator is xoshiro256** 1.0 (Blackman and Vigna, 2018): 256 bits of state, period
2**256 - 1, about one nanosecond a draw. Bounded integers use Lemire's multiply-and-reject
method (2019), which is free of modulo bias. A stream is seeded through SplitMix64, as the
authors advise, either from a 64-bit seed or from a tuple of keys, so that a stream can
belong to a place (experiment, pairing, game, event) and not to the order of execution.

A `Rng` is copied by assignment; a copy replays the same numbers. Nothing here needs the GIL.
"""
from libc.stdint cimport int32_t, uint32_t, uint64_t


cdef extern from *:
    """
    #include <stdint.h>
    #if defined(__SIZEOF_INT128__)
    static inline uint64_t quandary_mulhi64(uint64_t a, uint64_t b, uint64_t *low) {
        unsigned __int128 product = (unsigned __int128)a * b;
        *low = (uint64_t)product;
        return (uint64_t)(product >> 64);
    }
    #else
    static inline uint64_t quandary_mulhi64(uint64_t a, uint64_t b, uint64_t *low) {
        uint64_t a_lo = (uint32_t)a, a_hi = a >> 32, b_lo = (uint32_t)b, b_hi = b >> 32;
        uint64_t ll = a_lo * b_lo, lh = a_lo * b_hi, hl = a_hi * b_lo, hh = a_hi * b_hi;
        uint64_t mid = (ll >> 32) + (uint32_t)lh + (uint32_t)hl;
        *low = (mid << 32) | (uint32_t)ll;
        return hh + (lh >> 32) + (hl >> 32) + (mid >> 32);
    }
    #endif
    """
    uint64_t quandary_mulhi64(uint64_t a, uint64_t b, uint64_t *low) noexcept nogil


cdef struct Rng:
    uint64_t s0
    uint64_t s1
    uint64_t s2
    uint64_t s3


cdef inline uint64_t rng_mix(uint64_t x) noexcept nogil:
    """SplitMix64's finaliser: a bijection of 64 bits in which every input bit reaches every output bit."""
    x ^= x >> 30
    x *= <uint64_t>0xBF58476D1CE4E5B9u
    x ^= x >> 27
    x *= <uint64_t>0x94D049BB133111EBu
    return x ^ (x >> 31)


cdef inline uint64_t rng_combine(uint64_t key, uint64_t value) noexcept nogil:
    """Fold one more 64-bit value into a 64-bit key; the order of folding matters."""
    return rng_mix((key ^ rng_mix(value + <uint64_t>0x9E3779B97F4A7C15u)) * <uint64_t>0xD1342543DE82EF95u
                   + <uint64_t>0x9E3779B97F4A7C15u)


cdef inline void rng_seed(Rng *rng, uint64_t seed) noexcept nogil:
    """Start a stream from a 64-bit seed (SplitMix64 fills the four words)."""
    cdef uint64_t gamma = <uint64_t>0x9E3779B97F4A7C15u
    rng.s0 = rng_mix(seed + gamma)
    rng.s1 = rng_mix(seed + 2 * gamma)
    rng.s2 = rng_mix(seed + 3 * gamma)
    rng.s3 = rng_mix(seed + 4 * gamma)
    if rng.s0 == 0 and rng.s1 == 0 and rng.s2 == 0 and rng.s3 == 0:
        rng.s0 = gamma  # the one state that xoshiro never leaves


cdef inline void rng_seed_keys(Rng *rng, uint64_t a, uint64_t b, uint64_t c, uint64_t d) noexcept nogil:
    """Start the stream that belongs to the key (a, b, c, d), whatever was drawn before."""
    rng_seed(rng, rng_combine(rng_combine(rng_combine(rng_mix(a), b), c), d))


cdef inline uint64_t rng_next(Rng *rng) noexcept nogil:
    """Next 64 random bits."""
    cdef uint64_t x = rng.s1 * 5
    cdef uint64_t result = ((x << 7) | (x >> 57)) * 9
    cdef uint64_t t = rng.s1 << 17
    rng.s2 ^= rng.s0
    rng.s3 ^= rng.s1
    rng.s1 ^= rng.s2
    rng.s0 ^= rng.s3
    rng.s2 ^= t
    rng.s3 = (rng.s3 << 45) | (rng.s3 >> 19)
    return result


cdef inline uint32_t rng_below(Rng *rng, uint32_t bound) noexcept nogil:
    """Uniform integer in [0, bound); bound must be at least 1. One multiplication nearly always."""
    cdef uint64_t product = (rng_next(rng) >> 32) * <uint64_t>bound
    cdef uint32_t low = <uint32_t>product
    cdef uint32_t threshold
    if low < bound:
        threshold = (<uint32_t>0 - bound) % bound
        while low < threshold:
            product = (rng_next(rng) >> 32) * <uint64_t>bound
            low = <uint32_t>product
    return <uint32_t>(product >> 32)


cdef inline uint64_t rng_below64(Rng *rng, uint64_t bound) noexcept nogil:
    """Uniform integer in [0, bound) for bounds beyond 32 bits; bound must be at least 1."""
    cdef uint64_t low, threshold
    cdef uint64_t high = quandary_mulhi64(rng_next(rng), bound, &low)
    if low < bound:
        threshold = (<uint64_t>0 - bound) % bound
        while low < threshold:
            high = quandary_mulhi64(rng_next(rng), bound, &low)
    return high


cdef inline double rng_double(Rng *rng) noexcept nogil:
    """Uniform double in [0, 1), 53 random bits."""
    return <double>(rng_next(rng) >> 11) * (1.0 / 9007199254740992.0)


cdef class Stream:
    """A random stream that Python code can hold, pass to engine calls, pickle and replay."""
    cdef Rng rng  # the live state; cdef callers pass &stream.rng
