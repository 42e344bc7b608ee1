"""Boards: the shipped ones pass, and every failure is named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import networkx as nx
import pytest

from engine_ext.errors import DataError
from games.quarz.board import Board, check, lattice_distance, seat_symmetries, seeded_layout
from games.quarz.loading import read_content

BOARDS = read_content().boards

# From the rules file: camp-altar, sorted camp-shrines, order of the seats' symmetry group.
FIGURES = {
    "4p": (4, [3, 3, 6, 7], 4),
    "3p": (4, [3, 3, 6], 6),
    "2p": (3, [3, 4], 2),
    "4p_alt_hexagon": (4, [3, 4, 7, 8], 4),
    "3p_alt_hexagon": (3, [3, 3, 6], 3),
}


@pytest.mark.parametrize("name", FIGURES)
def test_distances_and_symmetries_of_the_shipped_boards(name: str) -> None:
    board = BOARDS[name]
    altar, shrines, order = FIGURES[name]
    open_cells = board.graph.subgraph(set(board.cells) - set(board.impassable))
    for camp in board.camps:
        steps = nx.single_source_shortest_path_length(open_cells, camp)
        assert steps[board.altar] == altar
        assert sorted(steps[shrine] for shrine in board.shrines) == shrines
    assert len(seat_symmetries(board)) == order


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"altar": (-1, 0)}, "overlap"),
        ({"camps": ((-1, 3),)}, "counts"),
        ({"shrines": ((2, 1),)}, "counts"),
        ({"modifiable": BOARDS["2p"].modifiable[1:]}, "counts"),
        ({"players": 5}, "counts"),
        ({"camps": ((-1, 3), (9, 9))}, "connectivity"),
        ({"camps": ((-1, 3), (3, -2))}, "symmetry"),
    ],
)
def test_bad_boards_are_named(change: dict[str, object], told: str) -> None:
    with pytest.raises(DataError, match=told):
        check(replace(BOARDS["2p"], **change))  # type: ignore[arg-type]


def test_seats_that_no_symmetry_exchanges_are_named() -> None:
    # two camps and two shrines that the point reflection exchanges; then one shrine, which it does not
    board = Board(
        "lopsided",
        2,
        (0, 0),
        ((-2, 0), (2, 0)),
        ((1, 0), (-1, 0)),
        (),
        ((0, 1), (0, -1)),
        True,
        "reconstructed",
        Path("x"),
    )
    check(board)
    with pytest.raises(DataError, match="symmetry"):
        check(replace(board, shrines=((1, 0),), modifiable=((0, 1), (0, -1), (-1, 0))))


def test_nobody_walks_through_another_camp() -> None:
    """Rule 45: of the two shrines each lies behind a camp, out of the other mob's reach."""
    lane = Board(
        name="lane",
        players=2,
        altar=(0, 0),
        camps=((-2, 0), (2, 0)),
        shrines=((-3, 0), (3, 0)),
        impassable=(),
        modifiable=((-1, 0), (1, 0)),
        practice=True,
        provenance="reconstructed",
        path=Path("x"),
    )
    with pytest.raises(DataError, match=r"\[\[3, 0\]\] cannot be reached on foot from the camp \[-2, 0\]"):
        check(lane)
    check(replace(lane, camps=((-3, 0), (3, 0)), shrines=((-2, 0), (2, 0))))


def test_too_large_a_board_is_named() -> None:
    many = tuple((q, 5) for q in range(60))
    with pytest.raises(DataError, match="size"):
        check(replace(BOARDS["2p"], modifiable=many, practice=True))


def test_neighbours_follow_the_directions() -> None:
    board = BOARDS["4p"]
    near = board.neighbours()
    altar = board.number[board.altar]
    assert [board.cells[cell] for cell in near[altar]] == [(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)]
    for cell, others in enumerate(near):
        for direction, other in enumerate(others):
            if other >= 0:
                assert near[other][(direction + 3) % 6] == cell


def test_lattice_distance() -> None:
    assert lattice_distance((0, 0), (2, -1)) == 2
    assert lattice_distance((-1, 3), (2, -3)) == 6


def test_seeded_layouts_repeat() -> None:
    board = BOARDS["2p"]
    pool, periods = [0] * 5 + [1] * 3 + [2] * 3, [1, 6, 6]
    first = seeded_layout(board, pool, periods, 7)
    assert first == seeded_layout(board, pool, periods, 7)
    assert first != seeded_layout(board, pool, periods, 8)
    assert sorted(pattern for pattern, _ in first.values()) == pool
    assert set(first) == set(board.modifiable)
