# cython: language_level=3
"""The stack of frames (state.pxd describes them), whose a monster is, and what the seats see happen."""
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memset

from engine_ext.debug cimport QUANDARY_CHECK
from engine_ext.rng cimport rng_combine
from games.quarz.state cimport *


cdef inline Frame *top(State *s) noexcept nogil:
    return &s.stack[s.depth - 1]

cdef inline Frame *push(State *s, int32_t kind, int32_t a, int32_t b, int32_t c) noexcept nogil:
    """A new frame on top; fields not given are 0."""
    cdef Frame *f = &s.stack[s.depth]
    QUANDARY_CHECK(s.depth < DEPTH, "quarz: the stack of frames is full")
    s.depth += 1
    f.kind, f.a, f.b, f.c = kind, a, b, c
    return f

cdef inline void pop(State *s) noexcept nogil:
    s.depth -= 1
    memset(&s.stack[s.depth], 0, sizeof(Frame))

cdef inline void push_prog(State *s, int32_t prog, int32_t self, int32_t seat, int32_t context,
                           int32_t card) noexcept nogil:
    """Run a list of effects; `card` (or -1) goes to self's discard when it is done."""
    cdef Frame *f = push(s, K_PROG, self, seat, context)
    f.prog, f.e = prog, card

cdef inline void note(const Tables *t, State *s, uint64_t event) noexcept nogil:
    """Every seat sees the event."""
    cdef int32_t i
    for i in range(t.players):
        s.info[i] = rng_combine(s.info[i], event)

cdef inline int32_t owner(int32_t m) noexcept nogil:
    return m // 3

cdef inline const Monster *tableau(const Tables *t, const State *s, int32_t m) noexcept nogil:
    return &t.monsters[s.who[m]]

cdef inline const Card *card_of(const Tables *t, const State *s, int32_t m, int32_t card) noexcept nogil:
    return &t.monsters[s.who[m]].cards[card]
