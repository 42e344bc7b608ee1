"""Expectimax: exact search to a depth, or of the whole game.

Without a limit the game is solved by memo (solvers/memo.pyx): every state once. With one, a
depth-first search deepens step by step, the game's estimate standing in at the horizon:

* two players with a zero sum, and one player: alpha-beta at decisions, and at chance nodes Star1 or
  Star2 (Ballard, 1983; Hauk, Buro and Schaeffer, 2004). Star1 bounds a chance node by what its
  outcomes not yet searched could be worth at best; Star2 first probes one action below each outcome.
  Without a transposition table Star2 probes best first, with the bounds of everything begun kept in a
  tree of its own, as SSS* does for alpha-beta (Stockman, 1979; Plaat et al., 1996): no node is
  visited twice. The values are those of the plain search.
* more players: max^n (Luckhardt and Irani, 1986), where no bound of one seat prunes another's.

A transposition table on `state_key` keeps bounds, so that the next, deeper round starts from
what this one found; actions are tried in the order: the table's best, the game's suggestion, then
those that cut off most so far (history heuristic).

A *ply* is one step, decision or chance node. Values are utilities of seat 0 inside the search.
"""
import math
import time

from cpython.time cimport PyTime_MonotonicRaw
from libc.math cimport NAN, sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

cimport cython

from engine_ext.game cimport CHANCE, CYCLIC, PLAYER_LIMIT, TERMINAL, GameOps
from engine_ext.position cimport Position, Rules
from engine_ext.rng cimport Rng, rng_seed
from solvers.common cimport one_value
from solvers.memo cimport Memo
from solvers.stopping cimport look_up as look_up_signals

from engine_ext.errors import SpecError, UnsuitableGameError
from solvers.contract import ActionStats, Limit, Parameter, SearchResult, SolverSpec, require_open
from solvers.state_table import require_room

cdef enum:
    PLIES = 512             # deepest search
    LOOK_NS = 50_000_000    # time between two looks for signals
    WHOLE = 1 << 14         # added to the depth of a table entry that rests on no estimate
    HISTORY_LIMIT = 1 << 20  # most actions that get a history
    NONE = -1

cdef enum Pruning:
    PLAIN = 0
    STAR1 = 1
    STAR2 = 2

cdef struct Entry:          # of the transposition table
    uint64_t key
    double low              # proven bounds of the value at this depth; equal when exact
    double high
    int32_t depth           # plies searched below; with WHOLE: and as many more as one likes
    int32_t best            # best action, or -1

cdef struct Ply:            # working room of one recursion level
    unsigned char *state
    int32_t *ids            # [max(max_legal, max_outcomes)]
    double *scores          # likewise: move ordering, or probabilities
    double *low             # [max_outcomes] what is known of each outcome's value
    double *high

cdef struct Twig:           # a node of the best-first search's tree
    int64_t children        # first of a block of twigs; NONE while there is none
    double low              # proven bounds of its value; met when it is solved
    double high
    double guess            # what it is worth as far as is seen; nan before it is seen at all
    double prob             # of the outcome that leads here; 1 after an action
    int32_t id              # action or outcome that leads here
    int32_t count           # children
    int32_t turn


cdef inline bint serves(const Entry *entry, int32_t depth) noexcept nogil:
    """Whether an entry says what a search of this depth would find."""
    return entry.depth == depth or (entry.depth & WHOLE and entry.depth - WHOLE <= depth)


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


cdef inline bint helps(const Twig *twig, int32_t side) noexcept nogil:
    """Whether the seat to move there wants what `side` wants."""
    return twig.turn == (1 if side > 0 else 0)


