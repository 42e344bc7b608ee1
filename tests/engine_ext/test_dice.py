"""Dice kernels against plain Python, against scipy's exact distributions, and against bad input."""

import itertools
import math
import pickle
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from engine_ext import dice
from engine_ext.dice import DiceBag, Rolls
from engine_ext.errors import DiceError, TooLargeError
from engine_ext.rng import Stream

SEED = 20251
FALSE_ALARM = 1e-6  # probability that a chi-square test of a right sampler fails; seeds are fixed

bags = st.lists(st.integers(0, 9), min_size=1, max_size=12).filter(lambda counts: sum(counts) > 0)


def plain_multisets(n: int, k: int) -> list[tuple[int, ...]]:
    """All multisets of n items of k classes as counts, in the order of combinations_with_replacement."""
    return [tuple(items.count(i) for i in range(k)) for items in itertools.combinations_with_replacement(range(k), n)]


def chi_square_fits(observed: Counter, expected: dict, draws: int) -> bool:
    """Whether samples fit a distribution; rare outcomes are pooled so that each cell expects at least 5."""
    assert set(observed) <= {key for key, prob in expected.items() if prob > 0}
    cells, rest = [], [0.0, 0.0]
    for key, prob in expected.items():
        if prob * draws >= 5:
            cells.append((observed[key], prob * draws))
        else:
            rest[0] += observed[key]
            rest[1] += prob * draws
    if rest[1] > 0:
        cells.append((rest[0], rest[1]))
    if len(cells) == 1:
        return math.isclose(cells[0][0], draws)
    seen, wanted = np.array(cells, dtype=float).T
    return stats.chisquare(seen, wanted * seen.sum() / wanted.sum()).pvalue > FALSE_ALARM


# ---- multisets ----------------------------------------------------------------------------------


@given(n=st.integers(0, 6), k=st.integers(1, 6))
def test_multisets_are_listed_ranked_and_unranked_in_plain_order(n, k):
    plain = plain_multisets(n, k)
    assert dice.count_multisets(n, k) == len(plain)
    assert [tuple(row) for row in dice.list_multisets(n, k)] == plain
    assert [dice.rank_multiset(counts) for counts in plain] == list(range(len(plain)))
    assert dice.rank_multisets(plain).tolist() == list(range(len(plain)))
    assert [tuple(dice.unrank_multiset(rank, n, k)) for rank in range(len(plain))] == plain


@given(st.lists(st.integers(0, 40), min_size=1, max_size=7))
def test_rank_and_unrank_are_inverse_for_large_multisets(counts):
    n, k = sum(counts), len(counts)
    rank = dice.rank_multiset(counts)
    assert 0 <= rank < math.comb(n + k - 1, n) == dice.count_multisets(n, k)
    assert dice.unrank_multiset(rank, n, k).tolist() == counts


def test_multisets_too_many_to_number_are_refused_not_wrong():
    assert math.comb(255 + 7 - 1, 255) < 2**53 == dice.RANK_LIMIT
    assert dice.count_multisets(255, 7) == math.comb(261, 255)
    with pytest.raises(TooLargeError, match="200 items of 100 classes"):
        dice.count_multisets(200, 100)
    with pytest.raises(TooLargeError):
        dice.rank_multiset([3] * 80)
    with pytest.raises(TooLargeError):
        dice.list_multisets(100, 7)


# ---- rolls --------------------------------------------------------------------------------------


def test_five_dice_have_the_known_numbers():
    rolls = Rolls(5)
    assert (rolls.n_rolls, rolls.n_keepers) == (252, 462)  # literature: Yahtzee analyses
    assert max(len(rolls.keepers(roll)) for roll in range(252)) == 32  # five different dice: 2**5
    probs = rolls.probs[-252:]
    assert probs[rolls.roll([5, 0, 0, 0, 0, 0])] == pytest.approx(1 / 7776, rel=1e-15)
    assert probs[rolls.roll([1, 1, 1, 1, 1, 0])] == pytest.approx(120 / 7776, rel=1e-15)
    assert probs[rolls.roll([3, 2, 0, 0, 0, 0])] == pytest.approx(10 / 7776, rel=1e-15)


