"""Attack allocation against all permutations, against cases by hand, and against bad input."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine_ext import attack
from engine_ext.errors import AttackError
from experiments.references import attack_best, attack_outcomes, resolve_attack

defences = st.lists(st.integers(0, 9), max_size=6)
totals = st.integers(0, 30)


@pytest.mark.parametrize(
    ("case", "total", "defenses", "lost"),
    [
        ("no creature", 5, [], [0]),
        ("no attack", 0, [1, 2], [0]),
        ("no attack destroys nobody, not even defence 0", 0, [0, 0], [0]),
        ("nobody is weak enough", 3, [4, 5], [0]),
        ("equal to the defence is enough", 4, [4], [1]),
        ("one short is not", 3, [4], [0]),
        ("all fall", 100, [1, 2, 3], [7]),
        # Defences 4 and 2 against 4: the 4 first leaves nothing for the 2; the 2 first leaves 2, and the 4 stands.
        ("either of two", 4, [4, 2], [1, 2]),
        # Every order loses all three: after any two the remainder equals the third.
        ("exactly everything", 11, [2, 3, 6], [7]),
        ("one against more", 3, [4], [0]),
        # The 0 before the 3 is lost with it, after it the remainder is 0.
        ("a remainder of 0 spares defence 0", 3, [3, 0], [1, 3]),
        ("defence 0 falls and the next one stands", 1, [0, 2], [0, 1]),
        ("excess is lost", 5, [2], [1]),
    ],
)
def test_cases_by_hand(case, total, defenses, lost):
    assert attack.outcomes(total, defenses) == lost


@settings(max_examples=300)
@given(totals, defences)
def test_outcomes_are_those_of_all_orders(total, defenses):
    assert attack.outcomes(total, defenses) == attack_outcomes(total, defenses)


@given(totals, defences, st.randoms(use_true_random=False))
def test_resolving_one_order(total, defenses, random):
    order = list(range(len(defenses)))
    random.shuffle(order)
    assert attack.resolve(total, defenses, order) == resolve_attack(total, defenses, order)
    some = order[: len(order) // 2]
    assert attack.resolve(total, defenses, some) == resolve_attack(total, defenses, some)


@settings(max_examples=300)
@given(totals, defences, st.data())
def test_the_best_defence_keeps_the_most_and_its_order_leads_there(total, defenses, data):
    values = data.draw(st.lists(st.integers(-3, 9), min_size=len(defenses), max_size=len(defenses)))
    lost, order = attack.best(total, defenses, values)
    kept = sum(value for i, value in enumerate(values) if not lost >> i & 1)
    assert kept == attack_best(total, defenses, values)
    assert sorted(order) == list(range(len(defenses)))
    assert resolve_attack(total, defenses, order) == lost
    equals = [
        mask
        for mask in attack_outcomes(total, defenses)
        if sum(value for i, value in enumerate(values) if not mask >> i & 1) == kept
    ]
    assert lost == min(equals)


@given(totals, st.lists(st.integers(0, 9), max_size=14))
def test_every_outcome_of_a_larger_defence_has_an_order(total, defenses):
    found = attack.outcomes(total, defenses)
    assert found == sorted(set(found))
    for lost in found[:50]:
        values = [-1.0 if lost >> i & 1 else 1.0 for i in range(len(defenses))]
        assert attack.best(total, defenses, values)[0] == lost


@settings(max_examples=100)
@given(st.integers(0, 5000), st.lists(st.integers(0, 2000), max_size=6))
def test_large_numbers(total, defenses):
    assert attack.outcomes(total, defenses) == attack_outcomes(total, defenses)


@given(totals, st.lists(st.integers(0, 9), max_size=8), st.integers(0, 3))
def test_creatures_too_strong_to_fall_change_nothing_but_that_they_stand(total, defenses, more):
    # Nine creatures and more go another way through the kernel than eight and fewer.
    giants = [total + 1] * more
    if more == 0:
        return
    fallen = set(attack.outcomes(total, [*defenses, *giants]))
    assert max(fallen).bit_length() <= len(defenses)
    assert fallen == {
        mask
        for mask in range(1 << len(defenses))
        if (mask == 0 or total > 0) and sum(d for i, d in enumerate(defenses) if mask >> i & 1) <= total
    }


def test_twenty_creatures_are_no_walk_over_orders():
    # 20! orders; ten of twenty equal creatures fall.
    assert len(attack.outcomes(10, [1] * 20)) == 184756  # C(20, 10)
    assert attack.outcomes(200, [10] * 20) == [2**20 - 1]
    assert len(attack.outcomes(1, [2] + [0] * 19)) == 2**19  # any of the zeros, then the 2 stands


@settings(max_examples=50)
@given(st.lists(st.tuples(totals, st.lists(st.integers(-1, 9), min_size=5, max_size=5)), max_size=12))
def test_batches_are_the_single_answers(rows):
    total = np.array([row[0] for row in rows], dtype=np.int64)
    table = np.array([row[1] for row in rows], dtype=np.int64).reshape(-1, 5)
    worth = np.arange(table.size, dtype=float).reshape(table.shape) % 7 - 2
    starts, masks = attack.outcomes_batch(total, table)
    lost, kept = attack.best_batch(total, table, worth)
    assert starts[0] == 0
    for i, (one_total, row) in enumerate(rows):
        places = [place for place, defense in enumerate(row) if defense >= 0]
        defenses = [row[place] for place in places]
        values = [worth[i, place] for place in places]

        def spread(mask, places=places):
            return sum(1 << place for k, place in enumerate(places) if mask >> k & 1)

        assert masks[starts[i] : starts[i + 1]].tolist() == [
            spread(mask) for mask in attack.outcomes(one_total, defenses)
        ]
        mask, _ = attack.best(one_total, defenses, values)
        assert lost[i] == spread(mask)
        assert kept[i] == sum(value for k, value in enumerate(values) if not mask >> k & 1)


def test_batched_orders():
    orders = np.array(list(itertools.permutations(range(4))))
    defenses = np.tile([3, 0, 2, 2], (len(orders), 1))
    total = np.full(len(orders), 4)
    lost = attack.resolve_batch(total, defenses, orders)
    assert lost.tolist() == [resolve_attack(4, [3, 0, 2, 2], order) for order in orders]
    assert sorted(set(lost.tolist())) == attack.outcomes(4, [3, 0, 2, 2])


def test_batches_without_creatures():
    starts, masks = attack.outcomes_batch([1, 2], np.empty((2, 0), dtype=int))
    assert (starts.tolist(), masks.tolist()) == ([0, 1, 2], [0, 0])
    lost, kept = attack.best_batch([1, 2], np.empty((2, 0), dtype=int), np.empty((2, 0)))
    assert (lost.tolist(), kept.tolist()) == ([0, 0], [0.0, 0.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: attack.outcomes(-1, [1]), "attack total is -1"),
        (lambda: attack.outcomes(1.5, [1]), "attack total is 1.5"),
        (lambda: attack.outcomes(1, [1, -1]), "defence of creature 1 is -1"),
        (lambda: attack.outcomes(1, [True]), "defence of creature 0 is True"),
        (lambda: attack.outcomes(1, [1] * 21), "21 creatures defend, at most 20"),
        (lambda: attack.best(1, [1], []), "one finite number for each of 1"),
        (lambda: attack.best(1, [1], [float("nan")]), "finite"),
        (lambda: attack.resolve(1, [1, 1], [0, 0]), "each at most once"),
        (lambda: attack.resolve(1, [1, 1], [2]), "creatures 0 to 1"),
        (lambda: attack.outcomes_batch([1], [[1], [2]]), "shape"),
        (lambda: attack.outcomes_batch([1], [[-2]]), "defenses must be from -1"),
        (lambda: attack.outcomes_batch([-1], [[2]]), "totals must be from 0"),
        (lambda: attack.outcomes_batch([1.0], [[2]]), "whole numbers"),
        (lambda: attack.outcomes_batch([1], [[1] * 21]), "21 creatures"),
        (lambda: attack.best_batch([1], [[1]], [[1.0, 2.0]]), "shape of defenses"),
        (lambda: attack.resolve_batch([1], [[1, 2]], [[0, 0]]), "every creature of a row once"),
        (lambda: attack.resolve_batch([1], [[1, -1]], [[0, 1]]), "empty places"),
    ],
)
def test_bad_input_gets_a_named_error(call, message):
    with pytest.raises(AttackError, match=message):
        call()
