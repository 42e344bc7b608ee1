"""Extraction: walks a whole game once and writes it down as a `FlatTree` (solvers/tree.pyx).

`extract` takes a native `Position` or `Rules`, or any OpenSpiel game or state: sequential or
(through OpenSpiel's turn-based view) simultaneous, with any number of players, written in C++ or
Python. It walks depth first, so few states are alive at once. Before a large allocation it
estimates the size with Knuth's random probes and refuses what would not fit.

As in the native contract, a decision with one legal action and a chance node with one outcome
are not nodes: they are taken on the way.

Information sets. `information="recall"` groups nodes by (the player's own last sequence, key), so
that nobody forgets what it did; `"key"` groups by the key alone, and then a game whose keys
forget has imperfect recall. A native key is 64 bits; a second, independent 64-bit hash of the exact
content is compared beside it, so sets merge wrongly with odds of about 1e-25 at ten million.

game_source.pyx is where a tree comes from, with the probes; tree_builder.pyx the tree while it grows, with the walk
through a native game, openspiel_walk.pyx the walk through one of OpenSpiel's, state_merger.pyx the walk that merges
equal states; declared.pyx is what is known of a game before all this.

Sources: Knuth, "Estimating the efficiency of backtrack programs", Mathematics of Computation 29
(1975); von Stengel, "Efficient computation of behavior strategies", Games and Economic Behavior
14 (1996), for sequences.
"""
import time

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from engine_ext.game cimport CHANCE, HIDDEN_INFORMATION, GameOps
from engine_ext.position cimport Position
from solvers.openspiel_walk cimport Labels
from solvers.pools cimport DONE, FULL, MISMATCH, NO_MEMORY, PAUSED
from solvers.state_merger cimport Merger
from solvers.stopping cimport look_up
from solvers.tree cimport FlatTree, TreeTables
from solvers.tree_builder cimport Builder
from solvers.tree_rules cimport TreeRules

from engine_ext.errors import ParameterError, TooLargeError, UnsuitableGameError
from engine_ext.seeds import check_seed
from solvers.declared import DeclaredRules, declared_rules
from solvers.game_source import LOAD_ERRORS, WALKED_SECONDS, Source, Survey, native_name
from solvers.openspiel_walk import openspiel_steps, unique
from solvers.tree import openspiel_identity
from solvers.tree_size import FREE_NODES, NODE_LIMIT, SizeEstimate, default_max_nodes
from solvers.tree_views import prepare_views

__all__ = [
    "DeclaredRules", "LOAD_ERRORS", "SizeEstimate", "Survey", "as_game", "declared_rules", "default_max_nodes",
    "estimate_size", "extract", "native_name", "prepare_views",
]

_PACE_NODES = 200_000      # between two looks for signals: a fifth of a second where a step takes a microsecond
_OPENSPIEL_PACE_NODES = 50_000
_FREE_SECONDS = 2.0        # trees that are done by then are not worth an estimate


def extract(source, *, max_nodes=None, progress=None, information="auto", depth=None, merge="off", check=None,
            began=None):
    """Extract a whole game into a `FlatTree`.

    Args:
        source: a native `Position` or `Rules`; a `pyspiel.Game` or `pyspiel.State`; or the name of
            a game registered with OpenSpiel, with parameters. A game of ours is taken natively
            whichever way it is given.
        max_nodes: refuse larger trees; None for what fits into half of the free memory.
        progress: called now and then with (nodes so far, estimated nodes).
        information: "recall", "key" (see the module's text), or "auto": recall for native games,
            key for OpenSpiel's, whose information states have perfect recall by contract. In a sequential
            game of OpenSpiel's without hidden information every decision is an information set; in a
            simultaneous one, recall.
        depth: cut the tree there, nodes below the root (at least 1), and take the game's own
            estimate as the utility; native games only.
        merge: make one node of equal states, native games of perfect information only: "exact" where
            state keys and state bytes agree, "key" where the keys do (64 bits: ten million states
            collide with odds of 3e-6), "off" for a tree.
        check: called with a `Survey` when the walk through a game of OpenSpiel's first meets what may rule a
            solver out: a seat that forgets (`recalls`), utilities that do not sum to zero, a node too wide for
            searchers. What it raises ends the extraction.
        began: `time.perf_counter()` when somebody began to wait for an answer; None: now. A refusal for size
            comes six seconds after that at the latest, or as soon as the game lets it.

    Returns:
        FlatTree

    Raises:
        TooLargeError: it would not fit; the attribute `estimate` has the SizeEstimate.
        UnsuitableGameError: the game cannot be a tree; the message names the property.
    """
    if information not in ("auto", "recall", "key"):
        raise ParameterError(f"information is {information!r}, allowed are auto, recall, key")
    if merge not in ("off", "exact", "key"):
        raise ParameterError(f"merge is {merge!r}, allowed are off, exact, key")
    source = Source(source, depth, began=began)
    walk = _Extraction(source, max_nodes, progress)
    if merge == "off":
        return walk.tree(information, check)
    source.require_mergeable()
    return walk.graph(source.position, merge == "exact")


