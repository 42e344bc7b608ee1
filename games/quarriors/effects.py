"""The vocabulary of effects: what may happen when, which keys say more about it, and what these may be.

games/quarriors/README.md explains it to whoever writes a card. What a key means is read in
`compiling.py`; here stands which keys an effect has a use for, so that none is given in vain.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine_ext.errors import DataError
from games.quarriors.cards import FLAVOURS

BURSTS = {"": (0, 1, 2), "-": (0,), "*": (1,), "**": (2,), "*/**": (1, 2)}
LOCKED = ("attack", "defense", "surcharge", "barlevel", "capattack")  # static effects that a Lock face may have too
# Which operations each trigger may carry.
ALLOWED: Mapping[str, tuple[str, ...]] = {
    "face": ("quiddity", "captures", "drawroll", "reroll"),
    "cast": (
        *("attack", "defense", "quiddity", "glory", "destroy", "destroyspell", "rotate", "drawroll", "cull"),
        "summon",
    ),
    "react": ("redirect", "setattack", "defense", "return"),
    "attached": ("attack", "defense"),
    "hostscore": ("glory", "cullcapture"),
    "score": ("glory", "drawpool", "swap", "freecapture", "cullspells", "discount", "captures", "fetch", "cull"),
    "summon": ("quiddity", "destroy", "drawroll", "cull"),
    "enter": ("copy",),
    "perturn": ("copy",),
    "static": ("attack", "defense", "stats", "surcharge", "barlevel", "capattack", "notarget", "summonlimit"),
    "attack": ("attack", "ignoreattached"),
    "predefence": ("destroy",),
    "firstkill": ("addtotal",),
    "kill": ("quiddity", "scoreself"),
    "destroyed": ("redirect", "cullreturn", "drawpool"),
    "asidekill": ("rollself",),
    "state": ("destroy",),
    "locked": (*LOCKED, "draws", "fewer", "dearer", "glory", "lockrival", "nopayoff"),
    "onlock": ("quiddity", "drawroll", "glory", "cull", "captures", "destroy"),
    "drew": ("quiddity", "glory"),
}
# Effects that their owner may decline once they happen; nothing else is a matter of choice.
OPTIONAL = (
    ("hostscore", "cullcapture"),
    *(("score", do) for do in ("swap", "freecapture", "cullspells", "fetch", "cull")),
    ("destroyed", "cullreturn"),
    ("perturn", "copy"),
)


# What says more about an effect: key -> the texts allowed, or None where compiling reads and checks it.
_TURN = {"until": ("turn",)}
_OWN = {"n": None, "target": ("own_creatures",), **_TURN}
_NUMBER: Mapping[str, Any] = {"n": None}
_KEYS: Mapping[str, Mapping[str, Mapping[str, Any]]] = {
    "face": {
        "quiddity": {"face": None, "n": None, "flavour": FLAVOURS},
        "captures": {"face": None, "n": None},
        "drawroll": {"face": None, "n": None, "lone_face": None},
        "reroll": {"face": None, "n": None, "itself": bool},
    },
    "react": {
        "redirect": {"target": ("own_creatures",), "to": None, **_TURN},
        "setattack": {"n": None, "target": ("one_creature",), **_TURN},
        "defense": _OWN,
        "return": {"target": ("just_destroyed",)},
    },
    "attached": {key: {"n": None, "target": ("host",)} for key in ("attack", "defense")},
    "hostscore": dict.fromkeys(("glory", "cullcapture"), _NUMBER),
    "score": {
        **dict.fromkeys(("glory", "drawpool", "cullspells", "discount", "captures", "cull"), _NUMBER),
        "swap": {},
        "freecapture": {"target": None, "to": None, "when": None},
        "fetch": {"target": None, "to": ("pool",)},
    },
    "enter": {"copy": {"target": ("foe_creature",)}},
    "perturn": {"copy": {"target": ("foe_creature",)}},
    "static": {
        "attack": {"n": None, "target": None},
        "defense": {"n": None, "target": None, "when": ("alone",)},
        "stats": {"attack": None, "defense": None, "when": ("no_copy",)},
        **dict.fromkeys(("surcharge", "barlevel", "capattack", "summonlimit"), _NUMBER),
        "notarget": {},
    },
    "attack": {"attack": {"n": None, "when": None, "target": ("self",)}, "ignoreattached": {}},
    "predefence": {"destroy": {"when": None, "target": ("foe_creatures",)}},
    "firstkill": {"addtotal": _NUMBER},
    "kill": {"quiddity": _NUMBER, "scoreself": {}},
    "destroyed": {
        "redirect": {"target": ("self",), "to": None},
        "cullreturn": {"target": None},
        "drawpool": _NUMBER,
    },
    "asidekill": {"rollself": {}},
    "state": {"destroy": {"when": None, "target": ("self",)}},
    "locked": {
        **{key: {"n": None, "target": ("other_own_creatures",)} for key in ("attack", "defense")},
        **dict.fromkeys(("surcharge", "barlevel", "capattack", "draws", "fewer", "dearer", "glory"), _NUMBER),
        "lockrival": {},
        "nopayoff": {},
    },
    "drew": dict.fromkeys(("glory", "quiddity"), _NUMBER),
}
# Of what is carried out step by step: by a cast, a summons, a lock, an Anchored Spell.
_STEPS: Mapping[str, Mapping[str, Any]] = {
    "attack": _OWN,
    "defense": _OWN,
    "quiddity": {"n": None, "flavour": FLAVOURS},
    "glory": {"n": None, "when": None},
    "destroy": {"when": None, "target": None},
    "destroyspell": {"target": None},
    "rotate": {"target": None, "to": None},
    "drawroll": _NUMBER,
    "cull": {"n": None, "target": None},
    "captures": _NUMBER,
    "summon": _NUMBER,
}
_STEPWISE = ("cast", "summon", "onlock")


def check_effects(where: str, effects: Iterable[object], *, anchored: bool = False) -> tuple[Mapping[str, Any], ...]:
    """The effects of a card, each with keys that it has a use for.

    Args:
        where: file and card, for messages; the number of the effect is added.
        anchored: they are those of an Anchored Spell.

    Raises:
        DataError: names the effect and the key.
    """
    made: list[Mapping[str, Any]] = []
    for i, effect in enumerate(effects):
        here = f"{where} {i}"
        first = not any(isinstance(effect, dict) and each["on"] == effect.get("on") for each in made)
        made.append(_check_effect(here, effect, first=first))
        if anchored and made[-1]["on"] != "cast":
            raise DataError(f"{here}: on is {made[-1]['on']!r}; the steps of an Anchored Spell are all 'cast'")
    return tuple(made)


def _check_effect(where: str, table: object, *, first: bool) -> Mapping[str, Any]:
    if not isinstance(table, dict):
        raise DataError(f"{where}: must be a table, not {table!r}")
    for key in ("on", "do"):
        if key not in table:
            raise DataError(f"{where}: the key {key!r} is missing")
    on = text_of(where, "on", table["on"], ALLOWED)
    do = text_of(where, "do", table["do"], ALLOWED[on])
    text_of(where, "burst", table.get("burst", ""), BURSTS)
    stepwise = on in _STEPWISE
    keys = {**(_STEPS[do] if stepwise else _KEYS[on][do]), **({"then": bool} if stepwise else {})}
    for key, value in table.items():
        if key in ("on", "do", "burst", "optional"):
            continue
        if key not in keys:
            raise DataError(
                f"{where}: {on} {do} has no use for the key {key!r}; it takes: {', '.join(('burst', *keys))}"
            )
        if keys[key] is bool:
            if not isinstance(value, bool):
                raise DataError(f"{where}: {key} is {value!r}, must be true or false")
        elif keys[key] is not None:
            text_of(where, key, value, keys[key])
    if table.get("then") and first:
        raise DataError(f"{where}: then is true, but no step stands before it that it could hang on")
    if table.get("optional", False) is not ((on, do) in OPTIONAL):
        raise DataError(
            f"{where}: optional is {table.get('optional', False)!r}; it is true for "
            f"{', '.join(f'{on} {do}' for on, do in OPTIONAL)}, and for nothing else"
        )
    if isinstance(table.get("n", 0), bool) or not isinstance(table.get("n", 0), (int, str)):
        raise DataError(f"{where}: n is {table['n']!r}, must be a number or the name of a count")
    if do == "glory" and isinstance(table.get("n", 1), int) and "when" in table:
        raise DataError(f"{where}: when is for Glory that is counted, n = 'scored' or 'foes_hit'; here n is a number")
    if do == "summonlimit":
        whole(where, "n", table.get("n", 1), 1, 12)
    return table


def whole(where: str, key: str, value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise DataError(f"{where}: {key} is {value!r}, must be a whole number from {low} to {high}")
    return value


def text_of(where: str, key: str, value: object, allowed: Iterable[str] | None = None) -> str:
    if not isinstance(value, str) or (allowed is not None and value not in allowed):
        expected = "a text" if allowed is None else "one of " + ", ".join(repr(text) for text in allowed)
        raise DataError(f"{where}: {key} is {value!r}, must be {expected}")
    if not value.isprintable() or (key in ("name", "die", "set") and (not value or value != value.strip())):
        raise DataError(f"{where}: {key} is {value!r}, must be text on one line")
    return value


def table_of(where: str, table: object, allowed: Iterable[str], needed: Iterable[str]) -> Mapping[str, Any]:
    if not isinstance(table, dict):
        raise DataError(f"{where}: must be a table, not {table!r}")
    allowed = tuple(allowed)
    for key in table:
        if key not in allowed:
            raise DataError(f"{where}: unknown key {key!r}; allowed: {', '.join(sorted(allowed))}")
    for key in needed:
        if key not in table:
            raise DataError(f"{where}: the key {key!r} is missing")
    return table
