"""The rules of Pentaquest for 1 to 8 players.

A turn: the quest area is filled from the deck; the seat rolls five dice, may reroll any of them
once for free (twice in the first turn), may then change them with cards of its army, and may
beat one card of the quest area whose requirement the dice meet; that card joins the army. Alone,
a turn without a beaten card loses the game. Numbers in comments (`# 7`, `# P5`) are those of the
rules and readings in docs/games/pentaquest.md.

One decision node serves the phases 2 to 5: beat a card (which ends the turn), reroll, use an army
card, or pass. Using a card ends the free rerolls (P5).
"""
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from engine_ext.debug cimport QUANDARY_CHECK
from engine_ext.dice cimport Rolls, RollTable, packed_count, roll_keeper_id, roll_of_keeper, roll_packed, roll_prob
from engine_ext.game cimport CHANCE, CYCLIC, TERMINAL, ZERO_SUM, hash_bytes
from engine_ext.position cimport Position, Rules, new_position
from engine_ext.rng cimport Rng, rng_below
from games.pentaquest.outlook cimport estimate_among, learn_outlook, terms_of
from games.pentaquest.plan cimport estimate_alone, judge_cards, suggest

import numpy as np

from engine_ext.errors import ParameterError, PositionError
from games.pentaquest.cards import DICE, NO_CARD, SYMBOLS, read_deck

cdef Rolls _ROLLS = Rolls(DICE, 6)


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


# ---- the functions of the contract -------------------------------------------------------------

cdef int32_t turn(const void *tables, const void *state) noexcept nogil:
    cdef const State *s = <const State *>state
    if s.step <= ROLL:
        return CHANCE
    if s.step == OVER:
        return TERMINAL
    return s.seat


cdef int32_t legal(const void *tables, const void *state, int32_t *out) noexcept nogil:
    cdef const Tables *t = <const Tables *>tables
    cdef const State *s = <const State *>state
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


cdef int32_t random_action(const void *tables, const void *state, Rng *rng) noexcept nogil:
    cdef const Tables *t = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef int32_t few[N_SYMBOLS]
    cdef uint64_t purse = s.purse[s.seat]
    cdef int32_t roll = s.dice - FIRST_ROLL
    cdef int32_t start, n_keepers, n_beaten = 0, n_changes = 0, n_again = 0, n_free = 0, pick
    cdef uint64_t beaten, rest
    cdef uint32_t changes
    if s.step == FORFEIT:
        pick = legal(tables, state, few)
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


cdef int32_t outcomes(const void *tables, const void *state, int32_t *ids, double *probs) noexcept nogil:
    cdef const Tables *t = <const Tables *>tables
    cdef const State *s = <const State *>state
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


cdef int32_t sample(const void *tables, const void *state, Rng *rng) noexcept nogil:
    cdef const Tables *t = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef const RollTable *rolls = t.rolls
    cdef int32_t others
    if s.step == ROLL:
        others = N_DICE - rolls.size[s.dice]
        return SHOW + rolls.ordered[rolls.ordered_start[others] + <int32_t>rng_below(rng, rolls.n_ordered[others])]
    return DEAL + t.kind_of[lowest(random_card(s, t.n_cards, rng))]


cdef inline void chance(const Tables *t, State *s, int32_t id) noexcept nogil:
    """Apply a chance outcome."""
    cdef const RollTable *rolls = t.rolls
    if s.step == ROLL:
        show_dice(t, s, rolls.next_roll[
            rolls.next_start[s.dice] + id - SHOW - rolls.first[N_DICE - rolls.size[s.dice]]])
    else:
        deal_card(t, s, lowest_of_kind(t, s.deck, id - DEAL))
        fill_quest(t, s)


cdef void apply(const void *tables, void *state, int32_t id) noexcept nogil:
    cdef State *s = <State *>state
    if s.step <= ROLL:
        chance(<const Tables *>tables, s, id)
    else:
        decide(<const Tables *>tables, s, id)


