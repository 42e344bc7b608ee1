"""How a command ends at Ctrl-C (SIGINT) and SIGTERM.

Both unwind the stack, so that whoever holds something puts it away: workers are stopped, a checkpoint is
written. Two things could come between, and neither may: foreign code that turns the exception into one of
its own (`received` tells), and compiled code that does not look up. Against the latter stands a thread:
where the main thread has not heard a signal after `GRACE_S`, or another comes while it does not, the process
ends at once. Files are written so that they are whole even then.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import threading
import time
from collections.abc import Iterator
from types import FrameType

GRACE_S = 10.0
_APART_S = 1.0  # signals that come together, as from a supervisor, are one
_HEARD = 0  # the main thread's answer in the pipe that has the signals' numbers


class Signals:
    """What `heard` gives.

    Attributes:
        received: number of the signal that was heard last; None before any.
    """

    def __init__(self, reader: int, writer: int) -> None:
        self.received: int | None = None
        self._reader, self._writer = reader, writer

    def handle(self, number: int, frame: FrameType | None) -> None:
        """Unwind."""
        self.received = number
        with contextlib.suppress(OSError):
            os.write(self._writer, bytes([_HEARD]))
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)

    def watch(self) -> None:
        """End the process where a signal goes unheard; until the pipe is closed."""
        unheard: int | None = None
        since_s = 0.0
        while True:
            left_s = None if unheard is None else max(0.0, since_s + GRACE_S - time.monotonic())
            if not select.select([self._reader], [], [], left_s)[0]:
                self._end(unheard)
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


@contextlib.contextmanager
def heard() -> Iterator[Signals]:
    """SIGINT and SIGTERM raise KeyboardInterrupt and SystemExit(143) inside, whatever runs.

    A signal that is ignored (a shell's background jobs ignore SIGINT) stays ignored. Outside the main
    thread nothing changes.
    """
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
    try:
        yield signals
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(told)
        os.close(writer)
        watcher.join()
        os.close(reader)
