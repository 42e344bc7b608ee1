"""`quandary run` as a whole: the same rows for any number of workers and after a kill."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import time
from pathlib import Path
from xml.etree import ElementTree

import pytest
from scipy import stats

from engine_ext.errors import ResultsError, UnsuitableGameError
from experiments import analysis, arena, executors, ladder, manifest, report, run
from experiments.config import ArenaConfig
from experiments.store import Rows, Store, dump
from solvers import specs
from tests.experiments.command import command_line, on_a_dumb_terminal, quandary, start

CONFIG = """
name = "trial"
title = "A trial"
seed = 11
[[arena]]
game = "pig(goal=60)"
bots = ["random", "greedy"]
deals = {deals}
[[arena]]
game = "kuhn"
bots = ["random", "greedy"]
deals = 30
"""


def rows(folder: Path):
    with Store.read(folder / "results.sqlite") as store:
        return dump(store)


@pytest.fixture(scope="module")
def config(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("config") / "trial.toml"
    path.write_text(CONFIG.format(deals=60))
    return path


@pytest.fixture(scope="module")
def finished(config, tmp_path_factory) -> Path:
    """A finished run in one process."""
    folder = tmp_path_factory.mktemp("runs") / "one"
    done = quandary("run", config, "--out", folder, "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert "greedy" in done.stdout
    assert f"report: {folder / 'report.html'}" in done.stdout
    return folder


@pytest.mark.parametrize("workers", [2, 3])
def test_rows_do_not_depend_on_the_number_of_workers(workers, config, finished, tmp_path):
    done = quandary("run", config, "--out", tmp_path / "r", "--workers", workers)
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path / "r") == rows(finished)


def test_no_more_workers_start_than_there_are_jobs(tmp_path, capsys):
    config = tmp_path / "x.toml"
    config.write_text('name = "x"\n[[arena]]\ngame = "kuhn"\nbots = ["random", "greedy"]\ndeals = 1\n')
    run.run(config, tmp_path / "r", workers=40)
    assert "2 of 2 jobs to do, 2 workers" in " ".join(capsys.readouterr().err.split())
    run.run(config, tmp_path / "r", workers=40, resume=True)
    with Store.read(tmp_path / "r" / "results.sqlite") as store:
        assert [row[3] for row in store.runs()] == [2, 1]
        assert len(store.games()) == 2


def test_rows_are_the_same_from_a_ray_cluster(config, finished, tmp_path):
    pytest.importorskip("ray", reason="Ray is an extra")
    done = quandary("run", config, "--out", tmp_path / "r", "--workers", 2, "--executor", "ray")
    assert done.returncode == 0, done.stderr
    assert rows(tmp_path / "r") == rows(finished)


def workers_of(process) -> list[int]:
    """Process ids of a run's workers."""
    words = "ps", "-ww", "-o", "pid=,args=", "--ppid", str(process.pid)
    listed = subprocess.run(words, capture_output=True, text=True, check=False).stdout
    return [int(line.split()[0]) for line in listed.splitlines() if "spawn_main" in line]


