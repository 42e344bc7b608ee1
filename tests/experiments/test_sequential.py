"""Sequential tests against Wald's closed form, the normal limit, and their own error rates."""

from __future__ import annotations

import math
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from engine_ext.errors import ConfigError
from experiments import arena, config, report, run
from experiments.config import SprtConfig
from experiments.seeds import keyed_seed
from experiments.sequential import SequentialTest, Watch, expected_score, log_likelihood_ratio, score
from experiments.store import Store, dump

ARENA = """
name = "tested"
seed = 3
[[arena]]
game = "{game}"
bots = ["greedy", "random"]
deals = 400
sprt = {{ elo0 = 0, elo1 = 60 }}
[[arena]]
game = "kuhn"
bots = ["random", "greedy"]
deals = 10
"""


@pytest.mark.parametrize(("won", "lost", "elo0", "elo1"), [(30, 20, 0, 50), (400, 500, -20, 20), (7, 0, 0, 200)])
def test_whole_wins_and_losses_give_walds_ratio(won, lost, elo0, elo1):
    """Binomial likelihoods: w log(s1/s0) + l log((1 - s1)/(1 - s0))."""
    s0, s1 = (1 / (1 + 10 ** (-elo / 400)) for elo in (elo0, elo1))
    wald = won * math.log(s1 / s0) + lost * math.log((1 - s1) / (1 - s0))
    assert log_likelihood_ratio({1.0: won, 0.0: lost}, elo0, elo1) == pytest.approx(wald, rel=0.01, abs=0.01)


def test_many_deals_and_small_differences_give_the_normal_limit():
    """n (s1 - s0) (2 mean - s0 - s1) / (2 variance), for five kinds of deals."""
    counts = {0.0: 900, 0.25: 2100, 0.5: 4000, 0.75: 2200, 1.0: 800}
    values = np.repeat(list(counts), list(counts.values()))
    s0, s1 = expected_score(-2), expected_score(4)
    limit = len(values) * (s1 - s0) * (2 * values.mean() - s0 - s1) / (2 * values.var())
    assert log_likelihood_ratio(counts, -2, 4) == pytest.approx(limit, rel=0.02)


@pytest.mark.parametrize("counts", [{0.5: 400}, {1.0: 3}, {0.0: 3}, {}])
def test_scores_that_are_all_alike_have_a_finite_ratio(counts):
    assert math.isfinite(log_likelihood_ratio(counts, 0, 20))


@pytest.mark.parametrize(("truth", "wrong"), [(0, "H1"), (150, "H0")])
def test_error_rates_are_kept(truth, wrong):
    """Pairs of games whose scores depend on each other: half of the deals are won or lost as wholes."""
    rng = np.random.default_rng(5)
    tests, mistaken, share = 200, 0, expected_score(truth)
    for _ in range(tests):
        test = SequentialTest(SprtConfig(elo0=0, elo1=150, alpha=0.05, beta=0.05))
        while test.accepted is None:
            first = rng.random() < share
            second = first if rng.random() < 0.5 else rng.random() < share
            test.add((first + second) / 2)
        mistaken += test.accepted == wrong
    assert mistaken <= 0.05 * tests + 3 * math.sqrt(0.05 * 0.95 * tests)


def test_deals_are_looked_at_in_their_order_whatever_ends_first():
    rng = np.random.default_rng(1)
    games = [(deal, float(rng.random() < 0.7)) for deal in range(60) for _ in range(2)]
    in_order, shuffled = (Watch(SprtConfig(elo1=100), "a", 2) for _ in range(2))
    for deal, won in games:
        in_order.add(deal, [("a", won), ("b", 1 - won)])
    for i in rng.permutation(len(games)):
        deal, won = games[i]
        shuffled.add(deal, [("b", 1 - won), ("a", won)])
    assert in_order.decided
    assert shuffled.test.path == pytest.approx(in_order.test.path)
    assert shuffled.test.deals == in_order.test.deals < 60


def test_of_a_bot_in_several_seats_the_best_one_counts():
    """One against a table of two: it shares the win, wins, loses; who loses in one seat and wins in another has won."""
    assert score([0.25], [0.25, -0.5]) == 0.5
    assert score([1.0], [-0.5, -0.5]) == 1.0
    assert score([-0.5], [1.0, -0.5]) == 0.0


