# cython: language_level=3
"""Strongly connected components of a graph (Tarjan, "Depth-first search and linear graph algorithms", SIAM Journal on
Computing 1, 1972), on a stack of its own and in pieces, so that the work can be looked at and ended.

States are held from when the search leaves them, not from when it meets them (as Pearce does, "A space-efficient
algorithm for finding strongly connected components", Information Processing Letters 116, 2016). So a component comes
out in the order in which its states were left: a step leads to a state before its own, unless it closes a cycle.
"""
from libc.stdint cimport int32_t, int64_t


cdef struct Cut:                # a graph all of whose states can be reached from state 0, and how far the cut has come
    const int64_t *first        # [n_states + 1] where a state's steps begin
    const int32_t *target       # [n_steps] the state that a step leads to
    int32_t *order              # [n_states] filled in: components, those they lead to first; so within, as can be
    int32_t *component          # [n_components + 1] filled in: where each begins in `order`
    int32_t n_components
    int32_t n_ordered           # states whose component is known
    int64_t *steps              # [n_states] of a state on the path: the step to follow next; to begin with, the first
    int32_t *met                # [n_states] number in order of meeting, from 1; 0: not met; -1: done; to begin with, 0
    int32_t *low                # [n_states] lowest number reached from here
    int32_t *held               # [n_states] states left whose component is not known yet
    int32_t *calls              # [n_states] the path to the current state
    int32_t n_met, n_held, n_calls


cdef inline void begin_cut(Cut *c) noexcept nogil:
    """Begin at state 0."""
    c.n_components = c.n_ordered = 0
    c.n_met = c.n_calls = 1
    c.n_held = 0
    c.met[0] = c.low[0] = 1
    c.calls[0] = 0


cdef inline bint cut_on(Cut *c, int64_t steps) noexcept nogil:
    """So many steps on; whether all components are known."""
    cdef int32_t state, child
    while c.n_calls and steps > 0:
        steps -= 1
        state = c.calls[c.n_calls - 1]
        if c.steps[state] < c.first[state + 1]:
            child = c.target[c.steps[state]]
            c.steps[state] += 1
            if c.met[child] == 0:
                c.n_met += 1
                c.met[child] = c.low[child] = c.n_met
                c.calls[c.n_calls] = child
                c.n_calls += 1
            elif c.met[child] > 0:
                c.low[state] = min(c.low[state], c.met[child])
            continue
        c.n_calls -= 1
        if c.n_calls:
            c.low[c.calls[c.n_calls - 1]] = min(c.low[c.calls[c.n_calls - 1]], c.low[state])
        if c.low[state] == c.met[state]:
            close_component(c, state)
        else:
            c.held[c.n_held] = state
            c.n_held += 1
    if c.n_calls == 0:
        c.component[c.n_components] = c.n_ordered
    return c.n_calls == 0


cdef inline void close_component(Cut *c, int32_t root) noexcept nogil:
    """All states held that were met after the root of a component belong to it, in the order in which they were left;
    the root is the last."""
    cdef int32_t begin = c.n_held, i
    while begin and c.met[c.held[begin - 1]] > c.met[root]:
        begin -= 1
    c.component[c.n_components] = c.n_ordered
    c.n_components += 1
    for i in range(begin, c.n_held):
        c.met[c.held[i]] = -1
        c.order[c.n_ordered] = c.held[i]
        c.n_ordered += 1
    c.n_held = begin
    c.met[root] = -1
    c.order[c.n_ordered] = root
    c.n_ordered += 1
