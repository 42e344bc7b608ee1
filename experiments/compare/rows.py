"""The figures that two runs both have, and their differences."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from experiments import convergence, gametext, ratings
from experiments.compare.reading import Games, Lineup, Played, Run
from experiments.differences import Difference, Sample, compare
from experiments.ratings import Estimate

LEVEL = 0.05


def at(x: int | None, unit: str | None) -> str:
    """A budget in words, ` at 1,000 iterations`; empty without one."""
    if x is None:
        return ""
    if unit == "depth":
        return f" at depth {x}"
    return f" at {x:,} {unit}" if x != 1 else f" at 1 {str(unit).removesuffix('s')}"


def _json(estimate: Estimate) -> dict[str, float | None]:
    return {key: _finite(value) for key, value in asdict(estimate).items()}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


@dataclass(frozen=True)
class Row:
    """A figure that both runs have.

    Attributes:
        game: its text in the first run.
        measure: what was measured.
        unit: what 1 of it is.
        of: a bot or a solver.
        against: rivals of the bot in the games that are compared; empty for a solver.
        x: the solver's budget; None without one.
        x_unit: what it counts.
        found: the difference.
        same: jobs that came out alike in every detail, of those that both runs have.
        jobs: these.
        p_corrected: for the number of rows.
    """

    game: str
    measure: str
    unit: str
    of: str
    against: tuple[str, ...]
    x: int | None
    x_unit: str | None
    found: Difference
    same: int
    jobs: int
    p_corrected: float = math.nan

    @property
    def differs(self) -> bool:
        """Whether the runs differ here, with 5 % of false alarms among all rows."""
        return self.p_corrected < LEVEL

    def to_json(self) -> dict[str, Any]:
        """A dict of JSON values: a number that is not finite is null."""
        found = self.found
        return {
            **{key: getattr(self, key) for key in ("game", "measure", "unit", "of", "against", "x", "x_unit")},
            "a": _json(found.a),
            "b": _json(found.b),
            "difference": _json(found.value),
            "method": "paired" if found.paired else "independent",
            "clusters": found.clusters,
            "jobs_alike": self.same,
            "jobs_shared": self.jobs,
            "p": _finite(found.p),
            "p_corrected": _finite(self.p_corrected),
            "differs": self.differs,
        }


@dataclass(frozen=True)
class Speed:
    """How long something took in both runs; of machines, not of what was found."""

    game: str
    measure: str
    unit: str
    of: str
    x: int | None
    x_unit: str | None
    a: float
    b: float
    ratio: float


# ---- arenas ------------------------------------------------------------------------------------


def met(a: Games, b: Games) -> Iterator[tuple[str, set[Lineup]]]:
    """Each bot that met the same rivals in both, with the lineups that both have of it."""
    shared = a.lineups & b.lineups
    for bot in sorted({bot for lineup in shared for bot in lineup}):
        yield bot, {lineup for lineup in shared if bot in lineup}


def arena_rows(a: Run, b: Run) -> Iterator[Row]:
    for game in a.arenas:
        if game not in b.arenas:
            continue
        one, other = a.arenas[game], b.arenas[game]
        loaded = gametext.load(one.text, own_only=True)
        assert loaded.rules is not None
        seats = loaded.rules.num_players()
        only_wins = gametext.only_wins(loaded.rules)
        order = list(dict.fromkeys(bot for each in a.config.arena for bot in each.bots))
        told: set[frozenset[Lineup]] = set()
        for bot, lineups in sorted(met(one, other), key=lambda pair: order.index(pair[0])):
            if seats == 2 and loaded.rules.zero_sum and frozenset(lineups) in told:
                continue  # the rest of what its only rival won
            told.add(frozenset(lineups))
            before, after = one.by_deal(lineups), other.by_deal(lineups)
            rivals = tuple(sorted({rival for lineup in lineups for rival in lineup} - {bot}))
            if seats > 1 and not rivals:
                continue  # it wins what it loses
            paired, same, jobs = _alike(one, other, lineups, before, after)
            for measure, unit in (("win_share", ratings.SHARE_UNIT), ("mean_utility", loaded.utility_unit)):
                if measure == "mean_utility" and only_wins:
                    continue  # the win share on another scale
                sample = _shares if measure == "win_share" else _utilities
                found = compare(sample(bot, before), sample(bot, after), paired=paired)
                yield Row(one.text, measure, unit, bot, rivals, None, None, found, same, jobs)


def _alike(
    one: Games,
    other: Games,
    lineups: set[Lineup],
    before: Mapping[Hashable, Sequence[Played]],
    after: Mapping[Hashable, Sequence[Played]],
) -> tuple[bool, int, int]:
    """Whether the deals of two runs are the same, how many of their games came out alike, and how many they share."""
    deals = before.keys() & after.keys()
    paired = bool(deals) and all(
        {played.seed for played in before[deal]} == {played.seed for played in after[deal]}
        and len(before[deal]) == len(after[deal])
        for deal in deals
    )
    shared = [key for key in one.games if key in other.games and key[0] in lineups]
    shared = [key for key in shared if one.games[key].seed == other.games[key].seed]
    alike = [
        key
        for key in shared
        if (one.games[key].moves, one.games[key].utilities) == (other.games[key].moves, other.games[key].utilities)
    ]
    return paired, len(alike), len(shared)


def _shares(bot: str, deals: Mapping[Hashable, Sequence[Played]]) -> Sample:
    won = {
        deal: [math.fsum(ratings.win_shares(each.utilities)[seat] for seat in each.of(bot)) for each in games]
        for deal, games in deals.items()
    }
    seats = sum(len(each.of(bot)) for games in deals.values() for each in games)
    return Sample(won, share=True, scale=sum(map(len, won.values())) / seats)


def _utilities(bot: str, deals: Mapping[Hashable, Sequence[Played]]) -> Sample:
    earned = {deal: [each.utilities[seat] for each in games for seat in each.of(bot)] for deal, games in deals.items()}
    return Sample(earned)


# ---- curves ------------------------------------------------------------------------------------


def curve_rows(a: Run, b: Run) -> Iterator[Row]:
    for place, one in a.points.items():
        other = b.points.get(place)
        if other is None:
            continue
        _, measure, solver, unit, budget = place
        paired = a.seed == b.seed and one.text == other.text
        most, bound = convergence.most_of(measure, one.text), convergence.bound_of(measure, one.text)
        before, after = (Sample(each.values, most=most, bound=bound) for each in (one, other))
        found = compare(before, after, paired=paired)
        jobs = [cluster for cluster in one.values if cluster in other.values] if paired else []
        same = sum(one.values[cluster] == other.values[cluster] for cluster in jobs)
        counts = gametext.load(one.text).utility_unit
        yield Row(
            one.text,
            measure,
            convergence.unit_of(measure, counts),
            solver,
            (),
            budget if unit else None,
            unit,
            found,
            same,
            len(jobs),
        )


# ---- speeds ------------------------------------------------------------------------------------


def speeds(a: Run, b: Run) -> Iterator[Speed]:
    for game in a.arenas:
        if game not in b.arenas:
            continue
        for bot, lineups in met(a.arenas[game], b.arenas[game]):
            spent = [_ms_per_decision(bot, run.arenas[game].by_deal(lineups)) for run in (a, b)]
            yield from _speed(a.arenas[game].text, "thinking_time", "milliseconds a decision", bot, None, None, *spent)
    for place, point in a.points.items():
        if place in b.points:
            _, measure, solver, unit, budget = place
            spent = [point.seconds, b.points[place].seconds]
            yield from _speed(point.text, measure, "seconds", solver, budget if unit else None, unit, *spent)


def _speed(
    game: str, measure: str, unit: str, of: str, x: int | None, x_unit: str | None, a: float, b: float
) -> Iterator[Speed]:
    if math.isfinite(a) and math.isfinite(b) and a > 0 and b > 0:
        yield Speed(game, measure, unit, of, x, x_unit, a, b, b / a)


def _ms_per_decision(bot: str, deals: Mapping[Hashable, Sequence[Played]]) -> float:
    spent = [each.thinking[seat] for games in deals.values() for each in games for seat in each.of(bot)]
    decisions = sum(count for count, _ in spent)
    return 1000 * math.fsum(seconds for _, seconds in spent) / decisions if decisions else math.nan
