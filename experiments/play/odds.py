"""Odds in words, the same in the terminal and on the page."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from experiments.play.views import Option, Thought, Views

if TYPE_CHECKING:
    from experiments.play.session import Session

UNTRIED = "not tried"  # a search that widens its choice step by step has not come to this action
UNTRIED_NOTE = "not tried: the search kept its time for actions that looked better"


SLIGHT = 0.01  # of utility: a difference that nobody wonders at
MOST_SEARCHED = "it plays what it searched most; the more seldom something was searched, the less its figure tells"


def notes(options: list[Option]) -> list[str]:
    """What has to be said beside some figures, the best option first."""
    found = [] if all(known(option) for option in options) else [UNTRIED_NOTE]
    values = [option.value for option in options if known(option)]
    if options and known(options[0]) and options[0].visits and options[0].value < max(values) - SLIGHT:
        found.append(MOST_SEARCHED)
    return found


def briefly(options: list[Option]) -> list[str]:
    """Some actions in few words each; in full where few would be the same."""
    short = [brief(option.words) for option in options]
    return [few if short.count(few) == 1 else option.words for few, option in zip(short, options, strict=True)]


def known(option: Option) -> bool:
    """Whether the search has an opinion of an action."""
    return not math.isnan(option.value)


def figure(views: Views, option: Option, digits: int = 1) -> str:
    """An action's odds: `59.4 %`, or an expected result, `+0.33 chips`."""
    if not known(option):
        return UNTRIED
    if option.chance is not None:
        return f"{100 * option.chance:.{digits}f} %"
    return views.amount(option.value)


def heading(options: list[Option]) -> str:
    """What the figures of some options are."""
    return "chance to win" if any(option.chance is not None for option in options) else "expected result"


def brief(words: str, most: int = 60) -> str:
    """An action in few words: what its text says before the card's, without what stands in brackets."""
    short = re.sub(r" \([^()]*\)", "", words).partition(": ")[0]
    if len(short) <= most:
        return short
    whole = short[:most].rpartition(" ")[0]  # a word that the room ends in is left out
    return (whole or short[: most - 1]).rstrip(" ,;:") + "…"


def of_rival(session: Session) -> str:
    """How a bot saw its last choice, in one sentence: what it expects, and its best alternative. In a game
    that hides something, what the person may expect instead. Empty where there is nothing to say."""
    thought = session.thought
    return of_person(session) if thought is None else of_thought(session, thought)


def of_thought(views: Views, thought: Thought) -> str:
    """How a bot saw a choice, in one sentence; empty where it had no opinion of what it chose."""
    best = next((option for option in thought.options if option.best), thought.options[0])
    if not known(best):
        return ""
    few = dict(zip([option.action for option in thought.options], briefly(thought.options), strict=True))
    chosen = f"its choice: {few[best.action]}"
    others = [option for option in thought.options if not option.best and known(option)]
    if others:
        other = max(others, key=lambda option: option.value)
        chosen += f"; next best: {few[other.action]}, {figure(views, other, 0)}"
    return f"seat {thought.seat} {_expects(views, best)} ({chosen})"


def of_person(session: Session) -> str:
    """What a search that sees no more than the person holds for the person, in one sentence."""
    best = session.outlook()
    if best is None:
        return ""
    hopes = (
        f"your chance to win is about {figure(session, best, 0)}"
        if best.chance is not None
        else f"you may expect about {figure(session, best)}"
    )
    kept = "; the bots keep their own odds to themselves until the game is over" if session.own_moves < 2 else ""
    return f"by all that you can see {hopes}{kept}"


def _expects(views: Views, option: Option) -> str:
    if option.chance is not None:
        return f"gives itself {figure(views, option, 0)} to win"
    return f"expects {figure(views, option)}"
