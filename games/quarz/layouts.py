"""Quick set-ups with a name: layouts that say which tile lies on every modifiable field of a board.

`check` holds what a layout must fulfil; every failure is a DataError that names the property.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import networkx as nx

from engine_ext.errors import DataError
from games.quarz.board import DIRECTIONS, Board, Cell
from games.quarz.toml_table import TomlTable, load_toml, records_of


class Tile(Protocol):
    """What a layout needs to know of a tile pattern; `games.quarz.cards.Pattern` is one."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def count(self) -> int: ...
    @property
    def edges(self) -> tuple[int, ...]: ...
    @property
    def period(self) -> int: ...


@dataclass(frozen=True)
class Layout:
    """One layout.

    Attributes:
        name: what the parameter `layout` selects.
        board: name of the board it fills.
        players: seats of that board.
        description: a line for people.
        provenance: "rulebook", "sourced" or "reconstructed".
        tiles: field to (pattern number, orientation), every modifiable field.
        path: the file.
    """

    name: str
    board: str
    players: int
    description: str
    provenance: str
    tiles: Mapping[Cell, tuple[int, int]]
    path: Path


def walking_graph(board: Board, tiles: Mapping[Cell, tuple[int, int]], patterns: Sequence[Tile]) -> nx.Graph:
    """The fields that can be walked on and the steps between them, water and crystal in place (Q32: an edge
    is closed where either tile prints an obstacle)."""
    closed = set()
    for (q, r), (pattern, turned) in tiles.items():
        for side in patterns[pattern].edges:
            dq, dr = DIRECTIONS[(side + turned) % 6]
            closed.add(frozenset(((q, r), (q + dq, r + dr))))
    graph = board.graph.subgraph(set(board.cells) - set(board.impassable))
    return nx.Graph(edge for edge in graph.edges if frozenset(edge) not in closed)


def walking_distances(board: Board, graph: nx.Graph) -> dict[str, list[list[int]]]:
    """Steps from each camp to the altar and, ascending, to the shrines, through no foreign camp; -1: no way."""
    found: dict[str, list[list[int]]] = {"altar": [], "shrines": []}
    for camp in board.camps:
        own = graph.subgraph(set(graph) - set(board.camps) | {camp})
        steps = nx.single_source_shortest_path_length(own, camp) if camp in own else {}
        found["altar"].append([steps.get(board.altar, -1)])
        found["shrines"].append(sorted(steps.get(cell, -1) for cell in board.shrines))
    return found


def check(
    layout: Layout, boards: Mapping[str, Board], patterns: Sequence[Tile], used: Mapping[int, Mapping[str, int]]
) -> None:
    """Check a layout.

    Args:
        used: tiles of each kind by player number (rules 15 to 17).

    Raises:
        DataError: names the property that fails: fields, counts, stock, connectivity or distances.
    """
    where = f"{layout.path}: layout {layout.name!r}"
    board = boards[layout.board]
    missing = sorted(set(board.modifiable) - set(layout.tiles))
    if missing:
        raise DataError(f"{where}: fields: {len(missing)} have no tile, {list(missing[0])} the first")
    counts = Counter(patterns[pattern].kind for pattern, _ in layout.tiles.values())
    if not board.practice and counts != Counter(used[board.players]):
        raise DataError(
            f"{where}: counts: {dict(sorted(counts.items()))}, {board.players} players use {used[board.players]}"
        )
    for pattern, count in Counter(pattern for pattern, _ in layout.tiles.values()).items():
        if count > patterns[pattern].count:
            raise DataError(
                f"{where}: stock: {count} tiles {patterns[pattern].name}, there are {patterns[pattern].count}"
            )
    distances = walking_distances(board, walking_graph(board, layout.tiles, patterns))
    for name, seen in distances.items():
        if any(-1 in steps for steps in seen):
            raise DataError(f"{where}: connectivity: from the camps to the {name} it is {seen} steps; -1 is no way")
        if any(steps != seen[0] for steps in seen):
            raise DataError(f"{where}: distances: from the camps to the {name} they are {seen}, not equal")


def _tiles(
    where: str, record: Mapping[str, object], board: Board, patterns: Sequence[Tile]
) -> dict[Cell, tuple[int, int]]:
    """The tiles of a record, a table "q,r" -> [pattern, orientation]."""
    names = [pattern.name for pattern in patterns]
    fields = {f"{q},{r}": (q, r) for q, r in board.modifiable}
    made = {}
    for key, value in record.items():
        if key not in fields:
            raise DataError(f"{where}: {key!r} is not a modifiable field of the board {board.name}")
        if not isinstance(value, list) or len(value) != 2 or value[0] not in names:
            raise DataError(f"{where}.{key} is {value!r}, must be [pattern, orientation], pattern: {', '.join(names)}")
        number = names.index(value[0])
        if type(value[1]) is not int or not 0 <= value[1] < patterns[number].period:
            raise DataError(
                f"{where}.{key}: orientation is {value[1]!r}, allowed for {value[0]} are 0 to "
                f"{patterns[number].period - 1}"
            )
        made[fields[key]] = (number, value[1])
    return made


def read_layouts(
    path: Path, boards: Mapping[str, Board], patterns: Sequence[Tile], used: Mapping[int, Mapping[str, int]]
) -> dict[str, Layout]:
    """Read and check every layout of a file.

    Raises:
        DataError: naming file, layout and key or property.
    """
    content = load_toml(path)
    TomlTable(content, str(path), {"layout"})
    layouts: dict[str, Layout] = {}
    for i, record in enumerate(records_of(path, content, "layout") if content else []):
        where = f"{path}: layout[{i}]"
        table = TomlTable(record, where, {"name", "board", "description", "provenance", "tiles"})
        name, on = table.text("name"), table.text("board")
        if name in layouts or set(name) & set(",=()"):
            raise DataError(
                f"{where}: name is {name!r}, must be a text without ',', '=' and brackets that no other has"
            )
        if on not in boards:
            raise DataError(f"{where}: board is {on!r}, there are: {', '.join(boards)}")
        board = boards[on]
        layouts[name] = Layout(
            name=name,
            board=board.name,
            players=board.players,
            description=table.get("description", str),
            provenance=table.provenance(),
            tiles=_tiles(f"{where}: tiles", table.get("tiles", dict), board, patterns),
            path=path,
        )
        check(layouts[name], boards, patterns, used)
    return layouts
