"""`quandary compare`: two runs beside each other, in what they differ and in what came of it.

What is compared are the figures that both runs have: of a bot in the games that it played against the same rivals in
both, of a solver at the same budget. `differences` has the statistics.
"""

from __future__ import annotations

from experiments.compare.comparison import Comparison, compare_runs
from experiments.compare.screen import print_comparison

__all__ = ["Comparison", "compare_runs", "print_comparison"]
