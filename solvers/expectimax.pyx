"""Expectimax: exact search to a depth, or of the whole game.

Without a limit the game is solved by memo (solvers/memo.pyx): every state once. With one, a
depth-first search deepens step by step, the game's estimate standing in at the horizon:

* two players with a zero sum, and one player: alpha-beta at decisions, and at chance nodes Star1 or
  Star2 (Ballard, 1983; Hauk, Buro and Schaeffer, 2004). Star1 bounds a chance node by what its
  outcomes not yet searched could be worth at best; Star2 first probes one action below each outcome.
  The values are those of the plain search.
* more players: max^n (Luckhardt and Irani, 1986), where no bound of one seat prunes another's.

A transposition table on `state_key` keeps bounds, so that the next, deeper round starts from
what this one found; actions are tried in the order: the table's best, the game's suggestion, then
those that cut off most so far (history heuristic).

A *ply* is one step, decision or chance node. Values are utilities of seat 0 inside the search.
"""
import math
import time

from cpython.exc cimport PyErr_CheckSignals
from cpython.time cimport PyTime_MonotonicRaw
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

cimport cython

from engine_ext.game cimport CHANCE, CYCLIC, HIDDEN_INFORMATION, PLAYER_LIMIT, TERMINAL, GameOps
from engine_ext.position cimport Position, Rules
from engine_ext.rng cimport Rng, rng_seed
from solvers.common cimport one_value
from solvers.memo cimport Memo

from engine_ext.errors import SpecError, UnsuitableGameError
from solvers.contract import ActionStats, Limit, Parameter, SearchResult, SolverSpec

cdef enum:
    PLIES = 512             # deepest search
    WHOLE = 32767           # depth of a table entry whose value no horizon touched
    HISTORY_LIMIT = 1 << 20  # most actions that get a history
    ALL = 1 << 30

cdef enum Pruning:
    PLAIN = 0
    STAR1 = 1
    STAR2 = 2

cdef struct Entry:          # of the transposition table
    uint64_t key
    double low              # proven bounds of the value at this depth; equal when exact
    double high
    int32_t depth           # plies searched below, or WHOLE
    int32_t best            # best action, or -1

cdef struct Ply:            # working room of one recursion level
    unsigned char *state
    int32_t *ids            # [max(max_legal, max_outcomes)]
    double *scores          # likewise: move ordering, or probabilities
    double *low             # [max_outcomes] what is known of each outcome's value
    double *high
    double *worst           # [max_outcomes] bound from the actions searched so far, seen by their seat
    int32_t *first          # [max_outcomes] the action to search first, or -1
    int32_t *done           # [max_outcomes] actions searched so far; ALL when the value is known


cdef void sort_outcomes(int32_t *ids, double *probs, int32_t count) noexcept nogil:
    """By falling probability, then by rising id (Shell sort with Ciura's gaps)."""
    cdef int32_t[8] gaps = [701, 301, 132, 57, 23, 10, 4, 1]
    cdef int32_t gap, i, j, k, id
    cdef double prob
    for k in range(8):
        gap = gaps[k]
        for i in range(gap, count):
            id, prob = ids[i], probs[i]
            j = i
            while j >= gap and (probs[j - gap] < prob or (probs[j - gap] == prob and ids[j - gap] > id)):
                ids[j], probs[j] = ids[j - gap], probs[j - gap]
                j -= gap
            ids[j], probs[j] = id, prob


