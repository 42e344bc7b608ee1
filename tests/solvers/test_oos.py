"""Online outcome sampling: against exact regrets, known values, and its own promises."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest

import games
from engine_ext.errors import LimitError, PositionError, SpecError, UnsuitableGameError
from solvers import oos
from solvers.contract import Limit, prepare
from solvers.extraction import as_game, extract
from solvers.oos import OosSearcher, Sampler, find_infosets
from solvers.specs import make_searcher
from tests.reference import information_sets


def kuhn(cards, bids=""):
    return games.spec("kuhn").make_rules().from_dict({"cards": cards, "bids": bids})


def first_decision(rules, deal=0):
    position = rules.initial_position()
    while position.is_chance_node():
        position.apply_action(position.legal_actions()[deal])
    return position


def exploitability(sampler):
    """OpenSpiel's exploitability of a sampler's average strategies."""
    tree = sampler.tree
    policy = {}
    for infoset in range(tree.n_infosets):
        strategy = sampler.strategy(infoset)
        assert strategy.sum() == pytest.approx(1.0)
        policy[tree.infoset_label(infoset)] = list(zip(tree.infoset_actions(infoset), strategy, strict=True))
    return pyspiel.exploitability(pyspiel.load_game(tree.name), pyspiel.TabularPolicy(policy))


# ---- what it computes --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("delta", "target", "epsilon"),
    [
        (0.0, None, 0.4),
        (0.0, None, 1.0),
        (0.7, ([1, 2], ""), 0.4),
        (0.9, ([2, 0], "pb"), 0.6),
        (0.5, ([1, 0], "b"), 0.2),
    ],
)
def test_sampled_regrets_are_unbiased(delta, target, epsilon):
    """The mean of a first simulation's regrets is the exact counterfactual regret under uniform
    play, wherever the simulations aim. First simulations update seat 0."""
    tree = extract(games.spec("kuhn").make_rules())
    targets = find_infosets(tree, kuhn(*target)) if target else []
    exact = information_sets.counterfactual_regrets(games.spec("kuhn").make_rules().initial_position(), 0)
    runs = 12_000
    sums, squares = np.zeros(tree.n_sequences), np.zeros(tree.n_sequences)
    for seed in range(runs):
        sampler = Sampler(tree, seed=seed, epsilon=epsilon, delta=delta, targets=targets)
        sampler.run(1)
        sums += sampler.regrets
        squares += sampler.regrets**2
    means = sums / runs
    errors = np.sqrt(np.maximum(squares / runs - means**2, 0.0) / runs)
    seen = 0
    for (key, action), regret in exact.items():
        infoset = int(np.flatnonzero(tree.arrays["info_key"] == np.uint64(key))[0])
        place = tree.arrays["info_first"][infoset] + tree.infoset_actions(infoset).index(action)
        assert abs(means[place] - regret) < 5 * errors[place] + 1e-12
        seen += 1
    assert seen == 12  # six information sets of seat 0, two actions each


@pytest.mark.parametrize(("epsilon", "delta"), [(0.4, 0.0), (0.4, 0.9), (0.6, 0.5)])
def test_averages_converge_in_kuhn(epsilon, delta):
    """Towards equilibrium everywhere, aimed or not; -1/18 is the value of the game."""
    rules = as_game("kuhn_poker")
    root = first_decision(rules) if delta else rules.initial_position()
    searcher = OosSearcher(epsilon=epsilon, delta=delta)
    found = []
    for simulations in (1_000, 30_000, 1_000_000):
        sampler, _ = searcher.sample(root, seed=1, limit=Limit(simulations=simulations))
        found.append(exploitability(sampler))
    assert found[0] > found[1] > found[2]
    assert found[2] < 0.02
    if not delta:
        assert sampler.values() == pytest.approx((-1 / 18, 1 / 18), abs=0.01)


def test_averages_converge_in_leduc():
    searcher = OosSearcher()
    root = as_game("leduc_poker").initial_position()
    found = [
        exploitability(searcher.sample(root, seed=1, limit=Limit(simulations=n))[0])
        for n in (10_000, 100_000, 1_000_000)
    ]
    assert found[0] > found[1] > found[2]
    assert found[2] < 0.4


def test_aiming_pays_at_the_target():
    """With the same simulations, a rare information set is decided on far more samples."""
    rules = as_game("leduc_poker")
    tree = rules.tree
    infoset = max(range(tree.n_infosets), key=lambda each: len(tree.history(int(tree.infoset_nodes(each)[0]))))
    position = rules.position(int(tree.infoset_nodes(infoset)[0]))
    visits = {}
    for delta in (0.0001, 0.9):
        result = OosSearcher(simulations=5000, delta=delta).search(position, seed=1)
        visits[delta] = sum(each.visits for each in result.actions)
    assert visits[0.9] >= 4400  # 5000 simulations, nine of ten aimed
    assert visits[0.0001] < 500


def test_certain_decisions_of_kuhn():
    """The lowest card never calls; the highest always does; a fold costs 1, a won call brings 2."""
    lowest = OosSearcher(simulations=20_000, play="best").search(kuhn([0, 2], "pb"), seed=1)
    assert lowest.action == 0
    assert [each.value for each in lowest.actions] == pytest.approx([-1.0, -2.0])
    assert lowest.values == pytest.approx((-1.0, 1.0), abs=0.05)
    highest = OosSearcher(simulations=20_000).search(kuhn([2, 1], "pb"), seed=1)
    assert highest.actions[1].probability > 0.98
    assert highest.actions[1].value == pytest.approx(2.0)


def test_three_players_and_general_sum():
    result = OosSearcher(simulations=2000).search(first_decision(as_game("kuhn_poker(players=3)")), seed=1)
    assert len(result.values) == 3
    rules = as_game("turn_based_simultaneous_game(game=matrix_pd())")
    position = rules.initial_position()
    result = OosSearcher(simulations=20_000, play="best").search(position, seed=1)
    state = pyspiel.load_game("matrix_pd").new_initial_state()
    assert state.action_to_string(0, result.action) == "Defect"  # the dominant action


# ---- what it promises --------------------------------------------------------------------------


def test_no_bot_sees_what_its_seat_cannot():
    searcher = OosSearcher(simulations=200)
    for own in range(3):
        for bids in ("", "p", "b", "pb"):
            seat = len(bids) % 2
            rivals = [card for card in range(3) if card != own]
            a, b = (searcher.search(kuhn([own, card] if seat == 0 else [card, own], bids), seed=2) for card in rivals)
            assert repr((a.action, a.actions, a.values)) == repr((b.action, b.actions, b.values))


def test_native_and_extracted_are_the_same_search():
    native = OosSearcher(simulations=500).search(kuhn([1, 2], "pb"), seed=3)
    rules = as_game(games.spec("kuhn").make_rules())
    node = 0
    for action in (1, 2, 0, 1):
        node = rules.tree.child(node, action)
    extracted = OosSearcher(simulations=500).search(rules.position(node), seed=3)
    assert (native.action, native.actions, native.values) == (extracted.action, extracted.actions, extracted.values)


def test_same_seed_same_result():
    searcher = OosSearcher(simulations=400)
    first, second, other = (searcher.search(kuhn([1, 2]), seed=seed) for seed in (5, 5, 6))
    assert (first.action, first.actions, first.values) == (second.action, second.actions, second.values)
    assert first.actions != other.actions
    assert first.simulations == 400
    assert first.reproducible


def test_batches_change_nothing():
    tree = extract("kuhn_poker")
    whole, parts = (Sampler(tree, seed=7, epsilon=0.4, delta=0.0, targets=[]) for _ in range(2))
    whole.run(1000)
    for size in (1, 2, 997):
        parts.run(size)
    assert np.array_equal(whole.regrets, parts.regrets)
    assert np.array_equal(whole.averages, parts.averages)


def test_limits():
    position = kuhn([1, 2])
    assert OosSearcher().search(position, seed=1).simulations == 1000
    assert OosSearcher(nodes=30, simulations=50).search(position, seed=1).simulations == 30
    timed = OosSearcher(seconds=0.05).search(position, seed=1)
    assert timed.seconds >= 0.05
    assert not timed.reproducible
    assert OosSearcher(seconds=1e-6).search(position, seed=1).simulations >= 1  # and never none
    with pytest.raises(LimitError, match="depth"):
        OosSearcher().search(position, seed=1, limit=Limit(depth=2, simulations=10))


class Clock:
    def __init__(self):
        self.now_s = 0.0

    def perf_counter(self):
        return self.now_s


def test_the_tree_is_no_part_of_the_limit(monkeypatch):
    """Extraction takes an hour by this clock: the first search has its time all the same, and tells of no hour."""
    clock = Clock()
    extract = oos.extract

    def slow(source, **options):
        clock.now_s += 3600.0
        return extract(source, **options)

    monkeypatch.setattr(oos, "time", clock)
    monkeypatch.setattr(oos, "extract", slow)
    searcher, position = OosSearcher(seconds=10.0, simulations=2000), kuhn([1, 2])
    for _ in range(2):
        result = searcher.search(position, seed=1)
        assert result.simulations == 2000
        assert result.seconds < 1
        assert clock.now_s == 3600.0
    tree = prepare(OosSearcher(), games.spec("kuhn").make_rules())
    assert tree.n_infosets == 12
    assert clock.now_s == 7200.0


def test_chance_and_terminal_roots():
    searcher = OosSearcher(simulations=300)
    start = searcher.search(games.spec("kuhn").make_rules().initial_position(), seed=1)
    assert (start.action, start.actions) == (None, ())
    over = searcher.search(kuhn([1, 2], "pp"), seed=1)
    assert over.values == (-1.0, 1.0)
    assert over.exact


def test_one_searcher_serves_several_games():
    """The tree it keeps belongs to the game it was extracted from."""
    searcher = OosSearcher(simulations=100)
    for _ in range(2):
        assert len(searcher.search(first_decision(as_game("leduc_poker")), seed=1).actions) == 2
        assert len(searcher.search(kuhn([1, 2]), seed=1).actions) == 2
        small = games.spec("kuhn").make_rules()
        assert len(searcher.search(small.from_dict({"cards": [0, 1], "bids": "p"}), seed=1).actions) == 2


def test_refusals_name_the_property():
    with pytest.raises(UnsuitableGameError, match="come back to a state"):
        OosSearcher().search(games.spec("pig").make_rules().initial_position(), seed=1)
    with pytest.raises(UnsuitableGameError, match="come back to a state"):
        make_searcher("oos", games.spec("pig").make_rules())
    with pytest.raises(SpecError, match="temperature"):
        OosSearcher(temperature=1.0)
    tree = extract("kuhn_poker")
    with pytest.raises(PositionError, match="cannot come to this position"):
        OosSearcher(tree=tree).search(kuhn([1, 2]), seed=1)  # OpenSpiel's own kuhn has other keys


def test_specs_make_them():
    assert make_searcher("oos(simulations=200,delta=0.5)").search(kuhn([2, 1], "pb"), seed=1).simulations == 200
