"""Players that do not look ahead: `random`, and `greedy`, the game's own rule of thumb.

They are the baselines that everything else must beat, and they read only what their seat sees.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from engine_ext.errors import UnsuitableGameError
from engine_ext.position import Position, Rules
from engine_ext.rng import Stream
from engine_ext.seeds import check_seed
from solvers.contract import ActionStats, Limit, ParameterValue, SearchResult, SolverSpec, advised


def _result(position: Position, action: int | None, probability: Mapping[int, float], start_s: float) -> SearchResult:
    """A result that claims nothing about values."""
    unknown = float("nan")
    legal = position.legal_actions() if position.is_player_node() else []
    return SearchResult(
        action=action,
        values=tuple(position.returns()) if position.is_terminal() else (unknown,) * position.num_players(),
        actions=tuple(ActionStats(each, 0, unknown, probability.get(each, 0.0)) for each in legal),
        simulations=0,
        nodes=1,
        seconds=time.perf_counter() - start_s,
        exact=position.is_terminal(),
    )


class RandomSearcher:
    """Every legal action with the same probability."""

    def search(self, position: Position, *, seed: int, limit: Limit | None = None) -> SearchResult:
        """One uniformly random action; the limit does not matter."""
        start_s = time.perf_counter()
        seed = check_seed(seed)
        if not position.is_player_node():
            return _result(position, None, {}, start_s)
        legal = position.legal_actions()
        action = position.random_action(Stream(seed))
        return _result(position, action, dict.fromkeys(legal, 1.0 / len(legal)), start_s)

    def reset(self) -> None:
        """Nothing is kept."""


class GreedySearcher:
    """The game's `suggest`: its own rule of thumb for the seat to move."""

    def search(self, position: Position, *, seed: int, limit: Limit | None = None) -> SearchResult:
        """The suggested action; the limit does not matter.

        Raises:
            UnsuitableGameError: the game has no rule of thumb.
        """
        start_s = time.perf_counter()
        seed = check_seed(seed)
        _check_greedy(position.rules, {})
        if not position.is_player_node():
            return _result(position, None, {}, start_s)
        action = position.suggest(Stream(seed))
        return _result(position, action, {} if action is None else {action: 1.0}, start_s)

    def reset(self) -> None:
        """Nothing is kept."""


def _check_greedy(rules: Rules, parameters: Mapping[str, ParameterValue | None]) -> None:
    if "suggest" not in rules.abilities:
        advice = "use ismcts, which needs none" if rules.hidden_information else "use mcts, which needs none"
        raise UnsuitableGameError(
            f"greedy needs a game with a rule of thumb of its own, and {rules.name} has none; {advised(rules, advice)}"
        )


def _make_random(parameters: Mapping[str, ParameterValue | None]) -> RandomSearcher:
    return RandomSearcher()


def _make_greedy(parameters: Mapping[str, ParameterValue | None]) -> GreedySearcher:
    return GreedySearcher()


SOLVERS = (
    SolverSpec(
        name="random",
        kind="searcher",
        summary="every legal action with the same probability",
        source="the baseline",
        make=_make_random,
    ),
    SolverSpec(
        name="greedy",
        kind="searcher",
        summary="the game's own rule of thumb, without looking ahead",
        source="each game's README",
        make=_make_greedy,
        check=_check_greedy,
    ),
)
