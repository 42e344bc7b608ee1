"""What Pig says to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine_ext.position import Position, Rules
from games.words import Line, Step, Words, count, who, whose

ROLL, HOLD = 0, 1


def _ask(position: Position) -> str:
    state = position.to_dict()
    own = state["scores"][state["seat"]]
    goal = position.rules.parameters["goal"]
    return (
        f"You have {own} of {goal} points and {state['total']} at risk: roll on, or hold and keep them? "
        "A 1 loses what is at risk."
    )


def _options(position: Position) -> Mapping[int, str]:
    state = position.to_dict()
    total, own = state["total"], state["scores"][state["seat"]]
    wins = own + total >= position.rules.parameters["goal"]
    hold = f"hold: {own} + {total} = {own + total} points" + (" and the game" if wins else "")
    return {ROLL: "roll the die", HOLD: hold}


def _tell(steps: Sequence[Step], _: int) -> list[Line]:
    """Rolls of one turn in one line."""
    lines: list[Line] = []
    rolls: list[str] = []
    for k, step in enumerate(steps):
        state = step.before.to_dict()
        seat, last = state["seat"], k + 1 == len(steps)
        if state["rolling"]:
            face = step.action + 1
            rolls.append(str(face))
            lost = face == 1
            if lost or last or (steps[k + 1].action == HOLD and not steps[k + 1].before.to_dict()["rolling"]):
                total = step.after.to_dict()["total"]
                now = f"lost the {count(state['total'], 'point')} at risk" if lost else f"{total} at risk"
                lines.append(Line(seat, f"rolled {', '.join(rolls)}: {now}"))
                rolls = []
        elif step.action == HOLD:
            points = step.after.to_dict()["scores"][seat]
            lines.append(Line(seat, f"held: {count(points, 'point')} now"))
    return lines


def view(position: Position, seat: int) -> str:
    """The table in one line."""
    state = position.to_dict()
    scores = ", ".join(f"{who(k, seat)} {points}" for k, points in enumerate(state["scores"]))
    goal = position.rules.parameters["goal"]
    return f"points to {goal}: {scores}; {whose(state['seat'], seat)} turn, turn total {state['total']}"


def _aim(rules: Rules) -> str:
    return (
        f"Who has {rules.parameters['goal']} points first wins. On your turn roll the die as often as you dare: what "
        "you roll adds up, and holding makes it yours; a 1 loses it and ends the turn."
    )


WORDS = Words(ask=_ask, options=_options, tell=_tell, aim=_aim)