def works(pid: int) -> bool:
    """Whether a process is there and not merely its entry in the table."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("killed", ["run", "worker"])
def test_a_killed_run_resumes_to_the_same_rows(tmp_path, killed):
    config, folder = tmp_path / "trial.toml", tmp_path / "r"
    config.write_text(CONFIG.format(deals=700))
    running = start("run", config, "--out", folder, "--workers", 3)
    results = folder / "results.sqlite"
    deadline = time.monotonic() + 60
    at_work: list[int] = []
    while not (results.exists() and results.stat().st_size > 80_000) and time.monotonic() < deadline:
        at_work = at_work or workers_of(running)
        time.sleep(0.01)
    os.kill(running.pid if killed == "run" else at_work[0], signal.SIGKILL)
    _, errors = running.communicate(timeout=60)  # to the end of all that hold the terminal
    assert running.returncode == (-signal.SIGKILL if killed == "run" else 2)
    assert ("a worker process died" in errors) == (killed == "worker")
    assert "Warning" not in errors
    assert "Traceback" not in errors
    resumed = quandary("run", config, "--out", folder, "--workers", 2, "--resume")
    assert resumed.returncode == 0, resumed.stderr
    left, total = map(int, re.search(r"(\d+) of (\d+) jobs to do", resumed.stderr).groups())
    assert 0 < left < total == 1460, "the kill came too early or too late to test anything"
    run.run(config, tmp_path / "whole", workers=1)
    assert rows(folder) == rows(tmp_path / "whole")
    with Store.read(results) as store:
        assert len(store.runs()) == 2


def test_a_game_that_is_refused_leaves_no_folder(tmp_path, capsys):
    config = tmp_path / "trial.toml"
    config.write_text(
        'name = "trial"\n[[convergence]]\ngame = "hex(board_size=5)"\nmeasure = "exploitability"\n'
        'solvers = ["cfr"]\nbudgets = [1]\n'
    )
    (tmp_path / "mine").mkdir()
    for folder in ("new", "mine"):
        code, _, errors = command_line(capsys, "run", config, "--out", tmp_path / folder, "--workers", 1)
        assert code == 2
        assert "hex(board_size=5)" in errors
    assert not (tmp_path / "new").exists()
    assert list((tmp_path / "mine").iterdir()) == []


@pytest.mark.parametrize(
    ("part", "says"),
    [
        (
            '[[arena]]\ngame = "pentaquest(players=2)"\nbots = ["greedy", "expectimax"]\ndeals = 2\n',
            "arena[2].bots[2]: pentaquest has cycles",
        ),
        (
            '[[convergence]]\ngame = "pentaquest"\nmeasure = "regret"\nsolvers = ["mcts"]\nbudgets = [10]\n',
            "convergence[1].game: regret is measured exactly, and pentaquest: it has more than",
        ),
        (
            '[[convergence]]\ngame = "pentaquest(scenario=tiny)"\nmeasure = "regret"\nsolvers = ["mcts"]\n'
            'budgets = [10]\nbaselines = ["expectimax(max_states=2)"]\n',
            "convergence[1].baselines[1]: pentaquest",
        ),
        (
            '[[convergence]]\ngame = "hex(board_size=5)"\nmeasure = "exploitability"\nsolvers = ["cfr"]\n'
            "budgets = [1]\n",
            "convergence[1].game: exploitability is measured exactly, and hex(board_size=5)",
        ),
    ],
    ids=["cycles", "states", "baseline", "tree"],
)
def test_what_a_game_rules_out_is_said_before_the_first_job(part, says, tmp_path, capsys):
    config = tmp_path / "late.toml"
    first = '[[arena]]\ngame = "pig(goal=20)"\nbots = ["random", "greedy"]\ndeals = 2\n'
    config.write_text(f'name = "late"\n{first}{part}')
    code, _, errors = command_line(capsys, "run", config, "--out", tmp_path / "r", "--workers", 1)
    assert code == 2
    assert f"late.toml: {says}" in errors
    assert "jobs to do" not in errors
    assert not (tmp_path / "r").exists()


def test_a_run_that_is_refused_in_the_middle_has_a_report_of_what_there_is(tmp_path, capsys, monkeypatch):
    config, folder = tmp_path / "trial.toml", tmp_path / "r"
    config.write_text(CONFIG.format(deals=2).replace("deals = 30", "deals = 2"))
    play = arena.ArenaTask.run

    def refused(task):
        if task.game != "quandary_pig(goal=60)":
            raise UnsuitableGameError("kuhn is too wide")
        return play(task)

    monkeypatch.setattr(arena.ArenaTask, "run", refused)
    code, _, errors = command_line(capsys, "run", config, "--out", folder, "--workers", 1)
    assert code == 2
    assert "kuhn is too wide" in errors
    assert f"report of what is finished: {folder / 'report.html'}" in errors
    assert "greedy" in (folder / "report.html").read_text()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            "UPDATE seats SET utility = 9e99 WHERE seat = 1",
            "seat 1 the utility 9e+99, and quandary_pig(goal=60) gives -1",
        ),
        ("UPDATE seats SET utility = -1.5 WHERE seat = 0", "seat 0 the utility -1.5"),
        ("UPDATE seats SET utility = 9e999", "has a utility that is no number"),
        ("INSERT INTO measures VALUES ('curve1/cfr+/0000/000000000001', 'exploitability', NULL)", "that is no number"),
        ("INSERT INTO measures VALUES ('curve1/cfr+/0000/000000000001', 'exploitability', 9e999)", "that is no number"),
        ("UPDATE seats SET utility = 1 WHERE seat = 0 AND utility = -1", "is a zero-sum game"),
        # Some of a bot's defeats: what is left made it look twice as strong.
        (
            "DELETE FROM seats WHERE seat = 1 AND bot = 'greedy' AND job_key LIKE 'arena1/%/000000%/0'",
            "damaged: game 'arena1/random~greedy/0000000/0' has 1 seat of 2",
        ),
        ("DELETE FROM seats WHERE seat = 1", "has 1 seat of 2"),
        ("DELETE FROM seats WHERE seat = 0", "has 1 seat of 2"),
        ("UPDATE seats SET bot = 'greedy'", "has 'greedy' in seat 0 where 'random' sat"),
        ("UPDATE games SET seed = 1", "has the seed of another deal"),
        ("UPDATE games SET game = 'quandary_kuhn'", "is a game of quandary_kuhn, and in the config one of"),
    ],
)
def test_edited_results_do_not_become_findings(change, says, config, finished, tmp_path, capsys):
    edited(finished, tmp_path, change)
    for words in (("report", tmp_path), ("ladder", tmp_path), ("run", config, "--out", tmp_path, "--resume")):
        code, _, errors = command_line(capsys, *words)
        assert code == 2
        assert "results.sqlite is damaged" in errors
        assert says in errors
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    "name",
    [
        "bogus",
        "arena1/random~greedy/0000060/0",
        "arena1/random~greedy/0000001/2",
        "arena1/random~greedy/1/0",
        "arena3/random~greedy/0000001/0",
        "arena1/greedy~random/0000001/0",
    ],
)
def test_games_that_the_config_does_not_have_are_refused(name, finished, tmp_path, capsys):
    key = "'arena1/random~greedy/0000007/1'"
    edited(
        finished,
        tmp_path,
        *(f"UPDATE {table} SET job_key = '{name}' WHERE job_key = {key}" for table in ("games", "seats", "timings")),
    )
    code, _, errors = command_line(capsys, "report", tmp_path)
    assert code == 2
    assert f"the config has no game {name!r}" in errors


def edited(finished: Path, folder: Path, *changes: str) -> None:
    """A copy of a run whose results somebody has changed."""
    for file in ("manifest.json", "results.sqlite"):
        (folder / file).write_bytes((finished / file).read_bytes())
    with contextlib.closing(sqlite3.connect(folder / "results.sqlite")) as db, db:
        for change in changes:
            db.execute(change)


@pytest.mark.parametrize(
    ("game", "value", "says"),
    [
        ("kuhn_poker", -5.0, "the exploitability -5, and a distance from the exact answer is never below 0"),
        ("kuhn", -5.0, "the exploitability -5, and a distance from the exact answer is 0 to 4"),
        ("kuhn", 4.5, "the exploitability 4.5"),  # utilities of Kuhn poker are -2 to 2
    ],
)
def test_a_distance_is_within_what_there_can_be(game, value, says, tmp_path, capsys):
    config, folder = tmp_path / "trial.toml", tmp_path / "r"
    config.write_text(
        f'name = "trial"\n[[convergence]]\ngame = "{game}"\nmeasure = "exploitability"\nsolvers = ["cfr"]\n'
        "budgets = [1]\n"
    )
    run.run(config, folder, workers=1)
    assert command_line(capsys, "report", folder)[0] == 0
    (tmp_path / "edited").mkdir()
    edited(folder, tmp_path / "edited", f"UPDATE measures SET value = {value}")
    code, _, errors = command_line(capsys, "report", tmp_path / "edited")
    assert code == 2
    assert says in errors


def test_names_of_bots_break_between_words_only():
    assert report.breakable("a(b=1,c=<2>)") == "a(<wbr>b=1,<wbr>c=&lt;2&gt;)"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("workers", [1, 2])
def test_signals_keep_what_is_finished_and_say_how_to_go_on(tmp_path, number, workers):
    """They come while all that is left is one call into compiled code that would take a year."""
    config, folder = tmp_path / "trial.toml", tmp_path / "r"
    config.write_text(
        CONFIG.format(deals=10) + '[[convergence]]\ngame = "kuhn_poker"\nmeasure = "exploitability"\n'
        'solvers = ["cfr+", "mccfr_os"]\nbudgets = [100_000_000_000_000]\n'
    )
    running = start("run", config, "--out", folder, "--workers", workers)
    results = folder / "results.sqlite"
    grown_at, size = time.monotonic(), 0
    while time.monotonic() < grown_at + (2 if size > 40_000 else 60):  # until nothing is finished any more
        time.sleep(0.05)
        if results.exists() and results.stat().st_size != size:
            grown_at, size = time.monotonic(), results.stat().st_size
    at_work = workers_of(running)
    assert len(at_work) == (workers if workers > 1 else 0)
    running.send_signal(number)
    _, errors = running.communicate(timeout=60)
    assert running.returncode == 128 + number
    assert "everything finished is kept. Go on with: quandary run" in errors
    assert "--resume" in errors
    assert "Traceback" not in errors
    assert not any(works(pid) for pid in at_work)
    assert len(kept(results)) == 80


def kept(results: Path) -> set[str]:
    """Keys of the games in a results file."""
    with Store.read(results) as store:
        return {row[0] for row in store.games()}


def test_a_disk_that_is_full_from_the_start_leaves_no_folder(tmp_path, capsys, monkeypatch):
    config = tmp_path / "trial.toml"
    config.write_text(CONFIG.format(deals=1))

    def full(path, config_hash):
        path.with_name(".results.sqlite.new").touch()
        raise ResultsError(f"{path}: database or disk is full")

    monkeypatch.setattr(Store, "create", full)
    code, _, errors = command_line(capsys, "run", config, "--out", tmp_path / "r", "--workers", 1)
    assert code == 2
    assert "disk is full" in errors
    assert list(tmp_path.iterdir()) == [config]


def test_a_run_that_fills_the_disk_goes_on_later(config, finished, tmp_path, capsys, monkeypatch):
    """SQLite's own limit of pages stands in for the disk."""
    begin = Store.begin_run

    def nearly_full(store, workers, executor):
        begin(store, workers, executor)
        store._db.execute("PRAGMA max_page_count = 12")

    monkeypatch.setattr(Store, "begin_run", nearly_full)
    code, _, errors = command_line(capsys, "run", config, "--out", tmp_path / "r", "--workers", 1)
    assert code == 2
    assert "database or disk is full" in errors
    assert 0 < len(kept(tmp_path / "r" / "results.sqlite")) < 180
    monkeypatch.undo()
    code, _, errors = command_line(capsys, "run", config, "--out", tmp_path / "r", "--workers", 1, "--resume")
    assert code == 0, errors
    assert rows(tmp_path / "r") == rows(finished)


