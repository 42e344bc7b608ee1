# cython: language_level=3
"""Rule 31 and the form of the struct, checked over one state."""
from libc.stdint cimport int32_t, uint32_t, uint64_t

from games.pentaquest.state cimport (
    ACT, CARD_LIMIT, DISCARDED, DRAW, FIRST_ROLL, FORFEIT, N_KEEPERS, OVER, ROLL, SEAT_LIMIT, State, Tables, army_count,
    army_size,
)


cdef inline int32_t broken_rule(const Tables *t, const State *s) noexcept nogil:
    """0, or the number of the rule that does not hold."""
    cdef int32_t seat, i, in_deck = 0, in_quest = 0, captured = 0
    cdef uint64_t card, lower
    for i in range(CARD_LIMIT):
        card = <uint64_t>1 << i
        if i >= t.n_cards:
            if (s.deck | s.quest) & card:
                return 1
            continue
        in_deck += (s.deck & card) != 0
        in_quest += (s.quest & card) != 0
        lower = card >> 1
        if t.twins & card and (s.deck & lower and not s.deck & card):
            return 1                         # of a kind, the lowest card is dealt first
        if t.twins & card and (s.quest & lower and not (s.quest | s.deck) & card):
            return 1                         # and beaten first
    if s.deck & s.quest or in_deck != s.in_deck or in_quest != s.in_quest:
        return 1
    if s.in_quest > t.area:
        return 3
    if s.step != OVER and s.step != DRAW and s.in_deck and s.in_quest < t.area:
        return 3
    for seat in range(SEAT_LIMIT):
        if seat >= t.players and s.purse[seat]:
            return 26
        captured += army_size(s.purse[seat]) + army_count(s.purse[seat], DISCARDED)
    if in_deck + in_quest + captured != t.n_cards:
        return 31
    if t.players == 1 and <int32_t>s.turn != captured + (s.step == OVER and in_deck + in_quest > 0):
        return 31
    if t.players > 1 and (s.turn >= <uint32_t>(2 * t.players) or <int32_t>s.turn < min(captured, t.players)):
        return 6
    if s.step != OVER and s.seat != <int32_t>(s.turn % <uint32_t>t.players):
        return 26
    if s.rerolls > (2 if <int32_t>s.turn < t.long_turns else 1):
        return 8
    if s.step == ROLL and s.dice >= FIRST_ROLL:
        return 4
    if s.step == ACT or s.step == FORFEIT:
        if not FIRST_ROLL <= s.dice < N_KEEPERS:
            return 4
    elif s.step != ROLL and s.dice:
        return 4
    if (s.step == OVER) != (t.players == 1 and <int32_t>s.turn > captured or in_deck + in_quest == 0):
        return 28
    return 0
