"""Specs: a bot or solver and its parameters as one line of text, in OpenSpiel's own grammar.

    mcts    mcts(simulations=2000,c=1.4)    cfr+(iterations=1000)    ismcts(favor=cfr+(iterations=50))

    spec      = name [ "(" [ parameter { "," parameter } ] ")" ]
    parameter = name "=" value
    value     = number | true | false | word | spec | file | '"' file '"'

Names are lower-case words that may end in `+`. Spaces around the signs are ignored. The name of a file needs its
quotes where it has one of `,()=` in it. Every spec is checked here, names, types and ranges, before anything else
sees it.

The names come from the modules of this package: each that holds solvers declares them in a tuple
`SOLVERS` of `SolverSpec`. There is no central list. A layer above may add names that stand for
other specs (`register_alias`), such as the strongest bot known for a game. A game may recommend settings
to a searcher (`Rules.recommended`), which a spec takes that gives no settings itself.
"""

from __future__ import annotations

import difflib
import importlib
import math
import pkgutil
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import solvers
from engine_ext.errors import SpecError, quoted
from engine_ext.position import Rules
from solvers.contract import RESOURCES, Parameter, ParameterValue, Searcher, SolverSpec

_NAME = re.compile(r"[a-z][a-z0-9_]*\+?")
_KEY = re.compile(r"[a-z][a-z0-9_]*")
_NESTING_LIMIT = 8
LARGEST = 2**62  # what compiled counters hold; a parameter may say otherwise
_MANY = f"whole numbers go up to {LARGEST}"


@dataclass(frozen=True)
class Spec:
    """A checked spec.

    Attributes:
        solver: what it names.
        parameters: every parameter with its value, defaults filled in.
        given: the parameters that the text gave, and those that the game recommends where it recommends
            any and the text gave only RESOURCES; in the solver's order.
        recommended: names of those that come from the game.
    """

    solver: SolverSpec
    parameters: Mapping[str, ParameterValue | None]
    given: Mapping[str, ParameterValue]
    recommended: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The solver's name."""
        return self.solver.name

    def __str__(self) -> str:
        """The canonical text: equal for equal specs, and it parses back, with a game or without."""
        if not self.given:
            return self.name
        written = (f"{key}={_written(value, self.solver.parameters[key])}" for key, value in self.given.items())
        return f"{self.name}({','.join(written)})"

    @property
    def exact(self) -> bool:
        """Whether it plays what no rival can better on average; see `SolverSpec`."""
        return self.solver.exact(self.parameters)

    def files(self) -> list[str]:
        """The files that it names, as they are written."""
        return [str(self.parameters[key]) for key in self.solver.files if self.parameters[key] is not None]

    def located(self, folder: Path) -> Spec:
        """The same, its relative files those of a folder; its text stays as it is written."""
        found = {key: str(folder / str(self.parameters[key])) for key in self.solver.files if self.parameters[key]}
        return replace(self, parameters={**self.parameters, **found}) if found else self


@dataclass(frozen=True)
class Alias:
    """A name that stands for another spec, which one depending on the game.

    Attributes:
        name: what a spec calls it; it takes no parameters.
        summary: one line.
        resolve: the text of the spec it stands for under these rules.
    """

    name: str
    summary: str
    resolve: Callable[[Rules], str]


_ALIASES: dict[str, Alias] = {}


def register_alias(alias: Alias) -> None:
    """Add a name, or replace it when it was added before.

    Raises:
        SpecError: the name is a solver's, or not a name.
    """
    if not _NAME.fullmatch(alias.name):
        raise SpecError(f"{alias.name!r} is not a name: lower-case letters, digits, '_', at most one '+' at the end")
    if alias.name in solver_specs():
        raise SpecError(f"{alias.name!r} is already the name of a solver")
    _ALIASES[alias.name] = alias


@cache
def solver_specs() -> Mapping[str, SolverSpec]:
    """Every solver of this package by name, in alphabetical order."""
    found: dict[str, SolverSpec] = {}
    for module in pkgutil.iter_modules(solvers.__path__):
        for spec in getattr(importlib.import_module(f"solvers.{module.name}"), "SOLVERS", ()):
            if spec.name in found:
                raise SpecError(f"two modules declare a solver {spec.name!r}; the second is solvers.{module.name}")
            found[spec.name] = spec
    return dict(sorted(found.items()))


def names() -> dict[str, str]:
    """Everything a spec may name, with its one-line summary; solvers first, then aliases."""
    listed = {name: spec.summary for name, spec in solver_specs().items()}
    return listed | {name: alias.summary for name, alias in sorted(_ALIASES.items())}


def describe(name: str) -> str:
    """What a solver is, where it comes from, and its parameters, as plain text.

    Raises:
        SpecError: nothing has that name.
    """
    if name in _ALIASES:
        return f"{name}: {_ALIASES[name].summary}"
    solver = _solver(name, name)
    lines = [f"{name}: {solver.summary}", f"  source: {solver.source}"]
    for key, parameter in solver.parameters.items():
        default = "unset" if parameter.default is None else _write(parameter.default)
        lines.append(f"  {key} ({_allowed(parameter)}; default {default}): {parameter.help}")
    return "\n".join(lines)


