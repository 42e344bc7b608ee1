"""The greedy policy of Pentaquest, exact within the turn, and the estimate of a position alone.

The turn. Its result is a beaten card or none. A result is worth

    beat card k:  stake + relief(k) + worth(symbol of k)     no card:  loss
    each army card used on the way:  - worth(its symbol)

where the *relief* of a card grows with how hard it is to beat (a hard card that is gone will not
have to be beaten later), and the *worth* of army cards falls towards the end of the game. Alone and
with a small army, the stake is lower where the next turn would be in danger. With these numbers
fixed for a turn, the best play of the whole turn is found by retrograde dynamic programming over
the 252 rolls and 462 keepers, as for Yahtzee (Verhoeff and Scheffers, 1999; Glenn, 2006): the dice
as they lie with changes by cards, then with reroll cards, then with free rerolls. Reroll cards come
before changes in that order without loss: a change of a kept die can wait until after the reroll.

Changes by cards are priced beforehand: for each kind of card, each stock of army cards (up to
three of each of add, sub, addsub and mirror, N_STOCKS in all) and each roll, the least total
price of changes that beat it. So the policy looks up to three cards of each symbol ahead (two of
reroll); of more it learns as it uses them.
"""
from libc.math cimport exp
from libc.stdint cimport int32_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from engine_ext.dice cimport packed_count, roll_keeper_id
from engine_ext.rng cimport Rng
from games.pentaquest.dice cimport best_kept, expect
from games.pentaquest.state cimport (
    ADD, ADDSUB, AGAIN, BEAT, CARD_LIMIT, CHANGE, DRAW, FIRST_ROLL, FORFEIT, GIVE, KEEP, MIRROR,
    N_DICE, N_KEEPERS, N_ROLLS, N_SYMBOLS, NO_KEEPER, PASS, REROLL, SUB, State, Tables, army_count,
    army_size, heads, lowest, usable_changes,
)

import numpy as np

cdef enum:
    N_STOCKS = 256             # stocks of 0 to 3 cards of four symbols
    STOCK_CAP = 3
    REROLL_CARDS_AHEAD = 2
    EARLY = 3                  # army cards up to which the next turn is looked at
    OUT_OF_REACH = 65535       # price of a card that no changes beat
    PRICE_UNIT = 1000

# Prices of an army card by symbol, in thousandths: 1000 is the card's own point.
cdef int32_t[5] PRICE = [900, 900, 1050, 1150, 1000]

# Tuned by play with the default deck, alone: 2,000 games a setting, on the mean score.
cdef double GROWTH = 0.6       # points that each card still to come adds in the end
cdef double RELIEF = 2.5       # points for getting rid of a card that can hardly be beaten
cdef double RESERVE = 0.5      # worth of an army card beyond its own point, while many turns are to come
cdef double DREAD = 0.3        # share of the stake that follows the chance to survive the next turn

# Fitted to 1,500 greedy games with the default deck, alone.
cdef double RISK = 0.25        # of losing later, with no army
cdef double SAFETY = 0.7       # by which each army card lowers it, exponent
cdef double RESCUE = 0.6       # likewise for the running turn
cdef double UNROLLED = 0.5     # the chance that a turn beats a card, before its dice are rolled


ctypedef struct Stakes:
    double success[CARD_LIMIT]  # by kind: what beating it is worth
    double fail                 # what a turn without a card is worth
    double scale                # points that a price of 1000 stands for


# ---- values over dice ----------------------------------------------------------------------------

cdef inline int32_t stock_of(uint64_t purse) noexcept nogil:
    """The stock of an army: up to three of each changing symbol."""
    cdef int32_t stock = min(army_count(purse, ADD), STOCK_CAP)
    stock |= min(army_count(purse, SUB), STOCK_CAP) << 2
    stock |= min(army_count(purse, ADDSUB), STOCK_CAP) << 4
    return stock | min(army_count(purse, MIRROR), STOCK_CAP) << 6


