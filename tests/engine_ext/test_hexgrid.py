"""Hex boards against sets and networkx, and against the cases of the line-of-sight rules."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine_ext.errors import BoardError
from engine_ext.hexgrid import DIRECTIONS, HexBoard
from experiments.references import HexReference, step

ORIGIN = (0, 0)


def disc(radius: int) -> list[tuple[int, int]]:
    """The hexagon of this radius about the origin."""
    span = range(-radius, radius + 1)
    return [(q, r) for r in span for q in span if abs(q + r) <= radius]


@st.composite
def boards(draw, water=True, ice=False):
    """Arguments of a board: a random part of a hexagon with random sides, solid cells and floes."""
    cells = draw(st.lists(st.sampled_from(disc(3)), min_size=1, max_size=37, unique=True))
    sides = [
        (cell, step(cell, direction))
        for cell in cells
        for direction in range(6)
        if direction < 3 or step(cell, direction) not in cells
    ]
    pick = st.lists(st.sampled_from(sides), max_size=len(sides) // 3, unique=True)
    solid = draw(st.lists(st.sampled_from(cells), max_size=3, unique=True))
    rest = [cell for cell in cells if cell not in solid]
    floes = draw(st.lists(st.sampled_from(rest), max_size=6, unique=True)) if ice and rest else []
    return {
        "cells": cells,
        "water": draw(pick) if water else [],
        "crystal": draw(pick),
        "solid": solid,
        "ice": floes,
    }


def some(draw, cells, most=6):
    return draw(st.lists(st.sampled_from(cells), max_size=most, unique=True)) if cells else []


# ---- line of sight: the rule's own table and cases ----------------------------------------------

# The twelve targets at distance 2: offset, middle cells.
TARGETS = {
    (2, 0): [(1, 0)],
    (1, 1): [(1, 0), (0, 1)],
    (0, 2): [(0, 1)],
    (-1, 2): [(0, 1), (-1, 1)],
    (-2, 2): [(-1, 1)],
    (-2, 1): [(-1, 1), (-1, 0)],
    (-2, 0): [(-1, 0)],
    (-1, -1): [(-1, 0), (0, -1)],
    (0, -2): [(0, -1)],
    (1, -2): [(0, -1), (1, -1)],
    (2, -2): [(1, -1)],
    (2, -1): [(1, -1), (1, 0)],
}
STRAIGHT = [target for target, middles in TARGETS.items() if len(middles) == 1]
DIAGONAL = [target for target, middles in TARGETS.items() if len(middles) == 2]


def test_the_table_is_the_ring_of_distance_two():
    board = HexBoard(disc(2))
    assert {cell for cell in board.cells if board.distance(ORIGIN, cell) == 2} == set(TARGETS)
    for target, middles in TARGETS.items():
        between = [cell for cell in board.cells if board.distance(ORIGIN, cell) == board.distance(cell, target) == 1]
        assert sorted(between) == sorted(middles)


# situation: crystal sides, monsters, impassables (s shooter, t target, m middle, a and b the two
# middles of a diagonal shot); expected under SPINE; expected under STRICT.
STRAIGHT_CASES = [
    ("nothing", [], [], [], True),
    ("crystal s-m", ["sm"], [], [], False),
    ("crystal m-t", ["mt"], [], [], False),
    ("monster on m", [], ["m"], [], False),
    ("impassable m", [], [], ["m"], False),
]
DIAGONAL_CASES = [
    ("nothing", [], [], [], True, True),
    ("crystal on the spine", ["ab"], [], [], False, False),
    ("crystal s-a", ["sa"], [], [], True, True),
    ("crystal a-t", ["at"], [], [], True, True),
    ("crystal s-a and s-b (V at the shooter)", ["sa", "sb"], [], [], False, True),
    ("crystal a-t and b-t (V at the target)", ["at", "bt"], [], [], False, True),
    ("crystal s-a and b-t (Z)", ["sa", "bt"], [], [], False, True),
    ("monster on a", [], ["a"], [], True, True),
    ("monster on a and b", [], ["a", "b"], [], False, True),
    ("monster on a, crystal s-b", ["sb"], ["a"], [], False, True),
    ("impassable a", [], [], ["a"], True, True),
    ("impassable a and b", [], [], ["a", "b"], False, True),
    ("impassable a, monster b", [], ["b"], ["a"], False, True),
]


def shot(target, names, crystal, monsters, solid, reading, **more):
    board = HexBoard(
        disc(3), crystal=[(names[edge[0]], names[edge[1]]) for edge in crystal], solid=[names[c] for c in solid], **more
    )
    occupied = [names[cell] for cell in monsters] + [ORIGIN, target]  # the two ends never matter
    seen = board.line_of_sight(ORIGIN, target, occupied=occupied, reading=reading)
    assert board.line_of_sight(target, ORIGIN, occupied=occupied, reading=reading) == seen  # L7
    assert (target in board.visible(ORIGIN, occupied=occupied, reading=reading)) == seen
    return seen


@pytest.mark.parametrize("target", STRAIGHT)
@pytest.mark.parametrize(("situation", "crystal", "monsters", "solid", "seen"), STRAIGHT_CASES)
def test_straight_shots(target, situation, crystal, monsters, solid, seen):  # L2
    names = {"s": ORIGIN, "m": TARGETS[target][0], "t": target}
    for reading in ("spine", "strict"):
        assert shot(target, names, crystal, monsters, solid, reading) == seen


@pytest.mark.parametrize("target", STRAIGHT)
def test_straight_shots_mind_no_other_edge(target):  # L2
    (middle,) = TARGETS[target]
    others = [(middle, step(middle, d)) for d in range(6) if step(middle, d) not in (ORIGIN, target)]
    board = HexBoard(disc(3), crystal=others, water=[(ORIGIN, middle), (middle, target)])
    assert board.line_of_sight(ORIGIN, target)
    assert board.line_of_sight(ORIGIN, target, reading="strict")


@pytest.mark.parametrize("target", DIAGONAL)
@pytest.mark.parametrize(("situation", "crystal", "monsters", "solid", "spine", "strict"), DIAGONAL_CASES)
def test_diagonal_shots(target, situation, crystal, monsters, solid, spine, strict):  # L3, L4, L5
    one, two = TARGETS[target]
    for a, b in ((one, two), (two, one)):  # the two sides are alike
        names = {"s": ORIGIN, "a": a, "b": b, "t": target}
        assert shot(target, names, crystal, monsters, solid, "spine") == spine
        assert shot(target, names, crystal, monsters, solid, "strict") == strict


@pytest.mark.parametrize("direction", range(6))
def test_adjacent_shots(direction):  # L1
    target = step(ORIGIN, direction)
    assert HexBoard(disc(1), water=[(ORIGIN, target)]).line_of_sight(ORIGIN, target)
    assert not HexBoard(disc(1), crystal=[(ORIGIN, target)]).line_of_sight(ORIGIN, target)
    assert HexBoard(disc(1), crystal=[(ORIGIN, target)]).line_of_sight(ORIGIN, target, through_crystal=True)


@pytest.mark.parametrize("target", STRAIGHT)
def test_a_straight_shot_over_a_hole_is_blocked(target):  # L2: m is no board hex
    board = HexBoard([ORIGIN, target])
    assert not board.line_of_sight(ORIGIN, target)
    assert not board.line_of_sight(ORIGIN, target, reading="strict")


@pytest.mark.parametrize("target", DIAGONAL)
def test_a_diagonal_shot_along_the_rim(target):  # L4: a side that is no board hex is closed
    a, b = TARGETS[target]
    cells = [ORIGIN, b, target]
    assert HexBoard(cells).line_of_sight(ORIGIN, target)
    assert not HexBoard(cells).line_of_sight(ORIGIN, target, occupied=[b])
    assert not HexBoard([ORIGIN, target]).line_of_sight(ORIGIN, target)
    assert HexBoard([ORIGIN, target]).line_of_sight(ORIGIN, target, reading="strict")
    # Crystal printed on b's outer side lies on the spine all the same.
    assert not HexBoard(cells, crystal=[(a, b)]).line_of_sight(ORIGIN, target, reading="strict")
    assert not HexBoard(cells, crystal=[(b, a)]).line_of_sight(target, ORIGIN)


@pytest.mark.parametrize("target", list(TARGETS))
def test_looking_through_crystal_leaves_monsters_in_the_way(target):  # L6
    everywhere = [(cell, step(cell, d)) for cell in disc(3) for d in range(6)]
    board = HexBoard(disc(3), crystal=everywhere, water=everywhere)
    assert not board.line_of_sight(ORIGIN, target)
    assert board.line_of_sight(ORIGIN, target, through_crystal=True)
    assert not board.line_of_sight(ORIGIN, target, occupied=TARGETS[target], through_crystal=True)


def test_nobody_sees_itself_or_farther_than_two():
    board = HexBoard(disc(3))
    for cell in board.cells:
        assert board.line_of_sight(ORIGIN, cell) == (board.distance(ORIGIN, cell) in (1, 2))


@settings(max_examples=150)
@given(boards(), st.data())
def test_sight_is_the_plain_references_and_mutual(args, data):  # L7
    board, plain = HexBoard(**args), HexReference(**args)
    occupied = some(data.draw, args["cells"])
    a = data.draw(st.sampled_from(args["cells"]))
    for reading in ("spine", "strict"):
        seen = [b for b in args["cells"] if plain.line_of_sight(a, b, occupied, reading)]
        assert board.visible(a, occupied, reading) == seen
        for b in args["cells"]:
            assert board.line_of_sight(a, b, occupied, reading) == (b in seen)
            assert board.line_of_sight(b, a, occupied, reading) == (b in seen)


@settings(max_examples=50)
@given(boards(), st.data())
def test_batched_sight_is_the_single_one(args, data):
    board, size = HexBoard(**args), 20
    n = len(args["cells"])
    seed = data.draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    a, b = rng.integers(n, size=(2, size))
    occupied = rng.integers(2**n, size=size, dtype=np.uint64)
    for reading in ("spine", "strict"):
        seen = board.lines_of_sight(a, b, occupied, reading=reading)
        assert seen.dtype == np.bool_
        assert seen.tolist() == [
            board.line_of_sight(board.cells[i], board.cells[j], board.cells_of(int(mask)), reading)
            for i, j, mask in zip(a, b, occupied, strict=True)
        ]
    table = board.lines_of_sight(np.arange(n)[:, None], np.arange(n))
    assert table.shape == (n, n)
    assert (table == table.T).all()


# ---- strikes and movement -----------------------------------------------------------------------


@settings(max_examples=50)
@given(boards())
def test_links_are_the_open_sides(args):
    board, plain = HexBoard(**args), HexReference(**args)
    for swim in (False, True):
        for climb in (False, True):
            for cell in args["cells"]:
                wanted = {
                    other
                    for other in plain.graph[cell]
                    if plain.connected(cell, other, swim, climb) and not {cell, other} & plain.solid
                }
                assert set(board.linked(cell, swim=swim, climb=climb)) == wanted


@settings(max_examples=200)
@given(boards(), st.data())
def test_movement_is_networkx(args, data):
    board, plain = HexBoard(**args), HexReference(**args)
    rest = [cell for cell in args["cells"] if cell not in args["solid"]]
    if not rest:
        return
    start = data.draw(st.sampled_from(rest))
    friends = [cell for cell in some(data.draw, rest) if cell != start]
    enemies = [cell for cell in some(data.draw, rest) if cell != start and cell not in friends]
    stops = some(data.draw, rest, 2)
    swim, climb, steps = data.draw(st.booleans()), data.draw(st.booleans()), data.draw(st.integers(0, 6))
    wanted = plain.reachable(start, steps, friends, enemies, stops, swim, climb)
    found = board.reachable(start, steps, friends, enemies, stops=stops, swim=swim, climb=climb)
    assert found == [cell for cell in args["cells"] if cell in wanted]
    flood = board.floods(
        board.number(start), steps, board.mask(friends), board.mask(enemies), stops=board.mask(stops),
        swim=swim, climb=climb,
    )  # fmt: skip
    assert board.cells_of(int(flood)) == found


@settings(max_examples=200)
@given(boards(ice=True), st.data())
def test_sliding_and_help_over_walls_against_plain_python(args, data):
    board, plain = HexBoard(**args), HexReference(**args)
    rest = [cell for cell in args["cells"] if cell not in args["solid"]]
    if not rest:
        return
    start = data.draw(st.sampled_from(rest))
    friends = [cell for cell in some(data.draw, rest) if cell != start]
    enemies = [cell for cell in some(data.draw, rest) if cell != start and cell not in friends]
    stops, helped = some(data.draw, rest, 2), some(data.draw, rest, 4)
    steps = data.draw(st.integers(0, 4))
    wanted = plain.reachable_with_ice(start, steps, friends, enemies, stops, helped)
    found = board.reachable(start, steps, friends, enemies, stops=stops, helped=helped)
    assert found == [cell for cell in args["cells"] if cell in wanted]


ROW = [(q, 0) for q in range(6)]  # W to E


@pytest.mark.parametrize(
    ("case", "arguments", "found"),
    [
        ("steps are counted", {"steps": 2}, [(1, 0), (2, 0)]),  # rule 40
        ("no steps, no movement", {"steps": 0}, []),
        ("friends are passed, not stopped on", {"steps": 2, "friends": [(1, 0)]}, [(2, 0)]),  # rules 42, 43
        ("enemies are not passed", {"steps": 3, "enemies": [(2, 0)]}, [(1, 0)]),  # rule 42
        ("a shared cell may be stopped on", {"steps": 1, "friends": [(1, 0)], "shared": [(1, 0)]}, [(1, 0)]),  # rule 44
        ("a forbidden cell is not entered", {"steps": 3, "forbidden": [(2, 0)]}, [(1, 0)]),  # rule 45
        ("an unclaimed idol ends the movement", {"steps": 4, "stops": [(2, 0)]}, [(1, 0), (2, 0)]),  # rule 50
    ],
)
def test_movement_cases(case, arguments, found):
    assert HexBoard(ROW).reachable(ORIGIN, **arguments) == found


def test_water_and_crystal_separate_and_can_be_waived():  # rules 41, 47
    water = HexBoard(ROW, water=[((1, 0), (2, 0))])
    assert water.reachable(ORIGIN, 3) == [(1, 0)]
    assert water.reachable(ORIGIN, 3, climb=True) == [(1, 0)]
    assert water.reachable(ORIGIN, 3, swim=True) == ROW[1:4]
    crystal = HexBoard(ROW, crystal=[((1, 0), (2, 0))])
    assert crystal.reachable(ORIGIN, 3) == [(1, 0)]
    assert crystal.reachable(ORIGIN, 3, swim=True) == [(1, 0)]
    assert crystal.reachable(ORIGIN, 3, climb=True) == ROW[1:4]
    assert crystal.linked((1, 0)) == [(0, 0)]
    assert HexBoard(ROW, solid=[(2, 0)]).reachable(ORIGIN, 3, swim=True, climb=True) == [(1, 0)]  # rule 46


def test_one_wall_is_crossed_beside_a_helper():  # Q2
    walls = [((0, 0), (1, 0)), ((2, 0), (3, 0))]
    board = HexBoard(ROW, crystal=walls)
    assert board.reachable(ORIGIN, 5) == []
    assert board.reachable(ORIGIN, 5, helped=[(1, 0)]) == [(1, 0), (2, 0)]  # into a helped cell
    assert board.reachable(ORIGIN, 5, helped=[(0, 0)]) == [(1, 0), (2, 0)]  # from one
    assert board.reachable(ORIGIN, 5, helped=ROW) == [(1, 0), (2, 0)]  # one wall a movement
    assert board.reachable((1, 0), 5, helped=ROW) == [(0, 0), (2, 0), (3, 0), (4, 0), (5, 0)]
    wet = HexBoard(ROW, crystal=walls, water=walls)
    assert wet.reachable(ORIGIN, 5, helped=ROW) == []
    assert wet.reachable(ORIGIN, 5, helped=ROW, swim=True) == [(1, 0), (2, 0)]


# ---- ice ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("case", "board", "arguments", "rest"),
    [
        ("no floe", {}, {}, (1, 0)),
        ("to the next cell", {"ice": [(1, 0)]}, {}, (2, 0)),  # rule 120
        ("floe after floe", {"ice": [(1, 0), (2, 0), (3, 0)]}, {}, (4, 0)),  # Q28
        ("blocked by a monster", {"ice": [(1, 0)]}, {"monsters": [(2, 0)]}, (1, 0)),
        ("blocked by crystal", {"ice": [(1, 0)], "crystal": [((1, 0), (2, 0))]}, {}, (1, 0)),
        ("blocked by a solid cell", {"ice": [(1, 0)], "solid": [(2, 0)]}, {}, (1, 0)),
        ("blocked by a foreign camp", {"ice": [(1, 0)]}, {"forbidden": [(2, 0)]}, (1, 0)),
        ("water beside a floe is frozen", {"ice": [(1, 0)], "water": [((1, 0), (2, 0))]}, {}, (2, 0)),  # rule 123
        (
            "water beyond does not matter",
            {"ice": [(1, 0)], "water": [((2, 0), (3, 0))]},
            {},
            (2, 0),
        ),  # Q28
        ("blocked on the second floe", {"ice": [(1, 0), (2, 0)]}, {"monsters": [(3, 0)]}, (2, 0)),
        ("taken and blocked", {"ice": [(1, 0)]}, {"monsters": [(1, 0), (2, 0)]}, None),  # Q29
        ("over a taken floe", {"ice": [(1, 0)]}, {"monsters": [(1, 0)]}, (2, 0)),
        ("the idol ends the movement", {"ice": [(1, 0)]}, {"stops": [(1, 0)]}, (1, 0)),  # rule 50
        ("the rim", {"ice": [(5, 0)]}, {"cell": (5, 0)}, (5, 0)),
    ],
)
def test_slides(case, board, arguments, rest):
    arguments = {"cell": (1, 0), **arguments}
    assert HexBoard(ROW, **board).slide(arguments.pop("cell"), 0, **arguments) == rest


def test_a_slide_costs_no_step_and_keeps_its_direction():  # Q28
    board = HexBoard(disc(2), ice=[(1, 0)])
    assert (1, 0) not in board.reachable(ORIGIN, 1)
    assert (2, 0) in board.reachable(ORIGIN, 1)
    assert (2, 0) not in HexBoard(disc(2)).reachable(ORIGIN, 1)


def test_water_freezes_on_all_sides_of_a_floe_and_nowhere_else():  # rule 123, Q30
    around = [(ORIGIN, step(ORIGIN, d)) for d in range(6)]
    far = ((1, 0), (2, 0))
    assert HexBoard(disc(2), water=[*around, far]).linked(ORIGIN) == []
    frozen = HexBoard(disc(2), water=[*around, far], ice=[ORIGIN])
    assert len(frozen.linked(ORIGIN)) == 6
    assert ORIGIN in frozen.linked((1, 0))
    assert (2, 0) not in frozen.linked((1, 0))
    assert frozen.water == [far]


# ---- batches, handles, bad input ----------------------------------------------------------------


def test_floods_broadcast_and_skip_starts_that_cannot_be():
    board = HexBoard(ROW, solid=[(5, 0)])
    ends = board.floods(np.arange(6), 1, friends=board.mask([(1, 0)]), enemies=np.uint64(board.mask([(3, 0)])))
    assert [board.cells_of(int(mask)) for mask in ends] == [[], [(0, 0), (2, 0)], [], [], [], []]
    grid = board.floods(np.arange(6)[:, None], np.arange(3))
    assert grid.shape == (6, 3)
    assert grid.dtype == np.uint64


@given(boards(ice=True))
def test_a_board_pickles_and_lists_its_parts(args):
    board = HexBoard(**args)
    again = pickle.loads(pickle.dumps(board))
    assert again.cells == board.cells == tuple(args["cells"])
    for part in ("water", "crystal", "solid", "ice"):
        assert getattr(again, part) == getattr(board, part)
    assert set(map(frozenset, board.crystal)) == set(map(frozenset, args["crystal"]))
    assert set(board.solid) == set(args["solid"])


def test_neighbours_and_directions_go_clockwise_from_the_east():
    board = HexBoard([ORIGIN, *DIRECTIONS])
    assert board.neighbours(ORIGIN) == list(DIRECTIONS)
    for d in range(6):
        assert board.distance(DIRECTIONS[d], DIRECTIONS[(d + 1) % 6]) == 1
    assert len(board) == 7
    assert board.cells_of(board.mask([(0, 1), ORIGIN])) == [ORIGIN, (0, 1)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: HexBoard([]), "0 cells, allowed are 1 to 64"),
        (lambda: HexBoard([(q, r) for q in range(8) for r in range(9)]), "72 cells"),
        (lambda: HexBoard([ORIGIN, ORIGIN]), r"cell \(0, 0\) is on the board twice"),
        (lambda: HexBoard([(0, 0, 0)]), "a cell is a pair"),
        (lambda: HexBoard([5]), "a cell is a pair"),
        (lambda: HexBoard([(0, 0.5)]), "whole numbers"),
        (lambda: HexBoard([(0, 64)]), "-63 to 63"),
        (lambda: HexBoard(ROW, water=[((0, 0), (2, 0))]), r"water: cells \(0, 0\) and \(2, 0\) share no side"),
        (lambda: HexBoard(ROW, crystal=[((0, 5), (1, 5))]), "neither .* is on the board"),
        (lambda: HexBoard(ROW, crystal=[(0, 0)]), "a cell is a pair"),
        (lambda: HexBoard(ROW, crystal=[7]), "an edge is a pair of cells"),
        (lambda: HexBoard(ROW, solid=[(9, 9)]), r"solid: cell \(9, 9\) is not on the board"),
        (lambda: HexBoard(ROW, ice=[(9, 9)]), "ice: cell"),
        (lambda: HexBoard(ROW, ice=[(1, 0)], solid=[(1, 0)]), "both solid and ice"),
        (lambda: HexBoard(ROW).line_of_sight((0, 0), (9, 9)), r"cell \(9, 9\) is not on the board"),
        (lambda: HexBoard(ROW).line_of_sight((0, 0), (1, 0), reading="loose"), "reading is 'loose'"),
        (lambda: HexBoard(ROW).line_of_sight((0, 0), (1, 0), occupied=[(9, 9)]), "occupied: cell"),
        (lambda: HexBoard(ROW).reachable((0, 0), -1), "steps is -1"),
        (lambda: HexBoard(ROW).reachable((0, 0), 65), "steps is 65"),
        (lambda: HexBoard(ROW, solid=[(0, 0)]).reachable((0, 0), 1), "start"),
        (lambda: HexBoard(ROW).reachable((0, 0), 1, enemies=[(0, 0)]), "start"),
        (lambda: HexBoard(ROW).reachable((0, 0), 1, [(1, 0)], [(1, 0)]), "a friend and an enemy"),
        (lambda: HexBoard(ROW).slide((0, 0), 6), "direction is 6"),
        (lambda: HexBoard(ROW).cells_of(1 << 6), "no set of cells"),
        (lambda: HexBoard(ROW).lines_of_sight([6], [0]), "shooters must be whole numbers from 0 to 5"),
        (lambda: HexBoard(ROW).lines_of_sight([0, 1], [0, 1, 2]), "do not fit together"),
        (lambda: HexBoard(ROW).lines_of_sight([0], [1], occupied=1 << 6), "bits beyond"),
        (lambda: HexBoard(ROW).floods([0], [-1]), "steps must be"),
        (lambda: HexBoard(ROW).floods([0], 1, friends=0.5), "uint64 masks"),
        (lambda: HexBoard(ROW).floods([0], 1, forbidden=1 << 6), "forbidden"),
    ],
)
def test_bad_input_gets_a_named_error(call, message):
    with pytest.raises(BoardError, match=message):
        call()
