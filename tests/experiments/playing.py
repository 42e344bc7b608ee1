"""What tests of playing share: small games, and a person that types."""

from __future__ import annotations

import contextlib
import io

import pytest
from rich.console import Console

from experiments import gametext
from experiments.play.screen import Screen
from experiments.play.session import Session


def pig(seat=0, bots=("greedy",), seed=3, text="pig"):
    return Session(gametext.load(text), seat, list(bots), seed)


def advance(session):
    while session.step() is not None:
        pass


def typed(session, *lines):
    """What the screen shows when these lines are typed and the input ends."""
    waiting = iter(lines)

    def read(prompt):
        try:
            return next(waiting)
        except StopIteration:
            raise EOFError from None

    console = Console(file=io.StringIO(), width=100)
    screen = Screen(session, console, read)
    with contextlib.nullcontext() if "quit" in lines else pytest.raises(EOFError):
        screen.run()
    return console.file.getvalue(), screen
