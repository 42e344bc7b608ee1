"""Deals a search's limit out in batches, so that compiled loops run long and clocks are read rarely.

A batch is short enough to keep the time limit (within 1 % of it, or one simulation) and to let an
interrupt through (about 50 ms), and long enough that the work between two batches costs nothing. Where one
simulation or iteration takes long, none is begun that would end more than 5 % past the limit, going by the last ones.
Under a limit in simulations alone the batches change nothing but when Python looks up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

from engine_ext.errors import ParameterError
from solvers.contract import Limit
from solvers.stopping import look_up

BATCH_S = 0.05
_TIME_SHARE = 0.01
OVERTIME = 0.05  # of the limit
_LONG_S = 0.25  # one that takes so long need not be seen twice: no cold cache and no other process explains it
_UNLIMITED = 2**62


def batches(
    simulations: int | None, seconds: float | None, clock: Callable[[], float] = time.perf_counter
) -> Iterator[int]:
    """Yield how many simulations to make next, until the limit is reached.

    Args:
        simulations: how many in all; None for no such limit.
        seconds: wall-clock time, counted from the first batch; None for no such limit.
        clock: seconds of a monotonic clock.

    Yields:
        The size of the next batch, at least 1; the consumer makes exactly that many. However
        short the time, there is a first one.
    """
    start_s = clock()
    left = _UNLIMITED if simulations is None else simulations
    done = 0
    size = 1
    before_s = 0.0
    each_s: list[float] = []  # of the last two batches, time for one simulation
    while left > 0:
        elapsed_s = clock() - start_s
        target_s = BATCH_S
        if seconds is not None:
            if done:
                each_s = [*each_s[-1:], (elapsed_s - before_s) / size]
                known = len(each_s) > 1 or each_s[0] >= _LONG_S
                if elapsed_s >= seconds or (known and elapsed_s + min(each_s) > (1 + OVERTIME) * seconds):
                    return
            before_s = elapsed_s
            target_s = min(BATCH_S, _TIME_SHARE * seconds, max(0.0, seconds - elapsed_s))
        if done:
            # Never more than four times as many at once as so far: the first simulations of a
            # search, in a cold cache and a small tree, say little about the later ones.
            size = max(1, min(int(target_s * done / max(elapsed_s, 1e-9)), 4 * done))
        size = min(size, left)
        yield size
        look_up()
        done += size
        left -= size


def simulation_limit(limit: Limit, otherwise: int) -> int | None:
    """How many simulations a limit allows a searcher that grows at most one node in each.

    Such a searcher keeps a limit in nodes by making no more simulations than that many.

    Args:
        otherwise: what to make under a limit in depth alone, which never ends such a search.

    Returns:
        The number, or None where only time ends the search.
    """
    counts = [count for count in (limit.simulations, limit.nodes) if count is not None]
    if not counts and limit.seconds is None:
        return otherwise
    return min(counts, default=None)


def check_seconds(seconds: float) -> None:
    """Raises ParameterError unless seconds is above 0."""
    if not seconds > 0:
        raise ParameterError(f"seconds is {seconds}, it must be above 0")


def run_for(solver: Any, seconds: float) -> int:
    """Iterations of a policy solver until that much time has passed, at least one; returns how many.

    Args:
        solver: has `run(iterations)` and counts `iterations`.
        seconds: above 0, wall-clock time.

    Raises:
        ParameterError: seconds is out of range.
    """
    check_seconds(seconds)
    start = solver.iterations
    for count in batches(None, seconds):
        solver.run(count)
    return int(solver.iterations - start)
