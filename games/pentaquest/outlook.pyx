"""The estimate of a position among several: chances to win, or the lead, of every seat.

Between turns. Each seat has a score, a weighted sum of terms (`weights.TERMS`): the points it will have if nobody
fails any more, its army by symbols, its turns to come, what lies in the quest area when it is next, how hard the
remaining cards are. The softmax of the scores are the chances to win; under the utility `score`, the scores are points
to be expected. The weights depend on how many cards are left, on the number of seats and on the rule of scoring; they
come from who won greedy games (fit.py, outlook.toml).

Inside a turn. A turn ends with one of the cards of the quest area or with none, and with some army cards spent. Each
such end is worth to the seat what the table looks like after it. With those values the rest of the turn is solved
exactly by retrograde dynamic programming over the 252 rolls and 462 keepers (dice.pxd): the dice as they lie with
every set of at most three changes, then reroll cards (at most two), then free rerolls. So what army cards cost is never
a fixed price: the last card beaten, a tie in points, an empty army weigh as they should.
"""
from libc.math cimport exp, log
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy, memset

from games.pentaquest.dice cimport best_kept, expect
from games.pentaquest.state cimport (
    ADD, ADDSUB, CARD_LIMIT, DISCARDED, DRAW, FIRST_ROLL, FORFEIT, MIRROR, N_CHANGES, N_KEEPERS, N_KNOTS, N_ROLLS,
    N_SPENT, N_SYMBOLS, N_TERMS, REROLL, ROLL, ROLL_WORDS, SEAT_LIMIT, SUB, State, Tables, army_count, army_size, heads,
    lowest,
)

import numpy as np

from games.pentaquest import weights

cdef enum:
    MOST_SPENT = 3              # changes by army cards that a turn is planned with
    REROLL_CARDS_AHEAD = 2
    N_CHANGING = 4              # symbols that change dice

cdef int32_t[N_CHANGING] CHANGING = [ADD, SUB, ADDSUB, MIRROR]

# The ways to spend at most three cards that change dice: how many of each symbol of CHANGING, how many together, and
# the way with one card of a symbol less, or -1. The first spends nothing.
cdef int32_t[N_SPENT][N_CHANGING] SPENT
cdef int32_t[N_SPENT] SPENT_SIZE
cdef int32_t[N_SPENT][N_CHANGING] SPENT_LESS

# Utility `score`: points of the turns to come that an empty army misses in the end, exponent by army card, and what
# every card that is not in the army costs.
cdef double MISSES = 1.2
cdef double FEW = 0.8
cdef double FAVOUR = 0.03


cdef struct Table:              # what lies there where a turn begins
    int32_t left                # cards in deck and quest area
    double easiest              # of the cards in the quest area: the best chance to beat one with one reroll
    double second               # the second best
    double any                  # chance that one of them is beaten, as if they were independent
    double toll                 # of all cards left: mean cube of the chance to miss them

cdef struct Seat:               # what a seat has
    int32_t army[N_SYMBOLS]
    int32_t size                # army cards
    int32_t discards            # cards that score beside the army


# ---- between turns ----------------------------------------------------------------------------------

cdef inline void look(const Tables *t, const State *s, uint64_t taken, Table *table) noexcept nogil:
    """The table without a card that is taken from it (or 0)."""
    cdef uint64_t rest = heads(t, s.quest & ~taken)
    cdef double ease, missed = 1.0, toll = 0.0
    table.left = s.in_deck + s.in_quest - (taken != 0)
    table.easiest = table.second = 0.0
    while rest:
        ease = t.ease[t.kind_of[lowest(rest)]]
        rest &= rest - 1
        table.second = max(table.second, min(ease, table.easiest))
        table.easiest = max(table.easiest, ease)
        missed *= 1.0 - ease
    table.any = 1.0 - missed
    rest = (s.quest | s.deck) & ~taken
    while rest:
        ease = 1.0 - t.ease[t.kind_of[lowest(rest)]]
        rest &= rest - 1
        toll += ease * ease * ease
    table.toll = toll / table.left if table.left else 0.0


cdef inline void sit(const Tables *t, const State *s, int32_t seat, Seat *out) noexcept nogil:
    cdef int32_t symbol
    for symbol in range(N_SYMBOLS):
        out.army[symbol] = army_count(s.purse[seat], symbol)
    out.size = army_size(s.purse[seat])
    out.discards = 0 if t.original else army_count(s.purse[seat], DISCARDED)    # 29, P12


