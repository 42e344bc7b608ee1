"""Tables as files: data that say by themselves what they are, and LaTeX that compiles as it is."""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
import sqlite3
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from experiments import analysis, export, gametext, plots, report, run
from experiments.config import ArenaConfig
from experiments.export import Column
from experiments.ratings import Estimate
from experiments.store import Rows, Store
from solvers import specs
from tests.experiments.command import command_line

CONFIG = """
name = "paper_run"
seed = 11
[[arena]]
game = "pig(goal=30)"
bots = ["random", "greedy", "mcts(simulations=5,c=1.25,prior=0.875,solve=false)"]
deals = 12
[[arena]]
game = "kuhn"
bots = ["random", "greedy"]
deals = 20
[[convergence]]
game = "kuhn_poker"
measure = "exploitability"
solvers = ["cfr", "cfr+", { solver = "mccfr_es", budgets = [100] }]
budgets = [1, 10]
baselines = ["sequence_form"]
repeats = 2
[[convergence]]
game = "pentaquest(scenario=one_card)"
measure = "regret"
solvers = ["mcts", { solver = "expectimax", budgets = [2], unit = "depth" }]
budgets = [10]
positions = 3
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A finished run of all kinds of parts."""
    here = tmp_path_factory.mktemp("paper")
    (here / "paper.toml").write_text(CONFIG)
    return run.run(here / "paper.toml", here / "r", workers=1)


@pytest.fixture(scope="module")
def tables(folder) -> Path:
    export.write_tables(report.load(folder), folder / "tables")
    return folder / "tables"


