"""The contracts that every solver meets: what goes in, what comes out, how it is declared.

A *searcher* works online: a `Position` and a `Limit` in, a `SearchResult` out. A *policy solver*
works offline on a whole game: iterations in, a `TabularPolicy` out. A module declares the
solvers it holds as `SOLVERS`, a tuple of `SolverSpec`; `solvers.specs` finds them, so adding a
solver is adding one file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from engine_ext.errors import LimitError, UnsuitableGameError
from engine_ext.position import Position, Rules

ParameterValue = bool | int | float | str

# What a parameter may need of a game: a name among `Rules.abilities`, or perfect recall; and how a
# message calls it.
ABILITIES: Mapping[str, str] = {
    "suggest": "a rule of thumb",
    "estimate": "an estimate",
    "clock": "a count of its turns",
    "rewind": "stages of simultaneous hidden choices",
    "perfect_recall": "perfect recall",
}
ANY = "*"


@dataclass(frozen=True)
class Limit:
    """When a search stops: at the first limit reached. At least one must be set.

    Attributes:
        simulations: playouts or sampled descents, at least 1.
        nodes: nodes searched, at least 1.
        depth: decisions and chance nodes ahead, at least 1.
        seconds: wall-clock time of the search, above 0, from the call to the answer; a result under it is not
            reproducible. What is done once for a game and not for a search (`prepare`) is not counted.

    Raises:
        LimitError: nothing set, or a value out of range.
    """

    simulations: int | None = None
    nodes: int | None = None
    depth: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        given = {key: value for key, value in vars(self).items() if value is not None}
        if not given:
            raise LimitError("a limit needs one of simulations, nodes, depth, seconds")
        for key, value in given.items():
            if not value > 0:
                raise LimitError(f"limit {key} is {value}, it must be above 0")

    @property
    def reproducible(self) -> bool:
        """Whether the same seed gives the same result on every machine."""
        return self.seconds is None


@dataclass(frozen=True)
class ActionStats:
    """What a search found out about one action at the root.

    Attributes:
        action: the action's id.
        visits: simulations (or nodes) spent below it.
        value: utility for the seat to move when it is taken; nan where it was never tried.
        probability: how often the searcher would play it; all of them sum to 1.
        bounds: (lowest, highest) utility for that seat that the search has proven possible; None
            for a searcher that proves nothing.
    """

    action: int
    visits: int
    value: float
    probability: float
    bounds: tuple[float, float] | None = None


@dataclass(frozen=True)
class SearchResult:
    """What a search returns.

    Attributes:
        action: the action to play; None where the root is not a decision.
        values: utility per seat under the searcher's play; nan where it forms no opinion.
        actions: one entry for each legal action of the root, ascending by id.
        simulations: playouts or descents made; 0 for searchers that make none.
        nodes: nodes searched or grown.
        seconds: wall-clock time, as a `Limit` counts it.
        principal_variation: ids of the expected line from the root, as far as known.
        exact: whether `values` are proven.
        depth: decisions and chance nodes ahead that a search by depth has looked at in full; None for the others.
        reproducible: whether the same seed gives this result again anywhere.
        error_bound: how far any of `values` may be from the true one at most, where a solver of exact values was
            cut short; None elsewhere.
        note: what was left undone, as one line; empty where all was done.
    """

    action: int | None
    values: tuple[float, ...]
    actions: tuple[ActionStats, ...]
    simulations: int
    nodes: int
    seconds: float
    principal_variation: tuple[int, ...] = ()
    exact: bool = False
    depth: int | None = None
    reproducible: bool = True
    error_bound: float | None = None
    note: str = ""


class Searcher(Protocol):
    """Works online, a move at a time. Holds its parameters; keeps a tree only if it says so."""

    def search(self, position: Position, *, seed: int, limit: Limit | None = None) -> SearchResult:
        """Search from a position.

        Args:
            position: where to search from; unchanged. A decision, or a chance node for the value.
            seed: int in [0, 2**64); everything random comes from it.
            limit: overrides the searcher's own.

        Raises:
            ParameterError: the seed is none.
            UnsuitableGameError: a property of the game rules the searcher out; names it.
        """
        ...

    def reset(self) -> None:
        """Forget anything kept from earlier searches (a new game begins)."""
        ...


def prepare(searcher: Searcher, rules: Rules, progress: Callable[[int, float], None] | None = None) -> Any:
    """Do what a searcher does once for a game, before its first search; no limit counts it.

    A searcher that works on the whole tree extracts it then; most have nothing to do. `search` does it where
    nobody has asked before.

    Args:
        searcher: what has the method `prepare(rules, progress)`, or has not.
        rules: the game.
        progress: as for `extraction.extract`.

    Returns:
        The `FlatTree` that it works on, where that is not the game's own; else None.

    Raises:
        UnsuitableGameError: the game has no finite tree.
        TooLargeError: its tree does not fit; carries the estimate.
    """
    method: Callable[..., Any] | None = getattr(searcher, "prepare", None)
    return None if method is None else method(rules, progress)


def require_root(searcher: Searcher, rules: Rules, chance: bool) -> None:
    """Raise UnsuitableGameError where a searcher cannot begin at a place like this.

    Args:
        searcher: what has the method `require_root(rules, chance)`, or has not.
        rules: the game.
        chance: whether the place is a chance node.
    """
    method: Callable[..., None] | None = getattr(searcher, "require_root", None)
    if method is not None:
        method(rules, chance)


class PolicySolver(Protocol):
    """Works offline on a whole game, in iterations that can be stopped, saved and resumed.

    Attributes:
        iterations: done so far, whole ones.
        seconds: wall-clock time spent in them, from the very first start: what a limit in seconds counts. What
            comes before the first (the tree, the sequence form) is not counted.
    """

    iterations: int
    seconds: float

    def run(self, iterations: int) -> None:
        """That many more iterations."""
        ...

    def average_policy(self) -> Any:
        """The `TabularPolicy` of all iterations so far."""
        ...

    def exploitability(self) -> float:
        """NashConv of the average policy divided by the number of players."""
        ...

    def save(self, path: Path) -> None:
        """Write a checkpoint from which a run continues bit for bit."""
        ...

    def load(self, path: Path) -> None:
        """Continue from a checkpoint.

        Raises:
            SavedStateError: damaged, or of another game or solver.
        """
        ...


@dataclass(frozen=True)
class Parameter:
    """One parameter of a solver.

    Attributes:
        default: its default; its type is the parameter's type. None: a limit that is unset.
        help: one line.
        kind: int, float, str or bool, or Path for a file that is read (its value is text); needed only where the
            default is None.
        choices: allowed values, where they are few.
        solvers: names of solvers whose specs are allowed as well, as text.
        low: smallest allowed number.
        high: largest allowed number.
        needs: from a value, as text, to the abilities a game must have for it (keys of `ABILITIES`);
            under `ANY`, those for every value but the default.
    """

    default: ParameterValue | None
    help: str
    kind: type | None = None
    choices: tuple[str, ...] = ()
    solvers: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def is_file(self) -> bool:
        """Whether a value names a file that is read."""
        return self.kind is Path

    def needed(self, value: ParameterValue | None) -> tuple[str, ...]:
        """The abilities a game must have for this value."""
        always = self.needs.get(ANY, ()) if value != self.default else ()
        return (*always, *self.needs.get(str(value), ()))


# How a message tells why a seat does not know all.
HIDING = "hides information from a seat"
SIMULTANEOUS = "has simultaneous moves, so that a seat decides without knowing what others choose meanwhile"


def require_open(rules: Rules, solver: str, advice: str) -> None:
    """Raise UnsuitableGameError, naming the property, for a game in which a seat does not know all.

    Args:
        rules: the game, or what is declared of it; its `secrecy`, where it has one, names the property.
        solver: what looks at whole states, for the message.
        advice: which solver does not.
    """
    if rules.hidden_information:
        secrecy = getattr(rules, "secrecy", HIDING)
        raise UnsuitableGameError(
            f"{rules.name} {secrecy}, and {solver} would see through that; {advised(rules, advice)}"
        )


def advised(rules: Rules, advice: str) -> str:
    """Advice to use another solver, as far as it holds: a game of OpenSpiel's whose tree is too large for
    any solver here says so instead (`instead`)."""
    instead: Callable[[str], str] | None = getattr(rules, "instead", None)
    return advice if instead is None else instead(advice)


def cycle_advice(rules: Rules) -> str:
    """What to do where a search for the end of a game of ours would go round in circles."""
    return "use value_iteration" + (", or give a depth" if "estimate" in rules.abilities else "")


def _has(rules: Rules, ability: str) -> bool:
    if ability == "perfect_recall":  # of our games by contract; a tree knows of its own
        return bool(getattr(rules, "perfect_recall", True))
    return ability in rules.abilities


def require_abilities(
    solver: str, declared: Mapping[str, Parameter], given: Mapping[str, ParameterValue | None], rules: Rules
) -> None:
    """Raise UnsuitableGameError for a parameter whose value needs what the game does not have.

    Args:
        solver: its name, for the message.
        declared: the solver's parameters by name.
        given: their values.
        rules: the game.
    """
    for key, value in given.items():
        for ability in declared[key].needed(value):
            if not _has(rules, ability):
                raise UnsuitableGameError(
                    f"{solver}: {key}={value} needs a game with {ABILITIES[ability]}, and {rules.name} has none; "
                    f"{advised(rules, f'leave {key} out')}"
                )


# Parameters that say how much a searcher may do and keep, not how it searches.
RESOURCES = frozenset(
    ("simulations", "nodes", "depth", "seconds", "threads", "max_nodes", "max_states", "reuse", "every_action")
)


@dataclass(frozen=True)
class SolverSpec:
    """One solver, as its module declares it.

    Attributes:
        name: what a spec calls it, e.g. `cfr+`.
        kind: `searcher`, or `policy` for one that works offline on a whole game.
        summary: one line.
        source: paper and section.
        parameters: by name.
        make: for a searcher, `make(parameters) -> Searcher`; for a policy solver,
            `make(game, parameters) -> PolicySolver`, where `game` is a flat tree.
        check: called with (rules, parameters) before any work starts; raises UnsuitableGameError when
            a property of the game rules the solver out. What parameters need is declared with them.
        exact: whether with these parameters it solves the whole game before it plays and then plays what no
            rival can better on average: exact values, or an equilibrium of two players with a zero sum.
    """

    name: str
    kind: Literal["searcher", "policy"]
    summary: str
    source: str
    make: Callable[..., Any]
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    check: Callable[[Rules, Mapping[str, Any]], None] = lambda rules, parameters: None
    exact: Callable[[Mapping[str, Any]], bool] = lambda parameters: False

    @property
    def files(self) -> tuple[str, ...]:
        """Names of the parameters that name files."""
        return tuple(key for key, parameter in self.parameters.items() if parameter.is_file)

    def require(self, rules: Rules, parameters: Mapping[str, Any]) -> None:
        """Raise UnsuitableGameError unless the game has all that the solver and its parameters need.

        Args:
            rules: the game, or what is declared of it (`extraction.declared_rules`): this comes
                before any work.
            parameters: all of the solver's, defaults filled in.
        """
        self.check(rules, parameters)
        require_abilities(self.name, self.parameters, parameters, rules)
