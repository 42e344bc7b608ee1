"""Bots over searchers, in OpenSpiel's own tools."""

import pyspiel
import pytest
from open_spiel.python.algorithms import evaluate_bots

import games
from engine_ext.errors import IllegalActionError, UnsuitableGameError
from engine_ext.rng import Stream
from solvers import bots


def play(spec, seed, game_name="quandary_pig"):
    """The returns of one game between two bots of the same spec, through OpenSpiel's evaluator."""
    game = pyspiel.load_game(game_name)
    pair = [bots.make_bot(spec, game.rules, seat, seed) for seat in range(2)]
    return pyspiel.evaluate_bots(game.new_initial_state(), pair, seed)


@pytest.mark.parametrize("spec", ["random", "greedy"])
@pytest.mark.parametrize("game", ["quandary_pig", "quandary_kuhn"])
def test_plays_in_openspiel(spec, game):
    returns = play(spec, 3, game)
    assert sum(returns) == 0
    assert max(returns) > 0
    assert play(spec, 3, game) == returns


def test_python_evaluator_uses_policies():
    import numpy as np

    game = pyspiel.load_game("quandary_kuhn")
    pair = [bots.make_bot("random", game.rules, seat, 1) for seat in range(2)]
    returns = evaluate_bots.evaluate_bots(game.new_initial_state(), pair, np.random.RandomState(5))
    assert sum(returns) == 0
    state = game.new_initial_state()
    state.apply_action(0)
    state.apply_action(1)
    assert pair[0].get_policy(state) == [(0, 0.5), (1, 0.5)]
    policy, action = pair[0].step_with_policy(state)
    assert policy == [(0, 0.5), (1, 0.5)]
    assert action in (0, 1)


def test_restart_at_goes_on_as_it_would_have():
    game = pyspiel.load_game("quandary_pig")
    state = game.new_initial_state()
    bot = bots.make_bot("random", game.rules, 0, 11)
    chance = Stream(4)
    while bot.moves < 8:
        if state.is_chance_node():
            state.apply_action(state.position.sample(chance))
        else:
            state.apply_action(bot.step(state) if state.current_player() == 0 else 1)
    while state.current_player() != 0:
        state.apply_action(state.position.sample(chance) if state.is_chance_node() else 1)
    fresh = bots.make_bot("random", game.rules, 0, 11)
    fresh.restart_at(state)
    assert fresh.moves == 8
    assert [fresh.step(state) for _ in range(20)] == [bot.step(state) for _ in range(20)]


def test_not_its_turn():
    game = pyspiel.load_game("quandary_pig")
    bot = bots.make_bot("random", game.rules, 1, 0)
    with pytest.raises(IllegalActionError, match="plays seat 1, and the player to move is 0"):
        bot.step(game.new_initial_state())
    assert bot.moves == 0


def test_foreign_state_is_refused():
    bot = bots.make_bot("random", games.spec("pig").make_rules(), 0, 0)
    with pytest.raises(UnsuitableGameError, match="native position"):
        bot.step(pyspiel.load_game("tic_tac_toe").new_initial_state())


def test_greedy_reads_only_what_its_seat_sees():
    rules = games.spec("kuhn").make_rules()
    for cards in [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]:
        for bids in ("", "pb"):
            position = rules.from_dict({"cards": list(cards), "bids": bids})
            for seed in range(5):
                bot = bots.make_bot("greedy", rules, 0, seed)
                other = position.resample(0, Stream(seed))
                assert bot.search(position).action == bot.search(other).action
