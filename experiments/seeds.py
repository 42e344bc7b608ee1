"""Seeds that belong to a place (experiment, pairing, deal, seat), not to an order of execution."""

from __future__ import annotations

import hashlib

from engine_ext.errors import quoted
from engine_ext.seeds import check_seed

MOST = 2**63 - 1  # fits a signed 64-bit column
RANGE = f"0 to {MOST}"


def check(seed: int) -> int:
    """A seed that somebody has given.

    Raises:
        ParameterError: it is not in `RANGE`.
    """
    return check_seed(seed, MOST)


def checked(seed: int) -> int:
    """The same inside a config, where what is wrong is told with file and key.

    Raises:
        ValueError: it is not in `RANGE`.
    """
    if not 0 <= seed <= MOST:
        raise ValueError(f"it must be a whole number from {RANGE}, got {quoted(seed)}")
    return seed


def keyed_seed(*parts: str | int) -> int:
    """The seed that belongs to this key.

    Args:
        parts: what names the place; order matters, and 1 is not "1".

    Returns:
        An int in `RANGE`, the same on every machine.
    """
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
