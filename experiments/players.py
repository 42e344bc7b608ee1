"""Players: whatever a spec names, made ready to choose actions in recorded games and in play."""

from __future__ import annotations

import functools
from typing import Protocol

from engine_ext.position import Position, Rules
from experiments import gametext, ladder
from solvers import specs
from solvers.contract import Searcher, SearchResult

ladder.register()


class Player(Protocol):
    """Chooses actions, a decision at a time.

    Attributes:
        name: canonical spec.
    """

    name: str

    def begin(self) -> None:
        """A new game begins: forget the last one."""
        ...

    def choose(self, position: Position, seed: int) -> SearchResult:
        """Decide.

        Args:
            position: a decision; unchanged. A player reads only what the seat to move can see.
            seed: of this decision.

        Returns:
            What it found; `action` is its choice.
        """
        ...


class SearchPlayer:
    """A searcher as a player."""

    def __init__(self, name: str, searcher: Searcher) -> None:
        self.name = name
        self._searcher = searcher

    def begin(self) -> None:
        """Forget anything kept from an earlier game."""
        self._searcher.reset()

    def choose(self, position: Position, seed: int) -> SearchResult:
        """Search from the position."""
        return self._searcher.search(position, seed=seed)


def canonical(spec: str, rules: Rules) -> str:
    """The canonical text of a spec for a game: aliases resolved, parameters in order.

    Raises:
        SpecError: not a spec, or an unknown name or parameter.
    """
    return str(specs.parse_spec(spec, rules))


def make(spec: str, rules: Rules) -> Player:
    """The player that a spec describes.

    Raises:
        SpecError: not a spec, or an unknown name or parameter.
        UnsuitableGameError: a property of the game rules it out.
    """
    checked = specs.parse_spec(spec, rules)
    return SearchPlayer(str(checked), specs.make_searcher(checked, rules))


def timed(spec: str, rules: Rules) -> bool:
    """Whether a spec stops by the clock, so that its choices are not reproducible."""
    return specs.parse_spec(spec, rules).parameters.get("seconds") is not None


@functools.lru_cache(maxsize=64)
def cached(spec: str, game: str) -> Player:
    """The player of this spec on this game, made once in a process.

    Args:
        spec: canonical.
        game: canonical text of one of our games.
    """
    rules = gametext.load(game, own_only=True).rules
    assert rules is not None
    return make(spec, rules)