@cython.final
cdef class Search:
    """One search, depth first or best first; not for use from Python."""

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
    cdef Twig *twigs            # [n_twigs] of twig_room: the best-first search's tree
    cdef int64_t n_twigs, twig_room, twig_limit
    cdef double level_sum[PLIES + 3]    # of the values of the nodes solved at each level
    cdef int64_t level_count[PLIES + 3]
    cdef double scale           # 1 / utility range
    cdef int64_t nodes          # visited so far
    cdef int64_t node_limit
    cdef int64_t deadline_ns    # 0: none
    cdef int64_t look_ns        # when to look for signals again
    cdef int64_t estimates      # leaves at the horizon, or values that rest on them
    cdef bint aborted           # a limit was reached, or something was caught
    cdef bint blind             # a horizon was met in a game without an estimate
    cdef object caught          # Ctrl-C, to be raised at the end of the search
    cdef Rng rng                # for suggest() alone

    def __cinit__(self, Rules rules not None, Pruning pruning, int64_t table_entries, int64_t twigs):
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
        self.twigs = NULL
        self.twig_limit = max(twigs, self.width + 1)    # the root's children at least
        self.scale = 1.0 / max(rules.ops.max_utility - rules.ops.min_utility, 1e-300)
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
        free(self.twigs)

    cdef int make_room(self, int32_t depth) except -1:
        """Working room for so many plies, two more for probes and leaves."""
        cdef size_t state_size = (self.ops.state_size + 15) & ~<size_t>15
        cdef size_t outcomes = self.ops.max_outcomes, width = self.width
        cdef unsigned char *block
        cdef Ply *ply
        while self.n_plies < depth + 3:
            block = <unsigned char *>calloc(
                1, state_size + (width + 2 * outcomes) * sizeof(double) + width * sizeof(int32_t))
            if block == NULL:
                raise MemoryError
            ply = &self.plies[self.n_plies]
            ply.state = block
            ply.scores = <double *>(block + state_size)
            ply.low = ply.scores + width
            ply.high = ply.low + outcomes
            ply.ids = <int32_t *>(ply.high + outcomes)
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
            self.look_around()
        return not self.aborted

    cdef void look_around(self) noexcept nogil:
        """At the clock, and now and then for signals. Leaves may cost microseconds or milliseconds, so the
        clock says when."""
        cdef int64_t now_ns = PyTime_MonotonicRaw()
        if self.deadline_ns and now_ns >= self.deadline_ns:
            self.aborted = True
        elif now_ns >= self.look_ns:
            self.look_ns = now_ns + LOOK_NS
            with gil:
                self.look_for_signals()

    cdef void look_for_signals(self) noexcept:
        try:
            look_up_signals()
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
                if serves(entry, depth):
                    if not entry.depth & WHOLE:
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
        if self.estimates == estimates:     # no horizon was met: good for every greater depth
            depth |= WHOLE
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
        cdef int32_t i, probe
        sort_outcomes(ply.ids, probs, count)   # the likeliest first: they move the bounds most
        if self.pruning == PLAIN:
            exact = 0.0
            for i in range(count):
                self.step(level, ply.ids[i])
                exact += probs[i] * self.value(level + 1, depth - 1, alpha, beta)
            return exact
        for i in range(count):
            ply.low[i], ply.high[i] = self.ops.min_utility, self.ops.max_utility
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
        for probe in range(self.pruning == STAR2 and self.table != NULL and depth > 2, -1, -1):
            for i in range(count):
                if ply.low[i] >= ply.high[i]:
                    continue
                if probe:
                    self.probe(level, i, depth, alpha, beta, &low_sum, &high_sum)
                else:
                    self.settle(level, i, depth, alpha, beta, &low_sum, &high_sum)
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

    cdef void glance(self, int32_t level, int32_t i, int32_t depth, double *low_sum, double *high_sum) noexcept nogil:
        """What is known of outcome i without a search: leaves, and what the table holds."""
        cdef Ply *ply = &self.plies[level]
        cdef const void *state = self.plies[level + 1].state
        cdef Entry *entry
        cdef int32_t turn
        cdef double value
        self.step(level, ply.ids[i])
        turn = self.ops.turn(self.tables, state)
        if turn == TERMINAL or depth == 1:
            if self.enter():
                value = self.leaf(state, turn)
                self.narrow(ply, i, value, value, low_sum, high_sum)
            return
        entry = self.look_up(self.ops.state_key(self.tables, state))
        if entry != NULL and serves(entry, depth - 1):
            if not entry.depth & WHOLE:
                self.estimates += 1
            self.narrow(ply, i, entry.low, entry.high, low_sum, high_sum)

    cdef inline void narrow(self, Ply *ply, int32_t i, double low, double high,
                            double *low_sum, double *high_sum) noexcept nogil:
        """Tighter bounds of outcome i, and with it of the chance node."""
        if low > ply.low[i]:
            low_sum[0] += ply.scores[i] * (low - ply.low[i])
            ply.low[i] = low
        if high < ply.high[i]:
            high_sum[0] += ply.scores[i] * (high - ply.high[i])
            ply.high[i] = high

    cdef void settle(self, int32_t level, int32_t i, int32_t depth, double alpha, double beta,
                     double *low_sum, double *high_sum) noexcept nogil:
        """Search outcome i in the window that still matters."""
        cdef Ply *ply = &self.plies[level]
        cdef double prob = ply.scores[i], value
        cdef double floor = (alpha - (high_sum[0] - prob * ply.high[i])) / prob
        cdef double ceiling = (beta - (low_sum[0] - prob * ply.low[i])) / prob
        self.step(level, ply.ids[i])
        value = self.value(level + 1, depth - 1, max(ply.low[i], floor), min(ply.high[i], ceiling))
        if self.aborted:
            return
        # Outside the window a value is a bound, and brings the node outside its own; rounding may not undo that.
        if value <= floor:
            self.narrow(ply, i, ply.low[i], value, low_sum, high_sum)
            high_sum[0] = min(high_sum[0], alpha)
        elif value >= ceiling:
            self.narrow(ply, i, value, ply.high[i], low_sum, high_sum)
            low_sum[0] = max(low_sum[0], beta)
        else:
            self.narrow(ply, i, value, value, low_sum, high_sum)
            ply.low[i] = ply.high[i] = value

    cdef void probe(self, int32_t level, int32_t i, int32_t depth, double alpha, double beta,
                    double *low_sum, double *high_sum) noexcept nogil:
        """Search one action of outcome i, where what it bounds can bring the chance node outside its window.
        The table keeps what was found for the outcome's own search."""
        cdef Ply *ply = &self.plies[level]
        cdef Ply *below = &self.plies[level + 1]
        cdef double prob = ply.scores[i], value, floor, ceiling
        cdef const Entry *entry
        cdef int32_t seat, action
        self.step(level, ply.ids[i])
        seat = self.ops.turn(self.tables, below.state)
        if seat < 0 or (beta >= self.ops.max_utility if seat == 0 else alpha <= self.ops.min_utility):
            return
        if not self.enter():
            return
        entry = self.look_up(self.ops.state_key(self.tables, below.state))
        action = self.next_action(
            below, 0, self.order(below, seat, depth - 1, NONE if entry == NULL else entry.best))
        self.step(level + 1, action)
        floor = (alpha - (high_sum[0] - prob * ply.high[i])) / prob
        ceiling = (beta - (low_sum[0] - prob * ply.low[i])) / prob
        value = self.value(level + 2, depth - 2, max(ply.low[i], floor), min(ply.high[i], ceiling))
        if self.aborted:
            return
        if seat == 0:
            if value > max(ply.low[i], floor):
                self.narrow(ply, i, value, ply.high[i], low_sum, high_sum)
                if value >= ceiling:
                    low_sum[0] = max(low_sum[0], beta)
        elif value < min(ply.high[i], ceiling):
            self.narrow(ply, i, ply.low[i], value, low_sum, high_sum)
            if value <= floor:
                high_sum[0] = min(high_sum[0], alpha)

    # ---- one value, best first: Star2 --------------------------------------------------------------
    #
    # Every node that was opened keeps bounds on its value and goes on where it was left. `improve` works
    # at a node until its bounds leave a window, as alpha-beta does, but returns as soon as the caller
    # would rather go on elsewhere. `side` is the bound that the whole search is after: 1 lowers upper
    # bounds (what a maximising root needs of all actions but one), -1 raises lower ones.

    cdef int64_t add_twigs(self, int32_t count) noexcept nogil:
        """A block of fresh twigs, its first; NONE where memory is spent."""
        cdef int64_t first = self.n_twigs, room = max(2 * self.twig_room, 1024), i
        cdef void *block
        if first + count > self.twig_room:
            room = min(max(room, first + count), self.twig_limit)
            if first + count > room:
                return NONE
            block = realloc(self.twigs, room * sizeof(Twig))
            if block == NULL:
                return NONE
            self.twigs = <Twig *>block
            self.twig_room = room
        self.n_twigs += count
        for i in range(first, first + count):
            self.twigs[i].children = NONE
            self.twigs[i].count = 0
            self.twigs[i].turn = TERMINAL
            self.twigs[i].low, self.twigs[i].high = self.ops.min_utility, self.ops.max_utility
            self.twigs[i].guess = NAN
            self.twigs[i].prob = 1.0
        return first

    cdef bint open_twig(self, int32_t level, int32_t depth, int64_t at) noexcept nogil:
        """Visit the state of plies[level] for the first time: bounds where it ends here or is known,
        else its children. False where there is no memory for those, or a limit was reached."""
        cdef Ply *ply = &self.plies[level]
        cdef Twig *twig = &self.twigs[at]
        cdef int32_t turn = self.ops.turn(self.tables, ply.state), count, i
        cdef int64_t children
        twig.turn = turn
        if turn == TERMINAL or depth == 0:
            if not self.enter():
                return False
            twig.low = twig.high = twig.guess = self.leaf(ply.state, turn)
            self.note(level, twig.low)
            return True
        if turn == CHANCE:
            count = self.ops.outcomes(self.tables, ply.state, ply.ids, ply.scores)
            sort_outcomes(ply.ids, ply.scores, count)   # the likeliest first: they move the bounds most
        else:
            count = self.order(ply, turn, depth, NONE)
            for i in range(count):
                self.next_action(ply, i, count)
        children = self.add_twigs(count)
        if children == NONE or not self.enter():
            return False
        twig = &self.twigs[at]
        twig.children, twig.count = children, count
        for i in range(count):
            self.twigs[children + i].id = ply.ids[i]
            if turn == CHANCE:
                self.twigs[children + i].prob = ply.scores[i]
        if turn == CHANCE:
            self.gather(level, at)
        return True

    cdef inline void note(self, int32_t level, double value) noexcept nogil:
        self.level_sum[level] += value
        self.level_count[level] += 1

    cdef inline double expected(self, int32_t level) noexcept nogil:
        """What nodes of a level were worth so far; nan where none was solved."""
        return self.level_sum[level] / <double>self.level_count[level] if self.level_count[level] else NAN

    cdef void gather(self, int32_t level, int64_t at) noexcept nogil:
        """Bounds and guess of a node from those of its children."""
        cdef Twig *twig = &self.twigs[at]
        cdef const Twig *child = &self.twigs[twig.children]
        cdef const Twig *last = child + twig.count
        cdef double low = 0.0, high = 0.0, guess = 0.0, fresh = NAN, sign = 1.0 if twig.turn == 0 else -1.0
        cdef bint solved = True
        if twig.turn == CHANCE:
            fresh = self.expected(level + 1)
            if fresh != fresh:
                fresh = 0.5 * (self.ops.min_utility + self.ops.max_utility)
            while child < last:
                low += child.prob * child.low
                high += child.prob * child.high
                guess += child.prob * (child.guess if child.guess == child.guess else fresh)
                solved = solved and child.low >= child.high
                child += 1
            if solved:      # the same sum as the plain search's, to the bit
                high = low
        else:
            low = high = guess = -1e300
            while child < last:     # from the seat's view: the best of each
                low = max(low, child.low if sign > 0 else -child.high)
                high = max(high, child.high if sign > 0 else -child.low)
                if sign * child.guess > guess:
                    guess = sign * child.guess
                child += 1
            if sign < 0:
                low, high = -high, -low
            guess *= sign
        twig.low, twig.high = low, max(low, high)
        if twig.low >= twig.high:
            guess = low
            self.note(level, low)
        twig.guess = min(max(guess, low), twig.high)

    cdef void improve(self, int32_t level, int32_t depth, int64_t at, int32_t side,
                      double target, double stop, double patience) noexcept nogil:
        """Work below plies[level].state until its bounds leave the window, or other work promises more.

        Args:
            at: its twig, not solved.
            side: 1 to lower the upper bound, -1 to raise the lower one.
            target: return when the upper bound is no more than this.
            stop: return when the lower bound is no less than this.
            patience: at a chance node, return when side * guess is more than this.
        """
        cdef Twig *twig
        cdef Twig *child
        cdef int64_t pick = NONE
        cdef double floor, ceiling, limit
        cdef bint moved = False     # something was done: every call gets on, however little its window asks for
        if self.twigs[at].children == NONE:
            moved = self.open_twig(level, depth, at)
            if not moved and not self.aborted:
                self.search_below(level, depth, at, target, stop)
        if self.aborted or self.twigs[at].children == NONE:
            return
        twig = &self.twigs[at]
        if twig.turn >= 0 and target <= -1e300 and stop >= 1e300:   # wanted exactly, for its own sake
            side = 1 if twig.turn == 0 else -1
        while twig.low < twig.high and (not moved or (
                twig.high > target and twig.low < stop and not (twig.turn == CHANCE and side * twig.guess > patience))):
            moved = True
            limit = 1e300
            if twig.turn == CHANCE:
                pick = self.widest(twig, side, target, stop, &floor, &ceiling)
            elif (twig.turn == 0) == (side > 0):
                pick = self.outermost(twig, side, target, stop, &floor, &ceiling)
            else:
                pick = self.favourite(level, twig, side, target, stop, &floor, &ceiling, &limit)
            self.step(level, self.twigs[pick].id)
            self.improve(level + 1, depth - 1, pick, side, floor, ceiling, limit)
            if self.aborted:
                return
            self.gather(level, at)
            twig = &self.twigs[at]
        if pick != NONE and twig.turn >= 0 and self.history != NULL:
            child = &self.twigs[pick]
            if twig.low >= stop if twig.turn == 0 else twig.high <= target:     # its action refuted the one before
                self.history[<int64_t>twig.turn * self.ops.n_actions + child.id] += depth * depth

    cdef void search_below(self, int32_t level, int32_t depth, int64_t at, double target, double stop) noexcept nogil:
        """Memory is spent: search a node depth first, in the window that matters."""
        cdef Twig *twig = &self.twigs[at]
        cdef double floor = max(twig.low, target), ceiling = min(twig.high, stop), value
        if floor >= ceiling:
            floor, ceiling = twig.low, twig.high
        value = self.value(level, depth, floor, ceiling)
        if self.aborted:
            return
        if floor < value < ceiling:
            twig.low = twig.high = value
        elif value >= ceiling:      # a lower bound
            twig.low = min(max(twig.low, value), twig.high)
        else:
            twig.high = max(min(twig.high, value), twig.low)
        twig.guess = value
        if twig.low >= twig.high:
            self.note(level, value)

    # Which child to go on with, and the window in which that child is still the one.

    cdef int64_t widest(self, const Twig *twig, int32_t side, double target, double stop,
                        double *floor, double *ceiling) noexcept nogil:
        """Of a chance node: the outcome whose bounds weigh most. Those of a seat that works for `side`
        shrink fast while they are wide, so width counts twice there."""
        cdef const Twig *child = &self.twigs[twig.children]
        cdef double gain, width, best = -1.0, second = -1.0, first_width
        cdef int32_t i, pick = 0
        for i in range(twig.count):
            width = child[i].high - child[i].low
            if width <= 0.0:
                continue
            gain = child[i].prob * width * (width * self.scale if helps(&child[i], side) else 1.0)
            if gain > best:
                second = best
                best = gain
                pick = i
            elif gain > second:
                second = gain
        child += pick
        floor[0], ceiling[0] = -1e300, 1e300
        if target > -1e300:
            floor[0] = child.high - (twig.high - target) / child.prob
        if stop < 1e300:
            ceiling[0] = child.low + (stop - twig.low) / child.prob
        if second > 0.0 and (target > -1e300 or stop < 1e300):      # else all must be solved: one by one
            first_width = second / child.prob
            if helps(child, side):
                first_width = sqrt(first_width / self.scale)
            floor[0] = max(floor[0], child.low + first_width)
            ceiling[0] = min(ceiling[0], child.high - first_width)
        return twig.children + pick

    cdef int64_t outermost(self, const Twig *twig, int32_t side, double target, double stop,
                           double *floor, double *ceiling) noexcept nogil:
        """Of a decision whose bound is that of its best action: that action, until another one is."""
        cdef const Twig *child = &self.twigs[twig.children]
        cdef double bound, best = -1e300, second = -1e300
        cdef int32_t i, pick = 0
        for i in range(twig.count):
            bound = child[i].high if side > 0 else -child[i].low
            if bound > best and child[i].low < child[i].high:
                second = best
                best = bound
                pick = i
            elif bound > second:
                second = bound
        floor[0], ceiling[0] = target, stop
        if side > 0:
            floor[0] = max(target, second)
        else:
            ceiling[0] = min(stop, -second)
        return twig.children + pick

    cdef int64_t favourite(self, int32_t level, const Twig *twig, int32_t side, double target, double stop,
                           double *floor, double *ceiling, double *patience) noexcept nogil:
        """Of a decision where one good action brings the bound down: the most promising one. A chance node
        that looks worse than one not begun is left for it, until that looks worse in turn."""
        cdef const Twig *child = &self.twigs[twig.children]
        cdef double looks, best = 1e300, second = 1e300, fresh = side * self.expected(level + 2)
        cdef int32_t i, pick = -1, untried = -1
        cdef bint begun = False
        for i in range(twig.count):
            if child[i].low >= child[i].high or (child[i].low >= twig.high if side > 0 else child[i].high <= twig.low):
                continue
            if child[i].children == NONE:
                if untried < 0:
                    untried = i
                    continue
                looks = fresh if fresh == fresh else 1e300
            elif child[i].turn != CHANCE:
                if not begun:
                    pick, begun = i, True
                continue
            else:
                looks = side * child[i].guess
            if looks < best and child[i].children != NONE:
                second = best
                best = looks
                if not begun:
                    pick = i
            elif looks < second:
                second = looks
        if not begun and untried >= 0:
            looks = fresh if fresh == fresh else 1e300
            if pick < 0 or looks < best:
                second = min(best, second)
                pick = untried
            elif looks < second:
                second = looks
        patience[0] = second
        floor[0], ceiling[0] = target, stop
        if side > 0:
            ceiling[0] = min(stop, twig.high)
        else:
            floor[0] = max(target, twig.low)
        return twig.children + pick

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
            if entry != NULL and serves(entry, depth):
                if not entry.depth & WHOLE:
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
            self.store(key, depth | WHOLE if self.estimates == estimates else depth, 0.0, 0.0, best, out)


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
        check(position.rules, self.parameters)
        if limit is None or (limit.nodes is None and limit.depth is None and limit.seconds is None):
            return self._solve(position, start_s)
        return _deepen(position, self.parameters, limit, start_s)

    def _solve(self, Position position, start_s):
        """The whole game below a position."""
        rules = position.rules
        _check_whole(rules)
        if self.memo is None or (<Rules>self.memo.rules)._stamp != (<Rules>rules)._stamp:
            require_room(position, self.parameters["max_states"], f"max_states={self.parameters['max_states']}")
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
    cdef Search search = Search(position.rules, pruning, parameters["table"], parameters["tree"])
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
    if search.pruning == STAR2 and not vector and search.table == NULL:
        return _root_best_first(search, position, depth, legal, before, every)
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


