"""Advice in a refusal can be followed: a solver or parameter that it names is taken by that very game."""

from __future__ import annotations

import re

import pyspiel
import pytest

from engine_ext.errors import TooLargeError, UnsuitableGameError
from experiments import solve
from solvers import specs

PIG = "pig(goal=3)"
# A small budget for whatever a message may name.
BUDGETS = {"mcts": "simulations=5", "ismcts": "simulations=5", "mccfr_os": "iterations=2", "cfr+": "iterations=2"}


def named_in(text: str) -> list[str]:
    return [word for word in re.findall(r"[a-z_]+\+?", text) if word in specs.solver_specs()]


@pytest.mark.parametrize("solver", ["cfr", "cfr+", "dcfr", "sequence_form", "mccfr_es", "oos", "expectimax"])
def test_what_a_refusal_of_a_game_with_cycles_names_takes_it(solver):
    """Positions of Pig come again, so that its tree has no end; nothing in it is hidden."""
    with pytest.raises(UnsuitableGameError) as refused:
        solve.solve(PIG, solver)
    advice = str(refused.value).rpartition("no end;" if "no end;" in str(refused.value) else ";")[2]
    named = named_in(advice)
    assert named
    for name in named:
        assert solve.solve(PIG, f"{name}({BUDGETS[name]})" if name in BUDGETS else name).solver.startswith(name)
    assert ("give a depth" in advice) == ("depth" in specs.solver_specs()[solver].parameters)
    if "give a depth" in advice:
        assert solve.solve(PIG, f"{solver}(depth=2)").depth == 2


@pytest.mark.parametrize("solver", ["mcts", "ismcts", "smooth_uct", "value_iteration", "mccfr_os", "random", "greedy"])
def test_others_take_a_game_with_cycles(solver):
    assert solve.solve(PIG, solver).solver.startswith(solver)


@pytest.mark.parametrize(
    ("game", "solver", "says"),
    [
        ("chess", "mcts(simulations=10)", r"own searchers \(pyspiel\.MCTSBot\) work without a tree"),
        ("hearts", "ismcts(simulations=10)", r"own searchers \(pyspiel\.ISMCTSBot, where .*\) work without a tree"),
        ("2048", "mcts(simulations=10)", "gives rewards before the end"),
        ("morpion_solitaire", "mcts(simulations=10)", "gives rewards before the end"),
    ],
)
def test_too_large_a_game_of_openspiels_names_who_takes_it_and_who_does_not(game, solver, says):
    """`pyspiel.MCTSBot` itself is asked where nothing is hidden."""
    with pytest.raises(TooLargeError, match=says):
        solve.solve(game, solver)
    loaded = pyspiel.load_game(game)
    if solver.startswith("mcts"):
        evaluator = pyspiel.RandomRolloutEvaluator(1, 1)
        try:
            pyspiel.MCTSBot(loaded, evaluator, 2.0, 1, 10, False, 1, False)
            takes = True
        except pyspiel.SpielError:
            takes = False
        assert takes == ("work without" in says)
