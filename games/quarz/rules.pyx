"""`QuarzRules`: the rules of Qu'arz under one setting of the parameters, as the rest of the project sees them.

tables.pyx makes the machine's tables from parameters and data, machine.pyx runs the rules on them and names the
files of the rules themselves; positions.pyx turns positions into dicts and back, observation.pyx says what a seat
sees. state.pxd describes state and frames, README.md the keys of positions written by hand.
"""
from libc.stdint cimport int32_t

from engine_ext.game cimport HIDDEN_INFORMATION, ZERO_SUM
from engine_ext.position cimport Position, new_position
from games.quarz.frames cimport push
from games.quarz.machine cimport (
    apply, check, clock, estimate, info_bytes, info_key, legal, outcomes, playout, resample, returns, rewind,
    run_chance, sample, settle, state_key, suggest, turn,
)
from games.quarz.moves cimport N_ACTIONS, N_OUTCOMES
from games.quarz.observation cimport fill_tensor, scene_of, tensor_size
from games.quarz.positions cimport read_dict, write_dict
from games.quarz.set_up cimport clear_table
from games.quarz.state cimport K_SETUP, State, Tables
from games.quarz.tables cimport QuarzTables

from games.quarz.observation import scene_text


cdef class QuarzRules(QuarzTables):
    """The rules of Qu'arz under the parameters of `games/quarz/__init__.py`; for its attributes see `QuarzTables`."""

    def __init__(self, dict parameters, start=None):
        super().__init__(parameters, start)
        self._fill_ops()
        self.seal()

    def _fill_ops(self):
        cdef const Tables *t = &self.data
        turns = t.turn_limit or (t.n_stack - 1) * t.spaces + t.spaces // 2
        self.ops.game_version = 4
        self.ops.state_size = self.ops.info_size = sizeof(State)
        self.ops.n_players = t.players
        self.ops.n_actions, self.ops.n_outcomes = N_ACTIONS, N_OUTCOMES
        self.ops.max_legal, self.ops.max_outcomes = 512, 64
        # A turn has at most 4 actions, and every instant, block or further effect uses up a card.
        self.ops.max_decisions = 200 + 400 * turns
        self.ops.max_chances = 200 + 200 * turns
        self.ops.flags = HIDDEN_INFORMATION | ZERO_SUM
        self.ops.max_utility, self.ops.min_utility = 1.0, -1.0 / <double>(t.players - 1)
        self.ops.turn, self.ops.legal, self.ops.outcomes, self.ops.sample = turn, legal, outcomes, sample
        self.ops.apply, self.ops.returns, self.ops.state_key = apply, returns, state_key
        self.ops.info_key, self.ops.info_bytes, self.ops.resample = info_key, info_bytes, resample
        self.ops.run_chance, self.ops.playout, self.ops.clock = run_chance, playout, clock
        self.ops.suggest, self.ops.estimate, self.ops.check = suggest, estimate, check
        self.ops.rewind = rewind

    cdef void write_start(self, void *state) noexcept:
        cdef State *s = <State *>state
        cdef int32_t scratch[N_ACTIONS]
        clear_table(&self.data, s)
        push(s, K_SETUP, 0, 0, 0)
        settle(&self.data, s, scratch)

    # ---- positions as dicts --------------------------------------------------------------------

    def export(self, Position position):
        return write_dict(self, <const State *>position.state)

    def restore(self, dict position):
        cdef Position made = new_position(self, self.start)
        cdef State *s = <State *>made.state
        cdef int32_t scratch[N_ACTIONS]
        read_dict(self, s, position)
        if "pending" not in position:
            settle(&self.data, s, scratch)
        return made

    # ---- what a seat sees ----------------------------------------------------------------------

    def scene(self, Position position, observer):
        """What a seat sees, as a dict like `to_dict`'s, with `held` (hand cards) for each monster, and
        `unseen` (cards in hand or draw pile) for rivals; observer -1 sees everything."""
        return scene_of(self, <const State *>position.state, observer)

    def describe(self, Position position):
        return scene_text(self.scene(position, -1))

    def observe(self, Position position, observer):
        return scene_text(self.scene(position, observer))

    def tensor_shape(self):
        return [tensor_size()]

    def observe_tensor(self, Position position, observer, float[::1] out):
        """One vector; see `fill_tensor` in observation.pyx."""
        fill_tensor(self, <const State *>position.state, observer, &out[0])
