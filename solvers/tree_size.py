"""How large a tree would be, and how large one may be."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

NODE_LIMIT = 2**31 - 2  # node numbers are int32
FREE_NODES = 20_000  # trees up to this size are not worth an estimate


@dataclass(frozen=True)
class SizeEstimate:
    """How large a tree is, by random probes from the root.

    Attributes:
        nodes: mean estimate of the number of nodes; inf beyond the range of a float.
        low: lower end of the 95 % range of that mean (bootstrap over the probes).
        high: upper end.
        log10_nodes: log10 of the mean, finite for every game.
        probes: probes made.
        depth: the longest probe, nodes.
        bytes: memory for `nodes` nodes while extracting.
        seconds: wall-clock time of the probing.
        whole: whether the probes came to the end of their games; else time was over before, and the tree
            is larger than this.
    """

    nodes: float
    low: float
    high: float
    log10_nodes: float
    probes: int
    depth: int
    bytes: float
    seconds: float
    whole: bool = True

    def __str__(self) -> str:
        least = "" if self.whole else "at least "
        if self.log10_nodes > 18:
            return f"{least}about 10^{self.log10_nodes:.0f} nodes (from {self.probes} random probes)"
        return (
            f"{least}about {self.nodes:.3g} nodes (95 % range {self.low:.3g} to {self.high:.3g}, from "
            f"{self.probes} random probes), about {self.bytes / 1e9:.3g} GB"
        )


def summarise(
    log_sizes: Sequence[float], depth: int, n_players: int, seconds: float, whole: bool = True
) -> SizeEstimate:
    """The estimate from the natural logs of the probes' sizes, one at least."""
    logs = np.asarray(log_sizes, dtype=np.float64)
    top = logs.max()
    sizes = np.exp(logs - top)
    chooser = np.random.Generator(np.random.PCG64(len(sizes)))
    means = sizes[chooser.integers(0, len(sizes), size=(1000, len(sizes)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    with np.errstate(over="ignore"):
        mean, low, high = (float(np.exp(top + np.log(max(value, 1e-300)))) for value in (sizes.mean(), low, high))
    return SizeEstimate(
        nodes=mean,
        low=low,
        high=high,
        log10_nodes=float((top + np.log(sizes.mean())) / np.log(10)),
        probes=len(sizes),
        depth=depth,
        bytes=mean * _bytes_per_node(n_players),
        seconds=seconds,
        whole=whole,
    )


def _bytes_per_node(n_players: int) -> int:
    """Memory per node while extracting: arrays, information sets and slack for growth."""
    return 29 + 8 * n_players + 45


def default_max_nodes(n_players: int = 2) -> int:
    """The largest tree that takes at most half of the memory free now."""
    try:
        with open("/proc/meminfo") as file:
            free_bytes = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        try:
            free_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
        except (OSError, ValueError, AttributeError):
            free_bytes = 4 * 2**30
    return int(min(NODE_LIMIT, max(100_000, free_bytes // 2 // _bytes_per_node(n_players))))
