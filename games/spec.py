"""What a game folder declares about its game: one `GameSpec`, found by `games/__init__.py`.

A game folder holds `__init__.py` with a `GAME = GameSpec(...)`, `rules.pyx` with a subclass of
`engine_ext.position.Rules`, and as it needs them `view.py`, `data/*.toml`,
`scenarios/*.toml`, `search.toml`, settings of searchers that play it well, and `terms.toml`, what its terms
mean. Nothing else in the project names the game.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from rich.console import Group

from engine_ext.errors import DataError, ParameterError, QuandaryError, quoted, reason
from engine_ext.files import read_text
from engine_ext.position import Position, Rules
from games.terms import Term, read_when
from games.terms import read as read_terms
from games.words import Line, Step, Words, tell_names

ParameterValue = bool | int | float | str


@dataclass(frozen=True)
class Scenario:
    """A named, reduced set-up of a full game under the same rules and code.

    Attributes:
        name: what `scenario=NAME` selects.
        description: one sentence.
        parameters: game parameters the scenario fixes.
        start: a position as `Position.to_dict` writes it, or None for the game's own set-up.
        solution: what is known of it: `states`, `value` (a list, utility per seat), `source`;
            empty where nothing is.
        path: the file.
    """

    name: str
    description: str
    parameters: Mapping[str, ParameterValue]
    start: Mapping[str, Any] | None
    solution: Mapping[str, Any]
    path: Path


@dataclass(frozen=True)
class GameSpec:
    """One game, as its folder declares it.

    Attributes:
        name: the name registered with OpenSpiel; prefixed with `quandary_` only on a clash.
        long_name: for people.
        package: the folder's import name, `__name__` in its `__init__.py`.
        rules: the subclass of Rules; called with (parameters, start).
        parameters: every parameter with its default (bool, int, float or str); `scenario` is
            added by itself when the folder has scenarios.
        parameter_help: a line of help for each parameter.
        players: (fewest, most) seats.
        hidden_information: whether some parameter setting hides something from a seat.
        has_chance: whether the game has chance nodes.
        ties_are_wins: whether seats that are level at the end of a game share the win; False where nobody has won then.
        provides_recall_tensor: whether `Rules.recall_tensor` works.
        provides_tensor: whether `Rules.observe_tensor` works.
        view: the table as a seat sees it, for the terminal: a rich renderable, or a table from the
            names of its parts to their renderables, of which a screen may draw again only those that
            changed. None shows the observation string.
        steady: parts of the view to be drawn once and on request only, because options and story say
            what changes in them.
        words: question, options, story and reference for people; None uses the names of actions.
        picture: the board of a position as a seat sees it, as one <svg> element; a page shows it in
            place of the view's part `board`.
        draw_board: for games whose boards are data: a board's name to (rich renderable, SVG text);
            raises ParameterError for an unknown board.
        records: the data records in use under some parameters, for the count of provenances:
            a function from a Rules object to a list of dicts with keys `kind`, `name`,
            `provenance`.
        variants: what people choose between before they play, besides the number of players: a name for people to
            the parameters that it stands for; the first one is offered first.
        setups: named set-ups that a parameter selects, besides scenarios, for the listing: a function
            from a Rules object to a list of (`parameter=value`, description).
    """

    name: str
    long_name: str
    package: str
    rules: Callable[..., Rules]
    parameters: Mapping[str, ParameterValue]
    players: tuple[int, int]
    hidden_information: bool
    has_chance: bool = True
    ties_are_wins: bool = True
    provides_recall_tensor: bool = False
    provides_tensor: bool = True
    parameter_help: Mapping[str, str] = field(default_factory=dict)
    view: Callable[[Position, int], Any] | None = None
    steady: tuple[str, ...] = ()
    words: Words | None = None
    picture: Callable[[Position, int], str] | None = None
    draw_board: Callable[[str], tuple[Any, str]] | None = None
    records: Callable[[Rules], list[dict[str, str]]] | None = None
    variants: Mapping[str, Mapping[str, ParameterValue]] = field(default_factory=dict)
    setups: Callable[[Rules], list[tuple[str, str]]] | None = None

    @cached_property
    def folder(self) -> Path:
        """The game's folder on disk."""
        found = importlib.util.find_spec(self.package)
        if found is None or found.origin is None:
            raise DataError(f"{self.name}: the package {self.package} is not a folder on disk")
        return Path(found.origin).parent

    @property
    def summary(self) -> str:
        """What the game is, in a line: the first one of its folder's own description, without the name."""
        line = (importlib.import_module(self.package).__doc__ or self.long_name).strip().partition("\n")[0]
        return line.partition(": ")[2] or line

    @cached_property
    def scenarios(self) -> Mapping[str, Scenario]:
        """The game's scenarios by name, in alphabetical order."""
        return {path.stem: read_scenario(path) for path in sorted((self.folder / "scenarios").glob("*.toml"))}

    @cached_property
    def all_parameters(self) -> dict[str, ParameterValue]:
        """Every parameter with its default, `scenario` included where the game has scenarios."""
        extra: dict[str, ParameterValue] = {"scenario": ""} if self.scenarios else {}
        return {**self.parameters, **extra}

    def make_rules(self, given: Mapping[str, ParameterValue] | None = None) -> Rules:
        """The game's rules for these parameters; missing ones take their defaults.

        A scenario supplies defaults of its own: a parameter given with a value other than the
        game's default wins over the scenario's.

        Raises:
            ParameterError: an unknown parameter or scenario, or a value of the wrong type or range.
            DataError: a malformed data file.
        """
        given = dict(given or {})
        defaults = self.all_parameters
        for key, value in given.items():
            if key not in defaults:
                raise ParameterError(f"{self.name} has no parameter {key!r}; it has: {', '.join(defaults) or 'none'}")
            if type(value) is not type(defaults[key]):
                raise ParameterError(
                    f"{self.name}: parameter {key} is {value!r}, a {type(value).__name__}; "
                    f"it must be a {type(defaults[key]).__name__}"
                )
        chosen = {**defaults, **given}
        name = chosen.pop("scenario", "")
        start = None
        if name:
            scenario = self.scenarios.get(str(name))
            if scenario is None:
                raise ParameterError(
                    f"{self.name} has no scenario {name!r}; it has: {', '.join(self.scenarios) or 'none'}"
                )
            for key, value in scenario.parameters.items():
                if chosen[key] == defaults[key]:
                    chosen[key] = value
            start = None if scenario.start is None else dict(scenario.start)
            against = {key: value for key, value in scenario.parameters.items() if chosen[key] != value}
            if start is not None and against:
                return self._start_against_scenario(scenario, chosen, start, against)
        rules = self.rules(chosen, start)
        if not name:
            rules.recommended = self.recommended(chosen)
        return rules

    def recommended(self, parameters: Mapping[str, ParameterValue]) -> dict[str, dict[str, ParameterValue]]:
        """Settings by searcher with which it plays the full game well, from `search.toml` in the game's folder.

        Args:
            parameters: of the game, all of them; of each searcher the first table fits whose `when` they meet.

        Raises:
            DataError: a malformed file.
        """
        found: dict[str, dict[str, ParameterValue]] = {}
        for row in self._search_settings:
            if row["searcher"] not in found and all(parameters[key] in values for key, values in row["when"].items()):
                found[row["searcher"]] = dict(row["settings"])
        return found

    @cached_property
    def _search_settings(self) -> list[dict[str, Any]]:
        path = self.folder / "search.toml"
        return read_search_settings(path, self.parameters) if path.exists() else []

    def _start_against_scenario(
        self, scenario: Scenario, chosen: dict[str, Any], start: dict[str, Any], against: Mapping[str, ParameterValue]
    ) -> Rules:
        """The rules of a scenario some of whose own parameters are overridden: its position may not fit them."""
        try:
            return self.rules(chosen, start)
        except QuandaryError as error:
            own = ", ".join(f"{key}={value}" for key, value in against.items())
            given = ", ".join(f"{key}={chosen[key]}" for key in against)
            raise ParameterError(
                f"{self.name}: the scenario {scenario.name} begins in a position made for {own}, which does not fit "
                f"{given}: leave out {' and '.join(against)} ({error})"
            ) from error

    def sections(self, position: Position, seat: int) -> Mapping[str, Any]:
        """The table as the seat sees it, in named parts: rich renderables or texts."""
        if self.view is None:
            return {"table": position.observation_string(seat)}
        drawn = self.view(position, seat)
        return drawn if isinstance(drawn, Mapping) else {"table": drawn}

    def render(self, position: Position, seat: int) -> Any:
        """The whole table as the seat sees it, a rich renderable."""
        return Group(*self.sections(position, seat).values())

    def ask(self, position: Position) -> str:
        """What the seat to move is asked, in one sentence."""
        question = self.words.ask(position) if self.words else "What do you do?"
        return question[:1].upper() + question[1:]

    def options(self, position: Position) -> Mapping[int, str]:
        """Every legal action of a decision in words, each different, in the order of a menu."""
        if self.words:
            return self.words.options(position)
        return {action: position.action_to_string(action) for action in position.legal_actions()}

    def understand(self, position: Position, line: str) -> int | None:
        """The legal action that a typed line means in the game's own shorthand; None where it is none.

        Raises:
            IllegalActionError: it is shorthand, and means nothing here.
        """
        return self.words.understand(position, line) if self.words and self.words.understand else None

    def tell(self, steps: Sequence[Step], seat: int) -> list[Line]:
        """What happened in some consecutive steps, as the seat saw it."""
        return (self.words.tell if self.words and self.words.tell else tell_names)(steps, seat)

    def aim(self, rules: Rules) -> str:
        """How the game is played and won, in a few sentences."""
        return self.words.aim(rules) if self.words and self.words.aim else ""

    def unit(self, rules: Rules) -> tuple[str, str]:
        """What utilities count where they say more than who won, one and many of it."""
        return self.words.unit(rules) if self.words and self.words.unit else ("point", "points")

    def look_up(self, position: Position, seat: int) -> Mapping[str, str]:
        """Name to text of what the seat can look up: cards, pieces, and then the terms of the game."""
        known = dict(self.words.look_up(position, seat)) if self.words and self.words.look_up else {}
        for name, text in self.terms(position.rules).items():
            known[name] = f"{known[name]}; {text}" if name in known else text
        return known

    def terms(self, rules: Rules) -> dict[str, str]:
        """The game's terms by name, each in a few words with its rule, from `terms.toml` in the game's folder.

        Raises:
            DataError: a malformed file.
        """
        found: dict[str, str] = {}
        for term in self._terms:
            if term.holds(rules.parameters):
                found.setdefault(term.name, f"{term.text} ({term.rule})")
        return found

    @cached_property
    def _terms(self) -> list[Term]:
        return read_terms(self.folder / "terms.toml", self.parameters)


