"""Convergence: how near solvers come to the exact answer, over budgets and over seconds.

Four measures. *Exploitability*: a policy solver's average policy, after each number of
iterations. *Regret*: what a searcher's choice loses against the best action, by exact values, at
positions that arise in play. *Induced*: the exploitability of the policy that a searcher induces
when it searches, each from scratch, at every information set of the game. *Self-play*: that of the
average strategies of one long search from the start of the game.
"""

from __future__ import annotations

import functools
import json
import math
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from engine_ext.errors import ConfigError, QuandaryError, ResultsError
from engine_ext.position import Position, Rules
from engine_ext.rng import Stream
from experiments import gametext, ladder, ratings, solve, terminal, tryout
from experiments.config import ConvergenceConfig
from experiments.inputs import HERE, Inputs
from experiments.plots import Curve
from experiments.ratings import Estimate
from experiments.seeds import keyed_seed
from experiments.store import Rows, Store
from solvers import extraction, induced, specs
from solvers.best_response import exploitability
from solvers.specs import Spec
from solvers.tree_rules import TreeRules

_SAME = 1e-9  # actions whose exact values differ by less are as good as each other
_LABEL_WIDTH = 18  # of a terminal, for the names of solvers
_ROUNDING = 1e-13  # what sums of float64 make of 0, at utilities of the size of 1
Y_LABELS = {
    "exploitability": "exploitability",
    "regret": "regret, utility a decision",
    "induced": "exploitability of the induced policy",
    "self_play": "exploitability of the average strategies",
}
EXPLANATIONS = {
    "exploitability": "Exploitability (NashConv divided by the number of players) of each solver's average policy, "
    "exact on the whole tree. Seconds are those of the iterations alone.",
    "regret": "What the searcher's choice loses against the best action by exact values, on average over positions "
    "where the choice matters, from games between the game's rule of thumb and chance. Seconds are those of a search.",
    "induced": "Exploitability of the policy that a searcher induces: one search from scratch at every information "
    "set of the game, then an exact best response against all of them. Seconds are those of one search.",
    "self_play": "Exploitability of the average strategies of one search from the start of the game, which is how "
    "searches that learn by self-play are judged in the literature. Seconds are those of the search.",
}


def unit_of(measure: str, utility: str) -> str:
    """What 1 of a measure is, where `utility` is what a utility of 1 is."""
    return f"{utility} a decision" if measure == "regret" else utility


# ---- checking --------------------------------------------------------------------------------


def check(config: ConvergenceConfig, where: str, inputs: Inputs = HERE) -> ConvergenceConfig:
    """The same part with game and solvers in canonical text.

    Args:
        where: file and place, for messages.
        inputs: where the files are that solvers name.

    Raises:
        ConfigError: naming the key: an unknown game or solver, one that does not fit the measure,
            or a game that rules it out.
    """
    try:
        game = gametext.load(config.game)
    except QuandaryError as error:
        raise ConfigError(f"{where}.game: {error}") from error
    if config.measure == "regret" and (game.rules is None or game.rules.hidden_information):
        raise ConfigError(
            f"{where}.game: regret needs one of our games with perfect information, and {game.text} is none; "
            "where information is hidden, measure = 'induced' asks the same of a whole policy"
        )
    # A config that a report has written out in full names the defaults, too, so these pass.
    defaults = {key: each.default for key, each in ConvergenceConfig.model_fields.items()}
    if config.measure == "exploitability" and config.unit != defaults["unit"]:
        raise ConfigError(f"{where}.unit: the budgets of measure 'exploitability' are iterations; leave the unit out")
    if config.measure != "regret" and config.positions != defaults["positions"]:
        raise ConfigError(f"{where}.positions: measure {config.measure!r} has none, only 'regret' has; leave it out")
    lines = lines_of(config)
    texts: list[str] = []
    for place, line in zip(_places(config), lines, strict=True):
        try:
            texts.append(_check_solver(config, game, line, inputs))
        except QuandaryError as error:
            raise ConfigError(f"{where}.{place}: {error}") from error
    solvers = [
        text if isinstance(each, str) else each.model_copy(update={"solver": text})
        for text, each in zip(texts, config.solvers, strict=False)
    ]
    given = [*(each if isinstance(each, str) else each.solver for each in config.solvers), *config.baselines]
    labels = [*map(str, solvers), *texts[len(solvers) :]]
    for k, (place, written, label) in enumerate(zip(_places(config), given, labels, strict=True)):
        if label in labels[:k]:
            raise ConfigError(f"{where}.{place}: {written} is {label}, which is listed already")
    changes = {"game": game.text, "solvers": solvers, "baselines": texts[len(solvers) :]}
    return ConvergenceConfig.model_validate({**config.model_dump(), **changes})


