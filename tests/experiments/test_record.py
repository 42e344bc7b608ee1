"""Records of games: all that happened, in words that a person can read."""

from __future__ import annotations

import contextlib
import json
import re
import sqlite3
import subprocess
import sys

import pytest

import games
from experiments import gametext, run
from experiments.play import record, saving
from experiments.play.session import Session
from tests.experiments.command import ENVIRONMENT, ROOT, command_line
from tests.experiments.playing import pig, typed

CONFIG = """
name = "some"
seed = 5
[[arena]]
game = "pig(goal=20)"
bots = ["greedy", "mcts(simulations=20)"]
deals = 2
[[arena]]
game = "kuhn"
bots = ["random", "sequence_form"]
deals = 2
"""


def finished_pig(bots=("mcts(simulations=30)",), seed=5):
    """A game to 10 in which the person holds whenever that gains something."""
    session = pig(seat=0, bots=bots, seed=seed, text="pig(goal=10)")
    session.go_on()
    while not session.over:
        session.choose(session.position.legal_actions()[len(session.events) % 2])
        session.go_on()
    return session


def test_a_record_says_who_sat_where_what_happened_and_how_it_ended():
    session = finished_pig()
    text = record.of_session(session)
    head, story = text.split("\n\n", 2)[1:]
    assert head.splitlines() == [
        "game      quandary_pig(goal=10), version 1",
        "seed      5",
        "seat 0    you",
        "seat 1    mcts(simulations=30)",
    ]
    told = " ".join(story.split())
    for line in session.story:
        if not line.text.startswith("rolled"):  # rolls that a bot thought between are told one by one
            assert " ".join(line.text.split()) in told
    assert text.splitlines()[-3:] == [
        session.verdict(),
        "you: " + ("won" if "won" in session.verdict() else "lost"),
        "seat 1: " + ("lost" if "won" in session.verdict() else "won"),
    ]
    assert all(len(line) <= record.COLUMNS for line in text.splitlines())


def test_every_dice_roll_of_the_game_is_in_its_record():
    """Pig's outcomes are 0 to 5 for the faces 1 to 6."""
    session = finished_pig()
    faces = [event.action + 1 for event in session.events if event.seat == -1]
    rolls = re.findall(r"rolled ([\d, ]+)", record.of_session(session))
    told = [int(face) for each in rolls for face in each.split(", ")]
    assert told == faces


def test_what_a_bot_said_stands_above_what_it_did():
    session = finished_pig(bots=["mcts(simulations=200)"], seed=8)
    lines = record.of_session(session).splitlines()
    said = [i for i, line in enumerate(lines) if "seat 1 gives itself" in line]
    assert len(said) == len(session.said) > 0
    for i in said:
        if "its choice: hold" in lines[i]:
            assert "held" in lines[i + 1]


def test_a_game_that_is_not_over_says_what_it_waits_for():
    session = pig(text="pig(goal=10)")
    assert "nothing has happened yet" in record.of_session(session)
    assert record.of_session(session).endswith(f"The game is not over: you are asked: {session.question()}\n")
    waiting = pig(seat=1, bots=["greedy"])
    assert record.of_session(waiting).endswith("The game is not over: it waits for seat 0.\n")


def test_what_is_taken_back_is_not_in_it():
    session = pig(bots=["mcts(simulations=30)"], text="pig(goal=30)")
    session.go_on()
    before = record.of_session(session)
    session.choose(1)
    session.go_on()
    assert session.said
    session.undo()
    assert record.of_session(session) == before
    assert not session.said


def test_bots_keep_their_odds_to_themselves_until_a_game_that_hides_something_is_over():
    session = Session(gametext.load("kuhn"), 1, ["ismcts(simulations=50)"], 4)
    session.go_on()
    assert session.all_said
    assert "expects" not in record.of_session(session)
    assert "(hidden from you)" in record.of_session(session)
    while not session.over:
        session.choose(session.position.legal_actions()[-1])
        session.go_on()
    assert "seat 0 expects" in record.of_session(session)


