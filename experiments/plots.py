"""The report's plots, as SVG to stand inside a page and as PDF for a paper."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axis import Axis
from matplotlib.backends.backend_pdf import FigureCanvasPdf
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter

from experiments.analysis import ArenaSummary
from experiments.ratings import Estimate
from experiments.sequential import SequentialTest

INK, SOFT, GRID = "#1c2430", "#5d6877", "#e3e7ec"
COLOURS = ("#2563b0", "#d9541e", "#1a8f6b", "#7a4fbf", "#c2255c", "#9a7400", "#0e8fa8", "#55606e")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
STYLE: Any = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
    "svg.hashsalt": "quandary",  # the same plot is the same text
    "svg.fonttype": "path",
    "pdf.fonttype": 42,  # text stays text
}
DIVERGING = LinearSegmentedColormap.from_list("share", ["#c8502a", "#f6f3ee", "#2563b0"])


@dataclass(frozen=True)
class Curve:
    """One solver's points on axes.

    Attributes:
        label: its spec.
        x: budgets, iterations or seconds; above 0.
        y: estimates; 0 cannot stand on a log axis and is drawn as a hollow marker at its foot.
        level: one estimate that belongs to no x; a dotted line across the plot.
    """

    label: str
    x: Sequence[float]
    y: Sequence[Estimate]
    level: bool = False


@dataclass(frozen=True)
class Plot:
    """A drawn figure.

    Attributes:
        figure: of matplotlib.
        title: what it shows, for those who cannot see it.
    """

    figure: Figure
    title: str

    def svg(self) -> str:
        """An <svg> element that scales to its container; the same plot is the same text."""
        out = io.StringIO()
        with mpl.rc_context(STYLE):
            FigureCanvasSVG(self.figure).print_svg(out, metadata={"Date": None, "Creator": "quandary"})
        text = out.getvalue()
        text = text[text.index("<svg") :]
        text = re.sub(r'(<svg[^>]*?) height="[^"]*"', r"\1", text, count=1)
        text = re.sub(r'(<svg[^>]*?) width="[^"]*"', r"\1", text, count=1)
        return text.replace("<svg", f'<svg role="img" aria-label="{self.title}"', 1)

    def pdf(self) -> bytes:
        """A page of the figure's size; the same plot is the same bytes."""
        out = io.BytesIO()
        with mpl.rc_context(STYLE):
            FigureCanvasPdf(self.figure).print_pdf(out, metadata={"CreationDate": None, "Title": self.title})
        return out.getvalue()


def forest(names: Sequence[str], estimates: Sequence[Estimate], label: str, zero: str | None = None) -> Plot:
    """A dot and its interval for each bot, best on top.

    Args:
        names: in order from the top.
        estimates: likewise.
        label: of the axis.
        zero: what a vertical line at 0 stands for; None draws none.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 0.62 + 0.36 * len(names)), layout="constrained")
        axes = figure.subplots()
        for i, estimate in enumerate(estimates):
            y = len(names) - 1 - i
            colour = COLOURS[0]
            if math.isfinite(estimate.low):
                axes.plot([estimate.low, estimate.high], [y, y], color=colour, linewidth=2.4, solid_capstyle="round")
            axes.plot(estimate.value, y, "o", color=colour, markersize=6.5, markeredgecolor="white")
        axes.set_yticks(range(len(names)), list(names)[::-1])
        axes.set_ylim(-0.6, len(names) - 0.4)
        axes.grid(axis="y", visible=False)
        axes.tick_params(axis="y", length=0)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel(label)
        axes.margins(x=0.08)
        if zero is not None:
            axes.axvline(0, color=SOFT, linewidth=0.9, linestyle=(0, (3, 3)))
        return Plot(figure, label)


def cross_table(summary: ArenaSummary) -> Plot:
    """What each bot won from each other with its interval, as a coloured table."""
    names = [standing.bot for standing in summary.standings]
    n = len(names)
    shares = np.full((n, n), np.nan)
    for pair, found in summary.cross.items():
        shares[pair] = found.share.value
    with mpl.rc_context(STYLE | {"axes.grid": False}):
        widest = max(map(len, names))
        figure = Figure(figsize=(min(11.0, 1.2 + 0.075 * widest + 1.02 * n), 0.8 + 0.54 * n), layout="constrained")
        axes = figure.subplots()
        axes.imshow(shares, cmap=DIVERGING, vmin=0, vmax=1, aspect="auto")
        for i in range(n):
            for j in range(n):
                meeting = summary.cross.get((i, j))
                if meeting is None:
                    axes.text(j, i, "–", ha="center", va="center", color=SOFT)
                    continue
                value, low, high = (100 * x for x in (meeting.share.value, meeting.share.low, meeting.share.high))
                colour = "white" if abs(value - 50) > 30 else INK
                axes.text(j, i - 0.03, f"{value:.1f} %", ha="center", va="bottom", color=colour)
                axes.text(j, i + 0.07, f"{low:.1f} to {high:.1f}", ha="center", va="top", color=colour, fontsize=6.5)
        axes.set_xticks(range(n), [_short(name) for name in names])
        axes.set_yticks(range(n), names)
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        axes.set_xticks([i - 0.5 for i in range(1, n)], minor=True)
        axes.set_yticks([i - 0.5 for i in range(1, n)], minor=True)
        axes.grid(which="minor", color="white", linewidth=2)
        axes.tick_params(which="minor", length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        return Plot(figure, "what each bot won from each other")


def likelihood(test: SequentialTest) -> Plot:
    """The path of a sequential test between its bounds."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 2.6), layout="constrained")
        axes = figure.subplots()
        axes.plot(range(test.deals + 1), [0.0, *test.path], color=COLOURS[0], linewidth=1.6)
        for bound, name in zip(test.bounds, ("H0", "H1"), strict=True):
            axes.axhline(bound, color=SOFT, linewidth=0.9, linestyle=(0, (3, 3)))
            axes.annotate(f"{name} accepted", (0, bound), (4, 3 if name == "H1" else -11), textcoords="offset points")
        axes.margins(x=0.02, y=0.16)
        axes.set_xlabel("deals")
        axes.set_ylabel("log likelihood ratio")
        return Plot(figure, "log likelihood ratio against deals")


