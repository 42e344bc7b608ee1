from typing import Any

from engine_ext.position import Rules
from solvers.game_source import Source, Survey
from solvers.tree_rules import TreeRules

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
def recalls_at_first(source: Source) -> bool: ...
