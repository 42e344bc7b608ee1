"""What a game allows its results to be: rows beyond that come from no run, and must not become findings."""

from __future__ import annotations

import math

from engine_ext.errors import ResultsError
from experiments import arena, convergence, gametext
from experiments.config import ExperimentConfig
from experiments.store import Store

ROUNDING = 1e-9  # of what a game's utilities span


def check(config: ExperimentConfig, store: Store) -> None:
    """Hold every utility to the range of its game, and every distance from the exact answer to what there can be.

    Args:
        config: in canonical text.
        store: the results.

    Raises:
        ResultsError: naming file, job and value.
    """
    for i, each in enumerate(config.arena, 1):
        rules = gametext.load(each.game, own_only=True).rules
        assert rules is not None
        low, high = gametext.utility_range(rules)
        spare = ROUNDING * (high - low)
        for key, seat, _, utility in store.seats_beyond(arena.prefix(i), low - spare, high + spare):
            raise ResultsError(
                f"{store.path} is damaged: {key!r} gives seat {seat} the utility {utility:g}, and {each.game} "
                f"gives {low:g} to {high:g}"
            )
    for i, curve in enumerate(config.convergence, 1):
        own = gametext.load(curve.game).rules
        # OpenSpiel's games declare ranges that not all of them keep to.
        low, high = (0.0, math.inf) if own is None else gametext.utility_range(own)
        most = (high - low) * (1 + ROUNDING)
        for key, measure, value in store.measures_beyond(convergence.prefix(i), 0.0, most):
            raise ResultsError(
                f"{store.path} is damaged: {key!r} has the {measure} {value:g}, and a distance from the exact answer "
                f"is {f'0 to {high - low:g} in {curve.game}' if own is not None else 'never below 0'}"
            )
