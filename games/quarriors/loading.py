"""Reading and checking set files; games/quarriors/README.md describes the format."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from engine_ext.errors import DataError, reason
from engine_ext.files import decoded, read_file
from games.quarriors.cards import FACES, FLAVOURS, KINDS, Card, CardSet, Die, Face
from games.quarriors.compiling import check_faces, compile_anchored, compile_face
from games.quarriors.effects import check_effects, table_of, text_of, whole

_FACE_KEYS = {
    "quiddity": (1, 9),
    "draw": (1, 7),
    "level": (1, 9),
    "attack": (0, 40),
    "defense": (0, 40),
    "bursts": (0, 2),
}
_FACE_FLAGS = ("reroll", "effect", "spell", "lock", "one_of")
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
    "reconstructed",
    "source",
    "note",
)
_PARTS = ("cost", "discounted_cost", "glory", "effects", "anchored")  # of a card, that may be reconstructed


def _provenance(where: str, table: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    kind = text_of(where, "provenance", table["provenance"], ("sourced", "rulebook", "reconstructed"))
    source = table.get("source", [])
    if not isinstance(source, list) or not all(isinstance(text, str) for text in source):
        raise DataError(f"{where}: source is {source!r}, must be a list of texts")
    if kind != "reconstructed" and not source:
        raise DataError(f"{where}: the key 'source' is missing; only a reconstructed record may do without")
    return kind, tuple(source)


def _read_face(where: str, table: object) -> Face:
    table = table_of(where, table, (*_FACE_KEYS, *_FACE_FLAGS, "flavour"), ())
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key in _FACE_KEYS:
            values[key] = whole(where, key, value, *_FACE_KEYS[key])
        elif key == "flavour":
            values[key] = text_of(where, key, value, FLAVOURS)
        elif not isinstance(value, bool):
            raise DataError(f"{where}: {key} is {value!r}, must be true or false")
        else:
            values[key] = value
    if values.get("level") and not {"attack", "defense"} <= set(values):
        raise DataError(f"{where}: a creature face needs level, attack and defense; 0 is allowed for the last two")
    face = Face(**values)
    if (face.attack or face.defense) and not face.creature:
        raise DataError(f"{where}: attack and defense belong to a creature icon, which needs a level")
    icons = face.creature + face.spell + face.lock + face.effect + bool(face.quiddity or face.draw or face.reroll)
    if icons != 1:
        raise DataError(f"{where}: a face shows one icon, or Quiddity, draw and re-roll symbols; this one has {icons}")
    return face


def _read_die(where: str, table: object) -> Die:
    table = table_of(
        where,
        table,
        ("class", "kind", "count", "energy", "faces", "provenance", "source", "note"),
        ("class", "kind", "count", "faces", "provenance"),
    )
    name = text_of(where, "class", table["class"])
    where = f"{where} {name!r}"
    faces = table["faces"]
    if not isinstance(faces, list) or len(faces) != FACES:
        raise DataError(f"{where}: faces must be a list of {FACES} tables")
    provenance, source = _provenance(where, table)
    die = Die(
        name=name,
        kind=text_of(where, "kind", table["kind"], KINDS),
        count=whole(where, "count", table["count"], 1, 60),
        energy=text_of(where, "energy", table.get("energy", ""), ("", "light", "dark")),
        faces=tuple(_read_face(f"{where}, face {i}", face) for i, face in enumerate(faces)),
        provenance=provenance,
        source=source,
    )
    for kind, other, icon in (("creature", "spell", "creature"), ("spell", "creature", "spell")):
        if die.kind == kind and not any(getattr(face, icon) for face in die.faces):
            raise DataError(f"{where}: kind is {kind!r}, but no face shows the {icon} icon")
        if die.kind == kind and any(getattr(face, other) for face in die.faces):
            raise DataError(f"{where}: kind is {kind!r}, but a face shows the {other} icon")
    if len({face for face in die.faces if face.spell}) > 2:
        raise DataError(f"{where}: at most two different faces may show the spell icon")
    return die


def _read_card(where: str, table: object, name_of_set: str) -> Card:
    table = table_of(
        where,
        table,
        _CARD_KEYS,
        ("name", "class", "cost", "provenance"),
    )
    name = text_of(where, "name", table["name"])
    where = f"{where} {name!r}"
    for mark in ",=;":
        if mark in name:
            raise DataError(f"{where}: a name cannot hold {mark!r}")
    effects = _tables(f"{where}: effects", table.get("effects", []))
    anchored = table.get("anchored")
    if anchored is not None:
        anchored = table_of(
            f"{where}, anchored", anchored, ("cost", "flavour", "effects"), ("cost", "flavour", "effects")
        )
        whole(f"{where}, anchored", "cost", anchored["cost"], 1, 9)
        text_of(f"{where}, anchored", "flavour", anchored["flavour"], FLAVOURS[1:])
        steps = _tables(f"{where}, anchored: effects", anchored["effects"])
        check_effects(f"{where}, anchored effect", steps, anchored=True)
    provenance, source = _provenance(where, table)
    parts = table.get("reconstructed", [part for part in _PARTS if part in table])
    if not isinstance(parts, list) or not set(parts) <= set(_PARTS):
        raise DataError(f"{where}: reconstructed is {parts!r}, must be a list of {', '.join(_PARTS)}")
    if "reconstructed" in table and (provenance != "reconstructed" or not parts):
        raise DataError(f"{where}: reconstructed names parts of a card whose provenance is 'reconstructed'")
    cost = whole(where, "cost", table["cost"], 0, 20)
    return Card(
        name=name,
        die=text_of(where, "class", table["class"]),
        version=text_of(where, "version", table.get("version", "")),
        cost=cost,
        discounted=whole(where, "discounted_cost", table.get("discounted_cost", cost), 0, cost),
        glory=whole(where, "glory", table.get("glory", 0), 0, 9),
        effects=check_effects(f"{where}, effect", effects),
        anchored=anchored,
        provenance=provenance,
        reconstructed=tuple(parts) if provenance == "reconstructed" else (),
        source=source,
        note=text_of(where, "note", table.get("note", "")),
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
            raw = read_file(path)
            content = tomllib.loads(decoded(raw))
        except (OSError, ValueError, RecursionError) as error:
            raise DataError(f"{path}: {reason(error)}") from error
        digest.update(raw)
        table_of(str(path), content, ("set", "name", "die", "card"), ("set",))
        name_of_set = text_of(str(path), "set", content["set"])
        seen: set[str] = set()
        named: set[str] = set()
        for record in _tables(f"{path}: die", content.get("die", [])):
            die = _read_die(f"{path}: die", record)
            if die.name in seen:
                raise DataError(f"{path}: the die {die.name!r} stands there twice")
            seen.add(die.name)
            dice[die.name] = die
        for record in _tables(f"{path}: card", content.get("card", [])):
            card = _read_card(f"{path}: card", record, name_of_set)
            if card.name in named:
                raise DataError(f"{path}: the card {card.name!r} stands there twice")
            named.add(card.name)
            if card.die not in dice:
                raise DataError(f"{path}: card {card.name!r}: there is no die of class {card.die!r}")
            try:
                check_faces(card, dice[card.die])
            except DataError as error:
                raise DataError(f"{path}: {error}") from error
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
