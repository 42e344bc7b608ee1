"""The set-up: draft, shrine cards, tiles, opening hands, time stack."""

from __future__ import annotations

from typing import Any

import pytest

import games
from engine_ext.errors import ParameterError
from engine_ext.position import Position
from engine_ext.rng import Stream

STAGES = {"mob", "camp", "leave", "shrine card", "tile", "draw", "time tile"}


def scene(position: Position) -> dict[str, Any]:
    return position.rules.scene(position, -1)


def run_to(position: Position, stages: set[str], stream: Stream) -> Position:
    """Random choices while the position is in one of these stages."""
    while scene(position)["doing"] in stages:
        actions = position.legal_actions()
        position.apply_action(
            position.sample(stream) if position.is_chance_node() else actions[stream.below(len(actions))]
        )
    return position


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_draft(players: int) -> None:
    """Rules 5, 6, 8: mobs in reverse turn order, camps in turn order, three of four monsters."""
    position = games.spec("quarz").make_rules({"players": players}).initial_position()
    stream, seen = Stream(3), []
    while scene(position)["doing"] in ("mob", "camp", "leave"):
        before = scene(position)
        seen.append((before["doing"], before["to_move"]))
        actions = position.legal_actions()
        assert len(actions) >= 2
        position.apply_action(actions[stream.below(len(actions))])
    # who has one choice only is not asked: the last mob of four, the last camp
    mobs = [seat for doing, seat in seen if doing == "mob"]
    camps = [seat for doing, seat in seen if doing == "camp"]
    assert mobs == list(range(players - 1, -1, -1))[: 3 if players == 4 else players]
    assert camps == list(range(players))[: players - 1]
    assert [seat for doing, seat in seen if doing == "leave"] == list(range(players))
    table = scene(position)
    assert len({mob["mob"] for mob in table["mobs"]}) == players
    assert sorted(mob["camp"] for mob in table["mobs"]) == list(range(players))
    for mob in table["mobs"]:
        own = [m.name for m in position.rules.content.monsters if m.mob == mob["mob"]]
        assert len({monster["name"] for monster in mob["monsters"]} & set(own)) == 3


@pytest.mark.parametrize("players", [2, 3, 4])
def test_shrine_cards(players: int) -> None:
    """Rule 12: one different card a shrine, all ways alike likely."""
    position = games.spec("quarz").make_rules({"players": players, "draft": "fixed"}).initial_position()
    outcomes = position.chance_outcomes()
    assert [round(p, 12) for _, p in outcomes] == [0.25] * 4
    cards = scene(run_to(position, {"shrine card"}, Stream(1)))["shrine_cards"]
    assert len(set(cards)) == players
    assert None not in cards


@pytest.mark.parametrize(
    ("players", "counts"),
    [(2, (5, 4, 2)), (3, (8, 6, 4)), (4, (16, 11, 5))],
)
def test_tiles_are_placed(players: int, counts: tuple[int, int, int]) -> None:
    """Rules 15-17, 19, Q64: the last player begins, then counterclockwise; any spot, any orientation."""
    rules = games.spec("quarz").make_rules({"players": players, "draft": "fixed"})
    position = run_to(rules.initial_position(), {"shrine card"}, Stream(1))
    stream, placers = Stream(2), []
    free = len(rules.board.modifiable)
    while scene(position)["doing"] == "tile":
        if not position.is_chance_node() and scene(position)["frame"][3] == 1:
            placers.append(position.current_player())
            assert len(position.legal_actions()) == free
        if not position.is_chance_node() and scene(position)["frame"][3] == 2:
            assert len(position.legal_actions()) == 6
        actions = position.legal_actions()
        position.apply_action(
            position.sample(stream) if position.is_chance_node() else actions[stream.below(len(actions))]
        )
        free = len(rules.board.modifiable) - len(scene(position)["tiles"])
    total = len(rules.board.modifiable)
    order = [players - 1 - k % players for k in range(total)]
    assert placers == order[: len(placers)]
    assert len(placers) >= total - 1  # the last spot is no choice
    kinds = {pattern.name: pattern.kind for pattern in rules.content.patterns}
    laid = [kinds[name] for name, _ in scene(position)["tiles"].values()]
    assert tuple(laid.count(kind) for kind in ("empty", "water", "crystal")) == counts


