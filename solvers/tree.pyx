"""Flat trees: a whole game as a structure of arrays, made once by `solvers.extraction.extract`.

tree.pxd describes the arrays; tree_rules.pyx makes a tree a native game.
"""
import hashlib
import json

import numpy as np
import pyspiel

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

from engine_ext.game cimport CHANCE

from engine_ext.errors import ParameterError, SavedStateError, UnsuitableGameError
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
        """Take what `tree_views.prepare_views` found, uint64[n_nodes, n_players]."""
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
