"""solvers/best_response.pyx and solvers/policies.py: exact values, and agreement with OpenSpiel."""

from __future__ import annotations

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms import expected_game_score

import games
from engine_ext.errors import (
    IllegalActionError,
    ParameterError,
    SavedStateError,
    TooLargeError,
    UnsuitableGameError,
)
from solvers import linear_program
from solvers.best_response import best_response, best_response_values, expected_values, exploitability, nash_conv
from solvers.bots import PolicyBot
from solvers.cfr import CFRSolver
from solvers.extraction import extract
from solvers.linear_program import SequenceFormSolver
from solvers.policies import TabularPolicy
from solvers.sequence_form import SequenceForm
from tests.signals import die


def random_policy(tree, seed):
    weights = np.random.default_rng(seed).exponential(size=tree.n_sequences)
    first = tree.arrays["info_first"]
    sums = np.repeat(np.add.reduceat(weights, first[:-1]), np.diff(first))
    return TabularPolicy(tree, weights / sums)


# OpenSpiel's exploitability_test.py and sequence_form_lp_test.py.
@pytest.mark.parametrize(
    ("game", "uniform", "first_action"), [("kuhn_poker", 11 / 12, 2.0), ("leduc_poker", 4.747222222222222, 2.0)]
)
def test_known_nash_convs(game, uniform, first_action):
    tree = extract(game)
    sequences = SequenceForm(tree)
    for policy, expected in ((TabularPolicy.uniform(tree), uniform), (TabularPolicy.first_action(tree), first_action)):
        assert nash_conv(policy) == pytest.approx(expected, abs=1e-12)
        assert nash_conv(policy, sequences=sequences) == pytest.approx(expected, abs=1e-12)
        assert exploitability(policy) == pytest.approx(expected / 2, abs=1e-12)


@pytest.mark.parametrize(
    ("game", "value"),
    [
        ("kuhn_poker", -1 / 18),
        ("leduc_poker", -0.085606424078),
        pytest.param("liars_dice", -0.027131782945736, marks=pytest.mark.soak),
    ],
)
def test_known_game_values(game, value):
    solver = SequenceFormSolver(extract(game))
    solver.run(1)
    assert solver.value == pytest.approx(value, abs=1e-9)
    assert solver.exploitability() < 1e-8
    assert expected_values(solver.average_policy())[0] == pytest.approx(value, abs=1e-8)


def test_kuhn_equilibrium_is_of_kuhns_family():
    # Kuhn (1950): the first player bets the jack with alpha in [0, 1/3] and the king with 3 alpha; the
    # second bets the jack after a pass and calls with the queen with 1/3 each.
    solver = SequenceFormSolver(extract("kuhn_poker"))
    solver.run(1)
    table = {label: dict(pairs) for label, pairs in solver.average_policy().table().items()}
    alpha = table["0"][1]
    assert -1e-9 <= alpha <= 1 / 3 + 1e-9
    assert table["2"][1] == pytest.approx(3 * alpha, abs=1e-9)
    assert table["0p"][1] == pytest.approx(1 / 3, abs=1e-9)
    assert table["1b"][1] == pytest.approx(1 / 3, abs=1e-9)


def test_large_linear_programs_run_in_a_process_of_their_own(monkeypatch):
    """HiGHS hears no signals; what it finds there is the same to the bit."""
    here = SequenceFormSolver(extract("kuhn_poker"))
    here.run(1)
    monkeypatch.setattr(linear_program, "_QUICK_ENTRIES", 0)
    there = SequenceFormSolver(extract("kuhn_poker"))
    there.run(1)
    assert there.value == here.value
    assert np.array_equal(there.average_policy().probabilities, here.average_policy().probabilities)
    monkeypatch.setattr(linear_program, "_optimum", die)
    with pytest.raises(TooLargeError, match="for want of memory"):
        SequenceFormSolver(extract("kuhn_poker")).run(1)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize(
    "game", ["kuhn_poker", "leduc_poker", "liars_dice(dice_sides=3)", "kuhn_poker(players=3)", "tiny_hanabi"]
)
def test_agrees_with_openspiel_on_random_policies(game, seed):
    tree = extract(game)
    policy = random_policy(tree, seed)
    loaded = pyspiel.load_game(game)
    theirs = policy.to_openspiel()
    assert nash_conv(policy) == pytest.approx(pyspiel.nash_conv(loaded, theirs), rel=1e-10)
    assert nash_conv(policy, sequences=SequenceForm(tree)) == pytest.approx(nash_conv(policy), rel=1e-10)
    values = expected_game_score.policy_value(loaded.new_initial_state(), [theirs] * loaded.num_players())
    assert expected_values(policy) == pytest.approx(values, abs=1e-10)


