"""Stages of simultaneous choices: one-shot games against linear programming, and `ismcts(favor=cfr+)`."""

from __future__ import annotations

import math

import numpy as np
import pyspiel
import pytest
from scipy.optimize import linprog

import games
from engine_ext.errors import ParameterError, SpecError, UnsuitableGameError
from solvers import specs
from solvers.contract import Limit
from solvers.extraction import as_game
from solvers.induced import Curve, measure
from solvers.ismcts import IsmctsSearcher
from solvers.linear_program import SequenceFormSolver
from solvers.specs import make_searcher
from solvers.stages import OneShot, Stage

OSHI_ZUMO = "oshi_zumo(coins=4,size=1,horizon=4)"


def maximin(table):
    """(value, policy) of the row player of a zero-sum table, by linear programming."""
    rows, columns = table.shape
    found = linprog(
        np.r_[np.zeros(rows), -1.0],
        A_ub=np.c_[-table.T, np.ones(columns)],
        b_ub=np.zeros(columns),
        A_eq=[np.r_[np.ones(rows), 0.0]],
        b_eq=[1.0],
        bounds=[(0, None)] * rows + [(None, None)],
    )
    return found.x[rows], found.x[:rows]


def zero_sum(table):
    table = np.asarray(table, dtype=float)
    return OneShot(np.stack([table, -table]))


@pytest.fixture(scope="module")
def favor_duel():
    return games.spec("quarz").make_rules({"scenario": "favor_duel"})


# ---- one-shot games ----------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (2, 2), (5, 4), (13, 13)])
def test_policies_are_within_a_hair_of_the_linear_program(shape):
    rng = np.random.default_rng(shape[0] * 100 + shape[1])
    for _ in range(5):
        table = rng.uniform(-1.0, 1.0, shape)
        row, column = zero_sum(table).solve(10_000)
        value = maximin(table)[0]
        assert sum(row) == pytest.approx(1.0)
        assert sum(column) == pytest.approx(1.0)
        assert min(row @ table) == pytest.approx(value, abs=1e-3)
        assert max(table @ column) == pytest.approx(value, abs=1e-3)


def test_alike_actions_are_played_alike():
    """Rock, paper, scissors: rounding does not decide."""
    row, column = zero_sum([[0, -1, 1], [1, 0, -1], [-1, 1, 0]]).solve(777)
    assert row == pytest.approx([1 / 3] * 3, abs=1e-12)
    assert column == pytest.approx([1 / 3] * 3, abs=1e-12)


def test_dominated_actions_vanish_with_any_number_of_seats():
    """Each of three seats may give up 1 that the others share: nobody does."""
    payoffs = np.zeros((3, 2, 2, 2))
    for cell in np.ndindex(2, 2, 2):
        for seat in range(3):
            payoffs[(seat, *cell)] = 0.5 * (sum(cell) - cell[seat]) - cell[seat]
    for policy in OneShot(payoffs).solve(1000):
        assert policy[0] > 0.999


def test_nobody_regrets_a_three_player_average_much():
    """Three who all gain by the same choice find it, though nothing is promised beyond two seats."""
    payoffs = np.zeros((3, 3, 3, 3))
    payoffs[:, 2, 2, 2] = 1.0
    payoffs[:, 0, 0, 0] = 0.1
    game = OneShot(payoffs)
    policies = game.solve(2000)
    values = game.action_values(policies)
    for policy, utilities in zip(policies, values, strict=True):
        assert max(utilities) - np.dot(policy, utilities) < 0.01


def test_action_values_by_hand():
    """Against 1/4 and 3/4: 4/4 + 0 = 1 and 2/4 + 6/4 = 2; the columns' own are minus those of 1/2 and 1/2."""
    values = zero_sum([[4, 0], [2, 2]]).action_values([[0.5, 0.5], [0.25, 0.75]])
    assert values == [[1.0, 2.0], [-3.0, -1.0]]


@pytest.mark.parametrize(
    "payoffs", [[1.0, 2.0], np.zeros((2, 3)), np.zeros((3, 2, 2)), np.zeros((2, 0, 2)), np.full((2, 1, 1), np.nan)]
)
def test_payoffs_of_another_shape_are_refused(payoffs):
    with pytest.raises(ParameterError, match="payoffs"):
        OneShot(payoffs)


def test_bad_policies_and_iterations_are_refused():
    game = zero_sum([[1, 2], [3, 4]])
    with pytest.raises(ParameterError, match="one probability"):
        game.action_values([[1.0], [0.5, 0.5]])
    with pytest.raises(ParameterError, match="iterations is 0"):
        game.solve(0)