def as_game(source, **options):
    """Extract a game and return it as a native game of nodes, a `TreeRules`; its `tree` is the
    FlatTree.

    Args:
        source: as for `extract`, or a FlatTree.
        options: keyword arguments of `extract`.
    """
    return TreeRules(source if isinstance(source, FlatTree) else extract(source, **options))


def estimate_size(source, *, probes=1000, depth=None, seed=0):
    """Estimate a tree's size with random probes from the root (Knuth, 1975).

    Args:
        source: as for `extract`.
        probes: how many, at least 2; fewer are made where they would take too long.
        depth: as for `extract`.
        seed: int in [0, 2**64).

    Returns:
        SizeEstimate

    Raises:
        UnsuitableGameError: as for `extract`.
    """
    if probes < 2:
        raise ParameterError(f"probes is {probes}, it must be at least 2")
    seed = check_seed(seed)
    return Source(source, depth).probe(probes, seed)


class _Extraction:
    """One extraction.

    Args:
        source: the `Source`.
        max_nodes, progress: as for `extract`.
    """

    def __init__(self, source, max_nodes, progress):
        self.began = time.perf_counter()
        self.source, self.progress = source, progress
        self.max_nodes, self.why_no_more = max_nodes, ""
        if max_nodes is None:
            self.max_nodes, self.why_no_more = default_max_nodes(source.n_players), " (half of the free memory)"
        elif not 1 <= max_nodes <= NODE_LIMIT:
            raise ParameterError(f"max_nodes is {max_nodes}, allowed are 1 to {NODE_LIMIT}")

    def tree(self, information, check):
        """Walk the game, at first for nothing, then after a look at its size."""
        source, most = self.source, self.max_nodes
        native = source.position is not None
        by_key = not native and source.by_key if information == "auto" else information == "key"
        by_node = not native and not source.hidden and (information != "key" or source.observe)
        cdef Builder builder = Builder(source.n_players, by_key, by_node)
        cdef Labels labels = None if native else Labels(source.called, source.observe)
        pace = _PACE_NODES if native else _OPENSPIEL_PACE_NODES
        walk = native_steps(source, source.position, builder) if native else openspiel_steps(source, builder, labels)
        next(walk)
        done = False
        free_until = source.until(_FREE_SECONDS, WALKED_SECONDS)
        while not done and builder.player.size < min(FREE_NODES, most + 1):
            done = walk.send((min(FREE_NODES, builder.player.size + pace // 10, most + 1), free_until))
            self._tell(builder, check)
            if time.perf_counter() > free_until:
                break
        estimate = None
        while not done:
            if estimate is None:
                estimate = source.probe(1000, 0)
                if builder.player.size <= most < estimate.nodes:
                    raise self._too_large(estimate, "it was not begun")
            if builder.player.size > most:
                raise self._too_large(estimate, f"{builder.player.size:,} nodes were met")
            if self.progress is not None:
                self.progress(builder.player.size, estimate.nodes)
            look_up()
            done = walk.send((min(builder.player.size + pace, most + 1), float("inf")))
            self._tell(builder, check)
        if builder.player.size > most:
            raise self._too_large(source.probe(1000, 0), f"it has {builder.player.size:,} nodes")
        if self.progress is not None and estimate is not None:
            self.progress(builder.player.size, builder.player.size)
        return self._native_tree(source.position, builder.take()) if native else self._openspiel_tree(builder, labels)

    def graph(self, Position position, exact):
        """Walk a native game, following each state once."""
        cdef const GameOps *ops = position.ops
        cdef const void *tables = position.tables
        cdef int32_t limit = self.source.depth or -1
        cdef Merger merger = Merger(self.source.n_players, exact)
        cdef int64_t pause_at
        cdef int status
        with nogil:
            status = merger.start(ops, tables, position.state, limit)
        while True:
            pause_at = min(merger.player.size + _PACE_NODES, self.max_nodes + 1)
            if status == DONE:
                with nogil:
                    status = merger.walk(ops, tables, pause_at, limit)
            if status == NO_MEMORY:
                raise MemoryError
            if status == FULL or merger.player.size > self.max_nodes:
                raise self._too_large(
                    self.source.probe(1000, 0), f"unmerged; {merger.player.size} states were met")
            if status == DONE:
                break
            status = DONE
            if self.progress is not None:    # how many states there are is not known before
                self.progress(merger.player.size, float(self.max_nodes))
            look_up()
        tree = self._native_tree(position, merger.take())
        if not _runs_forward(tree):
            raise UnsuitableGameError(
                f"{self.source.name}: a state comes again in one game, which the game does not declare")
        return tree

    def _tell(self, Builder builder, check):
        """Have `check` look at what the walk has met, where that is news."""
        if builder.news and check is not None:
            check(Survey(most_legal=builder.widest_decision, most_outcomes=builder.widest_chance,
                         zero_sum=not builder.unbalanced, recalls=not builder.forgets))
        builder.news = False

    def _too_large(self, estimate, what):
        """The error for a tree that does not fit."""
        if self.source.position is None:
            hint = self.source.elsewhere()
        elif self.source.position.rules.hidden_information:
            hint = "ismcts plays it and mccfr_os samples it without a tree"
        else:
            hint = "mcts plays it and mccfr_os samples it without a tree"
        allowed = f"allowed are {self.max_nodes:,} nodes{self.why_no_more}"
        error = TooLargeError(f"{self.source.called}: its tree has {estimate}; {allowed}; {what}; {hint}")
        error.estimate = estimate
        return error

    def _openspiel_tree(self, Builder builder, Labels labels):
        cdef FlatTree tree = FlatTree.__new__(FlatTree)
        source = self.source
        tree.arrays = builder.take()
        tree.name = source.name
        tree.n_actions = source.game.num_distinct_actions()
        tree.n_outcomes = max([source.game.max_chance_outcomes()] + [key + 1 for key in labels.outcome_names])
        tree.hidden_information = source.hidden
        tree.source, tree.root = source.game, source.state
        tree.action_names, tree.outcome_names = unique(labels.action_names), unique(labels.outcome_names)
        tree.names = "history" if builder.by_node else "observation" if source.observe else "information state"
        tree.start, tree.rules_identity = source.state.history(), openspiel_identity(source.game)
        tree._bind()
        tree.seconds = time.perf_counter() - self.began
        return tree

    def _native_tree(self, Position position, arrays):
        cdef FlatTree tree = FlatTree.__new__(FlatTree)
        rules = position.rules
        tree.arrays, tree.name, tree.native, tree.names, tree.start = arrays, self.source.name, True, "key", []
        tree.rules_identity = rules.identity
        tree.n_actions, tree.n_outcomes = position.ops.n_actions, position.ops.n_outcomes
        tree.hidden_information = bool(position.ops.flags & HIDDEN_INFORMATION)
        tree.source, tree.root = rules, position
        tree._bind()
        actions, outcomes = _ids_of(tree)
        tree.action_names = {action: rules.action_name(action) for action in actions}
        tree.outcome_names = {outcome: rules.outcome_name(outcome) for outcome in outcomes}
        tree.seconds = time.perf_counter() - self.began
        return tree


def native_steps(source, Position position, Builder builder):
    """A generator: takes (the node count to pause at, the time to pause at), gives whether the tree is whole.
    A native walk to a pause is too short for the time to matter."""
    cdef const GameOps *ops = position.ops
    cdef const void *tables = position.tables
    cdef int32_t limit = source.depth or -1
    cdef int64_t pause_at
    cdef int status
    pause_at, _ = yield
    with nogil:
        status = builder.start_native(ops, tables, position.state, limit)
    while True:
        if status == DONE:
            with nogil:
                status = builder.walk_native(ops, tables, pause_at, limit)
        if status == NO_MEMORY:
            raise MemoryError
        if status == FULL:
            raise TooLargeError(f"{source.name}: the tree has more than {NODE_LIMIT} nodes")
        if status == MISMATCH:
            raise UnsuitableGameError(
                f"{source.name}: states of one information set have different actions (information set "
                f"{builder.clash}, key {(<uint64_t *>builder.info_key.data)[builder.clash]:016x})")
        pause_at, _ = yield status != PAUSED
        status = DONE


def _runs_forward(FlatTree tree):
    """Whether every edge leads to a later node, as it does unless there is a cycle."""
    cdef const TreeTables *t = &tree.tables
    cdef int32_t node, edge
    for node in range(t.n_nodes):
        for edge in range(t.first[node], t.first[node] + t.count[node]):
            if t.target[edge] <= node:
                return False
    return True


def _ids_of(FlatTree tree):
    """The (action, outcome) ids that occur, two ascending lists."""
    cdef const TreeTables *t = &tree.tables
    cdef uint8_t[::1] actions = np.zeros(tree.n_actions + 1, dtype=np.uint8)
    cdef uint8_t[::1] outcomes = np.zeros(tree.n_outcomes + 1, dtype=np.uint8)
    cdef int32_t node, edge
    with nogil:
        for node in range(t.n_nodes):
            for edge in range(t.first[node], t.first[node] + t.count[node]):
                if t.player[node] == CHANCE:
                    outcomes[t.action[edge]] = 1
                else:
                    actions[t.action[edge]] = 1
    return np.flatnonzero(actions).tolist(), np.flatnonzero(outcomes).tolist()
