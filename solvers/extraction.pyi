from collections.abc import Callable
from typing import Any

from solvers.declared import DeclaredRules as DeclaredRules
from solvers.declared import declared_rules as declared_rules
from solvers.game_source import LOAD_ERRORS as LOAD_ERRORS
from solvers.game_source import Survey as Survey
from solvers.game_source import native_name as native_name
from solvers.tree import FlatTree
from solvers.tree_rules import TreeRules
from solvers.tree_size import SizeEstimate as SizeEstimate
from solvers.tree_size import default_max_nodes as default_max_nodes
from solvers.tree_views import prepare_views as prepare_views

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
def native_steps(source: Any, position: Any, builder: Any) -> Any: ...
def as_game(source: Any, **options: Any) -> TreeRules: ...
