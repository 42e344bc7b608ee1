"""Curves of exploitability and regret, against figures from the literature and from OpenSpiel."""

from __future__ import annotations

import io
import sqlite3

import pyspiel
import pytest
from rich.console import Console
from scipy import stats

import games
from engine_ext.errors import ConfigError, ResultsError
from experiments import config as configs
from experiments import convergence, gametext, report, run, solve
from experiments.config import ConvergenceConfig, parse
from experiments.plots import Curve
from experiments.ratings import Estimate
from experiments.store import Rows, Store, dump
from solvers import induced, specs
from solvers.best_response import exploitability


def config(**changes) -> ConvergenceConfig:
    given = {"game": "kuhn_poker", "measure": "exploitability", "solvers": ["cfr", "cfr+"], "budgets": [1, 10, 100]}
    return convergence.check(ConvergenceConfig(**{**given, **changes}), "trial.toml: convergence[1]")


def measured(part, seed=1) -> Rows:
    rows = Rows()
    for task in convergence.tasks(part, 1, seed, set()):
        found = task.run()
        rows.measures += found.measures
        rows.timings += found.timings
        rows.positions = found.positions
        rows.choices += found.choices
    return rows


def test_cfr_is_as_far_as_openspiels_own_after_each_budget():
    values = {key: value for key, _, value in measured(config(solvers=["cfr"])).measures}
    game = pyspiel.load_game("kuhn_poker")
    solver = pyspiel.CFRSolver(game)
    for iteration in range(1, 101):
        solver.evaluate_and_update_policy()
        if iteration in (1, 10, 100):
            policy = solver.average_policy()
            expected = pyspiel.exploitability(game, policy)
            assert values[f"curve1/cfr/0000/{iteration:012d}"] == pytest.approx(expected, rel=1e-9)


def test_random_play_induces_the_uniform_policy():
    """NashConv of uniform play in Kuhn poker is 11/12 (OpenSpiel's tests)."""
    rules = convergence._tree_rules("kuhn_poker")
    policy = induced.search_policy(rules, specs.make_searcher("random", rules), seed=1)
    assert 2 * exploitability(policy) == pytest.approx(11 / 12)


def test_search_over_all_information_sets_comes_nearer_with_more_simulations():
    part = config(measure="induced", solvers=["smooth_uct"], budgets=[10, 3000])
    few, many = (value for _, _, value in measured(part).measures)
    assert many < few < 11 / 24


def test_one_long_search_by_self_play_comes_nearer_with_more_simulations():
    part = config(measure="self_play", solvers=["smooth_uct"], budgets=[100, 100_000])
    few, many = (value for _, _, value in measured(part).measures)
    assert many < few


def test_regret_of_an_exact_search_is_zero_and_of_a_shallow_one_is_not_negative():
    """Pig to 6: a game small enough for 400 simulations to be proven at most positions."""
    part = config(game="pig(goal=6)", measure="regret", solvers=["mcts"], budgets=[1, 4000], positions=12)
    rows = measured(part).measures
    assert len(rows) == 24
    last = [value for key, _, value in rows if key.endswith("4000")]
    assert all(value == pytest.approx(0, abs=1e-9) for value in last)
    assert all(value >= 0 for _, _, value in rows)


def test_exact_values_agree_with_the_values_of_the_positions_behind_the_actions():
    exact = specs.make_searcher("value_iteration", games.spec("pig").make_rules({"goal": 10}))
    for position, values in convergence.exact_cases("quandary_pig(goal=10)", 10, 1):
        seat = position.current_player()
        for action, value in values.items():
            after = position.child(action)
            expected = after.returns() if after.is_terminal() else exact.search(after, seed=0).values
            assert value == pytest.approx(expected[seat], abs=1e-8)


def test_positions_differ_and_depend_on_the_seed_alone():
    rules = games.spec("pig").make_rules()
    first = convergence.sample_positions(rules, 20, 5)
    assert len({position.to_bytes() for position in first}) == 20
    assert all(position.is_player_node() for position in first)
    assert convergence.sample_positions(rules, 20, 5) == first
    assert convergence.sample_positions(rules, 20, 6) != first


