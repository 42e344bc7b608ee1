# cython: language_level=3
"""Sets of up to 64 things as bits of a uint64_t."""
from libc.stdint cimport int32_t, uint64_t


cdef extern from *:
    """
    #ifndef QUANDARY_BITS
    #define QUANDARY_BITS
    #include <stdint.h>
    #if defined(_MSC_VER) && !defined(__clang__)
    #include <intrin.h>
    static inline int quandary_lowest_bit(uint64_t set) {
        unsigned long index;
        _BitScanForward64(&index, set);
        return (int)index;
    }
    #else
    static inline int quandary_lowest_bit(uint64_t set) { return __builtin_ctzll(set); }
    #endif
    #if defined(__POPCNT__)
    static inline int quandary_count_bits(uint64_t set) { return __builtin_popcountll(set); }
    #else
    /* Without the instruction the compiler would call a library function; this is four times faster. */
    static inline int quandary_count_bits(uint64_t set) {
        set -= (set >> 1) & 0x5555555555555555u;
        set = (set & 0x3333333333333333u) + ((set >> 2) & 0x3333333333333333u);
        set = (set + (set >> 4)) & 0x0F0F0F0F0F0F0F0Fu;
        return (int)((set * 0x0101010101010101u) >> 56);
    }
    #endif
    #endif
    """
    int quandary_lowest_bit(uint64_t set) noexcept nogil
    int quandary_count_bits(uint64_t set) noexcept nogil


cdef inline uint64_t bit(int32_t i) noexcept nogil:
    """The set that holds only i, 0 to 63."""
    return <uint64_t>1 << i


cdef inline bint has_bit(uint64_t set_, int32_t i) noexcept nogil:
    """Whether i is in the set."""
    return set_ >> i & 1


cdef inline int32_t lowest_bit(uint64_t set_) noexcept nogil:
    """The smallest member; the set must not be empty."""
    return quandary_lowest_bit(set_)


cdef inline int32_t count_bits(uint64_t set_) noexcept nogil:
    """How many members."""
    return quandary_count_bits(set_)


cdef inline int32_t pop_bit(uint64_t *set_) noexcept nogil:
    """Take out the smallest member and return it; the set must not be empty."""
    cdef int32_t i = quandary_lowest_bit(set_[0])
    set_[0] &= set_[0] - 1
    return i


cdef inline int32_t nth_bit(uint64_t set_, int32_t n) noexcept nogil:
    """The n-th smallest member, n from 0; the set must have more than n."""
    cdef int32_t _i
    for _i in range(n):
        set_ &= set_ - 1
    return quandary_lowest_bit(set_)
