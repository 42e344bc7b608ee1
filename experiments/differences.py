"""Statistics of two runs beside each other: the difference of a figure, its interval, and whether it is one.

A figure is a mean over *clusters* (deals, seeds, positions), which alone are independent of each other. Where both
runs have the same clusters (a deal with the same dice, a seed, a position), differences are taken within each, and
their mean has

* for shares Agresti and Min's interval (*Simple improved confidence intervals for comparing matched proportions*,
  Statistics in Medicine 24, 2005): as if half a cluster more had been won by one run alone, half a one by the other
  alone, and one by both or neither, which keeps the interval from closing where no cluster differs. The clusters'
  differences need not be whole here, and Student's t stands for the uncertainty of their variance;
* for all other means Student's t.

Where the clusters have nothing to do with each other, the interval is put together from those of both sides, of
shares Wilson's, of other means Student's (Zou and Donner, *Construction of confidence limits about effect measures: a
general approach*, Statistics in Medicine 27, 2008; of two Wilson intervals it is method 10 of Newcombe, Statistics in
Medicine 17, 1998).

A probability is the level at which the interval would end at zero, found by Student's distribution from the interval
that there is (Altman and Bland, *How to obtain the P value from a confidence interval*, BMJ 343, 2011). Of many rows
those differ whose probability is below 5 % after Holm's correction (*A simple sequentially rejective multiple test
procedure*, Scandinavian Journal of Statistics 6, 1979): if nothing differs, a single false alarm among all rows
comes about in 5 % of comparisons at most.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

from scipy import stats

from experiments import ratings
from experiments.ratings import CONFIDENCE, Estimate

SAME = 1e-9  # of a figure: two that differ by less are equal but for rounding


@dataclass(frozen=True)
class Sample:
    """What one run says of a figure.

    Attributes:
        clusters: by what tells them apart, the values of each; the figure is their mean.
        share: whether values are shares of won games, 0 to 1.
        scale: what the figure is multiplied by: of shares of several seats at a table, games over seats.
        most: values are distances, of which unseen ones may be so large (`ratings.clustered_distance`); None: they are
            none.
        bound: of distances.
    """

    clusters: Mapping[Hashable, Sequence[float]]
    share: bool = False
    scale: float = 1.0
    most: float | None = None
    bound: float = math.inf

    def estimate(self) -> Estimate:
        """The figure with its interval, as a report has it; unbounded where there is one cluster."""
        values = list(self.clusters.values())
        if self.most is not None:
            return ratings.clustered_distance(values, self.most, self.bound)
        found = ratings.clustered_share(values) if self.share else ratings.clustered_mean(values)
        return Estimate(*(self.scale * end for end in (found.value, found.low, found.high)))

    def student(self) -> Estimate:
        """The figure, of a mean, with Student's interval; of distances that are all 0 with the one that they have."""
        values = list(self.clusters.values())
        if self.most is not None and not any(map(any, values)):
            return self.estimate()
        return ratings.student_mean(values)

    def means(self) -> dict[Hashable, float]:
        """The figure of each cluster alone."""
        return {key: self.scale * math.fsum(values) / len(values) for key, values in self.clusters.items()}

    def restricted(self, keys: set[Hashable]) -> Sample:
        """The same with these clusters alone."""
        return replace(self, clusters={key: self.clusters[key] for key in self.clusters if key in keys})


@dataclass(frozen=True)
class Difference:
    """The figure of the second run less that of the first.

    Attributes:
        a: the figure of the first run.
        b: that of the second.
        value: of the difference, with its interval; unbounded where nothing is known of its spread.
        paired: whether it was taken within clusters.
        clusters: that it rests on: pairs, or those of the side with fewer.
        p: how likely a difference as large is where there is none; nan where nothing is known of its spread.
    """

    a: Estimate
    b: Estimate
    value: Estimate
    paired: bool
    clusters: int
    p: float


def compare(a: Sample, b: Sample, *, paired: bool) -> Difference:
    """The difference of a figure between two runs.

    Args:
        a: of the first run.
        b: of the second.
        paired: whether clusters with one key are the same in both; only those are then looked at.

    Raises:
        ValueError: no cluster is left.
    """
    if paired:
        shared = a.clusters.keys() & b.clusters.keys()
        a, b = a.restricted(set(shared)), b.restricted(set(shared))
    if not a.clusters or not b.clusters:
        raise ValueError("there are no clusters to compare")
    found_a, found_b = a.estimate(), b.estimate()
    clusters = min(len(a.clusters), len(b.clusters))
    apart = found_b.value - found_a.value
    if paired:
        before, after = a.means(), b.means()
        differences = [after[key] - before[key] for key in before]
        value = _agresti_min(differences) if a.share else ratings.student_mean(differences)
    elif a.share:
        value = _zou_donner(found_a, found_b)
    else:
        value = _zou_donner(a.student(), b.student())
    if abs(apart) <= SAME * max(abs(found_a.value), abs(found_b.value)):
        apart = 0.0
    value = Estimate(apart, min(value.low, apart), max(value.high, apart))
    return Difference(found_a, found_b, value, paired, clusters, _probability(value, clusters))


def _agresti_min(differences: Sequence[float]) -> Estimate:
    """Of differences from -1 to 1."""
    n, total = len(differences), math.fsum(differences)
    if n < 2:
        return Estimate(total, -math.inf, math.inf)
    # Half a cluster that one run alone has won, half a one that the other has, one that both have.
    mean = total / (n + 2)
    variance = (math.fsum(each**2 for each in differences) + 1) / (n + 2) - mean**2
    half = _quantile(n) * math.sqrt(variance / (n + 2))
    return Estimate(mean, max(-1.0, mean - half), min(1.0, mean + half))


def _zou_donner(a: Estimate, b: Estimate) -> Estimate:
    apart = b.value - a.value
    if not all(map(math.isfinite, (a.low, a.high, b.low, b.high))):
        return Estimate(apart, -math.inf, math.inf)
    low = apart - math.hypot(b.value - b.low, a.high - a.value)
    high = apart + math.hypot(b.high - b.value, a.value - a.low)
    return Estimate(apart, low, high)


def _probability(value: Estimate, clusters: int) -> float:
    """The level at which the interval would end at zero."""
    reach = value.value - value.low if value.value > 0 else value.high - value.value
    if not math.isfinite(reach):
        return math.nan
    if value.value == 0:
        return 1.0
    if reach == 0:
        return 0.0
    t = _quantile(clusters) * abs(value.value) / reach
    return float(2 * stats.t.sf(t, max(1, clusters - 1)))


def _quantile(clusters: int) -> float:
    return float(stats.t.ppf((1 + CONFIDENCE) / 2, max(1, clusters - 1)))


def holm(probabilities: Sequence[float]) -> list[float]:
    """Probabilities corrected for their number; nan, of what was not tested, stays and does not count.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    tested = sorted((p, i) for i, p in enumerate(probabilities) if not math.isnan(p))
    corrected = list(probabilities)
    largest = 0.0
    for rank, (p, i) in enumerate(tested):
        largest = max(largest, min(1.0, (len(tested) - rank) * p))
        corrected[i] = largest
    return corrected
