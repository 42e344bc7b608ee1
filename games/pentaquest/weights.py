"""The weights of the estimate among several: reading and writing outlook.toml, which fit.py makes."""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from engine_ext.errors import DataError, reason
from engine_ext.files import read_text

FILE = Path(__file__).parent / "outlook.toml"
# A seat's terms, in the order of `set_terms` in outlook.pyx.
TERMS = (
    "points",  # that it has and that come if nobody fails any more
    "add",  # army cards of each symbol
    "sub",
    "addsub",
    "reroll",
    "mirror",
    "turns",  # to come if nobody fails any more
    "few",  # exp(-army / 2)
    "none",  # exp(-3 army / 2)
    "early",  # 1 for the seat that is next, falling to 0 for the last one
    "toll_few",  # how hard the cards left are: mean cube of the chance to miss them, by `few`
    "toll_army",  # and by army card
    "easiest",  # for the seat that is next: the best chance to beat a card that lies there
    "second",  # the second best
    "any",  # the chance to beat one of them, as if they were independent
    "easiest_few",  # the best by `few`
    "free",  # 1 for the seat that is next when a failed turn would cost no turn
    "free_few",  # and by `few`
)
N_KNOTS = 10


@dataclass(frozen=True)
class Fit:
    """Weights for one number of seats and one rule of scoring.

    Attributes:
        players: seats.
        original: the original scoring (P12).
        knots: [N_KNOTS] cards left, ascending.
        weights: [term, knot].
        made: the command that found them.
        log_loss: of the chances to win, on games held out.
    """

    players: int
    original: bool
    knots: tuple[float, ...]
    weights: npt.NDArray[np.float64]
    made: str
    log_loss: float


@dataclass(frozen=True)
class Outlook:
    """All weights of the file."""

    fits: tuple[Fit, ...]

    def nearest(self, players: int, original: bool) -> Fit:
        """The weights for the number of seats that is nearest, of two the smaller, under this rule of scoring."""
        return min(
            (fit for fit in self.fits if fit.original == original),
            key=lambda fit: (abs(fit.players - players), fit.players),
        )


@functools.cache
def read(path: Path = FILE) -> Outlook:
    """The weights in a file.

    Raises:
        DataError: not readable, not TOML, or malformed; names file, fit and key.
    """
    try:
        content = tomllib.loads(read_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"outlook {path}: {reason(error)}") from error
    fits = tuple(_fit(path, number, table) for number, table in enumerate(content.get("fit", []), 1))
    for original in (False, True):
        if not any(fit.original == original for fit in fits):
            raise DataError(f"outlook {path}: there is no [[fit]] with original = {str(original).lower()}")
    return Outlook(fits)


def _fit(path: Path, number: int, table: dict[str, object]) -> Fit:
    where = f"outlook {path}: fit {number}"
    kinds = {"players": int, "original": bool, "made": str, "log_loss": float, "knots": list, "weights": dict}
    for key, kind in kinds.items():
        if type(table.get(key)) is not kind:
            raise DataError(f"{where}: {key} is {table.get(key)!r}, must be a {kind.__name__}")
    knots, rows = table["knots"], table["weights"]
    assert isinstance(knots, list)
    assert isinstance(rows, dict)
    if tuple(rows) != TERMS:
        raise DataError(f"{where}: weights has the terms {', '.join(rows)}; they must be {', '.join(TERMS)}")
    for name, row in (("knots", knots), *rows.items()):
        if len(row) != N_KNOTS or not all(isinstance(value, (int, float)) for value in row):
            raise DataError(f"{where}: {name} is {row!r}, must be {N_KNOTS} numbers")
    if sorted(set(knots)) != knots:
        raise DataError(f"{where}: knots is {knots!r}, must ascend")
    return Fit(
        players=int(str(table["players"])),
        original=table["original"] is True,
        knots=tuple(float(knot) for knot in knots),
        weights=np.array([rows[term] for term in TERMS], dtype=np.float64),
        made=str(table["made"]),
        log_loss=float(str(table["log_loss"])),
    )


def write(fits: list[Fit]) -> str:
    """The text of a file with these weights."""
    parts = [
        "# Weights of the estimate among several (outlook.pyx). Written by games/pentaquest/fit.py; do not edit.\n"
    ]
    for fit in sorted(fits, key=lambda fit: (fit.original, fit.players)):
        lines = [
            "[[fit]]",
            f"players = {fit.players}",
            f"original = {str(fit.original).lower()}",
            f'made = "{fit.made}"',
            f"log_loss = {fit.log_loss:.4f}",
            f"knots = [{', '.join(f'{knot:g}' for knot in fit.knots)}]",
            "[fit.weights]",
            *(
                f"{term} = [{', '.join(f'{value:.4f}' for value in row)}]"
                for term, row in zip(TERMS, fit.weights, strict=True)
            ),
        ]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)