def test_the_manifest_says_where_the_numbers_come_from(finished):
    content = json.loads((finished / "manifest.json").read_text())
    assert content["seed"] == 11
    assert content["reproducible"] is True
    assert content["identity"]["games"]["quandary_pig(goal=60)"]["version"] >= 1
    assert content["identity"]["config"]["arena"][0]["bots"] == ["random", "greedy"]
    assert {"python", "open_spiel", "numpy"} <= set(content["versions"])
    assert content["machine"]["cores"] >= 1


def half_done(finished: Path, folder: Path) -> None:
    """A copy of a run of which the second arena is not played yet."""
    edited(finished, folder, "DELETE FROM games WHERE job_key LIKE 'arena2/%'")
    with contextlib.closing(sqlite3.connect(folder / "results.sqlite")) as db, db:
        for table in ("seats", "timings"):
            db.execute(f"DELETE FROM {table} WHERE job_key LIKE 'arena2/%'")


def resumed(config: Path, folder: Path, capsys) -> str:
    """What a run that goes on says on the standard error."""
    code, _, errors = command_line(capsys, "run", config, "--out", folder, "--workers", 1, "--resume")
    assert code == 0, errors
    return errors


def test_a_run_that_goes_on_with_other_code_says_so(config, finished, tmp_path, capsys, monkeypatch):
    half_done(finished, tmp_path)
    first = json.loads((tmp_path / "manifest.json").read_text())["executions"]
    assert len(first) == 1
    same = manifest.versions()
    monkeypatch.setattr(manifest, "commit", lambda: "f" * 40 + "+")
    monkeypatch.setattr(manifest, "versions", lambda: {**same, "numpy": "0.0.1"})
    errors = resumed(config, tmp_path, capsys)
    assert "warning: this run goes on with other code (commit " in errors
    assert f"then ffffffffffff+; numpy {same['numpy']}, then 0.0.1)" in errors
    content = json.loads((tmp_path / "manifest.json").read_text())
    assert [each["versions"]["numpy"] for each in content["executions"]] == [same["numpy"], "0.0.1"]
    assert content["executions"][1]["commit"] == "f" * 40 + "+"
    page = (tmp_path / "report.html").read_text()
    assert "The rows come from more than one state of the code" in page
    assert "then ffffffffffff+" in page
    assert rows(tmp_path) == rows(finished)


