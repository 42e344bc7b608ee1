"""Chance in recorded games: a stream of randomness that belongs to a place in the game.

The dice of an event come from a stream keyed by (game seed, turn, seat, event number), not from
one stream that every draw advances. So when two bots swap seats, whoever sits in a seat meets
the dice of that seat's turn, even after play has diverged; and when a player takes a move back,
the same dice come again.
"""

from __future__ import annotations

from engine_ext.position import Position
from engine_ext.rng import Stream

_BY_CLOCK = -1  # a seat number no seat has: the clock already names turn and seat


class KeyedChance:
    """Draws chance outcomes of one game.

    Where the game has a clock, it names the turn. Elsewhere a turn is a run of decisions of one
    seat, and chance nodes belong to the turn of the last decision; `decided` must then be told
    of every decision.

    Args:
        seed: the game's seed, an int in [0, 2**63).
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._turn = 0
        self._seat = 0
        self._events: dict[tuple[int, int], int] = {}

    def decided(self, seat: int) -> None:
        """Note a decision of this seat."""
        if seat != self._seat:
            self._seat = seat
            self._turn += 1

    def draw(self, position: Position) -> int:
        """An outcome of this chance node; the next call at the same place is the next event.

        Raises:
            IllegalActionError: not a chance node.
        """
        clock = position.clock()
        place = (self._turn, self._seat) if clock is None else (clock, _BY_CLOCK)
        event = self._events.get(place, 0)
        outcome = position.sample(Stream.keyed(self.seed, place[0], place[1], event))
        self._events[place] = event + 1
        return outcome

    def copy(self) -> KeyedChance:
        """An independent copy that will draw the same."""
        made = KeyedChance(self.seed)
        made._turn, made._seat, made._events = self._turn, self._seat, dict(self._events)
        return made
