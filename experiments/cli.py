"""The `quandary` command.

Bad input is one line on the standard error and exit code 2; an interruption is one line and exit code 130
(Ctrl-C) or 143 (SIGTERM), a closed pipe 141 without a word. Results go to the standard output, everything
else to the standard error.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from experiments import seeds

if TYPE_CHECKING:
    from rich.console import Console

OUTPUT_FAILS = (errno.EBADF, errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG)
BAD_INPUT, INTERRUPTED, CLOSED_PIPE, TERMINATED = 2, 128 + signal.SIGINT, 141, 128 + signal.SIGTERM

app = typer.Typer(
    name="quandary",
    help="AI opponents, solvers and experiments for stochastic tabletop games.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    if asked:
        from experiments import manifest

        found = manifest.versions()
        commit = manifest.commit()
        of = f", commit {commit}" if commit else ""
        print(f"quandary {found['quandary']}{of}, Python {found['python']}, OpenSpiel {found['open_spiel']}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool, typer.Option("--version", help="say which version this is, and leave", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


def main(arguments: list[str] | None = None) -> None:
    """Entry point of the command; always ends by SystemExit."""
    sys.exit(_exit_code(arguments))


def _exit_code(arguments: list[str] | None) -> int:
    from experiments import signals

    with signals.heard() as heard:
        try:
            code = _invoke(arguments)
            sys.stdout.flush()
        except KeyboardInterrupt:
            code = INTERRUPTED
        except SystemExit as ended:
            if ended.code != TERMINATED:
                raise
            code = TERMINATED
        except Exception as error:
            # A signal raises wherever the program is; foreign code may have made another error of it.
            code = 128 + heard.received if heard.received is not None else _explained(error)
        if code in (INTERRUPTED, TERMINATED):
            signals.tell("quandary: interrupted")
        return code


def _explained(error: Exception) -> int:
    """The exit code of a command that ended with this error; one that nobody foresaw is raised again."""
    from engine_ext.errors import QuandaryError

    if isinstance(error, QuandaryError):
        return _complain(str(error))
    if isinstance(error, BrokenPipeError):
        # Whoever read our output has gone: what is still buffered must not complain either.
        _drop_output()
        return CLOSED_PIPE
    if isinstance(error, OSError) and error.errno in OUTPUT_FAILS:
        _drop_output()
        why = "it is closed" if error.errno == errno.EBADF else error.strerror
        return _complain(f"the standard output cannot be written: {why}")
    raise error


def _drop_output() -> None:
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _invoke(arguments: list[str] | None) -> int:
    """Run the command line; usage errors are one line like all other bad input."""
    command = typer.main.get_command(app)
    words = sys.argv[1:] if arguments is None else arguments
    try:
        with command.make_context("quandary", list(words)) as context:
            command.invoke(context)
    except typer.Exit as ended:  # --help
        return ended.exit_code
    except Exception as error:
        # The argument parser's own errors; typer does not export their common class.
        format_message = getattr(error, "format_message", None)
        if format_message is None:
            raise
        if type(error).__name__ == "NoArgsIsHelpError":
            print(format_message(), file=sys.stderr)
            return BAD_INPUT
        return _complain(format_message())
    return 0


def _complain(message: str) -> int:
    print(f"quandary: {' '.join(message.split())}", file=sys.stderr)
    return BAD_INPUT


def _seed(given: int | None) -> int | None:
    return None if given is None else seeds.check(given)


def _print_json(content: dict[str, Any]) -> None:
    # JSON can write every sign in plain ones.
    plain = not (sys.stdout.encoding or "").lower().startswith("utf")
    print(json.dumps(content, ensure_ascii=plain, allow_nan=False))


def _console() -> Console:
    """Where results are printed; into a file or a pipe 120 columns, or as many as COLUMNS says."""
    from experiments.terminal import Terminal, width

    class Printer(Terminal):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    # Titles and names are what somebody wrote: brackets and colons in them are no markup.
    return Printer(highlight=False, markup=False, emoji=False, width=width(120))


@contextlib.contextmanager
def _kept(folder_hint: str) -> Iterator[None]:
    """On Ctrl-C and SIGTERM, say how to go on."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit) as ended:
        if isinstance(ended, KeyboardInterrupt) or ended.code == TERMINATED:
            from experiments import signals

            signals.tell(f"interrupted; everything finished is kept. {folder_hint}")
        raise


# ---- what there is -----------------------------------------------------------------------------


@app.command("games")
def list_games(
    game: Annotated[str | None, typer.Argument(help="a game, with parameters or without; none: list all")] = None,
    board: Annotated[str, typer.Option(help="draw this board of the game, here and as SVG")] = "",
    svg: Annotated[Path | None, typer.Option(help="where the SVG goes; else GAME-BOARD.svg here")] = None,
) -> None:
    """The games there are, or one game: parameters, scenarios, provenance of its data; or one of its boards."""
    from experiments import listing

    console = _console()
    if board:
        listing.draw_board(game or "", board, svg, console)
    elif game is None:
        listing.print_games(console)
    else:
        listing.print_game(game, console)


