"""Pig: the rules by hand, and bad input."""

from __future__ import annotations

import pytest

import games
from engine_ext.errors import ParameterError, PositionError
from engine_ext.rng import Stream


@pytest.fixture(scope="module")
def rules():
    return games.spec("pig").make_rules()


def test_a_turn_by_hand(rules) -> None:
    position = rules.initial_position()
    position.apply_action(0)  # roll
    position.apply_action(5)  # a six
    assert position.to_dict() == {"scores": [0, 0], "seat": 0, "total": 6, "rolling": False}
    position.apply_action(0)
    position.apply_action(3)  # a four
    position.apply_action(1)  # hold
    assert position.to_dict() == {"scores": [10, 0], "seat": 1, "total": 0, "rolling": False}
    position.apply_action(0)
    position.apply_action(0)  # a one: turn and total lost
    assert position.to_dict() == {"scores": [10, 0], "seat": 0, "total": 0, "rolling": False}


def test_banking_the_goal_wins(rules) -> None:
    position = rules.from_dict({"scores": [96, 99], "seat": 0, "total": 4})
    position.apply_action(1)
    assert position.is_terminal()
    assert position.returns() == [1.0, -1.0]


def test_reaching_the_goal_without_holding_does_not_win(rules) -> None:
    position = rules.from_dict({"scores": [0, 96], "seat": 1, "total": 2, "rolling": True})
    position.apply_action(5)
    assert not position.is_terminal()
    assert position.to_dict()["total"] == 4  # points beyond the goal change nothing


def test_greedy_holds_at_twenty(rules) -> None:
    stream = Stream(1)
    assert rules.from_dict({"total": 19}).suggest(stream) == 0
    assert rules.from_dict({"total": 20}).suggest(stream) == 1


@pytest.mark.parametrize(
    ("position", "field"),
    [
        ({"scores": [101, 0]}, "scores"),
        ({"scores": [100, 100]}, "scores"),
        ({"scores": "0 0"}, "scores"),
        ({"seat": 2}, "seat"),
        ({"total": -1}, "total"),
        ({"scores": [90, 0], "total": 11}, "total"),
        ({"points": 3}, "points"),
    ],
)
def test_contradictory_positions_name_the_field(rules, position, field) -> None:
    with pytest.raises(PositionError, match=field):
        rules.from_dict(position)


@pytest.mark.parametrize("given", [{"goal": 1}, {"goal": 1001}, {"goal": 50.0}, {"gaol": 50}, {"scenario": "x"}])
def test_bad_parameters_are_named(given) -> None:
    with pytest.raises(ParameterError, match=next(iter(given))):
        games.spec("pig").make_rules(given)
