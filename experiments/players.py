"""Players: whatever a spec names, made ready to choose actions in recorded games and in play."""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from collections.abc import Callable, Hashable
from typing import Any, Protocol

from engine_ext.position import Position, Rules
from engine_ext.rng import Stream
from experiments import gametext, ladder, solve, tryout
from experiments.inputs import HERE, Inputs
from experiments.shelf import Shelf
from solvers import specs
from solvers.best_response import expected_values
from solvers.contract import ActionStats, Limit, Searcher, SearchResult, prepare
from solvers.policies import TabularPolicy

ladder.register()

SOLVE_MB = 2048  # for one game that a bot of a person's game solves, unless its spec says otherwise
SHELF_MB = 2048  # for all solved games together that persons' games may need again
_STATE_BYTES = 20  # of a state that expectimax keeps, beside the state itself and its values
_shelf: Shelf[Player] = Shelf(SHELF_MB << 20)


class Player(Protocol):
    """Chooses actions, a decision at a time.

    Attributes:
        name: canonical spec.
        values: whether it may say what its actions are worth; a policy does not.
    """

    name: str
    values: bool

    @property
    def ready(self) -> bool:
        """Whether it can decide at once; else it first does what is done once for a game."""
        ...

    def prepare(self, began: Callable[[], None] = ...) -> None:
        """Do what is done once for a game, where that has not been done: extract its tree, solve it. `choose` does so
        where nobody has asked before.

        Args:
            began: called when it begins, if there is something to do.

        Raises:
            TooLargeError: it does not fit into memory.
            UnsuitableGameError: a property of the game rules the player out.
        """
        ...

    def begin(self) -> None:
        """A new game begins: forget the last one."""
        ...

    def choose(self, position: Position, seed: int, *, seconds: float | None = None) -> SearchResult:
        """Decide.

        Args:
            position: a decision; unchanged. A player reads only what the seat to move can see.
            seed: of this decision.
            seconds: a search that can end by the clock ends by then, with what it has found; such a
                choice is not reproducible. None leaves it its own limits.

        Returns:
            What it found; `action` is its choice.
        """
        ...


class SearchPlayer:
    """A searcher as a player.

    Args:
        name: canonical spec.
        searcher: what decides.
        rules: the game it plays.
        solves: whether the searcher solves the whole game below the first position that it is asked for. It is asked
            for the start of the game then, before the first decision: below that lie all others, and which game of
            several comes first makes no difference.
    """

    values = True

    def __init__(self, name: str, searcher: Searcher, rules: Rules, *, solves: bool = False) -> None:
        self.name = name
        self._searcher = searcher
        self._rules = rules
        self._solves = solves
        self._ready = not solves and not hasattr(searcher, "prepare")

    def begin(self) -> None:
        """Forget anything kept from an earlier game."""
        self._searcher.reset()

    @property
    def ready(self) -> bool:
        """Whether all is done that is done once for a game."""
        return self._ready

    def prepare(self, began: Callable[[], None] = lambda: None) -> None:
        """Extract the game's tree, or solve the game, where the searcher does."""
        if self._ready:
            return
        began()
        prepare(self._searcher, self._rules)
        if self._solves:
            self._searcher.search(self._rules.initial_position(), seed=0)
        self._ready = True

    @property
    def bytes_used(self) -> int:
        """Memory of what it has solved, about."""
        solution, memo = getattr(self._searcher, "solution", None), getattr(self._searcher, "memo", None)
        if solution is not None:
            return int(solution.bytes_used)
        return 0 if memo is None else memo.n_states * _bytes_of_state(self._rules)

    def try_out(self, rules: Rules) -> None:
        """Begin to search the game, so that what rules the searcher out shows before any game is played.

        Raises:
            QuandaryError: what the searcher refuses.
        """
        tryout.search(self._searcher, rules)

    def choose(self, position: Position, seed: int, *, seconds: float | None = None) -> SearchResult:
        """Search from the position."""
        self.prepare()
        return self._searcher.search(position, seed=seed, limit=_within(self._searcher, seconds))