cdef _root_best_first(Search search, Position position, int32_t depth, legal, before, bint every):
    """As `_root`, with Star2: bounds of all actions are narrowed side by side."""
    cdef int32_t seat = position.ops.turn(position.tables, position.state), i
    cdef double sign = -1.0 if seat == 1 else 1.0
    cdef int64_t at
    cdef Twig twig, root
    n_players = search.n_players

    def spread(value):
        return (value,) if n_players == 1 else (value, -value)

    memcpy(search.plies[0].state, position.state, search.ops.state_size)
    search.n_twigs = 0
    memset(search.level_sum, 0, sizeof(search.level_sum))
    memset(search.level_count, 0, sizeof(search.level_count))
    if search.add_twigs(1) == NONE:
        raise MemoryError
    with nogil:
        search.improve(0, depth, 0, 1 if seat == 0 else -1, -1e300, 1e300, 1e300)
    root = search.twigs[0]
    if seat < 0:
        return None if search.aborted else (None, spread(root.low), {}, search.estimates == 0)
    if every and not search.aborted:
        for i in range(root.count):
            at = root.children + i
            if search.twigs[at].low < search.twigs[at].high:
                memcpy(search.plies[1].state, position.state, search.ops.state_size)
                search.ops.apply(search.tables, search.plies[1].state, search.twigs[at].id)
                with nogil:
                    search.improve(1, depth - 1, at, 1, -1e300, 1e300, 1e300)
    if search.aborted and before is not None:   # half of this round says less than all of the last one
        return None
    found = {}
    ranked = []     # (what is certain, guess, id) for the seat
    for i in range(root.count):
        twig = search.twigs[root.children + i]
        if twig.guess == twig.guess:    # seen
            low, high = (twig.low, twig.high) if seat == 0 else (-twig.high, -twig.low)
            found[twig.id] = (sign * twig.guess if search.aborted else high, low == high and not search.aborted)
            ranked.append((low, sign * twig.guess, -twig.id))
    if not ranked:
        return None
    low, guess, best = max(ranked)
    value = guess if search.aborted else low
    return -best, spread(sign * value), found, search.estimates == 0 and not search.aborted


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

