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

Sources: Knuth, "Estimating the efficiency of backtrack programs", Mathematics of Computation 29
(1975); von Stengel, "Efficient computation of behavior strategies", Games and Economic Behavior
14 (1996), for sequences.
"""
import contextlib
import os
import time
from dataclasses import dataclass

import numpy as np

from libc.math cimport exp, fabs, log, log1p
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from engine_ext.game cimport (
    CHANCE, CYCLIC, HIDDEN_INFORMATION, INFO_LIMIT, LEGAL_LIMIT, OUTCOME_LIMIT, PLAYER_LIMIT,
    STATE_LIMIT, TERMINAL, GameOps, hash_bytes, ops_info_bytes, ops_info_key,
)
from engine_ext.debug cimport QUANDARY_CHECK
from engine_ext.position cimport Position, Rules
from engine_ext.rng cimport Rng, rng_below, rng_combine, rng_seed
from solvers.stopping cimport look_up
from solvers.tree cimport MIXED_SEQUENCES, NO_SEQUENCE, FlatTree, TreeTables, step_key, text_key
from solvers.tree_rules cimport TreeRules

import pyspiel

from engine_ext.errors import ParameterError, QuandaryError, TooLargeError, UnsuitableGameError
from solvers.contract import HIDING, SIMULTANEOUS
from solvers.tree import TURN_BASED, history_key, openspiel_identity, take_forced
from solvers.tree_rules import require_width

_PACE_NODES = 200_000      # between two looks for signals: a fifth of a second where a step takes a microsecond
_FREE_NODES = 20_000       # trees up to this size are not worth an estimate
_FREE_SECONDS = 2.0        # nor are those that are done by then
_PROBE_SECONDS = 5.0       # probing stops then
_SURVEY_GAMES = 100        # to find out what a game does not declare
_SURVEY_SECONDS = 1.0
# Counted from when somebody began to wait, all looking is over after this, so that a refusal comes within 10 s,
# with what a process takes to start and one slow call of the game's: the probes, and before them the free walk and the
# survey.
_ANSWER_SECONDS = 6.5
_WALKED_SECONDS = 3.5
_SURVEYED_SECONDS = 2.5
_LEAST_SECONDS = 0.25      # of each, also where its time is over
_NODE_LIMIT = 2**31 - 2    # node numbers are int32
_EXACT_SEED = 0x6A09E667F3BCC909   # of the second hash of an information set's content

# What OpenSpiel's games raise where they refuse parameters or a call, or fail: C++ exceptions arrive as these, and
# games written in Python raise their own.
LOAD_ERRORS = (pyspiel.SpielError, ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError,
               OSError, RuntimeError, TypeError, ValueError)

cdef int64_t _NODE_LIMIT_C = _NODE_LIMIT
cdef uint64_t _EXACT_SEED_C = _EXACT_SEED

cdef enum:   # what a walk returns
    DONE = 0
    PAUSED = 1
    NO_MEMORY = 2
    MISMATCH = 3    # members of an information set with different actions
    FULL = 4        # more nodes than node numbers


# ---- size -------------------------------------------------------------------------------------

@dataclass(frozen=True)
class SizeEstimate:
    """How large a tree is, by random probes from the root.

    Attributes:
        nodes: mean estimate of the number of nodes; inf beyond the range of a float.
        low: lower end of the 95 % range of that mean (bootstrap over the probes).
        high: upper end.
        log10_nodes: log10 of the mean, finite for every game.
        probes: probes made.
        depth: the longest probe, nodes.
        bytes: memory for `nodes` nodes while extracting.
        seconds: wall-clock time of the probing.
        whole: whether the probes came to the end of their games; else time was over before, and the tree
            is larger than this.
    """

    nodes: float
    low: float
    high: float
    log10_nodes: float
    probes: int
    depth: int
    bytes: float
    seconds: float
    whole: bool = True

    def __str__(self):
        least = "" if self.whole else "at least "
        if self.log10_nodes > 18:
            return f"{least}about 10^{self.log10_nodes:.0f} nodes (from {self.probes} random probes)"
        return (f"{least}about {self.nodes:.3g} nodes (95 % range {self.low:.3g} to {self.high:.3g}, from "
                f"{self.probes} random probes), about {self.bytes / 1e9:.3g} GB")


@dataclass
class Survey:
    """What random games tell of a game. Each finding that rules something out has been seen; the rest
    may still turn out otherwise.

    Attributes:
        games: played, the last one perhaps not to its end.
        longest: most decisions and chance nodes of one, forced moves left out.
        most_legal: most actions of a decision.
        most_outcomes: most outcomes of a chance node.
        zero_sum: whether every game's utilities summed to 0.
        recalls: whether no seat came to one information state by different own sequences.
        stages: whether a seat's choice was hidden from another that decides next.
        walked: whether the beginning of the tree has been walked to see whether seats recall (`recalls`).
    """

    games: int = 0
    longest: int = 0
    most_legal: int = 0
    most_outcomes: int = 0
    zero_sum: bool = True
    recalls: bool = True
    stages: bool = False
    walked: bool = False


def _summarise(log_sizes, depth, n_players, seconds, whole=True):
    """The estimate from the natural logs of the probes' sizes."""
    logs = np.asarray(log_sizes, dtype=np.float64)
    top = logs.max()
    sizes = np.exp(logs - top)
    chooser = np.random.Generator(np.random.PCG64(len(sizes)))
    means = sizes[chooser.integers(0, len(sizes), size=(1000, len(sizes)))].mean(axis=1)
    low, high = np.quantile(means, (0.025, 0.975))
    with np.errstate(over="ignore"):
        mean, low, high = (float(np.exp(top + np.log(max(value, 1e-300)))) for value in (sizes.mean(), low, high))
    return SizeEstimate(mean, low, high, float((top + np.log(sizes.mean())) / np.log(10)), len(sizes), depth,
                        mean * _bytes_per_node(n_players), seconds, whole)


def _bytes_per_node(n_players):
    """Memory per node while extracting: arrays, information sets and slack for growth."""
    return 29 + 8 * n_players + 45


