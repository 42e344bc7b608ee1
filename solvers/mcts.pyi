from collections.abc import Mapping
from typing import Any

from engine_ext.position import Position, Rules
from solvers.contract import Limit, Parameter, SearchResult, SolverSpec

DEFAULT_SIMULATIONS: int
PARAMETERS: Mapping[str, Parameter]
SOLVERS: tuple[SolverSpec, ...]

class Tree:
    def __init__(self) -> None: ...

class MctsSearcher:
    parameters: dict[str, Any]
    limit: Limit
    def __init__(self, **parameters: Any) -> None: ...
    def reset(self) -> None: ...
    def search(self, position: Position, *, seed: int, limit: Limit | None = None) -> SearchResult: ...

def check(rules: Rules, parameters: Mapping[str, Any]) -> None: ...
