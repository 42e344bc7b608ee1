"""Plain and slow references for search with hidden information, written for clarity alone.

They work on any `Position` and know nothing of the solvers.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable

from engine_ext.position import Position
from engine_ext.rng import Stream


class Node:
    """What is known of one information set: visits, availability and summed returns by action."""

    def __init__(self) -> None:
        self.visits: dict[int, int] = {}
        self.available: dict[int, int] = {}
        self.total: dict[int, float] = {}


def ismcts(
    position: Position,
    simulations: int,
    seed: int,
    exploration: float,
    *,
    single: bool = False,
    mix: Callable[[int], float] = lambda visits: 1.0,
) -> dict[int, int]:
    """Information-set MCTS (Cowling, Powley and Whitehouse 2012, algorithms 1 and 2).

    Args:
        position: a decision.
        exploration: constant of the upper confidence bounds, in utility.
        single: nodes are information sets of the searching seat; else of the seat to move.
        mix: at a node with so many visits, the probability of the bounds rather than the average
            strategy (Heinrich and Silver 2015, algorithm 2).

    Returns:
        Visits of each action of the root.
    """
    chooser, stream = random.Random(seed), Stream(seed)
    searcher = position.current_player()
    nodes: dict[tuple[int, int], Node] = {}

    def key(state: Position) -> tuple[int, int]:
        seat = state.current_player()
        return seat, state.info_key(searcher if single else seat)

    for _ in range(simulations):
        state = position.resample(searcher, stream)
        path: list[tuple[Node, int, int]] = []
        expanded = False
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(state.sample(stream))
                continue
            legal = state.legal_actions()
            if expanded:
                state.apply_action(chooser.choice(legal))
                continue
            expanded = key(state) not in nodes
            node = nodes.setdefault(key(state), Node())
            for action in legal:
                node.available[action] = node.available.get(action, 0) + 1
            visits = [node.visits.get(action, 0) for action in legal]
            untried = [action for action, count in zip(legal, visits, strict=True) if not count]
            if sum(visits) and chooser.random() >= mix(sum(visits)):
                action = chooser.choices(legal, visits)[0]
            elif untried:
                action = chooser.choice(untried)
            else:
                action = max(
                    legal,
                    key=lambda each: (
                        node.total[each] / node.visits[each]
                        + exploration
                        * math.sqrt(
                            math.log(node.available[each] if single else sum(node.visits.values())) / node.visits[each]
                        ),
                        chooser.random(),
                    ),
                )
            path.append((node, action, state.current_player()))
            state.apply_action(action)
        returns = state.returns()
        for node, action, seat in path:
            node.visits[action] = node.visits.get(action, 0) + 1
            node.total[action] = node.total.get(action, 0.0) + returns[seat]
    root = nodes[key(position)]
    return {action: root.visits.get(action, 0) for action in position.legal_actions()}


def counterfactual_regrets(position: Position, seat: int) -> dict[tuple[int, int], float]:
    """A seat's counterfactual regret of every (information set, action) when all play uniformly.

    The sum over the set's histories of everybody else's reach times (value of the action minus
    value of the set); Zinkevich et al. 2007, equation 7.
    """
    regrets: dict[tuple[int, int], float] = {}

    def value(state: Position, others: float) -> float:
        if state.is_terminal():
            return state.returns()[seat]
        if state.is_chance_node():
            return sum(p * value(after(state, action), others * p) for action, p in state.chance_outcomes())
        legal = state.legal_actions()
        mine = state.current_player() == seat
        values = [value(after(state, action), others if mine else others / len(legal)) for action in legal]
        mean = sum(values) / len(values)
        if mine:
            for action, each in zip(legal, values, strict=True):
                place = state.info_key(seat), action
                regrets[place] = regrets.get(place, 0.0) + others * (each - mean)
        return mean

    def after(state: Position, action: int) -> Position:
        child = state.clone()
        child.apply_action(action)
        return child

    value(position, 1.0)
    return regrets