@pytest.mark.parametrize("name", sorted(games.SPECS))
def test_every_game_can_be_written_down_and_its_saved_file_says_the_same(name, tmp_path, capsys):
    session = Session(gametext.load(name), 0, ["random"], 7)
    session.go_on()
    for _ in range(12):
        if session.your_turn:
            session.choose(session.position.legal_actions()[0])
            session.go_on()
    text = record.of_session(session)
    path = tmp_path / "game.json"
    saving.save(session, path)
    code, shown, errors = command_line(capsys, "record", path)
    assert (code, errors) == (0, "")
    assert shown == text


def test_odds_come_back_with_a_saved_game(tmp_path):
    session = finished_pig()
    saving.save(session, tmp_path / "game.json")
    again = saving.load(tmp_path / "game.json")
    assert again.said == session.said != {}
    assert record.of_session(again) == record.of_session(session)


def test_a_file_of_the_first_version_has_no_odds_and_can_be_read(tmp_path, capsys):
    session = finished_pig()
    content = json.loads(saving.write(session)) | {"version": 1}
    del content["checksum"], content["odds"]
    path = tmp_path / "old.json"
    path.write_text(json.dumps(content | {"checksum": saving.digest(content)}))
    code, shown, _ = command_line(capsys, "record", path)
    assert code == 0
    assert "gives itself" not in shown
    assert shown.endswith(record.of_session(session)[-20:])


@pytest.mark.parametrize(
    "said", [[0], ["0", "x"], [0, 1], [99, "x"], [-1, "x"], [0, "a\nb"], [True, "x"], [0, "x" * 1001], "0x"]
)
def test_odds_that_are_none_are_named(said, tmp_path, capsys):
    content = json.loads(saving.write(pig(seat=1))) | {"odds": [said], "actions": [0]}
    del content["checksum"]
    path = tmp_path / "game.json"
    path.write_text(json.dumps(content | {"checksum": saving.digest(content)}))
    code, _, errors = command_line(capsys, "record", path)
    assert code == 2
    assert "odds are not all the number of an action and a line of text" in " ".join(errors.split())


def test_the_terminal_writes_a_record_and_not_over_a_file(tmp_path):
    path = tmp_path / "game.txt"
    shown, screen = typed(pig(), "roll", f"record {path}", f"record {path}", "record", "quit")
    assert "Written to" in shown
    assert "it is not written over. record!" in " ".join(shown.split())
    assert "For example: record game.txt" in shown
    written = path.read_text()
    assert written == record.of_session(screen.session)
    typed(pig(seed=9), f"record! {path}", "quit")
    assert path.read_text() != written
    assert "cannot be written" in " ".join(typed(pig(), f"record {tmp_path / 'none' / 'x.txt'}", "quit")[0].split())


def test_a_record_is_listed_in_the_help():
    assert "record FILE" in typed(pig(), "?", "quit")[0]


# ---- games of a run ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def arena_run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("record")
    (folder / "some.toml").write_text(CONFIG)
    return run.run(folder / "some.toml", folder / "run", workers=1)


def games_of(folder):
    with contextlib.closing(sqlite3.connect(folder / "results.sqlite")) as db:
        return db.execute("SELECT job_key, n_moves FROM games ORDER BY job_key").fetchall()


def test_each_game_of_a_run_can_be_played_again(arena_run, capsys):
    keys = [key for key, _ in games_of(arena_run)]
    by_number = [command_line(capsys, "record", arena_run, "--match", number + 1)[1] for number in range(len(keys))]
    by_key = [command_line(capsys, "record", arena_run, "--match", key)[1] for key in keys]
    assert sorted(by_number) == sorted(by_key)
    for key, text in zip(keys, by_key, strict=True):
        assert " ".join(key.split()) in " ".join(text.split())
        assert re.search(r"seat [01]: (won|[+-]\d chips?)", text)
        assert "hidden from you" not in text
        assert "you" not in text
    assert any("seat 1 gives itself" in text for text in by_key)
    assert any("dealt seat 0 a card: the" in text for text in by_key)