cdef inline void value_now(const Tables *t, const Stakes *stakes, uint64_t quest, int32_t stock,
                           float *value) noexcept nogil:
    """Values of the 252 rolls when no die is rolled any more: beat a card, with changes where
    they pay, or fail."""
    cdef const uint16_t *price
    cdef float success, scale = <float>(stakes.scale / PRICE_UNIT), net
    cdef int32_t kind, roll
    for roll in range(N_ROLLS):
        value[roll] = <float>stakes.fail
    while quest:
        kind = t.kind_of[lowest(quest)]
        quest &= quest - 1
        success = <float>stakes.success[kind]
        price = t.price[kind] + stock * N_ROLLS
        for roll in range(N_ROLLS):
            net = success - scale * price[roll]
            if net > value[roll] and price[roll] != OUT_OF_REACH:
                value[roll] = net


# ---- what results are worth ----------------------------------------------------------------------

cdef inline void set_stakes(const Tables *t, const State *s, Stakes *stakes) noexcept nogil:
    """The worth of results at this point of the game."""
    cdef int32_t left = s.in_deck + s.in_quest
    cdef uint64_t quest = heads(t, s.quest)
    cdef double stake, relief, late = left / 12.0 if left < 12 else 1.0
    cdef uint64_t card
    cdef int32_t kind
    if t.players == 1:
        # Failing loses everything: the army, and what the cards to come would add to it.
        stakes.fail = 0.0
        stake = army_size(s.purse[0]) + GROWTH * (left - 1)
        relief = RELIEF * late
        stakes.scale = 1.0 + RESERVE * late
    elif t.original:
        # A failed turn costs an army card, and a used card its point. # P12
        stakes.fail = -1.0 if army_size(s.purse[s.seat]) else 0.0
        stake = 0.0
        relief = 0.1
        stakes.scale = 1.0
    else:
        # A used card still scores (29): it costs its help in later turns, and the tie-break.
        stakes.fail = 0.0
        stake = 1.0
        relief = 0.0
        stakes.scale = 0.02 + 0.2 * late
    while quest:
        kind = t.kind_of[lowest(quest)]
        quest &= quest - 1
        stakes.success[kind] = stake
        if t.players == 1 and left > 1 and army_size(s.purse[0]) <= EARLY:
            card = s.quest & t.kind_cards[kind]
            card = s.quest & ~(card & (~card + 1))
            stakes.success[kind] *= 1.0 - DREAD * (1.0 - survival(
                t, heads(t, card), s.purse[0] + (<uint64_t>1 << (8 * t.symbol_of[kind]))))
        stakes.success[kind] += relief * (1.0 - t.ease[kind])
        stakes.success[kind] += stakes.scale * PRICE[t.symbol_of[kind]] / PRICE_UNIT


cdef double survival(const Tables *t, uint64_t quest, uint64_t purse) noexcept nogil:
    """Chance that a turn with one free reroll beats a card of a quest area, at any price."""
    cdef float value[N_KEEPERS]
    cdef float best[N_KEEPERS]
    cdef const uint16_t *price
    cdef int32_t _, roll, rerolls = 1 + min(army_count(purse, REROLL), 1)
    cdef int32_t stock = stock_of(purse)
    memset(value, 0, sizeof(value))
    while quest:
        price = t.price[t.kind_of[lowest(quest)]] + stock * N_ROLLS
        quest &= quest - 1
        for roll in range(N_ROLLS):
            if price[roll] != OUT_OF_REACH:
                value[FIRST_ROLL + roll] = 1.0
    expect(t, value)
    for _ in range(rerolls):
        best_kept(t, value, best)
        memcpy(value + FIRST_ROLL, best + FIRST_ROLL, N_ROLLS * sizeof(float))
        expect(t, value)
    return value[0]


# ---- the policy ----------------------------------------------------------------------------------

