# cython: language_level=3
"""Rounds and turns: favor cards, the start and the end of a turn, points and the end of the game."""
from libc.stdint cimport int8_t, int32_t, uint64_t

from engine_ext.game cimport TERMINAL
from games.quarz.field cimport modifiers
from games.quarz.frames cimport note, owner, push
from games.quarz.state cimport *
from games.quarz.tableau cimport heal, lose


cdef inline void ask_favors(const Tables *t, State *s) noexcept nogil:
    """Rule 27: every seat, in turn order, is to choose a favor card in secret."""
    cdef int32_t i
    for i in range(t.players):
        s.favor[i] = -1
    for i in range(t.players - 1, -1, -1):
        push(s, K_FAVOR, 0, s.order[i], 0)

cdef inline void reveal(const Tables *t, State *s, Frame *f) noexcept nogil:
    """Rules 28, 30: all favor cards are shown; higher plays earlier, ties keep their order."""
    cdef int32_t i, j
    cdef int8_t seat
    for i in range(t.players):
        note(t, s, <uint64_t>4 << 32 | i << 8 | s.favor[i])
        s.favor_hand[i] &= ~(1 << s.favor[i])
    for i in range(1, t.players):
        seat = s.order[i]
        j = i
        while j > 0 and s.favor[s.order[j - 1]] < s.favor[seat]:
            s.order[j] = s.order[j - 1]
            j -= 1
        s.order[j] = seat
    f.kind = K_TURNS

cdef inline void start_turn(const Tables *t, State *s, int32_t seat) noexcept nogil:
    """Rule 32a, and what tokens and time tiles do at the start of a turn."""
    cdef int32_t m
    cdef const Global *g = modifiers(t, s)
    s.reactions[seat] = t.reactions
    s.actions, s.extras = t.actions, 0
    s.resting &= ~(7 << 3 * seat)
    for m in range(3 * seat, 3 * seat + 3):
        if s.at[m] < 0:
            continue
        heal(s, m, g.start_heal)
        if s.poison[m]:
            s.poison[m] -= 1
            lose(s, m, 1)
        if s.idol_by == m:
            lose(s, m, g.idol_drain)

cdef inline void finish_turn(const Tables *t, State *s) noexcept nogil:
    """Rules 22-25; Q10-Q15."""
    cdef int32_t m
    for m in range(3 * t.players):
        s.boost[m] = 0
    s.active = -1
    s.resting = 0
    s.turns += 1
    if t.turn_limit:
        if s.turns >= t.turn_limit:
            time_up(t, s)
        return
    if s.time_left == 1 and s.turns % t.spaces == t.spaces // 2:
        time_up(t, s)
    elif s.turns % t.spaces == 0 and s.time_left > 1:
        s.time_left -= 1
        push(s, K_TIME, 0, 0, 0)

cdef inline int32_t points2(const Tables *t, const State *s, int32_t seat) noexcept nogil:
    """Twice the victory points (rules 57, 128)."""
    cdef int32_t i, points = 0
    for i in range(t.n_shrines):
        points += t.shrine_points2 * s.uses[seat][i]
    if s.idol_by >= 0 and owner(s.idol_by) == seat:
        points += t.idol_points2
    return points

cdef inline void time_up(const Tables *t, State *s) noexcept nogil:
    """Rules 57, 128, 129."""
    cdef int32_t seat, best = -1, value
    s.winner = -1
    for seat in range(t.players):
        value = points2(t, s, seat) << 12 | s.munched[seat]
        if value > best:
            best = value
            s.winner = seat
        elif value == best:
            s.winner = -1
    s.actor = TERMINAL
