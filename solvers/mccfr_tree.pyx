"""MCCFR on a flat tree, with regrets for every one of its sequences. mccfr.py says what MCCFR is."""
import time

import numpy as np

cimport cython
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

from engine_ext.game cimport CHANCE, TERMINAL
from engine_ext.rng cimport Rng, Stream
from solvers.outcome_path cimport Step, Walk, begin_walk, learn, take_step
from solvers.regrets cimport draw_positive, match, positive_sum
from solvers.sequence_form cimport SequenceForm
from solvers.stopping cimport look_up
from solvers.tree cimport FlatTree, TreeTables, tree_sample

from engine_ext.errors import SavedStateError, UnsuitableGameError
from engine_ext.seeds import check_seed
from solvers.best_response import nash_conv
from solvers.budget import batches, run_for
from solvers.cfr import normalised
from solvers.mccfr_settings import CHECKPOINT_KIND, CHECKPOINT_VERSION, check_iterations, check_sampling
from solvers.policies import TabularPolicy
from solvers.saved import read_checkpoint, write_saved


cdef class TreeMCCFR:
    """MCCFR on a flat tree.

    Args:
        tree: the FlatTree.
        sampling: external or outcome.
        seed: int in [0, 2**64); everything random comes from it.
        epsilon: outcome sampling: how often the walking player explores, in (0, 1].

    Attributes:
        iterations: iterations done, each one walk a player.

    Raises:
        ParameterError: an unknown name or a value out of range.
        UnsuitableGameError: equal states were merged.
    """
    cdef readonly FlatTree tree
    cdef readonly str sampling
    cdef readonly double epsilon
    cdef readonly int64_t iterations
    cdef readonly double seconds
    cdef readonly Stream stream
    cdef readonly object seed
    cdef double[::1] regret     # [n_sequences]
    cdef double[::1] total      # [n_sequences] of the average policy, not normalised
    cdef double[::1] arena      # policies and values of the decisions open in an external walk; a policy else
    cdef Step *path             # [most decisions of a game + 1] of the game sampled
    cdef object _sequences      # the tree's SequenceForm, once NashConv was asked for

    def __cinit__(self):
        self.path = NULL

    def __dealloc__(self):
        free(self.path)

    def __init__(self, FlatTree tree not None, *, sampling="external", seed=0, epsilon=0.6):
        check_sampling(sampling, epsilon)
        if tree.tables.target != NULL:
            raise UnsuitableGameError(f"{tree.name}: MCCFR needs a tree; equal states were merged")
        self.tree, self.sampling, self.epsilon, self.seed = tree, sampling, epsilon, check_seed(seed)
        self.stream = Stream(self.seed)
        tree.prepare_sampling()
        self.regret = np.zeros(max(1, tree.n_sequences))
        self.total = np.zeros(max(1, tree.n_sequences))
        decisions = tree.depths()[0]
        widest = int(tree.arrays["count"][tree.arrays["player"] >= 0].max(initial=1))
        self.arena = np.zeros(2 * widest * (decisions + 1))
        self.path = <Step *>malloc((decisions + 1) * sizeof(Step))
        if self.path == NULL:
            raise MemoryError

    @cython.boundscheck(False)   # hot, and its indices come from the tree
    cdef double external(self, int32_t node, int32_t player, int32_t averaged, double own, double *arena,
                         Rng *rng) noexcept nogil:
        """The player's sampled value of a node; regrets and averages are updated on the way."""
        cdef const TreeTables *t = &self.tree.tables
        cdef double *regret
        cdef double *total
        cdef double *policy
        cdef double *child
        cdef double sum_, scale, value
        cdef int32_t mover, first, count, a
        while True:
            mover = t.player[node]
            if mover == CHANCE:
                node = t.first[node] + tree_sample(t, node, rng)
                continue
            if mover == TERMINAL:
                return t.utility[<int64_t>t.infoset[node] * t.n_players + player]
            first, count = t.info_first[t.infoset[node]], t.count[node]
            regret = &self.regret[first]
            if mover == player:
                break
            sum_ = positive_sum(regret, count)
            if mover == averaged:
                total = &self.total[first]
                if sum_ > 0.0:
                    scale = 1.0 / sum_
                    for a in range(count):
                        if regret[a] > 0.0:
                            total[a] += regret[a] * scale
                else:
                    scale = 1.0 / <double>count
                    for a in range(count):
                        total[a] += scale
            node = t.first[node] + draw_positive(regret, count, sum_, rng)
        policy, child = arena, arena + count
        match(regret, count, policy)
        value = 0.0
        for a in range(count):
            child[a] = self.external(t.first[node] + a, player, averaged, own * policy[a], arena + 2 * count, rng)
            value += policy[a] * child[a]
        for a in range(count):
            regret[a] += child[a] - value
        if averaged == player:     # a game for one: nobody else passes its nodes
            for a in range(count):
                self.total[first + a] += own * policy[a]
        return value

    @cython.boundscheck(False)   # hot, and its indices come from the tree
    cdef void outcome(self, int32_t player, int32_t averaged, Rng *rng) noexcept nogil:
        """One sampled game, and what it teaches the player and the averaged one."""
        cdef const TreeTables *t = &self.tree.tables
        cdef double *policy = &self.arena[0]
        cdef Walk walk
        cdef double weight
        cdef int32_t node = 0, length = 0, mover, count, first, a
        begin_walk(&walk, t.n_players)
        while True:
            mover = t.player[node]
            if mover == TERMINAL:
                break
            if mover == CHANCE:
                node = t.first[node] + tree_sample(t, node, rng)
                continue
            first, count = t.info_first[t.infoset[node]], t.count[node]
            match(&self.regret[first], count, policy)
            if mover == averaged:
                weight = walk.reach[mover] / walk.sampled
                for a in range(count):
                    self.total[first + a] += weight * policy[a]
            node = t.first[node] + take_step(
                &walk, &self.path[length], &self.regret[first], policy, count, mover, mover == player, self.epsilon,
                rng)
            length += 1
        weight = t.utility[<int64_t>t.infoset[node] * t.n_players + player] / walk.sampled
        learn(self.path, length, player, weight)

    @cython.boundscheck(False)   # hot, and its indices come from the tree
    cdef void iterate(self, int64_t count, bint external) noexcept nogil:
        """`count` iterations, each one walk a player."""
        cdef int32_t player, n = self.tree.tables.n_players
        cdef int64_t _
        cdef Rng rng = self.stream.rng
        for _ in range(count):
            for player in range(n):
                if external:
                    self.external(0, player, (player + 1) % n, 1.0, &self.arena[0], &rng)
                else:
                    self.outcome(player, (player + 1) % n, &rng)
        self.iterations += count
        self.stream.rng = rng

    def run(self, iterations):
        """That many more iterations; Ctrl-C stops between two of them, with all state whole."""
        check_iterations(iterations)
        cdef int64_t size
        cdef bint external = self.sampling == "external"
        began = time.perf_counter()
        try:
            for size in batches(iterations, None):
                with nogil:
                    self.iterate(size, external)
                look_up()
        finally:
            self.seconds += time.perf_counter() - began

    def run_for(self, seconds):
        """Iterations until that much time has passed, at least one; returns how many."""
        return run_for(self, seconds)

    def average_policy(self):
        """The average policy, a TabularPolicy; uniform in sets that were never passed."""
        return TabularPolicy(self.tree, normalised(self.tree, np.asarray(self.total)[:self.tree.n_sequences]))

    def nash_conv(self):
        """NashConv of the average policy.

        Raises:
            UnsuitableGameError: a player lacks perfect recall.
        """
        if self._sequences is None and all(self.tree.perfect_recall):
            self._sequences = SequenceForm(self.tree)
        return nash_conv(self.average_policy(), sequences=self._sequences)

    def exploitability(self):
        """NashConv of the average policy divided by the number of players."""
        return self.nash_conv() / self.tree.n_players

    def _setting(self):
        return {"solver": "tree", "sampling": self.sampling, "epsilon": self.epsilon, "game": self.tree.digest,
                "seed": int(self.seed)}

    def save(self, path):
        """Write a checkpoint from which a run continues bit for bit."""
        meta = {"setting": self._setting(), "iterations": self.iterations, "seconds": self.seconds,
                "name": self.tree.name, "stream": [str(word) for word in self.stream.state]}
        write_saved(path, CHECKPOINT_KIND, CHECKPOINT_VERSION, meta,
                    {"regret": np.asarray(self.regret), "total": np.asarray(self.total)})

    def load(self, path):
        """Continue from a checkpoint, of the same seed, its random stream included.

        Raises:
            SavedStateError: damaged, or of another game or setting; nothing has changed then.
        """
        meta, arrays = read_checkpoint(path, CHECKPOINT_KIND, CHECKPOINT_VERSION, self._setting(), self.tree.name)
        if any(len(arrays.get(key, ())) != self.regret.shape[0] for key in ("regret", "total")):
            raise SavedStateError(f"{path}: not a whole checkpoint")
        self.regret, self.total = arrays["regret"].copy(), arrays["total"].copy()
        self.stream.state = tuple(int(word) for word in meta["stream"])
        self.iterations, self.seconds = meta["iterations"], meta["seconds"]

    def __repr__(self):
        return f"<{self.sampling}-sampling MCCFR on {self.tree.name}, {self.iterations} iterations>"