cdef inline void set_terms(const Tables *t, const Table *table, const Seat *seat, int32_t away,
                           double *out) noexcept nogil:
    """The terms of a seat whose turn is `away` turns off; their order is that of weights.TERMS."""
    cdef int32_t turns = (table.left - away + t.players - 1) // t.players if table.left > away else 0
    cdef int32_t symbol
    cdef double few = exp(-0.5 * seat.size)
    out[0] = seat.size + seat.discards + turns
    for symbol in range(N_SYMBOLS):
        out[1 + symbol] = seat.army[symbol]
    out[6] = turns
    out[7] = few
    out[8] = few * few * few
    out[9] = 1.0 - away / <double>(t.players - 1)
    out[10] = table.toll * few
    out[11] = table.toll * seat.size
    memset(out + 12, 0, (N_TERMS - 12) * sizeof(double))
    if away == 0:
        out[12] = table.easiest
        out[13] = table.second
        out[14] = table.any
        out[15] = table.easiest * few
        if table.left % t.players == 0:     # a failed turn would leave every seat as many turns as before
            out[16] = 1.0
            out[17] = few


cdef inline double score(const Tables *t, const Table *table, const Seat *seat, int32_t away,
                         const double *w) noexcept nogil:
    """A seat's score: in logits, or in points."""
    cdef double terms[N_TERMS]
    cdef double total = 0.0
    cdef int32_t i
    set_terms(t, table, seat, away, terms)
    if t.by_score:
        # Of the points to come; so all seats together never have more than there are.
        return terms[0] - min(terms[6], MISSES * exp(-FEW * seat.size) + FAVOUR * (t.n_cards - seat.size))
    for i in range(N_TERMS):
        total += w[i] * terms[i]
    return total


cdef inline void weigh(const Tables *t, int32_t left, double *out) noexcept nogil:
    """The weights with so many cards left."""
    cdef int32_t i, k = 1
    cdef double place
    while k < N_KNOTS - 1 and left > t.knots[k]:
        k += 1
    place = max(0.0, min(1.0, (left - t.knots[k - 1]) / (t.knots[k] - t.knots[k - 1])))
    for i in range(N_TERMS):
        out[i] = t.outlook[i][k - 1] * (1.0 - place)
        out[i] += t.outlook[i][k] * place


cdef inline double rank(const Seat *seat, const Tables *t) noexcept nogil:
    """What decides who has won: points, then the army. # 29, 30, P12"""
    return (seat.size + seat.discards) * 256.0 + (0 if t.original else seat.size)


cdef struct Rivals:             # all but one seat, where a turn of that seat has ended
    bint over                   # no card is left
    double total                # their scores: log of the sum of exponentials, or by score the sum of points
    double best                 # the highest rank among them, and how many have it
    int32_t ties

cdef struct Ends:               # what the ends of a turn are worth to its seat
    int32_t n                   # kinds that can be beaten
    int32_t kind[CARD_LIMIT]
    Table table[CARD_LIMIT + 1]             # after each of them; the last: after none
    Rivals rivals[CARD_LIMIT + 1]
    double own[CARD_LIMIT + 1]              # with no army card spent
    double w[2][N_TERMS]                    # weights after a card is beaten, and after none
    Seat seat                               # the running seat as it is now
    bint held[N_SPENT]                      # whether the army has the cards of a way to spend
    int32_t again                           # reroll cards that the turn is planned with
    int32_t away                            # of the running seat, once the turn is over
    double low, span                        # values are solved for as shares of what the best end gives beyond none


cdef inline double worth(const Tables *t, const Ends *ends, int32_t end, const Seat *seat) noexcept nogil:
    """What an end gives to the seat that the turn belongs to, holding what is left to it: the chance to win, or
    the lead in points over the mean of the others."""
    cdef const Rivals *rivals = &ends.rivals[end]
    cdef double own
    if t.by_score:
        own = seat.size + seat.discards
        if not rivals.over:
            own = score(t, &ends.table[end], seat, ends.away, ends.w[end == ends.n])
        return own - rivals.total / <double>(t.players - 1)
    if rivals.over:
        own = rank(seat, t)
        if own < rivals.best:
            return 0.0
        return 1.0 if own > rivals.best else 1.0 / <double>(1 + rivals.ties)
    own = score(t, &ends.table[end], seat, ends.away, ends.w[end == ends.n])
    return 1.0 / (1.0 + exp(rivals.total - own))


