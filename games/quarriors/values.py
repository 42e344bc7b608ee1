"""What the estimate and the greedy player weigh: numbers found by `fit.py` and `tune.py`, kept in values.toml.

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
    "creatures": "creatures in the Ready Area",
    "guard": "their defence, added up",
    "next_worth": "what the next six dice drawn bring when rolled, in Glory",
    "next_attack": "the attack that they bring",
}


# In the order of `state.pxd`'s G_*, with how many numbers each has. With two, the second is times the
# leader's progress. Unit: the Glory of a creature that lives.
GREEDY = {
    "worth": 2,  # Glory that six dice of the collection bring when rolled
    "attack": 2,  # attack that they bring
    "die": 2,  # a die more in the collection, whatever it is
    "exposed": 2,  # Glory of a creature summoned, whether or not it lives
    "summon": 1,  # a creature summoned, whatever it is
    "strike": 1,  # attack of a creature summoned while a rival has creatures
    "together": 1,  # share by which each further creature summoned gains: damage is shared out
    "draw": 1,  # a die drawn by an immediate face
    "slope": 1,  # of the chance to live in what the attack expected exceeds the defence by
    "danger": 1,  # share of the rival's expected attack that counts
    "second": 1,  # factor on a capture where more than one is allowed
    "live_defense": 1,  # defence that a creature with a counted or copied one is taken to have
}


@functools.cache
def _content() -> dict[str, list[dict[str, object]]]:
    return tomllib.loads(PATH.read_text(encoding="utf-8"))


def _table(kind: str, edition: str, players: int, counts: dict[str, int]) -> list[list[float]]:
    for row in _content()[kind]:
        if row["edition"] == edition and row["players"] == players:
            found: list[list[float]] = []
            for name, count in counts.items():
                numbers = row.get(name)
                if not isinstance(numbers, list) or len(numbers) != count:
                    raise DataError(
                        f"{PATH}: {kind} for {edition}, {players} players: {name} must have {count} numbers"
                    )
                found.append([float(number) for number in numbers])
            return found
    raise DataError(f"{PATH}: no {kind} for edition {edition!r} with {players} players")


def weights(edition: str, players: int) -> list[float]:
    """The weights of the estimate: one for each term, then one for each term times the leader's progress.

    Raises:
        DataError: values.toml has none for this edition and number of players, or not all terms.
    """
    pairs = _table("weights", edition, players, dict.fromkeys(TERMS, 2))
    return [pair[half] for half in (0, 1) for pair in pairs]


def greedy_values(edition: str, players: int) -> list[float]:
    """The numbers of the greedy player, in the order of `GREEDY`.

    Raises:
        DataError: values.toml has none for this edition and number of players, or not all of them.
    """
    return [number for numbers in _table("greedy", edition, players, GREEDY) for number in numbers]


def replace(kind: str, edition: str, players: int, lines: list[str]) -> None:
    """Put a table into values.toml in the place of the one of the same kind, edition and number of players.

    Args:
        kind: `weights` or `greedy`.
        lines: of the table, without its heading, edition and players.
    """
    parts = PATH.read_text(encoding="utf-8").split("\n[[")
    head = f'{kind}]]\nedition = "{edition}"\nplayers = {players}\n'
    parts = [part for part in parts if not part.startswith(head)]
    parts.append(head + "\n".join(lines) + "\n")
    PATH.write_text("\n[[".join([parts[0], *sorted(parts[1:])]), encoding="utf-8")
