"""Finds the numbers of values.toml from games of the greedy player against itself.

python -m games.quarriors.fit --games 20000 --write

Games begin with a stretch of partly random play, so that odd collections are seen too; after it, a position is
taken at the beginning of each turn. The weights are those of a multinomial logistic
regression of who won on `values.TERMS` (a shared win counts as parts of one), with a fifth of the games held
out for the log loss that is printed and stored.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from engine_ext.rng import Stream
from games.quarriors import values
from games.quarriors.rules import QuarriorsRules

Array = npt.NDArray[np.float64]

EDITIONS = ("base", "light_vs_dark")
HELD_OUT = 5  # one game in so many
RIDGE = 1e-5  # times the squared weights of standardised terms


@dataclass(frozen=True)
class Sample:
    """Positions of greedy games and how they ended.

    Attributes:
        terms: [position, seat, term] as `QuarriorsRules.value_terms` gives them.
        shares: [position, seat] share in the win.
        game: [position] number of the game.
        estimate: [position, seat] chance to win by the weights in use when the sample was drawn.
    """

    terms: Array
    shares: Array
    game: npt.NDArray[np.int64]
    estimate: Array


def sample(rules: QuarriorsRules, games: int, seed: int) -> Sample:
    """Play greedy games and take positions from them.

    Args:
        rules: the setting.
        games: how many.
        seed: int in [0, 2**63).
    """
    players = rules.num_players()
    terms: list[npt.NDArray[np.float32]] = []
    shares: list[Array] = []
    numbers: list[int] = []
    estimates: list[list[float] | None] = []
    for game in range(games):
        stream = Stream.keyed(seed, players, game)
        # A third of the games are greedy throughout; the others wander for up to 14 turns.
        wander = stream.below(14) if game % 3 else 0
        noise = 0.2 if game % 2 else 0.5
        position, turn, start = rules.initial_position(), -1, len(terms)
        while not position.is_terminal():
            now = position.clock()
            assert now is not None
            taken = now != turn and now >= max(1, wander)
            turn = now
            if position.is_chance_node():
                if taken:
                    terms.append(np.array(rules.value_terms(position), np.float32))
                    estimates.append(position.estimate())
                position.run_chance(stream)
                continue
            if now < wander and stream.double() < noise:
                action = position.random_action(stream)
            else:
                suggested = position.suggest(stream)
                assert suggested is not None
                action = suggested
            if taken:
                terms.append(np.array(rules.value_terms(position), np.float32))
                estimates.append(position.estimate())
            position.apply_action(action)
        share = _shares(np.array(position.returns()))
        shares += [share] * (len(terms) - start)
        numbers += [game] * (len(terms) - start)
    return Sample(np.array(terms, np.float64), np.array(shares), np.array(numbers), _shares(np.array(estimates)))


def _shares(utility: Array) -> Array:
    """Shares in the win from utilities (`win`)."""
    n = utility.shape[-1]
    return (utility * (n - 1) + 1.0) / n


def log_loss(chances: Array, shares: Array) -> float:
    """Mean of -log(chance given to who won)."""
    return float(-(shares * np.log(np.clip(chances, 1e-9, 1.0))).sum(1).mean())


def softmax(scores: Array) -> Array:
    """[position, seat] scores to chances."""
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def fit(terms: Array, shares: Array) -> Array:
    """[term] weights of the multinomial logistic regression."""
    spread = terms.reshape(-1, terms.shape[2]).std(0) + 1e-9
    scaled = terms / spread

    def loss(weights: Array) -> tuple[float, Array]:
        chances = softmax(scaled @ weights)
        slope = np.einsum("ps,pst->t", chances - shares, scaled) / len(shares)
        return log_loss(chances, shares) + RIDGE * float(weights @ weights), slope + 2.0 * RIDGE * weights

    found = minimize(loss, np.zeros(terms.shape[2]), jac=True, method="L-BFGS-B", options={"maxiter": 500})
    return np.asarray(found.x / spread)


def row(edition: str, players: int, games: int, seed: int) -> list[str]:
    """The lines of one table of values.toml."""
    from games import spec

    rules = spec("quarriors").make_rules({"edition": edition, "players": players})
    assert isinstance(rules, QuarriorsRules)
    drawn = sample(rules, games, seed)
    held = drawn.game % HELD_OUT == 0
    weights = fit(drawn.terms[~held], drawn.shares[~held])
    chances = softmax(drawn.terms @ weights)
    even = log_loss(np.full_like(drawn.shares, 1.0 / players)[held], drawn.shares[held])
    before = log_loss(drawn.estimate[held], drawn.shares[held])
    after = log_loss(chances[held], drawn.shares[held])
    print(
        f"# {edition}, {players} players: {len(held)} positions, log loss {even:.4f} for even chances, "
        f"{before:.4f} with the weights in use, {after:.4f} with these",
        flush=True,
    )
    lines = [
        f"games = {games}",
        f"seed = {seed}",
        f"positions = {len(held)}",
        f"log_loss_even = {even:.4f}",
        f"log_loss = {after:.4f}",
    ]
    half = len(values.TERMS)
    lines += [f"{term} = [{weights[i]:.4f}, {weights[half + i]:.4f}]" for i, term in enumerate(values.TERMS)]
    return lines


def main() -> None:
    """Print or write values.toml."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=20_000, help="greedy games a setting")
    parser.add_argument("--seed", type=int, default=1, help="of the games")
    parser.add_argument("--write", action="store_true", help=f"write {values.PATH.name} instead of printing it")
    given = parser.parse_args()
    for edition in EDITIONS:
        for players in (2, 3, 4):
            lines = row(edition, players, given.games, given.seed)
            if given.write:
                values.replace("weights", edition, players, lines)
            else:
                print(edition, players, *lines, sep="\n")


if __name__ == "__main__":
    main()
