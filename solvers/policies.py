"""Policies: probabilities for every information set of a flat tree.

A `TabularPolicy` is one array over the tree's sequences. It answers by information set, by the
label of one (an information-state string of an OpenSpiel game, the key of a native one), and for
a `pyspiel.State` or a native `Position`, which is what a bot needs to play it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyspiel

from engine_ext.errors import ParameterError, UnsuitableGameError
from engine_ext.position import Position, Rules
from solvers.extraction import native_name
from solvers.identity import Identity, identify, require_same
from solvers.saved import read_saved, write_saved
from solvers.tree import FlatTree, openspiel_identity

KIND = "tabular policy"
KEYED_KIND = "keyed policy"
_VERSION = 2  # 1: a keyed policy named its game without its parameters


class TabularPolicy:
    """A behaviour policy of all players on a flat tree.

    Args:
        tree: the FlatTree.
        probabilities: float64[tree.n_sequences], by sequence; each information set sums to 1.

    Raises:
        ParameterError: not a policy: wrong length, negative, or sums other than 1.
    """

    def __init__(self, tree: FlatTree, probabilities: np.ndarray) -> None:
        self.tree = tree
        self._known_games: set[str] = set()
        self.probabilities = np.ascontiguousarray(probabilities, dtype=np.float64)
        if self.probabilities.shape != (tree.n_sequences,):
            raise ParameterError(
                f"{tree.name}: a policy has {tree.n_sequences} probabilities, not {self.probabilities.shape}"
            )
        first = tree.arrays["info_first"]
        if tree.n_infosets:
            sums = np.add.reduceat(self.probabilities, first[:-1])
            if not (np.all(self.probabilities >= 0) and np.all(np.abs(sums - 1) < 1e-6)):
                raise ParameterError(
                    f"{tree.name}: probabilities of an information set are negative or do not sum to 1"
                )

    @staticmethod
    def uniform(tree: FlatTree) -> TabularPolicy:
        """Every action alike."""
        counts = np.diff(tree.arrays["info_first"])
        return TabularPolicy(tree, np.repeat(1.0 / np.maximum(counts, 1), counts))

    @staticmethod
    def first_action(tree: FlatTree) -> TabularPolicy:
        """Always the legal action with the lowest id (in poker: fold or pass)."""
        probabilities = np.zeros(tree.n_sequences)
        probabilities[tree.arrays["info_first"][:-1]] = 1.0
        return TabularPolicy(tree, probabilities)

    @staticmethod
    def from_openspiel(tree: FlatTree, policy: Any) -> TabularPolicy:
        """The same policy as an OpenSpiel one, for a tree of an OpenSpiel game.

        Args:
            policy: a `pyspiel.Policy` or an `open_spiel.python.policy.Policy`, or a dict from
                information-state strings to {action: probability}.

        Raises:
            UnsuitableGameError: the tree is of a native game, or its labels are histories.
            ParameterError: the policy lacks an information set of the tree.
        """
        if tree.native:
            raise UnsuitableGameError(f"{tree.name}: a native tree has no information-state strings to look up")
        table = policy if isinstance(policy, dict) else _table_of(policy, tree)
        probabilities = np.zeros(tree.n_sequences)
        first = tree.arrays["info_first"]
        for infoset in range(tree.n_infosets):
            label = _label(tree.state_at(tree.infoset_nodes(infoset)[0]), tree.infoset_player(infoset))
            if label not in table:
                raise ParameterError(f"{tree.name}: the policy has no information set {label!r}")
            found = table[label]
            probabilities[first[infoset] : first[infoset + 1]] = [
                found.get(action, 0.0) for action in tree.infoset_actions(infoset)
            ]
        return TabularPolicy(tree, probabilities)

    # ---- questions --------------------------------------------------------------------------

    def infoset_probabilities(self, infoset: int) -> dict[int, float]:
        """{action: probability} of an information set, by its number."""
        first = self.tree.arrays["info_first"]
        actions = self.tree.infoset_actions(infoset)
        return dict(zip(actions, self.probabilities[first[infoset] : first[infoset + 1]].tolist(), strict=True))

    def lookup(self, label: str | int, player: int) -> dict[int, float] | None:
        """{action: probability} by the label of an information set; None where it is not in the tree.

        Args:
            label: what names one in the tree (`FlatTree.names`): the info_key of a native game, an
                information-state string, a history.
            player: the seat to move.

        Several information sets may share the key of a game that remembers nothing; then their
        probabilities are averaged by the player's own reach, as a mixed strategy would.
        """
        return self._mean(self.tree.infosets_of(label, player))

    def _mean(self, infosets: list[int]) -> dict[int, float] | None:
        if not infosets:
            return None
        if len(infosets) == 1:
            return self.infoset_probabilities(infosets[0])
        weights = np.array([self._own_reach(infoset) for infoset in infosets])
        weights = weights / weights.sum() if weights.sum() > 0 else np.full(len(infosets), 1 / len(infosets))
        first = self.tree.arrays["info_first"]
        mean = sum(
            weight * self.probabilities[first[i] : first[i + 1]] for weight, i in zip(weights, infosets, strict=True)
        )
        return dict(zip(self.tree.infoset_actions(infosets[0]), np.asarray(mean).tolist(), strict=True))

    def action_probabilities(self, state: Any, player: int | None = None) -> dict[int, float]:
        """{action: probability} at a `pyspiel.State` or `Position` whose mover this policy knows.

        A forced move has probability 1. Where the tree does not have the information set (it can
        only be reached by play the tree left out), every legal action is alike.

        Raises:
            UnsuitableGameError: the state is of another game, or of another with these names.
        """
        mover = state.current_player() if player is None else player
        legal = state.legal_actions()
        if len(legal) == 1:
            return {legal[0]: 1.0}
        if self.tree.native:
            position = state if isinstance(state, Position) else getattr(state, "position", None)
            if not isinstance(position, Position):
                raise UnsuitableGameError(
                    f"{self.tree.name}: this policy is of a native game and cannot read a {type(state).__name__}"
                )
            _require_rules(self.tree.name, self.tree.rules_identity, position)
            found = self.lookup(position.info_key(mover), mover)
        elif isinstance(state, Position):
            raise UnsuitableGameError(
                f"{self.tree.name}: this policy is of a game of OpenSpiel's and cannot read a native position"
            )
        else:
            self._require_game(state.get_game())
            found = self._mean(self.tree.infosets_at(state, mover))
        return found if found is not None else dict.fromkeys(legal, 1.0 / len(legal))

    def _require_game(self, game: pyspiel.Game) -> None:
        text = str(game)
        if text not in self._known_games:
            if openspiel_identity(game) != self.tree.rules_identity:
                raise UnsuitableGameError(f"this policy is of {self.tree.name}, and the state is of {text}")
            self._known_games.add(text)

    def _own_reach(self, infoset: int) -> float:
        """The player's own probability of playing to an information set."""
        first = self.tree.arrays["info_first"]
        parent = self.tree.arrays["info_parent"]
        reach = 1.0
        sequence = int(parent[infoset])
        while sequence >= 0:
            reach *= float(self.probabilities[sequence])
            sequence = int(parent[np.searchsorted(first, sequence, side="right") - 1])
        return reach

    # ---- to OpenSpiel -----------------------------------------------------------------------

    def table(self, game: pyspiel.Game | None = None) -> dict[str, list[tuple[int, float]]]:
        """{information-state string: [(action, probability)]}, for every decision of the game, forced
        ones included: the game is walked once.

        Args:
            game: the OpenSpiel game; None for the one the tree was extracted from. A native tree
                needs it, for its information-state strings.

        Raises:
            ParameterError: no game is given or known.
        """
        if game is None and self.tree.native:
            raise ParameterError(f"{self.tree.name}: give the OpenSpiel game that this policy is to be a table for")
        game = self.tree.reopened().get_game() if game is None else game
        if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
            game = pyspiel.convert_to_turn_based(game)
        table: dict[str, list[tuple[int, float]]] = {}
        stack = [game.new_initial_state()]
        while stack:
            state = stack.pop()
            if state.is_terminal():
                continue
            if not state.is_chance_node():
                label = _label(state, state.current_player())
                if label not in table:
                    table[label] = list(self.action_probabilities(state).items())
            stack.extend(state.child(action) for action in state.legal_actions())
        return table

    def to_openspiel(self, game: pyspiel.Game | None = None) -> Any:
        """A `pyspiel.TabularPolicy` with these probabilities; arguments and errors as `table`."""
        return pyspiel.TabularPolicy(self.table(game))

    def merged_into(self, tabular: Any, game: pyspiel.Game | None = None) -> Any:
        """A `pyspiel.TabularPolicy` with the other's entries and, where this policy has one, its own.

        Args:
            tabular: the other `pyspiel.TabularPolicy`, e.g. of a larger game.
            game: as for `table`.
        """
        return pyspiel.TabularPolicy({**tabular.policy_table(), **self.table(game)})

    # ---- mixing, files ----------------------------------------------------------------------

    def mixed_with(self, other: TabularPolicy, weight: float) -> TabularPolicy:
        """The policy that plays this one with probability 1 - weight at each information set."""
        if other.tree is not self.tree and other.tree.digest != self.tree.digest:
            raise ParameterError(f"policies of {self.tree.name} and {other.tree.name} cannot be mixed")
        return TabularPolicy(self.tree, (1 - weight) * self.probabilities + weight * other.probabilities)

    def save(self, path: str | Path) -> None:
        """Write the policy to a file (solvers/saved.py has the layout); the tree is not in it."""
        meta = {"identity": identify(self.tree).to_meta()}
        write_saved(path, KIND, _VERSION, meta, {"probabilities": self.probabilities})

    @staticmethod
    def load(path: str | Path, tree: FlatTree) -> TabularPolicy:
        """Read the policy that `save` wrote.

        Raises:
            SavedStateError: damaged, or of a tree with another content.
        """
        meta, arrays = read_saved(path, KIND, _VERSION)
        require_same(path, "policy", meta, identify(tree))
        return TabularPolicy(tree, arrays["probabilities"])

    def __repr__(self) -> str:
        return f"<TabularPolicy of {self.tree.name}, {self.tree.n_infosets} information sets>"