# ---- the searcher ------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [[[3, -1], [-2, 2]], [[2, -1, -2], [-3, 1, 2], [1, -2, 4]]])
def test_a_matrix_game_is_solved_from_both_seats(table):
    """An OpenSpiel game in normal form, its second seat asked after the first has chosen in secret."""
    table = np.array(table, dtype=float)
    game = pyspiel.convert_to_turn_based(pyspiel.create_matrix_game(table.tolist(), (-table).tolist()))
    rules = as_game(game)
    value = maximin(table)[0]
    searcher = IsmctsSearcher(simulations=300, favor="cfr+(iterations=20000)")
    first = rules.initial_position()
    result = searcher.search(first, seed=1)
    row = [each.probability for each in result.actions]
    assert min(row @ table) == pytest.approx(value, abs=2e-3)
    assert result.values == pytest.approx((value, -value), abs=2e-3)
    assert sum(each.visits for each in result.actions) == result.simulations == 300
    answers = [searcher.search(first.child(action), seed=1) for action in first.legal_actions()]
    column = [each.probability for each in answers[0].actions]
    assert max(table @ column) == pytest.approx(value, abs=2e-3)
    assert all(answer.actions == answers[0].actions for answer in answers)
    # what an action is worth against the solution's row, by hand
    assert [each.value for each in answers[0].actions] == pytest.approx(list(-(row @ table)), abs=2e-3)


def test_the_favor_duel_becomes_its_exact_table(favor_duel):
    """The round's cards decide: who carries the idol must play the 4 in the same round as the other, else
    it is lost. [[0, 1], [1, 0]] for the one who shoots, half and half, worth 1/2: as the linear program has it."""
    tree_value = games.scenarios("quarz")["favor_duel"].solution["value"]
    lp = SequenceFormSolver(as_game(favor_duel).tree)
    lp.run(1)
    assert lp.value == pytest.approx(tree_value[0], abs=1e-9)
    position = favor_duel.initial_position()
    exact = lp.average_policy().action_probabilities(position)
    result = IsmctsSearcher(simulations=60_000, favor="cfr+").search(position, seed=2)
    assert {each.action: each.probability for each in result.actions} == pytest.approx(exact, abs=0.02)
    assert result.values == pytest.approx(tree_value, abs=0.02)
    stage = IsmctsSearcher(favor="cfr+").grow(position, seed=2, limit=Limit(simulations=60_000)).stage(position, 2)
    assert stage.turns == [1, 0]
    names = [[favor_duel.action_name(action) for action in ids] for ids in stage.choices]
    assert names == [["favor 3", "favor 4"], ["favor 1", "favor 4"]]
    assert stage.payoffs[0] == pytest.approx(np.array([[0, 1], [1, 0]]), abs=0.04)


@pytest.mark.parametrize("ground", ["favor_duel", OSHI_ZUMO])
def test_it_is_far_less_exploitable_than_the_plain_search(ground, favor_duel):
    """One search in every information set: the plain search answers each stage with one action, so a rival
    who knows it wins every auction; what solves the stage is hard to foresee."""
    rules = as_game(favor_duel if ground == "favor_duel" else ground)
    plain, solving = (
        measure(rules, Curve(spec, spec, "search"), 1000, 1).exploitability for spec in ("ismcts", "ismcts(favor=cfr+)")
    )
    assert plain >= 0.45
    assert solving < 0.5 * plain


def test_decisions_outside_a_stage_are_searched_as_ever(favor_duel):
    position = favor_duel.initial_position()
    while position.rewind() is not None:
        position.apply_action(position.legal_actions()[-1])
    assert position.is_player_node()
    plain = IsmctsSearcher(simulations=500).search(position, seed=3)
    solving = IsmctsSearcher(simulations=500, favor="cfr+").search(position, seed=3)
    assert (plain.action, plain.actions, plain.values) == (solving.action, solving.actions, solving.values)


@pytest.mark.parametrize("parameters", [{}, {"observer": "single"}, {"threads": 3}, {"playout": "greedy"}])
def test_the_same_seed_gives_the_same_result(parameters):
    position = games.spec("quarz").make_rules().from_dict({"moment": "favor"})
    searcher = IsmctsSearcher(simulations=400, playout_depth=2, favor="cfr+", **parameters)
    first, second, other = (searcher.search(position, seed=seed) for seed in (5, 5, 6))
    assert (first.action, first.actions, first.values) == (second.action, second.actions, second.values)
    assert first.actions != other.actions
    assert first.simulations == sum(each.visits for each in first.actions) == 400
    assert sum(each.probability for each in first.actions) == pytest.approx(1.0)


