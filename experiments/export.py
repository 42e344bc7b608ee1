"""A run's plots and tables as files of their own, for papers, spreadsheets and other programs."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine_ext.errors import ResultsError, reason
from experiments import files, plots
from experiments.analysis import ArenaSummary
from experiments.plots import Plot
from experiments.ratings import Estimate

if TYPE_CHECKING:
    from experiments import convergence
    from experiments.report import Results

Row = Sequence[str | int | float | Estimate | None]

TEX_SPECIAL = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


def arena_plots(summary: ArenaSummary) -> dict[str, Plot]:
    """An arena's plots: `main` (ratings or mean utilities), and where there is one to draw `test` (the path of its
    sequential test) and `cross` (what each bot won from each other)."""
    names = [standing.bot for standing in summary.standings]
    if summary.by_wins:
        rated = [standing.elo for standing in summary.standings if standing.elo is not None]
        found = {"main": plots.forest(names, rated, "Elo, 95 % interval", "mean of all bots")}
    else:
        utilities = [standing.utility for standing in summary.standings]
        found = {"main": plots.forest(names, utilities, "mean utility, 95 % interval")}
    if summary.test is not None:
        found["test"] = plots.likelihood(summary.test)
    if summary.rated and len(names) > 2:
        found["cross"] = plots.cross_table(summary)
    return found


def curve_plots(summary: convergence.Summary) -> dict[str, Plot]:
    """A convergence part's plots: over the budget (`main`) and over `seconds`."""
    return {
        "main": plots.curves(summary.over_budget, summary.x_label, summary.y_label),
        "seconds": plots.curves(summary.over_seconds, "seconds", summary.y_label),
    }


def write_figures(results: Results, folder: Path) -> list[Path]:
    """Write every plot as an SVG file and as a PDF file.

    Args:
        folder: made where it does not exist; files of the same names are replaced.

    Returns:
        the files: arena1.svg and .pdf, arena1-cross, arena1-test, curve1 (over the budget), curve1-seconds, ...

    Raises:
        ResultsError: the folder cannot be written to.
    """
    _make(folder)
    parts = {f"arena{arena.number}": arena_plots(arena) for arena in results.arenas}
    parts |= {f"curve{number}": curve_plots(curve) for number, curve in enumerate(results.curves, 1)}
    paths = []
    for part, found in parts.items():
        for name, plot in found.items():
            stem = part if name == "main" else f"{part}-{name}"
            for suffix, content in ((".svg", f"{plot.svg()}\n".encode()), (".pdf", plot.pdf())):
                paths.append(folder / f"{stem}{suffix}")
                files.write_atomically(paths[-1], content)
    return paths


def write_tables(results: Results, folder: Path) -> list[Path]:
    """Write every table as CSV, in full precision, and as LaTeX for the package booktabs.

    Args:
        folder: as for `write_figures`.

    Returns:
        the files: arena1.csv and .tex (a row for each bot, best first), arena1-cross (a row for each ordered pair of
        bots that met), curve1 (a row for each solver and budget), ... In CSV an interval is two more columns, `_low`
        and `_high`, and what is not known is empty.

    Raises:
        ResultsError: the folder cannot be written to.
    """
    _make(folder)
    tables: dict[str, tuple[Sequence[str], list[Row]]] = {}
    for arena in results.arenas:
        tables[f"arena{arena.number}"] = STANDINGS, list(_standings(arena))
        if arena.better is not None:
            tables[f"arena{arena.number}-cross"] = PAIRS, list(_pairs(arena))
    for number, curve in enumerate(results.curves, 1):
        tables[f"curve{number}"] = POINTS, list(_points(curve))
    paths = []
    for name, (columns, rows) in tables.items():
        for suffix, text in ((".csv", _csv(columns, rows)), (".tex", _tex(columns, rows))):
            paths.append(folder / f"{name}{suffix}")
            files.write_atomically(paths[-1], text)
    return paths


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultsError(f"{folder} cannot be made: {reason(error)}") from error


# ---- rows --------------------------------------------------------------------------------------
# A column whose name ends in * holds estimates.

STANDINGS = ("bot", "seats", "win_share*", "mean_utility*", "elo*", "ms_per_decision")
PAIRS = ("bot", "against", "share_won", "probability_stronger")
POINTS = ("solver", "budget", "value*", "seconds")


def _standings(summary: ArenaSummary) -> Iterable[Row]:
    for standing in summary.standings:
        yield (
            standing.bot,
            standing.seats,
            standing.share,
            standing.utility,
            standing.elo,
            standing.ms_per_decision,
        )


def _pairs(summary: ArenaSummary) -> Iterable[Row]:
    assert summary.better is not None
    for i, row in enumerate(summary.standings):
        for j, column in enumerate(summary.standings):
            if i != j and math.isfinite(summary.cross[i, j]):
                yield row.bot, column.bot, float(summary.cross[i, j]), float(summary.better[i, j])


def _points(summary: convergence.Summary) -> Iterable[Row]:
    for curve, timed in zip(summary.over_budget, summary.over_seconds, strict=True):
        for budget, seconds, value in zip(curve.x, timed.x, curve.y, strict=True):
            yield curve.label, None if curve.level else int(budget), value, seconds


# ---- formats -----------------------------------------------------------------------------------


def _csv(columns: Sequence[str], rows: Iterable[Row]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        name
        for column in columns
        for name in ((column[:-1], f"{column[:-1]}_low", f"{column[:-1]}_high") if column[-1] == "*" else (column,))
    )
    for row in rows:
        cells: list[str] = []
        for column, cell in zip(columns, row, strict=True):
            if isinstance(cell, Estimate):
                cells += map(_plain, (cell.value, cell.low, cell.high))
            else:
                cells += [_plain(cell)] * (3 if column[-1] == "*" else 1)
        writer.writerow(cells)
    return out.getvalue()


def _plain(cell: str | float | None) -> str:
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return ""
    return repr(float(cell)) if isinstance(cell, float) else str(cell)  # numpy's own repr names its type


def _tex(columns: Sequence[str], rows: Iterable[Row]) -> str:
    aligned = "".join("l" if column in ("bot", "against", "solver") else "r" for column in columns)
    lines = [rf"\begin{{tabular}}{{{aligned}}}", r"\toprule"]
    lines += [" & ".join(column.rstrip("*").replace("_", " ") for column in columns) + r" \\", r"\midrule"]
    lines += [" & ".join(map(_tex_cell, row)) + r" \\" for row in rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _tex_cell(cell: str | float | Estimate | None) -> str:
    if isinstance(cell, str):
        return rf"\texttt{{{''.join(TEX_SPECIAL.get(character, character) for character in cell)}}}"
    if isinstance(cell, Estimate):
        if not math.isfinite(cell.low) or cell.low == cell.high:
            return _tex_cell(cell.value)
        return f"${_digits(cell.value)}\\;[{_digits(cell.low)}, {_digits(cell.high)}]$"
    if cell is None or not math.isfinite(cell):
        return "--"
    return f"${cell if isinstance(cell, int) else _digits(cell)}$"


def _digits(value: float) -> str:
    """Four significant digits, with powers of ten as people write them."""
    mantissa, _, exponent = f"{value:.4g}".partition("e")
    return rf"{mantissa}\cdot 10^{{{int(exponent)}}}" if exponent else mantissa