def read_search_settings(path: Path, parameters: Mapping[str, ParameterValue]) -> list[dict[str, Any]]:
    """Read a game's file of recommended search settings: `[[recommended]]` tables in the order of precedence.

    Each has `searcher`, a table `settings`, and as it needs them `when`, a table from parameters of the game to
    the value or the list of values under which the settings are meant (all, where it says nothing), and
    `measured`, one line on how they were found. Whether the searcher has such settings is checked where specs are read.

    Args:
        parameters: of the game, with their defaults.

    Raises:
        DataError: not TOML, or a key that is missing, unknown or of the wrong type.
    """
    try:
        content = tomllib.loads(read_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: {reason(error)}") from error
    rows = content.get("recommended")
    if set(content) - {"recommended"} or not isinstance(rows, list):
        raise DataError(f"{path}: it must be a list of [[recommended]] tables and nothing else")
    kinds = {"searcher": str, "settings": dict, "when": dict, "measured": str}
    found = []
    for number, row in enumerate(rows, 1):
        where = f"{path}: recommended[{number}]"
        for key, value in row.items():
            if key not in kinds:
                raise DataError(f"{where}: unknown key {key!r}; allowed: {', '.join(kinds)}")
            if not isinstance(value, kinds[key]):
                raise DataError(f"{where}: {key} must be a {kinds[key].__name__}")
        for key in ("searcher", "settings"):
            if key not in row:
                raise DataError(f"{where}: the key {key!r} is missing")
        when = read_when(row.get("when", {}), where, parameters)
        found.append({"searcher": row["searcher"], "settings": row["settings"], "when": when})
    return found


def read_scenario(path: Path) -> Scenario:
    """Read one scenario file.

    The file has `description`, optional tables `parameters`, `start` and `solution`.

    Raises:
        DataError: not TOML, or a key that is missing, unknown or of the wrong type.
    """
    try:
        content = tomllib.loads(read_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: {reason(error)}") from error
    kinds = {"description": str, "parameters": dict, "start": dict, "solution": dict}
    for key, value in content.items():
        if key not in kinds:
            raise DataError(f"{path}: unknown key {key!r}; allowed: {', '.join(kinds)}")
        if not isinstance(value, kinds[key]):
            raise DataError(f"{path}: {key} must be a {kinds[key].__name__}")
    if "description" not in content:
        raise DataError(f"{path}: the key 'description' is missing")
    solution = content.get("solution", {})
    value = solution.get("value", [])
    if not isinstance(value, list) or not all(type(each) in (int, float) and math.isfinite(each) for each in value):
        raise DataError(f"{path}: solution.value must be a list of numbers, one for each seat, not {quoted(value)}")
    return Scenario(
        name=path.stem,
        description=content["description"],
        parameters=content.get("parameters", {}),
        start=content.get("start"),
        solution=solution,
        path=path,
    )
