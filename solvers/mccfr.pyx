"""Monte Carlo CFR: external and outcome sampling, on flat trees and on native games too big for one.

One iteration is one walk a player. In *external* sampling the walk tries every action of that
player and samples everybody else's and chance's. In *outcome* sampling it follows a single game, in
which the player explores with probability epsilon, and corrects by importance weights: cheaper
walks, far more of them needed.

A walk of player p also adds to the average policy of the player after p, at the nodes it passes
(p's own, in a game for one). With more than two players the average is then weighted by how
often the others play there, as in OpenSpiel.

`TreeMCCFR` keeps regrets for every sequence of a tree. `NativeMCCFR` walks the game itself and keeps
regrets in a table keyed by `info_key`, made as sets are met and never larger than `max_bytes`;
once it is full, new sets are played uniformly (`when_full="uniform"`) or the run stops with a
TooLargeError (`"stop"`), everything so far being kept.

An external walk grows with every sequence of the player's own actions, so in a game of long turns it may
be endless for all that anyone can wait. `NativeMCCFR` therefore keeps its open decisions on a stack of its
own and can leave a walk at any of them: a signal, a deadline or the limit `walk_nodes` leaves it half-way,
and the next run, or a checkpoint loaded, goes on inside it, bit for bit as if it had never stopped. What such
a walk found out so far is in the tables, and in the average; `iterations` counts whole ones.

Sources: Lanctot, Waugh, Zinkevich, Bowling, "Monte Carlo sampling for regret minimization in
extensive games", NIPS 2009; Lanctot, "Monte Carlo sampling and regret minimization for equilibrium
computation and decision-making in large extensive form games", PhD thesis, 2013.
"""
import time

import numpy as np

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from engine_ext.game cimport (
    CHANCE, LEGAL_LIMIT, PLAYER_LIMIT, TERMINAL, GameOps, ops_info_key, ops_run_chance,
)
from engine_ext.position cimport Position, Rules
from engine_ext.rng cimport Rng, Stream, rng_below, rng_combine, rng_double
from solvers.common cimport StateBuffer
from solvers.sequence_form cimport SequenceForm
from solvers.stopping cimport look_up
from solvers.tree cimport FlatTree, TreeTables, tree_sample

from engine_ext.errors import ParameterError, SavedStateError, TooLargeError, UnsuitableGameError
from solvers.best_response import nash_conv
from solvers.budget import batches, check_seconds, run_for
from solvers.cfr import normalised
from solvers.contract import Parameter, SolverSpec
from solvers.identity import identify
from solvers.policies import KeyedPolicy, TabularPolicy
from solvers.saved import read_checkpoint, write_saved

_KIND = "MCCFR checkpoint"
_VERSION = 2
_SAMPLING = ("external", "outcome")
_WHEN_FULL = ("uniform", "stop")

cdef enum:
    ARENA_BYTES = 1 << 26    # of one walk: states, policies and values of the open decisions
    NOTHING = -1             # no record, no decision
    LOOK_NODES = 1 << 12     # at least so many between two looks for signals
    PATIENCE_NODES = 1 << 17  # a deadline lets the very first iteration be that long

DEFAULT_WALK_NODES = 5_000_000     # a few seconds

cdef enum Halt:       # why walking has ended for now
    NOT_YET           # the walk is at its end; nothing stands against the next one
    ENOUGH            # as many iterations or nodes as were asked for
    TABLE_FULL        # and that is a reason to stop
    LONG_WALK         # more nodes than a walk may have
    LONG_GAME         # more decisions than the game said
    DEEP_WALK         # no room for one more open decision


cdef inline double positive_sum(const double *regret, int32_t count) noexcept nogil:
    cdef double total = 0.0
    cdef int32_t a
    for a in range(count):
        total += regret[a] if regret[a] > 0.0 else 0.0
    return total


cdef inline void match(const double *regret, int32_t count, double *policy) noexcept nogil:
    """Regret matching: in proportion to positive regrets, uniform where there are none."""
    cdef double total = positive_sum(regret, count)
    cdef double scale
    cdef int32_t a
    if total > 0.0:
        scale = 1.0 / total
        for a in range(count):
            policy[a] = regret[a] * scale if regret[a] > 0.0 else 0.0
    else:
        scale = 1.0 / <double>count
        for a in range(count):
            policy[a] = scale


cdef inline int32_t draw_positive(const double *regret, int32_t count, double total, Rng *rng) noexcept nogil:
    """An action in proportion to positive regrets, whose sum is `total`; uniform where it is 0."""
    cdef double left
    cdef int32_t a, last = 0
    if total <= 0.0:
        return rng_below(rng, count)
    left = rng_double(rng) * total
    for a in range(count):
        if regret[a] > 0.0:
            last = a
            left -= regret[a]
            if left < 0.0:
                return a
    return last


cdef inline int32_t draw(const double *policy, int32_t count, Rng *rng) noexcept nogil:
    cdef double left = rng_double(rng)
    cdef int32_t a
    for a in range(count - 1):
        left -= policy[a]
        if left < 0.0:
            return a
    return count - 1