def _within(searcher: Searcher, seconds: float | None) -> Limit | None:
    """A searcher's own limit and a time; None where it keeps its own because no clock can end it."""
    own = getattr(searcher, "limit", None)
    if seconds is None or not isinstance(own, Limit):
        return None
    sampling = "simulations" in getattr(searcher, "parameters", {})
    if sampling and own.simulations is None and own.nodes is None and own.seconds is None:
        return None  # a default number of simulations, which a limit in time alone would take away
    return dataclasses.replace(own, seconds=seconds if own.seconds is None else min(seconds, own.seconds))


class PolicyPlayer:
    """A policy found offline as a player: it draws its actions from the policy's probabilities.

    Args:
        name: canonical spec.
        policy: of the game it plays; a TabularPolicy, or a KeyedPolicy of a game without a tree.
        n_players: seats of the game.
    """

    values = False
    ready = True

    def __init__(self, name: str, policy: Any, n_players: int) -> None:
        self.name = name
        self._policy = policy
        known = expected_values(policy) if isinstance(policy, TabularPolicy) else [math.nan] * n_players
        self._values = tuple(float(value) for value in known)

    def prepare(self, began: Callable[[], None] = lambda: None) -> None:
        """Its policy has been found."""

    @property
    def bytes_used(self) -> int:
        """Memory of the policy and its tree, about; 0 where it has none."""
        return self._policy.tree.n_bytes if isinstance(self._policy, TabularPolicy) else 0

    def begin(self) -> None:
        """Nothing is kept from an earlier game."""

    def choose(self, position: Position, seed: int, *, seconds: float | None = None) -> SearchResult:
        """Draw an action. `values` are those of the whole game under the policy, nan where unknown."""
        started = time.perf_counter()
        chances = self._policy.action_probabilities(position)
        draw = Stream(seed).double() * sum(chances.values())
        action = max(chances, key=chances.__getitem__)
        for each, chance in chances.items():
            if draw < chance:
                action = each
                break
            draw -= chance
        return SearchResult(
            action=action,
            values=self._values,
            actions=tuple(ActionStats(each, 0, math.nan, chance) for each, chance in sorted(chances.items())),
            simulations=0,
            nodes=1,
            seconds=time.perf_counter() - started,
        )


class SharedPlayer:
    """A player that has to solve its game first, and shares what it has found with all of its kind in this process.

    Args:
        name: canonical spec.
        values: as for `Player`.
        key: equal for players that may share.
        make: makes the player proper, ready.
    """

    def __init__(self, name: str, values: bool, key: Hashable, make: Callable[[], SearchPlayer | PolicyPlayer]) -> None:
        self.name = name
        self.values = values
        self._key = key
        self._make = make

    @property
    def ready(self) -> bool:
        """Whether the game is solved; it may have to be solved again where others needed the memory since."""
        return self._key in _shelf

    def prepare(self, began: Callable[[], None] = lambda: None) -> None:
        """Have the game solved."""
        self._player(began)

    def begin(self) -> None:
        """Nothing to forget: what was solved stays true."""

    def choose(self, position: Position, seed: int, *, seconds: float | None = None) -> SearchResult:
        """Look up what was solved."""
        return self._player().choose(position, seed, seconds=seconds)

    def _player(self, began: Callable[[], None] = lambda: None) -> Player:
        def make() -> tuple[Player, int]:
            player = self._make()
            player.prepare()
            return player, player.bytes_used

        return _shelf.get(self._key, make, began)


def _bytes_of_state(rules: Rules) -> int:
    """Of what expectimax keeps."""
    return rules.state_bytes + _STATE_BYTES + 8 * rules.num_players()


