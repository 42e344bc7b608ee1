"""Experiment configs: a TOML file that says what to run, validated before anything starts.

name = "quickstart"          # of the run folder
title = "..."                # of the report
seed = 1

[[arena]]                    # a round robin of bots on one game
game = "pentaquest(scenario=duel)"
bots = ["random", "greedy", "mcts(simulations=500)"]
deals = 100                  # chance seeds; each is played once in every seating
# sprt = { elo0 = 0, elo1 = 30 }   # two bots: stop when it is clear whether the first is the stronger

[[convergence]]              # distance to the exact answer, over budgets
game = "kuhn_poker"
measure = "exploitability"   # exploitability | regret | induced | self_play
solvers = ["cfr", "cfr+"]
budgets = [1, 10, 100, 1000]
baselines = ["sequence_form"]   # measured once, without a budget
"""

from __future__ import annotations

import difflib
import hashlib
import json
import tomllib
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    ValidationError,
    model_validator,
)

from engine_ext.errors import ConfigError, quoted, reason
from engine_ext.files import read_text
from experiments import seeds

Text = Annotated[str, StringConstraints(min_length=1, strip_whitespace=True)]
Unit = Literal["simulations", "nodes", "depth"]


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class SprtConfig(_Model):
    """A sequential test of the first of two bots against the second.

    Attributes:
        elo0: the null hypothesis, points of Elo of the first over the second.
        elo1: the alternative, above elo0.
        alpha: how often the alternative may be accepted where the null hypothesis is true.
        beta: how often the null hypothesis may be accepted where the alternative is true.
    """

    elo0: Annotated[float, Field(ge=-1000, le=1000)] = 0.0
    elo1: Annotated[float, Field(ge=-1000, le=1000)] = 30.0
    alpha: Annotated[float, Field(ge=1e-6, lt=0.5)] = 0.05
    beta: Annotated[float, Field(ge=1e-6, lt=0.5)] = 0.05

    @model_validator(mode="after")
    def _apart(self) -> SprtConfig:
        if self.elo1 - self.elo0 < 0.1:
            raise ValueError(f"elo1 ({self.elo1:g}) must be above elo0 ({self.elo0:g}), by 0.1 at least")
        return self


class ArenaConfig(_Model):
    """A round robin of bots on one game.

    Attributes:
        game: the game's text; one of our own games.
        bots: specs, all different.
        deals: number of chance seeds; each is played once in every seating of every pairing.
        sprt: a test of the first of two bots against the second that ends the arena early, so that
            `deals` is the most that are played.
        title: heading of its part of the report; the game where empty.
    """

    game: Text
    bots: Annotated[list[Text], Field(min_length=1)]
    deals: Annotated[int, Field(ge=1, le=100_000_000)]
    sprt: SprtConfig | None = None
    title: str = ""

    @model_validator(mode="after")
    def _different(self) -> ArenaConfig:
        twice = {bot for bot in self.bots if self.bots.count(bot) > 1}
        if twice:
            raise ValueError(f"bots lists {quoted(min(twice))} twice")
        if self.sprt is not None and len(self.bots) != 2:
            raise ValueError(f"sprt tests one bot against another, and bots lists {len(self.bots)}")
        return self


def _ascending(budgets: list[int]) -> list[int]:
    if sorted(set(budgets)) != budgets:
        raise ValueError("they must ascend without repeats")
    return budgets


Budgets = Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=1), AfterValidator(_ascending)]


class CurveConfig(_Model):
    """A solver with budgets of its own, among others with which it shares the axes.

    Attributes:
        solver: its spec, without the parameter that the budget sets.
        budgets: ascending.
        unit: of a searcher: the parameter that the budgets set; the part's own where empty.
    """

    solver: Text
    budgets: Budgets
    unit: Unit | Literal[""] = ""

    def __str__(self) -> str:
        return f"{self.solver} by {self.unit}" if self.unit else self.solver


# Tags say which kind an entry is, so that an error names the key inside it; `_key` leaves them out.
_Entry = Annotated[
    Annotated[Text, Tag("<text>")] | Annotated[CurveConfig, Tag("<table>")],
    Discriminator(lambda entry: "<text>" if isinstance(entry, str) else "<table>"),
]


class ConvergenceConfig(_Model):
    """How near solvers come to the exact answer of a game, over budgets.

    Attributes:
        game: the game's text; any game that can be extracted into a flat tree.
        measure: `exploitability` of a policy solver's average policy over iterations; `regret`
            of the action a searcher plays, over its budget, at positions that arise in play;
            `induced`, the exploitability of the policy that a searcher
            induces when it is run in every information set; `self_play`, that of the average
            strategies of one search from the start.
        solvers: all different: specs, each without the parameter that the budget sets, or tables of
            such a spec and budgets of its own.
        budgets: ascending; iterations for policy solvers, `unit` for searchers.
        unit: the parameter of a searcher that the budget sets.
        baselines: specs of the same kind that are measured once, as they stand.
        repeats: independent seeds for each point.
        positions: for `regret`: how many different ones.
        title: heading of its part of the report; the game where empty.
    """

    game: Text
    measure: Literal["exploitability", "regret", "induced", "self_play"]
    solvers: Annotated[list[_Entry], Field(min_length=1)]
    budgets: Budgets
    unit: Unit = "simulations"
    baselines: list[Text] = Field(default_factory=list)
    repeats: Annotated[int, Field(ge=1, le=10_000)] = 1
    positions: Annotated[int, Field(ge=1, le=100_000)] = 50
    title: str = ""

    @model_validator(mode="after")
    def _different(self) -> ConvergenceConfig:
        labels = [str(each) for each in [*self.solvers, *self.baselines]]
        twice = {label for label in labels if labels.count(label) > 1}
        if twice:
            raise ValueError(f"solvers lists {quoted(min(twice))} twice")
        return self


