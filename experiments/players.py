"""Players: whatever a spec names, made ready to choose actions in recorded games and in play."""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from typing import Any, Protocol

from engine_ext.position import Position, Rules
from engine_ext.rng import Stream
from experiments import gametext, ladder, solve, tryout
from experiments.inputs import HERE, Inputs
from solvers import specs
from solvers.best_response import expected_values
from solvers.contract import ActionStats, Limit, Searcher, SearchResult
from solvers.policies import TabularPolicy

ladder.register()


class Player(Protocol):
    """Chooses actions, a decision at a time.

    Attributes:
        name: canonical spec.
    """

    name: str

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
    """A searcher as a player."""

    def __init__(self, name: str, searcher: Searcher) -> None:
        self.name = name
        self._searcher = searcher

    def begin(self) -> None:
        """Forget anything kept from an earlier game."""
        self._searcher.reset()

    def try_out(self, rules: Rules) -> None:
        """Begin to search the game, so that what rules the searcher out shows before any game is played.

        Raises:
            QuandaryError: what the searcher refuses.
        """
        tryout.search(self._searcher, rules)

    def choose(self, position: Position, seed: int, *, seconds: float | None = None) -> SearchResult:
        """Search from the position."""
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

    def __init__(self, name: str, policy: Any, n_players: int) -> None:
        self.name = name
        self._policy = policy
        known = expected_values(policy) if isinstance(policy, TabularPolicy) else [math.nan] * n_players
        self._values = tuple(float(value) for value in known)

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
        checked.solver.require(rules, checked.parameters)
        solver = solve.make_offline(checked, solve.tree_or_rules(rules, checked), 0)
        solve.run_offline(checked, solver)
        return PolicyPlayer(str(checked), solver.average_policy(), rules.num_players())
    name = str(checked)
    if every_action and "every_action" in checked.solver.parameters and "every_action" not in checked.given:
        checked = dataclasses.replace(checked, parameters={**checked.parameters, "every_action": True})
    return SearchPlayer(name, specs.make_searcher(checked, rules))


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
