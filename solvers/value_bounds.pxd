# cython: language_level=3
"""Bounds of all states' values, which close in on them.

They begin at the least and the greatest utility there is. A renewed bound never passes the true value, because a
greater value of a successor never makes a state's smaller (Haddad and Monmege, "Interval iteration algorithm for MDPs
and IMDPs", Theoretical Computer Science 735, 2018).
"""
from libc.stdint cimport int32_t, int64_t

from engine_ext.game cimport CHANCE, PLAYER_LIMIT, TERMINAL
from solvers.state_graph cimport StateGraph


cdef struct Bounds:
    double least, greatest      # utilities there are, and that of play without end
    double *low                 # [n_states, n_values]
    double *high


cdef inline void begin_bounds(StateGraph g, Bounds *b) noexcept nogil:
    """What is known before any sweep: the returns of terminal states."""
    cdef int64_t i
    for i in range(g.table.n_states * g.n_values):
        b.low[i] = b.least
        b.high[i] = b.greatest
        if g.turn[i // g.n_values] == TERMINAL:
            b.low[i] = b.high[i] = g.values[i]


cdef inline double widest(StateGraph g, const Bounds *b) noexcept nogil:
    """The largest distance between the two bounds of a value."""
    cdef double found = 0.0
    cdef int64_t i
    for i in range(g.table.n_states * g.n_values):
        found = max(found, b.high[i] - b.low[i])
    return found


cdef inline void take_middles(StateGraph g, const Bounds *b) noexcept nogil:
    """Make the middle between its bounds every state's value."""
    cdef int64_t i
    for i in range(g.table.n_states * g.n_values):
        g.values[i] = 0.5 * (b.low[i] + b.high[i])


cdef inline double update_bounds(StateGraph g, const Bounds *b, int32_t state) noexcept nogil:
    """Renew one state's bounds from its successors'; returns the largest change."""
    if g.turn[state] == TERMINAL:
        return 0.0
    return narrow_one(g, b, state) if g.n_values == 1 else narrow_all(g, b, state)


cdef inline double narrow_one(StateGraph g, const Bounds *b, int32_t state) noexcept nogil:
    """Where seat 0's utility says all."""
    cdef int64_t step = g.first[state], last = g.first[state + 1]
    cdef int32_t seat = g.turn[state]
    cdef double low = 0.0, high = 0.0, change
    if seat == CHANCE:
        for step in range(step, last):
            low += g.prob[step] * b.low[g.target[step]]
            high += g.prob[step] * b.high[g.target[step]]
    else:
        low = b.low[g.target[step]]
        high = b.high[g.target[step]]
        for step in range(step + 1, last):
            if seat == 1:
                low = min(low, b.low[g.target[step]])
                high = min(high, b.high[g.target[step]])
            else:
                low = max(low, b.low[g.target[step]])
                high = max(high, b.high[g.target[step]])
    change = max(0.0, max(low - b.low[state], b.high[state] - high))
    b.low[state] = max(b.low[state], low)
    b.high[state] = min(b.high[state], high)
    return change


cdef inline double narrow_all(StateGraph g, const Bounds *b, int32_t state) noexcept nogil:
    """Where every seat has its own."""
    cdef int64_t first = g.first[state], last = g.first[state + 1], step
    cdef int32_t n_values = g.n_values, own = g.turn[state], i
    cdef double *low = &b.low[<int64_t>state * n_values]
    cdef double *high = &b.high[<int64_t>state * n_values]
    cdef const double *child_low
    cdef const double *child_high
    cdef double fresh_low[PLAYER_LIMIT]
    cdef double fresh_high[PLAYER_LIMIT]
    cdef double sure = -1e300       # what the seat that moves has for certain
    cdef double change = 0.0
    for i in range(n_values):
        fresh_low[i] = 0.0 if own == CHANCE else 1e300
        fresh_high[i] = 0.0 if own == CHANCE else -1e300
    if own != CHANCE:
        for step in range(first, last):
            sure = max(sure, b.low[<int64_t>g.target[step] * n_values + own])
    for step in range(first, last):
        child_low = &b.low[<int64_t>g.target[step] * n_values]
        child_high = &b.high[<int64_t>g.target[step] * n_values]
        if own == CHANCE:
            for i in range(n_values):
                fresh_low[i] += g.prob[step] * child_low[i]
                fresh_high[i] += g.prob[step] * child_high[i]
        elif child_high[own] >= sure:
            # It may be what the seat plays; what others get then lies within its bounds.
            for i in range(n_values):
                fresh_low[i] = min(fresh_low[i], child_low[i])
                fresh_high[i] = max(fresh_high[i], child_high[i])
    if own != CHANCE:
        fresh_low[own] = sure
    for i in range(n_values):
        change = max(change, max(fresh_low[i] - low[i], high[i] - fresh_high[i]))
        low[i] = max(low[i], fresh_low[i])
        high[i] = min(high[i], fresh_high[i])
    return change
