"""Our speed over the references', both sides measured side by side in processor time.

The bounds are a fraction of what docs/performance.md reports: they catch a kernel that has lost
its point, on any machine and under any load, and nothing finer. `quandary profile` gives the figures.
"""

import pytest

from experiments import profile

KERNELS = {
    "bag_draws_to_numpy_single": 75,
    "bag_draws_batched_to_numpy_count": 0.9,
    "bag_draws_batched_to_numpy_marginals": 3,
    "lines_of_sight_to_networkx": 100,
    "floods_to_networkx": 100,
    "attack_outcomes_to_python": 100,
}


@pytest.fixture(scope="module")
def kernels():
    return profile.profile_kernels(seconds=1.5, rounds=3)["ratios"]


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_keep_their_distance(kernels, name):
    assert kernels[name] >= KERNELS[name]


def test_pig_keeps_its_distance():
    ratios = profile.profile_game("pig", seconds=1.5, rounds=3)["ratios"]
    assert ratios["native_to_reference_cpp_steps"] >= 50
    assert ratios["openspiel_to_reference_python_steps"] >= 1
    assert ratios["mcts_to_openspiel_python_mcts"] >= 50
    assert ratios["mcts_to_openspiel_cpp_mcts"] >= 2
