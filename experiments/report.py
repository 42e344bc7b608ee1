"""report.html: one page, self-contained, rebuilt from manifest.json and results.sqlite alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import games
from engine_ext.errors import ResultsError
from experiments import analysis, config, convergence, export, files, gametext, integrity, manifest, ratings, terminal
from experiments.analysis import ArenaSummary, Pair
from experiments.config import ExperimentConfig
from experiments.differences import Sample, compare, holm
from experiments.plots import Plot
from experiments.ratings import Estimate
from experiments.store import Store

# Of the columns of a table beside the solver's, in characters; so much goes into a window of 1,100 px, and on paper.
_PAGE_WIDTH, _PADDING = 82, 2


@dataclass(frozen=True)
class Results:
    """Everything a report shows.

    Attributes:
        folder: the run folder.
        manifest: as read.
        config: the experiment, games and bots in canonical text.
        arenas: summaries of the arenas that have begun.
        curves: summaries of the convergence parts that have begun.
        runs: rows of the table `runs`.
    """

    folder: Path
    manifest: dict[str, Any]
    config: ExperimentConfig
    arenas: list[ArenaSummary]
    curves: list[convergence.Summary]
    runs: list[tuple[int, str, str | None, int, str, str]]

    @property
    def complete(self) -> bool:
        """Whether everything the config asks for has been done."""
        return (
            len(self.arenas) == len(self.config.arena)
            and all(arena.complete for arena in self.arenas)
            and len(self.curves) == len(self.config.convergence)
            and all(curve.complete for curve in self.curves)
        )


def config_of(content: dict[str, Any], folder: Path) -> ExperimentConfig:
    """The config inside a manifest.

    Raises:
        ResultsError: the manifest is damaged, or its hash does not match its content.
    """
    identity = content.get("identity")
    if not isinstance(identity, dict) or "config" not in identity:
        raise ResultsError(f"{folder / 'manifest.json'} is damaged: the key 'identity.config' is missing")
    if config.digest(identity) != content.get("config_hash"):
        raise ResultsError(f"{folder / 'manifest.json'} is damaged: config_hash does not match its content")
    manifest.check(content, folder / "manifest.json")
    return config.parse(identity["config"], str(folder / "manifest.json"))


def load(folder: Path) -> Results:
    """Read a run folder.

    Raises:
        ResultsError: no run folder, damaged, or manifest and results do not belong together.
    """
    content = files.read_json(folder / "manifest.json", "run")
    experiment = config_of(content, folder)
    with Store.read(folder / "results.sqlite") as store:
        if store.config_hash() != content["config_hash"]:
            raise ResultsError(f"{folder}: manifest.json and results.sqlite belong to different experiments")
        integrity.check(experiment, store)
        arenas = []
        for i, each in enumerate(experiment.arena, 1):
            game = gametext.load(each.game, own_only=True)
            assert game.rules is not None
            arenas.append(analysis.summarise(each, i, game.rules.num_players(), store))
        curves = [convergence.summarise(each, i, store) for i, each in enumerate(experiment.convergence, 1)]
        return Results(
            folder=folder,
            manifest=content,
            config=experiment,
            arenas=[summary for summary in arenas if summary is not None],
            curves=[summary for summary in curves if summary is not None],
            runs=store.runs(),
        )


def build(folder: Path) -> Path:
    """Write report.html into a run folder from what the folder holds.

    Raises:
        ResultsError: as `load`.
    """
    path = folder / "report.html"
    files.write_atomically(path, render(load(folder)))
    return path


# ---- the page ----------------------------------------------------------------------------------


def render(results: Results) -> str:
    """The page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(str(resources.files("experiments"))) / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["breakable"] = breakable
    environment.filters["estimate"] = _typeset(estimate_text)
    environment.filters["percent"] = _typeset(percent_text)
    environment.filters["elo"] = _typeset(elo_text)
    environment.filters["ms"] = _typeset(ms_text)
    page = environment.get_template("report.html")
    identity = results.manifest["identity"]
    return page.render(
        r=results,
        title=results.config.title or results.config.name,
        findings=[
            (name, finding.replace(" -", " −").replace("[-", "[−"))
            for name, part in [
                *((arena.name, findings(arena)) for arena in results.arenas),
                *((curve.name, curve_findings(curve)) for curve in results.curves),
            ]
            for finding in part
        ],
        arenas=[_arena_part(arena) for arena in results.arenas],
        curves=[_curve_part(curve) for curve in results.curves],
        games=identity["games"],
        files=identity.get("files", {}),
        config_toml=to_toml(results.config),
        code_changes=manifest.changes(results.manifest),
        built=manifest.now(),
    )


def _typeset(text: Callable[[Any], str]) -> Callable[[Any], str]:
    """The same text with true minus signs."""
    return lambda value: text(value).replace("-", "−")


