# cython: language_level=3
"""One value, depth first: alpha-beta at decisions, Star1 or Star2 at chance nodes.

Values are those of seat 0, exact inside a window (alpha, beta), and a bound outside it.
"""
from libc.stdint cimport int32_t, int64_t, uint64_t

from engine_ext.game cimport CHANCE, TERMINAL
from solvers.expectimax_search cimport *


cdef inline double search_value(Search *s, int32_t level, int32_t depth, double alpha, double beta) noexcept nogil:
    """Seat 0's value of plies[level].state, exact inside (alpha, beta), a bound outside it."""
    cdef Ply *ply = &s.plies[level]
    cdef int32_t turn = s.ops.turn(s.tables, ply.state), best = -1, first = -1
    cdef int64_t estimates = s.estimates
    cdef uint64_t key = 0
    cdef Entry *entry
    cdef double value
    if not enter(s):
        return 0.0
    if turn == TERMINAL or depth == 0:
        return leaf_value(s, ply.state, turn)
    if s.table != NULL:
        key = s.ops.state_key(s.tables, ply.state)
        entry = find_entry(s, key)
        if entry != NULL:
            first = entry.best
            if serves(entry, depth):
                if not entry.depth & WHOLE:
                    s.estimates += 1
                if entry.low >= beta or entry.low == entry.high:
                    return entry.low
                if entry.high <= alpha:
                    return entry.high
                alpha = max(alpha, entry.low)
                beta = min(beta, entry.high)
    if turn == CHANCE:
        value = chance_value(s, level, depth, alpha, beta)
    else:
        value = decision_value(s, level, depth, turn, alpha, beta, first, &best)
    if s.aborted or s.table == NULL:
        return value
    if s.estimates == estimates:     # no horizon was met: good for every greater depth
        depth |= WHOLE
    store_entry(s, key, depth, value if value > alpha else s.ops.min_utility,
                value if value < beta else s.ops.max_utility, best, NULL)
    return value


cdef inline double decision_value(Search *s, int32_t level, int32_t depth, int32_t seat, double alpha, double beta,
                                  int32_t first, int32_t *best_action) noexcept nogil:
    cdef Ply *ply = &s.plies[level]
    cdef int32_t count = order_actions(s, ply, seat, depth, first)
    cdef int32_t i, action
    cdef double sign = 1.0 if seat == 0 else -1.0
    cdef double best = -1e300, value    # both from the view of the seat
    for i in range(count):
        action = next_action(ply, i, count)
        step(s, level, action)
        value = sign * search_value(s, level + 1, depth - 1, alpha, beta)
        if s.aborted:
            return 0.0
        if value > best:
            best = value
            best_action[0] = action
            if s.pruning == PLAIN:
                continue
            if seat == 0:
                alpha = max(alpha, best)
            else:
                beta = min(beta, -best)
            if alpha >= beta:
                credit_cut(s, seat, action, depth)
                break
    return sign * best


cdef inline double chance_value(Search *s, int32_t level, int32_t depth, double alpha, double beta) noexcept nogil:
    cdef Ply *ply = &s.plies[level]
    cdef double *probs = ply.scores
    cdef int32_t count = s.ops.outcomes(s.tables, ply.state, ply.ids, probs)
    cdef double low_sum = 0.0, high_sum = 0.0      # bounds on the node's value
    cdef double exact
    cdef int32_t i, probe
    sort_outcomes(ply.ids, probs, count)   # the likeliest first: they move the bounds most
    if s.pruning == PLAIN:
        exact = 0.0
        for i in range(count):
            step(s, level, ply.ids[i])
            exact += probs[i] * search_value(s, level + 1, depth - 1, alpha, beta)
        return exact
    for i in range(count):
        ply.low[i], ply.high[i] = s.ops.min_utility, s.ops.max_utility
        low_sum += probs[i] * ply.low[i]
        high_sum += probs[i] * ply.high[i]
    if s.table != NULL or depth == 1:
        for i in range(count):
            glance_at(s, level, i, depth, &low_sum, &high_sum)
            if s.aborted:
                return 0.0
            if low_sum >= beta:
                return low_sum
            if high_sum <= alpha:
                return high_sum
    for probe in range(s.pruning == STAR2 and s.table != NULL and depth > 2, -1, -1):
        for i in range(count):
            if ply.low[i] >= ply.high[i]:
                continue
            if probe:
                probe_outcome(s, level, i, depth, alpha, beta, &low_sum, &high_sum)
            else:
                settle_outcome(s, level, i, depth, alpha, beta, &low_sum, &high_sum)
            if s.aborted:
                return 0.0
            if low_sum >= beta:
                return low_sum
            if high_sum <= alpha:
                return high_sum
    exact = 0.0     # summed afresh: the same bits as the plain search, whatever was pruned
    for i in range(count):
        exact += probs[i] * ply.low[i]
    return exact


