"""Every game of OpenSpiel with every solver: an answer or a named refusal of one line, never a crash, a hang or
another answer than OpenSpiel's own code gives."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pyspiel
import pytest

from experiments import gametext
from tests.experiments.openspiel_sweep import SMALL, games_to_sweep, solver_names, table, unknown

LISTING = Path(__file__).parents[2] / "docs" / "openspiel.md"
TIMEOUT_S = 600  # a guard against hanging, also on a busy machine
REFUSALS = {"UnsuitableGameError", "TooLargeError", "ParameterError"}
QUICK = (
    "kuhn_poker",
    "pig(winscore=4,horizon=7)",
    "goofspiel(num_cards=3)",
    "markov_soccer(horizon=2)",
    "tiny_hanabi",
    "coin_game",
    "mfg_garnet",
)


def swept(game: str) -> dict:
    """What the sweep says of a game, from a process of its own, whose memory is limited."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.experiments.openspiel_sweep", game],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found: dict = json.loads(done.stdout.splitlines()[-1])
    return found


def check(game: str) -> None:
    """Every solver has answered or refused by name; answers agree with the others'."""
    found = swept(game)
    assert list(found["solvers"]) == solver_names()
    for name, result in found["solvers"].items():
        assert "crash" not in result, f"{name} on {game}: {result['crash']}"
        if "refused" in result:
            assert result["refused"] in REFUSALS, (name, result)
            assert "\n" not in result["says"]
            assert any(name in result["says"] for name in re.findall(r"[a-z0-9_]+", game.replace("python_", "")))
        else:
            assert "nodes" in found
            assert result["value"] is None or len(result["value"]) == found["players"]
    for what, (ours, theirs) in found.get("compared", {}).items():
        assert ours == pytest.approx(theirs, abs=1e-7), (game, what)


@pytest.mark.parametrize("game", QUICK)
def test_some_of_every_kind(game):
    check(game)


@pytest.mark.soak
@pytest.mark.parametrize("game", games_to_sweep())
def test_every_game(game):
    check(game)


def test_there_is_a_small_size_of_many_games():
    names = {text.partition("(")[0] for text in SMALL}
    assert len(names) > 30


def test_the_listing_tells_simultaneous_moves_from_hidden_information():
    """As OpenSpiel's own types of the games have it, where its turn-based view of simultaneous games is sequential."""
    rows = re.findall(r"^\| `(.+)` \| [\d,]+ \| .* \| (.*) \|$", LISTING.read_text(), re.MULTILINE)
    assert len(rows) > 60
    for text, traits in rows:
        kind = gametext.load(text).openspiel().get_type()
        simultaneous = kind.dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS
        hidden = kind.information == pyspiel.GameType.Information.IMPERFECT_INFORMATION
        assert ("simultaneous moves" in traits) == (
            simultaneous or kind.short_name == "turn_based_simultaneous_game"
        ), text
        assert ("hidden information" in traits) == hidden, text


@pytest.mark.parametrize(
    ("game", "words"),
    [
        ("kuhn_poker", "hidden information"),
        ("goofspiel(num_cards=3)", "simultaneous moves"),
        ("goofspiel(num_cards=3,imp_info=True)", "simultaneous moves, hidden information"),
    ],
)
def test_the_table_is_made_with_these_words(game, words):
    found = {"game": game, "nodes": 1, "infosets": 1, "players": 2, "recall": True, "zero_sum": True}
    assert table([{**found, "unknown": unknown(game)}]).splitlines()[-1] == f"| `{game}` | 1 | 1 | 2 | {words} |"
