"""Convergence: how near solvers come to the exact answer, over budgets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.console import Console

from engine_ext.errors import ConfigError
from experiments.config import ConvergenceConfig
from experiments.executors import Task
from experiments.plots import Curve
from experiments.store import Store


@dataclass(frozen=True)
class Summary:
    """One convergence part's results so far."""

    config: ConvergenceConfig
    complete: bool
    points: int
    expected: int
    x_label: str
    y_label: str
    explanation: str
    over_budget: Sequence[Curve] = field(default_factory=list)
    over_seconds: Sequence[Curve] = field(default_factory=list)
    table: Sequence[dict[str, object]] = field(default_factory=list)


def check(config: ConvergenceConfig, where: str) -> ConvergenceConfig:
    raise ConfigError(f"{where}: this version runs arenas only")


def points_total(config: ConvergenceConfig) -> int:
    return 0


def tasks(config: ConvergenceConfig, number: int, seed: int, done: set[str]) -> Iterator[Task]:
    return iter(())


def summarise(config: ConvergenceConfig, number: int, store: Store) -> Summary | None:
    return None


def print_table(summary: Summary, console: Console) -> None:
    pass
