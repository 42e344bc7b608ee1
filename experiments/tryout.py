"""Trying out: what a game rules out is found before a run begins, not in the middle of it.

Much of what makes a solver unsuitable for a game is declared, and `SolverSpec.require` says so at once. The rest
shows only when it begins: that positions come again, that a whole game does not fit into memory, that a stage is
too wide. So every piece of an experiment is begun once, for a few seconds at the most; what is refused by then is
refused before anything is written.
"""

from __future__ import annotations

import dataclasses
import signal
import threading
from collections.abc import Callable
from types import FrameType

from engine_ext.position import Rules
from engine_ext.rng import Stream
from solvers.contract import Limit, Searcher

SEARCH_S = 1.0  # for the first searches of a bot that has a limit of its own
EXACT_S = 3.0  # for a bot that looks at the whole game: most surveys of its size have refused it by then
WHOLE_S = 9.0  # for exact values and trees; every survey of a game's size is through by then
_AGAIN_S = 1.0  # until somebody who swallowed the alarm hears it again
_SIMULATIONS = 10
_STEPS = 1000  # of a game, to look for a decision of every seat


class _LateError(BaseException):
    """The time is up. Like an interruption, it is nobody's business but that of who waits for it."""


def begin(work: Callable[[], object], seconds: float) -> bool:
    """Begin some work, and end it when the time is up. Errors of the work are raised as they are.

    Outside the main thread, and where the system has no alarm, nothing could end it: it is not begun.

    Args:
        work: may be interrupted anywhere, as by Ctrl-C.
        seconds: wall-clock time, above 0.

    Returns:
        Whether it came to its end.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        return False

    def late(number: int, frame: FrameType | None) -> None:
        raise _LateError

    before = signal.signal(signal.SIGALRM, late)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN_S)
        try:
            work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except _LateError:
        return False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    return True


def search(searcher: Searcher, rules: Rules) -> None:
    """Begin a search at the first decision of every seat, in one random game.

    Raises:
        QuandaryError: what the searcher refuses.
    """
    own = getattr(searcher, "limit", None)
    own = own if isinstance(own, Limit) else None
    limit = None
    if "simulations" in getattr(searcher, "parameters", {}):
        limit = Limit(simulations=_SIMULATIONS) if own is None else dataclasses.replace(own, simulations=_SIMULATIONS)

    def first_decisions() -> None:
        stream, position = Stream(0), rules.initial_position()
        seen: set[int] = set()
        for _ in range(_STEPS):
            if position.is_terminal() or len(seen) == rules.num_players():
                return
            if position.is_chance_node():
                position.run_chance(stream)
                continue
            if position.current_player() not in seen:
                seen.add(position.current_player())
                searcher.search(position, seed=0, limit=limit)
            position.apply_action(position.random_action(stream))

    begin(first_decisions, EXACT_S if own is None and limit is None else SEARCH_S)
