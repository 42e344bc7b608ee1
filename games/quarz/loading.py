"""Reading and checking the data files; README.md describes them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from engine_ext.errors import DataError, reason
from games.quarz.board import read_boards
from games.quarz.cards import (
    DATA,
    PUSH_SWAP,
    Card,
    Content,
    Favor,
    Monster,
    Munch,
    Option,
    Pattern,
    Shrine,
    TimeTile,
)
from games.quarz.layouts import read_layouts
from games.quarz.toml_table import PROVENANCES, TomlTable, load_toml, only_records, records_of, require_distinct
from games.quarz.vocabulary import GLOBALS, PASSIVES, SCOPES, TRIGGERS, Effect, check_bonuses, check_effects


def read_content(folder: Path = DATA) -> Content:
    """Read and check all data files of a folder; a folder of a user's own may leave files out,
    which are then taken from the game's (but its layouts only together with its boards and tiles).
    Unchanged files are not parsed again.

    Raises:
        DataError: naming file, record and key.
    """
    files = _files(folder)
    hasher = hashlib.sha256()
    for name in sorted(files):
        try:
            hasher.update(name.encode() + b"\0" + files[name].read_bytes() + b"\0")
        except OSError as error:
            raise DataError(f"{files[name]}: {reason(error)}") from error
    return _parse(folder, hasher.hexdigest())


def _files(folder: Path) -> dict[str, Path]:
    """The data files by name: the folder's, and for those it leaves out the game's."""
    files: dict[str, Path] = {}
    for base in (DATA, folder):
        if not base.is_dir():
            raise DataError(f"{base}: no such folder of data files")
        # Nowhere else: the folder may be anybody's, with all the rest of a disk below it.
        found = {
            path.relative_to(base).as_posix(): path for where in ("*", "mobs/*") for path in base.glob(f"{where}.toml")
        }
        known = f"{', '.join(sorted(name for name in files if '/' not in name))} and mobs/*.toml"
        strange = [name for name in sorted(found) if base != DATA and name not in files and "/" not in name]
        if len(found) == len(strange):
            there = f"; there are {', '.join(strange[:3])}{', ...' if len(strange) > 3 else ''}" if strange else ""
            raise DataError(f"{base}: there are no data files; looked for {known}{there}")
        if strange:
            raise DataError(f"{found[strange[0]]}: no data file is called that; there are {known}")
        if base != DATA and any(name.startswith("mobs/") for name in found):
            files = {name: path for name, path in files.items() if not name.startswith("mobs/")}
        if base != DATA and {"boards.toml", "tiles.toml"} & set(found):
            files.pop("layouts.toml", None)  # the game's layouts belong to its own boards and tiles
        files |= found
    return files


@cache
def _parse(folder: Path, digest: str) -> Content:
    """The content of a folder; `digest` stands in the cache's key, so that changed files are read again."""
    files = _files(folder)
    shared = _read_common(files["common.toml"])
    mobs = [_read_mob(files[name], shared) for name in sorted(files) if name.startswith("mobs/")]
    if len(mobs) != 4:
        raise DataError(f"{folder}: {len(mobs)} files under mobs/, must be 4: one a mob (rule 1)")
    names = tuple(name for name, _, _ in mobs)
    monsters = tuple(monster for _, _, own in mobs for monster in own)
    require_distinct(str(folder), "mobs", list(names))
    require_distinct(str(folder), "monsters", [monster.name for monster in monsters])
    tiles, stack, spaces = _read_time(files["time.toml"])
    patterns, used = _read_tiles(files["tiles.toml"])
    boards = read_boards(files["boards.toml"])
    return Content(
        folder=folder,
        digest=digest,
        mobs=names,
        mob_provenance=tuple(provenance for _, provenance, _ in mobs),
        monsters=monsters,
        favors=_read_favors(files["favor.toml"]),
        time_tiles=tiles,
        shrines=_read_shrines(files["shrines.toml"]),
        patterns=patterns,
        used=used,
        spaces=spaces,
        stack=stack,
        costs=shared.costs,
        limits=shared.limits,
        extra_actions=shared.extra_actions,
        push_provenance=shared.push_provenance,
        push_munch_provenance=shared.push_munch_provenance,
        boards=boards,
        layouts=read_layouts(files["layouts.toml"], boards, patterns, used) if "layouts.toml" in files else {},
    )


