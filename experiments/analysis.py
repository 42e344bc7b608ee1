"""From the rows of an arena to standings: what the printed table and the report both show."""

from __future__ import annotations

import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from experiments import arena, gametext, ratings
from experiments.config import ArenaConfig
from experiments.differences import Sample, compare, holm
from experiments.ratings import Estimate
from experiments.sequential import SequentialTest, Watch, score
from experiments.store import Store


@dataclass(frozen=True)
class Standing:
    """One bot in an arena.

    Attributes:
        bot: canonical spec.
        seats: seats it has played.
        share: of the wins, a win shared by w counting 1/w.
        utility: mean utility.
        elo: rating; None where nobody met, and where utilities say more than who won.
        ms_per_decision: mean thinking time; nan where unknown.
    """

    bot: str
    seats: int
    share: Estimate
    utility: Estimate
    elo: Estimate | None
    ms_per_decision: float


@dataclass(frozen=True)
class Meeting:
    """What one bot won from another.

    Attributes:
        share: of the games that both sat in, a draw counting half. Of a bot in several seats the best one counts
            (`sequential.score`).
        games: that both sat in.
        deals: that these games belong to.
    """

    share: Estimate
    games: int
    deals: int


@dataclass(frozen=True)
class Pair:
    """Two bots beside each other, deal by deal.

    Attributes:
        value: how much the first is ahead of the second: where bots meet, in the games that both sat in, else on the
            deals that both have played. Where utilities say no more than who won, the share of these games that the
            first won from the second less the share that it lost to it, -1 to 1; else its mean utility less that of
            the second.
        p: how likely as much more or less is where both are as good; nan where nothing is known of the spread.
        p_corrected: for the number of pairs, after Holm.
        deals: compared.
    """

    value: Estimate
    p: float
    p_corrected: float
    deals: int

    @property
    def apart(self) -> bool:
        """Whether the two differ, with 5 % of false alarms among all pairs of the arena."""
        return self.p_corrected < 1 - ratings.CONFIDENCE


@dataclass(frozen=True)
class ArenaSummary:
    """An arena's results so far.

    Attributes:
        config: the arena, bots by canonical spec.
        number: from 1.
        n_players: seats of the game.
        games: played so far.
        expected: games in all.
        standings: best first.
        by_wins: whether bots have met in a game whose utilities only say who won. Then they are ranked by rating,
            else (stakes, points) by mean utility.
        cross: what the first bot of a pair won from the second, for every ordered pair that met; bots by their
            place in the standings, from 0. Empty unless `by_wins`.
        pairs: each two bots that met, or alone played the same deals, the one that stands higher first.
        better: [n, n] probability that the row's bot is the stronger; None unless `by_wins`.
        seat_shares: by seat, win share of whoever sat there.
        mean_decisions: of a game.
        test: the sequential test; None where the arena has none.
    """

    config: ArenaConfig
    number: int
    n_players: int
    games: int
    expected: int
    standings: list[Standing]
    by_wins: bool
    cross: dict[tuple[int, int], Meeting]
    pairs: dict[tuple[int, int], Pair]
    better: NDArray[np.float64] | None
    seat_shares: list[Estimate]
    mean_decisions: float
    test: SequentialTest | None = None

    @property
    def name(self) -> str:
        """`arena1`: in the report, of its files and in the keys of its rows."""
        return arena.prefix(self.number).rstrip("/")

    @property
    def met(self) -> bool:
        """Whether bots sit in games together."""
        return self.n_players > 1 and len(self.config.bots) > 1

    @property
    def rated(self) -> bool:
        """Whether there are ratings."""
        return self.better is not None

    @property
    def most(self) -> float:
        """The largest win share that a bot can have: it sits in n seats of two games, one and all but one, where there
        are fewer bots than seats, and wins each of them once."""
        return 2 / self.n_players if 1 < len(self.config.bots) < self.n_players else 1.0

    def ahead_of(self, place: int = 0) -> dict[str, Pair]:
        """How one bot, by default the first, stands to each other; corrected for the number of these alone."""
        rivals = {j: pair for (i, j), pair in self.pairs.items() if i == place}
        rivals |= {i: _reverse(pair) for (i, j), pair in self.pairs.items() if j == place}
        corrected = holm([pair.p for pair in rivals.values()])
        return {
            self.standings[j].bot: replace(pair, p_corrected=p)
            for (j, pair), p in zip(rivals.items(), corrected, strict=True)
        }

    @property
    def complete(self) -> bool:
        """Whether every game has been played."""
        return self.games == self.expected


