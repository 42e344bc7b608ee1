"""A policy that a file holds, in the place of a solver that would find it.

`quandary solve ... --policy FILE` writes such files. `policy(file=FILE)` plays one: it is a `PolicySolver` that
has found what it finds before it begins.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from engine_ext.errors import SavedStateError, SpecError, TooLargeError, UnsuitableGameError
from engine_ext.position import Rules
from solvers.best_response import exploitability
from solvers.contract import Parameter, SolverSpec
from solvers.identity import identify, require_same
from solvers.policies import KEYED_KIND, KIND, KeyedPolicy, TabularPolicy
from solvers.saved import kind_of
from solvers.tree import FlatTree

NAME = "policy"


class SavedPolicy:
    """A `PolicySolver` that has nothing left to do.

    Args:
        source: the game's flat tree; its rules where the policy was sampled without a tree.
        path: the file.

    Attributes:
        iterations: 0.
        seconds: 0: whatever time it took was somebody else's.

    Raises:
        SavedStateError: missing, damaged, or of another game.
    """

    def __init__(self, source: FlatTree | Rules, path: str | Path) -> None:
        self.iterations = 0
        self.seconds = 0.0
        self._policy: TabularPolicy | KeyedPolicy = (
            TabularPolicy.load(path, source) if isinstance(source, FlatTree) else KeyedPolicy.load(path, source)
        )

    def run(self, iterations: int) -> None:
        """Nothing changes."""

    def average_policy(self) -> TabularPolicy | KeyedPolicy:
        """The policy of the file."""
        return self._policy

    def exploitability(self) -> float:
        """NashConv of the policy divided by the number of players.

        Raises:
            UnsuitableGameError: it was sampled without a tree, or a player forgets.
        """
        if isinstance(self._policy, KeyedPolicy):
            raise UnsuitableGameError(f"{self._policy.game.game}: exploitability needs the tree of the whole game")
        return float(exploitability(self._policy))


def source_of(path: str | Path, source: Any, extract: Callable[[], FlatTree]) -> FlatTree | Rules:
    """What the policy of a file plays on: the game's tree, or its rules where it was sampled without one.

    Args:
        path: the file.
        source: the game: our rules, or OpenSpiel's game.
        extract: gives its tree.

    Raises:
        SavedStateError: missing, damaged, or of another game.
        TooLargeError, UnsuitableGameError: the policy needs the game's tree, and there is none.
    """
    kind, meta = _kind_of(path)
    if kind == KEYED_KIND:
        require_same(path, "policy", meta, identify(source))
        return source if isinstance(source, Rules) else source.rules
    try:
        tree = extract()
    except (TooLargeError, UnsuitableGameError):
        wanted = identify(source)
        if meta.get("identity", {}).get("rules") != wanted.rules:
            require_same(path, "policy", meta, wanted)
        raise
    require_same(path, "policy", meta, identify(tree))
    return tree


def _kind_of(path: str | Path) -> tuple[str, dict[str, Any]]:
    kind, meta = kind_of(path, "policy")
    if kind not in (KIND, KEYED_KIND):
        raise SavedStateError(f"{path}: holds a {kind}, a policy was expected")
    return kind, meta


def _check(rules: Rules, parameters: Mapping[str, Any]) -> None:
    """Refuse a file that holds no policy before any work; whose game it is shows when the tree is there."""
    if parameters["file"] is None:
        raise SpecError(f"{NAME} needs the file that holds it, as in {NAME}(file=nash.policy)")
    _kind_of(parameters["file"])


def _make(source: FlatTree | Rules, parameters: Mapping[str, Any]) -> SavedPolicy:
    return SavedPolicy(source, parameters["file"])


SOLVERS = (
    SolverSpec(
        name=NAME,
        kind="policy",
        summary="A policy that `quandary solve --policy FILE` has saved, played as it stands.",
        source="whatever found it",
        make=_make,
        parameters={
            "file": Parameter(
                None,
                "what holds it; a relative name starts from the config's folder, on the command line from the working "
                "directory; names with any of ,()= in them need double quotes",
                kind=Path,
            )
        },
        check=_check,
    ),
)