@pytest.mark.parametrize("game", ["goofspiel(num_cards=3)", "matrix_shapleys_game", "blotto(coins=3,fields=2)"])
def test_agrees_with_openspiel_on_simultaneous_games(game):
    tree = extract(game)
    policy = random_policy(tree, 3)
    turn_based = pyspiel.convert_to_turn_based(pyspiel.load_game(game))
    assert nash_conv(policy) == pytest.approx(pyspiel.nash_conv(turn_based, policy.to_openspiel()), rel=1e-10)


def test_a_best_response_earns_its_value_and_no_deviation_earns_more():
    tree = extract("leduc_poker")
    policy = random_policy(tree, 5)
    for player in range(2):
        value, response = best_response(policy, player)
        assert expected_values(response)[player] == pytest.approx(value, abs=1e-12)
        assert best_response_values(policy)[player] == value
        for seed in range(5):
            other = random_policy(tree, seed).probabilities
            own = np.repeat(tree.arrays["info_player"] == player, np.diff(tree.arrays["info_first"]))
            deviation = TabularPolicy(tree, np.where(own, other, policy.probabilities))
            assert expected_values(deviation)[player] <= value


def test_best_responses_of_one_player_are_optimal_control():
    # Reaching the goal from the start takes 13 moves at -1 each; a horizon of 6 ends at -6.
    tree = extract("cliff_walking(horizon=6)")
    value, _ = best_response(TabularPolicy.uniform(tree), 0)
    game = pyspiel.load_game("cliff_walking(horizon=6)")

    def best(state):
        if state.is_terminal():
            return state.returns()[0]
        return max(best(state.child(action)) for action in state.legal_actions())

    assert value == best(game.new_initial_state())


def test_refusals_name_the_property():
    with pytest.raises(UnsuitableGameError, match="two players; it has 3"):
        SequenceFormSolver(extract("kuhn_poker(players=3)"))
    with pytest.raises(UnsuitableGameError, match="general-sum"):
        SequenceFormSolver(extract("matrix_pd"))
    forgetful = extract(games.spec("pig").make_rules({"goal": 4}), depth=7, information="key")
    with pytest.raises(UnsuitableGameError, match="perfect recall"):
        SequenceFormSolver(forgetful)
    with pytest.raises(UnsuitableGameError, match="perfect recall"):
        best_response(TabularPolicy.uniform(forgetful), 0)
    with pytest.raises(ParameterError, match="player is 2"):
        best_response(TabularPolicy.uniform(extract("kuhn_poker")), 2)


# ---- policies -------------------------------------------------------------------------------------


def test_policies_answer_for_states_and_labels():
    tree = extract("kuhn_poker")
    policy = random_policy(tree, 1)
    state = pyspiel.load_game("kuhn_poker").new_initial_state()
    state.apply_action(2)
    state.apply_action(1)
    found = policy.action_probabilities(state)
    (infoset,) = tree.infosets_of("2")
    assert found == policy.lookup("2", 0) == policy.infoset_probabilities(infoset)
    assert sum(found.values()) == pytest.approx(1.0)
    assert policy.lookup("nonsense", 0) is None
    native = TabularPolicy(extract("quandary_kuhn"), policy.probabilities)  # the same tree
    position = games.spec("kuhn").make_rules().from_dict({"cards": [2, 1], "bids": ""})
    assert native.action_probabilities(position) == found
    with pytest.raises(UnsuitableGameError, match="native"):
        native.action_probabilities(state)
    with pytest.raises(UnsuitableGameError, match="of OpenSpiel's"):
        policy.action_probabilities(position)


def test_policies_convert_to_openspiel_and_back():
    for name in ("kuhn_poker", "quandary_kuhn"):
        tree = extract(name)
        game = pyspiel.load_game(name)
        policy = random_policy(tree, 4)
        theirs = policy.to_openspiel(game)
        assert pyspiel.nash_conv(game, theirs) == pytest.approx(nash_conv(policy), rel=1e-12)
        if name == "kuhn_poker":
            back = TabularPolicy.from_openspiel(tree, theirs)
            assert np.array_equal(back.probabilities, policy.probabilities)
    # Merging keeps what the other knows beyond this game.
    merged = policy.merged_into(pyspiel.TabularPolicy({"elsewhere": [(0, 1.0)]}), game)
    assert merged.policy_table()["elsewhere"] == [(0, 1.0)]
    assert len(merged.policy_table()) == 13
    with pytest.raises(ParameterError, match="game"):
        policy.to_openspiel()


