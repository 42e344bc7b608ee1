"""Profiles: what they report, that both sides are measured alike, and bad input. No speed is asserted."""

import json
import random

import pyspiel
import pytest
from rich.console import Console

import games
from engine_ext.errors import ConfigError, ParameterError
from experiments import profile, profile_solvers

GAME_KEYS = {
    "native_steps_per_s",
    "native_playouts_per_s",
    "openspiel_steps_per_s",
    "clone_ns",
    "position_clone_ns",
    "state_bytes",
    "mcts_simulations_per_s",
    "openspiel_mcts_simulations_per_s",
    "reference_cpp_steps_per_s",
    "reference_python_steps_per_s",
}
KERNEL_KEYS = {
    "bag_draws_per_s",
    "bag_draws_batched_per_s",
    "numpy_bag_draws_per_s",
    "numpy_bag_draws_batched_per_s",
    "lines_of_sight_per_s",
    "networkx_lines_of_sight_per_s",
    "floods_per_s",
    "networkx_floods_per_s",
    "attack_outcomes_per_s",
    "python_attack_outcomes_per_s",
}


def shown(result) -> str:
    console = Console(width=160, record=True, file=open("/dev/null", "w"))  # noqa: SIM115 - closed with the process
    console.print(profile.table(result))
    return console.export_text()


def test_a_game_is_measured_beside_the_references():
    result = profile.profile_game("pig(goal=10)", seconds=0.4, rounds=2, seed=3)
    assert json.loads(json.dumps(result)) == result
    assert result["game"] == "quandary_pig(goal=10)"
    assert all(result[key] > 0 for key in GAME_KEYS)
    assert result["openspiel_cpp_mcts_simulations_per_s"] > 0  # OpenSpiel has a pig of its own
    assert all(low <= high for low, high in result["ranges"].values())
    low, high = result["ranges"]["native_steps_per_s"]
    assert low <= result["native_steps_per_s"] <= high
    # Steps and games of the same playouts agree: a game to 10 takes some ten steps.
    assert 5 < result["mean_game_steps"] < 50
    text = shown(result)
    assert "native_steps_per_s" in text
    assert "mcts_to_openspiel_cpp_mcts" in text


def test_a_game_with_hidden_information_is_searched_with_is_mcts():
    result = profile.profile_game("quandary_kuhn", seconds=0.4, rounds=1)
    assert result["mcts_spec"].startswith("ismcts(simulations=10000,")
    assert result["openspiel_cpp_mcts_simulations_per_s"] is None
    assert result["openspiel_mcts_simulations_per_s"] > 0
    assert "-" in shown(result)


def test_kernels_are_measured_beside_plain_versions():
    result = profile.profile_kernels(seconds=0.5, rounds=1)
    assert json.loads(json.dumps(result)) == result
    assert all(result[key] > 0 for key in KERNEL_KEYS)
    assert result["numpy_bag_draws_batched_per_s"] == max(
        result["numpy_bag_draws_count_per_s"], result["numpy_bag_draws_marginals_per_s"]
    )
    assert "lines_of_sight_to_networkx" in shown(result)


def test_the_driver_counts_steps_and_draws_chance_by_its_probabilities():
    game = pyspiel.load_game("quandary_kuhn")
    assert games.SPECS  # registered
    # A game of Kuhn poker is two deals and two or three decisions.
    assert 4 * 50 <= profile.drive(game, 50, random.Random(1)) <= 5 * 50
    state = profile.first_decision(game, random.Random(1))
    assert state.current_player() == 0


def test_the_rounds_are_interleaved():
    order = []
    meters = {
        name: profile.Meter(lambda n, name=name: order.append(name) or n, fixed=True) for name in ("ours", "theirs")
    }
    profile.interleave(meters, seconds=1e-6, rounds=3)
    firsts = [name for i, name in enumerate(order) if i == 0 or order[i - 1] != name]
    assert firsts == ["ours", "theirs"] * 3
    assert all(len(meter.rates) == 3 for meter in meters.values())


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: profile.profile_game("no_such_game"), ParameterError),
        (lambda: profile.profile_game("pig(goal=0)"), ParameterError),
        (lambda: profile.profile_game("pig", seconds=0), ConfigError),
        (lambda: profile.profile_kernels(rounds=0), ConfigError),
    ],
)
def test_bad_input_gets_a_named_error(call, error):
    with pytest.raises(error):
        call()


def test_every_solver_is_measured_beside_openspiels():
    result = profile_solvers.profile_solvers(seconds=1.0, rounds=1, seed=2)
    assert json.loads(json.dumps(result)) == result
    for key in (
        "cfr_leduc_ratio",
        "cfr_kuhn_ratio",
        "cfr_liars4_ratio",
        "exploitability_leduc_ratio",
        "mccfr_es_leduc_ratio",
        "uct_pig_ratio",
        "ismcts_kuhn_ratio",
        "ismcts_leduc_ratio",
    ):
        assert result[key] == result["ratios"][key] > 0
    assert result["cfr_leduc_per_s"] > 0
    assert result["openspiel_cfr_leduc_per_s"] > 0
    assert "cfr_leduc_ratio" in shown(result)
