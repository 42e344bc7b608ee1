"""Given/when/then cases as data: reads cases/*.toml and plays them.

A case names the rules it covers, sets up a position in shorthand and runs a script (`data`: a set of
own cards beside this module). A script line
is an action or outcome to play, or, beginning with `?`, something that must hold then:

    p1 ready: Goblin 2, Hag 5 + Life 3     a zone, exactly (any order); `-` for empty
    p0 glory: 5                            a number
    wilds Portal: 4                        dice on a card
    quiddity: 3 | captures: 2 | phase: 5 | active: 1 | turn: 1
    asks 1: done; creature 1 Goblin 2 #0   who decides, and all that is allowed (of chance: `asks chance: ...`)
    offers: X | refuses: X                 X is allowed now, or not
    chance X: 6/36                         probability of an outcome
    over: 0 | over: 0, 1 | goes on         winners

Dice are written `Class face`, unrolled `Class ?`; `+ Class face` attaches a spell, `= Class face` makes
a copy, `!a3` and `!d4` add attack and defence for the turn. Counted zones are written `3 Class`.
"""

from __future__ import annotations

import re
import tomllib
from fractions import Fraction
from pathlib import Path
from typing import Any

import games
from engine_ext.errors import IllegalActionError

FOLDER = Path(__file__).parent / "cases"
PARAMETERS = ("edition", "players", "mixed", "qladiator", "quantity_capture", "max_turns", "utility", "wilds")
COUNTED = ("bag", "used", "spent")


def load() -> list[dict[str, Any]]:
    """All cases of all files, in order, with their file."""
    cases = []
    for path in sorted(FOLDER.glob("*.toml")):
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        for case in content["case"]:
            cases.append({**content.get("parameters", {}), **case, "file": path.name})
    return cases


def read_die(text: str) -> dict[str, Any]:
    """A die in shorthand as `from_dict` takes it."""
    parts = re.split(r"\s+(?=[+=!])", text.strip())
    made = _plain(parts[0])
    for part in parts[1:]:
        if part.startswith("+"):
            made.setdefault("attached", []).append(_plain(part[1:]))
        elif part.startswith("="):
            made["copy"] = _plain(part[1:])
        else:
            made[{"a": "attack", "d": "defense"}[part[1]]] = int(part[2:])
    return made


def _plain(text: str) -> dict[str, Any]:
    name, _, face = text.strip().rpartition(" ")
    return {"die": name, "face": None if face == "?" else int(face)}


def show_die(die: dict[str, Any]) -> str:
    """The shorthand of a die of `to_dict`, marks left out."""
    text = f"{die['die']} {'?' if die['face'] is None else die['face']}"
    for spell in die.get("attached", []):
        text += f" + {spell['die']} {spell['face']}"
    if "copy" in die:
        text += f" = {die['copy']['die']} {die['copy']['face']}"
    return text + "".join(f" !{key[0]}{die[key]}" for key in ("attack", "defense") if key in die)


def read_zone(name: str, text: str) -> Any:
    """The contents of a zone in shorthand."""
    items = [item.strip() for item in text.split(",") if item.strip() not in ("", "-")]
    if name in COUNTED:
        counted: dict[str, int] = {}
        for item in items:
            number, _, cls = item.partition(" ")
            counted[cls] = counted.get(cls, 0) + int(number)
        return counted
    if name in ("glory", "turns"):
        return int(text)
    if name == "aside":
        return items
    if name == "locked":
        return read_die(text)
    return [read_die(item) for item in items]


def read_player(text: str) -> dict[str, Any]:
    """A player in shorthand: zones separated by `|`."""
    made = {}
    for part in text.split("|"):
        if part.strip():
            name, _, value = part.partition(":")
            made[name.strip()] = read_zone(name.strip(), value)
    return made


def position_of(case: dict[str, Any]) -> dict[str, Any]:
    """The dict of a case's position. Wilds dice left out are 0, but one Basic Quiddity die lies on its card:
    it costs nothing, so that every turn stops to ask in its capture phase."""
    players = case.get("players", 2)
    seats = [read_player(case.get(f"p{seat}", "")) for seat in range(players)]
    cards = {name.strip(): None for name in case["cards"].split(";") if name.strip()}
    if case.get("edition", "base") == "base":
        cards["Basic Quiddity"] = 1
    for name, dice in case.get("dice", {}).items():
        cards[name] = dice
    return {
        "phase": case.get("phase", 1),
        "active": case.get("active", 0),
        "turn": case.get("turn", 0),
        "quiddity": {"normal": case["quiddity"]} if isinstance(case.get("quiddity"), int) else case.get("quiddity", {}),
        "wilds": [{"card": name, "dice": 0 if dice is None else dice} for name, dice in cards.items()],
        "players": seats,
        "pending": case.get("pending", {}),
        **({"captures": case["captures"]} if "captures" in case else {}),
    }


