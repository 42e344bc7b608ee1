"""Seeds as somebody gives them to compiled code, which would cut them short or complain in its own words."""

from __future__ import annotations

import numbers

from engine_ext.errors import ParameterError, quoted

MOST = 2**64 - 1


def check_seed(seed: object, most: int = MOST) -> int:
    """A seed, as an int.

    Args:
        seed: what was given; numpy's whole numbers are as good as Python's.
        most: the largest that is allowed.

    Raises:
        ParameterError: it is no whole number from 0 to `most`.
    """
    if isinstance(seed, numbers.Integral) and 0 <= int(seed) <= most:
        return int(seed)
    raise ParameterError(f"seed: it must be a whole number from 0 to {most}, got {quoted(seed)}")
