"""Light vs. Dark as a plain and slow model: what it changes in the base edition, written from the numbered rules alone.

The model of the base edition (quarriors.py) carries the rest, the Lock rules included. D numbers are the statements
of docs/games/quarriors.md about Light vs. Dark.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

from tests.reference.quarriors import Creature, Data, Die, Game, Player, Steps

LARGE = "Quiddity (large)"
LARGE_DICE = 2  # D6
ASSISTANTS = 4  # D6
FIRST_TURNS, FIRST_DRAW, DRAW = 2, 2, 3  # D11


class LightDarkGame(Game):
    """A game of Light vs. Dark, `mixed` with the base set's creatures and spells, `quantity_capture` as in D50."""

    def __init__(
        self,
        players: int = 2,
        wilds: list[str] | None = None,
        max_turns: int = 100,
        bag: dict[str, int] | None = None,
        qladiator: bool = False,
        mixed: bool = False,
        quantity_capture: bool = False,
        own: str = "",
    ) -> None:
        self.mixed, self.several_sets = mixed, mixed or qladiator
        self.quantity_capture = quantity_capture
        self.spent: list[Counter[str]] = [Counter() for _ in range(players)]  # D13
        self.large = [LARGE_DICE] * players  # large dice set aside (D7, D8)
        super().__init__(players, wilds, max_turns, bag, qladiator, own)

    def read_data(self, qladiator: bool, own: str) -> Data:
        """D5: of the base set creatures and spells only."""
        sets = [*(["base"] if self.mixed else []), "light_vs_dark", *(["qladiator"] if qladiator else [])]
        return Data.read(*sets, only_quarry="base", own=own)

    def usual_bag(self) -> dict[str, int]:
        """D6."""
        return {"Assistant": ASSISTANTS}

    def usual_captures(self) -> int:
        """D50, A74."""
        return 2 if self.quantity_capture else 1

    def _set_up(self) -> Steps:
        """D2 to D6."""
        for name in self.fixed:
            self.card[self.data.cards[name]["class"]] = self.data.cards[name]
        if "Assistant" not in self.card:
            cards = [card for card in self.data.cards.values() if card["class"] == "Assistant"]
            outcomes = {f"deal {card['name']}": (Fraction(1, len(cards)), card) for card in cards}
            self.card["Assistant"] = yield from self.chance(outcomes)
        yield from self.deal({"creature": 7, "spell": 3} if self.several_sets else {"creature": 6, "spell": 2})
        seats = len(self.players)
        dice = {name: ASSISTANTS * seats if name == "Assistant" else 5 for name in self.card}
        self.wilds = {name: dice[name] - seats * self.first_bag[name] for name in self.card}
        for player in self.players:
            player.bag = Counter(self.first_bag)

    def dice_classes(self) -> list[str]:
        """The large dice come before the classes of the Wilds."""
        return [LARGE, *self.classes()]

    def phases(self) -> list[Any]:
        """D12."""
        return [self._score, self._roll, self._attack, self._capture, self._clean_up]

    def begin_at(self, table: dict[str, Any]) -> None:
        """The large dice wait, nothing is spent."""
        self.large = [LARGE_DICE] * len(self.players)
        self.spent = [Counter() for _ in self.players]
        super().begin_at(table)

    def _seated(self, seat: dict[str, Any]) -> Player:
        player = super()._seated(seat)
        player.aside = [name for name in player.aside if name != LARGE]
        return player

    def _turn(self, first: int = 1) -> Steps:
        self.anchored_used = False
        yield from super()._turn(first)

    # ------------------------------------------------------------------ what is spent, culled, returned, turned

    def spent_pile(self, seat: int) -> Counter[str]:
        """D13."""
        return self.spent[seat]

    def refills_itself(self) -> bool:
        """D14: a spent die is not drawn again this turn."""
        return False

    def free_culls(self, scorers: list[Creature]) -> int:
        """D19."""
        return 0

    def forget_safety(self) -> None:
        """D43: a creature that was saved or returned takes no more damage this turn."""

    def between_defenders(self) -> Steps:
        """D40, A129: all defend at the same time."""
        return
        yield

    def rotations(self, creature: Creature, to: str) -> list[int]:
        """D31, D32: the first face to the right with a higher level, or to the left with a lower one."""
        faces = self.data.dice[creature.name]["faces"]
        level = faces[creature.face].get("level", 0)
        if to == "up":
            fitting = [face for face in range(creature.face + 1, 6) if faces[face].get("level", 0) > level]
        else:
            fitting = [face for face in range(creature.face - 1, -1, -1) if 0 < faces[face].get("level", 0) < level]
        return [self.data.number(creature.name, face) for face in fitting[:1]]

    # ------------------------------------------------------------------ phase 2

    def _roll(self) -> Steps:
        """D11, D7, then one question for everything (A89)."""
        seat, player = self.active, self.players[self.active]
        player.pool += [Die(LARGE) for _ in range(self.large[seat])]
        self.large[seat] = 0
        yield from self.draw_for_turn(FIRST_DRAW if player.turns < FIRST_TURNS else DRAW)
        yield from self.before_summons()
        while True:
            if self.dearer_due:
                yield from self.before_summons()
            options = self.uses() | self.readies() | self.summons() | self.casts() | self.anchored() | self.recopying()
            options |= self.locks() | self.unlocks()
            choice = yield from self.ask(seat, options, done=True)
            if choice is not None:
                yield from choice[0](*choice[1:])
            elif not (yield from self.forced_lock()):
                return

    def anchored(self) -> dict[str, Any]:
        """D26 to D29, A116."""
        options: dict[str, Any] = {}
        for name, card in self.card.items():
            spell = card.get("anchored")
            if not spell or self.anchored_used or self.at_hand(spell["flavour"]) < spell["cost"]:
                continue
            if self.possible(spell["effects"]):
                options[f"anchored {name}"] = (self.activate, spell)
        return options

    def activate(self, spell: dict[str, Any]) -> Steps:
        """D27, D30."""
        self.anchored_used = True
        self.pay_exactly({spell["flavour"]: spell["cost"]})
        yield from self.carry_out(spell["effects"], spell_of=self.active)
        yield from self.check_states()

    # ------------------------------------------------------------------ phases 4 and 5

    def _capture(self) -> Steps:
        """D23, D24, D28."""
        while True:
            options = self.capturing() | self.casts() | self.anchored() | self.unlocks()
            choice = yield from self.ask(self.active, options, done=True)
            if choice is None:
                return
            yield from choice[0](*choice[1:])

    def capturing(self) -> dict[str, Any]:
        """D23, D24, A72, A81: for the full price or, with a flavour, for the discounted one."""
        options = super().capturing()
        if self.captures > 0:
            for name in self.classes():
                card = self.card[name]
                if not self.wilds[name] or "discounted_cost" not in card:
                    continue
                price, needed = max(0, card["discounted_cost"] - self.discount), self.data.dice[name]["energy"]
                if price < card["cost"] - self.discount and self.payments(price, needed):
                    options[f"capture {name} discounted"] = (self.capture, name, price, needed)
        return options

    def after_discard(self) -> dict[str, Any]:
        """D28, D46: spells in phase 5; before a discard it was the same choice as in phase 4."""
        return self.anchored() | self.casts()

    def _clean_up(self) -> Steps:
        """D15, D52."""
        seat, player = self.active, self.players[self.active]
        yield from super()._clean_up()
        player.used += self.spent[seat]
        self.spent[seat] = Counter()
        self.large[seat] += player.used.pop(LARGE, 0)

    # ------------------------------------------------------------------ reporting

    def summary(self) -> dict[str, Any]:
        """The large dice that wait are set aside, too."""
        table = super().summary()
        for seat, player in enumerate(table.get("players", [])):
            player["aside"] = sorted(player["aside"] + [LARGE] * self.large[seat])
            player["spent"] = dict(+self.spent[seat])
        return table
