"""The estimate among several: exact within a turn, and the file of its weights."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.optimize import check_grad

import games
from engine_ext.errors import DataError
from engine_ext.rng import Stream
from games.pentaquest import fit, weights

SPEC = games.spec("pentaquest")
CHANGING = ("add", "sub", "addsub", "mirror")
PLANNED_CHANGES, PLANNED_REROLLS = 3, 2  # what the estimate plans a turn with (outlook.pyx)


@pytest.mark.parametrize(
    "flags",
    [
        {"players": 2},
        {"players": 3},
        {"players": 2, "original": True},
        {"players": 2, "utility": "score"},
        {"players": 4, "utility": "score", "original": True},
    ],
    ids=lambda flags: ",".join(f"{key}={value}" for key, value in flags.items()),
)
def test_a_decision_is_estimated_at_its_best_action(flags: dict) -> None:
    """With few enough army cards the plan of a turn leaves nothing out: beat, reroll, change, pass (4 to 14)."""
    rules = SPEC.make_rules(flags)
    seen = changes = again = 0
    for seed in range(3):
        stream = Stream.keyed(seed, 11)
        position = rules.initial_position()
        while not position.is_terminal():
            if position.is_chance_node():
                position.apply_action(position.sample(stream))
                continue
            seat, state = position.current_player(), position.to_dict()
            army = state["armies"][seat]
            if (
                state["step"] == "act"
                and sum(army.get(symbol, 0) for symbol in CHANGING) <= PLANNED_CHANGES
                and army.get("reroll", 0) <= PLANNED_REROLLS
            ):
                values = {}
                for action in position.legal_actions():
                    after = position.clone()
                    after.apply_action(action)
                    values[rules.action_name(action)] = after.estimate()[seat]
                best = max(values, key=lambda name: values[name])
                scale = rules.max_utility() - rules.min_utility()
                assert position.estimate()[seat] == pytest.approx(values[best], abs=1e-5 * scale)
                seen += 1
                changes += " to " in best
                again += best.startswith("reroll card")
            position.apply_action(position.suggest(stream))
    assert seen > 30
    assert changes + again > 0


def test_the_last_card_is_estimated_by_the_final_ranks() -> None:
    """One card left, 21 to 20 captured and the dice meet it: the seat behind gets a tie in points, and its larger
    army wins (29, 30); with an equal army the win is shared (P19), a smaller one loses."""
    rules = SPEC.make_rules({"players": 2})

    def value(own: int, rival: int) -> float:
        symbols = {"add": own}
        return rules.from_dict(
            {
                "deck": [],
                "quest": ["Four-Armed Idol"],
                "armies": [symbols, {"addsub": rival}],
                "discards": [20 - own, 21 - rival],
                "turn": 2,
                "seat": 0,
                "step": "act",
                "dice": [4, 4, 4, 4, 1],
                "rerolls": 0,
            }
        ).estimate()[0]

    assert value(5, 5) == pytest.approx(1.0)  # the card joins the army: 6 to 5
    assert value(4, 5) == pytest.approx(0.0)
    # Behind by more, beating it loses; the dice are there, but so is a later turn.
    assert value(2, 8) < 0.0


# ---- the file of weights ------------------------------------------------------------------------------


def test_the_file_says_how_its_weights_were_made() -> None:
    outlook = weights.read()
    assert {fit.original for fit in outlook.fits} == {False, True}
    for each in outlook.fits:
        assert each.made.startswith(f"python -m games.pentaquest.fit --players {each.players} --games ")
        assert each.made.endswith(" --original") == each.original
        assert 0.0 < each.log_loss < np.log(each.players)
        assert each.knots == fit.KNOTS


def test_the_nearest_number_of_seats_is_taken() -> None:
    one = weights.read().fits[0]
    outlook = weights.Outlook(
        tuple(
            dataclasses.replace(one, players=n, original=original)
            for n, original in [(2, False), (4, False), (3, True)]
        )
    )
    assert [outlook.nearest(n, False).players for n in (2, 3, 4, 8)] == [2, 2, 4, 4]
    assert outlook.nearest(2, True).players == 3


def test_a_written_file_reads_back(tmp_path) -> None:
    path = tmp_path / "outlook.toml"
    path.write_text(weights.write(list(weights.read().fits)), encoding="utf-8")
    again = weights.read(path)
    for old, new in zip(weights.read().fits, again.fits, strict=True):
        assert dataclasses.replace(new, weights=old.weights) == old
        assert np.array_equal(old.weights, new.weights)


@pytest.mark.parametrize(
    ("find", "replace", "message"),
    [
        ("[[fit]]", "[[fit", "outlook .*toml"),
        ("players = 2", 'players = "two"', "fit 1: players is 'two', must be a int"),
        ("few = ", "many = ", "fit 1: weights has the terms"),
        ("knots = [1, 2,", "knots = [2, 1,", "fit 1: knots is .*, must ascend"),
        ("knots = [1, 2,", "knots = [2,", "fit 1: knots is .*, must be 10 numbers"),
        ("original = true", "original = false", r"no \[\[fit\]\] with original = true"),
    ],
)
def test_a_malformed_file_is_refused_by_name(tmp_path, find: str, replace: str, message: str) -> None:
    path = tmp_path / "outlook.toml"
    path.write_text(weights.FILE.read_text(encoding="utf-8").replace(find, replace), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        weights.read(path)


# ---- the fit --------------------------------------------------------------------------------------------


def test_terms_are_what_lies_on_the_table() -> None:
    """Ten cards left, the second of three seats is next: by hand, from the position."""
    rules = SPEC.make_rules({"players": 3})
    names = [kind[0].name for kind in rules.kinds]
    position = rules.from_dict(
        {
            "quest": names[:4],
            "deck": names[4:10],
            "armies": [{"add": 2, "mirror": 1}, {}, {"reroll": 1}],
            "discards": [9, 10, 9],
            "seat": 1,
            "step": "draw",
        }
    )
    left, terms = rules.outlook_terms(position)
    at = {name: i for i, name in enumerate(weights.TERMS)}
    assert left == 10
    # Ten turns from seat 1 on: four for seat 1, three for seats 2 and 0.
    assert terms[:, at["turns"]].tolist() == [3, 4, 3]
    assert terms[:, at["points"]].tolist() == [15, 14, 13]
    assert terms[0, [at[symbol] for symbol in ("add", "sub", "addsub", "reroll", "mirror")]].tolist() == [2, 0, 0, 0, 1]
    assert terms[:, at["few"]] == pytest.approx(np.exp([-1.5, 0.0, -0.5]))
    assert terms[:, at["early"]].tolist() == [0.0, 1.0, 0.5]
    ease = sorted(rules.ease[:4])
    assert terms[:, at["easiest"]] == pytest.approx([0.0, ease[-1], 0.0])
    assert terms[:, at["second"]] == pytest.approx([0.0, ease[-2], 0.0])
    assert terms[1, at["any"]] == pytest.approx(1 - np.prod([1 - each for each in ease]))
    toll = np.mean([(1 - each) ** 3 for each in rules.ease[:10]])
    assert terms[:, at["toll_army"]] == pytest.approx(toll * np.array([3, 0, 1]))
    assert terms[1, at["free"]] == 0.0  # 10 is no multiple of 3: a failed turn would cost one


def test_the_slope_of_the_loss_is_right() -> None:
    draw = np.random.default_rng(3)
    terms = draw.normal(size=(40, 3, len(weights.TERMS)))
    knots = fit.spread(draw.integers(1, 43, 40).astype(float))
    shares = draw.dirichlet([1.0] * 3, 40)
    at = draw.normal(size=len(weights.TERMS) * len(fit.KNOTS))
    off = check_grad(
        lambda flat: fit.loss(flat, terms, knots, shares)[0], lambda flat: fit.loss(flat, terms, knots, shares)[1], at
    )
    assert off < 1e-5


def test_a_fit_repeats_itself_and_learns() -> None:
    """Thirty games are few, but enough to tell who leads near the end; the same seed gives the same weights."""
    rules = SPEC.make_rules({"players": 2})
    first, again = (fit.fit(rules, 30, 5) for _ in range(2))
    assert np.array_equal(first[0], again[0])
    assert first[0].shape == (len(weights.TERMS), len(fit.KNOTS))
    assert first[0][0, 0] > 0.0  # a point more helps with one card left
