"""What all games say alike: numbers with their nouns, lists, seats."""

from __future__ import annotations

import pytest

from games.words import count, join, who, whose


@pytest.mark.parametrize(
    ("n", "said"),
    [
        (0, "0 points"),
        (1, "1 point"),
        (1.0, "1 point"),
        (2, "2 points"),
        (2.5, "2.5 points"),
        (1_000_000, "1000000 points"),
    ],
)
def test_a_number_goes_with_its_noun(n, said):
    assert count(n, "point") == said


def test_some_nouns_have_a_plural_of_their_own():
    assert count(1, "die", "dice") == "1 die"
    assert count(2, "die", "dice") == "2 dice"


def test_lists_and_seats():
    assert [join(list("abc"[:n])) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert (who(1, 1), who(2, 1), whose(1, 1), whose(2, 1)) == ("you", "seat 2", "your", "seat 2's")
