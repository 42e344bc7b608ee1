# cython: language_level=3
"""What can be decided, and what can happen by chance: all of it, or one at random."""
from libc.stdint cimport int32_t, uint32_t, uint64_t

from engine_ext.dice cimport RollTable
from engine_ext.rng cimport Rng, rng_below
from games.pentaquest.state cimport (
    AGAIN, BEAT, CHANGE, DEAL, FIRST_ROLL, FORFEIT, GIVE, KEEP, N_DICE, N_SYMBOLS, PASS, REROLL, ROLL, SHOW, State,
    Tables, army_count, heads, lowest, usable_changes,
)


# ---- decisions ---------------------------------------------------------------------------------

cdef inline int32_t list_decisions(const Tables *t, const State *s, int32_t *out) noexcept nogil:
    """All decisions, ascending; how many."""
    cdef uint64_t purse = s.purse[s.seat]
    cdef int32_t roll = s.dice - FIRST_ROLL
    cdef int32_t symbol, start, end, i, count = 0
    cdef uint64_t cards
    cdef uint32_t changes
    if s.step == FORFEIT:
        for symbol in range(N_SYMBOLS):
            if army_count(purse, symbol):
                out[count] = GIVE + symbol
                count += 1
        return count
    out[0] = PASS
    count = 1
    cards = heads(t, t.beats[roll] & s.quest)
    while cards:
        out[count] = BEAT + t.kind_of[lowest(cards)]
        count += 1
        cards &= cards - 1
    start, end = t.rolls.keeper_start[roll], t.rolls.keeper_start[roll + 1]
    if s.rerolls:
        for i in range(start, end):
            out[count] = KEEP + t.rolls.keeper_of[i]
            count += 1
    if army_count(purse, REROLL):
        for i in range(start, end):
            out[count] = AGAIN + t.rolls.keeper_of[i]
            count += 1
    changes = usable_changes(t, purse, roll)
    while changes:
        out[count] = CHANGE + lowest(changes)
        count += 1
        changes &= changes - 1
    return count


cdef inline int32_t random_decision(const Tables *t, const State *s, Rng *rng) noexcept nogil:
    """A decision, each alike likely."""
    cdef int32_t few[N_SYMBOLS]
    cdef uint64_t purse = s.purse[s.seat]
    cdef int32_t roll = s.dice - FIRST_ROLL
    cdef int32_t start, n_keepers, n_beaten = 0, n_changes = 0, n_again = 0, n_free = 0, pick
    cdef uint64_t beaten, rest
    cdef uint32_t changes
    if s.step == FORFEIT:
        pick = list_decisions(t, s, few)
        return few[rng_below(rng, pick)]
    beaten = heads(t, t.beats[roll] & s.quest)
    rest = beaten
    while rest:
        n_beaten += 1
        rest &= rest - 1
    start = t.rolls.keeper_start[roll]
    n_keepers = t.rolls.keeper_start[roll + 1] - start
    if s.rerolls:
        n_free = n_keepers
    changes = usable_changes(t, purse, roll)
    if army_count(purse, REROLL):
        n_again = n_keepers
    rest = changes
    while rest:
        n_changes += 1
        rest &= rest - 1
    pick = rng_below(rng, 1 + n_beaten + n_free + n_again + n_changes)
    if pick < n_free:
        return KEEP + t.rolls.keeper_of[start + pick]
    pick -= n_free
    if pick == 0:
        return PASS
    pick -= 1
    if pick < n_beaten:
        while pick:
            beaten &= beaten - 1
            pick -= 1
        return BEAT + t.kind_of[lowest(beaten)]
    pick -= n_beaten
    if pick < n_again:
        return AGAIN + t.rolls.keeper_of[start + pick]
    pick -= n_again
    while pick:
        changes &= changes - 1
        pick -= 1
    return CHANGE + lowest(changes)


# ---- chance ------------------------------------------------------------------------------------

cdef inline int32_t list_outcomes(const Tables *t, const State *s, int32_t *ids, double *probs) noexcept nogil:
    """All outcomes, ascending, and their probabilities; how many."""
    cdef const RollTable *rolls = t.rolls
    cdef int32_t others, i, kind, count = 0
    cdef uint64_t rest, cards
    if s.step == ROLL:
        others = N_DICE - rolls.size[s.dice]
        count = rolls.first[others + 1] - rolls.first[others]
        for i in range(count):
            ids[i] = SHOW + rolls.first[others] + i
            probs[i] = rolls.prob[rolls.first[others] + i]
        return count
    rest = heads(t, s.deck)
    while rest:
        kind = t.kind_of[lowest(rest)]
        ids[count] = DEAL + kind
        cards = s.deck & t.kind_cards[kind]
        i = 0
        while cards:
            i += 1
            cards &= cards - 1
        probs[count] = <double>i / <double>s.in_deck
        count += 1
        rest &= rest - 1
    return count


cdef inline int32_t random_outcome(const Tables *t, const State *s, Rng *rng) noexcept nogil:
    """An outcome by its probability."""
    cdef const RollTable *rolls = t.rolls
    cdef int32_t others
    if s.step == ROLL:
        others = N_DICE - rolls.size[s.dice]
        return SHOW + rolls.ordered[rolls.ordered_start[others] + <int32_t>rng_below(rng, rolls.n_ordered[others])]
    return DEAL + t.kind_of[lowest(random_card(s, t.n_cards, rng))]


cdef inline uint64_t random_card(const State *s, int32_t n_cards, Rng *rng) noexcept nogil:
    """A card of the deck, each alike likely."""
    cdef uint64_t rest, card
    cdef uint32_t _
    if 2 * s.in_deck >= n_cards:             # trial and error: at most two trials on average
        while True:
            card = <uint64_t>1 << rng_below(rng, n_cards)
            if s.deck & card:
                return card
    rest = s.deck
    for _ in range(rng_below(rng, s.in_deck)):
        rest &= rest - 1
    return rest & (~rest + 1)
