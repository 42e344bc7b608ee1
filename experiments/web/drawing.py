"""A game's view as HTML: the same renderables that the terminal prints, as tables, cards and text.

A page has room that a terminal has not, and readers who hear it, zoom it, or hold it in one hand:
tables stay tables with named columns, which a narrow screen sets row below row; colours are classes,
so that a page can choose them for a light and for a dark screen.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from markupsafe import Markup
from rich.columns import Columns
from rich.console import Console, Group
from rich.panel import Panel
from rich.style import Style
from rich.table import Table
from rich.text import Text

ROOM = 48  # characters of a row that a narrow screen has room for
_CONSOLE = Console(file=io.StringIO(), width=100, highlight=False)


def to_html(part: Any) -> Markup:
    """A renderable in HTML. What this does not know is set as the terminal would print it."""
    if isinstance(part, str):
        return _block(Text.from_markup(part))
    if isinstance(part, Text):
        return _block(part)
    if isinstance(part, Table):
        return _table(part)
    if isinstance(part, Panel):
        return _card(part)
    if isinstance(part, Columns):
        return Markup("<div class='cards'>%s</div>") % _all(part.renderables)
    if isinstance(part, Group):
        return _all(part.renderables)
    console = Console(file=io.StringIO(), width=100, highlight=False)
    console.print(part)
    printed = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
    return Markup("<pre class='printed' tabindex='0' role='region' aria-label='drawn as text'>%s</pre>") % printed


def _all(parts: Iterable[Any]) -> Markup:
    return Markup("").join(map(to_html, parts))


def _block(text: Text) -> Markup:
    return Markup("<p>%s</p>") % inline(text)


def inline(text: Text) -> Markup:
    """A text with its styles as classes; line breaks stay."""
    made = []
    whole = _CONSOLE.get_style(text.style)
    for segment in text.render(_CONSOLE, end=""):
        classes = " ".join(_classes(segment.style or whole))
        words = escape(segment.text).replace("\n", "<br/>")
        made.append(f'<span class="{classes}">{words}</span>' if classes else words)
    return Markup("".join(made))


def _classes(style: Style | None) -> list[str]:
    """`bold`, `dim`, `c-red`, `on-white` and the like."""
    if style is None:
        return []
    found = [name for name in ("bold", "dim", "underline") if getattr(style, name)]
    if style.bold is False:
        found.append("plain")
    if style.color is not None and not style.color.is_default and style.bgcolor is None:
        found.append("c-" + style.color.name.replace("bright_", ""))
    if style.bgcolor is not None and not style.bgcolor.is_default:
        found.append("on-" + style.bgcolor.name.replace("_", "-"))
    return found


def _cell(content: Any) -> Markup:
    if isinstance(content, str):
        return inline(Text.from_markup(content))
    return inline(content) if isinstance(content, Text) else to_html(content)


def _plain(content: Any) -> str:
    return Text.from_markup(content).plain if isinstance(content, str) else getattr(content, "plain", "")


def _table(table: Table) -> Markup:
    """A table; its first column names the rows. The roles say again what it is, because a style that sets
    rows below each other takes that away."""
    heads = [_plain(column.header) for column in table.columns]
    columns = [list(column.cells) for column in table.columns]
    numbers = [column.justify == "right" for column in table.columns]
    narrow = sum(map(_width, heads, columns)) <= ROOM
    made = [Markup('<table role="table"%s>') % Markup("" if narrow else ' class="rows"')]
    if table.title:
        made.append(Markup("<caption>%s</caption>") % _cell(table.title))
    if table.show_header and any(heads):
        names = zip(table.columns, heads, numbers, strict=True)
        row = [_tag("th", column.header, "columnheader", number, scope="col") for column, _, number in names]
        made.append(Markup('<thead role="rowgroup"><tr role="row">%s</tr></thead>') % Markup("").join(row))
    made.append(Markup('<tbody role="rowgroup">'))
    for cells, line in zip(zip(*columns, strict=True), table.rows, strict=True):
        style = line.style if isinstance(line.style, Style) else Style.parse(line.style or "")
        row = [
            _tag("th", cell, "rowheader", number, scope="row")
            if k == 0 and _plain(cell)
            else _tag("td", cell, "cell", number, **{"data-label": head})
            for k, (cell, head, number) in enumerate(zip(cells, heads, numbers, strict=True))
        ]
        made.append(Markup('<tr role="row" class="%s">%s</tr>') % (" ".join(_classes(style)), Markup("").join(row)))
    made.append(Markup("</tbody></table>"))
    return Markup("").join(made)


def _tag(name: str, content: Any, role: str, number: bool, **attributes: str) -> Markup:
    """A cell. Empty header cells are plain ones: there is nothing to read out."""
    if name == "th" and not _plain(content):
        name, role, attributes = "td", "cell", {}
    kind = Markup(' class="number"') if number else Markup("")
    more = Markup("").join(Markup(' %s="%s"') % pair for pair in attributes.items())
    return Markup('<{0} role="{1}"{2}{3}>{4}</{0}>').format(name, role, kind, more, _cell(content))


def _width(head: str, cells: list[Any]) -> int:
    """Characters that a column needs: cells whole, its header word by word."""
    return max([len(word) for word in head.split()] + [len(_plain(cell)) for cell in cells] + [0]) + 1


def _card(panel: Panel) -> Markup:
    """A panel: a card with its title, what is on it, and what stands in its corner."""
    chosen = panel.border_style if isinstance(panel.border_style, Style) else Style.parse(str(panel.border_style))
    title = Markup("<b>%s</b>") % _cell(panel.title) if panel.title else Markup("")
    corner = Markup("<p class='corner'>%s</p>") % _cell(panel.subtitle) if panel.subtitle else Markup("")
    return Markup("<div class='card %s'>%s%s%s</div>") % (
        " ".join(f"edge-{name[2:]}" for name in _classes(chosen) if name.startswith("c-")),
        title,
        to_html(panel.renderable),
        corner,
    )


def sections(parts: Mapping[str, Any]) -> Markup:
    """Named parts of a view, each in a block that carries its name."""
    return Markup("").join(
        Markup("<div class='part part-%s'>%s</div>") % (name, to_html(part)) for name, part in parts.items()
    )