@app.command("bots")
def list_bots(
    bot: Annotated[str | None, typer.Argument(help="a bot or solver; none: list all")] = None,
) -> None:
    """The bots and solvers there are, or one: source and parameters."""
    from experiments import listing

    console = _console()
    if bot is None:
        listing.print_bots(console)
    else:
        listing.print_bot(bot, console)


# ---- experiments -------------------------------------------------------------------------------


@app.command("run")
def run_experiment(
    config: Annotated[str, typer.Argument(help="a TOML file, or the name of a config that ships (quickstart)")],
    out: Annotated[Path | None, typer.Option(help="run folder; default runs/NAME or the next free number")] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="processes, as many as there are jobs at most; default: all processors. Results do not depend on it"
        ),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="go on with a run that was interrupted")] = False,
    executor: Annotated[str, typer.Option(help="processes, or ray for a cluster")] = "processes",
) -> None:
    """Run an experiment: a round robin, its table and its report."""
    from experiments import executors, report, run
    from experiments.config import find

    path = find(config)
    hint = f"Go on with: quandary run {config}{f' --out {out}' if out else ''} --resume"
    with _kept(hint):
        workers = executors.processors() if workers is None else workers
        folder = run.run(path, out, workers=workers, resume=resume, executor=executor)
    console = _console()
    report.print_tables(report.load(folder), console)
    print(f"report: {folder / 'report.html'}")


@app.command("report")
def build_report(
    folder: Annotated[Path, typer.Argument(help="a run folder")],
    figures: Annotated[
        Path | None, typer.Option(help="also write every plot, as SVG and PDF, into this folder")
    ] = None,
    tables: Annotated[
        Path | None, typer.Option(help="also write every table, as CSV and LaTeX, into this folder")
    ] = None,
) -> None:
    """Rebuild a run's report from its manifest and results, and print its tables."""
    from experiments import export, report

    path = report.build(folder)
    results = report.load(folder)
    if figures is not None:
        export.write_figures(results, figures)
    if tables is not None:
        export.write_tables(results, tables)
    report.print_tables(results, _console())
    print(f"report: {path}")


@app.command("compare")
def compare_two_runs(
    run_a: Annotated[Path, typer.Argument(help="a run folder")],
    run_b: Annotated[Path, typer.Argument(help="another one; differences are B less A")],
    as_json: Annotated[bool, typer.Option("--json", help="exactly one JSON object on the standard output")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="exit code 1 where a figure differs, or one of A is gone in B")
    ] = False,
) -> None:
    """Two runs beside each other: what differs in config, code and machine, and in what came of it."""
    from experiments import compare

    found = compare.compare_runs(run_a, run_b)
    if as_json:
        _print_json(found.to_json())
    else:
        compare.print_comparison(found, _console())
    if check and (found.differ or found.only_a):
        raise typer.Exit(1)


@app.command("ladder")
def show_ladder(
    folder: Annotated[Path | None, typer.Argument(help="a finished run; none: show the ladder in use")] = None,
) -> None:
    """The ladder behind `strongest`, or the rows a finished run would add, as TOML."""
    from experiments import ladder, run

    rows = list(ladder.rows()) if folder is None else run.ladder_rows(folder)
    print(ladder.write(rows), end="")


# ---- solving -----------------------------------------------------------------------------------


@app.command("solve")
def solve_game(
    game: Annotated[str, typer.Argument(help="one of our games, or any game of OpenSpiel")],
    solver: Annotated[str, typer.Option(help="solver spec, such as 'cfr+(iterations=1000)'")],
    seed: Annotated[int, typer.Option(help=f"of everything random, {seeds.RANGE}", callback=_seed)] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="exactly one JSON object on the standard output")] = False,
    checkpoint: Annotated[
        Path | None, typer.Option(help="keep a policy solver's run in this file; taken up from it where it exists")
    ] = None,
    policy: Annotated[Path | None, typer.Option(help="save the policy that a policy solver finds in this file")] = None,
) -> None:
    """Solve a game, or search it from its start: value, action, exploitability.

    `seconds` of the answer are the solver's own; set-up and evaluation are told apart from them.
    """
    from experiments import solve

    found = solve.solve(game, solver, seed=seed, progress=not as_json, checkpoint=checkpoint, policy_file=policy)
    if as_json:
        _print_json(found.to_json())
    else:
        solve.print_solution(found, _console())


# ---- playing -----------------------------------------------------------------------------------


