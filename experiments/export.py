"""A run's plots and tables as files of their own, for papers, spreadsheets and other programs."""

from __future__ import annotations

import csv
import io
import math
import re
import statistics
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine_ext.errors import ResultsError, reason
from experiments import convergence, files, gametext, plots, ratings
from experiments.analysis import ArenaSummary
from experiments.plots import Plot
from experiments.ratings import Estimate

if TYPE_CHECKING:
    from experiments.report import Results

TEX_SPECIAL = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
# In typewriter every font has these in their places of ASCII; by their names they would be taken from another font,
# and some languages of the package babel make a command of the double quote.
TEX_CODE = TEX_SPECIAL | {character: rf"\char{ord(character)}{{}}" for character in r'\~^{}"'}


def arena_plots(summary: ArenaSummary) -> dict[str, Plot]:
    """An arena's plots, where there is one to draw: `main` (ratings or mean utilities), `test` (the path of its
    sequential test) and `cross` (what each bot won from each other). One number without an interval is not drawn."""
    names = [standing.bot for standing in summary.standings]
    label, zero = ("Elo", "mean of all bots") if summary.by_wins else ("mean utility", None)
    estimates = (
        [standing.elo for standing in summary.standings if standing.elo is not None]
        if summary.by_wins
        else [standing.utility for standing in summary.standings]
    )
    known = any(estimate.known for estimate in estimates)
    found = {}
    if known or len(estimates) > 1:
        found["main"] = plots.forest(names, estimates, f"{label}, 95 % interval" if known else label, zero)
    if summary.test is not None:
        found["test"] = plots.likelihood(summary.test)
    if summary.rated and len(names) > 2:
        found["cross"] = plots.cross_table(summary)
    return found


def curve_plots(summary: convergence.Summary) -> dict[str, Plot]:
    """A convergence part's plots: over the budget (`main`) and over `seconds`; none where all is 0, which has no place
    on axes with orders of magnitude."""
    if summary.all_zero:
        return {}
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
    parts = {arena.name: arena_plots(arena) for arena in results.arenas}
    parts |= {curve.name: curve_plots(curve) for curve in results.curves}
    paths = []
    for part, found in parts.items():
        for name, plot in found.items():
            stem = part if name == "main" else f"{part}-{name}"
            for suffix, content in ((".svg", f"{plot.svg()}\n".encode()), (".pdf", plot.pdf())):
                paths.append(folder / f"{stem}{suffix}")
                files.write_atomically(paths[-1], content)
    return paths


def write_tables(results: Results, folder: Path) -> list[Path]:
    """Write every table as CSV, in full precision, and as LaTeX.

    Args:
        folder: as for `write_figures`.

    Returns:
        the files: arena1.csv and .tex (of each bot, best first), arena1-cross (of each two bots that met), arena1-pairs
        (their differences), curve1 (of each solver and budget), and of regret, as data alone, curve1-positions and
        curve1-choices, ... docs/experiments.md has the columns.

    Raises:
        ResultsError: the folder cannot be written to.
    """
    _make(folder)
    paths = []
    for table in _tables(results):
        texts = {".csv": _csv(table, results)} | ({".tex": _tex(table, results)} if table.columns else {})
        for suffix, text in texts.items():
            paths.append(folder / f"{table.name}{suffix}")
            files.write_atomically(paths[-1], text)
    return paths


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultsError(f"{folder} cannot be made: {reason(error)}") from error


# ---- tables ------------------------------------------------------------------------------------

Cell = str | int | float | None


@dataclass(frozen=True)
class Row:
    """A row of data: one measured number.

    Attributes:
        measure: what was measured.
        unit: what a value of 1 is.
        of: whose it is, a cell for each of the table's `of`.
        value: the number; one without an interval has none.
        more: a cell for each of the table's `more`.
    """

    measure: str
    unit: str
    of: Sequence[Cell]
    value: Estimate
    more: Sequence[Cell] = ()


@dataclass(frozen=True)
class Column:
    """A column as it is typeset.

    Attributes:
        heading: in words.
        cells: all of a kind: names, counts, numbers, or estimates, whose intervals get a column of their own.
        code: whether its names are specs.
        orders: whether its numbers may go through many orders of magnitude, as times and distances do.
        probability: whether they are probabilities of which small ones matter, as p does.
    """

    heading: str
    cells: Sequence[Cell | Estimate]
    code: bool = False
    orders: bool = False
    probability: bool = False


