"""One suite over every searcher there is: what each must keep, whatever it does.

A new searcher enters it by being declared in its module; nothing here names one, but for the
values it takes for granted.
"""

import math
import pickle

import pytest

import games
from engine_ext.errors import QuandaryError, SpecError, TooLargeError, UnsuitableGameError
from engine_ext.rng import Stream
from solvers.contract import Limit
from solvers.specs import make_searcher, parse_spec, solver_specs
from tests.reference import exact

SEARCHERS = [name for name, spec in solver_specs().items() if spec.kind == "searcher"]
SMALL = {"simulations": 200, "depth": 3}  # whatever of these a searcher knows
LIMITS = ("simulations", "nodes", "depth", "seconds")


def rules_of(name, **parameters):
    return games.spec(name).make_rules(parameters)


GROUNDS = {
    "pig": rules_of("pig", goal=12),
    "kuhn": rules_of("kuhn"),
    "pentaquest": rules_of("pentaquest", scenario="one_card"),
}


def small_spec(name):
    """The searcher with a small budget, as a spec."""
    known = solver_specs()[name].parameters
    given = ",".join(f"{key}={value}" for key, value in SMALL.items() if key in known)
    return f"{name}({given})" if given else name


def suits(name, rules):
    """Whether the searcher takes the game."""
    try:
        result = make_searcher(small_spec(name), rules).search(decision(rules), seed=0)
    except (UnsuitableGameError, TooLargeError):
        return False
    return result is not None


def decision(rules, seed=5):
    """The first decision of a game."""
    position = rules.initial_position()
    position.run_chance(Stream(seed))
    return position


PAIRS = [(name, ground) for name in SEARCHERS for ground, rules in GROUNDS.items() if suits(name, rules)]


@pytest.mark.parametrize(("name", "ground"), PAIRS)
def test_result_is_complete(name, ground):
    rules = GROUNDS[ground]
    position = decision(rules)
    before = position.to_bytes()
    result = make_searcher(small_spec(name), rules).search(position, seed=3)
    assert position.to_bytes() == before
    legal = position.legal_actions()
    assert [stats.action for stats in result.actions] == legal
    assert result.action in legal
    assert sum(stats.probability for stats in result.actions) == pytest.approx(1.0)
    assert next(stats.probability for stats in result.actions if stats.action == result.action) > 0
    assert len(result.values) == rules.num_players()
    low, high = rules.min_utility() - 1e-9, rules.max_utility() + 1e-9
    for value in [*result.values, *(stats.value for stats in result.actions)]:
        assert math.isnan(value) or low <= value <= high
    for stats in result.actions:
        assert stats.visits >= 0
        if stats.bounds is not None:
            assert low <= stats.bounds[0] <= stats.bounds[1] <= high
    assert result.nodes >= 1
    assert result.seconds >= 0
    assert result.reproducible
    line = position.clone()
    for step in result.principal_variation:
        line.apply_action(step)


@pytest.mark.parametrize(("name", "ground"), PAIRS)
def test_same_seed_same_result(name, ground):
    rules = GROUNDS[ground]
    results = [make_searcher(small_spec(name), rules).search(decision(rules), seed=9) for _ in range(2)]
    first, second = ((r.action, r.values, r.actions, r.simulations, r.nodes) for r in results)
    assert repr(first) == repr(second)  # repr: nan equals itself


@pytest.mark.parametrize(("name", "ground"), PAIRS)
def test_no_seat_is_seen_through(name, ground):
    """Two states in one information set, same seed: the same move with the same probabilities."""
    rules = GROUNDS[ground]
    if not rules.hidden_information:
        pytest.skip("nothing is hidden")
    for deal in range(6):
        position = decision(rules, seed=deal)
        seat = position.current_player()
        for seed in range(3):
            other = position.resample(seat, Stream(seed))
            a, b = (make_searcher(small_spec(name), rules).search(at, seed=seed) for at in (position, other))
            assert a.action == b.action
            assert [s.probability for s in a.actions] == [s.probability for s in b.actions]


