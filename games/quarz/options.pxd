# cython: language_level=3
"""The choices of a decision, by the frame that asks."""
from libc.stdint cimport int32_t

from engine_ext.bits cimport count_bits
from games.quarz.action_options cimport list_actions
from games.quarz.attack cimport guards
from games.quarz.effect_options cimport list_effect, prog_possible, put_each
from games.quarz.field cimport modifiers, reach
from games.quarz.frames cimport card_of, owner
from games.quarz.idol cimport shoved, throws
from games.quarz.instants cimport list_instants, window_seat
from games.quarz.march cimport list_march
from games.quarz.moves cimport *
from games.quarz.set_up cimport taken
from games.quarz.state cimport *


cdef inline int32_t list_choices(const Tables *t, const State *s, int32_t *out) noexcept nogil:
    """The choices of a decision's frame, ascending; 0 when it has none and is skipped."""
    cdef const Frame *f = &s.stack[s.depth - 1]
    cdef int32_t kind = f.kind
    if kind == K_ACTION:
        return list_actions(t, s, f.b, out)
    if kind == K_PROG:
        return list_effect(t, s, f, out)
    if kind == K_FAVOR:
        return put_each(s.favor_hand[f.b], A_FAVOR, out, 0)
    if kind == K_WINDOW:
        return or_pass(list_instants(t, s, window_seat(t, s, f), f.a, f.b, f.c, f.g, out + 1), out)
    if kind == K_BLOCK:
        return or_pass(put_each(s.hand[f.a] & ~((1 << f.c) - 1), A_CARD, out + 1, 0), out)
    if kind == K_BONUS:
        return or_pass(put_each(reach(t, s, f.a, 1, s.powers[f.a]), A_CELL, out + 1, 0), out)
    if kind == K_KO:
        if f.c:                                                             # a push: no staying
            return put_each(shoved(t, s, f.b), A_CELL, out, 0)
        return or_pass(put_each(shoved(t, s, f.b), A_CELL, out + 1, 0), out)
    if kind == K_STRIP:
        return put_each(shoved(t, s, f.b), A_CELL, out, 0)
    if kind == K_THROW:
        return put_each(throws(t, s, owner(f.a)), A_CELL, out, 0)
    if kind == K_HIT:
        return or_pass(list_guards(t, s, f, out + 1), out)
    if kind == K_MARCH:
        return list_march(t, s, f, out)
    if kind == K_FAVOR_ACTION:
        return list_favor_actions(t, s, f.b, out)
    if kind == K_HAND_LIMIT:
        return list_discards(t, s, f, out)
    if kind == K_SLOT:
        return list_slots(t, s, f.a, out)
    if kind == K_TILE:
        return list_places(t, s, f, out)
    if kind == K_MOB:
        return put_each(15 & ~taken(t, s.mob), A_MOB, out, 0)
    if kind == K_CAMP:
        return put_each(((1 << t.players) - 1) & ~taken(t, s.camp), A_CAMP, out, 0)
    return put_each(15, A_LEAVE, out, 0)                                    # K_LEAVE

cdef inline int32_t or_pass(int32_t n, int32_t *out) noexcept nogil:
    """The n choices in `out[1:]`, and before them to pass; nothing where there is only that."""
    out[0] = A_PASS
    return n + 1 if n else 0

cdef inline int32_t list_guards(const Tables *t, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    """The friends that may take a hit with their Living Shield (rule 106)."""
    cdef int32_t m, n = 0
    for m in range(3 * owner(f.b), 3 * owner(f.b) + 3):
        if guards(t, s, m, f.b, f.a):
            out[n] = A_TARGET + m
            n += 1
    return n

cdef inline int32_t list_favor_actions(const Tables *t, const State *s, int32_t seat, int32_t *out) noexcept nogil:
    """The options of the favor card played that can be done (Q76)."""
    cdef int32_t k, prog, n = 0
    for k in range(4):
        prog = t.favor_options[s.favor[seat]][k]
        if prog >= 0 and prog_possible(t, s, prog, -1, seat, -1):
            out[n] = A_CHOICE + k
            n += 1
    return n

cdef inline int32_t list_discards(const Tables *t, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    """Hand cards that may go next over the limit. They go in ascending order, so that each set goes once: a card is
    listed where enough others follow it."""
    cdef int32_t k, card, last, n = 0, over = -max(0, t.hand_limit + modifiers(t, s).hand_limit)
    for k in range(3):
        over += count_bits(s.hand[3 * f.b + k])
    if over <= 0:
        return 0
    for k in range(2, -1, -1):
        for card in range(CARDS - 1, -1, -1):
            if 13 * k + card >= f.c and s.hand[3 * f.b + k] >> card & 1:
                over -= 1
                if over <= 0:
                    out[n] = A_DISCARD + 13 * k + card
                    n += 1
    for k in range(n // 2):                                                 # ascending
        last = out[n - 1 - k]
        out[n - 1 - k] = out[k]
        out[k] = last
    return n

cdef inline int32_t list_slots(const Tables *t, const State *s, int32_t m, int32_t *out) noexcept nogil:
    """Slots whose card may be replaced (rules 101, 102)."""
    cdef int32_t i, n = 0
    for i in range(3):
        if not card_of(t, s, m, s.slots[m][i]).lock:
            out[n] = A_SLOT + i
            n += 1
    return n

cdef inline int32_t list_places(const Tables *t, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    """Of the tile to be placed: step 1 an empty field, step 2 an orientation (rules 18, 19)."""
    cdef int32_t k, n = 0
    if f.step == 2:
        return put_each((1 << t.period[f.c]) - 1, A_TURN, out, 0)
    for k in range(t.n_modifiable):
        if not s.tile[t.modifiable[k]]:
            out[n] = A_CELL + t.modifiable[k]
            n += 1
    return n