cdef int32_t suggest(const void *tables, const void *state, Rng *rng) noexcept nogil:
    """The best decision of the turn under `set_stakes`. Deterministic."""
    cdef const Tables *t = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef Stakes stakes
    cdef float now[N_KEEPERS]
    cdef float before[N_KEEPERS]     # with one reroll card less than `now`
    cdef float best[N_KEEPERS]
    cdef uint64_t purse = s.purse[s.seat]
    cdef uint64_t quest = heads(t, s.quest), rest
    cdef int32_t roll = s.dice - FIRST_ROLL
    cdef int32_t stock = stock_of(purse)
    cdef int32_t kind, change, i, keeper, action = PASS
    cdef int32_t again = min(army_count(purse, REROLL), REROLL_CARDS_AHEAD)
    cdef double value, reward
    cdef uint32_t changes
    if s.step == FORFEIT:
        return GIVE + cheapest(purse)
    set_stakes(t, s, &stakes)
    reward = stakes.fail

    # Beat a card as the dice lie; between equal ones the earlier.
    rest = heads(t, s.quest & t.beats[roll])
    while rest:
        kind = t.kind_of[lowest(rest)]
        rest &= rest - 1
        if stakes.success[kind] > reward or action == PASS and stakes.success[kind] >= reward:
            reward, action = stakes.success[kind], BEAT + kind

    # Change a die.
    changes = usable_changes(t, purse, roll)
    while changes:
        change = lowest(changes)
        changes &= changes - 1
        value = value_after_change(t, &stakes, quest, purse, change, roll)
        if value > reward + 1e-6:
            reward, action = value, CHANGE + change

    # Reroll.
    if not s.rerolls and not again:
        return action
    value_now(t, &stakes, quest, stock, now + FIRST_ROLL)
    expect(t, now)
    for i in range(again):
        if i == again - 1:
            memcpy(before, now, sizeof(before))
        best_kept(t, now, best)
        for keeper in range(FIRST_ROLL, N_KEEPERS):
            value = best[keeper] - stakes.scale * PRICE[REROLL] / PRICE_UNIT
            if value > now[keeper]:
                now[keeper] = <float>value
        expect(t, now)
    if again:
        keeper = best_keeper(t, before, roll)
        value = before[keeper] - stakes.scale * PRICE[REROLL] / PRICE_UNIT
        if value > reward + 1e-6:
            reward, action = value, AGAIN + keeper
    if s.rerolls:
        if s.rerolls > 1:
            best_kept(t, now, best)
            memcpy(now + FIRST_ROLL, best + FIRST_ROLL, N_ROLLS * sizeof(float))
            expect(t, now)
        keeper = best_keeper(t, now, roll)
        if now[keeper] > reward + 1e-6:
            action = KEEP + keeper
    return action


cdef inline int32_t best_keeper(const Tables *t, const float *value, int32_t roll) noexcept nogil:
    """The keeper inside a roll with the highest value, of equal ones the largest."""
    cdef int32_t i, keeper, found = 0
    cdef float best = -1e30
    for i in range(t.rolls.keeper_start[roll], t.rolls.keeper_start[roll + 1]):
        keeper = t.rolls.keeper_of[i]
        if value[keeper] >= best:
            best, found = value[keeper], keeper
    return found


cdef inline double value_after_change(const Tables *t, const Stakes *stakes, uint64_t quest, uint64_t purse,
                                      int32_t change, int32_t roll) noexcept nogil:
    """The best net worth of the turn when this change comes next and no die is rolled any more."""
    cdef int32_t symbol = t.change_symbol[change]
    cdef int32_t stock = stock_of(purse - (<uint64_t>1 << (8 * symbol)))
    cdef int32_t place = stock * N_ROLLS + t.changed[change][roll]
    cdef int32_t kind
    cdef double value, best = stakes.fail
    while quest:
        kind = t.kind_of[lowest(quest)]
        quest &= quest - 1
        if t.price[kind][place] != OUT_OF_REACH:
            value = stakes.success[kind] - stakes.scale * t.price[kind][place] / PRICE_UNIT
            if value > best:
                best = value
    return best - stakes.scale * PRICE[symbol] / PRICE_UNIT


cdef inline int32_t cheapest(uint64_t purse) noexcept nogil:
    """The symbol of the army card that is worth least."""
    cdef int32_t symbol, found = -1
    for symbol in range(N_SYMBOLS):
        if army_count(purse, symbol) and (found < 0 or PRICE[symbol] < PRICE[found]):
            found = symbol
    return found


# ---- the estimate --------------------------------------------------------------------------------

cdef void estimate_alone(const void *tables, const void *state, double *out) noexcept nogil:
    """Alone, the score to be expected: the army at the end, times the chance to get there."""
    cdef const Tables *t = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef int32_t left = s.in_deck + s.in_quest
    cdef double army = army_size(s.purse[0]), future = 0.0, risk
    cdef uint64_t rest = s.deck | s.quest
    while rest:
        future += t.gain[t.kind_of[lowest(rest)]]
        rest &= rest - 1
    risk = RISK * exp(-SAFETY * (army + 1.0)) * (1.0 if left > 5 else 0.2 * (left - 1))
    out[0] = success_chance(t, s, RESCUE) * exp(-risk) * max(0.0, army + future)
    out[0] = min(out[0], <double>t.n_cards)