# ---- common.toml ---------------------------------------------------------------------------------

# of common.toml's [limits]; with 3 march steps each monster goes 1, with 6 each may go 2 (rule 77)
_LIMITS: Mapping[str, range] = {
    "opening_hand": range(13),
    "hand": range(40),
    "actions": range(1, 5),
    "reactions": range(10),
    "march_steps": range(3, 7),
    "shrine_uses": range(1, 10),
}
_BOX = (
    "monsters", "monster_cards", "favor_cards", "reaction_tokens", "mob_tokens", "time_tiles", "shrine_cards",
    "stun_tokens", "energy_gems", "impassable",
)  # fmt: skip
_BOX_TABLES = ("shrine_tiles", "tokens", "special_cards")


@dataclass(frozen=True)
class _Common:
    """What common.toml holds; `munches` are those of the three Push/Swap cards, costs in energy."""

    push_cost: int
    push_provenance: str
    push_munch_provenance: str
    munches: tuple[Munch, ...]
    costs: Mapping[str, Any]
    limits: Mapping[str, Any]
    extra_actions: int


def _read_common(path: Path) -> _Common:
    content = load_toml(path)
    top = TomlTable(content, str(path), {"push_swap", "costs", "limits", "engine_limits", "box"})

    def part(key: str, allowed: set[str]) -> TomlTable:
        return TomlTable(top.get(key, dict), f"{path}: {key}", {"provenance", *allowed})

    push = part("push_swap", {"name", "push_cost", "swap_cost", "munch_provenance", "munch"})
    if push.text("name") != PUSH_SWAP:
        raise DataError(f"{path}: push_swap: name is {push.text('name')!r}, the card is called {PUSH_SWAP!r}")
    munches = push.get("munch", list)
    if len(munches) != 3:
        raise DataError(f"{path}: push_swap.munch has {len(munches)} entries, must be 3 (rule 2)")
    munch_provenance = push.word("munch_provenance", PROVENANCES)
    costs = part("costs", {"move", "march", "draw", "shrine"})
    limits = part("limits", {*_LIMITS, "idol_points", "shrine_points"})
    engine = part("engine_limits", {"extra_actions"})
    for table in (push, costs, limits, engine):
        table.provenance()
    _check_box(part("box", {*_BOX, *_BOX_TABLES}))
    return _Common(
        push_cost=push.number("push_cost", range(10)),
        push_provenance=push.provenance(),
        push_munch_provenance=munch_provenance,
        munches=tuple(_read_munch(m, f"{path}: push_swap.munch[{i}]", die=False) for i, m in enumerate(munches)),
        costs={
            **{key: costs.number(key, range(30)) for key in ("move", "march", "shrine")},
            "draw": costs.numbers("draw", 3, range(30)),
            "swap": push.number("swap_cost", range(10)),
        },
        limits={
            **{key: limits.number(key, allowed) for key, allowed in _LIMITS.items()},
            **{key: limits.halves(key, 20) for key in ("idol_points", "shrine_points")},
        },
        extra_actions=engine.number("extra_actions", range(9)),
    )


def _check_box(table: TomlTable) -> None:
    """The components are listed for people; only their form is checked."""
    table.provenance()
    for key in _BOX:
        table.number(key, range(1, 1000))
    for key in _BOX_TABLES:
        inner = table.get(key, dict)
        for name in inner:
            TomlTable(inner, f"{table.where}.{key}", set(inner)).number(name, range(1, 1000))


# ---- mobs/*.toml ---------------------------------------------------------------------------------


def _read_mob(path: Path, shared: _Common) -> tuple[str, str, list[Monster]]:
    """A mob's name, provenance and monsters."""
    content = load_toml(path)
    table = TomlTable(content, str(path), {"mob", "provenance", "monster"})
    records = records_of(path, content, "monster")
    if len(records) != 4:
        raise DataError(f"{path}: {len(records)} monsters, a mob has 4 (rule 1)")
    mob = table.text("mob")
    monsters = [_read_monster(record, f"{path}: monster[{i}]", mob, shared) for i, record in enumerate(records)]
    return mob, table.provenance(), monsters


