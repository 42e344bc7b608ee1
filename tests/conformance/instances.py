"""Every registered game in every form the conformance suites run: defaults, seats, scenarios.

A new game folder enters by itself.
"""

from __future__ import annotations

import games
from engine_ext.position import Rules


def game_strings() -> list[str]:
    """OpenSpiel game strings of all games: the default, each number of seats, each scenario."""
    strings = []
    for name, spec in games.SPECS.items():
        strings.append(f"{name}()")
        fewest, most = spec.players
        if "players" in spec.parameters:
            strings += [f"{name}(players={n})" for n in range(fewest, most + 1) if n != spec.parameters["players"]]
        strings += [f"{name}(scenario={scenario})" for scenario in spec.scenarios]
    return strings


def rules_of(string: str) -> Rules:
    """The native rules behind a game string made by `game_strings`."""
    name, _, rest = string.partition("(")
    given: dict[str, bool | int | float | str] = {}
    for item in filter(None, rest.rstrip(")").split(",")):
        key, value = item.split("=")
        given[key] = int(value) if value.isdigit() else value
    return games.SPECS[name].make_rules(given)
