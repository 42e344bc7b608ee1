"""Signals in tests: long compiled work must hear them."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from typing import Any

import pytest


class Interrupted(Exception):
    """What the signal handler raises, as Ctrl-C raises KeyboardInterrupt."""


@contextlib.contextmanager
def stopped_after(seconds: float) -> Iterator[None]:
    """Run work that would go on for very long and expect a signal, so much later, to end it."""

    def interrupt(*_: Any) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        with pytest.raises(Interrupted):
            yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def die(*_: Any) -> None:
    """End as the system ends a process that takes all memory."""
    os.kill(os.getpid(), signal.SIGKILL)
