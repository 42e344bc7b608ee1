# cython: language_level=3
"""How monsters come to stand on a hex, and the idol: taken, carried home, thrown, left behind."""
from libc.stdint cimport int8_t, int32_t, uint64_t

from engine_ext.bits cimport bit, has_bit
from engine_ext.game cimport TERMINAL
from games.quarz.field cimport home, reach, recount
from games.quarz.frames cimport owner, push
from games.quarz.state cimport *
from games.quarz.tableau cimport lose


cdef inline void win(State *s, int32_t seat) noexcept nogil:
    """Rules 56, 127: at once, whatever is pending."""
    s.winner = seat
    s.actor = TERMINAL

cdef inline void take_idol(const Tables *t, State *s, int32_t m) noexcept nogil:
    """Rules 49-53: control, then the bonus movement before everything else."""
    s.idol_by = m
    s.idol_at = s.at[m]
    if s.idol_at == home(t, s, owner(m)):
        win(s, owner(m))
        return
    push(s, K_BONUS, m, 0, 0)

cdef inline void spring_trap(const Tables *t, State *s, int32_t m) noexcept nogil:
    """A rival's trap where the monster has come to stand, whatever brought it there (Q88)."""
    cdef int32_t other
    for other in range(t.players):
        if other != owner(m) and has_bit(s.traps[other], s.at[m]):
            s.traps[other] &= ~bit(s.at[m])
            lose(s, m, TRAP_LOSS)

cdef inline void place(const Tables *t, State *s, int32_t m, int32_t cell) noexcept nogil:
    """A monster comes to stand on a cell, whatever moved it; the idol goes with its carrier (rule 54)."""
    cdef int32_t seat = owner(m)
    s.at[m] = cell
    recount(t, s, seat)
    if s.idol_by == m:
        s.idol_at = cell
        if cell == home(t, s, seat):
            win(s, seat)
            return
    spring_trap(t, s, m)
    if s.idol_by < 0 and s.idol_at == cell:
        take_idol(t, s, m)

cdef inline void place_apart(const Tables *t, State *s, int32_t m, int32_t cell) noexcept nogil:
    """Displace a former carrier; the idol, without a carrier for the moment, stays behind."""
    cdef int8_t idol = s.idol_at
    s.idol_at = -1
    place(t, s, m, cell)
    s.idol_at = idol

cdef inline void travel(const Tables *t, State *s, int32_t m, int32_t cell) noexcept nogil:
    """A movement that the monster's own mob chose: afterwards rivals beside it may react (Q96). A bonus movement ends
    the movement that took the idol, where that was one, so that both are answered once."""
    cdef const Frame *below = &s.stack[s.depth - 1]
    cdef bint goes_on = below.kind == K_WINDOW and below.a == TRIGGER_ARRIVED and below.b == m and below.step == 0
    if s.depth < WINDOW_DEPTH and not goes_on:
        push(s, K_WINDOW, TRIGGER_ARRIVED, m, m)
    place(t, s, m, cell)

cdef inline uint64_t shoved(const Tables *t, const State *s, int32_t m) noexcept nogil:
    """Where a monster can be displaced by 1 hex, its powers and its helpers counting (rules 71, 76, 89)."""
    return reach(t, s, m, 1, s.powers[m])

cdef inline void exchange(const Tables *t, State *s, int32_t m, int32_t target) noexcept nogil:
    """Rule 91, Q53, Q88: two monsters change places; a carrier keeps the idol."""
    cdef int8_t at = s.at[m]
    s.at[m] = s.at[target]
    s.at[target] = at
    recount(t, s, owner(m))
    recount(t, s, owner(target))
    if s.idol_by == m or s.idol_by == target:
        s.idol_at = s.at[s.idol_by]
        if s.idol_at == home(t, s, owner(s.idol_by)):
            win(s, owner(s.idol_by))
    spring_trap(t, s, m)
    spring_trap(t, s, target)


# ---- the idol without a carrier ------------------------------------------------------------------

cdef inline bint idol_in_the_air(const State *s) noexcept nogil:
    """Whether somebody is being parted from the idol, so that it has no carrier wherever it is."""
    cdef int32_t k
    for k in range(s.depth):
        if s.stack[k].kind == K_STRIP or s.stack[k].kind == K_THROW:
            return True
    return False

cdef inline uint64_t throws(const Tables *t, const State *s, int32_t seat) noexcept nogil:
    """Where a shot can move the idol: a neighbour hex, water and walls ignored (rule 73; Q56, Q57)."""
    return t.grid.near[s.idol_at] & ~s.solid & ~(t.camp_mask & ~bit(home(t, s, seat)))

cdef inline void land_idol(const Tables *t, State *s, int32_t seat, int32_t cell) noexcept nogil:
    """The idol, moved by this seat without a carrier, comes to lie on a cell (rule 74, Q56)."""
    cdef int32_t m
    s.idol_by = -1
    s.idol_at = cell
    for m in range(3 * t.players):
        if s.at[m] == cell:
            take_idol(t, s, m)
            return
    if cell == home(t, s, seat):
        win(s, seat)

cdef inline void land_strike(const Tables *t, State *s, int32_t m) noexcept nogil:
    """Rule 72: the carrier cannot be displaced; the idol goes to the striker's hex."""
    s.idol_at = s.at[m]
    take_idol(t, s, m)
