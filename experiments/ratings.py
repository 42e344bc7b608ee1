"""Statistics of recorded games: shares, intervals, ratings.

All intervals are 95 % intervals. Only deals are taken to be independent of each other: the games of one
deal share their dice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from experiments.seeds import keyed_seed

CONFIDENCE = 0.95
ELO = 400 / math.log(10)  # points of Elo for one unit of log-odds
RESAMPLES = 10_000
SHARE_UNIT = "share of games, 0 to 1"  # what a win share counts
FEW_CLUSTERS = 20  # a percentile bootstrap of fewer is too narrow: of 5 it covers some 85 % instead of 95 %


@dataclass(frozen=True)
class Estimate:
    """A number with its 95 % interval.

    Attributes:
        value: the estimate.
        low: lower end.
        high: upper end.
    """

    value: float
    low: float
    high: float

    @property
    def known(self) -> bool:
        """Whether there is an interval: not where nothing is known of the spread, nor where nothing spreads."""
        return math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high


def win_shares(utilities: Sequence[float]) -> list[float]:
    """What each seat won: 1 for the only best utility, 1/w each where w share it; alone, 1 for a
    utility above 0.

    >>> win_shares([1.0, -1.0]), win_shares([0.0, 0.0]), win_shares([3.5])
    ([1.0, 0.0], [0.5, 0.5], [1.0])
    """
    if len(utilities) == 1:
        return [float(utilities[0] > 0)]
    best = max(utilities)
    share = 1.0 / sum(value == best for value in utilities)
    return [share if value == best else 0.0 for value in utilities]


def wilson(share: float, trials: float, z: float | None = None) -> Estimate:
    """A share of independent trials, with Wilson's score interval (1927).

    Args:
        share: from 0 to 1; a tie may have counted in part.
        trials: above 0; need not be whole where they are worth as much as so many independent ones.
        z: quantile for the interval; None: the normal distribution's.

    >>> wilson(0, 10).low, round(wilson(0, 10).high, 4)
    (0.0, 0.2775)
    """
    if z is None:
        z = float(stats.norm.ppf((1 + CONFIDENCE) / 2))
    scale = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / scale
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / scale
    low = 0.0 if share == 0 else max(0.0, centre - half)
    high = 1.0 if share == 1 else min(1.0, centre + half)
    return Estimate(share, low, high)


def clustered_share(clusters: Sequence[ArrayLike]) -> Estimate:
    """The share of wins in games of which only whole deals are independent: Wilson's interval for as many
    independent games as would vary as much (Korn and Graubard, *Survey Methodology* 24, 1998, with Wilson's score in
    the place of exact limits).

    The variance is that between deals, Student's t stands for its uncertainty, and one more deal that differs from
    the others as much as its games would independently keeps it above zero. Where everything or nothing was won the
    games are taken as they are, and so they are with a single deal.

    Args:
        clusters: for each deal what was won of each of its games, 0 to 1.
    """
    sums, sizes = _totals(clusters)
    found, *_ = _clustered_share(sums, sizes)
    return found


def _clustered_share(sums: NDArray[np.float64], sizes: NDArray[np.float64]) -> tuple[Estimate, float, float]:
    """The same from the sum and the number of each deal's games: the share, the independent games that it is worth,
    and the degrees of freedom of its variance (inf where the games are taken as they are)."""
    games = float(sizes.sum())
    share = min(1.0, float(sums.sum()) / games)
    independent = share * (1 - share)
    if len(sums) < 2 or independent <= 0:
        return wilson(share, games), games, math.inf
    spread = float(((sums - share * sizes) ** 2).sum()) + independent * games / len(sums)
    variance = len(sums) / (len(sums) - 1) * spread / games**2
    trials = independent / variance
    return wilson(share, trials, _student(len(sums))), trials, len(sums) - 1.0


def excess(clusters: Sequence[ArrayLike]) -> tuple[Estimate, float]:
    """How much more one side won than the other of what they both could win, -1 to 1, and how likely so much more or
    less is where both are as good.

    Both belong to the interval of `clustered_share`, so they agree with it on whether a half lies in it.

    Args:
        clusters: for each deal what the one won of each game, 0 to 1; the other won the rest.
    """
    found, trials, freedom = _clustered_share(*_totals(clusters))
    apart = Estimate(*(2 * end - 1 for end in (found.value, found.low, found.high)))
    return apart, 2 * float(stats.t.sf(abs(apart.value) * math.sqrt(trials), freedom))


def clustered_mean(clusters: Sequence[ArrayLike]) -> Estimate:
    """The mean of all values, of which only whole clusters are independent.

    A percentile bootstrap over clusters (Efron and Tibshirani, 1993); of fewer than 20, for which that is too narrow,
    Student's t with the variance between clusters.

    Args:
        clusters: one array of values for each cluster (deal, seed, position). As many clusters are always resampled
            alike: a report can be rebuilt, and what one bot wins and another loses has intervals that mirror each
            other.

    Returns:
        The mean over all values. With one cluster the interval is unbounded.
    """
    sums, sizes = _totals(clusters)
    mean = float(sums.sum() / sizes.sum())
    if len(sums) < 2:
        return Estimate(mean, -math.inf, math.inf)
    if len(sums) < FEW_CLUSTERS:
        return student_mean(clusters)
    rng = np.random.default_rng(keyed_seed("bootstrap", len(sums)))
    means = np.empty(RESAMPLES)
    step = max(1, 1_000_000 // len(sums))  # resamples at once: some megabytes
    for i in range(0, RESAMPLES, step):
        chosen = rng.integers(len(sums), size=(min(step, RESAMPLES - i), len(sums)))
        means[i : i + step] = sums[chosen].sum(axis=1) / sizes[chosen].sum(axis=1)
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(mean, min(float(low), mean), max(float(high), mean))


def rare(count: int) -> float:
    """The largest share of cases of which `count` independent ones may all be without, at 95 % confidence: that whose
    chance to miss so often is 5 % (the limit of Clopper and Pearson, 1934; some 3 / count, the rule of three of Hanley
    and Lippman-Hand, *If nothing goes wrong, is everything all right?*, JAMA 249, 1983).

    >>> round(rare(20), 4)
    0.1391
    """
    return float(1 - (1 - CONFIDENCE) ** (1 / count))


def clustered_distance(clusters: Sequence[ArrayLike], most: float, bound: float = math.inf) -> Estimate:
    """The mean of values that are never below 0, of which only whole clusters are independent.

    As `clustered_mean`, but with an interval that stays between 0 and `bound`, and that does not close where all values
    are 0: then at most the share `rare` of clusters has another value, at 95 % confidence, which may be `most`.

    Args:
        clusters: one array of values for each cluster.
        most: a value that was not met can be; inf where that is not known, and then nothing is said of zeros.
        bound: of all values.
    """
    found = clustered_mean(clusters)
    if len(clusters) > 1 and not any(np.any(cluster) for cluster in clusters):
        return Estimate(0.0, 0.0, most * rare(len(clusters))) if math.isfinite(most) else found
    if not math.isfinite(found.low):
        return found
    return Estimate(found.value, max(0.0, found.low), max(found.value, min(bound, found.high)))


def student_mean(clusters: Sequence[ArrayLike]) -> Estimate:
    """The same with Student's t and the variance between clusters, however many there are."""
    sums, sizes = _totals(clusters)
    mean = float(sums.sum() / sizes.sum())
    if len(sums) < 2:
        return Estimate(mean, -math.inf, math.inf)
    spread = float(((sums - mean * sizes) ** 2).sum())
    half = _student(len(sums)) * math.sqrt(len(sums) / (len(sums) - 1) * spread) / float(sizes.sum())
    return Estimate(mean, mean - half, mean + half)


