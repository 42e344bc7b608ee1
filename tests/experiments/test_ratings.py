"""Intervals and ratings against literature, closed forms and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from experiments import ratings


@pytest.mark.parametrize(
    ("utilities", "shares"),
    [
        ([1, -1], [1, 0]),
        ([0, 0], [0.5, 0.5]),
        ([0.25, 0.25, -0.5], [0.5, 0.5, 0]),
        ([0, 0, 0, 0], [0.25] * 4),
        ([12.0], [1]),
        ([0.0], [0]),
    ],
)
def test_a_win_shared_by_w_counts_one_over_w(utilities, shares):
    assert ratings.win_shares(utilities) == shares


@pytest.mark.parametrize(
    # Newcombe, Statistics in Medicine 17 (1998), table I, method 3 (score, no continuity correction)
    ("successes", "trials", "low", "high"),
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0000, 0.1611), (1, 29, 0.0061, 0.1718)],
)
def test_wilson_agrees_with_newcombes_table(successes, trials, low, high):
    found = ratings.wilson(successes / trials, trials)
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))
    assert found.value == successes / trials


@pytest.mark.parametrize(("successes", "trials"), [(0, 1), (1, 1), (3, 7), (50, 100), (999, 1000)])
def test_wilson_agrees_with_scipy_and_takes_parts_of_a_win(successes, trials):
    found, own = (
        ratings.wilson(successes / trials, trials),
        stats.binomtest(successes, trials).proportion_ci(method="wilson"),
    )
    assert (found.low, found.high) == (pytest.approx(own.low, abs=1e-12), pytest.approx(own.high, abs=1e-12))
    more = ratings.wilson((successes + 0.5) / (trials + 1), trials + 1)
    assert more.low < more.value < more.high


def test_bootstrap_of_independent_values_is_near_the_normal_interval():
    values = np.random.default_rng(1).normal(3, 2, size=400)
    found = ratings.clustered_mean([[value] for value in values])
    error = stats.sem(values)
    assert found.value == pytest.approx(values.mean())
    assert found.low == pytest.approx(values.mean() - 1.96 * error, abs=0.25 * error)
    assert found.high == pytest.approx(values.mean() + 1.96 * error, abs=0.25 * error)


def test_bootstrap_resamples_whole_deals():
    """Two opposite games in every deal: the mean is 0 in every resample."""
    found = ratings.clustered_mean([[1, -1]] * 50)
    assert (found.value, found.low, found.high) == (0, 0, 0)


def test_what_one_wins_and_another_loses_has_intervals_that_mirror_each_other():
    """Skewed stakes of 89 deals: of all bots the same deals are resampled."""
    values = np.random.default_rng(2).exponential(size=89)
    won, lost = (ratings.clustered_mean([[sign * value] for value in values]) for sign in (1, -1))
    assert (lost.value, lost.low, lost.high) == pytest.approx((-won.value, -won.high, -won.low), abs=1e-12)


def test_a_distance_has_an_interval_within_its_bounds():
    """Student's interval of 0 and 0.9 goes far beyond what two-player utilities of -1 and 1 allow."""
    found = ratings.clustered_distance([[0.0], [0.9]], math.inf, 1.0)
    assert (found.low, found.value, found.high) == (0, 0.45, 1)


def test_one_deal_says_nothing_about_spread():
    found = ratings.clustered_mean([[1, 2]])
    assert found.value == 1.5
    assert (found.low, found.high) == (-math.inf, math.inf)


@pytest.mark.parametrize("n", [2, 3, 12, 19])
def test_a_mean_of_few_values_has_students_interval(n):
    values = np.random.default_rng(n).normal(size=n)
    found = ratings.clustered_mean([[value] for value in values])
    own = stats.ttest_1samp(values, 0).confidence_interval(0.95)
    assert (found.low, found.high) == (pytest.approx(own.low), pytest.approx(own.high))


@pytest.mark.parametrize("count", [2, 5, 20, 300])
def test_what_none_of_n_cases_has_is_rare_as_clopper_and_pearson_say(count):
    """scipy's exact one-sided limit of 0 of n, which is near 3 / n for many."""
    own = stats.binomtest(0, count, alternative="less").proportion_ci(0.95, method="exact")
    assert ratings.rare(count) == pytest.approx(own.high)
    if count == 300:
        assert ratings.rare(count) == pytest.approx(3 / count, rel=0.01)


def test_distances_that_are_all_zero_have_an_upper_end():
    """20 positions, utilities from -1 to 1: 2 (1 - 0.05**(1/20)) = 0.278, for any number of seeds at each."""
    for cluster in ([0.0], [0.0, 0.0, 0.0]):
        found = ratings.clustered_distance([cluster] * 20, 2.0)
        assert (found.value, found.low) == (0, 0)
        assert found.high == pytest.approx(0.2782, abs=5e-5)
    one = ratings.clustered_distance([[0.0]], 2.0)
    assert (one.low, one.high) == (-math.inf, math.inf)
    some = ratings.clustered_distance([[0.0], [0.0], [0.3]], 2.0)  # Student's interval, cut at 0
    assert (some.low, some.high) == (0, pytest.approx(0.1 + stats.t.ppf(0.975, 2) * 0.1))


