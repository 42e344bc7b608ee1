"""Movement, combat, idol and turn frame of Qu'arz as a plain and slow model, written from the numbered rules alone.

Nothing here comes from the engine: boards, tiles and monsters are read from the data files as they
stand, a position is the table that games/quarz/README.md documents, and the play is a generator that
stops wherever somebody decides. A stop offers the names of the choices in the wording of that README,
so that model and engine can be stepped side by side. Numbers in the comments (77, Q72, L4) are the
rules, readings and lines of sight of docs/games/quarz.md, and the further readings of the README.

Modelled: favor cards and turn order; the favor actions that regenerate, recover, draw, cleanse or step;
movement, floes, traps, Mob March; attacks with blocks, shield tokens and living shields; what becomes
of the idol and of who is knocked out; Push, Swap and Crystal Throw; drawing, munching into a free
slot, melting, Regeneration; hand limit, snail, time tiles and the end. Which cards, munches, shrines
and instants may be used is modelled as well.

Not modelled, and left by raising `Outside`: what the other cards, one-time munches, shrines and
instants do, replacing a munched card, turning a field, and the set-up. The few cases the rules say
nothing about are left in the same way, each with its reason. Names whose legality the rules leave
open are in `Ask.unsure`.

Where several cards are chosen at once the choices come in ascending order of the cards; which cards
are drawn and which time tile comes is told to the model (`Reveal`), which checks what it is told.
"""

from __future__ import annotations

import tomllib
from collections.abc import Generator, Iterable
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "games" / "quarz" / "data"
DIRECTIONS = [(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)]  # E SE SW W NW NE
TOKENS = ("stun", "poison", "frost", "shield")
MOST_TOKENS = 3
HAND_LIMIT = 10  # 93
TRAP_DAMAGE = 2
IDOL_POINTS = 2.5  # 57
PUSH_SWAP = (10, 11, 12)

Cell = tuple[int, int]
Who = tuple[int, int]  # seat and number of the monster
Table = dict[str, Any]


def read(name: str) -> dict[str, Any]:
    """A data file as it stands."""
    return tomllib.loads((DATA / name).read_text(encoding="utf-8"))


BOARDS = {board["name"]: board for board in read("boards.toml")["board"]}
PATTERNS = {pattern["name"]: pattern for pattern in read("tiles.toml")["pattern"]}
TIME = read("time.toml")
TILES = {tile["name"]: tile for tile in TIME["tile"]}
SHRINES = {shrine["name"]: shrine for shrine in read("shrines.toml")["shrine"]}
FAVORS = {favor["value"]: favor for favor in read("favor.toml")["favor"]}
PUSH_CARD = read("common.toml")["push_swap"]
MONSTERS = {
    monster["name"]: monster
    for path in sorted((DATA / "mobs").glob("*.toml"))
    for monster in tomllib.loads(path.read_text(encoding="utf-8"))["monster"]
}


def labels(name: str) -> list[str]:
    """A monster's 13 cards in the order of their numbers."""
    abilities = MONSTERS[name]["ability"]
    ultimate = [ability["name"] for ability in abilities if ability.get("ultimate")]
    others = [f"{a['name']}/{copy}" for a in abilities if not a.get("ultimate") for copy in (1, 2, 3)]
    return [*ultimate, *others, *(f"Push/Swap/{copy}" for copy in (1, 2, 3))]