cdef inline void set_rivals(const Tables *t, const State *s, const Ends *ends, int32_t end) noexcept nogil:
    """The other seats after an end."""
    cdef const Table *table = &ends.table[end]
    cdef Rivals *rivals = <Rivals *>&ends.rivals[end]
    cdef int32_t other
    cdef Seat seat
    cdef double scores[SEAT_LIMIT]
    cdef double top = -1e300, place
    rivals.over = table.left == 0
    rivals.total = 0.0
    rivals.best = -1.0
    rivals.ties = 0
    for other in range(t.players):
        if other == s.seat:
            continue
        sit(t, s, other, &seat)
        if rivals.over:
            place = rank(&seat, t)
            if place > rivals.best:
                rivals.best = place
                rivals.ties = 0
            rivals.ties += place == rivals.best
            rivals.total += seat.size + seat.discards
            continue
        scores[other] = score(t, table, &seat, (other + t.players - s.seat - 1) % t.players, ends.w[end == ends.n])
        top = max(top, scores[other])
        if t.by_score:
            rivals.total += scores[other]
    if rivals.over or t.by_score:
        return
    for other in range(t.players):
        if other != s.seat:
            rivals.total += exp(scores[other] - top)
    rivals.total = top + log(rivals.total)


cdef inline void share_out(const Tables *t, const State *s, const Ends *ends, int32_t end, double own,
                           double *out) noexcept nogil:
    """Utilities of all seats when the running one's worth is `own` and the others stand as they do after an end."""
    cdef const Rivals *rivals = &ends.rivals[end]
    cdef int32_t other, n = t.players
    cdef Seat seat
    cdef double place, total = 0.0
    for other in range(n):
        if other == s.seat:
            continue
        sit(t, s, other, &seat)
        if t.by_score:
            place = seat.size + seat.discards
            if not rivals.over:
                place = score(t, &ends.table[end], &seat, (other + n - s.seat - 1) % n, ends.w[end == ends.n])
            # The lead of the others follows from their points and from the sum, which is zero.
            out[other] = (place - rivals.total / <double>(n - 1)) * n / <double>(n - 1) - own / <double>(n - 1)
            continue
        if rivals.over:
            out[other] = rank(&seat, t) == rivals.best
        else:
            out[other] = exp(score(
                t, &ends.table[end], &seat, (other + n - s.seat - 1) % n, ends.w[end == ends.n]) - rivals.total)
        total += out[other]
    out[s.seat] = own
    if t.by_score:
        return
    for other in range(n):
        place = own if other == s.seat else (1.0 - own) * out[other] / total
        out[other] = max(-1.0 / <double>(n - 1), min(1.0, (n * place - 1.0) / <double>(n - 1)))


# ---- inside a turn ----------------------------------------------------------------------------------

cdef inline double worth_of_none(const Tables *t, const Ends *ends, int32_t again) noexcept nogil:
    """A turn that ends without a card after so many reroll cards; by the original rule an army card goes. # P12"""
    cdef Seat seat = ends.seat
    cdef int32_t symbol
    cdef double value = -1e300, each
    seat.army[REROLL] -= again
    seat.size -= again
    if not t.original:
        seat.discards += again
    if not t.original or seat.size == 0:
        return worth(t, ends, ends.n, &seat)
    seat.size -= 1
    for symbol in range(N_SYMBOLS):
        if seat.army[symbol]:
            seat.army[symbol] -= 1
            each = worth(t, ends, ends.n, &seat)
            seat.army[symbol] += 1
            value = max(value, each)
    return value


cdef inline double worth_of_card(const Tables *t, const Ends *ends, int32_t end, int32_t spent,
                                 int32_t again) noexcept nogil:
    """A turn that ends with a card, some army cards spent."""
    cdef Seat seat = ends.seat
    cdef int32_t i, used = SPENT_SIZE[spent] + again
    for i in range(N_CHANGING):
        seat.army[CHANGING[i]] -= SPENT[spent][i]
    seat.army[REROLL] -= again
    seat.army[t.symbol_of[ends.kind[end]]] += 1      # 5
    seat.size += 1 - used
    if not t.original:
        seat.discards += used                         # 9, 29
    return worth(t, ends, end, &seat)


