"""When two games are the same: the one notion that policies, trees, checkpoints and the ladder go by.

A native game is its name, version, every parameter, its data files' content and where it starts. A
flat tree is its content. A game of OpenSpiel's is its name and every parameter, defaults filled in.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyspiel

from engine_ext.errors import SavedStateError
from engine_ext.position import Position, Rules
from solvers.extraction import native_name
from solvers.tree import FlatTree, openspiel_identity


@dataclass(frozen=True)
class Identity:
    """What a game is.

    Attributes:
        game: for people: its text with all parameters.
        rules: equal exactly for games that go on alike from one state, wherever they start.
        digest: equal exactly for the same game from the same start.
    """

    game: str
    rules: str
    digest: str

    def to_meta(self) -> dict[str, str]:
        """For a file's meta."""
        return asdict(self)


def identify(source: Rules | Position | FlatTree | pyspiel.Game) -> Identity:
    """The identity of a game: its rules, a position it starts from, its tree, or OpenSpiel's game."""
    if isinstance(source, FlatTree):
        return Identity(source.name, source.rules_identity, source.digest)
    if isinstance(source, pyspiel.Game):
        rules = getattr(source, "rules", None)
        if not isinstance(rules, Rules):
            text = openspiel_identity(source)
            return Identity(str(source), text, hashlib.blake2b(text.encode(), digest_size=16).hexdigest())
        source = rules
    position = source.initial_position() if isinstance(source, Rules) else source
    name = native_name(position.rules)
    if position != position.rules.initial_position():
        name += " from a position of its own"
    digest = hashlib.blake2b(position.to_bytes(), digest_size=16).hexdigest()
    return Identity(name, position.rules.identity, digest)


def require_same(path: str | Path, kind: str, meta: Mapping[str, Any], wanted: Identity) -> None:
    """Raise SavedStateError unless a file is of this very game.

    Args:
        path: of the file, for the message.
        kind: what it holds.
        meta: of the file; `identity` is what `Identity.to_meta` gave.
        wanted: the game at hand.
    """
    found = meta.get("identity", {})
    if found.get("digest") != wanted.digest:
        other = found.get("game", "unknown")
        same_text = ", whose data, version or start are others" if other == wanted.game else ""
        raise SavedStateError(f"{path}: a {kind} of another game ({other}) than {wanted.game}{same_text}")
