"""Bots: any searcher, and any policy found offline, as a `pyspiel.Bot` for OpenSpiel's own tools.

A bot holds one seat. Its randomness belongs to (its seed, how many moves it has made), so it
repeats itself exactly, and a game taken up again in the middle goes on as it would have.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyspiel

from engine_ext.errors import IllegalActionError, UnsuitableGameError
from engine_ext.position import Position, Rules
from engine_ext.rng import Stream
from engine_ext.seeds import check_seed
from solvers.contract import Limit, Searcher, SearchResult
from solvers.policies import KeyedPolicy, TabularPolicy
from solvers.specs import Spec, make_searcher, parse_spec


def position_of(state: Any) -> Position:
    """The native position behind a state of one of our games, or the position itself.

    Raises:
        UnsuitableGameError: the state belongs to a game without native rules.
    """
    position = state if isinstance(state, Position) else getattr(state, "position", None)
    if not isinstance(position, Position):
        raise UnsuitableGameError(
            f"a searcher needs a native position, and {type(state).__name__} has none: "
            "extract the game to a flat tree first, or use OpenSpiel's own searchers"
        )
    return position


class SearchBot(pyspiel.Bot):
    """A searcher in one seat.

    Args:
        searcher: what decides.
        seat: the seat it plays, from 0.
        seed: int in [0, 2**64).
        limit: overrides the searcher's own.
        name: for tables and messages.
        locate: from a state to the position to search from; default is `position_of`.

    Attributes:
        last: the result of its last search; None before the first.
    """

    def __init__(
        self,
        searcher: Searcher,
        seat: int,
        seed: int,
        *,
        limit: Limit | None = None,
        name: str = "",
        locate: Callable[[Any], Position] = position_of,
    ) -> None:
        super().__init__()
        self.searcher = searcher
        self.seat = seat
        self.seed = check_seed(seed)
        self.limit = limit
        self.name = name or type(searcher).__name__
        self.locate = locate
        self.last: SearchResult | None = None
        self.moves = 0

    def search(self, state: Any) -> SearchResult:
        """Search from a pyspiel.State or Position with this move's randomness, without moving.

        Raises:
            IllegalActionError: it is not this seat's turn.
        """
        position = self.locate(state)
        if position.current_player() != self.seat:
            raise IllegalActionError(
                f"{self.name} plays seat {self.seat}, and the player to move is {position.current_player()}"
            )
        seed = Stream.keyed(self.seed, self.seat, self.moves).next()
        self.last = self.searcher.search(position, seed=seed, limit=self.limit)
        return self.last

    # ---- what OpenSpiel calls --------------------------------------------------------------

    def step(self, state: Any) -> int:
        """The action it plays here."""
        return self.step_with_policy(state)[1]

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        """([(action, probability)], the action it plays here)."""
        result = self.search(state)
        self.moves += 1
        assert result.action is not None  # it is a decision of this seat
        return [(each.action, each.probability) for each in result.actions], result.action

    def provides_policy(self) -> bool:
        """Whether `get_policy` works: it does."""
        return True

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        """[(action, probability)] of the move it is about to make."""
        return [(each.action, each.probability) for each in self.search(state).actions]

    def restart(self) -> None:
        """A new game begins."""
        self.moves = 0
        self.last = None
        self.searcher.reset()

    def restart_at(self, state: Any) -> None:
        """Go on from this state: as if the bot had made all of its seat's moves so far."""
        self.restart()
        if not isinstance(state, Position):
            self.moves = sum(step.player == self.seat for step in state.full_history())

    def inform_action(self, state: Any, player: int, action: int) -> None:
        """Somebody else moved: a searcher looks at the state when its turn comes, so nothing to do."""

    def __str__(self) -> str:
        return self.name


class PolicyBot(pyspiel.Bot):
    """A policy found offline in one seat: it draws its actions from the policy's probabilities.

    Args:
        policy: a TabularPolicy or KeyedPolicy of the game it plays. A policy of an OpenSpiel game
            reads that game's states, one of a native game reads positions and the states over them.
        seat: the seat it plays, from 0.
        seed: int in [0, 2**64).
        name: for tables and messages.
    """

    def __init__(self, policy: TabularPolicy | KeyedPolicy, seat: int, seed: int, *, name: str = "") -> None:
        super().__init__()
        self.policy = policy
        self.seat = seat
        self.seed = check_seed(seed)
        self.name = name or type(policy).__name__
        self.moves = 0

    def step(self, state: Any) -> int:
        """The action it plays here."""
        return self.step_with_policy(state)[1]

    def step_with_policy(self, state: Any) -> tuple[list[tuple[int, float]], int]:
        """([(action, probability)], the action it plays here)."""
        pairs = self.get_policy(state)
        left = Stream.keyed(self.seed, self.seat, self.moves).double() * sum(chance for _, chance in pairs)
        self.moves += 1
        chosen = max(pairs, key=lambda pair: pair[1])[0]
        for action, chance in pairs:
            left -= chance
            if left < 0:
                chosen = action
                break
        return pairs, chosen

    def provides_policy(self) -> bool:
        """Whether `get_policy` works: it does."""
        return True

    def get_policy(self, state: Any) -> list[tuple[int, float]]:
        """[(action, probability)] of the move it is about to make.

        Raises:
            IllegalActionError: it is not this seat's turn.
        """
        if state.current_player() != self.seat:
            raise IllegalActionError(
                f"{self.name} plays seat {self.seat}, and the player to move is {state.current_player()}"
            )
        return list(self.policy.action_probabilities(state).items())

    def restart(self) -> None:
        """A new game begins."""
        self.moves = 0

    def restart_at(self, state: Any) -> None:
        """Go on from this state: as if the bot had made all of its seat's moves so far."""
        self.moves = 0
        if not isinstance(state, Position):
            self.moves = sum(step.player == self.seat for step in state.full_history())

    def inform_action(self, state: Any, player: int, action: int) -> None:
        """Somebody else moved: a policy looks at the state when its turn comes, so nothing to do."""

    def __str__(self) -> str:
        return self.name


def make_bot(spec: str | Spec, rules: Rules, seat: int, seed: int, *, limit: Limit | None = None) -> SearchBot:
    """The bot that a spec describes, in one seat of one game.

    Raises:
        SpecError: the spec is wrong.
        UnsuitableGameError: a property of the game rules it out.
    """
    checked = parse_spec(spec, rules) if isinstance(spec, str) else spec
    return SearchBot(make_searcher(checked, rules), seat, seed, limit=limit, name=str(checked))