# ---- on a tree ----------------------------------------------------------------------------------

cdef struct Step:
    int32_t sequence    # first of the information set
    int32_t count
    int32_t action      # index
    int32_t mover
    double prob         # of the action under the mover's policy
    double others       # reach of everyone but the walking player, chance left out


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
    cdef double[::1] regret
    cdef double[::1] total
    cdef double[::1] arena
    cdef Step *path
    cdef object _sequences

    def __cinit__(self):
        self.path = NULL

    def __dealloc__(self):
        free(self.path)

    def __init__(self, FlatTree tree not None, *, sampling="external", seed=0, epsilon=0.6):
        if sampling not in _SAMPLING:
            raise ParameterError(f"sampling is {sampling!r}, allowed are {', '.join(_SAMPLING)}")
        if not 0 < epsilon <= 1:
            raise ParameterError(f"epsilon is {epsilon}, it must be above 0 and at most 1")
        if tree.tables.target != NULL:
            raise UnsuitableGameError(f"{tree.name}: MCCFR needs a tree; equal states were merged")
        self.tree, self.sampling, self.epsilon, self.seed = tree, sampling, epsilon, seed
        self.stream = Stream(seed)
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
        cdef double reach[PLAYER_LIMIT]
        cdef double others = 1.0, sampled = 1.0, tail = 1.0, weight, prob
        cdef int32_t node = 0, mover, count, first, a, depth = 0
        cdef Step *step
        for a in range(t.n_players):
            reach[a] = 1.0
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
                weight = reach[mover] / sampled
                for a in range(count):
                    self.total[first + a] += weight * policy[a]
            if mover == player and rng_double(rng) < self.epsilon:
                a = rng_below(rng, count)
            else:
                a = draw(policy, count, rng)
            prob = policy[a]
            step = &self.path[depth]
            step.sequence, step.count, step.action, step.mover, step.prob = first, count, a, mover, prob
            step.others = others
            depth += 1
            reach[mover] *= prob
            if mover == player:
                sampled *= self.epsilon / <double>count + (1.0 - self.epsilon) * prob
            else:
                sampled *= prob
                others *= prob
            node = t.first[node] + a
        weight = t.utility[<int64_t>t.infoset[node] * t.n_players + player] / sampled
        while depth > 0:
            depth -= 1
            step = &self.path[depth]
            if step.mover == player:
                for a in range(step.count):
                    self.regret[step.sequence + a] -= weight * step.others * tail * step.prob
                self.regret[step.sequence + step.action] += weight * step.others * tail
            tail *= step.prob

    @cython.boundscheck(False)   # hot, and its indices come from the tree
    cdef void iterate(self, int64_t count, bint external) noexcept nogil:
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
        if not 0 <= iterations < 2**62:
            raise ParameterError(f"iterations is {iterations}, it must be 0 or more")
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
        write_saved(path, _KIND, _VERSION, meta, {"regret": np.asarray(self.regret), "total": np.asarray(self.total)})

    def load(self, path):
        """Continue from a checkpoint, of the same seed, its random stream included.

        Raises:
            SavedStateError: damaged, or of another game or setting; nothing has changed then.
        """
        meta, arrays = read_checkpoint(path, _KIND, _VERSION, self._setting(), self.tree.name)
        if any(len(arrays.get(key, ())) != self.regret.shape[0] for key in ("regret", "total")):
            raise SavedStateError(f"{path}: not a whole checkpoint")
        self.regret, self.total = arrays["regret"].copy(), arrays["total"].copy()
        self.stream.state = tuple(int(word) for word in meta["stream"])
        self.iterations, self.seconds = meta["iterations"], meta["seconds"]

    def __repr__(self):
        return f"<{self.sampling}-sampling MCCFR on {self.tree.name}, {self.iterations} iterations>"


# ---- on the native contract -----------------------------------------------------------------------

cdef struct Record:
    # One information set in the table; `count` regrets and `count` average weights follow it.
    uint64_t key
    int32_t player
    int32_t count


cdef inline double *regrets_of(Record *record) noexcept nogil:
    return <double *>(record + 1)


cdef inline double *totals_of(Record *record) noexcept nogil:
    return <double *>(record + 1) + record.count


cdef struct Open:
    # A decision of the walking player whose actions are being tried. Behind it in memory: double policy[count],
    # double child[count], int32 ids[count] (padded to 8 bytes), the state. It holds places, no pointers, so
    # that its bytes can be kept in a checkpoint.
    int64_t below      # place in the arena of the open decision before; NOTHING where there is none
    int64_t record     # place in the table; NOTHING where the set has no record
    double own         # the player's own reach
    double value       # of the actions tried so far
    int32_t count
    int32_t next       # index of the action to try next


cdef inline double *policy_of(Open *open_) noexcept nogil:
    return <double *>(open_ + 1)


cdef inline double *child_of(Open *open_) noexcept nogil:
    return <double *>(open_ + 1) + open_.count


cdef inline int32_t *ids_of(Open *open_) noexcept nogil:
    return <int32_t *>(<double *>(open_ + 1) + 2 * <int64_t>open_.count)


