"""Work that another thread ends: it stops soon, and the searcher works on afterwards."""

from __future__ import annotations

import threading
import time

import pytest

import games
from engine_ext.rng import Stream
from experiments import players
from solvers.detached import call_detached
from solvers.specs import make_searcher
from solvers.stopping import Stopped, look_up, stoppable

SEARCHES = [
    ("pig", {}, "mcts(simulations=1000000000)"),
    ("pig", {}, "mcts(simulations=1000000000,threads=2)"),
    ("pig", {}, "ismcts(simulations=1000000000)"),
    ("pig", {}, "ismcts(simulations=1000000000,threads=2)"),
    ("kuhn", {}, "oos(simulations=1000000000)"),
    ("pig", {}, "expectimax(depth=500)"),
    ("pentaquest", {"scenario": "small"}, "expectimax"),
    ("pig", {}, "value_iteration"),
]


def in_a_thread(work):
    """Runs work in a thread that may be ended; asks for its end once it runs. What came of it."""
    running, found = threading.Event(), []
    ends = time.monotonic() + 0.3

    def asked():
        running.set()
        return time.monotonic() > ends

    def run():
        try:
            with stoppable(asked):
                found.append(work())
        except Stopped as stopped:
            found.append(stopped)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    assert not thread.is_alive()
    assert running.is_set()
    return found[0]


@pytest.mark.parametrize(("game", "parameters", "spec"), SEARCHES)
def test_a_search_ends_when_it_is_asked_to(game, parameters, spec):
    rules = games.spec(game).make_rules(parameters)
    searcher = make_searcher(spec, rules)
    position, stream = rules.initial_position(), Stream(1)
    while position.is_chance_node():
        position.apply_action(position.sample(stream))
    assert isinstance(in_a_thread(lambda: searcher.search(position, seed=1)), Stopped)
    over = rules.initial_position()
    over.playout(Stream(1))
    assert list(searcher.search(over, seed=1).values) == over.returns()


@pytest.mark.parametrize("spec", ["cfr+(iterations=1000000000)", "mccfr_es(iterations=1000000000)"])
def test_a_solver_ends_when_it_is_asked_to(spec):
    rules = games.spec("kuhn").make_rules({})
    assert isinstance(in_a_thread(lambda: players.make(spec, rules)), Stopped)


def test_a_call_in_another_process_ends_when_it_is_asked_to():
    assert isinstance(in_a_thread(lambda: call_detached(time.sleep, 1000)), Stopped)


def test_other_threads_and_later_work_are_left_alone():
    with pytest.raises(Stopped), stoppable(lambda: True):
        look_up()
    assert look_up() == 0
    seen = []
    with stoppable(lambda: True):
        thread = threading.Thread(target=lambda: seen.append(look_up()))
        thread.start()
        thread.join()
    assert seen == [0]


def test_no_handler_of_errors_catches_the_end_by_accident():
    assert issubclass(Stopped, BaseException)
    assert not issubclass(Stopped, Exception)
