"""The games. Importing this package finds every game folder and registers it with OpenSpiel.

A game folder is a package below this one whose `__init__.py` defines `GAME`, a `GameSpec`.
There is no central list: adding a folder adds a game, its scenarios and its tests.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping

from engine_ext.errors import ParameterError
from games import spiel
from games.spec import GameSpec, Scenario


def _find() -> dict[str, GameSpec]:
    specs = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.ispkg:
            continue
        spec = getattr(importlib.import_module(f"{__name__}.{module.name}"), "GAME", None)
        if isinstance(spec, GameSpec):
            specs[spec.name] = spec
    return dict(sorted(specs.items()))


SPECS: Mapping[str, GameSpec] = _find()

for _spec in SPECS.values():
    spiel.register(_spec)


def spec(name: str) -> GameSpec:
    """The game registered under this name, or the game in this folder (`pig` is `quandary_pig`).

    Raises:
        ParameterError: there is none; the message lists what there is.
    """
    if name in SPECS:
        return SPECS[name]
    for found in SPECS.values():
        if found.package.rpartition(".")[2] == name:
            return found
    raise ParameterError(f"no game is called {name!r}; there are: {', '.join(SPECS)}")


def scenarios(name: str) -> Mapping[str, Scenario]:
    """A game's scenarios by name."""
    return spec(name).scenarios
