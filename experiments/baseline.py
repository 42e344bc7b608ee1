"""Two profiles of the same thing compared: what became slower, what faster, and what is noise.

A figure of a profile is the median of interleaved rounds and carries its slowest and fastest round. The
software of others, measured in the same rounds, tells how much the machine itself differs between the two
runs: the *drift* is the median of its ratios, and what was measured before is multiplied by it. Then a
figure of ours is

* `slower` where even its fastest round is below the slowest round of before, by 3 % at least;
* `faster` where even its slowest round is above the fastest one of before, likewise;
* `same` otherwise.

Of five rounds against five at the same speed, all of these lie below all of those in 1 of 252 cases. The
3 % are for what two builds differ in besides, such as where the linker put a loop.
"""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine_ext.errors import ConfigError

if TYPE_CHECKING:
    from rich.table import Table

MARGIN = 0.03  # of a figure: less is no difference


def read_profile(path: Path, subject: str) -> dict[str, Any]:
    """A profile of this subject that `quandary profile ... --json` wrote.

    Raises:
        ConfigError: there is no such file, or it holds something else.
    """
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise ConfigError(f"baseline {path}: cannot be read as JSON: {error}") from None
    if not isinstance(found, dict) or not {"profile", "ranges", "references"} <= found.keys():
        raise ConfigError(f"baseline {path}: not what `quandary profile ... --json` writes")
    fault = _fault(found)
    if fault:
        raise ConfigError(f"baseline {path}: damaged: {fault}")
    if found["profile"] != subject:
        raise ConfigError(f"baseline {path} is a profile of {found['profile']}, this is to be one of {subject}")
    return found


def _fault(profile: dict[str, Any]) -> str | None:
    """What is not as `quandary profile --json` writes it; None where all is well."""
    ranges, references = profile["ranges"], profile["references"]
    if not isinstance(ranges, dict):
        return "ranges is no table"
    if not isinstance(references, (dict, list)):
        return "references is no list"
    for key, pair in ranges.items():
        if not isinstance(pair, list) or len(pair) != 2 or not all(map(_is_rate, pair)):
            return f"ranges.{key} is not two rates above 0"
        if key in profile and not _is_rate(profile[key]):
            return f"{key} is not a rate above 0"
    if not isinstance(profile.get("machine", {}), dict):
        return "machine is no table"
    return None


def _is_rate(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 < value < math.inf


def compare(now: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """What changed from one profile to another.

    Args:
        now, before: what the functions of `experiments/profile.py` return for one subject.

    Returns:
        JSON-able: `commit`, `seconds`, `game_version` and `processor` of before; `drift`, the machine's speed now
        over before; `changes`, by figure the rates `before` and `now`, their `ratio` with the drift taken
        out, and the `verdict` "slower", "faster" or "same" (of a reference "reference"); `gone`, figures of before
        that are not measured any more; `slower`, the names of the slower ones.

    Raises:
        ConfigError: the profiles have no reference in common.
    """
    rates = {key for key in now["ranges"] if key in before["ranges"]}
    references = [key for key in now["references"] if key in rates and key in before["references"]]
    if not references:
        raise ConfigError("the baseline has no reference in common with this profile, so they cannot be compared")
    drift = statistics.median(_middle(now, key) / _middle(before, key) for key in references)
    changes: dict[str, dict[str, Any]] = {}
    for key in now["ranges"]:
        if key not in rates:
            continue
        low, high = (drift * rate for rate in before["ranges"][key])
        verdict = "same"
        if key in references:
            verdict = "reference"
        elif now["ranges"][key][1] < (1 - MARGIN) * low:
            verdict = "slower"
        elif now["ranges"][key][0] > (1 + MARGIN) * high:
            verdict = "faster"
        changes[key] = {
            "before": _middle(before, key),
            "now": _middle(now, key),
            "ratio": float(f"{_middle(now, key) / _middle(before, key) / drift:.4g}"),
            "verdict": verdict,
        }
    return {
        "commit": before.get("commit"),
        "seconds": before.get("seconds"),
        "game_version": before.get("game_version"),
        "processor": before.get("machine", {}).get("processor"),
        "drift": float(f"{drift:.4g}"),
        "changes": changes,
        "gone": [key for key in before["ranges"] if key not in now["ranges"]],
        "slower": [key for key, change in changes.items() if change["verdict"] == "slower"],
    }


def _middle(profile: dict[str, Any], key: str) -> float:
    """A rate's median, or the middle of its rounds where the profile gives it in another unit."""
    low, high = profile["ranges"][key]
    return float(profile.get(key, (low * high) ** 0.5))


def table(found: dict[str, Any]) -> Table:
    """A comparison as a rich table."""
    from rich.table import Table

    shown = Table(title="beside the baseline", title_justify="left")
    for column in ("figure", "before", "now", "now / before"):
        shown.add_column(column, justify="left" if column == "figure" else "right")
    shown.add_column("")
    for key, change in found["changes"].items():
        colour = {"slower": "red", "faster": "green"}.get(change["verdict"], "")
        verdict = f"[{colour}]{change['verdict']}[/]" if colour else change["verdict"]
        shown.add_row(key, f"{change['before']:,.4g}", f"{change['now']:,.4g}", f"{change['ratio']:.3f}", verdict)
    for key in found["gone"]:
        shown.add_row(key, "", "", "", "[red]not measured any more[/]")
    shown.caption = (
        f"baseline of commit {found['commit'] or 'unknown'}; by the references the machine runs at {found['drift']:g} "
        "times its speed then, which is taken out of the ratios"
    )
    return shown
