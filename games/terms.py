"""The terms of a game, as its folder explains them: `terms.toml`, told by `about TERM` and on the page.

    [[term]]
    name = "stun"
    text = "a token on a monster: its next movement costs 1 energy more for each, and takes them off"
    rule = "Q43"                        # its number, or its place in the rules
    when = { distinct = false }         # as needed: parameters with which the text is meant

The words are this project's own. Of several terms of one name the first counts whose `when` is met.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine_ext.errors import DataError, reason

KEYS: Mapping[str, type] = {"name": str, "text": str, "rule": str, "when": dict}


@dataclass(frozen=True)
class Term:
    """One term.

    Attributes:
        name: what it is called, and looked up by.
        text: what it means, without a full stop.
        rule: where the rules say so.
        when: parameter to the list of its values with which the text is meant.
    """

    name: str
    text: str
    rule: str
    when: Mapping[str, Sequence[Any]] = field(default_factory=dict)

    def holds(self, parameters: Mapping[str, Any]) -> bool:
        """Whether the text is meant for a game with these parameters."""
        return all(parameters[key] in values for key, values in self.when.items())


def read(path: Path, parameters: Mapping[str, Any]) -> list[Term]:
    """The terms of a file; none where there is no file.

    Args:
        parameters: of the game, with their defaults.

    Raises:
        DataError: not TOML, or a key that is missing, unknown or of the wrong type.
    """
    if not path.exists():
        return []
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise DataError(f"{path}: {reason(error)}") from error
    rows = content.get("term")
    if set(content) - {"term"} or not isinstance(rows, list):
        raise DataError(f"{path}: it must be a list of [[term]] tables and nothing else")
    return [_read(row, f"{path}: term[{number}]", parameters) for number, row in enumerate(rows, 1)]


def _read(row: Any, where: str, parameters: Mapping[str, Any]) -> Term:
    if not isinstance(row, dict):
        raise DataError(f"{where} must be a table")
    for key, value in row.items():
        if key not in KEYS:
            raise DataError(f"{where}: unknown key {key!r}; allowed: {', '.join(KEYS)}")
        if not isinstance(value, KEYS[key]) or not value:
            raise DataError(f"{where}: {key} must be a {KEYS[key].__name__}, and not empty")
    for key in ("name", "text", "rule"):
        if key not in row:
            raise DataError(f"{where}: the key {key!r} is missing")
    return Term(row["name"], row["text"], row["rule"], read_when(row.get("when", {}), where, parameters))


def read_when(when: Mapping[str, Any], where: str, parameters: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Under which values of a game's parameters a row of a data file holds: lists by parameter.

    Args:
        when: the row's own table, from parameters to a value or a list of values.
        where: the row, for messages.
        parameters: of the game, with their defaults.

    Raises:
        DataError: an unknown parameter, or a value of another type than its default.
    """
    found = {key: value if isinstance(value, list) else [value] for key, value in when.items()}
    for key, values in found.items():
        if key not in parameters:
            raise DataError(f"{where}: when: the game has no parameter {key!r}; it has: {', '.join(parameters)}")
        if any(type(each) is not type(parameters[key]) for each in values):
            raise DataError(f"{where}: when: {key} must be of type {type(parameters[key]).__name__}")
    return found
