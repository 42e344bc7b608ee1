"""results.sqlite: never written over, never half written, never mixed up."""

from __future__ import annotations

import shutil
import sqlite3

import pytest

from engine_ext.errors import ResultsError
from experiments.store import Rows, Store

ROWS = Rows(
    games=[("arena1/a~b/0/0", "g", 2**62, 12, "ff")],
    seats=[("arena1/a~b/0/0", 0, "a", 1.0), ("arena1/a~b/0/0", 1, "b", -1.0)],
    measures=[("curve1/x/1/0", "regret", 0.25)],
    timings=[("arena1/a~b/0/0", 0, 6, 0.5), ("arena1/a~b/0/0", 1, 6, 0.25), ("curve1/x/1/0", -1, 1, 0.125)],
)


@pytest.fixture
def path(tmp_path):
    with Store.create(tmp_path / "results.sqlite", "hash") as store:
        store.begin_run(2, "processes")
        store.add(ROWS)
        store.end_run()
    return tmp_path / "results.sqlite"


def test_what_was_added_is_read_back(path):
    with Store.read(path) as store:
        assert store.games() == ROWS.games
        assert store.seats() == ROWS.seats
        assert store.measures() == ROWS.measures
        assert store.done() == {"arena1/a~b/0/0", "curve1/x/1/0"}
        assert store.config_hash() == "hash"
        assert store.runs()[0][3:5] == (2, "processes")


def test_the_tables_have_the_published_columns(path):
    with sqlite3.connect(path) as db:
        columns = {table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")] for table in ("games", "seats")}
    assert columns == {
        "games": ["job_key", "game", "seed", "n_moves", "moves_digest"],
        "seats": ["job_key", "seat", "bot", "utility"],
    }


def test_a_task_is_kept_whole_or_not_at_all(path):
    broken = Rows(games=[("new", "g", 1, 1, "00")], seats=[("arena1/a~b/0/0", 0, "a", 1.0)])
    with Store.resume(path, "hash") as store:
        with pytest.raises(ResultsError):
            store.add(broken)
        assert "new" not in store.done()


def test_nothing_is_written_over(path):
    before = path.read_bytes()
    with pytest.raises(ResultsError, match="not written over"):
        Store.create(path, "hash")
    assert path.read_bytes() == before


def test_another_config_cannot_resume(path):
    before = path.read_bytes()
    with pytest.raises(ResultsError, match="another config"):
        Store.resume(path, "other")
    assert path.read_bytes() == before


def test_two_runs_cannot_share_a_folder(path):
    with Store.resume(path, "hash"), pytest.raises(ResultsError, match="in use"):
        Store.resume(path, "hash")


@pytest.mark.parametrize("damage", ["cut", "zeros", "text", "empty", "other"])
def test_a_damaged_file_is_named_and_left_alone(path, damage):
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[: len(content) // 2])
    elif damage == "zeros":
        path.write_bytes(content[:4096] + bytes(len(content) - 4096))
    elif damage == "text":
        path.write_text("these are not results" * 100)
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        path.unlink()
        with sqlite3.connect(path) as db:
            db.execute("CREATE TABLE other(x)")
    before = path.read_bytes()
    for opening in (lambda: Store.read(path).games(), lambda: Store.resume(path, "hash")):
        with pytest.raises(ResultsError, match=r"results\.sqlite"):
            opening()
    assert path.read_bytes() == before


def test_a_file_of_another_layout_is_refused(path):
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    with pytest.raises(ResultsError, match="layout 99"):
        Store.read(path)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ResultsError, match="does not exist"):
        Store.read(tmp_path / "results.sqlite")


def test_a_read_only_folder_can_be_read(path, tmp_path):
    copy = tmp_path / "copy"
    copy.mkdir()
    shutil.copy(path, copy)
    (copy / "results.sqlite").chmod(0o444)
    with Store.read(copy / "results.sqlite") as store:
        assert store.games() == ROWS.games


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        ("DELETE FROM seats", "nobody in its seats"),
        ("DELETE FROM games", "has seats but no game"),
        ("UPDATE seats SET utility = 'abc' WHERE seat = 1", "no number"),
        ("UPDATE seats SET seat = 'abc' WHERE seat = 1", "a seat that is no number"),
        ("UPDATE games SET job_key = x'00'", "is no text, as a key of games"),
        ("UPDATE games SET n_moves = 'abc'", "a number of moves that is none"),
        ("UPDATE games SET n_moves = 13", "other decisions in its seats than moves"),
        ("UPDATE games SET seed = -1", "seed or digest of moves that cannot be"),
        ("DELETE FROM measures", "'curve1/x/1/0' has a time but no result"),
        ("DELETE FROM timings WHERE seat = 1", "'arena1/a~b/0/0' has no time"),
        ("DELETE FROM timings WHERE seat = -1", "'curve1/x/1/0' has no time"),
        ("UPDATE timings SET seat = 3 WHERE seat = -1", "'curve1/x/1/0' has no time"),
        ("INSERT INTO timings VALUES ('curve1/x/1/0', 3, 1, 1, 0.5)", "a time of a seat that it does not have"),
        ("UPDATE timings SET seconds = -1.0", "a time that is no number"),
        ("UPDATE timings SET decisions = -1", "a number of decisions that is none"),
        ("UPDATE timings SET run = 7", "an execution that was never begun"),
    ],
)
def test_rows_that_no_run_wrote_are_refused(path, edit, says):
    with sqlite3.connect(path) as db:
        db.execute(edit)
    for opened in (Store.read, lambda file: Store.resume(file, "hash")):
        with pytest.raises(ResultsError, match=says):
            opened(path)


def test_a_seat_that_stands_twice_is_refused(path):
    """SQLite keeps it out as long as the table is as it was made."""
    with sqlite3.connect(path) as db:
        db.execute("ALTER TABLE seats RENAME TO made")
        db.execute("CREATE TABLE seats AS SELECT * FROM made UNION ALL SELECT * FROM made WHERE seat = 1")
    with pytest.raises(ResultsError, match="stands twice in seats"):
        Store.read(path)