@cython.final
cdef class Search:
    """One depth-first search; not for use from Python."""

    cdef Rules rules
    cdef const GameOps *ops
    cdef const void *tables
    cdef Pruning pruning
    cdef int32_t n_players
    cdef int32_t width          # ids of one ply
    cdef Ply *plies             # [n_plies]
    cdef int32_t n_plies
    cdef Entry *table           # [table_mask + 1], or NULL
    cdef double *vectors        # [table entry, seat] for max^n
    cdef uint64_t table_mask
    cdef double *history        # [seat, action], or NULL
    cdef int64_t nodes          # visited so far
    cdef int64_t node_limit
    cdef int64_t deadline_ns    # 0: none
    cdef int64_t estimates      # leaves at the horizon, or values that rest on them
    cdef bint aborted           # a limit was reached, or something was caught
    cdef bint blind             # a horizon was met in a game without an estimate
    cdef object caught          # Ctrl-C, to be raised at the end of the search
    cdef Rng rng                # for suggest() alone

    def __cinit__(self, Rules rules not None, Pruning pruning, int64_t table_entries):
        cdef uint64_t size = 2      # entries come in pairs
        self.rules = rules
        self.ops = &rules.ops
        self.tables = rules.tables
        self.pruning = pruning
        self.n_players = rules.ops.n_players
        self.width = max(rules.ops.max_legal, rules.ops.max_outcomes)
        self.table = NULL
        self.vectors = NULL
        self.history = NULL
        self.n_plies = 0
        self.plies = <Ply *>calloc(PLIES + 3, sizeof(Ply))
        if self.plies == NULL:
            raise MemoryError
        if table_entries:
            while 2 * size <= <uint64_t>table_entries:
                size *= 2
            self.table = <Entry *>calloc(size, sizeof(Entry))
            if self.table == NULL:
                raise MemoryError
            self.table_mask = size - 1
            if not one_value(self.ops):
                self.vectors = <double *>malloc(size * self.n_players * sizeof(double))
                if self.vectors == NULL:
                    raise MemoryError
        if rules.ops.n_actions <= HISTORY_LIMIT:
            self.history = <double *>calloc(<size_t>rules.ops.n_actions * self.n_players, sizeof(double))
            if self.history == NULL:
                raise MemoryError
        rng_seed(&self.rng, 0)

    def __dealloc__(self):
        cdef int32_t ply
        if self.plies != NULL:
            for ply in range(self.n_plies):
                free(self.plies[ply].state)
        free(self.plies)
        free(self.table)
        free(self.vectors)
        free(self.history)

    cdef int make_room(self, int32_t depth) except -1:
        """Working room for so many plies, two more for probes and leaves."""
        cdef size_t state_size = (self.ops.state_size + 15) & ~<size_t>15
        cdef size_t outcomes = self.ops.max_outcomes, width = self.width
        cdef unsigned char *block
        cdef Ply *ply
        while self.n_plies < depth + 3:
            block = <unsigned char *>calloc(
                1, state_size + (width + 3 * outcomes) * sizeof(double) + (width + 2 * outcomes) * sizeof(int32_t))
            if block == NULL:
                raise MemoryError
            ply = &self.plies[self.n_plies]
            ply.state = block
            ply.scores = <double *>(block + state_size)
            ply.low = ply.scores + width
            ply.high = ply.low + outcomes
            ply.worst = ply.high + outcomes
            ply.ids = <int32_t *>(ply.worst + outcomes)
            ply.first = ply.ids + width
            ply.done = ply.first + outcomes
            self.n_plies += 1
        return 0

    # ---- limits, leaves, table -----------------------------------------------------------------

    cdef inline bint enter(self) noexcept nogil:
        """Count a node; False when a limit is reached."""
        if self.aborted:
            return False
        self.nodes += 1
        if self.nodes > self.node_limit:
            self.aborted = True
        elif not self.nodes & 63:
            if self.deadline_ns and PyTime_MonotonicRaw() >= self.deadline_ns:
                self.aborted = True
            elif not self.nodes & 0xFFFFF:
                with gil:
                    self.look_for_signals()
        return not self.aborted

    cdef void look_for_signals(self) noexcept:
        try:
            PyErr_CheckSignals()
        except BaseException as error:
            self.caught = error
            self.aborted = True

    cdef inline double leaf(self, const void *state, int32_t turn) noexcept nogil:
        """Seat 0's utility at the end, or its estimate at the horizon."""
        cdef double values[PLAYER_LIMIT]
        values[0] = 0.0
        if turn == TERMINAL:
            self.ops.returns(self.tables, state, values)
        else:
            self.guess(state, values)
        return values[0]

    cdef inline void guess(self, const void *state, double *out) noexcept nogil:
        """The game's estimate; a game without one ends the search here."""
        self.estimates += 1
        if self.ops.estimate == NULL:
            self.aborted = self.blind = True
            return
        self.ops.estimate(self.tables, state, out)

    cdef inline Entry *look_up(self, uint64_t key) noexcept nogil:
        """The table's entry for this key, or NULL. Two places a key: the deeper one and the newer one."""
        cdef Entry *pair = &self.table[key & self.table_mask & ~<uint64_t>1]
        if pair[0].key == key:
            return pair
        if pair[1].key == key:
            return pair + 1
        return NULL

    cdef void store(self, uint64_t key, int32_t depth, double low, double high, int32_t best,
                    const double *vector) noexcept nogil:
        cdef Entry *pair = &self.table[key & self.table_mask & ~<uint64_t>1]
        cdef Entry *entry = pair
        if pair[0].key != key and (pair[1].key == key or depth < pair[0].depth):
            entry = pair + 1
        if entry.key == key and entry.depth == depth:   # both rounds' bounds hold: keep the tighter
            low = max(low, entry.low)
            high = min(high, entry.high)
            if best < 0:
                best = entry.best
        entry.key = key
        entry.depth = depth
        entry.low = low
        entry.high = max(low, high)
        entry.best = best
        if vector != NULL:
            memcpy(&self.vectors[(entry - self.table) * self.n_players], vector, self.n_players * sizeof(double))

    # ---- move ordering -------------------------------------------------------------------------

    cdef int32_t order(self, Ply *ply, int32_t seat, int32_t depth, int32_t first) noexcept nogil:
        """List the legal actions, most promising first; returns their count."""
        cdef int32_t count = self.ops.legal(self.tables, ply.state, ply.ids)
        cdef int32_t i, suggested = -1
        cdef const double *history = NULL
        if self.history != NULL:
            history = self.history + <int64_t>seat * self.ops.n_actions
        if self.ops.suggest != NULL and depth > 2:
            suggested = self.ops.suggest(self.tables, ply.state, &self.rng)
        for i in range(count):
            if ply.ids[i] == first:
                ply.scores[i] = 1e300
            elif ply.ids[i] == suggested:
                ply.scores[i] = 1e299
            else:
                ply.scores[i] = history[ply.ids[i]] if history != NULL else 0.0
        return count

    cdef inline int32_t next_action(self, Ply *ply, int32_t at, int32_t count) noexcept nogil:
        """Bring the best of the actions not yet taken to place `at` (ties: the lowest id)."""
        cdef int32_t i, best = at, action
        cdef double score
        for i in range(at + 1, count):
            if ply.scores[i] > ply.scores[best] or (
                    ply.scores[i] == ply.scores[best] and ply.ids[i] < ply.ids[best]):
                best = i
        action = ply.ids[best]
        if best != at:
            score = ply.scores[best]
            ply.ids[best], ply.scores[best] = ply.ids[at], ply.scores[at]
            ply.ids[at], ply.scores[at] = action, score
        return action

    # ---- one value: alpha-beta, Star1, Star2 -----------------------------------------------------

    cdef double value(self, int32_t level, int32_t depth, double alpha, double beta) noexcept nogil:
        """Seat 0's value of plies[level].state, exact inside (alpha, beta), a bound outside it."""
        cdef Ply *ply = &self.plies[level]
        cdef int32_t turn = self.ops.turn(self.tables, ply.state), best = -1, first = -1
        cdef int64_t estimates = self.estimates
        cdef uint64_t key = 0
        cdef Entry *entry
        cdef double value
        if not self.enter():
            return 0.0
        if turn == TERMINAL or depth == 0:
            return self.leaf(ply.state, turn)
        if self.table != NULL:
            key = self.ops.state_key(self.tables, ply.state)
            entry = self.look_up(key)
            if entry != NULL:
                first = entry.best
                if entry.depth == depth or entry.depth == WHOLE:
                    if entry.depth != WHOLE:
                        self.estimates += 1
                    if entry.low >= beta or entry.low == entry.high:
                        return entry.low
                    if entry.high <= alpha:
                        return entry.high
                    alpha = max(alpha, entry.low)
                    beta = min(beta, entry.high)
        if turn == CHANCE:
            value = self.chance_value(level, depth, alpha, beta)
        else:
            value = self.decision_value(level, depth, turn, alpha, beta, first, &best)
        if self.aborted or self.table == NULL:
            return value
        if self.estimates == estimates:     # no horizon was met: good for every depth
            depth = WHOLE
        self.store(key, depth,
                   value if value > alpha else self.ops.min_utility,
                   value if value < beta else self.ops.max_utility, best, NULL)
        return value

    cdef double decision_value(self, int32_t level, int32_t depth, int32_t seat, double alpha, double beta,
                               int32_t first, int32_t *best_action) noexcept nogil:
        cdef Ply *ply = &self.plies[level]
        cdef int32_t count = self.order(ply, seat, depth, first)
        cdef int32_t i, action
        cdef double sign = 1.0 if seat == 0 else -1.0
        cdef double best = -1e300, value    # both from the view of the seat
        for i in range(count):
            action = self.next_action(ply, i, count)
            self.step(level, action)
            value = sign * self.value(level + 1, depth - 1, alpha, beta)
            if self.aborted:
                return 0.0
            if value > best:
                best = value
                best_action[0] = action
                if self.pruning == PLAIN:
                    continue
                if seat == 0:
                    alpha = max(alpha, best)
                else:
                    beta = min(beta, -best)
                if alpha >= beta:
                    if self.history != NULL:
                        self.history[<int64_t>seat * self.ops.n_actions + action] += depth * depth
                    break
        return sign * best

    cdef double chance_value(self, int32_t level, int32_t depth, double alpha, double beta) noexcept nogil:
        cdef Ply *ply = &self.plies[level]
        cdef double *probs = ply.scores
        cdef int32_t count = self.ops.outcomes(self.tables, ply.state, ply.ids, probs)
        cdef double low_sum = 0.0, high_sum = 0.0      # bounds on the node's value
        cdef double exact
        cdef int32_t i, rounds
        cdef bint more
        sort_outcomes(ply.ids, probs, count)   # the likeliest first: they move the bounds most
        if self.pruning == PLAIN:
            exact = 0.0
            for i in range(count):
                self.step(level, ply.ids[i])
                exact += probs[i] * self.value(level + 1, depth - 1, alpha, beta)
            return exact
        for i in range(count):
            ply.low[i], ply.high[i] = self.ops.min_utility, self.ops.max_utility
            ply.first[i], ply.done[i] = -1, 0
            low_sum += probs[i] * ply.low[i]
            high_sum += probs[i] * ply.high[i]
        if self.table != NULL or depth == 1:
            for i in range(count):
                self.glance(level, i, depth, &low_sum, &high_sum)
                if self.aborted:
                    return 0.0
                if low_sum >= beta:
                    return low_sum
                if high_sum <= alpha:
                    return high_sum
        # Star2: an action or more of each outcome, before any outcome is searched to its end.
        if self.pruning == STAR2 and depth > 1:
            more = True
            rounds = 0
            while more and rounds < self.rounds_worth(level, depth, alpha, beta, rounds):
                more = False
                for i in range(count):
                    if ply.done[i] == ALL:
                        continue
                    self.advance(level, i, depth, alpha, beta, &low_sum, &high_sum, True)
                    if self.aborted:
                        return 0.0
                    if low_sum >= beta:
                        return low_sum
                    if high_sum <= alpha:
                        return high_sum
                    more = more or ply.done[i] != ALL
                rounds += 1
        for i in range(count):
            while ply.done[i] != ALL:
                self.advance(level, i, depth, alpha, beta, &low_sum, &high_sum, self.pruning == STAR2)
                if self.aborted:
                    return 0.0
                if low_sum >= beta:
                    return low_sum
                if high_sum <= alpha:
                    return high_sum
        exact = 0.0     # summed afresh: the same bits as the plain search, whatever was pruned
        for i in range(count):
            exact += probs[i] * ply.low[i]
        return exact

    cdef inline void step(self, int32_t level, int32_t id) noexcept nogil:
        memcpy(self.plies[level + 1].state, self.plies[level].state, self.ops.state_size)
        self.ops.apply(self.tables, self.plies[level + 1].state, id)

    cdef inline int32_t rounds_worth(self, int32_t level, int32_t depth, double alpha, double beta,
                                     int32_t rounds) noexcept nogil:
        """How many actions of each outcome to search before going into one to its end.

        An outcome where seat 1 decides gets an upper bound from every action: cheap where the
        node fails low, wasted where it fails high, and the other way round for seat 0.
        """
        cdef int32_t seat = self.ops.turn(self.tables, self.plies[level + 1].state)
        cdef bint can_fail_low = alpha > self.ops.min_utility, can_fail_high = beta < self.ops.max_utility
        if rounds == 0:
            return 1
        if seat == 1:
            return (1 << 29) if can_fail_low and not can_fail_high else 1
        if seat == 0:
            return (1 << 29) if can_fail_high and not can_fail_low else 1
        return 1

    cdef void glance(self, int32_t level, int32_t i, int32_t depth, double *low_sum, double *high_sum) noexcept nogil:
        """What is known of outcome i without a search: leaves, and what the table holds."""
        cdef Ply *ply = &self.plies[level]
        cdef const void *state = self.plies[level + 1].state
        cdef Entry *entry
        cdef int32_t turn
        cdef double low = ply.low[i], high = ply.high[i]
        self.step(level, ply.ids[i])
        turn = self.ops.turn(self.tables, state)
        if turn == TERMINAL or depth == 1:
            if not self.enter():
                return
            low = high = self.leaf(state, turn)
        else:
            entry = self.look_up(self.ops.state_key(self.tables, state))
            if entry == NULL:
                return
            ply.first[i] = entry.best
            if entry.depth != depth - 1 and entry.depth != WHOLE:
                return
            if entry.depth != WHOLE:
                self.estimates += 1
            low, high = entry.low, entry.high
        self.narrow(ply, i, low, high, low_sum, high_sum)
        if low == high:
            ply.done[i] = ALL

    cdef inline void narrow(self, Ply *ply, int32_t i, double low, double high,
                            double *low_sum, double *high_sum) noexcept nogil:
        """Tighter bounds of outcome i, and with it of the chance node."""
        if low > ply.low[i]:
            low_sum[0] += ply.scores[i] * (low - ply.low[i])
            ply.low[i] = low
        if high < ply.high[i]:
            high_sum[0] += ply.scores[i] * (high - ply.high[i])
            ply.high[i] = high

    cdef void advance(self, int32_t level, int32_t i, int32_t depth, double alpha, double beta,
                      double *low_sum, double *high_sum, bint by_action) noexcept nogil:
        """Search the next action of outcome i (or all of it), in the window that still matters."""
        cdef Ply *ply = &self.plies[level]
        cdef Ply *below = &self.plies[level + 1]
        cdef double prob = ply.scores[i], value
        cdef double floor = max(ply.low[i], (alpha - (high_sum[0] - prob * ply.high[i])) / prob)
        cdef double ceiling = min(ply.high[i], (beta - (low_sum[0] - prob * ply.low[i])) / prob)
        cdef int32_t seat, count, action
        if floor >= ceiling:    # rounding alone: the bounds have met
            floor, ceiling = ply.low[i], ply.high[i]
        self.step(level, ply.ids[i])
        seat = self.ops.turn(self.tables, below.state)
        if seat < 0 or not by_action:
            value = self.value(level + 1, depth - 1, floor, ceiling)
            if self.aborted:
                return
            self.narrow(ply, i, value if value > floor else ply.low[i],
                        value if value < ceiling else ply.high[i], low_sum, high_sum)
            ply.done[i] = ALL
            return
        if ply.done[i] == 0 and not self.enter():
            return
        count = self.nth_action(below, seat, depth - 1, &ply.first[i], ply.done[i], &action)
        self.step(level + 1, action)
        value = self.value(level + 2, depth - 2, floor, ceiling)
        if self.aborted:
            return
        ply.done[i] += 1
        # Outside the window a value is a bound: above the ceiling a lower, below the floor an upper one.
        if seat == 0:
            ply.worst[i] = value if ply.done[i] == 1 else max(ply.worst[i], value)
            if value > floor:
                self.narrow(ply, i, value, ply.high[i], low_sum, high_sum)
            if ply.done[i] == count:    # every action is worth this at most, unless one rose above the window
                self.narrow(ply, i, ply.low[i], max(ply.worst[i], ply.low[i]) if value < ceiling else ply.high[i],
                            low_sum, high_sum)
        else:
            ply.worst[i] = value if ply.done[i] == 1 else min(ply.worst[i], value)
            if value < ceiling:
                self.narrow(ply, i, ply.low[i], value, low_sum, high_sum)
            if ply.done[i] == count:
                self.narrow(ply, i, min(ply.worst[i], ply.high[i]) if value > floor else ply.low[i], ply.high[i],
                            low_sum, high_sum)
        if ply.done[i] == count or ply.low[i] >= ply.high[i]:
            ply.done[i] = ALL

    cdef int32_t nth_action(self, Ply *ply, int32_t seat, int32_t depth, int32_t *first, int32_t n,
                            int32_t *action) noexcept nogil:
        """The n-th action of a decision in an order that stays the same between calls: the one that is
        `first` (chosen at the first call where it is -1), then by rising id. Returns their count."""
        cdef int32_t count, i, at
        if n == 0:
            count = self.order(ply, seat, depth, first[0])
            first[0] = action[0] = self.next_action(ply, 0, count)
            return count
        count = self.ops.legal(self.tables, ply.state, ply.ids)
        at = 0
        for i in range(count):
            if ply.ids[i] != first[0]:
                at += 1
                if at == n:
                    action[0] = ply.ids[i]
                    break
        return count

    # ---- a value for each seat: max^n ------------------------------------------------------------

    cdef void vector(self, int32_t level, int32_t depth, double *out) noexcept nogil:
        """Every seat's value of plies[level].state, each seat maximising its own."""
        cdef Ply *ply = &self.plies[level]
        cdef int32_t turn = self.ops.turn(self.tables, ply.state), count, i, k, action, best = -1
        cdef int64_t estimates = self.estimates
        cdef uint64_t key = 0
        cdef Entry *entry
        cdef double child[PLAYER_LIMIT]
        if not self.enter():
            return
        if turn == TERMINAL:
            self.ops.returns(self.tables, ply.state, out)
            return
        if depth == 0:
            self.guess(ply.state, out)
            return
        if self.table != NULL:
            key = self.ops.state_key(self.tables, ply.state)
            entry = self.look_up(key)
            if entry != NULL and (entry.depth == depth or entry.depth == WHOLE):
                if entry.depth != WHOLE:
                    self.estimates += 1
                memcpy(out, &self.vectors[(entry - self.table) * self.n_players], self.n_players * sizeof(double))
                return
        if turn == CHANCE:
            memset(out, 0, self.n_players * sizeof(double))
            count = self.ops.outcomes(self.tables, ply.state, ply.ids, ply.scores)
            for i in range(count):
                self.step(level, ply.ids[i])
                self.vector(level + 1, depth - 1, child)
                if self.aborted:
                    return
                for k in range(self.n_players):
                    out[k] += ply.scores[i] * child[k]
        else:
            # Nothing is pruned, so the order matters only for ties, which go to the lowest id.
            count = self.ops.legal(self.tables, ply.state, ply.ids)
            for i in range(count):
                action = ply.ids[i]
                self.step(level, action)
                self.vector(level + 1, depth - 1, child)
                if self.aborted:
                    return
                if best < 0 or child[turn] > out[turn]:
                    best = action
                    memcpy(out, child, self.n_players * sizeof(double))
        if self.table != NULL:
            self.store(key, WHOLE if self.estimates == estimates else depth, 0.0, 0.0, best, out)


