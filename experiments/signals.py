"""How a command ends at Ctrl-C (SIGINT) and SIGTERM.

Both unwind the stack, so that whoever holds something puts it away: workers are stopped, a checkpoint is
written. Three things could come between, and none may. Foreign code turns the exception into one of its
own: `received` tells. Foreign code swallows it (an `except:` around an optional import does, and so does
whatever runs while an object is collected): the signal is sent again until the command ends, or until
whoever caught the exception on purpose and goes on says so by `answered`. Compiled code does not look
up: where the main thread has not heard a signal after `GRACE_S`, or another comes while it does not, the
process ends at once. A thread sees to the last two. Files are written so that they are whole even then.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Iterator
from types import FrameType
from typing import NoReturn

GRACE_S = 10.0
AGAIN_S = 4.0  # what a command has to put away outside of `undisturbed` takes less
_APART_S = 1.0  # signals that come together, as from a supervisor, are one
_HEARD = 0  # the main thread's answer in the pipe that has the signals' numbers


class Signals:
    """What `heard` gives.

    Attributes:
        received: number of the signal that was heard last and still has to end the command; None before any.
    """

    def __init__(self, reader: int, writer: int) -> None:
        self.received: int | None = None
        self._reader, self._writer = reader, writer
        self._main = threading.get_ident()

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Unwind."""
        self.received = number
        with contextlib.suppress(OSError):
            os.write(self._writer, bytes([_HEARD]))
        if not _undisturbed.depth or _undisturbed.number is not None:
            self.unwind(number)
        _undisturbed.number = number

    @staticmethod
    def unwind(number: int) -> NoReturn:
        """Raise what the signal raises."""
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)

    def watch(self) -> None:
        """Send a signal again that somebody swallowed, and end the process where one goes unheard; until the pipe is
        closed."""
        unheard: int | None = None
        since_s = 0.0
        while True:
            left_s = None
            if unheard is not None:
                left_s = max(0.0, since_s + GRACE_S - time.monotonic())
            elif self.received is not None:
                left_s = AGAIN_S
            if not select.select([self._reader], [], [], left_s)[0]:
                if unheard is not None:
                    self._end(unheard)
                elif not _undisturbed.depth and self.received is not None:
                    signal.pthread_kill(self._main, self.received)
                continue
            numbers = os.read(self._reader, 64)
            if not numbers:
                return
            for number in numbers:
                now_s = time.monotonic()
                if number == _HEARD:
                    unheard = None
                elif signal.getsignal(number) != self.handle:
                    continue  # somebody else answers it, a web server for one
                elif unheard is None:
                    unheard, since_s = number, now_s
                elif now_s - since_s >= _APART_S:
                    self._end(number)

    def _end(self, number: int | None) -> None:
        os.write(2, b"\nquandary: the step under way does not end by itself; ended at once\n")
        os._exit(128 + (number or signal.SIGTERM))


class _Told:
    """Whether somebody has said why the command ends."""

    def __init__(self) -> None:
        self.done = False


_told = _Told()


def tell(text: str) -> None:
    """Say on the standard error what has become of the work that a signal ends, in a line of its own; or, where
    somebody has, nothing."""
    if not _told.done:
        _told.done = True
        print(f"\n{text}", file=sys.stderr, flush=True)


class _Undisturbed:
    """What `undisturbed` keeps: how many are open in the main thread, and a signal that waits for their end."""

    def __init__(self) -> None:
        self.depth = 0
        self.number: int | None = None


_undisturbed = _Undisturbed()


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """A signal that comes inside raises at the end instead, for putting away what would be lost half-way; a second one
    raises at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _undisturbed.depth += 1
    try:
        yield
    finally:
        _undisturbed.depth -= 1
        number = _undisturbed.number
        if number is not None and not _undisturbed.depth:
            _undisturbed.number = None
            Signals.unwind(number)


_listeners: list[Signals] = []


def answered() -> None:
    """The signal that was heard last was meant for one step alone, which has ended; the command goes on."""
    for listener in _listeners:
        listener.received = None


@contextlib.contextmanager
def heard() -> Iterator[Signals]:
    """SIGINT and SIGTERM raise KeyboardInterrupt and SystemExit(143) inside, whatever runs.

    A signal that is ignored (a shell's background jobs ignore SIGINT) stays ignored. Outside the main
    thread nothing changes.
    """
    _told.done = False
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signals = Signals(reader, writer)
    if threading.current_thread() is not threading.main_thread():
        os.close(reader)
        os.close(writer)
        yield signals
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, signals.handle)
    told = signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    watcher = threading.Thread(target=signals.watch, daemon=True)
    watcher.start()
    _listeners.append(signals)
    try:
        yield signals
    finally:
        _listeners.remove(signals)
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(told)
        os.close(writer)
        watcher.join()
        os.close(reader)