@pytest.mark.parametrize(("name", "ground"), PAIRS)
def test_chance_roots_and_ends(name, ground):
    rules = GROUNDS[ground]
    position = rules.initial_position()
    stream = Stream(2)
    if position.is_chance_node():
        try:
            result = make_searcher(small_spec(name), rules).search(position, seed=1)
        except QuandaryError:
            assert rules.hidden_information  # nobody's turn, so no information set to search from
        else:
            assert result.action is None
            assert len(result.values) == rules.num_players()
    position.playout(stream)
    over = make_searcher(small_spec(name), rules).search(position, seed=1)
    assert over.action is None
    assert list(over.values) == position.returns()


@pytest.mark.parametrize("name", SEARCHERS)
@pytest.mark.parametrize("limit", LIMITS)
def test_limits_are_honoured(name, limit):
    """Each limit a searcher has a parameter for, by parameter and by argument."""
    if limit not in solver_specs()[name].parameters:
        pytest.skip("not a limit of this searcher")
    ground = next(ground for n, ground in PAIRS if n == name)
    rules = GROUNDS[ground]
    amount = {"simulations": 60, "nodes": 60, "depth": 2, "seconds": 0.05}[limit]
    for searcher, given in (
        (make_searcher(f"{name}({limit}={amount})", rules), None),
        (make_searcher(small_spec(name), rules), Limit(**{limit: amount})),
    ):
        result = searcher.search(decision(rules), seed=1, limit=given)
        assert result.reproducible == (limit != "seconds")
        if limit == "simulations":
            assert result.simulations <= 60
        if limit == "nodes":
            assert result.nodes <= 61
        if limit == "depth":
            assert len(result.principal_variation) <= 3


@pytest.mark.parametrize("name", [n for n in SEARCHERS if "threads" in solver_specs()[n].parameters])
def test_threads_repeat_themselves(name):
    ground = next(ground for n, ground in PAIRS if n == name)
    rules = GROUNDS[ground]
    results = [
        make_searcher(f"{name}(simulations=400,threads=3)", rules).search(decision(rules), seed=9) for _ in range(3)
    ]
    assert results[0].actions == results[1].actions == results[2].actions


@pytest.mark.parametrize("name", [n for n in SEARCHERS if (n, "pig") in PAIRS and n not in ("random", "greedy")])
def test_takes_the_winning_move(name):
    """Holding wins at once; every searcher must see it."""
    rules = GROUNDS["pig"]
    for seat in (0, 1):
        won = rules.from_dict({"scores": [8, 8], "seat": seat, "total": 4})
        result = make_searcher(small_spec(name), rules).search(won, seed=0)
        assert result.action == 1
        assert result.values[seat] > 0.5


@pytest.mark.parametrize("name", SEARCHERS)
def test_exact_claims_are_true(name):
    """A result that says it is exact is, to 1e-9."""
    if (name, "pentaquest") not in PAIRS:
        pytest.skip("takes no such game")
    rules = GROUNDS["pentaquest"]
    position = decision(rules)
    budget = "(simulations=200000)" if "simulations" in solver_specs()[name].parameters else ""
    result = make_searcher(name + budget, rules).search(position, seed=1)
    if not result.exact:
        return
    memo = {}
    assert result.values == pytest.approx(exact.expectimax(position, memo), abs=1e-9)
    for stats in result.actions:
        value = exact.expectimax(exact.step(position, stats.action), memo)[position.current_player()]
        if stats.bounds is not None:
            assert stats.bounds[0] - 1e-9 <= value <= stats.bounds[1] + 1e-9


@pytest.mark.parametrize("name", SEARCHERS)
def test_unknown_parameters_are_refused(name):
    with pytest.raises(SpecError, match="no parameter 'nonsense'"):
        parse_spec(f"{name}(nonsense=1)")


@pytest.mark.parametrize(("name", "ground"), PAIRS)
def test_results_travel_between_processes(name, ground):
    rules = GROUNDS[ground]
    result = make_searcher(small_spec(name), rules).search(decision(rules), seed=3)
    assert repr(pickle.loads(pickle.dumps(result))) == repr(result)