_TOKENS = {"shield_tokens", "frosting_tokens", "poison_tokens", "trap_tokens"}  # listed for people


def _read_monster(record: Any, where: str, mob: str, shared: _Common) -> Monster:
    fields = {"name", "provenance", "known", "attack", "energy", "damage", "move", "die", "slot2", "slot3", "ability"}
    table = TomlTable(record, where, fields | _TOKENS)
    for key in _TOKENS & record.keys():
        table.number(key, range(1, 100))
    known = table.get("known", list, [])
    if any(type(word) is not str for word in known):
        raise DataError(f"{where}: known is {known!r}, must be a list of texts")
    die = tuple(table.numbers("die", 6, range(10))) if "die" in record else ()
    return Monster(
        name=table.text("name"),
        mob=mob,
        provenance=table.provenance(),
        known=tuple(known),
        attack=table.word("attack", ("strike", "shoot")),
        energy=table.number("energy", range(1, 30)),
        damage=table.number("damage", range(10)),
        move=table.number("move", range(1, 7)),
        die=die,
        slot2=check_bonuses(record.get("slot2", {}), f"{where}.slot2", PASSIVES),
        slot3=check_bonuses(record.get("slot3", {}), f"{where}.slot3", PASSIVES),
        cards=tuple(_read_deck(table, die=bool(die)) + _push_cards(shared)),
    )


def _read_deck(monster: TomlTable, *, die: bool) -> list[Card]:
    """The cards of a monster's abilities, the ultimate first."""
    where, abilities = monster.where, monster.get("ability", list)
    ultimates = [ability for ability in abilities if isinstance(ability, dict) and ability.get("ultimate")]
    if len(abilities) != 4 or len(ultimates) != 1:
        raise DataError(
            f"{where}: {len(abilities)} abilities with {len(ultimates)} ultimates, must be 4 with 1 (rule 2)"
        )
    if not all(isinstance(ability, dict) for ability in abilities):
        raise DataError(f"{where}: ability must be [[monster.ability]] records")
    cards: list[Card] = []
    for i, ability in enumerate(sorted(abilities, key=lambda ability: not ability.get("ultimate"))):
        cards += _read_ability(ability, f"{where}.ability {ability.get('name', i)!r}", die=die)
    require_distinct(where, "abilities", [*(ability["name"] for ability in abilities), PUSH_SWAP])
    return cards


def _read_ability(ability: dict[str, Any], where: str, *, die: bool) -> list[Card]:
    """The cards of an ability: one of the ultimate, three copies of the others, which differ in their munch effects."""
    table = TomlTable(ability, where, {"name", "ultimate", "cost", "trigger", "scope", "reactions", "effects", "munch"})
    ultimate = table.get("ultimate", bool, False)
    trigger = table.word("trigger", TRIGGERS, "")
    for key in ("scope", "reactions"):
        if key in ability and not trigger:
            raise DataError(f"{where}: {key} is for instants, but there is no trigger")
    if trigger not in ("attacked", "hurt") and ability.get("scope") == "mob":
        raise DataError(f"{where}: scope 'mob' is possible with the triggers attacked and hurt only")
    munches = table.get("munch", list)
    if len(munches) != (1 if ultimate else 3):
        raise DataError(f"{where}: {len(munches)} munch effects, must be {1 if ultimate else 3}: one a copy")
    effects = check_effects(table.get("effects", list), f"{where}.effects", trigger=trigger, die=die)
    name = table.text("name")
    return [
        Card(
            label=name if ultimate else f"{name}/{copy + 1}",
            ability=name,
            cost=table.number("cost", range(10)),
            ultimate=ultimate,
            trigger=trigger,
            scope=table.word("scope", SCOPES, "self"),
            reactions=table.number("reactions", range(2), 0),
            effects=effects,
            munch=_read_munch(munch, f"{where}.munch[{copy}]", die=die),
        )
        for copy, munch in enumerate(munches)
    ]