@dataclass(frozen=True)
class Line:
    """What becomes one curve, or one level of a baseline.

    Attributes:
        solver: its spec.
        unit: the parameter that the budgets set; None for a baseline.
        budgets: ascending; the one budget 0 for a baseline.
        label: in tables and plots.
    """

    solver: str
    unit: str | None
    budgets: list[int]
    label: str


def specs_of(config: ConvergenceConfig) -> list[Spec]:
    """The solvers and baselines of a part in canonical text."""
    return [specs.parse_spec(line.solver) for line in lines_of(config)]


def lines_of(config: ConvergenceConfig) -> list[Line]:
    """All curves of a part, then its baselines: what `Point.solver` counts."""
    unit = "iterations" if config.measure == "exploitability" else config.unit
    found = []
    for each in config.solvers:
        if isinstance(each, str):
            found.append(Line(each, unit, config.budgets, each))
        else:
            found.append(Line(each.solver, each.unit or unit, each.budgets, str(each)))
    return found + [Line(each, None, [0], each) for each in config.baselines]


def _places(config: ConvergenceConfig) -> list[str]:
    """Where the lines stand in the config, for messages."""
    return [f"solvers[{k}]" for k in range(1, len(config.solvers) + 1)] + [
        f"baselines[{k}]" for k in range(1, len(config.baselines) + 1)
    ]


def _check_solver(config: ConvergenceConfig, game: gametext.Game, line: Line, inputs: Inputs) -> str:
    ladder.register()
    declared = extraction.declared_rules(solve.source_of(game))
    spec = specs.parse_spec(line.solver, declared)
    offline = spec.solver.kind == "policy"
    if offline != (config.measure == "exploitability"):
        wanted = "a policy solver" if config.measure == "exploitability" else "a searcher"
        raise ConfigError(f"measure {config.measure!r} needs {wanted}, and {spec.name} is none")
    if offline and line.unit not in ("iterations", None):
        raise ConfigError(f"{spec.name}: the budget of a policy solver is its iterations; leave the unit out")
    if line.unit is None:
        if "seconds" in spec.given:
            raise ConfigError(f"{spec.name}: a baseline with a limit in seconds would not repeat itself; leave it out")
    else:
        if line.unit not in spec.parameters:
            raise ConfigError(f"{spec.name} has no parameter {line.unit!r} for the budgets to set")
        for key in (line.unit, "seconds"):
            if key in spec.given:
                raise ConfigError(f"{spec.name}: {key} is what the budgets set; leave it out")
    budgeted = [with_budget(str(spec), line.unit, budget) for budget in line.budgets]
    spec.solver.require(declared, inputs.located(spec).parameters)
    if not offline:
        rules = game.rules if config.measure == "regret" else _tree_rules(game.text)
        searcher = specs.make_searcher(budgeted[0], rules)
        if config.measure == "self_play":
            induced.check_self_play(searcher, spec.name)
    return str(spec)


