from pathlib import Path

from engine_ext.position import Position, Rules
from engine_ext.rng import Stream
from solvers.policies import KeyedPolicy

class NativeMCCFR:
    rules: Rules
    start: Position
    sampling: str
    when_full: str
    epsilon: float
    iterations: int
    max_bytes: int
    walk_nodes: int
    visited: int
    seconds: float
    stream: Stream
    seed: int
    n_infosets: int
    full: bool
    def __init__(
        self,
        game: Rules | Position,
        *,
        sampling: str = "external",
        seed: int = 0,
        epsilon: float = 0.6,
        max_bytes: int = ...,
        when_full: str = "uniform",
        walk_nodes: int = ...,
    ) -> None: ...
    def run(self, iterations: int) -> None: ...
    def run_for(self, seconds: float) -> int: ...
    def average_policy(self) -> KeyedPolicy: ...
    def sampled_best_response(
        self, player: int, *, iterations: int, games: int, seed: int = 0
    ) -> tuple[float, float]: ...
    def nash_conv_bound(self, *, iterations: int, games: int, seed: int = 0) -> tuple[float, float]: ...
    def save(self, path: str | Path) -> None: ...
    def load(self, path: str | Path) -> None: ...