def test_sources_that_changed_under_one_commit_are_noticed(config, finished, tmp_path, capsys, monkeypatch):
    half_done(finished, tmp_path)
    monkeypatch.setattr(manifest, "code_sha256", lambda: "0" * 64)
    assert "other code (sources " in resumed(config, tmp_path, capsys)


def test_a_run_that_goes_on_with_the_same_code_says_nothing(config, finished, tmp_path, capsys):
    half_done(finished, tmp_path)
    assert "warning" not in resumed(config, tmp_path, capsys)
    assert len(json.loads((tmp_path / "manifest.json").read_text())["executions"]) == 2
    assert "more than one state of the code" not in (tmp_path / "report.html").read_text()
    resumed(config, tmp_path, capsys)  # nothing is left to do: no execution that rows could come from
    assert len(json.loads((tmp_path / "manifest.json").read_text())["executions"]) == 2


def test_a_manifest_without_executions_is_read(config, finished, tmp_path, capsys):
    half_done(finished, tmp_path)
    content = json.loads((tmp_path / "manifest.json").read_text())
    del content["executions"]
    content["versions"]["numpy"] = "0.0.1"
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    assert command_line(capsys, "report", tmp_path)[0] == 0
    assert f"other code (numpy 0.0.1, then {manifest.versions()['numpy']})" in resumed(config, tmp_path, capsys)
    kept = json.loads((tmp_path / "manifest.json").read_text())["executions"]
    assert [each["versions"]["numpy"] for each in kept] == ["0.0.1", manifest.versions()["numpy"]]


