"""Every registered game: playouts, copies and the OpenSpiel face; OpenSpiel's own games beside it."""

import random

import pyspiel
import pytest

import games
from engine_ext.rng import Stream
from experiments import profile

GAMES = sorted(games.SPECS)


def start_of(name):
    return games.SPECS[name].make_rules().initial_position()


@pytest.mark.benchmark(group="one random game, native")
@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("loop", ["own", "generic"])
def test_playouts(benchmark, name, loop):
    start, stream = start_of(name), Stream(0)
    steps, _ = benchmark(lambda: start.playouts(1, stream, generic=loop == "generic"))
    assert steps > 0


@pytest.mark.benchmark(group="1000 native copies")
@pytest.mark.parametrize("name", GAMES)
def test_copies(benchmark, name):
    start = start_of(name)
    benchmark(lambda: start.copies(1000))


@pytest.mark.benchmark(group="one copy from Python")
@pytest.mark.parametrize("name", GAMES)
def test_clones(benchmark, name):
    start = start_of(name)
    assert benchmark(start.clone) == start


@pytest.mark.benchmark(group="one random game through OpenSpiel")
@pytest.mark.parametrize("name", [*GAMES, "python_kuhn_poker", "pig", "kuhn_poker"])
def test_openspiel(benchmark, name):
    if name.startswith("python_"):
        pytest.importorskip("open_spiel.python.games")
    game, rng = pyspiel.load_game(name), random.Random(0)
    assert benchmark(lambda: profile.drive(game, 1, rng)) > 0
