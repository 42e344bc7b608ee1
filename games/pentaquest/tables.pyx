"""The tables behind the rules of Pentaquest, made from the parameters and the deck."""
from libc.stdint cimport int32_t, uint32_t, uint64_t
from libc.string cimport memset

from engine_ext.dice cimport Rolls, packed_count, roll_keeper_id, roll_of_keeper, roll_packed
from games.pentaquest.outlook cimport learn_outlook
from games.pentaquest.plan cimport judge_cards
from games.pentaquest.state cimport (
    CARD_LIMIT, FIRST_ROLL, N_CHANGES, N_ROLLS, NO_ROLL, SEAT_LIMIT, DieChange, Tables, die_change,
)

import numpy as np

from engine_ext.errors import ParameterError
from games.pentaquest.cards import DICE, SYMBOLS, read_deck

cdef Rolls _ROLLS = Rolls(DICE, 6)


cdef class PentaquestTables(Rules):
    """Pentaquest with one deck, for some number of players.

    Attributes:
        deck: the `cards.Deck` in play.
        kinds: interchangeable cards, a tuple of `cards.Card` a kind; kind numbers are its indices.
    """

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
        # Discards matter to the future only where they score. # 29, P12
        t.key_mask = <uint64_t>0xFFFFFFFFFFu if players == 1 or t.original else <uint64_t>0xFFFFFFFFFFFFu
        self._fill_cards(parameters["distinct"])
        self._fill_changes()
        self.prices = judge_cards(t)
        self.reached = learn_outlook(t)
        self.tables = t

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
        cdef int32_t roll, change
        cdef uint64_t packed
        cdef DieChange made
        for change in range(N_CHANGES):
            made = die_change(change)
            t.change_symbol[change] = made.symbol
            t.symbol_changes[made.symbol] |= <uint32_t>1 << change
            for roll in range(N_ROLLS):
                packed = roll_packed(t.rolls, roll)
                t.changed[change][roll] = NO_ROLL
                if packed_count(packed, made.before - 1):
                    packed += (<uint64_t>1 << (8 * (made.after - 1))) - (<uint64_t>1 << (8 * (made.before - 1)))
                    t.changed[change][roll] = roll_of_keeper(t.rolls, roll_keeper_id(t.rolls, packed))
                    t.changes[roll] |= <uint32_t>1 << change