@pytest.mark.parametrize(
    ("match", "says"),
    [
        ("9", "a number from 1 to 8, or a key"),
        ("0", "has no game '0'"),
        ("9" * 300, "characters"),
        ("arena1/greedy", "such as 'arena1/greedy~mcts(simulations=20)/0000000/0'"),
    ],
)
def test_a_game_that_the_run_does_not_have_is_named(match, says, arena_run, capsys):
    code, shown, errors = command_line(capsys, "record", arena_run, "--match", match)
    assert (code, shown) == (2, "")
    assert says in " ".join(errors.split())
    assert len(errors.strip().splitlines()) == 1


def test_what_cannot_be_written_down_is_named(arena_run, tmp_path, capsys):
    saved = tmp_path / "game.json"
    saving.save(pig(), saved)
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "empty").mkdir()
    for words, says in (
        ([arena_run], "--match says which game"),
        ([saved, "--match", "1"], "is not a run folder"),
        ([tmp_path / "none.json"], "does not exist"),
        ([tmp_path / "broken.json"], "is damaged"),
        ([tmp_path / "empty", "--match", "1"], "there is no run"),
    ):
        code, shown, errors = command_line(capsys, "record", *words)
        assert (code, shown) == (2, "")
        assert says in " ".join(errors.split())


def test_a_game_that_does_not_come_out_as_it_did_is_no_record(arena_run, tmp_path, capsys):
    key = games_of(arena_run)[0][0]
    for file in ("manifest.json", "results.sqlite"):
        (tmp_path / file).write_bytes((arena_run / file).read_bytes())
    with contextlib.closing(sqlite3.connect(tmp_path / "results.sqlite")) as db, db:
        db.execute("UPDATE games SET moves_digest = 'feed' WHERE job_key = ?", (key,))
    code, shown, errors = command_line(capsys, "record", tmp_path, "--match", key)
    assert (code, shown) == (2, "")
    assert "does not come out as it did in the run" in " ".join(errors.split())


def test_a_run_without_games_is_named(tmp_path, capsys):
    (tmp_path / "c.toml").write_text(
        'name = "c"\n[[convergence]]\ngame = "kuhn"\nmeasure = "exploitability"\nsolvers = ["cfr"]\nbudgets = [1]\n'
    )
    run.run(tmp_path / "c.toml", tmp_path / "r", workers=1)
    code, _, errors = command_line(capsys, "record", tmp_path / "r", "--match", "1")
    assert code == 2
    assert "holds no games" in " ".join(errors.split())


@pytest.mark.parametrize("game", ["pentaquest(players=3)", "quarriors", "quarz", "quarz(players=3)"])
def test_somebody_from_whom_nothing_is_hidden_can_be_told_every_game(game, tmp_path, capsys):
    (tmp_path / "c.toml").write_text(f'name = "c"\n[[arena]]\ngame = "{game}"\nbots = ["greedy"]\ndeals = 1\n')
    run.run(tmp_path / "c.toml", tmp_path / "r", workers=1)
    code, shown, _ = command_line(capsys, "record", tmp_path / "r", "--match", "1")
    assert code == 0
    assert "hidden from" not in shown
    assert not re.search(r"drew \d", shown)  # the cards, not how many
    assert not re.search(r"\byou\b", shown.replace("chooses you", ""))


def test_a_closed_output_is_named_or_ends_it_without_a_word(tmp_path):
    """141 is what a shell gives for SIGPIPE."""
    saving.save(finished_pig(), tmp_path / "game.json")
    command = f"'{sys.executable}' -m experiments record '{tmp_path / 'game.json'}'"
    piped = subprocess.run(
        ["bash", "-c", f"{command} | true; exit ${{PIPESTATUS[0]}}"], cwd=ROOT, env=ENVIRONMENT, capture_output=True
    )
    assert (piped.returncode, piped.stderr) in ((141, b""), (0, b""))  # where all was written before it closed
    closed = subprocess.run(["bash", "-c", f"{command} >&-"], cwd=ROOT, env=ENVIRONMENT, capture_output=True, text=True)
    assert closed.returncode == 2
    assert "the standard output" in closed.stderr
    assert len(closed.stderr.strip().splitlines()) == 1
