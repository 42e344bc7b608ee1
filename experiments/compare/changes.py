"""In what two runs differ before anything came of it: config, seed, games, files, code, machine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from experiments import manifest
from experiments.compare.reading import Run


def changes(a: Run, b: Run) -> dict[str, list[str]]:
    one, other = a.manifest, b.manifest
    found = {
        "config": list(_apart(_config(a), _config(b))),
        "seed": list(_apart(a.seed, b.seed)),
        "games": list(_apart(_games(a), _games(b))),
        "files": list(_apart(one["identity"].get("files", {}), other["identity"].get("files", {}))),
        "code": manifest.differences(
            manifest.executions(one, begun=True)[-1], manifest.executions(other, begun=True)[-1]
        ),
        "machine": list(_apart(one.get("machine", {}), other.get("machine", {}))),
    }
    return {part: lines for part, lines in found.items() if lines}


def _config(run: Run) -> dict[str, Any]:
    """What a run was asked to do, but for its name and its seed."""
    config = run.manifest["identity"]["config"]
    return {key: value for key, value in config.items() if key not in ("name", "title", "description", "seed")}


def _games(run: Run) -> dict[str, Any]:
    """What identifies the games of a run, by name, the number of their records aside."""
    return {
        text: {key: value for key, value in game.items() if key not in ("parameters", "provenance")}
        for text, game in run.manifest["identity"].get("games", {}).items()
    }


def _apart(one: Any, other: Any, place: str = "") -> Iterator[str]:
    """In what two JSON values differ, a line each, with the place in it."""
    at = f"{place}: " if place else ""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in {**one, **other}:
            yield from _apart(one.get(key), other.get(key), f"{place}.{key}" if place else key)
    elif isinstance(one, list) and isinstance(other, list):
        if any(isinstance(each, dict) for each in one + other):
            for i in range(max(len(one), len(other))):
                mine, others = (each[i] if i < len(each) else None for each in (one, other))
                yield from _apart(mine, others, f"{place}[{i + 1}]")
            return
        alone = [[each for each in mine if each not in others] for mine, others in ((one, other), (other, one))]
        for name, found in zip("AB", alone, strict=True):
            if found:
                yield f"{at}{', '.join(map(str, found))} in {name} alone"
        if one != other and not any(alone):
            yield f"{at}in another order"
    elif one is None or other is None:
        if one != other:
            yield f"{at}in {'B' if one is None else 'A'} alone"
    elif one != other:
        yield f"{at}{_brief(one)}, then {_brief(other)}"


def _brief(value: Any) -> str:
    """A value in a line; of a hash the beginning."""
    text = str(value)
    return text[:12] if len(text) == 64 and set(text) <= set("0123456789abcdef") else text
