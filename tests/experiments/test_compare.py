"""`quandary compare`: run folders with known differences."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from engine_ext.errors import ResultsError
from experiments import arena, compare, convergence, manifest, run
from experiments.config import parse
from experiments.seeds import keyed_seed
from experiments.store import Rows, Store
from tests.experiments.command import command_line

Play = Callable[[np.random.Generator, int, tuple[str, ...]], list[float]]


def wins(strengths: dict[str, float], luck: float = 0.0) -> Play:
    """Who wins a game of two: a chance of one half, more by what the first seat's bot is stronger, and a luck of the
    deal that falls on the first seat."""

    def play(rng, deal, bots):
        lucky = luck * np.random.default_rng(deal).uniform(-1, 1)
        first = rng.random() < 0.5 + strengths.get(bots[0], 0) - strengths.get(bots[1], 0) + lucky
        return [1.0, -1.0] if first else [-1.0, 1.0]

    return play


def simulated(folder: Path, config: dict, play: Play | None = None, measure=None, *, seed: int = 0, keep=None) -> Path:
    """The folder of a run that nobody has made.

    Args:
        play: utilities by seat of a game of an arena, from (random numbers, deal, bots by seat).
        measure: of a curve: the values of a point, from (random numbers, label, budget).
        seed: of what is simulated.
        keep: games and points to leave at that; None: all.
    """
    content = {"name": folder.name, "seed": 1, **config}
    experiment = run.prepare(parse(content, "simulated"), "simulated")
    rng = np.random.default_rng(seed)
    rows = Rows()
    for i, each in enumerate(experiment.config.arena, 1):
        rules = experiment.games[each.game].rules
        for job in arena.jobs(each, i, rules.num_players()):
            bots = tuple(each.bots[bot] for bot in job.bots)
            utilities = play(rng, job.deal, bots)
            chance = keyed_seed(experiment.config.seed, "deal", each.game, job.deal)
            rows.games.append((job.key, each.game, chance, 5 * len(bots), f"{rng.integers(2**60):x}"))
            for seat, bot in enumerate(bots):
                rows.seats.append((job.key, seat, bot, utilities[seat]))
                rows.timings.append((job.key, seat, 5, 0.01 * (1 + len(bot))))
    for i, each in enumerate(experiment.config.convergence, 1):
        lines = convergence.lines_of(each)
        for point in convergence.points(each, i):
            for number, value in enumerate(measure(rng, lines[point.solver].label, point.budget)):
                name = f"regret{number:04d}" if each.measure == "regret" else "exploitability"
                rows.measures.append((point.key, name, float(value)))
            rows.timings.append((point.key, -1, 1, 0.5))
    if keep is not None:
        left = {row[0] for row in rows.games[:keep]}
        rows.games = rows.games[:keep]
        rows.seats = [row for row in rows.seats if row[0] in left]
        rows.timings = [row for row in rows.timings if row[0] in left]
    with run._open(folder, experiment, experiment.identity(), Path("simulated.toml"), resume=False) as store:
        store.begin_run(1, "processes")
        run._note_code(folder, False, run.Console(stderr=True))
        store.add(rows)
        store.end_run()
    return folder


def pig(bots=("greedy", "random"), deals=100, **more) -> dict:
    return {"arena": [{"game": "pig", "bots": list(bots), "deals": deals}], **more}


def row_of(found: compare.Comparison, of: str, measure: str = "win_share"):
    (row,) = [row for row in found.rows if (row.of, row.measure) == (of, measure)]
    return row


# ---- what is found -------------------------------------------------------------------------------


def test_a_known_difference_is_found_on_the_same_deals(tmp_path, capsys):
    """Greedy wins half of A and 80 % of B."""
    a = simulated(tmp_path / "a", pig(), wins({}), seed=1)
    b = simulated(tmp_path / "b", pig(), wins({"greedy": 0.3}), seed=2)
    row = row_of(compare.compare_runs(a, b), "greedy")
    assert row.found.paired
    assert (row.found.clusters, row.jobs, row.same) == (100, 200, 0)
    assert row.found.value.low < 0.3 < row.found.value.high
    assert row.found.value.low > 0.1
    assert row.differs
    for words, code in (((), 0), (("--check",), 1), (("--json", "--check"), 1)):
        found, out, err = command_line(capsys, "compare", a, b, *words)
        assert (found, err) == (code, "")
    content = json.loads(out)
    assert content["differ"] == 1  # what random won is the rest
    (found,) = content["rows"]
    assert found["of"] == "greedy"
    assert found["method"] == "paired"
    assert found["differs"] is True
    assert found["against"] == ["random"]
    assert found["p"] == found["p_corrected"] < 0.001  # of a single figure
    assert found["difference"]["value"] == pytest.approx(found["b"]["value"] - found["a"]["value"])
    assert found["unit"] == "share of games, 0 to 1"


def test_other_seeds_are_other_deals(tmp_path):
    a = simulated(tmp_path / "a", pig(), wins({}), seed=1)
    b = simulated(tmp_path / "b", pig(seed=2, deals=60), wins({}), seed=2)
    found = compare.compare_runs(a, b)
    row = row_of(found, "greedy")
    assert (row.found.paired, row.found.clusters, row.jobs) == (False, 60, 0)
    assert not row.differs
    assert found.changes["seed"] == ["1, then 2"]
    assert found.changes["config"] == ["arena[1].deals: 100, then 60"]


def test_figures_are_those_of_the_report_where_the_field_is_the_same(tmp_path):
    a = simulated(tmp_path / "a", pig(("random", "greedy", "mcts")), wins({"greedy": 0.2}), seed=1)
    b = simulated(tmp_path / "b", pig(("random", "greedy", "mcts"), seed=9), wins({}), seed=2)
    found = compare.compare_runs(a, b)
    for side, folder in (("a", a), ("b", b)):
        for standing in compare.comparison.Run(folder).results.arenas[0].standings:
            shown = getattr(row_of(found, standing.bot).found, side)
            assert (shown.value, shown.low, shown.high) == pytest.approx(
                (standing.share.value, standing.share.low, standing.share.high)
            )


def test_only_games_against_the_same_rivals_count(tmp_path):
    """B has a third bot, which greedy beats always: its figures in the games against random are as they were."""
    a = simulated(tmp_path / "a", pig(), wins({}), seed=1)
    b = simulated(tmp_path / "b", pig(("greedy", "random", "mcts")), wins({"mcts": -0.5}), seed=1)
    found = compare.compare_runs(a, b)
    assert {row.of for row in found.rows} == {"greedy"}
    with Store.read(b / "results.sqlite") as store:
        own = [row[3] for row in store.seats() if "greedy~random" in row[0] and row[2] == "greedy"]
    assert len(own) == 200
    assert row_of(found, "greedy").found.b.value == pytest.approx(np.mean([utility > 0 for utility in own]))
    assert "greedy at quandary_pig is compared in the games that it had in both runs, against random" in found.notes
    assert found.only_b == ["mcts, quandary_pig"]
    assert found.changes["config"] == ["arena[1].bots: mcts in B alone"]


def test_the_order_of_bots_in_a_config_does_not_matter(tmp_path):
    a = simulated(tmp_path / "a", pig(("greedy", "random")), wins({}), seed=1)
    b = simulated(tmp_path / "b", pig(("random", "greedy")), wins({"greedy": 0.3}), seed=2)
    found = compare.compare_runs(a, b)
    assert row_of(found, "greedy").found.paired
    assert row_of(found, "greedy").differs
    assert found.changes["config"] == ["arena[1].bots: in another order"]


def test_a_game_written_otherwise_is_the_same_game(tmp_path):
    """Pig goes to 100 unless told otherwise; its dice hang on how the game is written."""
    a = simulated(tmp_path / "a", pig(), wins({}), seed=1)
    other = {"arena": [{"game": "pig(goal=100)", "bots": ["greedy", "random"], "deals": 50}]}
    found = compare.compare_runs(a, simulated(tmp_path / "b", other, wins({}), seed=2))
    assert not row_of(found, "greedy").found.paired


def test_stakes_have_a_row_for_what_was_won_and_one_for_how_often(tmp_path):
    def stakes(more):
        def play(rng, deal, bots):
            gain = float(np.clip(rng.choice([-2, -1, 1, 2]) + (more if bots[0] == "greedy" else -more), -2, 2))
            return [gain, -gain]

        return play

    config = {"arena": [{"game": "kuhn", "bots": ["greedy", "random"], "deals": 80}]}
    a = simulated(tmp_path / "a", config, stakes(0.0), seed=1)
    b = simulated(tmp_path / "b", config, stakes(0.8), seed=2)
    found = compare.compare_runs(a, b)
    assert [(row.of, row.measure) for row in found.rows] == [("greedy", "win_share"), ("greedy", "mean_utility")]
    row = row_of(found, "greedy", "mean_utility")
    assert row.unit == "chips"
    with Store.read(a / "results.sqlite") as one, Store.read(b / "results.sqlite") as other:
        means = [np.mean([u for _, _, bot, u in store.seats() if bot == "greedy"]) for store in (one, other)]
    assert (row.found.a.value, row.found.b.value) == pytest.approx(tuple(means))
    assert row.differs


def test_three_players_meet_in_every_rotation(tmp_path):
    def play(rng, deal, bots):
        utilities = [-0.5] * 3
        utilities[rng.integers(3)] = 1.0
        return utilities

    game = "quarriors(players=3)"
    one = {"arena": [{"game": game, "bots": ["random", "greedy", "mcts(simulations=9)"], "deals": 30}]}
    other = {"arena": [{"game": game, "bots": ["mcts(simulations=9)", "random", "greedy"], "deals": 30}]}
    found = compare.compare_runs(simulated(tmp_path / "a", one, play), simulated(tmp_path / "b", other, play, seed=1))
    assert len({row.of for row in found.rows}) == 3
    assert all(row.found.paired and row.found.clusters == 30 for row in found.rows)
    two = {"arena": [{"game": game, "bots": ["random", "greedy"], "deals": 30}]}
    found = compare.compare_runs(simulated(tmp_path / "c", two, play), simulated(tmp_path / "d", two, play, seed=1))
    # Nine seats of each in the six games of a deal, of which it wins some three.
    for row in found.rows:
        assert row.found.a.value == pytest.approx(1 / 3, abs=0.1)


# ---- curves --------------------------------------------------------------------------------------


def curves(measure: str, **more) -> dict:
    game, solver = ("pig(goal=6)", "mcts") if measure == "regret" else ("kuhn_poker", "mccfr_es")
    part = {"game": game, "measure": measure, "solvers": [solver], "budgets": [10, 100], **more}
    return {"convergence": [part]}


def test_a_curve_has_a_row_for_each_budget(tmp_path):
    def measure(shift):
        return lambda rng, label, budget: [0.3 + rng.normal(0, 0.01) + (shift if budget == 100 else 0)]

    config = curves("exploitability", repeats=8)
    a = simulated(tmp_path / "a", config, measure=measure(0.0), seed=1)
    b = simulated(tmp_path / "b", config, measure=measure(0.05), seed=2)
    found = compare.compare_runs(a, b)
    assert [(row.x, row.x_unit, row.differs) for row in found.rows] == [
        (10, "iterations", False),
        (100, "iterations", True),
    ]
    row = found.rows[1]
    assert (row.found.paired, row.found.clusters) == (True, 8)
    assert row.found.value.value == pytest.approx(0.05, abs=0.015)  # three standard errors of eight pairs
    other = compare.compare_runs(a, simulated(tmp_path / "c", {**config, "seed": 5}, measure=measure(0.05), seed=3))
    assert [row.found.paired for row in other.rows] == [False, False]
    assert other.rows[1].differs


def test_regret_is_compared_position_by_position(tmp_path):
    """Positions of one seed are the same, and differ in how much there is to lose; B asked for fewer."""

    def measure(count, shift):
        return lambda rng, label, budget: [place / 20 + rng.uniform(0, 0.02) + shift for place in range(count)]

    a = simulated(tmp_path / "a", curves("regret", positions=20), measure=measure(20, 0.0), seed=1)
    b = simulated(tmp_path / "b", curves("regret", positions=12), measure=measure(12, 0.03), seed=2)
    found = compare.compare_runs(a, b)
    for row in found.rows:
        assert (row.found.paired, row.found.clusters) == (True, 12)
        assert row.found.a.value == pytest.approx(np.mean(np.arange(12) / 20) + 0.01, abs=0.006)
        assert row.differs  # which the differences between positions would hide


def test_one_seed_has_no_interval_and_is_shown_all_the_same(tmp_path, capsys):
    a = simulated(tmp_path / "a", curves("exploitability"), measure=lambda rng, label, budget: [0.25])
    b = simulated(tmp_path / "b", curves("exploitability"), measure=lambda rng, label, budget: [1 / budget])
    found = compare.compare_runs(a, b)
    assert found.rows[0].found.value.value == pytest.approx(-0.15)
    assert found.differ == 0
    assert [row.same for row in found.rows] == [0, 0]
    content = json.loads(command_line(capsys, "compare", a, b, "--json")[1])
    assert content["rows"][0]["p"] is None
    assert content["rows"][0]["difference"] == {"value": pytest.approx(-0.15), "low": None, "high": None}
    _, out, _ = command_line(capsys, "compare", a, b)
    assert "no interval" in out
    assert "0 of 0 figures with an interval differ" in " ".join(out.split())


# ---- what the runs are ---------------------------------------------------------------------------


def test_the_same_run_twice_comes_out_alike(tmp_path, capsys, monkeypatch):
    """Really played. Somebody may be at work on the sources meanwhile."""
    monkeypatch.setattr(manifest, "commit", lambda: "c" * 40)
    monkeypatch.setattr(manifest, "code_sha256", lambda: "s" * 64)
    (tmp_path / "config.toml").write_text(
        'name = "twice"\n[[arena]]\ngame = "pig(goal=20)"\nbots = ["random", "greedy"]\ndeals = 5\n'
        '[[convergence]]\ngame = "kuhn_poker"\nmeasure = "exploitability"\nsolvers = ["cfr"]\nbudgets = [1, 10]\n'
    )
    monkeypatch.setenv("COLUMNS", "120")
    for name in "ab":
        run.run(tmp_path / "config.toml", tmp_path / name, workers=1)
    code, out, err = command_line(capsys, "compare", tmp_path / "a", tmp_path / "b", "--check")
    assert (code, err) == (0, "")
    assert out.count("all 10 alike") == 1
    assert out.count("all 1 alike") == 2
    assert "config, seed, games, code and machine are the same" in out


def test_what_differs_before_anything_is_played_is_told(tmp_path, monkeypatch):
    a = simulated(tmp_path / "a", pig(), wins({}), seed=1)
    monkeypatch.setattr(manifest, "commit", lambda: "f" * 40)
    monkeypatch.setattr(manifest, "machine", lambda: {"system": "Plan 9", "cores": 1})
    config = {"arena": [{**pig()["arena"][0], "sprt": {}}, {"game": "kuhn", "bots": ["random"], "deals": 1}]}

    def play(rng, deal, bots):
        return [1.0, -1.0] if rng.random() < 0.5 else [-1.0, 1.0]

    found = compare.compare_runs(a, simulated(tmp_path / "b", config, play, seed=2, keep=100))
    assert "arena[1].sprt: in B alone" in found.changes["config"]
    assert "arena[2]: in B alone" in found.changes["config"]
    assert found.changes["games"] == ["quandary_kuhn: in B alone"]
    assert found.changes["code"][0].endswith("then ffffffffffff")
    assert any(line.startswith("system: ") and line.endswith("then Plan 9") for line in found.changes["machine"])
    assert "files" not in found.changes


def test_files_of_a_policy_that_differ_are_told(tmp_path):
    one, other = (simulated(tmp_path / name, pig(), wins({}), seed=1) for name in "ab")
    for folder, digest in ((one, "1" * 64), (other, "2" * 64)):
        content = json.loads((folder / "manifest.json").read_text())
        content["identity"]["files"] = {"nash.policy": digest}
        found = run.digest(content["identity"])
        (folder / "manifest.json").write_text(json.dumps({**content, "config_hash": found}))
        with Store.read(folder / "results.sqlite") as store, store._db:
            store._db.execute("UPDATE meta SET value = ?", (found,))
    assert compare.compare_runs(one, other).changes["files"] == ["nash.policy: 111111111111, then 222222222222"]


def test_an_unfinished_run_is_compared_as_far_as_it_is(tmp_path, capsys):
    """31 games are fifteen deals and a half."""
    a = simulated(tmp_path / "a", pig(), wins({}), seed=1)
    b = simulated(tmp_path / "b", pig(), wins({}), seed=2, keep=31)
    row = row_of(compare.compare_runs(a, b), "greedy")
    assert (row.found.paired, row.found.clusters) == (True, 15)
    code, out, _ = command_line(capsys, "compare", a, b)
    assert code == 0
    assert f"note: B ({b}) is not finished: what it has so far is compared" in " ".join(out.split())


def test_a_figure_that_is_gone_is_told(tmp_path, capsys):
    a = simulated(tmp_path / "a", pig(("random", "greedy", "mcts")), wins({}), seed=1)
    b = simulated(tmp_path / "b", pig(), wins({}), seed=1)
    assert compare.compare_runs(a, b).differ == 0
    assert command_line(capsys, "compare", a, b, "--check")[0] == 1
    assert command_line(capsys, "compare", b, a, "--check")[0] == 0


def test_speeds_stand_beside_each_other(tmp_path):
    a = simulated(tmp_path / "a", pig(), wins({}), seed=1)
    b = simulated(tmp_path / "b", pig(), wins({}), seed=2)
    with Store.read(b / "results.sqlite") as store, store._db:
        store._db.execute("UPDATE timings SET seconds = 3 * seconds")
    speeds = {speed.of: speed for speed in compare.compare_runs(a, b).speeds}
    assert speeds["greedy"].ratio == pytest.approx(3)
    assert speeds["greedy"].a == pytest.approx(1000 * 0.01 * 7 / 5)  # seconds by the length of its name, 5 decisions


# ---- what is refused -----------------------------------------------------------------------------


def test_what_shares_nothing_is_refused(tmp_path, capsys):
    a = simulated(tmp_path / "a", pig(), wins({}), seed=1)
    others = [
        simulated(
            tmp_path / "game", {"arena": [{"game": "pig(goal=30)", "bots": ["random", "greedy"], "deals": 1}]}, wins({})
        ),
        simulated(tmp_path / "bots", pig(("greedy", "mcts")), wins({})),
        simulated(tmp_path / "curve", curves("exploitability"), measure=lambda rng, label, budget: [0.1]),
        simulated(tmp_path / "empty", pig(), wins({}), keep=0),
    ]
    for other in others:
        code, out, err = command_line(capsys, "compare", a, other)
        assert (code, out) == (2, "")
        assert "share nothing that could be compared" in err
    assert "has no result yet" in err


def test_what_is_no_run_folder_is_refused(tmp_path, capsys):
    a = simulated(tmp_path / "a", pig(), wins({}), seed=1)
    (tmp_path / "empty").mkdir()
    shutil.copytree(a, tmp_path / "damaged")
    (tmp_path / "damaged" / "results.sqlite").write_bytes(b"none")
    for other, says in (("none", "there is no run"), ("empty", "there is no run"), ("damaged", "damaged")):
        for words in ((a, tmp_path / other), (tmp_path / other, a)):
            code, out, err = command_line(capsys, "compare", *words)
            assert (code, out) == (2, "")
            assert says in err
            assert other in err
    with pytest.raises(ResultsError):
        compare.compare_runs(tmp_path / "none", a)


# ---- how often it is right -----------------------------------------------------------------------


def test_whole_runs_that_do_not_differ_seldom_seem_to(tmp_path):
    """12 pairs of run folders of four bots without a difference: of a chance of 5 % at most three of them tell of one,
    in 99.8 % of all cases."""
    bots = ["random", "greedy", "mcts(simulations=1)", "mcts(simulations=2)"]
    alarms = 0
    for trial in range(12):
        pair = [
            simulated(tmp_path / f"{trial}{name}", pig(bots, deals=20), wins({}, luck=0.3), seed=2 * trial + k)
            for k, name in enumerate("ab")
        ]
        alarms += compare.compare_runs(*pair).differ > 0
        for folder in pair:
            shutil.rmtree(folder)
    assert alarms <= 3


@pytest.mark.parametrize("width", [60, 76, 100])
def test_a_comparison_fits_the_terminal(tmp_path, capsys, monkeypatch, width):
    """No line is cut: the last column is there, and its words."""
    for name in "ab":
        simulated(tmp_path / name, pig(deals=20), wins({"greedy": 1.0}))
    monkeypatch.setenv("COLUMNS", str(width))
    _, out, _ = command_line(capsys, "compare", tmp_path / "a", tmp_path / "b")
    assert max(map(len, out.splitlines())) <= width
    assert "alike" in out
