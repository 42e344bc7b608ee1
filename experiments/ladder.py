"""The ladder: which bot is the strongest known at a game, as found by recorded experiments.

A file of experiments/ladder holds rows for one game:

    [[row]]
    game = "pentaquest(scenario=duel)"
    bot = "mcts(simulations=2000)"
    elo = 212.0                       # above the mean of the bots it met; absent for one player
    interval = [180.0, 244.0]
    games = 600                       # it sat in
    experiment = "quickstart"         # config and seed it came from
    seed = 1
    remark = "25 deals; not clearly separated from greedy"      # may be left out

`strongest` in a spec stands for the row of the game with exactly these parameters. A game
without a row falls back to a plain search of fixed size, and whoever resolves it is told. `lookahead` stands for
such a search, a short one.
"""

from __future__ import annotations

import functools
import json
import tomllib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from engine_ext.errors import DataError, QuandaryError, reason
from engine_ext.files import read_text
from engine_ext.position import Rules
from experiments import gametext
from solvers import specs

NAME = "strongest"
SHORT = "lookahead"  # a short search, for who wants to be met by a rival that is not hard to beat
FALLBACK_SIMULATIONS, SHORT_SIMULATIONS = 2000, 100
FIELDS = {
    "game": (str,),
    "bot": (str,),
    "elo": (int, float),
    "interval": (list,),
    "games": (int,),
    "experiment": (str,),
    "seed": (int,),
    "remark": (str,),
}


@dataclass(frozen=True)
class Row:
    """The strongest bot of one experiment on one game.

    Attributes:
        game: the game's text.
        bot: its spec.
        elo: above the mean of the bots it met; None where nobody met.
        interval: 95 % interval of `elo`.
        games: it sat in, in however many seats.
        experiment: name of the config.
        seed: of the experiment.
        path: the file.
        remark: how far the row can be trusted, in a line; may be empty.
    """

    game: str
    bot: str
    elo: float | None
    interval: tuple[float, float] | None
    games: int
    experiment: str
    seed: int
    path: Path
    remark: str = ""


@functools.cache
def rows() -> tuple[Row, ...]:
    """Every row of the ladder files, in the order of the files.

    Raises:
        DataError: a malformed file; names file, row and key.
    """
    folder = Path(str(resources.files("experiments"))) / "ladder"
    return tuple(row for path in sorted(folder.glob("*.toml")) for row in read(path))


def read(path: Path) -> list[Row]:
    """The rows of one ladder file.

    Raises:
        DataError: not TOML, or a key that is missing, unknown or of the wrong type.
    """
    try:
        content = tomllib.loads(read_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: {reason(error)}") from error
    unknown = set(content) - {"row"}
    if unknown or not isinstance(content.get("row"), list):
        raise DataError(f"{path}: a ladder file is a list of [[row]]" + (f", not {min(unknown)!r}" if unknown else ""))
    found = []
    for number, row in enumerate(content["row"], 1):
        for key, value in row.items():
            if key not in FIELDS:
                raise DataError(f"{path}: row {number}: unknown key {key!r}; allowed: {', '.join(FIELDS)}")
            if not isinstance(value, FIELDS[key]):
                raise DataError(f"{path}: row {number}: {key} is {value!r}, of the wrong type")
        missing = {"game", "bot", "games", "experiment", "seed"} - set(row)
        if missing:
            raise DataError(f"{path}: row {number}: the key {min(missing)!r} is missing")
        interval = row.get("interval")
        if interval is not None and (len(interval) != 2 or not all(isinstance(end, (int, float)) for end in interval)):
            raise DataError(f"{path}: row {number}: interval is {interval!r}, it must be two numbers")
        found.append(
            Row(
                game=row["game"],
                bot=row["bot"],
                elo=row.get("elo"),
                interval=(float(interval[0]), float(interval[1])) if interval else None,
                games=row["games"],
                experiment=row["experiment"],
                seed=row["seed"],
                path=path,
                remark=row.get("remark", ""),
            )
        )
    return found


def write(found: list[Row]) -> str:
    """The text of a ladder file with these rows."""
    parts = []
    for row in found:
        lines = ["[[row]]", f"game = {json.dumps(row.game)}", f"bot = {json.dumps(row.bot)}"]
        if row.elo is not None and row.interval is not None:
            lines += [f"elo = {row.elo:.1f}", f"interval = [{row.interval[0]:.1f}, {row.interval[1]:.1f}]"]
        lines += [f"games = {row.games}", f"experiment = {json.dumps(row.experiment)}", f"seed = {row.seed}"]
        lines += [f"remark = {json.dumps(row.remark)}"] if row.remark else []
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def find(rules: Rules) -> Row | None:
    """The row of the game with exactly these parameters; None where there is none."""
    for row in rows():
        if gametext.split(row.game)[0] != rules.name:
            continue
        try:
            known = gametext.load(row.game, own_only=True).rules
        except QuandaryError as error:
            raise DataError(f"{row.path}: {error}") from error
        if known is not None and gametext.identity(known) == gametext.identity(rules):
            return row
    return None


def resolve(rules: Rules) -> str:
    """The spec that `strongest` stands for."""
    row = find(rules)
    return row.bot if row is not None else fallback(rules)


def fallback(rules: Rules) -> str:
    """The search of fixed size that stands in where the ladder has no row."""
    return search(rules, FALLBACK_SIMULATIONS)


def search(rules: Rules, simulations: int) -> str:
    """A tree search of fixed size that sees no more than its seat does, with what the game recommends to it."""
    searcher = "ismcts" if rules.hidden_information else "mcts"
    return str(specs.parse_spec(f"{searcher}(simulations={simulations})", rules))


def explain(rules: Rules) -> str:
    """One line: what `strongest` stands for, and why."""
    row = find(rules)
    if row is None:
        return f"the ladder has no row for this game; {NAME} falls back to {fallback(rules)}"
    rating = "" if row.elo is None else f", Elo {row.elo:+.0f} against the mean of its rivals"
    remark = f"; {row.remark}" if row.remark else ""
    return f"{NAME} is {row.bot} ({row.games} games of experiment {row.experiment!r}{rating}{remark})"


def note(spec: str, rules: Rules) -> str:
    """One line on what a spec's text does not say: what `strongest` stands for, which settings come from the game.

    Empty where the text says it all.
    """
    if spec.strip() == NAME:
        return explain(rules)
    if spec.strip() == SHORT:
        return f"{SHORT} is {search(rules, SHORT_SIMULATIONS)}"
    checked = specs.parse_spec(spec, rules)
    if not checked.recommended:
        return ""
    return f"{spec.strip()} plays with the settings that {rules.name} recommends: {checked}"


def register() -> None:
    """Teach specs the names `strongest` and `lookahead`; calling it again changes nothing."""
    specs.register_alias(specs.Alias(NAME, "the best bot of the ladder at this game", resolve))
    short = f"a tree search of {SHORT_SIMULATIONS} simulations: mcts, or ismcts where information is hidden"
    specs.register_alias(specs.Alias(SHORT, short, lambda rules: search(rules, SHORT_SIMULATIONS)))
