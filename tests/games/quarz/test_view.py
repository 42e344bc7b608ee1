"""The drawings: what a seat sees and nothing else."""

from __future__ import annotations

import io
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.console import Console

import games
from engine_ext.rng import Stream
from games.quarz.view import board_svg, board_text, edges_of, monograms, render
from tests.experiments.command import quandary
from tests.games.quarz.test_cases import position_of, rules_for

SVG = "{http://www.w3.org/2000/svg}"


def printed(renderable: object, width: int = 160) -> str:
    out = io.StringIO()
    Console(width=width, file=out).print(renderable)
    return out.getvalue()


def test_the_board_in_the_terminal() -> None:
    """The 2-player board: a row of hexes with their edges, by hand."""
    rules = rules_for()
    position = position_of(rules, {"P1.1": {"at": [0, 0]}, "tiles": {"1,0": ["brook", 3], "-1,0": ["shard", 0]}})
    lines = board_text(rules.board, rules.content, rules.scene(position, 0)).plain.splitlines()
    pencil = "Mp"  # the Mummified Pencil, seat 0's first monster
    assert f"    │       #{pencil}    *≈       │       │" in lines
    assert "    │D1     #D2 alt ≈D3     │D4     │" in lines


def test_fields_are_named_as_on_a_chess_board() -> None:
    """Rows from the top, fields from the left: (2,-3) is the topmost field of the 2-player board, the
    altar (0,0) the second of the four in the fourth row."""
    board = rules_for().board
    names = {cell: board.field_names[number] for cell, number in board.number.items()}
    assert (names[2, -3], names[-1, 0], names[0, 0], names[1, 0], names[-1, 3]) == ("A1", "D1", "D2", "D3", "G1")
    for each in rules_for().content.boards.values():
        assert len(set(each.field_names)) == len(each.cells)


def test_every_monster_has_initials_of_its_own() -> None:
    assert monograms(["Soda Squid", "Sad Snake", "Bookworm", "Bo"]) == {
        "Soda Squid": "Ss",
        "Sad Snake": "Sa",
        "Bookworm": "Bo",
        "Bo": "B0",
    }
    marks = monograms(monster.name for monster in rules_for().content.monsters)
    assert len(set(marks.values())) == 16


@pytest.mark.parametrize("name", ["2p", "3p", "4p", "4p_alt_hexagon", "3p_alt_hexagon"])
def test_every_board_is_drawn_whole(name: str) -> None:
    content = rules_for().content
    board = content.boards[name]
    text = board_text(board, content).plain
    assert text.count("▒▒▒") == len(board.impassable)
    assert text.count("alt") == text.count("*") == 1
    root = ElementTree.fromstring(board_svg(board, content))
    assert len(list(root.iter(f"{SVG}polygon"))) == len(board.cells) + 1  # and the idol


def test_the_svg_shows_edges_and_monsters() -> None:
    rules = rules_for()
    given = {"P1.1": {"at": [0, 0]}, "tiles": {"1,0": ["bend", 0], "-1,0": ["shard", 0]}, "melted": [[0, 1]]}
    scene = rules.scene(position_of(rules, given), -1)
    edges = edges_of(rules.board, rules.content, scene)
    # bend: E and SE sides of (1,0), each from both sides; shard: E side of (-1,0), from both sides
    assert sorted(edges.values()) == ["crystal"] * 2 + ["water"] * 4
    root = ElementTree.fromstring(board_svg(rules.board, rules.content, scene))
    assert len(list(root.iter(f"{SVG}circle"))) == 6
    names = [text.text for text in root.iter(f"{SVG}text")]
    assert names[names.index("D2") + 1] == "altar"
    assert {"Mp", "Wc", "Tb"} <= set(names)
    titles = [line[0].text for line in root.iter(f"{SVG}line")]
    assert sorted(str(title) for title in titles) == sorted(edges.values())


def test_water_at_a_floe_is_drawn_frozen() -> None:
    rules = rules_for()
    scene = rules.scene(position_of(rules, {"tiles": {"1,1": ["brook", 3]}, "melted": [[0, 1]]}), -1)
    assert edges_of(rules.board, rules.content, scene) == {}


def test_a_drawing_shows_only_what_the_seat_sees() -> None:
    rules = games.spec("quarz").make_rules({"players": 3, "draft": "random", "tiles": "random"})
    stream, position = Stream(12), rules.initial_position()
    for step in range(250):
        if position.is_terminal():
            break
        if step % 10 == 0:
            for seat in range(3):
                assert printed(render(position, seat)) == printed(render(position.resample(seat, stream), seat))
        actions = position.legal_actions()
        position.apply_action(actions[stream.below(len(actions))])


def test_the_command_draws_a_board(tmp_path: Path) -> None:
    done = quandary("games", "quarz", "--board", "4p", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("▒▒▒") == 4
    assert ElementTree.parse(tmp_path / "quarz-4p.svg").getroot().tag == f"{SVG}svg"
    refused = quandary("games", "quarz", "--board", "5p", cwd=tmp_path)
    assert refused.returncode == 2
    assert "there are: 4p" in refused.stderr
    refused = quandary("games", "quandary_pig", "--board", "4p", cwd=tmp_path)
    assert refused.returncode == 2
    assert "no boards" in refused.stderr


def test_the_own_hand_is_shown() -> None:
    rules = rules_for()
    position = position_of(rules, {"P1.1": {"hand": ["Toilet Paper/1"]}})
    assert "Toilet Paper/1" in printed(render(position, 0))
    assert "Toilet Paper/1" not in printed(render(position, 1))


@pytest.mark.parametrize("width", [46, 56, 66, 76, 96, 120, 160])
def test_hand_slots_and_state_are_shown_whole_at_every_width(width: int) -> None:
    """Ten cards in a hand, filled slots and tokens, in a frame around the table of 50 columns and more."""
    hands = [
        ["Toilet Paper/1", "Toilet Paper/2", "Toilet Paper/3", "Push/Swap/1"],
        ["Growth Spurt/1", "Growth Spurt/2", "Push/Swap/1", "Push/Swap/2"],
        ["Recycle/1", "Push/Swap/3"],
    ]
    given = {f"P1.{k + 1}": {"hand": hand, "poison": 2} for k, hand in enumerate(hands)}
    text = printed(render(position_of(rules_for(), given), 0), width)
    flat = " ".join(text.split())
    for hand in hands:
        assert ", ".join(hand) in flat
    assert flat.count("poison 2") == 3
    assert "4 cards" not in flat
    assert max(map(len, text.splitlines())) <= width


def test_a_page_shows_the_legend_of_its_own_board_only() -> None:
    rules = rules_for()
    parts = games.spec("quarz").sections(position_of(rules, {}), 0)
    assert "≈ water" in printed(parts["board"])
    assert not any("≈" in printed(part) for name, part in parts.items() if name != "board")


def test_who_has_no_mob_yet_has_nothing_to_be_told() -> None:
    shown = printed(games.spec("quarz").sections(rules_for(draft="players").initial_position(), 0)["mobs"])
    assert [line.rstrip() for line in shown.splitlines()] == ["you (seat 0): no mob yet", "seat 1: no mob yet"]
