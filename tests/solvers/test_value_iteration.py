"""Value iteration against known values, a plain reference and the other exact solver."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import games
from engine_ext.errors import TooLargeError, UnsuitableGameError
from solvers import pace, state_table, value_iteration
from solvers.contract import Limit
from solvers.expectimax import ExpectimaxSearcher
from solvers.specs import make_searcher
from solvers.state_table import require_room
from solvers.stopping import stoppable
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
    assert searcher.solution.n_states == len(values)
    for position, value in values.items():
        result = searcher.search(position)
        assert result.values == pytest.approx((value, -value), abs=1e-9)
        if result.action is not None:
            assert values[exact.step(position, result.action)] == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("tolerance", [0.1, 1e-3])
def test_the_tolerance_is_kept_at_every_state(tolerance):
    """It is proven by bounds, not extrapolated: errors of components do not add up beyond it."""
    start = games.spec("pig").make_rules({"goal": 25}).initial_position()
    exactly = exact.value_iteration(start)
    searcher = ValueIterationSearcher(tolerance=tolerance)
    assert searcher.search(start).exact
    for position, value in exactly.items():
        assert searcher.search(position).values[0] == pytest.approx(value, abs=tolerance)
    assert searcher.solution.updates < ValueIterationSearcher().search(start).nodes


@pytest.mark.parametrize("n_players", [3, 4])
def test_of_alike_actions_the_lowest_is_played(n_players):
    """Where a seat does not care, others may: bounds of theirs do not meet then, and values are swept as such."""
    for seed in range(10):
        levels = "".join(map(str, range(n_players))) + "c0"
        start = random_tree(seed, levels=levels, branching=(2, 3), n_players=n_players, grades=1).initial_position()
        result = ValueIterationSearcher().search(start)
        assert result.exact
        assert result.values == pytest.approx(exact.expectimax(start), abs=1e-12)
        assert result.action == ExpectimaxSearcher().search(start).action


def test_a_sweep_goes_once_round_every_cycle():
    """In pig a cycle leads through the starts of both seats' turns, or it is a roll at a total that is enough to win,
    which stays as it is. So these steps alone may lead to a state that is not swept before: for all scores of both
    seats, 0 or 2 to 11 points, that to one of the two starts, and for each seat the other."""
    start = games.spec("pig").make_rules({"goal": 12}).initial_position()
    searcher = ValueIterationSearcher()
    searcher.search(start)
    place = {searcher.solution.number_of(position): position for position in exact.value_iteration(start)}
    closing = {to for number in place for _, _, to in searcher.solution.steps_of(number) if to >= number}
    found = [place[number].to_dict() for number in closing]
    assert sum(each["total"] == 0 for each in found) == 11 * 11
    assert sum(each["total"] + each["scores"][each["seat"]] == 12 for each in found) == 2 * 11 * 11
    assert len(found) == 3 * 11 * 11


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.text("012c?", min_size=1, max_size=4), st.integers(2, 4))
def test_trees_are_solved_in_one_sweep(seed, levels, n_players):
    if n_players == 2:
        levels = levels.replace("2", "1")
    start = random_tree(seed, levels=levels, branching=(2, 3), n_players=n_players, cut=0.1).initial_position()
    searcher = ValueIterationSearcher()
    assert searcher.search(start).values == pytest.approx(exact.expectimax(start), abs=1e-12)
    assert searcher.solution.sweeps == 1


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


PEAK = """
from pathlib import Path
import games
from solvers.value_solution import Solution

def peak():
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) << 10

