"""The rules of Pentaquest for 1 to 8 players, as the rest of the project sees them.

A turn: the quest area is filled from the deck; the seat rolls five dice, may reroll any of them
once for free (twice in the first turn), may then change them with cards of its army, and may
beat one card of the quest area whose requirement the dice meet; that card joins the army. Alone,
a turn without a beaten card loses the game. Numbers in comments (`# 7`, `# P5`) are those of the
rules and readings in docs/games/pentaquest.md.

One decision node serves the phases 2 to 5: beat a card (which ends the turn), reroll, use an army
card, or pass. Using a card ends the free rerolls (P5).

state.pxd has the state, the tables and the numbers of actions; tables.pyx makes the tables from parameters and deck;
machine.pyx runs the rules on them and names the files of the rules themselves; names.pyx and positions.pyx put numbers
and positions into words and back; plan.pyx and outlook.pyx are the game's own judgement.
"""
from libc.stdint cimport int32_t, uint64_t

from engine_ext.dice cimport packed_count, roll_prob
from engine_ext.game cimport CYCLIC, ZERO_SUM
from engine_ext.position cimport Position, new_position
from games.pentaquest.machine cimport (
    apply, check, clock, estimate, legal, outcomes, playout, random_action, returns, run_chance, sample, state_key,
    turn,
)
from games.pentaquest.names cimport list_dice, list_kinds, name_decision, name_outcome
from games.pentaquest.outlook cimport terms_of
from games.pentaquest.plan cimport suggest
from games.pentaquest.play cimport begin_turn
from games.pentaquest.positions cimport describe, read_dict, write_dict
from games.pentaquest.state cimport (
    ACT, FIRST_ROLL, N_CHANCES, N_CHANGES, N_DECISIONS, N_ROLLS, N_SYMBOLS, ROLL, State, Tables, army_count,
)
from games.pentaquest.tables cimport PentaquestTables


cdef class PentaquestRules(PentaquestTables):
    """The rules of Pentaquest under the parameters of `games/pentaquest/__init__.py`; for its attributes see
    `PentaquestTables`."""

    def __init__(self, dict parameters, start=None):
        super().__init__(parameters, start)
        self._fill_ops()
        self.seal()

    def _fill_ops(self):
        cdef const Tables *t = &self.data
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
        else:
            # Failed turns have no bound (27). A roll beats a card with some chance p; even at random
            # the last card is taken within 2 / p turns on average, so this bound is generous.
            bound = sum([1.0 / beat_chance(t, card) for card in range(n)])
            self.ops.max_decisions = self.ops.max_chances = <int32_t>min(1e9, 100.0 * (bound + n))
            self.ops.flags = ZERO_SUM | CYCLIC
            self.ops.min_utility = (-<double>n if t.by_score else -1.0) / <double>(t.players - 1)
            self.ops.max_utility = n if t.by_score else 1.0
        self.ops.turn, self.ops.legal, self.ops.outcomes, self.ops.sample = turn, legal, outcomes, sample
        self.ops.apply, self.ops.returns, self.ops.state_key = apply, returns, state_key
        self.ops.run_chance, self.ops.random_action, self.ops.playout = run_chance, random_action, playout
        self.ops.suggest, self.ops.estimate, self.ops.clock, self.ops.check = suggest, estimate, clock, check

    cdef void write_start(self, void *state) noexcept:
        cdef State *s = <State *>state
        s.in_deck = self.data.n_cards
        s.deck = (<uint64_t>1 << s.in_deck) - 1 if s.in_deck < 64 else ~<uint64_t>0
        begin_turn(&self.data, s)

    # ---- names, and positions as text and dicts ------------------------------------------------

    def action_name(self, action):
        return name_decision(self, action)

    def outcome_name(self, outcome):
        return name_outcome(self, outcome)

    def describe(self, Position position):
        return describe(self, <const State *>position.state)

    def export(self, Position position):
        return write_dict(self, <const State *>position.state)

    def restore(self, dict position):
        """A position composed by hand; for its fields see `positions.read_dict`."""
        cdef Position made = new_position(self, self.start)
        read_dict(self, <State *>made.state, position)
        return made

    # ---- what lies there -----------------------------------------------------------------------

    def dice(self, Position position):
        """The dice on the table, ascending: all five, or those kept for a roll; [] when none lie there."""
        return list_dice(&self.data, (<State *>position.state).dice)

    def quest_kinds(self, Position position):
        """Kinds in the quest area, a kind as often as it lies there."""
        return list_kinds(&self.data, (<State *>position.state).quest)

    def beaten_kinds(self, Position position):
        """Kinds in the quest area that the dice on the table beat now."""
        cdef State *s = <State *>position.state
        if s.step != ACT:
            return set()
        return set(list_kinds(&self.data, s.quest & self.data.beats[s.dice - FIRST_ROLL]))

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
        return {kind: self.data.chance[<int>kind][s.rerolls][s.dice] for kind in list_kinds(&self.data, s.quest)}

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
        for kind in list_kinds(t, s.deck):
            out[2 * kind] += 1.0 / len(self.kinds[kind])
        for kind in list_kinds(t, s.quest):
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


cdef double beat_chance(const Tables *t, int32_t card) noexcept:
    """Chance that a fresh roll beats a card."""
    cdef double total = 0.0
    cdef int32_t roll
    for roll in range(N_ROLLS):
        if t.beats[roll] >> card & 1:
            total += roll_prob(t.rolls, roll)
    return total
