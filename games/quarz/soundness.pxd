# cython: language_level=3
"""The invariants of the rules table over one state, by their numbers (80 to 144)."""
from libc.stdint cimport int32_t, uint64_t

from engine_ext.bits cimport bit, count_bits, has_bit
from games.quarz.field cimport home
from games.quarz.idol cimport idol_in_the_air
from games.quarz.state cimport ALL_CARDS, CARDS, K_SETUP, TOKEN_CAP, ULTIMATE, Monster, State, Tables


cdef inline int32_t broken_rule(const Tables *t, const State *s) noexcept nogil:
    """0, or the number of an invariant that does not hold."""
    cdef int32_t m, seat, rule
    cdef uint64_t taken = 0
    for m in range(3 * t.players):
        if s.who[m] < 0:
            continue
        if s.pool[m] < 0 or s.spent[m] < 0 or s.pool[m] + s.spent[m] != capacity(t, s, m):
            return 131
        rule = broken_deck(t, s, m)
        if not rule:
            rule = broken_place(t, s, m, &taken)
        if rule:
            return rule
        if s.stun[m] > TOKEN_CAP or s.poison[m] > TOKEN_CAP or s.frost[m] > TOKEN_CAP or s.shield[m] > TOKEN_CAP:
            return 80
        if s.at[m] == s.idol_at and s.idol_by < 0 and not idol_in_the_air(s):
            return 134
    for seat in range(t.players):
        rule = broken_seat(t, s, seat)
        if rule:
            return rule
    if not 0 <= s.idol_at < t.grid.n_cells:
        return 133
    if s.idol_by >= 0 and s.at[s.idol_by] != s.idol_at:
        return 134
    if t.placing and not tiles_conserved(t, s):
        return 135
    # Tiles taken off are crossings of 12 o'clock.
    if not setting_up(s) and not t.turn_limit and t.n_stack and s.time_left != t.n_stack - s.turns // t.spaces:
        return 137
    return 0


cdef inline int32_t capacity(const Tables *t, const State *s, int32_t m) noexcept nogil:
    """Gems that belong to a monster: the printed number and its bonuses."""
    cdef const Monster *mon = &t.monsters[s.who[m]]
    cdef int32_t i, filled = 0, energy = mon.energy
    for i in range(3):
        if s.slots[m][i] >= 0:
            filled += 1
            energy += mon.cards[s.slots[m][i]].keep.energy
    if filled >= 2:
        energy += mon.slot2.energy
    if filled >= 3:
        energy += mon.slot3.energy
    return energy


cdef inline int32_t broken_deck(const Tables *t, const State *s, int32_t m) noexcept nogil:
    """Each card of a monster is in one place only; the ultimate, where it is in none, under the third slot."""
    cdef uint64_t zones = s.hand[m] | s.deck[m] | s.pile[m] | s.gone[m] | s.table[m]
    cdef int32_t cards = (count_bits(s.hand[m]) + count_bits(s.deck[m]) + count_bits(s.pile[m])
                          + count_bits(s.gone[m]) + count_bits(s.table[m]))
    cdef int32_t i, filled = 0
    for i in range(3):
        if s.slots[m][i] >= 0:
            if filled < i:
                return 103
            filled += 1
            cards += 1
            zones |= bit(s.slots[m][i])
    if filled < 2 and t.with_cards and zones & ULTIMATE:
        return 97
    if not zones & ULTIMATE:
        cards += 1
        zones |= ULTIMATE
    if cards != CARDS or zones != ALL_CARDS or s.known[m] & ~s.hand[m]:
        return 132
    return 0


cdef inline int32_t broken_place(const Tables *t, const State *s, int32_t m, uint64_t *taken) noexcept nogil:
    """Where a monster stands; `taken`: the cells outside camps that others hold."""
    if not 0 <= s.at[m] < t.grid.n_cells:
        return 133
    if has_bit(t.camp_mask, s.at[m]):
        if s.at[m] != home(t, s, m // 3):
            return 139
    else:
        if has_bit(taken[0], s.at[m]):
            return 133
        taken[0] |= bit(s.at[m])
    if has_bit(t.impassable_mask & ~s.melted, s.at[m]):
        return 140
    return 0


cdef inline int32_t broken_seat(const Tables *t, const State *s, int32_t seat) noexcept nogil:
    """The mask of where a seat stands, its shrine uses, reaction tokens and favor cards."""
    cdef uint64_t cells = 0
    cdef int32_t k
    for k in range(3):
        if s.at[3 * seat + k] >= 0:
            cells |= bit(s.at[3 * seat + k])
    if cells != s.own[seat]:
        return 133
    for k in range(t.n_shrines):
        if not 0 <= s.uses[seat][k] <= t.shrine_uses:
            return 112
    if not 0 <= s.reactions[seat] <= t.reactions:
        return 144
    if s.favor_hand[seat] & ~t.favor_mask:
        return 138
    return 0


cdef inline bint tiles_conserved(const Tables *t, const State *s) noexcept nogil:
    """Rule 135: tiles lie on modifiable fields; once the set-up is over, on every one of them."""
    cdef int32_t cell, laid = 0
    for cell in range(t.grid.n_cells):
        if s.tile[cell]:
            if not has_bit(t.modifiable_mask, cell):
                return False
            laid += 1
    return laid == t.n_modifiable or setting_up(s)


cdef inline bint setting_up(const State *s) noexcept nogil:
    cdef int32_t k
    for k in range(s.depth):
        if s.stack[k].kind == K_SETUP:
            return True
    return False
