"""Decks: reading a deck file, and what a requirement asks of five dice.

A deck file is TOML, one table a card:

    [[card]]
    name = "Gargoyle"
    requires = ["SSMM"]         # alternatives; 1 to 6 are dice of that number, S a sun, M a moon
    symbol = "mirror"           # add | sub | addsub | reroll | mirror
    provenance = "reconstructed"

A deck has 1 to 64 cards. Cards with the same requirement and symbol are interchangeable.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from engine_ext.errors import DataError, reason
from engine_ext.files import decoded, read_file

DICE = 5
FACES = 6
DECK_LIMIT = 64
ALTERNATIVE_LIMIT = 8
SYMBOLS = ("add", "sub", "addsub", "reroll", "mirror")
PROVENANCES = ("sourced", "rulebook", "reconstructed")
NO_CARD = "no card "  # with a number, what actions call the cards that a deck of fewer than 64 lacks
DATA = Path(__file__).parent / "data"

_FIELDS = ("name", "requires", "symbol", "provenance", "source")


@dataclass(frozen=True)
class Requirement:
    """One lower part of a card.

    Attributes:
        numbers: how many dice of each number 1 to 6 it shows.
        suns: how many suns.
        moons: how many moons.
    """

    numbers: tuple[int, int, int, int, int, int]
    suns: int
    moons: int

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """Read the notation of deck files: `22`, `SSMM`, `1SS`.

        Raises:
            ValueError: an unknown sign, no sign, or more signs than dice.
        """
        signs = Counter(text)
        unknown = sorted(set(signs) - set("123456SM"))
        if unknown:
            raise ValueError(f"{unknown[0]!r} is no sign of a requirement; allowed are 1 to 6, S and M")
        if not 1 <= len(text) <= DICE:
            raise ValueError(f"it shows {len(text)} dice; allowed are 1 to {DICE}")
        one, two, three, four, five, six = (signs[face] for face in "123456")
        return cls((one, two, three, four, five, six), signs["S"], signs["M"])

    def __str__(self) -> str:
        """The notation, in the order numbers, suns, moons."""
        numbers = "".join(str(face + 1) * count for face, count in enumerate(self.numbers))
        return numbers + "S" * self.suns + "M" * self.moons

    def met_by(self, counts: npt.NDArray[np.uint8], *, distinct: bool) -> npt.NDArray[np.bool_]:
        """Which rolls meet it.

        Rule 32: there are a number v for the suns and a number w for the moons such that every
        number u shows on at least numbers(u) + suns [u = v] + moons [u = w] dice.

        Args:
            counts: [n, 6], dice that show each number.
            distinct: suns and moons, where a card has both, stand for different numbers (P1).

        Returns:
            [n], True where the roll meets the requirement.
        """
        met = np.zeros(len(counts), dtype=np.bool_)
        both = self.suns > 0 and self.moons > 0
        for sun in range(FACES):
            for moon in range(FACES):
                if distinct and both and sun == moon:
                    continue
                needed = np.array(self.numbers)
                needed[sun] += self.suns
                needed[moon] += self.moons
                met |= (counts >= needed).all(axis=1)
        return met


@dataclass(frozen=True)
class Card:
    """One card of a deck.

    Attributes:
        name: what it is called.
        requires: alternative requirements; meeting one beats the card (P4).
        symbol: what it does in the army, one of SYMBOLS.
        provenance: one of PROVENANCES.
        source: where its content was published; empty when reconstructed.
    """

    name: str
    requires: tuple[Requirement, ...]
    symbol: str
    provenance: str
    source: str = ""

    @property
    def twin_key(self) -> tuple[tuple[str, ...], str]:
        """Equal for interchangeable cards."""
        return tuple(sorted(str(part) for part in self.requires)), self.symbol

    def met_by(self, counts: npt.NDArray[np.uint8], *, distinct: bool) -> npt.NDArray[np.bool_]:
        """Which rolls beat the card; arguments as of `Requirement.met_by`."""
        return np.logical_or.reduce([part.met_by(counts, distinct=distinct) for part in self.requires])


@dataclass(frozen=True)
class Deck:
    """A deck as its file gives it.

    Attributes:
        cards: interchangeable cards stand together; kinds come in the order of their first card.
        digest: SHA-256 of the file, hex.
        path: the file.
    """

    cards: tuple[Card, ...]
    digest: str
    path: Path

    @property
    def kinds(self) -> list[tuple[Card, ...]]:
        """Interchangeable cards, a tuple a kind, in the order of `cards`."""
        groups: dict[tuple[tuple[str, ...], str], list[Card]] = {}
        for card in self.cards:
            groups.setdefault(card.twin_key, []).append(card)
        return [tuple(group) for group in groups.values()]


def deck_path(name: str) -> Path:
    """The file of a deck: a bare name is one of the decks shipped with the game, else a path.

    Raises:
        DataError: a bare name of no shipped deck.
    """
    if name.endswith(".toml") or "/" in name or "\\" in name:
        return Path(name)
    path = DATA / f"{name}.toml"
    if not path.is_file():
        shipped = ", ".join(sorted(found.stem for found in DATA.glob("*.toml")))
        raise DataError(f"pentaquest has no deck {name!r}; it has: {shipped}; a path ends in .toml")
    return path


def read_deck(name: str) -> Deck:
    """Read a shipped deck or a deck file.

    Args:
        name: a shipped deck's name, or a path.

    Raises:
        DataError: not readable, not TOML, or malformed; names file, card and field.
    """
    path = deck_path(name)
    try:
        raw = read_file(path)
        content = tomllib.loads(decoded(raw))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"deck {path}: {reason(error)}") from error
    unknown = sorted(set(content) - {"card"})
    if unknown:
        raise DataError(f"deck {path}: unknown key {unknown[0]!r}; a deck holds [[card]] tables only")
    tables = content.get("card")
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise DataError(f"deck {path}: card must be an array of tables, [[card]]")
    if not 1 <= len(tables) <= DECK_LIMIT:
        raise DataError(f"deck {path}: {len(tables)} cards; allowed are 1 to {DECK_LIMIT}")
    cards = [_read_card(path, number, table) for number, table in enumerate(tables, 1)]
    _check_names(path, cards)
    order = {key: i for i, key in enumerate(dict.fromkeys(card.twin_key for card in cards))}
    cards.sort(key=lambda card: order[card.twin_key])
    return Deck(tuple(cards), hashlib.sha256(raw).hexdigest(), path)


def _read_card(path: Path, number: int, table: dict[str, Any]) -> Card:
    where = f"deck {path}: card {number} ({table.get('name', 'without a name')})"
    for key in table:
        if key not in _FIELDS:
            raise DataError(f"{where}: unknown field {key!r}; allowed: {', '.join(_FIELDS)}")
    for key in _FIELDS[:4]:
        if key not in table:
            raise DataError(f"{where}: the field {key} is missing")
    name = table["name"]
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or name != name.strip():
        raise DataError(f"{where}: name is {name!r}, must be text on one line")
    if name.startswith(NO_CARD):
        raise DataError(f"{where}: name is {name!r}; names that begin with {NO_CARD!r} stand for cards a deck lacks")
    requires = _read_requires(where, table["requires"])
    symbol = _choice(where, "symbol", table["symbol"], SYMBOLS)
    provenance = _choice(where, "provenance", table["provenance"], PROVENANCES)
    source = table.get("source", "")
    if not isinstance(source, str):
        raise DataError(f"{where}: source is {source!r}, must be text")
    if provenance != "reconstructed" and not source.strip():
        raise DataError(f"{where}: the field source is missing; only reconstructed cards go without")
    return Card(name, requires, symbol, provenance, source)


def _read_requires(where: str, value: Any) -> tuple[Requirement, ...]:
    if not isinstance(value, list) or not 1 <= len(value) <= ALTERNATIVE_LIMIT:
        raise DataError(f"{where}: requires is {value!r}, must be a list of 1 to {ALTERNATIVE_LIMIT} requirements")
    parts: list[Requirement] = []
    for text in value:
        if not isinstance(text, str):
            raise DataError(f'{where}: requires holds {text!r}; a requirement is text such as "22" or "SSMM"')
        try:
            part = Requirement.parse(text)
        except ValueError as error:
            raise DataError(f"{where}: requires holds {text!r}: {error}") from None
        if part in parts:
            raise DataError(f"{where}: requires holds {text!r} twice")
        parts.append(part)
    return tuple(parts)


def _choice(where: str, field: str, value: Any, allowed: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise DataError(f"{where}: {field} is {value!r}; allowed: {', '.join(allowed)}")
    return value


def _check_names(path: Path, cards: list[Card]) -> None:
    """A name may come again only on an interchangeable card: an action names a card."""
    first: dict[str, tuple[int, Card]] = {}
    for number, card in enumerate(cards, 1):
        earlier, other = first.setdefault(card.name, (number, card))
        if other.twin_key != card.twin_key:
            raise DataError(
                f"deck {path}: card {number} ({card.name}): name is already that of card {earlier}, "
                "which has another requirement or symbol"
            )
