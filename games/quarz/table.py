"""A position of Qu'arz as a seat sees it, with names for its pieces: what all that is said to people is made of.

It comes from the seat's scene and from the frame that asks, never from what the seat does not see.
"""

from __future__ import annotations

from typing import Any, cast

from engine_ext.position import Position
from games.quarz.board import DIRECTION_NAMES
from games.quarz.cards import Card, Monster, Pattern
from games.quarz.rules import QuarzRules
from games.quarz.texts import describe_effect
from games.words import join, who, whose

TOKENS = ("stun", "poison", "shield", "frost", "boost")


class Table:
    """A position as a seat sees it.

    Args:
        position: the position.
        seat: who listens.
    """

    def __init__(self, position: Position, seat: int) -> None:
        self.rules = cast(QuarzRules, position.rules)
        self.content, self.board, self.seat = self.rules.content, self.rules.board, seat
        self.position = position
        self.scene = self.rules.scene(position, seat)
        self.monsters = {m.name: m for m in self.content.monsters}

    @property
    def frame(self) -> list[int]:
        """The frame that asks: kind, step, a, b, c, d, e, f, g, prog (state.pxd)."""
        frames = self.position.to_dict()["pending"]["frames"]
        return list(frames[-1]) if frames else [0] * 10

    def below(self) -> list[int]:
        """The frame that the top one interrupts."""
        frames = self.position.to_dict()["pending"]["frames"]
        return list(frames[-2]) if len(frames) > 1 else [0] * 10

    # ---- names ---------------------------------------------------------------------------------

    def monster(self, m: int) -> dict[str, Any]:
        """The scene's entry of monster m."""
        return cast(dict[str, Any], self.scene["mobs"][m // 3]["monsters"][m % 3])

    def tableau(self, m: int) -> Monster:
        """What is printed on monster m."""
        return self.monsters[self.monster(m)["name"]]

    def name(self, m: int) -> str:
        """Monster m, with its seat where it is not the listener's."""
        name = self.monster(m)["name"]
        return name if m // 3 == self.seat else f"{name} ({who(m // 3, self.seat)})"

    def cell(self, text: str) -> int:
        """The cell that an action calls `(q,r)`."""
        q, r = map(int, text.strip("()").split(","))
        return int(self.board.number[(q, r)])

    def place(self, m: int) -> str:
        """The field that monster m stands on, by name."""
        q, r = self.monster(m)["at"]
        return str(self.board.field_names[self.board.number[(q, r)]])

    def own(self, k: int) -> str:
        """The k-th monster of the seat to move."""
        return str(self.monster(3 * self.seat + k)["name"])

    def field(self, cell: int) -> str:
        """A field by name, and what is on it."""
        name, notes = self.board.field_names[cell], self.notes(cell)
        return f"{name} ({', '.join(notes)})" if notes else name

    def notes(self, cell: int) -> list[str]:
        """What a field is, and what is on it."""
        place = self.board.cells[cell]
        notes = []
        if place == self.board.altar:
            notes.append("altar")
        for k, shrine in enumerate(self.board.shrines):
            if place == shrine:
                notes.append(self.scene["shrine_cards"][k] or "a shrine")
        for k, camp in enumerate(self.board.camps):
            owners = [seat for seat, mob in enumerate(self.scene["mobs"]) if mob["camp"] == k]
            if place == camp:
                notes.append(f"{whose(owners[0], self.seat)} camp" if owners else "a camp")
        if tuple(self.scene["idol"]) == place:
            notes.append("the idol")
        if f"{place[0]},{place[1]}" in self.scene["traps"]:
            notes.append(f"{whose(self.scene['traps'][f'{place[0]},{place[1]}'], self.seat)} trap")
        if place in self.board.impassable:
            notes.append("ice" if list(place) in self.scene["melted"] else "impassable")
        here = [
            monster["name"]
            for mob in self.scene["mobs"]
            for monster in mob["monsters"]
            if tuple(monster["at"]) == place
        ]
        return notes + here

    def card(self, m: int, card: int) -> Card:
        """Card number `card` of monster m."""
        return self.tableau(m).cards[card]

    def tile_at(self, cell: int) -> str:
        """The tile on a field, with its edges."""
        q, r = self.board.cells[cell]
        name, turned = self.scene["tiles"].get(f"{q},{r}", ("", 0))
        pattern = next((p for p in self.content.patterns if p.name == name), None)
        return f"{name}, {sides(pattern, turned)}" if pattern else "no tile"

    def pattern_at(self, cell: int) -> Pattern:
        """The pattern of the tile on a field."""
        q, r = self.board.cells[cell]
        name = self.scene["tiles"][f"{q},{r}"][0]
        return next(p for p in self.content.patterns if p.name == name)

    def source(self, prog: int) -> str:
        """What an instruction belongs to: a card, a munched card, a favor card, a shrine."""
        kind, *where = self.rules.instructions[prog][1]
        if kind == "swap":
            return "Swap"
        if kind == "favor":
            return f"Favor card {where[0]}"
        if kind == "shrine":
            return self.content.shrines[where[0]].name
        label = self.content.monsters[where[0]].cards[where[1]].label
        return label if kind == "card" else f"{label}, munched"

    def of_chosen(self, prog: int) -> str:
        """What becomes of the monster that the instruction lets choose: the effect after it, which is never missing."""
        return describe_effect(self.rules.instructions[prog + 1][0])

    @property
    def home(self) -> int:
        """The field of the listener's camp."""
        return int(self.board.number[self.board.camps[self.scene["mobs"][self.seat]["camp"]]])

    @property
    def last_turn(self) -> bool:
        """Whether the game ends by time when the running turn does (rule 25)."""
        time, limit = self.scene["time"], int(self.rules.parameters["turns"])
        if limit:
            return bool(time["turns"] + 1 >= limit)
        spaces = self.content.spaces[len(self.scene["mobs"])]
        return bool(time["left"] == 1 and (time["turns"] + 1) % spaces == spaces // 2)

    def movement_cost(self, m: int) -> int:
        """Energy that a movement of monster m costs (rule 40, Q43)."""
        return int(self.content.costs["move"]) + int(self.monster(m)["stun"])

    @property
    def shrine_cost(self) -> int:
        """Energy that the use of a shrine costs now (rule 108)."""
        return max(0, int(self.content.costs["shrine"]) - self.while_visible("shrine_discount"))

    def while_visible(self, key: str) -> int:
        """What the open time tile adds to a figure."""
        tile = next((t for t in self.content.time_tiles if t.name == self.scene["time"]["tile"]), None)
        return int(tile.while_visible.get(key, 0)) if tile else 0

    @property
    def hand_limit(self) -> int:
        """Cards that a mob may keep at the end of its turn."""
        return max(0, int(self.content.limits["hand"]) + self.while_visible("hand_limit"))

    def damage(self, m: int) -> int:
        """What an attack of monster m does."""
        monster = self.monster(m)
        return int(monster["figures"]["damage"]) + int(monster["boost"]) + self.while_visible("damage")


def monster_number(text: str) -> int:
    """`P2.1` of an action as a monster number."""
    seat, k = text[1:].split(".")
    return 3 * (int(seat) - 1) + int(k) - 1


def sides(pattern: Pattern, turned: int) -> str:
    """The edges of a tile in words: `water on E and SE`."""
    if not pattern.edges:
        return "no edges"
    names = [DIRECTION_NAMES[side] for side in sorted((side + turned) % 6 for side in pattern.edges)]
    return f"{pattern.kind} on {join(names)}"