class ExperimentConfig(_Model):
    """A whole experiment.

    Attributes:
        name: lower-case letters, digits, `-` and `_`; names the run folder.
        title: heading of the report; the name where empty.
        description: a paragraph for the report.
        seed: the one seed from which everything random comes.
        arena: round robins.
        convergence: curves.
    """

    name: Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
    title: str = ""
    description: str = ""
    seed: Annotated[int, AfterValidator(seeds.checked)] = 0
    arena: list[ArenaConfig] = Field(default_factory=list)
    convergence: list[ConvergenceConfig] = Field(default_factory=list)

    @model_validator(mode="after")
    def _something(self) -> ExperimentConfig:
        if not self.arena and not self.convergence:
            raise ValueError("there is nothing to run: add [[arena]] or [[convergence]]")
        return self


_MODELS: dict[str, type[_Model]] = {"arena": ArenaConfig, "convergence": ConvergenceConfig}


def find(name: str) -> Path:
    """The config file of this path, or the one that ships under this name (`quickstart`).

    Raises:
        ConfigError: there is neither, or it is a folder; the message lists the shipped ones.
    """
    path = Path(name)
    if path.is_file():
        return path
    shipped = Path(str(resources.files("experiments"))) / "configs"
    if path.name == name and path.suffix in ("", ".toml") and (shipped / f"{path.stem}.toml").is_file():
        return shipped / f"{path.stem}.toml"
    if path.is_dir():
        raise ConfigError(f"{name} is a folder; a config is a TOML file (`quandary report` takes a run folder)")
    if path.exists():
        raise ConfigError(f"{name} is no ordinary file but a device, pipe or socket; a config is a TOML file")
    names = ", ".join(sorted(file.stem for file in shipped.glob("*.toml")))
    raise ConfigError(f"{name}: no such file; configs that ship: {names}")


def read(path: Path) -> ExperimentConfig:
    """The experiment that a TOML file describes.

    Raises:
        ConfigError: unreadable, not TOML, or a key that is unknown, missing or out of range;
            the message names file and key.
    """
    try:
        content = tomllib.loads(read_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: {reason(error)}") from error
    return parse(content, str(path))


def parse(content: dict[str, Any], where: str) -> ExperimentConfig:
    """The experiment that a dict (of a TOML file, or of a manifest) describes.

    Raises:
        ConfigError: naming `where` and the key.
    """
    try:
        return ExperimentConfig.model_validate(content)
    except ValidationError as error:
        raise ConfigError(f"{where}: {fault(error)}") from error


def fault(error: ValidationError) -> str:
    """The first thing that is wrong with a file's content, with its key: `arena[1].deals: this key is missing`."""
    # A misspelt key is missing, too; that it is unknown says more.
    found = sorted(error.errors(include_url=False), key=lambda each: each["type"] != "extra_forbidden")
    return f"{_key(found[0]['loc'])}{_reason(found[0])}"


def _key(location: tuple[int | str, ...]) -> str:
    """`arena[1].bots[2]: `, counting from 1 as people do; empty for the file as a whole."""
    text = ""
    for part in location:
        if part in ("<text>", "<table>"):
            continue
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else part
    return f"{text}: " if text else ""


def _reason(error: Any) -> str:
    kind = error["type"]
    if kind == "extra_forbidden":
        part = str(error["loc"][0]) if len(error["loc"]) > 1 else ""
        inner: dict[Any, type[_Model]] = {"<table>": CurveConfig, "sprt": SprtConfig}
        model = next((inner[each] for each in error["loc"][:-1] if each in inner), _MODELS.get(part, ExperimentConfig))
        known = list(model.model_fields)
        close = difflib.get_close_matches(str(error["loc"][-1]), known, n=1)
        return "this key is unknown; " + (f"did you mean {close[0]!r}?" if close else f"allowed: {', '.join(known)}")
    if kind == "missing":
        return "this key is missing"
    if (
        kind == "list_type"
        and error["loc"][0] in _MODELS
        and len(error["loc"]) == 1
        and isinstance(error["input"], dict)
    ):
        return f"it must be [[{error['loc'][0]}]], in double brackets: there may be several"
    if kind == "value_error":
        return str(error["msg"]).removeprefix("Value error, ")
    return f"it must be {_wanted(error)}, got {quoted(error['input'])}"


def _wanted(error: Any) -> str:
    """What a value has to be, by the kind of the fault that was found."""
    words = {
        "bool_type": "true or false",
        "float_type": "a number",
        "int_type": "a whole number",
        "list_type": "a list, in brackets: [...]",
        "string_type": "text, in quotes",
        "string_too_short": "text that is not empty",
        "string_pattern_mismatch": "lower-case letters, digits, '-' and '_', at most 64, a letter or digit first",
        "greater_than": "above {gt:,}",
        "greater_than_equal": "{ge:,} or more",
        "less_than": "below {lt:,}",
        "less_than_equal": "{le:,} or less",
        "literal_error": "{expected}",
        "too_short": "a list that is not empty",
        "model_type": "a table of keys: {{ key = value }}",
    }
    return words[error["type"]].format(**error.get("ctx", {})) if error["type"] in words else _plainly(error["msg"])


def _plainly(message: str) -> str:
    """What pydantic wants, without its own beginning."""
    return message.removeprefix("Input should be ")


def digest(content: object) -> str:
    """SHA-256 hex of a JSON-able object, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