cdef inline void list_ends(const Tables *t, const State *s, Ends *ends) noexcept nogil:
    """All ends of the running turn."""
    cdef uint64_t card, rest = heads(t, s.quest)
    cdef int32_t i, j
    cdef double best
    sit(t, s, s.seat, &ends.seat)
    ends.away = t.players - 1
    ends.again = min(ends.seat.army[REROLL], REROLL_CARDS_AHEAD)
    for i in range(N_SPENT):
        ends.held[i] = True
        for j in range(N_CHANGING):
            if SPENT[i][j] > ends.seat.army[CHANGING[j]]:
                ends.held[i] = False
    weigh(t, s.in_deck + s.in_quest - 1, ends.w[0])
    weigh(t, s.in_deck + s.in_quest, ends.w[1])
    ends.n = 0
    while rest:
        card = rest & (~rest + 1)
        rest ^= card
        ends.kind[ends.n] = t.kind_of[lowest(card)]
        look(t, s, card, &ends.table[ends.n])
        ends.n += 1
    look(t, s, 0, &ends.table[ends.n])
    for i in range(ends.n + 1):
        set_rivals(t, s, ends, i)
    best = ends.own[ends.n] = worth_of_none(t, ends, 0)
    for i in range(ends.n):
        ends.own[i] = worth_of_card(t, ends, i, 0, 0)
        best = max(best, ends.own[i])
    # Single precision is enough for shares of what is at stake, not for a chance close to 1.
    ends.low = ends.own[ends.n]
    ends.span = max(best - ends.low, 1e-12)


cdef inline void value_now(const Tables *t, const Ends *ends, int32_t again, float *value) noexcept nogil:
    """Values of the 252 rolls when no die is rolled any more and so many reroll cards were spent: beat a card, with
    changes where they pay, or none."""
    cdef uint64_t open[ROLL_WORDS]
    cdef uint64_t hits
    cdef const uint64_t *reach
    cdef int32_t end, spent, word, roll, i, place, n_ways = 0
    cdef int32_t ways[N_SPENT]
    cdef double gains[N_SPENT]
    cdef double gain
    cdef float share = <float>((worth_of_none(t, ends, again) - ends.low) / ends.span)
    for roll in range(N_ROLLS):
        value[roll] = share
    for end in range(ends.n):
        # The better ways to spend first, so that each roll is met once.
        n_ways = 0
        for spent in range(N_SPENT):
            if not ends.held[spent]:
                continue
            gain = worth_of_card(t, ends, end, spent, again)
            place = n_ways
            while place and gains[place - 1] < gain:
                gains[place], ways[place] = gains[place - 1], ways[place - 1]
                place -= 1
            gains[place], ways[place] = gain, spent
            n_ways += 1
        memset(open, 0xFF, sizeof(open))
        for i in range(n_ways):
            reach = t.reach[ends.kind[end]] + ways[i] * ROLL_WORDS
            share = <float>((gains[i] - ends.low) / ends.span)
            for word in range(ROLL_WORDS):
                hits = reach[word] & open[word]
                open[word] ^= hits
                while hits:
                    roll = 64 * word + lowest(hits)
                    hits &= hits - 1
                    if share > value[roll]:
                        value[roll] = share


cdef double solve(const Tables *t, const State *s, const Ends *ends) noexcept nogil:
    """What the running turn is worth to its seat when it is played on in the best way, from dice to be rolled or from
    dice that lie there."""
    cdef float value[N_KEEPERS]
    cdef float best[N_KEEPERS]
    cdef int32_t keeper, again, _
    for again in range(ends.again, -1, -1):
        if again < ends.again:
            expect(t, value)
            best_kept(t, value, best)
        value_now(t, ends, again, value + FIRST_ROLL)
        if again < ends.again:
            for keeper in range(FIRST_ROLL, N_KEEPERS):
                value[keeper] = max(value[keeper], best[keeper])
    for _ in range(s.rerolls):
        expect(t, value)
        best_kept(t, value, best)
        memcpy(value + FIRST_ROLL, best + FIRST_ROLL, N_ROLLS * sizeof(float))
    if s.step == ROLL:
        expect(t, value)
    return ends.low + ends.span * value[s.dice]


# ---- the estimate ------------------------------------------------------------------------------------

cdef void estimate_among(const void *tables, const void *state, double *out) noexcept nogil:
    """Utility to be expected while the game runs, by seat."""
    cdef const Tables *t = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef int32_t end, best = 0
    cdef Ends ends
    # Where a turn begins, as the ends of the turn before are valued: what is expected and what comes stay comparable.
    if s.step == DRAW or s.step == ROLL and s.dice == 0 and s.rerolls == (2 if <int32_t>s.turn < t.long_turns else 1):
        estimate_between(t, s, out)
        return
    list_ends(t, s, &ends)
    for end in range(1, ends.n):
        if ends.own[end] > ends.own[best]:
            best = end
    if s.step == FORFEIT:
        share_out(t, s, &ends, ends.n, ends.own[ends.n], out)
    else:
        share_out(t, s, &ends, best, solve(t, s, &ends), out)