def try_out(config: ConvergenceConfig, seed: int, where: str, inputs: Inputs = HERE) -> None:
    """Begin what the part needs, for some seconds at most: the exact values or the tree, and every solver.

    Args:
        config: in canonical text.
        seed: of the experiment.
        where: file and place, for messages.
        inputs: where the files are that solvers name.

    Raises:
        ConfigError: naming the key: the game is too large to be solved exactly, or refuses a solver; a file is of
            another game.
    """
    whole = (
        functools.partial(exact_cases, config.game, config.positions, seed)
        if config.measure == "regret"
        else functools.partial(_tree_rules, config.game)
    )
    try:
        ready = tryout.begin(whole, tryout.WHOLE_S)
    except QuandaryError as error:
        raise ConfigError(f"{where}.game: {config.measure} is measured exactly, and {error}") from error
    for place, line in zip(_places(config), lines_of(config), strict=True):
        spec = inputs.located(with_budget(line.solver, line.unit, line.budgets[0]))
        try:
            if spec.files():  # of which game a policy is shows when the whole tree is there
                solve.make_offline(spec, _tree_rules(config.game).tree, 0)
            if config.measure != "regret" and not ready:
                continue
            if config.measure == "exploitability":
                make = functools.partial(solve.make_offline, spec, _tree_rules(config.game).tree, 0)
                tryout.begin(make, tryout.SEARCH_S)
                continue
            own = gametext.load(config.game).rules
            rules: Rules = own if config.measure == "regret" and own is not None else _tree_rules(config.game)
            tryout.search(specs.make_searcher(spec, rules), rules)
        except QuandaryError as error:
            raise ConfigError(f"{where}.{place}: {error}") from error


def with_budget(text: str, unit: str | None, budget: int) -> Spec:
    """A solver's spec with its budget put in; as it stands where there is no unit.

    Raises:
        SpecError: the budget is out of the parameter's range.
    """
    if unit is None:
        return specs.parse_spec(text)
    _, raw = specs.split_spec(text)
    inner = text[text.index("(") + 1 : text.rindex(")")] + "," if raw else ""
    name = text.partition("(")[0]
    return specs.parse_spec(f"{name}({inner}{unit}={budget})")


@functools.lru_cache(maxsize=4)
def _tree_rules(game: str) -> Any:
    """The flat tree of a game as a native game, made once in a process."""
    return TreeRules(solve.extract(solve.source_of(gametext.load(game))))


# ---- measuring -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Point:
    """One point of a curve.

    Attributes:
        key: its job key.
        solver: number among the part's curves and baselines.
        budget: iterations, or the searcher's unit; 0 for a baseline.
        repeat: which of the seeds.
    """

    key: str
    solver: int
    budget: int
    repeat: int


def points(config: ConvergenceConfig, number: int) -> Iterator[Point]:
    """All points of a part, solver by solver."""
    for i, line in enumerate(lines_of(config)):
        for repeat in range(config.repeats):
            for budget in line.budgets:
                yield Point(f"{prefix(number)}{line.label}/{repeat:04d}/{budget:012d}", i, budget, repeat)


def prefix(number: int) -> str:
    """What the keys of a part's points begin with."""
    return f"curve{number}/"


def points_total(config: ConvergenceConfig) -> int:
    """Points of a part in all."""
    return config.repeats * sum(len(line.budgets) for line in lines_of(config))


