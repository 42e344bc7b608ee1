"""A comparison as tables in the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from experiments import report, terminal
from experiments.compare.comparison import Comparison
from experiments.compare.rows import Row, at
from experiments.ratings import Estimate

_WIDE = 110  # columns in which intervals stand beside their values
_NARROW = 80  # fewer than these do not hold the table without breaking numbers


def print_comparison(found: Comparison, console: Console) -> None:
    """A comparison as tables."""
    console.print(f"A is {found.a.folder}, B is {found.b.folder}")
    for note in found.notes:
        console.print(f"note: {note}", style="yellow")
    for part, lines in found.changes.items():
        for line in lines:
            console.print(f"{part}: {line}")
    if not found.changes:
        console.print("config, seed, games, code and machine are the same")
    for game in dict.fromkeys(row.game for row in found.rows):
        _print_rows(game, [row for row in found.rows if row.game == game], console)
    if found.speeds:
        console.print(_speed_table(found))
    for name, alone in (("A", found.only_a), ("B", found.only_b)):
        if alone:
            console.print(f"in {name} alone: {'; '.join(alone)}")
    tested = sum(not math.isnan(row.found.p) for row in found.rows)
    console.print(
        f"{found.differ} of {tested} figure{'s' if tested != 1 else ''} with an interval differ"
        f"{'s' if tested == 1 else ''}. Intervals are 95 %, each for itself; p is corrected for the number of figures "
        "(Holm), so that of comparisons of runs that do not differ at most 5 % tell of any difference."
    )


def _print_rows(game: str, rows: Sequence[Row], console: Console) -> None:
    table = Table(title=Text(report.heading(game)), box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    table.add_column("figure", overflow="fold", min_width=16 if console.width >= _NARROW else 8)
    for column in ("A", "B", "B − A", "p\n(Holm)"):
        table.add_column(column, justify="right", no_wrap=console.width >= _NARROW, overflow="fold")
    table.add_column("", overflow="fold", min_width=9)
    for row in rows:
        of = " against ".join((row.of, *row.against)) if len(row.against) == 1 else row.of
        shown = f"{row.measure.replace('_', ' ')} of {terminal.spaced(of)}{at(row.x, row.x_unit)}"
        p = "–" if math.isnan(row.p_corrected) else f"{row.p_corrected:.3f}" if row.p_corrected >= 0.001 else "< 0.001"
        numbers = [_number(row, each) for each in (row.found.a, row.found.b, row.found.value)]
        if console.width < _WIDE:
            numbers = [each.replace(" [", "\n[") for each in numbers]
        table.add_row(Text(shown), *numbers, p, Text(_verdict(row), style="bold" if row.differs else ""))
    console.print(table)


def _number(row: Row, estimate: Estimate) -> str:
    """A figure and its interval, where it has one."""
    if estimate.low == estimate.high:
        estimate = replace(estimate, low=-math.inf, high=math.inf)
    return report.percent_text(estimate) if row.measure == "win_share" else report.estimate_text(estimate)


def _verdict(row: Row) -> str:
    if row.jobs and row.same == row.jobs:
        return f"all {row.jobs:,} alike"
    if math.isnan(row.found.p):
        return "no interval"
    how = f"{row.found.clusters:,} {'pairs' if row.found.paired else 'each'}"
    return f"differs, {how}" if row.differs else how


def _speed_table(found: Comparison) -> Table:
    table = Table(
        title="speeds, which depend on the machine", box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False
    )
    table.add_column("", overflow="fold", min_width=16)
    for column in ("A", "B", "B / A"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("unit", no_wrap=True)
    for speed in found.speeds:
        name = f"{report.heading(speed.game)}: {terminal.spaced(speed.of)}{at(speed.x, speed.x_unit)}"
        table.add_row(Text(name), f"{speed.a:.3g}", f"{speed.b:.3g}", f"{speed.ratio:.2f}", speed.unit)
    return table