@app.command("play")
def play_game(
    game: Annotated[str, typer.Argument(help="one of our games; with --load it must be the saved one")],
    bot: Annotated[list[str] | None, typer.Option(help="once for all other seats, or once for each")] = None,
    seat: Annotated[int | None, typer.Option(help="your seat, from 0; default: 0", min=0)] = None,
    seed: Annotated[
        int | None, typer.Option(help=f"of the dice and the bots, {seeds.RANGE}; default: a new one", callback=_seed)
    ] = None,
    load: Annotated[Path | None, typer.Option(help="go on with a saved game; it brings bots, seat and seed")] = None,
    seconds: Annotated[
        float | None, typer.Option(help="how long a bot may think about a move; default: as its spec says", min=0.1)
    ] = None,
) -> None:
    """Play against bots in the terminal; `help` in the game lists what you can type."""
    from experiments import play

    play.play(game, bot, seat=seat, seed=seed, load=load, seconds=seconds)


@app.command("record")
def write_record(
    path: Annotated[Path, typer.Argument(help="a saved game, or a run folder")],
    match: Annotated[
        str, typer.Option(help="of a run folder the game: its number, from 1, or its key in the table `games`")
    ] = "",
) -> None:
    """A game as a text that can be read: who sat where, what happened, what the bots thought of it, how it ended."""
    from engine_ext.errors import ParameterError
    from experiments import replay
    from experiments.play import record, saving

    if path.is_dir():
        if not match:
            raise ParameterError(f"{path} is a folder: --match says which game of its run, by number (1) or by key")
        text = replay.record_of(path, match)
    elif match:
        raise ParameterError(f"--match {match} is for the games of a run, and {path} is not a run folder")
    else:
        text = record.of_session(saving.load(path))
    print(text, end="")


@app.command("serve")
def serve_pages(
    host: Annotated[str, typer.Option(help="address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="port to listen on", min=1, max=65535)] = 8000,
    seconds: Annotated[float, typer.Option(help="how long a bot may think about a move", min=0.1, max=3600)] = 10.0,
) -> None:
    """Play in the browser (needs the extra `web`)."""
    from engine_ext.errors import ParameterError

    try:
        from experiments import web
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] not in ("fastapi", "starlette", "uvicorn"):
            raise
        raise ParameterError(f"serve needs FastAPI and uvicorn: pip install 'quandary[web]' ({error})") from error
    web.serve(host, port, seconds)


# ---- profiling ---------------------------------------------------------------------------------


@app.command("profile")
def profile_target(
    target: Annotated[str, typer.Argument(help="a game, `kernels` or `solvers`")],
    as_json: Annotated[bool, typer.Option("--json", help="exactly one JSON object on the standard output")] = False,
    seconds: Annotated[float, typer.Option(help="time to spend, about", min=0.1)] = 20.0,
    seed: Annotated[int, typer.Option(help=f"of the games and positions, {seeds.RANGE}", callback=_seed)] = 0,
    baseline_file: Annotated[
        Path | None,
        typer.Option(
            "--baseline",
            metavar="FILE",
            help="an earlier profile (--json) to compare with; slower, or a figure gone: exit code 1",
        ),
    ] = None,
) -> None:
    """Measure speeds on this machine, side by side with OpenSpiel's."""
    from experiments import baseline, gametext, profile, profile_solvers

    measures = {"kernels": profile.profile_kernels, "solvers": profile_solvers.profile_solvers}
    subject = target if target in measures else gametext.load(target, own_only=True).text
    before = None if baseline_file is None else baseline.read_profile(baseline_file, subject)
    if target in measures:
        found = measures[target](seconds=seconds, seed=seed)
    else:
        found = profile.profile_game(target, seconds=seconds, seed=seed)
    if before is not None:
        found["baseline"] = baseline.compare(found, before)
    if as_json:
        _print_json(found)
    else:
        _console().print(profile.table(found))
        if before is not None:
            _console().print(baseline.table(found["baseline"]))
    if before is not None and (found["baseline"]["slower"] or found["baseline"]["gone"]):
        raise typer.Exit(1)


@app.command("signature")
def sign_solvers(
    game: Annotated[
        list[str] | None, typer.Argument(help="our games; default: all, with variants and scenarios")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="exactly one JSON object on the standard output")] = False,
    compare: Annotated[Path | None, typer.Option(help="a file that --json made; exit code 1 where rows differ")] = None,
) -> None:
    """Digest what every solver does from fixed seeds: has a change of the code changed it?"""
    from engine_ext.errors import ParameterError
    from experiments import signature

    if as_json and compare is not None:
        raise ParameterError("--json prints signatures, --compare what has changed; give one of them")
    kept = signature.read(compare) if compare is not None else []
    found = [row for text in game or signature.games_signed() for row in signature.signatures(text)]
    if compare is not None:
        comparison = signature.compare(found, kept)
        print("\n".join(comparison.lines()))
        raise typer.Exit(bool(comparison.changed))
    if as_json:
        print(json.dumps(signature.to_json(found), indent=1))  # a line a field, for a diff to show
    else:
        _console().print(signature.table(found))


if __name__ == "__main__":
    main()
