"""Games as text: `pentaquest(scenario=tiny)`, `pig`, `leduc_poker`.

The grammar is OpenSpiel's, `name(key=value,key=value)`. It is read here, before OpenSpiel sees
it, because OpenSpiel answers a misspelt name with a hundred lines and some misspelt values with
an abort. Names of our game folders work as well as registered names, and numbers of our games
may be written as people write them.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import importlib
import math
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyspiel

import games
from engine_ext.errors import ParameterError, quoted
from engine_ext.position import Rules
from games.spec import GameSpec
from solvers.extraction import LOAD_ERRORS

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_+\-]*")  # one of OpenSpiel's games is called 2048


@dataclass(frozen=True)
class Game:
    """A game named in text.

    Attributes:
        text: the canonical text; equal texts are equal games.
        name: the registered name.
        spec: our game's declaration; None for a game of OpenSpiel's own.
        rules: our game's rules for these parameters; None for a game of OpenSpiel's own.
        parameters: the parameters given, with their types.
    """

    text: str
    name: str
    spec: GameSpec | None
    rules: Rules | None
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def same_as(self, other: Game) -> bool:
        """Whether two texts name the same game: parameters left out count as their defaults."""
        return self.identity == other.identity

    @property
    def identity(self) -> object:
        """What makes the game the game it is; equal for equal games, however they are spelled."""
        return self.text if self.rules is None else identity(self.rules)

    @property
    def utility_unit(self) -> str:
        """What a utility of 1 is, in words, for the heading of a column."""
        if self.rules is None or self.spec is None:
            return "utility"
        if only_wins(self.rules):
            return f"win 1, loss {self.rules.min_utility():.3g}"
        return self.spec.unit(self.rules)[1]

    @property
    def n_players(self) -> int:
        """How many play."""
        return int(self.openspiel().num_players()) if self.rules is None else self.rules.num_players()

    @property
    def zero_sum(self) -> bool:
        """Whether utilities are declared to add up to 0."""
        if self.rules is not None:
            return self.rules.zero_sum
        return bool(self.openspiel().get_type().utility == pyspiel.GameType.Utility.ZERO_SUM)

    def openspiel(self) -> pyspiel.Game:
        """The game as a `pyspiel.Game`.

        Raises:
            ParameterError: OpenSpiel refuses the parameters.
        """
        return _load_openspiel(self.text if self.spec is None else _write(self.name, self.parameters))


def identity(rules: Rules) -> object:
    """Name, every parameter, start and data of some rules of ours."""
    return rules.name, rules.parameters, rules.start_dict, rules.digest


def only_wins(rules: Rules) -> bool:
    """Whether utilities say who has won and no more: w winners among n get (n/w - 1)/(n - 1), the others -1/(n - 1)."""
    n = rules.num_players()
    return n > 1 and rules.zero_sum and rules.max_utility() == 1 and math.isclose(rules.min_utility(), -1 / (n - 1))


def utility_range(rules: Rules) -> tuple[float, float]:
    """Utilities of a game, that of a game cut short (0) among them."""
    return min(0.0, rules.min_utility()), max(0.0, rules.max_utility())


def split(text: str) -> tuple[str, dict[str, str]]:
    """`name(key=value,...)` as its name and the raw text of each value; values may nest.

    Raises:
        ParameterError: the text does not follow the grammar; the message says where.
    """
    text = text.strip()
    found = _NAME.match(text)
    if found is None:
        raise ParameterError(f"{quoted(text)} does not start with the name of a game")
    name, rest = found.group(), text[found.end() :].strip()
    if not rest:
        return name, {}
    if not (rest.startswith("(") and rest.endswith(")")):
        raise ParameterError(f"{quoted(text)}: after {name[:80]} must come nothing, or (key=value,...)")
    values: dict[str, str] = {}
    for part in _split_commas(rest[1:-1], text):
        key, sign, value = part.partition("=")
        key, value = key.strip(), value.strip()
        if not sign or not _NAME.fullmatch(key):
            raise ParameterError(f"{quoted(text)}: {quoted(part.strip())} is not key=value")
        if key in values:
            raise ParameterError(f"{quoted(text)}: {quoted(key)} is given twice")
        values[key] = value
    return name, values


def _split_commas(inner: str, text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for i, sign in enumerate(inner):
        depth += (sign == "(") - (sign == ")")
        if depth < 0:
            raise ParameterError(f"{quoted(text)}: a ) without its (")
        if sign == "," and depth == 0:
            parts.append(inner[start:i])
            start = i + 1
    if depth:
        raise ParameterError(f"{quoted(text)}: a ( without its )")
    if inner.strip():
        parts.append(inner[start:])
    return parts


def convert(where: str, key: str, raw: str, default: Any) -> Any:
    """A parameter's raw text as a value of its default's type.

    Raises:
        ParameterError: it is not of that type.
    """
    kind = type(default)
    try:
        if kind is bool:
            return {"true": True, "false": False}[raw.lower()]
        if kind is int:
            return int(raw)
        if kind is float:
            return float(raw)
    except (KeyError, ValueError):
        wanted = {bool: "true or false", int: "a whole number", float: "a number"}[kind]
        raise ParameterError(f"{where}: parameter {key} is {quoted(raw)}, it must be {wanted}") from None
    return raw


def load(text: str, *, own_only: bool = False) -> Game:
    """The game that a text names.

    Args:
        text: `NAME` or `NAME(key=value,...)`; NAME is registered with OpenSpiel or one of our folders.
        own_only: refuse games of OpenSpiel's own.

    Raises:
        ParameterError: an unknown game or parameter, a value of the wrong type or range.
        DataError: a malformed data file.
    """
    name, raw = split(text)
    try:
        spec = games.spec(name)
    except ParameterError:
        spec = None
    if spec is not None and (own_only or not _means_openspiel(name, spec, raw)):
        return _load_own(spec, raw)
    kinds = _openspiel_games()
    if own_only and name in kinds:
        kin = [own for own in _own_names() if own in name.split("_")]
        hint = f"did you mean {kin[0]}?" if kin else f"there are: {', '.join(games.SPECS)}"
        raise ParameterError(
            f"{name} is a game of OpenSpiel's own, which `quandary solve` and [[convergence]] take; here it must be "
            f"one of ours; {hint}"
        )
    if own_only:
        raise ParameterError(_unknown(name, [*_own_names()], f"there are: {', '.join(games.SPECS)}"))
    if name not in kinds:
        close = [*_own_names(), *kinds]
        raise ParameterError(
            _unknown(name, close, f"ours are {', '.join(games.SPECS)}; OpenSpiel has {len(kinds)} more")
        )
    game = Game(_openspiel_text(name, raw), name, None, None)
    game.openspiel()
    return game


def _means_openspiel(name: str, spec: GameSpec, raw: Mapping[str, str]) -> bool:
    """Whether a name that OpenSpiel has as well as we (as a folder's) comes with parameters that only its game has."""
    if not raw or name == spec.name or raw.keys() & spec.all_parameters.keys():
        return False
    kind = _openspiel_games().get(name)
    return kind is not None and raw.keys() <= kind.parameter_specification.keys()


def _own_names() -> list[str]:
    folders = (spec.package.rpartition(".")[2] for spec in games.SPECS.values())
    return list(dict.fromkeys([*games.SPECS, *folders]))  # most folders are called as their game


def _unknown(name: str, known: list[str], otherwise: str) -> str:
    close = difflib.get_close_matches(name, known, n=3)
    hint = f"did you mean {' or '.join(close)}?" if close else otherwise
    return f"no game is called {quoted(name)}; {hint}"


def _load_own(spec: GameSpec, raw: Mapping[str, str]) -> Game:
    known = spec.all_parameters
    values: dict[str, Any] = {}
    for key, value in raw.items():
        if key not in known:
            raise ParameterError(f"{spec.name} has no parameter {quoted(key)}; it has: {', '.join(known) or 'none'}")
        values[key] = convert(spec.name, key, value, known[key])
    return Game(_write(spec.name, values), spec.name, spec, spec.make_rules(values), values)


def _write(name: str, values: Mapping[str, Any]) -> str:
    if not values:
        return name
    return name + "(" + ",".join(f"{key}={values[key]}" for key in sorted(values)) + ")"


@functools.cache
def _openspiel_games() -> dict[str, pyspiel.GameType]:
    importlib.import_module("open_spiel.python.games")
    return {kind.short_name: kind for kind in pyspiel.registered_games() if kind.short_name not in games.SPECS}


def openspiel_names() -> list[str]:
    """The games of OpenSpiel's own, those written in Python included, in alphabetical order."""
    return sorted(_openspiel_games())


def _openspiel_text(name: str, raw: Mapping[str, str]) -> str:
    known = _openspiel_games()[name].parameter_specification
    parts = []
    for key in sorted(raw):
        if key not in known:
            raise ParameterError(f"{name} has no parameter {quoted(key)}; it has: {', '.join(known) or 'none'}")
        if isinstance(known[key], dict):
            parts.append(f"{key}={_nested(raw[key])}")
            continue
        value = convert(name, key, raw[key], known[key])
        parts.append(f"{key}={float(value)!r}" if isinstance(known[key], float) else f"{key}={value}")
    return name + (f"({','.join(parts)})" if parts else "")


def _nested(text: str) -> str:
    """A game inside a game's parameters, always with its parentheses, as OpenSpiel wants it."""
    inner = load(text).text
    return inner if inner.endswith(")") else inner + "()"


@functools.lru_cache(maxsize=16)
def _load_openspiel(text: str) -> pyspiel.Game:
    try:
        with quiet_stderr():
            return pyspiel.load_game(text)
    except LOAD_ERRORS as error:
        first = str(error).strip().splitlines()
        # A parameter that is missing is often an IndexError or a failed CHECK, so say which there are.
        kind = _openspiel_games().get(split(text)[0])
        known = f"; its parameters: {', '.join(kind.parameter_specification) or 'none'}" if kind else ""
        raise ParameterError(
            f"OpenSpiel refuses {quoted(text)}: {first[0] if first else 'no reason given'}{known}"
        ) from error


@contextlib.contextmanager
def quiet_stderr() -> Iterator[None]:
    """Drop what C++ code prints to the standard error while it fails; Python's is kept."""
    sys.stderr.flush()
    try:
        kept = os.dup(2)
    except OSError:
        yield
        return
    sink = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(sink, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(sink)