def check(Rules rules, parameters):
    """Raises UnsuitableGameError where a property of the game rules the search out."""
    require_open(rules, "expectimax", "use ismcts to play it, or cfr+ to solve it where its tree fits")
    depth, survey = parameters.get("depth"), getattr(rules, "survey", None)
    if depth is not None and rules.ops.estimate == NULL and survey is not None and survey.longest > depth:
        raise UnsuitableGameError(
            f"expectimax: depth={depth} needs a game with an estimate, and {rules.name} has none; its games go on for "
            f"{survey.longest} steps and more. Leave the depth out to solve it whole")


def _check_whole(Rules rules):
    if rules.ops.flags & CYCLIC:
        raise UnsuitableGameError(
            f"{rules.name} has cycles: a position can come again, so expectimax without a depth limit would never "
            "end; use value_iteration, or give a depth")


PARAMETERS = {
    "depth": Parameter(None, "deepest search, decisions and chance nodes", kind=int, low=1, high=PLIES),
    "nodes": Parameter(None, "end after so many nodes", kind=int, low=1),
    "seconds": Parameter(None, "wall-clock time a move", kind=float, low=1e-6, high=1e8),
    "pruning": Parameter("star2", "at chance nodes, under a limit", choices=("none", "star1", "star2")),
    "table": Parameter(1 << 20, "entries of the transposition table (32 bytes each) under a limit; 0: none",
                       low=0, high=1 << 32),
    "tree": Parameter(1 << 20, "star2 without a table: nodes whose bounds are kept (56 bytes each), then depth first",
                      low=1, high=1 << 32),
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
