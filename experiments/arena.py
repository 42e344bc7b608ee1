"""The arena: bots meet on one game, seat by seat, on the same chance seeds.

A *deal* is a chance seed. Every pairing plays every deal once in every seating (two games for
two players), so that luck of the dice and of the seat falls on all alike. A game is a job with
a key of its own; bots are seeded by (experiment, game, lineup, deal, seating, seat).
"""

from __future__ import annotations

import hashlib
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from engine_ext.errors import IllegalActionError
from engine_ext.position import Position, Rules
from experiments import gametext, players
from experiments.chance import KeyedChance
from experiments.config import ArenaConfig
from experiments.inputs import HERE, Inputs
from experiments.players import Player
from experiments.seeds import keyed_seed
from experiments.store import Rows
from solvers.contract import SearchResult

CHANCE, TERMINAL = -1, -4
Heard = Callable[[Position, int, int, SearchResult | None], None]


@dataclass(frozen=True)
class Job:
    """One game to be played.

    Attributes:
        key: unique in the experiment.
        deal: number of the chance seed.
        bots: index of the bot in each seat, into the arena's list.
    """

    key: str
    deal: int
    bots: tuple[int, ...]


@dataclass(frozen=True)
class GameRecord:
    """A played game.

    Attributes:
        n_moves: decisions.
        moves_digest: hash of all actions and chance outcomes in order, hex.
        utilities: by seat.
        decisions: by seat.
        seconds: thinking time by seat.
        finished: False when the game's own bound on decisions cut it.
    """

    n_moves: int
    moves_digest: str
    utilities: list[float]
    decisions: list[int]
    seconds: list[float]
    finished: bool


def lineups(n_bots: int, n_players: int) -> list[tuple[int, ...]]:
    """Who meets whom, as tuples of bot indices, one for each seat.

    One player: each bot alone. As many bots as seats, or more: every combination. Fewer bots
    than seats: for each two, one of the first against a table of the second, and the reverse; a
    single bot fills all seats.
    """
    if n_bots >= n_players:
        return list(itertools.combinations(range(n_bots), n_players))
    if n_bots == 1:
        return [(0,) * n_players]
    rest = n_players - 1
    pairs = itertools.combinations(range(n_bots), 2)
    return [lineup for a, b in pairs for lineup in ((a, *(b,) * rest), (b, *(a,) * rest))]


