"""Reading the game's content: monsters, cards, favor cards, time tiles, shrines, hex tiles.

Effects are data. `VOCABULARY` lists every effect with the keys it takes; `PASSIVES` every lasting
bonus. README.md explains them. What is read here is checked against both, turned into flat
records, and compiled by rules.pyx into the tables the engine runs.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from engine_ext.errors import DataError
from games.quarz.board import Board, read_boards

DATA = Path(__file__).resolve().parent / "data"
PROVENANCES = ("rulebook", "sourced", "reconstructed")
CARDS = 13  # of one monster (rules 1 and 2): the ultimate, 3 abilities x 3 copies, 3 Push/Swap
PUSH_SWAP = "Push/Swap"

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


@dataclass(frozen=True)
class Munch:
    """A card's munch effect: `once` runs at once, `keep` lasts while the card is in a slot."""

    cost: int
    once: tuple[Effect, ...] = ()
    keep: Mapping[str, Any] = field(default_factory=dict)
    lock: bool = False
    form: str = ""


@dataclass(frozen=True)
class Card:
    """One physical card.

    Attributes:
        label: unique in its deck: the ability's name, then "/1" to "/3" where it has copies.
        ability: the ability's name.
        cost: energy to play; for Push/Swap the cost of the push.
        ultimate: whether it starts under the third slot.
        trigger: "" for an ability that is an action, else when it may be played at once.
        scope: whose attack or hurt triggers it: the monster's own or any of its mob's.
        reactions: reaction tokens it takes.
        effects: what playing it does, in order.
        munch: what eating it does.
    """

    label: str
    ability: str
    cost: int
    ultimate: bool
    trigger: str
    scope: str
    reactions: int
    effects: tuple[Effect, ...]
    munch: Munch


@dataclass(frozen=True)
class Monster:
    """One monster: its tableau and its 13 cards (card 0 is the ultimate, 10 to 12 Push/Swap)."""

    name: str
    mob: str
    provenance: str
    known: tuple[str, ...]
    attack: str
    energy: int
    damage: int
    move: int
    die: tuple[int, ...]
    slot2: Mapping[str, Any]
    slot3: Mapping[str, Any]
    cards: tuple[Card, ...]

    def card_number(self, label: str) -> int:
        """The place of the card with this label in the deck; ValueError if there is none."""
        return [card.label for card in self.cards].index(label)


@dataclass(frozen=True)
class Option:
    """One favor action to choose."""

    name: str
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class Favor:
    """One favor card."""

    value: int
    provenance: str
    take_back: bool
    options: tuple[Option, ...]


@dataclass(frozen=True)
class TimeTile:
    """One time tile."""

    name: str
    level: int
    provenance: str
    while_visible: Mapping[str, Any]


@dataclass(frozen=True)
class Shrine:
    """One shrine card."""

    name: str
    provenance: str
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class Pattern:
    """One kind of modifiable hex tile; `edges` are its sides with an obstacle, unturned."""

    name: str
    kind: str
    count: int
    provenance: str
    edges: tuple[int, ...]

    @property
    def period(self) -> int:
        """Number of orientations that differ."""
        for turn in (1, 2, 3):
            if {(side + turn) % 6 for side in self.edges} == set(self.edges):
                return turn
        return 6


@dataclass(frozen=True)
class Content:
    """Everything the data files hold.

    Attributes:
        digest: SHA-256 hex of all the files.
        used: players -> kind -> number of tiles used.
        spaces: players -> spaces of the time track.
        stack: length -> tiles of level 1, 2, 3.
        costs, limits: the figures of common.toml.
    """

    folder: Path
    digest: str
    mobs: tuple[str, ...]
    mob_provenance: tuple[str, ...]
    monsters: tuple[Monster, ...]
    favors: tuple[Favor, ...]
    time_tiles: tuple[TimeTile, ...]
    shrines: tuple[Shrine, ...]
    patterns: tuple[Pattern, ...]
    used: Mapping[int, Mapping[str, int]]
    spaces: Mapping[int, int]
    stack: Mapping[str, tuple[int, int, int]]
    costs: Mapping[str, Any]
    limits: Mapping[str, Any]
    extra_actions: int
    push_provenance: str
    boards: Mapping[str, Board]


# ---- checked reading ---------------------------------------------------------------------------


