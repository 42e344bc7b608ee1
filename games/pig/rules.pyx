"""The rules of Pig for two players, and the shortest complete example of a game.

A turn: roll one die as often as you like. A 2 to 6 adds to the turn total; a 1 loses the turn
total and the turn. Holding banks the total. The first to bank `goal` points wins. Points beyond
the goal change nothing, so scores stop at it, and the game has finitely many states.

A game is this file plus `__init__.py`. It has four parts, in this order: the state struct, the
functions over it, the table that lists them, and the Python face of the rules.
docs/adding-a-game.md walks through it.
"""
from libc.stdint cimport int32_t, int64_t, uint64_t

from engine_ext.game cimport CHANCE, CYCLIC, TERMINAL, ZERO_SUM
from engine_ext.position cimport Position, Rules, new_position
from engine_ext.rng cimport Rng, rng_below, rng_mix, rng_next

from engine_ext.errors import ParameterError, PositionError


# ---- the state: fixed size, no pointers --------------------------------------------------------

cdef struct State:
    int32_t banked[2]   # points safe, by seat
    int32_t total       # points at risk this turn
    int32_t seat        # whose turn it is
    int32_t rolling     # 1 when the die is in the air

cdef struct Tables:
    int32_t goal

cdef enum:
    ROLL = 0
    HOLD = 1


# ---- the functions of the contract -------------------------------------------------------------

cdef inline int32_t turn(const void *tables, const void *state) noexcept nogil:
    cdef const State *s = <const State *>state
    cdef int32_t goal = (<const Tables *>tables).goal
    if s.banked[0] >= goal or s.banked[1] >= goal:
        return TERMINAL
    return CHANCE if s.rolling else s.seat

cdef inline int32_t legal(const void *tables, const void *state, int32_t *out) noexcept nogil:
    out[0] = ROLL
    out[1] = HOLD
    return 2

cdef int32_t outcomes(const void *tables, const void *state, int32_t *ids, double *probs) noexcept nogil:
    cdef int32_t i
    for i in range(6):
        ids[i] = i          # outcome i is the face i + 1
        probs[i] = 1.0 / 6.0
    return 6

cdef inline int32_t sample(const void *tables, const void *state, Rng *rng) noexcept nogil:
    return rng_below(rng, 6)

cdef inline void apply(const void *tables, void *state, int32_t id) noexcept nogil:
    cdef State *s = <State *>state
    if s.rolling:
        s.rolling = 0
        if id > 0:
            s.total = min(s.total + id + 1, (<const Tables *>tables).goal - s.banked[s.seat])
            return
        s.total = 0
    elif id == ROLL:
        s.rolling = 1
        return
    else:
        s.banked[s.seat] += s.total
        s.total = 0
    s.seat = 1 - s.seat

cdef void returns(const void *tables, const void *state, double *out) noexcept nogil:
    cdef const State *s = <const State *>state
    cdef int32_t goal = (<const Tables *>tables).goal
    out[0] = (s.banked[0] >= goal) - (s.banked[1] >= goal)
    out[1] = -out[0]

cdef uint64_t state_key(const void *tables, const void *state) noexcept nogil:
    cdef const State *s = <const State *>state
    return rng_mix(<uint64_t>s.banked[0] | <uint64_t>s.banked[1] << 16 | <uint64_t>s.total << 32
                   | <uint64_t>s.seat << 48 | <uint64_t>s.rolling << 49)

