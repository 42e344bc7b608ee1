"""manifest.json: everything that says where a run's numbers come from."""

from __future__ import annotations

import datetime
import hashlib
import importlib.metadata
import itertools
import os
import platform
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine_ext.errors import ResultsError
from experiments import config
from experiments.gametext import Game

PACKAGES = ("quandary", "open_spiel", "numpy", "scipy", "matplotlib", "pydantic")
_ROOMS = ("engine_ext", "games", "solvers", "experiments")
_SOURCES = (".py", ".pyx", ".pxd", ".h")


class _Model(BaseModel):
    model_config = ConfigDict(extra="ignore", strict=True)


class _Execution(_Model):
    started: str | None = None
    commit: str | None = None
    code_sha256: str | None = None
    versions: dict[str, str] | None = None


class _Game(_Model):
    name: str
    version: int | None
    parameters: dict[str, Any]
    data_sha256: str
    provenance: dict[str, int]


class _Identity(_Model):
    config: dict[str, Any]
    games: dict[str, _Game]
    files: dict[str, str] = Field(default_factory=dict)


class _Manifest(_Model):
    """What a manifest has to have; what it has besides is nobody's concern."""

    name: str
    created: str
    config_hash: str
    identity: _Identity
    seed: int
    reproducible: bool
    timed_bots: list[str]
    notes: list[str]
    versions: dict[str, str]
    commit: str | None
    machine: dict[str, str | int | float | None]
    executions: list[_Execution] = Field(default_factory=list)


def check(content: dict[str, Any], path: Path) -> None:
    """Refuse a manifest that lacks what reports and comparisons read.

    Args:
        content: of the file.
        path: for messages.

    Raises:
        ResultsError: naming the key that is missing or wrong.
    """
    try:
        known = _Manifest.model_validate(content)
    except ValidationError as error:
        raise ResultsError(f"{path} is damaged: {config.fault(error)}") from error
    for key in ("name", "seed"):
        if content[key] != known.identity.config.get(key, content[key]):
            raise ResultsError(f"{path} is damaged: {key} is not that of its config")


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


def code_sha256() -> str:
    """Hash of the sources this code runs from: what `commit` cannot tell of files that differ from it."""
    root = Path(__file__).resolve().parent.parent
    found = hashlib.sha256()
    for room in _ROOMS:
        for path in sorted(path for path in (root / room).rglob("*") if path.suffix in _SOURCES and path.is_file()):
            found.update(f"{path.relative_to(root).as_posix()}\0".encode())
            found.update(hashlib.sha256(path.read_bytes()).digest())
    return found.hexdigest()


def execution() -> dict[str, Any]:
    """An entry of the manifest's `executions`: when one began that had something to do, and with which code."""
    return {"started": now(), "commit": commit(), "code_sha256": code_sha256(), "versions": versions()}


def executions(content: dict[str, Any], begun: bool) -> list[dict[str, Any]]:
    """All executions that a manifest tells of; one that has no list of them tells of its first.

    Args:
        content: of the manifest.
        begun: whether there are results of an execution.
    """
    kept = content.get("executions")
    if isinstance(kept, list) and kept and all(isinstance(each, dict) for each in kept):
        return kept
    first = {key: content.get(key) for key in ("commit", "versions")}
    return [{"started": content.get("created"), **first}] if begun else []


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """In what the code of two executions differs, as `numpy 1.26.4, then 2.0.0`; empty where it is the same."""
    found = []
    before, after = one.get("commit") or "unknown", other.get("commit") or "unknown"
    if before != after:
        found.append(f"commit {_short(before)}, then {_short(after)}")
    sources = one.get("code_sha256"), other.get("code_sha256")
    if not found and None not in sources and sources[0] != sources[1]:
        found.append(f"sources {str(sources[0])[:12]}, then {str(sources[1])[:12]}")
    versions_before, versions_after = one.get("versions") or {}, other.get("versions") or {}
    for name in {**versions_before, **versions_after}:
        if versions_before.get(name) != versions_after.get(name):
            found.append(f"{name} {versions_before.get(name, 'unknown')}, then {versions_after.get(name, 'unknown')}")
    return found


def changes(content: dict[str, Any]) -> list[str]:
    """Every change of code between executions of a run, in order, with its time."""
    kept = executions(content, begun=True)
    return [
        f"from {str(after.get('started'))[:19].replace('T', ' ')} UTC: {'; '.join(found)}"
        for before, after in itertools.pairwise(kept)
        if (found := differences(before, after))
    ]


def _short(commit_id: str) -> str:
    return commit_id if len(commit_id) < 40 else commit_id[:12] + commit_id[40:]


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
