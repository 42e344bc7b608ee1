"""Playing in the browser, driven as a browser does."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from fastapi.testclient import TestClient

import games
from engine_ext.rng import Stream
from experiments import web
from experiments.web import forms, tables
from tests.experiments.browsing import Forms, moves, opened, press, settled
from tests.experiments.command import command_line


@pytest.fixture
def browser():
    return TestClient(web.make_app())


def test_a_game_to_its_end(browser):
    page = opened(browser)
    assert page.status_code == 200
    for _ in range(200):
        found = moves(page.text)
        if not found:
            break
        page = press(browser, (found[-1 if "turn total 0" not in page.text else 0][0], {}))
        assert page.status_code == 200
    assert "You have won." in page.text or "You have lost to seat 1." in page.text


def test_the_odds_of_every_move_are_shown_best_first(browser):
    page = opened(browser, bot="mcts(simulations=300)")
    assert "to win" not in page.text
    key = re.search(r"/game/([^/]+)/hint", page.text).group(1)
    page = press(browser, (f"/game/{key}/hint", {}))
    chances = [float(each) for each in re.findall(r"([\d.]+) % to win", page.text)]
    assert len(chances) == 2
    assert 'class="best"' in page.text
    assert "mcts(simulations=300)" in page.text


def test_take_back_and_make_again_meets_the_same_dice(browser):
    page = opened(browser)
    link = moves(page.text)[0][0]
    first = press(browser, (link, {})).text
    key = re.search(r"/game/([^/]+)/undo", first).group(1)
    press(browser, (f"/game/{key}/undo", {}))
    again = press(browser, (link, {})).text
    assert again.replace(key, "") == first.replace(key, "")


def test_an_illegal_move_is_named_and_changes_nothing(browser):
    page = opened(browser)
    link = moves(page.text)[0][0]
    before = browser.get(link.partition("/move")[0]).text
    answer = browser.post(re.sub(r"\d+$", "77", link))
    assert answer.status_code == 400
    assert "77 is not one of your actions" in answer.text
    assert browser.get(link.partition("/move")[0]).text == before


@pytest.mark.parametrize(
    ("form", "says"),
    [
        ({"game": "pigg"}, "did you mean pig"),
        ({"game": "<script>"}, "does not start with the name"),
        ({"bot": "nobody"}, "nobody"),
        ({"seat": "7"}, "Seat is 7"),
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
    assert page.status_code == 404
    assert "not in memory" in page.text


def test_games_do_not_mix_and_the_longest_unused_goes_first(browser, monkeypatch):
    monkeypatch.setattr(tables, "GAMES_KEPT", 2)
    keys = [str(opened(browser, seed=str(i)).url).rsplit("/", 1)[1] for i in range(3)]
    assert len(set(keys)) == 3
    assert browser.get(f"/game/{keys[0]}").status_code == 404
    assert browser.get(f"/game/{keys[2]}").status_code == 200


def test_hidden_cards_stay_hidden(browser):
    page = opened(browser, game="kuhn", bot="random", seat="1")
    assert "(hidden from you)" in page.text


@pytest.mark.parametrize(
    "game",
    [
        "pig(goal=25)",
        "kuhn",
        "pentaquest(scenario=tiny)",
        "pentaquest(scenario=duel)",
        "pentaquest(players=3)",
        "quarriors",
        "quarriors(edition=light_vs_dark,qladiator=true)",
        "quarz",
        "quarz(players=3)",
        "quarz(scenario=idol_run)",
    ],
)
def test_a_whole_game_through_the_forms_of_its_pages(game, browser):
    page, stream = opened(browser, game=game, bot="greedy", seed="5"), Stream(9)
    for turn in range(2000):
        assert page.status_code == 200
        shown = Forms(page.text)
        assert shown.fetched == []
        if not (buttons := shown.ending("move")):
            break
        assert 'class="question"' in page.text
        if turn == 3:
            page = press(browser, shown.ending("hint")[0])
            assert page.status_code == 200
        page = press(browser, buttons[stream.below(len(buttons))])
    assert 'class="verdict"' in page.text
    assert Forms(page.text).ending("again")


def test_the_board_of_quarz_is_drawn_with_names_of_fields(browser):
    page = opened(browser, game="quarz", bot="greedy").text
    drawn = ElementTree.fromstring(re.search(r"<svg.*?</svg>", page, re.DOTALL).group())
    names = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert names[names.index("D2") + 1] == "altar"
    assert not any(line.startswith(("│", "╱")) for line in page.splitlines())  # not twice


def test_a_bot_explains_its_odds_after_its_move(browser):
    page = opened(browser, game="pig(goal=30)", bot="mcts(simulations=50)", seat="1", seed="4").text
    found = re.search(r"Seat 0 gives itself (\d+) % to win \(its choice: ", page)
    assert found
    assert 0 <= int(found.group(1)) <= 100
    assert "all that it weighed" in page


def test_a_bot_with_hidden_cards_keeps_its_odds_to_itself(browser):
    page = opened(browser, game="kuhn", bot="ismcts(simulations=50)", seat="1").text
    assert "Seat 0 expects" not in page
    assert "By all that you can see you may expect about" in page


def test_the_address_of_a_form_leads_to_its_game(browser):
    page = opened(browser)
    for form in Forms(page.text).forms:
        assert browser.get(form[0]).text == page.text


def test_a_move_from_an_old_page_is_refused_with_a_word(browser):
    page = opened(browser, game="pig(goal=100)", seed="5").text
    page = press(browser, Forms(page).ending("move")[0]).text
    old = Forms(page).ending("move")[0]
    after = press(browser, old).text
    for form in (old, Forms(page).ending("undo")[0], Forms(page).ending("hint")[0]):
        late = press(browser, form)
        assert late.status_code == 400
        assert "out of date" in late.text
        address = re.match(r"/game/[^/]+", form[0]).group()
        assert browser.get(address).text == after


@pytest.mark.parametrize(
    "path", ["move/x", "move/-1", "move/99999999999999999999", "move/%00", "move/1.5", "move/٣", "undo", "move/7"]
)
def test_odd_moves_are_answered_by_a_page(path, browser):
    address = str(opened(browser).url.path)
    before = browser.get(address).text
    answer = browser.post(f"{address}/{path}")
    assert answer.status_code == 400
    assert 'class="notice"' in answer.text
    assert browser.get(address).text == before


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("GET", "/game/x/move/1", 404),
        ("PUT", "/game/x/move/1", 405),
        ("POST", "/game/x/move/1", 404),
        ("GET", "/game/x/save", 404),
        ("POST", "/game/x/hint", 404),
        ("DELETE", "/", 405),
        ("POST", "/load", 400),
    ],
)
def test_odd_addresses_are_answered_by_the_start_page(method, path, status, browser):
    answer = browser.request(method, path)
    assert answer.status_code == status
    assert 'class="notice"' in answer.text
    assert 'name="game"' in answer.text


def test_two_browsers_at_once_do_not_interfere():
    app = web.make_app()
    browsers = [TestClient(app), TestClient(app)]

    def play(number):
        browser, stream, pages = browsers[number % 2], Stream(number), []
        page = opened(browser, game="pig(goal=60)", bot="mcts(simulations=30)", seed=str(number))
        while buttons := Forms(page.text).ending("move"):
            page = press(browser, buttons[stream.below(2)])
            assert page.status_code == 200
            pages.append(re.sub(r"/game/[\w-]+", "", page.text))
        return pages

    alone = [play(number) for number in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(play, range(4)))
    assert together == alone


def test_the_same_form_sent_twice_at_once_moves_once(browser):
    page = opened(browser, game="pig(goal=100)", seed="5")
    form = Forms(page.text).ending("move")[0]
    with ThreadPoolExecutor(4) as pool:
        codes = sorted(answer.status_code for answer in pool.map(lambda _: press(browser, form), range(4)))
    assert codes == [200, 400, 400, 400]


def test_a_saved_game_goes_on_in_another_browser(browser):
    page = opened(browser, game="pig(goal=50)", bot="mcts(simulations=30)", seed="6")
    for _ in range(3):
        page = press(browser, Forms(page.text).ending("move")[0])
    saved = browser.get(f"{page.url.path}/save")
    assert saved.headers["content-disposition"] == 'attachment; filename="quandary_pig-6.json"'
    other = TestClient(web.make_app())
    loaded = other.post("/load", files={"saved": ("game.json", saved.content, "application/json")})
    assert loaded.status_code == 200
    mine, theirs = Forms(page.text).ending("move")[1], Forms(loaded.text).ending("move")[1]
    assert mine[1] == theirs[1]

    def story(text):
        return re.findall(r"<li><b>.*?</li>", text)

    assert story(press(browser, mine).text)[:1] == story(press(other, theirs).text)[:1]
    for damaged in (b"", b"{}", saved.content[:-40], b"\xff\xfe", b"[" * 100_000):
        refused = other.post("/load", files={"saved": ("game.json", damaged, "application/json")})
        assert refused.status_code == 400
        assert "The saved game" in refused.text


def test_a_body_without_end_is_refused(browser):
    answer = browser.post("/", content=b"game=" + b"x" * (forms.LARGEST_BODY + 1))
    assert answer.status_code == 413
    assert 'class="notice"' in answer.text


@pytest.mark.parametrize("name", sorted(games.SPECS))
def test_every_game_of_the_start_page_can_be_begun_in_every_variant(name, browser):
    spec = games.SPECS[name]
    assert f'<input type="hidden" name="game" value="{name}">' in browser.get("/").text
    for variant in spec.variants or [""]:
        for players in {spec.players[0], spec.players[1]}:
            given = {"game": name, "variant": variant, "bot": "random", "seed": "3"}
            given |= {"players": str(players)} if len(set(spec.players)) > 1 else {}
            page = settled(browser, browser.post("/", data=given))
            assert page.status_code == 200
            assert "you play alone" in page.text or f"seat {players - 1} is random" in page.text


def test_every_opponent_of_every_form_of_the_start_page_plays():
    """Each choice of each form opens a game in which the bot makes its moves; Qu'arz and Kuhn poker hide cards."""
    quick, patient = (TestClient(web.make_app(seconds=seconds)) for seconds in (0.05, 60))
    start = quick.get("/").text
    found = re.findall(r'name="game" value="([^"]+)">(.*?)</form>', start, flags=re.DOTALL)
    assert [name for name, _ in found] == list(games.SPECS)
    for name, form in found:
        bots = re.search(r'name="bot">(.*?)</select>', form, flags=re.DOTALL).group(1)
        offered = dict(re.findall(r'<option value="([^"]*)">([^<]*)</option>', bots))
        assert {"strongest", "lookahead", "random"} <= set(offered)
        assert ("greedy" in offered) == ("suggest" in games.SPECS[name].make_rules().abilities)
        variants = re.findall(
            r'<option value="([^"]*)">', form.partition('name="bot"')[0].partition('name="players"')[0]
        )
        counts = re.findall(r'<option value="(\d+)"', form.partition('name="players"')[2].partition("</select>")[0])
        for bot in offered:
            # The strongest at Pig solves it, once.
            browser = patient if (name, bot) == ("quandary_pig", "strongest") else quick
            for number, variant in enumerate(variants or [""]):
                given = {"game": name, "bot": bot, "variant": variant, "seed": "5"}
                given |= {"players": "2"} if "2" in counts else {}
                page = settled(browser, browser.post("/", data=given))
                for _ in range(3 if number == 0 else 1):
                    assert page.status_code == 200, given
                    assert 'class="notice"' not in page.text, given
                    page = press(browser, (moves(page.text)[-1][0], {})) if moves(page.text) else page


