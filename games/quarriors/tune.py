"""Finds the greedy player's numbers in values.toml by playing it against itself.

python -m games.quarriors.tune --edition base --players 2 --write

An evolution strategy with mirrored sampling (Rechenberg 1973; Salimans et al. 2017): each step tries pairs of
opposite changes against the player as it was at the start, on the same dice from every seat, and moves along
their win rates. The change is kept only if it beats the start on dice of its own.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from engine_ext.position import Position
from engine_ext.rng import Stream
from games.quarriors import values
from games.quarriors.rules import QuarriorsRules

Array = npt.NDArray[np.float64]
Numbers = Sequence[float] | Array

# How far one number is varied, in the order of `values.GREEDY`.
REACH = np.array([1.5, 1.5, 0.6, 0.6, 0.15, 0.15, 0.15, 0.15, 0.2, 0.06, 0.05, 0.3, 0.1, 0.2, 0.2, 1.5])
PAIRS = 6  # of opposite changes a step
STEP = 0.18  # length of a step, in REACH, at the start; it falls to three tenths


def play(rules: QuarriorsRules, seats: Sequence[QuarriorsRules], seed: int) -> list[float]:
    """One game; `seats` are the rules whose greedy player sits there. Returns the utilities.

    Chance belongs to (seed, turn, event), so that whoever sits in a seat meets the same dice.
    """
    position = rules.initial_position()
    # One position under each rules object in play: they move together.
    views: dict[int, Position] = {id(each): each.initial_position() for each in seats}
    events: dict[int, int] = {}
    stream = Stream.keyed(seed)
    while not position.is_terminal():
        if position.is_chance_node():
            turn = position.clock() or 0
            events[turn] = events.get(turn, -1) + 1
            action = position.sample(Stream.keyed(seed, turn, events[turn]))
        else:
            suggested = views[id(seats[position.current_player()])].suggest(stream)
            assert suggested is not None
            action = suggested
        position.apply_action(action)
        for view in views.values():
            view.apply_action(action)
    return position.returns()


def win_rate(rules: QuarriorsRules, one: Numbers, others: Numbers, deals: int, seed: int) -> Array:
    """[deal] share of wins of the greedy player with the numbers `one` in each seat in turn, `others` in the rest."""
    n = rules.num_players()
    tried, rest = rules.with_greedy(list(one)), rules.with_greedy(list(others))
    won = np.zeros(deals)
    for deal in range(deals):
        for seat in range(n):
            seats = [tried if k == seat else rest for k in range(n)]
            won[deal] += (play(rules, seats, seed + deal)[seat] * (n - 1) + 1) / n / n
    return won


def tune(rules: QuarriorsRules, start: Sequence[float], steps: int, deals: int, seed: int) -> list[float]:
    """The numbers after so many steps of the evolution strategy."""
    draw = np.random.default_rng(seed)
    now = np.array(start)
    for step in range(steps):
        slope = np.zeros(len(now))
        first = int(draw.integers(0, 2**40))
        for _ in range(PAIRS):
            change = draw.standard_normal(len(now))
            up, down = (now + sign * 0.5 * REACH * change for sign in (1, -1))
            gain = win_rate(rules, up, start, deals, first).mean() - win_rate(rules, down, start, deals, first).mean()
            slope += gain * change
        now = now + STEP * REACH * slope / (np.sqrt((slope**2).mean()) + 1e-12) * (1 - 0.7 * step / steps)
    return [round(float(number), 3) for number in now]


def interval(won: Array) -> str:
    """Mean and 95 % half-width in percent."""
    return f"{100 * won.mean():.1f} % +- {196 * won.std() / np.sqrt(len(won)):.1f}"


def main() -> None:
    """Tune one setting, say what it gained, and write it down if it gained anything."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--edition", default="base", help="base or light_vs_dark")
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--deals", type=int, default=200, help="deals a trial")
    parser.add_argument("--check", type=int, default=2000, help="deals of the final comparison")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help=f"write {values.PATH.name} if the change wins")
    given = parser.parse_args()
    from games import spec

    rules = spec("quarriors").make_rules({"edition": given.edition, "players": given.players})
    assert isinstance(rules, QuarriorsRules)
    start = values.greedy_values(given.edition, given.players)
    found = tune(rules, start, given.steps, given.deals, given.seed)
    won = win_rate(rules, found, start, given.check, 2**41)
    better = won.mean() - 1.96 * won.std() / np.sqrt(len(won)) > 1.0 / given.players
    lines, place = [], 0
    for name, count in values.GREEDY.items():
        lines.append(f"{name} = [{', '.join(f'{number:g}' for number in found[place : place + count])}]")
        place += count
    print(f"# against the numbers in use: {interval(won)} ({given.check * given.players} games)")
    print("\n".join(lines))
    if given.write and better:
        values.replace("greedy", given.edition, given.players, lines)


if __name__ == "__main__":
    main()