def data(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_command_writes_every_table_in_both_formats(folder, tmp_path, capsys):
    assert command_line(capsys, "report", folder, "--tables", tmp_path / "t")[0] == 0
    names = ["arena1", "arena1-cross", "arena1-pairs", "arena2", "arena2-pairs", "curve1", "curve2"]  # stakes: no wins
    assert sorted(path.name for path in (tmp_path / "t").iterdir()) == sorted(
        [f"{name}{suffix}" for name in names for suffix in (".csv", ".tex")]
        + ["curve2-positions.csv", "curve2-choices.csv"]  # data alone
    )


def test_a_regret_can_be_checked_from_its_position(tables):
    """The state alone, restored by the rules: by the values of the positions behind each action."""
    rules = gametext.load("pentaquest(scenario=one_card)").rules
    exact = specs.make_searcher("value_iteration", rules)
    places = {row["position"]: row for row in data(tables / "curve2-positions.csv")}
    choices = data(tables / "curve2-choices.csv")
    assert len(choices) == 2 * len(places) == 2 * 3
    for row in choices:
        position = rules.restore(json.loads(places[row["position"]]["state"]))
        values = {}
        for action in position.legal_actions():
            after = position.child(action)
            values[position.action_to_string(0, action)] = (
                after.returns() if after.is_terminal() else exact.search(after, seed=0).values
            )[position.current_player()]
        assert float(row["action_value"]) == pytest.approx(values[row["action"]], abs=1e-8)
        assert float(row["value"]) == pytest.approx(max(values.values()) - values[row["action"]], abs=1e-8)
    curve = {row["solver"]: row for row in data(tables / "curve2.csv")}
    for solver, row in curve.items():
        mine = [float(each["value"]) for each in choices if each["solver"] == solver]
        assert float(row["value"]) == pytest.approx(sum(mine) / len(mine))


def test_every_row_of_data_says_where_it_comes_from_and_what_it_counts(tables):
    for path in tables.glob("*.csv"):
        for row in data(path):
            assert (row["experiment"], row["seed"]) == ("paper_run", "11")
            assert row["game"].split("(")[0] in ("quandary_pig", "quandary_kuhn", "kuhn_poker", "pentaquest")
            assert row["measure"]
            assert row["unit"]
    units = {(path.stem, row["measure"]): row["unit"] for path in sorted(tables.glob("*.csv")) for row in data(path)}
    assert units["arena1", "win_share"] == "share of games, 0 to 1"
    assert units["arena1", "mean_utility"] == "win 1, loss -1"
    assert units["arena2", "mean_utility"] == "chips"
    assert units["arena1", "thinking_time"] == "milliseconds a decision"
    assert units["curve1", "exploitability"] == "utility"
    assert units["curve2", "regret"] == "cards kept a decision"


def test_standings_as_data_say_what_the_rows_say(folder, tables):
    """Means against the database's own arithmetic."""
    with sqlite3.connect(folder / "results.sqlite") as store:
        means = store.execute(
            "SELECT bot, COUNT(*), AVG(utility) FROM seats WHERE job_key LIKE 'arena2/%' GROUP BY bot"
        ).fetchall()
    rows = {(row["bot"], row["measure"]): row for row in data(tables / "arena2.csv")}
    assert {bot for bot, _ in rows} == {bot for bot, _, _ in means}
    for bot, seats, utility in means:
        row = rows[bot, "mean_utility"]
        assert int(row["seats"]) == seats
        assert float(row["value"]) == pytest.approx(utility)
        assert float(row["value_low"]) <= float(row["value"]) <= float(row["value_high"])
        assert rows[bot, "thinking_time"]["value_low"] == ""


def test_the_cross_table_counts_the_games_of_each_pair(folder, tables):
    with sqlite3.connect(folder / "results.sqlite") as store:
        won = store.execute(
            """
            SELECT a.bot, b.bot, COUNT(*), AVG((a.utility > b.utility) + 0.5 * (a.utility = b.utility))
            FROM seats a JOIN seats b ON a.job_key = b.job_key AND a.bot != b.bot
            WHERE a.job_key LIKE 'arena1/%' GROUP BY a.bot, b.bot
            """
        ).fetchall()
    rows = {(row["bot"], row["against"]): row for row in data(tables / "arena1-cross.csv")}
    assert len(rows) == len(won) == 6
    for bot, against, games, share in won:
        row, back = rows[bot, against], rows[against, bot]
        assert (int(row["games"]), int(row["deals"])) == (games, 12) == (24, 12)
        assert float(row["value"]) == pytest.approx(share)
        assert float(row["value_low"]) < float(row["value"]) <= float(row["value_high"])
        assert float(row["value_low"]) == pytest.approx(1 - float(back["value_high"]))
        assert float(row["probability_stronger"]) == pytest.approx(1 - float(back["probability_stronger"]))


def test_a_meeting_has_wilsons_interval_over_deals(tmp_path):
    """Bot a wins all eight games against c: by scipy Wilson's interval of 8 of 8. Against b each deal is won twice or
    lost twice, half of them: four deals are then worth n = p (1 - p) / v independent games, with the variance
    v = m / (m - 1) * (sum of squares + games p (1 - p) / m) / games**2 of m = 4 deals: 8 games, squares of
    (2 - 1)**2 each, so v = 4/3 * (4 + 0.5) / 64 = 0.09375 and n = 8/3, with Student's t of 3 degrees."""
    rows = Rows()
    for deal in range(4):
        for rotation in range(2):
            for one, other, utility in (("a", "c", 1.0), ("a", "b", 1.0 if deal % 2 else -1.0)):
                key = f"arena1/{one}~{other}/{deal:07d}/{rotation}"
                rows.games.append((key, "quandary_pig", deal, 1, "00"))
                seated = [(one, utility), (other, -utility)][:: -1 if rotation else 1]
                rows.seats += [(key, seat, bot, won) for seat, (bot, won) in enumerate(seated)]
    config = ArenaConfig(game="quandary_pig", bots=["a", "b", "c"], deals=4)
    with Store.create(tmp_path / "results.sqlite", "x") as store:
        store.begin_run(1, "processes")
        store.add(rows)
        found = analysis.summarise(config, 1, 2, store)
    assert found is not None
    place = {standing.bot: i for i, standing in enumerate(found.standings)}
    swept = found.cross[place["a"], place["c"]]
    wilson = stats.binomtest(8, 8).proportion_ci(method="wilson")
    assert (swept.games, swept.deals, swept.share.value) == (8, 4, 1.0)
    assert (swept.share.low, swept.share.high) == pytest.approx((wilson.low, wilson.high))
    even = found.cross[place["a"], place["b"]]
    n, t = 8 / 3, stats.t.ppf(0.975, 3)
    half = t * math.sqrt(0.25 / n + t * t / (4 * n * n)) / (1 + t * t / n)
    assert (even.share.low, even.share.value, even.share.high) == pytest.approx((0.5 - half, 0.5, 0.5 + half))
    assert (place["b"], place["c"]) not in found.cross
    # The share won less the share lost: 1 and 0. Eight games of as good bots come out so with t = 1 / sqrt(1 / 8).
    ahead = found.pairs[place["a"], place["c"]]
    assert (ahead.value.value, ahead.value.low) == pytest.approx((1.0, 2 * wilson.low - 1))
    assert ahead.p == pytest.approx(2 * stats.norm.sf(math.sqrt(8)))
    assert ahead.p_corrected == pytest.approx(2 * ahead.p)
    assert ahead.apart
    level = found.pairs[min(place["a"], place["b"]), max(place["a"], place["b"])]
    assert (level.value.value, level.p, level.p_corrected, level.deals) == (0.0, 1.0, 1.0, 4)


def alone(folder: Path, utilities: dict[str, list[float]]) -> analysis.ArenaSummary:
    """An arena of a game for one, with these utilities by deal."""
    rows = Rows()
    for bot, earned in utilities.items():
        for deal, utility in enumerate(earned):
            key = f"arena1/{bot}/{deal:07d}/0"
            rows.games.append((key, "pentaquest", deal, 1, "00"))
            rows.seats.append((key, 0, bot, utility))
    with Store.create(folder / "results.sqlite", "x") as store:
        store.begin_run(1, "processes")
        store.add(rows)
        config = ArenaConfig(game="pentaquest", bots=list(utilities), deals=max(map(len, utilities.values())))
        found = analysis.summarise(config, 1, 1, store)
    assert found is not None
    return found


def test_bots_alone_are_compared_deal_by_deal_which_takes_the_luck_of_the_dice_out(tmp_path):
    """Deals that differ by far more than the bots: intervals of means overlap; scipy's paired test separates them.
    The third bot has not played the last deal yet."""
    luck = np.random.default_rng(1).normal(0, 30, size=25)
    noise = np.random.default_rng(2).normal(0, 1, size=(3, 25))
    found = alone(
        tmp_path,
        {"a": list(luck + 2 + noise[0]), "b": list(luck + noise[1]), "c": list(luck[:24] - 0.3 + noise[2][:24])},
    )
    place = {standing.bot: i for i, standing in enumerate(found.standings)}
    pair = found.pairs[place["a"], place["b"]]
    own = stats.ttest_rel(luck + 2 + noise[0], luck + noise[1])
    assert found.standings[place["a"]].utility.low < found.standings[place["b"]].utility.high
    interval = own.confidence_interval(0.95)
    assert (pair.value.low, pair.value.high) == pytest.approx((interval.low, interval.high))
    assert pair.p == pytest.approx(own.pvalue)
    assert pair.apart
    assert found.pairs[min(place["a"], place["c"]), max(place["a"], place["c"])].deals == 24
    assert sorted(p.p for p in found.pairs.values())[0] * 3 == pytest.approx(
        min(p.p_corrected for p in found.pairs.values())
    )


def test_the_report_has_the_intervals_games_and_differences_of_each_pair(folder, tables):
    page = (folder / "report.html").read_text()
    (table,) = re.findall(r"<tbody>((?:(?!<tbody>).)*?)</tbody>", page.split("Who won what from whom")[1], re.DOTALL)[
        :1
    ]
    assert table.count("<tr>") == 3
    assert len(re.findall(r"<td>\d+\.\d % \[\d+\.\d, \d+\.\d\]</td><td>24</td><td>12</td>", table)) == 3
    differences = data(folder / "tables" / "arena1-pairs.csv")
    assert len(differences) == 3
    for row in differences:
        assert f"<td>{float(row['value']):.3f} [".replace("-", "−") in table


def test_curves_have_a_row_for_each_point(tables):
    rows = data(tables / "curve1.csv")
    assert [(row["solver"].split("(")[0], row["budget"], row["budget_unit"]) for row in rows] == [
        ("cfr", "1", "iterations"),
        ("cfr", "10", "iterations"),
        ("cfr+", "1", "iterations"),
        ("cfr+", "10", "iterations"),
        ("mccfr_es", "100", "iterations"),
        ("sequence_form", "", ""),
    ]
    # Uniform play loses 11/24 a game to the best replies; ten alternating iterations: OpenSpiel's solvers.
    assert float(rows[0]["value"]) == pytest.approx(11 / 24)
    assert float(rows[1]["value"]) == pytest.approx(6.870e-2, rel=1e-3)
    assert float(rows[3]["value"]) == pytest.approx(3.269e-2, rel=1e-3)
    assert float(rows[5]["value"]) == pytest.approx(0, abs=1e-9)
    assert {row["budget_unit"] for row in data(tables / "curve2.csv")} == {"simulations", "depth"}


# ---- LaTeX -------------------------------------------------------------------------------------


def known(value: float, low: float, high: float) -> Estimate:
    return Estimate(value, low, high)


@pytest.mark.parametrize(
    ("column", "numbers"),
    [
        (Column("counts", [3, 250, None]), ["$3$", "$250$", "--"]),
        # Half of the usual interval is 0.05, so two digits of it end at the third decimal.
        (
            Column("shares", [known(0.5, 0.45, 0.55), known(0.625, 0.575, 0.675), known(1.0, 0.9, 1.0)]),
            ["$0.500$", "$0.625$", "$1.000$"],
        ),
        (Column("elo", [known(120.4, 96, 144), known(-120.4, -144, -96)]), ["$120$", "$-120$"]),
        (Column("means", [known(-0.001, -4, 4)]), ["$0.0$"]),
        (Column("plain", [0.5, 12.25, math.nan]), ["$0.50$", "$12.25$", "--"]),
        (Column("times", [0.5, 12.25], orders=True), ["$0.500$", "$12.250$"]),
        (
            Column("distances", [0.5, 0.0, 0.00099996], orders=True),
            ["$0.500$", "$0$", "$0.00100$"],
        ),
        (
            Column("small distances", [0.0123, 0.0001383, 2e-12], orders=True),
            ["$0.0123$", r"$1.38\cdot 10^{-4}$", r"$2.00\cdot 10^{-12}$"],
        ),
        (Column("thinking", [7.229, 0.05696, 1234.4], orders=True), ["$7.23$", "$0.0570$", "$1234$"]),
        (
            Column("p", [0.6406, 0.0009, 0.001, 1.0, math.nan], probability=True),
            ["$0.641$", "$<0.001$", "$0.001$", "$1.000$", "--"],
        ),
    ],
)
def test_numbers_of_a_column_have_the_same_decimals(column, numbers):
    assert export._numbers(column) == numbers


def test_intervals_have_the_decimals_of_their_column():
    column = Column("shares", [known(0.5, 0.45, 0.55), known(0.7, 0.7, 0.7), known(0.3, -math.inf, math.inf)])
    assert export._numbers(column, interval=True) == ["$[0.450, 0.550]$", "--", "--"]
    distances = Column("distances", [known(0.02, 0.01, 0.03), known(5.0, 4.0, 6.0)], orders=True)
    assert export._numbers(distances, interval=True) == [
        "$[0.010, 0.030]$",
        "$[4.0, 6.0]$",
    ]
    small = Column("distances", [known(2e-5, 1e-5, 3e-5), known(0.0, 0.0, 0.12), known(0.5, 0.4, 0.6)], orders=True)
    assert export._numbers(small) == [r"$2.0\cdot 10^{-5}$", "$0.000$", "$0.50$"]
    assert export._numbers(small, interval=True) == [r"$[1.0, 3.0]\cdot 10^{-5}$", "$[0.000, 0.120]$", "$[0.40, 0.60]$"]


def test_names_are_text_in_latex():
    assert export._names(Column("bot", ['a_b{50%}^\\&#~$"', None], code=True)) == [
        r"\texttt{a\_b\char123{}50\%\char125{}\char94{}\char92{}\&\#\char126{}\$\char34{}}",
        "--",
    ]
    assert (
        export._escaped("50 % of {a_b}^~\\") == r"50 \% of \{a\_b\}\textasciicircum{}\textasciitilde{}\textbackslash{}"
    )
    assert export._escaped("win 1, loss -1, well-known") == "win 1, loss $-$1, well-known"


def test_long_names_may_be_broken_after_each_parameter():
    form, names, _ = export._names_to_fit(Column("bot", ["mcts(simulations=5,c=1.25)", "a"], code=True))
    assert form.startswith("p{")
    assert names[0] == r"\raggedright \texttt{mcts(\allowbreak simulations=5,\allowbreak c=1.25)}"
    assert export._names_to_fit(Column("bot", ["cfr+(iterations=9)"], code=True))[0] == "l"


def test_what_a_reader_of_the_numbers_must_know_stands_below_them(tables):
    """Of 3 positions without regret at most 1 - 0.05^(1/3) = 63.2 % of all have one (Clopper and Pearson)."""
    regret = (tables / "curve2.tex").read_text()
    assert "none of 3 positions had a value above 0, so at most 63.2 \\% of all have one" in regret
    assert regret.count("multicolumn") == 1
    assert "multicolumn" not in (tables / "arena1.tex").read_text()
    assert r"{@{}r@{}}regret a\\decision\\" in regret


def test_every_row_of_latex_has_a_cell_for_each_column(tables):
    for path in tables.glob("*.tex"):
        form = re.findall(r"^(?:\\\S+ )?\\begin\{tabular\}\{(.+)\}$", path.read_text(), re.MULTILINE)[0]
        form = re.sub(r"p\{[\d.]+em\}", "p", form)
        assert re.fullmatch("[lrp]+", form)
        rows = [line for line in path.read_text().splitlines() if line.endswith(r"\\")]
        assert len(rows) > 1
        assert all(len(re.findall(r"(?<!\\)&", row)) == len(form) - 1 for row in rows)
    pairs = (tables / "arena1-cross.tex").read_text()
    assert len(re.findall(r"\$\[0\.\d+, [01]\.\d+\]\$ & \$24\$ & \$12\$ ", pairs)) == 3


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="there is no LaTeX here")
@pytest.mark.parametrize("preamble", ["", r"\usepackage{booktabs}"])
def test_latex_compiles_as_it_is(preamble, tables, tmp_path):
    """All tables fit the page, and a name may have every sign that means something to LaTeX."""
    names = sorted(path.stem for path in tables.glob("*.tex"))
    odd = export._names(Column("bot", ["".join(export.TEX_CODE) + "<>|'`-- ü"], code=True))[0]
    body = "\n".join(rf"\input{{{tables / name}}}\par" for name in names) + odd
    page = r"\usepackage[margin=2.5cm,a4paper]{geometry}\parindent0pt"
    (tmp_path / "paper.tex").write_text(
        rf"\documentclass{{article}}{preamble}{page}\begin{{document}}{body}\end{{document}}"
    )
    words = "pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Warning" not in done.stdout
    assert "Overfull" not in done.stdout


def test_the_cross_plot_shows_intervals(folder):
    summary = report.load(folder).arenas[0]
    texts = [text.get_text() for text in plots.cross_table(summary).figure.axes[0].texts]
    for meeting in summary.cross.values():
        assert f"{100 * meeting.share.low:.1f} to {100 * meeting.share.high:.1f}" in texts
