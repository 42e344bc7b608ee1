"""The compiled kernels, each in a group with the plain or numpy version of the same work."""

import random

import numpy as np
import pytest

from engine_ext import attack, dice
from engine_ext.dice import DiceBag, Rolls
from engine_ext.rng import Stream
from experiments import references
from experiments.profile import BAG, DRAWN, hex_case

SIZE = 4096
GENERATOR = np.random.default_rng(0)
DEFENSES = GENERATOR.integers(1, 7, (SIZE, 6))
TOTALS = GENERATOR.integers(1, 16, SIZE)
VALUES = GENERATOR.random((SIZE, 6))


@pytest.mark.benchmark(group="4096 draws of 6 of 22 dice")
@pytest.mark.parametrize("way", ["native, one call a draw", "batched", "numpy count", "numpy marginals"])
def test_bag_draws(benchmark, way):
    stream, counts = Stream(0), list(BAG)
    if way == "batched":
        assert benchmark(lambda: dice.draw_batch(counts, DRAWN, SIZE, stream)).sum() == DRAWN * SIZE
    elif way == "native, one call a draw":
        benchmark(lambda: dice.time_draws(counts, DRAWN, SIZE, stream))
    else:
        method = way.split()[1]
        colours = np.array(counts)
        benchmark(lambda: GENERATOR.multivariate_hypergeometric(colours, DRAWN, SIZE, method=method))


@pytest.mark.benchmark(group="one draw from Python")
@pytest.mark.parametrize("way", ["DiceBag", "numpy"])
def test_single_draws_from_python(benchmark, way):
    stream, counts, colours = Stream(0), list(BAG), np.array(BAG)
    if way == "DiceBag":
        bag = DiceBag(counts)

        def draw():
            drawn = bag.draw(DRAWN, stream)
            bag.put(drawn)
            return drawn

        assert benchmark(draw).sum() == DRAWN
    else:
        benchmark(lambda: GENERATOR.multivariate_hypergeometric(colours, DRAWN))


@pytest.mark.benchmark(group="rolls of five dice")
def test_rolls(benchmark):
    rolls, stream = Rolls(5), Stream(0)
    assert len(benchmark(lambda: rolls.sample_batch(SIZE, stream))) == SIZE


@pytest.mark.benchmark(group="tables of five dice")
def test_roll_tables(benchmark):
    assert benchmark(lambda: Rolls(5)).n_rolls == 252


@pytest.mark.benchmark(group="outcomes of an attack on six creatures")
@pytest.mark.parametrize("way", ["batched 4096", "one from Python", "plain Python"])
def test_attack_outcomes(benchmark, way):
    if way == "batched 4096":
        starts, _ = benchmark(lambda: attack.outcomes_batch(TOTALS, DEFENSES))
        assert len(starts) == SIZE + 1
        return
    outcomes = attack.outcomes if way == "one from Python" else references.attack_outcomes
    defenses = DEFENSES[0].tolist()
    assert benchmark(lambda: outcomes(9, defenses)) == references.attack_outcomes(9, defenses)


@pytest.mark.benchmark(group="best defences of six creatures")
def test_best_defences(benchmark):
    lost, _ = benchmark(lambda: attack.best_batch(TOTALS, DEFENSES, VALUES))
    assert len(lost) == SIZE


@pytest.mark.benchmark(group="lines of sight")
@pytest.mark.parametrize("way", ["batched 4096", "one from Python", "networkx"])
def test_lines_of_sight(benchmark, way):
    board, plain = hex_case(random.Random(0))
    cells = board.cells
    if way == "batched 4096":
        shooters, targets = GENERATOR.integers(len(cells), size=(2, SIZE))
        assert len(benchmark(lambda: board.lines_of_sight(shooters, targets))) == SIZE
        return
    sight = board.line_of_sight if way == "one from Python" else plain.line_of_sight
    assert benchmark(lambda: sight(cells[20], cells[22], [cells[3]])) in (True, False)


@pytest.mark.benchmark(group="movements of 3 steps")
@pytest.mark.parametrize("way", ["batched 4096", "one from Python", "networkx"])
def test_floods(benchmark, way):
    board, plain = hex_case(random.Random(0))
    start = next(cell for cell in board.cells if cell not in board.solid)
    if way == "batched 4096":
        starts = GENERATOR.integers(len(board), size=SIZE)
        assert len(benchmark(lambda: board.floods(starts, 3))) == SIZE
        return
    reachable = board.reachable if way == "one from Python" else plain.reachable
    assert set(benchmark(lambda: reachable(start, 3))) == plain.reachable(start, 3)
