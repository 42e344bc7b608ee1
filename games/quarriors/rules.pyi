from typing import Any

from engine_ext.position import Position, Rules
from games.quarriors.cards import CardSet

class QuarriorsRules(Rules):
    sets: CardSet
    card_names: list[str]
    class_names: list[str]
    fixed: list[int]
    def __init__(self, parameters: dict[str, Any], start: dict[str, Any] | None = None) -> None: ...
    def value_terms(self, position: Position) -> list[list[float]]: ...
    def figures(self, position: Position) -> dict[str, Any]: ...
    def with_greedy(self, numbers: list[float]) -> QuarriorsRules: ...
