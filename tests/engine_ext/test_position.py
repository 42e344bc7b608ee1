"""Position and Rules beyond what the conformance suite holds: perft by hand, counts, saves."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import games
from engine_ext.errors import IllegalActionError, SavedStateError
from engine_ext.position import Position
from engine_ext.rng import Stream


def test_perft_of_kuhn_by_hand() -> None:
    """3 cards, then 2, then two bids each: 3, 6, 12, 24; after pass-pass, bet-pass and bet-bet the
    game is over, so one line in four goes on, with two bids: 6 * 2 = 12; then nothing."""
    position = games.spec("kuhn").make_rules().initial_position()
    assert [position.perft(depth) for depth in range(7)] == [1, 3, 6, 12, 24, 12, 0]


def test_perft_of_pig_by_hand() -> None:
    """Roll or hold: 2. After holding 2 again, after rolling 6 faces: 8. Faces lead to decisions
    (2 each), hold-roll to 6 faces, hold-hold to 2: 12 + 6 + 2 = 20."""
    position = games.spec("pig").make_rules().initial_position()
    assert [position.perft(depth) for depth in range(4)] == [1, 2, 8, 20]


def test_perft_refuses_negative_depth() -> None:
    with pytest.raises(ValueError, match="depth"):
        games.spec("pig").make_rules().initial_position().perft(-1)


def test_positions_are_not_made_directly() -> None:
    with pytest.raises(TypeError, match="initial_position"):
        Position()


def test_playouts_count_steps_and_sum_returns() -> None:
    position = games.spec("kuhn").make_rules().from_dict({"cards": [2, 0], "bids": "pb"})
    before = position.to_bytes()
    steps, totals = position.playouts(1000, Stream(2))
    # One decision is left: a call wins 2, a fold loses 1, so the mean is 0.5.
    assert steps == 1000
    assert totals[0] == -totals[1]
    assert abs(totals[0] / 1000 - 0.5) < 5 * 1.5 / np.sqrt(1000)
    assert position.to_bytes() == before


def test_copies_of_all_kinds_are_equal_and_apart() -> None:
    position = games.spec("pig").make_rules().initial_position()
    for other in (position.clone(), copy.copy(position), copy.deepcopy(position), pickle.loads(pickle.dumps(position))):
        assert other == position
        assert hash(other) == hash(position)
        other.apply_action(0)
        assert other != position


def test_saves_belong_to_game_and_parameters() -> None:
    data = games.spec("pig").make_rules().initial_position().to_bytes()
    for other in (games.spec("pig").make_rules({"goal": 50}), games.spec("kuhn").make_rules()):
        with pytest.raises(SavedStateError, match="another game"):
            other.from_bytes(data)


def test_questions_to_the_wrong_kind_of_node_are_refused() -> None:
    position = games.spec("kuhn").make_rules().initial_position()
    with pytest.raises(IllegalActionError, match="no player is to move"):
        position.random_action(Stream(1))
    with pytest.raises(IllegalActionError, match="no player is to move"):
        position.suggest(Stream(1))
    decision = position.child(0).child(1)
    with pytest.raises(IllegalActionError, match="chance node"):
        decision.sample(Stream(1))
    over = decision.child(0).child(0)
    with pytest.raises(IllegalActionError, match="the game is over"):
        over.apply_action(0)


def test_illegal_actions_say_what_is_allowed() -> None:
    position = games.spec("kuhn").make_rules().initial_position().child(0)
    with pytest.raises(IllegalActionError, match=r"0 \(deal 0\) is illegal for chance; allowed: 1 \(deal 1\), 2"):
        position.apply_action(0)


def test_action_names_of_unknown_ids_do_not_raise() -> None:
    position = games.spec("pig").make_rules().initial_position()
    assert position.action_to_string(0, 99) == "unknown action 99"
    with pytest.raises(IllegalActionError, match="'jump' names no action"):
        position.string_to_action("jump")
