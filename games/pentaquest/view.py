"""The table of Pentaquest in the terminal, and the provenance of its cards."""

from __future__ import annotations

from collections import Counter
from typing import cast

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from engine_ext.position import Position, Rules
from games.narrow import WordTable
from games.pentaquest.cards import SYMBOLS, Card, Requirement
from games.pentaquest.rules import PentaquestRules
from games.words import count, join, who

# What each army symbol does to the dice, as shown in a card's corner.
MARKS = {"add": "+1", "sub": "−1", "addsub": "±1", "reroll": "↻", "mirror": "⇅"}
_DIE = "bold black on white"
_KEPT = "bold black on bright_black"


def sections(position: Position, seat: int) -> dict[str, RenderableType]:
    """The table as a seat sees it, in parts: quest area, dice and armies.

    Args:
        position: a position of Pentaquest; nothing in it is hidden.
        seat: whose eyes; its own row is marked.

    Returns:
        rich renderables, readable at 80 columns.
    """
    rules = cast(PentaquestRules, position.rules)
    state = position.to_dict()
    dice = {} if position.is_terminal() else {"dice": _dice(state)}
    return {
        "turn": Text(_headline(position, state, seat), style="bold"),
        "quest": _quest(rules, position, state),
        **dice,
        "armies": _armies(state, seat),
        "notes": Text(_provenance(rules), style="dim"),
    }


def render(position: Position, seat: int) -> RenderableType:
    """All of `sections`."""
    return Group(*sections(position, seat).values())


def records(rules: Rules) -> list[dict[str, str]]:
    """Every card of the deck in play with its provenance."""
    return [
        {"kind": "card", "name": card.name, "provenance": card.provenance}
        for card in cast(PentaquestRules, rules).deck.cards
    ]


def requirement_text(requirement: Requirement) -> Text:
    """A requirement as dice and signs: numbers on white, suns and moons in colour."""
    text = Text()
    for face, needed in enumerate(requirement.numbers, 1):
        for _ in range(needed):
            text.append(f" {face} ", style=_DIE)
            text.append(" ")
    text.append("☀ " * requirement.suns, style="bold yellow")
    text.append("☾ " * requirement.moons, style="bold cyan")
    text.rstrip()
    return text


def _headline(position: Position, state: dict, seat: int) -> str:
    left = f"deck {len(state['deck'])}"
    if position.is_terminal():
        won = not state["deck"] and not state["quest"]
        if position.num_players() == 1:
            return f"Won: {position.returns()[0]:.0f} cards kept" if won else f"Lost in turn {state['turn']}, {left}"
        return f"Game over: {won_by(position, state, seat)}"
    if position.num_players() == 1:
        return f"Turn {state['turn'] + 1}, {left}"
    whose_turn = "Your turn" if state["seat"] == seat else f"The turn of seat {state['seat']}"
    return f"{whose_turn}, {left}"


def won_by(position: Position, state: dict, seat: int) -> str:
    """Who has won among several, and by what (rules 29, 30; P12, P19)."""
    utilities = position.returns()
    winners = [s for s, utility in enumerate(utilities) if utility == max(utilities)]
    names = join([who(s, seat) for s in sorted(winners, key=lambda s: s != seat)])
    if len(winners) > 1:
        told = f"{names} share the win"
    else:
        told = f"{names} {'have' if winners == [seat] else 'has'} won"
    unused = [sum(army.values()) for army in state["armies"]]
    captured = [kept + used for kept, used in zip(unused, state["discards"], strict=True)]
    counted, what = (unused, "in the army") if position.rules.parameters["original"] else (captured, "captured")
    behind = [s for s in range(len(utilities)) if s not in winners]
    first = max(counted)
    if not behind:
        return f"{told}, {count(first, 'card')} {what} each"
    second = max(counted[s] for s in behind)
    if second < first:
        return f"{told}, {count(first, 'card')} {what} to {second}"
    level = max(unused[s] for s in behind if counted[s] == first)
    return f"{told}, {count(unused[winners[0]], 'card')} unused to {level}, with {first} {what} each"


def _quest(rules: PentaquestRules, position: Position, state: dict) -> RenderableType:
    beaten = rules.beaten_kinds(position)
    odds = rules.odds(position) if state["rerolls"] or state["step"] == "roll" else {}
    panels = [_card(rules.kinds[kind][0], kind in beaten, odds.get(kind)) for kind in rules.quest_kinds(position)]
    if not panels:
        return Text("The quest area is empty.", style="dim")
    return Columns(panels, equal=True)


def _card(card: Card, beaten: bool, odds: float | None) -> Panel:
    lines: list[RenderableType] = [requirement_text(part) for part in card.requires]
    if beaten:
        lines.append(Text("can be beaten", style="bold green"))
    elif odds is not None:
        lines.append(Text(f"{odds:.1%} by the dice", style="dim"))
    return Panel(
        Group(*lines),
        title=Text(card.name),  # not markup
        title_align="left",
        subtitle=f"{MARKS[card.symbol]} {card.symbol}",
        subtitle_align="right",
        border_style="green" if beaten else "white",
        width=25,
    )


def _dice(state: dict) -> Text:
    text = Text("Dice  ")
    style = _KEPT if state["step"] == "roll" else _DIE
    for die in state["dice"]:
        text.append(f" {die} ", style=style)
        text.append(" ")
    if state["step"] == "roll":
        text.append(f" {5 - len(state['dice'])} to roll", style="dim")
    elif not state["dice"]:
        text.append("not rolled yet" if state["step"] == "draw" else "none", style="dim")
    if state["step"] in ("roll", "act"):
        text.append(f"   free rerolls left: {state['rerolls']}")
    return text


def _armies(state: dict, seat: int) -> WordTable:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("army")
    for symbol in SYMBOLS:
        table.add_column(f"{MARKS[symbol]} {symbol}", justify="right")
    table.add_column("in all", justify="right")
    table.add_column("used", justify="right")
    for player, army in enumerate(state["armies"]):
        counts = [str(army[symbol]) if symbol in army else "·" for symbol in SYMBOLS]
        name = who(player, seat)
        style = "bold" if player == seat else ""
        table.add_row(name, *counts, str(sum(army.values())), str(state["discards"][player]), style=style)
    return WordTable(table)


def _provenance(rules: PentaquestRules) -> str:
    counts = Counter(card.provenance for card in rules.deck.cards)
    return "Cards: " + ", ".join(f"{number} {name}" for name, number in sorted(counts.items()))
