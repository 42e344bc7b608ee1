"""Pentaquest as a plain and slow model, written from the numbered rules alone.

Nothing here comes from the engine: cards are indices, dice are sorted tuples, an army is a list
of symbols. A node offers its steps as text, in the engine's wording, so that the two can be
stepped side by side. Rule numbers stand in the comments; docs/games/pentaquest.md lists them.
"""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations, product

Dice = tuple[int, ...]
SYMBOLS = ("add", "sub", "addsub", "reroll", "mirror")


def meets(dice: Dice, requirement: str, distinct: bool = False) -> bool:
    """Rules 16 to 21 and 32: whether five dice meet one requirement such as "1SS"."""
    suns, moons = requirement.count("S"), requirement.count("M")
    for sun in range(1, 7):
        for moon in range(1, 7):
            if distinct and suns and moons and sun == moon:  # P1
                continue
            if all(
                dice.count(number) >= requirement.count(str(number)) + suns * (number == sun) + moons * (number == moon)
                for number in range(1, 7)
            ):
                return True
    return False


def rolls(n: int) -> dict[Dice, Fraction]:
    """Every multiset that n dice can show, with its probability."""
    counts = Counter(tuple(sorted(roll)) for roll in product(range(1, 7), repeat=n))
    return {dice: Fraction(count, 6**n) for dice, count in counts.items()}


ROLLS = [rolls(n) for n in range(6)]


def keepers(dice: Dice) -> set[Dice]:
    """Every multiset of dice one can keep."""
    return {kept for n in range(len(dice) + 1) for kept in combinations(dice, n)}


def changes(dice: Dice, symbol: str) -> dict[str, Dice]:
    """Rules 10, 11, 12, 14: what one card of a symbol can make of the dice, by action text (P9)."""
    found = {}
    for die in set(dice):
        goals = []
        if symbol in ("add", "addsub") and die < 6:
            goals.append(die + 1)
        if symbol in ("sub", "addsub") and die > 1:
            goals.append(die - 1)
        if symbol == "mirror":
            goals.append(7 - die)
        for goal in goals:
            rest = list(dice)
            rest.remove(die)
            found[f"{symbol} {die} to {goal}"] = tuple(sorted([*rest, goal]))
    return found


def text(dice: Dice) -> str:
    return " ".join(map(str, dice)) or "none"


@dataclass(frozen=True)
class Card:
    name: str
    requires: tuple[str, ...]
    symbol: str