@pytest.mark.parametrize(("n_dice", "n_faces"), [(1, 2), (2, 6), (3, 4), (5, 6), (4, 8), (8, 2), (6, 6)])
def test_roll_tables_against_plain_python(n_dice, n_faces):
    rolls = Rolls(n_dice, n_faces)
    keepers = [counts for size in range(n_dice + 1) for counts in plain_multisets(size, n_faces)]
    number = {counts: keeper for keeper, counts in enumerate(keepers)}
    full = plain_multisets(n_dice, n_faces)
    roll_number = {counts: roll for roll, counts in enumerate(full)}
    assert [tuple(row) for row in rolls.counts] == keepers
    assert rolls.n_keepers == len(keepers)
    assert rolls.n_rolls == len(full)
    assert rolls.sizes.tolist() == [sum(counts) for counts in keepers]
    ordered = [
        Counter(
            tuple(shown.count(face) for face in range(n_faces))
            for shown in itertools.product(range(n_faces), repeat=size)
        )
        for size in range(n_dice + 1)
    ]
    for counts, keeper in number.items():
        size = sum(counts)
        assert rolls.keeper(counts) == keeper
        assert rolls.probs[keeper] == pytest.approx(ordered[size][counts] / n_faces**size, rel=1e-14)
    step = max(1, len(keepers) // 60)  # a sample of the keepers of the larger tables
    for counts, keeper in list(number.items())[::step]:
        others = n_dice - sum(counts)
        wanted = {
            roll_number[tuple(a + b for a, b in zip(counts, more, strict=True))]: ways / n_faces**others
            for more, ways in ordered[others].items()
        }
        after, probs = rolls.after(keeper)
        assert after.tolist() == sorted(wanted)
        assert probs.tolist() == pytest.approx([wanted[roll] for roll in sorted(wanted)], rel=1e-14)
    for counts, roll in list(roll_number.items())[::step]:
        assert rolls.roll(counts) == roll
        inside = sorted(number[kept] for kept in itertools.product(*(range(count + 1) for count in counts)))
        assert rolls.keepers(roll).tolist() == inside


def test_transitions_is_the_matrix_of_after():
    rolls = Rolls(3, 6)
    matrix = rolls.transitions()
    assert matrix.shape == (rolls.n_keepers, rolls.n_rolls)
    dense = matrix.toarray()
    assert dense.sum(axis=1) == pytest.approx(np.ones(rolls.n_keepers), rel=1e-14)
    for keeper in range(rolls.n_keepers):
        after, probs = rolls.after(keeper)
        assert dense[keeper][after].tolist() == probs.tolist()
        assert np.count_nonzero(dense[keeper]) == len(after)


@pytest.mark.parametrize("keeper_counts", [[0, 0, 0, 0, 0, 0], [0, 2, 0, 0, 1, 0], [1, 1, 1, 1, 1, 0]])
def test_sampled_rolls_fit_their_distribution(keeper_counts):
    rolls = Rolls(5)
    keeper = rolls.keeper(keeper_counts)
    observed = Counter(rolls.sample_batch(50_000, Stream(SEED), keeper=keeper).tolist())
    after, probs = rolls.after(keeper)
    assert chi_square_fits(observed, dict(zip(after.tolist(), probs.tolist(), strict=True)), 50_000)


def test_single_and_batched_rolls_are_the_same_stream():
    rolls = Rolls(5)
    one_by_one = Stream(SEED)
    assert rolls.sample_batch(50, Stream(SEED)).tolist() == [rolls.sample(one_by_one) for _ in range(50)]


@given(n=st.integers(0, 6), weights=st.lists(st.floats(0.1, 5.0), min_size=1, max_size=5))
def test_roll_distribution_is_scipys_multinomial(n, weights):
    counts, probs = dice.roll_distribution(n, weights)
    assert [tuple(row) for row in counts] == plain_multisets(n, len(weights))
    assert probs.sum() == pytest.approx(1.0, rel=1e-12)
    exact = stats.multinomial(n, np.array(weights) / np.sum(weights)).pmf(counts.astype(int))
    assert probs == pytest.approx(exact, rel=1e-9)


def test_rolls_by_class_fit_the_multinomial():
    counts, faces, draws = [3, 0, 2, 30], [6, 4, 2, 8], 20_000
    shown = dice.roll_by_class_batch(counts, faces, draws, Stream(SEED))
    assert shown.shape == (draws, 4, 8)
    assert shown.sum(axis=2).tolist() == [counts] * draws
    for i, n_faces in enumerate(faces):
        assert not shown[:, i, n_faces:].any()
    three_d6 = Counter(map(tuple, shown[:, 0, :6].tolist()))
    expected = {tuple(row): stats.multinomial(3, [1 / 6] * 6).pmf(list(row)) for row in plain_multisets(3, 6)}
    assert chi_square_fits(three_d6, expected, draws)
    sixes = Counter(shown[:, 3, 5].tolist())  # one face of 30 eight-sided dice, more than one 64-bit draw holds
    assert chi_square_fits(sixes, {hits: stats.binom.pmf(hits, 30, 1 / 8) for hits in range(31)}, draws)
    single = dice.roll_by_class(counts, faces, Stream(SEED))
    assert single.tolist() == shown[0].tolist()


# ---- draws from bags ----------------------------------------------------------------------------


@given(bags, st.data())
def test_draw_distribution_is_scipys_multivariate_hypergeometric(counts, data):
    k = data.draw(st.integers(0, min(sum(counts), 6)))
    draws, probs = dice.draw_distribution(counts, k)
    possible = [row for row in plain_multisets(k, len(counts)) if all(a <= b for a, b in zip(row, counts, strict=True))]
    assert [tuple(row) for row in draws] == possible
    assert probs.sum() == pytest.approx(1.0, rel=1e-12)
    if len(counts) > 1:
        exact = stats.multivariate_hypergeom(counts, k).pmf(draws.astype(int))
        assert probs == pytest.approx(exact, rel=1e-9)
    ways = [Fraction(math.prod(map(math.comb, counts, row)), math.comb(sum(counts), k)) for row in possible]
    assert probs == pytest.approx([float(way) for way in ways], rel=1e-12)


@given(total=st.integers(1, 127), data=st.data())  # scipy gives nan for an empty bag
def test_hypergeometric_distribution_is_scipys(total, data):
    good, k = data.draw(st.integers(0, total)), data.draw(st.integers(0, total))
    low, probs = dice.hypergeometric_distribution(good, total, k)
    assert (low, low + len(probs) - 1) == (max(0, k - (total - good)), min(k, good))
    exact = stats.hypergeom(total, good, k).pmf(np.arange(low, low + len(probs)))
    assert probs == pytest.approx(exact, rel=1e-8, abs=1e-15)


def test_nothing_is_drawn_from_an_empty_bag():
    low, probs = dice.hypergeometric_distribution(0, 0, 0)
    assert (low, probs.tolist()) == (0, [1.0])
    assert DiceBag([0, 0]).draw(0, Stream(1)).tolist() == [0, 0]


@pytest.mark.parametrize(("good", "total", "k"), [(3, 10, 4), (7, 22, 19), (60, 127, 40), (0, 5, 2), (5, 5, 2)])
def test_sampled_hypergeometrics_fit(good, total, k):
    observed = Counter(dice.hypergeometric_batch(good, total, k, 40_000, Stream(SEED)).tolist())
    exact = {hits: stats.hypergeom.pmf(hits, total, good, k) for hits in range(k + 1)}
    assert chi_square_fits(observed, exact, 40_000)


@pytest.mark.parametrize(
    ("counts", "k"),
    [
        ([4, 3, 3, 2, 2, 2, 2, 2, 1, 1], 6),  # two words
        ([3, 0, 2, 5], 4),  # one word, an empty class
        ([1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 2], 3),  # three words
        ([6, 6, 6], 17),  # more than one 64-bit draw holds, nearly everything
        ([2, 1], 3),  # everything
        ([5, 5], 0),  # nothing
    ],
)
def test_sampled_draws_fit_the_exact_distribution(counts, k):
    draws = 60_000
    observed = Counter(map(tuple, dice.draw_batch(counts, k, draws, Stream(SEED)).tolist()))
    rows, probs = dice.draw_distribution(counts, k)
    assert chi_square_fits(observed, dict(zip(map(tuple, rows.tolist()), probs.tolist(), strict=True)), draws)


@settings(max_examples=200)
@given(
    counts=st.lists(st.integers(0, 20), min_size=1, max_size=64).filter(lambda counts: 0 < sum(counts) <= 127),
    seed=st.integers(0, 2**64 - 1),
    data=st.data(),
)
def test_a_draw_takes_what_it_says(counts, seed, data):
    k = data.draw(st.integers(0, sum(counts)))
    bag, stream = DiceBag(counts), Stream(seed)
    drawn = bag.draw(k, stream)
    assert drawn.sum() == k
    assert (drawn + bag.counts).tolist() == counts
    rest = bag.counts.tolist()
    for _ in range(len(bag)):
        rest[bag.draw_one(stream)] -= 1
        assert bag.counts.tolist() == rest
    assert len(bag) == 0


def test_dice_drawn_one_by_one_follow_the_counts():
    counts, draws = [5, 0, 1, 4, 0, 0, 0, 2, 3], 60_000
    stream, seen = Stream(SEED), Counter()
    for _ in range(draws):
        seen[DiceBag(counts).draw_one(stream)] += 1
    assert chi_square_fits(seen, {i: count / 15 for i, count in enumerate(counts)}, draws)


def test_all_dtypes_and_out_arrays_give_the_same_draws():
    counts, k = [4, 3, 3, 2, 2, 2, 2, 2, 1, 1], 6
    wide = dice.draw_batch(counts, k, 500, Stream(SEED))
    assert wide.dtype == np.int64
    for dtype in (np.uint8, np.int32, np.int64):
        assert (dice.draw_batch(counts, k, 500, Stream(SEED), dtype=dtype) == wide).all()
        out = np.empty((500, 10), dtype=dtype)
        assert dice.draw_batch(counts, k, 500, Stream(SEED), out=out) is out
        assert (out == wide).all()
    bag = DiceBag(counts)
    assert (bag.draw_batch(k, 500, Stream(SEED)) == wide).all()
    assert bag == DiceBag(counts)
    assert bag.draw(k, Stream(SEED)).tolist() == wide[0].tolist()


# ---- refills ------------------------------------------------------------------------------------


@given(
    counts=st.lists(st.integers(0, 4), min_size=3, max_size=3),
    spent=st.lists(st.integers(0, 4), min_size=3, max_size=3),
    seed=st.integers(0, 2**64 - 1),
    data=st.data(),
)
def test_a_bag_that_runs_out_is_refilled_from_the_spent_dice(counts, spent, seed, data):
    k = data.draw(st.integers(0, sum(counts) + sum(spent)))
    bag = DiceBag(counts, spent)
    drawn = bag.draw(k, Stream(seed))
    assert drawn.sum() == k
    if k <= sum(counts):  # no refill: the pile stays
        assert bag.spent.tolist() == spent
        assert (drawn + bag.counts).tolist() == counts
    else:  # all of the bag, then some of the pile; what is left of the pile is the bag
        assert all(drawn >= counts)
        assert bag.spent.tolist() == [0, 0, 0]
        assert (drawn + bag.counts).tolist() == [a + b for a, b in zip(counts, spent, strict=True)]
    rows, probs = DiceBag(counts, spent).distribution(k)
    assert probs.sum() == pytest.approx(1.0, rel=1e-12)
    assert drawn.tolist() in rows.tolist()


def test_sampled_refills_fit_the_exact_distribution():
    bag = DiceBag([1, 0, 2], spent=[3, 2, 1])
    rows, probs = bag.distribution(5)
    exact = dict(zip(map(tuple, rows.tolist()), probs.tolist(), strict=True))
    # By hand: the bag's 1 and 2, then two of the six spent dice, 15 pairs: both of class 0 in 3 of them.
    assert exact[(3, 0, 2)] == pytest.approx(3 / 15, rel=1e-14)
    assert exact[(2, 1, 2)] == pytest.approx(6 / 15, rel=1e-14)
    observed = Counter(map(tuple, bag.draw_batch(5, 30_000, Stream(SEED)).tolist()))
    assert chi_square_fits(observed, exact, 30_000)
    stream, singles = Stream(SEED), Counter()
    for _ in range(10_000):
        singles[tuple(bag.clone().draw(5, stream).tolist())] += 1
    assert chi_square_fits(singles, exact, 10_000)


def test_putting_and_spending_dice():
    bag = DiceBag([1, 0], spent=[0, 1])
    bag.put([2, 3])
    bag.spend([1, 0])
    assert (bag.counts.tolist(), bag.spent.tolist()) == ([3, 3], [1, 1])
    assert pickle.loads(pickle.dumps(bag)) == bag
    assert bag.clone() == bag
    assert repr(bag) == "DiceBag([3, 3], spent=[1, 1])"


def test_a_pickled_table_of_rolls_is_the_same_table():
    again = pickle.loads(pickle.dumps(Rolls(4, 5)))
    assert (again.n_dice, again.n_faces, again.n_rolls) == (4, 5, math.comb(8, 4))


# ---- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: DiceBag([]), "1 to 64 counts"),
        (lambda: DiceBag([1] * 65), "1 to 64 counts"),
        (lambda: DiceBag([1, -1]), "0 or more"),
        (lambda: DiceBag([128]), "at most 127"),
        (lambda: DiceBag([100], spent=[28]), "bag and spent dice are 128"),
        (lambda: DiceBag([1, 2], spent=[1]), "spent lists 1 classes, counts 2"),
        (lambda: DiceBag([1.5]), "whole numbers"),
        (lambda: DiceBag([[1]]), "its shape"),
        (lambda: DiceBag([1]).draw(2, Stream(1)), "k is 2, it must be a whole number from 0 to 1"),
        (lambda: DiceBag([0]).draw_one(Stream(1)), "k is 1"),
        (lambda: DiceBag([1]).draw(True, Stream(1)), "k is True"),
        (lambda: DiceBag([1]).put([1, 1]), "counts lists 2 classes, the bag has 1"),
        (lambda: DiceBag([100]).spend([28]), "28 more dice make 128"),
        (lambda: dice.draw_batch([3], 4, 10, Stream(1)), "k is 4"),
        (lambda: dice.draw_batch([3], 1, -1, Stream(1)), "size is -1"),
        (lambda: dice.draw_batch([3], 1, 2, Stream(1), dtype=np.float64), "dtype"),
        (lambda: dice.draw_batch([3], 1, 2, Stream(1), out=np.empty((2, 2), dtype=np.int64)), "shape"),
        (lambda: dice.draw_batch([3, 3], 1, 2, Stream(1), out=np.empty((2, 4), dtype=np.int64)[:, ::2]), "contiguous"),
        (lambda: Rolls(0), "n_dice is 0"),
        (lambda: Rolls(5, 9), "n_faces is 9"),
        (lambda: Rolls(8, 8), "ordered rolls"),
        (lambda: Rolls(5).keeper([6, 0, 0, 0, 0, 0]), "at most 5"),
        (lambda: Rolls(5).keeper([1, 0]), "lists 2 faces"),
        (lambda: Rolls(5).roll([1, 0, 0, 0, 0, 0]), "1 dice, a roll has 5"),
        (lambda: Rolls(5).keepers(252), "roll is 252"),
        (lambda: Rolls(5).after(-1), "keeper is -1"),
        (lambda: dice.unrank_multiset(252, 5, 6), "rank is 252"),
        (lambda: dice.rank_multisets([1, 2]), "shape"),
        (lambda: dice.rank_multisets([[1, -2]]), "0 or more"),
        (lambda: dice.roll_distribution(2, [1.0, 0.0]), "above 0"),
        (lambda: dice.roll_by_class([1, 1], [6], Stream(1)), "n_faces lists 1 classes, counts 2"),
        (lambda: dice.hypergeometric_distribution(5, 4, 1), "good is 5"),
        (lambda: dice.draw_distribution([2], 3), "k is 3"),
    ],
)
def test_bad_input_gets_a_named_error(call, message):
    with pytest.raises(DiceError, match=message):
        call()


def test_a_refused_draw_changes_nothing():
    bag = DiceBag([2, 1], spent=[0, 1])
    with pytest.raises(DiceError):
        bag.draw(5, Stream(1))
    assert (bag.counts.tolist(), bag.spent.tolist()) == ([2, 1], [0, 1])


def test_a_distribution_too_large_to_list_is_refused():
    with pytest.raises(TooLargeError, match="different draws"):
        dice.draw_distribution([2] * 60, 20)
