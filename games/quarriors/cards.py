"""The sets in memory: dice, their faces, and power cards, as printed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
FLAVOURS = ("normal", "light", "dark")
KINDS = ("basic", "assistant", "creature", "spell", "large")
FACES = 6


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

    @property
    def numbers(self) -> str:
        """Attack and defence in short: `3/2`; `?/?` where the card says what they are."""
        return f"{self.attack}/{self.defense}" if self.attack or self.defense else "?/?"


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
    """A power card. `cost` and `glory` in points; `discounted` is the cost itself where there is no discount.
    `reconstructed` names the keys that are, where the provenance says that some are."""

    name: str
    die: str
    version: str
    cost: int
    discounted: int
    glory: int
    effects: tuple[Mapping[str, Any], ...]
    anchored: Mapping[str, Any] | None
    provenance: str
    reconstructed: tuple[str, ...]
    source: tuple[str, ...]
    note: str
    set: str


@dataclass(frozen=True)
class CardSet:
    """What one or several files hold, by name and in file order, with the digest of their bytes."""

    dice: Mapping[str, Die]
    cards: Mapping[str, Card]
    digest: str


def large_card(die: Die) -> Card:
    """The card that large Quiddity dice do not have: no cost, no effect, never in the Wilds."""
    return Card(die.name, die.name, "", 0, 0, 0, (), None, die.provenance, (), die.source, "", "")


def restrict(sets: CardSet, names: Iterable[str]) -> CardSet:
    """The same set with these cards only (dice stay)."""
    keep = set(names)
    return replace(sets, cards={name: card for name, card in sets.cards.items() if name in keep})
