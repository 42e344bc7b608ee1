"""Points of curves are those of their config, whole; games are seen to in test_run, through the command."""

from __future__ import annotations

import json
import sqlite3

import pytest

from engine_ext.errors import ResultsError
from experiments import config, integrity
from experiments.store import Rows, Store

PARTS = [
    {"game": "kuhn_poker", "measure": "exploitability", "solvers": ["cfr"], "budgets": [1, 10]},
    {
        "game": "quandary_pig(goal=6)",
        "measure": "regret",
        "solvers": ["mcts"],
        "budgets": [5],
        "repeats": 2,
        "positions": 4,
    },
]
EXPERIMENT = config.parse({"name": "x", "convergence": PARTS}, "x.toml")


@pytest.fixture
def path(tmp_path):
    """Both parts measured, the second at three of the four positions, as if there were no more."""
    rows = Rows()
    for budget in (1, 10):
        rows.measures.append((f"curve1/cfr/0000/{budget:012d}", "exploitability", 0.25))
    for repeat in range(2):
        for number in range(3):
            rows.measures.append((f"curve2/mcts/{repeat:04d}/{5:012d}", f"regret{number:04d}", 0.5))
    for number in range(3):
        listed = [{"action": action, "name": f"take {action}", "value": 0.5 - action} for action in range(2)]
        rows.positions.append(("curve2", number, '{"stones": 3}', json.dumps(listed)))
        rows.choices += [(f"curve2/mcts/{repeat:04d}/{5:012d}", number, 1) for repeat in range(2)]
    rows.timings = [(key, -1, 1, 0.5) for key in dict.fromkeys(key for key, *_ in rows.measures)]
    with Store.create(tmp_path / "results.sqlite", "hash") as store:
        store.begin_run(1, "processes")
        store.add(rows)
    return tmp_path / "results.sqlite"


def check(path):
    with Store.read(path) as store:
        integrity.check(EXPERIMENT, store)


def edited(path, *changes):
    with sqlite3.connect(path) as db:
        for change in changes:
            db.execute(change)
    db.close()


def test_whole_points_pass_and_whole_points_may_be_missing(path):
    check(path)
    edited(path, *(f"DELETE FROM {table} WHERE job_key LIKE 'curve1/%10'" for table in ("measures", "timings")))
    check(path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("DELETE FROM measures WHERE measure = 'regret0001' AND job_key LIKE '%/0001/%'", "5' has no regret0001"),
        ("UPDATE measures SET measure = 'regret0007' WHERE measure = 'regret0000'", "has no regret0000"),
        ("UPDATE measures SET measure = 'nash' WHERE measure = 'exploitability'", "has no exploitability"),
        ("INSERT INTO measures VALUES ('curve1/cfr/0000/000000000001', 'nash', 0.0)", "has a nash that it cannot have"),
    ],
)  # fmt: skip
def test_points_that_are_not_whole_are_refused(path, change, says):
    edited(path, change)
    with pytest.raises(ResultsError, match=rf"results\.sqlite is damaged: point 'curve.*{says}"):
        check(path)


def test_regrets_of_more_positions_than_there_are_asked_for_are_refused(path):
    for repeat in range(2):
        for number in (3, 4):
            key = f"curve2/mcts/{repeat:04d}/{5:012d}"
            edited(path, f"INSERT INTO measures VALUES ('{key}', 'regret{number:04d}', 0.5)")
    with pytest.raises(ResultsError, match="has a regret0004 that it cannot have"):
        check(path)


@pytest.mark.parametrize(
    "key", ["curve1/cfr/0000/000000000002", "curve1/cfr/0001/000000000001", "curve3/cfr/0000/1", "x"]
)
def test_points_that_the_config_does_not_have_are_refused(path, key):
    edited(
        path,
        *(f"UPDATE {table} SET job_key = '{key}' WHERE job_key LIKE 'curve1/%01'" for table in ("measures", "timings")),
    )
    with pytest.raises(ResultsError, match=f"the config has no point '{key}'"):
        check(path)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("UPDATE positions SET part = 'curve1'", "the config has no positions of 'curve1'"),
        ("DELETE FROM positions WHERE number = 1", "position 1 of 'curve2' is missing"),
        ("UPDATE positions SET position = '[]'", "position 0 of 'curve2' is none"),
        ("UPDATE positions SET actions = '{' WHERE number = 2", "position 2 of 'curve2' is none, or has no actions"),
        ("UPDATE positions SET actions = '[{}]'", "position 0 of 'curve2' is none, or has no actions"),
        ("UPDATE positions SET actions = '7'", "position 0 of 'curve2' is none, or has no actions"),
        ("UPDATE choices SET job_key = 'x' WHERE job_key LIKE '%/0000/%'", "the config has no choices of 'x'"),
        ("DELETE FROM choices WHERE number = 2", "/0000/000000000005' has choices at 2 of 3 positions"),
        ("DELETE FROM positions WHERE number = 2", "has choices at 3 of 2 positions"),
        ("UPDATE choices SET action = 7", "chose 7 at position 0, where there is no such action"),
    ],
)
def test_positions_and_choices_that_no_run_kept_are_refused(path, change, says):
    edited(path, change)
    with pytest.raises(ResultsError, match=says):
        check(path)


def test_files_of_earlier_versions_keep_neither(path):
    edited(path, "DROP TABLE positions", "DROP TABLE choices")
    check(path)


def test_points_of_an_earlier_version_have_no_choices_beside_those_that_have(path):
    edited(path, "DELETE FROM choices WHERE job_key LIKE '%/0001/%'")
    check(path)
