"""Exact values of small games of Pentaquest, by plain retrograde computation over whole turns.

Independent of the engine: a situation between turns is a tuple of counts, a turn is worked out
backwards over all 252 rolls (numpy vectors), from the dice as they finally lie, through the
cards that may change them, to the free rerolls and the first roll.
"""

from __future__ import annotations

from functools import cached_property, lru_cache
from itertools import combinations_with_replacement

import numpy as np
import numpy.typing as npt

from tests.reference.pentaquest import ROLLS, SYMBOLS, Card, Dice, changes, keepers, meets

Vector = npt.NDArray[np.float64]
Counts = tuple[int, ...]

FIVE: list[Dice] = list(combinations_with_replacement(range(1, 7), 5))
PLACE = {dice: i for i, dice in enumerate(FIVE)}
KEEPERS: list[Dice] = [kept for n in range(6) for kept in combinations_with_replacement(range(1, 7), n)]

# LANDS[k, r]: chance that rolling all dice but keeper k leaves roll r. INSIDE[r, k]: k can be kept of r.
LANDS = np.zeros((len(KEEPERS), len(FIVE)))
INSIDE = np.zeros((len(FIVE), len(KEEPERS)), dtype=bool)
for _k, _kept in enumerate(KEEPERS):
    for _rolled, _chance in ROLLS[5 - len(_kept)].items():
        LANDS[_k, PLACE[tuple(sorted(_kept + _rolled))]] += float(_chance)
for _r, _dice in enumerate(FIVE):
    INSIDE[_r, [KEEPERS.index(kept) for kept in keepers(_dice)]] = True


def rerolled(values: Vector) -> Vector:
    """Values of the rolls before a reroll of any dice, from those after it (P18 included)."""
    return np.where(INSIDE, LANDS @ values, -np.inf).max(axis=1)


def plus(counts: Counts, i: int, n: int = 1) -> Counts:
    return (*counts[:i], counts[i] + n, *counts[i + 1 :])