# ---- text to spec ------------------------------------------------------------------------------


def split_spec(text: str) -> tuple[str, dict[str, str]]:
    """The name and the raw parameters of a spec's text; grammar alone, no name is looked up.

    Raises:
        SpecError: the text is not a spec; the message says where.
    """
    name, parameters, end = _scan(text, _skip(text, 0), 0)
    if end != len(text):
        raise SpecError(
            f"spec {quoted(text)}: unexpected {quoted(text[end:])} at column {end + 1}, after the end of {quoted(name)}"
        )
    return name, parameters


def parse_spec(text: str, rules: Rules | None = None) -> Spec:
    """Read and check a spec.

    Args:
        text: the spec.
        rules: the game it is meant for; aliases can only be resolved for a game. A spec that says how much to
            search and nothing else takes the settings that the game recommends for that searcher.

    Raises:
        SpecError: not a spec, an unknown name or parameter, a value of the wrong type or out of range.
    """
    name, raw = split_spec(text)
    seen = [name]
    while name in _ALIASES:
        if raw:
            raise SpecError(f"spec {quoted(text)}: {quoted(name)} takes no parameters")
        if rules is None:
            raise SpecError(
                f"spec {quoted(text)}: what {quoted(name)} stands for depends on the game, and none is given"
            )
        text = _ALIASES[name].resolve(rules)
        name, raw = split_spec(text)
        if name in seen:
            raise SpecError(f"the names {', '.join(seen)} stand for each other in a circle")
        seen.append(name)
    solver = _solver(name, text)
    given: dict[str, ParameterValue] = {}
    for key, value in raw.items():
        if key not in solver.parameters:
            allowed = ", ".join(solver.parameters) or "none"
            raise SpecError(
                f"spec {quoted(text)}: {name} has no parameter {quoted(key)}{_hint(key, solver.parameters)}; "
                f"it has: {allowed}"
            )
        given[key] = _read(f"spec {quoted(text)}: {name} parameter {key}", value, solver.parameters[key])
    recommended: dict[str, ParameterValue] = {}
    if rules is not None and RESOURCES.issuperset(given):
        recommended = _recommended(solver, rules)
        given |= recommended
    given = {key: given[key] for key in solver.parameters if key in given}
    defaults = {key: parameter.default for key, parameter in solver.parameters.items()}
    return Spec(solver, {**defaults, **given}, given, tuple(recommended))


def _recommended(solver: SolverSpec, rules: Rules) -> dict[str, ParameterValue]:
    """The settings that a game recommends for a solver, checked as a spec's are."""
    found: dict[str, ParameterValue] = {}
    for key, value in rules.recommended.get(solver.name, {}).items():
        where = f"{rules.name} recommends to {solver.name}: parameter {key}"
        if key not in solver.parameters or key in RESOURCES:
            raise SpecError(f"{where} is no setting of it{_hint(key, solver.parameters)}")
        found[key] = _read(where, _write(value), solver.parameters[key])
    return found


def check_spec(text: str) -> None:
    """Check a spec without a game: as `parse_spec`, but an alias passes unresolved.

    Raises:
        SpecError: as `parse_spec`.
    """
    name, raw = split_spec(text)
    if name not in _ALIASES:
        parse_spec(text)
    elif raw:
        raise SpecError(f"spec {quoted(text)}: {quoted(name)} takes no parameters")


def make_searcher(spec: str | Spec, rules: Rules | None = None) -> Searcher:
    """The searcher that a spec describes.

    Args:
        spec: text, or a checked spec.
        rules: the game it will play, so that an unsuitable searcher is refused before any work.

    Raises:
        SpecError: the spec is wrong, or names a solver that works offline on a whole game.
        UnsuitableGameError: a property of the game rules the searcher out.
        LimitError: limits that contradict.
    """
    checked = parse_spec(spec, rules) if isinstance(spec, str) else spec
    if checked.solver.kind != "searcher":
        raise SpecError(
            f"{checked.name} works offline on a whole game and is not a searcher; searchers are: "
            + ", ".join(name for name, solver in solver_specs().items() if solver.kind == "searcher")
        )
    if rules is not None:
        checked.solver.require(rules, checked.parameters)
    searcher: Searcher = checked.solver.make(dict(checked.parameters))
    return searcher


# ---- the pieces --------------------------------------------------------------------------------


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] == " ":
        at += 1
    return at