def seatings(lineup: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The different rotations of a lineup round the table."""
    rotations = [lineup[i:] + lineup[:i] for i in range(len(lineup))]
    return list(dict.fromkeys(rotations))


def jobs(config: ArenaConfig, number: int, n_players: int) -> Iterator[Job]:
    """Every game of an arena, deal by deal, so that an unfinished run is balanced.

    Args:
        config: the arena, its bots by canonical spec.
        number: which arena of the experiment, from 1; part of the keys.
        n_players: seats of the game.
    """
    meetings = lineups(len(config.bots), n_players)
    for deal in range(config.deals):
        for lineup in meetings:
            name = meeting(config, number, lineup)
            for rotation, seating in enumerate(seatings(lineup)):
                yield Job(job_key(name, deal, rotation), deal, seating)


@dataclass(frozen=True)
class ArenaTask:
    """A handful of games of one arena, for one worker.

    Attributes:
        game: canonical text.
        bots: canonical specs.
        seed: of the experiment.
        jobs: the games.
        inputs: where the files are that bots name.
    """

    game: str
    bots: tuple[str, ...]
    seed: int
    jobs: tuple[Job, ...]
    inputs: Inputs = HERE

    def run(self) -> Rows:
        """Play the games."""
        rows = Rows()
        for job in self.jobs:
            record = self.play(job)
            rows.games.append((job.key, self.game, self.game_seed(job), record.n_moves, record.moves_digest))
            for seat, bot in enumerate(job.bots):
                rows.seats.append((job.key, seat, self.bots[bot], record.utilities[seat]))
                rows.timings.append((job.key, seat, record.decisions[seat], record.seconds[seat]))
        return rows

    def play(self, job: Job, heard: Heard | None = None) -> GameRecord:
        """Play one of the games, for the first time or once more: the same comes of it, unless a clock ends searches.

        Args:
            heard: as for `play_game`.
        """
        rules = gametext.load(self.game, own_only=True).rules
        assert rules is not None
        seats = [players.cached(self.bots[bot], self.game, self.inputs) for bot in job.bots]
        lineup = job.key.split("/", 1)[1]
        bot_seeds = [keyed_seed(self.seed, "bot", self.game, lineup, seat) for seat in range(len(seats))]
        return play_game(rules, seats, self.game_seed(job), bot_seeds, heard)

    def game_seed(self, job: Job) -> int:
        """The seed of a game's dice."""
        return keyed_seed(self.seed, "deal", self.game, job.deal)


def games_per_deal(n_bots: int, n_players: int) -> int:
    """Games that one chance seed is played in."""
    return sum(len(seatings(lineup)) for lineup in lineups(n_bots, n_players))


def prefix(number: int) -> str:
    """What the keys of an arena's jobs begin with."""
    return f"arena{number}/"


def meeting(config: ArenaConfig, number: int, lineup: tuple[int, ...]) -> str:
    """What the keys of all games of a lineup begin with."""
    return prefix(number) + "~".join(config.bots[bot] for bot in lineup)


def job_key(name: str, deal: int, rotation: int) -> str:
    """The key of a job.

    Args:
        name: of its meeting.
        deal: number of the chance seed.
        rotation: which of the seatings.
    """
    return f"{name}/{deal:07d}/{rotation}"


def split_key(key: str) -> tuple[str, int, int]:
    """What `job_key` was made of.

    Raises:
        LookupError: it is no key of a job.
    """
    name, *numbers = key.rsplit("/", 2)
    if len(numbers) != 2 or not all(number.isascii() and number.isdecimal() for number in numbers):
        raise LookupError(key)
    return name, int(numbers[0]), int(numbers[1])


def prefix_of(key: str) -> str:
    """What the key of a job begins with: its arena."""
    return key.split("/", 1)[0] + "/"


def deal_of(key: str) -> int:
    """The deal a job's key names."""
    return split_key(key)[1]


def tasks(
    config: ArenaConfig,
    number: int,
    n_players: int,
    seed: int,
    done: set[str],
    workers: int,
    enough: Callable[[], bool] = lambda: False,
    inputs: Inputs = HERE,
) -> Iterator[ArenaTask]:
    """The arena's unfinished games, in handfuls small enough to keep all workers busy.

    Args:
        enough: asked before each handful; no more come once it says so.
        inputs: where the files are that bots name.
    """
    size = max(1, min(32, config.deals * games_per_deal(len(config.bots), n_players) // (16 * workers)))
    if config.sprt is not None:  # what is being played when the test ends was played in vain
        size = min(size, 4)
    left = (job for job in jobs(config, number, n_players) if job.key not in done)
    while not enough() and (handful := tuple(itertools.islice(left, size))):
        yield ArenaTask(config.game, tuple(config.bots), seed, handful, inputs)


def play_game(
    rules: Rules, seats: Sequence[Player], seed: int, bot_seeds: Sequence[int], heard: Heard | None = None
) -> GameRecord:
    """Play one game to its end.

    Args:
        rules: the game.
        seats: a player for each seat; one object may sit in several.
        seed: of the chance events.
        bot_seeds: one for each seat; a decision's seed derives from it and the decision's number.
        heard: told of every step before it is taken: the position, the seat (CHANCE for dice), the action, and what a
            bot found.

    Raises:
        IllegalActionError: a player chose an action that the position does not allow.
    """
    position = rules.initial_position()
    for player in dict.fromkeys(seats):
        player.begin()
    chance = KeyedChance(seed)
    digest = hashlib.blake2b(digest_size=12)
    decisions, seconds = [0] * len(seats), [0.0] * len(seats)
    bound = rules.max_game_length()
    seat = position.current_player()
    while seat != TERMINAL and sum(decisions) < bound:
        result = None
        if seat == CHANCE:
            move = chance.draw(position)
        else:
            started = time.perf_counter()
            result = seats[seat].choose(position, keyed_seed(bot_seeds[seat], decisions[seat]))
            chosen = result.action
            seconds[seat] += time.perf_counter() - started
            decisions[seat] += 1
            if chosen is None:
                raise IllegalActionError(f"{seats[seat].name} chose nothing at a decision of seat {seat}")
            move = chosen
            chance.decided(seat)
        if heard is not None:
            heard(position, seat, move, result)
        position.apply_action(move)
        digest.update(move.to_bytes(4, "little"))
        seat = position.current_player()
    return GameRecord(
        n_moves=sum(decisions),
        moves_digest=digest.hexdigest(),
        utilities=position.returns(),
        decisions=decisions,
        seconds=seconds,
        finished=seat == TERMINAL,
    )
