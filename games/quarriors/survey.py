"""How long games of Quarriors are and who wins: the tables of docs/games/quarriors.md.

python -m games.quarriors.survey --random 10000 --greedy 200
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

from engine_ext.position import Position, Rules
from engine_ext.rng import Stream

SETTINGS: tuple[dict[str, bool | int | str], ...] = (
    {"edition": "base"},
    {"edition": "base", "qladiator": True},
    {"edition": "light_vs_dark"},
    {"edition": "light_vs_dark", "mixed": True},
    {"edition": "light_vs_dark", "qladiator": True},
)


def random_game(rules: Rules, stream: Stream) -> Position:
    """A finished game of uniformly random play."""
    position = rules.initial_position()
    position.playout(stream)
    return position


def greedy_game(rules: Rules, stream: Stream) -> Position:
    """A finished game of the greedy policy in every seat."""
    position = rules.initial_position()
    while not position.is_terminal():
        if position.is_chance_node():
            position.run_chance(stream)
        else:
            action = position.suggest(stream)
            assert action is not None
            position.apply_action(action)
    return position


def rows(random_games: int, greedy_games: int) -> Iterator[str]:
    """Markdown rows: one a setting, number of players and kind of play."""
    from games import spec

    for setting in SETTINGS:
        for players in (2, 3, 4):
            rules = spec("quarriors").make_rules({**setting, "players": players})
            for kind, play, n in (("random", random_game, random_games), ("greedy", greedy_game, greedy_games)):
                turns, wins, glory, by_goal = [], np.zeros(players), [], 0
                for seed in range(n):
                    table = play(rules, Stream(seed)).to_dict()
                    winners = table["pending"]["winners"]
                    wins[winners] += 1 / len(winners)
                    turns.append(table["turn"] / players)
                    scored = [seat["glory"] for seat in table["players"]]
                    glory.append(scored)
                    by_goal += max(scored) >= {2: 20, 3: 15, 4: 12}[players]
                low, middle, high = np.percentile(turns, (5, 50, 95))
                name = str(setting["edition"]) + "".join(f", {key}" for key in setting if key != "edition")
                share = " / ".join(f"{100 * won / n:.0f}" for won in wins)
                best = np.mean([max(seats) for seats in glory])
                least = np.mean([min(seats) for seats in glory])
                yield (
                    f"| {name} | {players} | {kind} | {n} | {low:.0f} / {middle:.0f} / {high:.0f} | {share} | "
                    f"{best:.1f} | {least:.1f} | {100 * by_goal / n:.0f} % |"
                )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--random", type=int, default=10_000, help="random games a setting")
    parser.add_argument("--greedy", type=int, default=200, help="greedy games a setting")
    given = parser.parse_args()
    for row in rows(given.random, given.greedy):
        print(row, flush=True)


if __name__ == "__main__":
    main()