def seat(spec: str, rules: Rules, *, every_action: bool = False) -> Player:
    """The player that a spec describes, for a game with a person: what it solves is left to `prepare`, shared, and
    bounded in memory by `SOLVE_MB` where the spec sets no bound.

    Args:
        spec: its text.
        rules: the game it will play.
        every_action: as for `make`.

    Raises:
        SavedStateError, SpecError, UnsuitableGameError: as `make`.
    """
    checked = specs.parse_spec(spec, rules)
    offline = checked.solver.kind == "policy"
    if checked.files() or not (checked.exact or offline):
        return make(spec, rules, every_action=every_action)
    checked.solver.require(rules, checked.parameters)
    name = str(checked)
    bounds: dict[str, int] = {"max_mb": SOLVE_MB, "max_states": (SOLVE_MB << 20) // _bytes_of_state(rules)}
    bounds = {key: most for key, most in bounds.items() if key in checked.parameters and key not in checked.given}
    bounded = dataclasses.replace(checked, parameters={**checked.parameters, **bounds})

    def make_it() -> SearchPlayer | PolicyPlayer:
        return _offline(checked, rules) if offline else _searching(bounded, rules, name)

    return SharedPlayer(name, not offline, (name, repr(gametext.identity(rules))), make_it)


def _offline(checked: specs.Spec, rules: Rules) -> PolicyPlayer:
    """The policy that a solver finds for the whole game, as a player."""
    checked.solver.require(rules, checked.parameters)
    solver = solve.make_offline(checked, solve.tree_or_rules(rules, checked), 0)
    solve.run_offline(checked, solver)
    return PolicyPlayer(str(checked), solver.average_policy(), rules.num_players())


def _searching(checked: specs.Spec, rules: Rules, name: str) -> SearchPlayer:
    return SearchPlayer(name, specs.make_searcher(checked, rules), rules, solves=checked.exact)


def canonical(spec: str, rules: Rules) -> str:
    """The canonical text of a spec for a game: aliases resolved, parameters in order.

    Raises:
        SpecError: not a spec, or an unknown name or parameter.
    """
    return str(specs.parse_spec(spec, rules))


def make(spec: str, rules: Rules, *, every_action: bool = False, inputs: Inputs = HERE) -> Player:
    """The player that a spec describes. A policy solver solves the whole game first.

    Args:
        spec: its text.
        rules: the game it will play.
        every_action: a searcher that can look at every action of its root does so, named as before.
        inputs: where the files are that it names.

    Raises:
        SavedStateError: a file is missing, damaged, of another game, or not as it was.
        SpecError: not a spec, or an unknown name or parameter.
        UnsuitableGameError: a property of the game rules it out.
        TooLargeError: a policy solver, and the game's tree would not fit.
    """
    checked = inputs.located(specs.parse_spec(spec, rules))
    if checked.solver.kind == "policy":
        return _offline(checked, rules)
    name = str(checked)
    if every_action and "every_action" in checked.solver.parameters and "every_action" not in checked.given:
        checked = dataclasses.replace(checked, parameters={**checked.parameters, "every_action": True})
    return _searching(checked, rules, name)


def timed(spec: str, rules: Rules) -> bool:
    """Whether a spec stops by the clock, so that its choices are not reproducible."""
    return specs.parse_spec(spec, rules).parameters.get("seconds") is not None


def cached(spec: str, game: str, inputs: Inputs = HERE) -> Player:
    """The player of this spec on this game, made once in a process.

    Args:
        spec: canonical.
        game: canonical text of one of our games.
        inputs: where the files are that it names.
    """
    return _cached(spec, game, inputs.of(specs.parse_spec(spec)) if inputs.digests else HERE)


@functools.lru_cache(maxsize=64)
def _cached(spec: str, game: str, inputs: Inputs) -> Player:
    rules = gametext.load(game, own_only=True).rules
    assert rules is not None
    return make(spec, rules, inputs=inputs)