def test_stacks_are_hidden() -> None:
    """Rule 18: the next tile is drawn from all that are left, by their numbers."""
    rules = games.spec("quarz").make_rules({"draft": "fixed"})
    position = run_to(rules.initial_position(), {"shrine card"}, Stream(1))
    kinds = [pattern.kind for pattern in rules.content.patterns]
    chance = {"empty": 0.0, "water": 0.0, "crystal": 0.0}
    for outcome, probability in position.chance_outcomes():
        chance[kinds[int(rules.outcome_name(outcome).split()[1])]] += probability
    assert chance == pytest.approx({"empty": 5 / 11, "water": 4 / 11, "crystal": 2 / 11})


@pytest.mark.parametrize("players", [2, 3, 4])
def test_the_opening(players: int) -> None:
    """Rules 9-11, 13, 14, 150."""
    rules = games.spec("quarz").make_rules({"players": players, "draft": "random", "tiles": "random"})
    position = run_to(rules.initial_position(), STAGES, Stream(5))
    table = scene(position)
    assert table["doing"] == "favor"
    assert table["idol"] == list(rules.board.altar)
    assert table["carrier"] is None
    assert table["points"] == [0.0] * players
    for mob in table["mobs"]:
        assert mob["reactions"] == 2
        assert mob["favor_hand"] == [0, 1, 2, 3, 4]
        for monster in mob["monsters"]:
            printed = next(m for m in rules.content.monsters if m.name == monster["name"])
            assert (monster["energy"], monster["spent"]) == (printed.energy, 0)
            assert (monster["held"], len(monster["draw"])) == (2, 10)
            assert printed.cards[0].label not in monster["hand"] + monster["draw"]
            assert monster["at"] == list(rules.board.camps[mob["camp"]])


@pytest.mark.parametrize(
    ("players", "length", "tiles", "turns"),
    [(2, "", 4, 42), (3, "", 4, 42), (4, "", 5, 36), (2, "medium", 5, 54), (4, "long", 6, 44), (4, "short", 4, 28)],
)
def test_the_time_stack(players: int, length: str, tiles: int, turns: int) -> None:
    """Rules 20, 21, 26; Q11: tiles by length; the game ends after (tiles - 1) x N + N/2 turns."""
    rules = games.spec("quarz").make_rules({"players": players, "length": length, "draft": "fixed", "tiles": "none"})
    position = run_to(rules.initial_position(), STAGES, Stream(5))
    assert scene(position)["time"]["left"] == tiles
    levels = {tile.name: tile.level for tile in rules.content.time_tiles}
    assert levels[scene(position)["time"]["tile"]] == 1
    while not position.is_terminal():
        if position.is_chance_node():
            position.apply_action(position.sample(Stream(1)))
            continue
        position.apply_action(position.legal_actions()[0])  # pass, or the lowest favor card: nobody moves
    table = scene(position)
    assert table["time"]["turns"] == turns
    assert table["time"]["left"] == 1
    used = sorted(levels[name] for name in table["time"]["used"])
    assert used == sorted([1] * (2 if length == "long" else 1) + [2] * (tiles - (3 if length == "long" else 2)) + [3])


@pytest.mark.parametrize(
    "given",
    [
        {"players": 5},
        {"board": "4p"},
        {"board": "nowhere"},
        {"length": "endless"},
        {"draft": "auction"},
        {"tiles": "thrown"},
        {"tile_seed": -1},
        {"tile_seed": 4},  # without tiles=seed nobody would look at it
        {"tile_seed": 4, "tiles": "random"},
        {"squad": 0},
        {"actions": 9},
        {"sight": "x-ray"},
        {"turns": -1},
    ],
)
def test_bad_parameters_are_named(given: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(given))):
        games.spec("quarz").make_rules(given)


def test_layouts_by_seed_are_fixed() -> None:
    def layout(seed: int) -> dict[str, Any]:
        rules = games.spec("quarz").make_rules({"tiles": "seed", "tile_seed": seed})
        return scene(rules.initial_position())["tiles"]

    assert layout(1) == layout(1)
    assert layout(1) != layout(2)
    assert len(layout(1)) == 11
