from typing import Any

from engine_ext.position import Position, Rules
from solvers.stages import Stage

EDGES_A_NODE: int

class InfoTree:
    rules: Rules
    stage: Stage | None
    simulations: int
    def __init__(
        self,
        position: Position,
        *,
        seed: int,
        thread: int,
        settings: dict[str, Any],
        node_limit: int,
        depth: int | None,
    ) -> None: ...
    def run(self, count: int) -> None: ...
    @property
    def size(self) -> int: ...
    @property
    def return_sums(self) -> list[float]: ...
    def root_statistics(self) -> dict[int, tuple[int, list[float]]]: ...
    def statistics(self, position: Position) -> dict[int, tuple[int, float]]: ...

def logarithms(x: float) -> tuple[float, float]: ...
