"""Positions in the middle of a game, for stepping engine and plain model side by side where much happens at once.

From the beginning of a game two cards seldom meet, and three hardly ever. Here every class of the Wilds lies about at
random in Ready Areas, piles and bags, just before an attack; `covering` finds Wilds in which any few of some
cards meet.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from itertools import combinations, product
from typing import Any

from tests.reference.quarriors import Data, Die, Game
from tests.reference.quarriors_light_dark import LARGE, LARGE_DICE

# What an effect does to an attack and to the destruction that comes of it: when it happens, or, of those that are
# always on, what they do.
FIGHTING_ON = {"attack", "predefence", "firstkill", "kill", "destroyed", "asidekill"}
FIGHTING_ON |= {"react", "attached", "enter", "perturn", "state"}
FIGHTING_DO = {"attack", "defense", "stats", "barlevel", "capattack", "notarget"}


def fights(card: Mapping[str, Any]) -> bool:
    """Whether a card has a part in an attack beyond the numbers of its faces."""
    return any(
        effect["on"] in FIGHTING_ON
        or effect["do"] in FIGHTING_DO
        or (effect["on"] == "cast" and effect["do"] in ("rotate", "destroy"))
        for effect in card.get("effects", [])
    )


def meetings(
    cards: Iterable[Mapping[str, Any]], together: int, rooms: Mapping[str, int], data: Data
) -> list[tuple[str, ...]]:
    """All ways in which so many of these cards can lie in one Wilds.

    Args:
        cards: of creatures and spells.
        together: how many meet.
        rooms: how many classes of each kind lie in the Wilds.
        data: the sets they are from.

    Returns:
        names of cards, no two of a class.
    """
    versions: dict[str, list[str]] = {}
    for card in cards:
        versions.setdefault(card["class"], []).append(card["name"])
    return [
        names
        for classes in combinations(versions, together)
        if fits(classes, rooms, data)
        for names in product(*(versions[each] for each in classes))
    ]


def fits(classes: Iterable[str], rooms: Mapping[str, int], data: Data) -> bool:
    """Whether these classes can lie in the Wilds together."""
    kinds = [data.dice[name]["kind"] for name in classes]
    return all(kinds.count(kind) <= rooms[kind] for kind in set(kinds))


class Skirmish:
    """A position at random, just before an attack.

    Args:
        model: a game whose Wilds are named; its dice are put where they may lie.
        meeting: names of the cards whose dice shall meet; none: all alike.
        edition: the engine's name of the rules.
        rng: decides.
    """

    def __init__(self, model: Game, meeting: Iterable[str], edition: str, rng: random.Random) -> None:
        self.model, self.rng, self.data = model, rng, model.data
        self.base = edition == "base"
        self.meeting = {model.data.cards[name]["class"] for name in meeting}
        self.seats: list[dict[str, Any]] = [
            {"bag": {}, "used": {}, "active": [], "ready": [], "aside": [] if self.base else [LARGE] * LARGE_DICE}
            for _ in model.players
        ]
        self.wilds = dict.fromkeys(model.card, 0)
        # Base: spells can be cast before the attack. Light vs. Dark: the same question follows the roll.
        self.phase = rng.choice((3, 4)) if self.base else rng.choice((2, 3))
        for name in model.card:
            kind = self.data.dice[name]["kind"]
            if kind in ("creature", "assistant"):
                self._creatures(name)
        for name in model.card:
            kind = self.data.dice[name]["kind"]
            if kind == "spell":
                self._spells(name)
            elif kind == "basic":
                self._plain(name)
        self.table = {
            "edition": edition,
            "phase": self.phase,
            "wilds": [{"card": card["name"], "dice": self.wilds[name]} for name, card in model.card.items()],
            "players": self.seats,
        }

    def _put(self, seat: dict[str, Any], zone: str, name: str) -> None:
        seat[zone][name] = seat[zone].get(name, 0) + 1

    def _face(self, name: str, wanted: str) -> int | None:
        """A face at random that shows this, or None."""
        faces = self.data.dice[name]["faces"]
        fitting = [self.data.number(name, k) for k in range(len(faces)) if wanted in faces[k]]
        return self.rng.choice(fitting) if fitting else None

    def _in_front(self, name: str) -> bool:
        """Whether a die lies in a Ready Area, if it may."""
        share = 0.5 if not self.meeting else 0.8 if name in self.meeting else 0.3
        return self.rng.random() < share

    def _elsewhere(self, name: str) -> None:
        """On its card, in a bag, in a pile, or in the pool before the attack."""
        rng, seat = self.rng, self.rng.choice(self.seats)
        where = rng.choice(("wilds", "bag", "used", "active"))
        if where == "wilds":
            self.wilds[name] += 1
        elif where == "active" and self.base and self.phase == 3:
            face = self.data.number(name, rng.randrange(6))
            self.seats[0]["active"].append({"die": name, "face": face})
        else:
            self._put(seat, "used" if where == "active" else where, name)

    def _creatures(self, name: str) -> None:
        rng, card = self.rng, self.model.card[name]
        effects = card.get("effects", [])
        lives_on_nothing = any(effect["on"] == "state" for effect in effects) and not self.base
        set_aside = any(effect["on"] == "asidekill" for effect in effects)
        for _ in range(5):
            seat = rng.choice(self.seats)
            face, lock = self._face(name, "level"), self._face(name, "lock")
            if set_aside and rng.random() < 0.15:
                seat["aside"].append(name)
            elif lock is not None and "locked" not in seat and rng.random() < 0.15:
                seat["locked"] = {"die": name, "face": lock}
            elif face is not None and len(seat["ready"]) < 5 and not lives_on_nothing and self._in_front(name):
                seat["ready"].append(self._creature(name, face, effects))
            else:
                self._elsewhere(name)

    def _creature(self, name: str, face: int, effects: list[dict[str, Any]]) -> dict[str, Any]:
        rng = self.rng
        made: dict[str, Any] = {"die": name, "face": face}
        if any(effect["on"] == "enter" for effect in effects) and rng.random() < 0.7:
            other = rng.choice([each for each in self.model.card if self._face(each, "level") is not None])
            if other != name:
                made["copy"] = {"die": other, "face": self._face(other, "level")}
        for key in ("attack", "defense"):
            if rng.random() < 0.15:
                made[key] = rng.randint(1, 4)
        return made

    def _spells(self, name: str) -> None:
        rng = self.rng
        for _ in range(5):
            seat = rng.choice(self.seats)
            face = self._face(name, "spell")
            hosts = [entry for entry in seat["ready"] if self.data.dice[entry["die"]]["kind"] != "spell"]
            if face is None or not self.model.is_spell_face(Die(name, face)) or not self._in_front(name):
                self._elsewhere(name)
            elif not any(self.model.spell_effects(Die(name, face), on) for on in ("attached", "hostscore")):
                seat["ready"].append({"die": name, "face": face})
            elif hosts:
                rng.choice(hosts).setdefault("attached", []).append({"die": name, "face": face})
            else:
                seat["ready"].append({"die": name, "face": face})

    def _plain(self, name: str) -> None:
        """Basic Quiddity: some used, for what counts or culls it; Portals in bags."""
        for seat in self.seats:
            if name == "Basic Quiddity":
                seat["used"][name] = self.rng.randint(1, 3)
            self._put(seat, "bag", name)
