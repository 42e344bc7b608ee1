"""`quandary solve`: one solver on one game, from the start of the game.

Searchers run natively on our games; a game of OpenSpiel's own is extracted into a flat tree
first, which is a native game too. Policy solvers work on the flat tree of any game.
"""

from __future__ import annotations

import math
import time
from dataclasses import asdict, dataclass
from typing import Any

from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from engine_ext.errors import TooLargeError, UnsuitableGameError
from engine_ext.position import Position
from experiments import gametext, ladder
from experiments.gametext import Game
from solvers import specs, tree
from solvers.best_response import expected_values
from solvers.contract import PolicySolver, SearchResult
from solvers.mccfr import WITHOUT_TREE
from solvers.specs import Spec


@dataclass(frozen=True)
class Solution:
    """What `solve --json` prints; None where it does not apply.

    Attributes:
        game: canonical text.
        solver: canonical spec.
        value: utility for each player under the solver's play.
        action: id of the action to play at the start; None where the start is a chance node.
        action_string: its text.
        simulations: playouts or descents of a searcher.
        searched_nodes: nodes a searcher visited or grew.
        tree_nodes: nodes of the extracted tree.
        infosets: information sets of the extracted tree.
        iterations: of a policy solver.
        iterations_per_s: of a policy solver, without the extraction.
        extract_seconds: time the extraction of the tree took.
        seconds: time in all, extraction included.
        exploitability: of the policy found: NashConv divided by the number of players.
    """

    game: str
    solver: str
    value: list[float] | None = None
    action: int | None = None
    action_string: str | None = None
    simulations: int | None = None
    searched_nodes: int | None = None
    tree_nodes: int | None = None
    infosets: int | None = None
    iterations: int | None = None
    iterations_per_s: float | None = None
    extract_seconds: float | None = None
    seconds: float | None = None
    exploitability: float | None = None

    def to_json(self) -> dict[str, Any]:
        """A dict of JSON values: a number that is not finite is null."""
        return {key: _finite(value) for key, value in asdict(self).items()}


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return None if any(_finite(each) is None for each in value) else value
    return value


def solve(text: str, spec_text: str, *, seed: int = 0, progress: bool = False) -> Solution:
    """Solve a game, or search it from its start.

    Args:
        text: the game, ours or OpenSpiel's.
        spec_text: the solver.
        seed: of everything random.
        progress: show a bar on the standard error while a long extraction runs.

    Raises:
        ParameterError: an unknown game or parameter.
        SpecError: an unknown solver or parameter.
        UnsuitableGameError: a property of the game rules the solver out.
        TooLargeError: the game's tree would not fit; carries the estimate.
    """
    began = time.perf_counter()
    ladder.register()
    specs.check_spec(spec_text)
    game = gametext.load(text)
    spec = specs.parse_spec(spec_text, game.rules)
    if spec.solver.kind == "policy":
        return _solve_offline(game, spec, seed, progress, began)
    flat = None
    if game.rules is not None:
        specs.make_searcher(spec, game.rules)
        position = game.rules.initial_position()
    else:
        flat = extract(game, progress)
        position = tree.TreeRules(flat).initial_position()
    result = specs.make_searcher(spec, position.rules).search(position, seed=seed)
    return Solution(
        game=game.text,
        solver=str(spec),
        value=[float(value) for value in result.values],
        **_chosen(position, result.action),
        **_work(result),
        tree_nodes=flat.n_nodes if flat is not None else None,
        infosets=flat.n_infosets if flat is not None else None,
        extract_seconds=flat.seconds if flat is not None else None,
        seconds=time.perf_counter() - began,
    )


def _chosen(position: Position, action: int | None) -> dict[str, Any]:
    if action is None:
        return {}
    return {"action": action, "action_string": position.action_to_string(position.current_player(), action)}


def _work(result: SearchResult) -> dict[str, Any]:
    return {"simulations": result.simulations or None, "searched_nodes": result.nodes}