def test_the_hash_of_the_sources_follows_them(tmp_path, monkeypatch):
    (tmp_path / "solvers").mkdir()
    (tmp_path / "experiments").mkdir()
    monkeypatch.setattr(manifest, "__file__", str(tmp_path / "experiments" / "manifest.py"))
    (tmp_path / "solvers" / "a.py").write_text("x = 1")
    (tmp_path / "solvers" / "a.so").write_text("built")
    (tmp_path / "solvers" / ".#a.py").symlink_to("somebody@somewhere")  # as editors lock a file
    before = manifest.code_sha256()
    (tmp_path / "solvers" / "a.so").write_text("built again")
    assert manifest.code_sha256() == before
    (tmp_path / "solvers" / "a.py").write_text("x = 2")
    assert manifest.code_sha256() != before


def test_the_report_stands_alone(finished):
    page = (finished / "report.html").read_text()
    assert "<svg" in page
    assert page.count("<svg") >= 2
    assert not re.search(r'(?:src|href)="(?:https?:)?//', page)  # nothing is fetched
    assert "<script" not in page
    assert "greedy" in page
    assert "seed = 11" in page  # the config, to run it again


KEYS = ("name", "created", "seed", "reproducible", "timed_bots", "notes", "versions", "commit", "machine", "identity")


@pytest.mark.parametrize(
    ("key", "value"),
    [(key, value) for key in KEYS for value in (None, [7], "gone") if (key, value) != ("commit", None)],
)
def test_a_manifest_that_lacks_a_key_is_refused_by_its_name(key, value, config, finished, tmp_path, capsys):
    for file in ("manifest.json", "results.sqlite"):
        (tmp_path / file).write_bytes((finished / file).read_bytes())
    content = json.loads((tmp_path / "manifest.json").read_text())
    if value == "gone":
        del content[key]
    else:
        content[key] = value
    (tmp_path / "manifest.json").write_text(json.dumps(content))
    for words in (
        ("report", tmp_path),
        ("compare", finished, tmp_path),
        ("run", config, "--out", tmp_path, "--resume"),
    ):
        code, _, errors = command_line(capsys, *words)
        assert code == 2
        assert f"manifest.json is damaged: {key}" in errors or f"key '{key}" in errors
        assert len(errors.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("key", "value"), [("seed", 12), ("name", "other"), ("executions", [{"versions": []}]), ("machine", {"cores": []})]
)
def test_a_manifest_that_contradicts_itself_is_refused(key, value, finished, tmp_path, capsys):
    for file in ("manifest.json", "results.sqlite"):
        (tmp_path / file).write_bytes((finished / file).read_bytes())
    content = json.loads((tmp_path / "manifest.json").read_text())
    (tmp_path / "manifest.json").write_text(json.dumps({**content, key: value}))
    code, _, errors = command_line(capsys, "report", tmp_path)
    assert code == 2
    assert f"manifest.json is damaged: {key}" in errors


def test_the_report_is_rebuilt_from_the_folder(finished, capsys):
    page = (finished / "report.html").read_text()
    (finished / "report.html").unlink()
    assert command_line(capsys, "report", finished)[0] == 0
    again = (finished / "report.html").read_text()
    built = re.compile(r"report built [\d\- :]+")
    assert built.sub("", again) == built.sub("", page)


