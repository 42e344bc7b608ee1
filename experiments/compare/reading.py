"""A run folder, read for a comparison: every game by who met on which deal, every point of a curve by its budget."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from experiments import arena, convergence, files, report
from experiments.store import Store


@dataclass(frozen=True)
class Played:
    """A game of an arena."""

    bots: tuple[str, ...]
    utilities: tuple[float, ...]
    seed: int
    moves: str
    thinking: tuple[tuple[int, float], ...]  # decisions and seconds by seat

    def of(self, bot: str) -> list[int]:
        """The seats of a bot."""
        return [seat for seat, other in enumerate(self.bots) if other == bot]


Lineup = tuple[str, ...]  # who met, in alphabetical order
Game = tuple[Lineup, int, tuple[str, ...]]  # lineup, deal, who sat where


@dataclass
class Games:
    """All games of a run on one game.

    Attributes:
        text: of the game.
        games: by what tells them apart; arenas of one run that have a game in common have it alike.
    """

    text: str
    games: dict[Game, Played] = field(default_factory=dict)

    @cached_property
    def lineups(self) -> set[Lineup]:
        """Who met."""
        return {lineup for lineup, _, _ in self.games}

    def by_deal(self, lineups: set[Lineup]) -> dict[Hashable, list[Played]]:
        """Games between these by deal; deals of which games are missing yet are left out."""
        found: dict[Hashable, list[Played]] = defaultdict(list)
        for (lineup, deal, _), played in sorted(self.games.items()):
            if lineup in lineups:
                found[deal].append(played)
        most = max(map(len, found.values()), default=0)
        return {deal: games for deal, games in found.items() if len(games) == most}


@dataclass(frozen=True)
class Point:
    """A figure of a curve: a solver at a budget.

    Attributes:
        text: of the game.
        values: by seed or position.
        seconds: to get there, the mean over seeds.
    """

    text: str
    values: dict[Hashable, list[float]]
    seconds: float


Place = tuple[str, str, str, str | None, int]  # game, measure, solver, unit, budget


class Run:
    """A run folder, read.

    Raises:
        ResultsError: no run folder, damaged, or being written.
    """

    def __init__(self, folder: Path) -> None:
        self.results = report.load(folder)
        self.folder = folder
        self.manifest = self.results.manifest
        self.config = self.results.config
        self.arenas: dict[str, Games] = {}
        self.points: dict[Place, Point] = {}
        with Store.read(folder / "results.sqlite") as store:
            self._read_arenas(store)
            self._read_points(store)

    @property
    def seed(self) -> int:
        """Of the experiment."""
        return self.config.seed

    def game(self, text: str) -> str:
        """What a game is called in both runs: its name and all its parameters, however it is written."""
        known = self.manifest["identity"].get("games", {}).get(text, {})
        return files.to_json([known.get("name"), known.get("parameters")]) if known.get("parameters") else text

    def _read_arenas(self, store: Store) -> None:
        seats: dict[str, list[tuple[str, float]]] = defaultdict(list)
        for key, _, bot, utility in store.seats():
            seats[key].append((bot, utility))
        spent = {(key, seat): (decisions, seconds) for key, seat, decisions, seconds in store.timings()}
        texts = {arena.prefix(i): each.game for i, each in enumerate(self.config.arena, 1)}
        for key, _, seed, _, moves in store.games():
            text = texts[arena.prefix_of(key)]
            bots, utilities = zip(*seats[key], strict=True)
            thinking = tuple(spent.get((key, seat), (0, 0.0)) for seat in range(len(bots)))
            game = tuple(sorted(bots)), arena.deal_of(key), bots
            found = self.arenas.setdefault(self.game(text), Games(text))
            found.games[game] = Played(bots, utilities, seed, moves, thinking)

    def _read_points(self, store: Store) -> None:
        values: dict[str, list[float]] = defaultdict(list)
        for key, _, value in store.measures():
            values[key].append(value)
        spent = {key: seconds for key, seat, _, seconds in store.timings() if seat < 0}
        for i, part in enumerate(self.config.convergence, 1):
            lines = convergence.lines_of(part)
            repeats: dict[Place, list[str]] = defaultdict(list)
            for point in convergence.points(part, i):
                if point.key in values:
                    line = lines[point.solver]
                    repeats[self.game(part.game), part.measure, line.solver, line.unit, point.budget].append(point.key)
            for place, keys in repeats.items():
                found: dict[Hashable, list[float]] = defaultdict(list)
                for repeat, key in enumerate(keys):
                    for number, value in enumerate(values[key]):
                        # Repeats at a position share its difficulty.
                        found[number if part.measure == "regret" else repeat].append(value)
                seconds = math.fsum(spent.get(key, math.nan) for key in keys) / len(keys)
                self.points[place] = Point(part.game, dict(found), seconds)
