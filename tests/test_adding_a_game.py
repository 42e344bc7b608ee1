"""Follows docs/adding-a-game.md to the letter in a folder of its own, and plays the result."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^`([\w/.]+)`:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)


@cache
def value(stones: int) -> float:
    """Expected utility of the player about to roll: the definition of the game, in six lines."""
    if stones == 0:
        return -1.0  # the rival has just taken the last stone
    return sum(max(-value(stones - k) for k in range(1, min(die, stones) + 1)) for die in range(1, 7)) / 6


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the whole project, and the new game built in it."""
    root = tmp_path_factory.mktemp("checkout")
    for name in ("engine_ext", "solvers", "experiments", "tests", "pyproject.toml"):
        (root / name).symlink_to(ROOT / name)
    (root / "games").mkdir()
    for path in (ROOT / "games").iterdir():
        if path.suffix.startswith(".py") or (path / "__init__.py").exists():
            (root / "games" / path.name).symlink_to(path)
    for name, text in BLOCK.findall((ROOT / "docs/adding-a-game.md").read_text(encoding="utf-8")):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    script = (
        "from setuptools import setup, Extension; from Cython.Build import cythonize; "
        "setup(ext_modules=cythonize([Extension('games.dice_nim.rules', ['games/dice_nim/rules.pyx'])], "
        "compiler_directives={'language_level': 3, 'cdivision': True, 'wraparound': False}))"
    )
    run(root, "-c", script, "build_ext", "--inplace")
    return root


def run(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_new_game_meets_the_contract(checkout: Path) -> None:
    out = run(checkout, "-m", "pytest", "-p", "no:cacheprovider", "tests/conformance", "-k", "dice_nim")
    assert re.search(r"\b\d\d passed", out), out
    assert "failed" not in out


def test_the_tests_of_the_project_stay_green(checkout: Path) -> None:
    """Those that go through all games there are: what they ask of the new one, the page has to say."""
    files = [f"tests/experiments/test_{name}.py" for name in ("signature", "convergence", "play", "drawing", "web")]
    files += ["tests/games", "tests/solvers/test_mcts.py"]
    wanted = "not soak", "-k", "dice_nim or kept_table or comparison_has"
    out = run(checkout, "-m", "pytest", "-p", "no:cacheprovider", *files, "-m", *wanted)
    assert re.search(r"\b\d+ passed", out), out
    assert "failed" not in out
    listed = run(checkout, "-m", "experiments", "games", "dice_nim")
    assert "five" in listed
    assert "0.148" in listed


def test_the_new_game_has_the_value_of_its_definition(checkout: Path) -> None:
    script = (
        "import games\n"
        "def value(p):\n"
        "    if p.is_terminal(): return p.returns()[0]\n"
        "    if p.is_chance_node(): return sum(q * value(p.child(o)) for o, q in p.chance_outcomes())\n"
        "    best = max if p.current_player() == 0 else min\n"
        "    return best(value(p.child(a)) for a in p.legal_actions())\n"
        "print(value(games.spec('dice_nim').make_rules({'stones': 5}).initial_position()))\n"
    )
    assert float(run(checkout, "-c", script)) == pytest.approx(value(5), abs=1e-12)
