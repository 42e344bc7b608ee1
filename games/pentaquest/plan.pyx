"""The greedy policy of Pentaquest, exact within the turn, and an estimate of a position.

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
from libc.math cimport exp, fabs, sqrt
from libc.stdint cimport int32_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from engine_ext.dice cimport packed_count, roll_keeper_id
from engine_ext.rng cimport Rng
from games.pentaquest.rules cimport (
    ADD, ADDSUB, AGAIN, BEAT, CARD_LIMIT, CHANGE, DISCARDED, DRAW, FIRST_ROLL, FORFEIT, GIVE, KEEP, MIRROR,
    N_DICE, N_KEEPERS, N_ROLLS, N_SYMBOLS, PASS, REROLL, ROLL, SEAT_LIMIT, SUB, State, Tables, army_count,
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

# Between two: what the end looks like from the beginning of a turn. Weights of the terms of a seat's score, at KNOTS
# cards left and linear between them; the softmax of the scores are the chances to win. Found by
#   python -m games.pentaquest.fit --games 30000
# The log loss on games held out is 0.195, where even chances have 0.693.
cdef enum:
    N_KNOTS = 6
    N_TERMS = 8
cdef double[N_KNOTS] KNOTS = [1, 6, 14, 24, 33, 42]
cdef double[N_TERMS][N_KNOTS] OUTLOOK = [
    [5.706, 4.363, 3.277, 2.397, 1.705, 0.897],  # a point that comes if nobody fails any more
    [0.862, 0.711, 0.613, 0.511, 0.498, 0.621],  # an army card
    [-1.080, -0.722, -0.522, -0.423, -0.434, -0.336],  # a turn to come
    [-1.348, -0.774, -0.399, -0.420, -0.148, -0.026],  # exp(-army / 2)
    [-1.278, -0.778, -0.533, -0.140, -0.577, 0.125],  # exp(-3 army / 2)
    [0.203, 0.380, 0.297, 0.256, 0.153, 0.159],  # being next
    [1.310, 0.493, 0.316, 0.212, 0.360, 0.410],  # being next: of the easiest card that lies there, its ease
    [0.029, 0.030, 0.100, 0.097, 0.258, -0.028],  # and of the second
]
cdef double FEW = 0.8          # likewise: the exponent by army card
cdef double MISSES = 1.2       # points that an empty army misses in the end
cdef double FAVOUR = 0.03      # points that a card of the army is worth beyond its own

# With more seats, and for the original scoring; fitted to the outcome of greedy play, TEMPO and AIM between two on
# 16,800 games from 320 positions, the rest on 300 games each with 2, 3, 4 and 6 seats.
cdef double TEMPO = 0.16       # points that being on turn is worth; less down the turn order, none to the last seat
cdef double QUEUE = 0.7        # more of them where more than two sit, by 1 - 2 / seats
cdef double AIM = 0.6          # by the chance that the turn beats a card
cdef double UNROLLED = 0.5     # the chance that a turn beats a card, before its dice are rolled
cdef double TIE_BREAK = 0.24   # by army card
cdef double SPREAD = 0.2       # of the final lead, by the root of the cards left, shared by the seats
cdef double DOUBT = 0.2        # and what is left of it to the end
cdef double LOSSES = 3.0       # more of it where armies shrink again (original)

# One more or one less die of a face, as keepers; NO_KEEPER where there is none.
cdef enum:
    NO_KEEPER = 65535
cdef uint16_t[N_KEEPERS][6] _MORE
cdef uint16_t[N_KEEPERS][6] _LESS


ctypedef struct Stakes:
    double success[CARD_LIMIT]  # by kind: what beating it is worth
    double fail                 # what a turn without a card is worth
    double scale                # points that a price of 1000 stands for


# ---- values over dice ----------------------------------------------------------------------------

cdef inline void expect(float *value) noexcept nogil:
    """From values of the 252 rolls (keepers FIRST_ROLL up), fill in those of all smaller keepers:
    the mean over one more die, from four dice down to none."""
    cdef int32_t keeper, face
    cdef float total
    for keeper in range(FIRST_ROLL - 1, -1, -1):
        total = 0.0
        for face in range(6):
            total += value[_MORE[keeper][face]]
        value[keeper] = total * <float>(1.0 / 6.0)


cdef inline void best_kept(const float *value, float *best) noexcept nogil:
    """For every keeper, the best value of a keeper inside it."""
    cdef int32_t keeper, face
    best[0] = value[0]
    for keeper in range(1, N_KEEPERS):
        best[keeper] = value[keeper]
        for face in range(6):
            if _LESS[keeper][face] != NO_KEEPER and best[_LESS[keeper][face]] > best[keeper]:
                best[keeper] = best[_LESS[keeper][face]]


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
    expect(value)
    for _ in range(rerolls):
        best_kept(value, best)
        memcpy(value + FIRST_ROLL, best + FIRST_ROLL, N_ROLLS * sizeof(float))
        expect(value)
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
    expect(now)
    for i in range(again):
        if i == again - 1:
            memcpy(before, now, sizeof(before))
        best_kept(now, best)
        for keeper in range(FIRST_ROLL, N_KEEPERS):
            value = best[keeper] - stakes.scale * PRICE[REROLL] / PRICE_UNIT
            if value > now[keeper]:
                now[keeper] = <float>value
        expect(now)
    if again:
        keeper = best_keeper(t, before, roll)
        value = before[keeper] - stakes.scale * PRICE[REROLL] / PRICE_UNIT
        if value > reward + 1e-6:
            reward, action = value, AGAIN + keeper
    if s.rerolls:
        if s.rerolls > 1:
            best_kept(now, best)
            memcpy(now + FIRST_ROLL, best + FIRST_ROLL, N_ROLLS * sizeof(float))
            expect(now)
        keeper = best_keeper(t, now, roll)
        if now[keeper] > reward + 1e-6:
            action = KEEP + keeper
    return action


cdef double turn_value(const Tables *t, const State *s, const Stakes *stakes) noexcept nogil:
    """What the running turn is worth under the stakes when it is played on in the best way, from dice to be
    rolled or from dice that lie there."""
    cdef float value[N_KEEPERS]
    cdef float best[N_KEEPERS]
    cdef uint64_t purse = s.purse[s.seat]
    cdef int32_t keeper, _
    value_now(t, stakes, heads(t, s.quest), stock_of(purse), value + FIRST_ROLL)
    for _ in range(min(army_count(purse, REROLL), REROLL_CARDS_AHEAD)):
        expect(value)
        best_kept(value, best)
        for keeper in range(FIRST_ROLL, N_KEEPERS):
            value[keeper] = max(value[keeper], best[keeper] - <float>(stakes.scale * PRICE[REROLL] / PRICE_UNIT))
    for _ in range(s.rerolls):
        expect(value)
        best_kept(value, best)
        memcpy(value + FIRST_ROLL, best + FIRST_ROLL, N_ROLLS * sizeof(float))
    if s.step == ROLL:
        expect(value)
    return value[s.dice]


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

cdef void estimate_running(const void *tables, const void *state, double *out) noexcept nogil:
    """Utility to be expected while the game runs. Alone: chance to survive this turn and the rest,
    times the army to be expected at the end. Between two: the running turn played out exactly, between what
    the table looks like after it with a card and without. Among more: what is captured and promised."""
    cdef const Tables *t = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef int32_t seat
    if t.players == 1:
        estimate_alone(t, s, out)
    elif t.original or t.players > 2:
        estimate_shared(t, s, out)
    elif s.step == DRAW:
        foretell(t, s, s.seat, 0, 0, out)
    else:
        estimate_turn(t, s, out)
    # Rounding must not carry it past what a game can be worth.
    if not t.by_score and t.players > 1:
        for seat in range(t.players):
            out[seat] = max(-1.0 / <double>(t.players - 1), min(1.0, out[seat]))


cdef void estimate_alone(const Tables *t, const State *s, double *out) noexcept nogil:
    """The army to be expected at the end, times the chance to get there."""
    cdef int32_t left = s.in_deck + s.in_quest
    cdef double army = army_size(s.purse[0]), future = 0.0, risk
    cdef uint64_t rest = s.deck | s.quest
    while rest:
        future += t.gain[t.kind_of[lowest(rest)]]
        rest &= rest - 1
    risk = RISK * exp(-SAFETY * (army + 1.0)) * (1.0 if left > 5 else 0.2 * (left - 1))
    out[0] = success_chance(t, s, RESCUE) * exp(-risk) * max(0.0, army + future)
    out[0] = min(out[0], <double>t.n_cards)


cdef void estimate_turn(const Tables *t, const State *s, double *out) noexcept nogil:
    """The running turn as its seat would play it for the best, exactly but for the price of army cards."""
    cdef int32_t after = s.seat + 1 if s.seat + 1 < t.players else 0
    cdef int32_t seat, kind
    cdef double failed[SEAT_LIMIT]
    cdef double taken[SEAT_LIMIT]
    cdef double each[SEAT_LIMIT]
    cdef double share, span, price = 0.0, best = -1e9
    cdef uint64_t card, quest = heads(t, s.quest)
    cdef Stakes stakes
    foretell(t, s, after, 0, 0, failed)
    while quest:
        card = quest & (~quest + 1)
        quest ^= card
        kind = t.kind_of[lowest(card)]
        foretell(t, s, after, card, 0, each)
        stakes.success[kind] = each[s.seat]
        if each[s.seat] > best:
            best = each[s.seat]
            memcpy(taken, each, sizeof(taken))
            foretell(t, s, after, card, 1, each)
            price = max(0.0, best - each[s.seat])
    # In shares of what the best card is worth, since the dice are valued in single precision.
    span = max(fabs(best - failed[s.seat]), 1e-12)
    stakes.fail = 0.0
    stakes.scale = max(1e-6, price / span)
    quest = heads(t, s.quest)
    while quest:
        kind = t.kind_of[lowest(quest)]
        quest &= quest - 1
        stakes.success[kind] = (stakes.success[kind] - failed[s.seat]) / span
    share = turn_value(t, s, &stakes)
    for seat in range(t.players):
        out[seat] = failed[seat] + share * (taken[seat] - failed[seat])


cdef void estimate_shared(const Tables *t, const State *s, double *out) noexcept nogil:
    """By what is captured and what the turn promises, the rest shared out evenly; the odds of the lead as a softmax."""
    cdef int32_t seat, away, left = s.in_deck + s.in_quest
    cdef double points[SEAT_LIMIT]
    cdef double temperature, tempo
    tempo = TEMPO + QUEUE * (1.0 - 2.0 / <double>t.players)
    for seat in range(t.players):
        away = (seat + t.players - s.seat) % t.players
        points[seat] = captured(t, s, seat)
        # What the dice of this turn promise is the running seat's alone; those after it have their turns to come.
        points[seat] += (tempo + AIM * (success_chance(t, s, 0.0) if away == 0 else UNROLLED)) * (
            1.0 - away / <double>(t.players - 1))
    if t.by_score:
        leads(t, points, out)
        return
    temperature = DOUBT + (LOSSES if t.original else 1.0) * SPREAD * sqrt(<double>left) / <double>t.players
    for seat in range(t.players):
        if not t.original:
            points[seat] += TIE_BREAK * army_size(s.purse[seat])
        points[seat] /= temperature
    chances(t, points, out)


cdef inline void weigh(int32_t left, double *out) noexcept nogil:
    """The weights of OUTLOOK with so many cards left."""
    cdef int32_t i, k = 1
    cdef double place
    while k < N_KNOTS - 1 and left > KNOTS[k]:
        k += 1
    place = max(0.0, min(1.0, (left - KNOTS[k - 1]) / (KNOTS[k] - KNOTS[k - 1])))
    for i in range(N_TERMS):
        out[i] = OUTLOOK[i][k - 1] * (1.0 - place)
        out[i] += OUTLOOK[i][k] * place


cdef inline void leads(const Tables *t, const double *points, double *out) noexcept nogil:
    """Utility `score` from points."""
    cdef int32_t seat
    cdef double total = 0.0
    for seat in range(t.players):
        total += points[seat]
    for seat in range(t.players):
        out[seat] = points[seat] - (total - points[seat]) / <double>(t.players - 1)


cdef inline void chances(const Tables *t, const double *scores, double *out) noexcept nogil:
    """Utility `win` where the chances to win are the softmax of scores."""
    cdef int32_t seat
    cdef double total = 0.0, highest = scores[0]
    for seat in range(1, t.players):
        highest = max(highest, scores[seat])
    for seat in range(t.players):
        out[seat] = exp(scores[seat] - highest)
        total += out[seat]
    for seat in range(t.players):
        out[seat] = (t.players * out[seat] / total - 1.0) / <double>(t.players - 1)


cdef void foretell(const Tables *t, const State *s, int32_t first, uint64_t beaten, int32_t used,
                   double *out) noexcept nogil:
    """Utility to be expected where a turn begins. With an army of some size a turn hardly ever fails, so how many
    turns each seat will still have says most: points that would come if nobody failed any more decide, and where they
    are equal the army does. Small armies may miss some of them.

    Args:
        first: the seat whose turn begins.
        beaten: the card that the running seat captures before, or 0.
        used: army cards that it uses before.
    """
    cdef int32_t left = s.in_deck + s.in_quest - (beaten != 0)
    cdef int32_t seat, away, turns
    cdef double scores[SEAT_LIMIT]
    cdef double army, points, ease, easiest = 0.0, second = 0.0
    cdef uint64_t quest
    cdef int32_t taken = beaten != 0
    cdef double w[N_TERMS]
    weigh(left, w)
    quest = heads(t, s.quest & ~beaten)
    while quest:
        ease = t.ease[t.kind_of[lowest(quest)]]
        quest &= quest - 1
        second = max(second, min(ease, easiest))
        easiest = max(easiest, ease)
    for seat in range(t.players):
        away = (seat + t.players - first) % t.players
        army = army_size(s.purse[seat]) + (taken - used if seat == s.seat else 0)
        points = captured(t, s, seat) + (taken if seat == s.seat else 0)
        turns = (left - away + t.players - 1) // t.players if left > away else 0
        if t.by_score:
            scores[seat] = points + turns - MISSES * exp(-FEW * army) + FAVOUR * army
        else:
            scores[seat] = (
                w[0] * (points + turns) + w[1] * army + w[2] * turns + w[3] * exp(-0.5 * army) + w[4] * exp(-1.5 * army)
                + w[5] * (1.0 - away / <double>(t.players - 1)))
            if away == 0:
                scores[seat] += w[6] * easiest + w[7] * second
    if t.by_score:
        leads(t, scores, out)
    else:
        chances(t, scores, out)


cdef inline double captured(const Tables *t, const State *s, int32_t seat) noexcept nogil:
    """A seat's points so far."""
    cdef double points = army_size(s.purse[seat])
    return points if t.original else points + army_count(s.purse[seat], DISCARDED)


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
        expect(value)
        for left in range(3):
            memcpy(&t.chance[kind][left][0], value, sizeof(value))
            best_kept(value, best)
            memcpy(&value[FIRST_ROLL], &best[FIRST_ROLL], N_ROLLS * sizeof(float))
            expect(value)
        t.ease[kind] = t.chance[kind][1][0]
        t.gain[kind] = 1.0 - 1.14 * (1.0 - t.ease[kind]) ** 3
    return kept


cdef _fill_neighbours(const Tables *t):
    """One die more, one die less, for every keeper."""
    cdef int32_t keeper, face
    cdef uint64_t packed, die
    for keeper in range(N_KEEPERS):
        packed = t.rolls.packed[keeper]
        for face in range(6):
            die = <uint64_t>1 << (8 * face)
            _MORE[keeper][face] = roll_keeper_id(t.rolls, packed + die) if t.rolls.size[keeper] < N_DICE else NO_KEEPER
            _LESS[keeper][face] = roll_keeper_id(t.rolls, packed - die) if packed_count(packed, face) else NO_KEEPER


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