def _push_cards(shared: _Common) -> list[Card]:
    """The Push/Swap cards, alike in every deck (Q75)."""
    push: Effect = {"do": "push", "kind": "strike", "target": "any"}
    return [
        Card(
            label=f"{PUSH_SWAP}/{copy + 1}",
            ability=PUSH_SWAP,
            cost=shared.push_cost,
            ultimate=False,
            trigger="",
            scope="self",
            reactions=0,
            effects=(push,),
            munch=munch,
            swap_cost=shared.costs["swap"],
        )
        for copy, munch in enumerate(shared.munches)
    ]


def _read_munch(content: Any, where: str, *, die: bool) -> Munch:
    """What eating a card does: once, or for as long as it is in a slot."""
    table = TomlTable(content, where, {"cost", "once", "keep", "lock", "form"})
    once = check_effects(content["once"], f"{where}.once", die=die) if "once" in content else ()
    keep = check_bonuses(content["keep"], f"{where}.keep", PASSIVES) if "keep" in content else {}
    if bool(once) == bool(keep):
        raise DataError(f"{where}: exactly one of 'once' and 'keep' must be given")
    for key in ("lock", "form"):
        if once and key in content:
            raise DataError(f"{where}: {key} is for cards in a slot ('keep'), a one-time effect leaves the game")
    return Munch(
        cost=table.number("cost", range(10)),
        once=once,
        keep=keep,
        lock=table.get("lock", bool, False),
        form=table.text("form") if "form" in content else "",
    )


# ---- the other files -----------------------------------------------------------------------------


def _read_favors(path: Path) -> tuple[Favor, ...]:
    """The favor cards, by value."""
    favors = []
    for i, record in enumerate(only_records(path, "favor")):
        where = f"{path}: favor[{i}]"
        table = TomlTable(record, where, {"value", "provenance", "take_back", "options"})
        options = []
        for k, content in enumerate(table.get("options", list)):
            option = TomlTable(content, f"{where}.options[{k}]", {"name", "effects"})
            effects = check_effects(option.get("effects", list), f"{option.where}.effects", favor=True)
            options.append(Option(option.text("name"), effects))
        if table.get("value", int) != i or not 1 <= len(options) <= 4:
            raise DataError(f"{where}: favor cards are listed by value 0 to 4, each with 1 to 4 options")
        require_distinct(where, "options", [option.name for option in options])
        favors.append(Favor(i, table.provenance(), table.get("take_back", bool, False), tuple(options)))
    if len(favors) != 5:
        raise DataError(f"{path}: {len(favors)} favor cards, must be 5 (rule 3)")
    if not any(favor.take_back for favor in favors):
        raise DataError(f"{path}: no card has take_back = true: after five rounds no one would have a favor card")
    return tuple(favors)


def _read_time(path: Path) -> tuple[tuple[TimeTile, ...], dict[str, tuple[int, int, int]], dict[int, int]]:
    """The time tiles, the tiles of each level by length, the spaces of the track by player number."""
    content = load_toml(path)
    top = TomlTable(content, str(path), {"tile", "stack", "track"})
    tiles = []
    for i, record in enumerate(records_of(path, content, "tile")):
        where = f"{path}: tile[{i}]"
        table = TomlTable(record, where, {"name", "level", "provenance", "while_visible"})
        effects = check_bonuses(table.get("while_visible", dict), f"{where}.while_visible", GLOBALS)
        tiles.append(TimeTile(table.text("name"), table.number("level", range(1, 4)), table.provenance(), effects))
    if len(tiles) > 16:
        raise DataError(f"{path}: {len(tiles)} time tiles, at most 16 are allowed")
    require_distinct(str(path), "time tiles", [tile.name for tile in tiles])
    stacks = TomlTable(top.get("stack", dict), f"{path}: stack", {"provenance", "short", "medium", "long"})
    stacks.provenance()
    stack: dict[str, tuple[int, int, int]] = {}
    for name in ("short", "medium", "long"):
        first, second, third = stacks.numbers(name, 3, range(17))
        stack[name] = first, second, third
        if not sum(stack[name]):
            raise DataError(f"{path}: stack.{name} is {list(stack[name])}, must hold at least one tile")
        for level, count in enumerate(stack[name], 1):
            if count > sum(tile.level == level for tile in tiles):
                raise DataError(f"{path}: stack.{name} needs {count} tiles of level {level}, there are fewer")
    track = TomlTable(
        top.get("track", dict), f"{path}: track", {"provenance", "spaces_2_3_players", "spaces_4_players"}
    )
    track.provenance()
    few, four = (track.number(f"spaces_{group}_players", range(2, 61)) for group in ("2_3", "4"))
    for count in (few, four):
        if count % 2:
            raise DataError(f"{path}: track has {count} spaces, must be even: 6 o'clock lies opposite 12 o'clock")
    return tuple(tiles), stack, {2: few, 3: few, 4: four}


