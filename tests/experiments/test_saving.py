"""Saved games: taken up where they stood, and refused with a reason."""

from __future__ import annotations

import io
import json

import pytest

from engine_ext.errors import SavedStateError
from experiments.play import saving
from tests.experiments.command import command_line
from tests.experiments.playing import advance, pig, typed


@pytest.fixture
def saved(tmp_path):
    session = pig(bots=["random"], seed=5, text="pig(goal=40)")
    for action in (0, 0, 1, 0):
        advance(session)
        session.choose(action)
    advance(session)
    path = tmp_path / "game.json"
    saving.save(session, path)
    return session, path


def test_a_loaded_game_stands_where_it_stood_and_goes_on_alike(saved):
    session, path = saved
    again = saving.load(path)
    assert again.events == session.events
    assert again.position.to_bytes() == session.position.to_bytes()
    assert again.names == session.names
    for each in (session, again):
        for _ in range(3):
            if each.your_turn:
                each.choose(each.position.legal_actions()[0])
                advance(each)
    assert again.events == session.events
    assert again.undo()


def test_a_file_is_not_written_over_by_accident(saved, tmp_path):
    session, path = saved
    before = path.read_bytes()
    with pytest.raises(SavedStateError, match="not written over"):
        saving.save(session, path)
    shown, _ = typed(pig(), f"save {path}")
    assert "not written over" in " ".join(shown.split())
    assert path.read_bytes() == before
    typed(pig(), f"save! {path}")
    assert path.read_bytes() != before
    other = tmp_path / "other.json"
    shown, _ = typed(pig(), f"save {other}", "roll", f"save {other}")  # its own file it may
    assert shown.count("Saved in") == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda text: text[: len(text) // 2], "damaged"),
        (lambda text: "", "damaged"),
        (lambda text: "[]", "not a saved game"),
        (lambda text: text.replace('"seed": 5', '"seed": 6'), "checksum"),
        (lambda text: text.replace('"version": 2', '"version": 3', 1), "version 3"),
        (lambda text: text.replace('"version": 2', '"version": 0', 1), "version 0"),
        (lambda text: text.replace('"version": 2', '"version": "2"', 1), "version '2'"),
        (lambda text: text.replace('"seat": 0', '"seat": "0"'), "seat is missing or not a int"),
        (lambda text: text.replace("quandary game", "chess game"), "not a saved game"),
    ],
)
def test_a_damaged_file_is_named_and_left_alone(saved, change, says, capsys):
    _, path = saved
    path.write_text(change(path.read_text()))
    before = path.read_bytes()
    with pytest.raises(SavedStateError, match=says) as caught:
        saving.load(path)
    assert str(path) in str(caught.value)
    code, _, errors = command_line(capsys, "play", "pig(goal=40)", "--load", path)
    assert code == 2
    assert len(errors.strip().splitlines()) == 1
    assert path.read_bytes() == before
    shown, screen = typed(pig(), "roll", f"load {path}")
    assert str(path) in " ".join(shown.split())
    assert screen.session.events  # the running game is still there


def resealed(path, **changes):
    """Change a saved game and give it a checksum that fits."""
    content = json.loads(path.read_text()) | changes
    del content["checksum"]
    content["checksum"] = saving.digest(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"actions": [0, 0, 7]}, "illegal|not one of your"),
        ({"seed": 6}, "dice are not those of the seed"),
        ({"game": "pigg"}, "no game is called"),
        ({"bots": ["nobody"]}, "nobody"),
        ({"seat": 9}, "seat is 9"),
        ({"game_version": 99}, "version 99"),
        ({"actions": ["roll"]}, "whole numbers"),
    ],
)
def test_a_file_that_contradicts_itself_is_named(saved, changes, says):
    _, path = saved
    resealed(path, **changes)
    with pytest.raises(SavedStateError, match=says):
        saving.load(path)


def test_a_saved_game_of_another_game_is_refused(saved, capsys):
    _, path = saved
    code, _, errors = command_line(capsys, "play", "pig", "--load", path)
    assert code == 2
    assert "quandary_pig(goal=40)" in errors


def test_a_loaded_game_has_its_story(saved):
    session, path = saved
    session.tell()
    again = saving.load(path)
    again.tell()
    assert again.story == session.story
    assert again.story


def test_a_loaded_game_has_its_story_told_once(saved):
    """Loading tells what had happened, and `moves` tells it again."""
    _, path = saved
    shown, _ = typed(pig(), f"load {path}", "moves")
    assert shown.count("held: ") >= 2


@pytest.mark.parametrize("spelled", ["quandary_pig(goal=40)", "pig(goal=40)", " pig ( goal = 40 ) "])
def test_the_saved_game_may_be_spelled_in_any_way(spelled, saved, capsys, monkeypatch):
    _, path = saved
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    code, shown, errors = command_line(capsys, "play", spelled, "--load", path)
    assert (code, errors) == (0, "")
    assert "seed 5" in shown


def test_parameters_left_out_are_their_defaults(tmp_path, capsys, monkeypatch):
    path = tmp_path / "game.json"
    saving.save(pig(text="pig"), path)
    monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
    code, _, errors = command_line(capsys, "play", "pig(goal=100)", "--load", path)  # 100 is what pig is played to
    assert (code, errors) == (0, "")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--seed", "6"], "saved with seed 5"),
        (["--seat", "1"], "saved with seat 0"),
        (["--bot", "greedy"], "saved with bot random"),
        (["--bot", "random", "--bot", "greedy"], "saved with bot random"),
    ],
)
def test_what_a_saved_game_says_otherwise_is_refused(words, says, saved, capsys):
    _, path = saved
    code, shown, errors = command_line(capsys, "play", "pig(goal=40)", "--load", path, *words)
    assert (code, shown) == (2, "")
    assert says in errors
    assert f"leave out {words[0]}" in errors
    assert len(errors.strip().splitlines()) == 1


def test_what_a_saved_game_says_too_may_be_given(saved, capsys, monkeypatch):
    _, path = saved
    for words in (["--seed", "5"], ["--seat", "0"], ["--bot", "random"]):
        monkeypatch.setattr("sys.stdin", io.StringIO("quit\n"))
        code, _, errors = command_line(capsys, "play", "pig(goal=40)", "--load", path, *words)
        assert (code, errors) == (0, "")
