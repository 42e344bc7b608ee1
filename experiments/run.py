"""`quandary run`: a config in, a run folder with manifest.json, results.sqlite and report.html out.

Everything is checked before anything is written: games, bots, the folder. Bots and solvers are tried out, too, for
some seconds at most (`tryout`), since not all that a game rules out is declared. A folder that holds
results is never written over; `resume` continues it when config, games and bots are the same.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from engine_ext.errors import ConfigError, QuandaryError, ResultsError, reason
from experiments import (
    analysis,
    arena,
    convergence,
    differences,
    executors,
    files,
    gametext,
    integrity,
    ladder,
    manifest,
    players,
    report,
)
from experiments.config import ArenaConfig, ExperimentConfig, digest
from experiments.config import read as read_config
from experiments.executors import Task
from experiments.gametext import Game
from experiments.inputs import HERE, Inputs
from experiments.sequential import Watch
from experiments.store import Store
from experiments.terminal import Terminal
from games.words import join
from solvers import specs


@dataclass(frozen=True)
class Experiment:
    """A config whose games and bots have been checked and written out in full.

    Attributes:
        config: games and bots in canonical text, aliases resolved.
        games: by canonical text.
        notes: what a reader should know, such as a fallback of `strongest`.
        timed: bots that stop by the clock.
        inputs: files that bots and solvers read.
    """

    config: ExperimentConfig
    games: dict[str, Game]
    notes: list[str]
    timed: list[str]
    inputs: Inputs = HERE

    def identity(self) -> dict[str, Any]:
        """What decides the results: a change of any of it is another experiment."""
        found = {
            "config": self.config.model_dump(exclude_none=True),
            "games": {text: manifest.describe_game(game) for text, game in self.games.items()},
        }
        return {**found, "files": dict(self.inputs.digests)} if self.inputs.digests else found

    def games_per_deal(self, each: ArenaConfig) -> int:
        """Games that one chance seed of an arena is played in."""
        return arena.games_per_deal(len(each.bots), _seats(self.games[each.game]))

    def jobs_total(self) -> int:
        """Games and curve points in all; of a sequential test, the most that there can be."""
        games = sum(each.deals * self.games_per_deal(each) for each in self.config.arena)
        return games + sum(convergence.points_total(each) for each in self.config.convergence)


def _seats(game: Game) -> int:
    return game.rules.num_players() if game.rules is not None else game.openspiel().num_players()


def prepare(config: ExperimentConfig, where: str) -> Experiment:
    """Check games and bots, try each out for some seconds at most, and write them out in full.

    Args:
        where: the config's file, for messages; names of files in it start from its folder.

    Raises:
        ConfigError: naming file and key.
    """
    inputs = Inputs(Path(where).absolute().parent)
    found: dict[str, Game] = {}
    notes: list[str] = []
    timed: list[str] = []
    arenas = []
    for i, each in enumerate(config.arena, 1):
        with _at(f"{where}: arena[{i}].game"):
            game = gametext.load(each.game, own_only=True)
        assert game.rules is not None
        found[game.text] = game
        bots: list[str] = []
        for k, bot in enumerate(each.bots, 1):
            with _at(f"{where}: arena[{i}].bots[{k}]"):
                canonical = players.canonical(bot, game.rules)
                inputs = inputs.joined_by(specs.parse_spec(canonical))
                player = players.cached(canonical, game.text, inputs)
                if isinstance(player, players.SearchPlayer):
                    player.try_out(game.rules)
                if note := ladder.note(bot, game.rules):
                    notes.append(f"{game.text}: {note}")
                if players.timed(canonical, game.rules) and canonical not in timed:
                    timed.append(canonical)
            if canonical in bots:
                notes.append(f"{game.text}: {bot} is {canonical}, which is listed already; it plays once")
            else:
                bots.append(canonical)
        if each.sprt is not None and (len(bots) != 2 or game.rules.num_players() == 1):
            why = "the game has one seat" if len(bots) == 2 else "both bots are the same"
            raise ConfigError(f"{where}: arena[{i}].sprt: it tests one bot against another, and {why}")
        if each.sprt is not None and not gametext.only_wins(game.rules):
            raise ConfigError(
                f"{where}: arena[{i}].sprt: it tests who wins more games, and {game.text} pays more than that "
                f"({game.utility_unit}): who wins less can earn more. Leave it out; the report tests the mean utilities"
            )
        arenas.append(each.model_copy(update={"game": game.text, "bots": bots}))
    curves = []
    for i, curve in enumerate(config.convergence, 1):
        checked = convergence.check(curve, f"{where}: convergence[{i}]", inputs)
        for spec in convergence.specs_of(checked):
            inputs = inputs.joined_by(spec)
        convergence.try_out(checked, config.seed, f"{where}: convergence[{i}]", inputs)
        found[checked.game] = gametext.load(checked.game)
        curves.append(checked)
    return Experiment(config.model_copy(update={"arena": arenas, "convergence": curves}), found, notes, timed, inputs)


class _at:
    """Turns any named error inside into a ConfigError that begins with a place."""

    def __init__(self, place: str) -> None:
        self.place = place

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, QuandaryError):
            raise ConfigError(f"{self.place}: {error}") from error


def run(
    path: Path, out: Path | None = None, *, workers: int = 1, resume: bool = False, executor: str = "processes"
) -> Path:
    """Run an experiment, or what is left of it, and build its report.

    Args:
        path: the config.
        out: the run folder; default is runs/NAME, or runs/NAME-2 and so on where that is taken
            (with resume: the latest of them).
        workers: at least 1, no more of which are started than there are jobs; they change nothing but the time.
        resume: continue the run in the folder.
        executor: `processes` or `ray`.

    Returns:
        The run folder.

    Raises:
        ConfigError: the config is wrong; nothing was written.
        ResultsError: the folder is taken, damaged or of another config; nothing was written over.
    """
    experiment = prepare(read_config(path), str(path))
    engine = executors.make(executor, workers)
    folder = out if out is not None else _folder(experiment.config.name, resume)
    identity = experiment.identity()
    was_there = folder.exists()
    store = _open(folder, experiment, identity, path, resume)
    try:
        with store:
            _play(experiment, engine, store, executor, folder)
    except QuandaryError as error:
        if not resume and not isinstance(error, executors.WorkerLostError):
            _discard(folder, was_there)
        _report_so_far(folder)
        raise
    report.build(folder)
    return folder


def _play(experiment: Experiment, engine: executors.Executor, store: Store, executor: str, folder: Path) -> None:
    """What is left of an experiment."""
    tests = _Tests(experiment)
    tests.add(store.seats())
    store.forget([key for key in store.done() if tests.in_vain(key)])  # of a run that was killed
    done = store.done()
    total = experiment.jobs_total() - tests.spared()
    engine = executors.fitted(engine, total - len(done))
    store.begin_run(engine.workers, executor)
    console = Terminal(stderr=True)
    for note in experiment.notes:
        console.print(f"note: {note}", style="yellow", highlight=False, markup=False)
    at_most = "at most " if tests.undecided else ""
    console.print(
        f"{experiment.config.name}: {at_most}{total - len(done)} of {total} jobs to do, {engine.workers} "
        f"worker{'s' if engine.workers > 1 else ''}, into {folder}",
        highlight=False,
        markup=False,
    )
    if total > len(done):
        _note_code(folder, bool(done), console)
    with _progress(console) as progress:
        bar = progress.add_task("", total=total, completed=len(done))
        for rows in engine.results(_tasks(experiment, done, engine.workers, tests)):
            store.add(rows)
            tests.add(rows.seats)
            progress.advance(bar, len({*(row[0] for row in rows.games), *(row[0] for row in rows.measures)}))
            progress.update(bar, total=experiment.jobs_total() - tests.spared())
    store.forget([key for key in store.done() if tests.in_vain(key)])
    store.end_run()


def _note_code(folder: Path, begun: bool, console: Console) -> None:
    """Add this execution to the manifest, and warn where it goes on with other code than the last."""
    path = folder / "manifest.json"
    content = files.read_json(path, "run")
    kept, this = manifest.executions(content, begun), manifest.execution()
    if kept and (found := manifest.differences(kept[-1], this)):
        console.print(
            f"warning: this run goes on with other code ({'; '.join(found)}); rows of both stand side by side, and the "
            "report says so",
            style="yellow",
            highlight=False,
            markup=False,
            soft_wrap=True,
        )
    files.write_atomically(path, files.to_json({**content, "executions": [*kept, this]}))


class _Tests:
    """The sequential tests of an experiment, fed with the rows of games.

    Attributes:
        watches: by the prefix of their arena's keys.
    """

    def __init__(self, experiment: Experiment) -> None:
        self.watches: dict[str, Watch] = {}
        self._arenas: dict[str, ArenaConfig] = {}
        self._games_per_deal: dict[str, int] = {}
        for i, each in enumerate(experiment.config.arena, 1):
            if each.sprt is not None:
                prefix = arena.prefix(i)
                self._arenas[prefix] = each
                self._games_per_deal[prefix] = experiment.games_per_deal(each)
                self.watches[prefix] = Watch(each.sprt, each.bots[0], self._games_per_deal[prefix])

    @property
    def undecided(self) -> bool:
        """Whether there is a test that may still end its arena early."""
        return not all(watch.decided for watch in self.watches.values())

    def spared(self) -> int:
        """Games that need not be played, since their tests are decided."""
        return sum(
            (self._arenas[prefix].deals - watch.test.deals) * self._games_per_deal[prefix]
            for prefix, watch in self.watches.items()
            if watch.decided
        )

    def add(self, seats: Iterable[tuple[str, int, str, float]]) -> None:
        """Look at finished games: all rows of `seats` of each."""
        for key, rows in itertools.groupby(seats, key=lambda row: row[0]):
            prefix = arena.prefix_of(key)
            if prefix in self.watches:
                self.watches[prefix].add(arena.deal_of(key), ((bot, utility) for _, _, bot, utility in rows))

    def decided(self, prefix: str) -> bool:
        """Whether the arena of these keys has a test that is decided."""
        return prefix in self.watches and self.watches[prefix].decided

    def in_vain(self, key: str) -> bool:
        """Whether a job was played after its test had been decided."""
        prefix = arena.prefix_of(key)
        return self.decided(prefix) and arena.deal_of(key) >= self.watches[prefix].test.deals


def _report_so_far(folder: Path) -> None:
    """The report of what a run has kept that was refused something in the middle."""
    try:
        with Store.read(folder / "results.sqlite") as store:
            if not store.done():
                return
        path = report.build(folder)
    except ResultsError:  # what ended the run may also keep a report from being written
        return
    Terminal(stderr=True).print(f"report of what is finished: {path}", highlight=False, markup=False, soft_wrap=True)


def _discard(folder: Path, keep_folder: bool) -> None:
    """Remove a new run that ended before its first result: a game refused as too large, for one."""
    try:
        with Store.read(folder / "results.sqlite") as store:
            if store.done():
                return
    except ResultsError:  # what ended the run may also keep its results from being read: all of it stays
        return
    _remove(folder, keep_folder)


def _remove(folder: Path, keep_folder: bool) -> None:
    """Take a run without results away."""
    for path in (folder / "manifest.json", *folder.glob("results.sqlite*"), *folder.glob(".results.sqlite*")):
        path.unlink(missing_ok=True)
    if not keep_folder:
        with contextlib.suppress(OSError):  # somebody put something there meanwhile
            folder.rmdir()


def _folder(name: str, resume: bool) -> Path:
    """runs/NAME, or the next number that is free (with resume: the last that is taken)."""
    candidates = (Path("runs") / (name if i == 1 else f"{name}-{i}") for i in itertools.count(1))
    last = Path("runs") / name
    for folder in candidates:
        if not folder.exists():
            return last if resume else folder
        last = folder
    raise AssertionError("unreachable")


def _open(folder: Path, experiment: Experiment, identity: dict[str, Any], path: Path, resume: bool) -> Store:
    """The folder's results file, made or taken up again."""
    config_hash = digest(identity)
    manifest_path, results_path = folder / "manifest.json", folder / "results.sqlite"
    if resume:
        kept = files.read_json(manifest_path, "run to resume")
        report.config_of(kept, folder)
        if kept.get("config_hash") != config_hash:
            raise ResultsError(
                f"{folder} holds another experiment: {_changed(kept['identity'], _plain(identity), path)}; "
                "resume needs the same config, games, bots and files"
            )
        if results_path.exists():
            store = Store.resume(results_path, config_hash)
            try:
                integrity.check(experiment.config, store)
            except ResultsError:
                store.close()
                raise
            return store
        if kept.get("executions"):
            Terminal(stderr=True).print(
                f"warning: {results_path} is missing, though this run had begun; it starts from the beginning",
                style="yellow",
                highlight=False,
                markup=False,
                soft_wrap=True,
            )
        return Store.create(results_path, config_hash)
    if folder.exists() and not folder.is_dir():
        raise ResultsError(f"{folder} is a file; a run needs a folder, new or empty")
    if folder.exists() and any(folder.iterdir()):
        raise ResultsError(f"{folder} is not an empty folder; nothing is written over (--resume continues a run)")
    was_there = folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ResultsError(f"{folder} cannot be made: {reason(error)}") from error
    content = {
        "name": experiment.config.name,
        "created": manifest.now(),
        "config_file": str(path),
        "config_hash": config_hash,
        "identity": identity,
        "seed": experiment.config.seed,
        "reproducible": not experiment.timed,
        "timed_bots": experiment.timed,
        "notes": experiment.notes,
        "versions": manifest.versions(),
        "commit": manifest.commit(),
        "machine": manifest.machine(),
    }
    try:
        files.write_atomically(manifest_path, files.to_json(content))
        return Store.create(results_path, config_hash)
    except ResultsError:
        _remove(folder, was_there)
        raise