def test_forced_decisions_are_in_the_openspiel_table():
    game = pyspiel.load_game("liars_dice(dice_sides=2)")
    policy = TabularPolicy.uniform(extract(game))
    assert pyspiel.nash_conv(game, policy.to_openspiel()) == pytest.approx(nash_conv(policy), abs=1e-12)


def test_a_perfect_information_policy_plays_from_positions():
    rules = games.spec("pig").make_rules({"goal": 6})
    tree = extract(rules, depth=9)
    solver = CFRSolver(tree, variant="cfr+")
    solver.run(300)
    assert solver.exploitability() < 0.01
    policy = solver.average_policy()
    position = rules.from_dict({**rules.initial_position().to_dict()})
    assert sum(policy.action_probabilities(position).values()) == pytest.approx(1.0)


def test_policies_save_load_and_mix(tmp_path):
    tree = extract("leduc_poker")
    policy = random_policy(tree, 2)
    policy.save(tmp_path / "policy")
    assert np.array_equal(TabularPolicy.load(tmp_path / "policy", tree).probabilities, policy.probabilities)
    with pytest.raises(SavedStateError, match="another game"):
        TabularPolicy.load(tmp_path / "policy", extract("kuhn_poker"))
    half = policy.mixed_with(TabularPolicy.uniform(tree), 0.5)
    assert half.probabilities == pytest.approx((policy.probabilities + TabularPolicy.uniform(tree).probabilities) / 2)
    with pytest.raises(ParameterError, match="mixed"):
        policy.mixed_with(TabularPolicy.uniform(extract("kuhn_poker")), 0.5)


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", "quandary_kuhn"])
def test_policies_play_as_bots(name):
    game = pyspiel.load_game(name)
    solver = CFRSolver(extract(name), variant="cfr+")
    solver.run(300)
    policy = solver.average_policy()
    bots = [PolicyBot(policy, seat, 7) for seat in range(2)]
    count, total = 2000, 0.0
    for i in range(count):
        total += pyspiel.evaluate_bots(game.new_initial_state(), bots, i)[0]
    # Standard deviations of a game between good players are under 1.2 (Kuhn) and 4 (Leduc) chips.
    spread = 4.0 if name == "leduc_poker" else 1.2
    assert total / count == pytest.approx(expected_values(policy)[0], abs=5 * spread / count**0.5)
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(state.legal_actions()[0])
    again = [PolicyBot(policy, 0, seed).step(state) for seed in (3, 3)]
    assert again[0] == again[1]
    with pytest.raises(IllegalActionError, match="plays seat 1"):
        bots[1].step(state)


def test_what_is_no_policy_is_refused():
    tree = extract("kuhn_poker")
    with pytest.raises(ParameterError, match="24 probabilities"):
        TabularPolicy(tree, np.ones(3))
    with pytest.raises(ParameterError, match="sum to 1"):
        TabularPolicy(tree, np.full(24, 0.4))
    with pytest.raises(ParameterError, match="no information set"):
        TabularPolicy.from_openspiel(tree, {"0": {0: 1.0}})


def test_a_list_that_is_too_short_raises_in_compiled_code():
    """Plans are a list from Python, indexed by a C integer."""
    form = SequenceForm(extract("kuhn_poker"))
    with pytest.raises(IndexError):
        form.values(0, [])
    assert len(form.values(0, [form.vector(player, 1.0) for player in range(2)])) == form.n_slots(0)


def test_a_linear_program_gives_up_after_its_time():
    """A program so large that another process works on it, which does not even start in a hundredth of a second."""
    solver = SequenceFormSolver(extract("liars_dice"))
    with pytest.raises(TooLargeError, match="was not solved in time"):
        solver.run_for(0.01)
    assert solver.iterations == 0
    with pytest.raises(ParameterError, match="seconds is 0"):
        solver.run_for(0)
    small = SequenceFormSolver(extract("kuhn_poker"))
    assert small.run_for(60.0) == 1
    assert small.value == pytest.approx(-1 / 18, abs=1e-9)
