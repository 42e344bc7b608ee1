"""`Rules` and `Position`: the Python handles on a game's function table and on one state.

A `Rules` object holds what never changes in a game: parameters, data tables, the `GameOps`
table and the initial state. Each game subclasses it once. A `Position` is a state under some
Rules; it has the method names of `pyspiel.State`, so that code written for one reads like code
for the other, but it copies in well under 100 ns and its searches run without the GIL.

Positions keep no history: with perfect information, where the history is the information state,
`information_state_string` is offered by the OpenSpiel face alone, which knows it.
"""
import hashlib

import numpy as np

from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree, PyMem_RawMalloc
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from engine_ext.game cimport (
    CHANCE, CONTRACT_VERSION, CYCLIC, HIDDEN_INFORMATION, INFO_LIMIT, LEGAL_LIMIT, OUTCOME_LIMIT,
    PLAYER_LIMIT, STATE_LIMIT, TERMINAL, ZERO_SUM,
    GameOps, hash_bytes, ops_generic_playout, ops_info_bytes, ops_info_key, ops_playout,
    ops_random_action, ops_run_chance,
)
from engine_ext.rng cimport Rng, Stream
from engine_ext.errors import IllegalActionError, PositionError, QuandaryError, SavedStateError

_MAGIC = b"QNDY"
_MASK_64 = 2**64 - 1


