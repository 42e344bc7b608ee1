"""Ending work from another thread.

Signals reach the main thread only. A thread whose search may have to end, because a person has gone on
or its time is up, runs it inside `stoppable`; compiled loops, wherever they let Ctrl-C through, call
`look_up`, which asks and raises `Stopped` if the answer is yes. What was being worked on is left as
after an interrupt: searchers and solvers can be used again.
"""
from cpython.exc cimport PyErr_CheckSignals

import contextlib
import contextvars

cdef int n_stoppable = 0     # under the GIL: how many pieces of work are inside `stoppable` now
_asked = contextvars.ContextVar("asked", default=None)


class Stopped(BaseException):
    """The work was ended from outside. Like KeyboardInterrupt no Exception: nobody handles it by accident."""


@contextlib.contextmanager
def stoppable(asked):
    """Let `asked` end what this thread does inside: as soon as it returns true, `Stopped` is raised.

    Args:
        asked: called every few milliseconds to tenths of a second; quick, and without effects.

    Raises:
        Stopped: out of whatever was going on.
    """
    global n_stoppable
    token = _asked.set(asked)
    n_stoppable += 1
    try:
        yield
    finally:
        n_stoppable -= 1
        _asked.reset(token)


cpdef int look_up() except -1:
    """Let signals and `Stopped` through; costs a few nanoseconds where nobody may end anything."""
    PyErr_CheckSignals()
    if n_stoppable:
        asked = _asked.get()
        if asked is not None and asked():
            raise Stopped
    return 0
