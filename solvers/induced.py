"""The policy a searcher induces over a whole game, so that its exploitability can be measured.

A searcher answers one position at a time; how good its play is against someone who knows it, only
the whole of its answers tells. Two readings:

* *search*: in every information set the searcher is run from there with the same budget, as a bot
  would be, and its move probabilities are the policy. This is what an opponent would meet.
* *self-play*: one long search from the start of the game, whose average strategies are the policy.
  This is how the searches that learn by self-play are judged in the literature.

`FIGURE` lists the curves of the usual comparison (Heinrich and Silver 2015, figures 1 and 2; Lisy,
Lanctot and Bowling 2015, figure 3): UCT and IS-MCTS stop improving, Smooth UCT and online outcome
sampling go on.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from engine_ext.errors import SpecError, UnsuitableGameError
from engine_ext.rng import Stream
from engine_ext.seeds import check_seed
from solvers.best_response import exploitability
from solvers.contract import Limit, Searcher
from solvers.policies import TabularPolicy
from solvers.specs import make_searcher
from solvers.tree_rules import TreeRules

Reading = Literal["search", "self_play"]


@dataclass(frozen=True)
class Curve:
    """One curve of a comparison.

    Attributes:
        label: for the legend.
        spec: the searcher.
        reading: how its policy is read.
    """

    label: str
    spec: str
    reading: Reading


@dataclass(frozen=True)
class Point:
    """One measurement.

    Attributes:
        curve: what was measured.
        simulations: of each search.
        seed: of the run.
        exploitability: NashConv of the policy divided by the number of players, utility.
        searches: searches made for it: one, or one an information set.
        seconds: wall-clock time of the searches.
    """

    curve: Curve
    simulations: int
    seed: int
    exploitability: float
    searches: int
    seconds: float


FIGURE = (
    Curve("UCT", "ismcts(play=sample)", "self_play"),
    Curve("IS-MCTS", "ismcts", "search"),
    Curve("Smooth UCT", "smooth_uct", "self_play"),
    Curve("OOS", "oos", "search"),
    Curve("OOS, one search", "oos", "self_play"),
)


def search_policy(
    rules: TreeRules,
    searcher: Searcher,
    *,
    seed: int,
    limit: Limit | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> TabularPolicy:
    """The policy of a searcher that is run from every information set of a tree.

    Args:
        rules: the tree as a game.
        searcher: what is run; its answer must not depend on which state of the set it is given.
        seed: of the whole; each information set has a stream of its own.
        limit: overrides the searcher's own.
        progress: called after each search with (searches made, searches in all).
    """
    seed = check_seed(seed)
    tree = rules.tree
    first = tree.arrays["info_first"]
    probabilities = np.zeros(tree.n_sequences)
    for infoset in range(tree.n_infosets):
        position = rules.position(int(tree.infoset_nodes(infoset)[0]))
        result = searcher.search(position, seed=Stream.keyed(seed, infoset).next(), limit=limit)
        searcher.reset()
        probabilities[first[infoset] : first[infoset + 1]] = [each.probability for each in result.actions]
        if progress is not None:
            progress(infoset + 1, tree.n_infosets)
    return TabularPolicy(tree, probabilities)


def self_play_policy(
    rules: TreeRules, searcher: Any, *, seed: int, limit: Limit | None = None
) -> tuple[TabularPolicy, float]:
    """The average strategies of one search from the start of the game.

    Args:
        rules: the tree as a game.
        searcher: an `ismcts`, `smooth_uct` or `oos` searcher.
        seed: of the search.
        limit: overrides the searcher's own.

    Returns:
        (policy, seconds of the search alone)

    Raises:
        UnsuitableGameError: the searcher keeps no strategies besides the one at its root.
    """
    tree = rules.tree
    first = tree.arrays["info_first"]
    probabilities = np.zeros(tree.n_sequences)
    start_s = time.perf_counter()
    check_self_play(searcher, type(searcher).__name__)
    if hasattr(searcher, "sample"):
        sampler, _ = searcher.sample(rules.initial_position(), seed=seed, limit=limit)
        seconds = time.perf_counter() - start_s
        for infoset in range(tree.n_infosets):
            probabilities[first[infoset] : first[infoset + 1]] = sampler.strategy(infoset)
    else:
        grown = searcher.grow(rules.initial_position(), seed=seed, limit=limit)
        seconds = grown.seconds
        for infoset in range(tree.n_infosets):
            position = rules.position(int(tree.infoset_nodes(infoset)[0]))
            probabilities[first[infoset] : first[infoset + 1]] = list(grown.average_policy(position).values())
    return TabularPolicy(tree, probabilities), seconds


def check_self_play(searcher: Any, name: str) -> None:
    """Raises UnsuitableGameError where a searcher's average strategies cannot be read by self-play.

    Args:
        searcher: any.
        name: of it, for the message.
    """
    if not hasattr(searcher, "sample") and not hasattr(searcher, "grow"):
        raise UnsuitableGameError(f"{name} keeps no strategies besides the one at its root; read it by search")


def measure(rules: TreeRules, curve: Curve, simulations: int, seed: int) -> Point:
    """One point of a curve.

    Raises:
        SpecError: the curve's spec or reading is wrong.
        UnsuitableGameError: a property of the game rules the searcher or the measure out.
    """
    searcher = make_searcher(curve.spec, rules)
    limit = Limit(simulations=simulations)
    if curve.reading == "self_play":
        policy, seconds = self_play_policy(rules, searcher, seed=seed, limit=limit)
        searches = 1
    elif curve.reading == "search":
        start_s = time.perf_counter()
        policy = search_policy(rules, searcher, seed=seed, limit=limit)
        seconds = time.perf_counter() - start_s
        searches = rules.tree.n_infosets
    else:
        raise SpecError(f"reading is {curve.reading!r}, allowed are search and self_play")
    return Point(curve, simulations, seed, exploitability(policy), searches, seconds)


def measure_all(
    rules: TreeRules,
    simulations: Sequence[int],
    *,
    curves: Sequence[Curve] = FIGURE,
    seeds: Sequence[int] = (1,),
    most_simulations: int | None = None,
) -> Iterator[Point]:
    """The points of a whole figure, one after the other, shortest searches first.

    Args:
        rules: the tree as a game.
        simulations: of each search, ascending.
        curves: what to measure.
        seeds: one run each.
        most_simulations: leave out points that would take more simulations in all (a search in every
            information set multiplies them); None leaves out nothing.
    """
    for count in simulations:
        for curve in curves:
            searches = rules.tree.n_infosets if curve.reading == "search" else 1
            if most_simulations is not None and count * searches > most_simulations:
                continue
            for seed in seeds:
                yield measure(rules, curve, count, seed)