cdef class Rules:
    """What never changes in a game.

    Args:
        parameters: every parameter of the game with its value.
        start: a position as `to_dict` writes it, to begin from instead of the game's own set-up;
            None for the game's own.

    A subclass fills `ops` and `tables` in its `__init__`, then calls `seal()`. Its Python
    methods below the line may be overridden; those that raise NotImplementedError must be.
    """

    def __cinit__(self):
        memset(&self.ops, 0, sizeof(GameOps))
        self.tables = NULL
        self.start = NULL

    def __init__(self, dict parameters, start=None):
        self.parameters = dict(parameters)
        self.start_dict = start
        self.recommended = {}

    def __dealloc__(self):
        PyMem_RawFree(self.start)

    def __reduce__(self):
        return type(self), (self.parameters, self.start_dict), self.recommended or None

    def __setstate__(self, recommended):
        self.recommended = recommended

    cdef void write_start(self, void *state) noexcept:
        """Write the game's own initial state over zeroed memory."""

    cdef seal(self):
        """Check the header, build the initial state. The last line of every subclass's __init__."""
        cdef GameOps *ops = &self.ops
        cdef Position start
        ops.contract_version = CONTRACT_VERSION
        for field, value, limit in (
            ("state_size", ops.state_size, STATE_LIMIT), ("n_players", ops.n_players, PLAYER_LIMIT),
            ("max_legal", ops.max_legal, LEGAL_LIMIT), ("n_actions", ops.n_actions, 2**30),
            ("max_decisions", ops.max_decisions, 2**30),
        ):
            if not 1 <= value <= limit:
                raise AssertionError(f"{self.name}: GameOps.{field} is {value}, allowed are 1 to {limit}")
        if not 0 <= ops.max_outcomes <= OUTCOME_LIMIT or not 0 <= ops.info_size <= INFO_LIMIT:
            raise AssertionError(f"{self.name}: GameOps.max_outcomes or info_size is out of range")
        if (ops.turn == NULL or ops.legal == NULL or ops.apply == NULL or ops.returns == NULL
                or ops.state_key == NULL or (ops.max_outcomes and (ops.outcomes == NULL or ops.sample == NULL))):
            raise AssertionError(f"{self.name}: a required function of GameOps is missing")
        if (ops.flags & HIDDEN_INFORMATION) and (
                ops.info_key == NULL or ops.info_bytes == NULL or ops.resample == NULL or ops.info_size == 0):
            raise AssertionError(f"{self.name}: hidden information needs info_key, info_bytes and resample")
        self._stamp = _MAGIC + hashlib.sha256(repr((
            CONTRACT_VERSION, self.name, ops.game_version, ops.state_size,
            sorted((key, value) for key, value in self.parameters.items()), self.digest,
        )).encode()).digest()[:16]
        PyMem_RawFree(self.start)
        self.start = PyMem_RawCalloc(1, ops.state_size)
        if self.start == NULL:
            raise MemoryError
        self.write_start(self.start)
        if self.start_dict is not None:
            start = self.restore(self.start_dict)
            memcpy(self.start, start.state, ops.state_size)

    # ---- the header, for Python ------------------------------------------------------------

    @property
    def version(self):
        """The game's behaviour version."""
        return self.ops.game_version

    @property
    def identity(self):
        """Hex digest, equal exactly for games that go on alike from one state: name, version, every
        parameter, the data files' content. Where a game starts is not part of it."""
        return self._stamp[len(_MAGIC):].hex()

    @property
    def state_bytes(self):
        """Size of the state struct, bytes."""
        return self.ops.state_size

    def num_players(self):
        return self.ops.n_players

    def num_distinct_actions(self):
        """Decision ids are 0 .. this - 1."""
        return self.ops.n_actions

    def max_chance_outcomes(self):
        """Chance ids are 0 .. this - 1."""
        return self.ops.n_outcomes

    def max_game_length(self):
        """Bound on the decisions of one game."""
        return self.ops.max_decisions

    def max_chance_nodes_in_history(self):
        """Bound on the chance nodes of one game."""
        return self.ops.max_chances

    def min_utility(self):
        return self.ops.min_utility

    def max_utility(self):
        return self.ops.max_utility

    @property
    def hidden_information(self):
        """Whether some seat does not know the whole state."""
        return bool(self.ops.flags & HIDDEN_INFORMATION)

    @property
    def zero_sum(self):
        """Whether returns sum to 0 in every terminal state."""
        return bool(self.ops.flags & ZERO_SUM)

    @property
    def cyclic(self):
        """Whether a state may come again in one game."""
        return bool(self.ops.flags & CYCLIC)

    @property
    def abilities(self):
        """Names of the optional functions the game's table has, a tuple of str."""
        names = []
        if self.ops.run_chance != NULL:
            names.append("run_chance")
        if self.ops.random_action != NULL:
            names.append("random_action")
        if self.ops.playout != NULL:
            names.append("playout")
        if self.ops.suggest != NULL:
            names.append("suggest")
        if self.ops.estimate != NULL:
            names.append("estimate")
        if self.ops.clock != NULL:
            names.append("clock")
        if self.ops.check != NULL:
            names.append("check")
        if self.ops.rewind != NULL:
            names.append("rewind")
        return tuple(names)

    # ---- positions -------------------------------------------------------------------------

    def initial_position(self):
        """A new `Position` at the start of the game."""
        return new_position(self, self.start)

    def from_bytes(self, data):
        """The `Position` that `to_bytes` wrote.

        Raises:
            SavedStateError: not a saved position, or one of other rules, data or version.
        """
        data = bytes(data)
        cdef int32_t head = len(self._stamp)
        if data[:4] != _MAGIC or len(data) < head:
            raise SavedStateError(f"these {len(data)} bytes are not a saved position")
        if data[:head] != self._stamp:
            raise SavedStateError(
                f"the saved position belongs to another game, parameter setting, data file or version than "
                f"{self.name} version {self.ops.game_version} with {self.parameters}")
        if len(data) != head + self.ops.state_size + 8:
            raise SavedStateError(
                f"the saved position has {len(data)} bytes, {self.name} needs {head + self.ops.state_size + 8}")
        cdef const unsigned char *raw = data
        cdef uint64_t checksum
        memcpy(&checksum, raw + head + self.ops.state_size, 8)
        if checksum != hash_bytes(raw + head, self.ops.state_size, 0):
            raise SavedStateError("the saved position is damaged: its checksum does not match")
        return new_position(self, raw + head)

    def from_dict(self, position):
        """The `Position` that `to_dict` wrote or a hand composed.

        Raises:
            PositionError: naming the field that is unknown, malformed or contradicts another.
        """
        if not isinstance(position, dict):
            raise PositionError(f"a position is a table of fields, not {type(position).__name__}")
        try:
            return self.restore(position)
        except QuandaryError:
            raise
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            # A field of a shape the game did not think of; the error it stumbled on says which value.
            raise PositionError(f"{self.name}: the position is malformed: {error}") from error

    # ---- to be provided by the game --------------------------------------------------------

    def action_name(self, action):
        """A unique text for a decision id in 0 .. n_actions - 1; it parses back."""
        raise NotImplementedError

    def outcome_name(self, outcome):
        """A unique text for a chance id in 0 .. n_outcomes - 1."""
        raise NotImplementedError

    def describe(self, Position position):
        """The whole state as text (what an all-seeing observer sees)."""
        raise NotImplementedError

    def export(self, Position position):
        """The whole state as a JSON-able dict that `restore` reads."""
        raise NotImplementedError

    def restore(self, dict position):
        """A `Position` from such a dict; raises PositionError naming the field."""
        raise NotImplementedError

    def observe(self, Position position, observer):
        """What the observer sees now, as text. With perfect information, the whole state."""
        if self.ops.flags & HIDDEN_INFORMATION:
            raise NotImplementedError
        return self.describe(position)

    def recall(self, Position position, observer):
        """The observer's information state as text (perfect recall), or None where a position
        alone does not hold it (see `Position.information_state_string`)."""
        return None

    def tensor_shape(self):
        """Shape of the observation tensor, a list of int; [] when the game offers none."""
        return []

    def observe_tensor(self, Position position, observer, float[::1] out):
        """Write the observation into `out`, zeroed, of the size of `tensor_shape`."""
        raise NotImplementedError

    def recall_tensor_shape(self):
        """Shape of the information-state tensor, a list of int; [] when the game offers none."""
        return []

    def recall_tensor(self, Position position, observer, float[::1] out):
        """Write the information state into `out`, zeroed, of the size of `recall_tensor_shape`."""
        raise NotImplementedError

    def parse_action(self, text):
        """The decision id of an action's text.

        Raises:
            IllegalActionError: no action has that text.
        """
        if self._action_ids is None:
            self._action_ids = {self.action_name(action): action for action in range(self.ops.n_actions)}
        action = self._action_ids.get(text)
        if action is None:
            raise IllegalActionError(f"{text!r} names no action of {self.name}")
        return action


