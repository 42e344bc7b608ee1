"""A sweep over all solvers and small, middle and big games: time limits are kept, signals are heard.

The bounds are generous: they tell a solver that looks up from one that does not, on a busy machine too.
"""

from __future__ import annotations

import time

import pytest

import games
from engine_ext.errors import TooLargeError, UnsuitableGameError
from engine_ext.rng import Stream
from solvers.extraction import extract
from solvers.mccfr import WITHOUT_TREE
from solvers.specs import make_searcher, solver_specs
from tests.signals import stopped_after

pytestmark = pytest.mark.soak

LIMIT_S, SLACK_S = 0.5, 2.5
GROUNDS = [
    ("pig", {}),
    ("kuhn", {}),
    ("pentaquest", {"scenario": "duel"}),
    ("pentaquest", {}),
    ("pentaquest", {"players": 4}),
    ("quarriors", {"scenario": "race"}),
    ("quarriors", {}),
    ("quarriors", {"players": 4}),
    ("quarz", {"scenario": "idol_run"}),
    ("quarz", {}),
    ("quarz", {"players": 4}),
]
SEARCHES = [
    "mcts",
    "mcts(threads=2)",
    "mcts(playout=random,rollouts=20)",
    "mcts(chance=open)",
    "mcts(grave_ref=0)",
    "mcts(prior=0.5,playout=greedy)",
    "mcts(reuse=true)",
    "ismcts",
    "ismcts(threads=2)",
    "ismcts(observer=single)",
    "ismcts(favor=cfr+)",
    "smooth_uct",
    "smooth_uct(root=game)",
    "expectimax",
    "expectimax(pruning=none,table=0)",
    "expectimax(pruning=star1)",
    "expectimax(table=0)",
    "oos",
]
POLICIES = [name for name, spec in solver_specs().items() if "iterations" in spec.parameters]


def with_parameter(text: str, parameter: str) -> str:
    """A spec with one parameter more."""
    return f"{text[:-1]},{parameter})" if text.endswith(")") else f"{text}({parameter})"


def decision(rules):
    """The third decision of a game."""
    position, stream = rules.initial_position(), Stream(3)
    for _ in range(2):
        position.run_chance(stream)
        if position.is_player_node():
            position.apply_action(position.random_action(stream))
    position.run_chance(stream)
    return position


@pytest.mark.parametrize("text", SEARCHES)
@pytest.mark.parametrize(("game", "parameters"), GROUNDS)
def test_searchers(game, parameters, text):
    rules = games.spec(game).make_rules(parameters)
    position = decision(rules)
    timed = with_parameter(text, f"seconds={LIMIT_S}")
    try:
        searcher = make_searcher(timed, rules)
        if text == "oos":
            searcher.search(position, seed=1)  # extracts the tree, before its time begins
        began = time.perf_counter()
        result = searcher.search(position, seed=1)
    except (UnsuitableGameError, TooLargeError) as refused:
        pytest.skip(str(refused))
    assert time.perf_counter() - began < LIMIT_S + SLACK_S
    if position.is_terminal() or result.exact:
        return
    assert not result.reproducible
    endless = "depth=512" if text.startswith("expectimax") else "simulations=1000000000000"
    searcher = make_searcher(with_parameter(text, endless), rules)
    if text == "oos":
        searcher._tree = extract(rules)
    began = time.perf_counter()
    with stopped_after(LIMIT_S):
        searcher.search(position, seed=1)
        if text.startswith("expectimax"):  # it came to the end of all it may look at
            time.sleep(LIMIT_S + SLACK_S)
    assert time.perf_counter() - began < LIMIT_S + SLACK_S


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(
    "game",
    [("kuhn", {}), ("quarz", {"scenario": "favor_duel"}), ("quarriors", {"scenario": "endgame"}), ("quarriors", {})],
    ids=str,
)
def test_solvers_of_policies(tmp_path, game, name):
    rules = games.spec(game[0]).make_rules(game[1])
    spec = solver_specs()[name]
    parameters = {key: parameter.default for key, parameter in spec.parameters.items()}
    if game == ("quarriors", {}):
        if name not in WITHOUT_TREE:
            pytest.skip("its tree does not fit")
        source = rules
    else:
        source = extract(rules)
    stopped, resumed, whole = (spec.make(source, parameters) for _ in range(3))
    began = time.perf_counter()
    if name == "mccfr_es" and source is rules:  # of a whole game not even one walk comes to its end
        with pytest.raises(TooLargeError, match="first iteration"):
            stopped.run_for(LIMIT_S)
    else:
        stopped.run_for(LIMIT_S)
    assert time.perf_counter() - began < LIMIT_S + SLACK_S
    began = time.perf_counter()
    with stopped_after(LIMIT_S):
        stopped.run(10**15)
    assert time.perf_counter() - began < LIMIT_S + SLACK_S
    stopped.save(tmp_path / "kept")
    resumed.load(tmp_path / "kept")
    if not stopped.iterations:
        return
    resumed.run(3)
    whole.run(stopped.iterations + 3)
    mine, other = (solver.average_policy() for solver in (resumed, whole))
    key = "probabilities" if hasattr(mine, "probabilities") else "_probabilities"
    assert getattr(mine, key).tolist() == getattr(other, key).tolist()
