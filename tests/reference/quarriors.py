"""The base edition of Quarriors and the Lock rules as a plain and slow model, written from the numbered rules alone.

Nothing here comes from the engine: cards and dice are read from the data file as they stand, a
creature is an object, a turn is a generator that yields a node wherever somebody or chance decides.
A node offers its steps as text, in the wording of games/quarriors/README.md, so that model and
engine can be stepped side by side. Numbers in the comments (B1, A1, K1, W1) are the rule statements,
readings, rulings and windows of docs/games/quarriors.md.

One wording is the model's own: a creature is named by everything that tells it apart (`label`),
where the engine counts (`#k`).

All 53 cards of the base set and all 26 of Quest of the Qladiator are modelled; quarriors_light_dark.py has
the other edition.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Generator
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb, factorial
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "games" / "quarriors" / "data"
FLAVOURS = ("normal", "light", "dark")
GOALS = {2: 20, 3: 15, 4: 12}  # B25
DRAW = 6  # B32
UNLOCK = 2  # LK18
EMPTY_CARDS = 4  # B82
ROOM = 12  # creatures in a Ready Area
ASKED = 500  # A103
TOGETHER = 8  # dice of one class rolled at one node


@dataclass
class Data:
    """The dice and cards of one or more sets."""

    dice: dict[str, dict[str, Any]]
    cards: dict[str, dict[str, Any]]
    order: list[str]

    @staticmethod
    def read(*sets: str, only_quarry: str = "", own: str = "") -> Data:
        """Dice by class, cards by name, and the classes in order: basic, creatures, spells.

        Of the set `only_quarry` only creatures and spells are taken (D5); `own` is the path of one's own cards.
        """
        dice: dict[str, dict[str, Any]] = {}
        cards: dict[str, dict[str, Any]] = {}
        for name in sets:
            table = tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
            kinds = {die["class"]: die["kind"] for die in table["die"]}
            for die in table["die"]:
                if name != only_quarry or die["kind"] in ("creature", "spell"):
                    dice[die["class"]] = die
            for card in table["card"]:
                if name != only_quarry or kinds[card["class"]] in ("creature", "spell"):
                    cards[card["name"]] = card
        if own:
            table = tomllib.loads(Path(own).read_text(encoding="utf-8"))
            cards |= {card["name"]: card for card in table["card"]}

        def of(*kinds: str) -> list[str]:
            return [name for name, die in dice.items() if die["kind"] in kinds]

        return Data(dice, cards, of("large") + of("basic", "assistant") + of("creature") + of("spell"))

    def number(self, name: str, face: int) -> int:
        """A face's number: identical faces go by the first."""
        faces = self.dice[name]["faces"]
        return next(index for index, other in enumerate(faces) if other == faces[face])


@dataclass(eq=False)
class Die:
    """A die in the pool or a spell; face None: not yet rolled."""

    name: str
    face: int | None = None

    def key(self) -> tuple[str, int | None]:
        """What tells it apart."""
        return self.name, self.face


@dataclass(eq=False)
class Creature:
    """A creature in a Ready Area, or a die in its Locked Area (LK11)."""

    name: str
    face: int
    attached: list[Die] = field(default_factory=list)
    copy: tuple[str, int] | None = None
    attack: int = 0  # modifiers for the rest of the turn
    defense: int = 0
    zero: bool = False  # its attack is 0 for the rest of the turn (A16)
    safe: bool = False  # it was saved or returned and takes no more damage in this attack (A20, C5)
    recopied: bool = False  # A39
    locked: bool = False
    new: bool = False  # locked by its owner this turn (LK7)

    def shown(self) -> tuple[str, int]:
        """Class and face it counts as (A38, A43)."""
        return self.copy or (self.name, self.face)

    def label(self) -> str:
        """Everything that tells it apart from creatures with the same die."""
        done = self.recopied or self.new
        return label([die.key() for die in self.attached], self.copy, self.attack, self.defense, done)


def label(attached: list[Any], copy: tuple[str, int] | None, attack: int, defense: int, done: bool) -> str:
    """A creature's description beside its die; `done`: it cannot recopy any more, or be unlocked, this turn."""
    spells = "".join(f" + {name} {face}" for name, face in sorted(attached))
    return f"[{spells} {f'= {copy[0]} {copy[1]}' if copy else ''} {attack:+}/{defense:+}{' done' if done else ''}]"


@dataclass
class Player:
    """One player's collection."""

    glory: int = 0
    turns: int = 0
    bag: Counter[str] = field(default_factory=Counter)
    used: Counter[str] = field(default_factory=Counter)
    pool: list[Die] = field(default_factory=list)
    creatures: list[Creature] = field(default_factory=list)
    spells: list[Die] = field(default_factory=list)
    aside: list[str] = field(default_factory=list)  # A25
    locked: Creature | None = None  # LK1


@dataclass
class Attacker:
    """What phase 4 records of an attacking creature (A29)."""

    creature: Creature
    value: int
    here: bool = True  # still in the Ready Area
    level: int = 0
    effects: list[dict[str, Any]] = field(default_factory=list)


@dataclass(eq=False)
class Ability:
    """An ability that waits to be resolved after scoring (A4)."""

    text: str
    die: str
    effects: list[dict[str, Any]]
    home: bool = True  # the die that has it still lies in the pile

    def optional(self) -> bool:
        """Whether it may be dropped."""
        return all(effect.get("optional", False) for effect in self.effects)


@dataclass
class Cause:
    """Why creatures are destroyed: `kind` damage, level, defense, class, target or bq, with its number.

    `spell_of` is the caster if a spell chose the creatures as targets.
    """

    kind: str
    number: int = 0
    spell_of: int | None = None


@dataclass
class Node:
    """Where the game stands: a seat (-1: chance) and what may happen."""

    seat: int
    options: dict[str, Any]
    chances: dict[str, Fraction] = field(default_factory=dict)


Steps = Generator[Node, str, Any]


class GameOver(Exception):
    """The game has ended (B86, B87)."""


def bursts(face: dict[str, Any]) -> int:
    """Burst symbols of a face."""
    return int(face.get("bursts", 0))


def burst_fits(effect: dict[str, Any], face: dict[str, Any]) -> bool:
    """B49, B51, B53: `*` exactly one, `**` exactly two, `*/**` either, `-` none, nothing said: any face."""
    fitting = {None: (0, 1, 2), "-": (0,), "*": (1,), "**": (2,), "*/**": (1, 2)}
    return bursts(face) in fitting[effect.get("burst")]