cdef inline void estimate_between(const Tables *t, const State *s, double *out) noexcept nogil:
    """Where a turn begins."""
    cdef Table table
    cdef Seat each
    cdef double w[N_TERMS]
    cdef double top = -1e300, total = 0.0
    cdef int32_t seat, n = t.players
    look(t, s, 0, &table)
    weigh(t, table.left, w)
    for seat in range(n):
        sit(t, s, seat, &each)
        out[seat] = score(t, &table, &each, (seat + n - s.seat) % n, w)
        top = max(top, out[seat])
        total += out[seat]
    if t.by_score:
        for seat in range(n):
            out[seat] = (n * out[seat] - total) / <double>(n - 1)
        return
    total = 0.0
    for seat in range(n):
        out[seat] = exp(out[seat] - top)
        total += out[seat]
    for seat in range(n):
        out[seat] = max(-1.0 / <double>(n - 1), min(1.0, (n * out[seat] / total - 1.0) / <double>(n - 1)))


# ---- tables, built once --------------------------------------------------------------------------------

cdef dict _reached = {}         # requirement, as 252 bytes -> uint64[N_SPENT, ROLL_WORDS]


cdef object learn_outlook(Tables *t):
    """Fill what outlook.pyx reads of the tables; `less` and `changes` are there.

    Returns:
        the arrays that the tables point into; the caller keeps them alive.

    Raises:
        DataError: the file of weights is malformed.
    """
    cdef int32_t kind, roll, i, j
    cdef uint64_t[:, ::1] reach
    cdef double[:, ::1] learned
    if SPENT_SIZE[N_SPENT - 1] == 0:
        _fill_ways()
    kept = []
    for kind in range(t.n_kinds):
        met = bytes([(t.beats[roll] & t.kind_cards[kind]) != 0 for roll in range(N_ROLLS)])
        if met not in _reached:
            _reached[met] = _reach(t, met)
        kept.append(_reached[met])
        reach = kept[kind]
        t.reach[kind] = &reach[0, 0]
    if t.players > 1:
        outlook = weights.read().nearest(t.players, bool(t.original))
        learned = outlook.weights
        for j in range(N_KNOTS):
            t.knots[j] = outlook.knots[j]
            for i in range(N_TERMS):
                t.outlook[i][j] = learned[i, j]
    return kept


cdef _fill_ways():
    """SPENT and its relatives, ways that spend less first."""
    cdef int32_t i, j
    ways = [way for way in np.ndindex(*(MOST_SPENT + 1,) * N_CHANGING) if sum(way) <= MOST_SPENT]
    ways.sort(key=lambda way: (sum(way), way))
    place = {way: i for i, way in enumerate(ways)}
    for i, way in enumerate(ways):
        SPENT_SIZE[i] = sum(way)
        for j in range(N_CHANGING):
            SPENT[i][j] = way[j]
            SPENT_LESS[i][j] = place.get((*way[:j], way[j] - 1, *way[j + 1:]), -1)


cdef object _reach(const Tables *t, const unsigned char[::1] met):
    """Bit r of [way]: spending just these cards, in some order, turns roll r into one that meets a requirement."""
    made = np.zeros((N_SPENT, ROLL_WORDS), dtype=np.uint64)
    cdef uint64_t[:, ::1] reach = made
    cdef int32_t way, less, roll, change, after, j
    for roll in range(N_ROLLS):
        if met[roll]:
            reach[0, roll >> 6] |= <uint64_t>1 << (roll & 63)
    for way in range(1, N_SPENT):
        for j in range(N_CHANGING):
            less = SPENT_LESS[way][j]
            if less < 0:
                continue
            for change in range(N_CHANGES):
                if t.change_symbol[change] != CHANGING[j]:
                    continue
                for roll in range(N_ROLLS):
                    if t.changes[roll] >> change & 1:
                        after = t.changed[change][roll]
                        if reach[less, after >> 6] >> (after & 63) & 1:
                            reach[way, roll >> 6] |= <uint64_t>1 << (roll & 63)
    return made


cdef object terms_of(const Tables *t, const State *s):
    """Cards left and the terms of every seat where a turn begins, [seat, term]: for the fit."""
    made = np.zeros((t.players, N_TERMS))
    cdef double[:, ::1] terms = made
    cdef Table table
    cdef Seat each
    cdef int32_t seat
    look(t, s, 0, &table)
    for seat in range(t.players):
        sit(t, s, seat, &each)
        set_terms(t, &table, &each, (seat + t.players - s.seat) % t.players, &terms[seat, 0])
    return table.left, made