def _changed(kept: dict[str, Any], identity: dict[str, Any], path: Path) -> str:
    """In what the experiment of a folder differs from that of a config."""
    before, now = kept.get("files", {}), identity.get("files", {})
    files_changed = [name for name in before if name in now and before[name] != now[name]]
    if files_changed:
        return f"the file {' and '.join(files_changed)} had another content then"
    parts = [key for key in {**kept, **identity} if kept.get(key) != identity.get(key)]
    verb = "differs from that" if parts == ["config"] else "differ from those"
    return f"its {' and '.join(parts)} {verb} of {path}"


def _plain(content: Any) -> Any:
    """As it comes back from JSON."""
    return files.from_json(files.to_json(content))


def _tasks(experiment: Experiment, done: set[str], workers: int, tests: _Tests) -> Iterator[Task]:
    config = experiment.config
    for i, each in enumerate(config.arena, 1):
        enough = functools.partial(tests.decided, arena.prefix(i))
        seats, inputs = _seats(experiment.games[each.game]), experiment.inputs
        yield from arena.tasks(each, i, seats, config.seed, done, workers, enough, inputs)
    for i, curve in enumerate(config.convergence, 1):
        yield from convergence.tasks(curve, i, config.seed, done, experiment.inputs)


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("playing"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )


