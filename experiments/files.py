"""Files that are either whole or not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine_ext.errors import ResultsError, reason
from engine_ext.files import read_text, whole_file


def write_atomically(path: Path, content: str | bytes) -> None:
    """Write a file, text as UTF-8, so that a crash leaves the old file or the new one, never half of one.

    Raises:
        ResultsError: the folder cannot be written to.
    """
    try:
        with whole_file(path) as file:
            file.write(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise ResultsError(f"{path} cannot be written: {reason(error)}") from error


def read_json(path: Path, what: str) -> dict[str, Any]:
    """A JSON object from a file.

    Args:
        what: what the file should be, for the message.

    Raises:
        ResultsError: missing, or not a JSON object.
    """
    try:
        content = json.loads(read_text(path))
    except FileNotFoundError as error:
        raise ResultsError(f"{path} does not exist: there is no {what}") from error
    except NotADirectoryError as error:
        raise ResultsError(f"{path.parent} is a file: there is no {what} in it") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ResultsError(f"{path} is damaged: {reason(error)}") from error
    if not isinstance(content, dict):
        raise ResultsError(f"{path} is damaged: it holds no {what}")
    return content


def to_json(content: Any) -> str:
    """Readable JSON, ending in a newline."""
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def from_json(text: str) -> Any:
    """What JSON text holds."""
    return json.loads(text)