def test_the_upper_end_of_zeros_covers_the_mean_that_is_hardest_to_see():
    """One position in eight costs everything: none of 20 shows it with 0.875**20 = 7 %. At a share of 13 %, where that
    happens in 6 %, the end must still be above the mean; just above `rare`, in 5 %, it need not."""
    found = ratings.clustered_distance([[0.0]] * 20, 2.0)
    assert 0.13 * 2 < found.high < 0.14 * 2
    assert 0.86**20 < 0.05 < 0.87**20


def deals_of(rng, count: int, games: int, chance: float, likeness: float) -> np.ndarray:
    """Won games [deals, games], alike within a deal where likeness is above 0, opposite in turns where it is below."""
    common = rng.normal(size=(count, 1)) * math.sqrt(abs(likeness))
    sign = 1.0 if likeness >= 0 else np.where(np.arange(games) % 2, 1.0, -1.0)
    own = rng.normal(size=(count, games)) * math.sqrt(1 - abs(likeness))
    return (sign * common + own < stats.norm.ppf(chance)).astype(float)


@pytest.mark.parametrize("likeness", [-0.8, 0.0, 0.5])
@pytest.mark.parametrize(("deals", "games", "chance"), [(5, 6, 0.7), (10, 2, 0.5), (20, 6, 0.9), (50, 2, 0.7)])
def test_intervals_of_shares_cover_the_truth(deals, games, chance, likeness):
    """95 % of them should; 500 repetitions tell that from 91 %."""
    rng = np.random.default_rng(1)
    found = [ratings.clustered_share(deals_of(rng, deals, games, chance, likeness)) for _ in range(500)]
    assert np.mean([each.low <= chance <= each.high for each in found]) > 0.92


def test_paired_deals_have_the_shorter_interval():
    rng = np.random.default_rng(2)
    widths = []
    for likeness in (-0.8, 0.0, 0.5):
        found = ratings.clustered_share(deals_of(rng, 200, 2, 0.6, likeness))
        widths.append(found.high - found.low)
    assert widths == sorted(widths)
    plain = ratings.wilson(found.value, 400)
    assert widths[1] == pytest.approx(plain.high - plain.low, rel=0.15)


def test_shares_without_any_variance_are_those_of_so_many_games():
    assert ratings.clustered_share([[1, 1], [1, 1], [1, 1]]) == ratings.wilson(1, 6)
    assert ratings.clustered_share([[0, 0]] * 30) == ratings.wilson(0, 60)
    assert ratings.clustered_share([[1, 0, 1, 0]]) == ratings.wilson(0.5, 4)
    level = ratings.clustered_share([[1, 0]] * 40)  # one more deal that differs keeps it from nothing
    assert level.value == 0.5
    assert 0 < level.high - level.low < 0.1


def duel(wins: int, losses: int) -> np.ndarray:
    """Scores [deals, 2, 2] of single games, wins and losses shuffled."""
    results = np.random.default_rng(3).permutation([1] * wins + [0] * losses)
    scores = np.zeros((wins + losses, 2, 2))
    scores[:, 0, 1], scores[:, 1, 0] = results, 1 - results
    return scores


@pytest.mark.parametrize(("wins", "losses"), [(75, 25), (50, 50), (100, 0)])
def test_two_bots_have_the_closed_form_rating(wins, losses):
    """With one virtual draw the most likely odds are (wins + 1/2) to (losses + 1/2)."""
    found = ratings.bradley_terry(duel(wins, losses)).elo
    apart = 400 * math.log10((wins + 0.5) / (losses + 0.5))
    assert found[0].value - found[1].value == pytest.approx(apart, abs=1e-6)
    assert found[0].value + found[1].value == pytest.approx(0, abs=1e-9)
    assert found[0].low < found[0].value < found[0].high


def test_one_deal_has_the_models_error_which_is_the_binomial_one():
    """Var(log odds) = 1 / (n p (1 - p)); of two bots each strength carries half of it, so of Wilson's interval."""
    found = ratings.bradley_terry(np.array([[[0, 60], [40, 0]]])).elo[0]
    own = stats.binomtest(60, 100).proportion_ci(method="wilson")
    for end, share in ((found.low, own.low), (found.high, own.high)):
        assert end == pytest.approx(200 * math.log10(share / (1 - share)))


@pytest.mark.parametrize("likeness", [-0.9, 0.0, 0.6])
@pytest.mark.parametrize(("deals", "chance"), [(1, 0.7), (4, 0.5), (30, 0.57), (80, 0.577), (40, 0.97), (6, 1.0)])
def test_two_bots_ratings_win_shares_and_differences_agree_on_who_is_ahead(deals, chance, likeness):
    """All of them include or exclude `level` together, whatever the dice have in common."""
    rng = np.random.default_rng(5)
    for _ in range(40):
        won = deals_of(rng, deals, 2, chance, likeness) if chance < 1 else np.ones((deals, 2))
        scores = np.zeros((deals, 2, 2))
        scores[:, 0, 1], scores[:, 1, 0] = won.sum(axis=1), (1 - won).sum(axis=1)
        share, rated = ratings.clustered_share(won), ratings.bradley_terry(scores)
        apart, p = ratings.excess(won)
        above, below = share.low > 0.5, share.high < 0.5
        assert (rated.elo[0].low > 0, rated.elo[0].high < 0) == (above, below)
        assert (rated.better[0, 1] > 0.975, rated.better[0, 1] < 0.025) == (above, below)
        assert (apart.low > 0, apart.high < 0, p < 0.05) == (above, below, above or below)
        assert all(math.isfinite(end) for each in rated.elo for end in (each.low, each.high))


