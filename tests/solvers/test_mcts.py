"""Monte Carlo tree search against exact values, OpenSpiel, and its own promises."""

import time

import pyspiel
import pytest

import games
from engine_ext.errors import LimitError, SpecError, UnsuitableGameError
from engine_ext.rng import Stream
from solvers.contract import Limit
from solvers.mcts import MctsSearcher
from solvers.specs import make_searcher
from tests.reference import exact


def pig(goal=100, **position):
    return games.spec("pig").make_rules({"goal": goal}).from_dict(position)


@pytest.fixture(scope="module")
def pig_values():
    """Exact values of every position of pig to 12."""
    return exact.value_iteration(pig(12))


@pytest.mark.parametrize("transpositions", [True, False])
def test_finds_the_best_move_and_value_of_small_pig(pig_values, transpositions):
    for scores, seat, total in [([0, 0], 0, 0), ([6, 4], 1, 3), ([10, 3], 0, 2), ([2, 9], 1, 2), ([8, 11], 0, 3)]:
        position = pig(12, scores=scores, seat=seat, total=total)
        sign = 1 if seat == 0 else -1
        options = {action: sign * pig_values[exact.step(position, action)] for action in position.legal_actions()}
        searcher = MctsSearcher(simulations=30_000, transpositions=transpositions)
        result = searcher.search(position, seed=1)
        best = max(options.values())
        assert options[result.action] > best - 1e-9
        assert result.values[seat] == pytest.approx(best, abs=0.04)
        assert result.values[0] == -result.values[1]


def test_bounds_hold_and_prove(pig_values):
    """One roll from the end everything can be proven: rolling wins unless the die shows 1."""
    position = pig(12, scores=[10, 11], seat=0, total=0)
    result = MctsSearcher(simulations=20_000).search(position, seed=3)
    for stats in result.actions:
        value = pig_values[exact.step(position, stats.action)]
        low, high = stats.bounds
        assert low - 1e-12 <= value <= high + 1e-12
        assert low > -1.0 or high < 1.0


def test_proven_root_ends_the_search():
    won = pig(100, scores=[90, 0], seat=0, total=10)
    result = MctsSearcher(simulations=100_000).search(won, seed=0)
    assert result.exact
    assert result.action == 1
    assert result.values == (1.0, -1.0)
    assert result.simulations < 100


def test_agrees_with_openspiel_on_its_own_pig():
    """The same search on the same game: root values agree within sampling error, and the move."""
    theirs = pyspiel.load_game("pig")
    state = theirs.new_initial_state()
    bot = pyspiel.MCTSBot(theirs, pyspiel.RandomRolloutEvaluator(1, 7), 2.0, 20_000, 1000, False, 7, False)
    root = bot.mcts_search(state)
    ours = MctsSearcher(simulations=20_000, c=1.0, transpositions=False, solve=False).search(pig(), seed=7)
    best = root.best_child()
    assert ours.action == best.action
    assert ours.values[0] == pytest.approx(best.total_reward / best.explore_count, abs=0.05)


@pytest.mark.parametrize("parameters", [{}, {"transpositions": False}, {"solve": False}, {"threads": 3}])
def test_same_seed_same_result(parameters):
    searcher = MctsSearcher(simulations=3000, **parameters)
    first, second, other = (searcher.search(pig(), seed=seed) for seed in (5, 5, 6))
    assert first.actions == second.actions
    assert first.values == second.values
    assert first.actions != other.actions
    assert first.simulations == 3000
    assert first.reproducible


def test_position_is_left_alone():
    position = pig(scores=[3, 4], seat=1, total=5)
    before = position.to_bytes()
    MctsSearcher(simulations=100).search(position, seed=1)
    assert position.to_bytes() == before


def test_node_budget_is_never_exceeded():
    for budget in (16, 100, 5000):
        result = MctsSearcher(simulations=20_000, max_nodes=budget).search(pig(), seed=2)
        assert result.simulations == 20_000
        assert budget // 2 < result.nodes <= budget
        assert result.action == 0


def test_node_limit():
    result = MctsSearcher(nodes=500, transpositions=False).search(pig(), seed=2)
    assert result.nodes == 500


def test_time_limit():
    start_s = time.perf_counter()
    result = MctsSearcher().search(pig(), seed=1, limit=Limit(seconds=0.2))
    assert not result.reproducible
    assert result.seconds >= 0.2
    # The search itself keeps to 5 %; the clock around it may be disturbed by other processes.
    assert time.perf_counter() - start_s >= result.seconds


def test_depth_limit_ends_descents():
    shallow = MctsSearcher(simulations=2000, depth=1, transpositions=False).search(pig(), seed=1)
    assert shallow.nodes == 3  # the root and its two children


def test_root_may_be_chance_or_terminal():
    rolling = pig(12, scores=[5, 5], seat=0, total=2, rolling=True)
    result = MctsSearcher(simulations=20_000).search(rolling, seed=1)
    assert result.action is None
    assert result.actions == ()
    assert result.values[0] == pytest.approx(exact.value_iteration(rolling)[rolling], abs=0.04)
    over = pig(12, scores=[12, 5])
    result = MctsSearcher(simulations=10).search(over, seed=1)
    assert (result.action, result.values, result.exact, result.simulations) == (None, (1.0, -1.0), True, 0)


def test_playouts_of_other_kinds():
    for parameters in (
        {"playout": "greedy"},
        {"playout": "greedy", "epsilon": 0.0},
        {"playout_depth": 0},
        {"playout_depth": 5, "playout": "greedy"},
        {"rollouts": 4},
        {"widening": 1.0},
    ):
        result = MctsSearcher(simulations=2000, **parameters).search(pig(), seed=1)
        assert result.action == 0, parameters
        assert abs(result.values[0]) < 0.5


def test_root_statistics_are_complete():
    result = MctsSearcher(simulations=1000).search(pig(), seed=1)
    assert [stats.action for stats in result.actions] == [0, 1]
    assert sum(stats.visits for stats in result.actions) == 1000
    assert sum(stats.probability for stats in result.actions) == 1.0
    assert result.values[0] == result.actions[result.action].value
    line = pig()
    for action in result.principal_variation:
        line.apply_action(action)
    assert result.principal_variation[0] == result.action


def test_hidden_information_is_refused():
    rules = games.spec("kuhn").make_rules()
    with pytest.raises(UnsuitableGameError, match=r"quandary_kuhn hides information.*ismcts"):
        make_searcher("mcts", rules)
    position = rules.initial_position()
    position.run_chance(Stream(1))
    with pytest.raises(UnsuitableGameError, match="ismcts"):
        MctsSearcher(simulations=10).search(position, seed=1)


def test_wrong_parameters():
    with pytest.raises(SpecError, match="no parameter 'budget'"):
        MctsSearcher(budget=3)
    with pytest.raises(LimitError, match="seconds"):
        MctsSearcher(seconds=-1.0)
