"""What the tests of Pentaquest share: decks written on the fly."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from engine_ext.position import Position, Rules
from engine_ext.rng import Stream


def write_deck(path: Path, rows: Iterable[tuple[str, list[str], str]]) -> Path:
    """A deck file of (name, requires, symbol) rows."""
    blocks = [
        f"[[card]]\nname = {json.dumps(name)}\nrequires = {json.dumps(requires)}\n"
        f'symbol = "{symbol}"\nprovenance = "reconstructed"\n'
        for name, requires, symbol in rows
    ]
    path.write_text("\n".join(blocks), encoding="utf-8")
    return path


def play_greedily(rules: Rules, seed: int) -> Position:
    """The end of one game in which every seat follows the game's own policy."""
    stream = Stream.keyed(seed)
    position = rules.initial_position()
    while not position.is_terminal():
        if position.is_chance_node():
            position.run_chance(stream)
        else:
            position.apply_action(position.suggest(stream))
    return position
