"""Bots that think for long: the page goes on meanwhile, and whoever does not want to wait ends it."""

from __future__ import annotations

import re
import threading
import time

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from fastapi.testclient import TestClient

from experiments import gametext, players, web
from experiments.play.session import Session
from experiments.web import app, tables
from tests.experiments.browsing import Forms, opened, press, settled, thinking

ENDLESS = "mcts(simulations=1000000000)"
LONG_S = 30.0  # more than any of these tests waits


@pytest.fixture
def patient():
    """A server whose bots may think for longer than a test waits."""
    with TestClient(web.make_app(LONG_S)) as browser:
        yield browser


@pytest.fixture
def brisk():
    """A server whose bots have a second."""
    with TestClient(web.make_app(1.0)) as browser:
        yield browser


def begun(browser, **form):
    """A game in which a bot thinks without end, begun and not waited for."""
    return browser.post("/", data={"game": "pig(goal=30)", "bot": ENDLESS, "seat": "1", "seed": "4", **form})


def send(browser, form):
    """Press a button without waiting for what comes of it."""
    return browser.post(form[0], data=form[1])


def test_a_page_that_waits_shows_the_table_and_looks_again(patient):
    page = begun(patient)
    assert thinking(page)
    assert 'http-equiv="refresh"' in page.text
    assert f"Seat 0, {ENDLESS}, is thinking" in page.text
    assert "for at most 30 seconds" in page.text
    assert re.search(r"--limit: 30.0s; --gone: -\d+\.\ds", page.text)
    assert "points to 30: seat 0 0, you 0" in page.text
    shown = Forms(page.text)
    assert not shown.ending("move")
    assert not shown.ending("hint")
    assert not shown.ending("undo")  # nothing has been done yet
    assert shown.ending("again")


