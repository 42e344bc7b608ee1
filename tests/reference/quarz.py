"""Qu'arz as a plain and slow model, written from the numbered rules and the effects of the README alone.

Nothing here comes from the engine: boards, tiles and monsters are read from the data files as they
stand, a position is the table that games/quarz/README.md documents, and the play is a generator that
stops wherever somebody decides. A stop offers the names of the choices in the wording of that README,
so that model and engine can be stepped side by side. Numbers in the comments (77, Q72, L4) are the
rules, readings and lines of sight of docs/games/quarz.md, and the further readings of the README.

Modelled: favor cards and turn order; movement, floes, traps, Mob March; attacks with blocks, shield tokens
and living shields; what becomes of the idol and of who is knocked out; Push, Swap and Crystal Throw;
drawing, munching, melting, shrines, Regeneration; every effect of cards, munches, shrines and favor
actions; instants in their windows; hand limit, snail, time tiles and the end.

Not modelled: the set-up.

Where several cards are chosen at once the choices come in ascending order of the cards. What chance decides is
told to the model by name; it holds the possible outcomes with their probabilities (`Chance`).
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Generator, Iterable
from copy import deepcopy
from dataclasses import dataclass
from math import comb
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[2] / "games" / "quarz" / "data"
DIRECTIONS = [(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)]  # E SE SW W NW NE
TOKENS = ("stun", "poison", "frost", "shield")
MOST_TOKENS = 3
MOST_EXTRAS = 2
HAND_LIMIT = 10  # 93
TRAP_DAMAGE = 2
IDOL_POINTS = 2.5  # 57
PUSH_SWAP = (10, 11, 12)

Cell = tuple[int, int]
Who = tuple[int, int]  # seat and number of the monster
Waived = tuple[str, ...]  # "swim", "climb": what an effect ignores
Effect = dict[str, Any]
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


class Over(Exception):
    """The game is over."""


@dataclass
class Ask:
    """A decision: who decides, and among which names."""

    seat: int
    options: set[str]


@dataclass
class Chance:
    """Chance has a say: the outcomes by name, with their probabilities."""

    outcomes: dict[str, float]


@dataclass
class Attack:
    """An attack under way, as instants change it."""

    less: int = 0
    negated: bool = False


Play = Generator[Ask | Chance, Any, Any]


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
        self.ran: Counter[str] = Counter()  # effects that were run, instants by what set them off
        self.flow = self.play(choosing)
        self.stop: Ask | Chance | None = None
        self.answer(None)

    def answer(self, given: Any) -> None:
        """Tell the name of what was chosen, or of what chance had to say."""
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
        return min(steps, self.carried(who)) if who == self.carrier else steps

    def carried(self, who: Who) -> int:
        """Steps of a carrier: 55."""
        return 1 + self.bonus(who, "carry") + int(self.weather("carry"))

    def effect_steps(self, who: Who, effect: Effect) -> int:
        """Steps of a movement by an effect: 55, 116."""
        amount = int(effect["amount"])
        if who != self.carrier:
            return amount
        return min(
            amount, 1 if effect["do"] in ("jump", "move_any") else max(effect.get("carry", 0), self.carried(who))
        )

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
        """Whether entering the cell ends a movement: the unclaimed idol, a rival's trap (50). Where a march is thought
        out, a friend that has gone there has taken the one and sprung the other."""
        if self.standing(cell):
            return False
        trap = self.table["traps"].get(f"{cell[0]},{cell[1]}")
        return (cell == self.idol and self.carrier is None) or (trap is not None and trap != who[0])

    def steps(self, who: Who, cell: Cell, walls: int = 1, waived: Waived = ()) -> list[tuple[Cell, int]]:
        """Where one step from a cell leads, with the walls that helpers still let it cross: 41-48, 120-122."""
        found = []
        swims = "swim" in waived or self.bonus(who, "swim")
        climbs = "climb" in waived or self.bonus(who, "climb")
        for direction in range(6):
            there, left = add(cell, direction), walls
            obstacles = self.side(cell, direction)
            if self.closed(there, who[0]) or any(other[0] != who[0] for other in self.standing(there)):
                continue
            if "water" in obstacles and not swims:
                continue
            if "crystal" in obstacles and not climbs:
                if not left or not self.helped(who, "wall_step", (cell, there)):
                    continue
                left -= 1
            while self.floe(there) and not self.ends(who, there):  # Q28
                on = add(there, direction)
                wall = "crystal" in self.side(there, direction) and not climbs
                if wall or self.closed(on, who[0]) or not self.free(on, who):
                    break
                there = on
            if self.floe(there) and not self.free(there, who):
                continue  # Q29: who would have to stay on a taken floe does not enter it
            found.append((there, left))
        return found

    def reach(self, who: Who, steps: int, waived: Waived = ()) -> set[Cell]:
        """Where a movement of up to so many steps may end; water or crystal may be waived for it."""
        start = self.place(who)
        seen, edge = {(start, 1)}, {(start, 1)}
        for _ in range(steps):
            edge = {
                step
                for cell, walls in edge
                if cell == start or not self.ends(who, cell)
                for step in self.steps(who, cell, walls, waived)
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

    def possible(self, who: Who, effects: list[Effect]) -> bool:
        """Whether the first of these effects has a target (Q77)."""
        effect, do = effects[0], effects[0]["do"]
        if effect.get("kind") == "context" or do in ("negate", "reduce", "boost", "roll", "extra"):
            return True
        if do == "draw":
            return bool(self.monster(who)["draw"])
        if do == "splash":
            return bool(self.targets(who, "strike", effect["target"] == "enemy"))
        if do == "choose_own":
            return bool(self.choosable(who[0], effects[1]))
        if do in ("heal", "cleanse", "shield"):
            wanting = bool(self.wanting(who, effect))
            return wanting or (do != "heal" and effect["who"] == "self" and len(effects) > 1)
        return bool(self.options(who, effect))

    def options(self, who: Who, effect: Effect) -> dict[str, Any]:
        """The first choice of an effect by its names, without "pass"."""
        do, own = effect["do"], self.own(who[0])
        if do in ("damage", "push", "swap", "sap", *TOKENS) and "kind" in effect:
            return self.names(self.aims(who, effect))
        if do in ("heal", "cleanse", "shield"):
            return self.names(self.wanting(who, effect))
        if do in ("move", "march"):
            movers = [who] if effect.get("who") == "self" else own
            return {
                f"move {mover[1] + 1} {text(cell)}": (mover, cell)
                for mover in movers
                for cell in self.reach(mover, self.effect_steps(mover, effect), self.waived(effect))
            }
        if do == "jump":
            cells = [
                cell
                for cell in self.cells - {self.place(who)}
                if self.free(cell, who) and not self.closed(cell, who[0])
            ]
            far = self.effect_steps(who, effect)
            return {f"cell {text(cell)}": cell for cell in cells if distance(cell, self.place(who)) <= far}
        if do == "trap":
            if sum(seat == who[0] for seat in self.table["traps"].values()) >= MOST_TOKENS:  # Q89
                return {}
            cells = [cell for cell in self.free_fields() if f"{cell[0]},{cell[1]}" not in self.table["traps"]]
            return {f"cell {text(cell)}": cell for cell in cells if distance(cell, self.place(who)) <= effect["amount"]}
        if do == "rotate":
            return {f"cell {text(cell)}": cell for cell in self.free_fields() if self.turns(cell) > 1}
        if do == "trade":
            return {f"cell {text(cell)}": cell for cell in self.free_fields() if self.partners(cell)}
        if do == "swap_friends":
            return self.names([one for one in own if any(self.place(one) != self.place(other) for other in own)])
        if do == "move_any":
            far = {one: self.effect_steps(one, effect) for one in self.everyone()}
            return self.names([one for one in far if self.reach(one, far[one], ("swim", "climb"))])
        if do == "recover":
            return {f"card {self.number(who, label)}": label for label in self.monster(who)["discard"]}
        assert do == "attack"
        return self.names(self.targets(who, self.attack_kind(who)))

    def names(self, monsters: list[Who]) -> dict[str, Who]:
        return {f"target P{who[0] + 1}.{who[1] + 1}": who for who in monsters}

    def waived(self, effect: Effect) -> Waived:
        return tuple(key for key in ("swim", "climb") if effect.get(key))

    def aims(self, who: Who, effect: Effect) -> list[Who]:
        """Whom an effect can reach and do something to."""
        do = effect["do"]
        found = self.targets(who, effect["kind"], effect["target"] == "enemy")
        if do in TOKENS:
            return [other for other in found if self.monster(other)[do] < MOST_TOKENS]
        if do == "swap":
            return [other for other in found if self.exchangeable(who, other)]
        if do == "sap":
            return [other for other in found if self.monster(other)["hand"]]
        return found

    def wanting(self, who: Who, effect: Effect) -> list[Who]:
        """Own monsters to heal, cleanse or shield."""
        monsters = [who] if effect["who"] == "self" else self.own(who[0])
        if effect["do"] == "shield":
            return [one for one in monsters if self.monster(one)["shield"] < MOST_TOKENS]
        return [one for one in monsters if self.gains(one, effect["do"])]

    def choosable(self, seat: int, following: Effect) -> list[Who]:
        return [one for one in self.own(seat) if following["do"] != "draw" or self.monster(one)["draw"]]

    def tile(self, cell: Cell) -> tuple[str, int]:
        name, turned = self.table["tiles"][f"{cell[0]},{cell[1]}"]
        return name, turned

    def turns(self, cell: Cell) -> int:
        """In how many ways the tile on a cell can lie."""
        edges = set(PATTERNS[self.tile(cell)[0]]["edges"])
        return next(k for k in (1, 2, 3, 6) if {(edge + k) % 6 for edge in edges} == edges)

    def partners(self, cell: Cell) -> list[Cell]:
        """Free hexes whose exchange with this one changes the board: 114."""
        return [other for other in self.free_fields() if self.tile(other) != self.tile(cell)]

    def gains(self, who: Who, do: str) -> bool:
        """Whether there is something to heal, or to cleanse, in a monster."""
        keys = ("spent",) if do == "heal" else ("stun", "poison", "frost")
        return any(self.monster(who)[key] for key in keys)

    def free_fields(self) -> list[Cell]:
        """Q21."""
        return [cell for cell in self.fields if not self.standing(cell) and cell != self.idol]

    def instants(
        self, seat: int, trigger: str, victim: Who | None, near: Who | None, witnesses: Iterable[Who] = ()
    ) -> Ask:
        """The instants a seat may use now: 87, 37. Arrivals: whom it came beside, and still is (Q97)."""
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
                if near is not None and not (who in witnesses and self.beside(who, near)):
                    continue
                if self.possible(who, ability["effects"]):  # Q77
                    ask.options.add(f"react {who[1] + 1} {self.number(who, label)}")
        return ask

    # Asking

    def ask(self, ask: Ask) -> Play:
        """The answer; a single possibility is not asked for."""
        if len(ask.options) == 1:
            return next(iter(ask.options))
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

    def window(
        self,
        seat: int,
        trigger: str,
        victim: Who | None,
        cause: Who,
        attack: Attack | None = None,
        witnesses: Iterable[Who] = (),
    ) -> Play:
        """Ask a seat for instants, one after the other, until it passes or has none: 87."""
        while attack is None or not attack.negated:
            ask = self.instants(seat, trigger, victim, cause if trigger == "arrived" else None, witnesses)
            if ask.options == {"pass"}:
                return
            answer = yield from self.ask(ask)
            if answer == "pass":
                return
            yield from self.instant((seat, int(answer.split(" ")[1]) - 1), int(answer.split(" ")[2]), cause, attack)

    def instant(self, who: Who, number: int, cause: Who | None, attack: Attack | None) -> Play:
        """87, 88."""
        label = self.label(who, number)
        ability, _ = card(self.monster(who)["name"], label)
        self.ran[f"instant {ability['trigger']}"] += 1
        self.table["mobs"][who[0]]["reactions"] -= ability.get("reactions", 0)
        yield from self.play_card(who, label, ability["cost"], ability["effects"], cause, attack)

    def chance(self, outcomes: dict[str, float]) -> Play:
        """What chance decides; a single possibility is not asked for."""
        if len(outcomes) == 1:
            return next(iter(outcomes))
        told = yield Chance(outcomes)
        assert told in outcomes
        return told

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

    def arrive(self, who: Who, cell: Cell, walking: bool = False) -> Play:
        """Put a monster on a cell it may be on; the idol goes along, a lone idol is taken: 49-54. `walking`: its own
        mob moves it, so that a bonus movement belongs to that movement (Q96)."""
        monster = self.monster(who)
        monster["at"] = list(cell)
        if self.carrier == who:
            self.table["idol"] = list(cell)
            self.check_delivery()
        self.spring_trap(who)  # Q93
        if self.carrier is None and cell == self.idol:
            yield from self.take_idol(who, walking)

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

    def take_idol(self, who: Who, walking: bool = False) -> Play:
        """Control, and the bonus movement, a movement that its mob chooses: 49, 51, 53, Q58, Q96."""
        self.table["carrier"] = list(who)
        self.check_delivery()
        cells = {cell for cell, _ in self.steps(who, self.place(who)) if self.free(cell, who)} - {self.place(who)}
        cell = yield from self.choose_cell(who[0], cells, may_pass=True)
        if cell is not None:
            yield from self.arrive(who, cell)
            if not walking:
                yield from self.arrivals(who)

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
        """Instants of enemies a voluntary movement ended beside, in turn order after the mover: Q78, Q97."""
        order = self.table["order"]
        at = order.index(who[0])
        witnesses = [other for other in self.everyone() if other[0] != who[0] and self.beside(other, who)]
        for seat in order[at + 1 :] + order[:at]:
            yield from self.window(seat, "arrived", None, who, witnesses=witnesses)

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
        for who in self.own(seat):  # Q93
            monster = self.monster(who)
            self.heal(who, self.weather("start_heal"))
            if monster["poison"]:
                monster["poison"] -= 1
                self.lose(who, 1)
            if who == self.carrier:
                self.lose(who, self.weather("idol_drain"))
        favor = FAVORS[mob["favor"]]
        if favor.get("take_back"):
            mob["favor_hand"] = [0, 1, 2, 3, 4]  # Q6
        options = {f"choice {i}": one["effects"] for i, one in enumerate(favor["options"]) if self.doable(seat, one)}
        if not options:
            return  # 33
        effects = options[(yield from self.choose(seat, options))]
        yield from self.run((seat, 0), effects)

    def doable(self, seat: int, option: dict[str, Any]) -> bool:
        """33, Q76."""
        return self.possible((seat, 0), option["effects"])

    def actions(self, seat: int) -> Play:
        """Up to the actions the turn has: 32, 36; then what needs none: Q91."""
        while True:
            acting = self.table["actions"] > 0
            answer = yield from self.ask(self.offer(seat) if acting else self.offer_free(seat))
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
                yield from self.instant(who, int(words[1]), None, None)
                continue
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
        elif verb == "play":
            ability, _ = card(monster["name"], self.label(who, int(words[0])))
            yield from self.play_card(
                who, self.label(who, int(words[0])), ability["cost"], ability["effects"], None, None
            )
        elif verb == "munch":
            yield from self.munch(who, self.label(who, int(words[0])))
        else:
            assert verb == "shrine"
            shrine = self.shrines.index(self.place(who))
            self.pay(who, max(0, 2 - self.weather("shrine_discount")))  # 108
            self.table["mobs"][who[0]]["shrines"][shrine] += 1
            yield from self.run(who, SHRINES[self.table["shrine_cards"][shrine]]["effects"])

    def offer(self, seat: int) -> Ask:
        """Every choice of the acting seat: 34-39 and the rules of each action."""
        ask = self.instants(seat, "free", None, None)
        ask.options |= self.meltings(seat)
        for who in self.own(seat):
            monster, k = self.monster(who), who[1] + 1
            if monster["resting"]:
                continue  # 125, 40: its turn has ended, for marching as well
            ask.options.add(f"regenerate {k}")  # Q38
            if monster["discard"]:
                ask.options.add(f"regenerate {k} shuffle")  # 124
            if monster["energy"] > 0:  # 37
                self.offer_actions(who, ask)
        return ask

    def meltings(self, seat: int) -> set[str]:
        """118, Q27: no action, so that a resting monster may do it, too."""
        return {
            f"melt {who[1] + 1} {i}"
            for who in self.own(seat)
            if self.monster(who)["energy"] > 0 and self.second_shrine(who)
            for i, cell in enumerate(self.blocks)
            if not self.floe(cell)
        }

    def offer_free(self, seat: int) -> Ask:
        """What needs no action, after the last one: Q91."""
        ask = Ask(seat, {"pass"} | self.meltings(seat))
        for name in self.instants(seat, "free", None, None).options - {"pass"}:
            _, k, number = name.split(" ")
            who = (seat, int(k) - 1)
            effects = card(self.monster(who)["name"], self.label(who, int(number)))[0]["effects"]
            if any(effect["do"] not in ("boost", "roll") and self.possible(who, [effect]) for effect in effects):
                ask.options.add(name)
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

        def offer(name: str, can: bool) -> None:
            (ask.options if can else set()).add(name)

        for label in monster["hand"]:
            number = self.number(who, label)
            ability, munch = card(monster["name"], label)
            if number in PUSH_SWAP:
                if self.targets(who, "strike") or self.can_throw(who):  # 89, 107
                    ask.options.add(f"play {k} {number}")
                if energy >= 2 and any(self.exchangeable(who, other) for other in self.targets(who, "strike")):
                    ask.options.add(f"swap {k} {number}")  # 91
            elif "trigger" not in ability and energy >= ability["cost"]:
                offer(f"play {k} {number}", self.possible(who, ability["effects"]))  # 84, Q77
            if energy >= munch["cost"]:
                unlocked = [one for one in monster["slots"] if not card(monster["name"], one)[1].get("lock")]
                if "once" in munch:
                    offer(f"munch {k} {number}", self.possible(who, munch["once"]))
                else:
                    offer(f"munch {k} {number}", len(monster["slots"]) < 3 or bool(unlocked))  # 96, 101, 102
        cell = self.place(who)
        if cell in self.shrines and energy >= max(0, 2 - self.weather("shrine_discount")):  # 108
            shrine = self.shrines.index(cell)
            uses = self.table["mobs"][who[0]]["shrines"][shrine]
            if uses == 0 or (uses == 1 and self.second_shrine(who)):  # 110-112
                ask.options.add(f"shrine {k}")  # an activation is worth its point in any case

    def walk(self, who: Who, cell: Cell) -> Play:
        yield from self.arrive(who, cell, walking=True)
        yield from self.arrivals(who)

    # Attack

    def attack(self, who: Who, target: Who) -> Play:
        """58-76."""
        self.pay(who, MONSTERS[self.monster(who)["name"]]["damage"])
        yield from self.strike_or_shoot(who, target)

    def strike_or_shoot(self, who: Who, target: Who) -> Play:
        """62-70; an attack by a card costs nothing."""
        attack, kind = Attack(), self.attack_kind(who)
        yield from self.window(target[0], "attacked", target, who, attack)  # 70
        left = max(0, self.damage(who) - attack.less)
        if attack.negated or not self.hits(who, target, kind):
            return
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
        yield from self.hurt(who, target, left, kind)

    def hurt(self, who: Who, target: Who, left: int, kind: str) -> Play:
        """Damage that is no longer blocked, of an attack or an ability: shields, guards, then the loss."""
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
        yield from self.suffer(who, victim, left, kind)

    def block_limit(self, who: Who) -> int:
        """65: the defender's own damage value with its lasting bonuses."""
        return self.damage(who) - self.monster(who)["boost"]

    def suffer(self, who: Who, victim: Who, amount: int, kind: str) -> Play:
        """A successful attack: damage, the idol, a knock-out, and who reacts: 67, 68, 71-76, Q46, Q47."""
        alive = self.monster(victim)["energy"] > 0
        self.lose(victim, amount)
        knocked_out = alive and self.monster(victim)["energy"] == 0  # a trap that it is driven onto is another matter
        if self.carrier == victim and kind != "plain":
            if kind == "strike":
                yield from self.struck_carrier(who, victim)
            else:
                yield from self.shot_carrier(who)
        if knocked_out:
            cell = yield from self.choose_cell(who[0], self.one_step(victim), may_pass=True)
            if cell is not None:
                yield from self.arrive(victim, cell)
        yield from self.window(victim[0], "hurt", victim, who)

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
            return  # Q94
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
                return  # Q72
            who, cell, used = names[(yield from self.choose(payer[0], names))]
            left.remove(who)
            spare -= used
            yield from self.walk(who, cell)

    # Cards

    def draw(self, who: Who, count: int) -> Play:
        """81, 82, Q66: so many of the pile's cards at once, each set alike likely, told in ascending order."""
        monster, last = self.monster(who), -1
        count = min(count, len(monster["draw"]))
        for left in range(count, 0, -1):
            pile = [n for n in sorted(self.number(who, label) for label in monster["draw"]) if n > last]
            ways = {f"card {n}": comb(len(pile) - 1 - i, left - 1) / comb(len(pile), left) for i, n in enumerate(pile)}
            told = yield from self.chance({name: ways[name] for name in ways if ways[name]})
            last = int(told.split(" ")[1])
            monster["draw"].remove(self.label(who, last))
            monster["hand"].append(self.label(who, last))

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

    def munch(self, who: Who, label: str) -> Play:
        """94-98, 101-103, Q62, Q68."""
        monster = self.monster(who)
        _, munch = card(monster["name"], label)
        self.pay(who, munch["cost"])
        monster["hand"].remove(label)
        self.table["mobs"][who[0]]["munched"] += 1
        if "once" in munch:
            monster["removed"].append(label)
            yield from self.run(who, munch["once"])
            return
        before = self.bonus(who, "energy")
        if len(monster["slots"]) == 3:
            monster["playing"].append(label)
            open_slots = [i for i, one in enumerate(monster["slots"]) if not card(monster["name"], one)[1].get("lock")]
            answer = yield from self.choose(who[0], [f"slot {i}" for i in open_slots])
            monster["removed"].append(monster["slots"].pop(int(answer.split(" ")[1])))
            monster["playing"].remove(label)
        monster["slots"].append(label)
        more = self.bonus(who, "energy") - before
        from_spent = min(monster["spent"], max(0, -more))  # Q92
        monster["spent"] -= from_spent
        monster["energy"] += more + from_spent
        if len(monster["slots"]) == 2:
            monster["hand"].append(self.label(who, 0))

    def play_card(
        self, who: Who, label: str, cost: int, effects: list[Effect], cause: Who | None, attack: Attack | None
    ) -> Play:
        """84: pay, resolve, discard."""
        monster = self.monster(who)
        self.pay(who, cost)
        monster["hand"].remove(label)
        monster["playing"].append(label)
        yield from self.run(who, effects, cause, attack)
        monster["playing"].remove(label)
        monster["discard"].append(label)

    # Effects, as games/quarz/README.md words them

    def run(self, who: Who, effects: list[Effect], cause: Who | None = None, attack: Attack | None = None) -> Play:
        """A list of effects in order. An effect without a target is skipped. `who` is the monster of the card; a
        favor action has none until it is chosen, and only the seat of `who` counts."""
        rolled = 0
        for i, effect in enumerate(effects):
            do = effect["do"]
            self.ran[f"effect {do}"] += 1
            amount = rolled if effect.get("amount") == "die" else effect.get("amount", 0)
            if do == "roll":
                faces = MONSTERS[self.monster(who)["name"]]["die"]
                told = yield from self.chance(
                    {f"face {faces.index(face)}": faces.count(face) / 6 for face in sorted(set(faces))}
                )
                rolled = faces[int(told.split(" ")[1])]
            elif do == "choose_own":
                who = yield from self.choose_monster(who[0], self.choosable(who[0], effects[i + 1]))
            elif do == "regenerate":
                yield from self.regenerate(who)
            elif do == "draw":
                yield from self.draw(who, amount)
            elif do == "boost":
                self.monster(who)["boost"] += amount
            elif do == "extra":
                running = self.table["turn"] is not None and self.table["order"][self.table["turn"]] == who[0]
                if running and self.table["extras"] < MOST_EXTRAS:
                    self.table["extras"] += 1
                    self.table["actions"] += 1
            elif do in ("negate", "reduce"):
                assert attack is not None
                attack.negated |= do == "negate"
                attack.less += amount
            elif do == "heal" and effect["who"] == "all":
                for one in self.own(who[0]):
                    self.heal(one, amount)
            elif do in ("heal", "cleanse", "shield") and effect["who"] == "self":
                self.mend(who, do, amount)
            elif effect.get("kind") == "context":
                assert cause is not None
                if do == "push":
                    yield from self.push(who, cause)
                else:
                    yield from self.hurt(who, cause, amount, "strike" if self.beside(who, cause) else "shoot")
            elif do == "splash":
                for other in self.targets(who, "strike", effect["target"] == "enemy"):
                    yield from self.hurt(who, other, amount, effect["kind"])
            elif do == "march":
                yield from self.each_moves(who, effect)
            elif do == "rotate":
                yield from self.rotate(who, effect)
            else:
                yield from self.choosing(who, effect, amount)

    def choosing(self, who: Who, effect: Effect, amount: int) -> Play:
        """An effect that begins with one choice."""
        do, seat = effect["do"], who[0]
        options = self.options(who, effect)
        if not options:
            return
        may_pass = do in ("move", "jump", "trade", "swap_friends", "move_any")
        answer = yield from self.choose(seat, [*options, *(["pass"] if may_pass else [])])
        if answer == "pass":
            return
        chosen = options[answer]
        if do == "damage":
            if amount:
                yield from self.hurt(who, chosen, amount, effect["kind"])
        elif do == "push":
            yield from self.push(who, chosen)
        elif do == "swap":
            yield from self.swap(who, chosen)
        elif do == "attack":
            yield from self.strike_or_shoot(who, chosen)
        elif do == "sap":
            yield from self.sap(chosen, amount)
        elif do in ("heal", "cleanse", "shield"):
            self.mend(chosen, do, amount)
        elif do in TOKENS:
            self.monster(chosen)[do] = min(MOST_TOKENS, self.monster(chosen)[do] + amount)
        elif do == "move":
            yield from self.walk(*chosen)
        elif do == "jump":
            yield from self.walk(who, chosen)
        elif do == "trap":
            self.table["traps"][f"{chosen[0]},{chosen[1]}"] = seat
        elif do == "recover":
            self.monster(who)["discard"].remove(chosen)
            self.monster(who)["hand"].append(chosen)
        elif do == "trade":
            other = yield from self.choose_cell(seat, self.partners(chosen))
            tiles, one, two = self.table["tiles"], f"{chosen[0]},{chosen[1]}", f"{other[0]},{other[1]}"
            tiles[one], tiles[two] = tiles[two], tiles[one]
        elif do == "move_any":
            cell = yield from self.choose_cell(
                seat, self.reach(chosen, self.effect_steps(chosen, effect), ("swim", "climb"))
            )
            yield from self.walk(chosen, cell) if chosen[0] == seat else self.arrive(chosen, cell)
        else:
            assert do == "swap_friends"
            others = [one for one in self.own(seat) if self.place(one) != self.place(chosen)]
            yield from self.swap_friends(chosen, (yield from self.choose_monster(seat, others)))

    def mend(self, who: Who, do: str, amount: int) -> None:
        monster = self.monster(who)
        if do == "heal":
            self.heal(who, amount)
        elif do == "cleanse":
            monster.update(stun=0, poison=0, frost=0)
        else:
            monster["shield"] = min(MOST_TOKENS, monster["shield"] + amount)

    def sap(self, victim: Who, amount: int) -> Play:
        """Random cards of the hand."""
        monster = self.monster(victim)
        for _ in range(min(amount, len(monster["hand"]))):
            told = yield from self.chance(
                {f"card {self.number(victim, label)}": 1 / len(monster["hand"]) for label in monster["hand"]}
            )
            label = self.label(victim, int(told.split(" ")[1]))
            monster["hand"].remove(label)
            monster["discard"].append(label)

    def each_moves(self, who: Who, effect: Effect) -> Play:
        """Each own monster once, up to so far, in any order, or not."""
        left = self.own(who[0])
        while left:
            options = {name: way for name, way in self.options(who, effect).items() if way[0] in left}
            if not options:
                return
            answer = yield from self.choose(who[0], [*options, "pass"])
            if answer == "pass":
                return
            left.remove(options[answer][0])
            yield from self.walk(*options[answer])

    def rotate(self, who: Who, effect: Effect) -> Play:
        """113, Q21, Q22."""
        done: list[Cell] = []
        while len(done) < effect["count"]:
            options = {name: cell for name, cell in self.options(who, effect).items() if cell not in done}
            if not options:
                return
            answer = yield from self.choose(who[0], [*options, "pass"])
            if answer == "pass":
                return
            cell = options[answer]
            name, turned = self.tile(cell)
            answer = yield from self.choose(who[0], [f"turn {k}" for k in range(self.turns(cell)) if k != turned])
            self.table["tiles"][f"{cell[0]},{cell[1]}"] = [name, int(answer.split(" ")[1])]
            done.append(cell)

    def swap_friends(self, one: Who, other: Who) -> Play:
        """115, Q54."""
        a, b = self.monster(one), self.monster(other)
        a["at"], b["at"] = b["at"], a["at"]
        if self.carrier in (one, other):
            yield from self.take_idol(other if self.carrier == one else one)

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
        """89, 90, Q51, Q52, Q80."""
        cells, near = self.one_step(other), self.beside(who, other)
        if not cells:
            return
        carried = self.carrier == other
        if carried:
            self.table["carrier"] = None
        cell = yield from self.choose_cell(who[0], cells)
        if carried:
            idol = self.idol
            yield from self.arrive(other, cell)
            if near:
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
            names = list(TILES)
            free = [name for name in names if TILES[name]["level"] == level and name not in time["used"]]
            told = yield from self.chance({f"time tile {names.index(name)}": 1 / len(free) for name in free})
            time["tile"] = names[int(told.split(" ")[2])]
            time["used"] = [*time["used"], time["tile"]]

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
