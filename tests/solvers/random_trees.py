"""Random game trees of perfect information, as native games, for tests of searchers."""

from __future__ import annotations

import random

import pyspiel

from engine_ext.position import Rules
from solvers.extraction import as_game


def random_tree(
    seed: int,
    *,
    levels: str,
    branching: tuple[int, int],
    n_players: int = 2,
    cut: float = 0.0,
    grades: int | None = None,
) -> Rules:
    """A random tree as a native game, by way of OpenSpiel's reader of extensive-form files.

    Args:
        seed: of everything random in it.
        levels: the kind of every level from the root: `0`, `1`, ... a seat, `c` chance, `?` any.
        branching: fewest and most children of a node, 2 or more.
        n_players: with two the utilities, uniform in [-1, 1], sum to zero.
        cut: probability that a node above the last level is a leaf.
        grades: utilities are whole numbers from -grades to grades instead, so that many are alike.
    """
    draw = random.Random(seed)
    lines = ['EFG 2 R "random" { ' + " ".join(f'"p{seat}"' for seat in range(n_players)) + " }", '""']
    counts = dict.fromkeys(["t", "c", *map(str, range(n_players))], 0)

    def node(level: int) -> None:
        if level == len(levels) or (level and draw.random() < cut):
            counts["t"] += 1
            utilities = [
                draw.uniform(-1, 1) if grades is None else draw.randint(-grades, grades) for _ in range(n_players)
            ]
            if n_players == 2:
                utilities[1] = -utilities[0]
            lines.append(f't "" {counts["t"]} "" {{ {", ".join(f"{value:.17g}" for value in utilities)} }}')
            return
        kind = levels[level]
        if kind == "?":
            kind = draw.choice(["c", *map(str, range(n_players))])
        count = draw.randint(*branching)
        if kind == "c":
            counts["c"] += 1
            weights = [draw.uniform(0.1, 1) for _ in range(count)]
            shares = [weight / sum(weights) for weight in weights]
            outcomes = " ".join(f'"o{i}" {share:.17g}' for i, share in enumerate(shares))
            lines.append(f'c "" {counts["c"]} "" {{ {outcomes} }} 0')
        else:
            counts[kind] += 1
            actions = " ".join(f'"a{i}"' for i in range(count))
            lines.append(f'p "" {int(kind) + 1} {counts[kind]} "" {{ {actions} }} 0')
        for _ in range(count):
            node(level + 1)

    node(0)
    return as_game(pyspiel.load_efg_game("\n".join(lines) + "\n"))