@dataclass
class Game:
    """A game under way. `step` is draw, roll, act, forfeit or over.

    `settle` plays on while there is no choice: nodes with one possible step are not nodes.
    """

    cards: list[Card]
    players: int = 1
    area: int = 5
    distinct: bool = False
    original: bool = False
    first_turn_rerolls: str = "all"
    utility: str = "win"
    deck: list[Card] = field(init=False)
    quest: list[Card] = field(default_factory=list)
    armies: list[list[str]] = field(init=False)
    discards: list[list[str]] = field(init=False)
    turn: int = 0
    step: str = "draw"
    dice: Dice = ()
    rerolls: int = 0
    lost: bool = False

    def __post_init__(self) -> None:
        self.deck = list(self.cards)  # 2
        self.armies = [[] for _ in range(self.players)]
        self.discards = [[] for _ in range(self.players)]
        self.begin_turn()
        self.settle()

    @property
    def seat(self) -> int:
        return self.turn % self.players  # 26

    def kind_name(self, card: Card) -> str:
        """Interchangeable cards go by the name of the first of them in the deck."""
        for other in self.cards:
            if sorted(other.requires) == sorted(card.requires) and other.symbol == card.symbol:
                return other.name
        raise AssertionError(card)

    # ---- what can happen -----------------------------------------------------------------------

    def chances(self) -> dict[str, Fraction]:
        """Outcomes of a chance node with their probabilities."""
        if self.step == "draw":
            counts = Counter(self.kind_name(card) for card in self.deck)
            return {f"draw {name}": Fraction(count, len(self.deck)) for name, count in counts.items()}
        if self.step == "roll":
            return {f"roll {text(dice)}": chance for dice, chance in ROLLS[5 - len(self.dice)].items()}
        return {}

    def actions(self) -> set[str]:
        """Legal decisions."""
        army = set(self.armies[self.seat])
        if self.step == "forfeit":
            return {f"discard {symbol}" for symbol in army}  # P12
        if self.step != "act":
            return set()
        found = {"pass"}  # P7
        found |= {f"beat {self.kind_name(card)}" for card in self.quest if self.beats(card)}  # 5
        if self.rerolls:
            found |= {f"reroll, keep {text(kept)}" for kept in keepers(self.dice)}  # 7, P18
        if "reroll" in army:
            found |= {f"reroll card, keep {text(kept)}" for kept in keepers(self.dice)}  # 13
        for symbol in army:
            found |= set(changes(self.dice, symbol))
        return found

    def beats(self, card: Card) -> bool:
        return any(meets(self.dice, requirement, self.distinct) for requirement in card.requires)  # P4

    # ---- what happens --------------------------------------------------------------------------

    def apply(self, step: str) -> None:
        """One step by its text, then everything that follows of itself."""
        self.take(step)
        self.settle()

    def settle(self) -> None:
        while self.step != "over":
            steps = list(self.chances()) or list(self.actions())
            if self.step == "draw" and len(self.deck) <= self.area - len(self.quest):
                steps = steps[:1]  # every card left is dealt: the order is no chance
            if len(steps) != 1:
                return
            self.take(steps[0])

    def take(self, step: str) -> None:
        verb, _, rest = step.partition(" ")
        dice = tuple(int(die) for die in step.split() if die.isdigit())
        if verb == "draw":
            card = next(card for card in self.deck if self.kind_name(card) == rest)
            self.deck.remove(card)
            self.quest.append(card)
            self.fill()
        elif verb == "roll":
            self.dice = tuple(sorted(self.dice + dice))
            self.step = "act"
        elif verb == "beat":
            card = next(card for card in self.quest if self.kind_name(card) == rest)
            self.quest.remove(card)
            self.armies[self.seat].append(card.symbol)  # 5, 6
            self.end_turn()
        elif verb == "pass":
            self.fail()
        elif verb == "discard":
            self.use(rest)
            self.end_turn()
        elif step.startswith("reroll, keep"):
            self.rerolls -= 1
            self.keep(dice)
        elif step.startswith("reroll card, keep"):
            self.use("reroll")
            self.rerolls = 0  # P5
            self.keep(dice)
        else:
            self.dice = changes(self.dice, verb)[step]
            self.use(verb)
            self.rerolls = 0  # P5

    def begin_turn(self) -> None:
        long = self.turn < (self.players if self.first_turn_rerolls == "all" else 1)  # 8, P11
        self.rerolls = 2 if long else 1
        self.fill()

    def fill(self) -> None:
        self.dice = ()
        self.step = "draw" if self.deck and len(self.quest) < self.area else "roll"  # 3, 4, P13

    def keep(self, dice: Dice) -> None:
        self.dice = dice
        self.step = "act" if len(dice) == 5 else "roll"

    def use(self, symbol: str) -> None:
        self.armies[self.seat].remove(symbol)  # 9, 15
        self.discards[self.seat].append(symbol)

    def fail(self) -> None:
        if self.players == 1:
            self.lost = True  # 22
            self.finish()
        elif self.original and self.armies[self.seat]:
            self.step = "forfeit"  # P12
            self.rerolls = 0
        else:
            self.end_turn()  # 27

    def end_turn(self) -> None:
        if not self.deck and not self.quest:
            self.finish()  # 22, 28, P15
        else:
            self.turn += 1
            self.begin_turn()

    def finish(self) -> None:
        self.turn += 1
        self.step, self.dice, self.rerolls = "over", (), 0

    # ---- the result ----------------------------------------------------------------------------

    def score(self, seat: int) -> int:
        points = len(self.armies[seat])
        return points if self.original else points + len(self.discards[seat])  # 29, P12

    def returns(self) -> list[float]:
        if self.step != "over":
            return [0.0] * self.players
        if self.players == 1:
            return [0.0 if self.lost else float(len(self.armies[0]))]  # 23, P14
        scores = [self.score(seat) for seat in range(self.players)]
        others = self.players - 1
        if self.utility == "score":
            return [score - (sum(scores) - score) / others for score in scores]
        ranks = [(score, len(self.armies[seat])) for seat, score in enumerate(scores)]  # 30
        winners = ranks.count(max(ranks))  # P19
        return [(self.players / winners - 1) / others if rank == max(ranks) else -1 / others for rank in ranks]

    # ---- what the engine says of it --------------------------------------------------------------

    def summary(self) -> dict[str, object]:
        """What `Position.to_dict` should say, in the deck's order."""
        order = [self.kind_name(card) for card in self.cards]
        turn = self.turn
        if self.players > 1 and turn >= self.players:  # told apart only as far as it matters
            turn = self.players + turn % self.players
        return {
            "deck": sorted((self.kind_name(card) for card in self.deck), key=order.index),
            "quest": sorted((self.kind_name(card) for card in self.quest), key=order.index),
            "armies": [{symbol: army.count(symbol) for symbol in SYMBOLS if symbol in army} for army in self.armies],
            "discards": [len(pile) for pile in self.discards],
            "turn": turn,
            "seat": (self.turn - (self.step == "over")) % self.players,
            "step": self.step,
            "dice": list(self.dice),
            "rerolls": self.rerolls,
        }

    def clone(self) -> Game:
        return copy.deepcopy(self)