def ladder_rows(folder: Path) -> list[ladder.Row]:
    """The strongest bot of each arena of a finished run, as rows for the ladder.

    It is the one that came first; but where two play for a zero sum, or one alone, and a bot plays exactly, it is
    this one, unless another was clearly ahead of it: nobody can be on average, and who wins more from the others
    is not stronger for it. Each row says from how many deals it comes, and whether these separate it from the others.

    Raises:
        ResultsError: no run folder, damaged, or an arena that is not finished.
    """
    results = report.load(folder)
    summaries = {summary.number: summary for summary in results.arenas}
    found = []
    for i, each in enumerate(results.config.arena, 1):
        summary = summaries.get(i)
        if summary is None or not summary.complete:
            raise ResultsError(f"{folder}: arena {i} ({each.game}) is not finished; the ladder takes finished runs")
        place = _strongest(summary)
        best = summary.standings[place]
        found.append(
            ladder.Row(
                game=each.game,
                bot=best.bot,
                elo=best.elo.value if best.elo else None,
                interval=(best.elo.low, best.elo.high) if best.elo else None,
                games=_games_of(best.bot, summary),
                experiment=results.config.name,
                seed=results.config.seed,
                path=folder,
                remark=_remark(summary, place),
            )
        )
    return found


def _strongest(summary: analysis.ArenaSummary) -> int:
    """The place in the standings of the bot that a row names: the first, or exact play that it is not ahead of."""
    rules = gametext.load(summary.config.game, own_only=True).rules
    assert rules is not None
    if summary.n_players > 2 or (summary.n_players == 2 and not rules.zero_sum):
        return 0
    for place, standing in enumerate(summary.standings):
        if specs.parse_spec(standing.bot).exact:
            pairs = summary.ahead_of(place).values()
            beaten = any(pair.apart and pair.value.value < 0 for pair in pairs)
            return 0 if beaten else place
    return 0