class KeyedPolicy:
    """A sparse policy of a native game, by (information-set key, player), without a tree.

    Args:
        game: what the game is, with the position it starts from.
        keys: uint64[n], the game's info_key of each set.
        players: int32[n], who moves there.
        first: int64[n + 1], where each set's probabilities begin.
        probabilities: float64[first[n]], in ascending order of the legal actions.
    """

    def __init__(
        self, game: Identity, keys: np.ndarray, players: np.ndarray, first: np.ndarray, probabilities: np.ndarray
    ) -> None:
        self.game = game
        order = np.lexsort((players, keys))
        self.keys, self.players = keys[order], players[order]
        self._starts, self._sizes = first[:-1][order], np.diff(first)[order]
        self._probabilities = probabilities

    def __len__(self) -> int:
        return len(self.keys)

    def lookup(self, key: int, player: int) -> np.ndarray | None:
        """Probabilities of a set's legal actions, ascending by id; None where it is not known."""
        at = int(np.searchsorted(self.keys, np.uint64(key)))
        while at < len(self.keys) and int(self.keys[at]) == key:
            if self.players[at] == player:
                return self._probabilities[self._starts[at] : self._starts[at] + self._sizes[at]]
            at += 1
        return None

    def action_probabilities(self, state: Any, player: int | None = None) -> dict[int, float]:
        """{action: probability} at a `Position`, or a state of the OpenSpiel face, that is a decision.
        Where the policy does not know the set, every legal action is alike.

        Raises:
            UnsuitableGameError: the state is of another game, or of this one with other parameters or data.
        """
        position = state if isinstance(state, Position) else getattr(state, "position", None)
        if not isinstance(position, Position):
            raise UnsuitableGameError(f"this policy is of {self.game.game} and cannot read a {type(state).__name__}")
        _require_rules(self.game.game, self.game.rules, position)
        mover = position.current_player() if player is None else player
        legal = position.legal_actions()
        found = self.lookup(position.info_key(mover), mover)
        if found is None or len(found) != len(legal):
            return dict.fromkeys(legal, 1.0 / len(legal))
        return dict(zip(legal, found.tolist(), strict=True))

    def save(self, path: str | Path) -> None:
        """Write the policy to a file (solvers/saved.py has the layout)."""
        first = np.concatenate([[0], np.cumsum(self._sizes)]).astype(np.int64)
        packed = np.concatenate(
            [self._probabilities[a : a + n] for a, n in zip(self._starts, self._sizes, strict=True)] or [np.zeros(0)]
        )
        arrays = {"keys": self.keys, "players": self.players, "first": first, "probabilities": packed}
        write_saved(path, KEYED_KIND, _VERSION, {"identity": self.game.to_meta()}, arrays)

    @staticmethod
    def load(path: str | Path, game: Rules | Position) -> KeyedPolicy:
        """Read the policy that `save` wrote.

        Args:
            path: the file.
            game: the rules it was found under, or the position it was found from.

        Raises:
            SavedStateError: damaged, or of a game with another name, version, parameters, data or start.
        """
        meta, arrays = read_saved(path, KEYED_KIND, _VERSION)
        wanted = identify(game)
        require_same(path, "policy", meta, wanted)
        return KeyedPolicy(wanted, arrays["keys"], arrays["players"], arrays["first"], arrays["probabilities"])

    def __repr__(self) -> str:
        return f"<KeyedPolicy of {self.game.game}, {len(self)} information sets>"


