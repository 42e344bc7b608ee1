"""The sets as data: reading the TOML files, checking them, and compiling effects for the engine.

A set file holds dice and cards (games/quarriors/README.md describes the format). Effects are
compiled per card and face into flat records of small numbers, which `rules.pyx` copies into C
structs of the same field names; the bursts of a face are known, so an effect is either in its
record or not, and the engine never looks at a burst.
"""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from engine_ext.errors import DataError, reason

DATA = Path(__file__).parent / "data"
FLAVOURS = ("normal", "light", "dark")
KINDS = ("basic", "assistant", "creature", "spell", "large")
FACES = 6

# Bits of a compiled face's `kind`.
CREATURE, SPELL, LOCK, IMMEDIATE = 1, 2, 4, 8
# Values of an effect that the engine counts itself.
VALUES = {"bq": 1, "all_creatures": 2}
# Codes of the steps of a cast, summon, lock or Anchored Spell; `rules.pyx` has the same list.
OPS = (
    "none",
    "attack",
    "defense",
    "quiddity",
    "glory",
    "glory_scored",
    "glory_foes_hit",
    "destroy_one",
    "destroy_per_foe",
    "destroy_class",
    "destroyspell",
    "rotate_all",
    "rotate_own",
    "rotate_any",
    "drawroll",
    "cull",
    "captures",
    "destroy_foe",
    "cull_spent",
    "summon",
)
LOCKED = ("attack", "defense", "surcharge", "barlevel", "capattack")  # static effects that a Lock face may have too
MAX_OPS = 4


@dataclass(frozen=True)
class Face:
    """One face of a die, as printed. Numbers are 0 and symbols False where there is none."""

    quiddity: int = 0
    flavour: str = "normal"
    draw: int = 0
    reroll: bool = False
    effect: bool = False
    spell: bool = False
    level: int = 0
    attack: int = 0
    defense: int = 0
    lock: bool = False
    one_of: bool = False
    bursts: int = 0

    @property
    def creature(self) -> bool:
        """Whether it shows the creature icon."""
        return self.level > 0


@dataclass(frozen=True)
class Die:
    """A class of dice. `canon[f]` is the first face identical to face f."""

    name: str
    kind: str
    count: int
    energy: str
    faces: tuple[Face, ...]
    provenance: str
    source: tuple[str, ...]

    @property
    def canon(self) -> tuple[int, ...]:
        """For each face, the number of the first identical one."""
        return tuple(self.faces.index(face) for face in self.faces)


@dataclass(frozen=True)
class Card:
    """A power card. `cost` and `glory` in points; `discounted` is the cost itself where there is no discount."""

    name: str
    die: str
    version: str
    cost: int
    discounted: int
    glory: int
    effects: tuple[Mapping[str, Any], ...]
    anchored: Mapping[str, Any] | None
    provenance: str
    source: tuple[str, ...]
    note: str
    set: str


@dataclass(frozen=True)
class CardSet:
    """What one or several files hold, by name and in file order, with the digest of their bytes."""

    dice: Mapping[str, Die]
    cards: Mapping[str, Card]
    digest: str


# ---- reading -----------------------------------------------------------------------------------

_FACE_KEYS = {
    "quiddity": (1, 9),
    "draw": (1, 7),
    "level": (1, 9),
    "attack": (0, 40),
    "defense": (0, 40),
    "bursts": (0, 2),
}
_FACE_FLAGS = ("reroll", "effect", "spell", "lock", "one_of")
_EFFECT_KEYS = {
    "on",
    "do",
    "face",
    "burst",
    "when",
    "optional",
    "n",
    "target",
    "to",
    "until",
    "attack",
    "defense",
    "itself",
    "lone_face",
    "flavour",
    "then",
}
_CARD_KEYS = (
    "name",
    "class",
    "version",
    "cost",
    "discounted_cost",
    "glory",
    "effects",
    "anchored",
    "provenance",
    "source",
    "note",
)
_BURSTS = {"": (0, 1, 2), "-": (0,), "*": (1,), "**": (2,), "*/**": (1, 2)}
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