cdef inline void glance_at(Search *s, int32_t level, int32_t i, int32_t depth, double *low_sum,
                           double *high_sum) noexcept nogil:
    """What is known of outcome i without a search: leaves, and what the table holds."""
    cdef Ply *ply = &s.plies[level]
    cdef const void *state = s.plies[level + 1].state
    cdef Entry *entry
    cdef int32_t turn
    cdef double value
    step(s, level, ply.ids[i])
    turn = s.ops.turn(s.tables, state)
    if turn == TERMINAL or depth == 1:
        if enter(s):
            value = leaf_value(s, state, turn)
            narrow(ply, i, value, value, low_sum, high_sum)
        return
    entry = find_entry(s, s.ops.state_key(s.tables, state))
    if entry != NULL and serves(entry, depth - 1):
        if not entry.depth & WHOLE:
            s.estimates += 1
        narrow(ply, i, entry.low, entry.high, low_sum, high_sum)


cdef inline void narrow(Ply *ply, int32_t i, double low, double high, double *low_sum, double *high_sum) noexcept nogil:
    """Tighter bounds of outcome i, and with it of the chance node."""
    if low > ply.low[i]:
        low_sum[0] += ply.scores[i] * (low - ply.low[i])
        ply.low[i] = low
    if high < ply.high[i]:
        high_sum[0] += ply.scores[i] * (high - ply.high[i])
        ply.high[i] = high


cdef inline void settle_outcome(Search *s, int32_t level, int32_t i, int32_t depth, double alpha, double beta,
                                double *low_sum, double *high_sum) noexcept nogil:
    """Search outcome i in the window that still matters."""
    cdef Ply *ply = &s.plies[level]
    cdef double prob = ply.scores[i], value
    cdef double floor = (alpha - (high_sum[0] - prob * ply.high[i])) / prob
    cdef double ceiling = (beta - (low_sum[0] - prob * ply.low[i])) / prob
    step(s, level, ply.ids[i])
    value = search_value(s, level + 1, depth - 1, max(ply.low[i], floor), min(ply.high[i], ceiling))
    if s.aborted:
        return
    # Outside the window a value is a bound, and brings the node outside its own; rounding may not undo that.
    if value <= floor:
        narrow(ply, i, ply.low[i], value, low_sum, high_sum)
        high_sum[0] = min(high_sum[0], alpha)
    elif value >= ceiling:
        narrow(ply, i, value, ply.high[i], low_sum, high_sum)
        low_sum[0] = max(low_sum[0], beta)
    else:
        narrow(ply, i, value, value, low_sum, high_sum)
        ply.low[i] = ply.high[i] = value


cdef inline void probe_outcome(Search *s, int32_t level, int32_t i, int32_t depth, double alpha, double beta,
                               double *low_sum, double *high_sum) noexcept nogil:
    """Search one action of outcome i, where what it bounds can bring the chance node outside its window.
    The table keeps what was found for the outcome's own search."""
    cdef Ply *ply = &s.plies[level]
    cdef Ply *below = &s.plies[level + 1]
    cdef double prob = ply.scores[i], value, floor, ceiling
    cdef const Entry *entry
    cdef int32_t seat, action
    step(s, level, ply.ids[i])
    seat = s.ops.turn(s.tables, below.state)
    if seat < 0 or (beta >= s.ops.max_utility if seat == 0 else alpha <= s.ops.min_utility):
        return
    if not enter(s):
        return
    entry = find_entry(s, s.ops.state_key(s.tables, below.state))
    action = next_action(
        below, 0, order_actions(s, below, seat, depth - 1, NONE if entry == NULL else entry.best))
    step(s, level + 1, action)
    floor = (alpha - (high_sum[0] - prob * ply.high[i])) / prob
    ceiling = (beta - (low_sum[0] - prob * ply.low[i])) / prob
    value = search_value(s, level + 2, depth - 2, max(ply.low[i], floor), min(ply.high[i], ceiling))
    if s.aborted:
        return
    if seat == 0:
        if value > max(ply.low[i], floor):
            narrow(ply, i, value, ply.high[i], low_sum, high_sum)
            if value >= ceiling:
                low_sum[0] = max(low_sum[0], beta)
    elif value < min(ply.high[i], ceiling):
        narrow(ply, i, ply.low[i], value, low_sum, high_sum)
        if value <= floor:
            high_sum[0] = min(high_sum[0], alpha)
