"""What Kuhn poker says to people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine_ext.position import Position
from games.words import NOBODY, Line, Step, Words, join, who

PASS, BET = 0, 1


def _facing_bet(position: Position) -> bool:
    return bool(position.to_dict()["bids"].endswith("b"))


def _ask(position: Position) -> str:
    card = position.to_dict()["cards"][position.current_player()]
    start = f"You hold the {card} of 0, 1, 2, and 1 chip of each player is in the pot"
    if _facing_bet(position):
        return f"{start}; your rival has bet 1 more: do you call?"
    return f"{start}: do you bet 1 more?"


def _options(position: Position) -> Mapping[int, str]:
    if _facing_bet(position):
        return {BET: "call: the higher card takes the pot", PASS: "fold: lose 1"}
    return {BET: "bet 1", PASS: "pass"}


def _done(bids: str, bid: str) -> str:
    """A bid in the past tense, after the bids before it."""
    passed, bet = ("folded", "called") if bids.endswith("b") else ("passed", "bet 1")
    return bet if bid == "b" else passed


def _tell(steps: Sequence[Step], seat: int) -> list[Line]:
    lines = []
    for step in steps:
        if step.seat != NOBODY:
            lines.append(Line(step.seat, _done(step.before.to_dict()["bids"], "pb"[step.action])))
        else:
            dealt = sum(card is not None for card in step.after.to_dict()["cards"]) - 1
            shown = "(hidden from you)" if step.name is None else f"the {step.action}"
            lines.append(Line(NOBODY, f"dealt {who(dealt, seat)} a card: {shown}"))
        if step.after.is_terminal():
            cards = step.after.to_dict()["cards"]
            if step.action == BET or not _facing_bet(step.before):
                held = [
                    f"{who(each, seat)} had the {cards[each]}"
                    for each in sorted(range(2), key=lambda each: each != seat)
                ]
                lines.append(Line(NOBODY, f"the cards are shown: {join(held)}"))
    return lines


def view(position: Position, seat: int) -> str:
    """The table in one line: the own card, and what has been bid."""
    state = position.to_dict()
    card = state["cards"][seat]
    bids = [f"{who(k % 2, seat)} {_done(state['bids'][:k], bid)}" for k, bid in enumerate(state["bids"])]
    return f"{'no card yet' if card is None else f'your card: {card}'}; {', '.join(bids) or 'no bids yet'}"


AIM = (
    "Each of you puts 1 chip into the pot and gets one of the three cards 0, 1 and 2, unseen by the other. One bet "
    "of 1 chip can be made; who is bet against calls it or folds. The higher card takes the pot; a fold gives it "
    "away."
)
WORDS = Words(ask=_ask, options=_options, tell=_tell, aim=lambda _: AIM, unit=lambda _: ("chip", "chips"))
