"""What browsers send: bodies, form fields, uploaded files, and the game that a form asks for."""

from __future__ import annotations

import secrets
from email.parser import BytesParser
from urllib.parse import parse_qs

from fastapi import Request
from starlette.exceptions import HTTPException

import games
from engine_ext.errors import ParameterError, quoted
from experiments import gametext, ladder
from experiments.play.session import Session

LARGEST_BODY = 4_000_000  # bytes; a saved game of ten thousand steps is a tenth of that


async def body_of(request: Request) -> bytes:
    """A request's body.

    Raises:
        HTTPException: it is larger than any form or saved game.
    """
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_BODY:
            raise HTTPException(413, f"A form or saved game has at most {LARGEST_BODY:,} bytes.")
    return bytes(body)


def fields(body: bytes) -> dict[str, str]:
    """The fields of a form; of a field given twice the first."""
    try:
        found = parse_qs(body.decode(errors="replace"), max_num_fields=50)
    except ValueError:
        return {}
    return {key: values[0] for key, values in found.items()}


def uploaded(kind: str, body: bytes) -> str:
    """The text of the file in a multipart form.

    Raises:
        ParameterError: there is none.
    """
    message = BytesParser().parsebytes(b"Content-Type: " + kind.encode(errors="replace") + b"\r\n\r\n" + body)
    for part in message.walk():
        if part.get_filename():
            content = part.get_payload(decode=True)
            if isinstance(content, bytes):
                return content.decode(errors="replace")
    raise ParameterError("no file was chosen")


def _chosen(given: dict[str, str]) -> str:
    """The text of the game that a form names, with the variant and the number of players chosen beside it."""
    text = given.get("game", "")
    spec = games.SPECS.get(text)
    if spec is None or not {"variant", "players"} & given.keys():
        return text
    variant = given.get("variant", "")
    if variant and variant not in spec.variants:
        raise ParameterError(f"{text} has no variant {variant!r}; it has: {', '.join(spec.variants) or 'none'}")
    chosen = {
        key: str(value).lower() if isinstance(value, bool) else value
        for key, value in spec.variants.get(variant, {}).items()
    }
    if given.get("players"):
        chosen["players"] = given["players"]
    return f"{text}({','.join(f'{key}={value}' for key, value in chosen.items())})" if chosen else text


def session_for(given: dict[str, str], seconds: float) -> Session:
    """The game a form asks for.

    Raises:
        QuandaryError: naming the field that is wrong.
    """
    numbers = {"seat": 0, "seed": secrets.randbits(31)}
    for key in numbers:
        text = given.get(key, "").strip()
        if text:
            if not (text.isascii() and text.isdecimal()) or len(text) > 100:
                raise ParameterError(f"{key} is {quoted(text, 40)}, it must be a whole number")
            numbers[key] = int(text)
    game = gametext.load(_chosen(given), own_only=True)
    bot = given.get("bot", "").strip() or ladder.NAME
    return Session(game, numbers["seat"], [bot], numbers["seed"], seconds=seconds)
