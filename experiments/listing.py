"""`quandary games` and `quandary bots`: what there is."""

from __future__ import annotations

from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

import games
from engine_ext.errors import ParameterError
from experiments import gametext, ladder, manifest
from experiments.gametext import Game
from solvers import specs


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def print_games(console: Console) -> None:
    """All our games, a line each."""
    table = _table("game", "", "players", "hidden information", "scenarios")
    for spec in games.SPECS.values():
        low, high = spec.players
        table.add_row(
            spec.name,
            spec.long_name,
            str(low) if low == high else f"{low} to {high}",
            "yes" if spec.hidden_information else "no",
            ", ".join(spec.scenarios) or "–",
        )
    console.print(table)
    console.print("`quandary games NAME` shows one; `quandary solve` also takes any game of OpenSpiel.", markup=False)


def print_game(text: str, console: Console) -> None:
    """One game: parameters, scenarios, data.

    Raises:
        ParameterError: no such game, or a wrong parameter.
    """
    game = gametext.load(text, own_only=True)
    spec, rules = game.spec, game.rules
    assert spec is not None
    assert rules is not None
    console.print(Text.assemble((spec.long_name, "bold"), f"  ({game.text}, version {rules.version})"))
    console.print(
        f"{rules.num_players()} player{'s' if rules.num_players() > 1 else ''}, "
        f"{'hidden' if rules.hidden_information else 'perfect'} information, "
        f"{rules.num_distinct_actions()} actions, utility {rules.min_utility():g} to {rules.max_utility():g}, "
        f"state of {rules.state_bytes} bytes",
        markup=False,
    )
    table = _table("parameter", "value", "default", "")
    for key, default in spec.all_parameters.items():
        value = game.parameters.get(key, rules.parameters.get(key, default))
        table.add_row(key, str(value), str(default), spec.parameter_help.get(key, _scenario_help(key, game)))
    if spec.all_parameters:
        console.print(table)
    if spec.scenarios:
        table = _table("scenario", "", "known exactly")
        for name, scenario in spec.scenarios.items():
            known = ", ".join(f"{key} {value}" for key, value in scenario.solution.items() if key != "source")
            table.add_row(name, scenario.description, known or "–")
        console.print(table)
    if spec.setups is not None:
        table = _table("set-up", "")
        for name, description in spec.setups(rules):
            table.add_row(name, description)
        console.print(table)
    counts = manifest.provenance(game)
    if counts:
        total = sum(counts.values())
        console.print(f"data: {total} records", markup=False)
        table = _table("provenance", "records", "share", "")
        for kind, count in counts.items():
            table.add_row(kind, str(count), f"{100 * count / total:.0f} %", _MEANING.get(kind, ""))
        console.print(table)
    for searcher in rules.recommended:
        console.print(f"recommended: {specs.parse_spec(searcher, rules)}, which plain {searcher} plays", markup=False)
    console.print(ladder.explain(rules), markup=False)


def draw_board(text: str, board: str, svg: Path | None, console: Console) -> None:
    """Print one board of a game and write it as SVG.

    Raises:
        ParameterError: no such game or board, or a game without boards.
    """
    name = text.partition("(")[0]
    if not name:
        raise ParameterError(f"--board needs a game: quandary games GAME --board {board}")
    spec = games.spec(name)
    if spec.draw_board is None:
        raise ParameterError(f"{spec.name} has no boards to draw")
    drawing, picture = spec.draw_board(board)
    path = svg or Path(f"{spec.name}-{board}.svg")
    try:
        path.write_text(picture, encoding="utf-8")
    except OSError as error:
        raise ParameterError(f"{path} cannot be written: {error.strerror}") from error
    console.print(drawing)
    console.print(f"written to {path}", markup=False)


_MEANING = {
    "sourced": "from a public source named in the record",
    "rulebook": "from the published rules",
    "reconstructed": "this project's own invention, where the original is not public",
}


def _scenario_help(key: str, game: Game) -> str:
    return "a reduced set-up, see below" if key == "scenario" else ""


def print_bots(console: Console) -> None:
    """All bots and solvers, a line each."""
    ladder.register()
    table = _table("name", "kind", "")
    for name, summary in specs.names().items():
        table.add_row(name, _kind(name), summary)
    console.print(table)
    console.print(
        "`quandary bots NAME` shows parameters. A spec is a name with parameters: mcts(simulations=2000,c=1.4)",
        markup=False,
    )


def _kind(name: str) -> str:
    """What a name of a spec stands for."""
    solver = specs.solver_specs().get(name)
    if solver is None:
        return "alias"
    if solver.files:
        return "file"
    return "policy solver" if solver.kind == "policy" else "searcher"


def print_bot(text: str, console: Console) -> None:
    """One bot or solver: source and parameters.

    Args:
        text: its name, or a spec that has it.

    Raises:
        SpecError: nothing has that name, or the spec is wrong.
    """
    ladder.register()
    specs.check_spec(text)
    console.print(specs.describe(specs.split_spec(text)[0]), markup=False, soft_wrap=True)
