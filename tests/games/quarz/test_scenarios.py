"""The small scenarios: their sizes and exact values, by several roads."""

from __future__ import annotations

import pyspiel
import pytest
from open_spiel.python.algorithms import expected_game_score

import games
from solvers.best_response import expected_values
from solvers.cfr import CFRSolver
from solvers.extraction import extract
from solvers.linear_program import SequenceFormSolver

SCENARIOS = games.scenarios("quarz")


@pytest.mark.parametrize("name", ["favor_duel", "idol_run", "standoff"])
def test_cfr_plus_finds_the_stated_value(name: str) -> None:
    solution = SCENARIOS[name].solution
    tree = extract(games.spec("quarz").make_rules({"scenario": name}))
    assert tree.n_nodes == solution["nodes"]
    solver = CFRSolver(tree, variant="cfr+")
    solver.run(2000 if name == "standoff" else 12000)
    assert solver.exploitability() < 1e-4 * 2  # of the utility range, -1 to 1
    assert expected_values(solver.average_policy())[0] == pytest.approx(solution["value"][0], abs=1e-4)


@pytest.mark.parametrize("name", ["favor_duel", "idol_run"])
def test_the_linear_program_agrees(name: str) -> None:
    solver = SequenceFormSolver(extract(games.spec("quarz").make_rules({"scenario": name})))
    solver.run(1)
    assert solver.value == pytest.approx(SCENARIOS[name].solution["value"][0], abs=1e-7)


def test_openspiel_finds_our_solution_of_the_favor_duel_unexploitable() -> None:
    """CFR+ below 1e-4 of the utility range within 10,000 iterations, and by OpenSpiel's own measure of the
    very policy, over its own game; its expected value is the linear program's."""
    game = pyspiel.load_game("quarz(scenario=favor_duel)")
    tree = extract(games.spec("quarz").make_rules({"scenario": "favor_duel"}))
    solver = CFRSolver(tree, variant="cfr+")
    solver.run(10_000)
    assert solver.exploitability() < 1e-4 * 2
    policy = solver.average_policy().to_openspiel(game)
    assert pyspiel.exploitability(game, policy) == pytest.approx(solver.exploitability(), abs=1e-9)
    value = expected_game_score.policy_value(game.new_initial_state(), [policy, policy])
    program = SequenceFormSolver(tree)
    program.run(1)
    assert value[0] == pytest.approx(program.value, abs=2e-4)


def test_openspiels_own_solver_agrees_on_the_favor_duel() -> None:
    """OpenSpiel's CFR+ over the same rules, without a line of our solvers: between the values that its average
    policies guarantee to either player lies 1/2."""
    game = pyspiel.load_game("cached_tree(game=quarz(scenario=favor_duel))")
    solver = pyspiel.CFRPlusSolver(game)
    for _ in range(200):
        solver.evaluate_and_update_policy()
    policy = solver.average_policy()
    gap = pyspiel.nash_conv(game, policy)
    assert gap < 0.02
    value = expected_game_score.policy_value(game.new_initial_state(), [policy, policy])
    assert value[0] == pytest.approx(SCENARIOS["favor_duel"].solution["value"][0], abs=gap)


def test_the_standoff_by_hand() -> None:
    """The Fly has two cards and draws two of four: with both Holey Bodies it stops both shots of 2 (each time one
    card blocks 1, its limit, and one instant takes 1); with fewer, one shot does damage. One pair of six."""
    assert SCENARIOS["standoff"].solution["value"][0] == pytest.approx(5 / 6 - 1 / 6)
