"""`quandary solve`: one solver on one game, from the start of the game.

Searchers run natively on our games; a game of OpenSpiel's own is extracted into a flat tree
first, which is a native game too. Policy solvers work on the flat tree of any game.
"""

from __future__ import annotations

import contextlib
import functools
import math
import statistics
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import (
    BarColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from engine_ext.errors import TooLargeError, UnsuitableGameError
from engine_ext.position import Position, Rules
from experiments import checkpoints, gametext, ladder, seeds
from experiments.gametext import Game
from experiments.terminal import Terminal
from solvers import extraction, saved_policies, specs
from solvers.best_response import expected_values
from solvers.contract import PolicySolver, SearchResult, prepare, require_root
from solvers.mccfr import WITHOUT_TREE
from solvers.specs import Spec
from solvers.tree_rules import TreeRules

Check = Callable[[extraction.Survey], None]


@dataclass(frozen=True)
class Solution:
    """What `solve --json` prints; None where it does not apply.

    Attributes:
        game: canonical text.
        solver: canonical spec.
        value: utility for each player: of the game where `exact`; else a searcher's estimate, or what the policy
            found earns against itself.
        exact: whether `value` is that of the game, not an estimate or that of an approximate policy; None where the
            solver has no opinion.
        depth: decisions and chance nodes ahead that a search by depth has looked at in full; None for the others.
        action: id of the action to play at the start; None where the start is a chance node.
        action_string: its text.
        simulations: playouts or descents of a searcher.
        searched_nodes: nodes a searcher visited or grew.
        tree_nodes: nodes of the extracted tree.
        infosets: information sets of the extracted tree.
        iterations: of a policy solver.
        iterations_per_s: of a policy solver, within `seconds`; None where these are too few for the clock to tell.
        setup_seconds: before the solver's clock began: loading and checking the game, the tree, what is laid out once.
        extract_seconds: of those, the extraction of the tree.
        seconds: the solver's own time, which is what its limit in seconds counts; with a checkpoint from the very
            first start.
        evaluation_seconds: after that: value and exploitability of the policy found.
        error_bound: how far `value` may be from the true one, where an exact solver was cut short.
        exploitability: of the policy found: NashConv divided by the number of players; the distance to the game's
            value only in a two-player zero-sum game (else `note` says so).
        policy: the file that the policy found is in, where one was asked for.
        note: what a name such as `strongest` stands for, and why; what was left undone.
    """

    game: str
    solver: str
    value: list[float] | None = None
    exact: bool | None = None
    depth: int | None = None
    action: int | None = None
    action_string: str | None = None
    simulations: int | None = None
    searched_nodes: int | None = None
    tree_nodes: int | None = None
    infosets: int | None = None
    iterations: int | None = None
    iterations_per_s: float | None = None
    setup_seconds: float | None = None
    extract_seconds: float | None = None
    seconds: float | None = None
    evaluation_seconds: float | None = None
    error_bound: float | None = None
    exploitability: float | None = None
    policy: str | None = None
    note: str | None = None

    def to_json(self) -> dict[str, Any]:
        """A dict of JSON values: a number that is not finite is null."""
        return {key: _finite(value) for key, value in asdict(self).items()}


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return None if any(_finite(each) is None for each in value) else value
    return value


def solve(
    text: str,
    spec_text: str,
    *,
    seed: int = 0,
    progress: bool = False,
    checkpoint: Path | None = None,
    policy_file: Path | None = None,
) -> Solution:
    """Solve a game, or search it from its start.

    Args:
        text: the game, ours or OpenSpiel's.
        spec_text: the solver.
        seed: of everything random, in `seeds.RANGE`.
        progress: show a bar on the standard error while a long extraction runs.
        checkpoint: a file to keep a policy solver's run in, and to take it up from where it exists.
        policy_file: where to save the policy that a policy solver finds, for `TabularPolicy.load`, or for
            `KeyedPolicy.load` where it was sampled without a tree.

    Raises:
        ParameterError: an unknown game or parameter, or a seed out of range.
        SavedStateError: the checkpoint is damaged, of another game or solver, or it or the policy cannot be written.
        SpecError: an unknown solver or parameter, or one that finds no policy or keeps no checkpoint, asked for those.
        UnsuitableGameError: a property of the game rules the solver out.
        TooLargeError: the game's tree would not fit; carries the estimate.
    """
    began = time.perf_counter()
    seeds.check(seed)
    ladder.register()
    specs.check_spec(spec_text)
    game = gametext.load(text)
    declared = extraction.declared_rules(source_of(game), began)
    spec = specs.parse_spec(spec_text, declared)
    note = ladder.note(spec_text, declared) or None
    if checkpoint is not None:
        checkpoints.check(spec, checkpoint)
    if policy_file is not None:
        checkpoints.check_policy(spec, policy_file, checkpoint)
    if spec.solver.kind == "policy":
        spec.solver.require(declared, spec.parameters)
        check = _checker(spec, declared)
        found = _solve_offline(game, spec, seed, progress, began, checkpoint, policy_file, check)
        return replace(found, note="; ".join(filter(None, (note, found.note))) or None)
    return _search(game, spec, declared, seed=seed, progress=progress, began=began, note=note)


def _search(
    game: Game, spec: Spec, declared: Rules, *, seed: int, progress: bool, began: float, note: str | None
) -> Solution:
    """One search from the start of a game."""
    # Once before the work, so that nothing is extracted for a searcher that the game rules out.
    searcher = specs.make_searcher(spec, declared)
    flat = None
    if isinstance(declared, extraction.DeclaredRules):
        require_root(searcher, declared, declared.starts_with_chance)
        declared.require_searchable()
        flat = extract(source_of(game), progress, _checker(spec, declared), began)
        rules: Rules = TreeRules(flat)
        searcher = specs.make_searcher(spec, rules)
    else:
        rules = declared
    position = rules.initial_position()
    require_root(searcher, rules, position.is_chance_node())
    with _extracting(progress) as show:
        flat = prepare(searcher, rules, show) or flat
    ready = time.perf_counter()
    with working(searcher, str(spec), progress):
        result = searcher.search(position, seed=seed)
    return Solution(
        game=game.text,
        solver=str(spec),
        note="; ".join(filter(None, (note, result.note))) or None,
        value=_values(result.values),
        exact=None if any(map(math.isnan, result.values)) else result.exact,
        depth=result.depth,
        **_chosen(position, result.action),
        **_work(result),
        tree_nodes=flat.n_nodes if flat is not None else None,
        infosets=flat.n_infosets if flat is not None else None,
        setup_seconds=ready - began,
        extract_seconds=flat.seconds if flat is not None else None,
        seconds=result.seconds,
        error_bound=result.error_bound,
    )


def _checker(spec: Spec, declared: Rules) -> Check | None:
    """What an extraction calls with what its walk meets: it raises where that rules the solver out, so
    that the walk ends there."""
    if not isinstance(declared, extraction.DeclaredRules):
        return None
    rules = declared

    def check(found: extraction.Survey) -> None:
        rules.learn(found)
        spec.solver.require(rules, spec.parameters)
        if spec.solver.kind == "searcher":
            rules.require_searchable()

    return check


def _values(values: Iterable[float]) -> list[float]:
    """Utilities as plain numbers, without the sign that a zero may carry."""
    return [float(value) + 0.0 for value in values]


def _chosen(position: Position, action: int | None) -> dict[str, Any]:
    if action is None:
        return {}
    return {"action": action, "action_string": position.action_to_string(position.current_player(), action)}


def _work(result: SearchResult) -> dict[str, Any]:
    return {"simulations": result.simulations or None, "searched_nodes": result.nodes}


def extract(source: Any, progress: bool = False, check: Check | None = None, began: float | None = None) -> Any:
    """A game's flat tree, with a bar on the standard error where it takes long.

    Args:
        check: as for `extraction.extract`.
        began: likewise.

    Raises:
        TooLargeError: it would not fit; carries the estimate.
        UnsuitableGameError: the game is no tree, or what `check` raises.
    """
    with _extracting(progress) as show:
        return extraction.extract(source, progress=show, check=check, began=began)


@contextlib.contextmanager
def _extracting(progress: bool) -> Iterator[Callable[[int, float], None]]:
    """What an extraction shows its progress with: a bar that appears when it is first called."""
    columns = (TextColumn("extracting"), BarColumn(), TextColumn("{task.completed:,.0f} nodes"), TimeRemainingColumn())
    console = Terminal(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not (progress and console.is_terminal)) as bar:
        task: TaskID | None = None

        def show(nodes: int, estimated: float) -> None:
            nonlocal task
            if task is None:
                task = bar.add_task("", total=estimated)
            bar.update(task, completed=nodes, total=max(estimated, nodes))

        yield show


class _Status(ProgressColumn):
    """What a solver at work says of itself, asked whenever the line is drawn."""

    def __init__(self, solver: Any) -> None:
        super().__init__()
        self._solver = solver

    def render(self, task: Task) -> Text:
        """Its `status`, or the iterations it has done."""
        status = getattr(self._solver, "status", "")
        iterations = getattr(self._solver, "iterations", None)
        return Text(status or (f"{iterations:,} iterations" if iterations else ""))


@contextlib.contextmanager
def working(solver: Any, name: str, progress: bool) -> Iterator[None]:
    """While a solver works for long, a line on the standard error that says how long and how far.

    Args:
        solver: what may have a text `status`, or count `iterations`.
        name: of it, for the line.
        progress: whether to show anything.
    """
    console = Terminal(stderr=True)
    if not (progress and console.is_terminal):
        yield
        return
    columns = (SpinnerColumn(), TextColumn(escape(name)), TimeElapsedColumn(), _Status(solver))
    bar = Progress(*columns, console=console, transient=True, refresh_per_second=4)
    # Quick ones leave no trace: the line appears when there has been something to wait for.
    later = threading.Timer(_SHOW_AFTER_S, bar.start)
    bar.add_task("", total=None)
    later.start()
    try:
        yield
    finally:
        later.cancel()
        later.join()
        bar.stop()


def print_solution(found: Solution, console: Console) -> None:
    """A solution as a table of what applies."""
    table = Table(box=box.SIMPLE_HEAD, show_header=False, pad_edge=False)
    for key, value in found.to_json().items():
        if key == "exact" and value is not None:
            table.add_row("that is", _meaning(found))
        if value is None or key in ("action", "exact", "depth"):
            continue
        if isinstance(value, list):
            shown = "  ".join(f"{each:+.9g}" for each in value)
        elif isinstance(value, float):
            shown = f"{value:.6g}"
        else:
            shown = f"{value:,}" if isinstance(value, int) else value
        table.add_row(_LABELS.get(key, key.replace("_", " ")), Text(shown))
    console.print(table)


def _meaning(found: Solution) -> str:
    """What the value is, in words; docs/solvers.md has the longer ones."""
    value = found.value or []
    if found.exact and (len(value) == 1 or (len(value) == 2 and abs(sum(value)) < 1e-9)):
        return "exact: the value of the game"
    if found.exact:
        return "exact, where each seat does the best for itself (max^n)"
    if found.iterations is not None:
        return "the value of the average policy"
    if found.searched_nodes is None:
        return "the value of the policy, where all play it"
    return "an estimate" if found.depth is None else f"an estimate at depth {found.depth}"


_LABELS = {
    "value": "value by player",
    "action_string": "action at the start",
    "infosets": "information sets",
    "iterations_per_s": "iterations a second",
    "setup_seconds": "seconds of set-up",
    "extract_seconds": "of those, extraction",
    "seconds": "seconds of the solver",
    "evaluation_seconds": "seconds of evaluation",
    "error_bound": "off by at most",
    "policy": "policy kept in",
}
_SHOW_AFTER_S = 1.5
_TELLING_STEPS = 100  # of the clock: of a run that took fewer it does not know the length to a hundredth
_CLOCK_READINGS = 21
_NO_DISTANCE = (
    "with {what} exploitability is NashConv divided by the number of players, what they could gain on average by "
    "deviating alone: no distance to a minimax value"
)


def no_distance(n_players: int, zero_sum: bool) -> str:
    """What exploitability does not say of a game with so many players; empty where it is a distance to what there is
    to be had (a single player's is that to the best that can be earned)."""
    if n_players > 2:
        return _NO_DISTANCE.format(what="more than two players")
    return _NO_DISTANCE.format(what="a general sum") if n_players == 2 and not zero_sum else ""


def _solve_offline(
    game: Game,
    spec: Spec,
    seed: int,
    progress: bool,
    began: float,
    checkpoint: Path | None,
    policy_file: Path | None,
    check: Check | None,
) -> Solution:
    source = tree_or_rules(source_of(game), spec, progress, check, began)
    solver = make_offline(spec, source, seed)
    ready = time.perf_counter()
    with working(solver, str(spec), progress):
        if checkpoint is None:
            run_offline(spec, solver)
        else:
            checkpoints.run(spec, solver, checkpoint)
    done = time.perf_counter()
    spent = float(solver.seconds)
    iterations = solver.iterations if "iterations" in spec.parameters else None
    common: dict[str, Any] = {
        "game": game.text,
        "solver": str(spec),
        "iterations": iterations,
        "iterations_per_s": iterations / spent if iterations and spent >= _TELLING_STEPS * clock_step_s() else None,
        "setup_seconds": ready - began,
        "seconds": spent,
    }
    policy = solver.average_policy()
    if policy_file is not None:
        policy.save(policy_file)
        common["policy"] = str(policy_file)
    if isinstance(source, Rules):
        # Sampled without a tree: nothing exact can be said of the policy.
        position = source.initial_position()
        known = len(policy)
        return Solution(
            **common,
            **_chosen(position, _likeliest(policy.action_probabilities(position) if position.is_player_node() else {})),
            infosets=known,
        )
    at_start = source.arrays["player"][0] >= 0
    chances = policy.infoset_probabilities(int(source.arrays["infoset"][0])) if at_start else {}
    action = _likeliest(chances)
    value, exploitability = _values(expected_values(policy)), _exploitability(solver)
    note = no_distance(source.n_players, source.zero_sum)
    return Solution(
        **common,
        action=action,
        action_string=None if action is None else source.action_names[action],
        value=value,
        exact=getattr(solver, "exact", False),
        tree_nodes=source.n_nodes,
        infosets=source.n_infosets,
        extract_seconds=source.seconds,
        evaluation_seconds=time.perf_counter() - done,
        exploitability=exploitability,
        note=note if note and exploitability is not None else None,
    )


@functools.cache
def clock_step_s() -> float:
    """The least time that the clock of the solvers tells from none: its resolution, or how long it takes to be read."""
    steps = []
    for _ in range(_CLOCK_READINGS):
        before = after = time.perf_counter()
        while after == before:
            after = time.perf_counter()
        steps.append(after - before)
    return statistics.median(steps)


def _likeliest(chances: dict[int, float]) -> int | None:
    return max(chances, key=lambda each: (chances[each], -each)) if chances else None


def source_of(game: Game) -> Any:
    """What a tree is extracted from: our rules, or OpenSpiel's game."""
    return game.rules if game.rules is not None else game.openspiel()


def tree_or_rules(
    source: Any, spec: Spec, progress: bool = False, check: Check | None = None, began: float | None = None
) -> Any:
    """What a policy solver works on: the game's flat tree, or the rules of a game of ours that has none
    (it would not fit, or states come again) where the solver can do without. Arguments are those of `extract`.

    Raises:
        SavedStateError: the spec names a policy's file, which is damaged or of another game.
        TooLargeError: the tree would not fit and the solver needs it; carries the estimate.
        UnsuitableGameError: the game has no tree and the solver needs it.
    """
    if spec.name == saved_policies.NAME:
        kept = str(spec.parameters["file"])
        return saved_policies.source_of(kept, source, lambda: extract(source, progress, check, began))
    try:
        return extract(source, progress, check, began)
    except (TooLargeError, UnsuitableGameError):
        if not isinstance(source, Rules) or spec.name not in WITHOUT_TREE:
            raise
        return source


def make_offline(spec: Spec, source: Any, seed: int) -> Any:
    """The policy solver of a spec on a tree, or on rules where it needs none; the spec's own seed goes before."""
    parameters = dict(spec.parameters)
    if "seed" in parameters and "seed" not in spec.given:
        parameters["seed"] = seed
    return spec.solver.make(source, parameters)


def run_offline(spec: Spec, solver: Any) -> None:
    """Run a policy solver for the iterations or the seconds that its spec asks for; one that has
    neither is done in one step."""
    seconds = spec.parameters.get("seconds")
    if seconds is not None:
        solver.run_for(seconds)
    else:
        solver.run(spec.parameters.get("iterations", 1))


def _exploitability(solver: PolicySolver) -> float | None:
    """None where it is not defined: a player forgets."""
    try:
        return float(solver.exploitability())
    except UnsuitableGameError:
        return None
