"""Differences between two runs: against published examples and scipy, and how often their intervals hold."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from experiments import ratings
from experiments.differences import Sample, _zou_donner, compare, holm
from experiments.ratings import Estimate


def sample(values, share=False, **more) -> Sample:
    """A cluster for each row of values."""
    rows = np.asarray(values, dtype=float).reshape(len(values), -1).tolist()
    return Sample(dict(enumerate(rows)), share, **more)


# ---- against the literature ----------------------------------------------------------------------


def test_two_independent_shares_have_newcombes_interval():
    """56 of 70 against 48 of 80: method 10 of Newcombe (Statistics in Medicine 17, 1998, table II)."""
    found = _zou_donner(ratings.wilson(48 / 80, 80), ratings.wilson(56 / 70, 70))
    assert found.value == pytest.approx(0.2)
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_paired_shares_have_agresti_and_mins_interval():
    """1,600 people asked twice, of whom 150 and 86 changed their minds: half a person more in each of the four cells,
    here with Student's t."""
    before = [1.0] * 794 + [1.0] * 150 + [0.0] * 86 + [0.0] * 570
    after = [1.0] * 794 + [0.0] * 150 + [1.0] * 86 + [0.0] * 570
    found = compare(sample(after, share=True), sample(before, share=True), paired=True)
    n = 1602
    centre = (150 - 86) / n
    half = stats.t.ppf(0.975, 1599) * math.sqrt((150 + 86 + 1) - (150 - 86) ** 2 / n) / n
    assert found.value.value == pytest.approx(0.04)
    assert (found.value.low, found.value.high) == pytest.approx((centre - half, centre + half))
    assert (found.paired, found.clusters) == (True, 1600)


def test_paired_means_have_students_interval_and_probability():
    rng = np.random.default_rng(1)
    before = rng.normal(size=30)
    after = before + rng.normal(0.3, 0.5, size=30)
    found = compare(sample(before), sample(after), paired=True)
    known = stats.ttest_rel(after, before)
    assert found.value.value == pytest.approx((after - before).mean())
    assert (found.value.low, found.value.high) == pytest.approx(tuple(known.confidence_interval()))
    assert found.p == pytest.approx(known.pvalue)


def test_independent_means_put_both_intervals_together():
    before, after = [1.0, 2.0, 4.0, 5.0], [3.0, 3.5, 6.0]
    halves = [stats.t.ppf(0.975, len(x) - 1) * stats.sem(x) for x in (before, after)]
    found = compare(sample(before), sample(after), paired=False)
    apart = np.mean(after) - np.mean(before)
    half = math.hypot(*halves)
    assert (found.value.low, found.value.high) == pytest.approx((apart - half, apart + half))
    t = stats.t.ppf(0.975, 2) * apart / half
    assert found.p == pytest.approx(2 * stats.t.sf(t, 2))
    assert found.clusters == 3


