"""A long search stops soon after a signal, and the searcher works on afterwards."""

import signal

import pytest

import games
from engine_ext.rng import Stream
from solvers.specs import make_searcher


class Interrupted(Exception):
    """What the signal handler of these tests raises, as Ctrl-C raises KeyboardInterrupt."""


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

    def interrupt(number, frame):
        raise Interrupted

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        with pytest.raises(Interrupted):
            searcher.search(rules.initial_position(), seed=1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    over = rules.initial_position()
    over.playout(Stream(1))
    assert list(searcher.search(over, seed=1).values) == over.returns()
