"""Dealing a limit out in batches: counts are exact, time is kept."""

from __future__ import annotations

import pytest

from solvers.budget import BATCH_S, batches, simulation_limit
from solvers.contract import Limit


class Clock:
    """Stands still but for the work that is done under it."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.mark.parametrize("simulations", [1, 2, 1000, 12_345_678])
@pytest.mark.parametrize("cost_s", [1e-8, 1e-4])
def test_simulations_are_exact(simulations, cost_s):
    clock = Clock()
    done = 0
    for count in batches(simulations, None, clock):
        assert count >= 1
        assert count == 1 or count * cost_s <= 1.01 * BATCH_S
        done += count
        clock.now_s += count * cost_s
    assert done == simulations


@pytest.mark.parametrize("seconds", [0.001, 0.1, 3.0])
@pytest.mark.parametrize("cost_s", [1e-7, 1e-3, 0.7, 9.0])
def test_time_is_kept_within_five_percent_or_one_simulation(seconds, cost_s):
    clock = Clock()
    for count in batches(None, seconds, clock):
        clock.now_s += count * cost_s
    spent_s = clock.now_s - 100.0
    assert spent_s <= max(1.05 * seconds, cost_s) + 1e-9  # a first one there is always
    assert spent_s + cost_s > seconds  # and no fewer than fit


@pytest.mark.parametrize(("seconds", "done"), [(5.0, 2), (5.7, 2), (5.8, 3), (1.0, 1)])
def test_no_iteration_is_begun_that_would_end_too_late(seconds, done):
    """Iterations of two seconds each, as on a large tree: three end after 6 s, which is 5 % past 5.72 s."""
    clock, counts = Clock(), []
    for count in batches(None, seconds, clock):
        clock.now_s += 2.0 * count
        counts.append(count)
    assert sum(counts) == done


def test_one_slow_start_is_no_measure():
    """The first simulation meets a cold cache: it takes a tenth of a second of 0.15, all others a microsecond."""
    clock, done = Clock(), 0
    for count in batches(None, 0.15, clock):
        clock.now_s += 0.1 * (done == 0) + count * 1e-6
        done += count
    assert done > 10_000
    assert clock.now_s - 100.0 <= 1.05 * 0.15


def test_simulations_that_slow_down_do_not_break_the_limit():
    """Each twice as costly as the thousandth before it."""
    clock, done = Clock(), 0
    for count in batches(None, 1.0, clock):
        clock.now_s += count * 1e-6 * (1 + done / 1000)
        done += count
    assert 1.0 <= clock.now_s - 100.0 <= 1.05


def test_the_first_limit_reached_ends_it():
    clock, done = Clock(), 0
    for count in batches(500, 1.0, clock):
        done += count
        clock.now_s += count * 0.004
    assert done == pytest.approx(250, abs=13)


def test_what_a_limit_allows():
    assert simulation_limit(Limit(simulations=10, nodes=20), 7) == 10
    assert simulation_limit(Limit(simulations=30, nodes=20, depth=3), 7) == 20
    assert simulation_limit(Limit(seconds=1.0), 7) is None
    assert simulation_limit(Limit(depth=4), 7) == 7  # a depth alone ends no such search
