"""A game of a finished or unfinished run, played once more and written down.

A run keeps no moves, only a digest of them. It need not: dice and bots draw from seeds that belong to the game's place
in the experiment, so the same code plays the same game again, and the digest tells whether it has.
"""

from __future__ import annotations

from pathlib import Path

from engine_ext.errors import ParameterError, ResultsError, quoted
from engine_ext.position import Position
from experiments import arena, files, gametext, integrity, manifest, report
from experiments.arena import ArenaTask, Job
from experiments.config import ExperimentConfig
from experiments.inputs import Inputs
from experiments.play import odds, record
from experiments.play.views import Views
from experiments.store import Store
from games.words import Step
from solvers.contract import SearchResult

Found = tuple[int, Job]  # number of the arena, from 1, and one of its games


def record_of(folder: Path, match: str) -> str:
    """The record of one game of a run folder, with all that is hidden from any of its bots.

    Args:
        folder: the run folder.
        match: the game: its number, from 1, in the order in which they are played, or its key in `games`.

    Raises:
        ParameterError: there is no such game.
        ResultsError: no run folder, damaged, or a game that does not come out as it did.
    """
    content = files.read_json(folder / "manifest.json", "run")
    config = report.config_of(content, folder)
    with Store.read(folder / "results.sqlite") as store:
        if store.config_hash() != content["config_hash"]:
            raise ResultsError(f"{folder}: manifest.json and results.sqlite belong to different experiments")
        integrity.check(config, store)
        kept = {row[0]: row for row in store.games()}
        number, job = _found(config, set(kept), match, folder)
        utilities = [utility for key, _, _, utility in store.seats() if key == job.key]
    each = config.arena[number - 1]
    game = gametext.load(each.game, own_only=True)
    where = f"{folder}: the game {job.key!r}"
    before = content["identity"]["games"].get(each.game)
    if manifest.describe_game(game) != before:
        raise ResultsError(f"{where} cannot be played again: {each.game} has other rules or data now than in that run")
    views = Views(game)
    steps: list[Step] = []
    said: dict[int, str] = {}
    bots = [each.bots[bot] for bot in job.bots]

    def hear(position: Position, seat: int, action: int, result: SearchResult | None) -> None:
        after = position.child(action)
        if result is not None:
            thought = views.as_thought(position, seat, bots[seat], result)
            if thought is not None and (words := odds.of_thought(views, thought)):
                said[len(steps)] = words
        steps.append(Step(seat, action, position.action_to_string(seat, action), position.clone(), after))

    inputs = Inputs(Path(content.get("config_file", "")).absolute().parent, tuple(_digests(content).items()))
    played = ArenaTask(each.game, tuple(each.bots), config.seed, (job,), inputs).play(job, hear)
    _, _, seed, n_moves, digest = kept[job.key]
    if (played.n_moves, played.moves_digest, played.utilities) != (n_moves, digest, utilities):
        timed = [bot for bot in content["timed_bots"] if bot in bots]
        why = f"{timed[0]} stops by the clock" if timed else "its code or its bots have changed since"
        raise ResultsError(f"{where} does not come out as it did in the run: {why}")
    head = [
        ("run", f"{config.name}, seed {config.seed}; arena {number}, deal {job.deal}, {job.key}"),
        ("seed", str(seed)),
    ]
    return record.of_bots(views, head, bots, steps, said, utilities)


def _digests(content: dict) -> dict[str, str]:
    digests = content["identity"].get("files", {})
    assert isinstance(digests, dict)  # the manifest has been checked
    return digests


def _found(config: ExperimentConfig, kept: set[str], match: str, folder: Path) -> Found:
    """The game that is asked for."""
    if not kept:
        raise ResultsError(f"{folder} holds no games")
    wanted = match.strip()
    by_number = wanted.isascii() and wanted.isdecimal()
    number, first = 0, ""
    for i, each in enumerate(config.arena, 1):
        rules = gametext.load(each.game, own_only=True).rules
        assert rules is not None
        for job in arena.jobs(each, i, rules.num_players()):
            if job.key not in kept:
                continue
            number += 1
            first = first or job.key
            if (by_number and number == int(wanted[:20])) or (not by_number and job.key == wanted):
                return i, job
    raise ParameterError(
        f"{folder} has no game {quoted(wanted)}: --match takes a number from 1 to {number}, or a key of the table "
        f"games, such as {first!r}"
    )
