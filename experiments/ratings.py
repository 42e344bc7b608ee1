"""Statistics of recorded games: shares, intervals, ratings.

All intervals are 95 % intervals. Deals are the unit of resampling: the games of one deal share
their dice, so they are not independent of each other, but deals are.
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
RESAMPLES = 2000


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


def wilson(successes: float, trials: int) -> Estimate:
    """A share of independent trials, with Wilson's score interval (1927).

    Args:
        successes: need not be whole: a tie may count in part.
        trials: at least 1.

    >>> wilson(0, 10).low, round(wilson(0, 10).high, 4)
    (0.0, 0.2775)
    """
    z = float(stats.norm.ppf((1 + CONFIDENCE) / 2))
    share = successes / trials
    scale = 1 + z * z / trials
    centre = (share + z * z / (2 * trials)) / scale
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials)) / scale
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == trials else min(1.0, centre + half)
    return Estimate(share, low, high)


def bootstrap_mean(clusters: Sequence[ArrayLike], *key: str | int) -> Estimate:
    """The mean of all values, with a percentile bootstrap over clusters (Efron and Tibshirani, 1993).

    Args:
        clusters: one array of values for each cluster (deal); resampled as wholes.
        key: names the quantity; the resampling is seeded by it, so a report can be rebuilt.

    Returns:
        The mean over all values. With one cluster the interval is unbounded.
    """
    sums = np.array([np.sum(cluster) for cluster in clusters], dtype=float)
    sizes = np.array([np.size(cluster) for cluster in clusters], dtype=float)
    mean = float(sums.sum() / sizes.sum())
    if len(sums) < 2:
        return Estimate(mean, -math.inf, math.inf)
    rng = np.random.default_rng(keyed_seed("bootstrap", *key))
    means = np.empty(RESAMPLES)
    step = max(1, 1_000_000 // len(sums))  # resamples at once: some megabytes
    for i in range(0, RESAMPLES, step):
        chosen = rng.integers(len(sums), size=(min(step, RESAMPLES - i), len(sums)))
        means[i : i + step] = sums[chosen].sum(axis=1) / sizes[chosen].sum(axis=1)
    low, high = np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Estimate(mean, min(float(low), mean), max(float(high), mean))


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

    Each two bots that met get one more, drawn game: it keeps strengths finite where one bot won
    everything. Standard errors are the larger of the model's own (from the information matrix)
    and one that only takes deals to be independent (the cluster-robust sandwich).

    Args:
        scores: [deals, n, n]; what the row's bot won from the column's in the games of a deal
            (a draw is one half to each). Zero where they did not meet.
    """
    n = scores.shape[1]
    total = scores.sum(axis=0)
    met = (total + total.T) > 0
    wins = total + np.where(met, 0.5, 0.0)
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
    inverse = _pseudo_inverse(_information(games, strengths))
    covariance = inverse
    if len(scores) > n:
        chance = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
        played = scores + scores.transpose(0, 2, 1)
        gradients = (scores - played * chance).sum(axis=2)
        gradients -= gradients.mean(axis=0)
        robust = inverse @ (gradients.T @ gradients * len(scores) / (len(scores) - 1)) @ inverse
        scale = np.sqrt(np.maximum(1.0, np.diag(robust) / np.maximum(np.diag(inverse), 1e-300)))
        covariance = inverse * np.outer(scale, scale)
    z = stats.norm.ppf((1 + CONFIDENCE) / 2)
    errors = np.sqrt(np.maximum(np.diag(covariance), 0))
    elo = [
        Estimate(ELO * value, ELO * (value - z * error), ELO * (value + z * error))
        for value, error in zip(strengths, errors, strict=True)
    ]
    variance = np.diag(covariance)[:, None] + np.diag(covariance)[None, :] - 2 * covariance
    spread = np.sqrt(np.maximum(variance, 1e-300))
    better = stats.norm.cdf((strengths[:, None] - strengths[None, :]) / spread)
    np.fill_diagonal(better, 0.5)
    return Ratings(elo, better)


def _information(games: NDArray[np.float64], strengths: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fisher's information of the strengths: a graph Laplacian weighted by games p (1 - p)."""
    chance = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
    weights = games * chance * chance.T
    np.fill_diagonal(weights, 0)
    return np.diag(weights.sum(axis=1)) - weights


def _pseudo_inverse(information: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inverse among strengths of mean zero: the mean itself is not identified."""
    inverse: NDArray[np.float64] = np.linalg.pinv(information, rcond=1e-12, hermitian=True).astype(np.float64)
    return inverse
