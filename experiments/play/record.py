"""A game as a text that a person can read: who sat where, all that happened in the words of the screen, how it ended.

A record is plain text. It holds what one listener has seen: the person who played, or, of games between bots, somebody
from whom nothing is hidden.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from engine_ext.errors import QuandaryError, SavedStateError
from experiments import files
from experiments.play.session import Session
from experiments.play.views import Views
from games.words import NOBODY, Line, Step, who
from solvers.stopping import look_up

COLUMNS = 100
_WHO, _GAP = 8, "  "
_HEAD = 10


def of_session(session: Session) -> str:
    """The record of a game with a person, as far as it has come, as the person saw it.

    What bots said of their decisions is in it where the game showed it.
    """
    steps = []
    position = session.rules.initial_position()
    for event in session.events:
        look_up()
        before = position.clone()
        position.apply_action(event.action)
        steps.append(Step(event.seat, event.action, event.text, before, position.clone()))
    seats = {seat: "you" if seat == session.seat else name for seat, name in enumerate(session.names)}
    head = [("seed", str(session.seed))]
    if session.over:
        end = [session.verdict(), *_results(session, session.position.returns(), session.seat)]
    elif session.your_turn:
        end = [f"The game is not over: you are asked: {session.question()}"]
    else:
        end = [f"The game is not over: it waits for {_waits_for(session)}."]
    return write(session, head, seats, steps, session.said, session.seat, end)


def _waits_for(session: Session) -> str:
    bot = session.bot_to_move
    return "dice or cards" if bot is None else f"seat {bot}"


def of_bots(
    views: Views,
    head: Sequence[tuple[str, str]],
    names: Sequence[str],
    steps: Sequence[Step],
    said: Mapping[int, str],
    utilities: Sequence[float],
) -> str:
    """The record of a game between bots, with all that is hidden from any of them.

    Args:
        views: of the game.
        head: what else is to be told at the head: a word, and what it is.
        names: who sat where.
        steps: all of the game.
        said: by number of the step what a bot said of its decision.
        utilities: by seat.
    """
    end = _results(views, utilities, NOBODY)
    if steps and not steps[-1].after.is_terminal():
        end.insert(0, "The game was cut short by its bound on decisions.")
    return write(views, head, dict(enumerate(names)), steps, said, NOBODY, end)


def _results(views: Views, utilities: Sequence[float], listener: int) -> list[str]:
    return [f"{who(seat, listener)}: {views.outcome(utilities, seat)}" for seat in range(len(utilities))]


def write(
    views: Views,
    head: Sequence[tuple[str, str]],
    seats: Mapping[int, str],
    steps: Sequence[Step],
    said: Mapping[int, str],
    listener: int,
    end: Sequence[str],
) -> str:
    """The text of a record; for its arguments see `of_bots`.

    Args:
        seats: who sat where.
        listener: the seat that is told; NOBODY for somebody from whom nothing is hidden.
        end: how it ended, lines.
    """
    spec, rules = views.spec, views.rules
    data = f", data {rules.digest[:12]}" if rules.digest else ""
    entries = [("game", f"{views.game.text}, version {rules.version}{data}"), *head]
    entries += [(f"seat {seat}", name) for seat, name in seats.items()]
    if spec.records is not None and any(each["provenance"] == "reconstructed" for each in spec.records(rules)):
        entries.append(("data", "some are reconstructed: this project's own, in place of what is not public"))
    lines = [f"{spec.long_name}: record of a game", ""]
    for word, text in entries:
        lines += _hang(f"{word:<{_HEAD}}", text)
    return "\n".join([*lines, "", *_story(views, steps, said, listener), "", *end]) + "\n"


def _story(views: Views, steps: Sequence[Step], said: Mapping[int, str], listener: int) -> list[str]:
    """All that happened; what a bot said of a decision stands above what came of it."""
    told: list[tuple[Line, bool]] = []  # a line, and whether it is what a bot said of its decision
    begun = 0
    for number, words in sorted(said.items()):
        if begun < number:
            told += [(line, False) for line in views.spec.tell(steps[begun:number], listener)]
            begun = number
        told.append((Line(steps[number].seat, f"({words})"), True))
    if begun < len(steps):
        told += [(line, False) for line in views.spec.tell(steps[begun:], listener)]
    by_turns = any(line.seat == NOBODY for line, _ in told[:-1])
    lines: list[str] = []
    paragraph = named = None  # whose they are
    for line, is_said in told:
        if lines and line.seat != paragraph and (line.seat == NOBODY or not by_turns):
            lines.append("")
        unnamed = is_said or line.seat in (NOBODY, named)
        lines += _hang(f"{'' if unnamed else who(line.seat, listener):>{_WHO}}{_GAP}", line.text)
        paragraph, named = line.seat, named if is_said else line.seat
    return lines or ["nothing has happened yet"]


def _hang(label: str, text: str) -> list[str]:
    """A text behind its label, its further lines below its first."""
    wrapped = textwrap.wrap(
        text.replace(" %", "\u00a0%"),  # a number and its sign stay together
        COLUMNS,
        initial_indent=label,
        subsequent_indent=" " * len(label),
        break_long_words=False,
        break_on_hyphens=False,
    )
    return [line.replace("\u00a0%", " %") for line in wrapped] or [label.rstrip()]


def save(session: Session, path: Path) -> None:
    """Write a game's record to a file, whole or not at all; a file of that name is replaced.

    Raises:
        SavedStateError: it cannot be written.
    """
    try:
        files.write_atomically(path, of_session(session))
    except QuandaryError as error:
        raise SavedStateError(str(error)) from error
