"""The page of a report: its parts can be told apart, and its tables are as wide as the page."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from experiments import convergence, export, report, run
from experiments.config import ExperimentConfig
from experiments.plots import Curve
from experiments.ratings import Estimate
from tests.experiments.command import command_line

CONFIG = """
name = "page"
seed = 5
[[arena]]
game = "pig(goal=6)"
bots = ["random", "greedy", "mcts(simulations=3,c=1.25,prior=0.875,solve=false)"]
deals = 3
[[arena]]
game = "pig(goal=6)"
bots = ["random", "greedy"]
deals = 2
[[convergence]]
game = "quandary_kuhn"
measure = "exploitability"
solvers = ["cfr", "mccfr_es", { solver = "mccfr_os", budgets = [4, 40, 400, 4000] }]
budgets = [1, 2, 3, 5, 10, 20, 30, 50, 100]
repeats = 3
"""
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A finished run with parts of the same game, none of which has a title."""
    here = tmp_path_factory.mktemp("page")
    (here / "page.toml").write_text(CONFIG)
    return run.run(here / "page.toml", here / "r", workers=1)


def test_parts_and_findings_have_the_names_of_the_exported_files(folder, tmp_path, capsys):
    page = (folder / "report.html").read_text(encoding="utf-8")
    parts = re.findall(r'<section id="(\w+)">\s*<h2><span class="name">(\w+)</span>', page)
    assert parts == [("arena1", "arena1"), ("arena2", "arena2"), ("curve1", "curve1")]
    findings = page.split('<ul class="findings">')[1].split("</ul>")[0]
    found = re.findall(r'<li><a class="name" href="#(\w+)">(\w+)</a>', findings)
    assert [name for name, _ in found] == [name for _, name in found] == ["arena1", "arena2", "curve1"]
    files = export.write_tables(report.load(folder), tmp_path) + export.write_figures(report.load(folder), tmp_path)
    assert {path.stem.partition("-")[0] for path in files} == {"arena1", "arena2", "curve1"}
    printed = command_line(capsys, "report", folder)[1]
    assert all(re.search(rf"^{name}  ", printed, re.MULTILINE) for name in ("arena1", "arena2", "curve1"))


def test_a_part_keeps_its_number_where_one_before_it_has_not_begun():
    """As the keys of its rows have it, of which files and headings are."""
    part = convergence.ConvergenceConfig(game="kuhn_poker", measure="exploitability", solvers=["cfr"], budgets=[1])
    assert convergence.Summary(part, 2, True, 1, 1, "iterations", "iterations", "y", "").name == "curve2"


def test_a_wide_table_of_a_curve_is_cut_and_keeps_every_cell():
    """Thirteen budgets with intervals for one solver, and budgets of its own for another."""
    part = convergence.ConvergenceConfig(game="kuhn_poker", measure="exploitability", solvers=["cfr"], budgets=[1])
    budgets = [10**i for i in range(9)]
    cell = Estimate(0.123, 0.0123, 0.234)
    table = [{"label": "a", "cells": [cell] * 9}, {"label": "b", "cells": [*[None] * 8, cell]}]
    lines = [Curve("a", budgets, [cell] * 9), Curve("b", budgets[-1:], [cell])]
    summary = convergence.Summary(
        part, 1, True, 9, 9, "iterations", "iterations", "y", "", lines, budgets=budgets, table=table
    )
    found = list(report._tables_that_fit(summary))
    assert len(found) > 1
    assert [budget for one in found for budget in one["budgets"]] == budgets
    assert [[row["label"] for row in one["rows"]] for one in found] == [["a"]] * (len(found) - 1) + [["a", "b"]]
    assert sum(len(row["cells"]) for one in found for row in one["rows"] if row["label"] == "a") == 9


@pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium here")
@pytest.mark.parametrize("paper", [False, True])
def test_tables_fit_into_a_window_of_1100_pixels_and_on_a4(paper, folder, tmp_path):
    """A4 less margins of 1.5 cm is 18 cm, which is 680 px of CSS; there the rules for paper hold."""
    page = (folder / "report.html").read_text(encoding="utf-8")
    if paper:
        page = page.replace("@media print {", "@media all {").replace(".scroll { overflow: visible; }", "")
    measure = "[...document.querySelectorAll('.scroll')].map(e => `${e.scrollWidth}/${e.clientWidth}`).join(' ')"
    (tmp_path / "p.html").write_text(page.replace("</body>", f"<script>document.title = {measure}</script></body>"))
    window = "680,20000" if paper else "1100,900"
    words = ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'c'}", "--dump-dom")
    done = subprocess.run(
        [str(CHROMIUM), *words, f"--window-size={window}", (tmp_path / "p.html").as_uri()],
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    widths = [tuple(map(int, pair.split("/"))) for pair in re.findall(r"\d+/\d+", done.stdout.split("</title>")[0])]
    assert len(widths) == page.count('<div class="scroll">') > 6
    assert all(wide <= room for wide, room in widths), widths


def test_the_config_written_out_has_no_keys_that_its_measure_ignores(folder):
    text = report.to_toml(report.load(folder).config)
    assert "unit" not in text
    assert "positions" not in text
    assert ExperimentConfig.model_validate(tomllib.loads(text)) == report.load(folder).config


def test_resuming_a_run_whose_results_are_gone_says_so(folder, tmp_path, capsys):
    (tmp_path / "page.toml").write_text(CONFIG)
    shutil.copytree(folder, tmp_path / "r")
    (tmp_path / "r" / "results.sqlite").unlink()
    run.run(tmp_path / "page.toml", tmp_path / "r", workers=1, resume=True)
    assert "results.sqlite is missing, though this run had begun" in capsys.readouterr().err