def _totals(clusters: Sequence[ArrayLike]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sum and number of the values of each cluster."""
    return (
        np.array([np.sum(cluster) for cluster in clusters], dtype=np.float64),
        np.array([np.size(cluster) for cluster in clusters], dtype=np.float64),
    )


def _student(clusters: int) -> float:
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, clusters - 1))


@dataclass(frozen=True)
class Ratings:
    """Bradley-Terry strengths on the Elo scale; their mean is 0.

    Attributes:
        elo: one estimate for each bot.
        better: [n, n]; probability that the row's strength is above the column's.
    """

    elo: list[Estimate]
    better: NDArray[np.float64]


def bradley_terry(scores: NDArray[np.float64]) -> Ratings:
    """Strengths under which the scores are most likely (Bradley and Terry, 1952).

    Each two bots that met get one more, drawn game: it keeps strengths finite where one bot won everything.

    Standard errors take only deals to be independent: the cluster-robust sandwich (Liang and Zeger, *Biometrika* 73,
    1986) with Student's t of as many degrees of freedom as there are deals, less one. Every deal has the same games,
    so the correction of the sandwich for small samples is deals / (deals - 1), as CR2 is for clusters of one
    design. Two things keep it from closing where hardly a game differs from the others, as they do for shares: one
    more deal that differs as much as its games would independently, and the drawn games, each a cluster of its own.
    Of a single deal the error is the model's own (from the information matrix), which takes its games for
    independent; so is that of a strength that has the lower one, where one bot has won everything from another: there
    the deals show no spread.

    Two bots have the interval of the share that the one won from the other, on the scale of Elo; of a share
    of 0 or 1 the end that would be infinite is the model's.

    Args:
        scores: [deals, n, n]; what the row's bot won from the column's in the games of a deal
            (a draw is one half to each). Zero where they did not meet.
    """
    n, deals = scores.shape[1], len(scores)
    total = scores.sum(axis=0)
    met = (total + total.T) > 0
    drawn = np.where(met, 0.5, 0.0)
    wins = total + drawn
    games = wins + wins.T
    strengths = np.zeros(n)
    for _ in range(200):
        expected = games / (1 + np.exp(strengths[None, :] - strengths[:, None]))
        gradient = (wins - expected).sum(axis=1)
        step = _pseudo_inverse(_information(games, strengths)) @ gradient
        strengths += np.clip(step, -2.0, 2.0)
        if np.abs(step).max() < 1e-12:
            break
    strengths -= strengths.mean()
    information = _information(games, strengths)
    covariance = _pseudo_inverse(information)
    freedom = math.inf
    swept = bool(((total == 0) & (total.T > 0)).any())
    if deals > 1:
        chance = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
        played = scores + scores.transpose(0, 2, 1)
        gradients = (scores - played * chance).sum(axis=2)
        gradients -= gradients.mean(axis=0)
        between = gradients.T @ gradients + information / deals
        virtual = _laplacian(np.where(met, (0.5 - chance) ** 2, 0.0))
        robust = covariance @ (deals / (deals - 1) * between + virtual) @ covariance
        freedom = deals - 1.0
        if swept:
            scale = np.sqrt(np.maximum(1.0, np.diag(covariance) / np.maximum(np.diag(robust), 1e-300)))
            robust = robust * np.outer(scale, scale)
        covariance = robust
    quantile = float(stats.t.ppf((1 + CONFIDENCE) / 2, freedom))
    errors = np.sqrt(np.maximum(np.diag(covariance), 0))
    elo = [
        Estimate(ELO * value, ELO * (value - quantile * error), ELO * (value + quantile * error))
        for value, error in zip(strengths, errors, strict=True)
    ]
    variance = np.diag(covariance)[:, None] + np.diag(covariance)[None, :] - 2 * covariance
    spread = np.sqrt(np.maximum(variance, 1e-300))
    better = stats.t.cdf((strengths[:, None] - strengths[None, :]) / spread, freedom)
    np.fill_diagonal(better, 0.5)
    if n == 2:
        return _of_two(scores, elo)
    return Ratings(elo, better)


def _of_two(scores: NDArray[np.float64], elo: list[Estimate]) -> Ratings:
    """Ratings of two bots with the interval of the share that the one won from the other."""
    won = scores[:, 0, 1]
    share, trials, freedom = _clustered_share(won, won + scores[:, 1, 0])
    value, (low, high) = elo[0].value, (0.5 * ELO * _log_odds(end) for end in (share.low, share.high))
    # The drawn game moves the value, at most to the end.
    low = min(value, low if math.isfinite(low) else elo[0].low)
    high = max(value, high if math.isfinite(high) else elo[0].high)
    chance = float(stats.t.cdf((2 * share.value - 1) * math.sqrt(trials), freedom))
    return Ratings(
        [Estimate(value, low, high), Estimate(-value, -high, -low)], np.array([[0.5, chance], [1 - chance, 0.5]])
    )


def _log_odds(share: float) -> float:
    if share in (0, 1):
        return math.inf if share else -math.inf
    return math.log(share / (1 - share))


def _information(games: NDArray[np.float64], strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fisher's information of the strengths: a graph Laplacian weighted by games p (1 - p)."""
    chance = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    return _laplacian(games * chance * chance.T)


def _laplacian(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum over pairs of weight (e_i - e_j)(e_i - e_j)'."""
    apart = weights - np.diag(np.diag(weights))
    return np.asarray(np.diag(apart.sum(axis=1)) - apart)


def _pseudo_inverse(information: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inverse among strengths of mean zero: the mean itself is not identified."""
    inverse: NDArray[np.float64] = np.linalg.pinv(information, rcond=1e-12, hermitian=True).astype(np.float64)
    return inverse