@dataclass(frozen=True)
class CurveTask:
    """Points of one solver: all budgets of a policy solver, which runs through them, or one of a searcher.

    Attributes:
        config: the part, in canonical text.
        seed: of the experiment.
        points: ascending by budget.
        inputs: where the files are that solvers name.
    """

    config: ConvergenceConfig
    seed: int
    points: tuple[Point, ...]
    inputs: Inputs = HERE

    def run(self) -> Rows:
        """Measure the points."""
        measure = {"exploitability": self._exploitability, "regret": self._regret}
        return measure.get(self.config.measure, self._policy_of_search)()

    def _seed(self, point: Point) -> int:
        """One seed for all budgets of a curve, so that a curve is one run getting longer."""
        return keyed_seed(
            self.seed, "curve", self.config.game, lines_of(self.config)[point.solver].solver, point.repeat
        )

    def _exploitability(self) -> Rows:
        rows = Rows()
        first = self.points[0]
        spec = self._spec(self.points[-1])
        solver: Any = solve.make_offline(spec, _tree_rules(self.config.game).tree, self._seed(first))
        for point in self.points:
            if point.budget:
                solver.run(point.budget - solver.iterations)
            else:
                solve.run_offline(spec, solver)
            rows.measures.append((point.key, "exploitability", _unrounded(solver.exploitability())))
            rows.timings.append((point.key, -1, point.budget, float(solver.seconds)))
        return rows

    def _policy_of_search(self) -> Rows:
        rows = Rows()
        rules = _tree_rules(self.config.game)
        for point in self.points:
            searcher = specs.make_searcher(self._spec(point), rules)
            if self.config.measure == "self_play":
                policy, seconds = induced.self_play_policy(rules, searcher, seed=self._seed(point))
            else:
                started = time.perf_counter()
                policy = induced.search_policy(rules, searcher, seed=self._seed(point))
                seconds = (time.perf_counter() - started) / rules.tree.n_infosets
            rows.measures.append((point.key, "exploitability", _unrounded(exploitability(policy))))
            rows.timings.append((point.key, -1, 1, seconds))
        return rows

    def _regret(self) -> Rows:
        rows = Rows()
        rules = gametext.load(self.config.game, own_only=True).rules
        assert rules is not None
        cases = exact_cases(self.config.game, self.config.positions, self.seed)
        part = self.points[0].key.partition("/")[0]
        rows.positions = [
            (part, number, _json(position.to_dict()), _json(_named(position, values)))
            for number, (position, values) in enumerate(cases)
        ]
        for point in self.points:
            searcher = specs.make_searcher(self._spec(point), rules)
            seconds: list[float] = []
            for number, (position, values) in enumerate(cases):
                if point.budget:
                    searcher.reset()
                result = searcher.search(position, seed=keyed_seed(self._seed(point), number))
                regret = max(values.values()) - values[result.action] if result.action is not None else math.nan
                rows.measures.append((point.key, regret_name(number), _unrounded(regret)))
                if result.action is not None:
                    rows.choices.append((point.key, number, int(result.action)))
                seconds.append(result.seconds)
            # A baseline that solves the game does so once: its longest search tells what an answer costs.
            spent = sum(seconds) / len(seconds) if point.budget else max(seconds)
            rows.timings.append((point.key, -1, len(cases), spent))
        return rows

    def _spec(self, point: Point) -> Spec:
        line = lines_of(self.config)[point.solver]
        return self.inputs.located(with_budget(line.solver, line.unit, point.budget))


def _named(position: Position, values: Mapping[int, float]) -> list[dict[str, Any]]:
    """Every action of a position with its exact value, for who wants to check a regret."""
    player = position.current_player()
    return [
        {"action": int(action), "name": position.action_to_string(player, action), "value": float(value)}
        for action, value in sorted(values.items())
    ]


def _json(content: Any) -> str:
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False)


def regret_name(number: int) -> str:
    """What the regret at a position is called among a point's measures."""
    return f"regret{number:04d}"


def _unrounded(distance: float) -> float:
    """A distance from the exact answer, which is never below 0; 0 where it is no more than rounding."""
    return float(distance) if not distance <= _ROUNDING else 0.0


