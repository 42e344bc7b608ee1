from collections.abc import Mapping
from typing import Any

from engine_ext.position import Position, Rules
from games.quarz.board import Board
from games.quarz.cards import Content

class QuarzRules(Rules):
    content: Content
    board: Board
    instructions: list[tuple[Mapping[str, Any], tuple[Any, ...]]]
    def cell_name(self, cell: int) -> str: ...
    def scene(self, position: Position, observer: int) -> dict[str, Any]: ...
