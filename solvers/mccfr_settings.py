"""What the two forms of MCCFR, on a tree and without one, have in common: settings and checkpoints."""

from __future__ import annotations

from collections.abc import Sequence

from engine_ext.errors import ParameterError

SAMPLING = ("external", "outcome")
WHEN_FULL = ("uniform", "stop")
DEFAULT_WALK_NODES = 5_000_000  # a few seconds
CHECKPOINT_KIND = "MCCFR checkpoint"
CHECKPOINT_VERSION = 2


def check_sampling(sampling: str, epsilon: float) -> None:
    """Raise ParameterError where `sampling` is no way to sample or `epsilon` no share of exploration."""
    check_choice("sampling", sampling, SAMPLING)
    if not 0 < epsilon <= 1:
        raise ParameterError(f"epsilon is {epsilon}, it must be above 0 and at most 1")


def check_choice(name: str, value: str, allowed: Sequence[str]) -> None:
    """Raise ParameterError where a parameter is none of the words allowed."""
    if value not in allowed:
        raise ParameterError(f"{name} is {value!r}, allowed are {', '.join(allowed)}")


def check_iterations(iterations: int) -> None:
    """Raise ParameterError where a number of iterations is none."""
    if not 0 <= iterations < 2**62:
        raise ParameterError(f"iterations is {iterations}, it must be 0 or more")
