"""Every game of OpenSpiel with every solver: an answer or a named refusal of one line, never a crash, a hang or
another answer than OpenSpiel's own code gives."""

from __future__ import annotations

import json
import re
import subprocess
import sys

import pytest

from tests.experiments.openspiel_sweep import SMALL, games_to_sweep, solver_names

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
