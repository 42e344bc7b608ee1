"""Kuhn poker: against OpenSpiel's kuhn_poker, tree for tree, and the known value."""

from __future__ import annotations

import pyspiel
import pytest

import games
from engine_ext.errors import PositionError
from engine_ext.rng import Stream
from games.words import Step


def test_every_history_agrees_with_openspiel() -> None:
    """Same children, same returns, and information states one to one."""
    ours, theirs = pyspiel.load_game("quandary_kuhn"), pyspiel.load_game("kuhn_poker")
    strings: dict[str, str] = {}
    nodes = 0

    def compare(a: pyspiel.State, b: pyspiel.State) -> None:
        nonlocal nodes
        nodes += 1
        assert a.current_player() == b.current_player()
        assert a.legal_actions() == b.legal_actions()
        assert a.returns() == b.returns()
        if a.is_chance_node():
            assert dict(a.chance_outcomes()) == pytest.approx(dict(b.chance_outcomes()))
        elif not a.is_terminal():
            player = a.current_player()
            key = f"{player}:{a.information_state_string(player)}"
            assert strings.setdefault(key, b.information_state_string(player)) == b.information_state_string(player)
        for action in a.legal_actions():
            compare(a.child(action), b.child(action))

    compare(ours.new_initial_state(), theirs.new_initial_state())
    assert nodes == 58  # histories of Kuhn poker, terminal and chance nodes included
    assert len(strings) == 12
    assert len(set(strings.values())) == 12


def test_openspiel_cfr_finds_the_value() -> None:
    game = pyspiel.load_game("quandary_kuhn")
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(300):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    assert pyspiel.exploitability(game, policy) < 1e-3
    value = pyspiel.expected_returns(game.new_initial_state(), policy, -1, True)[0]
    assert value == pytest.approx(-1 / 18, abs=1e-3)


def test_resampling_deals_both_other_cards_alike() -> None:
    rules = games.spec("kuhn").make_rules()
    position = rules.from_dict({"cards": [1, 2], "bids": "p"})
    stream = Stream(4)
    cards = [position.resample(0, stream).to_dict()["cards"] for _ in range(4000)]
    assert {tuple(pair) for pair in cards} == {(1, 0), (1, 2)}
    assert abs(cards.count([1, 0]) - 2000) < 5 * 1000**0.5


def test_a_bet_is_called_or_folded_in_all_words() -> None:
    """The options, the story and the table call the answer to a bet the same."""
    spec = games.spec("kuhn")
    facing = spec.make_rules().from_dict({"cards": [0, 2], "bids": "b"})
    assert [words.partition(":")[0] for words in spec.options(facing).values()] == ["call", "fold"]
    for action, done in ((0, "folded"), (1, "called")):
        after = facing.child(action)
        step = Step(1, action, facing.action_to_string(action), facing, after)
        assert spec.tell([step], 0)[0].text == done
        assert spec.view(after, 0) == f"your card: 0; you bet 1, seat 1 {done}"
    opening = spec.make_rules().from_dict({"cards": [0, 2]})
    assert set(spec.options(opening).values()) == {"bet 1", "pass"}


@pytest.mark.parametrize(
    ("position", "field"),
    [
        ({"cards": [1, 1]}, "cards"),
        ({"cards": [None, 1]}, "cards"),
        ({"cards": [0, 1, 2]}, "cards"),
        ({"cards": [0, 1], "bids": "ppp"}, "bids"),
        ({"bids": "p"}, "bids"),
        ({"pot": 2}, "pot"),
    ],
)
def test_contradictory_positions_name_the_field(position, field) -> None:
    with pytest.raises(PositionError, match=field):
        games.spec("kuhn").make_rules().from_dict(position)