def _short(name: str, width: int = 14) -> str:
    """A spec broken over lines at its brackets and commas, for a narrow column."""
    if len(name) <= width:
        return name
    return name.replace("(", "(\n", 1).replace(",", ",\n")


def _folded(name: str, width: int = 26) -> str:
    """A spec broken over lines after commas, so that a legend stays narrow."""
    lines = [""]
    for part in re.findall(r"[^,]+,?", name):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("  ")
        lines[-1] += part
    return "\n".join(lines)


def _few_labels(axis: Axis) -> None:
    """Labels of a log axis that do not run into each other: at powers of ten, or, where less than two are in view, at
    a few plain numbers."""
    low, high = axis.get_view_interval()
    axis.set_minor_formatter(NullFormatter())
    powers = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
    if len(powers) >= 2:
        return
    steps = [sign * 10.0**power for power in range(powers.start - 1, powers.stop + 1) for sign in (1, 2, 5)]
    ticks = [step for step in steps if low <= step <= high]
    if len(ticks) < 2:
        ticks = [float(tick) for tick in MaxNLocator(4).tick_values(low, high) if low <= tick <= high]
    axis.set_major_locator(FixedLocator(ticks))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.6g}"))


def curves(found: Sequence[Curve], x_label: str, y_label: str) -> Plot:
    """Curves on log axes, a line and a band of the interval for each solver."""
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.2, 4.4), layout="constrained")
        axes = figure.subplots()
        above = [y.value for curve in found for y in curve.y if y.value > 0]
        floor = min(above, default=1e-3) / 4
        for i, curve in enumerate(found):
            # A second round of colours gets other markers.
            colour, marker = COLOURS[i % len(COLOURS)], MARKERS[(i + 3 * (i // len(COLOURS))) % len(MARKERS)]
            label = _folded(curve.label)
            if curve.level:
                for y in curve.y:
                    axes.axhline(max(y.value, floor), color=colour, linewidth=1.4, linestyle=":", label=label)
                    if y.known:
                        axes.axhspan(max(y.low, floor), max(y.high, floor), color=colour, alpha=0.08, linewidth=0)
                continue
            kept = [(x, y) for x, y in zip(curve.x, curve.y, strict=True) if x > 0]
            xs = [x for x, _ in kept]
            ys = [max(y.value, floor) for _, y in kept]
            dashes = "-" if i < len(COLOURS) else "--"
            axes.plot(xs, ys, color=colour, linewidth=1.6, linestyle=dashes)
            axes.plot([], [], color=colour, marker=marker, markersize=4.5, linestyle=dashes, label=label)
            for zero, face in ((False, colour), (True, "white")):
                at = [(x, y) for x, y, (_, each) in zip(xs, ys, kept, strict=True) if (each.value <= 0) == zero]
                axes.plot(
                    [x for x, _ in at],
                    [y for _, y in at],
                    linestyle="",
                    marker=marker,
                    markersize=4.5,
                    color=colour,
                    markerfacecolor=face,
                )
            known = [y.known for _, y in kept]
            lows, highs = (
                [max(end, floor) for end in ends] for ends in ([y.low for _, y in kept], [y.high for _, y in kept])
            )
            if any(known):
                # What is known of zeros reaches far up, and no line goes through it: it has a bar, but no band.
                banded = [here and y.value > 0 for here, (_, y) in zip(known, kept, strict=True)]
                axes.fill_between(xs, lows, highs, where=banded, color=colour, alpha=0.14, linewidth=0)
                bars = [(x, low, high) for x, low, high, here in zip(xs, lows, highs, known, strict=True) if here]
                axes.vlines(*zip(*bars, strict=True), color=colour, linewidth=1.0, alpha=0.55)
        axes.set_xscale("log")
        axes.set_yscale("log")
        _few_labels(axes.xaxis)
        _few_labels(axes.yaxis)
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        if len(found) > 5:
            figure.legend(loc="outside right upper", fontsize=8)
        else:
            axes.legend(fontsize=8)
        return Plot(figure, f"{y_label} against {x_label}")
