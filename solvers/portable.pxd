# cython: language_level=3
"""A logarithm that has the same bits on every machine.

C libraries round `log` differently, and one library may choose between several routines by
processor; one last bit is enough to turn a search elsewhere. These use nothing but exact and
correctly rounded operations (IEEE 754 +, -, *, / and the bits of a double).
"""
from libc.math cimport frexp
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy


cdef struct LogTable:       # 4 KiB
    double inverse[256]     # 1 / (1 + i / 256)
    double log[256]         # log(1 + i / 256)


cdef inline double portable_log(double x) noexcept nogil:
    """Natural logarithm of a normal number above 0, within two units in the last place.

    x = m * 2**e with m in [sqrt(1/2), sqrt(2)), and log m = 2 atanh(s), s = (m - 1) / (m + 1), whose
    series needs eleven terms, as |s| < 0.172. ln 2 comes in two parts, the first of them short
    enough that e times it is exact.
    """
    cdef int e
    cdef double m = frexp(x, &e)
    cdef double s, z, tail
    if m < 0.70710678118654752:
        m *= 2.0
        e -= 1
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    tail = z * (1 / 3.0 + z * (1 / 5.0 + z * (1 / 7.0 + z * (1 / 9.0 + z * (1 / 11.0 + z * (
        1 / 13.0 + z * (1 / 15.0 + z * (1 / 17.0 + z * (1 / 19.0 + z * (1 / 21.0 + z * (1 / 23.0)))))))))))
    return e * 6.93147180369123816490e-01 + (2.0 * s + (2.0 * s * tail + e * 1.90821492927058770002e-10))


cdef inline void log_table_fill(LogTable *table) noexcept nogil:
    cdef int32_t i
    for i in range(256):
        table.inverse[i] = 1.0 / (1.0 + i / 256.0)
        table.log[i] = portable_log(1.0 + i / 256.0)


cdef inline double quick_log(const LogTable *table, double x) noexcept nogil:
    """Natural logarithm of a normal number above 0, to 1e-12, in the time of a few multiplications.

    x = 2**e * b * (1 + r), where b is 1 + the leading 8 bits of the mantissa and 0 <= r < 1/256.
    """
    cdef uint64_t bits
    cdef int32_t e, i
    cdef double m, r
    memcpy(&bits, &x, 8)
    e = <int32_t>(bits >> 52) - 1023
    i = <int32_t>(bits >> 44) & 255
    bits = (bits & <uint64_t>0x000FFFFFFFFFFFFFu) | <uint64_t>0x3FF0000000000000u
    memcpy(&m, &bits, 8)
    r = (m - (1.0 + i * (1.0 / 256.0))) * table.inverse[i]
    return (e * 6.93147180559945309417e-01 + table.log[i]) + r * (1.0 - r * (0.5 - r * (1 / 3.0 - r * 0.25)))
