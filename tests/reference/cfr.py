"""The CFR family once more, in plain Python and in any kind of number: what exact arithmetic comes to.

Written from the papers' formulas (solvers/cfr.pyx names them) for two players with perfect recall,
alternating updates, on payoffs between sequences. With `Decimal` of enough digits nothing that is printed
depends on rounding: figures of 300 and of 600 digits agree. With `float` and a seed the sums are taken
in an order drawn by the seed, one of many that are equally right.
"""

from __future__ import annotations

import decimal
import random
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

from solvers.tree import FlatTree

GAMMA = {"cfr": 0, "cfr+": 1, "lcfr": 1, "dcfr": 2, "pcfr+": 2}  # iteration t weighs t ** gamma in the average


class PlainCFR:
    """One run.

    Args:
        tree: two players, perfect recall.
        variant: cfr, cfr+, lcfr, dcfr (alpha 1.5, beta 0, gamma 2) or pcfr+.
        digits: of a Decimal; None for floats.
        seed: draws the order of additions; None keeps the tree's.
    """

    def __init__(self, tree: FlatTree, variant: str, *, digits: int | None = None, seed: int | None = None) -> None:
        self.variant, self.iterations = variant, 0
        self.context = decimal.Context(prec=digits or 28, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
        self.number: Any = float if digits is None else Decimal
        # Exactly 0 in exact arithmetic; anything true is far larger (on Leduc 2**-31 at least).
        self.tie = self.number(0) if digits is None else Decimal(10) ** (-digits // 2)
        with decimal.localcontext(self.context):
            self._read(tree, None if seed is None else random.Random(seed))

    def _read(self, tree: FlatTree, rng: random.Random | None) -> None:
        a = {name: array.tolist() for name, array in tree.arrays.items()}
        # (first sequence, its end, the own sequence before) of each set; sequence 0 is the empty one.
        first = [1 + s for s in a["info_first"]]
        sets = [(s, end, 1 + before) for (s, end), before in zip(pairwise(first), a["info_parent"], strict=True)]
        self.sets = [[each for each, owner in zip(sets, a["info_player"], strict=True) if owner == p] for p in (0, 1)]
        n = first[-1]
        reach, last = [Fraction(1)] * tree.n_nodes, [(0, 0)] * tree.n_nodes
        payoff: list[Any] = [defaultdict(lambda: defaultdict(Fraction)) for _ in (0, 1)]
        for node, player in enumerate(a["player"]):
            for edge in range(a["first"][node], a["first"][node] + a["count"][node]):
                reach[edge], last[edge] = reach[node], last[node]
                if player < 0:
                    reach[edge] *= Fraction(a["prob"][edge]).limit_denominator(10**6)
                else:
                    s = first[a["infoset"][node]] + edge - a["first"][node]
                    last[edge] = (s, last[node][1]) if player == 0 else (last[node][0], s)
            if a["count"][node] == 0:
                for p in (0, 1):
                    utility = Fraction(a["utility"][a["infoset"][node]][p])
                    payoff[p][last[node][p]][last[node][1 - p]] += reach[node] * utility
        self.rows = []
        for p in (0, 1):
            rows = [(s, [(o, self._plain(v)) for o, v in row.items() if v]) for s, row in payoff[p].items()]
            if rng is not None:
                for _, row in rows:
                    rng.shuffle(row)
                rng.shuffle(self.sets[p])
                self.sets[p].sort(key=lambda each: each[2])  # an order in which parents still come first
            self.rows.append(rows)
        zero, one = self.number(0), self.number(1)
        self.regret, self.total, self.policy = [zero] * n, [zero] * n, [zero] * n
        for s, end, _ in self.sets[0] + self.sets[1]:
            self.policy[s:end] = [one / (end - s)] * (end - s)
        self.plan = [one] * n
        for p in (0, 1):
            self._plan(p, self.policy, self.plan)

    def _plain(self, value: Fraction) -> Any:
        return self.number(value.numerator) / self.number(value.denominator)

    def _plan(self, p: int, policy: list[Any], plan: list[Any]) -> None:
        for s, end, before in self.sets[p]:
            for i in range(s, end):
                plan[i] = plan[before] * policy[i]

    def _values(self, p: int, plan: list[Any]) -> list[Any]:
        zero = self.number(0)
        out = [zero] * len(plan)
        for s, row in self.rows[p]:
            out[s] = sum((v * plan[o] for o, v in row if plan[o]), zero)
        return out

    def run(self, iterations: int) -> None:
        with decimal.localcontext(self.context):
            for _ in range(iterations):
                self.iterations += 1
                for p in (0, 1):
                    self._update(p)

    def _update(self, p: int) -> None:
        t = self.number(self.iterations)
        keep_positive = keep_negative = None
        if self.variant == "lcfr":
            keep_positive = keep_negative = t / (t + 1)
        elif self.variant == "dcfr":
            power = self.context.sqrt(t) * t if self.number is Decimal else t**1.5
            keep_positive, keep_negative = power / (power + 1), self.number(1) / 2
        weight, zero, tie = t ** GAMMA[self.variant], self.number(0), self.tie
        value = self._values(p, self.plan)
        for s, end, before in reversed(self.sets[p]):
            value[before] += sum((self.policy[i] * value[i] for i in range(s, end)), zero)
        for s, end, _ in self.sets[p]:
            here = sum((self.policy[i] * value[i] for i in range(s, end)), zero)
            for i in range(s, end):
                self.total[i] += weight * self.plan[i]
                latest = value[i] - here
                regret = self.regret[i] + latest
                if abs(regret) <= tie:
                    regret = zero
                if keep_positive is not None:
                    regret *= keep_positive if regret > 0 else keep_negative
                elif self.variant != "cfr":
                    regret = max(regret, zero)
                self.regret[i] = regret
                foretold = regret + latest if self.variant == "pcfr+" else regret
                self.policy[i] = foretold if foretold > tie else zero
            positive = sum(self.policy[s:end], zero)
            for i in range(s, end):
                self.policy[i] = self.policy[i] / positive if positive else self.number(1) / (end - s)
        self._plan(p, self.policy, self.plan)

    def exploitability(self) -> float:
        """NashConv of the average policy divided by 2."""
        with decimal.localcontext(self.context):
            zero, one = self.number(0), self.number(1)
            average, plan = list(self.total), [one] * len(self.total)
            for s, end, _ in self.sets[0] + self.sets[1]:
                total = sum(self.total[s:end], zero)
                for i in range(s, end):
                    average[i] = self.total[i] / total if total else one / (end - s)
            for p in (0, 1):
                self._plan(p, average, plan)
            gained = zero
            for p in (0, 1):
                value = self._values(p, plan)
                for s, end, before in reversed(self.sets[p]):
                    value[before] += max(value[s:end])
                gained += value[0]
            return float(gained / 2)
