"""Solved games that bots share: made once, one at a time, in bounded memory."""

from __future__ import annotations

import contextlib
import threading

import pytest

from engine_ext.errors import TooLargeError
from experiments import gametext, players
from experiments.play import saving
from experiments.play.session import Session
from experiments.shelf import Shelf
from solvers.stopping import Stopped, stoppable
from tests.experiments.playing import pig, typed


def made(log, name, size=1):
    def make():
        log.append(name)
        return name, size

    return make


def test_what_is_there_is_not_made_again():
    log, shelf = [], Shelf(10)
    assert [shelf.get("a", made(log, "a")) for _ in range(3)] == ["a"] * 3
    assert log == ["a"]
    assert "a" in shelf
    assert "b" not in shelf


def test_the_longest_unused_goes_where_room_is_short():
    log, shelf = [], Shelf(10)
    for name in ("a", "b", "a", "c"):
        shelf.get(name, made(log, name, 5))
    assert [name in shelf for name in "abc"] == [True, False, True]
    shelf.get("d", made(log, "d", 50))  # the newest stays, however large
    assert [name in shelf for name in "abcd"] == [False, False, False, True]


def test_what_could_not_be_made_is_not_kept_and_bars_nobody():
    shelf = Shelf(10)

    def fails():
        raise TooLargeError("too large")

    with pytest.raises(TooLargeError):
        shelf.get("a", fails)
    assert "a" not in shelf
    assert shelf.get("a", made([], "a")) == "a"


def test_who_waits_for_the_same_gets_it_and_who_waits_for_another_may_leave():
    shelf, begun, go_on = Shelf(10), threading.Event(), threading.Event()
    log = []

    def slow():
        begun.set()
        go_on.wait(60)
        return made(log, "slow")()

    threads = [threading.Thread(target=shelf.get, args=("slow", slow)) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert begun.wait(60)
    with pytest.raises(Stopped), stoppable(lambda: True):
        shelf.get("other", made(log, "other"))
    go_on.set()
    for thread in threads:
        thread.join(60)
    assert log == ["slow"]


# ---- players -----------------------------------------------------------------------------------


@pytest.fixture
def empty_shelf(monkeypatch):
    shelf = Shelf(1 << 30)
    monkeypatch.setattr(players, "_shelf", shelf)
    return shelf


def test_a_solver_works_once_for_all_seats_the_hints_and_the_next_game(empty_shelf, monkeypatch):
    solved = []
    offline = players._offline
    monkeypatch.setattr(players, "_offline", lambda *given: (solved.append(given), offline(*given))[1])
    for seed in range(3):
        session = Session(gametext.load("kuhn"), 1, ["sequence_form"], seed)
        session.go_on()
    assert len(solved) == 1


@pytest.mark.parametrize(
    ("game", "bot"), [("pig(goal=8)", "value_iteration"), ("pentaquest(scenario=one_card)", "expectimax")]
)
def test_a_bot_that_solves_the_game_is_ready_when_it_has(game, bot, empty_shelf):
    rules = gametext.load(game).rules
    player = players.seat(bot, rules)
    assert not player.ready
    begun = []
    player.prepare(lambda: begun.append(True))
    assert player.ready
    assert begun == [True]
    player.prepare(lambda: begun.append(True))
    assert begun == [True]
    assert players.seat(bot, rules).ready
    assert empty_shelf._kept[player._key][1] > 100  # bytes


def test_value_iteration_solves_the_game_from_its_start_whichever_position_it_is_asked_for_first():
    """After the roll the rest of the game does not hold the other rolls, and would have to be solved for each."""
    rules = gametext.load("pentaquest(scenario=one_card)").rules
    player = players.make("value_iteration", rules)
    solutions = set()
    for outcome, _ in rules.initial_position().chance_outcomes()[:5]:
        player.choose(rules.initial_position().child(outcome), 0)
        solutions.add(id(player._searcher.solution))
    assert len(solutions) == 1


def test_a_searcher_that_needs_a_tree_is_made_ready_too():
    player = players.seat("oos(simulations=10)", gametext.load("kuhn").rules)
    assert not player.ready
    player.prepare()
    assert player.ready


def test_others_are_ready_from_the_start():
    rules = gametext.load("pig").rules
    for bot in ("mcts(simulations=10)", "greedy", "value_iteration(seconds=1)", "expectimax(depth=2)"):
        assert players.seat(bot, rules).ready


def test_memory_is_bounded_where_the_spec_sets_no_bound(empty_shelf, monkeypatch):
    monkeypatch.setattr(players, "SOLVE_MB", 1)
    rules = gametext.load("pig").rules
    with pytest.raises(TooLargeError, match="max_mb=1"):
        players.seat("value_iteration", rules).prepare()
    with pytest.raises(TooLargeError, match="max_states"):
        players.seat("expectimax", gametext.load("pentaquest(scenario=small)").rules).prepare()
    players.seat("value_iteration(max_mb=100)", gametext.load("pig(goal=20)").rules).prepare()


def test_a_hint_comes_from_a_search_where_the_strongest_does_not_fit(empty_shelf, monkeypatch):
    """At Pig the strongest is value iteration, which is asked where the rivals have no opinion."""
    monkeypatch.setattr(players, "SOLVE_MB", 1)
    name, options = pig(bots=["greedy"]).hint()
    assert name.startswith("mcts(")
    assert options


def test_a_policy_is_not_asked_for_odds_that_it_does_not_have(empty_shelf):
    session = Session(gametext.load("kuhn"), 0, ["sequence_form"], 3)
    session.go_on()
    assert session.hint()[0].startswith("ismcts(")


def test_who_interrupts_the_solving_leaves_a_game_that_has_not_begun(empty_shelf, monkeypatch):
    monkeypatch.setattr(players.SharedPlayer, "prepare", _interrupted)
    with pytest.raises(KeyboardInterrupt):
        typed(Session(gametext.load("pig(goal=9)"), 1, ["value_iteration"], 1), "quit")


def test_who_interrupts_the_solving_of_a_saved_game_goes_on_with_the_old_one(empty_shelf, monkeypatch, tmp_path):
    saving.save(Session(gametext.load("pig(goal=9)"), 1, ["value_iteration"], 1), tmp_path / "game.json")
    monkeypatch.setattr(players.SharedPlayer, "prepare", _interrupted)
    shown, screen = typed(pig(), "roll", f"load {tmp_path / 'game.json'}", "quit")
    assert "Stopped: this game goes on." in shown
    assert screen.session.own_moves == 1


def _interrupted(*_):
    raise KeyboardInterrupt


def test_what_shows_the_game_is_told_what_the_bot_does(empty_shelf):
    told = []

    @contextlib.contextmanager
    def preparing(what):
        told.append(what)
        yield lambda: told.append("begun")

    session = Session(gametext.load("pig(goal=9)"), 0, ["value_iteration"], 1)
    session.preparing = preparing
    session.prepare()
    assert told == ["seat 1, value_iteration, works out the whole game before it plays", "begun"]
