from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from engine_ext.errors import UnsuitableGameError
from engine_ext.position import Position, Rules
from solvers.tree_size import SizeEstimate

LOAD_ERRORS: tuple[type[Exception], ...]
PROBE_SECONDS: float

@dataclass
class Survey:
    games: int = 0
    longest: int = 0
    most_legal: int = 0
    most_outcomes: int = 0
    zero_sum: bool = True
    recalls: bool = True
    stages: bool = False
    walked: bool = False

class Source:
    position: Position | None
    state: Any
    game: Any
    name: str
    n_players: int
    hidden: bool
    imperfect: bool
    simultaneous: bool
    declared_zero_sum: bool
    by_key: bool
    observe: bool
    called: str
    def __init__(self, source: Any, depth: int | None, whole: bool = True, began: float | None = None) -> None: ...
    def until(self, seconds: float, since_began: float) -> float: ...
    def require_mergeable(self) -> None: ...
    def moves(self, state: Any, player: int) -> list[int]: ...
    def text(self, state: Any, player: int) -> str: ...
    def elsewhere(self) -> str: ...
    def probe(self, probes: int, seed: int, seconds: float | None = None) -> SizeEstimate: ...
    def survey(self) -> Survey: ...
    def opens_stage(self, state: Any, player: int, actions: list[int], deadline: float) -> bool: ...

def native_name(rules: Rules) -> str: ...
def load_openspiel(text: str) -> Any: ...
def named_errors(game: str) -> AbstractContextManager[None]: ...
def first_line(error: BaseException) -> str: ...
def stuck(game: str, state: Any, player: int) -> UnsuitableGameError: ...
