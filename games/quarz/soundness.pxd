# cython: language_level=3
"""The invariants of the rules table, numbers 131 to 142, over one state."""
from libc.stdint cimport int32_t, uint64_t

from engine_ext.bits cimport bit, count_bits, has_bit
from games.quarz.field cimport home
from games.quarz.state cimport (
    CARDS, K_SETUP, K_STRIP, K_THROW, TOKEN_CAP, Monster, State, Tables,
)


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


cdef inline int32_t broken_rule(const Tables *t, const State *s) noexcept nogil:
    """0, or the number of an invariant that does not hold."""
    cdef int32_t m, k, seat, c, cards, filled, total
    cdef uint64_t zones, seen = 0
    cdef bint setting_up = False, idol_in_the_air = False
    cdef int32_t patterns[9]
    for k in range(s.depth):
        setting_up |= s.stack[k].kind == K_SETUP
        idol_in_the_air |= s.stack[k].kind == K_STRIP or s.stack[k].kind == K_THROW
    for m in range(3 * t.players):
        seat = m // 3
        if s.who[m] < 0:
            continue
        if s.pool[m] < 0 or s.spent[m] < 0 or s.pool[m] + s.spent[m] != capacity(t, s, m):
            return 131
        # each card in one place only; the ultimate under the slot where it is in none
        cards, zones, filled = 0, 0, 0
        cards += count_bits(s.hand[m]) + count_bits(s.deck[m]) + count_bits(s.pile[m])
        cards += count_bits(s.gone[m]) + count_bits(s.table[m])
        zones = s.hand[m] | s.deck[m] | s.pile[m] | s.gone[m] | s.table[m]
        for k in range(3):
            if s.slots[m][k] >= 0:
                if filled < k:
                    return 103
                filled += 1
                cards += 1
                zones |= bit(s.slots[m][k])
        if filled < 2 and t.with_cards:
            if zones & 1:
                return 97
            cards += 1
            zones |= 1
        elif not zones & 1:
            cards += 1
            zones |= 1
        if cards != CARDS or zones != (1 << CARDS) - 1:
            return 132
        if s.known[m] & ~s.hand[m]:
            return 132
        if not 0 <= s.at[m] < t.grid.n_cells:
            return 133
        if has_bit(t.camp_mask, s.at[m]):
            if s.at[m] != home(t, s, seat):
                return 139
        else:
            if has_bit(seen, s.at[m]):
                return 133
            seen |= bit(s.at[m])
        if has_bit(t.impassable_mask & ~s.melted, s.at[m]):
            return 140
        if s.stun[m] > TOKEN_CAP or s.poison[m] > TOKEN_CAP or s.frost[m] > TOKEN_CAP or s.shield[m] > TOKEN_CAP:
            return 80
        if not idol_in_the_air and s.at[m] == s.idol_at and s.idol_by < 0:
            return 134
    for seat in range(t.players):
        zones = 0
        for k in range(3):
            if s.at[3 * seat + k] >= 0:
                zones |= bit(s.at[3 * seat + k])
        if zones != s.own[seat]:
            return 133
        total = 0
        for k in range(t.n_shrines):
            if not 0 <= s.uses[seat][k] <= t.shrine_uses:
                return 112
        if not 0 <= s.reactions[seat] <= t.reactions:
            return 144
        if s.favor_hand[seat] & ~t.favor_mask:
            return 138
    if not 0 <= s.idol_at < t.grid.n_cells:
        return 133
    if s.idol_by >= 0 and s.at[s.idol_by] != s.idol_at:
        return 134
    # rule 135: the tiles on the board and those still to come are those of the player count
    if t.placing:
        for k in range(9):
            patterns[k] = 0
        for c in range(t.grid.n_cells):
            if s.tile[c] and not has_bit(t.modifiable_mask, c):
                return 135
            patterns[s.tile[c]] += 1
        if not setting_up:
            total = 0
            for k in range(t.n_patterns):
                total += patterns[k + 1] + s.pool_left[k]
            if total != t.n_modifiable + count_left(t, s):
                return 135
    # rule 137: tiles taken off are crossings of 12 o'clock
    if not setting_up and not t.turn_limit and t.n_stack and s.time_left != t.n_stack - s.turns // t.spaces:
        return 137
    return 0


cdef inline int32_t count_left(const Tables *t, const State *s) noexcept nogil:
    cdef int32_t k, total = 0
    for k in range(t.n_patterns):
        total += s.pool_left[k]
    return total
