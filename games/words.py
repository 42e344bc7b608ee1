"""How a game speaks to people: the question, the options, the story, and what can be looked up.

Names of actions and outcomes are for programs: short, stable, the same in every state. People get
these words beside them. A game offers a `Words`; where it leaves something out, or offers none,
`GameSpec` falls back on the names.

Whatever is said to a seat may depend on nothing but what that seat knows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from engine_ext.position import Position, Rules

NOBODY = -1  # the seat of dice and cards


@dataclass(frozen=True)
class Step:
    """One step of a game, to be told.

    Attributes:
        seat: who decided; NOBODY for dice and cards.
        action: id of the action or outcome.
        name: its name; None where the listener cannot tell it from others that were possible.
        before, after: the positions around it. They hold what the listener may not know, too.
    """

    seat: int
    action: int
    name: str | None
    before: Position
    after: Position


@dataclass(frozen=True)
class Line:
    """A line of the story.

    Attributes:
        seat: whose doing it is; NOBODY where it is nobody's.
        text: what happened, in the past tense and without a subject: "rolled 4 and 2".
    """

    seat: int
    text: str


@dataclass(frozen=True)
class Words:
    """What a game says to people.

    Attributes:
        ask: the question that the seat to move has to answer, in one sentence.
        options: every legal action of a decision in words, each different, in the order of a menu.
        tell: what happened in some consecutive steps, as a seat saw it; for NOBODY, as somebody tells it from whom
            nothing is hidden.
        look_up: name to text of what a seat can look up: cards, fields, pieces.
        aim: how a game under some rules is played and won, in a few sentences, for somebody who does not know it.
        unit: what utilities count under some rules where they say more than who won, one and many of
            it: `("chip", "chips")`.
        understand: the legal action that a typed line means in a shorthand of the game's own, such as `keep 3 5 5`;
            None where it is no shorthand. IllegalActionError, in words, where it is one and means nothing here.
        shorthand: what of that can be typed, in a line.
    """

    ask: Callable[[Position], str]
    options: Callable[[Position], Mapping[int, str]]
    tell: Callable[[Sequence[Step], int], list[Line]] | None = None
    look_up: Callable[[Position, int], Mapping[str, str]] | None = None
    aim: Callable[[Rules], str] | None = None
    unit: Callable[[Rules], tuple[str, str]] | None = None
    understand: Callable[[Position, str], int | None] | None = None
    shorthand: str = ""


def tell_names(steps: Sequence[Step], seat: int) -> list[Line]:
    """The names of the steps, for games that tell no story of their own."""
    del seat
    return [Line(step.seat, "(hidden from you)" if step.name is None else step.name) for step in steps]


def who(seat: int, listener: int) -> str:
    """A seat as the listener calls it."""
    return "you" if seat == listener else f"seat {seat}"


def has(seat: int, listener: int) -> str:
    """A seat before a number that it has: `you have`, `seat 2 has`."""
    return "you have" if seat == listener else f"seat {seat} has"


def tally(numbers: Sequence[float], listener: int, one: str, many: str = "", done: str = "") -> str:
    """What each seat has, the listener first: `you have 5 points, seat 1 has 3 and seat 2 has 2`.

    Args:
        numbers: by seat.
        one, many: what is counted.
        done: a participle, should they have been got somehow: `you have captured 5 cards and seat 1 has captured 3`.
    """
    seats = sorted(range(len(numbers)), key=lambda seat: seat != listener)
    parts = [f"{has(seat, listener)} {done + ' ' if done else ''}{format(numbers[seat], 'g')}" for seat in seats]
    parts[0] += " " + (one if numbers[seats[0]] == 1 else many or one + "s")
    return join(parts)


def whose(seat: int, listener: int) -> str:
    """A seat's, as the listener says it."""
    return "your" if seat == listener else f"seat {seat}'s"


def overheard(option: str) -> str:
    """An option as somebody else than who chooses hears it: `unlock your Portal` is `unlock its Portal`.
    The text of a card, after a colon, speaks to nobody in particular and stays."""
    said, colon, text = option.partition(": ")
    said = re.sub(r"\byours\b", "its own", re.sub(r"\byour\b", "its", said))
    return said + colon + text


def count(n: float, one: str, many: str = "") -> str:
    """A number with its noun: `1 die`, `3 dice`, `2.5 points`."""
    return f"{n if isinstance(n, int) else format(n, 'g')} {one if n == 1 else many or one + 's'}"


def join(parts: Sequence[str], last: str = "and") -> str:
    """`a`, `a and b`, `a, b and c`."""
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"