def _label(state: Any, mover: int) -> str:
    """What OpenSpiel's policies call an information set."""
    if state.get_game().get_type().provides_information_state_string:
        return str(state.information_state_string(mover))
    return str(state.history_str())


def _require_rules(name: str, rules: str, position: Position) -> None:
    """Raise UnsuitableGameError unless a position is of the game that a policy was found for."""
    if position.rules.identity != rules:
        raise UnsuitableGameError(
            f"this policy is of {name}, and the position is of {native_name(position.rules)}, another game or the same "
            "with other parameters or data"
        )


def _table_of(policy: Any, tree: FlatTree) -> dict[str, dict[int, float]]:
    """An OpenSpiel policy as {information-state string: {action: probability}}."""
    if hasattr(policy, "policy_table"):
        return {label: dict(pairs) for label, pairs in policy.policy_table().items()}
    game = tree.reopened().get_game()
    table: dict[str, dict[int, float]] = {}
    stack: Sequence[Any] = [game.new_initial_state()]
    stack = list(stack)
    while stack:
        state = stack.pop()
        if state.is_terminal():
            continue
        if not state.is_chance_node():
            player = state.current_player()
            label = _label(state, player)
            if label not in table:
                table[label] = dict(policy.action_probabilities(state, player))
        stack.extend(state.child(action) for action in state.legal_actions())
    return table
