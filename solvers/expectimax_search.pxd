# cython: language_level=3
"""One search to a depth: its working room, limits, leaves, transposition table, and the order of actions.

expectimax.pyx says what is searched and why. The searches stand beside this file: expectimax_depth_first.pxd
(alpha-beta, Star1, Star2), expectimax_best_first.pxd (Star2 without a table), expectimax_maxn.pxd (more players).
"""
from cpython.time cimport PyTime_MonotonicRaw
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from engine_ext.game cimport PLAYER_LIMIT, TERMINAL, GameOps
from engine_ext.rng cimport Rng


cdef enum:
    PLIES = 512             # deepest search
    LOOK_NS = 50_000_000    # time between two looks for signals
    WHOLE = 1 << 14         # added to the depth of a table entry that rests on no estimate
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

cdef struct Search:
    const GameOps *ops
    const void *tables
    Pruning pruning
    int32_t n_players
    Ply *plies              # working room, two more than the depth
    Entry *table            # [table_mask + 1], or NULL
    double *vectors         # [table entry, seat] for max^n
    uint64_t table_mask
    double *history         # [seat, action] how much each action has cut off, or NULL
    int64_t nodes           # visited so far
    int64_t node_limit
    int64_t deadline_ns     # 0: none
    int64_t look_ns         # when to look for signals again
    bint (*interrupted)(void *asker) noexcept nogil     # whether somebody wants the search to end
    void *asker             # what it is asked with
    int64_t estimates       # leaves at the horizon, or values that rest on them
    bint aborted            # a limit was reached, or somebody wants it
    bint blind              # a horizon was met in a game without an estimate
    Rng rng                 # for suggest() alone


# ---- limits and leaves ---------------------------------------------------------------------------

cdef inline bint enter(Search *s) noexcept nogil:
    """Count a node; False when a limit is reached."""
    if s.aborted:
        return False
    s.nodes += 1
    if s.nodes > s.node_limit:
        s.aborted = True
    elif not s.nodes & 63:
        look_around(s)
    return not s.aborted


cdef inline void look_around(Search *s) noexcept nogil:
    """At the clock, and now and then for signals. Leaves may cost microseconds or milliseconds, so the
    clock says when."""
    cdef int64_t now_ns = PyTime_MonotonicRaw()
    if s.deadline_ns and now_ns >= s.deadline_ns:
        s.aborted = True
    elif now_ns >= s.look_ns:
        s.look_ns = now_ns + LOOK_NS
        s.aborted = s.interrupted(s.asker)


cdef inline void step(Search *s, int32_t level, int32_t id) noexcept nogil:
    memcpy(s.plies[level + 1].state, s.plies[level].state, s.ops.state_size)
    s.ops.apply(s.tables, s.plies[level + 1].state, id)


cdef inline double leaf_value(Search *s, const void *state, int32_t turn) noexcept nogil:
    """Seat 0's utility at the end, or its estimate at the horizon."""
    cdef double values[PLAYER_LIMIT]
    values[0] = 0.0
    if turn == TERMINAL:
        s.ops.returns(s.tables, state, values)
    else:
        take_estimate(s, state, values)
    return values[0]


cdef inline void take_estimate(Search *s, const void *state, double *out) noexcept nogil:
    """The game's estimate; a game without one ends the search here."""
    s.estimates += 1
    if s.ops.estimate == NULL:
        s.aborted = s.blind = True
        return
    s.ops.estimate(s.tables, state, out)


# ---- the transposition table ---------------------------------------------------------------------

cdef inline bint serves(const Entry *entry, int32_t depth) noexcept nogil:
    """Whether an entry says what a search of this depth would find."""
    return entry.depth == depth or (entry.depth & WHOLE and entry.depth - WHOLE <= depth)


cdef inline Entry *find_entry(Search *s, uint64_t key) noexcept nogil:
    """The table's entry for this key, or NULL. Two places a key: the deeper one and the newer one."""
    cdef Entry *pair = &s.table[key & s.table_mask & ~<uint64_t>1]
    if pair[0].key == key:
        return pair
    if pair[1].key == key:
        return pair + 1
    return NULL


cdef inline void store_entry(Search *s, uint64_t key, int32_t depth, double low, double high, int32_t best,
                             const double *vector) noexcept nogil:
    cdef Entry *pair = &s.table[key & s.table_mask & ~<uint64_t>1]
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
        memcpy(&s.vectors[(entry - s.table) * s.n_players], vector, s.n_players * sizeof(double))


# ---- the order of actions and outcomes -----------------------------------------------------------

cdef inline int32_t order_actions(Search *s, Ply *ply, int32_t seat, int32_t depth, int32_t first) noexcept nogil:
    """List the legal actions, most promising first; returns their count."""
    cdef int32_t count = s.ops.legal(s.tables, ply.state, ply.ids)
    cdef int32_t i, suggested = -1
    cdef const double *history = NULL
    if s.history != NULL:
        history = s.history + <int64_t>seat * s.ops.n_actions
    if s.ops.suggest != NULL and depth > 2:
        suggested = s.ops.suggest(s.tables, ply.state, &s.rng)
    for i in range(count):
        if ply.ids[i] == first:
            ply.scores[i] = 1e300
        elif ply.ids[i] == suggested:
            ply.scores[i] = 1e299
        else:
            ply.scores[i] = history[ply.ids[i]] if history != NULL else 0.0
    return count


cdef inline int32_t next_action(Ply *ply, int32_t at, int32_t count) noexcept nogil:
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


cdef inline void credit_cut(Search *s, int32_t seat, int32_t action, int32_t depth) noexcept nogil:
    """The action made the rest of a decision's actions needless: it is tried sooner elsewhere (history heuristic)."""
    if s.history != NULL:
        s.history[<int64_t>seat * s.ops.n_actions + action] += depth * depth


cdef inline void sort_outcomes(int32_t *ids, double *probs, int32_t count) noexcept nogil:
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