cdef Position new_position(Rules rules, const void *state):
    """A Position with its own copy of the state."""
    cdef Position position = Position.__new__(Position)
    position.rules = rules
    position.ops = &rules.ops
    position.tables = rules.tables
    position.state = PyMem_RawMalloc(rules.ops.state_size)
    if position.state == NULL:
        raise MemoryError
    memcpy(position.state, state, rules.ops.state_size)
    return position


def restore_position(Rules rules, data):
    """Unpickle: the position of these rules with these bytes."""
    return rules.from_bytes(data)


cdef class Position:
    """One state of a game, with pyspiel.State's method names. Made by `Rules.initial_position`,
    `Rules.from_bytes`, `Rules.from_dict` and `clone`, never directly.

    Player arguments are seats 0 .. num_players() - 1. Methods that change the position change
    nothing when they raise.
    """

    def __init__(self):
        raise TypeError("a Position comes from Rules.initial_position, from_bytes, from_dict or clone")

    def __dealloc__(self):
        PyMem_RawFree(self.state)

    # ---- questions -------------------------------------------------------------------------

    def current_player(self):
        """The seat to decide, -1 at a chance node, -4 at the end."""
        return self.ops.turn(self.tables, self.state)

    def is_chance_node(self):
        return self.ops.turn(self.tables, self.state) == CHANCE

    def is_terminal(self):
        return self.ops.turn(self.tables, self.state) == TERMINAL

    def is_player_node(self):
        return self.ops.turn(self.tables, self.state) >= 0

    def num_players(self):
        return self.ops.n_players

    def num_distinct_actions(self):
        return self.ops.n_actions

    def legal_actions(self, player=None):
        """Ascending ids: the decision's actions, the chance node's outcomes, [] at the end.

        With a player, the actions that this player has now: [] unless it is to move.
        """
        cdef int32_t ids[LEGAL_LIMIT]
        cdef double probs[OUTCOME_LIMIT]
        cdef int32_t count, i
        cdef int32_t seat = self.ops.turn(self.tables, self.state)
        if player is not None and player != seat:
            return []
        if seat >= 0:
            count = self.ops.legal(self.tables, self.state, ids)
        elif seat == CHANCE:
            count = self.ops.outcomes(self.tables, self.state, ids, probs)
        else:
            return []
        return [ids[i] for i in range(count)]

    def legal_actions_mask(self):
        """0/1 list over all decision ids."""
        mask = [0] * self.ops.n_actions
        if self.ops.turn(self.tables, self.state) >= 0:
            for action in self.legal_actions():
                mask[action] = 1
        return mask

    def chance_outcomes(self):
        """[(outcome id, probability)] of this chance node, ascending; [] elsewhere."""
        cdef int32_t ids[OUTCOME_LIMIT]
        cdef double probs[OUTCOME_LIMIT]
        cdef int32_t count, i
        if self.ops.turn(self.tables, self.state) != CHANCE:
            return []
        count = self.ops.outcomes(self.tables, self.state, ids, probs)
        return [(ids[i], probs[i]) for i in range(count)]

    def returns(self):
        """Utility per seat, a list of float; zeros before the end."""
        cdef double values[PLAYER_LIMIT]
        cdef int32_t i
        self.ops.returns(self.tables, self.state, values)
        return [values[i] for i in range(self.ops.n_players)]

    def player_return(self, player):
        return self.returns()[self._seat(player)]

    def estimate(self):
        """The game's heuristic utility per seat, a list of float; None where it has none."""
        cdef double values[PLAYER_LIMIT]
        cdef int32_t i
        if self.ops.estimate == NULL:
            return None
        self.ops.estimate(self.tables, self.state, values)
        return [values[i] for i in range(self.ops.n_players)]

    def clock(self):
        """A number naming the running turn and whose it is; None where the game has none."""
        if self.ops.clock == NULL:
            return None
        return self.ops.clock(self.tables, self.state)

    def check(self):
        """0 when every invariant of the game holds, else the number of the broken one."""
        if self.ops.check == NULL:
            return 0
        return self.ops.check(self.tables, self.state)

    def state_key(self):
        """64-bit Markov key: equal when the future game is equal."""
        return self.ops.state_key(self.tables, self.state)

    def info_key(self, observer):
        """64-bit key of the observer's information set."""
        return ops_info_key(self.ops, self.tables, self.state, self._seat(observer))

    def info_bytes(self, observer):
        """The exact content behind `info_key`, as bytes."""
        cdef uint8_t out[INFO_LIMIT]
        cdef int32_t size = ops_info_bytes(self.ops, self.tables, self.state, self._seat(observer), out)
        return (<char *>out)[:size]

    cdef int32_t _seat(self, player) except -1:
        if not 0 <= player < self.ops.n_players:
            raise IllegalActionError(f"player is {player}, allowed are 0 to {self.ops.n_players - 1}")
        return player

    # ---- text ------------------------------------------------------------------------------

    def action_to_string(self, player, action=None):
        """Text of an action (or, for player -1, of a chance outcome); `action_to_string(action)`
        takes the player to move."""
        if action is None:
            player, action = self.current_player(), player
        count = self.ops.n_outcomes if player == CHANCE else self.ops.n_actions
        if not 0 <= action < count:
            return f"unknown action {action}"
        return self.rules.outcome_name(action) if player == CHANCE else self.rules.action_name(action)

    def string_to_action(self, text):
        """The legal action with this text.

        Raises:
            IllegalActionError: there is none.
        """
        action = self.rules.parse_action(text)
        self.require_legal(action)
        return action

    def observation_string(self, player):
        return self.rules.observe(self, self._seat(player))

    def observation_tensor(self, player):
        """What the player sees now, a float32 array of the shape `Rules.tensor_shape`."""
        shape = self.rules.tensor_shape()
        out = np.zeros(int(np.prod(shape)), dtype=np.float32)
        self.rules.observe_tensor(self, self._seat(player), out)
        return out.reshape(shape)

    def information_state_string(self, player):
        """The player's information state: what identifies its information set, with perfect recall.

        The game's own text where a position holds it; else, with hidden information, the player's
        view followed by the key of everything it did and saw.

        Raises:
            NotImplementedError: with perfect information the history is the information state,
                and positions keep none; the OpenSpiel face does.
        """
        text = self.rules.recall(self, self._seat(player))
        if text is not None:
            return text
        if not self.ops.flags & HIDDEN_INFORMATION:
            raise NotImplementedError(f"positions of {self.rules.name} keep no history; use its OpenSpiel state")
        return f"{self.rules.observe(self, player)}\nrecall {self.info_key(player):016x}"

    def information_state_tensor(self, player):
        """The player's information state, a float32 array of the shape `Rules.recall_tensor_shape`."""
        shape = self.rules.recall_tensor_shape()
        out = np.zeros(int(np.prod(shape)), dtype=np.float32)
        self.rules.recall_tensor(self, self._seat(player), out)
        return out.reshape(shape)

    def __str__(self):
        return self.rules.describe(self)

    def __repr__(self):
        return f"<Position of {self.rules.name}, turn {self.current_player()}>"

    # ---- steps -----------------------------------------------------------------------------

    cdef int32_t require_legal(self, int32_t id) except -1:
        """0, or IllegalActionError when this node does not have that id."""
        cdef int32_t ids[LEGAL_LIMIT]
        cdef double probs[OUTCOME_LIMIT]
        cdef int32_t count, i
        cdef int32_t seat = self.ops.turn(self.tables, self.state)
        if seat >= 0:
            count = self.ops.legal(self.tables, self.state, ids)
        elif seat == CHANCE:
            count = self.ops.outcomes(self.tables, self.state, ids, probs)
        else:
            raise IllegalActionError(f"the game is over: action {id} cannot be applied")
        for i in range(count):
            if ids[i] == id:
                return 0
        shown = ", ".join(f"{ids[i]} ({self.action_to_string(seat, ids[i])})" for i in range(min(count, 12)))
        who = "chance" if seat == CHANCE else f"player {seat}"
        raise IllegalActionError(
            f"{id} ({self.action_to_string(seat, id)}) is illegal for {who}; allowed: {shown}"
            + (f" and {count - 12} more" if count > 12 else ""))

    def apply_action(self, action):
        """One step: a decision or a chance outcome.

        Raises:
            IllegalActionError: the node does not allow it; the position is unchanged.
        """
        if not -2**31 <= action < 2**31:
            raise IllegalActionError(f"{action} is not an action id")
        self.require_legal(action)
        self.ops.apply(self.tables, self.state, action)

    def child(self, action):
        """A new Position after one step from this one."""
        position = self.clone()
        position.apply_action(action)
        return position

    def sample(self, Stream stream not None):
        """An outcome id of this chance node, drawn by its probability.

        Raises:
            IllegalActionError: not a chance node.
        """
        if self.ops.turn(self.tables, self.state) != CHANCE:
            raise IllegalActionError("only a chance node can be sampled")
        return self.ops.sample(self.tables, self.state, &stream.rng)

    def random_action(self, Stream stream not None):
        """A uniformly random legal action of a decision.

        Raises:
            IllegalActionError: not a decision.
        """
        self._require_decision()
        return ops_random_action(self.ops, self.tables, self.state, &stream.rng)

    def suggest(self, Stream stream not None):
        """The action of the game's own greedy policy; None where it has none.

        Raises:
            IllegalActionError: not a decision.
        """
        self._require_decision()
        if self.ops.suggest == NULL:
            return None
        return self.ops.suggest(self.tables, self.state, &stream.rng)

    def _require_decision(self):
        if self.ops.turn(self.tables, self.state) < 0:
            raise IllegalActionError("no player is to move: only a decision has actions")

    def run_chance(self, Stream stream not None):
        """Play all chance nodes up to the next decision or the end; returns the steps."""
        return ops_run_chance(self.ops, self.tables, self.state, &stream.rng)

    def playout(self, Stream stream not None):
        """Play uniformly at random to the end, in place; returns the steps."""
        return ops_playout(self.ops, self.tables, self.state, &stream.rng)

    def playouts(self, int64_t count, Stream stream not None, generic=False):
        """Play `count` random games from here, on copies, without the GIL.

        Args:
            generic: use the generic loop through the function table even where the game has its
                own playout loop.

        Returns:
            (steps in all, float64[num_players] sum of returns)
        """
        cdef unsigned char scratch[STATE_LIMIT]
        cdef unsigned char origin[STATE_LIMIT]
        cdef double values[PLAYER_LIMIT]
        cdef double totals[PLAYER_LIMIT]
        cdef int64_t steps = 0, _k
        cdef int32_t i
        cdef bint own_loop = not generic
        cdef Rng rng = stream.rng
        memset(totals, 0, sizeof(totals))
        memcpy(origin, self.state, self.ops.state_size)
        with nogil:
            for _k in range(count):
                memcpy(scratch, origin, self.ops.state_size)
                if own_loop:
                    steps += ops_playout(self.ops, self.tables, scratch, &rng)
                else:
                    steps += ops_generic_playout(self.ops, self.tables, scratch, &rng)
                self.ops.returns(self.tables, scratch, values)
                for i in range(self.ops.n_players):
                    totals[i] += values[i]
        stream.rng = rng
        return steps, np.array([totals[i] for i in range(self.ops.n_players)])

    def copies(self, int64_t count):
        """Copy the state `count` times natively (for timing); returns a checksum of the copies."""
        cdef unsigned char ring[8 * STATE_LIMIT]
        cdef int64_t k
        cdef uint64_t total = 0
        cdef int32_t size = self.ops.state_size
        memset(ring, 0, sizeof(ring))
        memcpy(ring, self.state, size)
        with nogil:
            for k in range(count):
                memcpy(ring + ((k + 1) & 7) * size, ring + (k & 7) * size, size)
                total += ring[((k + 1) & 7) * size + size - 1]
        return total

    def resample(self, observer, Stream stream not None):
        """A new Position that the observer cannot tell from this one, drawn by chance weight over
        what is consistent with its history. With perfect information, a copy."""
        cdef Position position = new_position(self.rules, self.state)
        if self.ops.resample != NULL:
            self.ops.resample(self.tables, position.state, self._seat(observer), &stream.rng)
        return position

    def rewind(self):
        """Where a stage of simultaneous hidden choices is under way, its beginning.

        Returns:
            (the Position at the stage's first decision, decisions taken back), or None where no
            decision of such a stage is to be made.
        """
        if self.ops.rewind == NULL:
            return None
        cdef Position position = new_position(self.rules, self.state)
        cdef int32_t taken_back = self.ops.rewind(self.tables, position.state)
        return None if taken_back < 0 else (position, taken_back)

    def perft(self, int depth):
        """Number of paths of exactly `depth` steps from here, chance outcomes included; paths
        that end earlier do not count. The classic check that move generation has not changed."""
        if depth < 0:
            raise ValueError(f"depth is {depth}, allowed are 0 and up")
        cdef uint64_t count
        with nogil:
            count = _perft(self.ops, self.tables, self.state, depth)
        return count

    # ---- copies and saves ------------------------------------------------------------------

    def clone(self):
        """An independent copy."""
        return new_position(self.rules, self.state)

    __copy__ = clone

    def __deepcopy__(self, memo):
        return new_position(self.rules, self.state)

    def to_bytes(self):
        """The position as bytes that only the same game, parameters, data and version read back."""
        cdef uint64_t checksum = hash_bytes(self.state, self.ops.state_size, 0)
        return (self.rules._stamp + (<char *>self.state)[:self.ops.state_size]
                + (<char *>&checksum)[:8])

    def to_dict(self):
        """The whole position as a JSON-able dict, readable enough to be written by hand."""
        return self.rules.export(self)

    def __reduce__(self):
        return restore_position, (self.rules, self.to_bytes())

    def __eq__(self, other):
        if not isinstance(other, Position):
            return NotImplemented
        cdef Position that = <Position>other
        return (self.rules is that.rules or self.rules._stamp == that.rules._stamp) and memcmp(
            self.state, that.state, self.ops.state_size) == 0

    def __hash__(self):
        return hash(<object>hash_bytes(self.state, self.ops.state_size, 0))


cdef uint64_t _perft(const GameOps *ops, const void *tables, const void *state, int depth) noexcept nogil:
    cdef unsigned char child[STATE_LIMIT]
    cdef int32_t ids[LEGAL_LIMIT]
    cdef double probs[OUTCOME_LIMIT]
    cdef int32_t count, i
    cdef int32_t seat
    cdef uint64_t total = 0
    if depth == 0:
        return 1
    seat = ops.turn(tables, state)
    if seat == TERMINAL:
        return 0
    count = ops.outcomes(tables, state, ids, probs) if seat == CHANCE else ops.legal(tables, state, ids)
    if depth == 1:
        return count
    for i in range(count):
        memcpy(child, state, ops.state_size)
        ops.apply(tables, child, ids[i])
        total += _perft(ops, tables, child, depth - 1)
    return total