start = games.spec("pig").make_rules({"goal": 50}).initial_position()
solution = Solution(start, 1 << 30)
before = peak()
solution.run(start, 1e-10)
print(solution.bytes_used, peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak is read from /proc")
def test_the_memory_that_max_mb_bounds_is_all_there_is():
    """At its peak, as the system sees it, a run takes what it counts, beside a few MB of arrays that grow."""
    told = subprocess.run(
        [sys.executable, "-c", PEAK], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    ).stdout
    counted, peak = map(int, told.split())
    assert counted / 2 < peak < counted + (4 << 20)


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


# ---- cut short -----------------------------------------------------------------------------------


class SlowClock:
    """Goes on by a step whenever somebody looks."""

    def __init__(self, step_s):
        self.now_s, self.step_s = 1000.0, step_s

    def perf_counter(self):
        self.now_s += self.step_s
        return self.now_s


def holds(result, values):
    """Whether the true values lie within what a result is sure of."""
    return all(
        abs(value - true) <= (result.error_bound or 0.0) + 1e-9
        for value, true in zip(result.values, values, strict=True)
    )


PIG = games.spec("pig").make_rules({"goal": 12})
TRUE = exact.value_iteration(PIG.initial_position())


def test_after_some_sweeps_there_are_bounds_that_hold():
    """Of the value and of every action's; they narrow, and enough sweeps are all sweeps."""
    start = PIG.initial_position()
    errors = []
    for sweeps in (1, 3, 6, 10):
        searcher = ValueIterationSearcher(sweeps=sweeps)
        for position in (start, PIG.from_dict({"scores": [9, 10], "seat": 1, "total": 2})):
            result = searcher.search(position)
            true = TRUE[position]
            assert holds(result, (true, -true))
            for stats in result.actions:
                value = TRUE[exact.step(position, stats.action)] * (1 if position.current_player() == 0 else -1)
                assert stats.bounds[0] - 1e-9 <= value <= stats.bounds[1] + 1e-9
                assert stats.bounds[0] <= stats.value <= stats.bounds[1]
            assert result.exact == (result.error_bound is None) == (result.note == "")
            assert result.reproducible
        errors.append(searcher.search(start).error_bound)
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > errors[-1] > 0
    assert "components" in searcher.search(start).note
    whole = ValueIterationSearcher(sweeps=10_000).search(start)
    assert whole.exact
    assert whole.error_bound is None
    assert whole.values[0] == pytest.approx(TRUE[start], abs=1e-8)


@pytest.mark.parametrize("step_s", [1e-3, 0.02, 0.1, 0.4])
def test_time_ends_it_with_bounds_that_hold(step_s, monkeypatch):
    """A second, on machines that differ in how often they look at the clock meanwhile: those that see little of the
    game do not even know its states. Nothing of a run that was cut short is kept for the next."""
    clock = SlowClock(step_s)
    for module in (pace, value_iteration):
        monkeypatch.setattr(module, "time", clock)
    start = PIG.initial_position()
    searcher = ValueIterationSearcher(seconds=1.0)
    result = searcher.search(start)
    assert clock.now_s - 1000.0 <= 1.05 + 8 * step_s  # so many looks are bookkeeping
    assert holds(result, (TRUE[start], -TRUE[start]))
    assert result.exact == (step_s == 1e-3)
    if not result.exact:
        assert result.note.startswith("not solved")
        assert result.error_bound > 0
        assert not result.reproducible
        assert result.action in start.legal_actions()
        assert searcher.solution is None
    assert searcher.search(start, limit=Limit(seconds=1e6)).exact


def test_bounds_narrow_everywhere_and_not_at_the_ends_of_the_game_alone():
    """The start is swept last in every round. Of all that can be won and lost, a fifth of the updates that solve the
    game leaves it a tenth, and every fifth more a tenth of the last."""
    start = PIG.initial_position()
    searcher = ValueIterationSearcher()
    most = searcher.search(start, limit=Limit(nodes=10**9)).nodes
    error = 2.0
    for fifths in (1, 2, 3, 4):
        limit = Limit(nodes=fifths * most // 5)
        assert searcher.search(start, limit=limit).exact  # what was solved is kept
        result = ValueIterationSearcher().search(start, limit=limit)
        assert holds(result, (TRUE[start], -TRUE[start]))
        assert limit.nodes <= result.nodes < limit.nodes + 300
        assert 0 < result.error_bound < error / 10
        error = result.error_bound


@pytest.mark.parametrize("n_players", [2, 3, 4])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_limit_in_nodes_leaves_bounds_that_hold_for_every_seat(n_players, share):
    """Random trees, which are solved from their ends: as many updates as there are states would solve them."""
    levels = "0c1c01".replace("1", "1" if n_players == 2 else "2")
    start = random_tree(5, levels=levels, branching=(4, 4), n_players=n_players, cut=0.1).initial_position()
    true = exact.expectimax(start)
    states = ValueIterationSearcher()
    states.search(start)
    n_states = states.solution.n_states
    cut = ValueIterationSearcher().search(start, limit=Limit(nodes=n_states + 1))
    for result in (ValueIterationSearcher().search(start, limit=Limit(nodes=int(share * n_states))), cut):
        assert holds(result, true)
    assert ValueIterationSearcher(sweeps=1).search(start).values == pytest.approx(true, abs=1e-12)


def test_progress_is_told_in_words():
    searcher = ValueIterationSearcher()
    told = []

    def asked():
        told.append(searcher.status)
        return False

    with stoppable(asked):
        searcher.search(games.spec("pig").make_rules({"goal": 30}).initial_position())
    assert any("states listed" in each for each in told)
    assert any("components of" in each for each in told)
    assert searcher.status == ""
