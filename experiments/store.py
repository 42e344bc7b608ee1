"""results.sqlite: what a run found out, kept so that a kill at any moment loses no finished task.

Two kinds of tables are kept apart. What the config and the seed decide stands in `games`,
`seats` and `measures`, and is the same for any number of workers, after any kill and resume, and
on every machine (unless a limit in seconds is involved). What belongs to one execution stands in
`runs` and `timings`.

    games(job_key, game, seed, n_moves, moves_digest)   a recorded game; n_moves counts decisions
    seats(job_key, seat, bot, utility)                  who sat where, and what it got
    measures(job_key, measure, value)                   one number of a convergence experiment
    positions(part, number, position, actions)          where regret was measured, as JSON, with the exact value of
                                                        every action: [{"action", "name", "value"}, ...]
    choices(job_key, number, action)                    what a searcher chose there
    runs(run, started, finished, workers, executor, host)
    timings(job_key, seat, run, decisions, seconds)     seat -1: the whole job

A task's rows are one transaction. Only the parent process writes.
"""

from __future__ import annotations

import contextlib
import datetime
import os
import platform
import sqlite3
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from engine_ext.errors import ResultsError

APPLICATION_ID = 0x514E4459  # "QNDY"
SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE games(
    job_key TEXT PRIMARY KEY, game TEXT NOT NULL, seed INTEGER NOT NULL,
    n_moves INTEGER NOT NULL, moves_digest TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE seats(
    job_key TEXT NOT NULL, seat INTEGER NOT NULL, bot TEXT NOT NULL, utility REAL NOT NULL,
    PRIMARY KEY(job_key, seat)) WITHOUT ROWID;
CREATE TABLE measures(
    job_key TEXT NOT NULL, measure TEXT NOT NULL, value REAL,
    PRIMARY KEY(job_key, measure)) WITHOUT ROWID;
CREATE TABLE runs(
    run INTEGER PRIMARY KEY, started TEXT NOT NULL, finished TEXT, workers INTEGER NOT NULL,
    executor TEXT NOT NULL, host TEXT NOT NULL);
CREATE TABLE timings(
    job_key TEXT NOT NULL, seat INTEGER NOT NULL, run INTEGER NOT NULL, decisions INTEGER NOT NULL,
    seconds REAL NOT NULL, PRIMARY KEY(job_key, seat)) WITHOUT ROWID;
"""
# Files of earlier versions have none of these, which are then empty.
LATER_SCHEMA = """
CREATE TABLE IF NOT EXISTS positions(
    part TEXT NOT NULL, number INTEGER NOT NULL, position TEXT NOT NULL, actions TEXT NOT NULL,
    PRIMARY KEY(part, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS choices(
    job_key TEXT NOT NULL, number INTEGER NOT NULL, action INTEGER NOT NULL,
    PRIMARY KEY(job_key, number)) WITHOUT ROWID;
"""


def _no_number(column: str) -> str:
    """SQL for a value that is not a finite number (SQLite keeps nan as NULL)."""
    return f"typeof({column}) != 'real' OR abs({column}) > {sys.float_info.max!r}"


def _no_count(column: str) -> str:
    """SQL for a value that is not a whole number from 0."""
    return f"typeof({column}) != 'integer' OR {column} < 0"


def _keys(table: str, condition: str) -> str:
    return f"SELECT job_key FROM {table} WHERE {condition}"


_FAULTS = {  # and how to find the rows that have them; each begins with a key
    **{
        f"is no text, as a key of {table}": _keys(table, "typeof(job_key) != 'text'")
        for table in ("games", "seats", "measures", "timings")
    },
    **{
        f"stands twice in {table}": f"SELECT job_key FROM {table} GROUP BY {columns} HAVING count(*) > 1"
        for table, columns in {
            "games": "job_key",
            "seats": "job_key, seat",
            "measures": "job_key, measure",
            "timings": "job_key, seat",
        }.items()
    },
    "has a game but nobody in its seats": "SELECT job_key FROM games EXCEPT SELECT job_key FROM seats",
    "has seats but no game": "SELECT job_key FROM seats EXCEPT SELECT job_key FROM games",
    "has a game, seed or digest of moves that cannot be": _keys(
        "games", f"typeof(game) != 'text' OR {_no_count('seed')} OR typeof(moves_digest) != 'text'"
    ),
    "has a number of moves that is none": _keys("games", _no_count("n_moves")),
    "has a seat that is no number": _keys("seats", _no_count("seat")),
    "has a utility that is no number": _keys("seats", _no_number("utility")),
    "has a measure that is no number": _keys("measures", _no_number("value")),
    "has a time that is no number": _keys("timings", f"{_no_number('seconds')} OR seconds < 0"),
    "has a number of decisions that is none": _keys("timings", _no_count("decisions")),
    "has no time": "SELECT job_key, seat FROM "
    "(SELECT job_key, seat FROM seats UNION ALL SELECT job_key, -1 FROM measures) "
    "EXCEPT SELECT job_key, seat FROM timings",
    "has a time but no result": "SELECT job_key FROM timings EXCEPT "
    "SELECT job_key FROM (SELECT job_key FROM games UNION ALL SELECT job_key FROM measures)",
    "has a time of a seat that it does not have": _keys(
        "timings", "CASE WHEN job_key IN (SELECT job_key FROM games) THEN seat < 0 ELSE seat != -1 END"
    ),
    "has a time of an execution that was never begun": _keys("timings", "run NOT IN (SELECT run FROM runs)"),
    "has other decisions in its seats than moves": "SELECT job_key FROM games JOIN timings USING (job_key) "
    "GROUP BY job_key HAVING sum(decisions) != n_moves",
}


@dataclass
class Rows:
    """What one task found out: rows of the tables, without the run's number.

    Attributes:
        games: (job_key, game, seed, n_moves, moves_digest).
        seats: (job_key, seat, bot, utility).
        measures: (job_key, measure, value).
        timings: (job_key, seat, decisions, seconds).
        positions: (part, number, position, actions); tasks of one part have the same.
        choices: (job_key, number, action).
    """

    games: list[tuple[str, str, int, int, str]] = field(default_factory=list)
    seats: list[tuple[str, int, str, float]] = field(default_factory=list)
    measures: list[tuple[str, str, float]] = field(default_factory=list)
    timings: list[tuple[str, int, int, float]] = field(default_factory=list)
    positions: list[tuple[str, int, str, str]] = field(default_factory=list)
    choices: list[tuple[str, int, int]] = field(default_factory=list)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


class Store:
    """An open results file. Use `create`, `resume` or `read`; then it is a context manager."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._db = connection
        self._run = 0

    # ---- opening ---------------------------------------------------------------------------

    @classmethod
    def create(cls, path: Path, config_hash: str) -> Store:
        """A new results file.

        Raises:
            ResultsError: the path is taken; nothing is written over.
        """
        if path.exists():
            raise ResultsError(f"{path} exists already; it is not written over")
        # Made under another name, so that a kill never leaves a results file without its tables.
        made = path.with_name(f".{path.name}.new")
        made.unlink(missing_ok=True)
        store = cls(path, _connect(made, "rwc"))
        with store._errors():
            store._db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            store._db.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            store._db.executescript(SCHEMA + LATER_SCHEMA)
            with store._db:
                store._db.execute("INSERT INTO meta VALUES ('config_hash', ?)", (config_hash,))
        store.close()
        made.rename(path)
        return cls.resume(path, config_hash)

    @classmethod
    def resume(cls, path: Path, config_hash: str) -> Store:
        """The results file of an earlier run of the same config, to be continued.

        Raises:
            ResultsError: missing, damaged, locked by another run, or of another config.
        """
        store = cls._open(path, "rw")
        with store._errors():
            store._lock()
        found = store.config_hash()
        if found != config_hash:
            store.close()
            raise ResultsError(
                f"{path} belongs to another config (hash {found[:12]}, this one is {config_hash[:12]}); "
                "resume needs the same config, games and bots"
            )
        with store._errors():
            store._db.executescript(LATER_SCHEMA)
        return store

    @classmethod
    def read(cls, path: Path) -> Store:
        """A results file for reading only.

        Raises:
            ResultsError: missing, damaged, or being written by a run.
        """
        # A file left by a kill must be rolled back first, which needs the right to write.
        return cls._open(path, "rw" if os.access(path, os.W_OK) else "ro")

    @classmethod
    def _open(cls, path: Path, mode: str) -> Store:
        if not path.is_file():
            raise ResultsError(f"{path} does not exist")
        store = cls(path, _connect(path, mode))
        try:
            with store._errors():
                if store._db.execute("PRAGMA application_id").fetchone()[0] != APPLICATION_ID:
                    raise ResultsError(f"{path} is not a results file of quandary")
                version = store._db.execute("PRAGMA user_version").fetchone()[0]
                if version != SCHEMA_VERSION:
                    raise ResultsError(f"{path} has layout {version}; this quandary reads layout {SCHEMA_VERSION}")
                verdict = store._db.execute("PRAGMA quick_check(1)").fetchone()[0]
                if verdict != "ok":
                    raise ResultsError(f"{path} is damaged: {verdict}")
                store._check_rows()
        except ResultsError:
            store.close()
            raise
        return store

    def _check_rows(self) -> None:
        """Refuse rows that no run wrote; an edited file must not become a finding."""
        for fault, query in _FAULTS.items():
            row = self._db.execute(f"{query} LIMIT 1").fetchone()
            if row is not None:
                raise ResultsError(f"{self.path} is damaged: {row[0]!r} {fault}")

    def _lock(self) -> None:
        """Hold the file for this process until it is closed (a kill releases it)."""
        self._db.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._db.execute("PRAGMA synchronous = FULL")
        self._db.execute("BEGIN EXCLUSIVE")
        self._db.execute("COMMIT")

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise ResultsError(f"{self.path} is in use by another run") from error
            raise ResultsError(f"{self.path}: {error}") from error
        except sqlite3.DatabaseError as error:
            raise ResultsError(f"{self.path} is damaged: {error}") from error

    def close(self) -> None:
        """Release the file."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ---- writing ---------------------------------------------------------------------------

    def begin_run(self, workers: int, executor: str) -> None:
        """Note that an execution starts; `add` belongs to it."""
        with self._errors(), self._db:
            cursor = self._db.execute(
                "INSERT INTO runs(started, workers, executor, host) VALUES (?, ?, ?, ?)",
                (_now(), workers, executor, platform.node()),
            )
            self._run = int(cursor.lastrowid or 0)

    def end_run(self) -> None:
        """Note that the execution has come to its end."""
        with self._errors(), self._db:
            self._db.execute("UPDATE runs SET finished = ? WHERE run = ?", (_now(), self._run))

    def add(self, rows: Rows) -> None:
        """Keep the rows of one finished task: all of them or, if killed, none."""
        with self._errors(), self._db:
            self._db.executemany("INSERT INTO games VALUES (?, ?, ?, ?, ?)", rows.games)
            self._db.executemany("INSERT INTO seats VALUES (?, ?, ?, ?)", rows.seats)
            self._db.executemany("INSERT INTO measures VALUES (?, ?, ?)", rows.measures)
            self._db.executemany(
                "INSERT INTO timings VALUES (?, ?, ?, ?, ?)",
                [(key, seat, self._run, decisions, seconds) for key, seat, decisions, seconds in rows.timings],
            )
            self._db.executemany("INSERT OR IGNORE INTO positions VALUES (?, ?, ?, ?)", rows.positions)
            self._db.executemany("INSERT INTO choices VALUES (?, ?, ?)", rows.choices)

    def forget(self, keys: Sequence[str]) -> None:
        """Drop games that were played in vain: all of them or, if killed, none."""
        with self._errors(), self._db:
            for table in ("games", "seats", "timings"):
                self._db.executemany(f"DELETE FROM {table} WHERE job_key = ?", [(key,) for key in keys])

    # ---- reading ---------------------------------------------------------------------------

    def config_hash(self) -> str:
        """The hash of the config the results belong to."""
        with self._errors():
            row = self._db.execute("SELECT value FROM meta WHERE key = 'config_hash'").fetchone()
        return str(row[0]) if row else ""

    def done(self) -> set[str]:
        """Keys of all jobs whose results are kept."""
        with self._errors():
            games = self._db.execute("SELECT job_key FROM games")
            keys = {key for (key,) in games}
            keys.update(key for (key,) in self._db.execute("SELECT DISTINCT job_key FROM measures"))
        return keys

    def games(self) -> list[tuple[str, str, int, int, str]]:
        """All rows of `games`, by key."""
        with self._errors():
            return self._db.execute("SELECT * FROM games ORDER BY job_key").fetchall()

    def seats(self) -> list[tuple[str, int, str, float]]:
        """All rows of `seats`, by key and seat."""
        with self._errors():
            return self._db.execute("SELECT * FROM seats ORDER BY job_key, seat").fetchall()

    def measures(self) -> list[tuple[str, str, float]]:
        """All rows of `measures`, by key and name."""
        with self._errors():
            return self._db.execute("SELECT * FROM measures ORDER BY job_key, measure").fetchall()

    def positions(self) -> list[tuple[str, int, str, str]]:
        """All rows of `positions`, by part and number."""
        return self._later("positions", "part, number")

    def choices(self) -> list[tuple[str, int, int]]:
        """All rows of `choices`, by key and number."""
        return self._later("choices", "job_key, number")

    def _later(self, table: str, order: str) -> list[Any]:
        """All rows of a table that files of earlier versions do not have."""
        with self._errors():
            if not self._db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (table,)).fetchone():
                return []
            return self._db.execute(f"SELECT * FROM {table} ORDER BY {order}").fetchall()

    def seats_beyond(self, prefix: str, low: float, high: float) -> list[tuple[str, int, str, float]]:
        """Rows of `seats` whose keys begin so and whose utility is not within these bounds."""
        query = "SELECT * FROM seats WHERE substr(job_key, 1, ?) = ? AND utility NOT BETWEEN ? AND ? ORDER BY job_key"
        with self._errors():
            return self._db.execute(query, (len(prefix), prefix, low, high)).fetchall()

    def measures_beyond(self, prefix: str, low: float, high: float) -> list[tuple[str, str, float]]:
        """Rows of `measures` whose keys begin so and whose value is not within these bounds."""
        query = "SELECT * FROM measures WHERE substr(job_key, 1, ?) = ? AND value NOT BETWEEN ? AND ? ORDER BY job_key"
        with self._errors():
            return self._db.execute(query, (len(prefix), prefix, low, high)).fetchall()

    def timings(self) -> list[tuple[str, int, int, float]]:
        """(job_key, seat, decisions, seconds) of all jobs."""
        with self._errors():
            return self._db.execute("SELECT job_key, seat, decisions, seconds FROM timings").fetchall()

    def runs(self) -> list[tuple[int, str, str | None, int, str, str]]:
        """(run, started, finished, workers, executor, host) of all executions."""
        with self._errors():
            return self._db.execute("SELECT * FROM runs ORDER BY run").fetchall()


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    try:
        return sqlite3.connect(f"{path.resolve().as_uri()}?mode={mode}", uri=True, timeout=0.2)
    except sqlite3.Error as error:
        raise ResultsError(f"{path} cannot be opened: {error}") from error


def dump(store: Store) -> Sequence[tuple[object, ...]]:
    """Every reproducible row, in order: what two runs of one config must agree on."""
    return [*store.games(), *store.seats(), *store.measures(), *store.positions(), *store.choices()]
