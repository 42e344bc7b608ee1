"""Seeds that belong to a place (experiment, pairing, deal, seat), not to an order of execution."""

from __future__ import annotations

import hashlib


def keyed_seed(*parts: str | int) -> int:
    """The seed that belongs to this key.

    Args:
        parts: what names the place; order matters, and 1 is not "1".

    Returns:
        An int in [0, 2**63), the same on every machine: it also fits a signed 64-bit column.
    """
    digest = hashlib.blake2b(repr(parts).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
