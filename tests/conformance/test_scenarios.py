"""What a scenario file says is known exactly of it is so; a new scenario enters by itself.

Solved anew where that takes some seconds at most. Larger ones have a test of their own in tests/games.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import games
from engine_ext.errors import DataError, TooLargeError
from engine_ext.position import Position, Rules
from games.spec import read_scenario
from solvers import extraction, specs
from solvers.linear_program import SequenceFormSolver
from tests.reference import exact

KNOWN = [(name, scenario) for name, spec in games.SPECS.items() for scenario in spec.scenarios]
MOST_POSITIONS, MOST_NODES, MOST_MB, MOST_DEPTH = 30_000, 20_000, 48, 400


class Bounded(dict[Position, list[float]]):
    """A memory of values that refuses a game with too many positions."""

    def __setitem__(self, position: Position, values: list[float]) -> None:
        if len(self) >= MOST_POSITIONS:
            raise TooLargeError(f"more than {MOST_POSITIONS} positions")
        super().__setitem__(position, values)


def solved(rules: Rules) -> tuple[list[float], dict[str, int]]:
    """A game's value by seat, and its size as a scenario file may tell it.

    Raises:
        TooLargeError: it is not solved in some seconds, or no exact solver is for it.
    """
    n = rules.num_players()
    if rules.hidden_information:
        if n != 2 or not rules.zero_sum:
            raise TooLargeError("there is no exact value of more than two seats that hide something")
        tree = extraction.extract(rules, max_nodes=MOST_NODES)
        solver = SequenceFormSolver(tree)
        solver.run(1)
        return [solver.value, -solver.value], {"nodes": tree.n_nodes}
    if not rules.cyclic and rules.max_game_length() <= MOST_DEPTH:
        try:
            memo = Bounded()
            return exact.expectimax(rules.initial_position(), memo), {"states": len(memo)}
        except TooLargeError:
            pass
    if n > 2 or (n == 2 and not rules.zero_sum):
        raise TooLargeError("value iteration is for one seat, or two with opposite interests")
    found = specs.make_searcher(f"value_iteration(max_mb={MOST_MB})", rules).search(rules.initial_position(), seed=0)
    return list(found.values), {}


def check(rules: Rules, known: Mapping[str, Any]) -> None:
    """Hold what is said to be known of a scenario to what it is."""
    if "value" not in known:
        return
    value = known["value"]
    assert len(value) == rules.num_players(), "solution.value has a number for each seat"
    assert all(math.isfinite(each) and rules.min_utility() <= each <= rules.max_utility() for each in value)
    assert not rules.zero_sum or math.fsum(value) == pytest.approx(0, abs=1e-9)
    try:
        found, sizes = solved(rules)
    except TooLargeError:
        return
    assert value == pytest.approx(found, abs=1e-6), "solution.value"
    for key, size in sizes.items():
        assert known.get(key, size) == size, f"solution.{key}"


@pytest.mark.parametrize(("name", "scenario"), KNOWN)
def test_what_is_known_exactly_is_so(name: str, scenario: str) -> None:
    check(games.SPECS[name].make_rules({"scenario": scenario}), games.SPECS[name].scenarios[scenario].solution)


@pytest.mark.parametrize(
    ("game", "parameters", "value"),
    [("kuhn", {}, [-1 / 18, 1 / 18]), ("quarriors", {"scenario": "race"}, None), ("pig", {"goal": 6}, None)],
)
def test_a_wrong_value_shows(game: str, parameters: dict[str, Any], value: list[float] | None) -> None:
    """Hidden information, no cycles, cycles; Kuhn poker's value is from the literature."""
    rules = games.spec(game).make_rules(parameters)
    right = solved(rules)[0]
    assert value is None or right == pytest.approx(value)
    check(rules, {"value": right})
    for wrong in ([0.0, 0.0], right[::-1], [right[0] + 1e-3, right[1] - 1e-3], right[:1], [*right, 0.0]):
        with pytest.raises(AssertionError):
            check(rules, {"value": wrong})


@pytest.mark.parametrize("value", ["-4.5", '"high"', '["a"]', "[nan]", "[true]"])
def test_a_value_that_is_no_list_of_numbers_is_refused(value: str, tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text(f'description = "x"\n[solution]\nvalue = {value}\n')
    with pytest.raises(DataError, match=r"x\.toml: solution\.value must be a list of numbers"):
        read_scenario(tmp_path / "x.toml")