def test_a_page_that_waits_is_led_on_when_there_is_something_new(patient, monkeypatch):
    may_move, think = threading.Event(), Session.think
    monkeypatch.setattr(Session, "think", lambda session: (may_move.wait(LONG_S), think(session))[1])
    page = begun(patient, game="kuhn", bot="random")
    onward = re.search(r'content="0; url=(/game/[^"]+)"', page.text).group(1)
    threading.Timer(0.2, may_move.set).start()
    answer = patient.get(onward, follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == page.url.path
    assert not thinking(patient.get(page.url.path))
    monkeypatch.setattr(app, "HOLD_S", 0.2)
    page = begun(patient)
    onward = re.search(r'content="0; url=(/game/[^"]+)"', page.text).group(1)
    assert thinking(patient.get(onward))  # nothing new, but no server waits for ever
    assert patient.get("/game/nothing/next").status_code == 404


def test_a_search_that_a_clock_can_end_moves_when_its_time_is_up(brisk):
    page = settled(brisk, begun(brisk, game="pig(goal=100)"))
    assert "rolled" in page.text
    assert "Seat 0 gives itself" in page.text
    assert Forms(page.text).ending("move")


def test_a_hint_ends_by_the_clock_too(brisk):
    page = opened(brisk, game="pig(goal=30)", bot=ENDLESS, seat="0", seed="4")
    page = press(brisk, Forms(page.text).ending("hint")[0])
    assert len(re.findall(r"% to win", page.text)) >= 2


def test_a_search_that_no_clock_can_end_is_given_up(brisk, monkeypatch):
    """Value iteration has no answer before it has all of them; with a tolerance it is not exact play, solved first."""
    monkeypatch.setattr(tables, "PATIENCE", 0.1)
    page = settled(brisk, begun(brisk, game="pig(goal=200)", bot="value_iteration(tolerance=0.001)"))
    assert page.status_code == 200
    assert 'role="alert"' in page.text
    assert "came to no end within" in page.text
    shown = Forms(page.text)
    assert shown.ending("go")
    assert shown.ending("again")
    again = settled(brisk, brisk.post(shown.ending("go")[0][0]))
    assert "came to no end within" in again.text


@pytest.fixture
def unsolved():
    """No game is solved yet."""
    players._shelf.clear()


SOLVER = {"game": "pig(goal=60)", "bot": "value_iteration"}  # a second of work
HOPELESS = {"game": "kuhn", "bot": "cfr+(iterations=1000000000)"}  # hours of it


def test_a_bot_that_solves_the_game_first_has_time_for_it_however_short_that_for_a_move_is(unsolved):
    with TestClient(web.make_app(0.01)) as browser:
        page = settled(browser, begun(browser, **SOLVER))
        assert 'role="alert"' not in page.text
        assert "Seat 0 gives itself" in page.text
        while not (buttons := Forms(page.text).ending("hint")):
            page = press(browser, Forms(page.text).ending("move")[-1])
        page = press(browser, buttons[0])
        assert "The odds are those that value_iteration sees" in page.text


def test_the_page_says_that_the_game_is_solved_first_and_for_how_long(brisk, unsolved):
    page = begun(brisk, **HOPELESS)
    assert thinking(page)
    assert f"Seat 0, {HOPELESS['bot']}, works out the whole game before it plays, for at most 60 seconds" in page.text
    assert not Forms(page.text).ending("move")
    stopped = brisk.post(Forms(page.text).ending("stop")[0][0])
    assert not thinking(stopped)
    assert 'role="alert"' not in stopped.text
    assert Forms(stopped.text).ending("go")


def test_a_bot_that_is_not_ready_in_time_is_given_up(brisk, unsolved, monkeypatch):
    monkeypatch.setattr(tables, "SOLVE_S", 0.8)  # longer than the first answer waits
    page = settled(brisk, begun(brisk, **HOPELESS))
    assert "was not ready within 1 seconds. A bot that searches, such as lookahead, needs none" in page.text
    assert Forms(page.text).ending("again")
    assert "was not ready" in settled(brisk, brisk.post(Forms(page.text).ending("go")[0][0])).text


def test_nobody_is_made_ready_for_a_page_that_nobody_looks_at(brisk, unsolved, monkeypatch):
    monkeypatch.setattr(tables, "LEFT_S", 0.5)
    page = begun(brisk, **HOPELESS)
    deadline = time.monotonic() + LONG_S
    solving = [thread for thread in threading.enumerate() if thread.name.startswith("thinker")]
    while players._shelf._turn.locked():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert solving
    page = settled(brisk, brisk.get(page.url.path))
    assert "ended when nobody looked at this page any more" in page.text
    assert Forms(page.text).ending("go")


def test_who_looks_keeps_it_going():
    kept = tables.Tables(LONG_S)
    table = kept.find(kept.open(lambda: _slow(1)))
    thought = table.thinking
    table.looked -= tables.LEFT_S + 1
    assert not thought.asked()  # a move has a time of its own
    thought.preparing = True
    assert thought.asked()
    table.look()
    assert not thought.asked()
    kept.close()
    assert thought.done.wait(LONG_S)


def test_one_game_is_solved_at_a_time_and_who_waits_is_told(brisk, unsolved):
    first = begun(brisk, **HOPELESS)
    second = begun(brisk, **SOLVER)
    assert "works out the whole game before it plays, as soon as others are done" in second.text
    brisk.post(Forms(first.text).ending("stop")[0][0])
    assert "Seat 0 gives itself" in settled(brisk, second).text


def test_a_bot_that_the_game_is_too_large_for_is_refused_at_once(brisk):
    answer = begun(brisk, game="quarz", bot="cfr+")
    assert answer.status_code == 400
    assert "quarz" in answer.text


def test_a_move_can_be_taken_back_while_a_bot_thinks(patient):
    page = opened(patient, game="pig(goal=30)", bot="greedy", seat="0", seed="4")
    hold = Forms(page.text).ending("move")[1]
    address = page.url.path
    slow = begun(patient, seat="0")
    slow = settled(patient, slow)
    before = Forms(slow.text).ending("move")
    waiting = send(patient, before[1])
    assert thinking(waiting)
    back = send(patient, Forms(waiting.text).ending("undo")[0])
    assert not thinking(back)
    assert Forms(back.text).ending("move") == before
    waiting = send(patient, before[1])  # and made again, while the first search ends
    assert thinking(waiting)
    assert press(patient, hold).status_code == 200  # another game goes on meanwhile
    assert patient.get(address).status_code == 200


def test_a_new_game_can_be_begun_while_a_bot_thinks(patient):
    page = begun(patient)
    assert thinking(page)
    again = patient.post(Forms(page.text).ending("again")[0][0])
    assert again.status_code == 200
    assert "seed 4;" not in again.text


def test_moves_and_hints_have_to_wait(patient):
    page = begun(patient)
    for button in ("move/0", "hint", "go"):
        answer = patient.post(f"{page.url.path}/{button}")
        assert answer.status_code == 400
        assert "is thinking: wait for it, or take your move back" in answer.text


def test_working_out_the_odds_can_be_stopped(patient):
    page = settled(patient, begun(patient, seat="0"))
    waiting = send(patient, Forms(page.text).ending("hint")[0])
    assert thinking(waiting)
    assert "Your odds are being worked out" in waiting.text
    stopped = patient.post(Forms(waiting.text).ending("stop")[0][0])
    assert not thinking(stopped)
    assert Forms(stopped.text).ending("move")
    assert "to win" not in stopped.text


def test_others_play_on_while_bots_think(patient):
    slow = [begun(patient, seed=str(number)) for number in range(6)]
    assert all(map(thinking, slow))
    page = opened(patient, game="pig(goal=20)", bot="greedy", seat="0", seed="5")
    while buttons := Forms(page.text).ending("move"):
        page = press(patient, buttons[-1])
    assert 'class="verdict"' in page.text
    assert all(thinking(patient.get(page.url.path)) for page in slow)


def test_the_longest_unused_game_stops_thinking_when_it_goes(monkeypatch):
    monkeypatch.setattr(tables, "GAMES_KEPT", 1)
    kept = tables.Tables(LONG_S)
    first = kept.open(lambda: _slow(1))
    table = kept.find(first)
    thought = table.thinking
    assert thought is not None
    second = kept.open(lambda: _slow(2))
    assert kept.find(first) is None
    assert thought.done.wait(10)
    other = kept.find(second).thinking
    kept.close()
    assert other.done.wait(10)


def _slow(seed):
    return Session(gametext.load("pig"), 1, [ENDLESS], seed)


def test_the_server_stops_without_waiting_for_its_bots():
    before = set(threading.enumerate())
    with TestClient(web.make_app(3600.0)) as browser:
        assert thinking(begun(browser))
        thinkers = {each for each in threading.enumerate() if each.name.startswith("thinker")} - before
        assert thinkers
    ends = time.monotonic() + 60
    while any(thread.is_alive() for thread in thinkers):
        assert time.monotonic() < ends  # not the hour that the bot would have
        time.sleep(0.05)