def test_points_do_not_depend_on_how_they_are_handed_out(tmp_path):
    content = {
        "name": "curves",
        "convergence": [
            {"game": "kuhn", "measure": "induced", "solvers": ["ismcts", "oos"], "budgets": [5, 50], "repeats": 2},
            {"game": "kuhn", "measure": "exploitability", "solvers": ["cfr"], "budgets": [2, 20]},
        ],
    }
    experiment = run.prepare(parse(content, "curves"), "curves")
    whole: list = []
    for number, part in enumerate(experiment.config.convergence, 1):
        every = list(convergence.tasks(part, number, 3, set()))
        rows = [row for task in every for row in task.run().measures]
        done = {row[0] for row in rows if "oos" in row[0]}
        again = [row for task in convergence.tasks(part, number, 3, done) for row in task.run().measures]
        assert sorted(again) == sorted(row for row in rows if row[0] not in done)
        whole += rows
    assert len(whole) == experiment.jobs_total() == 10


def test_a_run_of_curves_makes_table_and_report(tmp_path):
    path = tmp_path / "curves.toml"
    path.write_text(
        """
        name = "curves"
        [[convergence]]
        game = "kuhn_poker"
        measure = "exploitability"
        solvers = ["cfr", "cfr+"]
        budgets = [1, 10]
        [[convergence]]
        game = "pig(goal=5)"
        measure = "regret"
        solvers = ["mcts"]
        budgets = [5, 500]
        positions = 6
        """
    )
    for name in ("one", "two"):
        run.run(path, tmp_path / name, workers=1)
    page = (tmp_path / "one" / "report.html").read_text()
    assert page.count("<svg") == 2  # each curve over its budget and over seconds
    assert "exploitability" in page
    assert "Regret, utility a decision: 0 at every budget" in page  # so there is nothing to draw
    with Store.read(tmp_path / "one" / "results.sqlite") as one, Store.read(tmp_path / "two" / "results.sqlite") as two:
        assert dump(one) == dump(two)
        assert len(dump(one)) == 4 + 12 + 6 + 12  # measures, positions, choices


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"game": "kuhn_pocker"}, r"convergence\[1\]\.game: no game is called"),
        ({"solvers": ["cfr", "cfq"]}, r"convergence\[1\]\.solvers\[2\]: "),
        ({"solvers": ["mcts"]}, "needs a policy solver"),
        ({"measure": "induced"}, "needs a searcher"),
        ({"measure": "regret", "solvers": ["mcts"]}, "perfect information"),
        ({"measure": "induced", "solvers": ["mcts"]}, "hides information"),
        ({"measure": "induced", "solvers": ["ismcts(simulations=5)"]}, "leave it out"),
        ({"solvers": ["cfr(seconds=1)"]}, "leave it out"),
        ({"measure": "induced", "solvers": ["random"]}, "no parameter 'simulations'"),
        ({"solvers": ["cfr", "cfr()"]}, r"solvers\[2\]: cfr\(\) is cfr, which is listed already"),
        ({"solvers": ["cfr"], "baselines": ["cfr( )"]}, r"baselines\[1\]: .*listed already"),
        ({"unit": "nodes"}, r"convergence\[1\]\.unit: the budgets of measure 'exploitability' are iterations"),
        ({"positions": 30}, r"convergence\[1\]\.positions: measure 'exploitability' has none"),
        ({"measure": "induced", "solvers": ["ismcts"], "positions": 30}, "only 'regret' has"),
        ({"baselines": ["cfq"]}, r"convergence\[1\]\.baselines\[1\]: "),
        ({"baselines": ["random"]}, "needs a policy solver"),
        ({"baselines": ["cfr(seconds=1)"]}, "would not repeat itself"),
        ({"solvers": [{"solver": "cfr", "budgets": [1], "unit": "nodes"}]}, "leave the unit out"),
        ({"measure": "self_play", "solvers": ["mcts"]}, "hides information"),
        ({"measure": "self_play", "game": "pig(goal=3)", "solvers": ["mcts"]}, r"solvers\[1\]: "),
        ({"game": "chess", "measure": "induced", "solvers": ["ismcts"]}, "nodes"),
    ],
)
def test_what_does_not_fit_is_named_before_any_work(changes, says):
    with pytest.raises(ConfigError, match=says):
        config(**changes)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"budgets": [10, 1]}, "ascend"),
        ({"solvers": ["cfr", "cfr"]}, "twice"),
        ({"solvers": ["cfr"], "baselines": ["cfr"]}, "twice"),
        ({"budgets": [0]}, "budgets"),
        ({"solvers": [{"solver": "cfr"}]}, r"convergence\[1\]\.solvers\[1\]\.budgets: this key is missing"),
        ({"solvers": [{"solver": "cfr", "budgets": [2], "deals": 3}]}, r"solvers\[1\]\.deals: this key is unknown"),
    ],
)
def test_a_malformed_part_is_named(changes, says):
    part = {"game": "kuhn", "measure": "exploitability", "solvers": ["cfr"], "budgets": [1], **changes}
    with pytest.raises(ConfigError, match=says):
        parse({"name": "x", "convergence": [part]}, "trial.toml")


