"""The estimate: its terms by hand, its weights, and that it foretells games it was not fitted on."""

import numpy as np
import pytest

import games
from engine_ext.errors import DataError, ParameterError
from engine_ext.rng import Stream
from games.quarriors import fit, tune, values

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
    assert (second["creatures"], second["guard"]) == (1, 4)
    # Six of the bag's twelve dice come next; the second seat's dragon in the pile does not.
    assert second["next_attack"] == pytest.approx(6 * 4 * attack / 12)
    # The second half is the first times the leader's progress, 10 of 20 Glory.
    half = len(values.TERMS)
    for seat in rules.value_terms(here):
        assert seat[half:] == pytest.approx([term / 2 for term in seat[:half]])


def test_the_next_draw_takes_the_used_pile_once_the_bag_is_empty():
    # Four of the bag and two of the eight in the pile: 4 x 2/6 attack, and a quarter of a Quake Dragon with 18/6.
    rules = SPEC.make_rules({})
    here = position(
        rules,
        {"bag": {"Assistant": 4}, "used": {"Basic Quiddity": 7, "Quake Dragon": 1}},
        {"bag": BAG},
        phase=2,
        active=1,
    )
    first = dict(zip(values.TERMS, rules.value_terms(here)[0], strict=False))
    assert first["next_attack"] == pytest.approx(4 * 2 / 6 + 2 / 8 * 18 / 6)


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


def test_tuning_counts_every_seat_and_knows_itself():
    # The same numbers on both sides win exactly their share: every seat meets the same dice.
    rules = SPEC.make_rules({})
    numbers = values.greedy_values("base", 2)
    assert tune.win_rate(rules, numbers, numbers, deals=5, seed=3) == pytest.approx([0.5] * 5)


def test_greedy_beats_one_that_only_captures():
    # A rule of thumb that gives creatures nothing (exposed -1 cancels a chance to live of at most 1) loses.
    rules = SPEC.make_rules({})
    numbers = values.greedy_values("base", 2)
    names = [name for name, count in values.GREEDY.items() for _ in range(count)]
    idle = [
        -1.0 if name in ("exposed", "summon", "strike") else number for name, number in zip(names, numbers, strict=True)
    ]
    assert tune.win_rate(rules, numbers, idle, deals=40, seed=3).mean() > 0.9


@pytest.mark.parametrize(("glory", "captures"), [(9, True), (3, False)])
def test_greedy_ends_the_game_only_when_ahead(glory, captures):
    # B82: the last die of the fourth creature card ends the game, and the most Glory wins.
    rules = SPEC.make_rules({})
    empty = ("Quake Dragon", "Deathdealer", "Witching Hag")
    wilds = [{"card": card, "dice": 0} for card in empty]
    wilds += [{"card": "Warrior of the Quay", "dice": 1}, {"card": "Scavenging Goblin", "dice": 3}]
    here = rules.from_dict(
        {
            "edition": "base",
            "phase": 5,
            "wilds": wilds,
            "players": [{"glory": glory, "bag": BAG}, {"glory": 5, "bag": {"Assistant": 4}}],
            "quiddity": {"normal": 9},
        }
    )
    chosen = here.action_to_string(0, here.suggest(Stream(1)))
    assert (chosen == "capture Warrior of the Quay") == captures


def test_a_player_of_another_size_is_refused():
    with pytest.raises(ParameterError, match="16 numbers, 3 were given"):
        SPEC.make_rules({}).with_greedy([1, 2, 3])
