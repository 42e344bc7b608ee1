"""Exact values of the scenarios and of still smaller games, against the independent reference."""

from __future__ import annotations

import pytest

import games
from engine_ext.position import Position
from games.pentaquest.cards import read_deck
from tests.games.pentaquest.helpers import write_deck
from tests.reference.exact import expectimax, value_iteration
from tests.reference.pentaquest import Card
from tests.reference.pentaquest_values import Solver

SPEC = games.spec("pentaquest")


def test_each_scenario_is_solved_in_its_file() -> None:
    assert set(SPEC.scenarios) == {"one_card", "tiny", "small", "duel"}
    assert all(set(s.solution) == {"states", "turns", "value", "source"} for s in SPEC.scenarios.values())


@pytest.mark.parametrize("name", ["one_card", "tiny", "small", "duel"])
def test_scenario_values_are_those_of_the_reference(name: str) -> None:
    scenario = SPEC.scenarios[name]
    parameters = {**SPEC.parameters, **scenario.parameters}
    cards = [Card(c.name, tuple(map(str, c.requires)), c.symbol) for c in read_deck(parameters["deck"]).cards]
    solver = Solver(cards, parameters["quest_area"], parameters["players"])
    value = solver.value()
    assert scenario.solution["value"][0] == pytest.approx(value, abs=1e-12)
    assert scenario.solution["turns"] == solver.situations
    if parameters["players"] == 2:
        assert scenario.solution["value"][1] == -scenario.solution["value"][0]


def test_states_of_one_card_counted_by_hand() -> None:
    """252 rolls with two rerolls left and 252 with one; 210 keepers before each reroll; the first roll; without
    rerolls a decision only where the card can be beaten (two pairs 60, full houses 30, four of a kind 30, five of
    a kind 6: otherwise the game is lost at once); won and lost."""
    reached: set[Position] = set()
    waiting = [SPEC.make_rules({"scenario": "one_card"}).initial_position()]
    while waiting:
        position = waiting.pop()
        if position not in reached:
            reached.add(position)
            waiting += [position.child(action) for action in position.legal_actions()]
    assert len(reached) == 252 + 252 + 210 + 210 + 1 + 126 + 2
    assert len(reached) == SPEC.scenarios["one_card"].solution["states"]


def test_engine_and_reference_agree_on_two_cards_with_an_army(tmp_path) -> None:
    """Through every step of the engine: draws, rerolls, an army card or two."""
    rows = [("Toad", ["22"], "mirror"), ("Ghost", ["1SS"], "reroll")]
    rules = SPEC.make_rules({"deck": str(write_deck(tmp_path / "deck.toml", rows)), "quest_area": 1})
    reference = Solver([Card(name, tuple(r), symbol) for name, r, symbol in rows], area=1).value()
    assert expectimax(rules.initial_position(), {})[0] == pytest.approx(reference, abs=1e-12)


def test_engine_and_reference_agree_on_a_game_that_may_go_round(tmp_path) -> None:
    """Two players and one card: failed turns change nothing but the seat (rule 27)."""
    rows = [("Dog", ["SSS"], "add")]
    rules = SPEC.make_rules({"deck": str(write_deck(tmp_path / "deck.toml", rows)), "players": 2})
    reference = Solver([Card(name, tuple(r), symbol) for name, r, symbol in rows], area=5, players=2).value()
    start = rules.initial_position()
    assert value_iteration(start, 1e-11)[start] == pytest.approx(reference, abs=1e-9)
    # By hand: p2 = 234053/314928 with two rerolls, p1 = 3157/5832 with one (patterns.toml).
    p2, p1 = 234053 / 314928, 3157 / 5832
    later = p1 / (1 + (1 - p1))  # the mover's value v = p1 - (1 - p1) v
    assert reference == pytest.approx(p2 - (1 - p2) * (p2 - (1 - p2) * later), abs=1e-12)