def test_a_budget_goes_beside_what_a_spec_gives():
    assert str(convergence.with_budget("mcts", "simulations", 7)) == "mcts(simulations=7)"
    assert str(convergence.with_budget("mcts(c=2)", "simulations", 7)) == "mcts(simulations=7,c=2)"


def test_the_comparison_that_ships_is_valid(monkeypatch):
    monkeypatch.setattr(convergence, "try_out", lambda *_: None)  # tests/experiments/test_config.py does
    path = configs.find("solver_comparison")
    experiment = run.prepare(configs.read(path), str(path))
    measures = {part.measure for part in experiment.config.convergence}
    assert measures == {"exploitability", "regret", "induced", "self_play"}


def comparison() -> list[ConvergenceConfig]:
    return configs.read(configs.find("solver_comparison")).convergence


def test_the_comparison_has_every_scenario_and_the_calibration_games():
    parts = [(gametext.load(part.game), part) for part in comparison()]
    there = {(game.name, game.parameters.get("scenario")) for game, _ in parts}
    names = {name for name, scenario in there if scenario}  # a game that has only just been added is in no curve yet
    assert names >= {"pentaquest", "quarriors", "quarz"}
    every = {(name, scenario) for name in names for scenario in games.scenarios(name)}
    assert every - there == set()
    assert {("quandary_pig", None), ("kuhn_poker", None), ("leduc_poker", None)} <= there


def test_the_comparison_has_every_solver():
    texts = [
        str(each) if isinstance(each, str) else each.solver
        for part in comparison()
        for each in [*part.solvers, *part.baselines]
    ]
    solvers = {name for name, spec in specs.solver_specs().items() if not spec.files}
    assert {specs.split_spec(text)[0] for text in texts} == solvers


def test_the_comparison_judges_each_game_by_what_its_information_allows():
    """Regret where nothing is hidden; where something is, policies, and searchers by both readings."""
    measures: dict[str, set[str]] = {}
    for part in comparison():
        measures.setdefault(part.game, set()).add(part.measure)
    for text, found in measures.items():
        game = gametext.load(text)
        hidden = game.rules is None or game.rules.hidden_information
        assert found >= ({"exploitability", "induced", "self_play"} if hidden else {"regret"})


def test_a_solver_may_have_budgets_and_a_unit_of_its_own():
    part = config(
        game="pig(goal=6)",
        measure="regret",
        solvers=["mcts", {"solver": "expectimax", "unit": "depth", "budgets": [1, 6]}],
        budgets=[5],
        baselines=["value_iteration", "random"],
        positions=5,
    )
    every = list(convergence.points(part, 1))
    assert [(point.key.split("/")[1], point.budget) for point in every] == [
        ("mcts", 5),
        ("expectimax by depth", 1),
        ("expectimax by depth", 6),
        ("value_iteration", 0),
        ("random", 0),
    ]
    assert convergence.points_total(part) == 5
    values: dict[str, float] = {}
    for key, _, value in measured(part).measures:
        values[key.split("/", 1)[1]] = values.get(key.split("/", 1)[1], 0.0) + value
    assert values["value_iteration/0000/" + "0" * 12] == 0
    assert values["random/0000/" + "0" * 12] > 0


def test_the_baseline_of_a_policy_is_the_linear_programs_equilibrium():
    part = config(solvers=["cfr", {"solver": "mccfr_es", "budgets": [1000]}], baselines=["sequence_form"])
    values = {key.split("/")[1]: value for key, _, value in measured(part).measures}
    assert values["sequence_form"] == 0
    assert 0 < values["mccfr_es"] < 11 / 24


