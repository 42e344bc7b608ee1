"""The standard streams as they come: closed, or with an encoding that lacks signs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from experiments import report, run, streams
from experiments.store import Store, dump
from tests.experiments.command import ENVIRONMENT, ROOT

ASCII = {"PYTHONIOENCODING": "ascii"}
POSIX = {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
CONFIG = 'name = "x"\n[[arena]]\ngame = "pig(goal=10)"\nbots = ["random", "greedy"]\ndeals = 20\n'


def quandary(*words, redirected: str = "", stdin: str | None = "", **environment: str):
    """`quandary WORDS REDIRECTED` as a shell starts it."""
    return subprocess.run(
        ["sh", "-c", f'exec "$@" {redirected}', "sh", sys.executable, "-m", "experiments", *map(str, words)],
        cwd=ROOT,
        env={**ENVIRONMENT, **environment},
        input=stdin.encode() if stdin is not None else None,
        capture_output=True,
        timeout=120,
    )


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A config and a finished run of it."""
    folder = tmp_path_factory.mktemp("streams")
    (folder / "x.toml").write_text(CONFIG)
    return folder / "x.toml", run.run(folder / "x.toml", folder / "r", workers=1)


@pytest.mark.parametrize("words", [["games"], ["solve", "leduc_poker", "--solver", "cfr(iterations=1)", "--json"]])
def test_a_closed_output_is_one_line(words):
    done = quandary(*words, redirected=">&-")
    assert done.returncode == 2
    assert done.stderr.decode() == "quandary: the standard output cannot be written: it is closed\n"


def test_a_closed_input_and_closed_errors_do_no_harm():
    done = quandary("solve", "kuhn_poker", "--solver", "cfr(iterations=1)", "--json", redirected="<&- 2>&-", stdin=None)
    assert done.returncode == 0
    assert json.loads(done.stdout)["solver"] == "cfr(iterations=1)"
    done = quandary("play", "pig", "--bot", "greedy", redirected="<&-", stdin=None)
    assert (done.returncode, done.stderr) == (0, b"")
    assert quandary("fly", redirected="2>&-").returncode == 2


def test_a_run_without_any_stream_keeps_its_results(finished, tmp_path):
    """Files that it opens must not get the streams' numbers, where workers and C++ code would write into them."""
    config, folder = finished
    done = quandary("run", config, "--out", tmp_path / "r", "--workers", 2, redirected="<&- >&- 2>&-", stdin=None)
    assert done.returncode == 2
    assert report.load(tmp_path / "r").complete
    with Store.read(folder / "results.sqlite") as one, Store.read(tmp_path / "r" / "results.sqlite") as other:
        assert dump(other) == dump(one)


@pytest.mark.parametrize("environment", [ASCII, POSIX], ids=["ascii", "posix"])
def test_signs_that_the_encoding_lacks_are_written_in_plain_ones(environment, finished, tmp_path):
    config, folder = finished
    done = quandary("report", folder, **environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert " +-" in done.stdout.decode("ascii")
    done = quandary("run", config, "--out", tmp_path / "r", "--workers", 1, **environment)
    assert done.returncode == 0
    assert b"+- is the wider half" in done.stdout
    done = quandary("games", "pentaquest", **environment)
    assert (done.returncode, done.stderr) == (0, b"")


def test_the_table_stays_in_line_in_plain_signs(finished):
    lines = quandary("report", finished[1], **ASCII).stdout.decode().splitlines()
    rows = [line.rstrip() for line in lines[1:5]]
    assert "+-" in rows[2]
    assert len({len(row) for row in (rows[0], rows[2], rows[3])}) == 1


def test_a_game_can_be_played_in_plain_signs():
    """Quarriors' words have a × in them; what is typed may be anything."""
    done = quandary("play", "quarriors", "--bot", "random", "--seed", "1", stdin="é\nq\n", **ASCII)
    assert (done.returncode, done.stderr) == (0, b"")
    done.stdout.decode("ascii")


def test_a_json_object_keeps_its_signs():
    done = quandary("solve", "kuhn", "--solver", "cfr(iterations=1)", "--json", **ASCII)
    assert json.loads(done.stdout.decode("ascii"))["game"]


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("0.5 ±0.1", b"0.5 +-0.1"),
        ("3 × Quiddity", b"3 x Quiddity"),
        ("café…", b"cafe~"),
        ("雪", b"?"),
        ("\udce9", b"\xe9"),
    ],
)
def test_plain_signs(text, plain):
    assert text.encode("ascii", streams.PLAIN) == plain