cdef inline char *state_of(Open *open_) noexcept nogil:
    return <char *>ids_of(open_) + 8 * ((open_.count + 1) // 2)


cdef inline int64_t size_of_open(int32_t count, int32_t state_size) noexcept nogil:
    return <int64_t>sizeof(Open) + 16 * <int64_t>count + 8 * ((count + 1) // 2) + ((state_size + 7) & ~7)


cdef class _Table:
    """Information sets by (key, player), in one block of memory of fixed size."""
    cdef char *data          # records, one after another
    cdef int64_t used        # bytes
    cdef int64_t capacity    # bytes
    cdef int32_t *slots      # open addressing: record's place in units of 8 bytes, plus 1; 0 where free
    cdef uint64_t mask
    cdef int64_t n_records
    cdef bint full           # a set was left out

    def __cinit__(self, int64_t max_bytes):
        cdef int64_t n_slots = 1 << 10
        while n_slots * 2 * sizeof(int32_t) <= max_bytes // 8:
            n_slots *= 2
        self.mask = n_slots - 1
        self.capacity = min(max_bytes - n_slots * <int64_t>sizeof(int32_t), (<int64_t>1 << 34) - 64)
        # calloc gives pages that take no memory until they are written.
        self.slots = <int32_t *>calloc(n_slots, sizeof(int32_t))
        self.data = <char *>calloc(self.capacity, 1)
        if self.slots == NULL or self.data == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.slots)
        free(self.data)

    cdef Record *find(self, uint64_t key, int32_t player, int32_t count, bint make) noexcept nogil:
        """The record of a set; null where there is none and none is to be made, or no room."""
        cdef uint64_t slot = rng_combine(key, player) & self.mask
        cdef Record *record
        cdef int64_t size = sizeof(Record) + 2 * <int64_t>count * sizeof(double)
        while self.slots[slot]:
            record = <Record *>(self.data + <int64_t>(self.slots[slot] - 1) * 8)
            if record.key == key and record.player == player and record.count == count:
                return record
            slot = (slot + 1) & self.mask
        if not make:
            return NULL
        if self.used + size > self.capacity or self.n_records * 4 > <int64_t>self.mask * 3:
            self.full = True
            return NULL
        record = <Record *>(self.data + self.used)
        record.key, record.player, record.count = key, player, count
        self.slots[slot] = <int32_t>(self.used // 8 + 1)
        self.used += size
        self.n_records += 1
        return record

    cdef contents(self):
        """The block in use, uint8[used]."""
        out = np.zeros(self.used, dtype=np.uint8)
        cdef uint8_t[::1] view = out
        if self.used:
            memcpy(&view[0], self.data, self.used)
        return out

    cdef int fill(self, const uint8_t[::1] block) except -1:
        """Take over a block that `contents` gave, into an empty table."""
        cdef int64_t at = 0, size
        cdef const Record *record
        cdef Record *made
        while at < block.shape[0]:
            if at + <int64_t>sizeof(Record) > block.shape[0]:
                raise SavedStateError("the table of a checkpoint ends within a record")
            record = <const Record *>&block[at]
            size = sizeof(Record) + 2 * <int64_t>record.count * sizeof(double)
            if not 0 < record.count <= LEGAL_LIMIT or at + size > block.shape[0]:
                raise SavedStateError(f"the table of a checkpoint has a record of {record.count} actions")
            made = self.find(record.key, record.player, record.count, True)
            if made == NULL:
                raise TooLargeError(f"the checkpoint's {block.shape[0]} bytes do not fit into {self.capacity}")
            memcpy(regrets_of(made), &block[at + <int64_t>sizeof(Record)], size - <int64_t>sizeof(Record))
            at += size
        return 0

    cdef keyed(self):
        """(keys, players, first, average probabilities) of all records."""
        cdef int64_t at = 0, i = 0, s = 0
        cdef int64_t n_values = (self.used - self.n_records * <int64_t>sizeof(Record)) // 16
        cdef uint64_t[::1] keys = np.zeros(self.n_records, dtype=np.uint64)
        cdef int32_t[::1] players = np.zeros(self.n_records, dtype=np.int32)
        cdef int64_t[::1] first = np.zeros(self.n_records + 1, dtype=np.int64)
        cdef double[::1] probs = np.zeros(n_values)
        cdef Record *record
        cdef double total
        cdef int32_t a
        for i in range(self.n_records):
            record = <Record *>(self.data + at)
            keys[i], players[i] = record.key, record.player
            total = 0.0
            for a in range(record.count):
                total += totals_of(record)[a]
            for a in range(record.count):
                probs[s + a] = totals_of(record)[a] / total if total > 0.0 else 1.0 / <double>record.count
            s += record.count
            first[i + 1] = s
            at += sizeof(Record) + 2 * <int64_t>record.count * sizeof(double)
        return np.asarray(keys), np.asarray(players), np.asarray(first), np.asarray(probs)


cdef struct NativeStep:
    Record *record
    int32_t count
    int32_t action
    int32_t mover
    double prob
    double others
    double average     # weight of the policy there in the average; 0 where the mover is not averaged


cdef class NativeMCCFR:
    """MCCFR on a native game without a tree.

    Args:
        game: `Rules`, or a `Position` to start from.
        sampling: external or outcome.
        seed: int in [0, 2**64).
        epsilon: outcome sampling: how often the walking player explores, in (0, 1].
        max_bytes: memory of the regret table, at least 64 KB.
        when_full: uniform or stop, see the module's text.
        walk_nodes: external sampling: most nodes (decisions and ends) of one walk, at least 1; a game with
            larger walks is refused when one is met.

    Attributes:
        iterations: whole iterations done, each one walk a player.
        visited: nodes of the walk that was left half-way; 0 where none was.
        n_infosets: information sets in the table.
        full: whether some set found no room.

    Raises:
        ParameterError: an unknown name or a value out of range.
        UnsuitableGameError: external sampling of a game in which states come again: its walks
            would not end.
    """
    cdef readonly Rules rules
    cdef readonly Position start
    cdef readonly str sampling
    cdef readonly str when_full
    cdef readonly double epsilon
    cdef readonly int64_t iterations
    cdef readonly int64_t max_bytes
    cdef public int64_t walk_nodes
    cdef readonly int64_t visited
    cdef readonly double seconds
    cdef readonly Stream stream
    cdef readonly object seed
    cdef _Table table
    cdef _Table fixed          # not null: everyone but `responder` plays this table's averages
    cdef int32_t responder
    cdef int32_t seat          # whose walk is open, or comes next
    cdef char *arena           # the open decisions of that walk, one after the other
    cdef int64_t top           # place of the last of them; NOTHING while no walk is open
    cdef int64_t arena_used    # bytes
    cdef NativeStep *path
    cdef int32_t path_room
    cdef int32_t ids[LEGAL_LIMIT]
    cdef double policy[LEGAL_LIMIT]

    def __cinit__(self):
        self.arena = NULL
        self.path = NULL

    def __dealloc__(self):
        free(self.arena)
        free(self.path)

    def __init__(self, game, *, sampling="external", seed=0, epsilon=0.6, max_bytes=1 << 30, when_full="uniform",
                 walk_nodes=DEFAULT_WALK_NODES):
        for name, value, allowed in (("sampling", sampling, _SAMPLING), ("when_full", when_full, _WHEN_FULL)):
            if value not in allowed:
                raise ParameterError(f"{name} is {value!r}, allowed are {', '.join(allowed)}")
        if not 0 < epsilon <= 1:
            raise ParameterError(f"epsilon is {epsilon}, it must be above 0 and at most 1")
        if not 1 << 16 <= max_bytes <= 1 << 34:
            raise ParameterError(f"max_bytes is {max_bytes}, allowed are {1 << 16} to {1 << 34}")
        if not 1 <= walk_nodes < 2**62:
            raise ParameterError(f"walk_nodes is {walk_nodes}, it must be at least 1")
        self.start = game.initial_position() if isinstance(game, Rules) else game.clone()
        self.rules = self.start.rules
        if sampling == "external" and self.rules.cyclic:
            raise UnsuitableGameError(
                f"{self.rules.name}: a state may come again in one game, so external sampling, which tries every "
                f"action, would not end; use outcome sampling")
        self.sampling, self.when_full, self.epsilon, self.max_bytes = sampling, when_full, epsilon, max_bytes
        self.walk_nodes, self.seed = walk_nodes, seed
        self.stream = Stream(seed)
        self.table = _Table(max_bytes)
        self.responder = -1
        self.top = NOTHING
        self.arena = <char *>malloc(ARENA_BYTES)
        self.path_room = min(self.start.ops.max_decisions, 1 << 20) + 1
        self.path = <NativeStep *>malloc(self.path_room * sizeof(NativeStep))
        if self.arena == NULL or self.path == NULL:
            raise MemoryError

    @property
    def n_infosets(self):
        return self.table.n_records

    @property
    def full(self):
        return bool(self.table.full)

    cdef void play(self, Record *record, int32_t count, double *policy) noexcept nogil:
        """The current policy of a set; uniform where it has no record."""
        cdef int32_t a
        if record != NULL:
            match(regrets_of(record), count, policy)
        else:
            for a in range(count):
                policy[a] = 1.0 / <double>count

    cdef void play_fixed(self, uint64_t key, int32_t player, int32_t count, double *policy) noexcept nogil:
        """The average policy of the fixed table; uniform where it knows nothing."""
        cdef Record *record = self.fixed.find(key, player, count, False)
        if record != NULL:
            match(totals_of(record), count, policy)
        else:
            self.play(NULL, count, policy)

    # ---- external sampling ------------------------------------------------------------------

    cdef bint descend(self, void *state, int32_t player, int32_t averaged, double own, double *value,
                      Rng *rng) noexcept nogil:
        """Sample what others and chance do until the player is to move, and open that decision: True; or
        until the game ends: False, with the player's utility in `value`. `state` is used up."""
        cdef const GameOps *ops = self.start.ops
        cdef const void *tables = self.start.tables
        cdef double returns[PLAYER_LIMIT]
        cdef Record *record
        cdef uint64_t key
        cdef int32_t mover, count, a
        while True:
            ops_run_chance(ops, tables, state, rng)
            mover = ops.turn(tables, state)
            self.visited += 1
            if mover == TERMINAL:
                ops.returns(tables, state, returns)
                value[0] = returns[player]
                return False
            count = ops.legal(tables, state, self.ids)
            key = ops_info_key(ops, tables, state, mover)
            if mover == player:
                self.open(state, key, player, count, own)
                return True
            if self.fixed is not None:
                self.play_fixed(key, mover, count, self.policy)
            else:
                record = self.table.find(key, mover, count, True)
                self.play(record, count, self.policy)
                if mover == averaged and record != NULL:
                    for a in range(count):
                        totals_of(record)[a] += self.policy[a]
            ops.apply(tables, state, self.ids[draw(self.policy, count, rng)])

    cdef void open(self, const void *state, uint64_t key, int32_t player, int32_t count, double own) noexcept nogil:
        """Put a decision of the walking player, whose legal actions are in `ids`, onto the stack."""
        cdef Record *record = self.table.find(key, player, count, True)
        cdef Open *open_ = <Open *>(self.arena + self.arena_used)
        open_.below = self.top
        open_.record = NOTHING if record == NULL else <char *>record - self.table.data
        open_.own, open_.value, open_.count, open_.next = own, 0.0, count, 0
        self.play(record, count, policy_of(open_))
        memcpy(ids_of(open_), self.ids, count * sizeof(int32_t))
        memcpy(state_of(open_), state, self.start.ops.state_size)
        self.top = self.arena_used
        self.arena_used += size_of_open(count, self.start.ops.state_size)

    cdef void close(self, Open *open_, int32_t player, int32_t averaged) noexcept nogil:
        """All actions of the decision on top were tried: learn, and hand its value down."""
        cdef Record *record
        cdef Open *below
        cdef int32_t a
        if open_.record != NOTHING:
            record = <Record *>(self.table.data + open_.record)
            for a in range(open_.count):
                regrets_of(record)[a] += child_of(open_)[a] - open_.value
            if averaged == player:     # a game for one, or a responder: nobody else passes its nodes
                for a in range(open_.count):
                    totals_of(record)[a] += open_.own * policy_of(open_)[a]
        self.arena_used = self.top
        self.top = open_.below
        if self.top != NOTHING:
            below = <Open *>(self.arena + self.top)
            self.credit(below, open_.value)

    cdef inline void credit(self, Open *open_, double value) noexcept nogil:
        """The action tried last brought this value."""
        cdef int32_t a = open_.next - 1
        child_of(open_)[a] = value
        open_.value += policy_of(open_)[a] * value

    cdef Halt walk(self, int32_t player, int32_t averaged, int64_t nodes, Rng *rng) noexcept nogil:
        """Go on with the player's walk, or begin it, until its end (NOT_YET) or for about so many nodes."""
        cdef StateBuffer buffer
        cdef void *state = buffer.bytes
        cdef const GameOps *ops = self.start.ops
        cdef int64_t last = self.visited + nodes, room = size_of_open(ops.max_legal, ops.state_size)
        cdef Open *open_
        cdef double value = 0.0
        if self.top == NOTHING:
            self.visited = self.arena_used = 0
            last = nodes
            memcpy(state, self.start.state, ops.state_size)
            if not self.descend(state, player, averaged, 1.0, &value, rng):
                return NOT_YET
        while self.top != NOTHING:
            open_ = <Open *>(self.arena + self.top)
            if open_.next == open_.count:
                self.close(open_, player, averaged)
                continue
            # Here, and only here, a walk can be left: the stack says all of it.
            if self.visited >= last:
                return ENOUGH
            if self.visited >= self.walk_nodes:
                return LONG_WALK
            if self.arena_used + room > ARENA_BYTES:
                return DEEP_WALK
            memcpy(state, state_of(open_), ops.state_size)
            ops.apply(self.start.tables, state, ids_of(open_)[open_.next])
            open_.next += 1
            if not self.descend(state, player, averaged, open_.own * policy_of(open_)[open_.next - 1], &value, rng):
                self.credit(open_, value)
        return NOT_YET

    # ---- outcome sampling -------------------------------------------------------------------

    cdef Halt outcome(self, int32_t player, int32_t averaged, Rng *rng) noexcept nogil:
        """One sampled game, and what it teaches the player and the averaged one: nothing before its end."""
        cdef StateBuffer buffer
        cdef void *state = buffer.bytes
        cdef const GameOps *ops = self.start.ops
        cdef const void *tables = self.start.tables
        cdef double returns[PLAYER_LIMIT]
        cdef double reach[PLAYER_LIMIT]
        cdef double others = 1.0, sampled = 1.0, tail = 1.0, weight, prob, average
        cdef int32_t mover, count, a, i, depth = 0
        cdef Record *record
        cdef NativeStep *step
        cdef uint64_t key
        memcpy(state, self.start.state, ops.state_size)
        self.visited = 0
        for a in range(ops.n_players):
            reach[a] = 1.0
        while True:
            ops_run_chance(ops, tables, state, rng)
            mover = ops.turn(tables, state)
            self.visited += 1
            if mover == TERMINAL:
                break
            if depth == self.path_room:
                self.visited = 0
                return LONG_GAME
            average = 0.0
            count = ops.legal(tables, state, self.ids)
            key = ops_info_key(ops, tables, state, mover)
            record = NULL
            if self.fixed is not None and mover != player:
                self.play_fixed(key, mover, count, self.policy)
            else:
                record = self.table.find(key, mover, count, True)
                self.play(record, count, self.policy)
                if mover == averaged and record != NULL:
                    average = reach[mover] / sampled
            if mover == player and rng_double(rng) < self.epsilon:
                a = rng_below(rng, count)
            else:
                a = draw(self.policy, count, rng)
            prob = self.policy[a]
            step = &self.path[depth]
            step.record, step.count, step.action, step.mover, step.prob = record, count, a, mover, prob
            step.others, step.average = others, average
            depth += 1
            reach[mover] *= prob
            if mover == player:
                sampled *= self.epsilon / <double>count + (1.0 - self.epsilon) * prob
            else:
                sampled *= prob
                others *= prob
            ops.apply(tables, state, self.ids[a])
        ops.returns(tables, state, returns)
        for i in range(depth):
            step = &self.path[i]
            if step.average > 0.0:
                match(regrets_of(step.record), step.count, self.policy)
                for a in range(step.count):
                    totals_of(step.record)[a] += step.average * self.policy[a]
        weight = returns[player] / sampled
        while depth > 0:
            depth -= 1
            step = &self.path[depth]
            if step.mover == player and step.record != NULL:
                for a in range(step.count):
                    regrets_of(step.record)[a] -= weight * step.others * tail * step.prob
                regrets_of(step.record)[step.action] += weight * step.others * tail
            tail *= step.prob

        return NOT_YET

    # ---- running ----------------------------------------------------------------------------

    cdef Halt iterate(self, int64_t count, int64_t nodes, bint external, bint stop) noexcept nogil:
        """Up to `count` iterations or about `nodes` nodes; says what ended them."""
        cdef int32_t averaged, n = self.start.ops.n_players
        cdef int64_t last = self.iterations + count, before
        cdef Halt halt = NOT_YET
        cdef Rng rng = self.stream.rng
        while self.iterations < last and halt == NOT_YET:
            if stop and self.table.full and self.top == NOTHING and self.seat == 0:
                halt = TABLE_FULL
                break
            if self.responder < 0 or self.seat == self.responder:
                averaged = self.seat if self.responder >= 0 else (self.seat + 1) % n
                before = self.visited if self.top != NOTHING else 0
                if external:
                    halt = self.walk(self.seat, averaged, nodes, &rng)
                else:
                    halt = self.outcome(self.seat, averaged, &rng)
                nodes -= self.visited - before
                if halt != NOT_YET:
                    break
                self.visited = 0
            self.seat += 1
            if self.seat == n:
                self.seat = 0
                self.iterations += 1
            if nodes <= 0:
                halt = ENOUGH
        self.stream.rng = rng
        return halt

    cdef object _go_on(self, int64_t count, int64_t nodes):
        """As `iterate`, open to signals; raises what stands against going on."""
        cdef bint external = self.sampling == "external", stop = self.when_full == "stop"
        cdef Halt halt
        with nogil:
            halt = self.iterate(count, nodes, external, stop)
        look_up()
        name, so_far = self.rules.name, f"after {self.iterations} whole iterations"
        if halt == LONG_WALK:
            raise TooLargeError(
                f"{name}: a walk of external sampling, which tries every action of one player, visited {self.visited} "
                f"nodes and was not at its end {so_far}; {self.walk_nodes} are allowed (walk_nodes). Use mccfr_os, "
                "which samples one game at a time")
        if halt == DEEP_WALK:
            raise TooLargeError(
                f"{name}: a walk of external sampling has more decisions open at once than {ARENA_BYTES >> 20} MB "
                f"hold ({self.visited} nodes visited, {so_far}). Use mccfr_os, which samples one game at a time")
        if halt == LONG_GAME:
            raise TooLargeError(f"{name}: a game of more than {self.path_room - 1} decisions was met {so_far}; it "
                                "is left out")
        if halt == TABLE_FULL:
            raise TooLargeError(f"{name}: the table of {self.max_bytes} bytes is full with {self.table.n_records} "
                                f"information sets {so_far}")

    def run(self, iterations):
        """That many more whole iterations; signals (Ctrl-C) are heard within walks, see the module's text.

        Raises:
            TooLargeError: a walk has more than `walk_nodes` nodes; or the table is full and `when_full` is
                stop. Everything so far is kept, and can be saved.
        """
        if not 0 <= iterations < 2**62:
            raise ParameterError(f"iterations is {iterations}, it must be 0 or more")
        cdef int64_t last = self.iterations + <int64_t>iterations, nodes
        began = time.perf_counter()
        try:
            for nodes in batches(None, None):
                if self.iterations >= last:
                    break
                self._go_on(last - self.iterations, max(nodes, LOOK_NODES))
        finally:
            self.seconds += time.perf_counter() - began

    def run_for(self, seconds):
        """Iterations until that much time has passed; returns how many.

        Raises:
            ParameterError: seconds is out of range.
            TooLargeError: as `run`; or the time was over within the first iteration of all. Everything
                so far is kept.
        """
        check_seconds(seconds)
        cdef int64_t start = self.iterations, nodes, walked = 0
        began = time.perf_counter()
        try:
            for nodes in batches(None, seconds):
                self._go_on(2**61, nodes)
            while not self.iterations and walked < PATIENCE_NODES:
                self._go_on(1, LOOK_NODES)
                walked += LOOK_NODES
        finally:
            self.seconds += time.perf_counter() - began
        if not self.iterations:
            raise TooLargeError(
                f"{self.rules.name}: the first iteration of {self.sampling} sampling was not at its end after "
                f"{seconds} seconds, {self.visited} nodes into a walk. Give more time, or use mccfr_os, which samples "
                "one game at a time")
        return int(self.iterations - start)

    def average_policy(self):
        """The average policy of the sets in the table, a KeyedPolicy."""
        return KeyedPolicy(identify(self.start), *self.table.keyed())

    def sampled_best_response(self, player, *, iterations, games, seed=0):
        """A lower bound on what a player could earn against this solver's average policy.

        A responder is trained against the average by the same kind of sampling, then its average
        is played against it. Whatever it earns, a best response earns at least as much.

        Args:
            player: the responder's seat.
            iterations: of its training.
            games: to play afterwards, at least 2.
            seed: of both.

        Returns:
            (mean, half width of its 95 % confidence interval), utilities for the player.
        """
        if not 0 <= player < self.start.ops.n_players:
            raise ParameterError(f"player is {player}, allowed are 0 to {self.start.ops.n_players - 1}")
        if games < 2:
            raise ParameterError(f"games is {games}, it must be at least 2")
        cdef NativeMCCFR other = NativeMCCFR(self.start, sampling=self.sampling, seed=seed, epsilon=self.epsilon,
                                             max_bytes=self.max_bytes, walk_nodes=self.walk_nodes)
        other.fixed, other.responder = self.table, player
        other.run(iterations)
        return other._play_out(player, games)

    def _play_out(self, int32_t player, int64_t games):
        cdef double mean = 0.0, spread = 0.0, delta, utility
        cdef int64_t done = 0, size, _i
        cdef Rng rng = self.stream.rng
        for size in batches(games, None):
            with nogil:
                for _i in range(size):
                    done += 1
                    utility = self.play_game(player, &rng)
                    delta = utility - mean
                    mean += delta / <double>done
                    spread += delta * (utility - mean)
            look_up()
        self.stream.rng = rng
        return mean, 1.96 * (spread / <double>(games - 1) / <double>games) ** 0.5

    cdef double play_game(self, int32_t player, Rng *rng) noexcept nogil:
        """The player's utility in one game of its average policy against the fixed table's."""
        cdef StateBuffer buffer
        cdef void *state = buffer.bytes
        cdef const GameOps *ops = self.start.ops
        cdef const void *tables = self.start.tables
        cdef double returns[PLAYER_LIMIT]
        cdef int32_t mover, count
        cdef uint64_t key
        cdef Record *record
        memcpy(state, self.start.state, ops.state_size)
        while True:
            ops_run_chance(ops, tables, state, rng)
            mover = ops.turn(tables, state)
            if mover == TERMINAL:
                ops.returns(tables, state, returns)
                return returns[player]
            count = ops.legal(tables, state, self.ids)
            key = ops_info_key(ops, tables, state, mover)
            if mover == player:
                record = self.table.find(key, mover, count, False)
                if record != NULL:
                    match(totals_of(record), count, self.policy)
                else:
                    self.play(NULL, count, self.policy)
            else:
                self.play_fixed(key, mover, count, self.policy)
            ops.apply(tables, state, self.ids[draw(self.policy, count, rng)])

    def nash_conv_bound(self, *, iterations, games, seed=0):
        """A sampled lower bound on NashConv, for zero-sum games: (mean, half width of its 95 % interval).

        Args: as `sampled_best_response`, for each player.

        Raises:
            UnsuitableGameError: not zero-sum.
        """
        if not self.rules.zero_sum:
            raise UnsuitableGameError(f"{self.rules.name}: a bound from best responses alone needs a zero-sum game")
        found = [self.sampled_best_response(player, iterations=iterations, games=games, seed=rng_combine(seed, player))
                 for player in range(self.start.ops.n_players)]
        return sum(mean for mean, _ in found), sum(width**2 for _, width in found) ** 0.5

    # ---- checkpoints ------------------------------------------------------------------------

    def _setting(self):
        return {"solver": "native", "sampling": self.sampling, "epsilon": self.epsilon, "when_full": self.when_full,
                "max_bytes": self.max_bytes, "game": identify(self.start).digest, "seed": int(self.seed)}

    def save(self, path):
        """Write a checkpoint from which a run continues bit for bit, within a walk too."""
        meta = {"setting": self._setting(), "iterations": self.iterations, "seconds": self.seconds,
                "name": self.rules.name, "full": bool(self.table.full), "seat": self.seat, "visited": self.visited,
                "top": self.top, "stream": [str(word) for word in self.stream.state]}
        write_saved(path, _KIND, _VERSION, meta, {"table": self.table.contents(), "open": self._open_decisions()})

    cdef _open_decisions(self):
        """The bytes of the stack of an open walk, uint8[arena_used]; none where no walk is open."""
        out = np.zeros(self.arena_used if self.top != NOTHING else 0, dtype=np.uint8)
        cdef uint8_t[::1] view = out
        if len(out):
            memcpy(&view[0], self.arena, len(out))
        return out

    cdef bint _is_stack(self, const uint8_t[::1] block, int64_t top, int64_t table_bytes):
        """Whether bytes are a stack of open decisions over a table of this size."""
        cdef int64_t end = block.shape[0]
        cdef const Open *open_
        cdef int32_t begun = 0     # actions tried or being tried: none need be in the decision on top
        while top != NOTHING:
            if not (0 <= top and top % 8 == 0 and top + <int64_t>sizeof(Open) <= end):
                return False
            open_ = <const Open *>&block[top]
            if not (0 < open_.count <= self.start.ops.max_legal and begun <= open_.next <= open_.count
                    and top + size_of_open(open_.count, self.start.ops.state_size) == end
                    and NOTHING <= open_.record < table_bytes):
                return False
            end, top, begun = top, open_.below, 1
        return end == 0

    def load(self, path):
        """Continue from a checkpoint, of the same seed, its random stream included.

        Raises:
            SavedStateError: damaged, or of another game or setting; nothing has changed then.
        """
        meta, arrays = read_checkpoint(path, _KIND, _VERSION, self._setting(), self.rules.name)
        cdef const uint8_t[::1] stack = arrays["open"]
        cdef _Table table = _Table(self.max_bytes)
        try:
            table.fill(arrays["table"])
        except SavedStateError as error:
            raise SavedStateError(f"{path}: {error}") from error
        if (not 0 <= meta["seat"] < self.start.ops.n_players or stack.shape[0] > ARENA_BYTES
                or not self._is_stack(stack, meta["top"], table.used)):
            raise SavedStateError(f"{path}: not a whole checkpoint")
        table.full = meta["full"]
        self.table = table
        self.arena_used, self.top, self.seat, self.visited = len(stack), meta["top"], meta["seat"], meta["visited"]
        if self.arena_used:
            memcpy(self.arena, &stack[0], self.arena_used)
        self.stream.state = tuple(int(word) for word in meta["stream"])
        self.iterations, self.seconds = meta["iterations"], meta["seconds"]

    def __repr__(self):
        return (f"<{self.sampling}-sampling MCCFR on {self.rules.name} without a tree, {self.iterations} iterations, "
                f"{self.table.n_records} information sets>")


# ---- what solvers/specs.py finds -----------------------------------------------------------------

def _maker(sampling):
    def make(game, parameters):
        options = {key: parameters[key] for key in ("seed", "epsilon") if key in parameters}
        if isinstance(game, FlatTree):
            return TreeMCCFR(game, sampling=sampling, **options)
        if "walk_nodes" in parameters:
            options["walk_nodes"] = parameters["walk_nodes"]
        return NativeMCCFR(game, sampling=sampling, max_bytes=parameters["megabytes"] << 20,
                           when_full=parameters["when_full"], **options)
    return make


_COMMON = {
    "iterations": Parameter(10_000, "iterations to run, each one walk a player", low=0),
    "seconds": Parameter(None, "stop after this much time instead", kind=float, low=1e-6, high=1e8),
    "seed": Parameter(0, "of everything random", low=0),
    "megabytes": Parameter(1024, "without a tree: memory of the regret table", low=1, high=16384),
    "when_full": Parameter("uniform", "without a tree: what a full table does to new information sets",
                           choices=_WHEN_FULL),
}

WITHOUT_TREE = ("mccfr_es", "mccfr_os")   # whose `make` takes Rules as well as a FlatTree

SOLVERS = (
    SolverSpec(
        name="mccfr_es", kind="policy", summary="CFR that samples everyone but the player it updates.",
        source="Lanctot et al., NIPS 2009, external sampling", make=_maker("external"),
        parameters={**_COMMON, "walk_nodes": Parameter(
            DEFAULT_WALK_NODES, "without a tree: most nodes of one walk; a game with larger ones is refused",
            low=1, high=10**15)},
    ),
    SolverSpec(
        name="mccfr_os", kind="policy", summary="CFR that samples one game at a time.",
        source="Lanctot et al., NIPS 2009, outcome sampling", make=_maker("outcome"),
        parameters={**_COMMON, "epsilon": Parameter(0.6, "how often the walking player explores", low=1e-6, high=1.0)},
    ),
)