def _scan(text: str, at: int, nesting: int) -> tuple[str, dict[str, str], int]:
    """Read one spec from column `at`; returns its name, raw parameters and the column behind it."""
    found = _NAME.match(text, at)
    if found is None:
        given = quoted(text[at:]) if at < len(text) else "the end of the text"
        raise SpecError(f"spec {quoted(text)}: expected a name at column {at + 1}, found {given}")
    if nesting > _NESTING_LIMIT:
        raise SpecError(f"spec {quoted(text)}: nested deeper than {_NESTING_LIMIT} levels")
    name, at = found.group(), _skip(text, found.end())
    parameters: dict[str, str] = {}
    if at == len(text) or text[at] != "(":
        return name, parameters, at
    at = _skip(text, at + 1)
    if at < len(text) and text[at] == ")":
        return name, parameters, _skip(text, at + 1)
    while True:
        key = _KEY.match(text, at)
        if key is None:
            raise SpecError(f"spec {quoted(text)}: expected a parameter's name at column {at + 1}")
        at = _skip(text, key.end())
        if at == len(text) or text[at] != "=":
            raise SpecError(f"spec {quoted(text)}: expected '=' after {quoted(key.group())} at column {at + 1}")
        start = _skip(text, at + 1)
        at = _value_end(text, start, nesting)
        value = text[start:at].rstrip()
        if not value:
            raise SpecError(f"spec {quoted(text)}: parameter {quoted(key.group())} has no value at column {start + 1}")
        if key.group() in parameters:
            raise SpecError(f"spec {quoted(text)}: parameter {quoted(key.group())} is given twice")
        parameters[key.group()] = value
        if at == len(text):
            raise SpecError(f"spec {quoted(text)}: the ')' of {quoted(name)} is missing at column {at + 1}")
        if text[at] == ")":
            return name, parameters, _skip(text, at + 1)
        at = _skip(text, at + 1)


def _value_end(text: str, at: int, nesting: int) -> int:
    """The column of the ',' or ')' behind a value."""
    start = at
    if at < len(text) and text[at] == '"':
        at = text.find('"', at + 1)
        if at < 0:
            raise SpecError(f"spec {quoted(text)}: the second '\"' of {quoted(text[start:])} is missing")
        at = _skip(text, at + 1)
    while at < len(text) and text[at] not in ",()=":
        at += 1
    if at < len(text) and text[at] == "(":
        at = _scan(text, start, nesting + 1)[2]
    if at < len(text) and text[at] not in ",)":
        raise SpecError(f"spec {quoted(text)}: unexpected {text[at]!r} at column {at + 1}")
    return at


def _solver(name: str, text: str) -> SolverSpec:
    solver = solver_specs().get(name)
    if solver is None:
        raise SpecError(
            f"spec {quoted(text)}: no solver is called {quoted(name)}{_hint(name, names())}; "
            f"there are: {', '.join(names())}"
        )
    return solver


def _hint(given: str, allowed: Mapping[str, Any]) -> str:
    close = difflib.get_close_matches(given, allowed, 1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def _kind(parameter: Parameter) -> type:
    return parameter.kind or type(parameter.default)


def _allowed(parameter: Parameter) -> str:
    if parameter.choices or parameter.solvers:
        return " | ".join((*parameter.choices, *parameter.solvers))
    kind = _kind(parameter)
    if kind is bool:
        return "true | false"
    if kind is str:
        return "text"
    if kind is Path:
        return "a file, in double quotes where its name has one of , ( ) =; a name with a double quote cannot be given"
    word = "whole number" if kind is int else "number"
    if parameter.low is None and parameter.high is None:
        return word
    low = "" if parameter.low is None else f" from {_write(parameter.low)}"
    high = "" if parameter.high is None else f" up to {_write(parameter.high)}"
    return word + low + high


def _read(where: str, text: str, parameter: Parameter) -> ParameterValue:
    kind = _kind(parameter)
    wrong = SpecError(f"{where} is {quoted(text)}; allowed: {_allowed(parameter)}")
    if kind is bool:
        if text.lower() not in ("true", "false"):
            raise wrong
        return text.lower() == "true"
    if parameter.solvers and text not in parameter.choices:
        if split_spec(text)[0] not in parameter.solvers:
            raise wrong
        return str(parse_spec(text))
    if kind is str:
        if parameter.choices and text not in parameter.choices:
            raise wrong
        return text
    if kind is Path:
        name = text[1:-1] if text[0] == text[-1] == '"' and len(text) > 1 else text
        if not name.strip() or '"' in name or "\0" in name:
            raise wrong
        return name
    try:
        number = int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
    except ValueError:
        raise wrong from None
    largest = LARGEST if parameter.high is None else max(LARGEST, parameter.high)
    if isinstance(number, int) and abs(number) > largest:  # before a comparison makes a float of it
        raise wrong if parameter.high is not None else SpecError(f"{where} is {quoted(text, 40)}; {_MANY}")
    if not math.isfinite(number) or (kind is int and number != int(number)):
        raise wrong
    if (parameter.low is not None and number < parameter.low) or (
        parameter.high is not None and number > parameter.high
    ):
        raise wrong
    if kind is int and abs(number) > largest:
        raise SpecError(f"{where} is {quoted(text, 40)}; {_MANY}")
    return int(number) if kind is int else float(number)


def _written(value: Any, parameter: Parameter) -> str:
    """A value as a spec has it."""
    text = _write(value)
    bare = not parameter.is_file or (text == text.strip() and not any(sign in text for sign in ",()="))
    return text if bare else f'"{text}"'


def _write(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else str(value)
