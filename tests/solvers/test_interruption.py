"""A long search stops soon after a signal, and the searcher works on afterwards."""

import pytest

import games
from engine_ext.rng import Stream
from solvers.specs import make_searcher
from tests.signals import stopped_after


@pytest.mark.parametrize(
    ("game", "parameters", "spec"),
    [
        ("pig", {}, "mcts(simulations=1000000000)"),
        ("pig", {}, "mcts(simulations=1000000000,threads=2)"),
        ("pig", {}, "expectimax(depth=500)"),
        ("pentaquest", {"scenario": "small"}, "expectimax"),
        ("pig", {}, "value_iteration"),
    ],
)
def test_stops_at_a_signal(game, parameters, spec):
    rules = games.spec(game).make_rules(parameters)
    searcher = make_searcher(spec, rules)

    with stopped_after(0.2):
        searcher.search(rules.initial_position(), seed=1)
    over = rules.initial_position()
    over.playout(Stream(1))
    assert list(searcher.search(over, seed=1).values) == over.returns()
