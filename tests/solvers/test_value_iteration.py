"""Value iteration against known values, a plain reference and the other exact solver."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import games
from engine_ext.errors import TooLargeError, UnsuitableGameError
from solvers import state_table
from solvers.expectimax import ExpectimaxSearcher
from solvers.specs import make_searcher
from solvers.state_table import require_room
from solvers.value_iteration import ValueIterationSearcher
from tests.reference import exact
from tests.solvers.random_trees import random_tree


@pytest.mark.soak
def test_pig_to_100():
    """Neller and Presser (2004): the first player wins with probability 0.5306 under optimal play."""
    start = games.spec("pig").make_rules().initial_position()
    result = ValueIterationSearcher().search(start)
    assert (1 + result.values[0]) / 2 == pytest.approx(0.530593, abs=1e-6)
    assert result.exact
    assert result.action == 0


@pytest.mark.parametrize("goal", [2, 7, 12])
def test_small_pig_against_the_reference(goal):
    rules = games.spec("pig").make_rules({"goal": goal})
    values = exact.value_iteration(rules.initial_position())
    searcher = ValueIterationSearcher(tolerance=1e-12)
    searcher.search(rules.initial_position())
    assert searcher.graph.n_states == len(values)
    for position, value in values.items():
        result = searcher.search(position)
        assert result.values == pytest.approx((value, -value), abs=1e-9)
        if result.action is not None:
            assert values[exact.step(position, result.action)] == pytest.approx(value, abs=1e-9)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.text("012c?", min_size=1, max_size=4), st.integers(2, 4))
def test_trees_are_solved_in_one_sweep(seed, levels, n_players):
    if n_players == 2:
        levels = levels.replace("2", "1")
    start = random_tree(seed, levels=levels, branching=(2, 3), n_players=n_players, cut=0.1).initial_position()
    searcher = ValueIterationSearcher()
    assert searcher.search(start).values == pytest.approx(exact.expectimax(start), abs=1e-12)
    assert searcher.graph.sweeps == 1


def test_agrees_with_expectimax():
    start = games.spec("pentaquest").make_rules({"scenario": "one_card"}).initial_position()
    assert ValueIterationSearcher().search(start).values == pytest.approx(
        ExpectimaxSearcher().search(start).values, abs=1e-12
    )


def test_what_is_refused():
    with pytest.raises(UnsuitableGameError, match=r"hides information.*cfr\+"):
        make_searcher("value_iteration", games.spec("kuhn").make_rules())
    start = games.spec("pig").make_rules().initial_position()
    with pytest.raises(TooLargeError, match="max_mb"):
        ValueIterationSearcher(max_mb=2).search(start)


def test_a_new_start_is_solved_anew():
    rules = games.spec("pig").make_rules({"goal": 10})
    searcher = ValueIterationSearcher()
    late = searcher.search(rules.from_dict({"scores": [5, 5]}))
    early = searcher.search(rules.initial_position())
    assert early.nodes > late.nodes > 0
    assert searcher.search(rules.from_dict({"scores": [5, 5]})).nodes == 0


@pytest.mark.parametrize("solver", ["value_iteration", "expectimax"])
@pytest.mark.parametrize("game", ["pentaquest", "quarriors"])
def test_games_of_far_too_many_states_are_refused_at_once(solver, game, monkeypatch):
    """From some thousand random games, of which next to none agree (the birthday problem)."""
    monkeypatch.setattr(state_table, "_SECONDS", 100.0)  # on a busy machine the games take their time
    rules = games.spec(game).make_rules()
    with pytest.raises(TooLargeError, match=rf"{game}: it has more than .* states: of \d+ random games"):
        make_searcher(solver, rules).search(rules.initial_position(), seed=0)


def test_the_bound_on_states_is_below_their_number():
    """Pig to 20 has few states, and Pentaquest's tiny scenario a known number: a table that holds as many is never
    refused, one that holds a thousandth of them is."""
    pig = games.spec("pig").make_rules({"goal": 20})
    require_room(pig.initial_position(), 2 * 20**3, "for the test")
    tiny = games.spec("pentaquest").make_rules({"scenario": "tiny"})
    states = games.spec("pentaquest").scenarios["tiny"].solution["states"]
    require_room(tiny.initial_position(), states, "for the test")
    with pytest.raises(TooLargeError, match="for the test"):
        require_room(tiny.initial_position(), states / 1000, "for the test")
