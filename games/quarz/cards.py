"""The content in memory: monsters and their cards, favor cards, time tiles, shrines, hex tiles, as printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from games.quarz.board import Board
from games.quarz.layouts import Layout
from games.quarz.vocabulary import Effect

DATA = Path(__file__).resolve().parent / "data"
CARDS = 13  # of one monster (rules 1 and 2): the ultimate, 3 abilities x 3 copies, 3 Push/Swap
PUSH_SWAP = "Push/Swap"


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
    push_munch_provenance: str
    boards: Mapping[str, Board]
    layouts: Mapping[str, Layout]


def card_provenance(content: Content, card: Card) -> str:
    """Where a card comes from: Push/Swap says so itself, all other cards are reconstructed."""
    return content.push_provenance if card.ability == PUSH_SWAP else "reconstructed"


def munch_provenance(content: Content, card: Card) -> str:
    """Where its munch effect comes from, which is another place with Push/Swap."""
    return content.push_munch_provenance if card.ability == PUSH_SWAP else "reconstructed"


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
