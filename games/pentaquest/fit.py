"""Finds the weights of the estimate among several (outlook.toml) from greedy games.

python -m games.pentaquest.fit --players 2 --games 20000 --seed 1
python -m games.pentaquest.fit --players 2 --games 20000 --seed 1 --original

Most games begin as the rules say, the others at random positions: some of the deck captured, shared out about evenly,
and of every seat's captured cards a random share still in its army. At the beginning of every turn the terms of each
seat are taken; the weights are those of a multinomial logistic regression of who won (a shared win counts as parts of
one), each given by its values at KNOTS cards left and linear between them. A tenth of the games is held out for the log
loss. The weights replace those in the file for that number of seats and rule of scoring.
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from engine_ext.rng import Stream
from games.pentaquest import weights
from games.pentaquest.rules import PentaquestRules
from games.pentaquest.weights import TERMS

Array = npt.NDArray[np.float64]

KNOTS = (1.0, 2.0, 3.0, 4.0, 6.0, 10.0, 16.0, 24.0, 33.0, 42.0)
HELD_OUT = 10  # one game in so many
RIDGE = 1e-5  # times the squared weights, of terms in units of their spread
AREA_AT_TURNS_END = 4  # cards that lie there after a captured one, in the full deck's game
SHIFT = 2  # captured cards that are moved between seats, at most
FROM_THE_START = 0.7  # share of the games


def random_position(rules: PentaquestRules, draw: np.random.Generator) -> dict[str, object]:
    """A position at the beginning of a turn, as a table for `Rules.from_dict`."""
    n = rules.num_players()
    kind_of = [kind for kind, cards in enumerate(rules.kinds) for _ in cards]
    order = [int(card) for card in draw.permutation(len(kind_of))]
    captured = int(draw.integers(0, len(order) - 1))
    shares = [captured // n] * n
    for seat in draw.permutation(n)[: captured % n]:
        shares[seat] += 1
    if captured >= 2 * n:
        for _ in range(int(draw.integers(0, SHIFT + 1))):
            giver, taker = draw.permutation(n)[:2]
            if shares[giver]:
                shares[giver] -= 1
                shares[taker] += 1
    armies: list[dict[str, int]] = []
    discards: list[int] = []
    place = 0
    for share in shares:
        kept = draw.random()
        army: dict[str, int] = {}
        for card in order[place : place + share]:
            if draw.random() < kept:
                symbol = rules.kinds[kind_of[card]][0].symbol
                army[symbol] = army.get(symbol, 0) + 1
        armies.append(army)
        discards.append(share - sum(army.values()))
        place += share
    names = [rules.kinds[kind_of[card]][0].name for card in order[captured:]]
    area = AREA_AT_TURNS_END + int(draw.random() < 0.2)
    seat = int(draw.integers(0, n)) if captured >= n else captured % n
    return {
        "quest": names[:area],
        "deck": names[area:],
        "armies": armies,
        "discards": discards,
        "seat": seat,
        "step": "draw",
    }


def sample(rules: PentaquestRules, games: int, seed: int) -> tuple[Array, Array, Array, npt.NDArray[np.int64]]:
    """Play greedy games.

    Returns:
        [turn] cards left, [turn, seat, term], [turn, seat] share in the win, [turn] number of the game.
    """
    n = rules.num_players()
    draw = np.random.default_rng([seed, n])
    left: list[int] = []
    rows: list[Array] = []
    shares: list[Array] = []
    number: list[int] = []
    for game in range(games):
        stream, turn, start = Stream.keyed(seed, n, game), -1, len(left)
        position = (
            rules.initial_position()
            if draw.random() < FROM_THE_START
            else rules.from_dict(random_position(rules, draw))
        )
        while not position.is_terminal():
            clock = position.clock()
            assert clock is not None
            if clock != turn:
                turn = clock
                count, found = rules.outlook_terms(position)
                left.append(count)
                rows.append(found)
            if position.is_chance_node():
                position.run_chance(stream)
            else:
                action = position.suggest(stream)
                assert action is not None
                position.apply_action(action)
        share = (np.array(position.returns()) * (n - 1) + 1.0) / n
        shares += [share] * (len(left) - start)
        number += [game] * (len(left) - start)
    return np.array(left, np.float64), np.array(rows), np.array(shares), np.array(number)


def spread(left: Array) -> Array:
    """[turn, knot] shares of the knots in a number of cards left."""
    knots = np.array(KNOTS)
    at = np.clip(left, knots[0], knots[-1])
    knot = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
    share = (at - knots[knot]) / (knots[knot + 1] - knots[knot])
    found = np.zeros((len(left), len(knots)))
    found[np.arange(len(left)), knot] = 1.0 - share
    found[np.arange(len(left)), knot + 1] = share
    return found


def loss(flat: Array, terms: Array, knots: Array, shares: Array, ridge: float = RIDGE) -> tuple[float, Array]:
    """Mean of -log(chance given to who won) with its ridge, and the slope.

    Args:
        flat: weights, [term, knot] in one row.
        terms: [turn, seat, term].
        knots: [turn, knot], of `spread`.
        shares: [turn, seat] in the win.
    """
    at = knots @ flat.reshape(len(TERMS), -1).T
    scores = np.einsum("ust,ut->us", terms, at)
    scores -= scores.max(1, keepdims=True)
    chances = np.exp(scores)
    chances /= chances.sum(1, keepdims=True)
    value = -(shares * np.log(np.clip(chances, 1e-12, 1.0))).sum(1).mean()
    slope = np.einsum("us,ust->ut", chances - shares, terms).T @ knots / len(shares)
    return float(value) + ridge * float(flat @ flat), slope.ravel() + 2.0 * ridge * flat


def fit(rules: PentaquestRules, games: int, seed: int) -> tuple[Array, float]:
    """The weights [term, knot], and their log loss on games held out."""
    left, terms, shares, number = sample(rules, games, seed)
    terms -= terms.mean(1, keepdims=True)
    scale = np.sqrt((terms**2).mean((0, 1))) + 1e-9
    terms /= scale
    knots, held = spread(left), number % HELD_OUT == 0
    found = minimize(
        loss,
        np.zeros(len(TERMS) * len(KNOTS)),
        args=(terms[~held], knots[~held], shares[~held]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 300},
    )
    return found.x.reshape(len(TERMS), -1) / scale[:, None], loss(found.x, terms[held], knots[held], shares[held], 0.0)[
        0
    ]


def main() -> None:
    """Fit one number of seats and one rule of scoring, and put the weights into the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--original", action="store_true")
    parser.add_argument("--games", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    from games import spec

    rules = spec("pentaquest").make_rules({"players": given.players, "original": given.original})
    assert isinstance(rules, PentaquestRules)
    values, held_out = fit(rules, given.games, given.seed)
    made = f"python -m games.pentaquest.fit --players {given.players} --games {given.games} --seed {given.seed}"
    if given.original:
        made += " --original"
    new = weights.Fit(given.players, given.original, KNOTS, values, made, held_out)
    others = [fit for fit in weights.read().fits if (fit.players, fit.original) != (given.players, given.original)]
    weights.FILE.write_text(weights.write([*others, new]), encoding="utf-8")
    print(f"{made}: log loss {held_out:.4f} where even chances have {np.log(given.players):.4f}")


if __name__ == "__main__":
    main()