cdef inline double success_chance(const Tables *t, const State *s, double rescue) noexcept nogil:
    """Rough chance that this turn beats a card: the best single aim, helped by the army."""
    cdef uint64_t quest = heads(t, s.quest)
    cdef double best = UNROLLED if s.step == DRAW else 0.0
    cdef int32_t kind
    while quest:
        kind = t.kind_of[lowest(quest)]
        quest &= quest - 1
        best = max(best, <double>t.chance[kind][s.rerolls][s.dice])
    return 1.0 - (1.0 - best) * exp(-rescue * (1.0 + army_size(s.purse[s.seat])))


# ---- tables, built once ----------------------------------------------------------------------------

cdef dict _prices = {}      # requirement, as 252 bytes -> uint16[N_STOCKS, N_ROLLS]


cdef object judge_cards(Tables *t):
    """Fill what plan.pyx reads of the tables: prices, chances, ease.

    Returns:
        the price arrays that the tables point into; the caller keeps them alive.
    """
    cdef int32_t kind, roll, left
    cdef uint16_t[:, ::1] price
    cdef float value[N_KEEPERS]
    cdef float best[N_KEEPERS]
    _fill_neighbours(t)
    kept = []
    for kind in range(t.n_kinds):
        met = bytes([(t.beats[roll] & t.kind_cards[kind]) != 0 for roll in range(N_ROLLS)])
        if met not in _prices:
            _prices[met] = _price_changes(t, met)
        kept.append(_prices[met])
        price = kept[kind]
        t.price[kind] = &price[0, 0]
        for roll in range(N_ROLLS):
            value[FIRST_ROLL + roll] = met[roll]
        expect(t, value)
        for left in range(3):
            memcpy(&t.chance[kind][left][0], value, sizeof(value))
            best_kept(t, value, best)
            memcpy(&value[FIRST_ROLL], &best[FIRST_ROLL], N_ROLLS * sizeof(float))
            expect(t, value)
        t.ease[kind] = t.chance[kind][1][0]
        t.gain[kind] = 1.0 - 1.14 * (1.0 - t.ease[kind]) ** 3
    return kept


cdef _fill_neighbours(Tables *t):
    """One die more, one die less, for every keeper."""
    cdef int32_t keeper, face
    cdef uint64_t packed, die
    for keeper in range(N_KEEPERS):
        packed = t.rolls.packed[keeper]
        for face in range(6):
            die = <uint64_t>1 << (8 * face)
            t.more[keeper][face] = roll_keeper_id(t.rolls, packed + die) if t.rolls.size[keeper] < N_DICE else NO_KEEPER
            t.less[keeper][face] = roll_keeper_id(t.rolls, packed - die) if packed_count(packed, face) else NO_KEEPER


cdef object _price_changes(const Tables *t, const unsigned char[::1] met):
    """The least price of changes that turn each roll into one that meets a requirement, by stock:
    uint16[N_STOCKS, N_ROLLS], OUT_OF_REACH where the stock does not suffice."""
    made = np.empty((N_STOCKS, N_ROLLS), dtype=np.uint16)
    cdef uint16_t[:, ::1] price = made
    cdef int32_t stock, roll, change, symbol, place, cost, least
    cdef uint32_t changes
    for stock in range(N_STOCKS):
        for roll in range(N_ROLLS):
            least = 0 if met[roll] else OUT_OF_REACH
            changes = 0 if met[roll] else t.changes[roll]
            while changes:
                change = lowest(changes)
                changes &= changes - 1
                symbol = t.change_symbol[change]
                place = 2 * (symbol if symbol < REROLL else 3)
                if stock >> place & STOCK_CAP:
                    cost = price[stock - (1 << place), t.changed[change][roll]]
                    if cost != OUT_OF_REACH and cost + PRICE[symbol] < least:
                        least = cost + PRICE[symbol]
            price[stock, roll] = least
    return made
