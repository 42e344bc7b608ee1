"""Drawing: the board in the terminal and as SVG, and the whole table as a seat sees it.

`sections` is what the terminal screen shows, `picture` the board of a page. `board_text` and
`board_svg` draw a board, with a position's tiles, monsters and idol where a scene
(`QuarzRules.scene`) is given. A drawing shows nothing that the scene does not hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from math import cos, pi, sin, sqrt
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from engine_ext.errors import ParameterError
from engine_ext.position import Position
from games.quarz.board import DIRECTIONS, Board, Cell
from games.quarz.cards import Content, card_provenance
from games.quarz.loading import read_content
from games.quarz.rules import QuarzRules
from games.quarz.texts import describe_time
from games.words import count, join, who

SEAT_COLOURS = ("red", "cyan", "yellow", "green")
_SVG_COLOURS = ("#b03a2e", "#1f6aa5", "#8a6800", "#1e7d46")  # white initials can be read on each
_POWER_NAMES = {"wall_step": "Boost", "wall_shot": "Piggyback"}  # as the rules call them; others as in the data
_COLUMNS = ("monster", "energy", "damage", "moves", "slots", "hand", "")
_WIDTHS = (20, 8, 6, 5, 5, 8, 0)  # of the columns of monsters, so that they stand below each other
_FIGURES = 4  # columns that fit a narrow terminal
_TOKENS = ("stun", "poison", "shield", "frost", "boost")
_EDGE_CHARS = {"": ("dim", ""), "water": ("bold blue", "≈"), "crystal": ("bold magenta", "#")}

# Of the board in the terminal; the SVG has its own.
_LEGEND = "fields have names, A1 at the top left; ≈ water, # crystal, ▒ impassable, * the idol"

Scene = Mapping[str, Any]


def edges_of(board: Board, content: Content, scene: Scene | None) -> dict[tuple[Cell, int], str]:
    """(cell, direction) -> "water" or "crystal", from both sides; crystal goes before water (Q32), and
    water at a floe is frozen (rule 123)."""
    printed: dict[tuple[Cell, int], str] = {}
    if scene is None:
        return printed
    patterns = {pattern.name: pattern for pattern in content.patterns}
    floes = {tuple(cell) for cell in scene["melted"]}
    for key, (name, turned) in scene["tiles"].items():
        q, r = map(int, key.split(","))
        for side in patterns[name].edges:
            direction = (side + turned) % 6
            dq, dr = DIRECTIONS[direction]
            other = (q + dq, r + dr)
            kind = patterns[name].kind
            if kind == "water" and ((q, r) in floes or other in floes):
                continue
            for place in (((q, r), direction), (other, (direction + 3) % 6)):
                if printed.get(place) != "crystal":
                    printed[place] = kind
    return printed


def standing(scene: Scene | None) -> dict[Cell, list[tuple[int, int]]]:
    """Cell -> [(seat, monster)] of those that stand there."""
    found: dict[Cell, list[tuple[int, int]]] = {}
    for seat, mob in enumerate(scene["mobs"] if scene else ()):
        for k, monster in enumerate(mob["monsters"]):
            found.setdefault((monster["at"][0], monster["at"][1]), []).append((seat, k))
    return found


def monograms(names: Iterable[str]) -> dict[str, str]:
    """Two characters for each monster, each different: the initials of its words where they serve."""
    made: dict[str, str] = {}
    for name in names:
        words = name.split()
        initials = words[0][0] + words[1][0] if len(words) > 1 else name[:2]
        tries = [initials, *(name[0] + char for char in name[1:]), *(f"{name[0]}{k}" for k in range(10))]
        tries = [each.capitalize() for each in tries]
        made[name] = next((each for each in tries if each.isalnum() and each not in made.values()), "??")
    return made


def _marks(content: Content) -> dict[str, str]:
    return monograms(monster.name for monster in content.monsters)


def _kind(board: Board, cell: Cell) -> str:
    if cell == board.altar:
        return "altar"
    for kind in ("camps", "shrines", "impassable"):
        if cell in getattr(board, kind):
            return kind
    return "modifiable"


def _label(board: Board, cell: Cell, scene: Scene | None) -> tuple[str, str]:
    """What a field is, in at most four characters, and its style."""
    kind = _kind(board, cell)
    if kind == "altar":
        return "alt", "yellow"
    if kind == "camps":
        camp = board.camps.index(cell)
        seat = camp
        if scene is not None:
            seat = next((s for s, mob in enumerate(scene["mobs"]) if mob["camp"] == camp), camp)
        return "camp", SEAT_COLOURS[seat]
    if kind == "shrines":
        return f"s{board.shrines.index(cell) + 1}", "bold white"
    if kind == "impassable":
        melted = scene is not None and list(cell) in scene["melted"]
        return ("ice", "bold blue") if melted else ("▒▒▒", "dim")
    if scene is not None and f"{cell[0]},{cell[1]}" in scene["traps"]:
        return "trp", "bold red"
    return "", ""


def board_text(board: Board, content: Content, scene: Scene | None = None) -> Text:
    """The board for the terminal: hexes with their edges (≈ water, # crystal), names of fields, what
    they are, monsters by their initials, * for the idol."""
    left = min(2 * q + r for q, r in board.cells)
    top = min(r for _, r in board.cells)
    width = max(2 * q + r for q, r in board.cells) - left
    height = max(r for _, r in board.cells) - top
    grid: list[list[tuple[str, str]]] = [[(" ", "") for _ in range(4 * width + 10)] for _ in range(3 * height + 4)]

    def put(x: int, y: int, text: str, style: str) -> None:
        for i, char in enumerate(text):
            grid[y][x + i] = (char, style)

    edges = edges_of(board, content, scene)
    here = standing(scene)
    marks = _marks(content)
    # direction -> offset of its edge from the centre, and its plain character
    sides = {
        0: ((4, 0), "│"),
        1: ((2, 2), "╱"),
        2: ((-2, 2), "╲"),
        3: ((-4, 0), "│"),
        4: ((-2, -1), "╱"),
        5: ((2, -1), "╲"),
    }
    for cell in board.cells:
        q, r = cell
        x, y = 4 * (2 * q + r - left) + 4, 3 * (r - top) + 1
        for direction, ((dx, dy), plain) in sides.items():
            style, char = _EDGE_CHARS[edges.get((cell, direction), "")]
            for line in (0, 1) if direction in (0, 3) else (0,):
                put(x + dx, y + dy + line, char or plain, style)
        name = board.field_names[board.number[cell]]
        text, style = _label(board, cell, scene)
        put(x - 3, y + 1, name, "dim")
        put(x - 3 + max(3, len(name) + (len(name) + len(text) < 7)), y + 1, text, style)
        for i, (seat, k) in enumerate(here.get(cell, [])):
            mark = marks[scene["mobs"][seat]["monsters"][k]["name"]]  # type: ignore[index]  # nobody stands in None
            put(x - 3 + 2 * i, y, mark, f"bold {SEAT_COLOURS[seat]}" + (" underline" if i % 2 else ""))
        if list(cell) == scene["idol"] if scene is not None else cell == board.altar:
            put(x + 3, y, "*", "bold bright_magenta")
    lines = []
    for row in grid:
        drawn = Text()
        for char, style in row:
            drawn.append(char, style)
        drawn.rstrip()
        lines.append(drawn)
    return Text("\n").join(lines)


def draw_board(name: str) -> tuple[Text, str]:
    """One board of the data files: for the terminal, and as SVG.

    Raises:
        ParameterError: there is none of that name.
    """
    content = read_content()
    if name not in content.boards:
        raise ParameterError(f"quarz: no board is called {name!r}; there are: {', '.join(content.boards)}")
    board = content.boards[name]
    return board_text(board, content), board_svg(board, content)


def _monster_row(mark: str, monster: Mapping[str, Any], own: bool) -> list[str]:
    figures = monster["figures"]
    tokens = " ".join(f"{name} {monster[name]}" for name in _TOKENS if monster[name])
    powers = ", ".join(_POWER_NAMES.get(power, power.replace("_", " ")) for power in figures["powers"])
    hand = ", ".join(monster["hand"]) if own or monster["hand"] else ""
    if not own:
        hand = count(monster["held"], "card") + (f", among them {hand}" if hand else "")
    name = monster["name"] + (f" as {monster['form']}" if monster["form"] else "")
    state = ", ".join(filter(None, (tokens, powers, "resting" if monster["resting"] else "")))
    return [
        f"{mark} {name}",
        f"{monster['energy']} of {monster['energy'] + monster['spent']}",
        str(figures["damage"]),
        str(figures["move"]),
        ", ".join(monster["slots"]) or "-",
        hand or "-",
        state,
    ]


def sections(position: Position, seat: int) -> dict[str, RenderableType]:
    """The table as a seat sees it: status, board, every mob with its monsters, what is reconstructed."""
    rules = position.rules
    assert isinstance(rules, QuarzRules)
    scene = rules.scene(position, seat)
    return {
        "status": _status(rules, scene, seat),
        "board": Group(board_text(rules.board, rules.content, scene), Text(_LEGEND, style="dim")),
        "mobs": _mobs(rules.content, rules.board, scene, seat),
        "notes": Text(_provenance(rules, scene), style="dim"),
    }


def _provenance(rules: QuarzRules, scene: Scene) -> str:
    """What on the table is reconstructed; the rest is from the rule text."""
    content = rules.content
    monsters = {monster["name"] for mob in scene["mobs"] for monster in mob["monsters"]}
    shown: list[tuple[str, Iterable[str]]] = [
        ("the board", [rules.board.provenance]),
        ("edges of tiles", [pattern.provenance for pattern in content.patterns if pattern.edges]),
        (
            "figures of monsters",
            [each.provenance for each in content.monsters if each.name in monsters or not monsters],
        ),
        ("cards", [card_provenance(content, card) for card in content.monsters[0].cards] if content.monsters else []),
        ("favor cards", [favor.provenance for favor in content.favors]),
        ("time tiles", [tile.provenance for tile in content.time_tiles]),
        ("shrines", [shrine.provenance for shrine in content.shrines]),
    ]
    made = []
    for name, provenances in shown:
        found = [each == "reconstructed" for each in provenances]
        if any(found):
            made.append(name if all(found) else f"most {name}" if sum(found) * 2 > len(found) else f"some {name}")
    return f"Reconstructed: {join(made)} (about NAME tells it of each)" if made else ""


def render(position: Position, seat: int) -> Group:
    """All of `sections`."""
    return Group(*sections(position, seat).values())


def picture(position: Position, seat: int) -> str:
    """The board of a position as a seat sees it, as one <svg> element."""
    rules = position.rules
    assert isinstance(rules, QuarzRules)
    return board_svg(rules.board, rules.content, rules.scene(position, seat))


def _status(rules: QuarzRules, scene: Scene, seat: int) -> Text:
    time = scene["time"]
    order = join([who(each, seat) for each in scene["order"]], "then")
    parts = [f"turn {time['turns'] + 1}", f"order {order}"]
    if scene["turn"] is not None and scene["doing"] != "over":
        active = scene["order"][scene["turn"]]
        parts.append(f"{who(active, seat)} to play, {count(scene['actions'], 'action')} left")
    tile = next((t for t in rules.content.time_tiles if t.name == time["tile"]), None)
    if tile:
        parts.append(f"time tile {tile.name}: {describe_time(tile)}; {count(time['left'], 'tile')} left")
    text = Text("; ".join(parts))
    if rules.board.shrines:
        text.append("\nshrines  ", style="dim")
        text.append(", ".join(f"s{i} {name or '?'}" for i, name in enumerate(scene["shrine_cards"], 1)))
    return text


def _heading(board: Board, mob: Mapping[str, Any], other: int, seat: int) -> str:
    name = f"you (seat {seat})" if other == seat else f"seat {other}"
    camp = "" if mob["camp"] is None else f", camp {board.field_names[board.number[board.camps[mob['camp']]]]}"
    return f"{mob['mob']}, {name}{camp}" if mob["mob"] else f"{name}{camp}"


def _standing(scene: Scene, other: int) -> str:
    """What a mob has as a whole."""
    mob = scene["mobs"][other]
    if not mob["mob"]:
        return "no mob yet"
    favor = "not chosen or hidden" if mob["favor"] is None else mob["favor"]
    return (
        f"{count(scene['points'][other], 'point')}, {count(mob['reactions'], 'reaction')}, {mob['munched']} munched, "
        f"favor card {favor}, in hand {' '.join(map(str, mob['favor_hand'])) or 'none'}"
    )


class _Monsters(Group):
    """A mob's monsters in a table; where it does not fit, figures in the table, and below it what is longer."""

    def __init__(self, rows: Sequence[Sequence[str]], marks: Sequence[str]) -> None:
        self._rows, self._marks = rows, marks
        self._table = self._tabled(_COLUMNS)
        super().__init__(self._table)

    def _tabled(self, columns: Sequence[str]) -> Table:
        table = Table(box=None, pad_edge=False, header_style="dim")
        for column, width in zip(columns, _WIDTHS, strict=False):
            table.add_column(column, min_width=width, overflow="fold")
        for row in self._rows:
            table.add_row(*map(Text, row[: len(columns)]))  # names are text, not markup
        return table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        unbounded = options.update(width=10_000)
        if Measurement.get(console, unbounded, self._table).maximum <= options.max_width:
            yield self._table
            return
        yield self._tabled(_COLUMNS[:_FIGURES])
        below = Table.grid(padding=(0, 1, 0, 0))
        below.add_column(no_wrap=True)
        below.add_column(no_wrap=True, style="dim")
        below.add_column(overflow="fold")
        for mark, row in zip(self._marks, self._rows, strict=True):
            for column, text in zip(_COLUMNS[_FIGURES:], row[_FIGURES:], strict=True):
                if text not in ("", "-"):
                    below.add_row(Text(mark), column or "state", Text(text))
        if below.row_count:
            yield below


def _mobs(content: Content, board: Board, scene: Scene, seat: int) -> Group:
    """Each mob's monsters in a table of its own, under its name."""
    marks = _marks(content)
    parts: list[RenderableType] = []
    for other, mob in enumerate(scene["mobs"]):
        heading = (_heading(board, mob, other, seat), f"bold {SEAT_COLOURS[other]}")
        parts.append(Text.assemble(heading, f": {_standing(scene, other)}"))
        own_marks = [marks[monster["name"]] for monster in mob["monsters"]]
        if own_marks:
            rows = [
                _monster_row(mark, monster, own=other == seat)
                for mark, monster in zip(own_marks, mob["monsters"], strict=True)
            ]
            parts.append(_Monsters(rows, own_marks))
    return Group(*parts)


# ---- SVG -----------------------------------------------------------------------------------------

_SIZE = 36.0  # corner distance of a hex, user units
_FILLS = {
    "altar": "#fdf2d0",
    "camps": "#e8e8e8",
    "shrines": "#dff3e3",
    "impassable": "#6b6b6b",
    "modifiable": "#ffffff",
}


def _centre(cell: Cell) -> tuple[float, float]:
    q, r = cell
    return _SIZE * sqrt(3) * (q + r / 2), _SIZE * 1.5 * r


def _corner(x: float, y: float, i: int, size: float = _SIZE) -> tuple[float, float]:
    """Corner i of a pointy-top hex, clockwise from the one at the upper right."""
    angle = pi / 180 * (60 * i - 30)
    return x + size * cos(angle), y + size * sin(angle)


def board_svg(board: Board, content: Content, scene: Scene | None = None) -> str:
    """The board as one <svg> element; with a scene, its tiles, monsters and idol."""
    centres = {cell: _centre(cell) for cell in board.cells}
    left = min(x for x, _ in centres.values()) - 1.2 * _SIZE
    top = min(y for _, y in centres.values()) - 1.3 * _SIZE
    width = max(x for x, _ in centres.values()) + 1.2 * _SIZE - left
    height = max(y for _, y in centres.values()) + 1.6 * _SIZE - top  # a line of explanation at the foot
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:.1f} {top:.1f} {width:.1f} {height:.1f}" '
        f'role="img" aria-label="board {escape(board.name)}; Cards and pieces tells each field in words" '
        f'font-family="sans-serif" text-anchor="middle">'
    ]

    def text(x: float, y: float, words: str, size: float, colour: str = "#222") -> None:
        out.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{colour}">{escape(words)}</text>')

    marks = _marks(content)
    for cell, (x, y) in centres.items():
        kind = _kind(board, cell)
        points = " ".join(f"{px:.1f},{py:.1f}" for px, py in (_corner(x, y, i, _SIZE * 0.97) for i in range(6)))
        melted = scene is not None and list(cell) in scene["melted"]
        fill = "#cfe8fb" if melted else _FILLS[kind]
        out.append(f'<polygon points="{points}" fill="{fill}" stroke="#999" stroke-width="1"/>')
        name = board.field_names[board.number[cell]]
        label, _ = _label(board, cell, scene)
        if kind == "altar":
            label = "altar"
        elif kind == "shrines":
            label = f"shrine {label[1:]}"
        elif kind == "impassable":
            label = "ice" if melted else ""
        elif label == "trp":
            label = "trap"
        colour = "#fff" if kind == "impassable" and not melted else "#333"
        text(x, y - 0.4 * _SIZE, name, 12, colour)
        if label:
            text(x, y + 0.68 * _SIZE, label, 11, colour)
    for (cell, direction), kind in sorted(edges_of(board, content, scene).items()):
        if cell not in centres:
            continue
        x, y = centres[cell]
        # side d lies between the corners d and d + 1
        (x1, y1), (x2, y2) = _corner(x, y, direction, _SIZE * 0.9), _corner(x, y, direction + 1, _SIZE * 0.9)
        colour = "#2e86de" if kind == "water" else "#8e44ad"
        out.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="5" '
            f'stroke-linecap="round"><title>{kind}</title></line>'
        )
    idol = tuple(scene["idol"]) if scene is not None else board.altar
    for cell, monsters in standing(scene).items():
        x, y = centres[cell]
        y += 0.08 * _SIZE  # below the field's name
        radius = (0.38 if len(monsters) < 3 else 0.28) * _SIZE
        for i, (seat, k) in enumerate(monsters):
            monster = scene["mobs"][seat]["monsters"][k]  # type: ignore[index]  # standing(None) is empty
            dx = (i - (len(monsters) - 1) / 2) * 2.05 * radius
            out.append(
                f'<circle cx="{x + dx:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{_SVG_COLOURS[seat]}">'
                f"<title>{escape(monster['name'])}: energy {monster['energy']}</title></circle>"
            )
            text(x + dx, y + 4.5, marks[monster["name"]], 13 if len(monsters) < 3 else 11, "#fff")
    if idol in centres:
        x, y = centres[idol]
        star = " ".join(
            f"{x + 0.62 * _SIZE + size * cos(angle):.1f},{y - 0.3 * _SIZE + size * sin(angle):.1f}"
            for size, angle in ((8.0 if i % 2 == 0 else 3.5, pi / 180 * (36 * i - 90)) for i in range(10))
        )
        out.append(f'<polygon points="{star}" fill="#e056fd" stroke="#6c3483"><title>crystal idol</title></polygon>')
    text(
        left + width / 2, top + height - 3, "blue: water; violet: crystal; dark: impassable; star: the idol", 10, "#333"
    )
    out.append("</svg>")
    return "\n".join(out)
