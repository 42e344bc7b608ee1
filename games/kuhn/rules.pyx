"""The rules of Kuhn poker (Kuhn, 1950), and the example of a game with hidden information.

Both players ante 1 and get one of three cards (0, 1, 2), face down. In turn they pass or bet 1.
A bet may be called (by a bet) or passed, which forfeits the ante; after two passes, or a bet
and a call, the higher card takes the pot. The game is worth -1/18 to the first player.

What games/pig shows is not repeated here. New are the three functions of hidden information:
`info_key` and `info_bytes` (what a seat knows, with perfect recall) and `resample` (what else
could be true).
"""
from libc.stdint cimport int8_t, int32_t, uint8_t, uint64_t

from engine_ext.game cimport CHANCE, HIDDEN_INFORMATION, TERMINAL, ZERO_SUM
from engine_ext.position cimport Position, Rules, new_position
from engine_ext.rng cimport Rng, rng_below, rng_mix

from engine_ext.errors import PositionError

cdef enum:
    PASS = 0
    BET = 1

cdef struct State:
    int8_t card[2]      # by seat; -1 before the deal
    int8_t n_bids       # decisions so far
    uint8_t bids        # bit i is 1 when decision i was a bet


cdef inline bint over(const State *s) noexcept nogil:
    """After pass-pass, bet-anything, or pass-bet-anything."""
    return s.n_bids == 3 or (s.n_bids == 2 and s.bids != 2)

cdef int32_t turn(const void *tables, const void *state) noexcept nogil:
    cdef const State *s = <const State *>state
    if s.card[1] < 0:
        return CHANCE
    return TERMINAL if over(s) else s.n_bids & 1

cdef int32_t legal(const void *tables, const void *state, int32_t *out) noexcept nogil:
    out[0] = PASS
    out[1] = BET
    return 2

cdef int32_t outcomes(const void *tables, const void *state, int32_t *ids, double *probs) noexcept nogil:
    """The card dealt: any of three to seat 0, then any of the other two to seat 1."""
    cdef const State *s = <const State *>state
    cdef int32_t card, count = 0
    for card in range(3):
        if card != s.card[0]:
            ids[count] = card
            probs[count] = 1.0 / 3.0 if s.card[0] < 0 else 0.5
            count += 1
    return count

cdef int32_t sample(const void *tables, const void *state, Rng *rng) noexcept nogil:
    cdef const State *s = <const State *>state
    cdef int32_t card
    if s.card[0] < 0:
        return rng_below(rng, 3)
    card = rng_below(rng, 2)
    return card + (card >= s.card[0])

cdef void apply(const void *tables, void *state, int32_t id) noexcept nogil:
    cdef State *s = <State *>state
    if s.card[0] < 0:
        s.card[0] = id
    elif s.card[1] < 0:
        s.card[1] = id
    else:
        s.bids |= id << s.n_bids
        s.n_bids += 1

cdef void returns(const void *tables, const void *state, double *out) noexcept nogil:
    cdef const State *s = <const State *>state
    cdef int32_t winner
    cdef double stake = 1.0
    out[0] = out[1] = 0.0
    if s.card[1] < 0 or not over(s):
        return
    winner = 0 if s.card[0] > s.card[1] else 1
    if s.bids == 3 or s.bids == 6:          # bet-bet, pass-bet-bet: a called bet
        stake = 2.0
    elif s.bids == 1:                       # bet-pass: seat 1 folded
        winner = 0
    elif s.bids == 2:                       # pass-bet-pass: seat 0 folded
        winner = 1
    out[winner] = stake
    out[1 - winner] = -stake

cdef uint64_t state_key(const void *tables, const void *state) noexcept nogil:
    cdef const State *s = <const State *>state
    return rng_mix(<uint64_t>(s.card[0] + 1) | <uint64_t>(s.card[1] + 1) << 2
                   | <uint64_t>s.n_bids << 4 | <uint64_t>s.bids << 6)

cdef int32_t info_bytes(const void *tables, const void *state, int32_t observer, uint8_t *out) noexcept nogil:
    """The own card, and every bid: bids are public, so this is the whole history a seat knows."""
    cdef const State *s = <const State *>state
    out[0] = observer
    out[1] = s.card[observer] + 1
    out[2] = s.n_bids
    out[3] = s.bids
    return 4

cdef uint64_t info_key(const void *tables, const void *state, int32_t observer) noexcept nogil:
    cdef uint8_t known[4]
    info_bytes(tables, state, observer, known)
    return rng_mix(<uint64_t>known[0] | <uint64_t>known[1] << 8 | <uint64_t>known[2] << 16 | <uint64_t>known[3] << 24)

