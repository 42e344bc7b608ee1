"""Reading the game's content: monsters, cards, favor cards, time tiles, shrines, hex tiles.

Effects are data. `VOCABULARY` lists every effect with the keys it takes; `PASSIVES` every lasting
bonus. README.md explains them. What is read here is checked against both, turned into flat
records, and compiled by rules.pyx into the tables the engine runs.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from engine_ext.errors import DataError, reason
from games.quarz.board import PROVENANCES, Board, read_boards
from games.quarz.layouts import Layout, read_layouts

DATA = Path(__file__).resolve().parent / "data"
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
        swap_cost: energy to play it as Swap instead; None for other cards than Push/Swap.
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
    swap_cost: int | None = None


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
    layouts: Mapping[str, Layout]


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
            raise DataError(f"{self.where}: {key} is {value!r}, must be of type {kind.__name__}")
        return value

    def text(self, key: str) -> str:
        """A text that is not empty."""
        value = self.get(key, str)
        if not value.strip():
            raise DataError(f"{self.where}: {key} is {value!r}, must be a text that is not empty")
        return str(value)

    def numbers(self, key: str, length: int, allowed: range) -> list[int]:
        """A list of so many ints."""
        value = self.get(key, list)
        if len(value) != length or any(type(part) is not int or part not in allowed for part in value):
            span = f"{allowed.start} to {allowed.stop - 1}"
            raise DataError(f"{self.where}: {key} is {value!r}, must be {length} ints of {span}")
        return list(value)

    def halves(self, key: str, most: int) -> float:
        """A number of halves from 0 on."""
        value: Any = self.content.get(key)
        if type(value) not in (int, float) or not 0 <= value <= most or 2 * value != int(2 * value):
            raise DataError(f"{self.where}: {key} is {value!r}, must be a multiple of 0.5 of 0 to {most}")
        return float(value)

    def provenance(self) -> str:
        return self.word("provenance", PROVENANCES)

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


def _distinct(where: str, kind: str, names: list[str]) -> None:
    double = [name for name in names if names.count(name) > 1]
    if double:
        raise DataError(f"{where}: two {kind} share the name {double[0]!r}")


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
    if made[-1]["do"] == "choose_own":
        raise DataError(f"{where}[{len(made) - 1}]: choose_own must be followed by an effect on the chosen monster")
    return tuple(made)


def _munch(content: Any, where: str, *, die: bool) -> Munch:
    table = _Table(content, where, {"cost", "once", "keep", "lock", "form"})
    once = _effects(content["once"], f"{where}.once", die=die) if "once" in content else ()
    keep = _bonuses(content["keep"], f"{where}.keep", PASSIVES) if "keep" in content else {}
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


def _load(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"{path}: {reason(error)}") from error


def _records(path: Path, content: dict[str, Any], key: str) -> list[Any]:
    records = content.get(key)
    if not isinstance(records, list) or not records:
        raise DataError(f"{path}: must hold [[{key}]] records")
    return records


def _only_records(path: Path, key: str) -> list[Any]:
    content = _load(path)
    _Table(content, str(path), {key})
    return _records(path, content, key)


def _monster(record: Any, where: str, mob: str, common: tuple[Munch, ...], costs: tuple[int, int]) -> Monster:
    tokens = {"shield_tokens", "frosting_tokens", "poison_tokens", "trap_tokens"}
    fields = {"name", "provenance", "known", "attack", "energy", "damage", "move", "die", "slot2", "slot3", "ability"}
    table = _Table(record, where, fields | tokens)
    for key in tokens & record.keys():
        table.number(key, range(1, 100))
    known = table.get("known", list, [])
    if any(type(word) is not str for word in known):
        raise DataError(f"{where}: known is {known!r}, must be a list of texts")
    die = tuple(table.numbers("die", 6, range(10))) if "die" in record else ()
    abilities = table.get("ability", list)
    ultimates = [a for a in abilities if isinstance(a, dict) and a.get("ultimate")]
    if len(abilities) != 4 or len(ultimates) != 1:
        raise DataError(
            f"{where}: {len(abilities)} abilities with {len(ultimates)} ultimates, must be 4 with 1 (rule 2)"
        )
    cards: list[Card] = []
    if not all(isinstance(ability, dict) for ability in abilities):
        raise DataError(f"{where}: ability must be [[monster.ability]] records")
    for i, ability in enumerate(sorted(abilities, key=lambda a: not a.get("ultimate"))):
        here = f"{where}.ability {ability.get('name', i)!r}"
        keys = {"name", "ultimate", "cost", "trigger", "scope", "reactions", "effects", "munch"}
        card = _Table(ability, here, keys)
        ultimate = card.get("ultimate", bool, False)
        trigger = card.word("trigger", TRIGGERS, "")
        for key in ("scope", "reactions"):
            if key in ability and not trigger:
                raise DataError(f"{here}: {key} is for instants, but there is no trigger")
        if trigger not in ("attacked", "hurt") and ability.get("scope") == "mob":
            raise DataError(f"{here}: scope 'mob' is possible with the triggers attacked and hurt only")
        munches = card.get("munch", list)
        if len(munches) != (1 if ultimate else 3):
            raise DataError(f"{here}: {len(munches)} munch effects, must be {1 if ultimate else 3}: one a copy")
        effects = _effects(card.get("effects", list), f"{here}.effects", trigger=trigger, die=bool(die))
        name = card.text("name")
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
        cards.append(Card(label, PUSH_SWAP, costs[0], False, "", "self", 0, push, munch, costs[1]))
    _distinct(where, "abilities", [*(ability["name"] for ability in abilities), PUSH_SWAP])
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
        slot2=_bonuses(record.get("slot2", {}), f"{where}.slot2", PASSIVES),
        slot3=_bonuses(record.get("slot3", {}), f"{where}.slot3", PASSIVES),
        cards=tuple(cards),
    )


@dataclass(frozen=True)
class _Common:
    """What common.toml holds."""

    push_cost: int
    push_provenance: str
    munches: tuple[Munch, ...]
    costs: Mapping[str, Any]
    limits: Mapping[str, Any]
    extra_actions: int


def _common(path: Path) -> _Common:
    content = _load(path)
    top = _Table(content, str(path), {"push_swap", "costs", "limits", "engine_limits", "box"})

    def part(key: str, allowed: set[str]) -> _Table:
        return _Table(top.get(key, dict), f"{path}: {key}", {"provenance", *allowed})

    push = part("push_swap", {"name", "push_cost", "swap_cost", "munch_provenance", "munch"})
    if push.text("name") != PUSH_SWAP:
        raise DataError(f"{path}: push_swap: name is {push.text('name')!r}, the card is called {PUSH_SWAP!r}")
    munches = push.get("munch", list)
    if len(munches) != 3:
        raise DataError(f"{path}: push_swap.munch has {len(munches)} entries, must be 3 (rule 2)")
    push.word("munch_provenance", PROVENANCES)
    costs = part("costs", {"move", "march", "draw", "shrine"})
    limits = part("limits", {*_LIMITS, "idol_points", "shrine_points"})
    engine = part("engine_limits", {"extra_actions"})
    for table in (push, costs, limits, engine):
        table.provenance()
    _box(part("box", {*_BOX, *_BOX_TABLES}))
    return _Common(
        push_cost=push.number("push_cost", range(10)),
        push_provenance=push.provenance(),
        munches=tuple(_munch(m, f"{path}: push_swap.munch[{i}]", die=False) for i, m in enumerate(munches)),
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


def _box(table: _Table) -> None:
    """The components are listed for people; only their form is checked."""
    table.provenance()
    for key in _BOX:
        table.number(key, range(1, 1000))
    for key in _BOX_TABLES:
        inner = table.get(key, dict)
        for name in inner:
            _Table(inner, f"{table.where}.{key}", set(inner)).number(name, range(1, 1000))


def _favors(path: Path) -> tuple[Favor, ...]:
    favors = []
    for i, record in enumerate(_only_records(path, "favor")):
        where = f"{path}: favor[{i}]"
        table = _Table(record, where, {"value", "provenance", "take_back", "options"})
        options = []
        for k, content in enumerate(table.get("options", list)):
            option = _Table(content, f"{where}.options[{k}]", {"name", "effects"})
            effects = _effects(option.get("effects", list), f"{option.where}.effects", favor=True)
            options.append(Option(option.text("name"), effects))
        if table.get("value", int) != i or not 1 <= len(options) <= 4:
            raise DataError(f"{where}: favor cards are listed by value 0 to 4, each with 1 to 4 options")
        _distinct(where, "options", [option.name for option in options])
        favors.append(Favor(i, table.provenance(), table.get("take_back", bool, False), tuple(options)))
    if len(favors) != 5:
        raise DataError(f"{path}: {len(favors)} favor cards, must be 5 (rule 3)")
    if not any(favor.take_back for favor in favors):
        raise DataError(f"{path}: no card has take_back = true: after five rounds no one would have a favor card")
    return tuple(favors)


def _time(path: Path) -> tuple[tuple[TimeTile, ...], dict[str, tuple[int, int, int]], dict[int, int]]:
    """The time tiles, the tiles of each level by length, the spaces of the track by player number."""
    content = _load(path)
    top = _Table(content, str(path), {"tile", "stack", "track"})
    tiles = []
    for i, record in enumerate(_records(path, content, "tile")):
        where = f"{path}: tile[{i}]"
        table = _Table(record, where, {"name", "level", "provenance", "while_visible"})
        effects = _bonuses(table.get("while_visible", dict), f"{where}.while_visible", GLOBALS)
        tiles.append(TimeTile(table.text("name"), table.number("level", range(1, 4)), table.provenance(), effects))
    if len(tiles) > 16:
        raise DataError(f"{path}: {len(tiles)} time tiles, at most 16 are allowed")
    _distinct(str(path), "time tiles", [tile.name for tile in tiles])
    stacks = _Table(top.get("stack", dict), f"{path}: stack", {"provenance", "short", "medium", "long"})
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
    track = _Table(top.get("track", dict), f"{path}: track", {"provenance", "spaces_2_3_players", "spaces_4_players"})
    track.provenance()
    few, four = (track.number(f"spaces_{group}_players", range(2, 61)) for group in ("2_3", "4"))
    for count in (few, four):
        if count % 2:
            raise DataError(f"{path}: track has {count} spaces, must be even: 6 o'clock lies opposite 12 o'clock")
    return tuple(tiles), stack, {2: few, 3: few, 4: four}


def _shrines(path: Path) -> tuple[Shrine, ...]:
    shrines = []
    for i, record in enumerate(_only_records(path, "shrine")):
        where = f"{path}: shrine[{i}]"
        table = _Table(record, where, {"name", "provenance", "effects"})
        effects = _effects(table.get("effects", list), f"{where}.effects")
        shrines.append(Shrine(table.text("name"), table.provenance(), effects))
    if len(shrines) != 4:
        raise DataError(f"{path}: {len(shrines)} shrine cards, must be 4 (rule 3)")
    _distinct(str(path), "shrine cards", [shrine.name for shrine in shrines])
    return tuple(shrines)


_TILE_KINDS = ("empty", "water", "crystal")


def _tiles(path: Path) -> tuple[tuple[Pattern, ...], dict[int, dict[str, int]]]:
    """The patterns of modifiable tiles, and how many of each kind are used by player number."""
    content = _load(path)
    top = _Table(content, str(path), {"stock", "used", "pattern"})
    patterns = []
    for i, record in enumerate(_records(path, content, "pattern")):
        where = f"{path}: pattern[{i}]"
        table = _Table(record, where, {"name", "kind", "count", "provenance", "edges"})
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
    _distinct(str(path), "patterns", [pattern.name for pattern in patterns])
    counted = {kind: sum(pattern.count for pattern in patterns if pattern.kind == kind) for kind in _TILE_KINDS}
    if not counted["empty"]:
        raise DataError(f"{path}: there is no pattern of the kind empty")
    stock = _Table(top.get("stock", dict), f"{path}: stock", {"provenance", *_TILE_KINDS})
    stock.provenance()
    for kind, count in counted.items():
        if stock.number(kind, range(97)) != count:
            raise DataError(f"{path}: stock.{kind} is {stock.content[kind]}, the patterns' counts make {count}")
    tables = _Table(top.get("used", dict), f"{path}: used", {"provenance", "players_2", "players_3", "players_4"})
    tables.provenance()
    used = {}
    for players in (2, 3, 4):
        where = f"{path}: used.players_{players}"
        table = _Table(tables.get(f"players_{players}", dict), where, set(_TILE_KINDS))
        used[players] = {kind: table.number(kind, range(49)) for kind in _TILE_KINDS}
        for kind, count in used[players].items():
            if count > counted[kind]:
                raise DataError(f"{where} needs {count} {kind} tiles, the stock has {counted[kind]} (Q17)")
    return tuple(patterns), used


def _files(folder: Path) -> dict[str, Path]:
    """The data files by name: the folder's, and for those it leaves out the game's."""
    files: dict[str, Path] = {}
    for base in (DATA, folder):
        if not base.is_dir():
            raise DataError(f"{base}: no such folder of data files")
        found = {path.relative_to(base).as_posix(): path for path in sorted(base.rglob("*.toml"))}
        known = f"{', '.join(sorted(name for name in files if '/' not in name))} and mobs/*.toml"
        for name in found:
            if base != DATA and name not in files and not (name.startswith("mobs/") and name.count("/") == 1):
                raise DataError(f"{found[name]}: no data file is called that; there are {known}")
        if not found:
            raise DataError(f"{base}: there are no data files; looked for {known}")
        if base != DATA and any(name.startswith("mobs/") for name in found):
            files = {name: path for name, path in files.items() if not name.startswith("mobs/")}
        if base != DATA and {"boards.toml", "tiles.toml"} & set(found):
            files.pop("layouts.toml", None)  # the game's layouts belong to its own boards and tiles
        files |= found
    return files


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
            raise DataError(f"{files[name]}: {error}") from error
    return _parse(folder, hasher.hexdigest())


@cache
def _parse(folder: Path, digest: str) -> Content:
    files = _files(folder)
    shared = _common(files["common.toml"])
    mobs, mob_provenance, monsters = [], [], []
    for name in sorted(name for name in files if name.startswith("mobs/")):
        path = files[name]
        content = _load(path)
        table = _Table(content, str(path), {"mob", "provenance", "monster"})
        records = _records(path, content, "monster")
        if len(records) != 4:
            raise DataError(f"{path}: {len(records)} monsters, a mob has 4 (rule 1)")
        mobs.append(table.text("mob"))
        mob_provenance.append(table.provenance())
        for i, record in enumerate(records):
            where = f"{path}: monster[{i}]"
            monsters.append(_monster(record, where, mobs[-1], shared.munches, (shared.push_cost, shared.costs["swap"])))
    if len(mobs) != 4:
        raise DataError(f"{folder}: {len(mobs)} files under mobs/, must be 4: one a mob (rule 1)")
    _distinct(str(folder), "mobs", mobs)
    _distinct(str(folder), "monsters", [monster.name for monster in monsters])
    tiles, stack, spaces = _time(files["time.toml"])
    patterns, used = _tiles(files["tiles.toml"])
    boards = read_boards(files["boards.toml"])
    return Content(
        folder=folder,
        digest=digest,
        mobs=tuple(mobs),
        mob_provenance=tuple(mob_provenance),
        monsters=tuple(monsters),
        favors=_favors(files["favor.toml"]),
        time_tiles=tiles,
        shrines=_shrines(files["shrines.toml"]),
        patterns=patterns,
        used=used,
        spaces=spaces,
        stack=stack,
        costs=shared.costs,
        limits=shared.limits,
        extra_actions=shared.extra_actions,
        push_provenance=shared.push_provenance,
        boards=boards,
        layouts=read_layouts(files["layouts.toml"], boards, patterns, used) if "layouts.toml" in files else {},
    )


# ---- words for people ----------------------------------------------------------------------------

_TOKEN_EFFECTS = {"stun", "poison", "frost"}
_POWERS = {
    "swim": "crosses water",
    "climb": "crosses crystal",
    "sharp_eyes": "shoots past crystal",
    "wall_step": "crosses one crystal wall beside a friend",
    "wall_shot": "shoots past crystal beside a friend",
    "living_shield": "takes damage for a friend beside it",
    "crystal_throw": "may throw the idol instead of pushing",
    "second_shrine": "may use a shrine a second time, or give that up to melt ice",
}
_FIGURES = {"damage": "damage", "move": "movement", "draw": "card a draw", "energy": "energy", "carry": "hex with idol"}
_GLOBALS = {
    "move": "movement {:+d}",
    "damage": "damage {:+d}",
    "draw": "cards a draw {:+d}",
    "carry": "steps with the idol {:+d}",
    "start_heal": "at the start of a turn its monsters recover {}",
    "idol_drain": "at the start of a turn the idol's carrier loses {}",
    "shrine_discount": "shrines cost {} less",
    "hand_limit": "hand limit {:+d}",
    "frozen_water": "water is frozen",
    "clear_sight": "crystal does not stop shots",
    "no_march": "no Mob March",
}


def _reach(effect: Effect) -> str:
    """Whom an effect may be aimed at: `an enemy in sight`."""
    if effect["kind"] == "context":
        return "the monster that set it off"
    whom = "an enemy" if effect.get("target") == "enemy" else "a monster"
    return f"{whom} beside it" if effect["kind"] == "strike" else f"{whom} in sight"


def _whom(effect: Effect) -> str:
    return {"self": "itself", "friend": "one of its mob", "all": "each of its mob"}[effect["who"]]


def describe_effect(effect: Effect) -> str:
    """One effect in words, the monster of the card being `it`."""
    do = effect["do"]
    amount = "as much as the die shows" if effect.get("amount") == "die" else effect.get("amount")
    if do == "damage":
        verb = {"strike": "strikes", "shoot": "shoots", "plain": "drains", "context": "hits"}[effect["kind"]]
        return f"{verb} {_reach(effect)} for {amount}"
    if do == "splash":
        return f"every {'enemy' if effect['target'] == 'enemy' else 'monster'} beside it loses {amount}"
    if do == "heal":
        return f"{'it' if effect['who'] == 'self' else _whom(effect)} recovers {amount}"
    if do in _TOKEN_EFFECTS:
        return f"puts {amount} {do} on {_reach(effect)}"
    if do == "shield":
        return f"puts {amount} shield on {_whom(effect)}"
    if do == "cleanse":
        return f"takes stun, poison and frost off {_whom(effect)}"
    if do == "draw":
        return f"draws {amount}"
    if do == "move":
        across = "".join(
            f", across {kind}" for key, kind in (("swim", "water"), ("climb", "crystal")) if effect.get(key)
        )
        idol = f" (with the idol {effect['carry']})" if effect.get("carry") else ""
        return f"{'moves' if effect['who'] == 'self' else 'moves one of its mob'} up to {amount}{idol}{across}"
    if do == "sap":
        return f"{_reach(effect)} loses {amount} hand card{'s' if amount != 1 else ''} by chance"
    if do == "rotate":
        return f"turns up to {effect['count']} free tiles" if effect["count"] > 1 else "turns a free tile"
    return {
        "push": f"pushes {_reach(effect)}" if do == "push" else "",
        "swap": f"changes places with {_reach(effect)}" if do == "swap" else "",
        "trap": f"lays a trap up to {amount} away",
        "jump": f"jumps to a free field up to {amount} away",
        "trade": "exchanges two free tiles",
        "swap_friends": "exchanges two of its mob",
        "move_any": f"moves any monster up to {amount}, across everything",
        "recover": "takes a card back from its discard",
        "boost": f"its attacks do {amount} more this turn",
        "attack": "attacks without cost",
        "extra": "one more action this turn",
        "roll": "rolls its die",
        "negate": "the attack fails",
        "reduce": f"the attack does {amount} less",
        "march": f"each of the mob moves up to {amount}",
        "choose_own": "choose a monster",
        "regenerate": "it regenerates",
    }[do]


def describe_effects(effects: Sequence[Effect]) -> str:
    """A list of effects in words."""
    return ", then ".join(describe_effect(effect) for effect in effects)


def describe_bonus(bonus: Mapping[str, Any]) -> str:
    """A lasting bonus in words."""
    parts = [_POWERS[key] if value is True else f"{value:+d} {_FIGURES[key]}" for key, value in bonus.items() if value]
    return ", ".join(parts) or "none"


def describe_time(tile: TimeTile) -> str:
    """What a time tile does while it lies open."""
    return ", ".join(_GLOBALS[key].format(value) for key, value in tile.while_visible.items()) or "nothing"


def describe_play(card: Card) -> str:
    """What playing a card does, with its condition."""
    when = {
        "": "",
        "attacked": "when attacked: ",
        "hurt": "when hurt: ",
        "arrived": "when an enemy comes beside it: ",
        "free": "at any time in its turn: ",
    }[card.trigger]
    return when + describe_effects(card.effects)


def describe_munch(card: Card) -> str:
    """What munching a card does."""
    if card.munch.once:
        return f"at once {describe_effects(card.munch.once)}"
    form = f" as {card.munch.form}" if card.munch.form else ""
    lock = ", never replaced" if card.munch.lock else ""
    return f"for good{form} {describe_bonus(card.munch.keep)}{lock}"


def describe_card(card: Card) -> str:
    """A card in one line: cost, effects, munch."""
    reactions = f" and {card.reactions} reaction" if card.reactions else ""
    munch = f"munched ({card.munch.cost} energy) {describe_munch(card)}"
    swap = "" if card.swap_cost is None else f", or ({card.swap_cost} energy) changes places with a monster beside it"
    return f"{card.label} ({card.cost} energy{reactions}) {describe_play(card)}{swap}; {munch}"


def card_provenance(content: Content, card: Card) -> str:
    """Where a card comes from: Push/Swap says so itself, all other cards are reconstructed."""
    return content.push_provenance if card.ability == PUSH_SWAP else "reconstructed"


def records(content: Content) -> list[dict[str, str]]:
    """Every data record with its kind, name and provenance."""
    found = [
        {"kind": "mob", "name": name, "provenance": provenance}
        for name, provenance in zip(content.mobs, content.mob_provenance, strict=True)
    ]
    for monster in content.monsters:
        found.append({"kind": "monster", "name": monster.name, "provenance": monster.provenance})
        for card in monster.cards:
            provenance = card_provenance(content, card)
            found.append({"kind": "card", "name": f"{monster.name}: {card.label}", "provenance": provenance})
    kinds: tuple[tuple[str, Any], ...] = (
        ("time tile", content.time_tiles),
        ("shrine", content.shrines),
        ("tile pattern", content.patterns),
        ("board", content.boards.values()),
        ("layout", content.layouts.values()),
    )
    for kind, items in kinds:
        found += [{"kind": kind, "name": item.name, "provenance": item.provenance} for item in items]
    found += [{"kind": "favor card", "name": str(card.value), "provenance": card.provenance} for card in content.favors]
    return found