cdef int64_t playout(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef int64_t steps = 0
    cdef int32_t seat = turn(tables, state)
    while seat != TERMINAL:
        apply(tables, state, sample(tables, state, rng) if seat == CHANCE else <int32_t>(rng_next(rng) >> 63))
        steps += 1
        seat = turn(tables, state)
    return steps

cdef int32_t suggest(const void *tables, const void *state, Rng *rng) noexcept nogil:
    """Hold at 20, or when it wins: the rule of thumb that maximises points a turn."""
    cdef const State *s = <const State *>state
    if s.total >= 20 or s.banked[s.seat] + s.total >= (<const Tables *>tables).goal:
        return HOLD
    return ROLL

cdef void estimate(const void *tables, const void *state, double *out) noexcept nogil:
    """The lead, as a share of the goal, clipped to the bounds."""
    cdef const State *s = <const State *>state
    cdef double lead = s.banked[0] - s.banked[1] + (s.total if s.seat == 0 else -s.total)
    if turn(tables, state) == TERMINAL:
        returns(tables, state, out)
        return
    out[0] = max(-1.0, min(1.0, lead / <double>(<const Tables *>tables).goal))
    out[1] = -out[0]

cdef int32_t check(const void *tables, const void *state) noexcept nogil:
    cdef const State *s = <const State *>state
    if s.banked[0] < 0 or s.banked[1] < 0 or s.total < 0:
        return 1
    if s.banked[s.seat] + s.total > (<const Tables *>tables).goal:
        return 2
    return 0


# ---- the rules object: parameters in, table out, and what Python needs to know ------------------

cdef class PigRules(Rules):
    cdef Tables data

    def __init__(self, dict parameters, start=None):
        super().__init__(parameters, start)
        goal = parameters["goal"]
        if not 2 <= goal <= 1000:
            raise ParameterError(f"quandary_pig: goal is {goal}, allowed are 2 to 1000")
        self.name = "quandary_pig"
        self.digest = ""
        self.data.goal = goal
        self.tables = &self.data
        self.ops.game_version = 1
        self.ops.state_size = sizeof(State)
        self.ops.n_players = 2
        self.ops.n_actions = self.ops.max_legal = 2
        self.ops.n_outcomes = self.ops.max_outcomes = 6
        # Pig has no bound of its own (a player may bank 0 for ever): this one is generous.
        self.ops.max_decisions = self.ops.max_chances = 100 * goal
        self.ops.flags = ZERO_SUM | CYCLIC
        self.ops.min_utility, self.ops.max_utility = -1.0, 1.0
        self.ops.turn, self.ops.legal, self.ops.outcomes, self.ops.sample = turn, legal, outcomes, sample
        self.ops.apply, self.ops.returns, self.ops.state_key = apply, returns, state_key
        self.ops.playout, self.ops.suggest, self.ops.estimate, self.ops.check = playout, suggest, estimate, check
        self.seal()

    def action_name(self, action):
        return ("roll", "hold")[action]

    def outcome_name(self, outcome):
        return f"die {outcome + 1}"

    def describe(self, Position position):
        cdef State *s = <State *>position.state
        return (f"scores {s.banked[0]} {s.banked[1]}, turn of player {s.seat}, turn total {s.total}"
                + (", rolling" if s.rolling else ""))

    def export(self, Position position):
        cdef State *s = <State *>position.state
        return {"scores": [s.banked[0], s.banked[1]], "seat": s.seat, "total": s.total, "rolling": bool(s.rolling)}

    def restore(self, dict position):
        cdef Position made = new_position(self, self.start)
        cdef State *s = <State *>made.state
        unknown = set(position) - {"scores", "seat", "total", "rolling"}
        if unknown:
            raise PositionError(f"quandary_pig: unknown field {min(unknown)!r}; allowed: scores, seat, total, rolling")
        scores, total, seat = position.get("scores", [0, 0]), position.get("total", 0), position.get("seat", 0)
        goal = self.data.goal
        if not (isinstance(scores, list) and len(scores) == 2
                and all(isinstance(score, int) and 0 <= score <= goal for score in scores)):
            raise PositionError(f"quandary_pig: scores is {scores!r}, must be two ints in 0 to {goal}")
        if min(scores) == goal:
            raise PositionError(f"quandary_pig: scores is {scores!r}, but only one player can have won")
        if seat not in (0, 1):
            raise PositionError(f"quandary_pig: seat is {seat!r}, must be 0 or 1")
        if not isinstance(total, int) or not 0 <= total <= goal - scores[seat]:
            raise PositionError(f"quandary_pig: total is {total!r}, must be 0 to {goal - scores[seat]}")
        s.banked[0], s.banked[1] = scores
        s.total, s.seat, s.rolling = total, seat, bool(position.get("rolling", False))
        return made

    def tensor_shape(self):
        return [5]

    def observe_tensor(self, Position position, observer, float[::1] out):
        """Own score, rival's score and turn total as shares of the goal; own turn; rolling."""
        cdef State *s = <State *>position.state
        cdef double goal = self.data.goal
        out[0], out[1] = s.banked[observer] / goal, s.banked[1 - observer] / goal
        out[2], out[3], out[4] = s.total / goal, s.seat == observer, s.rolling
