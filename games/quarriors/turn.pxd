# cython: language_level=3
"""The frame of a turn: the stack of steps and questions, Glory, and the end of the game."""
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memset

from engine_ext.debug cimport QUANDARY_CHECK
from engine_ext.game cimport TERMINAL
from games.quarriors.reading cimport *
from games.quarriors.state cimport *


# ---- the stack -----------------------------------------------------------------------------------

cdef inline void push(State *s, uint8_t op, uint8_t a, uint8_t b, uint8_t c) noexcept nogil:
    QUANDARY_CHECK(s.n_stack < MAX_STACK, "push: the stack is full")
    if s.n_stack == MAX_STACK:
        return
    s.stack[s.n_stack] = Frame(op, a, b, c)
    s.n_stack += 1

cdef inline void pop(State *s) noexcept nogil:
    s.n_stack -= 1
    memset(&s.stack[s.n_stack], 0, sizeof(Frame))

cdef inline void go(State *s, uint8_t op, uint8_t a, uint8_t b, uint8_t c) noexcept nogil:
    """Replace the top of the stack."""
    s.stack[s.n_stack - 1] = Frame(op, a, b, c)


# ---- the turn and the end ------------------------------------------------------------------------

cdef inline void begin_turn(const Tables *T, State *s) noexcept nogil:
    s.captures = T.captures
    s.discount = s.scored = s.culls = s.foes_hit = s.flags = 0
    memset(s.summoned, 0, sizeof(s.summoned))
    s.decisions = 0
    s.phase = 1

cdef inline int32_t dice_in_ready(const Tables *T, const Player *p) noexcept nogil:
    """Creatures, readied and attached spells, the locked die (A100)."""
    cdef int32_t i, j, count = p.n_ready
    for j in range(SPELL_SLOTS):
        count += readied(p, j, 0) + readied(p, j, 1)
        for i in range(p.n_ready):
            count += att_get(T, &p.ready[i], j, 0) + att_get(T, &p.ready[i], j, 1)
    return count

cdef inline void finish(const Tables *T, State *s) noexcept nogil:
    """Most Glory, then most dice in the Ready Area, then shared (B87)."""
    cdef int32_t seat, value, best = -1
    for seat in range(T.n_players):
        value = s.player[seat].glory * 256 + dice_in_ready(T, &s.player[seat])
        if value > best:
            best = value
            s.winners = 0
        if value == best:
            s.winners |= 1 << seat
    s.node = TERMINAL

cdef inline void gain(const Tables *T, State *s, int32_t seat, int32_t n) noexcept nogil:
    """Glory for a seat, and the goal (B25, A6)."""
    s.player[seat].glory = min(255, s.player[seat].glory + n)
    if s.player[seat].glory >= T.goal:
        s.winners = 1 << seat
        s.node = TERMINAL

cdef inline void gain_glory(const Tables *T, State *s, int32_t n) noexcept nogil:
    gain(T, s, s.active, n)

cdef inline void after_capture(const Tables *T, State *s) noexcept nogil:
    """Four creature cards without dice end the game (B82, B83)."""
    cdef int32_t slot, empty = 0
    for slot in range(FIRST_CREATURE, FIRST_SPELL):
        empty += s.card[slot] != NONE and s.wilds[slot] == 0
    if empty >= 4:
        finish(T, s)