def _clear(pair: analysis.Pair) -> bool:
    """Whether a bot is ahead of another beyond chance."""
    return pair.apart and pair.value.value > 0


def _above(one: analysis.Standing, other: analysis.Standing, by_wins: bool) -> bool:
    """Whether a bot stands above another, and not beside it, in whatever order."""
    return analysis.rank(one, by_wins)[0] > analysis.rank(other, by_wins)[0] + differences.SAME


def _games_of(bot: str, summary: analysis.ArenaSummary) -> int:
    """Games of a finished arena in which a bot sat; it may have sat in several of the seats."""
    number = summary.config.bots.index(bot)
    meetings = arena.lineups(len(summary.config.bots), summary.n_players)
    games = sum(len(arena.seatings(lineup)) for lineup in meetings if number in lineup)
    return games * _deals(summary)


def _deals(summary: analysis.ArenaSummary) -> int:
    """Deals that a finished arena has played."""
    return summary.games // arena.games_per_deal(len(summary.config.bots), summary.n_players)


def _remark(summary: analysis.ArenaSummary, place: int = 0) -> str:
    """From how many deals the bot at a place is the strongest, and whom it is not clearly separated from: whom it is
    not ahead of, pair by pair on the deals that both played, with 5 % of false alarms among all of its rivals."""
    best = summary.standings[place]
    rest = [other for other in summary.standings if other is not best]
    deals = _deals(summary)
    remark = f"{deals:,} deal{'' if deals == 1 else 's'}"
    if summary.test is not None:  # H0 says no more than that the first is not clearly the stronger
        near = [] if summary.test.accepted == "H1" and best.bot == summary.config.bots[0] else rest
    else:
        rivals = summary.ahead_of(place)
        near = [other for other in rest if other.bot not in rivals or not _clear(rivals[other.bot])]
    spec = specs.parse_spec(best.bot)
    if spec.exact:
        remark += ", exact play" if spec.solver.kind == "searcher" else ", an equilibrium"
    if spec.files():
        remark += "; it plays a file, which the ladder does not hold"
    before = [other for other in summary.standings[:place] if _above(other, best, summary.by_wins)]
    if beaten := [other.bot for other in before if other not in near]:
        remark += f"; {join(beaten)} came before it, but lost to it"
    separated = [
        f"{join([other.bot for other in before if other in near])}, which came before it",
        ", ".join(other.bot for other in near if other not in before),
    ]
    separated = [part for part in separated if part and not part.startswith(",")]
    return remark + (f"; not clearly separated from {', nor from '.join(separated)}" if separated else "")
