# cython: language_level=3
"""The limits of a long computation, and when to look at them."""
from libc.stdint cimport int64_t

cdef enum:
    CHUNK = 1 << 18             # items of work between two looks for signals
    TIMED_CHUNK = 1 << 8        # and between two looks at the clock, under a limit, to begin with
    FOREVER = 0x7FFFFFFFFFFFFFFF


cdef class Pace:
    cdef int64_t chunk              # items of work until the next look
    cdef bint limited               # whether there is a limit at all
    cdef int64_t node_limit
    cdef double began_s             # by time.perf_counter, as all that follows
    cdef double deadline_s
    cdef double looked_s            # when the last look was
    cdef double apart_s             # between two looks, at most

    cdef bint is_late(self, int64_t nodes) except -1
    cdef bint is_past(self) except -1
    cdef double spent_s(self) except? -1.0
    cdef double left_s(self) except? -1.0