@dataclass(frozen=True)
class Table:
    """A table, as data and as a page shows it.

    Attributes:
        name: of its files.
        game: canonical text.
        of: names of the columns of data before the value.
        more: names of those behind it.
        rows: of data.
        columns: of the page; none where it is data alone.
        notes: what a reader of the page must know, for below it.
    """

    name: str
    game: str
    of: Sequence[str]
    more: Sequence[str]
    rows: Sequence[Row]
    columns: Sequence[Column]
    notes: Sequence[str] = ()


def _tables(results: Results) -> Iterator[Table]:
    for arena in results.arenas:
        yield _standings(arena)
        if arena.rated:
            yield _meetings(arena)
        if arena.pairs:
            yield _pairs(arena)
    for curve in results.curves:
        yield _curve(curve)
        if curve.choices:
            yield _places(curve)
            yield _choices(curve)


def _standings(summary: ArenaSummary) -> Table:
    counts = gametext.load(summary.config.game).utility_unit
    rows = []
    for each in summary.standings:
        measured = [("win_share", ratings.SHARE_UNIT, each.share), ("mean_utility", counts, each.utility)]
        if each.elo is not None:
            measured.append(("elo", "points of Elo, 0 is the mean of the bots", each.elo))
        if math.isfinite(each.ms_per_decision):
            measured.append(("thinking_time", "milliseconds a decision", _exactly(each.ms_per_decision)))
        rows += [Row(measure, unit, (each.bot,), value, (each.seats,)) for measure, unit, value in measured]
    columns = [
        Column("bot", [each.bot for each in summary.standings], code=True),
        Column("seats", [each.seats for each in summary.standings]),
        Column("win share", [each.share for each in summary.standings]),
    ]
    if not summary.by_wins:  # else it is the share on another scale
        columns.append(Column(f"mean utility ({counts})", [each.utility for each in summary.standings]))
    if summary.rated:
        columns.append(Column("Elo", [each.elo for each in summary.standings]))
    columns.append(Column("ms per decision", [each.ms_per_decision for each in summary.standings], orders=True))
    return Table(summary.name, summary.config.game, ("bot",), ("seats",), rows, columns)


def _meetings(summary: ArenaSummary) -> Table:
    """Data: a row for each ordered pair. On the page each pair stands once, the bot that stands higher first."""
    assert summary.better is not None
    names = [standing.bot for standing in summary.standings]
    rows = {
        (i, j): Row(
            "share_won",
            f"{ratings.SHARE_UNIT}, a draw half",
            (names[i], names[j]),
            meeting.share,
            (meeting.games, meeting.deals, float(summary.better[i, j])),
        )
        for (i, j), meeting in sorted(summary.cross.items())
    }
    once = [row for (i, j), row in rows.items() if i < j]
    columns = [
        Column("bot", [row.of[0] for row in once], code=True),
        Column("against", [row.of[1] for row in once], code=True),
        Column("share won", [row.value for row in once]),
        Column("games", [row.more[0] for row in once]),
        Column("deals", [row.more[1] for row in once]),
    ]
    of, more = ("bot", "against"), ("games", "deals", "probability_stronger")
    return Table(f"{summary.name}-cross", summary.config.game, of, more, list(rows.values()), columns)


def _pairs(summary: ArenaSummary) -> Table:
    """How much each bot is ahead of each that stands below it."""
    names = [standing.bot for standing in summary.standings]
    counts = gametext.load(summary.config.game).utility_unit
    measure, unit = (
        ("share_ahead", f"{ratings.SHARE_UNIT}, won less lost")
        if summary.by_wins
        else ("utility_ahead", f"{counts}, difference of means")
    )
    rows = [
        Row(measure, unit, (names[i], names[j]), pair.value, (pair.deals, pair.p, pair.p_corrected))
        for (i, j), pair in summary.pairs.items()
    ]
    columns = [
        Column("bot", [row.of[0] for row in rows], code=True),
        Column("against", [row.of[1] for row in rows], code=True),
        Column(
            "share won less share lost" if summary.by_wins else f"mean utility ahead ({counts})",
            [row.value for row in rows],
        ),
        Column("deals", [row.more[0] for row in rows]),
        Column("p after Holm", [row.more[2] for row in rows], probability=True),
    ]
    of, more = ("bot", "against"), ("deals", "p", "p_corrected")
    return Table(f"{summary.name}-pairs", summary.config.game, of, more, rows, columns)


