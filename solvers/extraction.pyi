from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engine_ext.position import Rules
from solvers.tree import FlatTree
from solvers.tree_rules import TreeRules

LOAD_ERRORS: tuple[type[Exception], ...]

@dataclass(frozen=True)
class SizeEstimate:
    nodes: float
    low: float
    high: float
    log10_nodes: float
    probes: int
    depth: int
    bytes: float
    seconds: float
    whole: bool = True

def default_max_nodes(n_players: int = 2) -> int: ...
def native_name(rules: Rules) -> str: ...
def estimate_size(source: Any, *, probes: int = 1000, depth: int | None = None, seed: int = 0) -> SizeEstimate: ...
def extract(
    source: Any,
    *,
    max_nodes: int | None = None,
    progress: Callable[[int, float], None] | None = None,
    information: str = "auto",
    depth: int | None = None,
    merge: str = "off",
    check: Callable[[Survey], None] | None = None,
    began: float | None = None,
) -> FlatTree: ...
def prepare_views(tree: FlatTree) -> None: ...

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

class DeclaredRules(TreeRules):
    survey: Survey
    zero_sum: bool
    perfect_recall: bool
    abilities: tuple[str, ...]
    secrecy: str
    starts_with_chance: bool
    def require_searchable(self) -> None: ...
    def learn(self, found: Survey) -> None: ...
    def instead(self, advice: str) -> str: ...

def declared_rules(source: Any, began: float | None = None) -> Rules: ...
def as_game(source: Any, **options: Any) -> TreeRules: ...
