"""Tables in narrow terminals: no word is broken, nothing is cut off."""

from __future__ import annotations

import io
import re
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table
from rich.text import Text

import games
from engine_ext.rng import Stream
from games.narrow import WordTable


def shown(renderable: Any, width: int) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    console.print(renderable)
    return console.file.getvalue()


def table() -> WordTable:
    made = Table(box=None, pad_edge=False)
    for name in ("", "glory", "pool"):
        made.add_column(name)
    made.add_row("you", "3", Text("4 Basic Quiddity\n[b] Assistant"))
    made.add_row("seat 1", "", Text("2 Victory Incantation"))
    return WordTable(made)


def test_where_there_is_room_it_is_a_table_of_whole_lines():
    lines = shown(table(), 40).splitlines()
    assert [line.rstrip() for line in lines] == [
        "        glory  pool",
        "you     3      4 Basic Quiddity",
        "               [b] Assistant",
        "seat 1         2 Victory Incantation",
    ]


def test_columns_keep_their_longest_word():
    """`Incantation` has 11 letters, glory 5, `seat` 4; two gaps of 2: 24 columns."""
    text = shown(table(), 24)
    assert max(map(len, text.splitlines())) <= 24
    rows = [
        ["you", "3", "4", "Basic"],
        ["Quiddity"],
        ["[b]"],
        ["Assistant"],
        ["seat", "2", "Victory"],
        ["1", "Incantation"],
    ]
    assert [line.split() for line in text.splitlines()][1:] == rows


def test_below_that_rows_stand_as_blocks():
    assert [line.rstrip() for line in shown(table(), 23).splitlines()] == [
        "you",
        "  glory 3",
        "  pool  4 Basic",
        "        Quiddity",
        "        [b] Assistant",
        "seat 1",
        "  pool  2 Victory",
        "        Incantation",
    ]


@pytest.mark.parametrize("name", sorted(games.SPECS))
@pytest.mark.parametrize("width", [60, 70, 80])
def test_no_game_breaks_a_word_at_sixty_columns(name: str, width: int) -> None:
    """All that a narrow table says a wide one says with the same words."""
    spec = games.spec(name)
    rules = spec.make_rules({"players": spec.players[1]} if "players" in spec.parameters else {})
    position, stream = rules.initial_position(), Stream(3)
    decisions = 0
    for _ in range(400):
        if position.is_terminal():
            break
        decisions += position.is_player_node()
        if position.is_player_node() and decisions % 12 == 1:
            for part, drawn in spec.sections(position, position.current_player()).items():
                if part == "board":  # a drawing, not words
                    continue
                text = shown(drawn, width - 4)  # in the frame
                assert max(map(len, text.splitlines()), default=0) <= width - 4
                wide = set(re.findall(r"[A-Za-z']{4,}", shown(drawn, 400)))
                wide.add("state")  # of Qu'arz: the name of a column that has none where it stands beside others
                assert set(re.findall(r"[A-Za-z']{4,}", text)) <= wide, part
        if position.is_chance_node():
            position.apply_action(position.sample(stream))
        else:
            greedy = position.suggest(stream)
            position.apply_action(position.random_action(stream) if greedy is None else greedy)
    assert decisions