@pytest.mark.parametrize("seats", [3, 4])
def test_who_wins_every_game_of_many_seats_passes(seats):
    """Six deals, one seat against a table and a table against one: as many wins as of two players in three."""
    loss = -1 / (seats - 1)
    bots = ["strong", "weak"]
    lineups = arena.lineups(2, seats)
    watch = Watch(SprtConfig(elo0=0, elo1=200), "strong", sum(map(len, map(arena.seatings, lineups))))
    for deal in range(40):
        for lineup in lineups:
            for seating in arena.seatings(lineup):
                winner = seating.index(0)
                watch.add(deal, [(bots[bot], 1.0 if seat == winner else loss) for seat, bot in enumerate(seating)])
    assert watch.test.accepted == "H1"


def rows(folder: Path):
    with Store.read(folder / "results.sqlite") as store:
        return dump(store)


@pytest.fixture(scope="module")
def tested(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tested")
    (folder / "tested.toml").write_text(ARENA.format(game="pig(goal=40)"))
    run.run(folder / "tested.toml", folder / "one", workers=1)
    return folder


def test_an_arena_ends_with_its_test_and_has_the_same_rows_for_any_number_of_workers(tested, tmp_path):
    summary = report.load(tested / "one").arenas[0]
    assert summary.test.accepted == "H1"
    assert summary.complete
    assert summary.games == 2 * summary.test.deals < 800
    run.run(tested / "tested.toml", tmp_path / "three", workers=3)
    assert rows(tmp_path / "three") == rows(tested / "one")
    page = (tested / "one" / "report.html").read_text()
    assert f"greedy passes against random: 60 Elo above it is accepted after {summary.test.deals} deals" in page


def test_a_broken_off_test_resumes_to_the_same_rows(tested, tmp_path):
    """As a kill leaves it: a game of an early deal is missing, games after the verdict were played."""
    run.run(tested / "tested.toml", tmp_path / "r", workers=1)
    last = max(key for key, *_ in rows(tmp_path / "r")[:-1] if str(key).startswith("arena1/"))
    deals = int(last.rsplit("/", 2)[1])
    early, late = (last.replace(f"{deals:07d}", f"{deal:07d}") for deal in (3, deals + 5))
    with sqlite3.connect(tmp_path / "r" / "results.sqlite") as db:
        for table in ("games", "seats", "timings"):
            db.execute(f"DELETE FROM {table} WHERE job_key = ?", (early,))
            db.execute(f"UPDATE {table} SET job_key = ? WHERE job_key = ?", (late, last))
        seed = keyed_seed(3, "deal", "quandary_pig(goal=40)", deals + 5)
        db.execute("UPDATE games SET seed = ? WHERE job_key = ?", (seed, late))
    db.close()
    assert rows(tmp_path / "r") != rows(tested / "one")
    run.run(tested / "tested.toml", tmp_path / "r", workers=1, resume=True)
    assert rows(tmp_path / "r") == rows(tested / "one")


@pytest.mark.parametrize(
    ("arena", "message"),
    [
        ({"bots": ["greedy", "random", "mcts"]}, r"arena\[1\]: sprt tests one bot against another"),
        ({"sprt": {"elo0": 10, "elo1": 10}}, r"arena\[1\].sprt: elo1 \(10\) must be above elo0 \(10\)"),
        ({"sprt": {"elos0": 10}}, r"arena\[1\].sprt.elos0: this key is unknown; did you mean 'elo0'"),
        ({"sprt": {"alpha": 0.7}}, r"arena\[1\].sprt.alpha"),
    ],
)
def test_wrong_tests_are_refused(arena, message):
    content = {"name": "x", "arena": [{"game": "kuhn", "bots": ["greedy", "random"], "deals": 5, "sprt": {}} | arena]}
    with pytest.raises(ConfigError, match=message):
        config.parse(content, "x.toml")


@pytest.mark.parametrize(
    ("game", "bots", "message"),
    [
        ("pentaquest(players=1)", '["greedy", "random"]', "the game has one seat"),
        ("kuhn", '["random", "random()"]', "both bots are the same"),
        ("kuhn", '["greedy", "random"]', r"it tests who wins more games, and quandary_kuhn pays more.*\(chips\)"),
        ("quarriors(utility=glory)", '["greedy", "random"]', "it tests who wins more games"),
    ],
)
def test_tests_that_cannot_be_made_are_refused(game, bots, message, tmp_path):
    text = ARENA.format(game=game).replace('["greedy", "random"]', bots)
    (tmp_path / "x.toml").write_text(text)
    with pytest.raises(ConfigError, match=rf"x.toml: arena\[1\].sprt: .*{message}"):
        run.run(tmp_path / "x.toml", tmp_path / "r")
    assert not (tmp_path / "r").exists()
