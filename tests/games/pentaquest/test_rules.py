"""Every numbered rule and reading of Pentaquest, as cases kept in rules.toml and as tests here."""

from __future__ import annotations

import tomllib
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest

import games
from engine_ext.position import Position
from engine_ext.rng import Stream
from games.pentaquest.cards import SYMBOLS, Requirement, read_deck
from tests.games.pentaquest.helpers import play_greedily, write_deck
from tests.reference.pentaquest import meets

TABLE = tomllib.loads((Path(__file__).parent / "rules.toml").read_text(encoding="utf-8"))
CASES = TABLE["case"]

# Rules that no single position shows; the tests named hold them.
ELSEWHERE = {
    "1": "test_the_deck_has_42_cards_and_five_dice",
    "25": "test_greedy_scores_lie_where_the_rule_text_calls_them_good",
    "31": "test_sums_of_cards_hold_over_random_games",
    "P17": "test_the_deck_has_42_cards_and_five_dice",
}


def test_every_rule_and_reading_has_a_case() -> None:
    wanted = {str(rule) for rule in range(1, 33)} | {f"P{reading}" for reading in range(1, 20)}
    assert wanted == {case["rule"] for case in CASES} | set(ELSEWHERE)
    assert all(name in globals() for name in ELSEWHERE.values())


def take(position: Position, step: str) -> None:
    """Apply a step, decision or chance, by its text; the dice of a roll in any order."""
    if step.startswith("roll "):
        step = "roll " + " ".join(sorted(step.split()[1:]))
    if not position.is_chance_node():
        position.apply_action(position.string_to_action(step))
        return
    outcomes = {position.action_to_string(-1, outcome): outcome for outcome in position.legal_actions()}
    assert step in outcomes, f"{step!r} is no outcome of {position}"
    position.apply_action(outcomes[step])


def case_name(case: dict) -> str:
    return case["rule"] + (f" {case['says']}" if "says" in case else "")


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_case(case: dict, tmp_path: Path) -> None:
    deck = write_deck(tmp_path / "deck.toml", TABLE["decks"][case["deck"]])
    rules = games.spec("pentaquest").make_rules({"deck": str(deck), **case.get("parameters", {})})
    position = rules.from_dict(case["given"]) if "given" in case else rules.initial_position()
    assert position.check() == 0
    for step in case.get("when", []):
        take(position, step)
        assert position.check() == 0
    state = position.to_dict()
    for field, value in case.get("then", {}).items():
        assert state[field] == value, field
    offered = {position.action_to_string(action) for action in position.legal_actions()}
    assert set(case.get("can", [])) <= offered
    assert not set(case.get("cannot", [])) & offered
    assert len(offered) == case.get("offers", len(offered))
    if "returns" in case:
        assert position.returns() == pytest.approx(case["returns"], abs=1e-12)
    if "over" in case:
        assert position.is_terminal() == case["over"]
    assert {"then", "can", "cannot", "offers", "returns", "over"} & set(case), "a case that checks nothing"


# ---- rules that need more than one position ------------------------------------------------------


def test_the_deck_has_42_cards_and_five_dice() -> None:
    """Rule 1, P17: 42 cards, each with a requirement and a symbol, all of them reconstructed; five dice."""
    deck = read_deck("default")
    assert len(deck.cards) == 42
    assert all(card.requires and card.symbol in SYMBOLS for card in deck.cards)
    assert {card.symbol for card in deck.cards} == set(SYMBOLS)
    assert {card.provenance for card in deck.cards} == {"reconstructed"}
    rules = games.spec("pentaquest").make_rules({"quest_area": 42})
    position = rules.initial_position()
    assert len(position.to_dict()["quest"]) == 42
    assert {len(position.action_to_string(-1, o).split()) - 1 for o in position.legal_actions()} == {5}


def test_greedy_scores_lie_where_the_rule_text_calls_them_good() -> None:
    """Rule 25: above 20 is good, 30 great. A good player should usually stand between the two."""
    rules = games.spec("pentaquest").make_rules()
    scores = np.array([play_greedily(rules, seed).returns()[0] for seed in range(200)])
    kept = scores[scores > 0]
    assert len(kept) >= 100
    assert 20 <= kept.mean() <= 30
    assert kept.max() <= 42  # rule 24


@pytest.mark.parametrize(
    ("players", "original"), [(1, False), *((n, original) for n in range(2, 9) for original in (False, True))]
)
def test_sums_of_cards_hold_over_random_games(players: int, original: bool) -> None:
    """Rule 31, after every step of random and greedy games for every number of players."""
    rules = games.spec("pentaquest").make_rules({"players": players, "original": original})
    for seed in range(3):
        stream = Stream.keyed(seed, players)
        position = rules.initial_position()
        for step in range(600):
            state = position.to_dict()
            captured = sum(sum(army.values()) for army in state["armies"]) + sum(state["discards"])
            assert len(state["deck"]) + len(state["quest"]) + captured == 42
            assert len(state["quest"]) <= 5
            assert all(1 <= die <= 6 for die in state["dice"])
            lost = position.is_terminal() and bool(state["quest"])
            if players == 1:
                assert state["turn"] == captured + lost
            assert position.check() == 0
            if position.is_terminal():
                break
            if position.is_chance_node():
                position.apply_action(position.sample(stream))
            elif (step + seed) % 3:
                position.apply_action(position.suggest(stream))
            else:
                position.apply_action(position.random_action(stream))


@pytest.mark.parametrize("distinct", [False, True])
def test_requirements_meet_the_rolls_of_the_predicate(distinct: bool) -> None:
    """Rules 16 to 21 and 32 for every requirement of up to five signs, each on a dozen of the 252 rolls."""
    rolls = list(combinations_with_replacement(range(1, 7), 5))
    counts = np.array([[roll.count(face) for face in range(1, 7)] for roll in rolls], dtype=np.uint8)
    texts = ["".join(signs) for n in range(1, 6) for signs in combinations_with_replacement("123456SM", n)]
    for start, text in enumerate(texts):
        met = Requirement.parse(text).met_by(counts, distinct=distinct)
        assert str(Requirement.parse(text)) == text
        for i in range(start % 21, len(rolls), 21):
            assert met[i] == meets(rolls[i], text, distinct), (text, rolls[i])
