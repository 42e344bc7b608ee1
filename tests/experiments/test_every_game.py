"""Every game that OpenSpiel knows goes through `solve` with every kind of solver: it is solved, or
refused in one line that names the game. Games beyond 100,000 nodes count as too large here."""

from __future__ import annotations

import warnings

import pyspiel
import pytest

import games
from engine_ext.errors import QuandaryError, TooLargeError, UnsuitableGameError
from experiments import gametext, solve
from solvers import declared, extraction, game_source

SOLVERS = (
    "cfr(iterations=1)",
    "mccfr_os(iterations=1)",
    "mcts(simulations=10)",
    "ismcts(simulations=10,observer=single)",
    "oos(simulations=10)",
    "expectimax(nodes=1000)",
    "value_iteration",
)
NAMES = sorted(set(gametext._openspiel_games()) | set(games.SPECS))
# What each stands for: a file that is missing, a parameter that is missing, a name that begins with a digit,
# chance that is only sampled, a mean field, simultaneous moves, many players, a cycle.
KINDS = ("nfg_game", "add_noise", "2048", "deep_sea", "mfg_crowd_modelling", "matrix_pd", "tiny_hanabi", "quandary_pig")


@pytest.fixture(autouse=True)
def small(monkeypatch):
    for module in (declared, extraction):
        monkeypatch.setattr(module, "default_max_nodes", lambda n_players=2: 100_000)
    monkeypatch.setattr(game_source, "PROBE_SECONDS", 0.5)


def refusal(name: str, solver: str) -> str | None:
    """What `solve` says where it refuses; None where it solves."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            solve.solve(name, solver)
    except QuandaryError as error:
        return str(error).strip()
    return None


def solved_or_refused(name: str, solver: str) -> None:
    text = refusal(name, solver)
    assert text is None or "\n" not in text
    assert text is None or name.removeprefix("quandary_") in text, f"{text} does not say which game"


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", KINDS)
def test_each_kind_of_game_is_solved_or_refused_by_name(name, solver):
    solved_or_refused(name, solver)


@pytest.mark.soak
@pytest.mark.parametrize("name", NAMES)
def test_every_game_is_solved_or_refused_by_name(name):
    for solver in SOLVERS:
        solved_or_refused(name, solver)


def test_a_game_without_its_file_is_refused_in_one_line():
    """OpenSpiel's C++ answers with a bare IndexError, "map::at"."""
    for load in (gametext.load, extraction.as_game):
        with pytest.raises(QuandaryError, match="nfg_game"):
            load("nfg_game")
    with pytest.raises(QuandaryError, match=r"its parameters: filename$"):
        gametext.load("nfg_game")


@pytest.mark.parametrize("solver", ["mcts(simulations=10)", "expectimax(nodes=10)", "value_iteration"])
def test_hidden_information_is_refused_before_the_tree_is_made(solver, monkeypatch):
    def made(*args, **options):
        raise AssertionError("the tree was made first")

    monkeypatch.setattr(extraction, "extract", made)
    with pytest.raises(UnsuitableGameError, match="leduc_poker hides information"):
        solve.solve("leduc_poker", solver)


def test_a_game_that_fails_by_itself_is_named(monkeypatch):
    """A state whose C++ raises in the middle of the walk."""

    def broken(self):
        raise pyspiel.SpielError("out of order\nand a trace")

    monkeypatch.setattr(pyspiel.State, "legal_actions", broken)
    with pytest.raises(UnsuitableGameError, match=r"tic_tac_toe: the game itself fails with .*out of order$"):
        extraction.extract("tic_tac_toe")


def test_a_game_too_large_says_so_before_it_is_walked():
    with pytest.raises(TooLargeError, match=r"about 10\^\d+ nodes .* it was not begun"):
        extraction.extract("go")