class _Table:
    """A TOML table that knows where it stands and complains by name."""

    def __init__(self, content: Any, where: str, allowed: set[str]) -> None:
        if not isinstance(content, dict):
            raise DataError(f"{where} must be a table, not {content!r}")
        for key in content:
            if key not in allowed:
                raise DataError(f"{where}: unknown key {key!r}; allowed: {', '.join(sorted(allowed))}")
        self.content, self.where = content, where

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        if key not in self.content:
            if default is None:
                raise DataError(f"{self.where}: the key {key!r} is missing")
            return default
        value = self.content[key]
        if type(value) is not kind:
            raise DataError(f"{self.where}: {key} is {value!r}, must be {kind.__name__}")
        return value

    def number(self, key: str, allowed: range, default: int | None = None) -> int:
        value = self.get(key, int, default)
        if value not in allowed:
            raise DataError(f"{self.where}: {key} is {value}, allowed are {allowed.start} to {allowed.stop - 1}")
        return int(value)

    def word(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        value = self.get(key, str, default)
        if value not in allowed:
            raise DataError(f"{self.where}: {key} is {value!r}, allowed are {', '.join(map(repr, allowed))}")
        return str(value)


def _bonuses(content: Any, where: str, allowed: Mapping[str, Any]) -> dict[str, Any]:
    table = _Table(content, where, set(allowed))
    for key, rule in allowed.items():
        if key in table.content:
            if rule is bool:
                table.get(key, bool)
            else:
                table.number(key, rule)
    return dict(table.content)


def _effects(
    content: Any, where: str, *, trigger: str = "", favor: bool = False, die: bool = False
) -> tuple[Effect, ...]:
    if not isinstance(content, list) or not content:
        raise DataError(f"{where} must be a list of at least one effect")
    made: list[Effect] = []
    rolled = False
    for i, record in enumerate(content):
        here = f"{where}[{i}]"
        do = str(record.get("do")) if isinstance(record, dict) else ""
        if do not in VOCABULARY:
            raise DataError(f"{here}: do is {do!r}, no effect is called that; there are: {', '.join(VOCABULARY)}")
        keys = VOCABULARY[do]
        table = _Table(record, here, {"do", *keys})
        effect: dict[str, Any] = {"do": do}
        for key, rule in keys.items():
            if key not in record and key in OPTIONAL:
                continue
            if rule is bool:
                effect[key] = table.get(key, bool)
            elif isinstance(rule, range):
                if record.get(key) == "die" and do in DIE:
                    if not rolled:
                        raise DataError(f"{here}: {key} is 'die', but no 'roll' stands before it")
                    effect[key] = "die"
                else:
                    effect[key] = table.number(key, rule)
            else:
                effect[key] = table.word(key, rule)
        if effect.get("kind") == "context" and trigger not in ("attacked", "hurt", "arrived"):
            raise DataError(f"{here}: kind 'context' means the monster that set off an instant; this is none")
        if "target" in keys and "target" not in effect and effect.get("kind") != "context":
            raise DataError(f"{here}: the key 'target' is missing")
        if do in INSTANT_ONLY and trigger != "attacked":
            raise DataError(f"{here}: {do} is possible with trigger = 'attacked' only")
        if do in FAVOR_ONLY and not favor:
            raise DataError(f"{here}: {do} is possible on favor cards only")
        chosen = not favor or any(earlier["do"] == "choose_own" for earlier in made)
        if not chosen and do not in NEEDS_NO_MONSTER and effect.get("who") not in ("friend", "all"):
            raise DataError(f"{here}: {do} needs a monster: a 'choose_own' must stand before it")
        if do == "roll":
            if not die:
                raise DataError(f"{here}: the monster has no die to roll")
            rolled = True
        made.append(effect)
    return tuple(made)


def _munch(content: Any, where: str, *, die: bool) -> Munch:
    table = _Table(content, where, {"cost", "once", "keep", "lock", "form"})
    once = _effects(content["once"], f"{where}.once", die=die) if "once" in content else ()
    keep = _bonuses(content["keep"], f"{where}.keep", PASSIVES) if "keep" in content else {}
    if bool(once) == bool(keep):
        raise DataError(f"{where}: exactly one of 'once' and 'keep' must be given")
    return Munch(
        cost=table.number("cost", range(10)),
        once=once,
        keep=keep,
        lock=table.get("lock", bool, False),
        form=str(content.get("form", "")),
    )


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"{path}: {error}") from error