def test_positions_of_regret_are_those_where_the_choice_matters():
    for _, values in convergence.exact_cases("quandary_pig(goal=10)", 10, 1):
        assert max(values.values()) > min(values.values())


def test_solve_and_curve_agree():
    found = solve.solve("kuhn_poker", "cfr(iterations=100)")
    values = {key: value for key, _, value in measured(config(solvers=["cfr"])).measures}
    assert found.exploitability == pytest.approx(values[f"curve1/cfr/0000/{100:012d}"], rel=1e-12)


@pytest.mark.parametrize(
    ("found", "says"),
    [
        ({"cfr": (0.1, 0.1, 0.1), "cfr+": (0.2, 0.2, 0.2)}, "cfr is nearest, with 0.1 (cfr+ 0.2)."),
        ({"cfr": (0.0, 0.0, 0.0), "cfr+": (0.0, 0.0, 0.0)}, "cfr and cfr+ are level, with 0."),
        (
            {"cfr": (0.0, 0.0, 0.0), "cfr+": (0.0, 0.0, 0.0), "dcfr": (0.1, 0.1, 0.1)},
            "cfr and cfr+ are level and nearest, with 0 (dcfr 0.1).",
        ),
        (
            {"cfr": (0.1, 0.05, 0.2), "cfr+": (0.2, 0.15, 0.3)},
            "cfr is first, not clearly separated from the next, with 0.1 (cfr+ 0.2).",
        ),
        ({"cfr": (0.1, 0.05, 0.14), "cfr+": (0.2, 0.15, 0.3)}, "cfr is nearest, with 0.1 (cfr+ 0.2)."),
    ],
)
def test_a_finding_says_how_far_apart_solvers_are(found, says):
    part = config(solvers=list(found), budgets=[10])
    lines = [Curve(label, [10.0], [Estimate(*each)]) for label, each in found.items()]
    summary = convergence.Summary(part, 1, True, 2, 2, "iterations", "iterations", "y", "", lines)
    assert report.curve_findings(summary) == [f"kuhn_poker: at 10 iterations {says}"]


@pytest.mark.parametrize(
    ("changes", "says", "fewer"),
    [
        ({"positions": 3}, "3 positions", 0),
        ({"positions": 3, "repeats": 2}, "3 positions", 0),
        ({"positions": 1, "repeats": 2}, "2 seeds", 0),
        ({"positions": 1}, "", 0),
        ({"positions": 1000}, None, True),
    ],
)
def test_a_curve_says_what_its_intervals_are_over(changes, says, fewer, tmp_path):
    """Pig to 3 has far fewer than 1,000 positions where the choice matters."""
    part = config(**{"game": "pig(goal=3)", "measure": "regret", "solvers": ["mcts"], "budgets": [2], **changes})
    with Store.create(tmp_path / "results.sqlite", "x") as store:
        store.begin_run(1, "processes")
        store.add(measured(part))
        summary = convergence.summarise(part, 1, store)
    assert summary is not None
    assert summary.resampled == (says if says is not None else f"{summary.positions} positions")
    assert (0 < summary.positions < 1000) if fewer else summary.positions == 0


def summarised(part, values: dict[str, list[list[float]]], folder) -> convergence.Summary:
    """A part of one budget with these values by solver, of each repeat."""
    rows = Rows()
    labels = [line.label for line in convergence.lines_of(part)]
    for point in convergence.points(part, 1):
        for number, value in enumerate(values[labels[point.solver]][point.repeat]):
            name = convergence.regret_name(number) if part.measure == "regret" else "exploitability"
            rows.measures.append((point.key, name, value))
        rows.timings.append((point.key, -1, 1, 0.5))
    with Store.create(folder / "results.sqlite", "x") as store:
        store.begin_run(1, "processes")
        store.add(rows)
        found = convergence.summarise(part, 1, store)
    assert found is not None
    return found


def printed(summary: convergence.Summary, width: int = 80) -> str:
    console = Console(width=width, file=io.StringIO())
    convergence.print_table(summary, console)
    return console.file.getvalue()


