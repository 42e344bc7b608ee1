"""Plain and slow references for exact game values, written for clarity alone.

They work on any `Position` of a game without hidden information and know nothing of the solvers.
"""

from __future__ import annotations

from engine_ext.position import Position


def step(position: Position, action: int) -> Position:
    """The position after one step."""
    after = position.clone()
    after.apply_action(action)
    return after


def expectimax(position: Position, memo: dict[Position, list[float]] | None = None) -> list[float]:
    """Value per seat when every seat maximises its own utility (max^n), by plain recursion.

    Ties go to the lowest action id. For games whose positions never come again.
    """
    memo = {} if memo is None else memo
    if position in memo:
        return memo[position]
    if position.is_terminal():
        values = position.returns()
    elif position.is_chance_node():
        values = [0.0] * position.num_players()
        for outcome, probability in position.chance_outcomes():
            for seat, value in enumerate(expectimax(step(position, outcome), memo)):
                values[seat] += probability * value
    else:
        seat = position.current_player()
        options = [expectimax(step(position, action), memo) for action in position.legal_actions()]
        values = max(options, key=lambda option: option[seat])
    memo[position] = values
    return values


def value_iteration(start: Position, tolerance: float = 1e-12) -> dict[Position, float]:
    """Seat 0's value of every reachable position of a two-player zero-sum game with cycles.

    Sweeps over all positions until no value changes by more than the tolerance.
    """
    successors: dict[Position, list[tuple[Position, float]]] = {}
    open_list = [start]
    while open_list:
        position = open_list.pop()
        if position in successors:
            continue
        if position.is_terminal():
            steps = []
        elif position.is_chance_node():
            steps = [(step(position, outcome), probability) for outcome, probability in position.chance_outcomes()]
        else:
            steps = [(step(position, action), 1.0) for action in position.legal_actions()]
        successors[position] = steps
        open_list += [after for after, _ in steps]
    values = {position: position.returns()[0] if position.is_terminal() else 0.0 for position in successors}
    change = 1.0
    while change > tolerance:
        change = 0.0
        for position, steps in successors.items():
            if position.is_terminal():
                continue
            player = position.current_player()
            if player == 0:
                value = max(values[after] for after, _ in steps)
            elif player == 1:
                value = min(values[after] for after, _ in steps)
            else:
                value = sum(probability * values[after] for after, probability in steps)
            change = max(change, abs(value - values[position]))
            values[position] = value
    return values
