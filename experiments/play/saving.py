"""Saved games: JSON with a version and a checksum, replayed move by move when loaded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine_ext.errors import QuandaryError, SavedStateError, reason
from engine_ext.files import read_text
from experiments import files, gametext
from experiments.config import digest
from experiments.play.session import Session

FORMAT, VERSION, FIRST_VERSION = "quandary game", 2, 1  # the first has no odds
FIELDS: dict[str, type] = {
    "format": str,
    "version": int,
    "game": str,
    "game_version": int,
    "data_sha256": str,
    "seed": int,
    "seat": int,
    "bots": list,
    "actions": list,
    "odds": list,  # [number of the action, what the bot that took it said of it], in order
    "checksum": str,
}
LONGEST_WORDS = 1000


def save(session: Session, path: Path, *, replace: bool = False) -> None:
    """Write a game to a file, whole or not at all.

    Args:
        replace: write over a file that exists.

    Raises:
        SavedStateError: the file exists, or cannot be written.
    """
    if path.exists() and not replace:
        raise SavedStateError(f"{path} exists; it is not written over")
    try:
        files.write_atomically(path, write(session))
    except QuandaryError as error:
        raise SavedStateError(str(error)) from error


def write(session: Session) -> str:
    """A game as the text of a file."""
    content: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "game": session.game.text,
        "game_version": session.rules.version,
        "data_sha256": session.rules.digest,
        "seed": session.seed,
        "seat": session.seat,
        "bots": session.bots,
        "actions": [event.action for event in session.events],
        "odds": [[event, words] for event, words in sorted(session.all_said.items())],
    }
    content["checksum"] = digest(content)
    return files.to_json(content)


def load(path: Path, *, seconds: float | None = None) -> Session:
    """The game of a file, at the point where it was saved, with all moves to take back.

    Args:
        seconds: as `Session`.

    Raises:
        SavedStateError: missing, damaged, of another version of the game or its data.
    """
    try:
        text = read_text(path)
    except FileNotFoundError as error:
        raise SavedStateError(f"{path} does not exist") from error
    except (OSError, ValueError) as error:
        raise SavedStateError(f"{path} is damaged: {reason(error)}") from error
    return read(text, str(path), seconds=seconds)


def read(text: str, where: str, *, seconds: float | None = None) -> Session:
    """The game that a file's text holds.

    Args:
        where: what the file is called in messages.
        seconds: as `Session`.

    Raises:
        SavedStateError: as `load`.
    """
    content = _checked(text, where)
    try:
        game = gametext.load(content["game"], own_only=True)
        assert game.rules is not None
        if (game.rules.version, game.rules.digest) != (content["game_version"], content["data_sha256"]):
            raise SavedStateError(
                f"{where} was saved with version {content['game_version']} of {game.name} and data "
                f"{content['data_sha256'][:12] or 'of none'}; this is version {game.rules.version} with "
                f"{game.rules.digest[:12] or 'none'}"
            )
        session = Session(game, content["seat"], content["bots"], content["seed"], seconds=seconds)
        session.replay(content["actions"], dict(content["odds"]))
    except SavedStateError:
        raise
    except QuandaryError as error:
        raise SavedStateError(f"{where} cannot be taken up: {error}") from error
    return session


def _checked(text: str, where: str) -> dict[str, Any]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SavedStateError(f"{where} is damaged: {error}") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise SavedStateError(f"{where} is not a saved game")
    version = content.get("version")
    if not isinstance(version, int) or not FIRST_VERSION <= version <= VERSION:
        raise SavedStateError(
            f"{where} has version {version!r}; this quandary reads versions {FIRST_VERSION} to {VERSION}"
        )
    fields = {key: kind for key, kind in FIELDS.items() if key != "odds" or version > FIRST_VERSION}
    for key, kind in fields.items():
        if not isinstance(content.get(key), kind):
            raise SavedStateError(f"{where} is damaged: {key} is missing or not a {kind.__name__}")
    if set(content) != set(fields):
        raise SavedStateError(f"{where} is damaged: unknown key {min(set(content) - set(fields))!r}")
    checksum = content.pop("checksum")
    if digest(content) != checksum:
        raise SavedStateError(f"{where} is damaged: its checksum does not match")
    if not all(isinstance(action, int) for action in content["actions"]):
        raise SavedStateError(f"{where} is damaged: actions are not all whole numbers")
    content.setdefault("odds", [])
    if not all(_is_said(entry, len(content["actions"])) for entry in content["odds"]):
        raise SavedStateError(f"{where} is damaged: odds are not all the number of an action and a line of text")
    return content


def _is_said(entry: Any, n_actions: int) -> bool:
    """Whether an entry of the odds is the number of an action and a line of text."""
    if not isinstance(entry, list) or len(entry) != 2 or type(entry[0]) is not int or not isinstance(entry[1], str):
        return False
    number, words = entry
    return 0 <= number < n_actions and len(words) <= LONGEST_WORDS and words.isprintable()
