"""Plots as they are read: labels apart from each other, and no word about what is not there."""

from __future__ import annotations

import itertools
import math

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from experiments import export, plots, report, run
from experiments.plots import Curve
from experiments.ratings import Estimate


def labels(axis, renderer):
    """Where the labels of an axis stand, those outside of the view left out."""
    low, high = axis.get_view_interval()
    found = []
    for minor in (False, True):
        for place, label in zip(axis.get_ticklocs(minor=minor), axis.get_ticklabels(minor=minor), strict=False):
            if low <= place <= high and label.get_text():
                found.append(label.get_window_extent(renderer))
    return found


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (2.42e-5, 5.76e-4),  # this and the next two ran into each other as matplotlib has them
        (0.0203, 0.742),
        (2.62e-5, 7.64e-4),
        (1.7e-3, 2.3e-3),
        (1.2e-4, 1.9e-4),
        (9.1e-4, 1.3e-2),
        (2e-3, 9e-3),
        (1e-6, 1e2),
        (1e-9, 1e9),
        (0.5, 0.5),
        (123456, 123499),
        (1e-3, 1.1e-2),
        (0.9, 11),
    ],
)
def test_labels_of_axes_stand_apart(low, high):
    places = [low, (low * high) ** 0.5, high]
    plot = plots.curves([Curve("cfr", places, [Estimate(x, -math.inf, math.inf) for x in places])], "seconds", "y")
    canvas = FigureCanvasAgg(plot.figure)
    canvas.draw()
    axes = plot.figure.axes[0]
    across = sorted(labels(axes.xaxis, canvas.get_renderer()), key=lambda box: box.x0)
    up = sorted(labels(axes.yaxis, canvas.get_renderer()), key=lambda box: box.y0)
    assert len(across) >= 2
    assert len(up) >= 2
    assert all(one.x1 < other.x0 for one, other in itertools.pairwise(across))
    assert all(one.y1 < other.y0 for one, other in itertools.pairwise(up))


@pytest.mark.parametrize(
    ("game", "solver", "zeros"), [("kuhn_poker", "cfr", False), ("pig(goal=6)", "expectimax", True)]
)
def test_hollow_markers_are_explained_where_there_are_some(game, solver, zeros, tmp_path):
    """Expectimax over all of a little pig is exact, CFR after one iteration is not."""
    hidden = game == "kuhn_poker"
    more = "" if hidden else 'unit = "depth"\npositions = 3\n'
    (tmp_path / "x.toml").write_text(
        f'name = "x"\n[[convergence]]\ngame = "{game}"\nmeasure = "{"exploitability" if hidden else "regret"}"\n'
        f'solvers = ["{solver}"]\nbudgets = [{"1" if hidden else "1, 30"}]\n{more}'
    )
    folder = run.run(tmp_path / "x.toml", tmp_path / "r", workers=1)
    curve = report.load(folder).curves[0]
    assert any(y.value == 0 for y in curve.over_budget[0].y) == zeros
    assert ("Hollow markers" in (folder / "report.html").read_text(encoding="utf-8")) == zeros


def test_nothing_is_drawn_of_zeros_alone_nor_of_a_number_alone(tmp_path):
    """Pig to 6 is solved by expectimax at depth 30; a deterministic bot alone has the same utility in every deal."""
    (tmp_path / "x.toml").write_text(
        'name = "x"\n[[arena]]\ngame = "pentaquest(scenario=one_card)"\nbots = ["expectimax"]\ndeals = 1\n'
        '[[convergence]]\ngame = "pig(goal=6)"\nmeasure = "regret"\nunit = "depth"\nsolvers = ["expectimax"]\n'
        "budgets = [30]\npositions = 3\n"
    )
    folder = run.run(tmp_path / "x.toml", tmp_path / "r", workers=1)
    results = report.load(folder)
    assert export.arena_plots(results.arenas[0]) == {}
    assert export.curve_plots(results.curves[0]) == {}
    assert export.write_figures(results, tmp_path / "f") == []
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<svg" not in page
    assert "Regret, utility a decision: 0 at every budget, so there is nothing to draw." in page