@dataclass(frozen=True)
class _Result:
    key: str
    deal: int
    bots: tuple[int, ...]
    utilities: tuple[float, ...]
    shares: tuple[float, ...]

    def of(self, bot: int) -> list[float]:
        """Utilities of a bot's seats."""
        return [utility for other, utility in zip(self.bots, self.utilities, strict=True) if other == bot]


def summarise(config: ArenaConfig, number: int, n_players: int, store: Store) -> ArenaSummary | None:
    """The standings of one arena; None before its first game."""
    prefix = arena.prefix(number)
    results = list(_results(config, prefix, store))
    if not results:
        return None
    n = len(config.bots)
    per_deal = arena.games_per_deal(n, n_players)
    test = _sequential(config, results, per_deal)
    deals_expected = config.deals
    if test is not None and test.accepted is not None:
        deals_expected = test.deals
        results = [result for result in results if result.deal < deals_expected]
    played = {result.key for result in results}
    utilities: list[dict[int, list[float]]] = [defaultdict(list) for _ in range(n)]
    won: list[dict[int, list[float]]] = [defaultdict(list) for _ in range(n)]  # of each game, by all of a bot's seats
    by_seat: list[dict[int, list[float]]] = [defaultdict(list) for _ in range(n_players)]
    deals = sorted({result.deal for result in results})
    row = {deal: i for i, deal in enumerate(deals)}
    scores = np.zeros((len(deals), n, n))
    meetings: dict[tuple[int, int], dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for result in results:
        for bot in set(result.bots):
            parts = zip(result.bots, result.shares, strict=True)
            won[bot][result.deal].append(sum(share for other, share in parts if other == bot))
        for seat, bot in enumerate(result.bots):
            utilities[bot][result.deal].append(result.utilities[seat])
            by_seat[seat][result.deal].append(result.shares[seat])
        for one, other in itertools.permutations(set(result.bots), 2):
            found = score(result.of(one), result.of(other))
            scores[row[result.deal], one, other] += found
            meetings[one, other][result.deal].append(found)
    met = bool(scores.any())
    by_wins = met and _only_wins(config.game)
    table = ratings.bradley_terry(scores) if by_wins else None
    times = _thinking(played, store, config.bots)
    alone = n == 1 and n_players > 1
    seats = [sum(map(len, utilities[bot].values())) for bot in range(n)]
    shares = [_share(won[bot], seats[bot]) if seats[bot] else None for bot in range(n)]
    if alone:  # it wins what it loses: the share is 1/n whatever happens
        shares = [None if share is None else _certain(share) for share in shares]
    standings = [
        Standing(
            bot=config.bots[bot],
            seats=seats[bot],
            share=share,
            utility=_as_utility(share, n_players)
            if by_wins
            else ratings.clustered_mean([utilities[bot][deal] for deal in sorted(utilities[bot])]),
            elo=table.elo[bot] if table else None,
            ms_per_decision=times.get(config.bots[bot], float("nan")),
        )
        for bot, share in enumerate(shares)
        if share is not None
    ]
    if alone and all(math.isclose(sum(result.utilities), 0, abs_tol=1e-9) for result in results):
        standings = [replace(standing, utility=_certain(standing.utility)) for standing in standings]
    present = [bot for bot in range(n) if utilities[bot]]
    order = sorted(range(len(present)), key=lambda i: rank(standings[i], by_wins), reverse=True)
    index = [present[i] for i in order]
    place = {bot: i for i, bot in enumerate(index)}
    among = {(place[one], place[other]): won_of for (one, other), won_of in meetings.items()}
    pairs = (
        {pair: _ahead(won_of) for pair, won_of in sorted(among.items()) if pair[0] < pair[1]}
        if by_wins
        else _apart(results, index, met)
    )
    return ArenaSummary(
        config=config,
        number=number,
        n_players=n_players,
        games=len(results),
        expected=deals_expected * per_deal,
        standings=[standings[i] for i in order],
        by_wins=by_wins,
        cross={pair: _meeting(won_of) for pair, won_of in among.items()} if by_wins else {},
        pairs=_corrected(pairs),
        better=table.better[np.ix_(index, index)] if table else None,
        seat_shares=[ratings.clustered_share(list(seat.values())) for seat in by_seat],
        mean_decisions=statistics.fmean(row[3] for row in store.games() if row[0] in played),
        test=test,
    )


def _sequential(config: ArenaConfig, results: list[_Result], games_per_deal: int) -> SequentialTest | None:
    """The arena's test, over all deals up to the first unfinished one."""
    if config.sprt is None:
        return None
    watch = Watch(config.sprt, config.bots[0], games_per_deal)
    for result in results:
        watch.add(result.deal, zip((config.bots[bot] for bot in result.bots), result.utilities, strict=True))
    return watch.test


def _results(config: ArenaConfig, prefix: str, store: Store) -> Iterable[_Result]:
    index = {bot: i for i, bot in enumerate(config.bots)}
    seats: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for key, _, bot, utility in store.seats():
        if key.startswith(prefix):
            seats[key].append((index[bot], utility))
    for key, rows in seats.items():
        utilities = tuple(utility for _, utility in rows)
        yield _Result(
            key=key,
            deal=arena.deal_of(key),
            bots=tuple(bot for bot, _ in rows),
            utilities=utilities,
            shares=tuple(ratings.win_shares(utilities)),
        )


def _share(won: dict[int, list[float]], seats: int) -> Estimate:
    """A bot's win share a seat, from what it won of each game by deal. Who sits in a game twice cannot win it twice."""
    found = ratings.clustered_share(list(won.values()))
    games = sum(map(len, won.values()))
    return Estimate(*(end * games / seats for end in (found.value, found.low, found.high)))


def _meeting(won: dict[int, list[float]]) -> Meeting:
    """What a bot won from another, from its score in each game by deal."""
    games = list(won.values())
    return Meeting(ratings.clustered_share(games), games=sum(map(len, games)), deals=len(games))


def _ahead(won: dict[int, list[float]]) -> Pair:
    """The first of two bots against the second, from its score in each game by deal."""
    value, p = ratings.excess(list(won.values()))
    return Pair(value, p, p, len(won))


def _apart(results: list[_Result], order: list[int], met: bool) -> dict[tuple[int, int], Pair]:
    """Differences of mean utility between each two bots, deal by deal.

    Args:
        order: bots by their place in the standings.
        met: whether bots sit in games together; then only such games are compared.
    """
    earned: dict[tuple[int, int], tuple[dict[Hashable, list[float]], dict[Hashable, list[float]]]] = {}
    for i, j in itertools.combinations(range(len(order)), 2):
        sides: tuple[dict[Hashable, list[float]], dict[Hashable, list[float]]] = defaultdict(list), defaultdict(list)
        for result in results:
            of = [result.of(order[place]) for place in (i, j)]
            if all(of) or not met:
                for side, utilities in zip(sides, of, strict=True):
                    if utilities:
                        side[result.deal].extend(utilities)
        if sides[0].keys() & sides[1].keys():
            earned[i, j] = sides
    found = {}
    for pair, (one, other) in earned.items():
        apart = compare(Sample(other), Sample(one), paired=True)
        found[pair] = Pair(apart.value, apart.p, apart.p, apart.clusters)
    return found


def _reverse(pair: Pair) -> Pair:
    """The second of two bots against the first."""
    value = pair.value
    return replace(pair, value=Estimate(-value.value, -value.high, -value.low))


def _corrected(pairs: dict[tuple[int, int], Pair]) -> dict[tuple[int, int], Pair]:
    corrected = holm([pair.p for pair in pairs.values()])
    return {key: replace(pair, p_corrected=p) for (key, pair), p in zip(pairs.items(), corrected, strict=True)}


def _certain(estimate: Estimate) -> Estimate:
    """A number without an interval: no game could have changed it."""
    return Estimate(estimate.value, -math.inf, math.inf)


def _as_utility(share: Estimate, n_players: int) -> Estimate:
    """A win share on the scale of utilities: a win among n is worth 1, a loss -1/(n - 1)."""
    low, value, high = ((n_players * x - 1) / (n_players - 1) for x in (share.low, share.value, share.high))
    return Estimate(value, low, high)


def rank(standing: Standing, by_wins: bool) -> tuple[float, float]:
    """What standings are ordered by, the highest first."""
    if by_wins and standing.elo is not None:
        return standing.elo.value, standing.utility.value
    return standing.utility.value, standing.share.value


def _only_wins(game: str) -> bool:
    rules = gametext.load(game, own_only=True).rules
    assert rules is not None
    return gametext.only_wins(rules)


def _thinking(played: set[str], store: Store, bots: list[str]) -> dict[str, float]:
    seat_bot = {(key, seat): bot for key, seat, bot, _ in store.seats() if key in played}
    decisions: dict[str, int] = defaultdict(int)
    seconds: dict[str, float] = defaultdict(float)
    for key, seat, count, spent in store.timings():
        bot = seat_bot.get((key, seat))
        if bot is not None:
            decisions[bot] += count
            seconds[bot] += spent
    return {bot: 1000 * seconds[bot] / decisions[bot] for bot in bots if decisions[bot]}