def _arena_part(summary: ArenaSummary) -> dict[str, Any]:
    rated = "Bradley–Terry ratings on the Elo scale; 0 is the mean of these bots."
    return {
        "s": summary,
        "title": summary.config.title or heading(summary.config.game),
        "caption": rated if summary.by_wins else "Mean utility of each bot on the same deals, by which they stand.",
        "plots": _inline(export.arena_plots(summary)),
        "meetings": list(_meetings(summary)),
        "seats": seats_text(summary).strip(),
        "verdict": test_text(summary).replace("-", "−") if summary.test is not None else None,
    }


def _meetings(summary: ArenaSummary) -> Iterator[dict[str, Any]]:
    """Each two bots that met, or alone played the same deals, the one that stands higher first."""
    for (i, j), pair in summary.pairs.items():
        stronger = None if summary.better is None else _probability(float(summary.better[i, j]))
        yield {
            "bot": summary.standings[i].bot,
            "against": summary.standings[j].bot,
            "m": summary.cross.get((i, j)),
            "pair": pair,
            "p": p_text(pair.p_corrected),
            "stronger": stronger,
        }


def p_text(p: float) -> str:
    """A probability corrected for many tests."""
    if math.isnan(p):
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _curve_part(summary: convergence.Summary) -> dict[str, Any]:
    return {
        "s": summary,
        "title": summary.config.title or f"{heading(summary.config.game)}: {summary.y_label}",
        "plots": _inline(export.curve_plots(summary)),
        "tables": list(_tables_that_fit(summary)),
        "zeros": any(y.value <= 0 for curve in summary.over_budget if not curve.level for y in curve.y),
    }


def _tables_that_fit(summary: convergence.Summary) -> Iterator[dict[str, Any]]:
    """The table of a curve, cut into several where its columns would not fit beside each other, each with the rows
    that have something in it."""
    texts = [(row["label"], list(map(convergence.cell_lines, row["cells"]))) for row in summary.table]
    widths = [
        _PADDING + max(len(line) for line in [f"{budget:,}", *(line for _, cells in texts for line in cells[i])])
        for i, budget in enumerate(summary.budgets)
    ]
    begin = 0
    while begin < len(widths):
        end = begin + 1
        while end < len(widths) and sum(widths[begin : end + 1]) <= _PAGE_WIDTH:
            end += 1
        known = [any(cell is not None for cell in row["cells"][begin:end]) for row in summary.table]
        yield {
            "budgets": summary.budgets[begin:end],
            "rows": [
                {"label": label, "cells": cells[begin:end]}
                for (label, cells), some in zip(texts, known, strict=True)
                if some
            ],
        }
        begin = end


def _inline(found: dict[str, Plot]) -> dict[str, Markup]:
    return {name: Markup(plot.svg()) for name, plot in found.items()}


def findings(summary: ArenaSummary) -> list[str]:
    """What an arena shows, in sentences; says so where the data do not separate the bots."""
    name = summary.config.title or heading(summary.config.game)
    if summary.test is not None:
        return [f"{name}: {test_text(summary)}"]
    best, *rest = summary.standings
    if not rest:
        return [f"{name}: {best.bot} alone, mean utility {estimate_text(best.utility)}."]
    second = rest[0]
    pair = summary.pairs.get((0, 1))
    tested = "" if pair is None else _tested(summary, pair)
    leads = pair is not None and pair.apart and pair.value.value > 0
    verb = "leads" if leads else "is first, not clearly separated from the next,"
    if summary.by_wins and best.elo is not None and second.elo is not None:
        return [
            f"{name}: {best.bot} {verb} with Elo {elo_text(best.elo)} before {second.bot} with "
            f"{elo_text(second.elo)}{tested}."
        ]
    return [
        f"{name}: {best.bot} {verb} with mean utility {estimate_text(best.utility)} before {second.bot} "
        f"with {estimate_text(second.utility)}{tested}."
    ]


def _tested(summary: ArenaSummary, pair: Pair) -> str:
    """How the first of the standings fares beside the next, as the end of a sentence. That is another question than who
    is first, which all games of both answer."""
    if not math.isfinite(pair.p):
        return ""
    count = len(summary.pairs)
    corrected = f" after Holm for {count} pairs" if count > 1 else ""
    found, value = "ahead by", pair.value
    if value.value < 0:
        found, value = "behind by", Estimate(-value.value, -value.high, -value.low)
    where = "in the games that both sat in" if summary.met else "on the same deals"
    of = " of the wins" if summary.by_wins else ""
    return f"; {where} it is {found} {estimate_text(value)}{of}, p {p_text(pair.p_corrected)}{corrected}"