def _records(path: Path, content: dict[str, Any], key: str) -> list[Any]:
    records = content.get(key)
    if not isinstance(records, list) or not records:
        raise DataError(f"{path}: must hold [[{key}]] records")
    return records


def _monster(record: Any, where: str, mob: str, common: tuple[Munch, ...], costs: tuple[int, int]) -> Monster:
    tokens = {"shield_tokens", "frosting_tokens", "poison_tokens", "trap_tokens"}
    fields = {"name", "provenance", "known", "attack", "energy", "damage", "move", "die", "slot2", "slot3", "ability"}
    table = _Table(record, where, fields | tokens)
    die = tuple(record.get("die", ()))
    if die and (len(die) != 6 or any(type(face) is not int or not 0 <= face <= 9 for face in die)):
        raise DataError(f"{where}: die is {list(die)!r}, must be six ints of 0 to 9")
    abilities = table.get("ability", list)
    ultimates = [a for a in abilities if isinstance(a, dict) and a.get("ultimate")]
    if len(abilities) != 4 or len(ultimates) != 1:
        raise DataError(
            f"{where}: {len(abilities)} abilities with {len(ultimates)} ultimates, must be 4 with 1 (rule 2)"
        )
    cards: list[Card] = []
    for i, ability in enumerate(sorted(abilities, key=lambda a: not a.get("ultimate"))):
        here = f"{where}.ability {ability.get('name', i)!r}"
        keys = {"name", "ultimate", "cost", "trigger", "scope", "reactions", "effects", "munch"}
        card = _Table(ability, here, keys)
        ultimate = card.get("ultimate", bool, False)
        trigger = card.word("trigger", TRIGGERS, "")
        munches = card.get("munch", list)
        if len(munches) != (1 if ultimate else 3):
            raise DataError(f"{here}: {len(munches)} munch effects, must be {1 if ultimate else 3}: one a copy")
        effects = _effects(card.get("effects", list), f"{here}.effects", trigger=trigger, die=bool(die))
        name = card.get("name", str)
        for copy, munch in enumerate(munches):
            cards.append(
                Card(
                    label=name if ultimate else f"{name}/{copy + 1}",
                    ability=name,
                    cost=card.number("cost", range(10)),
                    ultimate=ultimate,
                    trigger=trigger,
                    scope=card.word("scope", SCOPES, "self"),
                    reactions=card.number("reactions", range(2), 0),
                    effects=effects,
                    munch=_munch(munch, f"{here}.munch[{copy}]", die=bool(die)),
                )
            )
    for copy, munch in enumerate(common):
        push: tuple[Effect, ...] = ({"do": "push", "kind": "strike", "target": "any"},)
        label = f"{PUSH_SWAP}/{copy + 1}"
        cards.append(Card(label, PUSH_SWAP, costs[0], False, "", "self", 0, push, munch))
    return Monster(
        name=table.get("name", str),
        mob=mob,
        provenance=table.word("provenance", PROVENANCES),
        known=tuple(table.get("known", list, [])) if record.get("known") else (),
        attack=table.word("attack", ("strike", "shoot")),
        energy=table.number("energy", range(1, 30)),
        damage=table.number("damage", range(10)),
        move=table.number("move", range(1, 7)),
        die=die,
        slot2=_bonuses(record.get("slot2", {}), f"{where}.slot2", PASSIVES),
        slot3=_bonuses(record.get("slot3", {}), f"{where}.slot3", PASSIVES),
        cards=tuple(cards),
    )


