"""What the greedy player and the estimate weigh: numbers found by `games.quarriors.fit`, kept in values.toml.

The estimate is a softmax over seats of a weighted sum. Its summands are the terms below, each once as
it is and once times how far the leader has come (the most Glory of any seat over the goal), so each
term has two weights.
"""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path

from engine_ext.errors import DataError

PATH = Path(__file__).parent / "values.toml"

# In the order of `greedy.value_terms`.
TERMS = {
    "turn": "1 for the seat whose turn it is",
    "glory": "Glory scored",
    "expected": "Glory of the creatures in the Ready Area, each times its chance to live until its seat scores",
    "exposed": "the same Glory without the chances",
    "worth": "what six dice of the collection bring when rolled once, in Glory",
    "attack": "the attack that six dice of the collection bring when rolled once",
    "dice": "dice in the collection",
    "spells": "readied spells",
}


@functools.cache
def _content() -> dict[str, list[dict[str, object]]]:
    return tomllib.loads(PATH.read_text(encoding="utf-8"))


def weights(edition: str, players: int) -> list[float]:
    """The weights of the estimate: one for each term, then one for each term times the leader's progress.

    Raises:
        DataError: values.toml has none for this edition and number of players, or not all terms.
    """
    for row in _content()["weights"]:
        if row["edition"] == edition and row["players"] == players:
            pairs = [row.get(term) for term in TERMS]
            if not all(isinstance(pair, list) and len(pair) == 2 for pair in pairs):
                raise DataError(f"{PATH}: weights for {edition}, {players} players: each term has two numbers")
            return [float(pair[half]) for half in (0, 1) for pair in pairs]  # type: ignore[index]
    raise DataError(f"{PATH}: no weights for edition {edition!r} with {players} players")