cdef void resample(const void *tables, void *state, int32_t observer, Rng *rng) noexcept nogil:
    """Deal the rival another card: either of the two the observer does not hold, alike likely."""
    cdef State *s = <State *>state
    cdef int32_t card
    if s.card[1 - observer] < 0 or s.card[observer] < 0:
        if observer == 1 and s.card[0] >= 0:   # seat 1 has no card yet and knows nothing
            s.card[0] = rng_below(rng, 3)
        return
    card = rng_below(rng, 2)
    s.card[1 - observer] = card + (card >= s.card[observer])

cdef int32_t suggest(const void *tables, const void *state, Rng *rng) noexcept nogil:
    """Bet the highest card, pass the lowest, and with the middle one call one bet in two."""
    cdef const State *s = <const State *>state
    cdef int32_t card = s.card[s.n_bids & 1]
    if card == 1:
        return rng_below(rng, 2) if s.bids else PASS
    return BET if card == 2 else PASS


cdef class KuhnRules(Rules):

    def __init__(self, dict parameters, start=None):
        super().__init__(parameters, start)
        self.name = "quandary_kuhn"
        self.digest = ""
        self.ops.game_version = 1
        self.ops.state_size = sizeof(State)
        self.ops.n_players = 2
        self.ops.n_actions = self.ops.max_legal = 2
        self.ops.n_outcomes = self.ops.max_outcomes = 3
        self.ops.max_decisions, self.ops.max_chances = 3, 2
        self.ops.info_size = 4
        self.ops.flags = HIDDEN_INFORMATION | ZERO_SUM
        self.ops.min_utility, self.ops.max_utility = -2.0, 2.0
        self.ops.turn, self.ops.legal, self.ops.outcomes, self.ops.sample = turn, legal, outcomes, sample
        self.ops.apply, self.ops.returns, self.ops.state_key = apply, returns, state_key
        self.ops.info_key, self.ops.info_bytes, self.ops.resample = info_key, info_bytes, resample
        self.ops.suggest = suggest
        self.seal()

    cdef void write_start(self, void *state) noexcept:
        cdef State *s = <State *>state
        s.card[0] = s.card[1] = -1

    def action_name(self, action):
        return ("pass", "bet")[action]

    def outcome_name(self, outcome):
        return f"deal {outcome}"

    def describe(self, Position position):
        cdef State *s = <State *>position.state
        return f"cards {self._card(s.card[0])} {self._card(s.card[1])}, bids {self._bids(position) or '-'}"

    def observe(self, Position position, observer):
        cdef State *s = <State *>position.state
        return f"card {self._card(s.card[observer])}, bids {self._bids(position) or '-'}"

    def recall(self, Position position, observer):
        cdef State *s = <State *>position.state
        return (str(s.card[observer]) if s.card[observer] >= 0 else "") + self._bids(position)

    def _card(self, card):
        return "?" if card < 0 else str(card)

    def _bids(self, Position position):
        cdef State *s = <State *>position.state
        return "".join("b" if s.bids >> i & 1 else "p" for i in range(s.n_bids))

    def export(self, Position position):
        cdef State *s = <State *>position.state
        return {"cards": [card if card >= 0 else None for card in (s.card[0], s.card[1])], "bids": self._bids(position)}

    def restore(self, dict position):
        cdef Position made = new_position(self, self.start)
        cdef State *s = <State *>made.state
        unknown = set(position) - {"cards", "bids"}
        if unknown:
            raise PositionError(f"quandary_kuhn: unknown field {min(unknown)!r}; allowed: cards, bids")
        cards, bids = position.get("cards", [None, None]), position.get("bids", "")
        if (not isinstance(cards, list) or len(cards) != 2 or any(card not in (None, 0, 1, 2) for card in cards)
                or (cards[0] is None and cards[1] is not None) or (cards[0] is not None and cards[0] == cards[1])):
            raise PositionError(
                f"quandary_kuhn: cards is {cards!r}, must be two different cards of 0, 1, 2 (null: not dealt)")
        if bids not in ("", "p", "b", "pp", "pb", "bp", "bb", "pbp", "pbb") or (bids and cards[1] is None):
            raise PositionError(f"quandary_kuhn: bids is {bids!r}, not a sequence of p and b that can arise")
        for seat in range(2):
            s.card[seat] = -1 if cards[seat] is None else cards[seat]
        for i, bid in enumerate(bids):
            s.bids |= (bid == "b") << i
        s.n_bids = len(bids)
        return made

    def tensor_shape(self):
        return [11]

    def observe_tensor(self, Position position, observer, float[::1] out):
        """Own seat (2), own card (3), each of three bids as pass or bet (6): with so short a game
        the observation and the information state are the same."""
        cdef State *s = <State *>position.state
        out[observer] = 1
        if s.card[observer] >= 0:
            out[2 + s.card[observer]] = 1
        for i in range(s.n_bids):
            out[5 + 2 * i + (s.bids >> i & 1)] = 1

    def recall_tensor_shape(self):
        return [11]

    def recall_tensor(self, Position position, observer, float[::1] out):
        self.observe_tensor(position, observer, out)
