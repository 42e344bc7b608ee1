# cython: language_level=3
"""The course of a turn: what decisions and chance do to the state, up to the next node."""
from libc.stdint cimport int32_t, uint32_t, uint64_t

from engine_ext.debug cimport QUANDARY_CHECK
from engine_ext.dice cimport RollTable
from games.pentaquest.state cimport (
    ACT, AGAIN, BEAT, CHANGE, DEAL, DISCARDED, DRAW, FIRST_ROLL, FORFEIT, GIVE, KEEP, N_DICE, N_SYMBOLS, OVER, REROLL,
    ROLL, SHOW, State, Tables, army_count, lowest, usable_changes,
)


# ---- cards -------------------------------------------------------------------------------------

cdef inline void deal_card(const Tables *t, State *s, uint64_t card) noexcept nogil:
    """Turn one card of the deck up into the quest area."""
    s.deck ^= card
    s.quest |= card
    s.in_deck -= 1
    s.in_quest += 1


cdef inline uint64_t lowest_of_kind(const Tables *t, uint64_t cards, int32_t kind) noexcept nogil:
    """The lowest card of a kind in a set that has one."""
    cdef uint64_t found = cards & t.kind_cards[kind]
    QUANDARY_CHECK(found != 0, "pentaquest: no card of that kind is there")
    return found & (~found + 1)


# ---- the course of a turn ----------------------------------------------------------------------

cdef inline void fill_quest(const Tables *t, State *s) noexcept nogil:
    """Phase 1 up to the next card that chance decides, else to the roll. # 3, P13"""
    cdef int32_t room = t.area - s.in_quest
    s.dice = 0
    while room > 0 and s.in_deck > 0:
        if s.in_deck > room and s.deck & ~t.kind_cards[t.kind_of[lowest(s.deck)]]:
            s.step = DRAW
            return
        deal_card(t, s, s.deck & (~s.deck + 1))  # every card of the deck comes, or all are alike
        room -= 1
    s.step = ROLL                            # 4: all five dice


cdef inline void begin_turn(const Tables *t, State *s) noexcept nogil:
    s.rerolls = 2 if <int32_t>s.turn < t.long_turns else 1    # 7, 8, P11
    fill_quest(t, s)


cdef inline void count_turn(const Tables *t, State *s) noexcept nogil:
    """Among several, turns go round once all first turns are over: else a game of failed turns
    would never come back to a state it has been in."""
    s.turn += 1
    if t.players > 1 and s.turn == <uint32_t>(2 * t.players):
        s.turn -= t.players


cdef inline void end_turn(const Tables *t, State *s) noexcept nogil:
    """Phase 5: the game's end, or the next seat's turn. # 22, 26, 28, P15"""
    count_turn(t, s)
    if s.in_deck + s.in_quest == 0:
        s.step = OVER
        s.dice = 0
        s.rerolls = 0
        return
    if t.players > 1:
        s.seat = s.seat + 1 if s.seat + 1 < t.players else 0
    begin_turn(t, s)


cdef inline void spend(State *s, int32_t symbol) noexcept nogil:
    """An army card is used, or forfeited: it goes to the discards. # 9, 15"""
    s.purse[s.seat] += (<uint64_t>1 << (8 * DISCARDED)) - (<uint64_t>1 << (8 * symbol))


cdef inline void fail_turn(const Tables *t, State *s) noexcept nogil:
    """The turn ends without a beaten card. # 22, 27, P12"""
    cdef int32_t symbol, held = 0, last = 0
    if t.players == 1:
        s.turn += 1
        s.step = OVER
        s.dice = 0
        s.rerolls = 0
        return
    if t.original:
        for symbol in range(N_SYMBOLS):
            if army_count(s.purse[s.seat], symbol):
                held += 1
                last = symbol
        if held > 1:
            s.step = FORFEIT
            s.rerolls = 0
            return
        if held == 1:
            spend(s, last)
    end_turn(t, s)


cdef inline void show_dice(const Tables *t, State *s, int32_t roll) noexcept nogil:
    """Five dice lie there: a decision, unless the turn can only end without a card."""
    s.dice = FIRST_ROLL + roll
    s.step = ACT
    if s.rerolls or t.beats[roll] & s.quest:
        return
    if army_count(s.purse[s.seat], REROLL) or usable_changes(t, s.purse[s.seat], roll):
        return
    fail_turn(t, s)


cdef inline void reroll(const Tables *t, State *s, int32_t keeper) noexcept nogil:
    """Roll all dice but the kept ones; with all kept, the dice lie as they were (P18)."""
    if keeper >= FIRST_ROLL:
        show_dice(t, s, keeper - FIRST_ROLL)
        return
    s.dice = keeper
    s.step = ROLL


cdef inline void beat(const Tables *t, State *s, int32_t kind) noexcept nogil:
    """A card is beaten and joins the army; the turn is over, so it could not be used in it. # 5, 6, P10"""
    s.quest ^= lowest_of_kind(t, s.quest, kind)
    s.in_quest -= 1
    s.purse[s.seat] += <uint64_t>1 << (8 * t.symbol_of[kind])
    end_turn(t, s)


cdef inline void decide(const Tables *t, State *s, int32_t id) noexcept nogil:
    """Apply a decision."""
    cdef int32_t change
    if id >= GIVE:                           # P12
        spend(s, id - GIVE)
        end_turn(t, s)
    elif id >= CHANGE:                       # 10, 11, 12, 14
        change = id - CHANGE
        spend(s, t.change_symbol[change])
        s.rerolls = 0
        show_dice(t, s, t.changed[change][s.dice - FIRST_ROLL])
    elif id >= AGAIN:                        # 13
        spend(s, REROLL)
        s.rerolls = 0
        reroll(t, s, id - AGAIN)
    elif id >= KEEP:                         # 7
        s.rerolls -= 1
        reroll(t, s, id - KEEP)
    elif id >= BEAT:
        beat(t, s, id - BEAT)
    else:                                    # P7
        fail_turn(t, s)


cdef inline void chance(const Tables *t, State *s, int32_t id) noexcept nogil:
    """Apply a chance outcome."""
    cdef const RollTable *rolls = t.rolls
    if s.step == ROLL:
        show_dice(t, s, rolls.next_roll[
            rolls.next_start[s.dice] + id - SHOW - rolls.first[N_DICE - rolls.size[s.dice]]])
    else:
        deal_card(t, s, lowest_of_kind(t, s.deck, id - DEAL))
        fill_quest(t, s)
