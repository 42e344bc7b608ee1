"""Value iteration: exact values of games whose positions can come again, and of all others.

This file holds the searcher: what it asks of a solution, what it keeps, and what it reports. The whole game below a
position is solved in value_solution.pyx, which says how, over the states and steps of state_graph.pyx.

Sources: Shapley 1953; Bertsekas, "Dynamic Programming and Optimal Control", for the sweeps; Tarjan 1972 for the order
of components; Neller and Presser 2004, who solve pig component by component; Haddad and Monmege, "Interval iteration
algorithm for MDPs and IMDPs", Theoretical Computer Science 735 (2018), for the bounds.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from engine_ext.errors import SpecError
from engine_ext.position import Position, Rules
from engine_ext.rng import Stream
from engine_ext.seeds import check_seed
from solvers.contract import ActionStats, Limit, Parameter, SearchResult, SolverSpec, require_open
from solvers.state_table import require_room
from solvers.value_solution import Solution

_ROOM_SHARE = 0.1  # of a limit in seconds: what may go into a look at how many states there are
_LINE = 64  # most steps of a principal variation


class ValueIterationSearcher:
    """Solves the whole game below the first position asked for, then answers from what it solved.

    A run that a limit cuts short is not kept: the next search begins anew.

    Raises:
        SpecError: an unknown parameter.
        LimitError: a limit out of range.
    """

    def __init__(self, **parameters: Any) -> None:
        unknown = set(parameters) - set(PARAMETERS)
        if unknown:
            raise SpecError(f"value_iteration has no parameter {min(unknown)!r}; it has: {', '.join(PARAMETERS)}")
        self.parameters = {key: parameter.default for key, parameter in PARAMETERS.items()} | parameters
        self.limit = None if self.parameters["seconds"] is None else Limit(seconds=self.parameters["seconds"])
        self.solution: Solution | None = None  # of a whole game
        self._solved = ""  # the identity of its rules
        self._at_work: Solution | None = None

    def reset(self) -> None:
        """Nothing to forget: what was solved stays true."""

    @property
    def status(self) -> str:
        """How far the search at work has come; empty where none is."""
        at_work = self._at_work
        return "" if at_work is None else at_work.status

    def search(self, position: Position, *, seed: int = 0, limit: Limit | None = None) -> SearchResult:
        """The exact value and best action; nothing is random, and the seed does not matter.

        Under a limit that comes first: bounds that hold, in `actions` and as `error_bound`, the value in their
        middle, and a `note` that it is not solved.

        Args:
            position: where to search from.
            seed: ignored.
            limit: overrides the searcher's own; its `seconds`, and its `nodes` as states listed and as states updated.
                Simulations and depth do not apply.

        Raises:
            TooLargeError: the game does not fit into `max_mb`; says how far it got.
            UnsuitableGameError: hidden information, or values that do not settle.
        """
        start_s = time.perf_counter()
        check_seed(seed)
        check(position.rules, self.parameters)
        limit = self.limit if limit is None else limit
        solution, number, updates = self.solution, -1, 0
        if solution is not None and self._solved == position.rules.identity:
            number = solution.number_of(position)
        if solution is None or number < 0:
            solution = self._solve(position, limit, start_s)
            number, updates = solution.number_of(position), max(1, solution.updates)
            if solution.whole:
                self.solution, self._solved = solution, position.rules.identity
        if number < 0:
            return _unsolved(position, solution, start_s, limit)
        return _answer(solution, number, updates, start_s, limit)

    def _solve(self, position: Position, limit: Limit | None, start_s: float) -> Solution:
        """The game below a position, solved as far as the limit allows."""
        seconds = nodes = None
        if limit is not None:
            nodes = limit.nodes
            if limit.seconds is not None:
                seconds = limit.seconds - (time.perf_counter() - start_s)
        max_mb = int(self.parameters["max_mb"])
        solution = Solution(position, max_mb << 20, seconds, nodes)
        if nodes is None:  # else they end it
            room_s = None if seconds is None else _ROOM_SHARE * seconds
            require_room(position, solution.most_states, f"max_mb={max_mb}", room_s)
        self._at_work = solution
        try:
            solution.run(position, self.parameters["tolerance"], self.parameters["sweeps"])
        finally:
            self._at_work = None
        return solution


# ---- answers -----------------------------------------------------------------------------------


def _answer(solution: Solution, number: int, updates: int, start_s: float, limit: Limit | None) -> SearchResult:
    """What a solution says of one of its states."""
    seat = solution.turn_of(number)
    bounds = solution.bounds_of(number)
    values = solution.value_of(number)
    stats: list[ActionStats] = []
    best, note, error_bound = None, "", None
    if seat >= 0:
        found = []
        for action, _, child in solution.steps_of(number):
            low, high = solution.bounds_of(child)[seat]
            found.append((low, solution.value_of(child)[seat], -action, high))
        best = -max(found)[2]  # what is certain first
        stats = [
            ActionStats(-action, 1, value, float(-action == best), (low, high)) for low, value, action, high in found
        ]
    if not solution.whole:
        error_bound = max(max(high - value, value - low) for value, (low, high) in zip(values, bounds, strict=True))
        note = f"not solved: {solution.status} when the limit came"
    return SearchResult(
        action=best,
        values=values,
        actions=tuple(stats),
        simulations=0,
        nodes=updates,
        seconds=time.perf_counter() - start_s,
        principal_variation=_variation(solution, number),
        exact=solution.whole,
        reproducible=limit is None or limit.reproducible,
        error_bound=error_bound,
        note=note,
    )


def _unsolved(position: Position, solution: Solution, start_s: float, limit: Limit | None) -> SearchResult:
    """The answer where not even the graph is known: the game's own suggestion, and the utilities there are."""
    low, high = min(0.0, position.rules.min_utility()), max(0.0, position.rules.max_utility())
    middle = (low + high) / 2
    action: int | None = None
    stats: tuple[ActionStats, ...] = ()
    if position.is_player_node():
        legal = position.legal_actions()
        action = position.suggest(Stream(0)) if "suggest" in position.rules.abilities else legal[0]
        stats = tuple(ActionStats(each, 0, middle, float(each == action), (low, high)) for each in legal)
    return SearchResult(
        action=action,
        values=(middle,) * position.num_players(),
        actions=stats,
        simulations=0,
        nodes=max(1, solution.n_states),
        seconds=time.perf_counter() - start_s,
        principal_variation=() if action is None else (action,),
        reproducible=limit is None or limit.reproducible,
        error_bound=high - middle,
        note=f"not solved: there was too little time to list and order the states ({solution.n_states:,} were found)",
    )


