from typing import Any

from engine_ext.position import Rules
from games.quarriors.cards import CardSet

class QuarriorsRules(Rules):
    sets: CardSet
    card_names: list[str]
    class_names: list[str]
    fixed: list[int]
    def __init__(self, parameters: dict[str, Any], start: dict[str, Any] | None = None) -> None: ...