def test_the_error_of_several_bots_is_that_of_what_deals_say_of_each():
    """Bots that are level in the mean: p = 1/2 throughout, so a strength is linear in the scores. Of three bots the
    strength of the first is 4 / (3 games) of what it won beyond a half; scipy has Student's interval of such means."""
    rng = np.random.default_rng(6)
    half = rng.choice([0.0, 1.0, 2.0], p=[0.3, 0.4, 0.3], size=(200, 3))
    won = np.concatenate([half, 2 - half])  # each deal once more the other way round: all level
    scores = np.zeros((400, 3, 3))
    for k, (i, j) in enumerate([(0, 1), (0, 2), (1, 2)]):
        scores[:, i, j], scores[:, j, i] = won[:, k], 2 - won[:, k]
    found = ratings.bradley_terry(scores).elo[0]
    influence = 4 / (3 * 2) * (won[:, 0] + won[:, 1] - 2)
    own = stats.ttest_1samp(influence, 0).confidence_interval(0.95)
    assert found.value == pytest.approx(0, abs=1e-6)
    assert found.high == pytest.approx(400 / math.log(10) * own.high, rel=0.01)


def simulated(rng, strengths: np.ndarray, deals: int, likeness: float) -> np.ndarray:
    """Scores [deals, n, n] of two games a deal between each two."""
    n = len(strengths)
    scores = np.zeros((deals, n, n))
    for i in range(n):
        for j in range(i + 1, n):
            chance = 1 / (1 + math.exp(strengths[j] - strengths[i]))
            scores[:, i, j] = deals_of(rng, deals, 2, chance, likeness).sum(axis=1)
            scores[:, j, i] = 2 - scores[:, i, j]
    return scores


@pytest.mark.parametrize("likeness", [-0.8, 0.0, 0.5])
@pytest.mark.parametrize(
    ("strengths", "deals"),
    [((0.2, -0.2), 60), ((0.2, -0.2), 8), ((1.7, -1.7), 25), ((0.6, 0.0, -0.6), 60), ((0.9, 0.2, -0.3, -0.8), 10)],
)
def test_intervals_of_ratings_cover_the_truth(strengths, deals, likeness):
    """Opposite games (paired dice), independent ones and like ones; 300 repetitions tell 95 % from 91 %."""
    rng, true = np.random.default_rng(7), np.array(strengths) - np.mean(strengths)
    inside = []
    for _ in range(300):
        found = ratings.bradley_terry(simulated(rng, true, deals, likeness)).elo
        inside.append([each.low <= ratings.ELO * own <= each.high for each, own in zip(found, true, strict=True)])
    assert np.mean(inside) > 0.92
    if deals == 60:  # fewer are so coarse that an interval must cover more
        assert np.mean(inside) < 0.985


def test_opposite_games_shorten_the_interval():
    """Paired dice that take the luck out: a model of independent games would not know."""
    rng = np.random.default_rng(8)
    true = np.array([0.5, 0.0, -0.5])
    widths = []
    for likeness in (-0.9, 0.0, 0.6):
        found = ratings.bradley_terry(simulated(rng, true, 200, likeness)).elo[0]
        widths.append(found.high - found.low)
    assert widths == sorted(widths)
    assert widths[0] < 0.8 * widths[1]


def test_strengths_behind_simulated_games_are_found_again():
    true = np.array([0.9, 0.2, -0.3, -0.8])
    rng = np.random.default_rng(4)
    deals, n = 4000, len(true)
    scores = np.zeros((deals, n, n))
    for i in range(n):
        for j in range(i + 1, n):
            won = rng.random(deals) < 1 / (1 + np.exp(true[j] - true[i]))
            scores[:, i, j], scores[:, j, i] = won, ~won
    found = ratings.bradley_terry(scores)
    expected = 400 / math.log(10) * (true - true.mean())
    assert [each.value for each in found.elo] == pytest.approx(expected, abs=12)
    inside = [each.low <= value <= each.high for each, value in zip(found.elo, expected, strict=True)]
    assert sum(inside) >= 3
    assert found.better[0, 3] > 0.999
    assert found.better[0, 3] + found.better[3, 0] == pytest.approx(1)


def test_correlated_games_widen_the_interval():
    """Every game entered four times in its deal carries no more than it did once."""
    once = ratings.bradley_terry(duel(60, 40)).elo[0]
    repeated = ratings.bradley_terry(4 * duel(60, 40)).elo[0]
    assert repeated.high - repeated.low == pytest.approx(once.high - once.low, rel=0.1)