@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("simulations", [1, 7, 40])
def test_fewer_simulations_than_joint_choices_are_no_trouble(players, simulations):
    position = games.spec("quarz").make_rules({"players": players}).from_dict({"moment": "favor"})
    position.apply_action(position.legal_actions()[2])
    result = IsmctsSearcher(simulations=simulations, playout_depth=0, favor="cfr+").search(position, seed=1)
    assert result.action in position.legal_actions()
    assert len(result.actions) == 5
    assert sum(each.probability for each in result.actions) == pytest.approx(1.0)
    assert all(math.isfinite(each.value) for each in result.actions)
    assert all(-1.0 <= value <= 1.0 for value in result.values)
    assert sum(result.values) == pytest.approx(0.0, abs=1e-9)


def test_choices_are_drawn_by_their_probabilities():
    """Matching pennies: over many seeds both sides come up."""
    game = pyspiel.convert_to_turn_based(pyspiel.load_game("matrix_mp"))
    position = as_game(game).initial_position()
    searcher = IsmctsSearcher(simulations=20, favor="cfr+")
    heads = sum(searcher.search(position, seed=seed).action == 0 for seed in range(400))
    assert abs(heads - 200) < 5 * 10


def test_simulations_favour_what_matters():
    """A dominated action is tried less than the others, and not given up."""
    table = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [-5.0, -5.0, -5.0]])
    game = pyspiel.convert_to_turn_based(pyspiel.create_matrix_game(table.tolist(), (-table).tolist()))
    position = as_game(game).initial_position()
    grown = IsmctsSearcher(favor="cfr+").grow(position, seed=1, limit=Limit(simulations=900))
    visits = grown.stage(position, 1).cell_visits
    assert visits.sum() == 900
    assert 50 < visits[2].sum() < 250
    assert visits.min() >= 1


# ---- refusals ----------------------------------------------------------------------------------


def test_a_game_without_such_a_stage_is_refused_by_name():
    for name in ("kuhn", "pig"):
        position = games.spec(name).make_rules().initial_position()
        while position.is_chance_node():
            position.apply_action(position.legal_actions()[0])
        with pytest.raises(UnsuitableGameError, match=rf"favor=cfr\+ .* quandary_{name} has none"):
            IsmctsSearcher(favor="cfr+").search(position, seed=1)
    with pytest.raises(UnsuitableGameError, match="simultaneous"):
        make_searcher("ismcts(favor=cfr+)").search(as_game("kuhn_poker").initial_position(), seed=1)


def test_choices_that_depend_on_what_is_hidden_are_refused():
    """Goofspiel without shown bids: what a rival still holds, and so may bid, is not known."""
    rules = as_game("goofspiel(imp_info=True,num_cards=3,points_order=descending)")
    position = rules.initial_position()
    searcher = IsmctsSearcher(simulations=200, favor="cfr+")
    assert searcher.search(position, seed=1).action is not None  # all hold all cards
    for choice in (0, -1):  # 1 against 3: the loser cannot know whether it was 2 or 3
        position.apply_action(position.legal_actions()[choice])
    with pytest.raises(UnsuitableGameError, match="no single table"):
        searcher.search(position, seed=1)


def test_a_stage_is_refused_where_there_is_none(favor_duel):
    position = favor_duel.initial_position()
    while position.rewind() is not None:
        position.apply_action(position.legal_actions()[0])
    with pytest.raises(UnsuitableGameError, match="no stage"):
        Stage(position, seed=1, thread=0)


def test_specs_say_what_is_allowed():
    assert str(specs.parse_spec("ismcts( favor = cfr+ )")) == "ismcts(favor=cfr+)"
    text = "ismcts(simulations=50,favor=cfr+(iterations=50))"
    assert str(specs.parse_spec(text)) == text
    assert make_searcher(text).stage_iterations == 50
    assert make_searcher("ismcts(favor=cfr+)").stage_iterations == 1000
    for wrong in ("cfr", "yes", "mcts", "pcfr+(iterations=3)"):
        with pytest.raises(SpecError, match=r"none \| cfr\+"):
            specs.parse_spec(f"ismcts(favor={wrong})")
    with pytest.raises(SpecError, match="iterations"):
        specs.parse_spec("ismcts(favor=cfr+(iterations=few))")
    for wrong in ("cfr+(iterations=0)", "cfr+(seconds=1)", "cfr"):
        with pytest.raises(SpecError, match="favor is"):
            IsmctsSearcher(favor=wrong)
    with pytest.raises(SpecError, match="root=game"):
        IsmctsSearcher(favor="cfr+", root="game")
    with pytest.raises(SpecError, match="no parameter 'favor'"):
        specs.parse_spec("smooth_uct(favor=cfr+)")
