"""The estimate: its terms by hand, its weights, and that it foretells games it was not fitted on."""

import numpy as np
import pytest

import games
from engine_ext.errors import DataError
from games.quarriors import fit, values

SPEC = games.spec("quarriors")
BAG = {"Basic Quiddity": 8, "Assistant": 4}


def position(rules, first, second, **table):
    """A table for two with Quake Dragons and Warriors of the Quay in the Wilds."""
    cards = ("Quake Dragon", "Warrior of the Quay", "Victory Spell")
    return rules.from_dict(
        {"edition": "base", "wilds": [{"card": card, "dice": 3} for card in cards], "players": [first, second], **table}
    )


def test_terms_by_hand():
    rules = SPEC.make_rules({})
    here = position(
        rules,
        {"glory": 5, "bag": BAG},
        {"glory": 10, "bag": BAG, "ready": [{"die": "Quake Dragon", "face": 3}], "used": {"Quake Dragon": 1}},
        phase=2,
        active=0,
    )
    first, second = (dict(zip(values.TERMS, seat, strict=False)) for seat in rules.value_terms(here))
    attack = (1 + 1) / 6  # of an Assistant: two faces have attack 1
    dragon = (4 + 6 + 8) / 6
    assert (first["turn"], first["glory"], first["dice"], first["expected"], first["exposed"]) == (1, 5, 12, 0, 0)
    assert first["attack"] == pytest.approx(6 * 4 * attack / 12)
    assert (second["turn"], second["glory"], second["dice"], second["spells"]) == (0, 10, 14, 0)
    assert second["attack"] == pytest.approx(6 * (4 * attack + 2 * dragon) / 14)
    # The dragon's 4 Glory with defence 4 against one attack to come.
    assert second["exposed"] == 4
    assert second["expected"] == pytest.approx(4 / (1 + np.exp(0.55 * (first["attack"] - 4))))
    # The second half is the first times the leader's progress, 10 of 20 Glory.
    for seat in rules.value_terms(here):
        assert seat[8:] == pytest.approx([term / 2 for term in seat[:8]])


def test_a_creature_whose_seat_scores_next_is_not_in_danger():
    rules = SPEC.make_rules({})
    creature = {"glory": 0, "bag": BAG, "ready": [{"die": "Quake Dragon", "face": 3}]}
    after_the_attack = position(rules, {"bag": BAG}, creature, phase=5, active=0, quiddity={"normal": 9})
    assert rules.value_terms(after_the_attack)[1][2] == 4


def test_more_glory_is_worth_more():
    rules = SPEC.make_rules({})
    behind = position(rules, {"glory": 3, "bag": BAG}, {"glory": 9, "bag": BAG}, phase=2, active=0).estimate()
    ahead = position(rules, {"glory": 12, "bag": BAG}, {"glory": 9, "bag": BAG}, phase=2, active=0).estimate()
    assert behind[0] < 0 < ahead[0]
    assert behind[0] == pytest.approx(-behind[1])


@pytest.mark.parametrize("edition", fit.EDITIONS)
@pytest.mark.parametrize("players", [2, 3, 4])
def test_it_foretells_other_games(edition, players):
    # 60 games that the weights never saw: much nearer to who won than even chances (log loss ln(players)).
    rules = SPEC.make_rules({"edition": edition, "players": players})
    drawn = fit.sample(rules, games=60, seed=77)
    assert fit.log_loss(drawn.estimate, drawn.shares) < 0.93 * np.log(players)


def test_the_fit_finds_the_weights_that_made_the_winners():
    draw = np.random.default_rng(5)
    true = np.array([1.0, -0.5, 0.25])
    terms = draw.normal(size=(20_000, 3, 3))
    chances = fit.softmax(terms @ true)
    winner = (chances.cumsum(1) > draw.random((20_000, 1))).argmax(1)
    assert fit.fit(terms, np.eye(3)[winner]) == pytest.approx(true, abs=0.05)


def test_missing_weights_are_named():
    with pytest.raises(DataError, match="no weights for edition 'base' with 9 players"):
        values.weights("base", 9)
