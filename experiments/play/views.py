"""What bots think, and what utilities say, in terms that a person can read: for one game, whoever plays it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine_ext.position import Position
from experiments import gametext
from experiments.gametext import Game
from games.spec import GameSpec
from games.words import overheard
from solvers.contract import SearchResult


@dataclass(frozen=True)
class Option:
    """One legal action, as a bot sees it.

    Attributes:
        action: its id.
        text: its name.
        words: what it means here.
        visits: simulations or nodes spent on it.
        value: utility for the person's seat; nan where unknown.
        chance: of winning; None where utilities are not only about winning, nan where unknown.
        share: how often the bot would play it.
        best: whether it is the bot's choice.
    """

    action: int
    text: str
    words: str
    visits: int
    value: float
    chance: float | None
    share: float
    best: bool


@dataclass(frozen=True)
class Thought:
    """How a bot saw its last decision.

    Attributes:
        seat: the bot's.
        name: its canonical spec.
        options: its legal actions, best first; values and chances are its own seat's.
    """

    seat: int
    name: str
    options: list[Option]


class Views:
    """One game's figures in words.

    Args:
        game: one of our games.

    Attributes:
        game, rules, spec: the game, its rules, its declaration.
    """

    def __init__(self, game: Game) -> None:
        assert game.rules is not None
        assert game.spec is not None
        self.game, self.rules = game, game.rules
        self.spec: GameSpec = game.spec

    def win_chance(self, utility: float, seat: int | None = None) -> float | None:
        """The chance of winning behind a mean utility; None where utilities are not only about
        winning. A shared win counts as its share."""
        if not gametext.only_wins(self.rules):
            return None
        n = self.rules.num_players()
        return min(1.0, max(0.0, (utility * (n - 1) + 1) / n))

    def amount(self, utility: float) -> str:
        """A utility with what it counts: `+1 chip`, `17 cards kept`; mean ones with two decimals."""
        one, many = self.spec.unit(self.rules)
        sign = "+" if self.rules.min_utility() < 0 else ""
        whole = utility == int(utility)
        return f"{utility:{sign}{'.0f' if whole else '.2f'}} {one if abs(utility) == 1 else many}"

    def options(self, position: Position, seat: int, result: SearchResult) -> list[Option]:
        """What a search found at the seat's decision, best first."""
        words = self.spec.options(position)
        found = [
            Option(
                action=each.action,
                text=position.action_to_string(seat, each.action),
                words=words[each.action],
                visits=each.visits,
                value=each.value,
                chance=self.win_chance(each.value),
                share=each.probability,
                best=each.action == result.action,
            )
            for each in result.actions
        ]
        found.sort(key=lambda option: (not option.best, -option.visits, _descending(option.value)))
        return found

    def as_thought(self, position: Position, seat: int, name: str, result: SearchResult) -> Thought | None:
        """How a bot saw its decision, as others hear it; None where it had no opinion about values."""
        if all(math.isnan(each.value) for each in result.actions):
            return None
        return Thought(
            seat, name, [replace(each, words=overheard(each.words)) for each in self.options(position, seat, result)]
        )

    def outcome(self, utilities: Sequence[float], seat: int) -> str:
        """What came out for a seat, in a few words."""
        chance = self.win_chance(utilities[seat])
        if chance is None:
            return self.amount(utilities[seat])
        if chance == 1:
            return "won"
        if utilities[seat] < max(utilities):
            return "lost"
        return "shares the win" if self.spec.ties_are_wins else "nobody has won"


def _descending(value: float) -> float:
    return math.inf if math.isnan(value) else -value