class Game:
    """A game of the base edition, with `qladiator` also of the Lock rules.

    `wilds` names cards beside the basic ones; chance deals the rest (B4, B5). `bag`, for practice games,
    is what every player begins with instead of B9; the other dice lie on their cards. `own` is the path of a
    set of one's own.
    """

    def __init__(
        self,
        players: int = 2,
        wilds: list[str] | None = None,
        max_turns: int = 100,
        bag: dict[str, int] | None = None,
        qladiator: bool = False,
        own: str = "",
    ) -> None:
        self.data = self.read_data(qladiator, own)
        self.players = [Player() for _ in range(players)]
        self.wilds: dict[str, int] = {}  # dice by class
        self.card: dict[str, dict[str, Any]] = {}  # card by class
        self.fixed = list(wilds or [])
        self.first_bag = Counter(bag or self.usual_bag())
        self.max_turns = max_turns
        self.turn = self.phase = self.active = self.captures = self.decisions = 0
        self.floating: Counter[str] = Counter()  # Quiddity by flavour
        self.winners: list[int] = []
        self.waiting: list[Ability] = []  # on-score abilities
        self.dearer_due = False  # W5: something was rolled or summoned
        self._run = self._play()
        self.node: Node | None = next(self._run)

    def read_data(self, qladiator: bool, own: str) -> Data:
        """The sets in play."""
        return Data.read("base", *(["qladiator"] if qladiator else []), own=own)

    def usual_bag(self) -> dict[str, int]:
        """B9."""
        return {"Basic Quiddity": 8, "Assistant": 4}

    # ------------------------------------------------------------------ stepping

    def apply(self, step: str) -> None:
        """Go on with a step of the present node."""
        try:
            self.node = self._run.send(step)
        except StopIteration:
            self.node = None

    def ask(self, seat: int, options: dict[str, Any], done: bool = False) -> Steps:
        """Let a seat choose among values by name; None for `done`. One option is not asked (I25)."""
        if done:
            if not options or self.decisions >= ASKED:
                return None
            options = {"done": None, **options}
        if len(options) == 1:
            return next(iter(options.values()))
        self.decisions += 1
        return options[(yield Node(seat, options))]

    def chance(self, outcomes: dict[str, tuple[Fraction, Any]]) -> Steps:
        """Let chance choose among values by name; what is certain is not a node."""
        if len(outcomes) == 1:
            return next(iter(outcomes.values()))[1]
        chances = {name: probability for name, (probability, _) in outcomes.items()}
        return outcomes[(yield Node(-1, dict.fromkeys(outcomes), chances))][1]

    # ------------------------------------------------------------------ reading the table

    def face(self, name: str, face: int) -> dict[str, Any]:
        """A face of a die."""
        return self.data.dice[name]["faces"][face]

    def kind(self, name: str) -> str:
        """A die's kind."""
        return self.data.dice[name]["kind"]

    def classes(self) -> list[str]:
        """The classes in play, in order."""
        return [name for name in self.data.order if name in self.card]

    def dice_classes(self) -> list[str]:
        """The classes of dice that are rolled, in order."""
        return self.classes()

    def clockwise(self, seat: int) -> list[int]:
        """The seat and the others, clockwise."""
        return [(seat + step) % len(self.players) for step in range(len(self.players))]

    def rivals(self, seat: int) -> list[int]:
        """The other seats, clockwise."""
        return self.clockwise(seat)[1:]

    def rank(self, creature: Creature) -> tuple[Any, ...]:
        """Creatures are asked in class order, then by face, copy, attached spells and boosts.

        Spells count from the last class on: how many show its first spell face, how many another.
        """

        def place(die: tuple[str, Any]) -> tuple[int, Any]:
            return self.data.order.index(die[0]), die[1]

        copy = place(creature.copy) if creature.copy else (len(self.data.order), 0)
        counts = Counter(die.key() for die in creature.attached)
        attached = tuple(
            counts[name, self.data.number(name, face)]
            for name in reversed(self.classes())
            if self.kind(name) == "spell"
            for face in self.spell_faces(name)
        )
        boosts = creature.attack, creature.defense, creature.recopied
        return *place((creature.name, creature.face)), copy, attached, *boosts

    def spell_faces(self, name: str) -> list[int]:
        """The different spell faces of a die."""
        faces = self.data.dice[name]["faces"]
        return sorted({self.data.number(name, face) for face in range(len(faces)) if faces[face].get("spell")})

    def ordered(self, seat: int) -> list[Creature]:
        """A seat's creatures in order."""
        return sorted(self.players[seat].creatures, key=self.rank)

    def area(self, seat: int) -> list[Creature]:
        """A seat's creatures and its locked die in order (A111)."""
        player = self.players[seat]
        return sorted(player.creatures + ([player.locked] if player.locked else []), key=self.rank)

    def effects(self, creature: Creature, on: str, do: str | None = None) -> list[dict[str, Any]]:
        """A creature's effects of a kind, by the card and face it shows.

        A locked die has the permanent abilities of its Lock line only, other creatures do not have them (A112).
        """
        name, face = creature.shown()
        if creature.locked and on not in ("static", "onlock"):
            return []
        if creature.locked and on == "static":
            on = "locked"
        return [
            effect
            for effect in self.card[name].get("effects", [])
            if effect["on"] == on
            and (do is None or effect["do"] == do)
            and burst_fits(effect, self.face(name, face))
            and (effect.get("when") != "no_copy" or creature.copy is None)
        ]

    def spell_effects(self, die: Die, on: str, do: str | None = None) -> list[dict[str, Any]]:
        """The effects of a spell die in a Ready Area."""
        return [
            effect
            for effect in self.card[die.name].get("effects", [])
            if effect["on"] == on
            and (do is None or effect["do"] == do)
            and burst_fits(effect, self.face(die.name, die.face))
        ]

    def level(self, creature: Creature) -> int:
        """A creature's level; 0 if locked (LK11)."""
        return 0 if creature.locked else self.face(*creature.shown())["level"]

    def basic_quiddity(self, seat: int) -> int:
        """Basic Quiddity dice in pile and pool."""
        player = self.players[seat]
        return player.used["Basic Quiddity"] + sum(die.name == "Basic Quiddity" for die in player.pool)

    def printed(self, seat: int, creature: Creature, which: str) -> int:
        """Attack or defence of the face, or what a `stats` effect sets it to."""
        for effect in self.effects(creature, "static", "stats"):
            value = effect[which]
            if value == "bq":
                return self.basic_quiddity(seat)
            if value == "all_creatures":
                return sum(len(self.area(owner)) for owner in range(len(self.players)))  # A49
            return int(value)
        return int(self.face(*creature.shown())[which])

    def static_bonus(self, seat: int, creature: Creature, which: str) -> int:
        """What own and other creatures' permanent abilities add."""
        total = 0
        others = len(self.area(seat)) - 1  # A111
        for other in self.area(seat):
            for effect in self.effects(other, "static", which):
                if effect.get("when") == "alone" and others:
                    continue
                if (effect["target"] == "self") == (other is creature):
                    total += others if effect["n"] == "others" else effect["n"]
        return total

    def attached_bonus(self, creature: Creature, which: str) -> int:
        """What attached spells add."""
        return sum(effect["n"] for die in creature.attached for effect in self.spell_effects(die, "attached", which))

    def attack_of(self, seat: int, creature: Creature) -> int:
        """Attack with all boosts; 0 if locked (LK11)."""
        if creature.zero or creature.locked:
            return 0
        return (
            self.printed(seat, creature, "attack")
            + self.static_bonus(seat, creature, "attack")
            + self.attached_bonus(creature, "attack")
            + creature.attack
        )

    def defense_of(self, seat: int, creature: Creature, bare: bool = False) -> int:
        """Defence with all boosts; `bare` leaves attached spells out (A52); 0 if locked (LK11)."""
        if creature.locked:
            return 0
        return (
            self.printed(seat, creature, "defense")
            + self.static_bonus(seat, creature, "defense")
            + (0 if bare else self.attached_bonus(creature, "defense"))
            + creature.defense
        )

    def face_effects(self, die: Die) -> list[dict[str, Any]]:
        """The card's effects on an immediate face."""
        if die.face is None:
            return []
        face = self.face(die.name, die.face)
        return [
            effect
            for effect in self.card.get(die.name, {}).get("effects", [])
            if effect["on"] == "face" and face.get(effect["face"]) and burst_fits(effect, face)
        ]

    def money(self, die: Die) -> tuple[str, int]:
        """Flavour and Quiddity of a pool die."""
        face = {} if die.face is None else self.face(die.name, die.face)
        return face.get("flavour", "normal"), face.get("quiddity", 0)

    def name_of(self, seat: int, creature: Creature) -> str:
        """A creature as target, host or defender."""
        return f"creature {seat} {creature.name} {creature.face} {creature.label()}"

    def empty_cards(self) -> int:
        """Creature cards without dice (B83)."""
        return sum(self.wilds[name] == 0 for name in self.card if self.kind(name) == "creature")

    # ------------------------------------------------------------------ small changes

    def gain(self, seat: int, glory: int) -> None:
        """Glory, and the end of the game at the goal (A6, B86)."""
        self.players[seat].glory += glory
        if self.players[seat].glory >= GOALS[len(self.players)]:
            self.winners = [seat]
            raise GameOver

    def rank_and_end(self) -> None:
        """B87, A100: most Glory, then most dice in the Ready Area, then shared."""

        def standing(player: Player) -> tuple[int, int]:
            creatures = player.creatures + ([player.locked] if player.locked else [])
            attached = sum(len(creature.attached) for creature in creatures)
            return player.glory, len(creatures) + len(player.spells) + attached

        best = max(standing(player) for player in self.players)
        self.winners = [seat for seat, player in enumerate(self.players) if standing(player) == best]
        raise GameOver

    def test_empty(self) -> None:
        """B82: after every captured die."""
        if self.empty_cards() >= EMPTY_CARDS:
            self.rank_and_end()

    def spent_pile(self, seat: int) -> Counter[str]:
        """Where dice that are spent go (B16)."""
        return self.players[seat].used

    def at_hand(self, flavour: str = "") -> int:
        """Quiddity the active player can pay, of one flavour or of all."""
        money = [self.money(die) for die in self.players[self.active].pool] + list(self.floating.items())
        return sum(count for kind, count in money if flavour in ("", kind))

    def payments(self, price: int, needed: str = "") -> dict[str, dict[str, int]]:
        """The ways to pay a price, with at least 1 of a flavour if one is needed (A80, A81, D21, D23)."""
        ways = {}
        for light in range(min(self.at_hand("light"), price) + 1):
            for dark in range(min(self.at_hand("dark"), price - light) + 1):
                way = {"normal": price - light - dark, "light": light, "dark": dark}
                if way["normal"] <= self.at_hand("normal") and (not price or not needed or way[needed]):
                    ways[f"pay {light} light {dark} dark"] = way
        return ways

    def pay(self, price: int, needed: str = "") -> Steps:
        """The player names the flavours of a payment."""
        self.pay_exactly((yield from self.ask(self.active, self.payments(price, needed))))

    def pay_exactly(self, way: dict[str, int]) -> None:
        """Floating Quiddity first, then the largest dice; what is over floats (A76, A77)."""
        player = self.players[self.active]
        for flavour, price in way.items():
            while self.floating[flavour] < price:
                best = min(
                    (die for die in player.pool if self.money(die)[0] == flavour and self.money(die)[1]),
                    key=lambda die: (-self.money(die)[1], self.data.order.index(die.name), die.face),
                )
                player.pool.remove(best)
                self.spent_pile(self.active)[best.name] += 1
                self.floating[flavour] += self.money(best)[1]
            self.floating[flavour] -= price

    # ------------------------------------------------------------------ drawing and rolling

    def draw(self, seat: int, wanted: int) -> Steps:
        """B32, B34 to B36: from the bag to the pool, the pile is put in when the bag is empty. Returns the dice."""
        player = self.players[seat]
        drawn: list[Die] = []
        while wanted:
            if not player.bag.total():
                if not player.used.total():
                    break
                player.bag, player.used = player.used, Counter()
            count = player.bag.total()
            need = min(wanted, count)
            wanted -= need
            for name in self.classes():
                held = player.bag[name]
                ways = {
                    f"draw {k} {name}": (Fraction(comb(held, k) * comb(count - held, need - k), comb(count, need)), k)
                    for k in range(held + 1)
                    if 0 <= need - k <= count - held
                }
                k = yield from self.chance(ways)
                count -= held
                need -= k
                player.bag[name] -= k
                drawn += [Die(name) for _ in range(k)]
                player.pool += drawn[len(drawn) - k :]
        return drawn

    def roll(self, name: str, dice: int) -> Steps:
        """The faces of some dice of a class, as a sorted list."""
        faces = []
        while dice:
            together = min(dice, TOGETHER)
            numbers = [self.data.number(name, face) for face in range(6)]
            weight = Counter(numbers)
            outcomes = {}
            for result in combinations_with_replacement(sorted(weight), together):
                counts = Counter(result)
                ways = factorial(together)
                for face, count in counts.items():
                    ways = ways // factorial(count) * weight[face] ** count
                text = " ".join(f"{face}x{count}" for face, count in sorted(counts.items()))
                outcomes[f"roll {name}: {text}"] = (Fraction(ways, 6**together), result)
            faces += yield from self.chance(outcomes)
            dice -= together
        return faces

    def roll_dice(self, dice: list[Die]) -> Steps:
        """Roll these dice of the active player's pool, class by class."""
        for name in self.dice_classes():
            left = [die for die in dice if die.name == name]
            while left:
                together, left = left[:TOGETHER], left[TOGETHER:]
                for die, face in zip(together, (yield from self.roll(name, len(together))), strict=True):
                    die.face = face

    def draw_and_roll(self, count: int) -> Steps:
        """`drawroll`: draw dice and roll them, those only (A88). Returns them."""
        drawn = yield from self.draw(self.active, count)
        yield from self.roll_dice(drawn)
        self.dearer_due |= bool(drawn)
        return drawn

    def something_to_draw(self, seat: int) -> bool:
        """Whether a draw would bring anything (A86)."""
        return bool((self.players[seat].bag + self.players[seat].used).total())

    # ------------------------------------------------------------------ the game

    def _play(self) -> Steps:
        try:
            yield from self._set_up()
            while True:
                yield from self._turn()
        except GameOver:
            return

    def begin_at(self, table: dict[str, Any]) -> None:
        """Go on from the beginning of a phase of seat 0's turn, in the middle of a game.

        Args:
            table: a position as games/quarriors/README.md has it, with the keys `phase`, `wilds` and `players`, and
                of these `bag`, `used`, `active`, `ready`, `locked` and `aside`. The cards are those of this game.
        """
        self.wilds |= {self.data.cards[entry["card"]]["class"]: entry["dice"] for entry in table["wilds"]}
        self.players = [self._seated(seat) for seat in table["players"]]
        self.turn = self.active = 0
        self._run = self._go_on(table["phase"])
        self.node = next(self._run, None)

    def _seated(self, seat: dict[str, Any]) -> Player:
        """A player as a position describes it."""
        player = Player(bag=Counter(seat.get("bag", {})), used=Counter(seat.get("used", {})))
        player.pool = [Die(entry["die"], entry["face"]) for entry in seat.get("active", [])]
        player.aside = list(seat.get("aside", []))
        for entry in seat.get("ready", []):
            if self.kind(entry["die"]) == "spell":
                player.spells.append(Die(entry["die"], entry["face"]))
                continue
            creature = Creature(entry["die"], entry["face"])
            creature.attached = [Die(spell["die"], spell["face"]) for spell in entry.get("attached", [])]
            creature.copy = (entry["copy"]["die"], entry["copy"]["face"]) if "copy" in entry else None
            creature.attack, creature.defense = entry.get("attack", 0), entry.get("defense", 0)
            player.creatures.append(creature)
        if "locked" in seat:
            player.locked = Creature(seat["locked"]["die"], seat["locked"]["face"], locked=True)
        return player

    def _go_on(self, phase: int) -> Steps:
        try:
            yield from self._turn(phase)
            while True:
                yield from self._turn()
        except GameOver:
            return

    def _set_up(self) -> Steps:
        """B2 to B9."""
        for name in ("Basic Quiddity", "Assistant", "Portal"):
            self.card[name] = self.data.cards[name]
        yield from self.deal({"creature": 7, "spell": 3})
        seats = len(self.players)
        dice = {"Basic Quiddity": 8 * seats, "Assistant": 4 * seats + 2}  # I1
        self.wilds = {name: dice.get(name, 5) - seats * self.first_bag[name] for name in self.card}
        for player in self.players:
            player.bag = Counter(self.first_bag)

    def deal(self, wanted: dict[str, int]) -> Steps:
        """The cards named beforehand, then uniformly one card after another of classes not yet there (B4, B5)."""
        for name in self.fixed:
            self.card[self.data.cards[name]["class"]] = self.data.cards[name]
        for kind, count in wanted.items():
            while sum(self.kind(name) == kind for name in self.card) < count:
                left = [
                    card
                    for card in self.data.cards.values()
                    if self.kind(card["class"]) == kind and card["class"] not in self.card
                ]
                card = yield from self.chance({f"deal {c['name']}": (Fraction(1, len(left)), c) for c in left})
                self.card[card["class"]] = card

    def phases(self) -> list[Any]:
        """B21."""
        return [self._score, self._roll, self._summon, self._attack, self._capture, self._clean_up]

    def usual_captures(self) -> int:
        """B78."""
        return 1

    def _turn(self, first: int = 1) -> Steps:
        """B21; `first`: the phase it begins with."""
        self.discount = self.scored = self.decisions = 0
        self.floating = Counter()
        self.captures = self.usual_captures()
        self.summoned: Counter[str] = Counter()
        self.hit: set[int] = set()  # rivals with a creature lost to the attack (A70)
        self.charmed: set[int] = set()  # seats whose destroyed creatures go to the pool (A14)
        self.attackers: list[Attacker] = []
        self.attacked = False  # phase 4 is over
        self.locked_one = False  # LK3
        self.defender: int | None = None
        self.defence_bare = False
        self.first_fallen = False
        for number, phase in enumerate(self.phases()[first - 1 :], first):
            self.phase = number
            yield from phase()
        for seat in range(len(self.players)):  # I28
            for creature in self.area(seat):
                creature.attack = creature.defense = 0
                creature.zero = creature.safe = creature.recopied = creature.new = False
        self.floating = Counter()  # B57
        self.players[self.active].turns += 1
        self.turn += 1
        self.active = (self.active + 1) % len(self.players)
        self.phase, self.captures = 1, self.usual_captures()
        if self.turn >= self.max_turns * len(self.players):  # A103
            self.rank_and_end()

    # ------------------------------------------------------------------ phase 1

    def _score(self) -> Steps:
        """A5."""
        seat, player = self.active, self.players[self.active]
        for creature in self.ordered(seat):  # A5 step 0, A39
            options = self.recopies(seat, creature)
            yield from self.copy(seat, creature, options, optional=True)
            creature.recopied |= bool(options)  # asked once
        scorers = self.ordered(seat)
        self.scored = len(scorers)
        glory = 0
        abilities: list[Ability] = []
        for creature in scorers:
            glory += self.worth(creature, len(scorers) - 1)
            abilities += self.abilities_of(creature)
            self.add_up(creature)
        if player.locked:
            glory += sum(effect["n"] for effect in self.effects(player.locked, "static", "glory"))  # LK9
        self.gain(seat, glory)
        culling = [effect for creature in scorers for effect in self.effects(creature, "score", "cullspells")]
        if culling:
            yield from self.cull_spells(culling[0]["n"])
        for creature in scorers:  # B26
            self.leave(seat, creature)
            player.used[creature.name] += 1
        yield from self.resolve(abilities)
        yield from self.cull_up_to(self.free_culls(scorers))

    def free_culls(self, scorers: list[Creature]) -> int:
        """B28."""
        return len(scorers)

    def cull_up_to(self, count: int, spent: bool = False) -> Steps:
        """Up to so many dice of the pile, or of the Spent Pile (A139). Returns how many."""
        pile = self.spent_pile(self.active) if spent else self.players[self.active].used
        for culled in range(count):
            name = yield from self.ask(
                self.active, {f"cull {name}": name for name in self.classes() if pile[name]}, True
            )
            if name is None:
                return culled
            pile[name] -= 1
            self.wilds[name] += 1
            if not spent:
                self.left_pile(name)
            yield from self.check_states()
        return count

    def left_pile(self, name: str) -> None:
        """A67: a die that left the pile may be that of one who still fetches; for it the others are all others."""
        for ability in self.waiting:
            if ability.die == name and ability.home and any(effect["do"] == "fetch" for effect in ability.effects):
                ability.home = False
                return

    def leave(self, seat: int, creature: Creature) -> None:
        """A creature leaves the Ready Area, its spells go to the pile (B88)."""
        player = self.players[seat]
        player.creatures.remove(creature)
        for die in creature.attached:
            player.used[die.name] += 1
        creature.attached = []
        for attacker in self.attackers:
            if attacker.creature is creature:
                attacker.level, attacker.effects = self.level(creature), self.attacking_effects(creature)
                attacker.here = False

    def cull(self, name: str) -> None:
        """A die of the pile goes back to its card (B30)."""
        self.players[self.active].used[name] -= 1
        self.wilds[name] += 1
        self.left_pile(name)

    def worth(self, creature: Creature, others: int) -> int:
        """Glory of a scoring creature: card, abilities, attached spells."""
        glory = self.card[creature.shown()[0]].get("glory", 0)
        for effect in self.effects(creature, "score", "glory"):
            glory += others if effect["n"] == "other_scored" else effect["n"]
        for die in creature.attached:
            glory += sum(effect["n"] for effect in self.spell_effects(die, "hostscore", "glory"))
        return glory

    def add_up(self, creature: Creature) -> None:
        """On-score effects with nothing to choose and nothing to wait for."""
        for effect in self.effects(creature, "score"):
            self.captures += effect["n"] if effect["do"] == "captures" else 0
            self.discount += effect["n"] if effect["do"] == "discount" else 0

    def abilities_of(self, creature: Creature) -> list[Ability]:
        """What is resolved after the dice have gone to the pile (A4)."""
        name, face = creature.shown()
        found = []
        early = ("glory", "cullspells", "captures", "discount")
        own = [effect for effect in self.effects(creature, "score") if effect["do"] not in early]
        if own:
            of = f" of {creature.name}" if creature.copy else ""
            found.append(Ability(f"resolve {name} {face}{of}", creature.name, own))
        for die in creature.attached:
            late = [effect for effect in self.spell_effects(die, "hostscore") if effect["do"] != "glory"]
            if late:
                found.append(Ability(f"resolve {die.name} {die.face}", die.name, late))
        return found

    def cull_spells(self, glory: int) -> Steps:
        """A5 step 3, A125: spell dice of ready and pool for Glory."""
        player = self.players[self.active]
        while True:
            options: dict[str, Any] = {}
            for die in player.spells:
                options[f"cull ready {die.name} {die.face}"] = (player.spells, die)
            for creature in self.area(self.active):
                for die in creature.attached:
                    options[f"cull attached {die.name} {die.face}"] = (creature.attached, die)
            for die in player.pool:
                if self.kind(die.name) == "spell":
                    options[f"cull pool {die.name}"] = (player.pool, die)
            choice = yield from self.ask(self.active, options, done=True)
            if choice is None:
                return
            zone, die = choice
            zone.remove(die)
            self.wilds[die.name] += 1
            self.gain(self.active, glory)

    def resolve(self, abilities: list[Ability]) -> Steps:
        """A4: the active player picks the next one, optional ones may be dropped."""
        self.waiting = abilities
        while usable := [ability for ability in abilities if self.usable(ability)]:
            # of two with the same name, the one whose die has left the pile can fetch more
            options = {ability.text: ability for ability in sorted(usable, key=lambda each: not each.home)}
            drop = all(ability.optional() for ability in usable)
            ability = yield from self.ask(self.active, options, done=drop)
            if ability is None:
                break
            abilities.remove(ability)
            for effect in ability.effects:
                yield from getattr(self, "_on_score_" + effect["do"])(effect, ability)
        self.waiting = []

    def usable(self, ability: Ability) -> bool:
        """Whether any part of an ability can do something now (A8)."""
        return any(self.choices(effect, ability) for effect in ability.effects)

    def choices(self, effect: dict[str, Any], ability: Ability) -> dict[str, Any]:
        """The first choice of an ability; not empty if it works without one."""
        seat, player = self.active, self.players[self.active]
        if effect["do"] == "swap":  # A71
            if not player.used[ability.die]:
                return {}
            return {
                f"swap {name} with {rival}": (name, rival)
                for rival in self.rivals(seat)
                for name in self.classes()
                if self.players[rival].used[name]
            }
        if effect["do"] == "freecapture":  # A64
            limit = int(effect["when"].removeprefix("cost<="))
            return {
                f"take {name}": name
                for name in self.classes()
                if self.kind(name) == "spell" and self.wilds[name] and self.card[name]["cost"] <= limit
            }
        if effect["do"] in ("cullcapture", "cull"):  # A63
            return {f"cull {name}": name for name in self.classes() if player.used[name]}
        if effect["do"] == "fetch":  # A67
            return {
                f"fetch {name}": name
                for name in self.classes()
                if self.kind(name) in ("creature", "assistant")
                and player.used[name] > (name == ability.die and ability.home)
            }
        if effect["do"] == "drawpool":
            return {"": None} if self.something_to_draw(seat) else {}
        return {"": None}

    def _on_score_swap(self, effect: dict[str, Any], ability: Ability) -> Steps:
        name, rival = yield from self.ask(self.active, self.choices(effect, ability))
        for taker, giver, die in ((self.active, rival, name), (rival, self.active, ability.die)):
            self.players[giver].used[die] -= 1
            self.players[taker].used[die] += 1
        yield from self.check_states()

    def _on_score_freecapture(self, effect: dict[str, Any], ability: Ability) -> Steps:
        name = yield from self.ask(self.active, self.choices(effect, ability))
        self.wilds[name] -= 1
        self.players[self.active].bag[name] += 1
        self.test_empty()

    def _on_score_cullcapture(self, effect: dict[str, Any], ability: Ability) -> Steps:
        culled = yield from self.ask(self.active, self.choices(effect, ability))
        self.cull(culled)
        limit = self.card[culled]["cost"] + effect["n"]
        options = {
            f"take {name}": name for name in self.classes() if self.wilds[name] and self.card[name]["cost"] <= limit
        }
        name = yield from self.ask(self.active, options)
        self.wilds[name] -= 1
        self.players[self.active].used[name] += 1
        self.test_empty()  # A97
        yield from self.check_states()

    def _on_score_fetch(self, effect: dict[str, Any], ability: Ability) -> Steps:
        name = yield from self.ask(self.active, self.choices(effect, ability))
        self.players[self.active].used[name] -= 1
        self.players[self.active].pool.append(Die(name))
        self.left_pile(name)

    def _on_score_cull(self, effect: dict[str, Any], ability: Ability) -> Steps:
        yield from self.cull_up_to(effect["n"])

    def _on_score_drawpool(self, effect: dict[str, Any], ability: Ability) -> Steps:
        yield from self.draw(self.active, effect["n"])
        yield from self.check_states()

    # ------------------------------------------------------------------ phase 2

    def _roll(self) -> Steps:
        """B32, B33, B39."""
        yield from self.draw_for_turn(DRAW)
        while True:
            options = self.uses() | self.locks() | self.unlocks()
            choice = yield from self.ask(self.active, options, done=True)
            if choice is not None:
                yield from choice[0](*choice[1:])
            elif not (yield from self.forced_lock()):
                return

    def draw_for_turn(self, count: int) -> Steps:
        """What a locked die says counts too; then everything in the pool is rolled."""
        player = self.players[self.active]
        if player.locked:
            count += sum(effect["n"] for effect in self.effects(player.locked, "static", "draws"))
            count -= sum(effect["n"] for effect in self.effects(player.locked, "static", "fewer"))
        yield from self.draw(self.active, max(0, count))
        for die in player.pool:  # B33
            die.face = None
        yield from self.roll_dice(player.pool)

    def uses(self, dice: list[Die] | None = None) -> dict[str, Any]:
        """Immediate faces of the pool, or of some of its dice, and which of their symbols are used."""
        something = self.something_to_draw(self.active)
        options: dict[str, Any] = {}
        for die in self.players[self.active].pool:
            if die.face is None or (dice is not None and die not in dice):
                continue
            name, face = f"use {die.name} {die.face}", self.face(die.name, die.face)
            effects = self.face_effects(die)
            if effects:
                if self.works_on_face(die, effects):
                    options[name] = (self.use, die, "card")
            elif face.get("draw") and face.get("reroll"):  # B47, A83
                if something:
                    options[name] = (self.use, die, "both")
                options[f"{name}: re-roll only"] = (self.use, die, "reroll")
                if something or self.refills_itself():
                    options[f"{name}: draw only"] = (self.use, die, "draw")
            elif face.get("draw"):
                if something or self.refills_itself():
                    options[name] = (self.use, die, "draw")
            elif face.get("reroll"):
                options[name] = (self.use, die, "reroll")
        return options

    def refills_itself(self) -> bool:
        """Whether a die that is spent can be drawn again at once (K2, A86)."""
        return True

    def works_on_face(self, die: Die, effects: list[dict[str, Any]]) -> bool:
        """Whether using an immediate face does something (A86)."""
        draws_only = all(effect["do"] == "drawroll" for effect in effects)
        return not draws_only or self.something_to_draw(self.active) or self.refills_itself()

    def use(self, die: Die, symbols: str) -> Steps:
        """B40: the die is spent unless it is rolled again; then the effects. Returns the dice rolled."""
        player = self.players[self.active]
        face = self.face(die.name, die.face)
        draw = others = 0
        again, gained, lone = symbols in ("both", "reroll"), 0, None
        if symbols in ("both", "draw"):
            draw = face["draw"]
            gained = 0 if again else face.get("quiddity", 0)  # A82
        if symbols == "card":
            for effect in self.face_effects(die):
                if effect["do"] == "drawroll":
                    draw += face["draw"] if effect["n"] == "face" else effect["n"]
                    lone = effect.get("lone_face")
                elif effect["do"] == "reroll":
                    again = again or effect.get("itself", False)
                    others += effect["n"]
                elif effect["do"] == "quiddity":
                    gained += effect["n"]
                elif effect["do"] == "captures":
                    self.captures += effect["n"]
        if again:
            die.face = None
        else:
            player.pool.remove(die)
            self.spent_pile(self.active)[die.name] += 1
            if lone is not None and (player.bag + player.used).total() == player.bag[die.name] + player.used[die.name]:
                player.used[die.name] -= 1  # K2, A87
                player.pool.append(Die(die.name, lone))
                return []
        self.floating[face.get("flavour", "normal")] += gained
        self.dearer_due |= bool(draw or again or others)
        rolled = [die] if again else []
        for _ in range(others):  # A85
            options = {f"reroll {other.name} {other.face}": other for other in player.pool if other.face is not None}
            other = yield from self.ask(self.active, options, done=True)
            if other is None:
                break
            other.face = None
            rolled.append(other)
        rolled += yield from self.draw(self.active, draw)
        yield from self.roll_dice(rolled)
        yield from self.check_states()
        return rolled

    def fresh(self, dice: list[Die]) -> Steps:
        """A84: after phase 2 the immediate faces of a roll may be used right after it, those only."""
        while True:
            choice = yield from self.ask(self.active, self.uses(dice), done=True)
            if choice is None:
                return
            _, used, symbols = choice
            dice = [die for die in dice if die is not used] + (yield from self.use(used, symbols))

    # ------------------------------------------------------------------ the Locked Area

    def locks(self) -> dict[str, Any]:
        """LK2, LK3, LK21: Lock faces of the pool and where they may be locked."""
        seat = self.active
        options: dict[str, Any] = {}
        for die in self.players[seat].pool:
            if die.face is None or not self.face(die.name, die.face).get("lock"):
                continue
            if not self.locked_one:
                options[f"lock {die.name} {die.face}"] = (self.lock, die, seat)
            given = any(effect["do"] == "lockrival" for effect in self.card[die.name].get("effects", []))
            if given:
                for rival in self.rivals(seat):
                    options[f"lock {die.name} {die.face} with {rival}"] = (self.lock, die, rival)
        return options

    def lock(self, die: Die, seat: int) -> Steps:
        """LK2, LK5, LK22, LK23. Returns the dice that its Lock effect rolled."""
        self.players[self.active].pool.remove(die)
        self.unlock(seat)
        locked = self.players[seat].locked = Creature(die.name, die.face, locked=True)
        if seat == self.active:
            self.locked_one = locked.new = True
        yield from self.check_states()
        return (yield from self.carry_out(self.effects(locked, "onlock")))

    def forced_lock(self) -> Steps:
        """LK4, A109. Returns whether phase 2 goes on, a Lock effect having rolled dice."""
        rolled: list[Die] = []
        while not self.locked_one and (options := self.locks()):
            choice = yield from self.ask(self.active, options)
            rolled += yield from choice[0](*choice[1:])
        return bool(rolled)

    def unlock(self, seat: int) -> None:
        """LK6, B88, A105: the locked die, if there is one, goes to its owner's pile."""
        player = self.players[seat]
        if player.locked:
            for spell in player.locked.attached:
                player.used[spell.name] += 1
            pile = self.spent_pile(seat) if seat == self.active else player.used
            pile[player.locked.name] += 1
            player.locked = None

    def unlocks(self) -> dict[str, Any]:
        """LK18 to LK20, A107, A108, A114: locked dice that can be paid off."""
        options: dict[str, Any] = {}
        for seat in self.clockwise(self.active):
            locked = self.players[seat].locked
            if (
                locked
                and not locked.new
                and not self.effects(locked, "static", "nopayoff")
                and self.at_hand() >= UNLOCK
            ):
                options[f"unlock {seat}"] = (self.pay_off, seat)
        return options

    def pay_off(self, seat: int) -> Steps:
        """LK18, LK24."""
        yield from self.pay(UNLOCK)
        self.unlock(seat)
        yield from self.check_states()

    # ------------------------------------------------------------------ effects that are carried out one after another

    def carry_out(self, effects: list[dict[str, Any]], spell_of: int | None = None) -> Steps:
        """D30: a `then` step only if the one before it was carried out. Returns the dice rolled."""
        rolled: list[Die] = []
        done = True
        for effect in effects:
            if effect.get("then") and not done:
                continue
            done = True
            if effect["do"] == "drawroll":
                dice = yield from self.draw_and_roll(effect["n"])
                done = bool(dice)
                rolled += dice
                yield from self.check_states()
                if self.phase > 2:
                    yield from self.fresh(dice)
            else:
                done = yield from getattr(self, "_do_" + effect["do"])(effect, spell_of)
        return rolled

    def _do_quiddity(self, effect: dict[str, Any], spell_of: int | None) -> Steps:
        self.floating[effect.get("flavour", "normal")] += effect["n"]
        return True
        yield

    def _do_captures(self, effect: dict[str, Any], spell_of: int | None) -> Steps:
        self.captures += effect["n"]
        return True
        yield

    def _do_glory(self, effect: dict[str, Any], spell_of: int | None) -> Steps:
        counts = {"scored": self.scored, "foes_hit": len(self.hit)}
        self.gain(self.active, counts.get(effect["n"], effect["n"]))
        return True
        yield

    def _do_cull(self, effect: dict[str, Any], spell_of: int | None) -> Steps:
        culled = yield from self.cull_up_to(effect["n"], effect.get("target") == "spent_pile")
        return culled == effect["n"]  # T15

    def _do_attack(self, effect: dict[str, Any], spell_of: int | None) -> Steps:
        for creature in self.area(self.active):  # of use to a locked one only if it is turned (LK17)
            creature.attack += effect["n"]
            self.adjust(creature, effect["n"])
        return True
        yield

    def _do_defense(self, effect: dict[str, Any], spell_of: int | None) -> Steps:
        for creature in self.area(self.active):
            creature.defense += effect["n"]
        return True
        yield

    def _do_summon(self, effect: dict[str, Any], spell_of: int | None) -> Steps:
        """A139: together, for surcharges only; then their abilities in an order that is picked."""
        player = self.players[self.active]
        summoned: list[Die] = []
        while len(summoned) < effect["n"]:
            die = yield from self.ask(self.active, self.for_nothing(), done=True)
            if die is None:
                break
            price = self.summon_price(die)
            assert price is not None
            player.pool.remove(die)
            yield from self.pay(price - self.face(die.name, die.face)["level"])
            self.summoned[die.name] += 1
            yield from self.enter(self.active, Creature(die.name, die.face))
            summoned.append(die)
        waiting = [die for die in summoned if self.summon_effects(die)]
        while waiting:
            options = {f"resolve {die.name} {die.face}": die for die in waiting}
            die = yield from self.ask(self.active, options)
            waiting.remove(die)
            yield from self.summon_abilities(die)
        yield from self.check_states()
        self.dearer_due = True
        return bool(summoned)

    def for_nothing(self) -> dict[str, Die]:
        """Creatures of the pool that can be summoned if their level need not be paid."""
        options: dict[str, Die] = {}
        for die in self.players[self.active].pool:
            price = self.summon_price(die)
            if price is not None and price - self.face(die.name, die.face)["level"] <= self.at_hand():
                options[f"summon {die.name} {die.face}"] = die
        return options

    def _do_rotate(self, effect: dict[str, Any], spell_of: int | None) -> Steps:
        seat = self.active
        if effect["target"] == "own_creatures":
            chosen = [(seat, creature) for creature in self.area(seat)]
        else:
            options = {self.name_of(*target): target for target in self.rotatable(effect, spell_of)}
            chosen = [(yield from self.ask(seat, options))]
        for owner, creature in chosen:
            if faces := self.rotations(creature, effect["to"]):
                face = yield from self.ask(seat, {f"rotate {creature.name} {face}": face for face in faces})
                before = self.face(creature.name, creature.face).get("attack", 0)
                creature.face = face
                self.adjust(creature, self.face(creature.name, face)["attack"] - before)
                if creature.locked:  # LK17
                    self.players[owner].locked = None
                    self.players[owner].creatures.append(creature)
                    creature.locked = creature.new = False
        return True

    def _do_destroyspell(self, effect: dict[str, Any], spell_of: int | None) -> Steps:
        seat, target = yield from self.ask(self.active, self.spell_targets())
        player = self.players[seat]
        if isinstance(target, Die):
            player.spells.remove(target)
            player.used[target.name] += 1
            return True
        hosts = {
            self.name_of(seat, creature): creature
            for creature in self.area(seat)
            if any(die.key() == target for die in creature.attached)
        }
        host = yield from self.ask(self.active, hosts)
        before = self.attached_bonus(host, "attack")
        die = next(die for die in host.attached if die.key() == target)
        host.attached.remove(die)
        player.used[die.name] += 1
        self.adjust(host, self.attached_bonus(host, "attack") - before)
        return True

    def _do_destroy(self, effect: dict[str, Any], spell_of: int | None) -> Steps:
        """Death Incantation, Death Spell and their like (A9, A10)."""
        targets = self.targets(effect, spell_of)
        if effect["target"] == "one_per_foe":
            groups = [[t for t in targets if t[0] == rival] for rival in self.rivals(self.active)]
        else:
            groups = [targets]
        doomed = []
        for group in groups:
            if group:
                doomed.append((yield from self.ask(self.active, {self.name_of(*target): target for target in group})))
        return bool((yield from self.destroy(doomed, self.cause_of(effect, spell_of), self.active)))

    # ------------------------------------------------------------------ phase 3

    def _summon(self) -> Steps:
        """B58 to B65, A89."""
        player = self.players[self.active]
        for die in list(player.pool):
            if self.is_spell_face(die):
                player.pool.remove(die)
                player.spells.append(die)
        yield from self.before_summons()
        while True:
            if self.dearer_due:
                yield from self.before_summons()
            options = self.summons() | self.readies() | self.casts() | self.recopying() | self.unlocks()
            choice = yield from self.ask(self.active, options, done=True)
            if choice is None:
                return
            yield from choice[0](*choice[1:])

    def is_spell_face(self, die: Die) -> bool:
        """A spell icon that is not immediate (D36)."""
        return die.face is not None and bool(self.face(die.name, die.face).get("spell")) and not self.face_effects(die)

    def readies(self) -> dict[str, Any]:
        """B58."""
        pool = self.players[self.active].pool
        return {f"ready {die.name} {die.face}": (self.ready, die) for die in pool if self.is_spell_face(die)}

    def ready(self, die: Die) -> Steps:
        """B58."""
        player = self.players[self.active]
        player.pool.remove(die)
        player.spells.append(die)
        return
        yield

    def summons(self) -> dict[str, Any]:
        """B59."""
        options: dict[str, Any] = {}
        for die in self.players[self.active].pool:
            price = self.summon_price(die)
            if price is not None and price <= self.at_hand():
                options[f"summon {die.name} {die.face}"] = (self.summon, die, price)
        return options

    def recopying(self) -> dict[str, Any]:
        """A39: the own copying creatures that can still become something else."""
        seat = self.active
        return {
            text: (self.copy, seat, creature, self.recopies(seat, creature))
            for text, creature in self.recopy_options(seat).items()
        }

    def summon_price(self, die: Die) -> int | None:
        """Level and surcharges (A50); None if it cannot be summoned."""
        seat, player = self.active, self.players[self.active]
        face = {} if die.face is None else self.face(die.name, die.face)
        if "level" not in face or len(self.area(self.active)) >= ROOM:
            return None
        for effect in self.card[die.name].get("effects", []):  # A51
            limits = effect["do"] == "summonlimit" and burst_fits(effect, face)
            if limits and self.summoned[die.name] >= effect["n"]:
                return None
        surcharge = sum(
            effect["n"]
            for rival in self.rivals(seat)
            for creature in self.area(rival)
            for effect in self.effects(creature, "static", "surcharge")
        )
        dearer = self.effects(player.locked, "static", "dearer") if player.locked else []
        return face["level"] + surcharge + sum(effect["n"] for effect in dearer)

    def summon(self, die: Die, price: int) -> Steps:
        """B59, B60, B64."""
        seat, player = self.active, self.players[self.active]
        player.pool.remove(die)
        yield from self.pay(price)
        self.summoned[die.name] += 1
        creature = Creature(die.name, die.face)
        yield from self.enter(seat, creature)
        yield from self.summon_abilities(die)
        yield from self.check_states()
        yield from self.before_summons()

    def summon_effects(self, die: Die) -> list[dict[str, Any]]:
        """A42: of the die that was summoned, not of what it copies."""
        return self.effects(Creature(die.name, die.face or 0), "summon")

    def summon_abilities(self, die: Die) -> Steps:
        """B64, D33."""
        for effect in self.summon_effects(die):
            if effect.get("target") == "foes_of_class":
                doomed = [
                    (rival, other)
                    for rival in self.rivals(self.active)
                    for other in self.ordered(rival)
                    if other.shown()[0] == die.name  # A43
                ]
                yield from self.destroy(doomed, Cause("class"), self.active, class_name=die.name)
            elif self.works(effect, None):
                yield from self.carry_out([effect])

    def before_summons(self) -> Steps:
        """W5: a rival's Ooze may become a Mighty Defender before R summons: at first, and after summons and rolls."""
        self.dearer_due = False
        if not any("level" in self.face(*die.key()) for die in self.players[self.active].pool if die.face is not None):
            return
        for rival in self.rivals(self.active):
            declined: Any = None  # one that is equal is not asked about again
            for creature in self.ordered(rival):
                dear = {
                    text: shown
                    for text, shown in self.recopies(rival, creature).items()
                    if self.effects(Creature(*shown), "static", "surcharge")
                }
                if self.rank(creature) != declined:
                    rank = self.rank(creature)
                    yield from self.copy(rival, creature, dear, optional=True)
                    declined = rank if dear and not creature.recopied else declined

    def enter(self, seat: int, creature: Creature) -> Steps:
        """A creature comes into the Ready Area; a copying one copies (A38, A41, K27)."""
        self.players[seat].creatures.append(creature)
        if any(effect["on"] == "enter" for effect in self.card[creature.name].get("effects", [])):
            options = self.copy_targets(seat)
            if options:
                shown = yield from self.ask(seat, options)
                self.become(creature, shown)

    def become(self, creature: Creature, shown: tuple[str, int]) -> None:
        """A44: a copy of a blank Ooze is blank."""
        creature.copy = None if shown[0] == creature.name else shown

    def copy_targets(self, seat: int) -> dict[str, tuple[str, int]]:
        """What rivals' creatures show, by action name (A40)."""
        shown = [c.shown() for rival in self.rivals(seat) for c in self.players[rival].creatures]
        return {f"copy {name} {face}": (name, face) for name, face in shown}

    def recopies(self, seat: int, creature: Creature) -> dict[str, tuple[str, int]]:
        """What a creature can still become this turn (A39, A40)."""
        able = any(effect["on"] == "perturn" for effect in self.card[creature.name].get("effects", []))
        if not able or creature.recopied:
            return {}
        return {text: shown for text, shown in self.copy_targets(seat).items() if shown != creature.shown()}

    def recopy_options(self, seat: int, doomed: list[Creature] | None = None) -> dict[str, Creature]:
        """The own creatures that can still become something else, by their number among these; of equal ones the
        first. Those to be destroyed come after their likes."""
        fated = {creature: creature in (doomed or []) for creature in self.players[seat].creatures}
        able = [creature for creature in self.players[seat].creatures if self.recopies(seat, creature)]
        able.sort(key=lambda creature: (*self.rank(creature), fated[creature]))
        options: dict[str, Creature] = {}
        for k, creature in enumerate(able):
            previous = able[k - 1] if k else None
            if previous is None or (self.rank(previous), fated[previous]) != (self.rank(creature), fated[creature]):
                options[f"recopy {k}"] = creature
        return options

    def copy(self, seat: int, creature: Creature, options: dict[str, Any], optional: bool = False) -> Steps:
        """Become a copy, once a turn."""
        if options:
            creature.recopied = not optional
            shown = yield from self.ask(seat, options, done=optional)
            if shown is not None:
                creature.recopied = True
                self.become(creature, shown)

    # ------------------------------------------------------------------ casting in the own turn

    def casts(self) -> dict[str, Any]:
        """Readied spells that can do something now (A8)."""
        spells = self.players[self.active].spells
        return {f"cast {die.name} {die.face}": (self.cast, die) for die in spells if self.castable(die)}

    def attaches(self, die: Die) -> bool:
        """Whether it is an attach spell (B93)."""
        return bool(self.spell_effects(die, "attached") or self.spell_effects(die, "hostscore"))

    def castable(self, die: Die) -> bool:
        """Whether a spell has a target and an effect."""
        if self.attaches(die):
            return bool(self.area(self.active))  # LK16
        return self.possible(self.spell_effects(die, "cast"), die)

    def possible(self, effects: list[dict[str, Any]], die: Die | None = None) -> bool:
        """Whether any step of a spell that does not hang on another one does something (A8, A116)."""
        return any(self.works(effect, self.active, die) for effect in effects if not effect.get("then"))

    def works(self, effect: dict[str, Any], spell_of: int | None, die: Die | None = None) -> bool:
        """Whether one step does something; `spell_of`: the caster of a spell, `die`: the one that is to be cast."""
        player, do, when = self.players[self.active], effect["do"], effect.get("when", "")
        if do == "attack":  # of use only before the attack is over
            return bool(player.creatures) and not self.attacked
        if do == "destroy":
            return bool(self.targets(effect, spell_of))
        if do == "rotate":
            if effect["target"] == "own_creatures":
                return any(self.rotations(creature, effect["to"]) for creature in self.area(self.active))
            return bool(self.rotatable(effect, spell_of))
        if do == "destroyspell":
            return bool(self.spell_targets(die))
        if do == "defense":
            return bool(player.creatures)
        if do == "summon":
            return bool(self.for_nothing())
        if do == "cull":
            spent = self.spent_pile(self.active)
            pile = spent if effect.get("target") == "spent_pile" else player.used
            # the die of the spell lies there, too, once it is cast (B89, K16)
            return any(pile[name] for name in self.classes()) or (die is not None and pile is spent)
        if do == "drawroll":
            return self.something_to_draw(self.active) or (die is not None and self.refills_itself())
        if do == "glory" and when.startswith("scored>="):
            return self.scored >= int(when.removeprefix("scored>="))
        if do == "glory" and when == "after_attack":
            return self.attacked and bool(self.hit)
        return True

    def targets(self, effect: dict[str, Any], spell_of: int | None) -> list[tuple[int, Creature]]:
        """Creatures a destroying effect of the active player can be aimed at."""
        foes = effect["target"] in ("one_per_foe", "foe_creature")
        seats = self.rivals(self.active) if foes else self.clockwise(self.active)
        cause = self.cause_of(effect, spell_of)
        return [
            (seat, creature)
            for seat in seats
            for creature in self.area(seat)
            if self.fits(seat, creature, cause) and not creature.new  # LK7
        ]

    def cause_of(self, effect: dict[str, Any], spell_of: int | None) -> Cause:
        """The condition of a destroying effect."""
        if "when" not in effect:
            energy = effect["target"].removesuffix("_creature")
            return Cause(energy if energy in FLAVOURS else "target", 0, spell_of)
        kind, _, number = effect["when"].partition("<=")
        return Cause(kind, int(number), spell_of)

    def rotatable(self, effect: dict[str, Any], spell_of: int | None) -> list[tuple[int, Creature]]:
        """Creatures that can be turned, of all or of the own ones (B90, A53)."""
        seats = [self.active] if effect["target"] == "own_creature" else self.clockwise(self.active)
        return [
            (seat, creature)
            for seat in seats
            for creature in self.area(seat)
            if self.rotations(creature, effect["to"]) and not self.out_of_reach(seat, creature, spell_of)
        ]

    def out_of_reach(self, seat: int, creature: Creature, spell_of: int | None) -> bool:
        """A53: no target of rivals' spells."""
        return spell_of not in (None, seat) and bool(self.effects(creature, "static", "notarget"))

    def rotations(self, creature: Creature, to: str) -> list[int]:
        """A56, K15: the faces of exactly the next level; D32: creature faces only."""
        level = self.face(creature.name, creature.face).get("level", 0) + (1 if to == "up" else -1)
        numbers = {self.data.number(creature.name, face) for face in range(6)}
        return sorted(face for face in numbers if self.face(creature.name, face).get("level") == level)

    def spell_targets(self, cast: Die | None = None) -> dict[str, Any]:
        """A54, A55: readied and attached spells of anyone but the one cast."""
        options: dict[str, Any] = {}
        for seat in self.clockwise(self.active):
            for die in self.players[seat].spells:
                if die is not cast:
                    options[f"spell {seat} {die.name} {die.face}"] = (seat, die)
            for creature in self.area(seat):
                for die in creature.attached:
                    options[f"attached {seat} {die.name} {die.face}"] = (seat, die.key())
        return options

    def cast(self, die: Die) -> Steps:
        """B89, B93."""
        seat, player = self.active, self.players[self.active]
        player.spells.remove(die)
        if self.attaches(die):
            hosts = {self.name_of(seat, creature): creature for creature in self.area(seat)}
            host = yield from self.ask(seat, hosts)
            before = self.attached_bonus(host, "attack")
            host.attached.append(die)
            self.adjust(host, self.attached_bonus(host, "attack") - before)
            return
        self.spent_pile(seat)[die.name] += 1
        yield from self.carry_out(self.spell_effects(die, "cast"), spell_of=seat)
        yield from self.check_states()

    def adjust(self, creature: Creature, change: int) -> None:
        """A29: a spell cast during the attack changes what was recorded."""
        for attacker in self.attackers:
            if attacker.creature is creature and attacker.here:
                attacker.value += change

    # ------------------------------------------------------------------ destruction

    def fits(self, seat: int, creature: Creature, cause: Cause, class_name: str = "") -> bool:
        """Whether a creature is (still) destroyed by a cause."""
        if self.out_of_reach(seat, creature, cause.spell_of):
            return False
        if cause.kind in FLAVOURS:
            return self.data.dice[creature.shown()[0]].get("energy") == cause.kind
        if cause.kind == "damage":
            return self.remainder >= self.defense_of(seat, creature, self.defence_bare)
        if cause.kind == "level":
            return self.level(creature) <= cause.number
        if cause.kind == "defense":
            return self.defense_of(seat, creature) <= cause.number
        if cause.kind == "class":
            return creature.shown()[0] == class_name
        if cause.kind == "bq":
            return bool(self.effects(creature, "state")) and not self.basic_quiddity(seat)
        return True

    def destroy(
        self, doomed: list[tuple[int, Creature]], cause: Cause, killer: int | None, class_name: str = ""
    ) -> Steps:
        """A1: one destruction event. Returns the creatures destroyed, those that returned included.

        A locked die among them is unlocked, not destroyed (A115, K11).
        """
        returning: set[Creature] = set()

        def still() -> list[tuple[int, Creature]]:
            fitting = [(s, c) for s, c in doomed if self.fits(s, c, cause, class_name)]
            for _, creature in doomed:
                creature.safe |= all(creature is not other for _, other in fitting)  # saved (C5, D43)
            return fitting

        for seat in self.clockwise(self.active):  # W2, A122
            while True:
                doomed = still()
                own = [c for s, c in doomed if s == seat and not c.locked]  # those that will return are still doomed
                mine = [c for c in own if c not in returning]
                if not own:
                    break
                choice = yield from self.ask(seat, self.answers(seat, mine, cause, own), done=True)
                if choice is None:
                    break
                if choice[0] == "copy":
                    yield from self.copy(seat, choice[1], self.recopies(seat, choice[1]))
                elif choice[0] == "return":
                    self.players[seat].used[choice[2]] -= 1
                    self.wilds[choice[2]] += 1
                    returning.add(choice[1])
                else:
                    saved = yield from self.react(seat, choice[1], mine)
                    if saved is not None:
                        returning.add(saved)
        doomed = still()
        for seat, creature in doomed:
            if creature.locked:
                self.unlock(seat)
        unlocked = [c for _, c in doomed if c.locked]
        doomed = [(s, c) for s, c in doomed if not c.locked]
        if not doomed:
            yield from self.check_states()
            return unlocked
        waiting = list(self.players[killer].aside) if killer is not None else []
        defences = {c: self.defense_of(s, c, self.defence_bare) for s, c in doomed}
        fallen = [(s, c, self.effects(c, "destroyed", "drawpool")) for s, c in doomed]
        places = yield from self.places(doomed, returning)
        if killer is not None:  # A3's Quiddity: no later step has a part in it
            gone = [c for _, c in doomed]
            for creature in self.players[killer].creatures:
                if creature not in gone:  # A2
                    for effect in self.effects(creature, "kill", "quiddity"):
                        self.floating["normal"] += effect["n"] * len(doomed)
        yield from self.put_away(doomed, places)
        for seat, _, draws in fallen:  # step 5
            for effect in draws:
                yield from self.draw(seat, effect["n"])
        if cause.kind == "damage":
            self.remainder -= sum(defences.values())  # A20, A123
        if killer is not None:
            yield from self.kill_triggers(killer, waiting)
        yield from self.check_states()
        return unlocked + [c for _, c in doomed]

    def answers(self, seat: int, mine: list[Creature], cause: Cause, own: list[Creature]) -> dict[str, Any]:
        """W2: what an owner can do about own creatures that are to be destroyed."""
        options: dict[str, Any] = {}
        player = self.players[seat]
        if seat != self.active:
            for die in player.spells:
                for effect in self.spell_effects(die, "react"):
                    if self.helps(seat, mine if effect["do"] == "return" else own, cause, effect):
                        options[f"cast {die.name} {die.face}"] = ("cast", die)
            for text, creature in self.recopy_options(seat, mine).items():
                options[text] = ("copy", creature)
        for creature in mine:
            for effect in self.effects(creature, "destroyed", "cullreturn"):
                if player.used[effect["target"]]:  # A22
                    text = f"return {creature.name} {creature.face} {creature.label()}"
                    options[text] = ("return", creature, effect["target"])
        return options

    def helps(self, seat: int, mine: list[Creature], cause: Cause, effect: dict[str, Any]) -> bool:
        """Whether a reaction can be of use in W2."""
        if effect["do"] == "redirect":
            return seat not in self.charmed
        if effect["do"] == "return":
            return bool(mine)
        if effect["do"] == "defense" and cause.kind == "damage":
            able = [c for c in self.players[seat].creatures if not c.safe]
            most = sum(self.defense_of(seat, c, self.defence_bare) + effect["n"] for c in able)
            if 1 < len(able) == len(self.area(seat)):  # whoever is left last stands alone
                most += max((self.alone_bonus(c) for c in able if c not in mine), default=0)
            return self.remainder < most
        if effect["do"] == "defense" and cause.kind == "defense":
            return any(self.defense_of(seat, c) + effect["n"] > cause.number for c in mine)
        return False

    def react(self, seat: int, die: Die, mine: list[Creature]) -> Steps:
        """Cast a reaction in W2; the creature it returns, or None."""
        player = self.players[seat]
        player.spells.remove(die)
        player.used[die.name] += 1
        for effect in self.spell_effects(die, "react"):
            if effect["do"] == "redirect":
                self.charmed.add(seat)
            elif effect["do"] == "defense":
                for creature in self.area(seat):  # A18
                    creature.defense += effect["n"]
            elif effect["do"] == "return":
                options = {self.name_of(seat, c): c for c in sorted(mine, key=self.rank)}
                return (yield from self.ask(seat, options))
        return None

    def places(self, doomed: list[tuple[int, Creature]], returning: set[Creature]) -> Steps:
        """A13: the one place each die goes to."""
        places: dict[Creature, str] = {}
        for seat, creature in doomed:
            forced = {effect["to"] for effect in self.effects(creature, "destroyed", "redirect")}
            if seat in self.charmed:
                forced.add("pool")
            if creature in returning:
                places[creature] = "ready"
            elif forced:
                places[creature] = yield from self.ask(seat, {f"to {place}": place for place in sorted(forced)})
            else:
                places[creature] = "used"
        return places

    def put_away(self, doomed: list[tuple[int, Creature]], places: dict[Creature, str]) -> Steps:
        """A1 steps 3 and 4."""
        back = []
        for seat, creature in doomed:
            player, place = self.players[seat], places[creature]
            self.leave(seat, creature)
            if place == "used":
                player.used[creature.name] += 1
            elif place == "pool":  # A24, I6
                player.pool.append(Die(creature.name, creature.face if seat == self.active else None))
            elif place == "aside":
                player.aside.append(creature.name)
            else:
                back.append((seat, Creature(creature.name, creature.face, safe=True)))  # A18, A60, K27
        for seat, creature in back:
            yield from self.enter(seat, creature)  # W3

    def kill_triggers(self, killer: int, waiting: list[str]) -> Steps:
        """A3, A11: Mighty Deathdealer, Strong Deathdealer, set-aside Spirits."""
        player = self.players[killer]
        if self.defender is not None and not self.first_fallen:
            self.first_fallen = True
            self.remainder += self.first_kill_bonus()
        yield from self.score_at_once(killer)
        for name in self.classes():  # A26, A28, A136
            dice = waiting.count(name)
            if dice:
                for face in (yield from self.roll(name, dice)):
                    player.aside.remove(name)
                    if "level" in self.face(name, face) and len(self.area(killer)) < ROOM:
                        yield from self.enter(killer, Creature(name, face))
                    else:
                        player.used[name] += 1

    def score_at_once(self, seat: int) -> Steps:
        """A35, A36, A127: creatures that score outside phase 1; of what they then can do, A4."""
        scorers = [creature for creature in self.ordered(seat) if self.effects(creature, "kill", "scoreself")]
        abilities: list[Ability] = []
        for creature in scorers:
            self.scored += 1
            self.add_up(creature)
            abilities += self.abilities_of(creature)
            self.gain(seat, self.worth(creature, 0))
        for creature in scorers:
            self.leave(seat, creature)
            self.players[seat].used[creature.name] += 1
        yield from self.resolve(abilities)

    def check_states(self) -> Steps:
        """A46: a creature that lives on Basic Quiddity is destroyed without any."""
        while True:
            doomed = [
                (seat, creature)
                for seat in self.clockwise(self.active)
                for creature in self.ordered(seat)
                if self.fits(seat, creature, Cause("bq"))
            ]
            if not doomed:
                return
            yield from self.destroy(doomed, Cause("bq"), None)

    # ------------------------------------------------------------------ phase 4

    def _attack(self) -> Steps:
        """B66 to B77, A29, A30."""
        seat = self.active
        self.attackers = [Attacker(c, self.attack_of(seat, c)) for c in self.ordered(seat)]
        self.forget_safety()
        first = True
        for rival in self.rivals(seat):
            if not self.players[rival].creatures or not self.attackers:
                continue
            if not first:
                yield from self.between_defenders()
            first = False
            if self.players[rival].creatures:
                yield from self.defend(rival)
        self.attackers = []
        self.attacked = True

    def forget_safety(self) -> None:
        """A20, C5: a returned creature is safe for the rest of one attack."""
        for player in self.players:
            for creature in player.creatures:
                creature.safe = False

    def between_defenders(self) -> Steps:
        """W4, LK19."""
        while True:
            choice = yield from self.ask(self.active, self.casts() | self.unlocks(), done=True)
            if choice is None:
                return
            yield from choice[0](*choice[1:])

    def attacking_effects(self, creature: Creature) -> list[dict[str, Any]]:
        """What a creature does while attacking."""
        return [e for on in ("attack", "predefence", "firstkill") for e in self.effects(creature, on)]

    def against(self, rival: int) -> list[tuple[Attacker, int, list[dict[str, Any]]]]:
        """A30, A131: the attackers that may attack a rival, their values and effects."""
        creatures = self.area(rival)
        bars = [effect["n"] for c in creatures for effect in self.effects(c, "static", "barlevel")]
        caps = [effect["n"] for c in creatures for effect in self.effects(c, "static", "capattack")]
        found = []
        for attacker in self.attackers:
            here, creature = attacker.here, attacker.creature
            level = self.level(creature) if here else attacker.level
            if bars and level <= max(bars):
                continue
            effects = self.attacking_effects(creature) if here else attacker.effects
            value = attacker.value
            for effect in effects:
                if effect["do"] == "attack" and effect["when"] == "foe_creatures=1" and len(creatures) == 1:
                    value += effect["n"]  # A31
            if creature.zero:
                value = 0  # A16
            found.append((attacker, min([value, *caps]), effects))
        return found

    def first_kill_bonus(self) -> int:
        """A34: each Mighty Deathdealer adds its value against this defender; 0 before the total is fixed."""
        return sum(value for _, value, effects in self.fixed_values for e in effects if e["on"] == "firstkill")

    def defend(self, rival: int) -> Steps:
        """One rival's defence."""
        player = self.players[rival]
        self.defender, self.first_fallen, self.remainder = rival, False, 0
        self.fixed_values: list[Any] = []
        self.defence_bare = False
        levels = [
            int(effect["when"].removeprefix("level<="))
            for _, _, effects in self.against(rival)
            for effect in effects
            if effect["on"] == "predefence"
        ]
        if levels:
            doomed = [(rival, c) for c in self.ordered(rival) if self.level(c) <= max(levels)]
            if doomed:
                fallen = yield from self.destroy(doomed, Cause("level", max(levels)), self.active)
                if fallen:
                    self.hit.add(rival)
        if player.creatures:
            yield from self.window_before(rival)
            self.fixed_values = self.against(rival)
            self.remainder = sum(value for _, value, _ in self.fixed_values)
            if self.first_fallen:
                self.remainder += self.first_kill_bonus()
            self.defence_bare = any(e["do"] == "ignoreattached" for _, _, effects in self.fixed_values for e in effects)
            yield from self.take_damage(rival)
        self.defender, self.defence_bare = None, False

    def window_before(self, rival: int) -> Steps:
        """W1, A121."""
        for seat in [rival] + [other for other in self.rivals(self.active) if other != rival]:
            while True:
                options: dict[str, Any] = {}
                targets = self.weaken_targets(rival)
                for die in self.players[seat].spells:
                    if targets and self.spell_effects(die, "react", "setattack"):
                        options[f"cast {die.name} {die.face}"] = die
                if seat == rival:
                    options |= self.recopy_options(seat)
                if not sum(value for _, value, _ in self.against(rival)):
                    return
                choice = yield from self.ask(seat, options, done=True)
                if choice is None:
                    break
                if isinstance(choice, Creature):
                    yield from self.copy(seat, choice, self.recopies(seat, choice))
                    continue
                self.players[seat].spells.remove(choice)
                self.players[seat].used[choice.name] += 1
                target = yield from self.ask(seat, {self.name_of(self.active, c): c for c in targets})
                target.zero = True

    def weaken_targets(self, rival: int) -> list[Creature]:
        """Attackers in play that count against this or a later defender."""
        seats = self.rivals(self.active)
        later = [rival] + [s for s in seats[seats.index(rival) + 1 :] if self.players[s].creatures]
        counting = {a.creature for seat in later for a, value, _ in self.against(seat) if value > 0 and a.here}
        return [c for c in self.ordered(self.active) if c in counting and not self.effects(c, "static", "notarget")]

    def take_damage(self, rival: int) -> Steps:
        """B70 to B73, A94, A132."""
        player = self.players[rival]
        while self.remainder > 0:
            able = [creature for creature in self.ordered(rival) if not creature.safe]
            if not able:
                return
            defences = {c: self.defense_of(rival, c, self.defence_bare) for c in able}
            if self.remainder < min(defences.values()):
                return
            options = {self.name_of(rival, creature): creature for creature in able}
            plain = not any(self.effects(c, "destroyed") or self.alone_bonus(c) for c in able)
            if self.remainder >= sum(defences.values()) and plain and not self.ready_to_answer(rival):
                chosen = able[0]
            else:
                chosen = yield from self.ask(rival, options)
            if self.remainder < defences[chosen]:
                return
            fallen = yield from self.destroy([(rival, chosen)], Cause("damage"), self.active)
            if not fallen:
                return
            self.hit.add(rival)
            if not player.creatures:
                return

    def alone_bonus(self, creature: Creature) -> int:
        """What a creature's defence gains if it is left alone."""
        own = [effect for effect in self.effects(creature, "static", "defense") if effect.get("when") == "alone"]
        return sum(effect["n"] for effect in own)

    def ready_to_answer(self, rival: int) -> bool:
        """Whether the defender holds a reaction to destruction or has a recopy left."""
        reactions = [e["do"] for die in self.players[rival].spells for e in self.spell_effects(die, "react")]
        return any(do != "setattack" for do in reactions) or bool(self.recopy_options(rival))

    # ------------------------------------------------------------------ phases 5 and 6

    def _capture(self) -> Steps:
        """B78 to B83, A72, A73."""
        while True:
            options = self.capturing() | self.casts() | self.unlocks()
            choice = yield from self.ask(self.active, options, done=True)
            if choice is None:
                return
            yield from choice[0](*choice[1:])

    def capturing(self) -> dict[str, Any]:
        """The dice of the Wilds that can be paid for."""
        options: dict[str, Any] = {}
        if self.captures > 0:
            for name in self.classes():
                price = max(0, self.card[name]["cost"] - self.discount)
                if self.wilds[name] and price <= self.at_hand():
                    options[f"capture {name}"] = (self.capture, name, price)
        return options

    def capture(self, name: str, price: int, needed: str = "") -> Steps:
        """B78, B82."""
        yield from self.pay(price, needed)
        self.captures -= 1
        self.wilds[name] -= 1
        self.players[self.active].used[name] += 1
        self.test_empty()
        yield from self.check_states()

    def _clean_up(self) -> Steps:
        """B84, B85, A59, A90."""
        player = self.players[self.active]
        discarded = False
        while True:
            options: dict[str, Any] = {f"discard {die.name} {die.face}": (self.discard, die) for die in player.spells}
            if discarded:
                options |= self.after_discard()
            choice = yield from self.ask(self.active, options, done=True)
            if choice is None:
                break
            discarded = True
            yield from choice[0](*choice[1:])
        for die in player.pool:
            player.used[die.name] += 1
        player.pool = []

    def discard(self, die: Die) -> Steps:
        """B85."""
        player = self.players[self.active]
        player.spells.remove(die)
        player.used[die.name] += 1
        return
        yield

    def after_discard(self) -> dict[str, Any]:
        """What a discarded spell has made possible."""
        return {}

    # ------------------------------------------------------------------ reporting

    def summary(self) -> dict[str, Any]:
        """The position in the documented keys, lists in no particular order sorted."""
        if not self.wilds:
            return {"phase": 0, "wilds": sorted(card["name"] for card in self.card.values())}
        return {
            "phase": self.phase,
            "active": self.active,
            "turn": self.turn,
            "quiddity": dict(+self.floating),
            "captures": self.captures,
            "wilds": {self.card[name]["name"]: count for name, count in self.wilds.items()},
            "players": [
                {
                    "glory": player.glory,
                    "turns": player.turns,
                    "bag": dict(+player.bag),
                    "used": dict(+player.used),
                    "active": sorted(f"{die.name} {die.face}" for die in player.pool),
                    "ready": sorted(
                        [f"{die.name} {die.face}" for die in player.spells]
                        + [f"{c.name} {c.face} {c.label()}" for c in player.creatures]
                    ),
                    "spent": {},
                    "aside": sorted(player.aside),
                    "locked": f"{player.locked.name} {player.locked.face} {player.locked.label()}"
                    if player.locked
                    else "",
                }
                for player in self.players
            ],
            "winners": self.winners,
        }
