"""The table of Quarriors in the terminal, and the provenance of its cards and dice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, cast

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from engine_ext.position import Position, Rules
from games.narrow import WordTable
from games.quarriors.cards import Card, CardSet
from games.quarriors.rules import QuarriorsRules
from games.quarriors.texts import card_text, face_text
from games.words import join, who

_LEGEND = "2Q: 2 Quiddity; L1 1/2: creature of level 1, attack 1, defence 2; now 3/4: what they are now; *: burst."
_MADE = "†"
EMPTY_CARDS = 4  # creature cards without dice that end the game (B82)
PHASES = {
    "base": ("set-up", "score", "roll", "ready and summon", "attack", "capture", "clean up"),
    "light_vs_dark": ("set-up", "score", "roll, ready and summon", "attack", "capture", "clean up"),
}


def sections(position: Position, seat: int) -> dict[str, RenderableType]:
    """The table as a seat sees it, in parts: what is going on, the Wilds, and each player's zones.

    Args:
        position: a position of Quarriors; nothing in it is hidden.
        seat: whose eyes; its own row is marked.

    Returns:
        rich renderables, readable at 60 columns.
    """
    rules = cast(QuarriorsRules, position.rules)
    state = position.to_dict()
    return {
        "turn": Text(_headline(position, state, seat), style="bold"),
        "wilds": _wilds(rules.sets, state),
        "players": _players(rules.sets, state, rules.figures(position), seat),
        "notes": Text(f"{_LEGEND} {_provenance(rules)}", style="dim"),
    }


def render(position: Position, seat: int) -> RenderableType:
    """All of `sections`."""
    return Group(*sections(position, seat).values())


def records(rules: Rules) -> list[dict[str, str]]:
    """Every card and die of the sets in use with its provenance."""
    sets = cast(QuarriorsRules, rules).sets
    return [{"kind": "card", "name": card.name, "provenance": card.provenance} for card in sets.cards.values()] + [
        {"kind": "die", "name": die.name, "provenance": die.provenance} for die in sets.dice.values()
    ]


def _headline(position: Position, state: dict[str, Any], seat: int) -> str:
    phase = PHASES[state["edition"]][state["phase"]]
    if position.is_terminal():
        winners = join([who(each, seat) for each in state["pending"].get("winners", [])])
        return f"The game is over: won by {winners} after {state['turn']} turns"
    quiddity = ", ".join(f"{n} {name}" for name, n in state["quiddity"].items())
    parts = [f"turn {state['turn'] + 1}: {who(state['active'], seat)}", f"phase {state['phase']}, {phase}"]
    if quiddity:
        parts.append(f"Quiddity {quiddity}")
    if state["phase"] and state["captures"] != 1:
        parts.append(f"captures {state['captures']}")
    if state["pending"].get("rem", 0) > 0:
        parts.append(f"an attack of {state['pending']['rem']} on {who(state['pending'].get('defender', 0), seat)}")
    return ", ".join(parts)


def _wilds(sets: CardSet, state: dict[str, Any]) -> WordTable:
    """Every card of the Wilds with cost, Glory, dice left and text."""
    kinds = [(sets.dice[sets.cards[each["card"]].die].kind, each["dice"]) for each in state["wilds"]]
    empty = kinds.count(("creature", 0))
    title = f"The Wilds (creature cards without dice: {empty}; {EMPTY_CARDS} end the game)"
    table = Table(title=title, title_justify="left", pad_edge=False, box=None, header_style="dim")
    for name, justify in (("card", "left"), ("cost", "right"), ("glory", "right"), ("dice", "right"), ("text", "left")):
        table.add_column(name, justify=cast(Any, justify))
    for entry in state["wilds"]:
        card = sets.cards[entry["card"]]
        die = sets.dice[card.die]

        def mark(*parts: str, card: Card = card) -> str:
            return _MADE if set(parts) & set(card.reconstructed) else ""

        cost = f"{card.cost}{mark('cost')}"
        if card.discounted != card.cost:
            cost += f"/{card.discounted}{mark('discounted_cost')}"
        table.add_row(
            Text(
                card.name + (_MADE if die.provenance == "reconstructed" else ""),
                style={"light": "yellow", "dark": "magenta"}.get(die.energy, ""),
            ),
            cost,
            f"{card.glory}{mark('glory')}" if card.glory else "",
            Text(str(entry["dice"]), style="" if entry["dice"] else "red"),
            Text(card_text(card) + mark("effects", "anchored")),
        )
    return WordTable(table)


def _players(sets: CardSet, state: dict[str, Any], figures: Mapping[str, Any], seat: int) -> WordTable:
    """Each player's zones."""
    table = Table(title="Players", title_justify="left", pad_edge=False, box=None, header_style="dim", show_lines=True)
    for name in ("", "glory", "ready", "pool", "bag", "used"):
        table.add_column(name)
    spent = any(player["spent"] for player in state["players"])
    if spent:
        table.add_column("spent")
    # Dice go by the name of their card, which says more than that of their class.
    names = {sets.cards[entry["card"]].die: entry["card"] for entry in state["wilds"]}
    for number, player in enumerate(state["players"]):
        ready = _ready(sets, names, player["ready"], figures["values"][number])
        if number == state["active"]:
            ready += [f"{_die(sets, names, die)} (on its way)" for die in figures["moving"]]
        if "locked" in player:
            ready.append("locked " + _die(sets, names, player["locked"]))
        ready += [f"{names.get(name, name)} (aside)" for name in player["aside"]]
        row = [
            who(number, seat) + (", at turn" if number == state["active"] else ""),
            str(player["glory"]),
            _lines(ready),
            _lines(_die(sets, names, die) for die in player["active"]),
            *(
                "\n".join(f"{n} {names.get(name, name)}" for name, n in player[zone].items())
                for zone in ("bag", "used", "spent")[: 3 if spent else 2]
            ),
        ]
        table.add_row(*map(Text, row))  # names are text, not markup
    return WordTable(table)