def default_max_nodes(n_players=2):
    """The largest tree that takes at most half of the memory free now."""
    try:
        with open("/proc/meminfo") as file:
            free_bytes = next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration, ValueError):
        try:
            free_bytes = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
        except (OSError, ValueError, AttributeError):
            free_bytes = 4 * 2**30
    return int(min(_NODE_LIMIT, max(100_000, free_bytes // 2 // _bytes_per_node(n_players))))


# ---- growing arrays ---------------------------------------------------------------------------

cdef struct Pool:
    char *data
    int64_t size       # items in use
    int64_t capacity   # items allocated
    int32_t item       # bytes an item


cdef int pool_grow(Pool *pool, int64_t more) noexcept nogil:
    """Make `more` further items part of the pool, uninitialised; -1 without memory."""
    cdef int64_t capacity
    cdef char *data
    if pool.size + more > pool.capacity:
        capacity = max(pool.size + more, pool.capacity + pool.capacity // 2, <int64_t>256)
        data = <char *>realloc(pool.data, capacity * pool.item)
        if data == NULL:
            return -1
        pool.data = data
        pool.capacity = capacity
    pool.size += more
    return 0


cdef class _Block:
    """Owns a pool's memory and offers it to numpy, which so need not copy it."""
    cdef char *data
    cdef Py_ssize_t n_bytes
    cdef Py_ssize_t shape[1]

    def __dealloc__(self):
        free(self.data)

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        self.shape[0] = self.n_bytes
        buffer.buf = self.data
        buffer.obj = self
        buffer.len = self.n_bytes
        buffer.itemsize = 1
        buffer.readonly = 0
        buffer.ndim = 1
        buffer.format = b"B"
        buffer.shape = self.shape
        buffer.strides = NULL
        buffer.suboffsets = NULL
        buffer.internal = NULL


cdef object take_pool(Pool *pool, dtype):
    """The pool's items as a numpy array; the pool is empty afterwards."""
    cdef _Block block = _Block()
    cdef char *data
    if pool.size == 0:
        return np.zeros(0, dtype=dtype)
    data = <char *>realloc(pool.data, pool.size * pool.item)   # give back what growth left over
    block.data = data if data != NULL else pool.data
    block.n_bytes = pool.size * pool.item
    pool.data = NULL
    pool.size = pool.capacity = 0
    return np.frombuffer(block, dtype=dtype)


# ---- the builder: what both roads of extraction share -------------------------------------------

cdef struct Frame:
    int32_t node
    int32_t next      # index of the edge to follow next


cdef class _Builder:
    cdef int32_t n_players
    cdef bint by_key               # information sets by key alone
    cdef bint by_node              # every decision is an information set of its own
    cdef Pool player, parent, first, count, infoset, action, prob, utility
    cdef Pool info_player, info_first, info_parent, info_key, info_exact, info_node
    cdef int32_t *table            # open addressing: information set + 1, 0 where free
    cdef uint64_t mask
    cdef int32_t clash             # after MISMATCH: the information set
    # what a walk meets that may rule a solver out
    cdef bint forgets              # an information set with two own sequences before it
    cdef bint unbalanced           # utilities that do not sum to zero
    cdef int32_t widest_decision, widest_chance
    cdef bint news                 # since it was last looked at, for the first time
    # the stack of open nodes of the native walk
    cdef Pool frames, states, last
    cdef int32_t depth             # frames in use - 1

    def __cinit__(self, n_players, by_key, by_node=False):
        self.n_players = n_players
        self.by_key = by_key
        self.by_node = by_node
        self.player.item = 1
        self.info_player.item = 1
        self.prob.item = self.utility.item = self.info_key.item = self.info_exact.item = 8
        self.parent.item = self.first.item = self.count.item = self.infoset.item = self.action.item = 4
        self.info_first.item = self.info_parent.item = self.info_node.item = 4
        self.frames.item = sizeof(Frame)
        self.states.item = 1
        self.last.item = 4
        self.mask = 1023
        self.table = <int32_t *>malloc((self.mask + 1) * sizeof(int32_t))
        if self.table == NULL or pool_grow(&self.info_first, 1) < 0:
            raise MemoryError
        memset(self.table, 0, (self.mask + 1) * sizeof(int32_t))
        (<int32_t *>self.info_first.data)[0] = 0
        self.depth = -1

    def __dealloc__(self):
        cdef Pool *pools[17]
        pools[:] = [
            &self.player, &self.parent, &self.first, &self.count, &self.infoset, &self.action, &self.prob,
            &self.utility, &self.info_player, &self.info_first, &self.info_parent, &self.info_key,
            &self.info_exact, &self.info_node, &self.frames, &self.states, &self.last,
        ]
        for i in range(17):
            free(pools[i].data)
        free(self.table)

    cdef int add_nodes(self, int32_t parent, int32_t count) noexcept nogil:
        """Room for a node's children side by side; their first number, or a negative status."""
        cdef int64_t start = self.player.size
        cdef int32_t i
        if start + count > _NODE_LIMIT_C:
            return -FULL
        if (pool_grow(&self.player, count) < 0 or pool_grow(&self.parent, count) < 0
                or pool_grow(&self.first, count) < 0 or pool_grow(&self.count, count) < 0
                or pool_grow(&self.infoset, count) < 0 or pool_grow(&self.action, count) < 0
                or pool_grow(&self.prob, count) < 0):
            return -NO_MEMORY
        for i in range(count):
            (<int32_t *>self.parent.data)[start + i] = parent
            (<int32_t *>self.action.data)[start + i] = -1
            (<double *>self.prob.data)[start + i] = 1.0
        return <int>start

    cdef int set_node(self, int32_t node, int32_t player, int32_t first, int32_t count, int32_t infoset) noexcept nogil:
        (<int8_t *>self.player.data)[node] = player
        (<int32_t *>self.first.data)[node] = first
        (<int32_t *>self.count.data)[node] = count
        (<int32_t *>self.infoset.data)[node] = infoset
        return DONE

    cdef int rehash(self) noexcept nogil:
        cdef uint64_t mask = self.mask * 4 + 3, slot
        cdef int32_t *table = <int32_t *>malloc((mask + 1) * sizeof(int32_t))
        cdef int32_t i
        if table == NULL:
            return -1
        memset(table, 0, (mask + 1) * sizeof(int32_t))
        for i in range(<int32_t>self.info_player.size):
            slot = self.place(i) & mask
            while table[slot]:
                slot = (slot + 1) & mask
            table[slot] = i + 1
        free(self.table)
        self.table = table
        self.mask = mask
        return 0

    cdef uint64_t place(self, int32_t infoset) noexcept nogil:
        return self.hash_of((<int8_t *>self.info_player.data)[infoset], (<int32_t *>self.info_parent.data)[infoset],
                            (<uint64_t *>self.info_key.data)[infoset], (<uint64_t *>self.info_exact.data)[infoset])

    cdef uint64_t hash_of(self, int32_t player, int32_t last, uint64_t key, uint64_t exact) noexcept nogil:
        if self.by_key:
            last = NO_SEQUENCE
        return rng_combine(key ^ exact, <uint64_t>player << 32 | <uint64_t>(last + 2))

    cdef int find_infoset(self, int32_t node, int32_t player, int32_t last, uint64_t key, uint64_t exact,
                          const int32_t *actions, int32_t count) noexcept nogil:
        """The information set of a decision node, made if new; or a negative status.

        Args:
            last: the player's own last sequence.
            key: the game's key.
            exact: a second hash of what the key hashes.
            actions: int32[count], the legal action ids.
        """
        cdef uint64_t slot = self.hash_of(player, last, key, exact) & self.mask
        cdef int32_t found, other
        while self.table[slot]:
            found = self.table[slot] - 1
            if ((<uint64_t *>self.info_key.data)[found] == key and (<uint64_t *>self.info_exact.data)[found] == exact
                    and (<int8_t *>self.info_player.data)[found] == player
                    and (self.by_key or (<int32_t *>self.info_parent.data)[found] == last)):
                other = (<int32_t *>self.info_node.data)[found]
                if (<int32_t *>self.count.data)[other] != count or memcmp(
                        (<int32_t *>self.action.data) + (<int32_t *>self.first.data)[other], actions, count * 4):
                    self.clash = found
                    return -MISMATCH
                if (<int32_t *>self.info_parent.data)[found] != last:
                    (<int32_t *>self.info_parent.data)[found] = MIXED_SEQUENCES
                    self.news |= not self.forgets
                    self.forgets = True
                return found
            slot = (slot + 1) & self.mask
        found = self.add_infoset(player, last, key, count)
        if found < 0 or pool_grow(&self.info_exact, 1) < 0 or pool_grow(&self.info_node, 1) < 0:
            return -NO_MEMORY
        (<uint64_t *>self.info_exact.data)[found] = exact
        (<int32_t *>self.info_node.data)[found] = node
        self.table[slot] = found + 1
        if <uint64_t>found * 2 > self.mask and self.rehash() < 0:
            return -NO_MEMORY
        return found

    cdef int add_infoset(self, int32_t player, int32_t last, uint64_t key, int32_t count) noexcept nogil:
        """A new information set; its number, or a negative status."""
        cdef int32_t found = <int32_t>self.info_player.size
        if (pool_grow(&self.info_player, 1) < 0 or pool_grow(&self.info_first, 1) < 0
                or pool_grow(&self.info_parent, 1) < 0 or pool_grow(&self.info_key, 1) < 0):
            return -NO_MEMORY
        (<int8_t *>self.info_player.data)[found] = player
        (<int32_t *>self.info_first.data)[found + 1] = (<int32_t *>self.info_first.data)[found] + count
        (<int32_t *>self.info_parent.data)[found] = last
        (<uint64_t *>self.info_key.data)[found] = key
        return found

    # ---- the native road -------------------------------------------------------------------

    cdef int open_native(self, const GameOps *ops, const void *tables, const void *state, int32_t node,
                         const int32_t *last, int32_t depth_left) noexcept nogil:
        """Fill in one node from its state and number its children. DONE or another status."""
        cdef int32_t ids[LEGAL_LIMIT]
        cdef double probs[OUTCOME_LIMIT]
        cdef uint8_t content[INFO_LIMIT]
        cdef int32_t seat = ops.turn(tables, state)
        cdef int32_t count, first, infoset = -1, size
        cdef int64_t row
        cdef uint64_t exact
        if seat == TERMINAL or depth_left == 0:
            row = self.utility.size // self.n_players
            if pool_grow(&self.utility, self.n_players) < 0:
                return NO_MEMORY
            if seat == TERMINAL:
                ops.returns(tables, state, (<double *>self.utility.data) + row * self.n_players)
            else:
                ops.estimate(tables, state, (<double *>self.utility.data) + row * self.n_players)
            return self.set_node(node, TERMINAL, 0, 0, <int32_t>row)
        if seat == CHANCE:
            count = ops.outcomes(tables, state, ids, probs)
        else:
            count = ops.legal(tables, state, ids)
        QUANDARY_CHECK(count >= 1, "a node without moves")
        first = self.add_nodes(node, count)
        if first < 0:
            return -first
        memcpy((<int32_t *>self.action.data) + first, ids, count * sizeof(int32_t))
        if seat == CHANCE:
            memcpy((<double *>self.prob.data) + first, probs, count * sizeof(double))
        else:
            size = ops_info_bytes(ops, tables, state, seat, content)
            exact = hash_bytes(content, size, _EXACT_SEED_C)
            self.set_node(node, seat, first, count, -1)   # find_infoset may meet this very node
            infoset = self.find_infoset(node, seat, last[seat], ops_info_key(ops, tables, state, seat), exact,
                                        ids, count)
            if infoset < 0:
                return -infoset
        return self.set_node(node, seat, first, count, infoset)

    cdef int push(self, const GameOps *ops, int32_t node) noexcept nogil:
        """One more frame on the stack, with room for its state and sequences."""
        self.depth += 1
        if self.frames.size <= self.depth:
            if (pool_grow(&self.frames, 1) < 0 or pool_grow(&self.states, ops.state_size) < 0
                    or pool_grow(&self.last, self.n_players) < 0):
                return NO_MEMORY
        (<Frame *>self.frames.data)[self.depth].node = node
        (<Frame *>self.frames.data)[self.depth].next = 0
        return DONE

    cdef int start_native(self, const GameOps *ops, const void *tables, const void *state,
                          int32_t limit) noexcept nogil:
        cdef int32_t seat
        cdef int status = self.add_nodes(-1, 1)
        if status < 0:
            return -status
        status = self.push(ops, 0)
        if status != DONE:
            return status
        memcpy(self.states.data, state, ops.state_size)
        for seat in range(self.n_players):
            (<int32_t *>self.last.data)[seat] = NO_SEQUENCE
        return self.open_native(ops, tables, state, 0, <int32_t *>self.last.data, limit)

    cdef int walk_native(self, const GameOps *ops, const void *tables, int64_t pause_at, int32_t limit) noexcept nogil:
        """Go on until the tree is whole (DONE) or has `pause_at` nodes (PAUSED)."""
        cdef Frame *frame
        cdef int32_t node, child, i, seat
        cdef char *state
        cdef int32_t *last
        cdef int status
        while self.depth >= 0:
            frame = (<Frame *>self.frames.data) + self.depth
            node, i = frame.node, frame.next
            if i == (<int32_t *>self.count.data)[node]:
                self.depth -= 1
                continue
            if self.player.size >= pause_at:
                return PAUSED
            frame.next = i + 1
            child = (<int32_t *>self.first.data)[node] + i
            status = self.push(ops, child)
            if status != DONE:
                return status
            state = self.states.data + <int64_t>self.depth * ops.state_size
            memcpy(state, state - ops.state_size, ops.state_size)
            ops.apply(tables, state, (<int32_t *>self.action.data)[child])
            last = (<int32_t *>self.last.data) + <int64_t>self.depth * self.n_players
            memcpy(last, last - self.n_players, self.n_players * sizeof(int32_t))
            seat = (<int8_t *>self.player.data)[node]
            if seat >= 0:
                last[seat] = (<int32_t *>self.info_first.data)[(<int32_t *>self.infoset.data)[node]] + i
            status = self.open_native(ops, tables, state, child, last, limit - self.depth)
            if status != DONE:
                return status
        return DONE

    # ---- the OpenSpiel road ------------------------------------------------------------------

    cdef open_spiel(self, state, int32_t node, last, uint64_t key, _Labels labels):
        """Fill in one node from its state, which is moved past forced moves.

        Args:
            last: each player's own last sequence.
            key: of the state's history.

        Returns:
            (count of actions or outcomes, their ids, the key with forced moves)
        """
        cdef int32_t ids_c[4096]
        cdef int32_t *ids = ids_c
        cdef int32_t count, first, infoset, i
        cdef int64_t row
        cdef int32_t player
        cdef double total = 0.0, most = 1.0
        cdef uint64_t exact = 0
        while True:
            player = state.current_player()
            if player == TERMINAL:
                row = self.utility.size // self.n_players
                if pool_grow(&self.utility, self.n_players) < 0:
                    raise MemoryError
                for i, value in enumerate(state.returns()):
                    (<double *>self.utility.data)[row * self.n_players + i] = value
                    total += value
                    most = max(most, fabs(value))
                if fabs(total) > 1e-9 * most:
                    self.news |= not self.unbalanced
                    self.unbalanced = True
                self.set_node(node, TERMINAL, 0, 0, <int32_t>row)
                return 0, None, key
            if player == CHANCE:
                pairs = sorted(pair for pair in state.chance_outcomes() if pair[1] > 0)
                actions = [pair[0] for pair in pairs]
            elif player >= 0:
                actions = state.legal_actions()
                actions.sort()
            else:
                raise UnsuitableGameError(f"{labels.game}: a node whose player is {player} cannot be part of a tree")
            if len(actions) != 1:
                break
            state.apply_action(actions[0])
            key = step_key(key, actions[0])
        count = len(actions)
        if count == 0:
            raise _stuck(labels.game, state, player)
        if player == CHANCE:
            self.news |= self.widest_chance <= OUTCOME_LIMIT < count
            self.widest_chance = max(self.widest_chance, count)
        else:
            self.news |= self.widest_decision <= LEGAL_LIMIT < count
            self.widest_decision = max(self.widest_decision, count)
        first = self.add_nodes(node, count)
        if first == -NO_MEMORY:
            raise MemoryError
        if first < 0:
            raise TooLargeError(f"{labels.game}: the tree has more than {_NODE_LIMIT} nodes")
        if player == CHANCE:
            for i in range(count):
                (<int32_t *>self.action.data)[first + i] = pairs[i][0]
                (<double *>self.prob.data)[first + i] = pairs[i][1]
                total += pairs[i][1]
            if not 1 - 1e-6 < total < 1 + 1e-6:
                raise UnsuitableGameError(
                    f"{labels.game}: the game itself is at fault: after {len(state.history())} moves the probabilities "
                    f"of chance sum to {total:.9g}, not to 1, so it has no expected values to solve for")
            labels.name_outcomes(state, actions)
            self.set_node(node, CHANCE, first, count, -1)
            return count, actions, key
        for i in range(count):
            (<int32_t *>self.action.data)[first + i] = actions[i]
        labels.name_actions(state, player, actions)
        self.set_node(node, player, first, count, -1)
        if count > 4096:
            ids = <int32_t *>malloc(count * sizeof(int32_t))
            if ids == NULL:
                raise MemoryError
        memcpy(ids, (<int32_t *>self.action.data) + first, count * sizeof(int32_t))
        if self.by_node:
            infoset = self.add_infoset(player, last[player], key, count)
        else:
            text = labels.text(state, player)
            exact = text_key(text, _EXACT_SEED_C)
            infoset = self.find_infoset(node, player, last[player], text_key(text, 0), exact, ids, count)
        if ids != ids_c:
            free(ids)
        if infoset == -NO_MEMORY:
            raise MemoryError
        if infoset == -MISMATCH:
            raise UnsuitableGameError(
                f"{labels.game}: its information-state strings are too coarse: states that seat {player} cannot tell "
                f"apart offer it different actions, after {len(state.history())} moves for one; no policy can be "
                f"written for such a set. What the seat is told: {_shortened(labels.text(state, player))!r}")
        self.set_node(node, player, first, count, infoset)
        return count, actions, key

    def walk_spiel(self, list stack, _Labels labels, int64_t pause_at, double deadline):
        """Go on until the tree is whole (True), or has `pause_at` nodes, or there is news or no more time (False).

        Each entry of the stack is [state, node, index of the next edge, actions, player, last, key]."""
        cdef int32_t i, node, count, child, player, steps = 0
        cdef list frame, actions
        cdef uint64_t key
        while stack:
            frame = <list>stack[len(stack) - 1]
            node, i, actions, player = frame[1], frame[2], <list>frame[3], frame[4]
            count = len(actions)
            if self.player.size >= pause_at or self.news:
                return False
            steps += 1
            if not steps & 15 and time.perf_counter() > deadline:
                return False
            look_up()     # a step of a slow game may take milliseconds
            state = frame[0]
            if i == count - 1:
                stack.pop()          # the last child takes over its parent's state
                state.apply_action(actions[i])
            else:
                frame[2] = i + 1
                state = state.child(actions[i])
            child = (<int32_t *>self.first.data)[node] + i
            last = frame[5]
            if player >= 0:
                last = list(last)
                last[player] = (<int32_t *>self.info_first.data)[(<int32_t *>self.infoset.data)[node]] + i
            key = frame[6]
            count, found, key = self.open_spiel(state, child, last, step_key(key, actions[i]), labels)
            if count:
                stack.append([state, child, 0, found, (<int8_t *>self.player.data)[child], last, key])
        return True

    cdef dict take(self):
        """The arrays by name; the builder is empty afterwards."""
        free(self.table)
        self.table = NULL
        return {
            "player": take_pool(&self.player, np.int8), "parent": take_pool(&self.parent, np.int32),
            "first": take_pool(&self.first, np.int32), "count": take_pool(&self.count, np.int32),
            "infoset": take_pool(&self.infoset, np.int32), "action": take_pool(&self.action, np.int32),
            "prob": take_pool(&self.prob, np.float64),
            "utility": take_pool(&self.utility, np.float64).reshape(-1, self.n_players),
            "info_player": take_pool(&self.info_player, np.int8), "info_first": take_pool(&self.info_first, np.int32),
            "info_parent": take_pool(&self.info_parent, np.int32), "info_key": take_pool(&self.info_key, np.uint64),
        }


cdef class _Merger:
    """Walks a game of perfect information depth first, following each state once.

    Nodes are numbered as they are met; afterwards they are renumbered by reverse order of leaving,
    which puts every parent before its children.
    """
    cdef int32_t n_players
    cdef bint exact                # states are equal only where their bytes are, too
    cdef Pool player, first, count, row, key, check, left
    cdef Pool action, prob, target, utility
    cdef int32_t *table            # open addressing: node + 1, 0 where free
    cdef uint64_t mask
    cdef Pool frames, states
    cdef int32_t depth
    cdef int64_t n_left            # nodes left for good

    def __cinit__(self, n_players, exact):
        self.n_players, self.exact = n_players, exact
        self.player.item = 1
        self.first.item = self.count.item = self.row.item = self.left.item = 4
        self.action.item = self.target.item = 4
        self.key.item = self.check.item = self.prob.item = self.utility.item = 8
        self.frames.item = sizeof(Frame)
        self.states.item = 1
        self.mask = 1023
        self.table = <int32_t *>malloc((self.mask + 1) * sizeof(int32_t))
        if self.table == NULL:
            raise MemoryError
        memset(self.table, 0, (self.mask + 1) * sizeof(int32_t))
        self.depth = -1

    def __dealloc__(self):
        cdef Pool *pools[13]
        pools[:] = [
            &self.player, &self.first, &self.count, &self.row, &self.key, &self.check, &self.left, &self.action,
            &self.prob, &self.target, &self.utility, &self.frames, &self.states,
        ]
        for i in range(13):
            free(pools[i].data)
        free(self.table)

    cdef int rehash(self) noexcept nogil:
        cdef uint64_t mask = self.mask * 4 + 3, slot
        cdef int32_t *table = <int32_t *>malloc((mask + 1) * sizeof(int32_t))
        cdef int32_t i
        if table == NULL:
            return -1
        memset(table, 0, (mask + 1) * sizeof(int32_t))
        for i in range(<int32_t>self.player.size):
            slot = (<uint64_t *>self.key.data)[i] & mask
            while table[slot]:
                slot = (slot + 1) & mask
            table[slot] = i + 1
        free(self.table)
        self.table = table
        self.mask = mask
        return 0

    cdef int visit(self, const GameOps *ops, const void *tables, const void *state, int32_t depth_left,
                   int32_t *out) noexcept nogil:
        """The node of a state into `out`; a new one gets a frame whose state is in place already."""
        cdef int32_t ids[LEGAL_LIMIT]
        cdef double probs[OUTCOME_LIMIT]
        # A cut leaf is not the state itself, so what is left of the depth belongs to the key.
        cdef uint64_t key = rng_combine(ops.state_key(tables, state), depth_left)
        cdef uint64_t check = hash_bytes(state, ops.state_size, _EXACT_SEED_C) if self.exact else 0
        cdef uint64_t slot = key & self.mask
        cdef int64_t node = self.player.size, first = self.action.size, row = -1
        cdef int32_t seat, count = 0, found, i
        while self.table[slot]:
            found = self.table[slot] - 1
            if (<uint64_t *>self.key.data)[found] == key and (<uint64_t *>self.check.data)[found] == check:
                out[0] = found
                return DONE
            slot = (slot + 1) & self.mask
        if node >= _NODE_LIMIT_C or first >= _NODE_LIMIT_C - LEGAL_LIMIT:
            return FULL
        seat = ops.turn(tables, state)
        if seat == TERMINAL or depth_left == 0:
            row = self.utility.size // self.n_players
            if pool_grow(&self.utility, self.n_players) < 0:
                return NO_MEMORY
            if seat == TERMINAL:
                ops.returns(tables, state, (<double *>self.utility.data) + row * self.n_players)
            else:
                ops.estimate(tables, state, (<double *>self.utility.data) + row * self.n_players)
            seat, first = TERMINAL, 0
        else:
            count = ops.outcomes(tables, state, ids, probs) if seat == CHANCE else ops.legal(tables, state, ids)
            if (pool_grow(&self.action, count) < 0 or pool_grow(&self.prob, count) < 0
                    or pool_grow(&self.target, count) < 0):
                return NO_MEMORY
            for i in range(count):
                (<int32_t *>self.action.data)[first + i] = ids[i]
                (<double *>self.prob.data)[first + i] = probs[i] if seat == CHANCE else 1.0
        if (pool_grow(&self.player, 1) < 0 or pool_grow(&self.first, 1) < 0 or pool_grow(&self.count, 1) < 0
                or pool_grow(&self.row, 1) < 0 or pool_grow(&self.key, 1) < 0 or pool_grow(&self.check, 1) < 0
                or pool_grow(&self.left, 1) < 0):
            return NO_MEMORY
        (<int8_t *>self.player.data)[node] = seat
        (<int32_t *>self.first.data)[node] = <int32_t>first
        (<int32_t *>self.count.data)[node] = count
        (<int32_t *>self.row.data)[node] = <int32_t>row
        (<uint64_t *>self.key.data)[node] = key
        (<uint64_t *>self.check.data)[node] = check
        self.table[slot] = <int32_t>node + 1
        if <uint64_t>node * 2 > self.mask and self.rehash() < 0:
            return NO_MEMORY
        out[0] = <int32_t>node
        self.depth += 1
        (<Frame *>self.frames.data)[self.depth].node = <int32_t>node
        (<Frame *>self.frames.data)[self.depth].next = 0
        return DONE

    cdef int room(self, const GameOps *ops) noexcept nogil:
        """Make room for one frame more than there are."""
        if self.frames.size <= self.depth + 1 and (
                pool_grow(&self.frames, 1) < 0 or pool_grow(&self.states, ops.state_size) < 0):
            return NO_MEMORY
        return DONE

    cdef int start(self, const GameOps *ops, const void *tables, const void *state, int32_t limit) noexcept nogil:
        cdef int32_t node
        if self.room(ops) != DONE:
            return NO_MEMORY
        memcpy(self.states.data, state, ops.state_size)
        return self.visit(ops, tables, self.states.data, limit, &node)

    cdef int walk(self, const GameOps *ops, const void *tables, int64_t pause_at, int32_t limit) noexcept nogil:
        """Go on until the graph is whole (DONE) or has `pause_at` nodes (PAUSED)."""
        cdef Frame *frame
        cdef int32_t node, edge, child
        cdef char *state
        cdef int status
        while self.depth >= 0:
            frame = (<Frame *>self.frames.data) + self.depth
            node = frame.node
            if frame.next == (<int32_t *>self.count.data)[node]:
                (<int32_t *>self.left.data)[node] = <int32_t>self.n_left
                self.n_left += 1
                self.depth -= 1
                continue
            if self.player.size >= pause_at:
                return PAUSED
            edge = (<int32_t *>self.first.data)[node] + frame.next
            frame.next += 1
            if self.room(ops) != DONE:
                return NO_MEMORY
            state = self.states.data + <int64_t>(self.depth + 1) * ops.state_size
            memcpy(state, state - ops.state_size, ops.state_size)
            ops.apply(tables, state, (<int32_t *>self.action.data)[edge])
            status = self.visit(ops, tables, state, limit - self.depth - 1 if limit >= 0 else -1, &child)
            if status != DONE:
                return status
            (<int32_t *>self.target.data)[edge] = child
        return DONE

    cdef dict take(self):
        """The arrays by name, in the final order."""
        free(self.table)
        self.table = NULL
        left = take_pool(&self.left, np.int32)
        place = (len(left) - 1 - left).astype(np.int32)        # node met -> final number
        order = np.empty_like(place)
        order[place] = np.arange(len(place), dtype=np.int32)
        player = take_pool(&self.player, np.int8)[order]
        decisions = np.flatnonzero(player >= 0)
        infoset = take_pool(&self.row, np.int32)[order]
        infoset[decisions] = np.arange(len(decisions), dtype=np.int32)
        count = take_pool(&self.count, np.int32)[order]
        info_first = np.zeros(len(decisions) + 1, dtype=np.int32)
        np.cumsum(count[decisions], out=info_first[1:])
        info_parent = np.full(len(decisions), MIXED_SEQUENCES, dtype=np.int32)
        take_pool(&self.check, np.uint64)
        return {
            "player": player, "first": take_pool(&self.first, np.int32)[order], "count": count, "infoset": infoset,
            "action": take_pool(&self.action, np.int32), "prob": take_pool(&self.prob, np.float64),
            "target": place[take_pool(&self.target, np.int32)],
            "utility": take_pool(&self.utility, np.float64).reshape(-1, self.n_players),
            "info_player": player[decisions], "info_first": info_first, "info_parent": info_parent,
            "info_key": take_pool(&self.key, np.uint64)[order][decisions],
        }


def _stuck(game, state, player):
    """The error for a game that goes on where nothing can be done."""
    who = "chance has no outcome" if player == CHANCE else f"seat {player} is to move and has no legal action"
    return UnsuitableGameError(
        f"{game}: the game itself is at fault: {who}, after {len(state.history())} moves, and the game is not over; no "
        "solver can go on there. Other parameters may avoid it")


def _shortened(text):
    """A text that is one line and not too long for a message."""
    line = " ".join(text.split())
    return line if len(line) <= 120 else f"{line[:60]} ... {line[len(line) - 50:]}"


cdef class _Labels:
    """What a pyspiel game calls things: the texts of information sets, and action names, gathered on the way."""
    cdef str game
    cdef dict action_names
    cdef dict outcome_names
    cdef bint observations     # information sets go by observation strings

    def __init__(self, game, observations):
        self.game = game
        self.action_names, self.outcome_names = {}, {}
        self.observations = observations

    cdef str text(self, state, int32_t player):
        return state.observation_string(player) if self.observations else state.information_state_string(player)

    cdef name_actions(self, state, player, actions):
        for action in actions:
            if action not in self.action_names:
                self.action_names[action] = state.action_to_string(player, action)

    cdef name_outcomes(self, state, outcomes):
        for outcome in outcomes:
            if outcome not in self.outcome_names:
                self.outcome_names[outcome] = state.action_to_string(CHANCE, outcome)


def _first_line(error):
    """What an exception of OpenSpiel's says, without the trace that follows it."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def _unique(names):
    """The same texts, with the id appended where two ids share one."""
    seen = {}
    for text in names.values():
        seen[text] = seen.get(text, 0) + 1
    return {key: text if seen[text] == 1 else f"{text} ({key})" for key, text in sorted(names.items())}


# ---- extraction ---------------------------------------------------------------------------------

def native_name(rules):
    """A native game with its parameters, in OpenSpiel's grammar."""
    inside = ",".join(f"{key}={value}" for key, value in sorted(rules.parameters.items()) if value != "")
    return f"{rules.name}({inside})"


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
    source = _Source(source, depth)
    return source.probe(probes, seed)


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
            comes seven seconds after that at the latest, or as soon as the game lets it.

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
    source = _Source(source, depth, began=began)
    if merge != "off":
        source.require_mergeable()
    return source.extract(max_nodes, progress, information, merge, check)


@contextlib.contextmanager
def _named_errors(game):
    """Say which game it was that raised an error of its own, and raise ours."""
    try:
        yield
    except QuandaryError:
        raise
    except LOAD_ERRORS as error:
        raise UnsuitableGameError(f"{game}: the game itself fails with {_first_line(error)}") from error


class _Source:
    """Where a tree comes from: exactly one of `position` (native) and `state` (pyspiel) is set."""

    def __init__(self, source, depth, whole=True, began=None):
        began = time.perf_counter() if began is None else began
        self.began = began
        self.position = self.state = self.game = None
        self.depth = depth
        self.whole = whole        # whether the whole tree is wanted, which a game with cycles does not have
        if isinstance(source, str):
            name = source.partition("(")[0].strip()
            if name not in pyspiel.registered_names():   # OpenSpiel would print all names it knows
                raise ParameterError(f"OpenSpiel knows no game {name!r}; was the module that registers it imported?")
            try:
                source = pyspiel.load_game(source)
            except LOAD_ERRORS as error:
                raise ParameterError(f"OpenSpiel does not load {source!r}: {_first_line(error)}") from error
        if isinstance(source, FlatTree):
            raise ParameterError("this is a tree already")
        if isinstance(source, pyspiel.State) and isinstance(getattr(source, "position", None), Position):
            source = source.position
        elif isinstance(source, pyspiel.Game) and isinstance(getattr(source, "rules", None), Rules):
            source = source.rules
        if isinstance(source, Rules):
            source = source.initial_position()
        if isinstance(source, Position):
            self._take_position(source)
        elif isinstance(source, pyspiel.Game):
            with _named_errors(str(source)):
                self._take_state(source.new_initial_state(), source)
        elif isinstance(source, pyspiel.State):
            with _named_errors(str(source.get_game())):
                self._take_state(source.clone(), source.get_game())
        else:
            raise ParameterError(
                f"a tree is extracted from a game, a state or a name, not from {type(source).__name__}")

    def until(self, seconds, since_began):
        """When to stop: so long from now, and so long since somebody began to wait; but not at once."""
        now = time.perf_counter()
        return min(now + seconds, max(self.began + since_began, now + _LEAST_SECONDS))

    def _take_position(self, Position position):
        cdef const GameOps *ops = position.ops
        self.position = position.clone()
        self.name = native_name(position.rules)
        self.n_players = ops.n_players
        if self.depth is None:
            if ops.flags & CYCLIC and self.whole:
                raise UnsuitableGameError(
                    f"{self.name}: a state may come again in one game, so its tree has no end; give a depth, or use "
                    f"value_iteration")
        elif not 1 <= self.depth < 2**30:
            raise ParameterError(f"depth is {self.depth}, it must be at least 1")
        elif ops.estimate == NULL:
            raise UnsuitableGameError(f"{self.name}: a tree cut at a depth needs the game's own estimate; it has none")

    def _take_state(self, state, game):
        kinds = pyspiel.GameType
        kind = game.get_type()
        self.name = str(game)
        if self.depth is not None:
            raise ParameterError("a tree of an OpenSpiel game cannot be cut at a depth: the game offers no estimate")
        # What a simultaneous game of perfect information calls an information state may forget how it came about
        # (goofspiel's does); its players do not. Where it has no such text, what they observe is all there is to know.
        perfect = kind.information != kinds.Information.IMPERFECT_INFORMATION
        self.imperfect = not perfect
        self.by_key = not perfect
        self.observe = perfect and not kind.provides_information_state_string
        if kind.dynamics == kinds.Dynamics.SIMULTANEOUS:
            if state.history():
                raise UnsuitableGameError(f"{self.called}: a simultaneous game is extracted from its start only")
            game = pyspiel.convert_to_turn_based(game)
            kind = game.get_type()
            state = game.new_initial_state()
        self.simultaneous = kind.short_name == TURN_BASED
        if kind.dynamics != kinds.Dynamics.SEQUENTIAL:
            raise UnsuitableGameError(
                f"{self.called}: it is a mean-field game, where one player meets a crowd and not every node has a "
                "player to move, so it cannot be made a tree; open_spiel.python.mfg has solvers for it")
        if kind.chance_mode == kinds.ChanceMode.SAMPLED_STOCHASTIC:
            raise UnsuitableGameError(
                f"{self.called}: its chance is only sampled, never listed, and a tree needs every outcome with its "
                "probability; no solver of ours applies. OpenSpiel's own searchers that sample (pyspiel.MCTSBot) may")
        self.hidden = kind.information != kinds.Information.PERFECT_INFORMATION
        self.declared_zero_sum = kind.utility == kinds.Utility.ZERO_SUM
        if self.hidden and not kind.provides_information_state_string and not (
                self.observe and kind.provides_observation_string):
            what = "it is simultaneous" if perfect else "it hides information"
            found = "observation strings, from which pyspiel.ISMCTSBot may play it" if (
                kind.provides_observation_string) else "no observation strings either"
            raise UnsuitableGameError(
                f"{self.called}: {what} but offers no information-state strings, so that nobody can say what a seat "
                f"knows; no solver of ours applies. It offers {found}")
        self.n_players = game.num_players()
        if self.n_players > PLAYER_LIMIT:
            raise UnsuitableGameError(f"{self.called}: {self.n_players} players; at most {PLAYER_LIMIT} are supported")
        self.state, self.game = state, game

    def require_mergeable(self):
        if self.position is None:
            raise UnsuitableGameError(f"{self.name}: states of OpenSpiel's games have no key to merge them by")
        if self.position.rules.hidden_information:
            raise UnsuitableGameError(f"{self.name}: it hides information, so equal states may be known differently")

    # ---- probes ----------------------------------------------------------------------------

    def probe(self, probes, seed, seconds=_PROBE_SECONDS):
        """SizeEstimate from so many probes, or from as many as there is time for."""
        began = time.perf_counter()
        deadline = self.until(seconds, _ANSWER_SECONDS)
        if self.position is not None:
            return self._probe_native(self.position, probes, seed, began, deadline)
        with _named_errors(self.called):
            return self._probe_spiel(probes, seed, began, deadline)

    def _probe_spiel(self, probes, seed, double began, double deadline):
        cdef double total, weight
        cdef Rng rng
        rng_seed(&rng, seed)
        sizes, deepest, whole = [], 0, True
        for _ in range(probes):
            state = self.state.clone()
            total = weight = 0.0   # logs of the nodes so far and of the product of branchings
            depth = 0
            while True:
                look_up()
                if time.perf_counter() > deadline:
                    whole = False
                    break
                player = state.current_player()
                if player < 0 and player != CHANCE:
                    break
                actions = self.moves(state, player)
                if len(actions) > 1:
                    weight += log(len(actions))
                    total += log1p(exp(weight - total))
                    depth += 1
                state.apply_action(actions[rng_below(&rng, len(actions))])
            if whole or len(sizes) < 2:
                # A game that was left counts for as far as it came, where there are no others.
                sizes.append(total)
                deepest = max(deepest, depth)
            if not whole:
                break
        return _summarise(sizes, deepest, self.n_players, time.perf_counter() - began, whole or len(sizes) > 2)

    def moves(self, state, player):
        """The ids of what may happen next: legal actions, or outcomes that have a chance."""
        if player == CHANCE:
            actions = [pair[0] for pair in state.chance_outcomes() if pair[1] > 0]
        else:
            actions = state.legal_actions()
        if not actions:
            raise _stuck(self.called, state, player)
        return actions

    @property
    def called(self):
        """What messages call the game."""
        return self.name.removesuffix("()")

    def _probe_native(self, Position position, probes, seed, double began, double deadline):
        cdef unsigned char state[STATE_LIMIT]
        cdef int32_t ids[LEGAL_LIMIT]
        cdef double probs[OUTCOME_LIMIT]
        cdef const GameOps *ops = position.ops
        cdef const void *tables = position.tables
        cdef int32_t limit = self.depth or 2**30
        cdef int32_t count, seat, depth, deepest = 0
        cdef double total, weight
        cdef Rng rng
        rng_seed(&rng, seed)
        sizes = []
        for _ in range(probes):
            look_up()
            with nogil:
                memcpy(state, position.state, ops.state_size)
                total = weight = 0.0   # logs of the nodes so far and of the product of branchings
                depth = 0
                seat = ops.turn(tables, state)
                while seat != TERMINAL and depth < limit:
                    if seat == CHANCE:
                        count = ops.outcomes(tables, state, ids, probs)
                    else:
                        count = ops.legal(tables, state, ids)
                    weight += log(<double>count)
                    total += log1p(exp(weight - total))
                    depth += 1
                    ops.apply(tables, state, ids[rng_below(&rng, count)])
                    seat = ops.turn(tables, state)
            sizes.append(total)
            deepest = max(deepest, depth)
            if len(sizes) > 1 and time.perf_counter() > deadline:
                break
        return _summarise(sizes, deepest, self.n_players, time.perf_counter() - began)

    def survey(self):
        with _named_errors(self.called):
            return self._survey()

    def _survey(self):
        """Play at random for a while and note what the game does not declare."""
        cdef Rng rng
        rng_seed(&rng, 0)
        deadline = self.until(_SURVEY_SECONDS, _SURVEYED_SECONDS)
        found = Survey()
        last_of = {}          # (player, information state) -> the player's own last sequence
        for _ in range(_SURVEY_GAMES):
            state = self.state.clone()
            last = [None] * self.n_players
            steps = 0
            while time.perf_counter() < deadline:
                player = state.current_player()
                if player == TERMINAL:
                    returns = state.returns()
                    found.zero_sum &= abs(sum(returns)) <= 1e-9 * max(1.0, *map(abs, returns))
                    break
                actions = self.moves(state, player)
                action = actions[rng_below(&rng, len(actions))]
                if len(actions) > 1:
                    steps += 1
                    if player < 0:
                        found.most_outcomes = max(found.most_outcomes, len(actions))
                    else:
                        found.most_legal = max(found.most_legal, len(actions))
                        if self.hidden:
                            text = self.text(state, player)
                            if self.by_key:
                                found.recalls &= last_of.setdefault((player, text), last[player]) == last[player]
                                last[player] = text, action
                            found.stages |= not found.stages and self.opens_stage(state, player, actions, deadline)
                state.apply_action(action)
            found.longest = max(found.longest, steps)
            found.games += 1
            if time.perf_counter() >= deadline:
                break
        return found

    def text(self, state, player):
        """What names a player's information set."""
        return state.observation_string(player) if self.observe else state.information_state_string(player)

    def recalls_at_first(self):
        """Whether no seat forgets its own past in the beginning of the tree, a second's walk at most.

        A walk comes to one information state by ways that lie close together, which random games seldom do."""
        cdef _Builder builder = _Builder(self.n_players, True)
        walk = self._spiel_steps(builder)
        next(walk)
        deadline = self.until(_SURVEY_SECONDS, _WALKED_SECONDS)
        while not builder.forgets and not walk.send((_FREE_NODES, deadline)):
            if not builder.news and (builder.player.size >= _FREE_NODES or time.perf_counter() > deadline):
                break
            builder.news = False
        return not builder.forgets

    def opens_stage(self, state, player, actions, deadline):
        """Whether one other seat decides next and does not know which action was taken."""
        known = None
        for action in actions:
            if time.perf_counter() > deadline:
                return False
            child = state.child(action)
            take_forced(child)
            seat = child.current_player()
            if seat < 0 or seat == player:
                return False
            found = seat, self.text(child, seat)
            if known is None:
                known = found
            elif found != known:
                return False
        return True

    # ---- the walk --------------------------------------------------------------------------

    def extract(self, max_nodes, progress, information, merge, check=None):
        began = time.perf_counter()
        self.why_no_more = ""
        if max_nodes is None:
            max_nodes, self.why_no_more = default_max_nodes(self.n_players), " (half of the free memory)"
        elif not 1 <= max_nodes <= _NODE_LIMIT:
            raise ParameterError(f"max_nodes is {max_nodes}, allowed are 1 to {_NODE_LIMIT}")
        native = self.position is not None
        if merge != "off":
            return self._extract_merged(self.position, max_nodes, progress, merge == "exact", began)
        by_key = not native and self.by_key if information == "auto" else information == "key"
        by_node = not native and not self.hidden and (information != "key" or self.observe)
        cdef _Builder builder = _Builder(self.n_players, by_key, by_node)
        walk = self._native_steps(self.position, builder) if native else self._spiel_steps(builder)
        pace = _PACE_NODES if native else 50_000
        next(walk)
        done = False
        free_until = self.until(_FREE_SECONDS, _WALKED_SECONDS)
        while not done and builder.player.size < min(_FREE_NODES, max_nodes + 1):
            done = walk.send((min(_FREE_NODES, builder.player.size + pace // 10, max_nodes + 1), free_until))
            self._tell(builder, check)
            if time.perf_counter() > free_until:
                break
        estimate = None
        while not done:
            if builder.player.size > max_nodes and estimate is None:
                estimate = self.probe(1000, 0)
            if builder.player.size > max_nodes:
                raise self._too_large(max_nodes, estimate, f"{builder.player.size:,} nodes were met")
            if estimate is None:
                estimate = self.probe(1000, 0)
                if estimate.nodes > max_nodes:
                    raise self._too_large(max_nodes, estimate, "it was not begun")
            if progress is not None:
                progress(builder.player.size, estimate.nodes)
            look_up()
            done = walk.send((min(builder.player.size + pace, max_nodes + 1), float("inf")))
            self._tell(builder, check)
        if builder.player.size > max_nodes:
            raise self._too_large(max_nodes, self.probe(1000, 0), f"it has {builder.player.size:,} nodes")
        if progress is not None and estimate is not None:
            progress(builder.player.size, builder.player.size)
        return self._finish(builder, began)

    def _extract_merged(self, Position position, max_nodes, progress, exact, began):
        cdef const GameOps *ops = position.ops
        cdef const void *tables = position.tables
        cdef int32_t limit = self.depth or -1
        cdef _Merger merger = _Merger(self.n_players, exact)
        cdef int64_t pause_at
        cdef int status
        with nogil:
            status = merger.start(ops, tables, position.state, limit)
        while True:
            pause_at = min(merger.player.size + _PACE_NODES, max_nodes + 1)
            if status == DONE:
                with nogil:
                    status = merger.walk(ops, tables, pause_at, limit)
            if status == NO_MEMORY:
                raise MemoryError
            if status == FULL or merger.player.size > max_nodes:
                raise self._too_large(max_nodes, self.probe(1000, 0), f"unmerged; {merger.player.size} states were met")
            if status == DONE:
                break
            status = DONE
            if progress is not None:
                progress(merger.player.size, float(max_nodes))   # how many states there are is not known before
            look_up()
        tree = self._finish_native(position, merger.take(), began)
        if not _runs_forward(tree):
            raise UnsuitableGameError(f"{self.name}: a state comes again in one game, which the game does not declare")
        return tree

    def _tell(self, _Builder builder, check):
        """Have `check` look at what the walk has met, where that is news."""
        if builder.news and check is not None:
            check(Survey(most_legal=builder.widest_decision, most_outcomes=builder.widest_chance,
                         zero_sum=not builder.unbalanced, recalls=not builder.forgets))
        builder.news = False

    def _too_large(self, max_nodes, estimate, what):
        if self.position is None:
            hint = self.elsewhere()
        elif self.position.rules.hidden_information:
            hint = "ismcts plays it and mccfr_os samples it without a tree"
        else:
            hint = "mcts plays it and mccfr_os samples it without a tree"
        allowed = f"allowed are {max_nodes:,} nodes{self.why_no_more}"
        error = TooLargeError(f"{self.called}: its tree has {estimate}; {allowed}; {what}; {hint}")
        error.estimate = estimate
        return error

    def elsewhere(self):
        """Who plays a game of OpenSpiel's that has no tree."""
        bot = "pyspiel.ISMCTSBot, where the game can resample" if self.hidden else "pyspiel.MCTSBot"
        return f"OpenSpiel's own searchers ({bot}) work without a tree"

    def _native_steps(self, Position position, _Builder builder):
        """A generator: takes (the node count to pause at, the time to pause at), gives whether the tree is whole.
        A native walk to a pause is too short for the time to matter."""
        cdef const GameOps *ops = position.ops
        cdef const void *tables = position.tables
        cdef int32_t limit = self.depth or -1
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
                raise TooLargeError(f"{self.name}: the tree has more than {_NODE_LIMIT} nodes")
            if status == MISMATCH:
                raise UnsuitableGameError(
                    f"{self.name}: states of one information set have different actions (information set "
                    f"{builder.clash}, key {(<uint64_t *>builder.info_key.data)[builder.clash]:016x})")
            pause_at, _ = yield status != PAUSED
            status = DONE

    def _spiel_steps(self, _Builder builder):
        cdef uint64_t key = history_key(self.state.history())
        labels = self.labels = _Labels(self.called, self.observe)
        pause_at, deadline = yield
        state = self.state.clone()
        if builder.add_nodes(-1, 1) < 0:
            raise MemoryError
        last = [NO_SEQUENCE] * self.n_players
        with _named_errors(self.called):
            count, actions, key = builder.open_spiel(state, 0, last, key, labels)
        stack = [[state, 0, 0, actions, (<int8_t *>builder.player.data)[0], last, key]] if count else []
        while True:
            with _named_errors(self.called):
                done = builder.walk_spiel(stack, labels, pause_at, deadline)
            pause_at, deadline = yield done

    def _finish(self, _Builder builder, began):
        if self.position is not None:
            return self._finish_native(self.position, builder.take(), began)
        cdef FlatTree tree = FlatTree.__new__(FlatTree)
        cdef _Labels labels = self.labels
        tree.arrays = builder.take()
        tree.name = self.name
        tree.n_actions = self.game.num_distinct_actions()
        tree.n_outcomes = max([self.game.max_chance_outcomes()] + [key + 1 for key in labels.outcome_names])
        tree.hidden_information = self.hidden
        tree.source, tree.root = self.game, self.state
        tree.action_names, tree.outcome_names = _unique(labels.action_names), _unique(labels.outcome_names)
        tree.names = "history" if builder.by_node else "observation" if self.observe else "information state"
        tree.start, tree.rules_identity = self.state.history(), openspiel_identity(self.game)
        tree._bind()
        tree.seconds = time.perf_counter() - began
        return tree

    def _finish_native(self, Position position, arrays, began):
        cdef FlatTree tree = FlatTree.__new__(FlatTree)
        rules = position.rules
        tree.arrays, tree.name, tree.native, tree.names, tree.start = arrays, self.name, True, "key", []
        tree.rules_identity = rules.identity
        tree.n_actions, tree.n_outcomes = position.ops.n_actions, position.ops.n_outcomes
        tree.hidden_information = bool(position.ops.flags & HIDDEN_INFORMATION)
        tree.source, tree.root = rules, position
        tree._bind()
        actions, outcomes = _ids_of(tree)
        tree.action_names = {action: rules.action_name(action) for action in actions}
        tree.outcome_names = {outcome: rules.outcome_name(outcome) for outcome in outcomes}
        tree.seconds = time.perf_counter() - began
        return tree


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


# ---- what others know ---------------------------------------------------------------------------

def prepare_views(FlatTree tree not None):
    """Give a tree what every seat knows at the decisions of others, by walking its game once more.

    An information set says what a seat knows at its own decisions, which is all that most solvers ask.
    8 bytes a node and player.

    Raises:
        UnsuitableGameError: the tree came from a file, and its game is not at hand; or states were merged.
    """
    if tree.tables.view != NULL:
        return
    if tree.merged:
        raise UnsuitableGameError(f"{tree.name}: equal states were merged, so what a seat knows there is not one thing")
    if tree.native and tree.root is None:
        raise UnsuitableGameError(
            f"{tree.name}: a tree from a file has no game to ask what a seat knows when others move; extract it again")
    view = np.zeros((tree.n_nodes, tree.n_players), dtype=np.uint64)
    if tree.native:
        _view_native(tree, tree.root, view)
    else:
        with _named_errors(tree.name):
            _view_spiel(tree, tree.reopened(), view)
    tree.add_views(view)


def _view_native(FlatTree tree, Position root, uint64_t[:, ::1] view):
    """Depth first, one state for each level of the tree."""
    cdef const TreeTables *t = &tree.tables
    cdef const GameOps *ops = root.ops
    cdef int32_t depth = 0, node = 0, seat, next_edge
    cdef int64_t levels = sum(tree.depths()) + 1, steps = 0
    states = np.zeros((levels, ops.state_size), dtype=np.uint8)
    edges = np.zeros(levels, dtype=np.int32)
    nodes = np.zeros(levels, dtype=np.int32)
    cdef uint8_t[:, ::1] state = states
    cdef int32_t[::1] edge = edges
    cdef int32_t[::1] at = nodes
    memcpy(&state[0, 0], root.state, ops.state_size)
    while depth >= 0:
        steps += 1
        if not steps & 0xFFFF:
            look_up()
        node, next_edge = at[depth], edge[depth]
        if next_edge == 0 and t.player[node] >= 0:     # met for the first time
            for seat in range(t.n_players):
                if seat != t.player[node]:
                    # Odd, as no information set's own name is.
                    view[node, seat] = ops_info_key(ops, root.tables, &state[depth, 0], seat) | 1
        if next_edge == t.count[node]:
            depth -= 1
            continue
        edge[depth] = next_edge + 1
        depth += 1
        at[depth], edge[depth] = t.first[node] + next_edge, 0
        memcpy(&state[depth, 0], &state[depth - 1, 0], ops.state_size)
        ops.apply(root.tables, &state[depth, 0], t.action[at[depth]])


def _view_spiel(FlatTree tree, root, uint64_t[:, ::1] view):
    cdef const TreeTables *t = &tree.tables
    cdef int32_t node, seat, edge, end
    texts = {}
    stack = [(0, root.clone())]
    while stack:
        look_up()
        node, state = stack.pop()
        take_forced(state)
        if t.player[node] >= 0:
            for seat in range(t.n_players):
                if seat != t.player[node]:
                    known = texts.setdefault((seat, tree.label_of(state, seat)), len(texts))
                    view[node, seat] = <uint64_t>known << 1 | 1
        end = t.first[node] + t.count[node]
        for edge in range(t.first[node], end):
            child = state if edge == end - 1 else state.clone()
            child.apply_action(t.action[edge])
            stack.append((edge, child))


# ---- as a game ------------------------------------------------------------------------------------

cdef class DeclaredRules(TreeRules):
    """What is known of an OpenSpiel game before it is extracted, for checks before the work.

    Its name, its players and what it hides are declared by the game; what it does not declare is
    looked up in a `Survey` of random games, made when first asked for. The game of these rules is
    over at once.
    """
    cdef object game_source
    cdef object found
    cdef object learnt         # a Survey: what a walk has met

    @property
    def survey(self):
        """Survey"""
        if self.found is None:
            self.found = self.game_source.survey()
        return self.found

    @property
    def zero_sum(self):
        """Whether the game declares that utilities sum to 0; where it does not, whether they did in
        every game of the survey."""
        return self.game_source.declared_zero_sum or self.learnt.zero_sum and self.survey.zero_sum

    @property
    def perfect_recall(self):
        """Whether no seat forgot its own past, in the survey or in the beginning of the tree."""
        if not self.game_source.by_key:    # then a walk tells sets apart by what their seats did
            return True
        if self.learnt.recalls and self.survey.recalls and not self.survey.walked:
            self.survey.recalls, self.survey.walked = self.game_source.recalls_at_first(), True
        return self.learnt.recalls and self.survey.recalls

    @property
    def abilities(self):
        names = TreeRules.abilities.__get__(self)   # those of the game that is over at once: no stages
        return (*names, "rewind") if self.hidden_information and self.survey.stages else names

    @property
    def starts_with_chance(self):
        """Whether the first thing that is not forced is left to chance."""
        state = self.game_source.state.clone()
        with _named_errors(self.game_source.called):
            take_forced(state)
            return not state.is_terminal() and state.is_chance_node()

    def require_searchable(self):
        """Raise UnsuitableGameError where a node is known to be too wide for searchers."""
        require_width(self.name, max(self.learnt.most_legal, self.survey.most_legal),
                      max(self.learnt.most_outcomes, self.survey.most_outcomes))

    def learn(self, found):
        """Take note of what a walk has met: a Survey, as `extract` gives to its `check`."""
        self.learnt = found

    @property
    def secrecy(self):
        """What it is that a seat does not know: see `contract.require_open`."""
        if not self.game_source.simultaneous:
            return TreeRules.secrecy.__get__(self)
        return f"{SIMULTANEOUS}, and {HIDING}" if self.game_source.imperfect else SIMULTANEOUS

    def instead(self, advice):
        """The advice to use another solver; where the tree is too large for any, what OpenSpiel has."""
        source = self.game_source
        estimate = source.probe(_SURVEY_GAMES, 0, _SURVEY_SECONDS)
        if estimate.nodes <= default_max_nodes(source.n_players):
            return advice
        return f"no other solver of ours applies, since its tree has {estimate}; {source.elsewhere()}"


def declared_rules(source, began=None):
    """What is known of a game before any work: the rules of a native one, else `DeclaredRules`.

    Args:
        source: as for `extract`.
        began: likewise.
    """
    source = _Source(source, None, whole=False, began=began)
    if source.position is not None:
        return source.position.rules
    cdef FlatTree tree = FlatTree.__new__(FlatTree)
    tree.name, tree.native, tree.names, tree.start, tree.source = source.name, False, "history", [], source.game
    tree.rules_identity, tree.hidden_information = openspiel_identity(source.game), source.hidden
    tree.n_actions = tree.n_outcomes = 0
    tree.action_names, tree.outcome_names = {}, {}
    tree.arrays = {
        "player": np.array([TERMINAL], np.int8), "parent": np.array([-1], np.int32), "first": np.zeros(1, np.int32),
        "count": np.zeros(1, np.int32), "infoset": np.zeros(1, np.int32), "action": np.array([-1], np.int32),
        "prob": np.ones(1), "utility": np.zeros((1, source.n_players)), "info_player": np.zeros(0, np.int8),
        "info_first": np.zeros(1, np.int32), "info_parent": np.zeros(0, np.int32), "info_key": np.zeros(0, np.uint64),
    }
    tree._bind()
    cdef DeclaredRules rules = DeclaredRules(tree)
    rules.game_source, rules.learnt = source, Survey()
    return rules


def as_game(source, **options):
    """Extract a game and return it as a native game of nodes, a `TreeRules`; its `tree` is the
    FlatTree.

    Args:
        source: as for `extract`, or a FlatTree.
        options: keyword arguments of `extract`.
    """
    return TreeRules(source if isinstance(source, FlatTree) else extract(source, **options))
