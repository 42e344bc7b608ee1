"""Boards as graphs: reading, checking and looking up cells, and quick layouts of tiles.

A board lists its fields by kind in axial coordinates [q, r] of pointy-top hexes; on screen
x = q + r/2 and y grows with r. Directions 0 to 5 run clockwise on screen from the east:
E SE SW W NW NE. A cell's number is its place in `Board.cells`, row by row from the top.

`check` holds what a board must fulfil; every failure is a DataError that names the property.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import networkx as nx

from engine_ext.errors import DataError
from engine_ext.rng import Stream
from games.quarz.toml_table import TomlTable, only_records

Cell = tuple[int, int]

DIRECTIONS: tuple[Cell, ...] = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))
DIRECTION_NAMES = ("E", "SE", "SW", "W", "NW", "NE")
CELL_LIMIT = 48

# Counts by player number (rules 12, 15-17, 141; Q16).
MODIFIABLE = {2: 11, 3: 18, 4: 32}
IMPASSABLE = {2: 4, 3: 3, 4: 4}
_FIELDS = ("camps", "shrines", "impassable", "modifiable")


@dataclass(frozen=True)
class Board:
    """One board.

    Attributes:
        name: what the parameter `board` selects.
        players: seats it is made for.
        altar, camps, shrines, impassable, modifiable: its fields; `camps[i]` is camp i clockwise.
        practice: whether it is a small board of a scenario, free of the box's counts.
        provenance: "rulebook", "sourced" or "reconstructed".
        path: the file.
    """

    name: str
    players: int
    altar: Cell
    camps: tuple[Cell, ...]
    shrines: tuple[Cell, ...]
    impassable: tuple[Cell, ...]
    modifiable: tuple[Cell, ...]
    practice: bool
    provenance: str
    path: Path

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """All cells, row by row from the top, each row from the left; a cell's number is its index."""
        every = {self.altar, *self.camps, *self.shrines, *self.impassable, *self.modifiable}
        return tuple(sorted(every, key=lambda cell: (cell[1], cell[0])))

    @cached_property
    def number(self) -> Mapping[Cell, int]:
        """Cell to number."""
        return {cell: i for i, cell in enumerate(self.cells)}

    @cached_property
    def field_names(self) -> tuple[str, ...]:
        """For each cell number a name as on a chess board: rows lettered from the top, fields of a
        row numbered from the left, `C4`."""
        rows = sorted({r for _, r in self.cells})
        letters = [chr(ord("A") + i % 26) * (1 + i // 26) for i in range(len(rows))]
        names = []
        for k, (_, r) in enumerate(self.cells):
            place = sum(other == r for _, other in self.cells[:k]) + 1
            names.append(f"{letters[rows.index(r)]}{place}")
        return tuple(names)

    @cached_property
    def graph(self) -> nx.Graph:
        """Cells and their adjacencies, obstacles ignored; node attribute `kind`."""
        graph = nx.Graph()
        for kind in ("altar", "camps", "shrines", "impassable", "modifiable"):
            fields = [self.altar] if kind == "altar" else getattr(self, kind)
            graph.add_nodes_from(fields, kind=kind)
        for q, r in self.cells:
            for dq, dr in DIRECTIONS[:3]:
                if (q + dq, r + dr) in graph:
                    graph.add_edge((q, r), (q + dq, r + dr))
        return graph

    def neighbours(self) -> list[list[int]]:
        """For each cell number and direction the neighbour's number, or -1: int[cells][6]."""
        return [[self.number.get((q + dq, r + dr), -1) for dq, dr in DIRECTIONS] for q, r in self.cells]

    def distances(self) -> list[list[int]]:
        """Lattice distance of every pair of cell numbers: int[cells][cells]."""
        return [[lattice_distance(a, b) for b in self.cells] for a in self.cells]


def lattice_distance(a: Cell, b: Cell) -> int:
    """Steps between two cells on the endless lattice."""
    dq, dr = a[0] - b[0], a[1] - b[1]
    return max(abs(dq), abs(dr), abs(dq + dr))


def _symmetries() -> list[Any]:
    """The twelve symmetries of a hexagon about the origin, as functions of an axial cell."""
    maps = []
    for mirrored in (False, True):
        for turns in range(6):

            def map_cell(cell: Cell, mirrored: bool = mirrored, turns: int = turns) -> Cell:
                q, r = (cell[1], cell[0]) if mirrored else cell
                for _ in range(turns):
                    q, r = -r, q + r
                return q, r

            maps.append(map_cell)
    return maps


def seat_symmetries(board: Board) -> list[Any]:
    """The hexagon symmetries about the altar that map every kind of field onto itself."""
    aq, ar = board.altar

    def centred(fields: Iterable[Cell]) -> set[Cell]:
        return {(q - aq, r - ar) for q, r in fields}

    kinds = [centred(fields) for fields in (board.camps, board.shrines, board.impassable, board.modifiable)]
    return [turn for turn in _symmetries() if all({turn(cell) for cell in kind} == kind for kind in kinds)]


def check(board: Board) -> None:
    """Check a board.

    Raises:
        DataError: names the property that fails: overlap, size, counts, connectivity, symmetry or
            distances.
    """
    where = f"{board.path}: board {board.name!r}"
    listed = [board.altar, *board.camps, *board.shrines, *board.impassable, *board.modifiable]
    double = sorted({cell for cell in listed if listed.count(cell) > 1})
    if double:
        raise DataError(f"{where}: overlap: {list(double[0])} is listed more than once")
    if len(listed) > CELL_LIMIT:
        raise DataError(f"{where}: size: {len(listed)} fields, at most {CELL_LIMIT} are allowed")
    if board.players not in MODIFIABLE:
        raise DataError(f"{where}: counts: players is {board.players}, allowed are 2 to 4")
    wanted = {"camps": board.players}
    if not board.practice:
        wanted |= {
            "shrines": board.players,
            "modifiable": MODIFIABLE[board.players],
            "impassable": IMPASSABLE[board.players],
        }
    for kind, count in wanted.items():
        found = len(getattr(board, kind))
        if found != count:
            raise DataError(f"{where}: counts: {found} {kind}, a board for {board.players} players has {count}")
    if len(board.shrines) > 4 or len(board.impassable) > 4:
        raise DataError(f"{where}: counts: at most 4 shrines and 4 impassable fields")

    steps = {}
    for camp in board.camps:
        own = set(board.cells) - set(board.impassable) - set(board.camps) | {camp}  # rules 45, 46
        steps[camp] = nx.single_source_shortest_path_length(board.graph.subgraph(own), camp)
        beyond = sorted(own - set(steps[camp]))
        if beyond:
            raise DataError(
                f"{where}: connectivity: {[list(cell) for cell in beyond]} cannot be reached on foot from the camp "
                f"{list(camp)}"
            )

    camps = [(q - board.altar[0], r - board.altar[1]) for q, r in board.camps]
    images = {turn(camps[0]) for turn in seat_symmetries(board)}
    if images != set(camps):
        unequal = [list(camp) for camp, moved in zip(board.camps, camps, strict=True) if moved not in images]
        raise DataError(f"{where}: symmetry: no symmetry of the board takes camp {list(board.camps[0])} to {unequal}")

    for name, fields in (("altar", [board.altar]), ("shrines", list(board.shrines))):
        seen = [sorted(steps[camp][field] for field in fields) for camp in board.camps]
        if any(distances != seen[0] for distances in seen):
            raise DataError(f"{where}: distances: from the camps to the {name} they are {seen}, not equal")


def read_boards(path: Path) -> dict[str, Board]:
    """Read and check every board of a file.

    Raises:
        DataError: naming file, board and key or property.
    """
    boards: dict[str, Board] = {}
    for i, record in enumerate(only_records(path, "board")):
        where = f"{path}: board[{i}]"
        table = TomlTable(record, where, {"name", "provenance", "players", "altar", "practice", *_FIELDS})
        name = table.text("name")
        if name in boards:
            raise DataError(f"{where}: name is {name!r}, must be a text that no other board has")
        board = Board(
            name=name,
            players=table.get("players", int),
            altar=_cell(f"{where}: altar", table.get("altar", list)),
            practice=table.get("practice", bool, False),
            provenance=table.provenance(),
            path=path,
            **{kind: _cells(f"{where}: {kind}", table.get(kind, list)) for kind in _FIELDS},
        )
        check(board)
        boards[name] = board
    return boards


def _cells(where: str, values: list[object]) -> tuple[Cell, ...]:
    return tuple(_cell(f"{where}[{k}]", value) for k, value in enumerate(values))


def _cell(where: str, value: object) -> Cell:
    if not (isinstance(value, list) and len(value) == 2 and all(type(part) is int for part in value)):
        raise DataError(f"{where} is {value!r}, must be a pair of ints [q, r]")
    if max(abs(part) for part in value) > 40:
        raise DataError(f"{where} is {value!r}, coordinates are -40 to 40")
    return value[0], value[1]


def seeded_layout(board: Board, pool: Sequence[int], periods: Sequence[int], seed: int) -> dict[Cell, tuple[int, int]]:
    """A layout of tiles that depends on nothing but its arguments.

    Args:
        pool: pattern numbers, one a tile, as many as the board has modifiable fields.
        periods: for each pattern the number of orientations that differ.
        seed: any int.

    Returns:
        cell to (pattern number, orientation).
    """
    stream = Stream(seed)
    left = list(pool)
    layout = {}
    for cell in sorted(board.modifiable, key=lambda c: (c[1], c[0])):
        pattern = left.pop(stream.below(len(left)))
        layout[cell] = (pattern, stream.below(periods[pattern]))
    return layout
