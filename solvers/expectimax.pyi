from collections.abc import Mapping
from typing import Any

from engine_ext.position import Position, Rules
from solvers.contract import Limit, Parameter, SearchResult, SolverSpec
from solvers.memo import Memo

PARAMETERS: Mapping[str, Parameter]
SOLVERS: tuple[SolverSpec, ...]

class Rounds: ...

class ExpectimaxSearcher:
    parameters: dict[str, Any]
    limit: Limit | None
    memo: Memo | None
    def __init__(self, **parameters: Any) -> None: ...
    def reset(self) -> None: ...
    def search(self, position: Position, *, seed: int = 0, limit: Limit | None = None) -> SearchResult: ...

def check(rules: Rules, parameters: Mapping[str, Any]) -> None: ...
