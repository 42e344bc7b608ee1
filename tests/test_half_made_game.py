"""A game folder that is half made: left out with a line, while all other games go on working."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import games

ROOT = Path(__file__).resolve().parent.parent


def test_no_game_that_ships_is_left_out() -> None:
    folders = {path.parent.name for path in (ROOT / "games").glob("*/rules.pyx")}
    assert {"kuhn", "pentaquest", "pig", "quarriors", "quarz"} <= folders
    assert {spec.package.rpartition(".")[2] for spec in games.SPECS.values()} == folders
    assert games.LEFT_OUT == {}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder with the engine, the solvers, the commands and two games."""
    for room in ("engine_ext", "solvers", "experiments"):
        (tmp_path / room).symlink_to(ROOT / room)
    (tmp_path / "games").mkdir()
    for path in [*(ROOT / "games").glob("*.py*"), ROOT / "games/pig", ROOT / "games/kuhn"]:
        (tmp_path / "games" / path.name).symlink_to(path)
    return tmp_path


def copied(checkout: Path, *patterns: str) -> Path:
    """Files of games/pig in a folder of their own."""
    folder = checkout / "games/dice_nim"
    folder.mkdir()
    for pattern in patterns:
        for path in (ROOT / "games/pig").glob(pattern):
            shutil.copy(path, folder / path.name)
    return folder


def listed(checkout: Path) -> tuple[str, str]:
    """What `quandary games` prints: games, and lines of complaint."""
    done = subprocess.run(
        [sys.executable, "-m", "experiments", "games"],
        cwd=checkout,
        env={**os.environ, "PYTHONPATH": str(checkout)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "quandary_kuhn" in done.stdout or "kuhn" in done.stdout
    assert "quandary_pig" in done.stdout
    return done.stdout, done.stderr


@pytest.mark.parametrize("patterns", [["*.py*"], ["*.py*", "rules.c", "*.so"]], ids=["sources", "with what was built"])
def test_a_renamed_copy_that_is_not_built_is_left_out(patterns: list[str], checkout: Path) -> None:
    folder = copied(checkout, *patterns)
    for path in folder.glob("*.py*"):
        path.write_text(
            path.read_text()
            .replace("games.pig", "games.dice_nim")
            .replace("quandary_pig", "dice_nim")
            .replace("PigRules", "DiceNimRules")
        )
    out, errors = listed(checkout)
    assert "dice_nim" not in out
    assert len(errors.splitlines()) == 1, errors
    assert "games/dice_nim is left out: " in errors
    assert "make build" in errors


def test_a_copy_without_a_name_of_its_own_does_not_take_the_place_of_the_original(checkout: Path) -> None:
    copied(checkout, "*.py*")
    _, errors = listed(checkout)
    assert errors.startswith(
        "quandary: games/dice_nim is left out: its game is called quandary_pig, as is that of games/pig"
    )
    assert len(errors.splitlines()) == 1


def test_a_folder_with_a_slip_of_the_pen_is_left_out(checkout: Path) -> None:
    (copied(checkout, "*.py*") / "__init__.py").write_text("GAME = GameSpec(\n")
    _, errors = listed(checkout)
    assert errors.startswith("quandary: games/dice_nim is left out: SyntaxError")
    assert len(errors.splitlines()) == 1
