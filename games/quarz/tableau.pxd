# cython: language_level=3
"""A monster's tableau: its energy, its cards, its slots and its tokens."""
from libc.stdint cimport int8_t, int32_t, uint64_t

from engine_ext.bits cimport bit, count_bits
from games.quarz.frames cimport card_of, note, push, tableau
from games.quarz.state cimport *


# ---- energy and tokens ---------------------------------------------------------------------------

cdef inline void pay(State *s, int32_t m, int32_t energy) noexcept nogil:
    """Rule 36: spent energy goes to the monster's own spent area."""
    s.pool[m] -= energy
    s.spent[m] += energy

cdef inline void heal(State *s, int32_t m, int32_t energy) noexcept nogil:
    energy = min(energy, s.spent[m])
    s.pool[m] += energy
    s.spent[m] -= energy

cdef inline void lose(State *s, int32_t m, int32_t energy) noexcept nogil:
    """Rule 68: not below 0."""
    pay(s, m, min(energy, s.pool[m]))

cdef inline void add_tokens(int8_t *tokens, int32_t n) noexcept nogil:
    tokens[0] = min(TOKEN_CAP, tokens[0] + n)

cdef inline void cleanse(State *s, int32_t m) noexcept nogil:
    s.stun[m] = s.poison[m] = s.frost[m] = 0

cdef inline void regenerate(State *s, int32_t m) noexcept nogil:
    """Rules 124, 125."""
    s.pool[m] += s.spent[m]
    s.spent[m] = 0
    s.frost[m] = 0
    s.resting |= 1 << m


# ---- figures and slots ---------------------------------------------------------------------------

cdef inline void add_bonus(const Bonus *bonus, State *s, int32_t m, int32_t *energy) noexcept nogil:
    s.damage[m] += bonus.damage
    s.move[m] += bonus.move
    s.draws[m] += bonus.draw
    s.carry[m] += bonus.carry
    s.powers[m] |= bonus.flags
    energy[0] += bonus.energy

cdef inline void refresh(const Tables *t, State *s, int32_t m) noexcept nogil:
    """Recompute figures and powers from the tableau and the slots (rules 100, 131; Q25, Q26, Q68)."""
    cdef const Monster *mon = tableau(t, s, m)
    cdef int32_t i, filled = 0, energy = mon.energy
    s.damage[m], s.move[m], s.draws[m], s.carry[m], s.powers[m] = mon.damage, mon.move, 0, 0, 0
    for i in range(3):
        if s.slots[m][i] >= 0:
            filled += 1
            add_bonus(&mon.cards[s.slots[m][i]].keep, s, m, &energy)
    if filled >= 2:
        add_bonus(&mon.slot2, s, m, &energy)
    if filled >= 3:
        add_bonus(&mon.slot3, s, m, &energy)
    if s.gave_up >> m & 1:                                                  # rule 119
        s.powers[m] &= ~SECOND_SHRINE
    energy -= s.pool[m] + s.spent[m]
    if energy >= 0:
        s.pool[m] += energy
    else:
        i = min(-energy, s.spent[m])
        s.spent[m] -= i
        s.pool[m] += energy + i

cdef inline int32_t slots_filled(const State *s, int32_t m) noexcept nogil:
    return (s.slots[m][0] >= 0) + (s.slots[m][1] >= 0) + (s.slots[m][2] >= 0)

cdef inline bint can_keep(const Tables *t, const State *s, int32_t m) noexcept nogil:
    """A free slot, or a slot whose card is not locked (rules 101, 102; Q61)."""
    cdef int32_t i
    for i in range(3):
        if s.slots[m][i] < 0 or not card_of(t, s, m, s.slots[m][i]).lock:
            return True
    return False

cdef inline void fill_slot(const Tables *t, State *s, int32_t m, int32_t card) noexcept nogil:
    """Rules 96, 98, 100: leftmost free slot; the second one releases the ultimate."""
    cdef int32_t i = slots_filled(s, m)
    s.slots[m][i] = card
    if i == 1 and not (s.hand[m] | s.deck[m] | s.pile[m] | s.gone[m] | s.table[m]) & ULTIMATE \
            and s.slots[m][0] != 0 and s.slots[m][1] != 0 and s.slots[m][2] != 0:
        s.hand[m] |= ULTIMATE
        s.known[m] |= ULTIMATE
    refresh(t, s, m)


# ---- cards ---------------------------------------------------------------------------------------

cdef inline void leave_hand(const Tables *t, State *s, int32_t m, int32_t card) noexcept nogil:
    """A hand card is shown and leaves the hand; all see which of the backs it was (Q71)."""
    s.hand[m] &= ~(1 << card)
    s.known[m] &= ~(1 << card)
    note(t, s, <uint64_t>1 << 32 | m << 16 | card << 8 | s.drawn[m][card])
    s.drawn[m][card] = 0

cdef inline void number_epochs(State *s, int32_t m) noexcept nogil:
    """Number the epochs from 0, leaving out those that no card in hand or draw pile came in: at most 26
    are left. Their order, which is all that `redeal` asks for, stays. When and what is left is the same in
    all states that a rival takes for possible: how many cards of each epoch a hand holds, all have seen."""
    cdef uint64_t used = 0
    cdef int32_t card, cards = s.hand[m] | s.deck[m]
    for card in range(CARDS):
        if cards >> card & 1:
            used |= bit(s.birth[m][card])
        else:
            s.birth[m][card] = 0
        if s.hand[m] >> card & 1:
            used |= bit(s.drawn[m][card])
    for card in range(CARDS):
        if cards >> card & 1:
            s.birth[m][card] = count_bits(used & (bit(s.birth[m][card]) - 1))
        if s.hand[m] >> card & 1:
            s.drawn[m][card] = count_bits(used & (bit(s.drawn[m][card]) - 1))
    s.epoch[m] = max(0, count_bits(used) - 1)

cdef inline void shuffle_in(State *s, int32_t m) noexcept nogil:
    """Rule 124: the discard becomes part of the draw pile; a new epoch of what is known (Q71)."""
    cdef int32_t card
    if s.pile[m]:
        if s.epoch[m] == EPOCH_LIMIT:
            number_epochs(s, m)
        s.epoch[m] += 1
        for card in range(CARDS):
            if s.pile[m] >> card & 1:
                s.birth[m][card] = s.epoch[m]
        s.deck[m] |= s.pile[m]
        s.pile[m] = 0

cdef inline void draw_cards(State *s, int32_t m, int32_t n) noexcept nogil:
    """Rules 81, 83; Q66: as many as are there."""
    n = min(n, count_bits(s.deck[m]))
    if n:
        push(s, K_DRAW, m, n, 0)