def _variation(solution: Solution, number: int) -> tuple[int, ...]:
    """The best line through the likeliest outcomes, up to the first position that comes again."""
    line: list[int] = []
    met: set[int] = set()
    while number not in met and len(line) < _LINE and (steps := solution.steps_of(number)):
        met.add(number)
        seat = solution.turn_of(number)
        if seat < 0:
            step, _, number = max(steps, key=lambda each: (each[1], -each[0]))
        else:
            step, _, number = max(steps, key=lambda each: (solution.value_of(each[2])[seat], -each[0]))
        line.append(step)
    return tuple(line)


# ---- what it can solve ---------------------------------------------------------------------------


def check(rules: Rules, parameters: Mapping[str, Any]) -> None:
    """Raises UnsuitableGameError where a property of the game rules it out."""
    require_open(rules, "value_iteration", "use cfr+ to solve it where its tree fits, or ismcts to play it")


PARAMETERS = {
    "seconds": Parameter(
        None, "stop after this much time, with bounds instead of the value", kind=float, low=1e-6, high=1e8
    ),
    "sweeps": Parameter(None, "most sweeps over one component, then bounds instead of the value", kind=int, low=1),
    "tolerance": Parameter(1e-10, "how far a value may be from the true one", low=1e-14, high=1.0),
    "max_mb": Parameter(4096, "most memory for states and steps, MB", low=1, high=1 << 20),
}


def _solves(parameters: Mapping[str, Any]) -> bool:
    """Whether no limit ends it before the game is solved as exactly as by default."""
    limited = any(parameters[key] is not None for key in ("seconds", "sweeps"))
    return not limited and parameters["tolerance"] <= PARAMETERS["tolerance"].default


def _make(parameters: dict[str, Any]) -> ValueIterationSearcher:
    return ValueIterationSearcher(**parameters)


SOLVERS = (
    SolverSpec(
        name="value_iteration",
        kind="searcher",
        summary="exact values of the whole game, also where positions come again",
        source="Shapley 1953; Tarjan 1972; Neller and Presser 2004",
        make=_make,
        parameters=PARAMETERS,
        check=check,
        exact=_solves,
    ),
)