def _curve(summary: convergence.Summary) -> Table:
    unit = convergence.unit_of(summary.config.measure, gametext.load(summary.config.game).utility_unit)
    rows = []
    for curve, timed, counted in zip(summary.over_budget, summary.over_seconds, summary.units, strict=True):
        for budget, seconds, value in zip(curve.x, timed.x, curve.y, strict=True):
            known = value if value.known else _exactly(value.value)
            whose = curve.label, None if curve.level else int(budget), counted
            rows.append(Row(summary.config.measure, unit, whose, known, (seconds,)))
    units = sorted(set(filter(None, summary.units)))
    counts = gametext.load(summary.config.game).utility_unit
    measured = "regret a decision" if summary.config.measure == "regret" else summary.y_label
    columns = [
        Column("solver", _once([str(row.of[0]) for row in rows]), code=True),
        Column(f"budget ({units[0]})" if len(units) == 1 else "budget", [row.of[1] for row in rows]),
        Column(f"{measured} ({counts})", [row.value for row in rows], orders=True),
        Column("seconds", [row.more[0] for row in rows], orders=True),
    ]
    if len(units) > 1:
        columns.insert(2, Column("counted in", [row.of[2] for row in rows]))
    of = "solver", "budget", "budget_unit"
    notes = [
        note.replace("In brackets: 95 % intervals", "Intervals are of 95 %,")
        for note in [*summary.notes, summary.caveat]
    ]
    return Table(summary.name, summary.config.game, of, ("seconds",), rows, columns, list(filter(None, notes)))


def _once(names: Sequence[str]) -> list[str]:
    """Names in the first of the rows below each other that they belong to."""
    return [name if i == 0 or names[i - 1] != name else "" for i, name in enumerate(names)]


def _places(summary: convergence.Summary) -> Table:
    """Data alone: where regret was measured. The value is that of the best action."""
    unit = gametext.load(summary.config.game).utility_unit
    best = {choice.place: choice for choice in summary.choices}
    rows = [
        Row(
            "best_value", unit, (place.number,), _exactly(best[place.number].best),
            (best[place.number].best_name, place.actions, place.position),
        )
        for place in summary.places
        if place.number in best
    ]  # fmt: skip
    more = "best_action", "actions", "state"
    return Table(f"{summary.name}-positions", summary.config.game, ("position",), more, rows, ())


def _choices(summary: convergence.Summary) -> Table:
    """Data alone: the regret of each choice."""
    unit = convergence.unit_of("regret", gametext.load(summary.config.game).utility_unit)
    rows = [
        Row(
            "regret", unit,
            (each.solver, each.budget if each.unit else None, each.unit, each.repeat, each.place),
            _exactly(each.regret),
            (each.name, each.value, each.best_name, each.best),
        )
        for each in summary.choices
    ]  # fmt: skip
    of = "solver", "budget", "budget_unit", "repeat", "position"
    more = "action", "action_value", "best_action", "best_value"
    return Table(f"{summary.name}-choices", summary.config.game, of, more, rows, ())


def _exactly(value: float) -> Estimate:
    """A number without an interval."""
    return Estimate(value, -math.inf, math.inf)


# ---- CSV ---------------------------------------------------------------------------------------


def _csv(table: Table, results: Results) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    value = "value", "value_low", "value_high"
    writer.writerow(("experiment", "seed", "game", "measure", "unit", *table.of, *value, *table.more))
    for row in table.rows:
        known = row.value.value, row.value.low, row.value.high
        where = results.config.name, results.config.seed, table.game
        writer.writerow(map(_plain, (*where, row.measure, row.unit, *row.of, *known, *row.more)))
    return out.getvalue()


