"""solvers/mccfr.py: sampling CFR on trees and without them."""

from __future__ import annotations

import numpy as np
import pytest

import games
from engine_ext.errors import ParameterError, SavedStateError, TooLargeError, UnsuitableGameError
from solvers import specs
from solvers.best_response import expected_values, nash_conv
from solvers.extraction import as_game, extract
from solvers.mccfr import NativeMCCFR, TreeMCCFR
from solvers.policies import KeyedPolicy, TabularPolicy
from solvers.saved import read_saved, write_saved
from tests.signals import stopped_after

SAMPLING = ("external", "outcome")


def kuhn():
    return games.spec("kuhn").make_rules()


def on_the_tree(policy: KeyedPolicy, tree) -> TabularPolicy:
    """A keyed policy of a native game as a policy of its tree; uniform where it knows nothing."""
    out = TabularPolicy.uniform(tree).probabilities.copy()
    first = tree.arrays["info_first"]
    for infoset in range(tree.n_infosets):
        found = policy.lookup(tree.infoset_label(infoset), tree.infoset_player(infoset))
        if found is not None:
            out[first[infoset] : first[infoset + 1]] = found
    return TabularPolicy(tree, out)


@pytest.mark.parametrize("sampling", SAMPLING)
@pytest.mark.parametrize("game", ["kuhn_poker", "quandary_kuhn"])
def test_kuhn_converges(game, sampling):
    solver = TreeMCCFR(extract(game), sampling=sampling, seed=3)
    solver.run(1000)
    early = solver.exploitability()
    solver.run(199_000)
    assert solver.exploitability() < min(0.02, early)
    assert expected_values(solver.average_policy())[0] == pytest.approx(-1 / 18, abs=0.01)


def test_leduc_goes_down_and_external_sampling_learns_more_from_a_walk():
    tree = extract("leduc_poker")
    found = {}
    for sampling in SAMPLING:
        solver = TreeMCCFR(tree, sampling=sampling, seed=1)
        found[sampling] = []
        for count in (1000, 9000, 90_000):
            solver.run(count)
            found[sampling].append(solver.exploitability())
        assert found[sampling] == sorted(found[sampling], reverse=True)
    assert found["external"][-1] < 0.15
    assert found["external"][-1] < found["outcome"][-1]


def test_three_players_and_one():
    three = TreeMCCFR(extract("kuhn_poker(players=3)"), seed=1)
    three.run(50_000)
    assert three.nash_conv() < 0.1
    for sampling in SAMPLING:
        alone = TreeMCCFR(extract("cliff_walking(horizon=6)"), sampling=sampling, seed=1)
        alone.run(20_000)
        assert alone.nash_conv() < 2  # six moves cost 6; uniform play loses 66


@pytest.mark.parametrize("sampling", SAMPLING)
def test_the_native_road_solves_kuhn_without_a_tree(sampling):
    solver = NativeMCCFR(kuhn(), sampling=sampling, seed=5)
    solver.run(200_000)
    assert solver.n_infosets == 12
    assert not solver.full
    policy = solver.average_policy()
    assert nash_conv(on_the_tree(policy, extract("quandary_kuhn"))) < 0.04
    position = kuhn().from_dict({"cards": [0, 2], "bids": "pb"})
    assert policy.action_probabilities(position)[1] < 0.02  # a bet is not called with the lowest card


def test_external_sampling_on_a_tree_and_on_that_tree_as_a_game_agree():
    rules = as_game("leduc_poker")
    solver = NativeMCCFR(rules, seed=2)
    solver.run(30_000)
    assert solver.n_infosets == 936
    first = rules.tree.arrays["info_first"]
    out = np.zeros(rules.tree.n_sequences)
    for infoset in range(rules.tree.n_infosets):
        position = rules.position(rules.tree.infoset_nodes(infoset)[0])
        out[first[infoset] : first[infoset + 1]] = list(solver.average_policy().action_probabilities(position).values())
    assert nash_conv(TabularPolicy(rules.tree, out)) / 2 < 0.3


@pytest.mark.parametrize("sampling", SAMPLING)
def test_the_seed_decides_everything(sampling):
    def run(seed):
        tree, native = (
            TreeMCCFR(extract("kuhn_poker"), sampling=sampling, seed=seed),
            NativeMCCFR(kuhn(), sampling=sampling, seed=seed),
        )
        tree.run(500)
        native.run(500)
        return tree.average_policy().probabilities, native.average_policy()._probabilities

    first, again, other = run(1), run(1), run(2)
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(first[1], again[1])
    assert not np.array_equal(first[0], other[0])


