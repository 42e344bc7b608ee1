"""Flat trees: a whole game as a structure of arrays, made once by `solvers.extraction.extract`.

`TreeRules` is a tree as a native game whose state is a node number: every searcher runs on it,
and so on every game that can be extracted.
"""
import contextlib
import hashlib
import json

import numpy as np
import pyspiel

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from engine_ext.game cimport (
    CHANCE, HIDDEN_INFORMATION, LEGAL_LIMIT, OUTCOME_LIMIT, PLAYER_LIMIT, TERMINAL, ZERO_SUM, GameOps,
)
from engine_ext.debug cimport QUANDARY_CHECK
from engine_ext.position cimport Position, Rules, new_position
from engine_ext.rng cimport Rng, rng_below, rng_combine, rng_mix

from engine_ext.errors import ParameterError, PositionError, SavedStateError, UnsuitableGameError
from solvers.contract import HIDING, SIMULTANEOUS
from solvers.saved import read_saved, write_saved

_KIND = "flat tree"
_VERSION = 2
TURN_BASED = "turn_based_simultaneous_game"    # OpenSpiel's name of its view of a simultaneous game


# ---- the tree -----------------------------------------------------------------------------------

cdef class FlatTree:
    """A whole game as arrays; made by `solvers.extraction` and `FlatTree.load`, never directly.

    `arrays` maps names to read-only numpy arrays; solvers/tree.pxd gives each one's shape and
    meaning. Trees pickle, save and load; only `source` stays behind.

    No text is kept of an information set, however it is called: `info_key` holds 64 bits of it, and
    `infoset_label` plays the game up to it again. `names` says what that is:

    * `key`: the native game's own key;
    * `information state`: the information-state string of an OpenSpiel game;
    * `observation`: the observation string, in simultaneous games of perfect information without
      information-state strings;
    * `history`: in OpenSpiel's sequential games of perfect information, whose information sets are
      single nodes, all ids from the start of the game.
    """

    def __init__(self):
        raise TypeError("a FlatTree comes from extract or FlatTree.load")

    cdef _bind(self):
        """Point `tables` at the arrays and make them read-only."""
        cdef TreeTables *t = &self.tables
        arrays = self.arrays
        for array in arrays.values():
            array.setflags(write=False)
        memset(t, 0, sizeof(TreeTables))
        t.n_players = arrays["utility"].shape[1]
        t.n_nodes, t.n_edges = len(arrays["player"]), len(arrays["action"])
        t.n_infosets, t.n_sequences = len(arrays["info_player"]), arrays["info_first"][len(arrays["info_player"])]
        t.n_terminals = arrays["utility"].shape[0]
        t.player = <const int8_t *><size_t>arrays["player"].ctypes.data
        if "parent" in arrays:
            t.parent = <const int32_t *><size_t>arrays["parent"].ctypes.data
        t.first = <const int32_t *><size_t>arrays["first"].ctypes.data
        t.count = <const int32_t *><size_t>arrays["count"].ctypes.data
        t.infoset = <const int32_t *><size_t>arrays["infoset"].ctypes.data
        t.action = <const int32_t *><size_t>arrays["action"].ctypes.data
        t.prob = <const double *><size_t>arrays["prob"].ctypes.data
        if "target" in arrays:
            t.target = <const int32_t *><size_t>arrays["target"].ctypes.data
        t.utility = <const double *><size_t>arrays["utility"].ctypes.data
        t.info_player = <const int8_t *><size_t>arrays["info_player"].ctypes.data
        t.info_first = <const int32_t *><size_t>arrays["info_first"].ctypes.data
        t.info_parent = <const int32_t *><size_t>arrays["info_parent"].ctypes.data
        if "view" in arrays:
            t.view = <const uint64_t *><size_t>arrays["view"].ctypes.data

    # ---- what it is --------------------------------------------------------------------------

    @property
    def n_players(self):
        return self.tables.n_players

    @property
    def n_nodes(self):
        return self.tables.n_nodes

    @property
    def n_terminals(self):
        return self.tables.n_terminals

    @property
    def n_infosets(self):
        """Information sets of all players."""
        return self.tables.n_infosets

    @property
    def n_sequences(self):
        """Pairs (information set, action) of all players."""
        return self.tables.n_sequences

    @property
    def n_bytes(self):
        """Memory of all arrays, bytes."""
        return sum(array.nbytes for array in self.arrays.values())

    @property
    def merged(self):
        """Whether equal states were merged, so that a node may have several parents."""
        return self.tables.target != NULL

    @property
    def zero_sum(self):
        """Whether the utilities of every terminal sum to 0, to rounding."""
        utility = self.arrays["utility"]
        return bool(np.all(np.abs(utility.sum(axis=1)) <= 1e-9 * max(1.0, np.abs(utility).max(initial=0.0))))

    @property
    def simultaneous(self):
        """Whether it is the turn-based view of a simultaneous game of OpenSpiel's; False where that is not known."""
        return isinstance(self.source, pyspiel.Game) and self.source.get_type().short_name == TURN_BASED

    @property
    def perfect_recall(self):
        """Per player, whether it always knows its own past information sets and actions."""
        mixed = self.arrays["info_player"][self.arrays["info_parent"] == MIXED_SEQUENCES]
        return tuple(not np.any(mixed == player) for player in range(self.n_players))

    @property
    def min_utility(self):
        """The least utility of any player at any terminal."""
        return float(self.arrays["utility"].min())

    @property
    def max_utility(self):
        return float(self.arrays["utility"].max())

    def infoset_label(self, infoset):
        """What names an information set: the 64-bit key of a native game; in OpenSpiel's, the text
        that `names` tells.

        Raises:
            UnsuitableGameError: the tree came from a file, and OpenSpiel does not load its game.
        """
        self._check_infoset(infoset)
        if self.native:
            return int(self.arrays["info_key"][infoset])
        return self.label_of(self.state_at(self.infoset_nodes(infoset)[0]), self.tables.info_player[infoset])

    def label_of(self, state, player):
        """What an OpenSpiel state is called in this tree, for a player: str."""
        if self.names == "history":
            return ", ".join(map(str, state.history()))
        if self.names == "observation":
            return state.observation_string(player)
        return state.information_state_string(player)

    def state_at(self, int32_t node):
        """A new state of the OpenSpiel game at a node, forced moves made.

        Raises:
            UnsuitableGameError: the tree is native; or it came from a file and its game does not load.
        """
        state = self.reopened().clone()
        take_forced(state)
        for action in self.history(node):
            state.apply_action(action)
            take_forced(state)
        return state

    def reopened(self):
        """The OpenSpiel state that the tree was extracted from; after loading, made anew from its game's text."""
        if self.native:
            raise UnsuitableGameError(f"{self.name}: a native game has no states of OpenSpiel's")
        if self.root is None:
            try:
                game = pyspiel.load_game(self.name)
                if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
                    game = pyspiel.convert_to_turn_based(game)
                state = game.new_initial_state()
                for action in self.start:
                    state.apply_action(action)
            except (pyspiel.SpielError, ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
                raise UnsuitableGameError(
                    f"{self.name}: this tree came from a file, and OpenSpiel does not load its game") from error
            self.source, self.root = game, state
        return self.root

    def infosets_at(self, state, player):
        """The information sets that an OpenSpiel state of this tree's game is in, for a player: a list of int."""
        if self.names != "history":
            return self.infosets_of(self.label_of(state, player), player)
        return self._with_key(history_key(state.history()), player)

    def infosets_of(self, label, player=None):
        """All information sets with this label, a list of int; with perfect recall in the key
        there is one at most.

        Args:
            label: the key of a native game; else a text as `infoset_label` gives.
            player: only this player's.
        """
        if self.names == "key":
            return self._with_key(label, player) if isinstance(label, int) else []
        if not isinstance(label, str):
            return []
        if self.names == "history":
            try:
                return self._with_key(history_key([int(step) for step in label.split(",") if label]), player)
            except ValueError:
                return []
        return self._with_key(text_key(label, 0), player)

    def _with_key(self, key, player):
        """The information sets with a key, ascending; `player` None: whoever moves there."""
        keys = self.arrays["info_key"]
        if self._key_order is None:
            self._key_order = np.argsort(keys, kind="stable").astype(np.int32)
        wanted = np.uint64(key)
        low = int(np.searchsorted(keys, wanted, side="left", sorter=self._key_order))
        found = []
        while low < len(keys) and keys[self._key_order[low]] == wanted:
            infoset = int(self._key_order[low])
            if player is None or self.tables.info_player[infoset] == player:
                found.append(infoset)
            low += 1
        return found

    def infoset_player(self, infoset):
        self._check_infoset(infoset)
        return self.tables.info_player[infoset]

    def infoset_actions(self, infoset):
        """The action ids of an information set, ascending."""
        cdef int32_t node = self.infoset_nodes(infoset)[0]
        cdef int32_t first = self.tables.first[node]
        return [self.tables.action[first + i] for i in range(self.tables.count[node])]

    def infoset_nodes(self, infoset):
        """The nodes of an information set, ascending, int32[n]."""
        self._check_infoset(infoset)
        self.prepare_members()
        return self.arrays["members"][self.tables.member_first[infoset]:self.tables.member_first[infoset + 1]]

    def _check_infoset(self, infoset):
        if not 0 <= infoset < self.tables.n_infosets:
            raise ParameterError(f"information set {infoset}: allowed are 0 to {self.tables.n_infosets - 1}")

    def history(self, int32_t node):
        """The action ids from the root to a node, forced moves left out.

        Raises:
            UnsuitableGameError: equal states were merged, so a node has no single history.
        """
        if not 0 <= node < self.tables.n_nodes:
            raise ParameterError(f"node {node}: allowed are 0 to {self.tables.n_nodes - 1}")
        if self.tables.parent == NULL:
            raise UnsuitableGameError(f"{self.name}: nodes of a tree with merged states have no single history")
        actions = []
        while node > 0:
            actions.append(self.tables.action[node])
            node = self.tables.parent[node]
        actions.reverse()
        return actions

    def child(self, int32_t node, int32_t action):
        """The node an action or outcome id leads to.

        Raises:
            ParameterError: the node has no such edge.
        """
        cdef int32_t edge
        if not 0 <= node < self.tables.n_nodes:
            raise ParameterError(f"node {node}: allowed are 0 to {self.tables.n_nodes - 1}")
        edge = find_edge(&self.tables, node, action)
        if edge < 0:
            raise ParameterError(f"node {node} of {self.name} has no action {action}")
        return edge if self.tables.target == NULL else self.tables.target[edge]

    def node_of(self, state):
        """The node of a state of the OpenSpiel game this tree was extracted from, from its start.

        Args:
            state: a `pyspiel.State` of that game, or of its turn-based view.
        """
        replayed = state.get_game().new_initial_state()
        node = 0
        for action in state.history():
            if replayed.is_chance_node():
                forced = sum(prob > 0 for _, prob in replayed.chance_outcomes()) == 1
            else:
                forced = len(replayed.legal_actions()) == 1
            if not forced:
                node = self.child(node, action)
            replayed.apply_action(action)
        return node

    def depths(self):
        """(most decisions, most chance nodes) on a path from the root."""
        cdef int32_t[::1] decisions
        cdef int32_t[::1] chances
        cdef int32_t node, i, child, chance, most_decisions = 0, most_chances = 0
        if self._depths is None:
            decisions = np.zeros(self.n_nodes, dtype=np.int32)
            chances = np.zeros(self.n_nodes, dtype=np.int32)
            for node in range(self.tables.n_nodes):
                chance = self.tables.player[node] == CHANCE
                most_decisions = max(most_decisions, decisions[node])
                most_chances = max(most_chances, chances[node])
                for i in range(self.tables.count[node]):
                    child = tree_child(&self.tables, node, i)
                    decisions[child] = max(decisions[child], decisions[node] + 1 - chance)
                    chances[child] = max(chances[child], chances[node] + chance)
            self._depths = most_decisions, most_chances
        return self._depths

    @property
    def digest(self):
        """BLAKE2b hex digest of the tree's shape, probabilities and utilities: equal trees have
        equal digests, whatever they are called."""
        if self._digest is None:
            made = hashlib.blake2b(digest_size=16)
            for key in ("player", "first", "count", "infoset", "action", "prob", "target", "utility", "info_player"):
                if key in self.arrays:
                    made.update(np.ascontiguousarray(self.arrays[key]).data if self.arrays[key].size else b"")
            self._digest = made.hexdigest()
        return self._digest

    def __repr__(self):
        return (f"<FlatTree of {self.name}: {self.n_nodes} nodes, {self.n_terminals} terminals, {self.n_infosets} "
                f"information sets, {self.n_players} players>")

    # ---- lazily built parts --------------------------------------------------------------------

    cpdef prepare_sampling(self):
        """Build what sampling chance nodes needs, unless it is there."""
        if "cumulative" in self.arrays:
            return
        cumulative = np.zeros(self.tables.n_edges, dtype=np.float64)
        uniform = np.zeros(self.tables.n_nodes, dtype=np.uint8)
        cdef double[::1] total = cumulative
        cdef uint8_t[::1] alike = uniform
        cdef int32_t node, edge, end
        cdef double running
        cdef const TreeTables *t = &self.tables
        with nogil:
            for node in range(t.n_nodes):
                if t.player[node] != CHANCE:
                    continue
                running = 0.0
                alike[node] = 1
                end = t.first[node] + t.count[node]
                for edge in range(t.first[node], end):
                    running += t.prob[edge]
                    total[edge] = running
                    if t.prob[edge] != t.prob[t.first[node]]:
                        alike[node] = 0
        self._add("cumulative", cumulative)
        self._add("uniform", uniform)
        self.tables.cumulative = <const double *><size_t>cumulative.ctypes.data
        self.tables.uniform = <const uint8_t *><size_t>uniform.ctypes.data

    cpdef prepare_members(self):
        """Build the lists of the information sets' nodes, with their chance reach, unless they are there."""
        if "members" in self.arrays:
            return
        cdef const TreeTables *t = &self.tables
        first = np.zeros(t.n_infosets + 1, dtype=np.int32)
        cdef int32_t[::1] starts = first
        cdef int32_t node, infoset, i, place, total = 0
        for node in range(t.n_nodes):
            if t.player[node] >= 0:
                starts[t.infoset[node] + 1] += 1
                total += 1
        for infoset in range(t.n_infosets):
            starts[infoset + 1] += starts[infoset]
        members = np.zeros(total, dtype=np.int32)
        weights = np.zeros(total, dtype=np.float64)
        reach = np.zeros(t.n_nodes, dtype=np.float64)
        cdef int32_t[::1] nodes = members
        cdef double[::1] reaches = weights
        cdef double[::1] chance = reach
        cdef int32_t[::1] filled = first[:t.n_infosets].copy()
        cdef double running
        with nogil:
            chance[0] = 1.0
            for node in range(t.n_nodes):
                for i in range(t.count[node]):
                    place = tree_child(t, node, i)
                    chance[place] += chance[node] * (t.prob[t.first[node] + i] if t.player[node] == CHANCE else 1.0)
                if t.player[node] >= 0:
                    infoset = t.infoset[node]
                    nodes[filled[infoset]] = node
                    reaches[filled[infoset]] = chance[node]
                    filled[infoset] += 1
            for infoset in range(t.n_infosets):
                running = 0.0
                for i in range(starts[infoset], starts[infoset + 1]):
                    running += reaches[i]
                    reaches[i] = running
        self._add("member_first", first)
        self._add("members", members)
        self._add("member_reach", weights)
        self.tables.member_first = <const int32_t *><size_t>first.ctypes.data
        self.tables.members = <const int32_t *><size_t>members.ctypes.data
        self.tables.member_reach = <const double *><size_t>weights.ctypes.data

    cpdef add_views(self, view):
        """Take what `extraction.prepare_views` found, uint64[n_nodes, n_players]."""
        self._add("view", view)
        self.tables.view = <const uint64_t *><size_t>view.ctypes.data

    def _add(self, name, array):
        array.setflags(write=False)
        self.arrays[name] = array

    # ---- files -----------------------------------------------------------------------------------

    _OWN = ("player", "parent", "first", "count", "infoset", "action", "prob", "target", "utility",
            "info_player", "info_first", "info_parent", "info_key", "view")

    def _contents(self):
        meta = {
            "name": self.name, "n_actions": self.n_actions, "n_outcomes": self.n_outcomes,
            "hidden_information": bool(self.hidden_information), "native": bool(self.native), "names": self.names,
            "start": self.start, "rules_identity": self.rules_identity,
            "action_names": list(self.action_names.items()), "outcome_names": list(self.outcome_names.items()),
        }
        return meta, {key: self.arrays[key] for key in self._OWN if key in self.arrays}

    def save(self, path):
        """Write the tree to a file (solvers/saved.py has the layout)."""
        meta, arrays = self._contents()
        write_saved(path, _KIND, _VERSION, meta, arrays)

    @staticmethod
    def load(path):
        """Read the tree that `save` wrote.

        Raises:
            SavedStateError: missing, damaged, or not a tree of this version.
        """
        meta, arrays = read_saved(path, _KIND, _VERSION)
        if "player" not in arrays or "utility" not in arrays:
            raise SavedStateError(f"{path}: not a whole tree")
        return _assemble(meta, arrays)

    def __reduce__(self):
        return _assemble, self._contents()

    def as_rules(self):
        """The tree as a native game; see `TreeRules`."""
        return TreeRules(self)


def _assemble(meta, arrays):
    cdef FlatTree tree = FlatTree.__new__(FlatTree)
    tree.arrays = dict(arrays)
    tree.name, tree.n_actions, tree.n_outcomes = meta["name"], meta["n_actions"], meta["n_outcomes"]
    tree.hidden_information, tree.native = meta["hidden_information"], meta["native"]
    tree.names, tree.start, tree.rules_identity = meta["names"], meta["start"], meta["rules_identity"]
    tree.action_names = {key: text for key, text in meta["action_names"]}
    tree.outcome_names = {key: text for key, text in meta["outcome_names"]}
    tree._bind()
    return tree


def openspiel_identity(game):
    """An OpenSpiel game's name and all its parameters, defaults filled in: equal for equal games. A
    turn-based view is its game."""
    parameters = game.get_parameters()
    name = game.get_type().short_name
    if name == TURN_BASED:
        parameters = dict(parameters["game"])
        name = parameters.pop("name")
    return f"{name} {json.dumps(parameters, sort_keys=True, default=str)}"


def history_key(history):
    """The key of a history of an OpenSpiel game: all ids from its start, a list of int."""
    cdef uint64_t key = 0
    cdef int64_t id
    for id in history:
        key = step_key(key, id)
    return key


def take_forced(state):
    """Move a pyspiel state on while there is one way to go, as extraction does."""
    while not state.is_terminal():
        if state.is_chance_node():
            actions = [pair[0] for pair in state.chance_outcomes() if pair[1] > 0]
        else:
            actions = state.legal_actions()
        if len(actions) != 1:
            return
        state.apply_action(actions[0])


# ---- the tree as a native game -----------------------------------------------------------------

cdef struct NodeState:
    int32_t node


cdef int32_t find_edge(const TreeTables *t, int32_t node, int32_t action) noexcept nogil:
    """The edge of a node with this id, or -1. Ids often are 0, 1, 2, ..., which is tried first."""
    cdef int32_t low = t.first[node], high = low + t.count[node] - 1, middle
    if 0 <= action <= high - low and t.action[low + action] == action:
        return low + action
    while low <= high:
        middle = (low + high) >> 1
        if t.action[middle] == action:
            return middle
        if t.action[middle] < action:
            low = middle + 1
        else:
            high = middle - 1
    return -1


cdef int32_t node_turn(const void *tables, const void *state) noexcept nogil:
    return (<const TreeTables *>tables).player[(<const NodeState *>state).node]


cdef int32_t node_legal(const void *tables, const void *state, int32_t *out) noexcept nogil:
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef int32_t node = (<const NodeState *>state).node
    memcpy(out, t.action + t.first[node], t.count[node] * sizeof(int32_t))
    return t.count[node]


cdef int32_t node_outcomes(const void *tables, const void *state, int32_t *ids, double *probs) noexcept nogil:
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef int32_t node = (<const NodeState *>state).node
    memcpy(ids, t.action + t.first[node], t.count[node] * sizeof(int32_t))
    memcpy(probs, t.prob + t.first[node], t.count[node] * sizeof(double))
    return t.count[node]


cdef int32_t node_sample(const void *tables, const void *state, Rng *rng) noexcept nogil:
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef int32_t node = (<const NodeState *>state).node
    return t.action[t.first[node] + tree_sample(t, node, rng)]


cdef void node_apply(const void *tables, void *state, int32_t id) noexcept nogil:
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef NodeState *s = <NodeState *>state
    cdef int32_t edge = find_edge(t, s.node, id)
    QUANDARY_CHECK(edge >= 0, "an action the node does not have")
    s.node = edge if t.target == NULL else t.target[edge]


cdef void node_returns(const void *tables, const void *state, double *out) noexcept nogil:
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef int32_t node = (<const NodeState *>state).node
    if t.player[node] == TERMINAL:
        memcpy(out, t.utility + <int64_t>t.infoset[node] * t.n_players, t.n_players * sizeof(double))
    else:
        memset(out, 0, t.n_players * sizeof(double))


cdef uint64_t node_state_key(const void *tables, const void *state) noexcept nogil:
    return rng_mix(<uint64_t>(<const NodeState *>state).node + 1)


cdef uint64_t node_knowledge(const TreeTables *t, int32_t node, int32_t observer) noexcept nogil:
    """What names the observer's information: its information set where it is to move; where another
    is, its view if the tree has views; elsewhere its own last sequence."""
    cdef int32_t child
    if t.player[node] == observer:
        return <uint64_t>t.infoset[node] << 1
    if t.view != NULL and t.player[node] >= 0:
        return t.view[<int64_t>node * t.n_players + observer]
    while node > 0:
        child = node
        node = t.parent[node]
        if t.player[node] == observer:
            return <uint64_t>(t.info_first[t.infoset[node]] + child - t.first[node] + 1) << 1 | 1
    return 1


cdef uint64_t node_info_key(const void *tables, const void *state, int32_t observer) noexcept nogil:
    return rng_combine(node_knowledge(<const TreeTables *>tables, (<const NodeState *>state).node, observer), observer)


cdef int32_t node_info_bytes(const void *tables, const void *state, int32_t observer, uint8_t *out) noexcept nogil:
    cdef uint64_t known = node_knowledge(<const TreeTables *>tables, (<const NodeState *>state).node, observer)
    memcpy(out, &known, 8)
    out[8] = observer
    return 9


cdef void node_resample(const void *tables, void *state, int32_t observer, Rng *rng) noexcept nogil:
    """Where the observer is to move: a member of its information set, by chance reach. Elsewhere
    the tree does not know what the observer sees, and the state stays."""
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef NodeState *s = <NodeState *>state
    if t.player[s.node] == observer:
        s.node = tree_resample(t, t.infoset[s.node], rng)


cdef bint hides_choices(const TreeTables *t, int32_t node, const int32_t *infosets, int32_t levels) noexcept nogil:
    """Whether each level of decisions below a node is the one information set given for it."""
    cdef int32_t edge
    for edge in range(t.first[node], t.first[node] + t.count[node]):
        if t.player[edge] < 0 or t.infoset[edge] != infosets[0]:
            return False
        if levels > 1 and not hides_choices(t, edge, infosets + 1, levels - 1):
            return False
    return True


cdef bint opens_stage(const TreeTables *t, int32_t node) noexcept nogil:
    """Whether this decision stays hidden from another seat that decides next."""
    cdef int32_t child = t.first[node]
    return (t.player[node] >= 0 and t.player[child] >= 0 and t.player[child] != t.player[node]
            and hides_choices(t, node, &t.infoset[child], 1))


cdef int32_t node_rewind(const void *tables, void *state) noexcept nogil:
    """Up from decision to decision for as long as every seat decides once and none of them knows what
    the ones before it chose. Needs a tree with one edge into every node."""
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef int32_t infosets[PLAYER_LIMIT]
    cdef int32_t start = (<NodeState *>state).node, levels = 0
    cdef uint32_t seats
    if t.player[start] < 0:
        return -1
    seats = 1u << t.player[start]
    while start > 0 and t.player[t.parent[start]] >= 0 and not seats >> t.player[t.parent[start]] & 1:
        memmove(infosets + 1, infosets, levels * sizeof(int32_t))
        infosets[0] = t.infoset[start]
        if not hides_choices(t, t.parent[start], infosets, levels + 1):
            break
        start = t.parent[start]
        seats |= 1u << t.player[start]
        levels += 1
    if levels == 0 and not opens_stage(t, start):
        return -1
    (<NodeState *>state).node = start
    return levels


cdef int32_t node_run_chance(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef int32_t node = (<NodeState *>state).node, steps = 0
    while t.player[node] == CHANCE:
        node = tree_child(t, node, tree_sample(t, node, rng))
        steps += 1
    (<NodeState *>state).node = node
    return steps


cdef int32_t node_random_action(const void *tables, const void *state, Rng *rng) noexcept nogil:
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef int32_t node = (<const NodeState *>state).node
    return t.action[t.first[node] + rng_below(rng, t.count[node])]


cdef int64_t node_playout(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef int32_t node = (<NodeState *>state).node
    cdef int64_t steps = 0
    while t.player[node] != TERMINAL:
        if t.player[node] == CHANCE:
            node = tree_child(t, node, tree_sample(t, node, rng))
        else:
            node = tree_child(t, node, rng_below(rng, t.count[node]))
        steps += 1
    (<NodeState *>state).node = node
    return steps


def require_width(name, most_legal, most_outcomes):
    """Raise UnsuitableGameError where a node is too wide for the searchers' buffers."""
    for what, most, limit in (("actions", most_legal, LEGAL_LIMIT), ("outcomes", most_outcomes, OUTCOME_LIMIT)):
        if most > limit:
            raise UnsuitableGameError(f"{name}: a node has {most} {what}; searchers allow {limit}")


cdef class TreeRules(Rules):
    """A flat tree as a native game, whose state is a node number.

    Ids and names of actions and outcomes are the source game's. A player's information is known
    where it is to move (its information set), and at decisions of others once the tree has views
    (`extraction.prepare_views`); elsewhere `info_key` is the key of its own last sequence. For an
    observer who is not to move `resample` does nothing.

    Args:
        tree: the FlatTree.

    Raises:
        UnsuitableGameError: a node has more actions or outcomes than the contract allows.
    """

    def __init__(self, FlatTree tree not None):
        super().__init__({"tree": tree.name}, None)
        cdef GameOps *ops = &self.ops
        counts = tree.arrays["count"]
        player = tree.arrays["player"]
        most_legal = int(counts[player >= 0].max(initial=1))
        most_outcomes = int(counts[player == CHANCE].max(initial=0))
        require_width(tree.name, most_legal, most_outcomes)
        self.tree = tree
        self.name = tree.name.removesuffix("()")
        self.digest = tree.digest
        tree.prepare_sampling()
        if tree.hidden_information:
            tree.prepare_members()
        self.tables = &tree.tables
        ops.game_version = _VERSION
        ops.state_size = sizeof(NodeState)
        ops.n_players = tree.n_players
        ops.n_actions, ops.n_outcomes = max(1, tree.n_actions), tree.n_outcomes
        ops.max_legal, ops.max_outcomes = most_legal, most_outcomes
        ops.max_decisions, ops.max_chances = max(1, tree.depths()[0]), tree.depths()[1]
        ops.flags = ZERO_SUM if tree.zero_sum else 0
        ops.min_utility, ops.max_utility = tree.min_utility, tree.max_utility
        ops.turn, ops.legal, ops.outcomes, ops.sample = node_turn, node_legal, node_outcomes, node_sample
        ops.apply, ops.returns, ops.state_key = node_apply, node_returns, node_state_key
        ops.run_chance, ops.random_action, ops.playout = node_run_chance, node_random_action, node_playout
        if tree.hidden_information:
            ops.flags |= HIDDEN_INFORMATION
            ops.info_size = 9
            ops.info_key, ops.info_bytes, ops.resample = node_info_key, node_info_bytes, node_resample
            if not tree.merged and self._has_stages():
                ops.rewind = node_rewind
        self.seal()

    cdef bint _has_stages(self):
        """Whether several seats ever choose in secret before anything comes to light."""
        cdef const TreeTables *t = &self.tree.tables
        cdef int32_t node
        with nogil:
            for node in range(t.n_nodes):
                if t.player[node] >= 0 and opens_stage(t, node):
                    return True
        return False

    def __reduce__(self):
        return TreeRules, (self.tree,)

    @property
    def perfect_recall(self):
        """Whether every player always knows its own past information sets and actions."""
        return all(self.tree.perfect_recall)

    @property
    def secrecy(self):
        """What it is that a seat does not know, for messages: see `contract.require_open`."""
        return SIMULTANEOUS if self.tree.simultaneous else HIDING

    def position(self, node):
        """The `Position` at a node."""
        return self.restore({"node": int(node)})

    def node(self, Position position not None):
        """The node number of one of this game's positions."""
        return (<NodeState *>position.state).node

    def action_name(self, action):
        return self.tree.action_names.get(action, f"action {action}")

    def outcome_name(self, outcome):
        return self.tree.outcome_names.get(outcome, f"outcome {outcome}")

    def describe(self, Position position):
        node = self.node(position)
        if self.tree.merged:
            return f"node {node}"
        steps = []
        while node > 0:
            parent, action = self.tree.tables.parent[node], self.tree.tables.action[node]
            chance = self.tree.tables.player[parent] == CHANCE
            steps.append(self.outcome_name(action) if chance else self.action_name(action))
            node = parent
        return f"node {self.node(position)}: {', '.join(reversed(steps)) or 'start'}"

    def observe(self, Position position, observer):
        if not self.tree.hidden_information:
            return self.describe(position)
        cdef int32_t node = (<NodeState *>position.state).node
        cdef int32_t infoset
        if self.tree.tables.player[node] == observer:
            infoset = self.tree.tables.infoset[node]
            with contextlib.suppress(UnsuitableGameError):     # of a file whose game is not at hand
                label = self.tree.infoset_label(infoset)
                if isinstance(label, str):
                    return label
            return f"information set {infoset}"
        if self.tree.tables.view != NULL and self.tree.tables.player[node] >= 0:
            return f"view {node_knowledge(&self.tree.tables, node, observer):016x}"
        return f"after own sequence {(node_knowledge(&self.tree.tables, node, observer) >> 1) - 1}"

    def recall(self, Position position, observer):
        return self.observe(position, observer)

    def export(self, Position position):
        return {"node": self.node(position)}

    def restore(self, dict position):
        unknown = set(position) - {"node"}
        if unknown or "node" not in position:
            raise PositionError(
                f"{self.tree.name}: a position of a tree has the one field 'node', not {list(position)}")
        node = position["node"]
        if not isinstance(node, int) or not 0 <= node < self.tree.n_nodes:
            raise PositionError(f"{self.tree.name}: node is {node!r}, allowed are 0 to {self.tree.n_nodes - 1}")
        cdef Position made = new_position(self, self.start)
        (<NodeState *>made.state).node = node
        return made