def tasks(
    config: ConvergenceConfig, number: int, seed: int, done: set[str], inputs: Inputs = HERE
) -> Iterator[CurveTask]:
    """The part's unfinished points, cheap budgets first."""
    left = [point for point in points(config, number) if point.key not in done]
    if config.measure == "exploitability":
        curves: dict[tuple[int, int], list[Point]] = defaultdict(list)
        for point in left:
            curves[point.solver, point.repeat].append(point)
        for curve in curves.values():
            yield CurveTask(config, seed, tuple(curve), inputs)
        return
    for point in sorted(left, key=lambda each: (each.budget, each.solver, each.repeat)):
        yield CurveTask(config, seed, (point,), inputs)


@functools.lru_cache(maxsize=4)
def exact_cases(game: str, count: int, seed: int) -> list[tuple[Position, dict[int, float]]]:
    """Positions that arise in play and where it matters what is played, with the exact utility of
    every action for the seat to move.

    Args:
        game: canonical text of one of our games, of perfect information.
        count: positions.
        seed: of the experiment; the positions depend on it and the game alone.
    """
    rules = gametext.load(game, own_only=True).rules
    assert rules is not None
    exact = specs.make_searcher("value_iteration", rules)
    exact.search(rules.initial_position(), seed=0)

    def values(position: Position) -> dict[int, float]:
        return {each.action: each.value for each in exact.search(position, seed=0).actions}

    def matters(position: Position) -> bool:
        found = values(position).values()
        return max(found) - min(found) > _SAME

    chosen = sample_positions(rules, count, keyed_seed(seed, "positions", game), matters)
    return [(position, values(position)) for position in chosen]


def sample_positions(
    rules: Rules, count: int, seed: int, wanted: Callable[[Position], bool] = lambda _: True
) -> list[Position]:
    """Different decisions from games in which each decision is the rule of thumb's or random, a coin deciding.

    Args:
        rules: the game.
        count: at most so many; fewer where 50 games for each bring no more.
        seed: of games and choice.
        wanted: whether a decision may be among them.
    """
    stream = Stream(seed)
    found: list[Position] = []
    for _ in range(50 * count):
        if len(found) == count:
            break
        met = []
        position = rules.initial_position()
        while not position.is_terminal():
            if position.is_chance_node():
                position.run_chance(stream)
                continue
            met.append(position.clone())
            suggested = position.suggest(stream) if stream.below(2) else None
            position.apply_action(position.random_action(stream) if suggested is None else suggested)
        if met:
            candidate = met[stream.below(len(met))]
            if candidate not in found and wanted(candidate):
                found.append(candidate)
    return found


# ---- summing up ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Summary:
    """One convergence part's results so far.

    Attributes:
        config: the part, in canonical text.
        number: among the parts of its kind, from 1.
        complete: whether every point has been measured.
        points: measured so far.
        expected: points in all.
        unit: what the part's common budgets count.
        x_label: what any of its budgets count.
        y_label: what is measured.
        explanation: a sentence on the measure.
        over_budget: a curve for each solver.
        over_seconds: likewise.
        units: for each solver what its budgets count; None for a baseline.
        budgets: all that any curve has, ascending; 0 stands for the baselines' and comes last.
        table: a row for each solver, {"label", "cells"}, a cell for each of these: an estimate, or None.
        resampled: what the intervals are over, "12 positions" or "3 seeds"; empty where there are none.
        positions: found for `regret`, where that is fewer than were asked for; else 0.
        notes: on intervals, for below the table.
        samples: of `regret` by solver and budget, the values at each position.
        places: of `regret`, the positions by number, each with the exact values of its actions.
        choices: of `regret`, what was chosen at each.
        caveat: what the measure does not say of this game; empty where there is nothing.
    """

    config: ConvergenceConfig
    number: int
    complete: bool
    points: int
    expected: int
    unit: str
    x_label: str
    y_label: str
    explanation: str
    over_budget: Sequence[Curve] = field(default_factory=list)
    over_seconds: Sequence[Curve] = field(default_factory=list)
    units: Sequence[str | None] = field(default_factory=list)
    budgets: Sequence[int] = field(default_factory=list)
    table: Sequence[dict[str, Any]] = field(default_factory=list)
    resampled: str = ""
    positions: int = 0
    notes: Sequence[str] = ()
    samples: Mapping[tuple[str, int], Mapping[Hashable, Sequence[float]]] = field(default_factory=dict)
    caveat: str = ""
    places: Sequence[Place] = ()
    choices: Sequence[Choice] = ()

    @property
    def name(self) -> str:
        """`curve1`: in the report, of its files and in the keys of its rows."""
        return prefix(self.number).rstrip("/")

    @property
    def all_zero(self) -> bool:
        """Whether every value is exactly 0."""
        return all(y.value == 0 for curve in self.over_budget for y in curve.y)


