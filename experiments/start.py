"""Where the `quandary` command begins: whatever takes time to load comes after a signal has somebody to hear it."""

from __future__ import annotations

import os
import signal
from types import FrameType

from experiments import streams

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


def main() -> None:
    """Entry point of the command; always ends by SystemExit."""
    heard = [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
    for number in heard:
        signal.signal(number, _too_early)
    streams.make_fit()
    from experiments import cli

    try:
        cli.main()
    finally:
        for number in heard:
            signal.signal(number, signal.SIG_DFL)  # the answer is out; nobody need be told of an end


def _too_early(number: int, frame: FrameType | None) -> None:
    """End at once: nothing has been done yet, and code that is being loaded may make anything of an exception."""
    os.write(2, b"\nquandary: interrupted while it was starting; nothing was done\n")
    os._exit(128 + number)
