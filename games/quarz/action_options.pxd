# cython: language_level=3
"""The actions of a turn that a seat may choose from (rules 34-39), and what is free between them.

Every function appends its actions to `out[n:]`, ascending, and returns the new n. `able` is a mask: bit k where the
seat's k-th monster may act (rule 37).
"""
from libc.stdint cimport int32_t, uint64_t

from engine_ext.bits cimport has_bit, pop_bit
from games.quarz.attack cimport own_kind, reaches
from games.quarz.effect_options cimport can_swap, prog_possible, put_each
from games.quarz.field cimport beside, modifiers, reach, steps_of
from games.quarz.frames cimport tableau
from games.quarz.instants cimport list_free_instants
from games.quarz.march cimport can_march, march_price
from games.quarz.moves cimport *
from games.quarz.state cimport *
from games.quarz.tableau cimport can_keep


cdef inline int32_t list_actions(const Tables *t, const State *s, int32_t seat, int32_t *out) noexcept nogil:
    """All of them, ascending by id; the first is to end the turn's actions. After the last action only what is
    free (Q91)."""
    cdef int32_t able = 0, k, m, n = 1
    out[0] = A_PASS
    if s.actions <= 0:
        n = list_meltings(t, s, seat, out, n)
        return n + list_free_instants(t, s, seat, out + n)
    for k in range(3):
        m = 3 * seat + k
        if s.at[m] >= 0 and s.pool[m] > 0 and not s.resting >> m & 1:
            able |= 1 << k
    n = list_moves_of_turn(t, s, seat, able, out, n)
    n = list_attacks(t, s, seat, able, out, n)
    n = list_march_payers(t, s, seat, able, out, n)
    n = list_draws(t, s, seat, able, out, n)
    n = list_plays(t, s, seat, able, out, n)
    n = list_push_swaps(t, s, seat, able, out, n)
    n = list_munches(t, s, seat, able, out, n)
    n = list_shrines(t, s, seat, able, out, n)
    n = list_regenerations(s, seat, out, n)
    n = list_meltings(t, s, seat, out, n)
    return n + list_free_instants(t, s, seat, out + n)

cdef inline bint anything_free(const Tables *t, const State *s, int32_t seat) noexcept nogil:
    """Whether there is a choice after the last action (Q91)."""
    cdef int32_t scratch[N_ACTIONS]
    return list_meltings(t, s, seat, scratch, 0) > 0 or list_free_instants(t, s, seat, scratch) > 0

cdef inline int32_t list_moves_of_turn(const Tables *t, const State *s, int32_t seat, int32_t able, int32_t *out,
                                       int32_t n) noexcept nogil:
    """Rule 40, Q43: a stun token makes a movement dearer by 1."""
    cdef int32_t k, m
    for k in range(3):
        m = 3 * seat + k
        if able >> k & 1 and s.pool[m] >= t.move_cost + s.stun[m]:
            n = put_each(reach(t, s, m, steps_of(t, s, m), s.powers[m]), A_MOVE + 48 * k, out, n)
    return n

cdef inline int32_t list_attacks(const Tables *t, const State *s, int32_t seat, int32_t able, int32_t *out,
                                 int32_t n) noexcept nogil:
    """Rule 58: an attack costs the printed damage value."""
    cdef int32_t k, m, target, kind
    for k in range(3):
        m = 3 * seat + k
        if not able >> k & 1 or s.pool[m] < tableau(t, s, m).damage:
            continue
        kind = own_kind(t, s, m)
        for target in range(3 * t.players):
            if reaches(t, s, m, target, kind):
                out[n] = A_ATTACK + 12 * k + target
                n += 1
    return n

cdef inline int32_t list_march_payers(const Tables *t, const State *s, int32_t seat, int32_t able, int32_t *out,
                                      int32_t n) noexcept nogil:
    """Rules 77-80: all three have energy and none rests; one of them pays for the march."""
    cdef int32_t k, cost = march_price(t, s, seat), first = 3 * seat
    if t.squad < 3 or modifiers(t, s).no_march or able != 7 or (
            s.pool[first] < cost and s.pool[first + 1] < cost and s.pool[first + 2] < cost):
        return n
    if can_march(t, s, seat, 0, t.march_steps - 3, &s.at[first]):
        for k in range(3):
            if s.pool[first + k] >= cost:
                out[n] = A_MARCH + k
                n += 1
    return n