@pytest.mark.parametrize("sampling", SAMPLING)
def test_resuming_equals_not_stopping(tmp_path, sampling):
    path = tmp_path / "checkpoint"
    for make in (
        lambda: TreeMCCFR(extract("leduc_poker"), sampling=sampling, seed=9),
        lambda: NativeMCCFR(as_game("leduc_poker"), sampling=sampling, seed=9, max_bytes=1 << 22),
    ):
        whole, half, resumed = make(), make(), make()
        whole.run(300)
        half.run(120)
        half.save(path)
        resumed.run(7)
        resumed.load(path)
        assert resumed.iterations == 120
        resumed.run(180)
        mine, other = resumed.average_policy(), whole.average_policy()
        if isinstance(mine, TabularPolicy):
            assert np.array_equal(mine.probabilities, other.probabilities)
        else:
            assert np.array_equal(mine.keys, other.keys)
            assert np.array_equal(mine._probabilities, other._probabilities)
        assert resumed.stream.state == whole.stream.state


def contents(solver):
    """All that a run without a tree has learnt, and where its randomness stands."""
    policy = solver.average_policy()
    regrets = policy.keys, policy.players, policy._probabilities
    return *(array.tolist() for array in regrets), solver.iterations, solver.stream.state


def long_walks(**options):
    """External sampling of a game whose walks have some hundred nodes."""
    rules = games.spec("quarz").make_rules({"scenario": "favor_duel"})
    return NativeMCCFR(rules, seed=4, max_bytes=1 << 22, **options)


def test_a_walk_left_half_way_goes_on_as_if_it_had_never_stopped(tmp_path):
    whole = long_walks()
    whole.run(20)
    left, loaded = long_walks(walk_nodes=7), long_walks()
    with pytest.raises(TooLargeError, match=r"visited \d+ nodes .* 7 are allowed .* mccfr_os"):
        left.run(20)
    assert left.visited >= 7
    assert left.iterations == 0
    for allowed in (8, 20, 50):  # again and again, each time deeper into a walk
        with pytest.raises(TooLargeError):
            left.run(20)
        left.save(tmp_path / "checkpoint")
        left.walk_nodes = allowed
    loaded.load(tmp_path / "checkpoint")
    assert (loaded.visited, loaded.iterations) == (left.visited, left.iterations)
    for solver in (left, loaded):
        solver.walk_nodes = whole.walk_nodes
        solver.run(20 - solver.iterations)
        assert contents(solver) == contents(whole)


def test_a_signal_is_heard_within_a_walk_and_nothing_is_lost(tmp_path):
    """The first walk of a whole game of Quarriors has no end that anyone could wait for."""
    rules = games.spec("quarriors").make_rules()
    solver, again = (NativeMCCFR(rules, seed=1, max_bytes=1 << 24, walk_nodes=10**15) for _ in range(2))
    with stopped_after(0.2):
        solver.run(1)
    assert solver.iterations == 0
    assert solver.visited > 0
    solver.save(tmp_path / "checkpoint")
    again.load(tmp_path / "checkpoint")
    for each in (solver, again):
        each.walk_nodes = each.visited + 20_000
        with pytest.raises(TooLargeError):
            each.run(1)
    assert contents(again) == contents(solver)
    assert again.visited == solver.visited


@pytest.mark.parametrize("sampling", SAMPLING)
def test_a_signal_between_games_leaves_a_run_that_resumes_bit_for_bit(tmp_path, sampling):
    for make in (
        lambda: TreeMCCFR(extract("leduc_poker"), sampling=sampling, seed=9),
        lambda: NativeMCCFR(as_game("leduc_poker"), sampling=sampling, seed=9, max_bytes=1 << 22),
    ):
        stopped, resumed, whole = make(), make(), make()
        with stopped_after(0.05):
            stopped.run(10**9)
        stopped.save(tmp_path / "checkpoint")
        resumed.load(tmp_path / "checkpoint")
        resumed.run(50)
        whole.run(stopped.iterations + 50)
        assert resumed.stream.state == whole.stream.state
        mine, other = resumed.average_policy(), whole.average_policy()
        name = "probabilities" if isinstance(mine, TabularPolicy) else "_probabilities"
        assert np.array_equal(getattr(mine, name), getattr(other, name))


def test_a_deadline_is_kept_within_walks():
    rules = games.spec("quarriors").make_rules()
    solver = NativeMCCFR(rules, seed=1, max_bytes=1 << 24, walk_nodes=10**15)
    with pytest.raises(TooLargeError, match=r"first iteration .* after 0\.001 seconds, \d+ nodes into a walk"):
        solver.run_for(0.001)
    assert 0 < solver.visited < 10_000_000
    quick = NativeMCCFR(kuhn(), seed=1)
    assert quick.run_for(1e-9) >= 1  # however short the time, there is a first iteration
    with pytest.raises(ParameterError, match="seconds"):
        quick.run_for(0)


