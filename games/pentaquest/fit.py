"""Finds the weights of the estimate between two (OUTLOOK in plan.pyx) from greedy games.

python -m games.pentaquest.fit --games 30000 --seed 1

Games begin from random positions: some of the deck captured, shared out about evenly, and of every seat's captured
cards a random share still in its army. At the beginning of every turn the terms of each seat are taken; the weights are
those of a multinomial logistic regression of who won (a shared win counts as parts of one), each given by its values
at KNOTS cards left and linear between them. A fifth of the games is held out for the log loss.
"""

from __future__ import annotations

import argparse

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from engine_ext.rng import Stream
from games.pentaquest.cards import SYMBOLS
from games.pentaquest.rules import PentaquestRules

Array = npt.NDArray[np.float64]

KNOTS = np.array([1.0, 6.0, 14.0, 24.0, 33.0, 42.0])
TERMS = ("point", "army", "turns", "few", "none", "next", "easiest", "second")
HELD_OUT = 5  # one game in so many
RIDGE = 1e-5  # times the squared weights
AREA_AT_TURNS_END = 4  # cards that lie there after a captured one, in the full deck's game
SHIFT = 2  # captured cards that are moved between seats, at most


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


def terms(position: dict[str, object], ease: dict[str, float]) -> tuple[int, Array]:
    """Cards left and [seat, term] at the beginning of a turn; the terms as in `plan.foretell`."""
    quest, armies, discards = position["quest"], position["armies"], position["discards"]
    deck, first = position["deck"], position["seat"]
    assert isinstance(quest, list)
    assert isinstance(deck, list)
    assert isinstance(armies, list)
    assert isinstance(discards, list)
    assert isinstance(first, int)
    n, left = len(armies), len(deck) + len(quest)
    lying = [0.0, 0.0, *sorted(ease[name] for name in set(quest))]
    found = np.zeros((n, len(TERMS)))
    for seat, held in enumerate(armies):
        army = sum(held.get(symbol, 0) for symbol in SYMBOLS)
        away = (seat - first) % n
        turns = max(0, -((away - left) // n))
        found[seat, :6] = (
            army + discards[seat] + turns,
            army,
            turns,
            np.exp(-0.5 * army),
            np.exp(-1.5 * army),
            1.0 - away / (n - 1),
        )
        if away == 0:
            found[seat, 6:] = lying[-1], lying[-2]
    return left, found


def sample(rules: PentaquestRules, games: int, seed: int) -> tuple[Array, Array, Array, npt.NDArray[np.int64]]:
    """Play greedy games from random positions.

    Returns:
        [turn] cards left, [turn, seat, term], [turn, seat] share in the win, [turn] number of the game.
    """
    n = rules.num_players()
    ease = {cards[0].name: rules.ease[kind] for kind, cards in enumerate(rules.kinds)}
    draw = np.random.default_rng([seed, n])
    left: list[int] = []
    rows: list[Array] = []
    shares: list[Array] = []
    number: list[int] = []
    for game in range(games):
        position, stream, turn = rules.from_dict(random_position(rules, draw)), Stream.keyed(seed, n, game), -1
        start = len(left)
        while not position.is_terminal():
            clock = position.clock()
            assert clock is not None
            if clock != turn:
                turn = clock
                count, found = terms(position.to_dict(), ease)
                left.append(count)
                rows.append(found)
            if position.is_chance_node():
                position.apply_action(position.sample(stream))
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
    at = np.clip(left, KNOTS[0], KNOTS[-1])
    knot = np.clip(np.searchsorted(KNOTS, at, side="right") - 1, 0, len(KNOTS) - 2)
    share = (at - KNOTS[knot]) / (KNOTS[knot + 1] - KNOTS[knot])
    found = np.zeros((len(left), len(KNOTS)))
    found[np.arange(len(left)), knot] = 1.0 - share
    found[np.arange(len(left)), knot + 1] = share
    return found


def loss(weights: Array, inputs: Array, shares: Array) -> tuple[float, Array]:
    """Mean of -log(chance given to who won) with its ridge, and the slope."""
    scores = inputs @ weights
    scores -= scores.max(1, keepdims=True)
    chances = np.exp(scores)
    chances /= chances.sum(1, keepdims=True)
    value = -(shares * np.log(np.clip(chances, 1e-12, 1.0))).sum(1).mean()
    slope = np.einsum("ps,pst->t", chances - shares, inputs) / len(shares)
    return float(value) + RIDGE * float(weights @ weights), slope + 2.0 * RIDGE * weights


def main() -> None:
    """Fit one number of seats and print the rows of OUTLOOK."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--players", type=int, default=2)
    parser.add_argument("--games", type=int, default=30_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    from games import spec

    rules = spec("pentaquest").make_rules({"players": given.players})
    assert isinstance(rules, PentaquestRules)
    left, rows, shares, number = sample(rules, given.games, given.seed)
    rows -= rows.mean(1, keepdims=True)
    inputs = (rows[:, :, :, None] * spread(left)[:, None, None, :]).reshape(*rows.shape[:2], -1)
    held = number % HELD_OUT == 0
    found = minimize(
        loss,
        np.zeros(inputs.shape[2]),
        args=(inputs[~held], shares[~held]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 400},
    )
    held_loss = loss(found.x, inputs[held], shares[held])[0]
    print(
        f"# {given.players} seats, {given.games} games, seed {given.seed}: log loss {held_loss:.4f} "
        f"where even chances have {np.log(given.players):.4f}"
    )
    for name, weights in zip(TERMS, found.x.reshape(len(TERMS), -1), strict=True):
        print(f"    [{', '.join(f'{weight:.3f}' for weight in weights)}],  # {name}")


if __name__ == "__main__":
    main()