@dataclass(frozen=True)
class Place:
    """A position at which regret was measured.

    Attributes:
        number: from 0.
        position: as JSON, what `Rules.restore` takes.
        actions: as JSON, a list of {"action", "name", "value"}; the value is exact, for the seat to move.
    """

    number: int
    position: str
    actions: str


@dataclass(frozen=True)
class Choice:
    """What a solver chose at a position.

    Attributes:
        solver: label of its curve.
        unit: what its budgets count; None for a baseline.
        budget: 0 for a baseline.
        repeat: which of the seeds.
        place: number of the position.
        action: chosen.
        name: of the action.
        value: exact, of the action.
        best_name: of an action than which none is better.
        best: its value.
        regret: as it was measured.
    """

    solver: str
    unit: str | None
    budget: int
    repeat: int
    place: int
    action: int
    name: str
    value: float
    best_name: str
    best: float
    regret: float


def _choices(config: ConvergenceConfig, number: int, store: Store) -> tuple[list[Place], list[Choice]]:
    """Positions of a part, and what was chosen there; empty where the file is of a version that did not keep them.

    Raises:
        ResultsError: a regret that its position contradicts.
    """
    part = prefix(number).rstrip("/")
    places = [Place(place, state, values) for key, place, state, values in store.positions() if key == part]
    actions = {place.number: {each["action"]: each for each in json.loads(place.actions)} for place in places}
    points_by_key = {point.key: point for point in points(config, number)}
    lines = lines_of(config)
    measured = {(key, name): value for key, name, value in store.measures()}
    found = []
    for key, place, action in store.choices():
        point = points_by_key.get(key)
        if point is None:
            continue
        regret = measured.get((key, regret_name(place)), math.nan)
        known = actions.get(place, {})
        if action not in known:
            raise ResultsError(f"{store.path} is damaged: {key!r} chose action {action} where there is none")
        best = max(known.values(), key=lambda each: each["value"])
        chosen = known[action]
        if not math.isclose(best["value"] - chosen["value"], regret, rel_tol=1e-9, abs_tol=1e-9):
            raise ResultsError(
                f"{store.path} is damaged: {key!r} has a regret of {regret:g} at position {place}, where its choice "
                f"costs {best['value'] - chosen['value']:g}"
            )
        line = lines[point.solver]
        found.append(
            Choice(
                line.label, line.unit, point.budget, point.repeat, place, action, chosen["name"], chosen["value"],
                best["name"], best["value"], regret,
            )
        )  # fmt: skip
    return places, found


