"""The limits of a long computation, and when to look at them.

The work comes in chunks. Between two of them somebody looks at the clock and lets signals through; under a limit the
chunks begin small and grow until a look comes every hundredth of the time, or every 20 ms.
"""
import time

from libc.stdint cimport int64_t

cimport cython

from solvers.stopping cimport look_up

_LOOK_SHARE = 0.01      # of a limit in seconds: what passes between two looks at the clock
_LOOK_S = 0.02          # and without one


@cython.final
cdef class Pace:
    """Limits that begin to run now; not for use from Python.

    Args:
        seconds: of time; None for no such limit.
        nodes: of which each item of work adds one at most; None for no such limit.
    """

    def __cinit__(self, seconds=None, nodes=None):
        self.began_s = self.looked_s = time.perf_counter()
        self.deadline_s = float("inf") if seconds is None else self.began_s + seconds
        self.node_limit = FOREVER if nodes is None else nodes
        self.limited = seconds is not None or nodes is not None
        self.chunk = TIMED_CHUNK if self.limited else CHUNK
        self.apart_s = _LOOK_S if seconds is None else min(_LOOK_S, _LOOK_SHARE * seconds)

    cdef bint is_late(self, int64_t nodes) except -1:
        """Whether a limit is reached after so many nodes; lets signals through, and sets the chunk by the pace and by
        the nodes that are left, of which an item of work is one."""
        cdef double now_s = time.perf_counter()
        look_up()
        if self.chunk < CHUNK and now_s - self.looked_s < self.apart_s / 2:
            self.chunk *= 2
        elif self.chunk > TIMED_CHUNK and now_s - self.looked_s > self.apart_s:
            self.chunk //= 2
        self.chunk = max(1, min(self.chunk, self.node_limit - nodes))
        self.looked_s = now_s
        return nodes >= self.node_limit or now_s >= self.deadline_s

    cdef bint is_past(self) except -1:
        """Whether the time is up; lets signals through."""
        look_up()
        return time.perf_counter() >= self.deadline_s

    cdef double spent_s(self) except? -1.0:
        """Seconds so far."""
        return time.perf_counter() - self.began_s

    cdef double left_s(self) except? -1.0:
        """Seconds left; infinite without a limit."""
        return self.deadline_s - time.perf_counter()
