"""Long work stops soon after a signal, and what did it works on afterwards."""

import numpy as np
import pytest

import games
from engine_ext.rng import Stream
from solvers.cfr import CFRSolver
from solvers.extraction import estimate_size, extract
from solvers.specs import make_searcher
from solvers.stages import OneShot
from tests.signals import stopped_after


@pytest.mark.parametrize(
    ("game", "parameters", "spec"),
    [
        ("pig", {}, "mcts(simulations=1000000000)"),
        ("pig", {}, "mcts(simulations=1000000000,threads=2)"),
        ("pig", {}, "expectimax(depth=500)"),
        ("pig", {}, "expectimax(depth=500,table=0)"),
        ("pentaquest", {}, "expectimax(depth=500)"),
        ("pentaquest", {"scenario": "small"}, "expectimax"),
        ("pig", {}, "value_iteration"),
        ("quarriors", {}, "value_iteration"),
        ("quarriors", {}, "mcts(simulations=1000000000,playout=random,rollouts=1000)"),
        ("quarriors", {}, "ismcts(simulations=1000000000)"),
        ("quarz", {}, "ismcts(simulations=1000000000,favor=cfr+,threads=2)"),
        ("quarz", {}, "smooth_uct(simulations=1000000000)"),
        ("kuhn", {}, "oos(simulations=1000000000)"),
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


def test_an_extraction_stops_at_a_signal():
    """Of a native game and of one of OpenSpiel's, in the walk and in the probes before it."""
    with stopped_after(0.3):
        extract(games.spec("quarriors").make_rules({"scenario": "race"}))
    with stopped_after(0.3):
        extract("leduc_poker(players=3)", max_nodes=2**31 - 2)
    for source in (games.spec("quarriors").make_rules(), "go(board_size=9)"):
        with stopped_after(0.3):
            estimate_size(source, probes=10**9)


@pytest.mark.parametrize("variant", ["cfr", "cfr+", "lcfr", "dcfr", "pcfr+"])
@pytest.mark.parametrize("form", ["sequence", "tree"])
def test_regret_minimisation_stops_at_a_signal_and_goes_on_bit_for_bit(tmp_path, variant, form):
    """Kuhn and Leduc: a native tree and one of OpenSpiel's. The checkpoint is taken after the signal."""
    for game in ("quandary_kuhn", "leduc_poker"):
        tree = extract(game)
        stopped, resumed, whole = (CFRSolver(tree, variant=variant, form=form) for _ in range(3))
        with stopped_after(0.05):
            stopped.run(10**9)
        stopped.save(tmp_path / "checkpoint")
        resumed.load(tmp_path / "checkpoint")
        resumed.run(10)
        whole.run(stopped.iterations + 10)
        assert np.array_equal(resumed.average_policy().probabilities, whole.average_policy().probabilities)
        assert np.array_equal(resumed.current_policy().probabilities, whole.current_policy().probabilities)
        assert np.array_equal(resumed.regrets(), whole.regrets())


def test_a_stage_solved_at_great_length_stops_at_a_signal():
    matching_pennies = OneShot(np.array([[[1.0, -1.0], [-1.0, 1.0]], [[-1.0, 1.0], [1.0, -1.0]]]))
    with stopped_after(0.1):
        matching_pennies.solve(2**62)
