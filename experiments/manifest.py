"""manifest.json: everything that says where a run's numbers come from."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from experiments.gametext import Game

PACKAGES = ("quandary", "open_spiel", "numpy", "scipy", "matplotlib", "pydantic")


def versions() -> dict[str, str]:
    """Version of Python and of every package that can change a result or a plot."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def machine() -> dict[str, Any]:
    """The machine, as far as timings depend on it."""
    return {
        "system": f"{platform.system()} {platform.release()}",
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": os.cpu_count(),
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def commit() -> str | None:
    """The git commit of the checkout this code runs from, `+` when files differ; None elsewhere."""
    root = Path(__file__).resolve().parent.parent
    if not (root / ".git").exists():
        return None
    try:
        head = _git(root, "rev-parse", "HEAD")
        return head + ("+" if _git(root, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.SubprocessError):
        return None


def _git(root: Path, *words: str) -> str:
    done = subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, timeout=10, check=True)
    return done.stdout.strip()


def provenance(game: Game) -> dict[str, int]:
    """How many of the game's data records come from where; empty for a game without data."""
    if game.spec is None or game.spec.records is None or game.rules is None:
        return {}
    counts = Counter(record["provenance"] for record in game.spec.records(game.rules))
    return dict(sorted(counts.items()))


def describe_game(game: Game) -> dict[str, Any]:
    """What identifies a game's behaviour: version (None: OpenSpiel's own), parameters, hash of the data."""
    if game.rules is None:
        return {"name": game.name, "version": None, "parameters": {}, "data_sha256": "", "provenance": {}}
    return {
        "name": game.name,
        "version": game.rules.version,
        "parameters": dict(game.rules.parameters),
        "data_sha256": game.rules.digest,
        "provenance": provenance(game),
    }


def now() -> str:
    """The time in UTC, ISO 8601."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