def test_a_checkpoint_that_contradicts_itself_is_refused(tmp_path):
    """As written by a program that has gone astray, its checksum being right."""
    solver = long_walks(walk_nodes=50)
    with pytest.raises(TooLargeError):
        solver.run(20)
    solver.save(tmp_path / "good")
    meta, arrays = read_saved(tmp_path / "good", "MCCFR checkpoint", 2)
    table, stack = arrays["table"], arrays["open"]
    assert len(stack)
    miscounted = table.copy()
    miscounted[12:16] = 0xFF  # the first record's number of actions
    for changed in (
        {"table": table[:-8], "open": stack},
        {"table": miscounted, "open": stack},
        {"table": table, "open": stack[:-8]},
        {"table": table, "open": np.concatenate([stack, stack])},
        {"table": table[:0], "open": stack},
    ):
        write_saved(tmp_path / "bad", "MCCFR checkpoint", 2, meta, changed)
        with pytest.raises(SavedStateError, match="bad"):
            solver.load(tmp_path / "bad")
    solver.load(tmp_path / "good")


def test_foreign_and_damaged_checkpoints_are_refused(tmp_path):
    path = tmp_path / "checkpoint"
    solver = NativeMCCFR(kuhn(), seed=1, max_bytes=1 << 20)
    solver.run(10)
    solver.save(path)
    with pytest.raises(SavedStateError, match="sampling=external"):
        NativeMCCFR(kuhn(), sampling="outcome", max_bytes=1 << 20).load(path)
    with pytest.raises(SavedStateError, match="another game"):
        NativeMCCFR(as_game("kuhn_poker"), max_bytes=1 << 20).load(path)
    with pytest.raises(SavedStateError, match="seed=1; here it is seed=2"):
        NativeMCCFR(kuhn(), seed=2, max_bytes=1 << 20).load(path)
    with pytest.raises(SavedStateError, match="solver=native"):
        TreeMCCFR(extract("kuhn_poker")).load(path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SavedStateError, match="damaged"):
        solver.load(path)
    assert solver.iterations == 10


def test_a_full_table_does_what_it_was_told():
    rules = as_game("liars_dice(dice_sides=5)")  # 2560 information sets, more than 64 KB hold
    small = NativeMCCFR(rules, seed=1, max_bytes=1 << 16)
    small.run(5000)
    assert small.full
    kept = small.n_infosets
    small.run(1000)
    assert small.n_infosets == kept
    stopping = NativeMCCFR(rules, seed=1, max_bytes=1 << 16, when_full="stop")
    with pytest.raises(TooLargeError, match=r"is full with \d+ information sets"):
        stopping.run(5000)
    assert 0 < stopping.iterations < 5000
    assert len(stopping.average_policy()) == stopping.n_infosets


def test_sampled_best_responses_bound_nash_conv_from_below():
    solver = NativeMCCFR(kuhn(), seed=1)
    solver.run(3)  # a poor policy
    exact = nash_conv(on_the_tree(solver.average_policy(), extract("quandary_kuhn")))
    mean, width = solver.nash_conv_bound(iterations=20_000, games=100_000, seed=4)
    assert mean - width <= exact
    assert mean + width > 0.8 * exact  # and not far: the responder has learnt
    with pytest.raises(ParameterError, match="games"):
        solver.sampled_best_response(0, iterations=1, games=1)
    with pytest.raises(ParameterError, match="player"):
        solver.sampled_best_response(2, iterations=1, games=2)


def test_refusals_and_bad_parameters():
    pig = games.spec("pig").make_rules({"goal": 10})
    with pytest.raises(UnsuitableGameError, match="may come again"):
        NativeMCCFR(pig)
    solver = NativeMCCFR(pig, sampling="outcome", seed=1)
    solver.run(2000)
    assert solver.n_infosets > 50
    for options, text in (
        ({"sampling": "both"}, "sampling"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"max_bytes": 10}, "max_bytes"),
        ({"when_full": "grow"}, "when_full"),
        ({"walk_nodes": 0}, "walk_nodes"),
    ):
        with pytest.raises(ParameterError, match=text):
            NativeMCCFR(kuhn(), **options)
    with pytest.raises(ParameterError, match="iterations"):
        solver.run(-1)


def test_keyed_policies_save_load_and_refuse(tmp_path):
    solver = NativeMCCFR(kuhn(), seed=1)
    solver.run(100)
    policy = solver.average_policy()
    policy.save(tmp_path / "policy")
    loaded = KeyedPolicy.load(tmp_path / "policy", kuhn())
    position = kuhn().from_dict({"cards": [0, 2], "bids": "pb"})
    assert loaded.action_probabilities(position) == policy.action_probabilities(position)
    assert policy.lookup(12345, 0) is None
    with pytest.raises(SavedStateError, match="another game"):
        KeyedPolicy.load(tmp_path / "policy", games.spec("pig").make_rules({}))
    with pytest.raises(UnsuitableGameError, match="other parameters or data"):
        policy.action_probabilities(games.spec("pig").make_rules().initial_position())


@pytest.mark.parametrize("name", ["mccfr_es", "mccfr_os"])
def test_specs_find_the_solvers(name):
    spec = specs.solver_specs()[name]
    parameters = {key: parameter.default for key, parameter in spec.parameters.items()}
    for game in (extract("kuhn_poker"), kuhn()):
        solver = spec.make(game, parameters)
        solver.run(50)
        assert solver.iterations == 50
