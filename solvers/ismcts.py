"""Information-set Monte Carlo tree search and Smooth UCT, over any game of the native contract.

One tree of information sets serves both. Every simulation draws a root state that the searching
seat cannot tell from the real one (`resample`), descends by upper confidence bounds, adds the
first information set that is not in the tree, plays one action from it and then a playout, and
credits every action it took with the return of the seat that took it. Nodes are found by key:

* `observer=multiple`, many-tree IS-MCTS: a node is an information set of the seat to move, so
  every seat decides on what it knows, and one table holds the trees of all seats. This is
  MO-ISMCTS under perfect recall, and what OpenSpiel's `ISMCTSBot` does.
* `observer=single`, SO-ISMCTS: every node is an information set of the searching seat, rivals'
  decisions included; hidden actions of rivals lead into one node. What is legal at a node then
  differs from simulation to simulation, so bounds use how often an action was available.

With perfect information an information set is a state, and this is UCT on the graph of states.

With `favor=cfr+`, a root that belongs to a stage of simultaneous choices (the game's `rewind` tells) is
searched from the stage's first decision: each simulation takes one choice of every seat, descends from
there as always, and the stage is solved as one game in normal form (solvers/stages.pyx). Plain
IS-MCTS takes what rivals have already chosen in secret for random, and answers it with one action.

Smooth UCT takes, at every node, its average strategy instead of the bound with probability
1 - max(gamma, eta / (1 + decay * sqrt(visits))): fictitious play in place of best response.

Sources: Cowling, Powley, Whitehouse, "Information Set Monte Carlo Tree Search" (2012), sections
IV and V; Heinrich, Silver, "Smooth UCT Search in Computer Poker" (2015), section 4.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, ClassVar

from engine_ext.errors import LimitError, SpecError, UnsuitableGameError
from engine_ext.position import Position, Rules
from engine_ext.rng import Stream
from engine_ext.seeds import check_seed
from solvers.budget import BATCH_S, batches, simulation_limit
from solvers.contract import ANY, ActionStats, Limit, Parameter, SearchResult, SolverSpec, require_abilities
from solvers.extraction import prepare_views
from solvers.info_tree import EDGES_A_NODE, InfoTree
from solvers.specs import parse_spec
from solvers.stages import Stage
from solvers.stopping import look_up
from solvers.tree_rules import TreeRules

DEFAULT_SIMULATIONS = 1000
STAGE_SOLVER = "cfr+"
_CLOSING_SHARE = 50  # of the iterations that solve a stage: so many times fewer are tried to time them
_MOVE_STREAM = 2  # key of the stream that draws moves among those that belong to one seed; info_tree.pyx has 1


class SearchTrees:
    """The trees of one search, read together.

    Attributes:
        trees: the InfoTrees, one a thread.
        seconds: wall-clock time of growing them.
    """

    def __init__(self, trees: list[InfoTree], seconds: float) -> None:
        self.trees = trees
        self.seconds = seconds

    @property
    def simulations(self) -> int:
        """Simulations of all trees."""
        return sum(tree.simulations for tree in self.trees)

    @property
    def nodes(self) -> int:
        """Nodes of all trees."""
        return sum(tree.size for tree in self.trees)

    def values(self) -> tuple[float, ...]:
        """Mean return of all simulations, a tuple of one float a seat."""
        sums = [tree.return_sums for tree in self.trees]
        return tuple(sum(column) / self.simulations for column in zip(*sums, strict=True))

    def stage(self, position: Position, seed: int) -> Stage | None:
        """The root's stage of simultaneous choices, with what the simulations of all trees found of
        it; None where the root was not searched as one."""
        if self.trees[0].stage is None:
            return None
        whole = Stage(position, seed=seed, thread=0)
        for tree in self.trees:
            if tree.stage is not None:
                whole.add(tree.stage)
        return whole

    def root_statistics(self) -> dict[int, tuple[int, list[float]]]:
        """What the simulations brought that began with each action of the root, a decision.

        Returns:
            {action: (visits, [sum of the returns of each seat])}, ascending by action.
        """
        found: dict[int, tuple[int, list[float]]] = {}
        for tree in self.trees:
            for action, (visits, totals) in tree.root_statistics().items():
                so_far, sums = found.get(action, (0, [0.0] * len(totals)))
                found[action] = (so_far + visits, [a + b for a, b in zip(sums, totals, strict=True)])
        return dict(sorted(found.items()))

    def statistics(self, position: Position) -> dict[int, tuple[int, float]]:
        """What the trees know of the information set of the seat to move.

        Returns:
            {action: (visits, sum of the mover's returns)} for every legal action, ascending.
        """
        found = dict.fromkeys(position.legal_actions(), (0, 0.0))
        for tree in self.trees:
            for action, (visits, total) in tree.statistics(position).items():
                if action in found:  # a single observer's node knows actions that are illegal here
                    found[action] = (found[action][0] + visits, found[action][1] + total)
        return found

    def average_policy(self, position: Position) -> dict[int, float]:
        """The average strategy at the information set of the seat to move: {action: probability},
        by visits; uniform where no simulation came."""
        visits = {action: count for action, (count, _) in self.statistics(position).items()}
        total = sum(visits.values())
        return {action: count / total if total else 1.0 / len(visits) for action, count in visits.items()}


class InformationSetSearcher:
    """What IS-MCTS and Smooth UCT have in common; see the module.

    Args:
        parameters: of the subclass's `PARAMETERS`; missing ones take their defaults.

    Raises:
        SpecError: an unknown parameter, or two that contradict each other.
        LimitError: a limit out of range.
    """

    name: ClassVar[str] = ""
    PARAMETERS: ClassVar[Mapping[str, Parameter]] = {}

    def __init__(self, **parameters: Any) -> None:
        unknown = set(parameters) - set(self.PARAMETERS)
        if unknown:
            raise SpecError(f"{self.name} has no parameter {min(unknown)!r}; it has: {', '.join(self.PARAMETERS)}")
        defaults = {key: parameter.default for key, parameter in self.PARAMETERS.items()}
        self.parameters: dict[str, Any] = defaults | parameters
        if self.parameters["observer"] == "single" and self.parameters["root"] == "game":
            raise SpecError(f"{self.name}: observer=single searches from one seat's view, and root=game from nobody's")
        favor = self.parameters.get("favor", "none")
        if favor != "none":
            self.stage_iterations = _stage_iterations(self.name, favor)
            if self.parameters["root"] == "game":
                raise SpecError(f"{self.name}: favor={favor} solves the stage at hand, and root=game begins elsewhere")
        limits = {key: self.parameters[key] for key in ("simulations", "nodes", "depth", "seconds")}
        if all(limits[key] is None for key in ("simulations", "nodes", "seconds")):
            limits["simulations"] = DEFAULT_SIMULATIONS
        self.limit = Limit(**limits)

    def reset(self) -> None:
        """Nothing is kept between searches."""

    def prepare(self, rules: Rules, progress: Callable[[int, float], None] | None = None) -> None:
        """For a single observer, have a flat tree know what each seat knows when others move."""
        if self.parameters["observer"] == "single" and isinstance(rules, TreeRules) and rules.tree.hidden_information:
            prepare_views(rules.tree)

    def require_root(self, rules: Rules, chance: bool) -> None:
        """Raise UnsuitableGameError for a single observer where chance is to move: nobody searches there."""
        if chance and self.parameters["observer"] == "single":
            raise UnsuitableGameError(
                f"{self.name}: observer=single searches with the eyes of the seat that is to move, and here, in "
                f"{rules.name}, chance is to move; search from a decision, or leave observer out"
            )

    def grow(self, position: Position, *, seed: int, limit: Limit | None = None) -> SearchTrees:
        """Grow the trees of one search.

        Args:
            position: the root. A decision is resampled for its seat in every simulation; a chance
                node is taken as it is, so from the start of a game this is self-play. With
                `favor=cfr+`, a decision of a stage is searched from the start of that stage.
            seed: int in [0, 2**64).
            limit: overrides the searcher's own; a depth alone is not an end, and the searcher's own
                simulations, or the default, come beside it.

        Raises:
            UnsuitableGameError: a parameter needs what the game does not have, or a seat that is to move.
            LimitError: fewer nodes than threads are allowed.
        """
        self.prepare(position.rules)
        start_s = time.perf_counter()
        limit = self.limit if limit is None else limit
        simulations = simulation_limit(limit, self.limit.simulations or DEFAULT_SIMULATIONS)
        require_abilities(self.name, self.PARAMETERS, self.parameters, position.rules)
        self.require_root(position.rules, position.is_chance_node())
        seed = check_seed(seed)
        count = self.parameters["threads"] if simulations is None else min(self.parameters["threads"], simulations)
        max_nodes = self.parameters["max_nodes"]
        if max_nodes < count:
            raise LimitError(f"max_nodes is {max_nodes}, it must be at least the number of threads, {count}")
        trees = [
            InfoTree(
                position,
                seed=seed,
                thread=thread,
                settings=self.parameters,
                node_limit=max_nodes // count,
                depth=limit.depth,
            )
            for thread in range(count)
        ]
        shares = [
            None if simulations is None else simulations // count + (thread < simulations % count)
            for thread in range(count)
        ]
        seconds = limit.seconds
        if seconds is not None:
            seconds -= min(self._closing_seconds(trees[0].stage), seconds / 2)
        _run_all(trees, shares, seconds, start_s)
        for tree in trees:
            if not tree.size and position.is_player_node() and tree.stage is None:
                raise MemoryError("not enough memory for the first node of the search")
        return SearchTrees(trees, time.perf_counter() - start_s)

    def search(self, position: Position, *, seed: int, limit: Limit | None = None) -> SearchResult:
        """Search from a position; see `solvers.contract.Searcher`."""
        seed = check_seed(seed)
        limit = self.limit if limit is None else limit
        if position.is_terminal():
            return SearchResult(None, tuple(position.returns()), (), 0, 0, 0.0, exact=True)
        from_start = self.parameters["root"] == "game" and position.is_player_node()
        root = position.rules.initial_position() if from_start else position
        grown = self.grow(root, seed=seed, limit=limit)
        stage = grown.stage(root, seed)
        if stage is not None:
            return self._stage_result(position, stage, grown, seed, limit)
        values = grown.values()
        if not position.is_player_node():
            return SearchResult(
                None, values, (), grown.simulations, grown.nodes, grown.seconds, reproducible=limit.reproducible
            )
        if from_start:
            statistics = grown.statistics(position)
            values = _values_at(position, statistics)
        else:
            returns = grown.root_statistics()
            seat = position.current_player()
            statistics = {each: (visits, totals[seat]) for each, (visits, totals) in returns.items()}
        action, probabilities = self._choose(statistics, seed)
        if not from_start and self.parameters["play"] == "best":
            visits, totals = returns[action]
            values = tuple(total / visits for total in totals)
        return SearchResult(
            action=action,
            values=values,
            actions=tuple(
                ActionStats(each, visits, total / visits if visits else float("nan"), probabilities[each])
                for each, (visits, total) in statistics.items()
            ),
            simulations=grown.simulations,
            nodes=grown.nodes,
            seconds=grown.seconds,
            principal_variation=(action,),
            reproducible=limit.reproducible,
        )

    def _closing_seconds(self, stage: Stage | None) -> float:
        """About how long the solution of a stage will take when the simulations are over."""
        if stage is None:
            return 0.0
        start_s = time.perf_counter()
        share = max(1, self.stage_iterations // _CLOSING_SHARE)
        stage.solve(share)
        return (time.perf_counter() - start_s) * self.stage_iterations / share

    def _stage_result(
        self, position: Position, stage: Stage, grown: SearchTrees, seed: int, limit: Limit
    ) -> SearchResult:
        """The result of a search from a stage of simultaneous choices: the choice is drawn from the
        seat's policy in the solution, whatever `play` says, since nothing else keeps it secret."""
        start_s = time.perf_counter()
        policies, values = stage.solution(self.stage_iterations)
        place = stage.turns.index(position.current_player())
        probabilities = policies[place]
        utilities = stage.action_values([list(policy.values()) for policy in policies])[place]
        others = tuple(axis for axis in range(len(policies)) if axis != place)
        visits = stage.cell_visits.sum(axis=others)
        action = draw(probabilities, Stream.keyed(seed, _MOVE_STREAM))
        return SearchResult(
            action=action,
            values=values,
            actions=tuple(
                ActionStats(each, int(count), utility, probability)
                for (each, probability), count, utility in zip(probabilities.items(), visits, utilities, strict=True)
            ),
            simulations=grown.simulations,
            nodes=grown.nodes,
            seconds=grown.seconds + time.perf_counter() - start_s,
            principal_variation=(action,),
            reproducible=limit.reproducible,
        )

    def _choose(self, statistics: Mapping[int, tuple[int, float]], seed: int) -> tuple[int, dict[int, float]]:
        """The action to play, and how likely each was to be: {action: probability}."""
        total = sum(visits for visits, _ in statistics.values())
        if self.parameters["play"] == "sample" or not total:
            shares = {
                action: visits / total if total else 1.0 / len(statistics) for action, (visits, _) in statistics.items()
            }
            return draw(shares, Stream.keyed(seed, _MOVE_STREAM)), shares
        best = max(statistics, key=lambda action: (statistics[action][0], statistics[action][1], -action))
        return best, {action: float(action == best) for action in statistics}


def _stage_iterations(name: str, text: str) -> int:
    """The iterations of `favor=cfr+` or `favor=cfr+(iterations=N)`."""
    spec = parse_spec(text)
    iterations = spec.parameters.get("iterations")
    if (
        spec.name != STAGE_SOLVER
        or set(spec.given) - {"iterations"}
        or not isinstance(iterations, int)
        or iterations < 1
    ):
        raise SpecError(
            f"{name} parameter favor is {text!r}; allowed: none | {STAGE_SOLVER} | "
            f"{STAGE_SOLVER}(iterations=N) with N from 1"
        )
    return iterations


def draw(shares: Mapping[int, float], stream: Stream) -> int:
    """An action drawn from {action: probability}, in which one probability at least is above 0."""
    left = stream.double()
    chosen = next(iter(shares))
    for action, share in shares.items():
        if share > 0.0:
            chosen = action  # the last one stands when rounding leaves a rest
            left -= share
            if left < 0.0:
                break
    return chosen


def _values_at(position: Position, statistics: Mapping[int, tuple[int, float]]) -> tuple[float, ...]:
    """Utility per seat at an information set, as far as the mover's statistics tell it."""
    visits = sum(count for count, _ in statistics.values())
    seat = position.current_player()
    unknown = float("nan")
    mean = sum(total for _, total in statistics.values()) / visits if visits else unknown
    if position.num_players() == 2 and position.rules.zero_sum:
        return (mean, -mean) if seat == 0 else (-mean, mean)
    return tuple(mean if each == seat else unknown for each in range(position.num_players()))


def _run_all(trees: Sequence[InfoTree], shares: Sequence[int | None], seconds: float | None, start_s: float) -> None:
    """Run each tree to its share of the limit, side by side; all of them end together on an error."""
    stopped: list[bool] = []

    def work(tree: InfoTree, share: int | None) -> None:
        left_s = None if seconds is None else max(1e-9, seconds - (time.perf_counter() - start_s))
        for count in batches(share, left_s):
            tree.run(count)
            if stopped:
                return

    if len(trees) == 1:
        work(trees[0], shares[0])
        return
    with ThreadPoolExecutor(len(trees)) as pool:
        jobs = [pool.submit(work, tree, share) for tree, share in zip(trees, shares, strict=True)]
        try:
            for job in jobs:
                while not wait((job,), BATCH_S).done:
                    look_up()
                job.result()
        except BaseException:
            stopped.append(True)
            raise


# ---- what is declared --------------------------------------------------------------------------

_LIMITS = {
    "simulations": Parameter(
        None, f"simulations a move; {DEFAULT_SIMULATIONS} where no limit is given", kind=int, low=1
    ),
    "nodes": Parameter(None, "end after so many simulations, each of which grows at most one node", kind=int, low=1),
    "depth": Parameter(None, "longest descent, decisions and chance nodes", kind=int, low=1),
    "seconds": Parameter(None, "wall-clock time a move", kind=float, low=1e-6, high=1e8),
}
_TREE = {
    "observer": Parameter(
        "multiple",
        "whose information sets the nodes are: of the seat to move, or of the searching seat alone, which a "
        "chance node at the root does not have",
        choices=("multiple", "single"),
    ),
    "root": Parameter(
        "position",
        "where simulations start: from states that could be this one, or from the start of the game",
        choices=("position", "game"),
    ),
    "threads": Parameter(1, "root-parallel threads, each with its share of the simulations", low=1, high=256),
    "playout": Parameter(
        "random", "who plays out from a leaf", choices=("random", "greedy"), needs={"greedy": ("suggest",)}
    ),
    "epsilon": Parameter(0.1, "share of random moves in greedy playouts", low=0.0, high=1.0),
    "playout_depth": Parameter(
        None, "decisions played out before the game's estimate takes over", kind=int, low=0, needs={ANY: ("estimate",)}
    ),
    "max_nodes": Parameter(
        1_000_000, f"memory: nodes in all, with {EDGES_A_NODE} actions each", low=1, high=60_000_000
    ),
}
_EXPLORATION = Parameter(0.7, "exploration, in units of the utility range", low=0.0, high=1000.0)
_PLAY = "the move: the most visited action, or one drawn by visits"


class IsmctsSearcher(InformationSetSearcher):
    """Information-set Monte Carlo tree search."""

    name = "ismcts"
    PARAMETERS: ClassVar = {
        **_LIMITS,
        "c": _EXPLORATION,
        "play": Parameter("best", _PLAY, choices=("best", "sample")),
        **_TREE,
        "favor": Parameter(
            "none",
            "a stage of simultaneous hidden choices, such as an auction of favor cards, is "
            "solved as one game over estimated continuations; its iterations may be given",
            choices=("none",),
            solvers=(STAGE_SOLVER,),
            needs={ANY: ("rewind",)},
        ),
    }


class SmoothUctSearcher(InformationSetSearcher):
    """Smooth UCT."""

    name = "smooth_uct"
    PARAMETERS: ClassVar = {
        **_LIMITS,
        "c": _EXPLORATION,
        "eta": Parameter(0.9, "share of upper confidence bounds at a new node", low=0.0, high=1.0),
        "gamma": Parameter(0.1, "share they never fall below", low=0.0, high=1.0),
        "decay": Parameter(0.001, "how fast the share falls: eta / (1 + decay sqrt(visits))", low=0.0, high=1000.0),
        "play": Parameter("sample", _PLAY, choices=("best", "sample")),
        **_TREE,
    }


def _make_ismcts(parameters: Mapping[str, Any]) -> IsmctsSearcher:
    return IsmctsSearcher(**parameters)


def _make_smooth(parameters: Mapping[str, Any]) -> SmoothUctSearcher:
    return SmoothUctSearcher(**parameters)


SOLVERS = (
    SolverSpec(
        name="ismcts",
        kind="searcher",
        summary="information-set MCTS: UCT that decides on what each seat knows, from states that could be this one",
        source="Cowling, Powley and Whitehouse 2012, sections IV (single observer) and V (multiple observers)",
        make=_make_ismcts,
        parameters=IsmctsSearcher.PARAMETERS,
    ),
    SolverSpec(
        name="smooth_uct",
        kind="searcher",
        summary="information-set UCT that mixes its average strategy in, as fictitious play does",
        source="Heinrich and Silver 2015, section 4",
        make=_make_smooth,
        parameters=SmoothUctSearcher.PARAMETERS,
    ),
)