def extract(game: Game, progress: bool = False) -> Any:
    """The game's flat tree, with a bar on the standard error where it takes long.

    Raises:
        TooLargeError: it would not fit; carries the estimate.
    """
    source = game.rules if game.rules is not None else game.openspiel()
    columns = (TextColumn("extracting"), BarColumn(), TextColumn("{task.completed:,.0f} nodes"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=not progress) as bar:
        task: TaskID | None = None

        def show(nodes: int, estimated: float) -> None:
            nonlocal task
            if task is None:
                task = bar.add_task("", total=estimated)
            bar.update(task, completed=nodes, total=max(estimated, nodes))

        return tree.extract(source, progress=show)


def print_solution(found: Solution, console: Console) -> None:
    """A solution as a table of what applies."""
    table = Table(box=box.SIMPLE_HEAD, show_header=False, pad_edge=False)
    for key, value in found.to_json().items():
        if value is None or key == "action":
            continue
        if isinstance(value, list):
            shown = "  ".join(f"{each:+.9g}" for each in value)
        elif isinstance(value, float):
            shown = f"{value:.6g}"
        else:
            shown = f"{value:,}" if isinstance(value, int) else value
        table.add_row(_LABELS.get(key, key.replace("_", " ")), shown)
    console.print(table)


_LABELS = {
    "value": "value by player",
    "action_string": "action at the start",
    "infosets": "information sets",
    "iterations_per_s": "iterations a second",
    "extract_seconds": "seconds of extraction",
    "seconds": "seconds in all",
}


def _solve_offline(game: Game, spec: Spec, seed: int, progress: bool, began: float) -> Solution:
    spec.solver.check(game.rules if game.rules is not None else game.openspiel())
    try:
        flat = extract(game, progress)
    except (TooLargeError, UnsuitableGameError):
        if game.rules is None or spec.name not in WITHOUT_TREE:
            raise
        return _solve_without_tree(game, spec, seed, began)
    solver = make_offline(spec, flat, seed)
    run_offline(spec, solver)
    policy = solver.average_policy()
    position = tree.TreeRules(flat).initial_position()
    action = None
    if position.is_player_node():
        chances = policy.infoset_probabilities(int(flat.arrays["infoset"][0]))
        action = max(chances, key=lambda each: (chances[each], -each))
    spent = float(getattr(solver, "seconds", 0.0))
    iterations = solver.iterations if "iterations" in spec.parameters else None
    return Solution(
        game=game.text,
        solver=str(spec),
        value=[float(value) for value in expected_values(policy)],
        **_chosen(position, action),
        tree_nodes=flat.n_nodes,
        infosets=flat.n_infosets,
        iterations=iterations,
        iterations_per_s=iterations / spent if iterations and spent > 0 else None,
        extract_seconds=flat.seconds,
        seconds=time.perf_counter() - began,
        exploitability=_exploitability(solver),
    )


def _solve_without_tree(game: Game, spec: Spec, seed: int, began: float) -> Solution:
    """A solver that walks a game too big for a tree: what it played, without exact values."""
    solver = make_offline(spec, game.rules, seed)
    run_offline(spec, solver)
    assert game.rules is not None
    position = game.rules.initial_position()
    action = None
    if position.is_player_node():
        chances = solver.average_policy().action_probabilities(position)
        action = max(chances, key=lambda each: (chances[each], -each))
    spent = float(getattr(solver, "seconds", 0.0))
    return Solution(
        game=game.text,
        solver=str(spec),
        **_chosen(position, action),
        infosets=getattr(solver, "n_infosets", None),
        iterations=solver.iterations,
        iterations_per_s=solver.iterations / spent if spent > 0 else None,
        seconds=time.perf_counter() - began,
    )


def make_offline(spec: Spec, flat: Any, seed: int) -> PolicySolver:
    """The policy solver of a spec on a tree; its seed is `seed` unless the spec gives one."""
    parameters = dict(spec.parameters)
    if "seed" in parameters and "seed" not in spec.given:
        parameters["seed"] = seed
    solver: PolicySolver = spec.solver.make(flat, parameters)
    return solver


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