def _number(where: str, key: str, value: object, low: int, high: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise DataError(f"{where}: {key} is {value!r}, must be a whole number from {low} to {high}")
    return value


def _text(where: str, key: str, value: object, allowed: Iterable[str] | None = None) -> str:
    if not isinstance(value, str) or (allowed is not None and value not in allowed):
        expected = "a text" if allowed is None else "one of " + ", ".join(repr(text) for text in allowed)
        raise DataError(f"{where}: {key} is {value!r}, must be {expected}")
    if not value.isprintable() or (key in ("name", "die", "set") and (not value or value != value.strip())):
        raise DataError(f"{where}: {key} is {value!r}, must be text on one line")
    return value


def _keys(where: str, table: object, allowed: Iterable[str], needed: Iterable[str]) -> Mapping[str, Any]:
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


def _provenance(where: str, table: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    kind = _text(where, "provenance", table["provenance"], ("sourced", "rulebook", "reconstructed"))
    source = table.get("source", [])
    if not isinstance(source, list) or not all(isinstance(text, str) for text in source):
        raise DataError(f"{where}: source is {source!r}, must be a list of texts")
    if kind != "reconstructed" and not source:
        raise DataError(f"{where}: the key 'source' is missing; only a reconstructed record may do without")
    return kind, tuple(source)


def _read_face(where: str, table: object) -> Face:
    table = _keys(where, table, (*_FACE_KEYS, *_FACE_FLAGS, "flavour"), ())
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key in _FACE_KEYS:
            values[key] = _number(where, key, value, *_FACE_KEYS[key])
        elif key == "flavour":
            values[key] = _text(where, key, value, FLAVOURS)
        elif not isinstance(value, bool):
            raise DataError(f"{where}: {key} is {value!r}, must be true or false")
        else:
            values[key] = value
    face = Face(**values)
    if (face.attack or face.defense) and not face.creature:
        raise DataError(f"{where}: attack and defense belong to a creature icon, which needs a level")
    icons = face.creature + face.spell + face.lock + face.effect + bool(face.quiddity or face.draw or face.reroll)
    if icons != 1:
        raise DataError(f"{where}: a face shows one icon, or Quiddity, draw and re-roll symbols; this one has {icons}")
    return face


def _read_die(where: str, table: object) -> Die:
    table = _keys(
        where,
        table,
        ("class", "kind", "count", "energy", "faces", "provenance", "source", "note"),
        ("class", "kind", "count", "faces", "provenance"),
    )
    name = _text(where, "class", table["class"])
    where = f"{where} {name!r}"
    faces = table["faces"]
    if not isinstance(faces, list) or len(faces) != FACES:
        raise DataError(f"{where}: faces must be a list of {FACES} tables")
    provenance, source = _provenance(where, table)
    die = Die(
        name=name,
        kind=_text(where, "kind", table["kind"], KINDS),
        count=_number(where, "count", table["count"], 1, 60),
        energy=_text(where, "energy", table.get("energy", ""), ("", "light", "dark")),
        faces=tuple(_read_face(f"{where}, face {i}", face) for i, face in enumerate(faces)),
        provenance=provenance,
        source=source,
    )
    if len({face for face in die.faces if face.spell}) > 2:
        raise DataError(f"{where}: at most two different faces may show the spell icon")
    return die


def _read_effect(where: str, table: object) -> Mapping[str, Any]:
    table = _keys(where, table, _EFFECT_KEYS, ("on", "do"))
    on = _text(where, "on", table["on"], ALLOWED)
    _text(where, "do", table["do"], ALLOWED[on])
    _text(where, "burst", table.get("burst", ""), _BURSTS)
    if table.get("optional", False) is not ((on, table["do"]) in OPTIONAL):
        raise DataError(
            f"{where}: optional is {table.get('optional', False)!r}; it is true for "
            f"{', '.join(f'{on} {do}' for on, do in OPTIONAL)}, and for nothing else"
        )
    if not isinstance(table.get("n", 0), (int, str)):
        raise DataError(f"{where}: n is {table['n']!r}, must be a number or the name of a count")
    return table


def _read_card(where: str, table: object, name_of_set: str) -> Card:
    table = _keys(
        where,
        table,
        _CARD_KEYS,
        ("name", "class", "cost", "provenance"),
    )
    name = _text(where, "name", table["name"])
    where = f"{where} {name!r}"
    for mark in ",=;":
        if mark in name:
            raise DataError(f"{where}: a name cannot hold {mark!r}")
    effects = _tables(f"{where}: effects", table.get("effects", []))
    anchored = table.get("anchored")
    if anchored is not None:
        anchored = _keys(f"{where}, anchored", anchored, ("cost", "flavour", "effects"), ("cost", "flavour", "effects"))
        _number(f"{where}, anchored", "cost", anchored["cost"], 1, 9)
        _text(f"{where}, anchored", "flavour", anchored["flavour"], FLAVOURS[1:])
        for i, effect in enumerate(_tables(f"{where}, anchored: effects", anchored["effects"])):
            _read_effect(f"{where}, anchored effect {i}", effect)
    provenance, source = _provenance(where, table)
    cost = _number(where, "cost", table["cost"], 0, 20)
    return Card(
        name=name,
        die=_text(where, "class", table["class"]),
        version=_text(where, "version", table.get("version", "")),
        cost=cost,
        discounted=_number(where, "discounted_cost", table.get("discounted_cost", cost), 0, cost),
        glory=_number(where, "glory", table.get("glory", 0), 0, 9),
        effects=tuple(_read_effect(f"{where}, effect {i}", effect) for i, effect in enumerate(effects)),
        anchored=anchored,
        provenance=provenance,
        source=source,
        note=_text(where, "note", table.get("note", "")),
        set=name_of_set,
    )


def _tables(where: str, value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise DataError(f"{where} must be a list of tables, not {value!r}")
    return value


def read_sets(paths: Iterable[Path]) -> CardSet:
    """Read set files in order; a die or card in a later file replaces one of the same name.

    Raises:
        DataError: a file that cannot be read, or a record that is malformed; names file, record and key.
    """
    dice: dict[str, Die] = {}
    cards: dict[str, Card] = {}
    files: dict[str, Path] = {}
    digest = hashlib.sha256()
    for path in paths:
        try:
            raw = path.read_bytes()
            content = tomllib.loads(raw.decode("utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise DataError(f"{path}: {reason(error)}") from error
        digest.update(raw)
        _keys(str(path), content, ("set", "name", "die", "card"), ("set",))
        name_of_set = _text(str(path), "set", content["set"])
        seen: set[str] = set()
        for record in _tables(f"{path}: die", content.get("die", [])):
            die = _read_die(f"{path}: die", record)
            if die.name in seen:
                raise DataError(f"{path}: the die {die.name!r} stands there twice")
            seen.add(die.name)
            dice[die.name] = die
        for record in _tables(f"{path}: card", content.get("card", [])):
            card = _read_card(f"{path}: card", record, name_of_set)
            if card.name in seen and not any(card.name == name for name in dice):
                raise DataError(f"{path}: the card {card.name!r} stands there twice")
            seen.add(card.name)
            if card.die not in dice:
                raise DataError(f"{path}: card {card.name!r}: there is no die of class {card.die!r}")
            cards[card.name] = card
            files[card.name] = path
    made = CardSet(dice, cards, digest.hexdigest())
    for card in made.cards.values():  # a card that does not compile is an error now, not when it is dealt
        try:
            for face in range(FACES):
                compile_face(card, made.dice[card.die], face, made)
            compile_anchored(card)
        except DataError as error:
            raise DataError(f"{files[card.name]}: {error}") from error
    return made


# ---- compiling ---------------------------------------------------------------------------------

_USE = {"spend": 0, "quid": 0, "flavour": 0, "draw": 0, "itself": 0, "others": 0, "captures": 0, "lone": -1}
_OP = {"code": 0, "n": 0, "level": 0, "defense": 0, "flavour": 0, "energy": 0, "then": 0, "spell": 0}
NO_CAP = 127


def empty_face() -> dict[str, Any]:
    """A compiled face without icon, symbol or effect: every field of the C struct `FaceTable`."""
    return {
        "kind": 0,
        "level": 0,
        "attack": 0,
        "defense": 0,
        "bursts": 0,
        "quid": 0,
        "flavour": 0,
        "n_uses": 0,
        "uses": [dict(_USE) for _ in range(3)],
        "stat_atk": 0,
        "stat_def": 0,
        "def_self": 0,
        "def_others": 0,
        "def_alone": 0,
        "aura_atk": 0,
        "aura_def": 0,
        "surcharge": 0,
        "barlevel": 0,
        "capatk": NO_CAP,
        "notarget": 0,
        "summonlimit": 0,
        "copy_enter": 0,
        "copy_turn": 0,
        "no_bq": 0,
        "lone_atk": 0,
        "ignore_attached": 0,
        "quake": 0,
        "firstkill": 0,
        "kill_quid": 0,
        "kill_score": 0,
        "dead_pool": 0,
        "dead_aside": 0,
        "dead_cull": 0,
        "dead_draw": 0,
        "aside_roll": 0,
        "score_glory": 0,
        "score_others": 0,
        "score_draw": 0,
        "score_discount": 0,
        "score_captures": 0,
        "score_swap": 0,
        "score_fetch": 0,
        "score_free": 0,
        "score_cullspells": 0,
        "score_cull": 0,
        "attach": 0,
        "host_atk": 0,
        "host_def": 0,
        "host_glory": 0,
        "host_cullcapture": 0,
        "react_pool": 0,
        "react_zero": 0,
        "react_def": 0,
        "react_return": 0,
        "locked_draws": 0,
        "locked_fewer": 0,
        "locked_dearer": 0,
        "locked_glory": 0,
        "lock_rival": 0,
        "no_payoff": 0,
        "drew_glory": 0,
        "drew_quid": 0,
        "n_ops": 0,
        "ops": [dict(_OP) for _ in range(MAX_OPS)],
    }


def _amount(where: str, effect: Mapping[str, Any], names: Mapping[str, int] | None = None) -> int:
    """The number n of an effect; with names, a negative code for a count the engine makes."""
    n = effect.get("n", 1)
    if isinstance(n, str):
        if names is None or n not in names:
            raise DataError(f"{where}: n is {n!r}, allowed here: a number{''.join(f', {x!r}' for x in names or ())}")
        return -names[n]
    return _number(where, "n", n, 0, 20)


def _when(where: str, effect: Mapping[str, Any], *keys: str) -> dict[str, int]:
    """The condition `key<=k` or `key>=k` of an effect as {key: k}; {} without one."""
    text = effect.get("when", "")
    if text == "":
        return {}
    match = re.fullmatch(r"(\w+)(<=|>=|=)(\d+)", text)
    if match is None or match[1] not in keys:
        raise DataError(f"{where}: when is {text!r}; allowed here: {', '.join(keys) or 'nothing'} with a number")
    return {match[1]: int(match[3])}


def _target(where: str, effect: Mapping[str, Any], *allowed: str) -> str:
    return _text(where, "target", effect.get("target", allowed[0]), allowed)


def _step(where: str, effect: Mapping[str, Any]) -> dict[str, Any]:
    """One step of a cast, summon or Anchored Spell as an operation of the engine."""
    do = effect["do"]
    op = dict(_OP)
    op["then"] = int(bool(effect.get("then", False)))
    op["spell"] = int(effect["on"] == "cast")
    op["flavour"] = FLAVOURS.index(_text(where, "flavour", effect.get("flavour", "normal"), FLAVOURS))
    code = do
    if do == "glory":
        n = effect.get("n", 1)
        conditions = {"scored": "scored>=2", "foes_hit": "after_attack"}
        if isinstance(n, str):
            if n not in conditions or effect.get("when") != conditions[n]:
                raise DataError(f"{where}: glory by {n!r} needs when = {conditions.get(n)!r}")
            code = f"glory_{n}"
        else:
            op["n"] = _amount(where, effect)
    elif do == "destroy":
        target = _target(
            where,
            effect,
            *("one_creature", "foe_creature", "one_per_foe", "foes_of_class", "light_creature", "dark_creature"),
        )
        codes = {"foe_creature": "destroy_foe", "one_per_foe": "destroy_per_foe", "foes_of_class": "destroy_class"}
        code = codes.get(target, "destroy_one")
        limits = _when(where, effect, "level", "defense")
        op["level"], op["defense"] = limits.get("level", NO_CAP), limits.get("defense", NO_CAP)
        op["energy"] = {"light_creature": 1, "dark_creature": 2}.get(target, 0)
    elif do == "rotate":
        target = _target(where, effect, "own_creatures", "own_creature", "one_creature")
        code = {"own_creatures": "rotate_all", "own_creature": "rotate_own", "one_creature": "rotate_any"}[target]
        op["n"] = {"up": 1, "down": 0}[_text(where, "to", effect.get("to", "up"), ("up", "down"))]
        if code == "rotate_all" and not op["n"]:
            raise DataError(f"{where}: all creatures together rotate up only")
    elif do == "cull":
        code = {"used_pile": "cull", "spent_pile": "cull_spent"}[_target(where, effect, "used_pile", "spent_pile")]
        op["n"] = _amount(where, effect)
    elif do == "destroyspell":
        _target(where, effect, "one_spell")
    elif do in ("attack", "defense"):
        _target(where, effect, "own_creatures")
        op["n"] = _amount(where, effect)
    else:
        op["n"] = _amount(where, effect)
    op["code"] = OPS.index(code)
    return op


def compile_steps(where: str, effects: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Operations of a list of effects, padded to MAX_OPS.

    Raises:
        DataError: too many, or one that the engine does not have.
    """
    steps = [_step(f"{where}, effect {i}", effect) for i, effect in enumerate(effects)]
    if len(steps) > MAX_OPS:
        raise DataError(f"{where}: {len(steps)} steps, allowed are {MAX_OPS}")
    return steps + [dict(_OP) for _ in range(MAX_OPS - len(steps))]


def _uses(where: str, face: Face, die: Die, effects: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The ways to use an immediate face: what the card says of it, else its symbols (B44 to B47)."""
    if effects:
        use = dict(_USE)
        for effect in effects:
            if effect["do"] == "quiddity":
                use["quid"] += _amount(where, effect)
                use["flavour"] = FLAVOURS.index(effect.get("flavour", "normal"))
            elif effect["do"] == "captures":
                use["captures"] += _amount(where, effect)
            elif effect["do"] == "drawroll":
                use["draw"] += face.draw if effect.get("n") == "face" else _amount(where, effect)
                use["lone"] = _number(where, "lone_face", effect.get("lone_face", -1), -1, FACES - 1)
            else:
                use["others"] += _amount(where, effect)
                use["itself"] |= int(bool(effect.get("itself", False)))
        use["spend"] = 1 - use["itself"]
        return [use]
    base = dict(_USE)
    if face.one_of:  # a dividing line: the Quiddity is what the die shows, the other symbol is immediate
        made = []
        if face.reroll:
            made.append({**base, "itself": 1})
        if face.draw:
            made.append({**base, "spend": 1, "draw": face.draw})
        return made
    if face.draw and face.reroll:
        return [
            {**base, "itself": 1, "draw": face.draw},
            {**base, "itself": 1},
            {**base, "spend": 1, "draw": face.draw},
        ]
    if face.draw:
        quid = {"quid": face.quiddity, "flavour": FLAVOURS.index(face.flavour)}
        return [{**base, **quid, "spend": 1, "draw": face.draw}]
    if face.reroll:
        return [{**base, "itself": 1}]
    return []


def _hangs_on(effect: Mapping[str, Any], face: Face, where: str) -> bool:
    """Whether a `face` effect belongs to this face."""
    kind = _text(where, "face", effect.get("face"), ("draw", "reroll", "effect", "quiddity", "spell"))
    return {
        "draw": face.draw > 0,
        "reroll": face.reroll,
        "effect": face.effect,
        "quiddity": face.quiddity > 0 and not face.draw,
        "spell": face.spell,
    }[kind]


def compile_face(card: Card, die: Die, number: int, sets: CardSet) -> dict[str, Any]:
    """The compiled record of one face under one card: a dict with the fields of `FaceTable`.

    Raises:
        DataError: an effect with a target, count or condition that its operation does not take.
    """
    face = die.faces[number]
    out = empty_face()
    # A locked die has level, attack and defence 0, and only its Lock line works (LK11).
    out.update(level=face.level, attack=face.attack, defense=face.defense, bursts=face.bursts)
    out["quid"], out["flavour"] = face.quiddity, FLAVOURS.index(face.flavour)
    on_face: list[Mapping[str, Any]] = []
    steps: list[Mapping[str, Any]] = []
    for i, effect in enumerate(card.effects):
        where = f"card {card.name!r}, effect {i}"
        on, do = effect["on"], effect["do"]
        if on == "face":
            if _hangs_on(effect, face, where) and face.bursts in _BURSTS[effect.get("burst", "")]:
                on_face.append(effect)
            continue
        if face.bursts not in _BURSTS[effect.get("burst", "")]:
            continue
        if on in ("cast", "react", "attached", "hostscore"):
            if not face.spell:
                continue
        elif on in ("locked", "onlock", "drew"):
            if not face.lock:
                continue
        elif not face.creature:
            continue
        if on in ("cast", "summon", "onlock"):
            steps.append(effect)
        elif on == "react":
            if do == "redirect":
                _text(where, "to", effect.get("to"), ("pool",))
                out["react_pool"] = 1
            elif do == "setattack":
                _number(where, "n", effect.get("n"), 0, 0)
                out["react_zero"] = 1
            elif do == "defense":
                out["react_def"] += _amount(where, effect)
            else:
                out["react_return"] = 1
        elif on == "attached":
            out["attach"] = 1
            out["host_atk" if do == "attack" else "host_def"] += _amount(where, effect)
        elif on == "hostscore":
            out["attach"] = 1
            if do == "glory":
                out["host_glory"] += _amount(where, effect)
            else:
                out["host_cullcapture"] = _amount(where, effect) + 1
        elif on == "score":
            _compile_score(where, effect, out)
        elif on == "static":
            _compile_static(where, effect, out)
        elif on == "locked":
            if do in LOCKED:
                _compile_static(where, effect, out)
            elif do in ("lockrival", "nopayoff"):
                out[{"lockrival": "lock_rival", "nopayoff": "no_payoff"}[do]] = 1
            else:
                out[f"locked_{do}"] += _amount(where, effect)
        elif on == "drew":
            out["drew_glory" if do == "glory" else "drew_quid"] += _amount(where, effect)
        elif on in ("enter", "perturn"):
            out["copy_enter" if on == "enter" else "copy_turn"] = 1
        elif on == "attack":
            if do == "ignoreattached":
                out["ignore_attached"] = 1
            elif effect.get("when") == "foe_creatures=1":
                out["lone_atk"] += _amount(where, effect)
            else:
                raise DataError(f"{where}: an attack bonus while attacking needs when = 'foe_creatures=1'")
        elif on == "predefence":
            out["quake"] = _when(where, effect, "level").get("level", NO_CAP)
        elif on == "firstkill":
            if effect.get("n") != "own_attack":
                raise DataError(f"{where}: addtotal adds n = 'own_attack'")
            out["firstkill"] = 1
        elif on == "kill":
            if do == "quiddity":
                out["kill_quid"] += _amount(where, effect)
            else:
                out["kill_score"] = 1
        elif on == "destroyed":
            if do == "redirect":
                out["dead_" + _text(where, "to", effect.get("to"), ("pool", "aside"))] = 1
            elif do == "drawpool":
                out["dead_draw"] += _amount(where, effect)
            else:
                cull = str(effect.get("target"))
                if cull not in sets.dice:
                    raise DataError(f"{where}: target is {cull!r}, must be a class of dice")
                out["dead_cull"] = list(sets.dice).index(cull) + 1
        elif on == "asidekill":
            out["aside_roll"] = 1
        elif on == "state":
            if effect.get("when") != "no_bq":
                raise DataError(f"{where}: a state check needs when = 'no_bq'")
            out["no_bq"] = 1
    if out["dead_aside"] != out["aside_roll"]:
        raise DataError(f"card {card.name!r}: redirect to aside and asidekill rollself go together")
    out["ops"] = compile_steps(f"card {card.name!r}", steps)
    out["n_ops"] = len(steps)
    uses = _uses(f"card {card.name!r}", face, die, on_face)
    out["uses"][: len(uses)] = uses
    out["n_uses"] = len(uses)
    out["kind"] = (
        CREATURE * face.creature + LOCK * face.lock + SPELL * (face.spell and not uses) + IMMEDIATE * bool(uses)
    )
    return out


def compile_anchored(card: Card) -> dict[str, Any]:
    """The compiled record of a card's Anchored Spell: a face with its steps; no steps without one."""
    out = empty_face()
    if card.anchored is not None:
        out["ops"] = compile_steps(f"card {card.name!r}, anchored", card.anchored["effects"])
        out["n_ops"] = len(card.anchored["effects"])
        out["quid"], out["flavour"] = card.anchored["cost"], FLAVOURS.index(card.anchored["flavour"])
    return out


def large_card(die: Die) -> Card:
    """The card that large Quiddity dice do not have: no cost, no effect, never in the Wilds."""
    return Card(die.name, die.name, "", 0, 0, 0, (), None, die.provenance, die.source, "", "")


def _compile_score(where: str, effect: Mapping[str, Any], out: dict[str, Any]) -> None:
    do = effect["do"]
    if do == "glory":
        n = _amount(where, effect, {"other_scored": 1})
        out["score_others" if n < 0 else "score_glory"] += abs(n)
    elif do == "drawpool":
        out["score_draw"] += _amount(where, effect)
    elif do == "freecapture":
        _target(where, effect, "spell_class")
        _text(where, "to", effect.get("to"), ("bag",))
        out["score_free"] = _when(where, effect, "cost").get("cost", 20) + 1
    elif do == "fetch":
        _target(where, effect, "creature_die")
        out["score_fetch"] = 1
    elif do == "swap":
        out["score_swap"] = 1
    else:
        out[f"score_{do}"] += _amount(where, effect)


def _compile_static(where: str, effect: Mapping[str, Any], out: dict[str, Any]) -> None:
    do = effect["do"]
    if do == "stats":
        for key, field in (("attack", "stat_atk"), ("defense", "stat_def")):
            value = effect.get(key)
            if isinstance(value, str):
                if value not in VALUES:
                    raise DataError(f"{where}: {key} is {value!r}, must be a number or one of {', '.join(VALUES)}")
                out[field] = VALUES[value]
            else:
                out[key] = _number(where, key, value, 0, 40)
    elif do in ("attack", "defense"):
        target = _target(where, effect, "self", "other_own_creatures")
        alone = effect.get("when") == "alone"
        n = _amount(where, effect, {"others": 1})
        if target == "other_own_creatures":
            out["aura_atk" if do == "attack" else "aura_def"] += n
        elif do == "attack":
            raise DataError(f"{where}: a creature's own attack is printed on its faces")
        elif n < 0:
            out["def_others"] += 1
        else:
            out["def_alone" if alone else "def_self"] += n
    elif do == "capattack":
        out["capatk"] = min(out["capatk"], _amount(where, effect))
    elif do == "notarget":
        out["notarget"] = 1
    else:
        out[do] += _amount(where, effect)


# ---- words -------------------------------------------------------------------------------------

_ON = {
    "face": "right after the roll",
    "cast": "cast",
    "react": "reaction",
    "attached": "attached",
    "hostscore": "when its host scores",
    "score": "when it scores",
    "summon": "when summoned",
    "enter": "on entering",
    "perturn": "once a turn",
    "static": "",
    "attack": "attacking",
    "predefence": "before each defence",
    "firstkill": "at a defender's first loss",
    "kill": "when you destroy a creature",
    "destroyed": "when destroyed",
    "asidekill": "set aside, when you destroy a creature",
    "state": "always",
    "locked": "while locked",
    "onlock": "when locked",
    "drew": "while locked, each time you draw",
}


_TARGETS = {
    "one creature": "one creature",
    "one per foe": "one creature of each rival",
    "foe creature": "a rival's creature",
    "foe creatures": "the defender's creatures",
    "foes of class": "all rivals' creatures of one class",
    "light creature": "one light creature",
    "dark creature": "one dark creature",
    "own creature": "one of your creatures",
    "own creatures": "your creatures",
    "self": "it",
}
_AMOUNTS = {
    "scored": "for each creature that scored",
    "other_scored": "for each other creature that scored",
    "foes_hit": "for each rival that lost a creature",
    "others": "1 for each of your other creatures",
    "bq": "the number of your Basic Quiddity dice in pool and Used Pile",
    "all_creatures": "the number of creatures in all Ready Areas",
    "face": "as many as shown",
    "own_attack": "its attack",
}
_FOR = {
    "": "",
    "self": "",
    "host": " for its host",
    "own creatures": " for your creatures",
    "other own creatures": " for your other creatures",
}
_CONDITIONS = {
    "after_attack": "after the attack",
    "alone": "if it stands alone",
    "foe_creatures=1": "against a single defender",
    "no_bq": "if you have no Basic Quiddity in pool and Used Pile",
    "no_copy": "if there is nothing to copy",
    "scored>=2": "if two or more scored",
}


def _amount_words(n: object) -> str:
    """A number, or what an effect counts, in words."""
    return _AMOUNTS.get(str(n), str(n))


def _condition(when: str) -> str:
    """A condition in words."""
    key, sign, most = when.partition("<=")
    if sign:
        return {"defense": "of defence", "level": "of level", "cost": "of cost"}[key] + f" {most} or less"
    return _CONDITIONS.get(when, f"if {when.replace('_', ' ')}")


def effect_text(effect: Mapping[str, Any]) -> str:
    """One effect in a few words, made from its data."""
    do, n, target = effect["do"], effect.get("n", 1), str(effect.get("target", "")).replace("_", " ")
    count = _amount_words(n)
    said = {
        "quiddity": f"+{count} Quiddity",
        "glory": f"1 Glory {count}" if isinstance(n, str) else f"+{count} Glory",
        "drawroll": f"draw and roll {count}",
        "drawpool": f"draw {count} to the pool",
        "reroll": "roll again "
        + " and ".join(["this die"] * bool(effect.get("itself")) + [f"up to {count} others"] * (n != 0)),
        "captures": f"{count} more capture",
        "discount": f"captures cost {count} less",
        "freecapture": "take a spell die for nothing",
        "cullcapture": f"cull a used die, take one that costs at most {count} more",
        "cullspells": f"cull spell dice for {count} Glory each",
        "cull": f"cull {count} {'spent' if target == 'spent pile' else 'used'} {'die' if n == 1 else 'dice'}",
        "summon": f"summon {count} at once for nothing",
        "attack": f"attack +{count}{_FOR.get(target, ' ' + target)}",
        "defense": f"defence +{count}{_FOR.get(target, ' ' + target)}",
        "setattack": f"attack {count} for {target}",
        "stats": f"attack {_amount_words(effect.get('attack'))}, defence {_amount_words(effect.get('defense'))}",
        "capattack": f"creatures that attack you count at most {count}",
        "barlevel": f"creatures of level {count} or less that attack you do not count",
        "surcharge": f"rivals' summons cost {count} more",
        "summonlimit": f"summon {count} a turn",
        "addtotal": "adds its attack again",
        "destroy": f"destroy {_TARGETS.get(target, target)}",
        "destroyspell": "discard a readied or attached spell",
        "redirect": ("it goes " if target in ("", "self") else "your destroyed creatures go ")
        + {"pool": "to the pool", "aside": "aside"}.get(str(effect.get("to")), str(effect.get("to"))),
        "return": "one destroyed creature returns",
        "cullreturn": f"cull a used {target}, it returns",
        "rotate": f"turn {_TARGETS.get(target, target)} a level {effect.get('to', 'up')}",
        "swap": "swap it for a used die of a rival",
        "fetch": "take a used creature die into the pool",
        "copy": "copy a rival's creature",
        "ignoreattached": "attached spells do not help defenders",
        "notarget": "rivals' spells cannot target it",
        "draws": f"draw {count} more each turn",
        "fewer": f"draw {count} fewer each turn",
        "dearer": f"your summons cost {count} more",
        "lockrival": "may be locked with a rival, and is his then",
        "nopayoff": "cannot be paid off",
        "scoreself": "it scores",
        "rollself": "roll it, it returns on a creature face",
    }[do]
    burst = f"{effect['burst']} " if effect.get("burst") else ""
    when = f" {_condition(effect['when'])}" if effect.get("when") else ""
    on = _ON[effect["on"]]
    return f"{burst}{on + ': ' if on else ''}{'may ' if effect.get('optional') else ''}{said}{when}"


def card_text(card: Card) -> str:
    """A card's effects in a few words, made from its data."""
    texts = [effect_text(effect) for effect in card.effects]
    if card.anchored is not None:
        steps = ", and then ".join(effect_text(effect).removeprefix("cast: ") for effect in card.anchored["effects"])
        texts.append(f"anchored, {card.anchored['cost']} {card.anchored['flavour']} Quiddity: {steps}")
    return "; ".join(texts)


def face_text(face: Face) -> str:
    """A face in short: `2Q`, `L1 2/3 *`, `spell **`, `draw 2`, `1Q+draw 1`, `3Q|re-roll`."""
    parts = []
    if face.quiddity:
        parts.append(f"{face.quiddity}Q" + ("" if face.flavour == "normal" else f" {face.flavour}"))
    if face.draw:
        parts.append(f"draw {face.draw}")
    if face.reroll:
        parts.append("re-roll")
    if face.creature:
        parts.append(f"L{face.level} {face.attack}/{face.defense}")
    parts += [word for word, there in (("spell", face.spell), ("lock", face.lock), ("effect", face.effect)) if there]
    return ("|" if face.one_of else "+").join(parts) + (" " + "*" * face.bursts if face.bursts else "")


def restrict(sets: CardSet, names: Iterable[str]) -> CardSet:
    """The same set with these cards only (dice stay)."""
    keep = set(names)
    return replace(sets, cards={name: card for name, card in sets.cards.items() if name in keep})


# ---- values for the greedy player ----------------------------------------------------------------

QUIDDITY_WORTH = 0.3  # Glory that one Quiddity is good for in mid-game
SPELL_WORTH = 0.8  # Glory that a readied spell without Glory of its own is good for


def worth(card: Card, die: Die, sets: CardSet) -> tuple[float, float]:
    """What one roll of a die is good for, in Glory, and the attack it brings on average.

    Quiddity counts at a flat rate. A creature face counts the card's Glory times a chance to live that
    grows with its defence, less the Quiddity of its level. A spell face counts its Glory, or a flat rate.
    """
    total = attack = 0.0
    for number in range(FACES):
        face = compile_face(card, die, number, sets)
        if face["kind"] & CREATURE:
            defense = face["defense"] + face["def_self"] + (4 if face["copy_enter"] or face["stat_def"] else 0)
            lives = 1 / (1 + 2.718281828 ** (0.55 * (3.5 - defense)))
            glory = card.glory + face["score_glory"] + face["score_others"]
            glory += 0.3 * sum(face[f"score_{key}"] > 0 for key in ("draw", "swap", "fetch", "free", "captures"))
            total += glory * lives + 0.06 * face["attack"] - QUIDDITY_WORTH * 0.6 * face["level"]
            attack += 4 if face["stat_atk"] or face["copy_enter"] else face["attack"]
        elif face["kind"] & SPELL:
            glory = sum(op["n"] for op in face["ops"] if OPS[op["code"]] == "glory")
            total += max(SPELL_WORTH, glory + face["host_glory"] * 0.6)
        elif face["kind"] & LOCK:
            total += 0.4
        elif face["kind"] & IMMEDIATE:
            use = face["uses"][0]
            gain = QUIDDITY_WORTH * use["quid"] + 0.5 * use["draw"] + 0.3 * use["captures"] + 0.3 * use["itself"]
            total += max(gain, QUIDDITY_WORTH * face["quid"])
        else:
            total += QUIDDITY_WORTH * face["quid"]
    return total / FACES, attack / FACES