# ---- the searcher ------------------------------------------------------------------------------

class ExpectimaxSearcher:
    """Expectimax; see the module and `PARAMETERS`.

    With no limit it solves the whole game, and keeps what it has solved for later moves.

    Raises:
        SpecError: an unknown parameter.
        LimitError: a limit out of range.
    """

    def __init__(self, **parameters):
        unknown = set(parameters) - set(PARAMETERS)
        if unknown:
            raise SpecError(f"expectimax has no parameter {min(unknown)!r}; it has: {', '.join(PARAMETERS)}")
        chosen = {key: parameter.default for key, parameter in PARAMETERS.items()} | parameters
        self.parameters = chosen
        limits = {key: chosen[key] for key in ("nodes", "depth", "seconds")}
        self.limit = Limit(**limits) if any(value is not None for value in limits.values()) else None
        self.memo = None

    def reset(self):
        """Nothing to forget: what was solved stays true."""

    def search(self, position, *, seed=0, limit=None):
        """Search from a position; see `solvers.contract.Searcher`. Nothing is random; the seed is ignored.

        Raises:
            TooLargeError: without a limit, when the game does not fit into `max_states`.
            UnsuitableGameError: hidden information; cycles without a depth limit; a limit without an
                estimate to stand in at the horizon.
        """
        start_s = time.perf_counter()
        limit = self.limit if limit is None else limit
        check(position.rules)
        if limit is None or (limit.nodes is None and limit.depth is None and limit.seconds is None):
            return self._solve(position, start_s)
        return _deepen(position, self.parameters, limit, start_s)

    def _solve(self, Position position, start_s):
        """The whole game below a position."""
        rules = position.rules
        _check_whole(rules)
        if self.memo is None or (<Rules>self.memo.rules)._stamp != (<Rules>rules)._stamp:
            self.memo = Memo(rules, self.parameters["max_states"])
        memo = self.memo
        before = memo.steps
        values = memo.value(position)
        seat = position.current_player()
        actions = []
        if seat >= 0:
            for action in position.legal_actions():
                child = position.clone()
                child.apply_action(action)
                value = memo.value(child)[seat]
                actions.append((action, value))
        best = memo.action(position)
        return SearchResult(
            action=best,
            values=values,
            actions=tuple(ActionStats(action, 1, value, float(action == best), (value, value))
                          for action, value in actions),
            simulations=0,
            nodes=memo.steps - before + 1,
            seconds=time.perf_counter() - start_s,
            principal_variation=_memo_variation(memo, position),
            exact=True,
        )