@pytest.mark.parametrize("name", sorted(games.SPECS))
def test_what_the_start_page_suggests_for_any_game_opens_or_is_refused_with_advice(name, browser):
    suggested = re.search(r'<datalist id="bots">(.*?)</datalist>', browser.get("/").text).group(1)
    for bot in re.findall(r'value="([^"]*)"', suggested):
        page = browser.post("/", data={"game": name, "bot": bot, "seat": "0", "seed": "5"})
        assert page.status_code == 200 or "use " in page.text, (name, bot)


@pytest.mark.parametrize(
    ("game", "says"),
    [
        ("quarz", "Qu&#39;arz hides information from a seat, and mcts would see through that; use ismcts"),
        ("quandary_kuhn", "Kuhn poker hides information"),
    ],
)
def test_a_refusal_calls_games_by_their_names(game, says, browser):
    page = browser.post("/", data={"game": game, "bot": "mcts(simulations=100)"})
    assert page.status_code == 400
    assert says in page.text


def test_an_unknown_variant_is_named(browser):
    page = browser.post("/", data={"game": "quarriors", "variant": "Nobody's"})
    assert page.status_code == 400
    assert "no variant" in page.text


def test_the_title_says_what_the_game_waits_for(browser):
    page = opened(browser, game="pig(goal=2)", seed="3")
    assert "<title>Your turn: Pig</title>" in page.text
    while shown := Forms(page.text).ending("move"):
        page = press(browser, shown[-1])
    assert re.search("<title>You have (won|lost to seat 1): Pig</title>", page.text)


