"""Who meets whom, on which dice, and that a game depends on nothing else."""

from __future__ import annotations

import io
from collections import Counter

import pytest
from rich.console import Console

import games
from experiments import analysis, arena, players, ratings, report, run
from experiments.config import ArenaConfig
from experiments.store import Rows, Store


@pytest.mark.parametrize(
    ("bots", "seats", "meetings"),
    [
        (3, 1, [(0,), (1,), (2,)]),
        (3, 2, [(0, 1), (0, 2), (1, 2)]),
        (1, 2, [(0, 0)]),
        (3, 3, [(0, 1, 2)]),
        (2, 4, [(0, 1, 1, 1), (1, 0, 0, 0)]),
    ],
)
def test_lineups(bots, seats, meetings):
    assert arena.lineups(bots, seats) == meetings


@pytest.mark.parametrize(
    ("lineup", "rotations"), [((0,), 1), ((0, 1), 2), ((0, 0), 1), ((0, 1, 1), 3), ((0, 1, 2, 3), 4)]
)
def test_every_bot_takes_every_seat_alike_often(lineup, rotations):
    found = arena.seatings(lineup)
    assert len(found) == len(set(found)) == rotations
    for bot in set(lineup):
        counts = Counter(seat for seating in found for seat, each in enumerate(seating) if each == bot)
        assert len(counts) == len(lineup)
        assert len(set(counts.values())) == 1


def config(**changes) -> ArenaConfig:
    return ArenaConfig(**{"game": "quandary_pig", "bots": ["random", "greedy"], "deals": 6, **changes})


def rows_of(tasks) -> Rows:
    found = Rows()
    for task in tasks:
        rows = task.run()
        found.games += rows.games
        found.seats += rows.seats
        found.timings += rows.timings
    return found


def test_the_two_games_of_a_deal_share_its_seed_and_other_deals_do_not():
    rows = rows_of(arena.tasks(config(), 1, 2, seed=9, done=set(), workers=1))
    seeds: dict[str, set[int]] = {}
    for key, _, seed, _, _ in rows.games:
        seeds.setdefault(key.split("/")[2], set()).add(seed)
    assert len(seeds) == 6
    assert all(len(each) == 1 for each in seeds.values())
    assert len(set.union(*seeds.values())) == 6


def test_rows_do_not_depend_on_how_games_are_handed_out():
    whole = rows_of(arena.tasks(config(), 1, 2, seed=9, done=set(), workers=1))
    done = {row[0] for row in whole.games[::3]}
    rest = rows_of(arena.tasks(config(), 1, 2, seed=9, done=done, workers=4))
    assert {row[0] for row in rest.games} == {row[0] for row in whole.games} - done
    assert set(rest.games) <= set(whole.games)
    assert set(rest.seats) <= set(whole.seats)


def test_another_experiment_seed_gives_other_games():
    one = rows_of(arena.tasks(config(), 1, 2, seed=9, done=set(), workers=1))
    two = rows_of(arena.tasks(config(), 1, 2, seed=10, done=set(), workers=1))
    assert not {row[4] for row in one.games} & {row[4] for row in two.games}


def test_a_bot_against_itself_wins_what_it_loses(tmp_path):
    """Greedy pig against greedy pig on shared dice: swapping the seats repeats the game."""
    alone = config(bots=["greedy"], deals=40)
    rows = rows_of(arena.tasks(alone, 1, 2, seed=1, done=set(), workers=1))
    with Store.create(tmp_path / "results.sqlite", "x") as store:
        store.begin_run(1, "processes")
        store.add(rows)
        summary = analysis.summarise(alone, 1, 2, store)
    assert summary is not None
    assert summary.standings[0].utility.value == 0
    assert summary.standings[0].elo is None
    assert report.percent_text(summary.standings[0].share) == "50.0 %"  # no interval: nothing could have changed it
    assert report.estimate_text(summary.standings[0].utility) == "0.000"
    assert summary.complete