def begin(case: dict[str, Any]) -> Any:
    """The case's position under its rules."""
    parameters = {key: case[key] for key in PARAMETERS if key in case}
    if "data" in case:
        parameters["data"] = str(FOLDER.parent / case["data"])
    rules = games.spec("quarriors").make_rules(parameters)
    if "cards" not in case:
        return rules.initial_position()
    return rules.from_dict(position_of(case))


def names_of(position: Any) -> list[str]:
    """Texts of everything allowed now."""
    player = position.current_player()
    return [position.action_to_string(player, action) for action in position.legal_actions()]


def play(position: Any, text: str) -> None:
    """Apply the action or outcome with this text."""
    for action, name in zip(position.legal_actions(), names_of(position), strict=True):
        if name == text:
            position.apply_action(action)
            return
    raise IllegalActionError(f"{text!r} is not among {names_of(position)}")


def holds(position: Any, line: str) -> None:
    """Assert one `?` line."""
    table = position.to_dict()
    head, _, value = (part.strip() for part in line.partition(":"))
    words = head.split(" ")
    if head == "goes on":
        assert not position.is_terminal()
    elif head == "over":
        assert position.is_terminal(), f"not over: {position}"
        winners = sorted(int(seat) for seat in value.split(","))
        assert table["pending"]["winners"] == winners
    elif re.fullmatch(r"p\d", words[0]):
        zone = table["players"][int(words[0][1])]
        wanted = read_zone(words[1], value)
        found = zone.get(words[1], 0)
        if words[1] == "locked":
            assert show_die(found) == show_die(wanted), line
        elif isinstance(wanted, list) and words[1] != "aside":
            assert sorted(map(show_die, found)) == sorted(map(show_die, wanted)), line
        else:
            assert found == wanted, f"{line}: {found}"
    elif words[0] == "wilds":
        name = head.removeprefix("wilds ")
        assert {entry["card"]: entry["dice"] for entry in table["wilds"]}[name] == int(value), line
    elif head == "quiddity":
        found = table["quiddity"]
        assert sum(found.values()) == int(value), f"{line}: {found}"
    elif head in ("captures", "phase", "active", "turn"):
        assert table[head] == int(value), f"{line}: {table[head]}"
    elif head == "rem":
        assert table["pending"].get("rem", 0) == int(value), f"{line}: {table['pending']}"
    elif words[0] == "asks":
        who = position.current_player()
        assert who == (-1 if words[1] == "chance" else int(words[1])), f"{line}: seat {who}, {names_of(position)}"
        if value:
            assert sorted(names_of(position)) == sorted(text.strip() for text in value.split(";")), names_of(position)
    elif head == "offers":
        for text in value.split(";"):
            assert text.strip() in names_of(position), f"{line}: {names_of(position)}"
    elif head == "refuses":
        for text in value.split(";"):
            assert text.strip() not in names_of(position), line
    elif words[0] == "chance":
        # the outcome's own text may hold a colon
        outcome, _, wanted = line.removeprefix("chance ").rpartition(":")
        found = {position.action_to_string(-1, id): p for id, p in position.chance_outcomes()}
        assert abs(found[outcome.strip()] - float(Fraction(wanted.strip()))) < 1e-12, f"{line}: {found}"
    else:
        raise ValueError(f"a script cannot check {line!r}")


def run(case: dict[str, Any]) -> Any:
    """Play a case; raises AssertionError where it does not hold."""
    position = begin(case)
    assert position.check() == 0
    for number, line in enumerate(case["script"]):
        try:
            if line.startswith("?"):
                holds(position, line[1:].strip())
            else:
                play(position, line)
                assert position.check() == 0, f"invariant I{position.check()}"
        except (AssertionError, IllegalActionError) as error:
            raise AssertionError(f"{case['name']}, line {number} {line!r}: {error}\n{position}") from error
    return position
