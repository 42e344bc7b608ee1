"""Sequential tests: two bots meet until it is clear whether the first is the stronger, and no longer.

Wald's sequential probability ratio test (*Sequential Tests of Statistical Hypotheses*, Annals of
Mathematical Statistics 16, 1945) between two strengths, in points of Elo, of the first bot over the
second. The observation is a deal: what the first bot won from the second over all seatings of one
chance seed, between 0 and 1. Games of a deal depend on each other, and how deals are distributed is
not known, so the likelihoods are those of the likeliest distributions with the two means that the
hypotheses name (the generalised test that Van den Bergh worked out for chess engines, where a deal
is a pair of games with one opening).

The test is decided at the first deal, in their order, at which a bound is crossed. It does not matter
in what order games end, or how many workers play them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy import optimize

from experiments.config import SprtConfig

GRID = (0.0, 0.25, 0.5, 0.75, 1.0)
SEEN_AS = 1e-3  # deals that a score of the grid counts before it was seen: likelihoods stay finite


def expected_score(elo: float) -> float:
    """The share that a strength of so many points of Elo above the rival's earns: in (0, 1).

    >>> expected_score(0), round(expected_score(100), 4)
    (0.5, 0.6401)
    """
    return 1 / (1 + 10 ** (-elo / 400))


def log_likelihood_ratio(scores: Mapping[float, float], elo0: float, elo1: float) -> float:
    """How much likelier the scores are under strength `elo1` than under `elo0`; natural logarithm.

    Args:
        scores: how many deals came out with each score; scores are in [0, 1].
        elo0: of the first bot over the second, under the null hypothesis.
        elo1: likewise, under the alternative.
    """
    counts = dict.fromkeys(GRID, SEEN_AS)
    counts.update({value: count for value, count in scores.items() if count > 0})
    values = np.array(list(counts))
    weights = np.array(list(counts.values()))
    tilts = [_tilt(values, weights / weights.sum(), expected_score(elo)) for elo in (elo0, elo1)]
    return float(weights @ np.log(tilts[0] / tilts[1]))


def _tilt(values: np.ndarray, shares: np.ndarray, mean: float) -> np.ndarray:
    """observed / fitted shares, where the fitted ones are the likeliest with this mean.

    With a Lagrange multiplier t the fitted shares are shares / (1 + t (values - mean)), and t is
    where their mean is right (Owen, *Empirical Likelihood*, 2001, section 2.9).
    """
    apart = values - mean
    # Between the poles the excess falls from +inf to -inf.
    low, high = -1 / apart.max(), -1 / apart.min()
    margin = 1e-12 * (high - low)
    multiplier = optimize.brentq(
        lambda t: float((shares * apart / (1 + t * apart)).sum()), low + margin, high - margin, xtol=1e-14
    )
    return np.asarray(1 + multiplier * apart)


@dataclass
class SequentialTest:
    """A test under way.

    Attributes:
        config: hypotheses and error rates.
        path: log likelihood ratio after each deal.
        accepted: the hypothesis that was accepted, "H0" or "H1"; None while none is.
    """

    config: SprtConfig
    path: list[float] = field(default_factory=list)
    accepted: str | None = None
    _scores: Counter[float] = field(default_factory=Counter)

    @property
    def bounds(self) -> tuple[float, float]:
        """H0 is accepted at or below the first, H1 at or above the second."""
        alpha, beta = self.config.alpha, self.config.beta
        return math.log(beta / (1 - alpha)), math.log((1 - beta) / alpha)

    @property
    def deals(self) -> int:
        """Deals the test has looked at."""
        return len(self.path)

    def add(self, score: float) -> None:
        """Look at the next deal; nothing changes once the test is decided."""
        if self.accepted is not None:
            return
        self._scores[score] += 1
        ratio = log_likelihood_ratio(self._scores, self.config.elo0, self.config.elo1)
        self.path.append(ratio)
        low, high = self.bounds
        if ratio <= low:
            self.accepted = "H0"
        elif ratio >= high:
            self.accepted = "H1"


class Watch:
    """Feeds a test with games that end in any order.

    Args:
        config: of the test.
        first: the bot that is tested against the other.
        games_per_deal: a deal is looked at when so many of its games are known.
    """

    def __init__(self, config: SprtConfig, first: str, games_per_deal: int) -> None:
        self.test = SequentialTest(config)
        self._first = first
        self._games_per_deal = games_per_deal
        self._waiting: dict[int, list[float]] = defaultdict(list)
        self._looked_at = 0

    def add(self, deal: int, seats: Iterable[tuple[str, float]]) -> None:
        """A finished game of a deal.

        Args:
            seats: the bot in each seat and its utility.
        """
        sides: dict[bool, list[float]] = {True: [], False: []}
        for bot, utility in seats:
            sides[bot == self._first].append(utility)
        self._waiting[deal].append(score(sides[True], sides[False]))
        while len(self._waiting.get(self._looked_at, ())) == self._games_per_deal:
            scores = self._waiting.pop(self._looked_at)
            self._looked_at += 1
            self.test.add(math.fsum(scores) / len(scores))

    @property
    def decided(self) -> bool:
        """Whether more games can change nothing."""
        return self.test.accepted is not None


def score(first: Iterable[float], second: Iterable[float]) -> float:
    """What one bot won from another in a game: 1 if its best seat had more than the other's best, 1/2 if as much,
    else 0.

    Of a bot in several seats one at most can win: its losing seats have lost nothing to the other. That more seats
    win more evens out, since each of two bots sits as often in one seat as in all but one (`arena.lineups`).

    Args:
        first: utilities of the seats of the one bot.
        second: those of the other.

    >>> score([1.0, -0.5], [-0.5]), score([-0.5], [-0.5]), score([-0.5, -0.5], [1.0])
    (1.0, 0.5, 0.0)
    """
    mine, other = max(first), max(second)
    return 0.5 if mine == other else float(mine > other)
