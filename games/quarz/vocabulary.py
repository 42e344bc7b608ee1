"""The vocabulary of effects: what a card may do, with which keys, and what these may be.

Effects are data; README.md explains them to whoever writes a card. `VOCABULARY` lists every effect with the keys it
takes, `PASSIVES` every lasting bonus, `GLOBALS` what a time tile may do. Here stands what is allowed and how it is
checked; tables.pyx gives each word its number in the machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine_ext.errors import DataError
from games.quarz.toml_table import TomlTable

KINDS = ("strike", "shoot", "plain", "context")
TARGETS = ("enemy", "any")
WHO = ("self", "friend", "all")
TRIGGERS = ("", "attacked", "hurt", "arrived", "free")
SCOPES = ("self", "mob")

# effect -> key -> allowed values: a range of ints, a tuple of texts, or bool. "die" may stand for
# an amount where DIE says so. Keys in OPTIONAL may be missing.
_AMOUNT = range(1, 10)
VOCABULARY: Mapping[str, Mapping[str, Any]] = {
    "damage": {"amount": _AMOUNT, "kind": KINDS, "target": TARGETS},
    "splash": {"amount": _AMOUNT, "kind": ("strike", "plain"), "target": TARGETS},
    "heal": {"amount": _AMOUNT, "who": WHO},
    "draw": {"amount": range(1, 4)},
    "move": {"amount": range(1, 5), "who": ("self", "friend"), "swim": bool, "climb": bool, "carry": range(1, 4)},
    "push": {"kind": ("strike", "shoot", "context"), "target": TARGETS},
    "swap": {"kind": ("strike", "shoot"), "target": TARGETS},
    "stun": {"amount": range(1, 4), "kind": ("strike", "shoot"), "target": TARGETS},
    "poison": {"amount": range(1, 4), "kind": ("strike", "shoot"), "target": TARGETS},
    "frost": {"amount": range(1, 4), "kind": ("strike", "shoot"), "target": TARGETS},
    "shield": {"amount": range(1, 4), "who": ("self", "friend")},
    "trap": {"amount": range(1, 4)},
    "jump": {"amount": range(1, 5)},
    "rotate": {"count": range(1, 3)},
    "trade": {},
    "swap_friends": {},
    "move_any": {"amount": range(1, 4)},
    "recover": {},
    "sap": {"amount": range(1, 3), "kind": ("strike", "shoot"), "target": TARGETS},
    "boost": {"amount": _AMOUNT},
    "attack": {},
    "extra": {},
    "roll": {},
    "negate": {},
    "reduce": {"amount": _AMOUNT},
    "march": {"amount": range(1, 4)},
    "cleanse": {"who": ("self", "friend")},
    "choose_own": {},
    "regenerate": {},
}
OPTIONAL = {"swim", "climb", "carry", "target"}
DIE = {"damage", "heal", "boost"}  # effects whose amount may be "die", the last roll
INSTANT_ONLY = {"negate", "reduce"}  # make sense against an attack only
FAVOR_ONLY = {"choose_own", "regenerate"}
NEEDS_NO_MONSTER = {"choose_own", "rotate", "trade", "swap_friends", "move_any", "march", "extra"}

# lasting bonus -> allowed values (slots, munched cards)
PASSIVES: Mapping[str, Any] = {
    "damage": range(10),
    "move": range(6),
    "draw": range(4),
    "energy": range(10),
    "carry": range(4),
    "swim": bool,
    "climb": bool,
    "sharp_eyes": bool,
    "wall_step": bool,
    "wall_shot": bool,
    "living_shield": bool,
    "crystal_throw": bool,
    "second_shrine": bool,
}
# what a time tile may do while it is visible
GLOBALS: Mapping[str, Any] = {
    "move": range(-3, 4),
    "damage": range(5),
    "draw": range(3),
    "carry": range(3),
    "start_heal": range(5),
    "idol_drain": range(5),
    "shrine_discount": range(3),
    "hand_limit": range(-9, 10),
    "frozen_water": bool,
    "clear_sight": bool,
    "no_march": bool,
}

Effect = Mapping[str, Any]


def check_bonuses(content: Any, where: str, allowed: Mapping[str, Any]) -> dict[str, Any]:
    """The bonuses of a table, as given.

    Args:
        where: file, record and key, for messages.
        allowed: `PASSIVES` or `GLOBALS`.

    Raises:
        DataError: an unknown bonus, or a value out of its range.
    """
    table = TomlTable(content, where, set(allowed))
    for key, rule in allowed.items():
        if key in table.content:
            if rule is bool:
                table.get(key, bool)
            else:
                table.number(key, rule)
    return dict(table.content)


def check_effects(
    content: Any, where: str, *, trigger: str = "", favor: bool = False, die: bool = False
) -> tuple[Effect, ...]:
    """A list of effects, each with the keys that it has a use for.

    Args:
        where: file, record and key, for messages.
        trigger: what sets the card off, one of `TRIGGERS`.
        favor: whether it is a favor action, which has no monster of its own.
        die: whether the monster has a die.

    Raises:
        DataError: names the effect and the key.
    """
    if not isinstance(content, list) or not content:
        raise DataError(f"{where} must be a list of at least one effect")
    made: list[Effect] = []
    for i, record in enumerate(content):
        here = f"{where}[{i}]"
        effect = _keyed(record, here, rolled=any(earlier["do"] == "roll" for earlier in made))
        _check_target(effect, here, trigger)
        if effect["do"] in INSTANT_ONLY and trigger != "attacked":
            raise DataError(f"{here}: {effect['do']} is possible with trigger = 'attacked' only")
        if effect["do"] in FAVOR_ONLY and not favor:
            raise DataError(f"{here}: {effect['do']} is possible on favor cards only")
        if favor and not any(earlier["do"] == "choose_own" for earlier in made):
            _check_ownerless(effect, here)
        if effect["do"] == "roll" and not die:
            raise DataError(f"{here}: the monster has no die to roll")
        made.append(effect)
    if made[-1]["do"] == "choose_own":
        raise DataError(f"{where}[{len(made) - 1}]: choose_own must be followed by an effect on the chosen monster")
    return tuple(made)


def _keyed(record: Any, where: str, *, rolled: bool) -> Effect:
    """One effect, its keys and their values being allowed; `rolled`: whether a die was rolled before it."""
    do = str(record.get("do")) if isinstance(record, dict) else ""
    if do not in VOCABULARY:
        raise DataError(f"{where}: do is {do!r}, no effect is called that; there are: {', '.join(VOCABULARY)}")
    table = TomlTable(record, where, {"do", *VOCABULARY[do]})
    effect: dict[str, Any] = {"do": do}
    for key, rule in VOCABULARY[do].items():
        if key not in record and key in OPTIONAL:
            continue
        if rule is bool:
            effect[key] = table.get(key, bool)
        elif isinstance(rule, tuple):
            effect[key] = table.word(key, rule)
        elif record.get(key) == "die" and do in DIE:
            if not rolled:
                raise DataError(f"{where}: {key} is 'die', but no 'roll' stands before it")
            effect[key] = "die"
        else:
            effect[key] = table.number(key, rule)
    return effect


def _check_target(effect: Effect, where: str, trigger: str) -> None:
    """Whom it is aimed at is said, and is there."""
    if effect.get("kind") == "context":
        if trigger not in ("attacked", "hurt", "arrived"):
            raise DataError(f"{where}: kind 'context' means the monster that set off an instant; this is none")
    elif "target" in VOCABULARY[effect["do"]] and "target" not in effect:
        raise DataError(f"{where}: the key 'target' is missing")


def _check_ownerless(effect: Effect, where: str) -> None:
    """A favor action before its choose_own belongs to no monster."""
    if effect["do"] not in NEEDS_NO_MONSTER and effect.get("who") not in ("friend", "all"):
        raise DataError(f"{where}: {effect['do']} needs a monster: a 'choose_own' must stand before it")
