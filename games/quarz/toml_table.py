"""TOML files and tables that know where they stand and complain by name."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from engine_ext.errors import DataError, reason
from engine_ext.files import read_text

PROVENANCES = ("rulebook", "sourced", "reconstructed")


class TomlTable:
    """A table of a file, which knows where it stands; every method that reads a key complains by name.

    Args:
        content: what stands there, of whatever type.
        where: file and record, for messages.
        allowed: the keys that the table may have.

    Attributes:
        content: the table as read.
        where: as given.

    Raises:
        DataError: not a table, or with another key.
    """

    def __init__(self, content: Any, where: str, allowed: set[str]) -> None:
        if not isinstance(content, dict):
            raise DataError(f"{where} must be a table, not {content!r}")
        for key in content:
            if key not in allowed:
                raise DataError(f"{where}: unknown key {key!r}; allowed: {', '.join(sorted(allowed))}")
        self.content, self.where = content, where

    def get(self, key: str, kind: type, default: Any = None) -> Any:
        """The value of a key, of exactly this type; the default where it is left out, DataError without one."""
        if key not in self.content:
            if default is None:
                raise DataError(f"{self.where}: the key {key!r} is missing")
            return default
        value = self.content[key]
        if type(value) is not kind:
            raise DataError(f"{self.where}: {key} is {value!r}, must be of type {kind.__name__}")
        return value

    def text(self, key: str) -> str:
        """A text that is not empty."""
        value = self.get(key, str)
        if not value.strip():
            raise DataError(f"{self.where}: {key} is {value!r}, must be a text that is not empty")
        return str(value)

    def numbers(self, key: str, length: int, allowed: range) -> list[int]:
        """A list of `length` ints, each in a range."""
        value = self.get(key, list)
        if len(value) != length or any(type(part) is not int or part not in allowed for part in value):
            span = f"{allowed.start} to {allowed.stop - 1}"
            raise DataError(f"{self.where}: {key} is {value!r}, must be {length} ints of {span}")
        return list(value)

    def halves(self, key: str, most: int) -> float:
        """A multiple of 0.5, from 0 to `most`."""
        value: Any = self.content.get(key)
        if type(value) not in (int, float) or not 0 <= value <= most or 2 * value != int(2 * value):
            raise DataError(f"{self.where}: {key} is {value!r}, must be a multiple of 0.5 of 0 to {most}")
        return float(value)

    def provenance(self) -> str:
        """Where the record comes from, one of `PROVENANCES`."""
        return self.word("provenance", PROVENANCES)

    def number(self, key: str, allowed: range, default: int | None = None) -> int:
        """An int of a range."""
        value = self.get(key, int, default)
        if value not in allowed:
            raise DataError(f"{self.where}: {key} is {value}, allowed are {allowed.start} to {allowed.stop - 1}")
        return int(value)

    def word(self, key: str, allowed: tuple[str, ...], default: str | None = None) -> str:
        """One of a few texts."""
        value = self.get(key, str, default)
        if value not in allowed:
            raise DataError(f"{self.where}: {key} is {value!r}, allowed are {', '.join(map(repr, allowed))}")
        return str(value)


def load_toml(path: Path) -> dict[str, Any]:
    """A file's top table.

    Raises:
        DataError: it cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(read_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: {reason(error)}") from error


def records_of(path: Path, content: dict[str, Any], key: str) -> list[Any]:
    """The records `[[key]]` of a file's top table, one at least."""
    records = content.get(key)
    if not isinstance(records, list) or not records:
        raise DataError(f"{path}: must hold [[{key}]] records")
    return records


def only_records(path: Path, key: str) -> list[Any]:
    """The records `[[key]]` of a file that holds nothing else."""
    content = load_toml(path)
    TomlTable(content, str(path), {key})
    return records_of(path, content, key)


def require_distinct(where: str, kind: str, names: list[str]) -> None:
    """Raise DataError where two records of a kind share a name."""
    double = [name for name in names if names.count(name) > 1]
    if double:
        raise DataError(f"{where}: two {kind} share the name {double[0]!r}")