def _ready(
    sets: CardSet, names: Mapping[str, str], dice: Sequence[dict[str, Any]], values: Sequence[tuple[int, int]]
) -> list[str]:
    """A Ready Area, with attack and defence of the creatures where they are not what the face says."""
    left = iter(values)
    texts = []
    for die in dice:
        shape = die.get("copy", die)
        face = sets.dice[shape["die"]].faces[shape["face"]]
        text = _die(sets, names, die)
        if face.creature:
            now = next(left)
            text += "" if now == (face.attack, face.defense) else f", now {now[0]}/{now[1]}"
        texts.append(text)
    return texts


def _lines(texts: Any) -> str:
    """One line for each different text, with its count."""
    return "\n".join(text if n == 1 else f"{n} {text}" for text, n in Counter(texts).items())


def _die(sets: CardSet, names: Mapping[str, str], die: dict[str, Any]) -> str:
    """A die with what its face shows: `Deathdealer L1 3/2 + Death spell *`."""
    text = names.get(die["die"], die["die"])
    if die["face"] is not None:
        text += f" {face_text(sets.dice[die['die']].faces[die['face']])}"
    if "copy" in die:
        text += " as " + _die(sets, names, die["copy"])
    for key, word in (("attack", "attack"), ("defense", "defence")):
        if key in die:
            text += f", {word} +{die[key]}"
    return text + "".join(" + " + _die(sets, names, spell) for spell in die.get("attached", []))


def _provenance(rules: QuarriorsRules) -> str:
    """How much of what is in use is reconstructed, in words."""
    made = Counter(record["provenance"] for record in records(rules))
    if not made["reconstructed"]:
        return "All cards and dice are from published sources."
    return (
        f"{made['reconstructed']} of {sum(made.values())} cards and dice are reconstructed in part, because it is not "
        f"public ({_MADE}): after a name the faces of the dice, after a number that number, after a text the effects."
    )
