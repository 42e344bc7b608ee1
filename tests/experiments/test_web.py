"""Playing in the browser, driven as a browser does."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from fastapi.testclient import TestClient

from experiments import web


@pytest.fixture
def browser():
    return TestClient(web.make_app())


def opened(browser, **form):
    given = {"game": "pig(goal=10)", "bot": "greedy", "seat": "0", "seed": "3", **form}
    return browser.post("/", data=given)


def moves(page):
    return re.findall(r'action="(/game/[^"]+/move/(\d+))"', page)


def test_a_game_to_its_end(browser):
    page = opened(browser)
    assert page.status_code == 200
    for _ in range(200):
        found = moves(page.text)
        if not found:
            break
        page = browser.post(found[-1 if "turn total 0" not in page.text else 0][0])
        assert page.status_code == 200
    assert "You have won." in page.text or "You have lost." in page.text


def test_the_odds_of_every_move_are_shown_best_first(browser):
    page = opened(browser, bot="mcts(simulations=300)")
    assert "to win" not in page.text
    key = re.search(r"/game/([^/]+)/hint", page.text).group(1)
    page = browser.post(f"/game/{key}/hint")
    chances = [float(each) for each in re.findall(r"([\d.]+) % to win", page.text)]
    assert len(chances) == 2
    assert 'class="best"' in page.text
    assert "mcts(simulations=300)" in page.text


def test_take_back_and_make_again_meets_the_same_dice(browser):
    page = opened(browser)
    link = moves(page.text)[0][0]
    first = browser.post(link).text
    key = re.search(r"/game/([^/]+)/undo", first).group(1)
    browser.post(f"/game/{key}/undo")
    assert browser.post(link).text == first


def test_an_illegal_move_is_named_and_changes_nothing(browser):
    page = opened(browser)
    link = moves(page.text)[0][0]
    before = browser.get(link.partition("/move")[0]).text
    answer = browser.post(re.sub(r"\d+$", "77", link))
    assert answer.status_code == 400
    assert "not one of your actions" in answer.text
    assert browser.get(link.partition("/move")[0]).text == before


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"game": "pigg"}, "did you mean pig"),
        ({"game": "<script>"}, "does not start with the name"),
        ({"bot": "nobody"}, "nobody"),
        ({"seat": "7"}, "seat is 7"),
        ({"seat": "-1"}, "whole number"),
        ({"seed": "x"}, "whole number"),
    ],
)
def test_bad_forms_are_named_and_escaped(form, says, browser):
    page = opened(browser, **form)
    assert page.status_code == 400
    assert says in page.text
    assert "<script" not in page.text


def test_a_forgotten_game_leads_to_the_start(browser):
    page = browser.get("/game/nothing")
    assert page.status_code == 400
    assert "not in memory" in page.text


def test_games_do_not_mix_and_the_longest_unused_goes_first(browser, monkeypatch):
    monkeypatch.setattr(web, "GAMES_KEPT", 2)
    keys = [str(opened(browser, seed=str(i)).url).rsplit("/", 1)[1] for i in range(3)]
    assert len(set(keys)) == 3
    assert browser.get(f"/game/{keys[0]}").status_code == 400
    assert browser.get(f"/game/{keys[2]}").status_code == 200


def test_hidden_cards_stay_hidden(browser):
    page = opened(browser, game="kuhn", bot="random", seat="1")
    assert "(hidden from you)" in page.text