def seats_text(summary: ArenaSummary) -> str:
    """What win shares are measured against where more than two play; nothing elsewhere."""
    n = summary.n_players
    if n < 3 or len(summary.standings) < 2:
        return ""
    text = f" With {n} players an even win share is {100 / n:.1f} %"
    if summary.most < 1:
        text += (
            f", and who wins every game has {100 * summary.most:.1f} %: with fewer bots than seats a bot sits in one "
            f"or in {n - 1} of them, and wins a game once"
        )
    return text + "."


def test_text(summary: ArenaSummary) -> str:
    """What a sequential test has found, in a sentence or two."""
    test, sprt = summary.test, summary.config.sprt
    assert test is not None
    assert sprt is not None
    first, second = summary.config.bots
    verdicts = {
        "H1": f"{first} passes against {second}: {sprt.elo1:g} Elo above it is accepted",
        "H0": f"{first} does not pass against {second}: {sprt.elo0:g} Elo above it is accepted",
        None: f"whether {first} is stronger than {second} is not decided",
    }
    low, high = test.bounds
    return (
        f"{verdicts[test.accepted]} after {test.deals:,} deals of at most {summary.config.deals:,} (sequential test of "
        f"{sprt.elo0:g} against {sprt.elo1:g} Elo, error rates {sprt.alpha:g} and {sprt.beta:g}; log likelihood "
        f"ratio {test.path[-1] if test.path else 0.0:.2f} between {low:.2f} and {high:.2f})."
    )


def curve_findings(summary: convergence.Summary) -> list[str]:
    """Which solver is nearest to the exact answer at the largest budget that all have reached."""
    shared = {str(each) for each in summary.config.solvers if isinstance(each, str)}
    curves = [curve for curve in summary.over_budget if curve.label in shared and not curve.level]
    common = set.intersection(*(set(curve.x) for curve in curves)) if curves else set()
    if not common or len(curves) < 2:
        return []
    last = max(common)
    found = {curve.label: curve.y[list(curve.x).index(last)] for curve in curves}
    nearest = min(found.values(), key=lambda each: each.value)
    first = [label for label, each in found.items() if math.isclose(each.value, nearest.value, rel_tol=1e-9)]
    others = {label: each for label, each in found.items() if label not in first}
    listed = ", ".join(f"{label} {each.value:.3g}" for label, each in others.items())
    place = f"{summary.config.title or heading(summary.config.game)}: at {last:,.0f} {summary.unit}"
    verb = "is nearest"
    # A value without a spread is exact, or of one seed.
    if not _beyond_chance(summary, first[0], nearest, others, int(last)):
        verb = "is first, not clearly separated from the next"
    if len(first) == 1:
        return [f"{place} {first[0]} {verb}, with {nearest.value:.3g} ({listed})."]
    level = f"{', '.join(first[:-1])} and {first[-1]}"
    if not others:
        return [f"{place} {level} are level, with {nearest.value:.3g}."]
    return [f"{place} {level} are level and {verb.removeprefix('is ')}, with {nearest.value:.3g} ({listed})."]


def _beyond_chance(
    summary: convergence.Summary, nearest: str, value: Estimate, others: dict[str, Estimate], budget: int
) -> bool:
    """Whether a solver is nearer to the exact answer than all others: at positions that they share by the differences
    there, with Holm's correction for the number of others; else where no interval meets its own."""
    if all((label, budget) in summary.samples for label in (nearest, *others)):
        of = {label: Sample(summary.samples[label, budget]) for label in (nearest, *others)}
        found = holm([compare(of[nearest], of[label], paired=True).p for label in others])
        return all(p < 1 - ratings.CONFIDENCE for p in found)  # nan, of a single position, is not
    return not any(
        value.high >= each.low and max(value.high - value.low, each.high - each.low) > 0 for each in others.values()
    )


def _probability(value: float) -> str:
    return "above 99.9 %" if value > 0.999 else f"{100 * value:.1f} %"


def heading(text: str) -> str:
    """A game's name for people: `Pentaquest (scenario=duel)`; a game of OpenSpiel keeps its text."""
    name, parameters = gametext.split(text)
    if name not in games.SPECS:
        return text
    inner = ", ".join(f"{key}={value}" for key, value in parameters.items())
    return games.SPECS[name].long_name + (f" ({inner})" if inner else "")


def number_text(value: float, digits: int = 3) -> str:
    """A number without needless zeros; – for nan."""
    if not math.isfinite(value):
        return "–"
    if value != 0 and (abs(value) < 1e-3 or abs(value) >= 1e6):
        return f"{value:.{digits - 1}e}"
    return f"{value:.{digits}f}"


def estimate_text(estimate: Estimate, digits: int = 3) -> str:
    """`0.512 [0.480, 0.544]`."""
    if not math.isfinite(estimate.low):
        return number_text(estimate.value, digits)
    return (
        f"{number_text(estimate.value, digits)} "
        f"[{number_text(estimate.low, digits)}, {number_text(estimate.high, digits)}]"
    )


