"""The three standard streams, made fit to work with whatever they were given as.

A stream that is closed (`quandary ... >&-`) would leave its number to the next file that is opened, and `None` to
Python. One whose encoding lacks a sign (`PYTHONIOENCODING=ascii`, the POSIX locale) would end a command over it.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
import unicodedata

PLAIN = "quandary.plain"
# Of one letter where tables and boards count on the width.
_SIGNS = {
    "±": "+-",
    "×": "x",
    "−": "-",
    "–": "-",
    "—": "-",
    "…": "~",
    "·": ".",
    "→": ">",
    "↻": "r",
    "⇅": "m",
    "☀": "S",
    "☾": "M",
    "≈": "~",
    "▒": "%",
    "│": "|",
    "╱": "/",
    "╲": "\\",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
}


def make_fit() -> None:
    """Open the streams that are closed, and have all write in plain signs what their encoding lacks.

    Nothing comes from a standard input that was closed, and what goes to the standard error is lost. Writing to a
    standard output that was closed stays an error: results have nowhere to go.
    """
    for number, flags in ((0, os.O_RDONLY), (1, os.O_RDONLY), (2, os.O_WRONLY)):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, flags)
            os.dup2(opened, number)  # which processes that this one starts have, too
            if opened > 2:
                os.close(opened)
    # Python's own way, kept for good: `closefd` would close the numbers again.
    sys.stdin = sys.stdin or open(0, closefd=False)  # noqa: SIM115
    sys.stdout = sys.stdout or open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = sys.stderr or open(2, "w", closefd=False)  # noqa: SIM115
    for stream, errors in ((sys.stdin, "surrogateescape"), (sys.stdout, PLAIN), (sys.stderr, PLAIN)):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=errors)


def _plain(error: UnicodeError) -> tuple[str | bytes, int]:
    """What stands for signs that an encoding lacks; bytes of a file's name that were no text stay as they are."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    signs = error.object[error.start : error.end]
    found = b"".join(_of_sign(sign) for sign in signs)
    return found, error.end


def _of_sign(sign: str) -> bytes:
    if "\udc80" <= sign <= "\udcff":
        return bytes([ord(sign) - 0xDC00])
    letters = _SIGNS.get(sign) or unicodedata.normalize("NFKD", sign)
    return letters.encode("ascii", "ignore") or b"?"


codecs.register_error(PLAIN, _plain)
