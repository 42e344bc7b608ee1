"""Drawing: the board in the terminal and as SVG, and the whole table as a seat sees it.

`render` is what the terminal screen shows. `board_text` and `board_svg` draw a board, with a
position's tiles, monsters and idol where a scene (`QuarzRules.scene`) is given. A drawing shows
nothing that the scene does not hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from math import cos, pi, sin, sqrt
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from engine_ext.errors import ParameterError
from engine_ext.position import Position
from games.quarz.board import DIRECTIONS, Board, Cell
from games.quarz.cards import Content, read_content
from games.quarz.rules import QuarzRules

SEAT_COLOURS = ("red", "cyan", "yellow", "green")
_SVG_COLOURS = ("#c0392b", "#2980b9", "#d4ac0d", "#27ae60")
_TOKENS = ("stun", "poison", "shield", "frost", "boost")
_EDGE_CHARS = {"": ("dim", ""), "water": ("bold blue", "≈"), "crystal": ("bold magenta", "#")}

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


def _kind(board: Board, cell: Cell) -> str:
    if cell == board.altar:
        return "altar"
    for kind in ("camps", "shrines", "impassable"):
        if cell in getattr(board, kind):
            return kind
    return "modifiable"


def _label(board: Board, cell: Cell, scene: Scene | None) -> tuple[str, str]:
    """What a field is, in at most three characters, and its style."""
    kind = _kind(board, cell)
    if kind == "altar":
        return "alt", "dim"
    if kind == "camps":
        camp = board.camps.index(cell)
        seat = camp
        if scene is not None:
            seat = next((s for s, mob in enumerate(scene["mobs"]) if mob["camp"] == camp), camp)
        return f"c{seat + 1}", SEAT_COLOURS[seat]
    if kind == "shrines":
        return f"s{board.shrines.index(cell)}", "bold white"
    if kind == "impassable":
        melted = scene is not None and list(cell) in scene["melted"]
        return ("ice", "bold blue") if melted else ("▒▒▒", "dim")
    if scene is not None and f"{cell[0]},{cell[1]}" in scene["traps"]:
        return "trp", "bold red"
    return "", ""


def board_text(board: Board, content: Content, scene: Scene | None = None) -> Text:
    """The board for the terminal: hexes with their edges (≈ water, # crystal), fields, monsters as
    seat and number, * for the idol."""
    left = min(2 * q + r for q, r in board.cells)
    top = min(r for _, r in board.cells)
    width = max(2 * q + r for q, r in board.cells) - left
    height = max(r for _, r in board.cells) - top
    grid: list[list[tuple[str, str]]] = [[(" ", "") for _ in range(4 * width + 10)] for _ in range(3 * height + 4)]

    def put(x: int, y: int, text: str, style: str) -> None:
        for i, char in enumerate(text):
            grid[y][x + i] = (char, style)

    edges = edges_of(board, content, scene)
    who = standing(scene)
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
        text, style = _label(board, cell, scene)
        put(x - len(text) // 2, y + 1, text, style)
        idol = list(cell) == scene["idol"] if scene is not None else cell == board.altar
        monsters = who.get(cell, [])
        if monsters:
            seat = monsters[0][0]
            text = f"{seat + 1}" + "".join("abc"[k] for _, k in monsters)
            put(x - 2, y, text[:5], f"bold {SEAT_COLOURS[seat]}")
        if idol:
            put(x + 2, y, "*", "bold bright_magenta")
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


def _monster_row(seat: int, k: int, monster: Mapping[str, Any], own: bool) -> list[str]:
    figures = monster["figures"]
    tokens = " ".join(f"{name} {monster[name]}" for name in _TOKENS if monster[name])
    powers = ", ".join(power.replace("_", " ") for power in figures["powers"])
    slots = ", ".join(monster["slots"]) or "-"
    hand = ", ".join(monster["hand"]) if own or monster["hand"] else ""
    if not own:
        hand = f"{monster['held']} cards" + (f", among them {hand}" if hand else "")
    name = monster["name"] + (f" as {monster['form']}" if monster["form"] else "")
    state = ", ".join(filter(None, (tokens, powers, "resting" if monster["resting"] else "")))
    return [
        f"{seat + 1}{'abc'[k]} {name}",
        f"{monster['energy']}+{monster['spent']}",
        f"{figures['damage']}/{figures['move']}",
        slots,
        hand or "-",
        state,
    ]


def render(position: Position, seat: int) -> Group:
    """The table as a seat sees it: status, board, and every mob with its monsters."""
    rules = position.rules
    assert isinstance(rules, QuarzRules)
    scene = rules.scene(position, seat)
    time = scene["time"]
    tile = next((t for t in rules.content.time_tiles if t.name == time["tile"]), None)
    effect = ", ".join(f"{key} {value}" for key, value in tile.while_visible.items()) if tile else ""
    status = Text(
        f"{scene['doing']}   turn {time['turns'] + 1}   order {' '.join(f'P{s + 1}' for s in scene['order'])}"
    )
    if scene["turn"] is not None:
        status.append(f"   P{scene['order'][scene['turn']] + 1} has {scene['actions']} actions left")
    if tile:
        status.append(f"   time: {tile.name} ({effect.replace('_', ' ')}), {time['left']} tiles")
    shrines = Text("shrines  ")
    for i, name in enumerate(scene["shrine_cards"]):
        shrines.append(f"s{i} {name or '?'}   ")
    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("monster", "energy", "dmg/move", "slots", "hand", ""):
        table.add_column(column)
    for other, mob in enumerate(scene["mobs"]):
        favor = "?" if mob["favor"] is None else mob["favor"]
        table.add_row(
            Text(f"P{other + 1} {mob['mob'] or ''}", f"bold {SEAT_COLOURS[other]}"),
            f"{scene['points'][other]:g} VP",
            f"favor {favor}",
            f"reactions {mob['reactions']}, munched {mob['munched']}",
            f"favor cards {' '.join(map(str, mob['favor_hand']))}",
            "",
        )
        for k, monster in enumerate(mob["monsters"]):
            table.add_row(*_monster_row(other, k, monster, own=other == seat))
    return Group(status, shrines, board_text(rules.board, rules.content, scene), table)


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
    height = max(y for _, y in centres.values()) + 1.3 * _SIZE - top
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{left:.1f} {top:.1f} {width:.1f} {height:.1f}" '
        f'role="img" aria-label="board {escape(board.name)}" font-family="sans-serif" text-anchor="middle">'
    ]

    def text(x: float, y: float, words: str, size: float, colour: str = "#222") -> None:
        out.append(f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" fill="{colour}">{escape(words)}</text>')

    for cell, (x, y) in centres.items():
        kind = _kind(board, cell)
        points = " ".join(f"{px:.1f},{py:.1f}" for px, py in (_corner(x, y, i, _SIZE * 0.97) for i in range(6)))
        melted = scene is not None and list(cell) in scene["melted"]
        fill = "#cfe8fb" if melted else _FILLS[kind]
        out.append(f'<polygon points="{points}" fill="{fill}" stroke="#999" stroke-width="1"/>')
        label, _ = _label(board, cell, scene)
        if label and kind != "impassable":
            text(x, y + 0.72 * _SIZE, {"altar": "altar", "shrines": f"shrine {label[1:]}"}.get(kind, label), 9, "#555")
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
        for i, (seat, k) in enumerate(monsters):
            monster = scene["mobs"][seat]["monsters"][k]  # type: ignore[index]  # standing(None) is empty
            dx = (i - (len(monsters) - 1) / 2) * 0.55 * _SIZE
            out.append(
                f'<circle cx="{x + dx:.1f}" cy="{y:.1f}" r="{0.38 * _SIZE:.1f}" fill="{_SVG_COLOURS[seat]}">'
                f"<title>{escape(monster['name'])}: energy {monster['energy']}</title></circle>"
            )
            text(x + dx, y + 4, f"{seat + 1}{'abc'[k]}", 11, "#fff")
    if idol in centres:
        x, y = centres[idol]
        star = " ".join(
            f"{x + 0.62 * _SIZE + size * cos(angle):.1f},{y - 0.3 * _SIZE + size * sin(angle):.1f}"
            for size, angle in ((8.0 if i % 2 == 0 else 3.5, pi / 180 * (36 * i - 90)) for i in range(10))
        )
        out.append(f'<polygon points="{star}" fill="#e056fd" stroke="#6c3483"><title>crystal idol</title></polygon>')
    out.append("</svg>")
    return "\n".join(out)
