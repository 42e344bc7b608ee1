"""Two runs beside each other."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from engine_ext.errors import ResultsError
from experiments import manifest
from experiments.compare.changes import changes
from experiments.compare.reading import Run
from experiments.compare.rows import Row, Speed, arena_rows, at, curve_rows, met, speeds
from experiments.differences import holm


@dataclass(frozen=True)
class Comparison:
    """Two runs beside each other.

    Attributes:
        a: the first.
        b: the second.
        changes: by part (config, seed, games, files, code, machine) in what they differ, in words.
        notes: what a reader should know.
        rows: figures that both have.
        speeds: likewise.
        only_a: what the first has alone: figures of bots and solvers.
        only_b: likewise.
    """

    a: Run
    b: Run
    changes: dict[str, list[str]]
    notes: list[str]
    rows: list[Row]
    speeds: list[Speed]
    only_a: list[str]
    only_b: list[str]

    @property
    def differ(self) -> int:
        """Rows that differ."""
        return sum(row.differs for row in self.rows)

    def to_json(self) -> dict[str, Any]:
        """What `--json` prints."""
        return {
            "a": str(self.a.folder),
            "b": str(self.b.folder),
            "changes": self.changes,
            "notes": self.notes,
            "rows": [row.to_json() for row in self.rows],
            "speeds": [asdict(speed) for speed in self.speeds],
            "only_a": self.only_a,
            "only_b": self.only_b,
            "differ": self.differ,
        }


def compare_runs(one: Path, other: Path) -> Comparison:
    """Two runs beside each other.

    Args:
        one: the folder of the first run.
        other: that of the second.

    Raises:
        ResultsError: one is no run folder, damaged or being written, or they have nothing in common.
    """
    a, b = Run(one), Run(other)
    found = [*arena_rows(a, b), *curve_rows(a, b)]
    if not found:
        raise ResultsError(
            f"{one} and {other} share nothing that could be compared: no bot met the same rivals on the same game in "
            f"both, and no solver has the same measure at the same budget ({one} has {_summary(a)}; {other} has "
            f"{_summary(b)})"
        )
    corrected = holm([row.found.p for row in found])
    rows = [replace(row, p_corrected=p) for row, p in zip(found, corrected, strict=True)]
    figures_a, figures_b = _figures(a), _figures(b)
    return Comparison(
        a=a,
        b=b,
        changes=changes(a, b),
        notes=[*_notes(a, "A"), *_notes(b, "B"), *_field_notes(a, b)],
        rows=rows,
        speeds=list(speeds(a, b)),
        only_a=[text for key, text in figures_a.items() if key not in figures_b],
        only_b=[text for key, text in figures_b.items() if key not in figures_a],
    )


def _summary(run: Run) -> str:
    texts = [each.text for each in run.arenas.values()] + [point.text for point in run.points.values()]
    return ", ".join(dict.fromkeys(texts)) or "no result yet"


def _figures(run: Run) -> dict[Hashable, str]:
    """What a run has figures of, with words for it."""
    found: dict[Hashable, str] = {}
    for game, each in run.arenas.items():
        for bot in sorted({bot for lineup in each.lineups for bot in lineup}):
            found[game, bot] = f"{bot}, {each.text}"
    for place, point in run.points.items():
        _, measure, solver, unit, budget = place
        found[place] = f"{measure} of {solver}{at(budget if unit else None, unit)}, {point.text}"
    return found


def _notes(run: Run, name: str) -> Iterator[str]:
    where = f"{name} ({run.folder})"
    if not run.results.complete:
        yield f"{where} is not finished: what it has so far is compared"
    for change in manifest.changes(run.manifest):
        yield f"the code of {where} changed within the run, {change}"
    if run.manifest.get("timed_bots"):
        yield f"{where} has bots that stop by the clock: {', '.join(run.manifest['timed_bots'])}"
    if any(each.sprt is not None for each in run.config.arena):
        yield f"{where} has a sequential test: figures of an arena that it ended lean a little towards its verdict"


def _field_notes(a: Run, b: Run) -> Iterator[str]:
    for game in a.arenas:
        if game in b.arenas:
            one, other = a.arenas[game], b.arenas[game]
            for bot, lineups in met(one, other):
                more = {lineup for lineup in one.lineups ^ other.lineups if bot in lineup}
                if more:
                    rivals = ", ".join(sorted({rival for lineup in lineups for rival in lineup} - {bot}))
                    yield f"{bot} at {one.text} is compared in the games that it had in both runs, against {rivals}"