def _memo_variation(memo, position):
    """The best line, through the likeliest outcomes (the first of those alike)."""
    line = []
    position = position.clone()
    while len(line) < 64 and not position.is_terminal():
        if position.is_chance_node():
            step = max(position.chance_outcomes(), key=lambda pair: (pair[1], -pair[0]))[0]
        else:
            step = memo.action(position)
        line.append(step)
        position.apply_action(step)
    return tuple(line)


def _deepen(Position position, parameters, limit, start_s):
    """Search to depth 1, 2, 3, ... until a limit, or until no horizon is met."""
    pruning = ("none", "star1", "star2").index(parameters["pruning"])
    cdef Search search = Search(position.rules, pruning, parameters["table"])
    cdef int32_t seat = position.ops.turn(position.tables, position.state)
    cdef int32_t depth, deepest = min(limit.depth or PLIES, PLIES)
    search.node_limit = 2**62 if limit.nodes is None else limit.nodes
    search.deadline_ns = 0
    if limit.seconds is not None:
        search.deadline_ns = max(1, PyTime_MonotonicRaw() + int(
            (limit.seconds - (time.perf_counter() - start_s)) * 1e9))
    legal = position.legal_actions() if seat >= 0 else []
    n_players = position.num_players()
    best_line = None    # (action, values, {action: (value, exact)}, exact) of the deepest round
    reached = 0
    # Without an estimate there is nothing to deepen from: one round, to the end of the game.
    for depth in range(1 if search.ops.estimate != NULL else deepest, deepest + 1):
        search.make_room(depth)
        search.estimates = 0
        outcome = _root(search, position, depth, legal, best_line, bool(parameters["every_action"]))
        if search.caught is not None:
            raise search.caught
        if search.blind:
            raise UnsuitableGameError(
                f"{position.rules.name} has no estimate to stand in at the horizon of {depth} steps; leave the limit "
                "out to solve it whole, or use mcts")
        if outcome is not None and (not search.aborted or best_line is None or outcome[0] is not None):
            best_line = outcome
        if search.aborted:
            break
        reached = depth
        if search.estimates == 0:
            break
    if best_line is None:   # not even one ply: the estimate is all there is
        values = position.returns() if position.is_terminal() else position.estimate() or [math.nan] * n_players
        best_line = (legal[0] if legal else None, tuple(values), {}, position.is_terminal())
    action, values, found, exact = best_line
    low, high = position.ops.min_utility, position.ops.max_utility
    stats = []
    for each in legal:
        value, sure = found.get(each, (math.nan, False))
        bounds = (low, high)
        if exact and not math.isnan(value):
            bounds = (value, value) if sure else (low, value)
        stats.append(ActionStats(each, int(each in found), value, float(each == action), bounds))
    return SearchResult(
        action=action,
        values=values,
        actions=tuple(stats),
        simulations=0,
        nodes=search.nodes,
        seconds=time.perf_counter() - start_s,
        principal_variation=_table_variation(search, position, action, reached),
        exact=exact,
        reproducible=limit.reproducible,
    )


