"""The table of shots at distance 2 (section 6 of the rules: L1 to L6), as attacks on the 4-player board.

A diagonal shot goes from s to t past a and b; the side between a and b is the spine.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.games.quarz.test_cases import choices, position_of, rules_for

# On the 4-player board: s the altar, t and the two middle fields of each of the six diagonals, with the
# direction of a; b lies one direction further. All six are modifiable. Straight: the altar to a shrine, m between.
DIRECTIONS = [(1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1)]

# situation; crystal by side; monsters; whether it hits in the spine reading, in the strict one
DIAGONAL = [
    ("nothing", [], [], True, True),
    ("crystal on the spine", ["a|b"], [], False, False),
    ("crystal s-a", ["s|a"], [], True, True),
    ("crystal a-t", ["a|t"], [], True, True),
    ("crystal s-a and s-b", ["s|a", "s|b"], [], False, True),
    ("crystal a-t and b-t", ["a|t", "b|t"], [], False, True),
    ("crystal s-a and b-t", ["s|a", "b|t"], [], False, True),
    ("monster on a", [], ["a"], True, True),
    ("monster on a and b", [], ["a", "b"], False, True),
    ("monster on a, crystal s-b", ["s|b"], ["a"], False, True),
]


def add(cell: tuple[int, int], *directions: int) -> tuple[int, int]:
    for direction in directions:
        cell = cell[0] + DIRECTIONS[direction % 6][0], cell[1] + DIRECTIONS[direction % 6][1]
    return cell


def shoots(given: dict[str, Any], **parameters: Any) -> bool:
    """Whether the Mummified Pencil, P1.1, may attack P2.1."""
    rules = rules_for(players=4, **parameters)
    return "attack 1 P2.1" in choices(position_of(rules, {"idol": [-2, -2], **given}))


@pytest.mark.parametrize("reading", ["spine", "strict"])
@pytest.mark.parametrize("d", range(6))
@pytest.mark.parametrize(("situation", "crystal", "monsters", "spine", "strict"), DIAGONAL)
def test_diagonal_shots(
    situation: str, crystal: list[str], monsters: list[str], spine: bool, strict: bool, d: int, reading: str
) -> None:
    places = {"s": (0, 0), "a": add((0, 0), d), "b": add((0, 0), d + 1), "t": add((0, 0), d, d + 1)}
    given: dict[str, Any] = {"P1.1": {"at": [0, 0]}, "P2.1": {"at": list(places["t"])}, "tiles": {}}
    for side in crystal:
        one, other = side.split("|")
        tile, towards = (one, other) if one != "s" else (other, one)  # the altar has no tile
        turn = next(k for k in range(6) if add(places[tile], k) == places[towards])
        given["tiles"][f"{places[tile][0]},{places[tile][1]}"] = ["shard", turn]
    for monster, place in zip(("P3.1", "P1.2"), monsters, strict=False):
        given[monster] = {"at": list(places[place])}
    assert shoots(given, sight=reading) == (spine if reading == "spine" else strict), situation


@pytest.mark.parametrize(
    ("situation", "given", "hits"),
    [
        ("nothing", {}, True),
        ("crystal s-m", {"tiles": {"1,0": ["shard", 3]}}, False),
        ("crystal m-t", {"tiles": {"1,0": ["shard", 0]}}, False),
        ("a rival on m", {"P3.1": {"at": [1, 0]}}, False),
        ("a friend on m", {"P1.2": {"at": [1, 0]}}, False),
        ("crystal on other sides of m", {"tiles": {"1,0": ["ridge", 1]}}, True),
        ("crystal on the rest of them", {"tiles": {"1,0": ["ridge", 4]}}, True),
        ("water all along", {"tiles": {"1,0": ["bay", 5]}}, True),
        ("the idol on m", {"idol": [1, 0]}, True),
        ("impassable m", {"P1.1": {"at": [0, -1]}, "P2.1": {"at": [0, -3]}}, False),
        ("m a melted floe", {"P1.1": {"at": [0, -1]}, "P2.1": {"at": [0, -3]}, "melted": [[0, -2]]}, True),
        ("out of a camp", {"P1.1": {"at": [-1, -3]}, "P2.1": {"at": [1, -3]}}, True),
        ("into a camp", {"P1.1": {"at": [2, -3]}, "P2.1": {"at": [4, -3]}}, True),
        ("farther than 2", {"P2.1": {"at": [-2, 0]}, "P1.1": {"at": [1, 0]}}, False),
    ],
)
@pytest.mark.parametrize("reading", ["spine", "strict"])
def test_straight_shots(situation: str, given: dict[str, Any], hits: bool, reading: str) -> None:
    assert shoots({"P1.1": {"at": [0, 0]}, "P2.1": {"at": [2, 0]}, **given}, sight=reading) == hits, situation


@pytest.mark.parametrize(
    ("situation", "given", "spine"),
    [
        ("impassable a", {}, True),
        ("impassable a, monster b", {"P3.1": {"at": [1, 1]}}, False),
        ("melted a, monster b", {"P3.1": {"at": [1, 1]}, "melted": [[0, 2]]}, True),
    ],
)
def test_diagonal_shots_past_an_impassable_field(situation: str, given: dict[str, Any], spine: bool) -> None:
    """s (0,1), t (1,2); a is the impassable field (0,2), b (1,1). Two such fields are nowhere side by side."""
    given = {"P1.1": {"at": [0, 1]}, "P2.1": {"at": [1, 2]}, **given}
    assert shoots(given, sight="spine") == spine, situation
    assert shoots(given, sight="strict")
    assert shoots(given, impassable_sight=False)
