"""Odds: hints, how a bot saw its choice, what hidden cards allow to say."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace

import pytest
from rich.console import Console

from experiments import gametext
from experiments.play import odds
from experiments.play.screen import hint_table
from experiments.play.session import Option, Session
from games.words import overheard
from tests.experiments.playing import advance, pig, typed


def test_hints_give_chances_of_winning_that_a_search_found():
    session = pig(bots=["mcts(simulations=400)"])
    advance(session)
    name, options = session.hint()
    assert name == "mcts(simulations=400)"
    assert {option.text for option in options} == {"roll", "hold"}
    assert options[0].best
    for option in options:
        assert option.chance == pytest.approx((option.value + 1) / 2)  # utilities of a duel are +1 and -1
    assert session.events == []


def test_a_hint_has_odds_for_every_action():
    """Also where the bot itself, in a game, looks only at the more promising actions."""
    session = Session(gametext.load("pentaquest(players=3)"), 0, ["mcts(simulations=300)"], 1)
    advance(session)
    name, options = session.hint()
    assert name == "mcts(simulations=300)"
    assert len(options) == len(session.position.legal_actions()) > 10
    assert all(option.visits >= 1 and 0 <= option.chance <= 1 for option in options)


def test_a_hint_knows_a_move_that_wins():
    """To 2 points: after one roll that is not a 1, holding wins at once."""
    session = pig(bots=["mcts(simulations=200)"], text="pig(goal=2)", seed=3)
    advance(session)
    session.choose(0)
    advance(session)
    assert session.position.to_dict()["total"] == 2
    _, options = session.hint()
    assert (options[0].text, options[0].chance) == ("hold", 1)


def test_a_bot_without_values_leaves_the_hint_to_a_search():
    session = pig(bots=["greedy"])
    advance(session)
    name, options = session.hint()
    assert name == "value_iteration"  # the strongest at Pig
    assert all(0 <= option.chance <= 1 for option in options)


def test_win_chances_only_where_utilities_are_about_winning():
    assert pig().win_chance(0.5) == 0.75
    assert Session(gametext.load("kuhn"), 0, ["random"], 1).win_chance(0.5) is None
    assert Session(gametext.load("pentaquest"), 0, ["random"], 1).win_chance(5.0) is None
    three = Session(gametext.load("pentaquest(players=3)"), 0, ["random"], 1)
    assert three.win_chance(1.0) == 1
    assert three.win_chance(-0.5) == 0
    assert three.win_chance(0.25) == 0.5  # a win shared by two of three


def test_a_bot_tells_how_it_saw_its_choice():
    shown, screen = typed(pig(bots=["mcts(simulations=100)"], seat=1, seed=4), "why")
    assert re.search(r"seat 0 gives itself \d+ % to win \(its choice: (roll the die|hold); next best: ", shown)
    assert "how seat 0, mcts(simulations=100), saw its last choice" in " ".join(shown.split())
    thought = screen.session.thought
    assert thought.seat == 0
    assert thought.options[0].chance == pytest.approx((thought.options[0].value + 1) / 2)
    assert "no bot has decided yet" in typed(pig(), "why")[0]
    assert "no bot here looks ahead" in typed(pig(seat=1, seed=4), "why")[0]


def test_a_bot_with_hidden_cards_does_not():
    session = Session(gametext.load("kuhn"), 1, ["ismcts(simulations=50)"], 4)
    shown, screen = typed(session, "why")
    assert screen.session.thought is None
    assert "would give away what it holds" in shown
    assert "seat 0 expects" not in shown
    assert "by all that you can see you may expect about" in shown


def test_odds_that_were_kept_are_shown_at_the_end():
    session = Session(gametext.load("kuhn"), 1, ["ismcts(simulations=50)"], 4)
    shown, screen = typed(session, "1", "1", "why")
    assert screen.session.over
    assert "how seat 0, ismcts(simulations=50), saw its last choice" in " ".join(shown.split())
    assert screen.session.undo()
    assert screen.session.thought is None


def test_the_persons_outlook_tells_nothing_of_a_rivals_card():
    """Kuhn poker: with the same own card and bids, whatever the rival holds, the outlook is the same."""
    seen = {}
    for seed in range(40):
        session = Session(gametext.load("kuhn"), 1, ["random"], seed)
        advance(session)
        state = session.position.to_dict()
        best = session.outlook()
        assert best is not None
        seen.setdefault((state["cards"][1], state["bids"]), {}).setdefault(state["cards"][0], []).append(best.value)
    two_rivals = [rivals for rivals in seen.values() if len(rivals) == 2]
    assert two_rivals
    for first, second in (rivals.values() for rivals in two_rivals):
        assert sum(first) / len(first) == pytest.approx(sum(second) / len(second), abs=0.25)  # of 2000 simulations


def test_games_without_secrets_and_others_turns_need_no_outlook():
    session = pig()
    session.go_on()
    assert session.outlook() is None


def option(value, chance=None, best=False, words="x"):
    return Option(action=0, text="x", words=words, visits=0, value=value, chance=chance, share=0.0, best=best)


def test_figures_say_what_they_are():
    duel, alone = pig(), Session(gametext.load("pentaquest"), 0, ["random"], 1)
    poker = Session(gametext.load("kuhn"), 0, ["random"], 1)
    assert odds.figure(duel, option(0.24, 0.62)) == "62.0 %"
    assert odds.figure(duel, option(0.24, 0.62), 0) == "62 %"
    assert odds.figure(duel, option(math.nan, math.nan)) == "not tried"
    assert odds.figure(poker, option(1.0)) == "+1 chip"
    assert odds.figure(poker, option(-2.0)) == "-2 chips"
    assert odds.figure(poker, option(1 / 3)) == "+0.33 chips"
    assert odds.figure(alone, option(1.0)) == "1 card kept"
    assert odds.figure(alone, option(4.25)) == "4.25 cards kept"


def test_an_action_in_few_words():
    assert odds.brief("capture Portal for 4 Quiddity (5 dice left): draws") == "capture Portal for 4 Quiddity"
    assert odds.brief("hold: 0 + 3 = 3 points") == "hold"
    assert odds.brief("roll Assistant (1 Quiddity) again") == "roll Assistant again"
    assert odds.brief("summon Hag (level 2, 3/4) for 2 Quiddity: draw 1 (once)") == "summon Hag for 2 Quiddity"
    assert len(odds.brief("x" * 200)) == 60
    long = "use the Anchored Spell of the Mighty Quartz Golem, attached, for 5 Quiddity"
    assert odds.brief(long) == "use the Anchored Spell of the Mighty Quartz Golem…"


def test_a_bots_own_dice_are_not_the_listeners():
    assert overheard("unlock your Portal for 2 Quiddity") == "unlock its Portal for 2 Quiddity"
    assert overheard("cast Death: destroy one of your creatures") == "cast Death: destroy one of your creatures"
    rules = "quarriors(edition=base,qladiator=true)"
    session = Session(gametext.load(rules), 1, ["mcts(simulations=20)"], 4)
    session.go_on()
    assert session.thought is not None
    assert not any("your" in option.words.partition(": ")[0] for option in session.thought.options)


def test_actions_that_a_search_did_not_come_to_say_so():
    table = odds_table([option(0.0, 0.5, best=True), option(math.nan, math.nan)])
    assert "not tried" in table
    assert "the search kept its time for actions that looked better" in table
    assert "not tried" not in odds_table([option(0.0, 0.5, best=True)])


def odds_table(options):
    console = Console(file=io.StringIO(), width=100)
    console.print(hint_table(pig(), "odds", options))
    return " ".join(console.file.getvalue().split())


def test_after_the_end_hint_says_what_can_be_done():
    shown, screen = typed(pig(text="pig(goal=2)", seed=3), "roll", "hold", "hint")
    assert screen.session.over
    assert "the game is over: there is nothing left to decide; undo takes your last move back" in shown


@pytest.mark.parametrize(
    ("game", "says"),
    [("kuhn", r"You have (won: \+|lost to seat 1: -)[12] chips?\."), ("pentaquest", r"Your result: \d+ cards? kept\.")],
)
def test_a_result_says_what_it_counts(game, says):
    session = Session(gametext.load(game), 0, ["random"], 3)
    session.go_on()
    while not session.over:
        session.choose(session.position.legal_actions()[-1])
        session.go_on()
    assert re.search(says, session.verdict())


def _option(action, words, value, visits, *, best=False, share=0.0):
    return Option(action, words, words, visits, value, None, share, best)


def test_options_are_shown_in_few_words_that_stay_different():
    told = ["capture Portal for 4 Quiddity (5 dice left): draw 1", "beat A (1 1): keep it", "beat A (2 2): keep it"]
    options = [_option(k, words, 0.0, 1) for k, words in enumerate(told)]
    assert odds.briefly(options) == ["capture Portal for 4 Quiddity", told[1], told[2]]


def test_a_bots_choice_and_its_next_best_stay_different(monkeypatch):
    """Two faces of one die."""
    session = pig(bots=["mcts(simulations=20)"], seat=1, seed=4)
    session.go_on()
    told = ["roll Basic Quiddity (1 Quiddity) again", "roll Basic Quiddity (2 Quiddity) again"]
    options = [_option(0, told[0], 0.4, 9, best=True), _option(1, told[1], 0.3, 1)]
    monkeypatch.setattr(Session, "thought", replace(session.thought, options=options))
    said = odds.of_rival(session)
    assert f"its choice: {told[0]}; next best: {told[1]}," in said


def test_a_choice_with_a_worse_figure_than_another_is_explained():
    steady = [_option(0, "a", 0.4, 900, best=True), _option(1, "b", 0.3, 100)]
    assert odds.notes(steady) == []
    odd = [_option(0, "a", 0.4, 900, best=True), _option(1, "b", 0.6, 10), _option(2, "c", math.nan, 0)]
    assert odds.notes(odd) == [odds.UNTRIED_NOTE, odds.MOST_SEARCHED]


def test_a_hint_names_choices_by_their_numbers_in_the_menu():
    """`hold` is the second choice of the menu, whatever place the odds give it."""
    shown, _ = typed(pig(bots=["mcts(simulations=200)"], text="pig(goal=5)"), "hint")
    assert re.search(r"\b1  roll the die\b", shown)
    assert re.search(r"\b2  hold: 0 \+ 0", shown)
