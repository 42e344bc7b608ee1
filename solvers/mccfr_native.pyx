"""MCCFR on a native game without a tree. mccfr.py says what MCCFR is.

The regrets stand in a table keyed by `info_key`, made as sets are met and never larger than `max_bytes`; once it is
full, new sets are played uniformly (`when_full="uniform"`) or the run stops with a TooLargeError (`"stop"`),
everything so far being kept.

An external walk grows with every sequence of the player's own actions, so in a game of long turns it may be endless
for all that anyone can wait. So the open decisions stand on a stack of their own (open_decisions.pxd), and a walk can
be left at any of them: a signal, a deadline or the limit `walk_nodes` leaves it half-way, and the next run, or a
checkpoint loaded, goes on inside it, bit for bit as if it had never stopped. What such a walk found out so far is in
the tables, and in the average; `iterations` counts whole ones.
"""
import time

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from engine_ext.game cimport LEGAL_LIMIT, PLAYER_LIMIT, TERMINAL, GameOps, ops_info_key, ops_run_chance
from engine_ext.position cimport Position, Rules
from engine_ext.rng cimport Rng, Stream, rng_combine
from solvers.common cimport StateBuffer
from solvers.open_decisions cimport NOTHING, Open, child_of, ids_of, policy_of, size_of_open, state_of
from solvers.outcome_path cimport Step, Walk, begin_walk, learn, take_step
from solvers.regret_table cimport Record, RegretTable, regrets_of, totals_beside, totals_of
from solvers.regrets cimport draw, match, play_uniformly
from solvers.stopping cimport look_up

from engine_ext.errors import ParameterError, SavedStateError, TooLargeError, UnsuitableGameError
from engine_ext.seeds import check_seed
from solvers.budget import batches, check_seconds
from solvers.identity import identify
from solvers.mccfr_settings import (
    CHECKPOINT_KIND, CHECKPOINT_VERSION, DEFAULT_WALK_NODES, WHEN_FULL, check_choice, check_iterations,
    check_sampling,
)
from solvers.policies import KeyedPolicy
from solvers.saved import read_checkpoint, write_saved

cdef enum:
    ARENA_BYTES = 1 << 26    # of one walk: states, policies and values of the open decisions
    LOOK_NODES = 1 << 12     # at least so many between two looks for signals
    PATIENCE_NODES = 1 << 17  # a deadline lets the very first iteration be that long

