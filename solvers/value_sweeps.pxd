# cython: language_level=3
"""Gauss-Seidel sweeps over the values of one component of a graph, or over their bounds, until they have settled.

A state's value is the mean of its successors' by chance, and at a decision that of the successor which is best for the
seat that moves.
"""
from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from engine_ext.game cimport CHANCE, PLAYER_LIMIT, TERMINAL
from solvers.state_graph cimport StateGraph
from solvers.value_bounds cimport Bounds, update_bounds


cdef struct Sweeps:             # how far the sweeps over one component have come
    int32_t at                  # the state to update next
    int64_t count               # sweeps made
    double change               # largest change in this sweep
    double before               # and in the one before
    int64_t updates             # states updated, of all components
    double moved                # largest change of all


cdef inline void begin_sweeps(StateGraph g, Sweeps *s, int32_t part) noexcept nogil:
    """Go on to a component."""
    s.at = g.component[part]
    s.count = 0
    s.change = s.before = 0.0


cdef inline bint sweep_on(StateGraph g, const Bounds *b, Sweeps *s, int32_t part, double tolerance,
                          int64_t most_sweeps, int64_t updates) noexcept nogil:
    """Some way on with the component; whether it has settled.

    Args:
        b: what is swept over; NULL: the values.
        tolerance: to how little what is still to come has to have shrunk.
        most_sweeps: to stop after.
        updates: to stop after; at most 2**62.
    """
    cdef int32_t begin = g.component[part], end = g.component[part + 1], last
    cdef double rate
    if not comes_again(g, part):
        s.count = 1
        s.updates += g.turn[begin] != TERMINAL
        s.moved = max(s.moved, update(g, b, begin))
        return True
    while updates > 0:
        if s.at == begin:
            s.before = s.change
            s.change = 0.0
        last = <int32_t>min(<int64_t>end, s.at + updates)
        updates -= last - s.at
        s.updates += last - s.at        # none of them is terminal, for such a state leads nowhere
        while s.at < last:
            s.change = max(s.change, update(g, b, s.at))
            s.at += 1
        if last < end:
            return False
        s.at = begin
        s.count += 1
        s.moved = max(s.moved, s.change)
        if s.change == 0.0:
            return True
        if s.count > 2 and s.change < s.before:
            rate = s.change / s.before
            if s.change <= tolerance and s.change * rate / (1.0 - rate) <= tolerance:
                return True
        elif s.change < 1e-15 and s.count > 2:   # the last bit flickers
            return True
        if s.count >= most_sweeps:
            return False
    return False


cdef inline bint comes_again(StateGraph g, int32_t part) noexcept nogil:
    """Whether the component has a cycle, be it of one state only."""
    cdef int32_t begin = g.component[part]
    cdef int64_t step
    if g.component[part + 1] - begin > 1:
        return True
    for step in range(g.first[begin], g.first[begin + 1]):
        if g.target[step] == begin:
            return True
    return False


cdef inline double update(StateGraph g, const Bounds *b, int32_t state) noexcept nogil:
    return update_value(g, state) if b == NULL else update_bounds(g, b, state)


cdef inline double update_value(StateGraph g, int32_t state) noexcept nogil:
    """Renew one state's value from its successors'; returns the largest change of a seat."""
    cdef int64_t first = g.first[state], last = g.first[state + 1], step, best
    cdef int32_t n_values = g.n_values, seat = g.turn[state], i
    cdef double *own = &g.values[<int64_t>state * n_values]
    cdef const double *values = g.values
    cdef double fresh[PLAYER_LIMIT]
    cdef double change = 0.0, value, sign
    if seat == TERMINAL:
        return 0.0
    if seat == CHANCE:
        for i in range(n_values):
            fresh[i] = 0.0
        for step in range(first, last):
            for i in range(n_values):
                fresh[i] += g.prob[step] * values[<int64_t>g.target[step] * n_values + i]
    else:
        sign = 1.0
        if n_values > 1:
            values += seat
        elif seat == 1:
            sign = -1.0
        best = first
        value = sign * values[<int64_t>g.target[first] * n_values]
        for step in range(first + 1, last):
            if sign * values[<int64_t>g.target[step] * n_values] > value:
                best = step
                value = sign * values[<int64_t>g.target[step] * n_values]
        memcpy(fresh, &g.values[<int64_t>g.target[best] * n_values], n_values * sizeof(double))
    for i in range(n_values):
        change = max(change, fabs(fresh[i] - own[i]))
        own[i] = fresh[i]
    return change