cdef _root(Search search, Position position, int32_t depth, legal, before, bint every):
    """One round from the root: (action, values, {action: (value, exact)}, exact), or None when cut short
    before its first action was done."""
    cdef int32_t seat = position.ops.turn(position.tables, position.state)
    cdef double alpha = position.ops.min_utility, beta = position.ops.max_utility, value, low, high
    cdef double out[PLAYER_LIMIT]
    cdef double sign = -1.0 if seat == 1 else 1.0
    cdef int32_t action, i
    cdef bint vector = not one_value(search.ops)
    n_players = search.n_players

    def spread(value):
        return (value,) if n_players == 1 else (value, -value)

    if seat < 0:
        memcpy(search.plies[0].state, position.state, search.ops.state_size)
        with nogil:
            if vector:
                search.vector(0, depth, out)
            else:
                out[0] = search.value(0, depth, alpha, beta)
        if search.aborted:
            return None
        values = tuple([out[i] for i in range(n_players)]) if vector else spread(out[0])
        return None, values, {}, search.estimates == 0

    search.nodes += 1
    ordered = list(legal)
    if before is not None and before[2]:
        found_before = before[2]
        ordered.sort(key=lambda each: (each != before[0], -found_before.get(each, (-math.inf,))[0], each))
    found = {}
    best, best_values, best_value = None, None, -math.inf
    low, high = alpha, beta
    for action in ordered:
        memcpy(search.plies[1].state, position.state, search.ops.state_size)
        search.ops.apply(search.tables, search.plies[1].state, action)
        with nogil:
            if vector:
                search.vector(1, depth - 1, out)
            else:
                out[0] = search.value(1, depth - 1, low, high)
        if search.aborted:
            break
        value = out[seat] if vector else sign * out[0]
        sure = vector or every or search.pruning == PLAIN or value > best_value or best is None
        found[action] = (value, sure)
        if best is None or value > best_value or (
                value == best_value and sure and action < best and (vector or search.pruning == PLAIN)):
            best, best_value = action, value
            best_values = tuple([out[i] for i in range(n_players)]) if vector else spread(out[0])
            if not every and not vector and search.pruning != PLAIN:
                if seat == 0:
                    low = max(low, out[0])
                else:
                    high = min(high, out[0])
                if low >= high:     # nothing can be better than the best there is
                    break
    if best is None:
        return None
    return best, best_values, found, search.estimates == 0 and not search.aborted


