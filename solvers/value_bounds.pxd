# cython: language_level=3
"""Bounds of the values of states that have not settled.

They begin at the least and the greatest utility there is. A renewed bound never passes the true value, because a
greater value of a successor never makes a state's smaller (Haddad and Monmege, "Interval iteration algorithm for MDPs
and IMDPs", Theoretical Computer Science 735, 2018).
"""
from libc.stdint cimport int32_t, int64_t

from engine_ext.game cimport CHANCE, PLAYER_LIMIT, TERMINAL
from solvers.state_graph cimport StateGraph


cdef struct Bounds:
    double least, greatest      # utilities there are, and that of play without end
    double *low                 # [n_states, n_values]; NULL where there are none
    double *high


cdef inline void begin_bounds(StateGraph g, Bounds *b, int32_t settled, double tolerance) noexcept nogil:
    """What is known before any sweep: values of so many components, within the tolerance, and of all terminal
    states."""
    cdef int64_t solved = <int64_t>g.component[settled] * g.n_values, i
    for i in range(g.table.n_states * g.n_values):
        b.low[i] = b.least
        b.high[i] = b.greatest
        if i < solved or g.turn[i // g.n_values] == TERMINAL:
            b.low[i] = max(b.least, g.values[i] - tolerance)
            b.high[i] = min(b.greatest, g.values[i] + tolerance)


cdef inline void update_bounds(StateGraph g, const Bounds *b, int32_t state) noexcept nogil:
    """Renew one state's bounds from its successors'."""
    cdef int64_t first = g.first[state], last = g.first[state + 1], step
    cdef int32_t n_values = g.n_values, seat = g.turn[state], i
    cdef double *low = &b.low[<int64_t>state * n_values]
    cdef double *high = &b.high[<int64_t>state * n_values]
    cdef const double *child_low
    cdef const double *child_high
    cdef double fresh_low[PLAYER_LIMIT]
    cdef double fresh_high[PLAYER_LIMIT]
    cdef bint lowest = n_values == 1 and seat == 1
    cdef int32_t own = 0 if n_values == 1 else seat
    cdef double sure = -1e300       # what the seat that moves has for certain; in its own sign
    if seat == TERMINAL:
        return
    for i in range(n_values):
        fresh_low[i] = 0.0 if seat == CHANCE else 1e300
        fresh_high[i] = 0.0 if seat == CHANCE else -1e300
    if seat != CHANCE:
        for step in range(first, last):
            i = g.target[step]
            sure = max(sure, -b.high[i] if lowest else b.low[<int64_t>i * n_values + own])
    for step in range(first, last):
        child_low = &b.low[<int64_t>g.target[step] * n_values]
        child_high = &b.high[<int64_t>g.target[step] * n_values]
        if seat == CHANCE:
            for i in range(n_values):
                fresh_low[i] += g.prob[step] * child_low[i]
                fresh_high[i] += g.prob[step] * child_high[i]
        elif (-child_low[0] if lowest else child_high[own]) >= sure:
            # It may be what the seat plays; what others get then lies within its bounds.
            for i in range(n_values):
                fresh_low[i] = min(fresh_low[i], child_low[i])
                fresh_high[i] = max(fresh_high[i], child_high[i])
    if seat != CHANCE:
        if lowest:
            fresh_high[0] = -sure
        else:
            fresh_low[own] = sure
    for i in range(n_values):
        low[i] = max(low[i], fresh_low[i])
        high[i] = min(high[i], fresh_high[i])