cdef int32_t run_chance(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef int32_t steps = 0
    while (<State *>state).step <= ROLL:
        chance(<const Tables *>tables, <State *>state, sample(tables, state, rng))
        steps += 1
    return steps


cdef int64_t playout(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef const Tables *t = <const Tables *>tables
    cdef State *s = <State *>state
    cdef int64_t steps = 0
    while s.step != OVER:
        if s.step <= ROLL:
            chance(t, s, sample(tables, state, rng))
        else:
            decide(t, s, random_action(tables, state, rng))
        steps += 1
    return steps


cdef void returns(const void *tables, const void *state, double *out) noexcept nogil:
    cdef const Tables *t = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef int32_t seat, rank, best = -1, winners = 0
    cdef int32_t ranks[SEAT_LIMIT]
    cdef double total = 0.0, share
    for seat in range(t.players):
        out[seat] = 0.0
    if s.step != OVER:
        return
    if t.players == 1:                       # 22, 23, P14
        if s.in_deck + s.in_quest == 0:
            out[0] = army_size(s.purse[0])
        return
    for seat in range(t.players):            # 29, 30, P12
        rank = points(t, s, seat) * 256
        if not t.original:
            rank += army_size(s.purse[seat])
        ranks[seat] = rank
        total += points(t, s, seat)
        if rank > best:
            best = rank
            winners = 0
        winners += rank == best
    for seat in range(t.players):
        if t.by_score:
            out[seat] = points(t, s, seat) - (total - points(t, s, seat)) / <double>(t.players - 1)
        elif ranks[seat] == best:            # P19
            share = <double>t.players / <double>winners
            out[seat] = (share - 1.0) / <double>(t.players - 1)
        else:
            out[seat] = -1.0 / <double>(t.players - 1)


cdef inline int32_t points(const Tables *t, const State *s, int32_t seat) noexcept nogil:
    """A seat's score among several: its army, and by the common rule its discards. # 29, P12"""
    cdef int32_t score = army_size(s.purse[seat])
    return score if t.original else score + army_count(s.purse[seat], DISCARDED)


cdef void estimate(const void *tables, const void *state, double *out) noexcept nogil:
    if (<const State *>state).step == OVER:
        returns(tables, state, out)
    elif (<const Tables *>tables).players == 1:
        estimate_alone(tables, state, out)
    else:
        estimate_among(tables, state, out)


cdef uint64_t state_key(const void *tables, const void *state) noexcept nogil:
    """Turns matter only through the long turns still to come."""
    cdef const Tables *t = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef uint64_t words[3 + SEAT_LIMIT]
    cdef int32_t seat
    cdef int32_t long_turns = t.long_turns - <int32_t>s.turn - 1 if <int32_t>s.turn < t.long_turns else 0
    words[0] = s.deck
    words[1] = s.quest
    words[2] = (<uint64_t>s.dice | <uint64_t>s.step << 16 | <uint64_t>s.seat << 24
                | <uint64_t>s.rerolls << 32 | <uint64_t>long_turns << 40)
    for seat in range(t.players):
        words[3 + seat] = s.purse[seat] & t.key_mask
    return hash_bytes(words, 8 * (3 + t.players), 0)


cdef int64_t clock(const void *tables, const void *state) noexcept nogil:
    """The running turn by the cards captured before it. Failed turns at the same count are told
    apart by the seat, and those of one seat follow each other."""
    cdef const State *s = <const State *>state
    return <int64_t>((<const Tables *>tables).n_cards - s.in_deck - s.in_quest) * SEAT_LIMIT + s.seat


cdef int32_t check(const void *tables, const void *state) noexcept nogil:
    """Rule 31 and the form of the struct; the number of the rule that is broken."""
    cdef const Tables *t = <const Tables *>tables
    cdef const State *s = <const State *>state
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


# ---- the rules object --------------------------------------------------------------------------

_STEPS = ("draw", "roll", "act", "forfeit", "over")
_FIELDS = ("deck", "quest", "armies", "discards", "turn", "seat", "step", "dice", "rerolls")


cdef class PentaquestRules(Rules):
    """Pentaquest with one deck, for some number of players.

    Attributes:
        deck: the `cards.Deck` in play.
        kinds: interchangeable cards, a tuple of `cards.Card` a kind; kind numbers are its indices.
    """

    cdef Tables data
    cdef readonly object deck
    cdef readonly list kinds
    cdef object prices            # the arrays behind Tables.price
    cdef object reached           # the arrays behind Tables.reach

    def __init__(self, dict parameters, start=None):
        super().__init__(parameters, start)
        self.name = "pentaquest"
        players, area = parameters["players"], parameters["quest_area"]
        for key, value, most in (("players", players, SEAT_LIMIT), ("quest_area", area, CARD_LIMIT)):
            if not 1 <= value <= most:
                raise ParameterError(f"pentaquest: {key} is {value}, allowed are 1 to {most}")
        for key, allowed in (("first_turn_rerolls", ("all", "first")), ("utility", ("win", "score"))):
            if parameters[key] not in allowed:
                raise ParameterError(f"pentaquest: {key} is {parameters[key]!r}, allowed are {' and '.join(allowed)}")
        for key, usual in (("original", False), ("first_turn_rerolls", "all"), ("utility", "win")):
            if players == 1 and parameters[key] != usual:
                raise ParameterError(f"pentaquest: {key} is an option for several players, not for players=1")
        self.deck = read_deck(parameters["deck"])
        self.kinds = self.deck.kinds
        self.digest = self.deck.digest
        cdef Tables *t = &self.data
        memset(t, 0, sizeof(Tables))
        t.rolls = &_ROLLS.table
        t.n_cards, t.n_kinds = len(self.deck.cards), len(self.kinds)
        t.area, t.players = area, players
        t.long_turns = players if parameters["first_turn_rerolls"] == "all" else 1
        t.original, t.by_score = parameters["original"], parameters["utility"] == "score"
        self._fill_cards(parameters["distinct"])
        self._fill_changes()
        self.prices = judge_cards(t)
        self.reached = learn_outlook(t)
        self.tables = t
        self._fill_ops()
        self.seal()

    def _fill_cards(self, distinct):
        cdef Tables *t = &self.data
        cdef int32_t card = 0, kind, i, roll
        counts = _ROLLS.counts[FIRST_ROLL:]
        for kind, cards in enumerate(self.kinds):
            met = cards[0].met_by(counts, distinct=distinct)
            t.symbol_of[kind] = SYMBOLS.index(cards[0].symbol)
            for i in range(len(cards)):
                t.kind_of[card] = kind
                t.kind_cards[kind] |= <uint64_t>1 << card
                if i:
                    t.twins |= <uint64_t>1 << card
                for roll in np.flatnonzero(met):
                    t.beats[roll] |= <uint64_t>1 << card
                card += 1

    def _fill_changes(self):
        """What each change makes of each roll. # 10, 11, 12, 14"""
        cdef Tables *t = &self.data
        cdef int32_t roll, change, source, goal, symbol
        cdef uint64_t packed
        for change in range(N_CHANGES):
            symbol, source, goal = _change(change)
            t.change_symbol[change] = symbol
            t.symbol_changes[symbol] |= <uint32_t>1 << change
            for roll in range(N_ROLLS):
                packed = roll_packed(t.rolls, roll)
                t.changed[change][roll] = NO_ROLL
                if packed_count(packed, source - 1):
                    packed += (<uint64_t>1 << (8 * (goal - 1))) - (<uint64_t>1 << (8 * (source - 1)))
                    t.changed[change][roll] = roll_of_keeper(t.rolls, roll_keeper_id(t.rolls, packed))
                    t.changes[roll] |= <uint32_t>1 << change

    def _fill_ops(self):
        cdef Tables *t = &self.data
        cdef double bound
        n = t.n_cards
        self.ops.game_version = 1
        self.ops.state_size = sizeof(State)
        self.ops.n_players = t.players
        self.ops.n_actions, self.ops.n_outcomes = N_DECISIONS, N_CHANCES
        self.ops.max_legal = 1 + min(t.area, t.n_kinds) + 2 * 32 + N_CHANGES
        self.ops.max_outcomes = N_ROLLS
        if t.players == 1:
            # At most one turn a card: a reroll and a beaten card, once two rerolls; each army card used once.
            self.ops.max_decisions = 3 * n
            self.ops.max_chances = 4 * n + 1
            self.ops.flags = 0
            self.ops.min_utility, self.ops.max_utility = 0.0, n
            t.key_mask = <uint64_t>0xFFFFFFFFFFu
        else:
            # Failed turns have no bound (27). A roll beats a card with some chance p; even at random
            # the last card is taken within 2 / p turns on average, so this bound is generous.
            bound = sum([1.0 / _beat_chance(t, card) for card in range(n)])
            self.ops.max_decisions = self.ops.max_chances = <int32_t>min(1e9, 100.0 * (bound + n))
            self.ops.flags = ZERO_SUM | CYCLIC
            self.ops.min_utility = (-<double>n if t.by_score else -1.0) / <double>(t.players - 1)
            self.ops.max_utility = n if t.by_score else 1.0
            t.key_mask = <uint64_t>0xFFFFFFFFFFu if t.original else <uint64_t>0xFFFFFFFFFFFFu
        self.ops.turn, self.ops.legal, self.ops.outcomes, self.ops.sample = turn, legal, outcomes, sample
        self.ops.apply, self.ops.returns, self.ops.state_key = apply, returns, state_key
        self.ops.run_chance, self.ops.random_action, self.ops.playout = run_chance, random_action, playout
        self.ops.suggest, self.ops.estimate, self.ops.clock, self.ops.check = suggest, estimate, clock, check

    cdef void write_start(self, void *state) noexcept:
        cdef State *s = <State *>state
        s.in_deck = self.data.n_cards
        s.deck = (<uint64_t>1 << s.in_deck) - 1 if s.in_deck < 64 else ~<uint64_t>0
        begin_turn(&self.data, s)

    # ---- names ---------------------------------------------------------------------------------

    def action_name(self, action):
        if action >= GIVE:
            return f"discard {SYMBOLS[action - GIVE]}"
        if action >= CHANGE:
            symbol, source, goal = _change(action - CHANGE)
            return f"{SYMBOLS[symbol]} {source} to {goal}"
        if action >= AGAIN:
            return f"reroll card, keep {_dice_text(action - AGAIN)}"
        if action >= KEEP:
            return f"reroll, keep {_dice_text(action - KEEP)}"
        return f"beat {self._kind_name(action - BEAT)}" if action >= BEAT else "pass"

    def outcome_name(self, outcome):
        if outcome >= SHOW:
            return f"roll {_dice_text(outcome - SHOW)}"
        return f"draw {self._kind_name(outcome - DEAL)}"

    def _kind_name(self, kind):
        return self.kinds[kind][0].name if kind < len(self.kinds) else f"{NO_CARD}{kind}"

    # ---- positions as text and dicts -----------------------------------------------------------

    def dice(self, Position position):
        """The dice on the table, ascending: all five, or those kept for a roll; [] when none lie there."""
        return _dice((<State *>position.state).dice)

    def quest_kinds(self, Position position):
        """Kinds in the quest area, a kind as often as it lies there."""
        return self._kinds_in((<State *>position.state).quest)

    def beaten_kinds(self, Position position):
        """Kinds in the quest area that the dice on the table beat now."""
        cdef State *s = <State *>position.state
        if s.step != ACT:
            return set()
        return set(self._kinds_in(s.quest & self.data.beats[s.dice - FIRST_ROLL]))

    @property
    def ease(self):
        """By kind: the chance to beat it with a fresh roll and one reroll, aiming at it alone."""
        return [self.data.ease[kind] for kind in range(self.data.n_kinds)]

    def outlook_terms(self, Position position):
        """Among several, where a turn begins: cards left, and what the estimate weighs of every seat, float64 [seat,
        term] in the order of `weights.TERMS`."""
        return terms_of(&self.data, <State *>position.state)

    def odds(self, Position position):
        """By kind in the quest area: the chance to beat it this turn when the free rerolls aim at it
        alone and no army card is used. Empty before the roll is due."""
        cdef State *s = <State *>position.state
        if s.step != ACT and s.step != ROLL:
            return {}
        return {kind: self.data.chance[<int>kind][s.rerolls][s.dice] for kind in self._kinds_in(s.quest)}

    def _kinds_in(self, uint64_t cards):
        return [self.data.kind_of[card] for card in range(self.data.n_cards) if cards >> card & 1]

    def describe(self, Position position):
        cdef State *s = <State *>position.state
        lines = [f"{_STEPS[s.step]}, player {s.seat}, turns {s.turn}"]
        if s.dice:
            lines[0] += f", dice {_dice_text(s.dice)}" + (" kept" if s.step == ROLL else "")
        lines[0] += f", free rerolls {s.rerolls}"
        lines.append("quest: " + (", ".join(self._card_text(kind) for kind in self._kinds_in(s.quest)) or "empty"))
        for seat in range(self.data.players):
            lines.append(f"player {seat}: army {_army_text(s.purse[seat])}, "
                         f"discards {army_count(s.purse[seat], DISCARDED)}")
        lines.append(f"deck of {s.in_deck}: "
                     + (", ".join(self._kind_name(kind) for kind in self._kinds_in(s.deck)) or "empty"))
        return "\n".join(lines)

    def _card_text(self, kind):
        card = self.kinds[kind][0]
        return f"{card.name} [{' or '.join(str(part) for part in card.requires)}; {card.symbol}]"

    def export(self, Position position):
        cdef State *s = <State *>position.state
        seats = range(self.data.players)
        return {
            "deck": [self._kind_name(kind) for kind in self._kinds_in(s.deck)],
            "quest": [self._kind_name(kind) for kind in self._kinds_in(s.quest)],
            "armies": [{name: army_count(s.purse[seat], symbol) for symbol, name in enumerate(SYMBOLS)
                        if army_count(s.purse[seat], symbol)} for seat in seats],
            "discards": [army_count(s.purse[seat], DISCARDED) for seat in seats],
            "turn": s.turn, "seat": s.seat, "step": _STEPS[s.step], "dice": _dice(s.dice), "rerolls": s.rerolls,
        }

    def restore(self, dict position):
        """A position composed by hand. Every field may be left out: what is missing follows from the rest.

        Fields: `deck` and `quest`, card names (`deck` by default: all cards that are not in the quest
        area); `armies`, a table of symbol counts a seat; `discards`, a number a seat; `turn`,
        turns finished (among several, taken round by the number of players once everyone had the
        first turn); `seat`; `step`, one of draw, roll, act, forfeit,
        over; `dice`, all five or those kept for a roll; `rerolls`, free rerolls left.
        """
        cdef Position made = new_position(self, self.start)
        cdef State *s = <State *>made.state
        cdef Tables *t = &self.data
        cdef int32_t kind, i
        memset(s, 0, sizeof(State))
        for field in position:
            if field not in _FIELDS:
                raise PositionError(f"pentaquest: unknown field {field!r}; allowed: {', '.join(_FIELDS)}")
        quest = self._count_names("quest", position.get("quest", []))
        if "deck" in position:
            deck = self._count_names("deck", position["deck"])
        else:
            deck = [max(0, len(cards) - quest[kind]) for kind, cards in enumerate(self.kinds)]
        first = 0
        captured_symbols = [0] * N_SYMBOLS
        for kind, cards in enumerate(self.kinds):
            captured = len(cards) - quest[kind] - deck[kind]
            if captured < 0:
                field = "quest" if quest[kind] > len(cards) else "deck"
                raise PositionError(
                    f"pentaquest: {field} and the rest hold {cards[0].name!r} {quest[kind] + deck[kind]} times; "
                    f"the deck has {len(cards)} of that kind")
            captured_symbols[t.symbol_of[kind]] += captured
            for i in range(captured, captured + quest[kind]):
                s.quest |= <uint64_t>1 << (first + i)
            for i in range(captured + quest[kind], len(cards)):
                s.deck |= <uint64_t>1 << (first + i)
            first += len(cards)
        s.in_deck, s.in_quest = sum(deck), sum(quest)
        if s.in_quest > t.area:
            raise PositionError(f"pentaquest: quest holds {s.in_quest} cards; the quest area has room for {t.area}")
        self._restore_armies(made, position, captured_symbols)
        self._restore_turn(made, position, sum(captured_symbols))
        self._restore_step(made, position)
        return made

    def _count_names(self, field, names):
        """How many cards of each kind a list of names holds."""
        if not isinstance(names, (list, tuple)):
            raise PositionError(f"pentaquest: {field} is {names!r}, must be a list of card names")
        kind_of = {card.name: kind for kind, cards in enumerate(self.kinds) for card in cards}
        counts = [0] * len(self.kinds)
        for name in names:
            kind = kind_of.get(name) if isinstance(name, str) else None
            if kind is None:
                raise PositionError(f"pentaquest: {field} holds {name!r}, no card of the deck {self.deck.path.name}")
            counts[kind] += 1
        return counts

    def _restore_armies(self, Position made, position, captured):
        cdef State *s = <State *>made.state
        cdef int32_t seat, symbol
        players = self.data.players
        armies = position.get("armies", [{}] * players)
        if not isinstance(armies, (list, tuple)) or len(armies) != players:
            raise PositionError(f"pentaquest: armies is {armies!r}, must be a list of {players} tables, one a seat")
        held = [0] * N_SYMBOLS
        for seat, army in enumerate(armies):
            if not isinstance(army, dict):
                raise PositionError(f"pentaquest: armies holds {army!r}, must be tables of counts by symbol")
            for name, count in army.items():
                if name not in SYMBOLS:
                    raise PositionError(f"pentaquest: armies holds {name!r}; symbols are {', '.join(SYMBOLS)}")
                symbol = SYMBOLS.index(name)
                count = _whole("armies", count, 0, CARD_LIMIT)
                held[symbol] += count
                if held[symbol] > captured[symbol]:
                    raise PositionError(
                        f"pentaquest: armies hold {held[symbol]} or more {name} cards; of the captured cards "
                        f"(neither in deck nor in quest) {captured[symbol]} have that symbol")
                s.purse[seat] += <uint64_t>count << (8 * symbol)
        used = sum(captured) - sum(held)
        discards = position.get("discards", [used] if players == 1 else [0] * players)
        if not isinstance(discards, (list, tuple)) or len(discards) != players:
            raise PositionError(
                f"pentaquest: discards is {discards!r}, must be a list of {players} numbers, one a seat")
        for seat, count in enumerate(discards):
            s.purse[seat] += <uint64_t>_whole("discards", count, 0, CARD_LIMIT) << (8 * DISCARDED)
        if sum(discards) != used:
            raise PositionError(
                f"pentaquest: discards sum to {sum(discards)}; {sum(captured)} cards are neither in deck nor in quest, "
                f"{sum(held)} of them in armies, so it must be {used}")

    def _restore_turn(self, Position made, position, captured):
        cdef State *s = <State *>made.state
        players = self.data.players
        over = position.get("step") == "over" or s.in_deck + s.in_quest == 0
        lost = players == 1 and over and s.in_deck + s.in_quest > 0
        seat = _whole("seat", position.get("seat", 0), 0, players - 1)
        turn = captured + lost
        if players > 1:
            while (turn - over) % players != seat and ("seat" in position or "turn" not in position):
                turn += 1
        turn = _whole("turn", position.get("turn", turn), 0, 2**31 - 1)
        if players == 1 and turn != captured + lost:
            raise PositionError(
                f"pentaquest: turn is {turn}; alone, {captured} captured cards mean {captured + lost} turns")
        if turn < captured and turn < players:
            raise PositionError(f"pentaquest: turn is {turn}; {captured} captured cards need at least as many turns")
        if "seat" in position and (turn - over) % players != seat:
            raise PositionError(
                f"pentaquest: seat is {seat}, but with {turn} turns finished by {players} players "
                f"it is {(turn - over) % players}")
        if players > 1 and turn >= 2 * players:
            turn = players + turn % players
        s.turn, s.seat = turn, (turn - over) % players

    def _restore_step(self, Position made, position):
        """Step, dice and rerolls; then what the engine does by itself, so that a choice is left."""
        cdef State *s = <State *>made.state
        cdef Tables *t = &self.data
        dice = position.get("dice", [])
        if (not isinstance(dice, (list, tuple)) or len(dice) > DICE
                or any(type(die) is not int or not 1 <= die <= 6 for die in dice)):
            raise PositionError(f"pentaquest: dice is {dice!r}, must be a list of at most {DICE} numbers 1 to 6")
        empty = s.in_deck + s.in_quest == 0
        step = position.get("step", "over" if empty else "act" if len(dice) == DICE else "roll" if dice else "draw")
        if step not in _STEPS:
            raise PositionError(f"pentaquest: step is {step!r}; allowed: {', '.join(_STEPS)}")
        if step != "over" and empty:
            raise PositionError(f"pentaquest: step is {step!r}, but deck and quest are empty: the game is over")
        if step == "over" and not empty and t.players > 1:
            raise PositionError("pentaquest: step is 'over', but there are cards in deck or quest")
        wanted = {"draw": (0, 0), "roll": (0, 4), "act": (5, 5), "forfeit": (5, 5), "over": (0, 0)}[step]
        if not wanted[0] <= len(dice) <= wanted[1]:
            allowed = str(wanted[0]) if wanted[0] == wanted[1] else f"{wanted[0]} to {wanted[1]}"
            raise PositionError(f"pentaquest: dice is {dice!r}; with step {step!r} there are {allowed} dice")
        if step not in ("draw", "over") and s.in_deck and s.in_quest < t.area:
            raise PositionError(
                f"pentaquest: quest holds {s.in_quest} of {t.area} cards and the deck {s.in_deck}; "
                f"before step {step!r} the quest area is filled")
        most = 0 if step in ("over", "forfeit") else 2 if <int32_t>s.turn < t.long_turns else 1
        s.rerolls = _whole("rerolls", position.get("rerolls", most), 0, most)
        if step == "draw" and s.rerolls != most:
            raise PositionError(f"pentaquest: rerolls is {s.rerolls}; before the first roll of this turn it is {most}")
        if step == "over":
            s.step = OVER
        elif step == "draw":
            fill_quest(t, s)
        elif step == "forfeit":
            if not t.original or t.players == 1:
                raise PositionError("pentaquest: step is 'forfeit', which only original=true with several players has")
            s.dice = _keeper(dice)
            fail_turn(t, s)
        elif step == "act":
            show_dice(t, s, _keeper(dice) - FIRST_ROLL)
        else:
            s.step, s.dice = ROLL, _keeper(dice)

    # ---- tensors -------------------------------------------------------------------------------

    def tensor_shape(self):
        return [2 * self.data.n_kinds + 12 + 7 * self.data.players]

    def observe_tensor(self, Position position, observer, float[::1] out):
        """By kind, the share of its cards in the deck and in the quest area; dice of each face (of
        5); free rerolls (of 2); one-hot step; then by seat, the observer first: army cards of each
        symbol and discards as shares of the deck, own turn."""
        cdef State *s = <State *>position.state
        cdef Tables *t = &self.data
        cdef int32_t kind, i, seat, symbol, base
        for kind in self._kinds_in(s.deck):
            out[2 * kind] += 1.0 / len(self.kinds[kind])
        for kind in self._kinds_in(s.quest):
            out[2 * kind + 1] += 1.0 / len(self.kinds[kind])
        base = 2 * t.n_kinds
        for i in range(6):
            out[base + i] = packed_count(t.rolls.packed[s.dice], i) / 5.0
        out[base + 6] = s.rerolls / 2.0
        out[base + 7 + s.step] = 1.0
        base += 12
        for i in range(t.players):
            seat = (observer + i) % t.players
            for symbol in range(N_SYMBOLS + 1):
                out[base + symbol] = army_count(s.purse[seat], symbol) / <double>t.n_cards
            out[base + 6] = s.seat == seat
            base += 7


# ---- numbers and names ---------------------------------------------------------------------------

def _change(change):
    """(symbol, face before, face after) of a change."""
    if change >= MIRROR_OF:
        face = change - MIRROR_OF + 1
        return MIRROR, face, 7 - face
    if change >= ADDSUB_DOWN:
        return ADDSUB, change - ADDSUB_DOWN + 2, change - ADDSUB_DOWN + 1
    if change >= ADDSUB_UP:
        return ADDSUB, change - ADDSUB_UP + 1, change - ADDSUB_UP + 2
    if change >= SUB_FROM:
        return SUB, change - SUB_FROM + 2, change - SUB_FROM + 1
    return ADD, change - ADD_TO + 1, change - ADD_TO + 2


def _dice(keeper):
    """The dice of a keeper, ascending."""
    return [face + 1 for face in range(6) for _ in range(_ROLLS.counts[keeper, face])]


def _dice_text(keeper):
    return " ".join(str(die) for die in _dice(keeper)) or "none"


def _keeper(dice):
    """The keeper of a list of dice."""
    cdef uint64_t packed = 0
    for die in dice:
        packed += <uint64_t>1 << (8 * (die - 1))
    return roll_keeper_id(&_ROLLS.table, packed)


def _army_text(uint64_t purse):
    held = [f"{army_count(purse, symbol)} {name}" for symbol, name in enumerate(SYMBOLS) if army_count(purse, symbol)]
    return ", ".join(held) or "none"


def _whole(field, value, least, most):
    """The value when it is a whole number in range, else PositionError."""
    if type(value) is not int or not least <= value <= most:
        raise PositionError(f"pentaquest: {field} is {value!r}, must be a whole number {least} to {most}")
    return value


cdef double _beat_chance(const Tables *t, int32_t card) noexcept:
    """Chance that a fresh roll beats a card."""
    cdef double total = 0.0
    cdef int32_t roll
    for roll in range(N_ROLLS):
        if t.beats[roll] >> card & 1:
            total += roll_prob(t.rolls, roll)
    return total