@cache
def read_content(folder: Path = DATA) -> Content:
    """Read and check all data files of a folder; a folder of a user's own may leave files out,
    which are then taken from the game's.

    Raises:
        DataError: naming file, record and key.
    """
    files: dict[str, Path] = {}
    for base in (DATA, folder):
        if not base.is_dir():
            raise DataError(f"{base}: no such folder of data files")
        found = {str(path.relative_to(base)): path for path in sorted(base.rglob("*.toml"))}
        if base != DATA and any(name.startswith("mobs/") for name in found):
            files = {name: path for name, path in files.items() if not name.startswith("mobs/")}
        files |= found
    hasher = hashlib.sha256()
    for name in sorted(files):
        hasher.update(name.encode() + b"\0" + files[name].read_bytes() + b"\0")

    path = files["common.toml"]
    common = _load(path)
    push = common["push_swap"]
    munches = tuple(_munch(m, f"{path}: push_swap.munch[{i}]", die=False) for i, m in enumerate(push["munch"]))
    if len(munches) != 3:
        raise DataError(f"{path}: push_swap.munch has {len(munches)} entries, must be 3 (rule 2)")
    swap_costs = (int(push["push_cost"]), int(push["swap_cost"]))

    mobs, mob_provenance, monsters = [], [], []
    for name in sorted(name for name in files if name.startswith("mobs/")):
        path = files[name]
        content = _load(path)
        table = _Table(content, str(path), {"mob", "provenance", "monster"})
        records = _records(path, content, "monster")
        if len(records) != 4:
            raise DataError(f"{path}: {len(records)} monsters, a mob has 4 (rule 1)")
        mobs.append(table.get("mob", str))
        mob_provenance.append(table.word("provenance", PROVENANCES))
        for i, record in enumerate(records):
            monsters.append(_monster(record, f"{path}: monster[{i}]", mobs[-1], munches, swap_costs))
    if len(mobs) != 4:
        raise DataError(f"{folder}: {len(mobs)} files under mobs/, must be 4: one a mob (rule 1)")
    names = [monster.name for monster in monsters]
    if len(set(names)) != len(names):
        raise DataError(f"{folder}: two monsters share a name")

    path = files["favor.toml"]
    favors = []
    for i, record in enumerate(_records(path, _load(path), "favor")):
        where = f"{path}: favor[{i}]"
        table = _Table(record, where, {"value", "provenance", "take_back", "options"})
        options = tuple(
            Option(option["name"], _effects(option["effects"], f"{where}.options[{k}].effects", favor=True))
            for k, option in enumerate(table.get("options", list))
        )
        if table.get("value", int) != i or not 1 <= len(options) <= 4:
            raise DataError(f"{where}: favor cards are listed by value 0 to 4, each with 1 to 4 options")
        favors.append(Favor(i, table.word("provenance", PROVENANCES), table.get("take_back", bool, False), options))
    if len(favors) != 5:
        raise DataError(f"{path}: {len(favors)} favor cards, must be 5 (rule 3)")

    path = files["time.toml"]
    content = _load(path)
    tiles = []
    for i, record in enumerate(_records(path, content, "tile")):
        where = f"{path}: tile[{i}]"
        table = _Table(record, where, {"name", "level", "provenance", "while_visible"})
        effects = _bonuses(table.get("while_visible", dict), f"{where}.while_visible", GLOBALS)
        provenance = table.word("provenance", PROVENANCES)
        tiles.append(TimeTile(table.get("name", str), table.number("level", range(1, 4)), provenance, effects))
    stack = {name: tuple(content["stack"][name]) for name in ("short", "medium", "long")}
    for name, counts in stack.items():
        for level, count in enumerate(counts, 1):
            if count > sum(tile.level == level for tile in tiles):
                raise DataError(f"{path}: stack.{name} needs {count} tiles of level {level}, there are fewer")
    if len(tiles) > 16:
        raise DataError(f"{path}: {len(tiles)} time tiles, at most 16 are allowed")
    track = content["track"]
    spaces = {2: track["spaces_2_3_players"], 3: track["spaces_2_3_players"], 4: track["spaces_4_players"]}
    for players, count in spaces.items():
        if type(count) is not int or count % 2 or not 2 <= count <= 60:
            raise DataError(f"{path}: track: {count!r} spaces for {players} players, must be an even int of 2 to 60")

    path = files["shrines.toml"]
    shrines = []
    for i, record in enumerate(_records(path, _load(path), "shrine")):
        where = f"{path}: shrine[{i}]"
        table = _Table(record, where, {"name", "provenance", "effects"})
        effects_of = _effects(table.get("effects", list), f"{where}.effects")
        shrines.append(Shrine(table.get("name", str), table.word("provenance", PROVENANCES), effects_of))
    if len(shrines) != 4:
        raise DataError(f"{path}: {len(shrines)} shrine cards, must be 4 (rule 3)")

    path = files["tiles.toml"]
    content = _load(path)
    patterns = []
    for i, record in enumerate(_records(path, content, "pattern")):
        where = f"{path}: pattern[{i}]"
        table = _Table(record, where, {"name", "kind", "count", "provenance", "edges"})
        kind = table.word("kind", ("empty", "water", "crystal"))
        edges = tuple(table.get("edges", list, []) if record.get("edges") else ())
        if len(set(edges)) != len(edges) or any(type(side) is not int or not 0 <= side < 6 for side in edges):
            raise DataError(f"{where}: edges is {list(edges)!r}, must be different sides 0 to 5")
        if (kind == "empty") != (not edges):
            raise DataError(f"{where}: a tile has edges exactly when it is not empty")
        count = table.number("count", range(1, 33))
        patterns.append(Pattern(table.get("name", str), kind, count, table.word("provenance", PROVENANCES), edges))
    if len(patterns) > 8:
        raise DataError(f"{path}: {len(patterns)} patterns, at most 8 are allowed")
    used = {players: dict(content["used"][f"players_{players}"]) for players in (2, 3, 4)}
    for players, counts_by_kind in used.items():
        for kind, count in counts_by_kind.items():
            if count > sum(pattern.count for pattern in patterns if pattern.kind == kind):
                raise DataError(f"{path}: used.players_{players} needs {count} {kind} tiles, the stock has fewer (Q17)")

    limits = dict(common["limits"])
    costs = dict(common["costs"]) | {"swap": swap_costs[1]}
    return Content(
        folder=folder,
        digest=hasher.hexdigest(),
        mobs=tuple(mobs),
        mob_provenance=tuple(mob_provenance),
        monsters=tuple(monsters),
        favors=tuple(favors),
        time_tiles=tuple(tiles),
        shrines=tuple(shrines),
        patterns=tuple(patterns),
        used=used,
        spaces=spaces,
        stack=stack,
        costs=costs,
        limits=limits,
        extra_actions=int(common["engine_limits"]["extra_actions"]),
        push_provenance=push["provenance"],
        boards=read_boards(files["boards.toml"]),
    )


