"""Tables that narrow terminals can read: no word is broken, nothing is cut off."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from typing import Any

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Column, Table
from rich.text import Text


class WordTable(Group):
    """A table whose columns are at least as wide as their longest word.

    Where the terminal has not even room for that, each row stands as a block of its own: the first cell as its
    heading, and below it the others with the names of their columns. On a page it is the table.

    Args:
        table: without a box and without padding at its edges; cells and headers are strings or Texts.

    Attributes:
        table: the same.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        super().__init__(table)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = self.table.columns
        words = [_widest(column, str.split) for column in columns]
        lines = [_widest(column, str.splitlines) for column in columns]
        _, right, _, left = self.table.padding
        room = options.max_width - (right + left) * (len(columns) - 1)
        if sum(lines) <= room:
            yield self.table
        elif sum(words) <= room:
            yield self._fitted(_shared(words, lines, room))
        else:
            yield self._stacked()

    def _fitted(self, widths: Sequence[int]) -> Table:
        fitted = copy.copy(self.table)
        fitted.columns = [
            dataclasses.replace(column, width=width) for column, width in zip(self.table.columns, widths, strict=True)
        ]
        return fitted

    def _stacked(self) -> Group:
        heads = [_plain(column.header) for column in self.table.columns]
        wide = max(map(len, heads[1:]), default=0)
        parts: list[Any] = [Text(_plain(self.table.title), style="italic")] if self.table.title else []
        for heading, *cells in zip(*(column.cells for column in self.table.columns), strict=True):
            parts.append(Text(_plain(heading), style="bold"))
            block = Table.grid(padding=(0, 1, 0, 0))
            block.add_column(no_wrap=True, style="dim")
            block.add_column(overflow="fold")
            for head, cell in zip(heads[1:], cells, strict=True):
                if _plain(cell):
                    block.add_row(Text(f"  {head:<{wide}}"), cell if isinstance(cell, Text) else Text(_plain(cell)))
            if block.row_count:
                parts.append(block)
        return Group(*parts)


def _plain(content: Any) -> str:
    return content.plain if isinstance(content, Text) else Text.from_markup(str(content or "")).plain


def _widest(column: Column, split: Any) -> int:
    """Cells of the widest piece of a column, its header included."""
    texts = [_plain(column.header), *map(_plain, column.cells)]
    return max((cell_len(piece) for text in texts for piece in split(text)), default=0)


def _shared(least: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """Widths between least and most that fill the room: a space goes to whoever lacks most."""
    widths = list(least)
    for _ in range(room - sum(widths)):
        lacking = [wanted - width for wanted, width in zip(most, widths, strict=True)]
        if max(lacking) <= 0:
            break
        widths[lacking.index(max(lacking))] += 1
    return widths
