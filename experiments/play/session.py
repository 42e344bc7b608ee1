"""A game in progress between one person and bots: what the terminal and the page both drive.

Everything random belongs to the game's seed: dice to their place in the game, a bot's search to
its seat and how many decisions it has made. So a move that is taken back and made again meets
the same dice and the same answers.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from engine_ext.errors import IllegalActionError, ParameterError, TooLargeError
from engine_ext.position import Position
from experiments import ladder, players, seeds
from experiments.chance import KeyedChance
from experiments.gametext import Game
from experiments.play import odds
from experiments.play.views import Option, Thought, Views
from experiments.players import Player
from experiments.seeds import keyed_seed
from games.words import Line, Step, join, who
from solvers.contract import SearchResult
from solvers.stopping import look_up

CHANCE, TERMINAL = -1, -4


@dataclass(frozen=True)
class Event:
    """One step of the game.

    Attributes:
        seat: who decided; CHANCE for dice and cards.
        action: id of the action or outcome.
        text: what the person's seat saw of it; None where it saw nothing.
    """

    seat: int
    action: int
    text: str | None


@dataclass(frozen=True)
class Choice:
    """One legal action of the person.

    Attributes:
        action: its id.
        name: its name, the same in every state.
        words: what it means here.
    """

    action: int
    name: str
    words: str


@dataclass(frozen=True)
class _Snapshot:
    position: Position
    chance: KeyedChance
    n_events: int
    n_lines: int
    decisions: tuple[int, ...]
    thought: Thought | None


@contextlib.contextmanager
def _unseen(what: str) -> Iterator[Callable[[], None]]:
    yield lambda: None


class Session(Views):
    """A game in progress.

    Args:
        game: one of our games.
        seat: the person's, from 0.
        bots: one spec for all other seats, or one for each other seat, or one for every seat
            (then the one at the person's seat gives the hints).
        seed: of dice and bots, in `seeds.RANGE`.
        seconds: how long a bot may think about a decision where a clock can end its search; None: as
            long as its spec says.

    Raises:
        ParameterError: no such seat, a wrong number of bots, or a seed out of range.
        SpecError: not a spec, or an unknown name.
        UnsuitableGameError: a property of the game rules a bot out.

    Attributes:
        position: where the game stands.
        events: every step so far.
        story: the same in words, as the person saw it, up to the last `tell`.
        names: canonical spec by seat; "you" in the person's.
        preparing: entered, with a text that says so, around what a bot does once for a game and may take long, such as
            to solve it; gives what is called when that begins, for it may have to wait for others. Whoever shows
            the game sets it.
    """

    def __init__(self, game: Game, seat: int, bots: Sequence[str], seed: int, *, seconds: float | None = None) -> None:
        assert game.rules is not None
        n = game.rules.num_players()
        if not 0 <= seat < n:
            raise ParameterError(f"seat is {seat}, {game.text} has the seats 0 to {n - 1}")
        super().__init__(game)
        self.seat, self.seed = seat, seeds.check(seed)
        self.seconds = seconds
        self.bots = _for_seats(bots, n, seat)
        self._players: list[Player | None] = [
            None if other == seat else players.seat(spec, self.rules) for other, spec in enumerate(self.bots)
        ]
        self._adviser = players.seat(self.bots[seat], self.rules, every_action=True)
        self.preparing: Callable[[str], contextlib.AbstractContextManager[Callable[[], None]]] = _unseen
        self.names = ["you" if player is None else player.name for player in self._players]
        self.restart()

    def restart(self) -> None:
        """Back to the start of the game, with the same seed."""
        self.position = self.rules.initial_position()
        self.story: list[Line] = []
        self._thought: Thought | None = None
        self._untold: list[Step] = []
        self._chance = KeyedChance(self.seed)
        self.events: list[Event] = []
        self._said: dict[int, str] = {}
        self._decisions = [0] * self.rules.num_players()
        self._snapshots: list[_Snapshot] = []
        for player in self._players:
            if player is not None:
                player.begin()

    # ---- questions -------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.position.is_terminal()

    @property
    def thought(self) -> Thought | None:
        """How a bot saw the last decision between two alternatives or more; None where no bot has
        decided yet and where it had no opinion. A game that hides something shows it only when it is
        over: a bot's odds would give away what it holds."""
        return None if self.rules.hidden_information and not self.over else self._thought

    @property
    def said(self) -> dict[int, str]:
        """By number of the event what a bot said of its decision; as `thought`, nothing that would give away what is
        hidden while the game goes on."""
        return {} if self.rules.hidden_information and not self.over else self.all_said

    @property
    def all_said(self) -> dict[int, str]:
        """The same, also while that would give away what a bot holds."""
        return dict(self._said)

    @property
    def rival_decisions(self) -> int:
        """How many decisions the bots have made so far."""
        return sum(self._decisions) - self._decisions[self.seat]

    @property
    def your_turn(self) -> bool:
        """Whether the person has to decide."""
        return self.position.current_player() == self.seat

    def question(self) -> str:
        """What the person is asked."""
        return self.spec.ask(self.position)

    def choices(self) -> list[Choice]:
        """The person's legal actions, in the order of the menu."""
        words = self.spec.options(self.position)
        return [Choice(action, self.position.action_to_string(action), text) for action, text in words.items()]

    def verdict(self) -> str:
        """How the finished game went for the person."""
        utilities = self.position.returns()
        own = utilities[self.seat]
        if len(utilities) == 1:
            return f"The game is over. Your result: {self.amount(own)}."
        winners = [i for i, value in enumerate(utilities) if value == max(utilities)]
        if len(winners) > 1 and not self.spec.ties_are_wins:
            told = "Nobody has won"
        elif self.seat not in winners:
            told = f"You have lost to {join([who(i, self.seat) for i in winners])}"
        elif len(winners) == 1:
            told = "You have won"
        else:
            told = "The win is shared"
        return f"{told}." if self.win_chance(own) is not None else f"{told}: {self.amount(own)}."

    # ---- steps -----------------------------------------------------------------------------

    def prepare(self) -> None:
        """Have every bot do what it does once for a game, so that its moves need no more than their time.

        Raises:
            TooLargeError: it does not fit into memory.
            UnsuitableGameError: a property of the game rules the bot out.
        """
        for seat, player in enumerate(self._players):
            if player is not None:
                self._make_ready(player, f"seat {seat}, {player.name},")

    def _make_ready(self, player: Player, who: str) -> None:
        if not player.ready:
            with self.preparing(f"{who} works out the whole game before it plays") as began:
                player.prepare(began)

    def step(self) -> Event | None:
        """One step of dice or a bot; None when the person must decide or the game is over.

        Raises:
            IllegalActionError: a bot chose what the position does not allow.
        """
        seat = self.position.current_player()
        if seat in (TERMINAL, self.seat):
            return None
        if seat == CHANCE:
            return self._apply(seat, self._chance.draw(self.position))
        return self.accept(self.think())

    @property
    def bot_to_move(self) -> int | None:
        """The seat of the bot that has to decide; None where nobody has, or the person."""
        seat = self.position.current_player()
        return None if seat in (TERMINAL, CHANCE, self.seat) else seat

    def think(self) -> SearchResult:
        """What the bot to move finds. The session stays as it is, and may be looked at meanwhile."""
        seat = self.position.current_player()
        player = self._players[seat]
        assert player is not None
        self._make_ready(player, f"seat {seat}, {player.name},")
        return player.choose(self.position, self._seed_of(seat), seconds=self.seconds)

    def accept(self, result: SearchResult) -> Event:
        """Make the move that the bot to move has found.

        Raises:
            IllegalActionError: it chose nothing, or what the position does not allow.
        """
        seat = self.position.current_player()
        if result.action is None:
            raise IllegalActionError(f"{self.names[seat]} chose nothing at its decision")
        self._note_thought(seat, result)
        return self._apply(seat, result.action)

    def go_on(self) -> list[Line]:
        """Let dice and bots go on to the person's next decision or to the end.

        Returns:
            what happened since the last time that something was told, in words.
        """
        while self.step() is not None:
            pass
        return self.tell()

    def tell(self) -> list[Line]:
        """What happened since the last time that something was told, in words; it joins `story`."""
        lines = self.spec.tell(self._untold, self.seat) if self._untold else []
        self._untold = []
        self.story += lines
        return lines

    def _note_thought(self, seat: int, result: SearchResult) -> None:
        thought = self.as_thought(self.position, seat, self.names[seat], result)
        if thought is not None:
            self._thought = thought
            if words := odds.of_thought(self, thought):
                self._said[len(self.events)] = words

    def choose(self, action: int) -> Event:
        """The person's decision.

        Raises:
            IllegalActionError: not the person's turn, or not a legal action; nothing changes.
        """
        if not self.your_turn:
            raise IllegalActionError("it is not your turn")
        if action not in self.position.legal_actions():
            raise IllegalActionError(f"{action} is not one of your actions")
        self.tell()
        self._snapshots.append(
            _Snapshot(
                self.position.clone(),
                self._chance.copy(),
                len(self.events),
                len(self.story),
                tuple(self._decisions),
                self._thought,
            )
        )
        return self._apply(self.seat, action)

    @property
    def own_moves(self) -> int:
        """How many decisions the person has made that can be taken back."""
        return len(self._snapshots)

    def undo(self) -> bool:
        """Take back the person's last decision and everything after it; False when there is none."""
        if not self._snapshots:
            return False
        last = self._snapshots.pop()
        self.position, self._chance = last.position, last.chance
        self._decisions = list(last.decisions)
        self._thought = last.thought
        self._untold = []
        del self.events[last.n_events :]
        self._said = {event: words for event, words in self._said.items() if event < last.n_events}
        del self.story[last.n_lines :]
        return True

    def _seed_of(self, seat: int) -> int:
        return keyed_seed(self.seed, "seat", seat, self._decisions[seat])

    def _apply(self, seat: int, action: int) -> Event:
        text = self._seen(seat, action)
        before = self.position.clone()
        self.position.apply_action(action)
        self._untold.append(Step(seat, action, text, before, self.position.clone()))
        if seat >= 0:
            self._decisions[seat] += 1
            self._chance.decided(seat)
        event = Event(seat, action, text)
        self.events.append(event)
        return event

    def _seen(self, seat: int, action: int) -> str | None:
        """An action's text if the person can tell it from every other that was possible."""
        text = self.position.action_to_string(seat, action)
        if seat == self.seat or not self.rules.hidden_information:
            return text
        key = self.position.child(action).info_key(self.seat)
        for other in self.position.legal_actions():
            if other != action and self.position.child(other).info_key(self.seat) == key:
                return None
        return text

    def replay(self, actions: Sequence[int], said: Mapping[int, str] | None = None) -> None:
        """Play a recorded game again from the start, so that it can be gone on with and undone.

        Args:
            actions: of all steps.
            said: `all_said` of the game that was recorded.

        Raises:
            IllegalActionError: an action is not legal, or dice are not those of the seed.
        """
        self.restart()
        for number, action in enumerate(actions, 1):
            look_up()
            seat = self.position.current_player()
            if seat == self.seat:
                self.choose(action)
                continue
            if seat == CHANCE and self._chance.draw(self.position) != action:
                raise IllegalActionError(f"step {number}: the dice are not those of the seed")
            self._apply(seat, action)
        self._said = dict(said or {})

    # ---- advice ----------------------------------------------------------------------------

    def hint(self) -> tuple[str, list[Option]]:
        """The odds of every action as a bot sees them, best first, and the bot's name.

        The adviser is the bot named for the person's seat, or one of the rivals'; a bot that has
        no opinion about values is replaced by the strongest known, or by a plain search.

        Raises:
            IllegalActionError: it is not the person's turn.
        """
        if self.over:
            raise IllegalActionError(
                "the game is over: there is nothing left to decide; undo takes your last move back"
            )
        if not self.your_turn:
            raise IllegalActionError("it is not your turn: there is nothing for you to decide yet")
        return self._first_opinion([self._adviser, *self._searchers])

    def outlook(self) -> Option | None:
        """What a search that knows no more than the person holds for the person's best action, in a game
        whose bots keep their odds to themselves; None in other games and out of turn."""
        if not self.rules.hidden_information or not self.your_turn:
            return None
        best = self._first_opinion(self._searchers)[1][0]
        return None if math.isnan(best.value) else best

    @cached_property
    def _searchers(self) -> list[Player]:
        """The strongest known bot, where it has an opinion about values, and a search of fixed size."""
        specs = dict.fromkeys((ladder.resolve(self.rules), ladder.fallback(self.rules)))
        found = [players.seat(spec, self.rules, every_action=True) for spec in specs]
        return [player for player in found if player.values]

    def _first_opinion(self, advisers: Sequence[Player]) -> tuple[str, list[Option]]:
        """The name and the odds of the first adviser that has any; of the last one if none has."""
        *first, last = [adviser for adviser in advisers if adviser.values]
        for adviser in first:
            with contextlib.suppress(TooLargeError):
                result = self._advice(adviser)
                if any(not math.isnan(each.value) for each in result.actions):
                    return adviser.name, self.options(self.position, self.seat, result)
        return last.name, self.options(self.position, self.seat, self._advice(last))

    def _advice(self, player: Player) -> SearchResult:
        self._make_ready(player, f"{player.name}, which is asked for your odds,")
        player.begin()
        return player.choose(self.position, self._seed_of(self.seat), seconds=self.seconds)


def _for_seats(bots: Sequence[str], n: int, seat: int) -> list[str]:
    """A spec for every seat; the person's own entry is its adviser."""
    if len(bots) == 1:
        return [bots[0]] * n
    if len(bots) == n:
        return list(bots)
    if len(bots) == n - 1:
        return [*bots[:seat], bots[0], *bots[seat:]]
    allowed = sorted({1, n - 1, n} - {0})
    raise ParameterError(f"{len(bots)} bots are given; allowed are {' or '.join(map(str, allowed))} for {n} seats")