def percent_text(estimate: Estimate) -> str:
    """`51.2 % [48.0, 54.4]`."""
    if not math.isfinite(estimate.low):
        return f"{100 * estimate.value:.1f} %"
    return f"{100 * estimate.value:.1f} % [{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def elo_text(estimate: Estimate) -> str:
    """`+120 [+96, +144]`."""
    value, low, high = (0.0 if abs(each) < 0.5 else each for each in (estimate.value, estimate.low, estimate.high))
    return f"{value:+.0f} [{low:+.0f}, {high:+.0f}]"


def ms_text(value: float) -> str:
    """Milliseconds with three digits."""
    return "–" if not math.isfinite(value) else f"{value:.3g}"


def to_toml(experiment: ExperimentConfig) -> str:
    """The config as TOML that `quandary run` reads, with everything written out."""
    content = experiment.model_dump(exclude_none=True)
    lines = [f"{key} = {_toml(content[key])}" for key in ("name", "title", "description", "seed")]
    for each in content["convergence"]:  # what a measure has none of
        if each["measure"] == "exploitability":
            del each["unit"]
        if each["measure"] != "regret":
            del each["positions"]
        each["solvers"] = [
            {key: value for key, value in solver.items() if value != ""} if isinstance(solver, dict) else solver
            for solver in each["solvers"]
        ]
    for table in ("arena", "convergence"):
        for each in content[table]:
            lines += ["", f"[[{table}]]", *(f"{key} = {_toml(value)}" for key, value in each.items())]
    return "\n".join(lines) + "\n"


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml(each) for each in value) + "]"
    if isinstance(value, str):
        return files.to_json(value).strip()
    return str(value).lower() if isinstance(value, bool) else str(value)


# ---- the printed tables -------------------------------------------------------------------------


def print_tables(results: Results, console: Console) -> None:
    """The standings as tables in the terminal."""
    sign = "+-" if console.options.ascii_only else "±"
    for summary in results.arenas:
        so_far = "" if summary.complete else f" of {summary.expected} so far"
        name = summary.config.title or heading(summary.config.game)
        table = Table(
            title=Text(f"{summary.name}  {name}: {summary.games} game{'s' if summary.games != 1 else ''}{so_far}"),
            box=box.SIMPLE_HEAD,
            title_justify="left",
            pad_edge=False,
        )
        table.add_column("bot", overflow="fold", min_width=16)
        names = ["Elo"] * summary.rated + ["win share", "mean utility"]
        names += ["seats", "ms/decision"] * (console.width >= 96)
        for column in names:
            table.add_column(column, justify="right", no_wrap=True)
        for standing in summary.standings:
            cells = [_plus_minus(sign, standing.elo, "+.0f", ".0f")] if standing.elo is not None else []
            cells += [_plus_minus(sign, standing.share, ".1f", ".1f", 100, " %")]
            cells += [_plus_minus(sign, standing.utility, ".3f", ".3f")]
            cells += [str(standing.seats), ms_text(standing.ms_per_decision)]
            table.add_row(Text(terminal.spaced(standing.bot)), *cells[: len(names)])
        console.print(table)
        if summary.test is not None:
            console.print(test_text(summary), highlight=False, markup=False)
    for curve in results.curves:
        convergence.print_table(curve, console)
    if results.arenas:
        rated = " Elo is relative to the mean of the bots." if any(each.rated for each in results.arenas) else ""
        console.print(
            f"{sign} is the wider half of a 95 % interval that takes only deals to be independent: Wilson's for win "
            "shares and for utilities that are the same on another scale, else a bootstrap over deals (Student's t "
            f"over fewer than 20).{rated}",
            style="dim",
            markup=False,
        )
        if any(each.met and not each.by_wins for each in results.arenas):
            console.print(
                "Where a game pays more than wins, bots stand by mean utility: who wins less can earn more.",
                style="dim",
            )
        if note := "".join(sorted({seats_text(each) for each in results.arenas})):
            console.print(note.strip(), style="dim", markup=False, highlight=False)


def breakable(text: str) -> Markup:
    """A spec for HTML, in which lines may break after commas and parentheses but not within words."""
    return Markup(str(escape(text)).replace(",", ",<wbr>").replace("(", "(<wbr>"))


def _plus_minus(sign: str, estimate: Estimate, form: str, spread_form: str, scale: float = 1, unit: str = "") -> str:
    """`0.512 ±0.032`: the value and the wider half of its interval."""
    text = f"{scale * estimate.value:{form}}"
    if float(text) == 0:
        text = f"{0.0:{form}}"  # no minus before it
    if math.isfinite(estimate.low):
        spread = scale * max(estimate.high - estimate.value, estimate.value - estimate.low)
        text += f" {sign}{spread:{spread_form}}"
    return text + unit
