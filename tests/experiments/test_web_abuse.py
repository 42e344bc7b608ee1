"""Requests that no page would make, and texts that want to be markup: clean answers, and nothing breaks."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from fastapi.testclient import TestClient

from engine_ext.rng import Stream
from experiments import web
from experiments.web import forms
from tests.experiments.browsing import Forms, opened, press

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE", "FOO")
PARTS = (
    *("", "game", "move", "undo", "hint", "again", "go", "stop", "save", "load", "0", "1", "-1", "1e9", "٣"),
    *("%00", "..", "%2e%2e", "a" * 3000, "<script>", "%3Cscript%3E", "'\"", "\u202e", "%ff%fe", "{key}", ";", "\\"),
)
BODIES = (
    b"",
    b"step=1",
    b"step=x",
    b"step=" + b"9" * 5000,
    b"own_moves=-1",
    b"\xff\xfe\x00",
    b"a=1&" * 300,
    b"game=pig&seat=0&seed=99999999999999999999",
    b"game=quarriors(data=/dev/null)",
    b"game=quarriors(data=/nowhere/at/all)",
    b"game=pig&bot=policy(file=/dev/null)",
    b"game=pig&bot=policy(file=/nowhere/at/all)",
    b"game=pig&bot=policy",
    b"game=pentaquest(deck=../../../../etc/passwd)",
    b"game=" + b"(" * 5000,
    b"game=pig(goal=" + b"9" * 4000 + b")",
    b"game=pig&bot=mcts(simulations=" + b"9" * 4000 + b")",
    b"game=pig&bot=" + b"a(" * 3000,
    b'{"game": "pig"}',
    b"--x\r\nContent-Disposition: form-data; name=saved; filename=a\r\n\r\n{}\r\n--x--",
)


@pytest.fixture
def browser():
    """As a browser, but an error on the server is an answer with code 500 instead of a traceback here."""
    return TestClient(web.make_app(), raise_server_exceptions=False)


def test_anything_may_be_asked_anywhere(browser):
    stream = Stream(77)
    address = str(opened(browser).url.path)

    def pick(items):
        return items[stream.below(len(items))]

    seen = set()
    for _ in range(400):
        start = pick(("", address, address, "/game"))
        path = start + "".join("/" + pick(PARTS) for _ in range(stream.below(4)))
        kind = pick(
            ("application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/json", "", "x")
        )
        answer = browser.request(
            pick(METHODS), path or "/", content=pick(BODIES), headers={"Content-Type": kind}, follow_redirects=False
        )
        seen.add(answer.status_code)
        assert answer.status_code in (200, 303, 400, 404, 405, 413), (path, answer.status_code)
        assert "<script" not in answer.text
        assert "Traceback" not in answer.text
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert {200, 400, 404, 405} <= seen
    page = browser.get(address)  # and the game is still there
    assert page.status_code == 200
    assert Forms(page.text).ending("again")


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body[:24].decode(errors="replace"))
@pytest.mark.parametrize("path", ["/", "/load"])
def test_forms_that_ask_for_no_game(path, body, browser):
    answer = browser.post(path, content=body)
    assert answer.status_code == 400
    assert 'class="notice"' in answer.text
    assert "root:" not in answer.text  # of a file that is no deck


def test_many_at_once_ask_anything(browser):
    page = opened(browser, game="pig(goal=100)")
    address = str(page.url.path)
    buttons = ("move/0", "move/1", "undo", "hint", "again", "stop", "go", "move/7", "save", "")

    def ask(number):
        button = buttons[number % len(buttons)]
        method = "GET" if button in ("save", "") else "POST"
        return browser.request(method, f"{address}/{button}".rstrip("/")).status_code

    with ThreadPoolExecutor(8) as pool:
        codes = set(pool.map(ask, range(120)))
    assert codes <= {200, 400}
    page = browser.get(address)
    assert page.status_code == 200


@pytest.mark.parametrize("size", [forms.LARGEST_BODY + 1, 10 * forms.LARGEST_BODY])
@pytest.mark.parametrize("path", ["/", "/load", "/game/x/move/1"])
def test_huge_bodies_are_refused(path, size, browser):
    answer = browser.post(path, content=b"a" * size)
    assert answer.status_code == 413
    assert 'class="notice"' in answer.text


HOSTILE = '<script>alert(1)</script>[/red][bold]&"'


@pytest.fixture
def hostile_cards(tmp_path):
    """A set whose card has a name that wants to be HTML, and markup of the terminal."""
    path = tmp_path / "set.toml"
    path.write_text(
        f"set = 'mine'\n[[card]]\nname = '''{HOSTILE}'''\nclass = 'Witching Hag'\ncost = 1\nglory = 2\n"
        "provenance = 'reconstructed'\n"
    )
    return path


def test_names_of_own_cards_stay_names(hostile_cards, browser):
    page = opened(browser, game=f"quarriors(data={hostile_cards},wilds={HOSTILE})", seed="5")
    stream = Stream(3)
    for _ in range(60):
        assert page.status_code == 200
        assert "<script" not in page.text
        text = re.sub(r"<[^>]*>", "", page.text)
        assert "&lt;script&gt;alert(1)&lt;/script&gt;[/red][bold]" in text
        buttons = Forms(page.text).ending("move")
        if not buttons:
            break
        page = press(browser, buttons[stream.below(len(buttons))])
