"""Exact chances of single cards, worked backwards through the engine's own steps."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path

import pytest

import games
from engine_ext.position import Position
from engine_ext.rng import Stream
from tests.games.pentaquest.helpers import write_deck
from tests.reference.exact import expectimax, step

PATTERNS = tomllib.loads((Path(__file__).parent / "patterns.toml").read_text(encoding="utf-8"))["pattern"]
STREAM = Stream(0)  # the policy asks for one and draws nothing from it


def value_of_suggestions(position: Position, memo: dict[Position, float]) -> float:
    """Expected return of seat 0 when the game's own policy plays."""
    if position not in memo:
        if position.is_terminal():
            memo[position] = position.returns()[0]
        elif position.is_chance_node():
            memo[position] = sum(
                p * value_of_suggestions(step(position, o), memo) for o, p in position.chance_outcomes()
            )
        else:
            memo[position] = value_of_suggestions(step(position, position.suggest(STREAM)), memo)
    return memo[position]


@pytest.mark.parametrize("pattern", PATTERNS, ids=lambda pattern: pattern["name"])
def test_chance_to_beat_a_card(pattern: dict, tmp_path: Path) -> None:
    """By one roll, one reroll, two rerolls: rules 4, 7, 8, 16 to 21, P1 to P4. The last card left
    is worth one point, so the value of the game is the chance to beat it."""
    deck = write_deck(tmp_path / "deck.toml", [("Creature", pattern["requires"], "add")])
    rules = games.spec("pentaquest").make_rules({"deck": str(deck), "distinct": pattern.get("distinct", False)})
    memo: dict[Position, list[float]] = {}
    policy_memo: dict[Position, float] = {}
    for rerolls, key in enumerate(("one_roll", "one_reroll", "two_rerolls")):
        exact = float(Fraction(pattern[key]))
        position = rules.from_dict({"quest": ["Creature"], "step": "roll", "rerolls": rerolls})
        assert expectimax(position, memo)[0] == pytest.approx(exact, abs=1e-9)
        # With one card left there is nothing to weigh: the greedy policy is optimal.
        assert value_of_suggestions(position, policy_memo) == pytest.approx(exact, abs=1e-6)
        # The table shows the same chance.
        assert list(rules.odds(position).values()) == pytest.approx([exact], abs=1e-5)
    assert rules.initial_position() == position  # two free rerolls in the first turn, rule 8


@pytest.mark.parametrize(
    "army",
    [{"add": 3}, {"sub": 1, "mirror": 1}, {"addsub": 2, "reroll": 1}, {"reroll": 2, "add": 1, "mirror": 1}],
    ids=str,
)
def test_greedy_is_nearly_optimal_in_the_last_turn(army: dict, tmp_path: Path) -> None:
    """Army cards and rerolls together; only its fixed prices of symbols keep it from the optimum."""
    rows = [(f"Spent {symbol} {i}", ["S"], symbol) for symbol, n in army.items() for i in range(n + 1)]
    deck = write_deck(tmp_path / "deck.toml", [("Wyrm", ["1234", "555"], "add"), *rows])
    rules = games.spec("pentaquest").make_rules({"deck": str(deck)})
    position = rules.from_dict({"deck": [], "quest": ["Wyrm"], "armies": [army], "step": "roll"})
    best = expectimax(position, {})[0]
    assert 0.99 * best <= value_of_suggestions(position, {}) <= best + 1e-9