def test_a_game_is_cut_at_its_own_bound():
    class Holder:
        """Banks nothing, for ever."""

        name = "holder"

        def begin(self):
            pass

        def choose(self, position, seed):
            return type("Result", (), {"action": 1})

    rules = games.spec("pig").make_rules({"goal": 2})
    record = arena.play_game(rules, [Holder(), Holder()], 1, [1, 2])
    assert not record.finished
    assert record.n_moves == rules.max_game_length()
    assert record.utilities == [0, 0]


def test_standings_count_what_was_played(tmp_path):
    three = config(bots=["greedy", "random"], deals=25)
    rows = rows_of(arena.tasks(three, 1, 2, seed=2, done=set(), workers=1))
    with Store.create(tmp_path / "results.sqlite", "x") as store:
        store.begin_run(1, "processes")
        store.add(rows)
        summary = analysis.summarise(three, 1, 2, store)
    assert summary is not None
    utilities = {bot: [u for _, _, each, u in rows.seats if each == bot] for bot in three.bots}
    for standing in summary.standings:
        # Two players: a win is +1 and a loss -1, so the utility is the share on another scale, interval included.
        share, utility = standing.share, standing.utility
        for part in ("value", "low", "high"):
            assert getattr(utility, part) == pytest.approx(2 * getattr(share, part) - 1)
        own = utilities[standing.bot]
        assert standing.seats == len(own) == 50
        assert standing.utility.value == pytest.approx(sum(own) / 50)
        assert standing.share.value == sum(value > 0 for value in own) / 50
    assert summary.standings[0].bot == "greedy"  # holding at 20 beats a coin
    assert summary.by_wins


def test_stakes_are_ranked_by_utility_and_not_by_wins(tmp_path):
    """In Kuhn poker a bot may win less often and gain more."""
    poker = config(game="quandary_kuhn", deals=100)
    rows = rows_of(arena.tasks(poker, 1, 2, seed=2, done=set(), workers=1))
    with Store.create(tmp_path / "results.sqlite", "x") as store:
        store.begin_run(1, "processes")
        store.add(rows)
        summary = analysis.summarise(poker, 1, 2, store)
    assert summary is not None
    assert not summary.by_wins
    values = [standing.utility.value for standing in summary.standings]
    assert values == sorted(values, reverse=True)


def summary_of(folder, arena_config, seats, utilities) -> analysis.ArenaSummary:
    """Standings of an arena whose games went as told.

    Args:
        utilities: of a game, from its deal and the bot in each seat.
    """
    rows = Rows()
    for job in arena.jobs(arena_config, 1, seats):
        names = [arena_config.bots[bot] for bot in job.bots]
        rows.games.append((job.key, arena_config.game, job.deal, 1, "00"))
        earned = utilities(job.deal, names)
        rows.seats += [(job.key, seat, bot, won) for seat, (bot, won) in enumerate(zip(names, earned, strict=True))]
    with Store.create(folder / "results.sqlite", "x") as store:
        store.begin_run(1, "processes")
        store.add(rows)
        found = analysis.summarise(arena_config, 1, seats, store)
    assert found is not None
    return found


@pytest.mark.parametrize("seats", [3, 4])
def test_who_wins_every_game_of_many_seats_has_won_all_of_them(seats, tmp_path):
    """A seat of greedy wins each time: 2 of 2 games, in which it has n of the seats, a share of 2 / n. Its other seats
    lose to itself and not to random."""
    loss = -1 / (seats - 1)
    summary = summary_of(
        tmp_path,
        config(game=f"quarriors(players={seats})", deals=20),
        seats,
        lambda _, names: [1.0 if seat == names.index("greedy") else loss for seat in range(seats)],
    )
    assert [standing.bot for standing in summary.standings] == ["greedy", "random"]
    assert summary.standings[0].share.value == pytest.approx(2 / seats) == summary.most
    assert summary.cross[0, 1].share.value == 1
    assert summary.pairs[0, 1].value.value == 1
    elo = summary.standings[0].elo
    assert elo.high - elo.value > 100  # nobody knows how much better it is
    assert f"who wins every game has {200 / seats:.1f} %" in report.seats_text(summary)