def test_who_begins_again_by_mistake_finds_the_old_game(browser):
    page = opened(browser, game="pig(goal=100)", seed="5")
    page = press(browser, Forms(page.text).ending("move")[0])
    other = press(browser, Forms(page.text).ending("again")[0])
    assert other.status_code == 200
    assert other.url.path != page.url.path
    assert "seed 5;" not in other.text
    assert browser.get(page.url.path).text == page.text


def test_a_move_is_taken_back_only_where_there_is_one(browser):
    page = opened(browser, game="pig(goal=100)", seed="5")
    assert not Forms(page.text).ending("undo")
    page = press(browser, Forms(page.text).ending("move")[0])
    assert Forms(page.text).ending("undo")


def test_pages_may_fetch_and_run_nothing(browser):
    for page in (browser.get("/"), opened(browser)):
        assert "default-src 'none'" in page.headers["content-security-policy"]


@pytest.mark.parametrize(("host", "says"), [("nosuch.invalid", "nosuch.invalid"), ("203.0.113.7", "203.0.113.7")])
def test_a_host_that_cannot_be_served_is_named_at_once(host, says, capsys):
    code, shown, errors = command_line(capsys, "serve", "--host", host, "--port", 8000)
    assert code == 2
    assert says in errors
    assert len(errors.strip().splitlines()) == 1
    assert "http" not in shown


def test_the_record_of_a_game_can_be_downloaded(browser):
    page = opened(browser, bot="greedy", seed="3")
    link = re.search(r'href="(/game/[^"]+/record)"', page.text).group(1)
    press(browser, (moves(page.text)[0][0], {}))
    answer = browser.get(link)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    assert 'filename="quandary_pig-3.txt"' in answer.headers["content-disposition"]
    assert answer.text.startswith("Pig: record of a game")
    assert "seat 1    greedy" in answer.text
    assert browser.get("/game/nothing/record").status_code == 404