def _read_shrines(path: Path) -> tuple[Shrine, ...]:
    """The shrine cards, in file order."""
    shrines = []
    for i, record in enumerate(only_records(path, "shrine")):
        where = f"{path}: shrine[{i}]"
        table = TomlTable(record, where, {"name", "provenance", "effects"})
        effects = check_effects(table.get("effects", list), f"{where}.effects")
        shrines.append(Shrine(table.text("name"), table.provenance(), effects))
    if len(shrines) != 4:
        raise DataError(f"{path}: {len(shrines)} shrine cards, must be 4 (rule 3)")
    require_distinct(str(path), "shrine cards", [shrine.name for shrine in shrines])
    return tuple(shrines)


_TILE_KINDS = ("empty", "water", "crystal")


def _read_tiles(path: Path) -> tuple[tuple[Pattern, ...], dict[int, dict[str, int]]]:
    """The patterns of modifiable tiles, and how many of each kind are used by player number."""
    content = load_toml(path)
    top = TomlTable(content, str(path), {"stock", "used", "pattern"})
    patterns = []
    for i, record in enumerate(records_of(path, content, "pattern")):
        where = f"{path}: pattern[{i}]"
        table = TomlTable(record, where, {"name", "kind", "count", "provenance", "edges"})
        kind = table.word("kind", _TILE_KINDS)
        edges = tuple(table.get("edges", list))
        if any(type(side) is not int or not 0 <= side < 6 for side in edges) or len(set(edges)) != len(edges):
            raise DataError(f"{where}: edges is {list(edges)!r}, must be different sides 0 to 5")
        if (kind == "empty") != (not edges):
            raise DataError(f"{where}: a tile has edges exactly when it is not empty")
        patterns.append(
            Pattern(table.text("name"), kind, table.number("count", range(1, 33)), table.provenance(), edges)
        )
    if len(patterns) > 8:
        raise DataError(f"{path}: {len(patterns)} patterns, at most 8 are allowed")
    require_distinct(str(path), "patterns", [pattern.name for pattern in patterns])
    counted = {kind: sum(pattern.count for pattern in patterns if pattern.kind == kind) for kind in _TILE_KINDS}
    if not counted["empty"]:
        raise DataError(f"{path}: there is no pattern of the kind empty")
    stock = TomlTable(top.get("stock", dict), f"{path}: stock", {"provenance", *_TILE_KINDS})
    stock.provenance()
    for kind, count in counted.items():
        if stock.number(kind, range(97)) != count:
            raise DataError(f"{path}: stock.{kind} is {stock.content[kind]}, the patterns' counts make {count}")
    tables = TomlTable(top.get("used", dict), f"{path}: used", {"provenance", "players_2", "players_3", "players_4"})
    tables.provenance()
    used = {}
    for players in (2, 3, 4):
        where = f"{path}: used.players_{players}"
        table = TomlTable(tables.get(f"players_{players}", dict), where, set(_TILE_KINDS))
        used[players] = {kind: table.number(kind, range(49)) for kind in _TILE_KINDS}
        for kind, count in used[players].items():
            if count > counted[kind]:
                raise DataError(f"{where} needs {count} {kind} tiles, the stock has {counted[kind]} (Q17)")
    return tuple(patterns), used