class Solver:
    """Exact value to the first player of a solo game, or of a two-player game by `win`.

    A situation is (deck, quest, armies, discards, turn): cards by kind, army cards by symbol for
    each seat, discards by seat; the turn counts only while first turns are to come.
    """

    def __init__(self, cards: list[Card], area: int, players: int = 1) -> None:
        if players > 2:
            raise ValueError("one or two players")
        self.players, self.area = players, area
        self.kinds = list(dict.fromkeys((card.requires, card.symbol) for card in cards))
        self.counts = tuple(sum((card.requires, card.symbol) == kind for card in cards) for kind in self.kinds)
        self.met = [np.array([any(meets(dice, r) for r in kind[0]) for dice in FIVE]) for kind in self.kinds]
        self.situations = 0
        self.after_cards = lru_cache(maxsize=None)(self._after_cards)
        self.without_failing = lru_cache(maxsize=None)(self._without_failing)
        self.drawn = lru_cache(maxsize=None)(self._drawn)
        self.filled = lru_cache(maxsize=None)(self._filled)

    @cached_property
    def moves(self) -> dict[str, list[tuple[int, int]]]:
        """By changing symbol: (roll, roll after one card)."""
        return {
            symbol: [(PLACE[dice], PLACE[goal]) for dice in FIVE for goal in changes(dice, symbol).values()]
            for symbol in SYMBOLS
            if symbol != "reroll"
        }

    def value(self) -> float:
        nothing = (0,) * len(self.kinds)
        armies = ((0,) * len(SYMBOLS),) * self.players
        return self.drawn(self.counts, nothing, armies, (0,) * self.players, 0)

    # Values are the first player's; with two players, the second one minimises them.

    def _drawn(self, deck: Counts, quest: Counts, armies: tuple[Counts, ...], discards: Counts, turn: int) -> float:
        """At the start of a turn, before the quest area is filled."""
        if not sum(deck) + sum(quest):
            return self.result(armies, discards)
        if sum(quest) == self.area or not sum(deck):
            return self.filled(deck, quest, armies, discards, turn)
        return sum(
            left / sum(deck) * self.drawn(plus(deck, kind, -1), plus(quest, kind), armies, discards, turn)
            for kind, left in enumerate(deck)
            if left
        )

    def result(self, armies: tuple[Counts, ...], discards: Counts) -> float:
        if self.players == 1:
            return float(sum(armies[0]))
        ranks = [(sum(army) + used, sum(army)) for army, used in zip(armies, discards, strict=True)]
        return float((ranks[0] > ranks[1]) - (ranks[0] < ranks[1]))

    def _filled(self, deck: Counts, quest: Counts, armies: tuple[Counts, ...], discards: Counts, turn: int) -> float:
        """At the start of a turn with the quest area filled: a whole turn.

        Between two players a turn may fail and change nothing; then the two situations refer to
        each other, and are iterated until they stand still.
        """
        self.situations += 1
        if self.players == 1:
            return self.turn_value(deck, quest, armies, discards, turn, 0.0)
        if turn < 2:
            after = self.filled(deck, quest, armies, discards, turn + 1)
            return self.turn_value(deck, quest, armies, discards, turn, after)
        mine = theirs = 0.0
        while True:
            before = mine, theirs
            mine = self.turn_value(deck, quest, armies, discards, turn, theirs)
            other = 5 - turn  # turns 2 and 3 stand for all later turns of seats 0 and 1
            theirs = self.turn_value(deck, quest, armies, discards, other, mine)
            if max(abs(mine - before[0]), abs(theirs - before[1])) < 1e-14:
                return mine

    def turn_value(
        self, deck: Counts, quest: Counts, armies: tuple[Counts, ...], discards: Counts, turn: int, fail: float
    ) -> float:
        long = turn < self.players
        values = self.act(deck, quest, armies, discards, turn, fail)
        for _ in range(2 if long else 1):
            values = self.best(turn, values, self.reroll(turn, values))
        return float(LANDS[0] @ values)

    def sign(self, turn: int) -> int:
        return 1 if turn % self.players == 0 else -1

    def best(self, turn: int, *options: Vector) -> Vector:
        return np.maximum.reduce(options) if self.sign(turn) > 0 else np.minimum.reduce(options)

    def reroll(self, turn: int, values: Vector) -> Vector:
        return self.sign(turn) * rerolled(self.sign(turn) * values)

    def _after_cards(
        self, deck: Counts, quest: Counts, armies: tuple[Counts, ...], discards: Counts, turn: int
    ) -> Vector:
        """Values of the rolls once a card has been used: failing now leads to a new situation."""
        following = turn + 1 if turn < 2 else 5 - turn
        fail = 0.0 if self.players == 1 else self.drawn(deck, quest, armies, discards, following)
        return self.act(deck, quest, armies, discards, turn, fail)

    def act(
        self, deck: Counts, quest: Counts, armies: tuple[Counts, ...], discards: Counts, turn: int, fail: float
    ) -> Vector:
        """Values of the rolls without free rerolls: fail, beat a card, or use an army card."""
        return self.best(turn, np.full(len(FIVE), fail), self.without_failing(deck, quest, armies, discards, turn))

    def _without_failing(
        self, deck: Counts, quest: Counts, armies: tuple[Counts, ...], discards: Counts, turn: int
    ) -> Vector:
        """The same, but for failing; infinitely bad where there is nothing else."""
        seat = turn % self.players
        following = 0 if self.players == 1 else turn + 1 if turn < 2 else 5 - turn
        if self.players == 1:
            following = 1  # the first turn is over
        worst = -np.inf * self.sign(turn)
        values = np.full(len(FIVE), worst)
        for kind, here in enumerate(quest):
            if here:
                symbol = SYMBOLS.index(self.kinds[kind][1])
                won = tuple(plus(army, symbol) if s == seat else army for s, army in enumerate(armies))
                after = self.drawn(deck, plus(quest, kind, -1), won, discards, following)
                values = self.best(turn, values, np.where(self.met[kind], after, worst))
        for symbol, held in enumerate(armies[seat]):
            if not held:
                continue
            left = tuple(plus(army, symbol, -1) if s == seat else army for s, army in enumerate(armies))
            then = self.after_cards(deck, quest, left, plus(discards, seat), turn)
            if SYMBOLS[symbol] == "reroll":
                values = self.best(turn, values, self.reroll(turn, then))
                continue
            for roll, goal in self.moves[SYMBOLS[symbol]]:
                values[roll] = max(values[roll], then[goal]) if self.sign(turn) > 0 else min(values[roll], then[goal])
        return values