def card(name: str, label: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The ability and the munch effect of a monster's card."""
    ability_name, _, copy = label.rpartition("/")
    if ability_name == "Push/Swap":
        return PUSH_CARD, PUSH_CARD["munch"][int(copy) - 1]
    for ability in MONSTERS[name]["ability"]:
        if ability.get("ultimate") and ability["name"] == label:
            return ability, ability["munch"][0]
        if not ability.get("ultimate") and ability["name"] == ability_name:
            return ability, ability["munch"][int(copy) - 1]
    raise KeyError(label)


def add(cell: Cell, direction: int, times: int = 1) -> Cell:
    """The cell so many steps away."""
    dq, dr = DIRECTIONS[direction]
    return cell[0] + dq * times, cell[1] + dr * times


def distance(a: Cell, b: Cell) -> int:
    """Steps on the endless lattice."""
    dq, dr = a[0] - b[0], a[1] - b[1]
    return max(abs(dq), abs(dr), abs(dq + dr))


def text(cell: Cell) -> str:
    """A cell in the names of choices."""
    return f"({cell[0]},{cell[1]})"


class Outside(Exception):
    """What follows is not modelled."""


class Over(Exception):
    """The game is over."""


@dataclass
class Ask:
    """A decision: who decides, and among which names; `unsure` may or may not be among them."""

    seat: int
    options: set[str]
    unsure: set[str] = field(default_factory=set)


@dataclass
class Reveal:
    """Chance has a say: the table after it is to be told."""

    seat: int = -1


Play = Generator[Ask | Reveal, Any, Any]


class Game:
    """A game from a position on; `stop` is what it waits for, None when it is over.

    Args:
        table: the documented keys of a position in which the running turn's seat chooses an action
            (`choosing` "action") or the first seat a favor card ("favor").
        board: name of the board.
        length: short, medium or long.
        sight: spine (L4) or strict (L5).
        impassable_sight: whether unmelted impassable fields stop shots (Q31).
    """

    def __init__(
        self,
        table: Table,
        choosing: str,
        board: str,
        length: str,
        sight: str = "spine",
        impassable_sight: bool = True,
    ) -> None:
        self.table = deepcopy(table)
        self.board = BOARDS[board]
        self.length = length
        self.sight = sight
        self.impassable_sight = impassable_sight
        self.camps = [tuple(cell) for cell in self.board["camps"]]
        self.shrines = [tuple(cell) for cell in self.board["shrines"]]
        self.blocks = [tuple(cell) for cell in self.board["impassable"]]
        self.fields = [tuple(cell) for cell in self.board["modifiable"]]
        self.cells = {tuple(self.board["altar"]), *self.camps, *self.shrines, *self.blocks, *self.fields}
        self.winners: list[int] = []
        self.flow = self.play(choosing)
        self.stop: Ask | Reveal | None = None
        self.answer(None)

    def answer(self, given: Any) -> None:
        """Tell the chosen name, or the table after chance had its say."""
        try:
            self.stop = self.flow.send(given)
        except (Over, StopIteration):
            self.stop = None

    # Who and where

    def monster(self, who: Who) -> dict[str, Any]:
        return self.table["mobs"][who[0]]["monsters"][who[1]]

    def place(self, who: Who) -> Cell:
        q, r = self.monster(who)["at"]
        return q, r

    def own(self, seat: int) -> list[Who]:
        return [(seat, k) for k in range(len(self.table["mobs"][seat]["monsters"]))]

    def everyone(self) -> list[Who]:
        return [who for seat in range(len(self.table["mobs"])) for who in self.own(seat)]

    def standing(self, cell: Cell) -> list[Who]:
        return [who for who in self.everyone() if self.place(who) == cell]

    @property
    def idol(self) -> Cell:
        q, r = self.table["idol"]
        return q, r

    @property
    def carrier(self) -> Who | None:
        return None if self.table["carrier"] is None else tuple(self.table["carrier"])

    def home(self, seat: int) -> Cell:
        return self.camps[self.table["mobs"][seat]["camp"]]

    def floe(self, cell: Cell) -> bool:
        return list(cell) in self.table["melted"]

    def closed(self, cell: Cell, seat: int) -> bool:
        """Cells nobody of the mob may be on: 45, 46."""
        foreign = cell in self.camps and cell != self.home(seat)
        return cell not in self.cells or foreign or (cell in self.blocks and not self.floe(cell))

    def free(self, cell: Cell, who: Who) -> bool:
        """Whether a movement of this monster may end there: 43, 44."""
        return cell == self.home(who[0]) or all(other == who for other in self.standing(cell))

    # Figures

    def weather(self, key: str) -> Any:
        """What the visible time tile adds: 24."""
        tile = self.table["time"]["tile"]
        return TILES[tile]["while_visible"].get(key, 0) if tile else 0

    def bonus(self, who: Who, key: str) -> int:
        """Munched cards and the powers of filled slots together: 63, 100, Q26."""
        monster = self.monster(who)
        given = [card(monster["name"], label)[1].get("keep", {}) for label in monster["slots"]]
        given += [MONSTERS[monster["name"]][f"slot{n}"] for n in (2, 3) if len(monster["slots"]) >= n]
        return sum(int(one.get(key, 0)) for one in given)

    def damage(self, who: Who) -> int:
        base = MONSTERS[self.monster(who)["name"]]["damage"]
        return base + self.bonus(who, "damage") + self.weather("damage") + self.monster(who)["boost"]

    def speed(self, who: Who) -> int:
        """Steps of a movement; the carrier's are fewer: 40, 55."""
        printed = MONSTERS[self.monster(who)["name"]]["move"]
        steps = max(1, printed + self.weather("move") - self.monster(who)["frost"]) + self.bonus(who, "move")
        if who == self.carrier:
            steps = min(steps, 1 + self.bonus(who, "carry") + self.weather("carry"))
        return steps

    def second_shrine(self, who: Who) -> bool:
        return bool(self.bonus(who, "second_shrine")) and not self.monster(who)["melted"]  # 119

    # Sides, steps, sight

    def printed(self, cell: Cell, direction: int) -> set[str]:
        """What the tile on a cell prints on a side."""
        tile = self.table["tiles"].get(f"{cell[0]},{cell[1]}")
        if tile is None:
            return set()
        pattern = PATTERNS[tile[0]]
        return {pattern["kind"]} if (direction - tile[1]) % 6 in pattern["edges"] else set()

    def side(self, cell: Cell, direction: int) -> set[str]:
        """The obstacles between a cell and its neighbour: Q32, 123."""
        other = add(cell, direction)
        found = self.printed(cell, direction) | self.printed(other, (direction + 3) % 6)
        if self.floe(cell) or self.floe(other) or self.weather("frozen_water"):
            found.discard("water")
        return found

    def beside(self, who: Who, other: Who) -> bool:
        """On connected adjacent hexes, or together in a camp: 61, Q35."""
        here, there = self.place(who), self.place(other)
        if here == there:
            return True
        return any(add(here, d) == there and not self.side(here, d) for d in range(6))

    def helped(self, who: Who, power: str, cells: Iterable[Cell]) -> bool:
        """Whether another own monster with the power stands beside one of the cells: 105, Q2, Q82."""
        helpers = [other for other in self.own(who[0]) if other != who and self.bonus(other, power)]
        return any(distance(self.place(helper), cell) <= 1 for helper in helpers for cell in cells)

    def ends(self, who: Who, cell: Cell) -> bool:
        """Whether entering the cell ends a movement: the unclaimed idol, a rival's trap (50)."""
        trap = self.table["traps"].get(f"{cell[0]},{cell[1]}")
        return (cell == self.idol and self.carrier is None) or (trap is not None and trap != who[0])

    def steps(self, who: Who, cell: Cell, walls: int = 1) -> list[tuple[Cell, int]]:
        """Where one step from a cell leads, with the walls that helpers still let it cross: 41-48, 120-122."""
        found = []
        for direction in range(6):
            there, left = add(cell, direction), walls
            obstacles = self.side(cell, direction)
            if self.closed(there, who[0]) or any(other[0] != who[0] for other in self.standing(there)):
                continue
            if "water" in obstacles and not self.bonus(who, "swim"):
                continue
            if "crystal" in obstacles and not self.bonus(who, "climb"):
                if not left or not self.helped(who, "wall_step", (cell, there)):
                    continue
                left -= 1
            while self.floe(there) and not self.ends(who, there):  # Q28
                on = add(there, direction)
                wall = "crystal" in self.side(there, direction) and not self.bonus(who, "climb")
                if wall or self.closed(on, who[0]) or not self.free(on, who):
                    break
                there = on
            if self.floe(there) and not self.free(there, who):
                continue  # Q29: who would have to stay on a taken floe does not enter it
            found.append((there, left))
        return found

    def reach(self, who: Who, steps: int) -> set[Cell]:
        """Where a movement of up to so many steps may end."""
        start = self.place(who)
        seen, edge = {(start, 1)}, {(start, 1)}
        for _ in range(steps):
            edge = {
                step
                for cell, walls in edge
                if cell == start or not self.ends(who, cell)
                for step in self.steps(who, cell, walls)
            } - seen
            seen |= edge
        return {cell for cell, _ in seen if cell != start and self.free(cell, who)}

    def sees(self, who: Who, other: Who) -> bool:
        """Line of sight at distance 1 and 2: L1-L6."""
        here, there = self.place(who), self.place(other)
        through = self.bonus(who, "sharp_eyes") or self.weather("clear_sight") or self.helped(who, "wall_shot", [here])

        def wall(cell: Cell, direction: int) -> bool:
            return not through and "crystal" in self.side(cell, direction)

        def filled(cell: Cell) -> bool:
            block = self.impassable_sight and cell in self.blocks and not self.floe(cell)
            return cell not in self.cells or block or bool(self.standing(cell))

        if here == there:
            return True  # Q35
        for d in range(6):
            if add(here, d) == there:
                return not wall(here, d)
            if add(here, d, 2) == there:
                middle = add(here, d)
                return not (wall(here, d) or wall(middle, d) or filled(middle))
            e = (d + 1) % 6
            if add(add(here, d), e) == there:
                left, right = add(here, d), add(here, e)
                spine = next(k for k in range(6) if add(left, k) == right)
                if wall(left, spine):
                    return False
                left_closed = wall(here, d) or wall(left, e) or filled(left)
                right_closed = wall(here, e) or wall(right, d) or filled(right)
                return self.sight == "strict" or not (left_closed and right_closed)
        return False

    def hits(self, who: Who, other: Who, kind: str) -> bool:
        """Whether a strike or shot (or a plain effect) reaches another monster."""
        return other != who and (self.beside(who, other) if kind == "strike" else self.sees(who, other))

    def targets(self, who: Who, kind: str, enemies_only: bool = False) -> list[Who]:
        found = [other for other in self.everyone() if self.hits(who, other, kind)]
        return [other for other in found if not enemies_only or other[0] != who[0]]

    def attack_kind(self, who: Who) -> str:
        return str(MONSTERS[self.monster(who)["name"]]["attack"])

    # Cards

    def number(self, who: Who, label: str) -> int:
        return labels(self.monster(who)["name"]).index(label)

    def label(self, who: Who, number: int) -> str:
        return labels(self.monster(who)["name"])[number]

    def possible(self, who: Who, effect: dict[str, Any]) -> bool | None:
        """Whether an effect has a target (Q77); None where the rules leave it open."""
        monster, do = self.monster(who), effect["do"]
        kind = effect.get("kind")
        own = self.own(who[0])
        friends = {"self": [who], "friend": own, "all": own}.get(effect.get("who", ""), [])
        if kind == "context" or do in ("negate", "reduce", "boost", "roll"):
            return True
        if kind is not None:
            found = self.targets(who, kind, effect.get("target") == "enemy")
            if do in TOKENS:
                able = [other for other in found if self.monster(other)[do] < MOST_TOKENS]
            elif do == "swap":
                able = [other for other in found if self.exchangeable(who, other)]
            elif do == "sap":
                able = [other for other in found if self.monster(other)["hand"]]
            else:
                able = found
            return bool(able) if bool(able) == bool(found) else None
        if do == "cleanse" and friends == [who]:
            return self.gains(who, do) or None  # is a monster in no need the target of its own cleansing?
        if do == "heal":
            return any(self.gains(one, do) for one in friends)
        if do == "cleanse":
            return any(self.gains(one, do) for one in friends)
        if do == "shield":
            return any(self.monster(one)["shield"] < MOST_TOKENS for one in friends) or None
        if do == "draw":
            return bool(monster["draw"])
        if do == "recover":
            return bool(monster["discard"])
        if do == "attack":
            return bool(self.targets(who, self.attack_kind(who)))
        if do == "rotate":  # turning a tile that looks the same from all sides: is anything done?
            tiles = [self.table["tiles"].get(f"{q},{r}", ["empty"])[0] for q, r in self.free_fields()]
            return any(PATTERNS[tile]["edges"] for tile in tiles) or (None if tiles else False)
        if do == "trade":
            return len(self.free_fields()) >= 2
        if do in ("move", "march"):
            movers = own if do == "march" else friends
            return any(self.reach(mover, 1) for mover in movers) or None
        if do in ("jump", "trap"):
            far = 1 if do == "jump" and who == self.carrier else effect["amount"]
            near = [cell for cell in self.free_fields() if distance(cell, self.place(who)) <= far]
            if do == "trap":
                near = [cell for cell in near if f"{cell[0]},{cell[1]}" not in self.table["traps"]]
            return bool(near) or None
        if do == "swap_friends":
            return len({self.place(one) for one in own}) > 1 or None
        return None

    def gains(self, who: Who, do: str) -> bool:
        """Whether there is something to heal, or to cleanse, in a monster."""
        keys = ("spent",) if do == "heal" else ("stun", "poison", "frost")
        return any(self.monster(who)[key] for key in keys)

    def free_fields(self) -> list[Cell]:
        """Q21."""
        return [cell for cell in self.fields if not self.standing(cell) and cell != self.idol]

    def instants(self, seat: int, trigger: str, victim: Who | None, near: Who | None) -> Ask:
        """The instants a seat may use now: 87, 37."""
        ask = Ask(seat, {"pass"})
        for who in self.own(seat):
            monster = self.monster(who)
            for label in monster["hand"]:
                ability, _ = card(monster["name"], label)
                if ability.get("trigger") != trigger or monster["energy"] < max(1, ability["cost"]):
                    continue
                if self.table["mobs"][seat]["reactions"] < ability.get("reactions", 0):
                    continue
                if victim is not None and ability.get("scope") != "mob" and who != victim:
                    continue
                if near is not None and ability.get("scope") != "mob" and not self.beside(who, near):
                    continue
                can = self.possible(who, ability["effects"][0])
                name = f"react {who[1] + 1} {self.number(who, label)}"
                if can is None:
                    ask.unsure.add(name)
                elif can:
                    ask.options.add(name)
        return ask

    # Asking

    def ask(self, ask: Ask) -> Play:
        """The answer; a single possibility is not asked for."""
        if len(ask.options) == 1 and not ask.unsure:
            return next(iter(ask.options))
        if len(ask.options) <= 1 and ask.unsure:
            raise Outside("whether there is a choice at all is open")
        answer = yield ask
        return answer

    def choose(self, seat: int, options: Iterable[str]) -> Play:
        return (yield from self.ask(Ask(seat, set(options))))

    def choose_cell(self, seat: int, cells: Iterable[Cell], may_pass: bool = False) -> Play:
        names = {f"cell {text(cell)}": cell for cell in cells}
        answer = yield from self.choose(seat, [*names, *(["pass"] if may_pass else [])])
        return names.get(answer)

    def choose_monster(self, seat: int, monsters: Iterable[Who], may_pass: bool = False) -> Play:
        names = {f"target P{who[0] + 1}.{who[1] + 1}": who for who in monsters}
        answer = yield from self.choose(seat, [*names, *(["pass"] if may_pass else [])])
        return names.get(answer)

    def react(self, ask: Ask) -> Play:
        """Offer instants; what they do is not modelled."""
        if ask.options == {"pass"} and not ask.unsure:
            return
        if (yield from self.ask(ask)) != "pass":
            raise Outside("an instant")

    # Energy

    def pay(self, who: Who, amount: int) -> None:
        """36."""
        monster = self.monster(who)
        assert amount <= monster["energy"]
        monster["energy"] -= amount
        monster["spent"] += amount

    def lose(self, who: Who, amount: int) -> None:
        """68: not below 0."""
        self.pay(who, min(amount, self.monster(who)["energy"]))

    def heal(self, who: Who, amount: int) -> None:
        monster = self.monster(who)
        moved = min(amount, monster["spent"])
        monster["energy"] += moved
        monster["spent"] -= moved

    # Moving and the idol

    def arrive(self, who: Who, cell: Cell) -> Play:
        """Put a monster on a cell it may be on; the idol goes along, a lone idol is taken: 49-54."""
        monster = self.monster(who)
        monster["at"] = list(cell)
        if self.carrier == who:
            self.table["idol"] = list(cell)
            self.check_delivery()
        if self.carrier is None and cell == self.idol and f"{cell[0]},{cell[1]}" in self.table["traps"]:
            raise Outside("a trap under the idol")
        self.spring_trap(who)
        if self.carrier is None and cell == self.idol:
            yield from self.take_idol(who)

    def spring_trap(self, who: Who) -> None:
        """A rival's trap under a monster that has just come there."""
        key = f"{self.place(who)[0]},{self.place(who)[1]}"
        if self.table["traps"].get(key, who[0]) != who[0]:
            del self.table["traps"][key]
            self.lose(who, TRAP_DAMAGE)

    def check_delivery(self) -> None:
        """56, 127."""
        for seat in range(len(self.table["mobs"])):
            if self.idol == self.home(seat):
                self.winners = [seat]
                raise Over

    def take_idol(self, who: Who) -> Play:
        """Control, and the bonus movement: 49, 51, 53, Q58."""
        self.table["carrier"] = list(who)
        self.check_delivery()
        cells = {cell for cell, _ in self.steps(who, self.place(who)) if self.free(cell, who)} - {self.place(who)}
        cell = yield from self.choose_cell(who[0], cells, may_pass=True)
        if cell is not None:
            yield from self.arrive(who, cell)

    def one_step(self, who: Who) -> set[Cell]:
        """Where a monster can be moved 1 hex by standard movement: 71, 76, 89."""
        return {cell for cell, _ in self.steps(who, self.place(who)) if self.free(cell, who)} - {self.place(who)}

    def put_idol(self, cell: Cell) -> Play:
        """The idol alone comes to a cell: 73, 74, Q56."""
        self.table["carrier"] = None
        self.table["idol"] = list(cell)
        self.check_delivery()
        there = self.standing(cell)
        if there:
            yield from self.take_idol(there[0])

    def arrivals(self, who: Who) -> Play:
        """Instants of enemies a voluntary movement ended beside, in turn order after the mover: Q78."""
        order = self.table["order"]
        at = order.index(who[0])
        for seat in order[at + 1 :] + order[:at]:
            yield from self.react(self.instants(seat, "arrived", None, who))

    # The turn

    def play(self, choosing: str) -> Play:
        """Rounds to the end: 27-29, 32."""
        table = self.table
        if choosing == "action":
            yield from self.actions(table["order"][table["turn"]])
            yield from self.end_of_turn()
        while True:
            if table["turn"] is None or table["turn"] + 1 == len(table["order"]):
                yield from self.round()
                table["turn"] = 0
            else:
                table["turn"] += 1
            seat = table["order"][table["turn"]]
            yield from self.start_of_turn(seat)
            yield from self.actions(seat)
            yield from self.end_of_turn()

    def round(self) -> Play:
        """Favor cards and the new order: 27, 28, 30."""
        table = self.table
        table["turn"], table["actions"] = None, 0
        chosen = {}
        for mob in table["mobs"]:
            mob["favor"] = None
        for seat in table["order"]:
            answer = yield from self.choose(seat, [f"favor {v}" for v in table["mobs"][seat]["favor_hand"]])
            chosen[seat] = table["mobs"][seat]["favor"] = int(answer.split(" ")[1])
        for seat, value in chosen.items():
            table["mobs"][seat]["favor_hand"].remove(value)
        table["order"] = sorted(table["order"], key=lambda seat: -chosen[seat])  # a stable sort keeps ties

    def start_of_turn(self, seat: int) -> Play:
        """Reaction tokens, what tiles and tokens do, the favor action: 32, 88."""
        mob = self.table["mobs"][seat]
        mob["reactions"] = 2
        self.table["actions"], self.table["extras"] = 2, 0
        if self.carrier is not None and self.carrier[0] == seat and self.weather("idol_drain"):
            if self.monster(self.carrier)["poison"]:
                raise Outside("poison and the drain of the idol in one moment")
            self.lose(self.carrier, self.weather("idol_drain"))
        for who in self.own(seat):
            monster = self.monster(who)
            if monster["poison"] and self.weather("start_heal"):
                raise Outside("poison and recovery in one moment")
            if monster["poison"]:
                monster["poison"] -= 1
                self.lose(who, 1)
            self.heal(who, self.weather("start_heal"))
        favor = FAVORS[mob["favor"]]
        if favor.get("take_back"):
            mob["favor_hand"] = [0, 1, 2, 3, 4]  # Q6
        options = {f"choice {i}": one["effects"] for i, one in enumerate(favor["options"]) if self.doable(seat, one)}
        if not options:
            return  # 33
        effects = options[(yield from self.choose(seat, options))]
        chosen = None
        for effect in effects:
            if effect["do"] == "choose_own":
                able = [who for who in self.own(seat) if effects[1]["do"] != "draw" or self.monster(who)["draw"]]
                chosen = yield from self.choose_monster(seat, able)
            elif effect["do"] == "regenerate":
                yield from self.regenerate(chosen)
            elif effect["do"] == "draw":
                yield from self.draw(chosen, effect["amount"])
            elif effect["do"] in ("heal", "cleanse"):
                able = [who for who in self.own(seat) if self.gains(who, effect["do"])]
                who = yield from self.choose_monster(seat, able)
                if effect["do"] == "heal":
                    self.heal(who, effect["amount"])
                else:
                    self.monster(who).update(stun=0, poison=0, frost=0)
            elif effect["do"] == "move":
                names = {
                    f"move {who[1] + 1} {text(cell)}": (who, cell)
                    for who in self.own(seat)
                    for cell in self.reach(who, min(effect["amount"], 1))
                }
                answer = yield from self.choose(seat, [*names, "pass"])
                if answer != "pass":
                    yield from self.walk(*names[answer])
            else:
                raise Outside(f"the favor action {effect['do']}")

    def doable(self, seat: int, option: dict[str, Any]) -> bool:
        """33."""
        first, *rest = option["effects"]
        if first["do"] == "choose_own":
            return any(rest[0]["do"] != "draw" or self.monster(who)["draw"] for who in self.own(seat))
        can = self.possible((seat, 0), first)
        if can is None:
            raise Outside("whether a favor action can be done is open")
        return can

    def actions(self, seat: int) -> Play:
        """Up to the actions the turn has: 32, 36."""
        while self.table["actions"] > 0:
            ask = self.offer(seat)
            answer = yield from self.ask(ask)
            if answer == "pass":
                self.table["actions"] = 0
                break
            verb, *words = answer.split(" ")
            who = (seat, int(words[0]) - 1)
            if verb == "melt":
                self.monster(who)["melted"] = True  # 118, 119, Q27
                self.table["melted"] = sorted(
                    [*self.table["melted"], list(self.blocks[int(words[1])])], key=lambda cell: (cell[1], cell[0])
                )
                continue
            if verb == "react":
                raise Outside("an instant")
            self.table["actions"] -= 1
            yield from self.act(verb, who, words[1:])

    def act(self, verb: str, who: Who, words: list[str]) -> Play:
        monster = self.monster(who)
        if verb == "move":
            self.pay(who, 1 + monster["stun"])  # 40, Q43
            monster["stun"] = 0
            q, r = words[0].strip("()").split(",")
            yield from self.walk(who, (int(q), int(r)))
        elif verb == "attack":
            seat, number = words[0][1:].split(".")
            yield from self.attack(who, (int(seat) - 1, int(number) - 1))
        elif verb == "march":
            yield from self.march(who)
        elif verb == "draw":
            self.pay(who, {1: 1, 2: 3, 3: 5}[int(words[0])])  # 81
            yield from self.draw(who, int(words[0]) + self.bonus(who, "draw") + self.weather("draw"))
        elif verb == "regenerate":
            yield from self.regenerate(who, shuffle=bool(words))
        elif verb in ("play", "swap") and int(words[0]) in PUSH_SWAP:
            yield from self.push_or_swap(who, self.label(who, int(words[0])), verb)
        elif verb == "munch":
            self.munch(who, self.label(who, int(words[0])))
        else:
            raise Outside(f"{verb} {words}")

    def offer(self, seat: int) -> Ask:
        """Every choice of the acting seat: 34-39 and the rules of each action."""
        ask = self.instants(seat, "free", None, None)
        for who in self.own(seat):
            monster, k = self.monster(who), who[1] + 1
            if monster["resting"]:
                continue  # 125, 40: its turn has ended, for melting and marching as well
            if monster["energy"] > 0 and self.second_shrine(who):
                ask.options |= {f"melt {k} {i}" for i, cell in enumerate(self.blocks) if not self.floe(cell)}
            ask.options.add(f"regenerate {k}")  # Q38
            if monster["discard"]:
                ask.options.add(f"regenerate {k} shuffle")  # 124
            if monster["energy"] > 0:  # 37
                self.offer_actions(who, ask)
        return ask

    def offer_actions(self, who: Who, ask: Ask) -> None:
        monster, k = self.monster(who), who[1] + 1
        energy = monster["energy"]
        if energy >= 1 + monster["stun"]:
            ask.options |= {f"move {k} {text(cell)}" for cell in self.reach(who, self.speed(who))}
        if energy >= MONSTERS[monster["name"]]["damage"]:  # 58
            found = self.targets(who, self.attack_kind(who))
            ask.options |= {f"attack {k} P{other[0] + 1}.{other[1] + 1}" for other in found}
        if self.can_march(who):
            ask.options.add(f"march {k}")
        if monster["draw"]:  # Q73
            ask.options |= {f"draw {k} {n}" for n, cost in ((1, 1), (2, 3), (3, 5)) if energy >= cost}

        def offer(name: str, can: bool | None) -> None:
            (ask.options if can else ask.unsure if can is None else set()).add(name)

        for label in monster["hand"]:
            number = self.number(who, label)
            ability, munch = card(monster["name"], label)
            if number in PUSH_SWAP:
                if self.targets(who, "strike") or self.can_throw(who):  # 89, 107
                    ask.options.add(f"play {k} {number}")
                if energy >= 2 and any(self.exchangeable(who, other) for other in self.targets(who, "strike")):
                    ask.options.add(f"swap {k} {number}")  # 91
            elif "trigger" not in ability and energy >= ability["cost"]:
                offer(f"play {k} {number}", self.possible(who, ability["effects"][0]))  # 84, Q77
            if energy >= munch["cost"]:
                unlocked = [one for one in monster["slots"] if not card(monster["name"], one)[1].get("lock")]
                if "once" in munch:
                    offer(f"munch {k} {number}", self.possible(who, munch["once"][0]))
                else:
                    offer(f"munch {k} {number}", len(monster["slots"]) < 3 or bool(unlocked))  # 96, 101, 102
        cell = self.place(who)
        if cell in self.shrines and energy >= max(0, 2 - self.weather("shrine_discount")):  # 108
            shrine = self.shrines.index(cell)
            uses = self.table["mobs"][who[0]]["shrines"][shrine]
            if uses == 0 or (uses == 1 and self.second_shrine(who)):  # 110-112
                effects = SHRINES[self.table["shrine_cards"][shrine]]["effects"]
                can = self.possible(who, effects[0])
                offer(f"shrine {k}", True if can else None)  # an activation is worth its point in any case

    def walk(self, who: Who, cell: Cell) -> Play:
        yield from self.arrive(who, cell)
        yield from self.arrivals(who)

    # Attack

    def attack(self, who: Who, target: Who) -> Play:
        """58-76."""
        self.pay(who, MONSTERS[self.monster(who)["name"]]["damage"])
        yield from self.react(self.instants(target[0], "attacked", target, None))  # 70
        left = self.damage(who)
        blocks, last = self.block_limit(target), -1
        while left and blocks:  # 64, 65
            monster = self.monster(target)
            names = {f"card {n}": label for label in monster["hand"] if (n := self.number(target, label)) > last}
            answer = yield from self.choose(target[0], [*names, "pass"])
            if answer == "pass":
                break
            monster["hand"].remove(names[answer])
            monster["discard"].append(names[answer])
            last, left, blocks = self.number(target, names[answer]), left - 1, blocks - 1
        stopped = min(left, self.monster(target)["shield"])
        self.monster(target)["shield"] -= stopped
        left -= stopped
        if not left:
            return  # 66
        victim = target
        guards = [
            other
            for other in self.own(target[0])
            if other not in (target, who) and self.bonus(other, "living_shield") and self.monster(other)["energy"] > 0
            if self.beside(other, target)  # Q84, Q87
        ]
        guard = yield from self.choose_monster(target[0], guards, may_pass=True)  # 106, Q49
        if guard is not None:
            victim = guard
        yield from self.suffer(who, victim, left)

    def block_limit(self, who: Who) -> int:
        """65: the defender's own damage value with its lasting bonuses."""
        return self.damage(who) - self.monster(who)["boost"]

    def suffer(self, who: Who, victim: Who, amount: int) -> Play:
        """A successful attack: damage, the idol, a knock-out, and who reacts: 67, 68, 71-76, Q46, Q47."""
        before = self.monster(victim)["energy"]
        self.lose(victim, amount)
        if self.carrier == victim:
            if self.attack_kind(who) == "strike":
                yield from self.struck_carrier(who, victim)
            else:
                yield from self.shot_carrier(who)
        if before and self.monster(victim)["energy"] == 0:
            cell = yield from self.choose_cell(who[0], self.one_step(victim), may_pass=True)
            if cell is not None:
                yield from self.arrive(victim, cell)
        yield from self.react(self.instants(victim[0], "hurt", victim, None))

    def struck_carrier(self, who: Who, victim: Who) -> Play:
        """71, 72; a guard may carry the idol out of the striker's reach (Q86)."""
        cells, near = self.one_step(victim), self.beside(who, victim)
        self.table["carrier"] = None
        if not cells:
            self.table["idol"] = self.monster(who)["at"][:]
            yield from self.take_idol(who)
            return
        cell = yield from self.choose_cell(who[0], cells)
        idol = self.idol
        yield from self.arrive(victim, cell)
        if near:
            yield from self.arrive(who, idol)

    def shot_carrier(self, who: Who) -> Play:
        """73, 74, Q56, Q57."""
        cells = [add(self.idol, d) for d in range(6) if not self.closed(add(self.idol, d), who[0])]
        if not cells:
            raise Outside("an idol that cannot be moved")
        self.table["carrier"] = None
        cell = yield from self.choose_cell(who[0], cells)
        yield from self.put_idol(cell)

    # Mob March

    def can_march(self, payer: Who) -> bool:
        """77-80."""
        own = self.own(payer[0])
        cost = 4 + sum(self.monster(who)["stun"] for who in own)
        if self.weather("no_march") or self.monster(payer)["energy"] < cost:
            return False
        if any(self.monster(who)["energy"] == 0 or self.monster(who)["resting"] for who in own):
            return False
        return self.all_can_move(own, spare=1)

    def march_cells(self, who: Who, spare: int) -> dict[Cell, int]:
        """Where a marching monster may go, with the spare steps used; the carrier goes 1 (Q44)."""
        near = self.reach(who, 1)
        far = self.reach(who, 2) if spare and who != self.carrier else set()
        return {**dict.fromkeys(far, 1), **dict.fromkeys(near, 0)}

    def all_can_move(self, left: list[Who], spare: int) -> bool:
        """Whether the monsters that are left can all move, in some order: 78, Q72."""
        if not left:
            return True
        return any(
            self.leaves_way(left, who, cell, spare - used)
            for who in left
            for cell, used in self.march_cells(who, spare).items()
        )

    def leaves_way(self, left: list[Who], who: Who, cell: Cell, spare: int) -> bool:
        """Whether the others can still move after this one went there."""
        monster = self.monster(who)
        at, idol = monster["at"], self.table["idol"]
        monster["at"] = list(cell)
        if self.carrier == who:
            self.table["idol"] = list(cell)
        can = self.all_can_move([other for other in left if other != who], spare)
        monster["at"], self.table["idol"] = at, idol
        return can

    def march(self, payer: Who) -> Play:
        """77-80, 148."""
        left = self.own(payer[0])
        self.pay(payer, 4 + sum(self.monster(who)["stun"] for who in left))
        for who in left:
            self.monster(who)["stun"] = 0
        spare = 1
        while left:
            names = {
                f"move {who[1] + 1} {text(cell)}": (who, cell, used)
                for who in left
                for cell, used in self.march_cells(who, spare).items()
                if self.leaves_way(left, who, cell, spare - used)
            }
            if not names:
                raise Outside("a march that a bonus movement brought to a stop")
            who, cell, used = names[(yield from self.choose(payer[0], names))]
            left.remove(who)
            spare -= used
            yield from self.walk(who, cell)

    # Cards

    def draw(self, who: Who, count: int) -> Play:
        """81, 82, Q66."""
        monster = self.monster(who)
        count = min(count, len(monster["draw"]))
        if count == 0:
            return
        told = (yield Reveal())["mobs"][who[0]]["monsters"][who[1]]
        new = [label for label in told["hand"] if label not in monster["hand"]]
        if len(new) != count or any(label not in told["hand"] for label in monster["hand"]):
            raise Outside("more than a draw has happened since")
        assert set(new) <= set(monster["draw"])
        monster["hand"] += new
        monster["draw"] = [label for label in monster["draw"] if label not in new]

    def regenerate(self, who: Who, shuffle: bool | None = None) -> Play:
        """124, 125."""
        monster = self.monster(who)
        if shuffle is None:
            choices = ["choice 0", "choice 1"] if monster["discard"] else ["choice 0"]
            shuffle = (yield from self.choose(who[0], choices)) == "choice 1"
        self.heal(who, monster["spent"])
        monster["frost"] = 0
        monster["resting"] = True
        if shuffle:
            monster["draw"] += monster["discard"]
            monster["discard"] = []

    def munch(self, who: Who, label: str) -> None:
        """94, 96-98, Q68."""
        monster = self.monster(who)
        _, munch = card(monster["name"], label)
        if "once" in munch:
            raise Outside("a one-time munch")
        if len(monster["slots"]) == 3:
            raise Outside("a munched card is replaced")
        self.pay(who, munch["cost"])
        before = self.bonus(who, "energy")
        monster["hand"].remove(label)
        monster["slots"].append(label)
        self.table["mobs"][who[0]]["munched"] += 1
        monster["energy"] += self.bonus(who, "energy") - before
        if len(monster["slots"]) == 2:
            monster["hand"].append(self.label(who, 0))

    def exchangeable(self, who: Who, other: Who) -> bool:
        """45: nobody is swapped into a foreign camp."""
        here, there = self.place(who), self.place(other)
        return here != there and not self.closed(there, who[0]) and not self.closed(here, other[0])

    def can_throw(self, who: Who) -> bool:
        return self.carrier == who and bool(self.bonus(who, "crystal_throw")) and bool(self.throws(who))

    def throws(self, who: Who) -> list[Cell]:
        """107, Q83."""
        here = self.idol
        around = [add(here, d) for d in range(6) if not self.side(here, d)]
        return [cell for cell in around if not self.closed(cell, who[0])]

    def push_or_swap(self, who: Who, label: str, verb: str) -> Play:
        """89-92."""
        monster = self.monster(who)
        self.pay(who, 1 if verb == "play" else 2)
        monster["hand"].remove(label)
        monster["playing"].append(label)
        near = self.targets(who, "strike")
        if verb == "swap":
            other = yield from self.choose_monster(who[0], [one for one in near if self.exchangeable(who, one)])
            yield from self.swap(who, other)
        else:
            names = {f"target P{one[0] + 1}.{one[1] + 1}": one for one in near}
            throw = ["choice 0"] if self.can_throw(who) else []
            answer = yield from self.choose(who[0], [*names, *throw])
            if answer == "choice 0":
                cell = yield from self.choose_cell(who[0], self.throws(who))
                yield from self.put_idol(cell)
            else:
                yield from self.push(who, names[answer])
        monster["playing"].remove(label)
        monster["discard"].append(label)

    def push(self, who: Who, other: Who) -> Play:
        """89, 90, Q51, Q52."""
        cells = self.one_step(other)
        if not cells:
            return
        carried = self.carrier == other
        if carried:
            self.table["carrier"] = None
        cell = yield from self.choose_cell(who[0], cells)
        if carried:
            idol = self.idol
            yield from self.arrive(other, cell)
            yield from self.arrive(who, idol)
        else:
            yield from self.arrive(other, cell)

    def swap(self, who: Who, other: Who) -> Play:
        """91, Q53, Q88."""
        here, there = self.monster(who)["at"], self.monster(other)["at"]
        self.monster(who)["at"], self.monster(other)["at"] = there, here
        if self.carrier in (who, other):
            self.table["idol"] = self.monster(self.carrier)["at"][:]
            self.check_delivery()
        self.spring_trap(who)
        self.spring_trap(other)
        yield from ()

    # The end of a turn and of the game

    def end_of_turn(self) -> Play:
        """126: hand limit, snail, next player."""
        table = self.table
        seat = table["order"][table["turn"]]
        excess = sum(len(self.monster(who)["hand"]) for who in self.own(seat))
        excess -= HAND_LIMIT + self.weather("hand_limit")
        last = (-1, -1)
        while excess > 0:  # 93
            held = sorted(
                (who[1], self.number(who, label)) for who in self.own(seat) for label in self.monster(who)["hand"]
            )
            held = [one for one in held if one > last]
            names = {f"discard {k + 1} {n}": (k, n) for k, n in held[: len(held) - excess + 1]}
            last = names[(yield from self.choose(seat, names))]
            who = (seat, last[0])
            label = self.label(who, last[1])
            self.monster(who)["hand"].remove(label)
            self.monster(who)["discard"].append(label)
            excess -= 1
        for who in self.own(seat):
            self.monster(who).update(boost=0, resting=False)
        table["time"]["turns"] += 1
        yield from self.snail()

    def snail(self) -> Play:
        """22-25, Q12, Q14."""
        time = self.table["time"]
        spaces = TIME["track"]["spaces_4_players" if len(self.table["mobs"]) == 4 else "spaces_2_3_players"]
        if time["left"] == 1 and time["turns"] % spaces == spaces // 2:
            self.by_points()
        if time["turns"] % spaces == 0:
            assert time["left"] > 1
            time["left"] -= 1
            below = TIME["stack"][self.length]  # tiles of level 1, 2, 3, from the top
            gone = sum(below) - time["left"]
            level = next(n for n in (1, 2, 3) if gone < sum(below[:n]))
            told = (yield Reveal())["time"]["tile"]
            assert TILES[told]["level"] == level
            assert told not in time["used"]
            time["tile"] = told
            time["used"] = [*time["used"], told]

    def by_points(self) -> None:
        """57, 128, 129."""
        mobs = self.table["mobs"]
        points = [float(sum(mob["shrines"])) for mob in mobs]
        if self.carrier is not None:
            points[self.carrier[0]] += IDOL_POINTS
        merits = [(points[seat], mob["munched"]) for seat, mob in enumerate(mobs)]
        best = [seat for seat in range(len(mobs)) if merits[seat] == max(merits)]
        self.winners = best if len(best) == 1 else []
        raise Over