def _table_variation(Search search, Position position, action, depth):
    """The expected line as far as the transposition table knows it."""
    cdef Position here = position.clone()
    cdef Entry *entry
    line = []
    while len(line) < max(depth, 1) and not here.is_terminal():
        if here.is_chance_node():
            step = max(here.chance_outcomes(), key=lambda pair: (pair[1], -pair[0]))[0]
        elif not line and action is not None:
            step = action
        else:
            entry = search.look_up(here.state_key()) if search.table != NULL else NULL
            if entry == NULL or entry.best not in here.legal_actions():
                break
            step = entry.best
        line.append(step)
        here.apply_action(step)
    return tuple(line)


# ---- what it can play --------------------------------------------------------------------------

def check(Rules rules):
    """Raises UnsuitableGameError where a property of the game rules the search out."""
    if rules.ops.flags & HIDDEN_INFORMATION:
        raise UnsuitableGameError(
            f"{rules.name} hides information from a seat, and expectimax would see through it; "
            "use ismcts to play it, cfr+ to solve it")


def _check_whole(Rules rules):
    if rules.ops.flags & CYCLIC:
        raise UnsuitableGameError(
            f"{rules.name} has cycles: a position can come again, so expectimax without a depth limit would never "
            "end; use value_iteration, or give a depth")


PARAMETERS = {
    "depth": Parameter(None, "deepest search, decisions and chance nodes", kind=int, low=1, high=PLIES),
    "nodes": Parameter(None, "end after so many nodes", kind=int, low=1),
    "seconds": Parameter(None, "wall-clock time a move", kind=float, low=1e-6),
    "pruning": Parameter("star2", "at chance nodes, under a limit", choices=("none", "star1", "star2")),
    "table": Parameter(1 << 20, "entries of the transposition table (32 bytes each) under a limit; 0: none",
                       low=0, high=1 << 32),
    "every_action": Parameter(False, "search every action of the root to its exact value, not the best one alone"),
    "max_states": Parameter(50_000_000, "most states kept when the whole game is solved", low=1, high=2_000_000_000),
}


def _make(parameters):
    return ExpectimaxSearcher(**parameters)


SOLVERS = (
    SolverSpec(
        name="expectimax",
        kind="searcher",
        summary="exact search: the whole game by memo, or to a depth with Star1 or Star2 pruning; max^n for many",
        source="Michie 1966; Ballard 1983 (Star1, Star2); Hauk, Buro and Schaeffer 2004; Luckhardt and Irani 1986",
        make=_make,
        parameters=PARAMETERS,
        check=check,
    ),
)