cdef inline int32_t list_draws(const Tables *t, const State *s, int32_t seat, int32_t able, int32_t *out,
                               int32_t n) noexcept nogil:
    """Rule 81, Q73: one to three cards, each number at its price."""
    cdef int32_t k, m, more
    for k in range(3):
        m = 3 * seat + k
        if able >> k & 1 and s.deck[m]:
            for more in range(3):
                if s.pool[m] >= t.draw_cost[more]:
                    out[n] = A_DRAW + 3 * k + more
                    n += 1
    return n

cdef inline int32_t list_plays(const Tables *t, const State *s, int32_t seat, int32_t able, int32_t *out,
                               int32_t n) noexcept nogil:
    """Hand cards that are no instants, where their first effect can be done (Q77)."""
    cdef int32_t k, m, card
    cdef uint64_t cards
    cdef const Card *c
    for k in range(3):
        m = 3 * seat + k
        cards = s.hand[m] if able >> k & 1 else 0
        while cards:
            card = pop_bit(&cards)
            c = &tableau(t, s, m).cards[card]
            if not c.trigger and c.cost <= s.pool[m] and prog_possible(t, s, c.prog, m, seat, card):
                out[n] = A_PLAY + 13 * k + card
                n += 1
    return n

cdef inline int32_t list_push_swaps(const Tables *t, const State *s, int32_t seat, int32_t able, int32_t *out,
                                    int32_t n) noexcept nogil:
    """Push/Swap cards played as Swap, with a monster beside (rule 91)."""
    cdef int32_t k, m, target
    for k in range(3):
        m = 3 * seat + k
        if not able >> k & 1 or s.pool[m] < t.swap_cost or not s.hand[m] >> PUSH_SWAP:
            continue
        for target in range(3 * t.players):
            if target != m and s.at[target] >= 0 and beside(t, s, m, target) and can_swap(t, s, m, target):
                n = put_each(s.hand[m] >> PUSH_SWAP, A_SWAP + 3 * k, out, n)
                break
    return n

cdef inline int32_t list_munches(const Tables *t, const State *s, int32_t seat, int32_t able, int32_t *out,
                                 int32_t n) noexcept nogil:
    """Hand cards to eat: for good where a slot can take them, at once where the effect can be done (Q77)."""
    cdef int32_t k, m, card
    cdef uint64_t cards
    cdef const Card *c
    for k in range(3):
        m = 3 * seat + k
        cards = s.hand[m] if able >> k & 1 else 0
        while cards:
            card = pop_bit(&cards)
            c = &tableau(t, s, m).cards[card]
            if c.munch_cost <= s.pool[m] and (can_keep(t, s, m) if c.once < 0
                                              else prog_possible(t, s, c.once, m, seat, -1)):
                out[n] = A_MUNCH + 13 * k + card
                n += 1
    return n

cdef inline int32_t list_shrines(const Tables *t, const State *s, int32_t seat, int32_t able, int32_t *out,
                                 int32_t n) noexcept nogil:
    """Rules 108-112: a shrine stood on, once a mob; with the power of the third slot once more."""
    cdef int32_t k, m, shrine, used, cost = t.shrine_cost - modifiers(t, s).shrine_discount
    for k in range(3):
        m = 3 * seat + k
        if not able >> k & 1:
            continue
        shrine = t.shrine_at[s.at[m]]
        if shrine >= 0 and s.pool[m] >= cost:
            used = s.uses[seat][shrine]
            if used == 0 or (used < t.shrine_uses and s.powers[m] & SECOND_SHRINE):
                out[n] = A_SHRINE + k
                n += 1
    return n

cdef inline int32_t list_regenerations(const State *s, int32_t seat, int32_t *out, int32_t n) noexcept nogil:
    """Rules 37, 124; Q38, Q39: also without energy; with or without shuffling the discard in."""
    cdef int32_t k, m
    for k in range(3):
        m = 3 * seat + k
        if s.at[m] >= 0 and not s.resting >> m & 1:
            out[n] = A_REGENERATE + 2 * k
            n += 1
            if s.pile[m]:
                out[n] = A_REGENERATE + 2 * k + 1
                n += 1
    return n

cdef inline int32_t list_meltings(const Tables *t, const State *s, int32_t seat, int32_t *out,
                                  int32_t n) noexcept nogil:
    """Rule 118, Q27: who gives up the second-shrine power melts an impassable field. It takes energy in the pool,
    but is no action, so that a monster at rest can do it, too."""
    cdef int32_t k, m, field
    for k in range(3):
        m = 3 * seat + k
        if s.powers[m] & SECOND_SHRINE and s.pool[m] > 0 and s.at[m] >= 0:
            for field in range(t.n_impassable):
                if has_bit(s.solid, t.impassable[field]):
                    out[n] = A_MELT + 4 * k + field
                    n += 1
    return n