cdef enum Halt:       # why walking has ended for now
    NOT_YET           # the walk is at its end; nothing stands against the next one
    ENOUGH            # as many iterations or nodes as were asked for
    TABLE_FULL        # and that is a reason to stop
    LONG_WALK         # more nodes than a walk may have
    LONG_GAME         # more decisions than the game said
    DEEP_WALK         # no room for one more open decision


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
    cdef RegretTable table
    cdef RegretTable fixed          # not null: everyone but `responder` plays this table's averages
    cdef int32_t responder
    cdef int32_t seat          # whose walk is open, or comes next
    cdef char *arena           # the open decisions of that walk, one after the other
    cdef int64_t top           # place of the last of them; NOTHING while no walk is open
    cdef int64_t arena_used    # bytes
    cdef Step *path            # [path_room] of the game sampled
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
        check_sampling(sampling, epsilon)
        check_choice("when_full", when_full, WHEN_FULL)
        if not 1 << 16 <= max_bytes <= 1 << 34:
            raise ParameterError(f"max_bytes is {max_bytes}, allowed are {1 << 16} to {1 << 34}")
        if not 1 <= walk_nodes < 2**62:
            raise ParameterError(f"walk_nodes is {walk_nodes}, it must be at least 1")
        self.start = game.initial_position() if isinstance(game, Rules) else game.clone()
        self.rules = self.start.rules
        if sampling == "external" and self.rules.cyclic:
            raise UnsuitableGameError(
                f"{self.rules.name}: a state may come again in one game, so external sampling, which tries every "
                f"action, would not end; use outcome sampling, mccfr_os")
        self.sampling, self.when_full, self.epsilon, self.max_bytes = sampling, when_full, epsilon, max_bytes
        self.walk_nodes, self.seed = walk_nodes, check_seed(seed)
        self.stream = Stream(self.seed)
        self.table = RegretTable(max_bytes)
        self.responder = -1
        self.top = NOTHING
        self.arena = <char *>malloc(ARENA_BYTES)
        self.path_room = min(self.start.ops.max_decisions, 1 << 20) + 1
        self.path = <Step *>malloc(self.path_room * sizeof(Step))
        if self.arena == NULL or self.path == NULL:
            raise MemoryError

    @property
    def n_infosets(self):
        return self.table.n_records

    @property
    def full(self):
        return bool(self.table.full)

    cdef void current_policy(self, Record *record, int32_t count, double *policy) noexcept nogil:
        """What regret matching plays in a set; uniform where it has no record."""
        if record != NULL:
            match(regrets_of(record), count, policy)
        else:
            play_uniformly(count, policy)

    cdef void learnt_policy(self, RegretTable table, uint64_t key, int32_t player, int32_t count,
                            double *policy) noexcept nogil:
        """The average policy of a table; uniform where it knows nothing."""
        cdef Record *record = table.find(key, player, count, False)
        if record != NULL:
            match(totals_of(record), count, policy)
        else:
            play_uniformly(count, policy)

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
                self.learnt_policy(self.fixed, key, mover, count, self.policy)
            else:
                record = self.table.find(key, mover, count, True)
                self.current_policy(record, count, self.policy)
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
        self.current_policy(record, count, policy_of(open_))
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
        cdef Walk walk
        cdef int32_t mover, count, length = 0
        cdef Record *record
        cdef Step *step
        cdef uint64_t key
        memcpy(state, self.start.state, ops.state_size)
        self.visited = 0
        begin_walk(&walk, ops.n_players)
        while True:
            ops_run_chance(ops, tables, state, rng)
            mover = ops.turn(tables, state)
            self.visited += 1
            if mover == TERMINAL:
                break
            if length == self.path_room:
                self.visited = 0
                return LONG_GAME
            count = ops.legal(tables, state, self.ids)
            key = ops_info_key(ops, tables, state, mover)
            record = NULL
            step = &self.path[length]
            step.average = 0.0
            if self.fixed is not None and mover != player:
                self.learnt_policy(self.fixed, key, mover, count, self.policy)
            else:
                record = self.table.find(key, mover, count, True)
                self.current_policy(record, count, self.policy)
                if mover == averaged and record != NULL:
                    step.average = walk.reach[mover] / walk.sampled
            ops.apply(tables, state, self.ids[take_step(
                &walk, step, NULL if record == NULL else regrets_of(record), self.policy, count, mover,
                mover == player, self.epsilon, rng)])
            length += 1
        ops.returns(tables, state, returns)
        self.average(length)
        learn(self.path, length, player, returns[player] / walk.sampled)
        return NOT_YET

    cdef void average(self, int32_t length) noexcept nogil:
        """Add to the average policy what the steps of a game put aside for it."""
        cdef Step *step
        cdef int32_t i, a
        for i in range(length):
            step = &self.path[i]
            if step.average > 0.0:
                match(step.regret, step.count, self.policy)
                for a in range(step.count):
                    totals_beside(step.regret, step.count)[a] += step.average * self.policy[a]

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
        check_iterations(iterations)
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
                self.learnt_policy(self.table, key, mover, count, self.policy)
            else:
                self.learnt_policy(self.fixed, key, mover, count, self.policy)
            ops.apply(tables, state, self.ids[draw(self.policy, count, rng)])

    def nash_conv_bound(self, *, iterations, games, seed=0):
        """A sampled lower bound on NashConv, for zero-sum games: (mean, half width of its 95 % interval).

        Args: as `sampled_best_response`, for each player.

        Raises:
            UnsuitableGameError: not zero-sum.
        """
        if not self.rules.zero_sum:
            raise UnsuitableGameError(f"{self.rules.name}: a bound from best responses alone needs a zero-sum game")
        seed = check_seed(seed)
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
        write_saved(path, CHECKPOINT_KIND, CHECKPOINT_VERSION, meta,
                    {"table": self.table.contents(), "open": self._open_decisions()})

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
        meta, arrays = read_checkpoint(
            path, CHECKPOINT_KIND, CHECKPOINT_VERSION, self._setting(), self.rules.name)
        cdef const uint8_t[::1] stack = arrays["open"]
        cdef RegretTable table = RegretTable(self.max_bytes)
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