def test_a_seat_against_a_table_of_as_good_bots_is_even(tmp_path):
    """Whoever sits there, the seats win in turn: each bot has half of the games and an even share."""
    summary = summary_of(
        tmp_path,
        config(game="quarriors(players=3)", deals=30),
        3,
        lambda deal, _: [1.0 if seat == deal % 3 else -0.5 for seat in range(3)],
    )
    assert [standing.share.value for standing in summary.standings] == pytest.approx([1 / 3, 1 / 3])
    assert summary.cross[0, 1].share.value == pytest.approx(0.5)
    assert summary.standings[0].elo.value == pytest.approx(0, abs=1e-9)


def test_a_game_of_stakes_is_one_whatever_was_paid(tmp_path):
    """Kuhn poker pays 1 or 2. In these games it has paid 1 each time, but wins do not stand for chips even so."""
    summary = summary_of(
        tmp_path, config(game="quandary_kuhn", deals=9), 2, lambda deal, _: [1.0, -1.0] if deal % 2 else [-1.0, 1.0]
    )
    assert not summary.by_wins
    assert not summary.rated
    assert summary.cross == {}
    assert all(standing.elo is None for standing in summary.standings)


@pytest.mark.parametrize(("game", "rated"), [("quandary_kuhn", False), ("quandary_pig(goal=20)", True)])
def test_the_table_says_by_what_bots_stand(game, rated, tmp_path):
    path = tmp_path / "x.toml"
    path.write_text(f'name = "x"\n[[arena]]\ngame = "{game}"\nbots = ["greedy", "random"]\ndeals = 2\n')
    run.run(path, tmp_path / "r", workers=1)
    console = Console(width=100, record=True, file=io.StringIO())
    report.print_tables(report.load(tmp_path / "r"), console)
    text = " ".join(console.export_text().split())
    assert ("Elo is relative to the mean of the bots." in text) == rated
    assert ("bots stand by mean utility: who wins less can earn more." in text) != rated


def test_a_finding_tells_who_is_first_from_who_won_between_the_first_two(tmp_path):
    """Greedy loses six of ten games to mcts and wins all from random, from whom mcts wins but six of ten."""

    def earned(deal, names):
        strength = {"greedy": 2, "mcts": 1, "random": 0}
        upset = deal % 10 < {"greedymcts": 6, "mctsrandom": 4, "greedyrandom": 0}["".join(sorted(names))]
        first_wins = (strength[names[0]] > strength[names[1]]) != upset
        return [1.0, -1.0] if first_wins else [-1.0, 1.0]

    summary = summary_of(tmp_path, config(bots=["random", "mcts", "greedy"], deals=40), 2, earned)
    [finding] = report.findings(summary)
    assert summary.standings[0].bot == "greedy"
    assert "greedy is first, not clearly separated from the next, with Elo" in finding
    assert "in the games that both sat in it is behind by 0.200" in finding


def test_players_are_made_once():
    assert players.cached("random", "quandary_pig") is players.cached("random", "quandary_pig")


def test_a_policy_found_offline_plays():
    """An equilibrium of Kuhn poker loses at most 1/18 a game in the first seat, whoever the rival is."""
    poker = config(game="quandary_kuhn", bots=["cfr+(iterations=500)", "random"], deals=400)
    rows = rows_of(arena.tasks(poker, 1, 2, seed=3, done=set(), workers=1))
    own = [utility for _, _, bot, utility in rows.seats if bot != "random"]
    assert len(own) == 800
    assert sum(own) / 800 > 0.05  # uniform play gives away far more than that


def test_who_sits_in_a_game_twice_cannot_win_it_twice():
    """Six games of three seats, a bot in one seat of half of them and in two of the others: it can win 6 of 9."""
    won = {0: [1.0, 1.0], 1: [1.0, 1.0], 2: [1.0, 1.0]}
    found = analysis._share(won, 9)
    assert found.value == pytest.approx(6 / 9)
    assert found.high == pytest.approx(6 / 9)
    assert found.low == pytest.approx(ratings.wilson(1, 6).low * 6 / 9)
