"""A console as wide as the terminal that it writes to."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys

from rich.console import Console, ConsoleDimensions


def width(elsewhere: int) -> int | None:
    """The width for a console on the standard output; None lets the console ask its terminal, or COLUMNS.

    Args:
        elsewhere: columns for output that goes elsewhere, where COLUMNS does not say how many.
    """
    told = os.environ.get("COLUMNS", "")
    return None if sys.stdout.isatty() or (told.isascii() and told.isdecimal() and int(told)) else elsewhere


def spaced(spec: str) -> str:
    """A spec with a space after its commas, where lines can break; not within a quoted name of a file.

    >>> spaced('policy(file="a,b",p=1)')
    'policy(file="a,b", p=1)'
    """
    return re.sub(r'("[^"]*")|,', lambda found: found[1] or ", ", spec)


class Terminal(Console):
    """A console that minds the width of dumb terminals, too: rich takes each of them for 80 columns."""

    @property
    def size(self) -> ConsoleDimensions:
        """Columns and lines, asked anew each time: a terminal's window may change."""
        if not self.is_dumb_terminal:
            return super().size
        columns, lines = shutil.get_terminal_size()  # COLUMNS and LINES, then the standard output's
        if not sys.stdout.isatty():  # which goes elsewhere: the terminal is the one that this console writes to
            with contextlib.suppress(OSError, ValueError):
                own = os.get_terminal_size(self.file.fileno())
                columns = columns if "COLUMNS" in os.environ else own.columns
                lines = lines if "LINES" in os.environ else own.lines
        return ConsoleDimensions(self._width or columns, self._height or lines)

    @size.setter
    def size(self, new_size: tuple[int, int]) -> None:
        self._width, self._height = new_size