def test_a_folder_with_results_is_not_written_over(config, finished, capsys):
    before = (finished / "results.sqlite").read_bytes(), (finished / "manifest.json").read_bytes()
    code, _, errors = command_line(capsys, "run", config, "--out", finished)
    assert code == 2
    assert "nothing is written over" in errors
    assert ((finished / "results.sqlite").read_bytes(), (finished / "manifest.json").read_bytes()) == before


def test_without_out_the_next_free_folder_is_taken(config, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for expected in ("runs/trial", "runs/trial-2"):
        run.run(config)
        assert (tmp_path / expected / "report.html").exists()
    code, _, errors = command_line(capsys, "run", config, "--resume", "--workers", 1)
    assert code == 0
    assert "0 of 180 jobs to do, 1 worker, into runs/trial-2" in " ".join(errors.split())


def test_another_config_does_not_resume(config, finished, tmp_path, capsys):
    other = tmp_path / "trial.toml"
    other.write_text(config.read_text().replace("seed = 11", "seed = 12"))
    code, _, errors = command_line(capsys, "run", other, "--out", finished, "--resume")
    assert code == 2
    assert "its config differs from that of" in errors


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("manifest.json", b"{"),
        ("manifest.json", b"[]"),
        ("manifest.json", b'{"identity": {}}'),
        ("results.sqlite", b"rubbish" * 1000),
        ("results.sqlite", b""),
    ],
)
def test_a_damaged_run_folder_is_named_and_left_alone(name, content, config, finished, tmp_path, capsys):
    for file in ("manifest.json", "results.sqlite"):
        (tmp_path / file).write_bytes((finished / file).read_bytes())
    (tmp_path / name).write_bytes(content)
    for words in (("report", tmp_path), ("run", config, "--out", tmp_path, "--resume"), ("ladder", tmp_path)):
        code, _, errors = command_line(capsys, *words)
        assert code == 2
        assert name in errors
        assert len(errors.strip().splitlines()) == 1
    assert (tmp_path / name).read_bytes() == content
    assert not (tmp_path / "report.html").exists()


def test_the_ladder_takes_the_first_of_each_arena(finished, capsys):
    code, output, _ = command_line(capsys, "ladder", finished)
    assert code == 0
    assert output.count("[[row]]") == 2
    assert '[[row]]\ngame = "quandary_pig(goal=60)"\nbot = "greedy"' in output
    assert 'remark = "60 deals"' in output
    assert "games = 120\n" in output


def test_the_ladder_counts_games_and_says_what_few_deals_separate(tmp_path, capsys):
    config, folder = tmp_path / "three.toml", tmp_path / "r"
    config.write_text(
        'name = "three"\n[[arena]]\ngame = "pentaquest(players=3,deck=duel,quest_area=2)"\n'
        'bots = ["random", "greedy"]\ndeals = 3\n'
        '[[arena]]\ngame = "pig(goal=30)"\nbots = ["greedy", "random"]\ndeals = 30\n'
    )
    run.run(config, folder, workers=1)
    code, output, _ = command_line(capsys, "ladder", folder)
    assert code == 0
    first, second = output.split("\n\n")
    assert "games = 18\n" in first  # 3 deals, 2 tables, 3 seatings; both bots sit in each
    assert re.search(r'\nremark = "3 deals(; not clearly separated from (random|greedy))?"$', first)
    assert 'remark = "30 deals' in second
    path = tmp_path / "rows.toml"
    path.write_text(output)
    assert [row.games for row in ladder.read(path)] == [18, 60]