def summarise(config: ConvergenceConfig, number: int, store: Store) -> Summary | None:
    """The curves of one part; None before its first point."""
    begins = prefix(number)
    values: dict[str, list[float]] = defaultdict(list)
    for key, _, value in store.measures():
        if key.startswith(begins):
            values[key].append(value)
    if not values:
        return None
    spent = {key: seconds for key, _, _, seconds in store.timings() if key.startswith(begins)}
    grouped: dict[tuple[int, int], list[str]] = defaultdict(list)
    for point in points(config, number):
        if point.key in values:
            grouped[point.solver, point.budget].append(point.key)
    lines = lines_of(config)
    budgets = sorted({budget for line in lines for budget in line.budgets}, key=lambda budget: (budget == 0, budget))
    over_budget, over_seconds, table = [], [], []
    samples: dict[tuple[str, int], Mapping[Hashable, Sequence[float]]] = {}
    found = max(map(len, values.values()))
    most, bound = most_of(config.measure, config.game), bound_of(config.measure, config.game)
    for i, line in enumerate(lines):
        x, times, y = [], [], []
        for budget in line.budgets:
            keys = grouped.get((i, budget))
            if keys:
                x.append(float(budget))
                times.append(sum(spent[key] for key in keys) / len(keys))
                repeats = [values[key] for key in keys]
                y.append(_estimate(repeats, most, bound))
                if config.measure == "regret":
                    samples[line.label, budget] = dict(enumerate(map(list, zip(*repeats, strict=True))))
        over_budget.append(Curve(line.label, x, y, level=line.unit is None))
        over_seconds.append(Curve(line.label, times, y))
        by_budget = dict(zip(x, y, strict=True))
        table.append({"label": line.label, "cells": [by_budget.get(b) for b in budgets]})
    game = gametext.load(config.game)
    caveat = "" if config.measure == "regret" else solve.no_distance(game.n_players, game.zero_sum)
    resampled = _resampled(config.repeats, found)
    places, choices = _choices(config, number, store)
    return Summary(
        config=config,
        number=number,
        complete=len(values) == points_total(config),
        points=len(values),
        expected=points_total(config),
        unit="iterations" if config.measure == "exploitability" else config.unit,
        x_label=" or ".join(dict.fromkeys(line.unit for line in lines if line.unit)),
        y_label=Y_LABELS[config.measure],
        explanation=EXPLANATIONS[config.measure],
        over_budget=over_budget,
        over_seconds=over_seconds,
        units=[line.unit for line in lines],
        budgets=budgets,
        table=table,
        resampled=resampled,
        positions=found if config.measure == "regret" and found < config.positions else 0,
        notes=_notes(over_budget, resampled, found, most),
        samples=samples,
        places=places,
        choices=choices,
        caveat=f"{caveat[0].upper()}{caveat[1:]}." if caveat else "",
    )


def most_of(measure: str, game: str) -> float:
    """The largest distance from the exact answer that a sample of positions can hide; inf where there is none.

    Positions of `regret` are a sample of those that arise in play. Seeds that all come to a distance of 0 are
    taken as they are: most solvers that do are exact, and use no chance.
    """
    rules = gametext.load(game).rules if measure == "regret" else None
    if rules is None:
        return math.inf
    low, high = gametext.utility_range(rules)
    return high - low


def bound_of(measure: str, game: str) -> float:
    """What no distance from the exact answer exceeds: the range of utilities, and for exploitability in a game whose
    utilities add up to 0 the largest of them, which is more than the mean of what best responses get."""
    loaded = gametext.load(game)
    if loaded.rules is not None:
        low, high = gametext.utility_range(loaded.rules)
    else:
        low, high = loaded.openspiel().min_utility(), loaded.openspiel().max_utility()
    return high if measure != "regret" and loaded.zero_sum else high - low


def _notes(curves: Sequence[Curve], resampled: str, found: int, most: float) -> list[str]:
    """What a reader of the table's intervals must know."""
    shown = [y for curve in curves for y in curve.y]
    notes = []
    if any(y.known for y in shown):
        notes.append(f"In brackets: 95 % intervals over {resampled}.")
    if found > 1 and math.isfinite(most) and any(y.known and y.value == 0 for y in shown):
        share = ratings.rare(found)
        notes.append(
            f"A mean of 0: none of {found} positions had a value above 0, so at most {100 * share:.1f} % of all "
            f"have one (95 %). By the range of utilities, {most:g}, the mean is then at most {most * share:.3g}, the "
            "end of the interval."
        )
    return notes