def test_the_probability_is_5_percent_where_the_interval_ends_at_zero():
    rng = np.random.default_rng(2)
    for trial in range(800):
        share, paired = bool(trial % 2), bool(trial % 4 // 2)
        size = 2, int(rng.integers(2, 30)), 1
        before, after = rng.integers(0, 3, size=size) / 2 if share else rng.normal(size=size)
        found = compare(sample(before, share), sample(after, share), paired=paired)
        excluded = not found.value.low <= 0 <= found.value.high
        assert excluded == (found.p < 0.05)


def test_holms_correction():
    """By hand: 0.005 * 4, 0.01 * 3, 0.03 * 2, 0.04 raised to the one before it."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
    untested = holm([math.nan, 0.02, 0.5])
    assert math.isnan(untested[0])
    assert untested[1:] == pytest.approx([0.04, 0.5])


# ---- at the edges --------------------------------------------------------------------------------


def test_runs_that_came_out_alike_do_not_differ():
    for share in (True, False):
        found = compare(sample([1.0, 0.0, 1.0], share), sample([1.0, 0.0, 1.0], share), paired=True)
        assert found.value.value == 0
        assert found.p == 1
    rounded = compare(sample([0.1, 0.1]), sample([0.1 + 1e-17, 0.1 * (1 + 1e-12)]), paired=True)
    assert (rounded.value.value, rounded.p) == (0, 1)


def test_few_pairs_that_all_differ_alike_are_no_proof_for_shares():
    """Three deals won by B alone: a share that has not varied yet may do so still. With the half pairs beside them the
    mean is 3/5 and the variance (3 + 1)/5 - 9/25 = 0.44."""
    found = compare(sample([0.0] * 3, share=True), sample([1.0] * 3, share=True), paired=True)
    half = stats.t.ppf(0.975, 2) * math.sqrt(0.44 / 5)
    assert found.value.low == pytest.approx(max(-1, 0.6 - half))
    assert found.value.high == 1
    assert found.p > 0.05


def test_what_has_no_spread_differs_where_it_differs():
    """Exact figures of several seeds, such as CFR's, which none of them changes."""
    found = compare(sample([0.25, 0.25]), sample([0.26, 0.26]), paired=True)
    assert found.value == Estimate(pytest.approx(0.01), pytest.approx(0.01), pytest.approx(0.01))
    assert found.p == 0


def test_one_cluster_says_nothing_about_spread():
    for paired in (True, False):
        found = compare(sample([0.3]), sample([0.5]), paired=paired)
        assert found.value.value == pytest.approx(0.2)
        assert (found.value.low, found.value.high) == (-math.inf, math.inf)
        assert math.isnan(found.p)
        assert math.isnan(compare(sample([0.3]), sample([0.3]), paired=paired).p)


def test_pairs_are_those_that_both_have():
    one = Sample({0: [1.0], 1: [2.0], 2: [6.0]})
    other = Sample({1: [3.0], 2: [7.0], 9: [100.0]})
    found = compare(one, other, paired=True)
    assert (found.a.value, found.b.value, found.value.value, found.clusters) == (4.0, 5.0, 1.0, 2)


def test_distances_do_not_go_below_zero():
    found = compare(sample([0.0, 0.0, 0.03], most=2.0), sample([0.0, 0.0, 0.01], most=2.0), paired=False)
    assert found.a.low == found.b.low == 0
    assert found.value.low < 0 < found.value.high


def test_distances_that_are_all_zero_are_not_taken_for_certain():
    """None of 20 and utilities of a range of 2: at most 2 (1 - 0.05**(1/20)). Zou and Donner's interval of the
    difference from a side with mean 0.1 and Student's half h: from 0.1 - sqrt(h^2 + 0.278^2) to 0.1 + h."""
    other = [0.05, 0.15] * 10
    found = compare(sample([0.0] * 20, most=2.0), sample(other, most=2.0), paired=False)
    assert found.a.high == pytest.approx(0.2782, abs=5e-5)
    half = stats.t.ppf(0.975, 19) * stats.sem(other)
    assert found.value.low == pytest.approx(0.1 - math.hypot(half, found.a.high))
    assert found.value.high == pytest.approx(0.1 + half)


# ---- how often they hold -------------------------------------------------------------------------

TRIALS = 500


def won(rng, deals: int, games: int, chance: float, luck: np.ndarray | None = None) -> np.ndarray:
    """[deals, games] of won games; `luck` by deal is shared by all who play it."""
    luck = rng.normal(0, 0.15, size=(deals, 1)) if luck is None else luck
    return (rng.random((deals, games)) < np.clip(chance + luck, 0, 1)).astype(float)


def paired_shares(rng, deals, apart):
    luck = rng.uniform(-0.25, 0.25, size=(deals, 1))
    return (
        sample(won(rng, deals, 2, 0.5 - apart / 2, luck), share=True),
        sample(won(rng, deals, 2, 0.5 + apart / 2, luck), share=True),
    )


def shares(rng, deals, apart):
    def luck(n):
        return rng.uniform(-0.25, 0.25, size=(n, 1))

    return (
        sample(won(rng, deals, 2, 0.5 - apart / 2, luck(deals)), share=True),
        sample(won(rng, 2 * deals, 2, 0.5 + apart / 2, luck(2 * deals)), share=True),
    )


def paired_stakes(rng, deals, apart):
    """Skewed, as stakes are."""
    luck = rng.exponential(size=(deals, 1)) - 1
    return (
        sample(luck + rng.normal(size=(deals, 2))),
        sample(luck + rng.normal(apart, 1, size=(deals, 2))),
    )


def stakes(rng, deals, apart):
    return (
        sample(rng.normal(size=(deals, 2))),
        sample(rng.normal(apart, 2, size=(deals, 2))),
    )


@pytest.mark.parametrize("apart", [0.0, 0.2])
@pytest.mark.parametrize(
    ("draw", "paired", "deals"),
    [
        (paired_shares, True, 60),
        (paired_shares, True, 8),
        (shares, False, 60),
        (shares, False, 8),
        (paired_stakes, True, 60),
        (stakes, False, 60),
        (stakes, False, 8),
    ],
)
def test_intervals_cover_the_difference(draw, paired, deals, apart):
    """In 95 % of simulated pairs of runs, within three standard errors of the simulation (2.9 %); with few deals they
    may cover more."""
    rng = np.random.default_rng([deals, int(paired), int(10 * apart)])
    covered = 0
    for _ in range(TRIALS):
        found = compare(*draw(rng, deals, apart), paired=paired)
        covered += found.value.low <= apart <= found.value.high
    assert covered / TRIALS > 0.95 - 0.029
    if deals > 20:
        assert covered / TRIALS < 0.95 + 0.029


def test_false_alarms_are_rare_whatever_the_number_of_rows():
    """Ten rows without a difference: in 5 % of comparisons at most one of them differs, within three standard errors
    (3.3 %); without the correction it would be about 40 %."""
    rng = np.random.default_rng(7)
    alarms = raw = 0
    trials = 400
    for _ in range(trials):
        found = [compare(*paired_shares(rng, 40, 0.0), paired=True).p for _ in range(5)]
        found += [compare(*shares(rng, 20, 0.0), paired=False).p for _ in range(5)]
        raw += min(found) < 0.05
        alarms += min(holm(found)) < 0.05
    assert alarms / trials < 0.05 + 0.033
    assert raw / trials > 0.25


def test_pairs_find_what_independent_deals_do_not():
    """The same runs, a tenth apart, with the luck of the dice in common: seen only where it is taken out."""
    rng = np.random.default_rng(3)
    seen = {True: 0, False: 0}
    for _ in range(100):
        luck = rng.normal(0, 2, size=(60, 1))
        one = sample(luck + rng.normal(0, 0.3, size=(60, 1)))
        other = sample(luck + rng.normal(0.2, 0.3, size=(60, 1)))
        for paired in seen:
            seen[paired] += compare(one, other, paired=paired).p < 0.05
    assert seen[True] > 80
    assert seen[False] < 20
