"""What Pentaquest says to people: the question, the options and the story. Nothing in it is hidden."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, cast

from engine_ext.errors import IllegalActionError
from engine_ext.position import Position, Rules
from games.pentaquest.cards import Card
from games.pentaquest.rules import PentaquestRules
from games.words import NOBODY, Line, Step, Words, count, join, tally

MEANINGS = {
    "add": "one die up by 1",
    "sub": "one die down by 1",
    "addsub": "one die up or down by 1",
    "reroll": "any dice again",
    "mirror": "one die to its other side (1-6, 2-5, 3-4)",
}


def requirement_words(card: Card) -> str:
    """What a card asks for: `4 5 6`, `☀ ☀ ☾ ☾`; alternatives with `or`."""
    ways = []
    for part in card.requires:
        signs = [str(face) for face, n in enumerate(part.numbers, 1) for _ in range(n)]
        ways.append(" ".join(signs + ["☀"] * part.suns + ["☾"] * part.moons))
    return " or ".join(ways)


def _cards(position: Position) -> dict[str, Card]:
    rules = cast(PentaquestRules, position.rules)
    return {kind[0].name: kind[0] for kind in rules.kinds}


# ---- the question and the options ----------------------------------------------------------------


def ask(position: Position) -> str:
    """What the seat to move has to decide."""
    state = position.to_dict()
    if state["step"] == "forfeit":
        return "Nothing beaten: which card leaves your army?"
    dice = " ".join(map(str, state["dice"]))
    beaten = len(cast(PentaquestRules, position.rules).beaten_kinds(position))
    start = f"You have rolled {dice}"
    rerolls = f", {count(state['rerolls'], 'free reroll')} left" if state["rerolls"] else ""
    if beaten:
        return f"{start}{rerolls}: take a creature that this beats, or change the dice?"
    return f"{start}, which beats nothing yet{rerolls}: change the dice, or give up?"


def options(position: Position) -> Mapping[int, str]:
    """Creatures first, then rerolls and army cards; what gives up comes last."""
    state, cards = position.to_dict(), _cards(position)
    groups: list[dict[int, str]] = [{}, {}, {}]
    for action in position.legal_actions():
        name = position.action_to_string(action)
        verb, _, rest = name.partition(" ")
        if verb == "pass":
            beaten = cast(PentaquestRules, position.rules).beaten_kinds(position)
            groups[2][action] = f"{'take nothing' if beaten else 'give up'}: {_outcome(position, state, action)}"
        elif verb == "beat":
            card = cards[rest]
            groups[0][action] = (
                f"beat {rest} ({requirement_words(card)}): it joins your army ({card.symbol}, "
                f"{MEANINGS[card.symbol]}), and {_outcome(position, state, action)}"
            )
        elif verb == "discard":
            groups[1][action] = f"discard {rest} ({MEANINGS[rest]})"
        elif verb.startswith("reroll"):
            kept = name.partition("keep ")[2]
            n = len(state["dice"]) - (0 if kept == "none" else len(kept.split()))
            if n == 0:
                text = "keep all"
            else:
                text = f"roll all {n} again" if kept == "none" else f"keep {kept}, roll {n} again"
            if verb == "reroll,":
                after = _outcome(position, state, action)
                used = ", and use up a free reroll" if n == 0 else ""
                groups[1][action] = f"{text}{used}{f': {after}' if after else ''}"
            else:
                groups[1][action] = f"use a reroll card: {text}{_price(position, state, action)}"
        else:
            source, _, goal = rest.partition(" to ")
            groups[1][action] = f"use a card, {verb}: a {source} becomes {goal}{_price(position, state, action)}"
    return groups[0] | groups[1] | groups[2]


def _price(position: Position, state: Mapping[str, Any], action: int) -> str:
    """What using an army card costs besides the card: the free rerolls (P5), perhaps the turn or the game."""
    left = state["rerolls"]
    parts = [f"your {'free reroll is' if left == 1 else f'{left} free rerolls are'} gone"] if left else []
    after = _outcome(position, state, action)
    parts += [after] if after else []
    return f" ({', and '.join(parts)})" if parts else ""


def _outcome(position: Position, state: Mapping[str, Any], action: int) -> str:
    """How an answer ends the turn or the game at once, in words; empty where it does neither, or dice decide."""
    child = position.child(action)
    after, seat = child.to_dict(), state["seat"]
    if child.is_terminal():
        if position.num_players() > 1:
            return "the game ends"
        return "the game is lost" if after["deck"] or after["quest"] else "the game is won"
    if after["step"] != "forfeit" and (after["seat"], after["turn"]) == (seat, state["turn"]):
        return ""
    kept = [sum(each["armies"][seat].values()) for each in (state, after)]
    verb = position.action_to_string(action).partition(" ")[0]
    expected = kept[0] + {"beat": 1, "pass": 0, "reroll,": 0}.get(verb, -1)  # P12: a failed turn may cost another card
    costs = ", and costs you a card of your army" if after["step"] == "forfeit" or kept[1] < expected else ""
    return f"your turn ends{costs}"


# ---- what may be typed -----------------------------------------------------------------------------

_DICE = re.compile(r"(keep|reroll|roll)((?: (?:and )?[1-6]+)+| all| none)(?: again)?( by card)?")


def understand(position: Position, line: str) -> int | None:
    """Dice as they are typed: `keep 3 5 5`, `keep 355`, `reroll 1 2`, `reroll all`; in any order. A free reroll goes
    before a reroll card, unless the line ends in `by card`."""
    typed = _DICE.fullmatch(" ".join(line.lower().replace(",", " ").split()))
    state = position.to_dict()
    if typed is None or state["step"] != "act":
        return None
    dice: list[int] = state["dice"]
    keeps = typed[1] == "keep"
    if typed[2].strip() in ("all", "none"):
        named = list(dice) if typed[2].strip() == "all" else []
    else:
        named = [int(die) for die in typed[2] if die.isdecimal()]
    missing = Counter(named) - Counter(dice)
    if missing:
        lying = " ".join(map(str, dice))
        raise IllegalActionError(f"there are not so many {min(missing)}s: the dice are {lying}")
    kept = named if keeps else list((Counter(dice) - Counter(named)).elements())
    text = " ".join(map(str, sorted(kept))) or "none"
    legal = {position.action_to_string(action): action for action in position.legal_actions()}
    for source in ("reroll card",) if typed[3] else ("reroll", "reroll card"):
        action = legal.get(f"{source}, keep {text}")
        if action is not None:
            return action
    raise IllegalActionError("there is no reroll left for that: neither a free one nor a reroll card")


# ---- the story -----------------------------------------------------------------------------------


def tell(steps: Sequence[Step], seat: int) -> list[Line]:
    """Rolls, creatures beaten, cards used and lost, and the end."""
    if not steps:
        return []
    lines: list[Line] = []
    drawn: list[str] = []
    states = [step.before.to_dict() for step in steps] + [steps[-1].after.to_dict()]
    alone = steps[0].before.num_players() == 1
    for step, (before, after) in zip(steps, pairwise(states), strict=True):
        player = before["seat"]
        verb, _, rest = str(step.name).partition(" ")
        if verb == "draw":
            drawn.append(rest)
        elif drawn:
            lines.append(_drawn(drawn))
            drawn = []
        dealt = list((Counter(before["deck"]) - Counter(after["deck"]) - Counter([rest] * (verb == "draw"))).elements())
        if verb == "roll":
            kept = before["dice"]
            lines.append(Line(player, f"rolled {rest}" + (f", kept {' '.join(map(str, kept))}" if kept else "")))
        elif verb == "beat":
            lines.append(Line(player, f"beat {rest}"))
        elif verb == "pass":
            lines.append(Line(player, "took nothing"))
        elif verb == "discard":
            lines.append(Line(player, f"lost a card, {rest}"))
        elif step.name and step.name.startswith("reroll card"):
            lines.append(Line(player, "used a reroll card"))
        elif verb in MEANINGS and verb != "reroll":
            lines.append(Line(player, f"used a card, {verb}: {rest}"))
        if verb == "draw":
            drawn += dealt
        elif dealt:
            lines.append(_drawn(dealt))
        if step.after.is_terminal():
            lines.append(Line(NOBODY, _end(step.after, after, alone, seat)))
        elif after["seat"] != before["seat"]:
            whose_turn = "your turn" if after["seat"] == seat else f"the turn of seat {after['seat']}"
            lines.append(Line(NOBODY, whose_turn))
        elif alone and after["turn"] != before["turn"]:
            lines.append(Line(NOBODY, f"turn {after['turn'] + 1}"))
    if drawn:
        lines.append(_drawn(drawn))
    return lines


def _drawn(names: Sequence[str]) -> Line:
    return Line(NOBODY, f"{join(names)} came into the quest area")


def _end(position: Position, state: Mapping[str, Any], alone: bool, seat: int) -> str:
    won = not state["deck"] and not state["quest"]
    if alone:
        return (
            f"the deck is beaten: {count(sum(state['armies'][0].values()), 'card')} kept" if won else "the game is lost"
        )
    armies = [sum(army.values()) for army in state["armies"]]
    if position.rules.parameters["original"]:  # P12: what was used does not count
        return f"the game is over: {tally(armies, seat, 'card in the army', 'cards in the army')}"
    captured = [kept + used for kept, used in zip(armies, state["discards"], strict=True)]
    unused = tally(armies, seat, "card unused", "cards unused")  # rule 30: they decide a tie
    return f"the game is over: {tally(captured, seat, 'card', done='captured')}; {unused}"


# ---- what can be looked up -----------------------------------------------------------------------


def look_up(position: Position, seat: int) -> Mapping[str, str]:
    """Every creature of the deck in play, and what the army symbols do."""
    del seat
    known = {
        name: f"needs {requirement_words(card)}; {card.symbol}: {MEANINGS[card.symbol]}; {card.provenance}"
        for name, card in _cards(position).items()
    }
    used = "used once, in place of the free rerolls that the turn has left (P5)"
    return known | {f"card {symbol}": f"{meaning}; {used}" for symbol, meaning in MEANINGS.items()}


def aim(rules: Rules) -> str:
    """The course of a turn, and what wins."""
    turn = (
        f"Each turn you roll five dice, and once more{_first_turn(rules)}, as many of them as you like. Take a "
        "creature whose numbers, suns or moons they then show: it joins your army, and its card can be used up in a "
        "later turn to change dice in the way it says. Whoever uses a card has done with the free rerolls of that "
        "turn. "
    )
    if rules.num_players() == 1:
        return (
            turn
            + "Beat the whole deck to win; a turn that beats nothing loses. Every card that you still have then counts."
        )
    if rules.parameters["original"]:
        wins = (
            "A turn that beats nothing costs you a card. The deck done, the largest army wins, used cards not included"
        )
    else:
        wins = "The deck done, who has captured most wins, used cards included"
    if rules.parameters["utility"] == "score":
        return f"{turn}{wins}; your lead over the mean of the others counts."
    if rules.parameters["original"]:
        return f"{turn}{wins}. Who is level shares the win."
    return (  # 30, P19
        f"{turn}{wins}. Among those level in that, who has most cards unused in the army wins; who is level in that, "
        "too, shares the win."
    )


def _first_turn(rules: Rules) -> str:
    """Rule 8, P11: who has two free rerolls, and when."""
    if rules.num_players() == 1 or rules.parameters["first_turn_rerolls"] == "all":
        return ", in the first turn twice"
    return ", seat 0 in its first turn twice"


def unit(rules: Rules) -> tuple[str, str]:
    """Alone the cards kept count; with `utility=score` the lead."""
    return ("card kept", "cards kept") if rules.num_players() == 1 else ("card ahead", "cards ahead")


WORDS = Words(
    ask=ask,
    options=options,
    tell=tell,
    look_up=look_up,
    aim=aim,
    unit=unit,
    understand=understand,
    shorthand="keep 3 5 5, reroll 1 2, reroll all: the dice, in any order (reroll 1 2 by card: not the free reroll)",
)
