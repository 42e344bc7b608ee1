"""Solved games, shared by every bot of a process that needs the same one.

In play a bot, the one that gives the hints, and the bots of the next game may all have solved the same game: seconds of
work and hundreds of megabytes, once. Memory is bounded: one game is solved at a time, and where more lies on the shelf
than there is room for, what was not used for the longest time goes, and is solved again when somebody needs it.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from solvers.stopping import look_up

_LOOK_S = 0.05  # between two looks whether who waits for its turn still wants to

Kept = TypeVar("Kept")


class Shelf(Generic[Kept]):
    """What has been made, by key; safe for threads.

    Args:
        most_bytes: what may be kept beside the newest, which always is.
    """

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._kept: OrderedDict[Hashable, tuple[Kept, int]] = OrderedDict()
        self._lock = threading.Lock()
        self._turn = threading.Lock()  # whoever makes something holds it

    def __contains__(self, key: Hashable) -> bool:
        """Whether it is there, so that nobody has to wait for it."""
        with self._lock:
            return key in self._kept

    def get(
        self, key: Hashable, make: Callable[[], tuple[Kept, int]], began: Callable[[], None] = lambda: None
    ) -> Kept:
        """What was made for a key, which is now the last used; made now where it is not there.

        Args:
            key: equal for equal things.
            make: makes it, and tells its bytes. It may be ended from outside (`solvers.stopping`), and so may waiting.
            began: called when its making begins, once nothing else is being made.

        Raises:
            Exception: whatever `make` raises; nothing is kept then.
        """
        while True:
            with self._lock:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    return self._kept[key][0]
            if self._turn.acquire(timeout=_LOOK_S):
                break
            look_up()
        try:
            with self._lock:
                if key in self._kept:  # made while this waited
                    return self._kept[key][0]
            began()
            made = make()
            with self._lock:
                self._kept[key] = made
                self._make_room()
            return made[0]
        finally:
            self._turn.release()

    def _make_room(self) -> None:
        total = sum(size for _, size in self._kept.values())
        while total > self.most_bytes and len(self._kept) > 1:
            _, (_, size) = self._kept.popitem(last=False)
            total -= size

    def clear(self) -> None:
        """Keep nothing."""
        with self._lock:
            self._kept.clear()
