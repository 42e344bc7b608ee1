"""Monte Carlo CFR: external and outcome sampling, on flat trees and on native games too big for one.

One iteration is one walk a player. In *external* sampling the walk tries every action of that
player and samples everybody else's and chance's. In *outcome* sampling it follows a single game, in
which the player explores with probability epsilon, and corrects by importance weights: cheaper
walks, far more of them needed.

A walk of player p also adds to the average policy of the player after p, at the nodes it passes
(p's own, in a game for one). With more than two players the average is then weighted by how
often the others play there, as in OpenSpiel.

`TreeMCCFR` (mccfr_tree.pyx) keeps regrets for every sequence of a tree. `NativeMCCFR` (mccfr_native.pyx) walks the
game itself and keeps regrets in a table of bounded size.

Sources: Lanctot, Waugh, Zinkevich, Bowling, "Monte Carlo sampling for regret minimization in
extensive games", NIPS 2009; Lanctot, "Monte Carlo sampling and regret minimization for equilibrium
computation and decision-making in large extensive form games", PhD thesis, 2013.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine_ext.position import Position, Rules
from solvers.contract import Parameter, SolverSpec
from solvers.mccfr_native import NativeMCCFR
from solvers.mccfr_settings import DEFAULT_WALK_NODES, WHEN_FULL
from solvers.mccfr_tree import TreeMCCFR
from solvers.tree import FlatTree

__all__ = ["DEFAULT_WALK_NODES", "SOLVERS", "WITHOUT_TREE", "NativeMCCFR", "TreeMCCFR"]


def _maker(sampling: str) -> Callable[[FlatTree | Rules | Position, dict[str, Any]], TreeMCCFR | NativeMCCFR]:
    """What makes a solver that samples so: on a tree, or without one on the rules themselves."""

    def make(game: FlatTree | Rules | Position, parameters: dict[str, Any]) -> TreeMCCFR | NativeMCCFR:
        keys = ("seed", "epsilon") if isinstance(game, FlatTree) else ("seed", "epsilon", "when_full", "walk_nodes")
        options: dict[str, Any] = {key: parameters[key] for key in keys if key in parameters}
        if isinstance(game, FlatTree):
            return TreeMCCFR(game, sampling=sampling, **options)
        return NativeMCCFR(game, sampling=sampling, max_bytes=parameters["megabytes"] << 20, **options)

    return make


_COMMON = {
    "iterations": Parameter(10_000, "iterations to run, each one walk a player", low=0),
    "seconds": Parameter(None, "stop after this much time instead", kind=float, low=1e-6, high=1e8),
    "seed": Parameter(0, "of everything random", low=0, high=2**63 - 1),
    "megabytes": Parameter(1024, "without a tree: memory of the regret table", low=1, high=16384),
    "when_full": Parameter(
        "uniform", "without a tree: what a full table does to new information sets", choices=WHEN_FULL
    ),
}

WITHOUT_TREE = ("mccfr_es", "mccfr_os")  # whose `make` takes Rules as well as a FlatTree

SOLVERS = (
    SolverSpec(
        name="mccfr_es",
        kind="policy",
        summary="CFR that samples everyone but the player it updates.",
        source="Lanctot et al., NIPS 2009, external sampling",
        make=_maker("external"),
        parameters={
            **_COMMON,
            "walk_nodes": Parameter(
                DEFAULT_WALK_NODES,
                "without a tree: most nodes of one walk; a game with larger ones is refused",
                low=1,
                high=10**15,
            ),
        },
    ),
    SolverSpec(
        name="mccfr_os",
        kind="policy",
        summary="CFR that samples one game at a time.",
        source="Lanctot et al., NIPS 2009, outcome sampling",
        make=_maker("outcome"),
        parameters={**_COMMON, "epsilon": Parameter(0.6, "how often the walking player explores", low=1e-6, high=1.0)},
    ),
)