def _plain(cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return ""
    return repr(float(cell)) if isinstance(cell, float) else str(cell)  # numpy's own repr names its type


# ---- LaTeX -------------------------------------------------------------------------------------
# Numbers of a column have the same decimals and stand flush right, so that their points stand below each other; of
# those that go through orders of magnitude each has its own. The lines are those of the package booktabs where a
# document loads it, else LaTeX's own. Long names are broken over lines, and a table that would be wider than the text
# of a plain article has smaller type.

SIGNIFICANT = 4  # digits of a number without an interval
OF_INTERVAL = 2  # digits of half an interval, which say how many decimals a number has
ORDERS, SMALL = 2, 1e-3  # beyond so many orders, or below that, each number has its own digits; below, powers of ten
LINES = r"\begingroup\providecommand\toprule{\hline}\providecommand\midrule{\hline}\providecommand\bottomrule{\hline}%"
NAME_WIDTH = 18  # characters of a name in a line; a parameter may need more
HEAD_WIDTH = 8  # characters that the head of a narrow column may have in a line
BREAKS = ",(/"  # after these a name may go on in the next line
CODE_EM, TEXT_EM, GAP_EM = 0.53, 0.45, 1.2  # widths: a character of typewriter, of the rest, the gap between columns
TEXT_WIDTHS_EM = {"": 34.5, r"\small ": 38.0}  # of an article's 345 pt, in the type of each size


def _tex(table: Table, results: Results) -> str:
    spec, headings, columns, width = "", [], [], 0.0
    for column in table.columns:
        cells = [cell for cell in column.cells if cell is not None]
        names = any(isinstance(cell, str) for cell in cells)
        if names:
            form, typeset, wide = _names_to_fit(column)
        else:
            form, typeset = "r", _numbers(column)
            wide = _width_em(typeset)
        lines = textwrap.wrap(column.heading, max(HEAD_WIDTH, int(wide / TEXT_EM)), break_long_words=False)
        headings.append(_heading(lines, "l" if names else "r"))
        columns.append(typeset)
        spec += form
        width += max(wide, TEXT_EM * max(map(len, lines))) + GAP_EM
        if any(isinstance(cell, Estimate) and cell.known for cell in cells):
            headings.append(r"95\,\% interval")
            columns.append(_numbers(column, interval=True))
            spec += "r"
            width += _width_em(columns[-1]) + GAP_EM
    size = next((size for size, room in TEXT_WIDTHS_EM.items() if width <= room), r"\footnotesize\tabcolsep3pt ")
    lines = [f"% {table.name} of {results.config.name}, seed {results.config.seed}: {table.game}", LINES]
    lines += [rf"{size}\begin{{tabular}}{{{spec}}}", r"\toprule", " & ".join(headings) + r" \\", r"\midrule"]
    lines += [" & ".join(cells) + r" \\" for cells in zip(*columns, strict=True)] + [r"\bottomrule"]
    if table.notes:  # not wider than the columns, which would be pulled apart
        form = rf"@{{}}p{{{0.75 * width:.1f}em}}@{{}}"
        note = _escaped(" ".join(table.notes))
        lines.append(
            rf"\multicolumn{{{len(columns)}}}{{{form}}}{{\rule{{0pt}}{{2.6ex}}\raggedright {note}}}\tabularnewline"
        )
    return "\n".join([*lines, r"\end{tabular}%", r"\endgroup", ""])


def _width_em(typeset: Sequence[str]) -> float:
    """About the width of a column of numbers."""
    plain = [cell.replace(r"\cdot 10^{", "x10").strip("$}") for cell in typeset]
    return TEXT_EM * max(map(len, plain), default=0)


def _heading(lines: Sequence[str], side: str) -> str:
    """A column's head, over several lines where there are some."""
    typeset = r"\\".join(_escaped(line) for line in lines)
    return rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{typeset}\end{{tabular}}" if len(lines) > 1 else typeset


def _names_to_fit(column: Column) -> tuple[str, list[str], float]:
    """The form of a column of names, these, and about its width in em."""
    texts = [str(cell) for cell in column.cells if cell is not None]
    each = CODE_EM if column.code else TEXT_EM
    longest = max(map(len, texts), default=0)
    if longest <= NAME_WIDTH:
        return "l", _names(column), each * longest
    parts = [len(part) for text in texts for part in re.findall(rf"[^{BREAKS} ]*[{BREAKS} ]?", text)]
    width = each * max(NAME_WIDTH, *parts)
    return f"p{{{width:.1f}em}}", _names(column, broken=True), width


def _escaped(text: str, special: Mapping[str, str] = TEX_SPECIAL) -> str:
    typeset = "".join(special.get(character, character) for character in text)
    return re.sub(r"(?<![\w-])-(?=\d)", "$-$", typeset) if special is TEX_SPECIAL else typeset


def _names(column: Column, *, broken: bool = False) -> list[str]:
    form, special = (r"\texttt{%s}", TEX_CODE) if column.code else ("%s", TEX_SPECIAL)
    if broken:
        form = rf"\raggedright {form}"
        special = {mark: rf"{mark}\allowbreak " for mark in BREAKS} | special
    return ["--" if cell is None else form % _escaped(str(cell), special) for cell in column.cells]


def _numbers(column: Column, *, interval: bool = False) -> list[str]:
    """The numbers of a column, or their intervals."""
    if column.probability:
        return [_probability(_number(cell)) for cell in column.cells]
    sizes = [abs(_number(cell)) for cell in column.cells]
    sizes = [size for size in sizes if math.isfinite(size) and size > 0]
    each_its_own = column.orders and bool(sizes) and (max(sizes) >= 10**ORDERS * min(sizes) or min(sizes) < SMALL)
    decimals = _decimals(column, sizes)
    typeset = []
    for cell in column.cells:
        value = _number(cell)
        if not math.isfinite(value) or (interval and not (isinstance(cell, Estimate) and cell.known)):
            typeset.append("--")
            continue
        power, places = _own_digits(cell) if each_its_own else (0, decimals)
        ends = [cell.low, cell.high] if interval and isinstance(cell, Estimate) else [value]
        shown = ", ".join(_fixed(end / 10.0**power, 0 if isinstance(cell, int) else places) for end in ends)
        shown = f"[{shown}]" if interval else shown
        typeset.append(rf"${shown}\cdot 10^{{{power}}}$" if power else f"${shown}$")
    return typeset


def _own_digits(cell: Cell | Estimate) -> tuple[int, int]:
    """The power of ten that is taken out of a number, 0 unless it is small, and the decimals of what is left: what its
    interval gives a meaning to, else three digits."""
    value = abs(_number(cell))
    known = isinstance(cell, Estimate) and cell.known
    largest = max(value, abs(cell.low), abs(cell.high)) if isinstance(cell, Estimate) and cell.known else value
    digits = SIGNIFICANT - 1
    rounded = float(f"{largest:.{digits - 1}e}")
    power = _order(float(f"{value or largest:.{digits - 1}e}")) if 0 < rounded < SMALL else 0
    if known and isinstance(cell, Estimate):
        return power, max(0, OF_INTERVAL - 1 - _order((cell.high - cell.low) / 2 / 10.0**power))
    return power, max(0, digits - 1 - _order(rounded / 10.0**power)) if value else 0


def _order(size: float) -> int:
    """The power of ten of a number above 0."""
    return math.floor(math.log10(size) + 1e-9)  # 0.3 - 0.2 is one of tenths


def _probability(p: float) -> str:
    if math.isnan(p):
        return "--"
    return f"${p:.3f}$" if p >= 0.001 else "$<0.001$"


def _number(cell: Cell | Estimate) -> float:
    """The number in a cell; nan in an empty one."""
    if isinstance(cell, Estimate):
        return cell.value
    return float(cell) if isinstance(cell, (int, float)) else math.nan


def _fixed(value: float, decimals: int) -> str:
    """With so many decimals, and never as -0."""
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def _decimals(column: Column, sizes: Sequence[float]) -> int:
    """Decimals that all numbers of a column get: as many as the usual interval gives a meaning to; of a column that
    goes through orders of magnitude, as many as its smallest number needs."""
    halves = [(cell.high - cell.low) / 2 for cell in column.cells if isinstance(cell, Estimate) and cell.known]
    by_interval = max(0, OF_INTERVAL - 1 - _order(statistics.median(halves))) if halves else 0
    if not column.orders:
        return by_interval if halves else max(0, SIGNIFICANT - 1 - _order(max(sizes, default=1.0)))
    digits = OF_INTERVAL if halves else SIGNIFICANT - 1
    return max(by_interval, digits - 1 - _order(min(sizes, default=1.0)))