def _resampled(repeats: int, values: int) -> str:
    """What `_estimate` resamples, of so many repeats with so many values each."""
    if values > 1:
        return f"{values} positions"
    return f"{repeats} seeds" if repeats > 1 else ""


def _estimate(repeats: list[list[float]], most: float, bound: float) -> Estimate:
    """The mean, with an interval over repeats, or over positions where there is one repeat of many."""
    clusters = [[value] for value in repeats[0]] if len(repeats) == 1 else repeats
    if len(clusters) == 1:
        return Estimate(repeats[0][0], repeats[0][0], repeats[0][0])
    if len(repeats) > 1 and len(repeats[0]) > 1:
        # By position: its repeats share their difficulty.
        clusters = [list(column) for column in zip(*repeats, strict=True)]
    return ratings.clustered_distance(clusters, most, bound)


def print_table(summary: Summary, console: Console) -> None:
    """A part's values as tables in the terminal: one of the solvers with the common budgets, with the
    baselines, and one for each other set of budgets."""
    config = summary.config
    so_far = "" if summary.complete else f", {summary.points} of {summary.expected} points so far"
    if summary.positions:
        so_far = f", at the {summary.positions} of {config.positions} positions that were found{so_far}"
    title = f"{summary.name}  {config.title or config.game}: {summary.y_label} over "
    apart = {str(each): each for each in config.solvers if not isinstance(each, str)}
    together = [row for row in summary.table if row["label"] not in apart]
    budgets = [*config.budgets, 0] if config.baselines else config.budgets
    _print_rows(f"{title}{summary.unit}{so_far}", together, budgets, summary, console)
    for own, rows in groupby(
        (row for row in summary.table if row["label"] in apart), key=lambda row: apart[row["label"]].budgets
    ):
        _print_rows(None, list(rows), own, summary, console)
    for note in filter(None, [*summary.notes, summary.caveat]):
        console.print(note, style="dim", markup=False, highlight=False)


def _print_rows(
    title: str | None, rows: list[dict[str, Any]], budgets: list[int], summary: Summary, console: Console
) -> None:
    """As many columns in a table as the terminal has room for; the others in tables below."""
    texts = {
        row["label"]: {b: cell_lines(cell) for b, cell in zip(summary.budgets, row["cells"], strict=True)}
        for row in rows
    }
    heads = {budget: f"{budget:,}" if budget else "as it is" for budget in budgets}
    widths = {
        budget: max(
            len(line) for line in [heads[budget], *(each for cells in texts.values() for each in cells[budget])]
        )
        for budget in budgets
    }
    left = list(budgets)
    while left:
        count, room = 1, console.width - _LABEL_WIDTH - widths[left[0]]
        while count < len(left) and (room := room - widths[left[count]] - 2) >= 0:
            count += 1
        shown = Table(
            title=None if title is None else Text(title), box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False
        )
        shown.add_column("solver", overflow="fold", min_width=12)
        for budget in left[:count]:
            shown.add_column(heads[budget], justify="right", no_wrap=True)
        for label, cells in texts.items():
            shown.add_row(Text(terminal.spaced(label)), *(Text("\n".join(cells[budget])) for budget in left[:count]))
        console.print(shown)
        left, title = left[count:], None


def cell_lines(estimate: Estimate | None) -> list[str]:
    """A cell of a table: the value, and its interval below it where there is one.

    >>> cell_lines(Estimate(0.661, 0.1441, 1.178)), cell_lines(Estimate(0.5, 0.5, 0.5)), cell_lines(None)
    (['0.661', '[0.144, 1.18]'], ['0.5'], ['–'])
    """
    if estimate is None:
        return ["–"]
    if not estimate.known:
        return [f"{estimate.value:.3g}"]
    return [f"{estimate.value:.3g}", f"[{estimate.low:.3g}, {estimate.high:.3g}]"]