# ---- words for people ----------------------------------------------------------------------------


def describe_effect(effect: Effect) -> str:
    """One effect in words."""
    do = effect["do"]
    words = [do.replace("_", " ")]
    if "amount" in effect:
        words.append(str(effect["amount"]))
    if "count" in effect:
        words.append(str(effect["count"]))
    if effect.get("kind"):
        words.append({"context": "at its cause", "plain": "in sight"}.get(effect["kind"], effect["kind"]))
    words += [effect[key] for key in ("target", "who") if effect.get(key)]
    words += [key for key in ("swim", "climb") if effect.get(key)]
    if effect.get("carry"):
        words.append(f"with the idol {effect['carry']}")
    return " ".join(words)


def describe_bonus(bonus: Mapping[str, Any]) -> str:
    """A lasting bonus in words."""
    parts = [key.replace("_", " ") if value is True else f"{value:+d} {key}" for key, value in bonus.items()]
    return ", ".join(parts) or "none"


def describe_card(card: Card) -> str:
    """A card in one line: cost, effects, munch."""
    effects = "; ".join(describe_effect(effect) for effect in card.effects)
    munch = card.munch
    eaten = "; ".join(describe_effect(effect) for effect in munch.once) or describe_bonus(munch.keep)
    when = f" [{card.trigger}, {card.scope}, {card.reactions} reaction]" if card.trigger else ""
    tail = f" -> {munch.form}" if munch.form else ""
    return f"{card.label} ({card.cost}){when}: {effects} | munch ({munch.cost}): {eaten}{tail}"


def records(content: Content) -> list[dict[str, str]]:
    """Every data record with its kind, name and provenance."""
    found = [
        {"kind": "mob", "name": name, "provenance": provenance}
        for name, provenance in zip(content.mobs, content.mob_provenance, strict=True)
    ]
    for monster in content.monsters:
        found.append({"kind": "monster", "name": monster.name, "provenance": monster.provenance})
        for card in monster.cards:
            provenance = content.push_provenance if card.ability == PUSH_SWAP else "reconstructed"
            found.append({"kind": "card", "name": f"{monster.name}: {card.label}", "provenance": provenance})
    kinds: tuple[tuple[str, Any], ...] = (
        ("time tile", content.time_tiles),
        ("shrine", content.shrines),
        ("tile pattern", content.patterns),
        ("board", content.boards.values()),
    )
    for kind, items in kinds:
        found += [{"kind": kind, "name": item.name, "provenance": item.provenance} for item in items]
    found += [{"kind": "favor card", "name": str(card.value), "provenance": card.provenance} for card in content.favors]
    return found