def test_tables_show_intervals_and_what_zeros_say(tmp_path):
    """Student's interval of two seeds: 0.5 and 0.7 have 0.6 -+ 12.706 * 0.1, cut at 0."""
    part = config(solvers=["mccfr_os", "cfr"], budgets=[10], repeats=2)
    seeds = summarised(part, {"mccfr_os": [[0.5], [0.7]], "cfr": [[0.1], [0.1]]}, tmp_path)
    assert [convergence.cell_lines(row["cells"][0]) for row in seeds.table] == [["0.6", "[0, 1.87]"], ["0.1"]]
    text = printed(seeds)
    assert "[0, 1.87]" in text
    assert "95 % intervals over 2 seeds" in text


def test_a_regret_of_0_is_shown_with_the_share_of_positions_that_may_have_one(tmp_path):
    part = config(game="quandary_pig(goal=10)", measure="regret", solvers=["mcts"], budgets=[10], positions=20)
    found = summarised(part, {"mcts": [[0.0] * 20]}, tmp_path)
    (value,) = found.over_budget[0].y
    assert value.high == pytest.approx(2 * (1 - 0.05 ** (1 / 20)))
    text = " ".join(printed(found, 200).split())
    assert "[0, 0.278]" in text
    assert "none of 20 positions had a value above 0, so at most 13.9 % of all have one" in text


def test_who_is_nearest_goes_by_differences_at_the_same_positions(tmp_path):
    """All regrets of the one are 0, most of the other are not: scipy's paired test separates them, though the interval
    of zeros reaches far up."""
    part = config(
        game="quandary_pig(goal=10)", measure="regret", solvers=["mcts", "mcts(c=2)"], budgets=[10], positions=20
    )
    other = [0.0, 0.02, 0.05, 0.1] * 5
    found = summarised(part, {"mcts": [[0.0] * 20], "mcts(c=2)": [other]}, tmp_path)
    assert stats.ttest_1samp(other, 0).pvalue < 0.05
    assert "mcts is nearest" in report.curve_findings(found)[0]


def test_many_budgets_are_printed_below_each_other(tmp_path):
    budgets = [10**k for k in range(8)]
    part = config(solvers=["mccfr_os"], budgets=budgets, repeats=2)
    text = printed(summarised(part, {"mccfr_os": [[0.123456], [0.234567]]}, tmp_path))
    assert all(f" {budget:,}" in text for budget in budgets)
    assert text.count("[0, 0.885]") == len(budgets)
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize(
    ("game", "says"),
    [
        ("kuhn_poker(players=3)", "With more than two players"),
        ("sheriff", "With a general sum"),
        ("kuhn_poker", ""),
        ("quandary_kuhn", ""),
    ],
)
def test_where_nashconv_is_no_distance_to_a_minimax_value_it_is_said(game, says, tmp_path):
    part = config(game=game, solvers=["cfr"], budgets=[10])
    found = summarised(part, {"cfr": [[0.1]]}, tmp_path)
    text = " ".join(printed(found, 300).split())
    assert found.caveat.startswith(says)
    assert bool(found.caveat) == bool(says) == ("no distance to a minimax value" in text)


@pytest.fixture
def regrets(tmp_path):
    """A results file of regrets at three positions, and its part."""
    part = config(game="quandary_pig(goal=6)", measure="regret", solvers=["mcts"], budgets=[5], positions=3)
    rows = measured(part)
    with Store.create(tmp_path / "results.sqlite", "x") as store:
        store.begin_run(1, "processes")
        store.add(rows)
    return tmp_path / "results.sqlite", part


def test_a_regret_that_its_position_contradicts_is_refused(regrets):
    path, part = regrets
    with sqlite3.connect(path) as db:
        db.execute("UPDATE measures SET value = value + 0.125 WHERE measure = 'regret0001'")
    with Store.read(path) as store, pytest.raises(ResultsError, match="at position 1, where its choice costs"):
        convergence.summarise(part, 1, store)


def test_a_file_that_does_not_keep_positions_is_read_as_before(regrets):
    path, part = regrets
    with sqlite3.connect(path) as db:
        db.execute("DROP TABLE positions")
        db.execute("DROP TABLE choices")
    with Store.read(path) as store:
        found = convergence.summarise(part, 1, store)
    assert found is not None
    assert (len(found.places), len(found.choices)) == (0, 0)
    assert len(found.over_budget) == 1