@pytest.mark.parametrize(
    ("won", "near"),
    [
        ([1.0] * 20, ""),  # every game of 10 deals, as of a bot that random play never beats
        ([1.0] * 2, "; not clearly separated from random"),  # one deal: two equal bots do that in every second one
        ([1.0] * 19 + [-1.0], ""),
        ([1.0, -1.0] * 9 + [1.0, 1.0], "; not clearly separated from random"),
    ],
)
def test_a_row_of_the_ladder_is_a_finding_where_the_deals_separate_the_first(won, near, tmp_path):
    """By scipy: 20 of 20 games come about with 2 / 2**20 between equals, 2 of 2 with a half."""
    rows = Rows()
    for i, utility in enumerate(won):
        key = f"arena1/greedy~random/{i // 2:07d}/{i % 2}"
        rows.games.append((key, "quandary_pig", i // 2, 1, "00"))
        seated = [("greedy", utility), ("random", -utility)][:: -1 if i % 2 else 1]
        rows.seats += [(key, seat, bot, earned) for seat, (bot, earned) in enumerate(seated)]
    config = ArenaConfig(game="quandary_pig", bots=["greedy", "random"], deals=len(won) // 2)
    with Store.create(tmp_path / "results.sqlite", "x") as store:
        store.begin_run(1, "processes")
        store.add(rows)
        summary = analysis.summarise(config, 1, 2, store)
    assert summary is not None
    deals = f"{len(won) // 2} deal{'s' if len(won) > 2 else ''}"
    assert run._remark(summary) == f"{deals}{near}"
    apart = summary.ahead_of()["random"]
    if len(set(won)) == 1:
        assert apart.p == pytest.approx(2 * stats.norm.sf(len(won) ** 0.5))
        assert apart.apart == (stats.binomtest(len(won), len(won)).pvalue < 0.05)


def _arena(folder, bots, deals):
    """Standings of an arena at Pig whose games went as told.

    Args:
        deals: of each deal, from (place of one bot, place of another) to what the first earned in both seatings.
    """
    rows = Rows()
    for number, won in enumerate(deals):
        for (one, other), utility in won.items():
            for rotation, seated in enumerate(
                (((one, utility), (other, -utility)), ((other, -utility), (one, utility)))
            ):
                key = arena.job_key(f"arena1/{bots[one]}~{bots[other]}", number, rotation)
                rows.games.append((key, "quandary_pig", number, 1, "00"))
                rows.seats += [(key, seat, bots[bot], earned) for seat, (bot, earned) in enumerate(seated)]
    with Store.create(folder / "results.sqlite", "x") as store:
        store.begin_run(1, "processes")
        store.add(rows)
        summary = analysis.summarise(ArenaConfig(game="quandary_pig", bots=bots, deals=len(deals)), 1, 2, store)
    assert summary is not None
    return summary


EXACT_PLAY = ["random", "greedy", "value_iteration"]


def test_exact_play_is_the_strongest_though_another_wins_more_from_the_weak(tmp_path):
    """Greedy wins every game from random play, and exact play nine of ten; each of the two wins half from the other.

    By hand: of 20 deals greedy and exact play share 10 to 10, no difference at all, so greedy's lead comes from
    random play alone, and a game without chance of error is not lost by it.
    """
    deals = [
        {(1, 0): 1.0, (2, 0): 1.0 if number % 10 else -1.0, (1, 2): 1.0 if number % 2 else -1.0} for number in range(20)
    ]
    summary = _arena(tmp_path, EXACT_PLAY, deals)
    assert [standing.bot for standing in summary.standings] == ["greedy", "value_iteration", "random"]
    assert run._strongest(summary) == 1
    assert run._remark(summary, 1) == "20 deals, exact play; not clearly separated from greedy, which came before it"


def test_exact_play_that_another_is_clearly_ahead_of_is_no_row(tmp_path):
    """20 of 20 deals lost by what claims to play exactly: something is wrong, and the ladder does not hide it."""
    summary = _arena(tmp_path, EXACT_PLAY, [{(1, 0): 1.0, (2, 0): 1.0, (1, 2): 1.0}] * 20)
    assert summary.standings[0].bot == "greedy"
    assert run._strongest(summary) == 0
    assert run._remark(summary) == "20 deals"


def test_how_a_bot_stands_to_others_is_the_reverse_of_how_they_stand_to_it(tmp_path):
    summary = _arena(tmp_path, EXACT_PLAY, [{(1, 0): 1.0, (2, 0): 1.0, (1, 2): 1.0}] * 20)
    places = {standing.bot: place for place, standing in enumerate(summary.standings)}
    one = summary.ahead_of(places["greedy"])["value_iteration"]
    other = summary.ahead_of(places["value_iteration"])["greedy"]
    assert one.value.value == 1.0
    assert other.value.value == -1.0
    assert (other.value.low, other.value.high) == (-one.value.high, -one.value.low)


@pytest.mark.parametrize(
    ("spec", "exact"),
    [
        ("value_iteration", True),
        ("value_iteration(max_mb=100)", True),
        ("value_iteration(seconds=1)", False),
        ("value_iteration(sweeps=3)", False),
        ("value_iteration(tolerance=0.1)", False),
        ("expectimax", True),
        ("expectimax(depth=1)", False),
        ("sequence_form", True),
        ("cfr+(iterations=1000)", False),
        ("mcts", False),
        ("policy(file=nash.policy)", False),
    ],
)
def test_which_bots_play_exactly(spec, exact):
    assert specs.parse_spec(spec).exact is exact


def test_more_than_two_players_meet_in_every_rotation(tmp_path):
    config = tmp_path / "three.toml"
    config.write_text(
        'name = "three"\n[[arena]]\ngame = "pentaquest(players=3,deck=duel,quest_area=2)"\n'
        'bots = ["random", "greedy"]\ndeals = 3\n'
    )
    run.run(config, tmp_path / "r", workers=1)
    with Store.read(tmp_path / "r" / "results.sqlite") as store:
        assert len(store.games()) == 3 * 6  # one against two, either way, in three rotations
        assert len(store.seats()) == 3 * 6 * 3
        by_game: dict[str, float] = {}
        for key, _, _, utility in store.seats():
            by_game[key] = by_game.get(key, 0.0) + utility
        assert all(total == pytest.approx(0) for total in by_game.values())


def test_limits_in_seconds_are_marked_as_not_reproducible(tmp_path):
    config = tmp_path / "timed.toml"
    config.write_text(
        'name = "timed"\n[[arena]]\ngame = "pig(goal=5)"\nbots = ["random", "mcts(seconds=0.001)"]\ndeals = 1\n'
    )
    run.run(config, tmp_path / "r", workers=1)
    assert json.loads((tmp_path / "r" / "manifest.json").read_text())["reproducible"] is False
    page = (tmp_path / "r" / "report.html").read_text()
    assert "Stops by the clock" in page
    assert "mcts(seconds=0.001)" in page


def test_every_plot_can_stand_in_a_file_of_its_own(finished, tmp_path, capsys):
    figures = tmp_path / "figures"
    assert command_line(capsys, "report", finished, "--figures", figures)[0] == 0
    written = sorted(path.name for path in figures.iterdir())
    assert written == ["arena1.pdf", "arena1.svg", "arena2.pdf", "arena2.svg"]  # two bots: no cross table
    for path in figures.glob("*.svg"):
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
    first = {path.name: path.read_bytes() for path in figures.iterdir()}
    assert first["arena1.pdf"].startswith(b"%PDF-")
    assert command_line(capsys, "report", finished, "--figures", figures)[0] == 0
    assert {path.name: path.read_bytes() for path in figures.iterdir()} == first


def test_titles_are_printed_as_they_are_written(tmp_path, capsys):
    """Square brackets and colons are markup to the terminal's library, and words to whoever wrote them."""
    config = tmp_path / "marked.toml"
    config.write_text(
        """
        name = "marked"
        [[arena]]
        title = "[/red] and [bold] :dice:"
        game = "pig(goal=5)"
        bots = ["greedy"]
        deals = 1
        [[convergence]]
        title = "[/blue] curve [1]"
        game = "kuhn_poker"
        measure = "exploitability"
        solvers = ["cfr"]
        budgets = [1]
        """
    )
    code, output, errors = command_line(capsys, "run", config, "--out", tmp_path / "r", "--workers", 1)
    assert code == 0, errors
    assert "[/red] and [bold] :dice:: 1 game\n" in re.sub(r" +\n", "\n", output)
    assert "[/blue] curve [1]: exploitability" in " ".join(output.split())  # which a narrow table breaks


def test_a_run_that_lost_a_worker_before_its_first_result_can_go_on(config, finished, tmp_path, capsys, monkeypatch):
    def lost(engine, tasks):
        raise executors.WorkerLostError("a worker process died; --resume goes on")
        yield

    monkeypatch.setattr(executors.InlineExecutor, "results", lost)
    code, _, errors = command_line(capsys, "run", config, "--out", tmp_path / "r", "--workers", 1)
    assert code == 2
    assert "--resume goes on" in errors
    monkeypatch.undo()
    code, _, errors = command_line(capsys, "run", config, "--out", tmp_path / "r", "--workers", 1, "--resume")
    assert code == 0, errors
    assert rows(tmp_path / "r") == rows(finished)


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("width", [40, 150])
def test_what_a_run_says_meanwhile_is_as_wide_as_a_dumb_terminal(width, piped, tmp_path):
    """Wherever the tables go. 80 columns, which any dumb terminal is often taken for, are too wide or too narrow."""
    config = tmp_path / "wide.toml"
    config.write_text('name = "wide"\n[[arena]]\ngame = "pig(goal=5)"\nbots = ["greedy", "strongest"]\ndeals = 1\n')
    shown = on_a_dumb_terminal("run", config, "--out", tmp_path / "r", "--workers", "1", width=width, piped=piped)
    said = shown[: shown.index("jobs to do")].splitlines()
    assert max(map(len, said)) <= width
    assert (max(map(len, said)) > 80) == (width > 80)
