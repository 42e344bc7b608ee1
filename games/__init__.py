"""The games. Importing this package finds every game folder and registers it with OpenSpiel.

A game folder is a package below this one whose `__init__.py` defines `GAME`, a `GameSpec`.
There is no central list: adding a folder adds a game, its scenarios and its tests. A folder that is half made (not
built yet, for one) is left out with a line on the standard error; all other games go on working.
"""

from __future__ import annotations

import importlib
import multiprocessing
import pkgutil
import sys
from collections.abc import Mapping

from engine_ext.errors import ParameterError, quoted
from games import spiel
from games.spec import GameSpec, Scenario


def _find() -> tuple[dict[str, GameSpec], dict[str, str]]:
    """All games by name, and why folders were left out, by folder."""
    found: dict[str, GameSpec] = {}
    left_out: dict[str, str] = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.ispkg:
            continue
        try:
            given = getattr(importlib.import_module(f"{__name__}.{module.name}"), "GAME", None)
        except Exception as error:  # whatever somebody's unfinished code raises
            left_out[module.name] = f"{type(error).__name__}: {' '.join(str(error).split())}"
            continue
        if not isinstance(given, GameSpec):
            continue
        known = found.setdefault(given.name, given)
        if known is not given:  # copied, and not renamed: the one whose rules are its own is the original
            if given.rules.__module__.startswith(f"{given.package}."):
                found[given.name], given = given, known
            original = found[given.name].package.rpartition(".")[2]
            left_out[_folder(given)] = f"its game is called {given.name}, as is that of games/{original}"
    for name, each in sorted(found.items()):
        try:
            spiel.register(each)
        except Exception as error:  # as above
            left_out[_folder(each)] = f"{type(error).__name__}: {' '.join(str(error).split())}"
            del found[name]
    return dict(sorted(found.items())), left_out


def _folder(spec: GameSpec) -> str:
    return spec.package.rpartition(".")[2]


SPECS: Mapping[str, GameSpec]
LEFT_OUT: Mapping[str, str]
SPECS, LEFT_OUT = _find()

if multiprocessing.parent_process() is None:  # workers would say it again
    for _name, _why in LEFT_OUT.items():
        print(f"quandary: games/{_name} is left out: {_why} (not built yet? `make build`)", file=sys.stderr)


def spec(name: str) -> GameSpec:
    """The game registered under this name, or the game in this folder (`pig` is `quandary_pig`).

    Raises:
        ParameterError: there is none; the message lists what there is.
    """
    if name in SPECS:
        return SPECS[name]
    for found in SPECS.values():
        if _folder(found) == name:
            return found
    raise ParameterError(f"no game is called {quoted(name)}; there are: {', '.join(SPECS)}")


def scenarios(name: str) -> Mapping[str, Scenario]:
    """A game's scenarios by name."""
    return spec(name).scenarios
