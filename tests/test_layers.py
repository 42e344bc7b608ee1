"""The house's direction: experiments above solvers and games, both above engine_ext.

import-linter holds it for .py files; this test holds it for .pyx and .pxd.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ALLOWED = {
    "engine_ext": {"engine_ext"},
    "games": {"engine_ext", "games"},
    "solvers": {"engine_ext", "solvers"},
    "experiments": {"engine_ext", "games", "solvers", "experiments"},
}
SOURCES = sorted(
    path for room in ALLOWED for pattern in ("*.py", "*.pyx", "*.pxd") for path in (ROOT / room).rglob(pattern)
)
IMPORT = re.compile(r"^\s*(?:from\s+([\w.]+)\s+c?import|c?import\s+([\w., ]+))", re.MULTILINE)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    room = path.relative_to(ROOT).parts[0]
    for match in IMPORT.finditer(path.read_text(encoding="utf-8")):
        for name in (match[1] or match[2]).split(","):
            target = name.strip().split(".")[0].split(" ")[0]
            assert target not in ALLOWED or target in ALLOWED[room], f"{room} may not import {name.strip()}"


def test_the_rule_sees_compiled_files() -> None:
    assert any(path.suffix == ".pyx" for path in SOURCES)
    assert IMPORT.findall("from engine_ext.rng cimport Rng\nimport games.pig") == [
        ("engine_ext.rng", ""),
        ("", "games.pig"),
    ]
