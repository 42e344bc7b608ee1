"""Whether results are those of their config: rows that no run of it wrote must not become findings.

What the tables owe each other whatever the config is looked at by `Store` when it opens the file; what a game allows
its results to be, by `bounds`.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from engine_ext.errors import ResultsError
from experiments import arena, bounds, convergence, files, gametext
from experiments.config import ConvergenceConfig, ExperimentConfig
from experiments.seeds import keyed_seed
from experiments.store import Store


def check(config: ExperimentConfig, store: Store) -> None:
    """Hold every row to what a run of the config writes; rows may be missing, whole jobs at a time.

    Args:
        config: in canonical text.
        store: the results.

    Raises:
        ResultsError: naming file, job and fault.
    """
    bounds.check(config, store)
    fault = next(itertools.chain(_games(config, store), _points(config, store), _choices(config, store)), None)
    if fault is not None:
        raise ResultsError(f"{store.path} is damaged: {fault}")


@dataclass(frozen=True)
class _Meeting:
    """Where the games of one lineup of an arena are held to.

    Attributes:
        game: its canonical text.
        deals: of the arena.
        seatings: bots by seat, a game of each deal for each.
        spread: what the utilities of a zero-sum game span; None of other games.
    """

    game: str
    deals: int
    seatings: tuple[tuple[str, ...], ...]
    spread: float | None


def _games(config: ExperimentConfig, store: Store) -> Iterator[str]:
    """What is wrong with the games: `Store` has seen to it that each has seats, and all seats have a game."""
    meetings = dict(_meetings(config))
    tables = itertools.groupby(store.seats(), key=lambda row: row[0])
    for (key, game, seed, _, _), (_, rows) in zip(store.games(), tables, strict=True):
        try:
            name, deal, rotation = arena.split_key(key)
            meeting = meetings[name]
            seating = meeting.seatings[rotation]
        except LookupError:
            yield f"the config has no game {key!r}"
            return
        if not 0 <= deal < meeting.deals or arena.job_key(name, deal, rotation) != key:
            yield f"the config has no game {key!r}"
        if game != meeting.game:
            yield f"{key!r} is a game of {game}, and in the config one of {meeting.game}"
        if seed != keyed_seed(config.seed, "deal", game, deal):
            yield f"game {key!r} has the seed of another deal"
        yield from _seats(key, meeting, seating, [row[1:] for row in rows])


def _meetings(config: ExperimentConfig) -> Iterator[tuple[str, _Meeting]]:
    """All lineups of all arenas, by what their keys begin with."""
    for i, each in enumerate(config.arena, 1):
        rules = gametext.load(each.game, own_only=True).rules
        assert rules is not None
        spread = rules.max_utility() - rules.min_utility() if rules.zero_sum else None
        for lineup in arena.lineups(len(each.bots), rules.num_players()):
            seatings = tuple(tuple(each.bots[bot] for bot in seating) for seating in arena.seatings(lineup))
            yield arena.meeting(each, i, lineup), _Meeting(each.game, each.deals, seatings, spread)


def _seats(key: str, meeting: _Meeting, seating: tuple[str, ...], rows: list[tuple[int, str, float]]) -> Iterator[str]:
    """What is wrong with the seats of a game.

    Args:
        seating: bots by seat, as the config has them.
        rows: (seat, bot, utility), by seat.
    """
    if len(rows) != len(seating):
        yield f"game {key!r} has {len(rows)} seat{'s' if len(rows) != 1 else ''} of {len(seating)}"
        return
    for number, (seat, bot, _) in enumerate(rows):
        if seat != number:
            yield f"game {key!r} has a seat {seat} where seat {number} should be"
        if bot != seating[number]:
            yield f"game {key!r} has {bot!r} in seat {seat} where {seating[number]!r} sat"
    total = math.fsum(utility for _, _, utility in rows)
    if meeting.spread is not None and bounds.ROUNDING * meeting.spread < abs(total):
        yield f"utilities of game {key!r} add up to {total:g}, and {meeting.game} is a zero-sum game"


def _points(config: ExperimentConfig, store: Store) -> Iterator[str]:
    """What is wrong with the points of curves."""
    parts = {convergence.prefix(i): part for i, part in enumerate(config.convergence, 1)}
    known = {
        point.key: begins for i, (begins, part) in enumerate(parts.items(), 1) for point in convergence.points(part, i)
    }
    found = {
        key: [name for _, name, _ in rows] for key, rows in itertools.groupby(store.measures(), lambda row: row[0])
    }
    most: Counter[str] = Counter()
    for key, names in found.items():
        if key not in known:
            yield f"the config has no point {key!r}"
            return
        most[known[key]] = max(most[known[key]], len(names))
    for key, names in found.items():
        wanted = _measures(parts[known[key]], most[known[key]])
        for name in sorted(set(names) ^ set(wanted)):
            yield f"point {key!r} has {f'no {name}' if name in wanted else f'a {name} that it cannot have'}"


def _measures(part: ConvergenceConfig, count: int) -> list[str]:
    """Names of the values of a point, where the fullest point of its part has so many."""
    if part.measure != "regret":
        return ["exploitability"]
    return [convergence.regret_name(number) for number in range(min(count, part.positions))]


def _choices(config: ExperimentConfig, store: Store) -> Iterator[str]:
    """What is wrong with the positions of regret and what was chosen there; files of earlier versions have neither.
    Whether choices cost what was measured is seen to where they are read."""
    parts = {convergence.prefix(i): part for i, part in enumerate(config.convergence, 1) if part.measure == "regret"}
    actions: dict[str, list[set[int]]] = {begins: [] for begins in parts}
    for part, number, position, listed in store.positions():
        begins = f"{part}/"
        if begins not in actions:
            yield f"the config has no positions of {part!r}"
            return
        if number != len(actions[begins]):
            yield f"position {len(actions[begins])} of {part!r} is missing"
        actions[begins].append(_actions(position, listed))
        if not actions[begins][-1]:
            yield f"position {number} of {part!r} is none, or has no actions with their values"
    known = {
        point.key: convergence.prefix(i)
        for i, part in enumerate(config.convergence, 1)
        if part.measure == "regret"
        for point in convergence.points(part, i)
    }
    for key, rows in itertools.groupby(store.choices(), key=lambda row: row[0]):
        if key not in known:
            yield f"the config has no choices of {key!r}"
            return
        places, chosen = actions[known[key]], [(number, action) for _, number, action in rows]
        if [number for number, _ in chosen] != list(range(len(places))):
            yield f"point {key!r} has choices at {len(chosen)} of {len(places)} positions"
            return
        for number, action in chosen:
            if action not in places[number]:
                yield f"point {key!r} chose {action!r} at position {number}, where there is no such action"


def _actions(position: str, listed: str) -> set[int]:
    """The actions of a position that was kept; empty where it is none."""
    try:
        if not isinstance(files.from_json(position), dict):
            return set()
        found = files.from_json(listed)
        whole = all(type(each["name"]) is str and math.isfinite(each["value"]) for each in found)
        return {each["action"] for each in found if type(each["action"]) is int} if whole else set()
    except (ValueError, RecursionError, TypeError, KeyError):
        return set()
