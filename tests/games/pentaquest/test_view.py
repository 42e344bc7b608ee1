"""The table in the terminal says what there is to see, and where the cards come from."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

import games
from engine_ext.errors import IllegalActionError
from engine_ext.position import Position
from engine_ext.rng import Stream
from games.words import Step
from tests.games.pentaquest.helpers import write_deck

SPEC = games.spec("pentaquest")


def shown(position: Position, seat: int = 0) -> str:
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(SPEC.render(position, seat))
    return console.export_text()


def test_the_table_shows_cards_dice_armies_and_choices() -> None:
    rules = SPEC.make_rules({"scenario": "tiny", "players": 2})
    position = rules.from_dict(
        {
            "deck": [],
            "quest": ["Marsh Toad", "Stone Gargoyle"],
            "armies": [{"add": 1}, {"reroll": 1}],
            "discards": [0, 1],
            "turn": 4,
            "dice": [2, 2, 3, 4, 5],
        }
    )
    text = shown(position)
    for part in ("Marsh Toad", "Stone Gargoyle", "☀ ☀ ☾ ☾", "can be beaten", "seat 1", "reconstructed"):
        assert part in text
    assert "free rerolls left: 1" in text
    # Two pairs or four of a kind from 2 2 3 4 5 with one reroll. Keeping 2 2 3 and rolling two dice: any pair (6 of
    # 36, two twos among them) or one 3 and another (11 of 36, two threes counted already): 16 of 36.
    # Keeping 2 2 and rolling three: a pair of another number, or two twos: no better.
    assert "44.4% by the dice" in text


def test_the_menu_begins_with_what_wins_and_ends_with_giving_up() -> None:
    rules = SPEC.make_rules({"scenario": "tiny"})
    position = rules.from_dict({"deck": [], "quest": ["Marsh Toad"], "armies": [{"add": 1}], "dice": [2, 2, 3, 4, 5]})
    words = list(SPEC.options(position).values())
    assert words[0].startswith("beat Marsh Toad (")
    assert words[-1] == "take nothing: the game is lost"
    assert "use a card, add: a 5 becomes 6 (your free reroll is gone)" in words
    assert "keep 2 2, roll 3 again" in words
    assert "You have rolled 2 2 3 4 5" in SPEC.ask(position)


def menu_of(position: Position) -> dict[str, str]:
    return {position.action_to_string(action): words for action, words in SPEC.options(position).items()}


def test_every_answer_that_ends_or_loses_something_says_so(tmp_path) -> None:
    """P5: cards come after the free rerolls, so that using one gives them up; rule 22: alone a turn that beats nothing
    loses. The Horned Devil asks for three sixes; 1 2 3 4 5 has none, and no one card of the army makes them."""
    deck = write_deck(tmp_path / "deck.toml", [("Devil", ["666"], "add"), ("Rat", ["12346"], "add")] * 2)
    rules = SPEC.make_rules({"deck": str(deck)})
    given = {"deck": [], "quest": ["Devil", "Rat"], "armies": [{"add": 1}], "discards": [1], "dice": [1, 2, 3, 4, 5]}
    menu = menu_of(rules.from_dict(given))
    lost = " (your free reroll is gone, and the game is lost)"
    assert menu["add 1 to 2"] == f"use a card, add: a 1 becomes 2{lost}"
    assert menu["add 5 to 6"] == "use a card, add: a 5 becomes 6 (your free reroll is gone)"  # it beats the Rat
    assert menu["pass"] == "give up: the game is lost"
    two = menu_of(rules.from_dict({**given, "armies": [{"add": 2}], "discards": [0]}))
    assert two["add 1 to 2"] == "use a card, add: a 1 becomes 2 (your free reroll is gone)"
    first = {"deck": [], "quest": ["Devil", "Rat"], "dice": [1, 2, 3, 4, 6]}
    assert menu_of(rules.from_dict(first))["beat Rat"] == (
        "beat Rat (1 2 3 4 6): it joins your army (add, one die up by 1), and your turn ends"
    )
    none = menu_of(rules.from_dict({**given, "rerolls": 0}))
    assert none["add 1 to 2"] == "use a card, add: a 1 becomes 2 (the game is lost)"
    bare = menu_of(rules.from_dict({**given, "armies": [{}], "discards": [2]}))
    assert bare["reroll, keep 1 2 3 4 5"] == "keep all, and use up a free reroll: the game is lost"
    last = {"deck": [], "quest": ["Rat"], "dice": [1, 2, 3, 4, 6], "armies": [{"add": 3}]}
    assert menu_of(rules.from_dict(last))["beat Rat"].endswith(", and the game is won")


def test_among_several_an_answer_says_when_the_turn_ends_and_what_that_costs(tmp_path) -> None:
    """Rule 27; P12: by the original a turn that beats nothing costs an army card."""
    deck = write_deck(tmp_path / "deck.toml", [("Devil", ["666"], "add"), ("Rat", ["12346"], "reroll")] * 3)
    given = {
        "deck": [],
        "quest": ["Devil", "Rat"],
        "armies": [{"add": 1, "reroll": 1}, {}],
        "discards": [0, 2],
        "turn": 4,
        "dice": [1, 2, 3, 4, 5],
    }
    plain = menu_of(SPEC.make_rules({"deck": str(deck), "players": 2}).from_dict(given))
    assert plain["pass"] == "give up: your turn ends"
    assert plain["add 1 to 2"] == "use a card, add: a 1 becomes 2 (your free reroll is gone)"
    assert plain["reroll card, keep none"] == "use a reroll card: roll all 5 again (your free reroll is gone)"
    original = SPEC.make_rules({"deck": str(deck), "players": 2, "original": True})
    assert menu_of(original.from_dict(given))["pass"] == "give up: your turn ends, and costs you a card of your army"
    one = {**given, "armies": [{"add": 1}, {}], "discards": [1, 2]}
    assert menu_of(original.from_dict(one))["pass"] == "give up: your turn ends, and costs you a card of your army"
    assert menu_of(original.from_dict(one))["add 1 to 2"] == (
        "use a card, add: a 1 becomes 2 (your free reroll is gone, and your turn ends)"
    )
    none = {**given, "armies": [{}, {}], "discards": [2, 2]}
    assert menu_of(original.from_dict(none))["pass"] == "give up: your turn ends"


def test_that_cards_end_the_free_rerolls_is_said_beforehand() -> None:
    """P5."""
    rules = SPEC.make_rules({})
    assert "Whoever uses a card has done with the free rerolls of that turn." in SPEC.aim(rules)
    known = SPEC.look_up(rules.from_dict({"dice": [1, 2, 3, 4, 5], "quest": ["Horned Devil"], "deck": []}), 0)
    assert known["card sub"].startswith("one die down by 1; used once, in place of the free rerolls")


def test_suns_and_moons_and_first_rerolls_are_told_as_they_are_played() -> None:
    """P1 with `distinct`, P11 with `first_turn_rerolls`."""
    dice = {"dice": [1, 2, 3, 4, 5], "quest": ["Horned Devil"], "deck": []}
    for distinct, says in ((False, "likewise, the same number or another;"), (True, "likewise, but another number;")):
        position = SPEC.make_rules({"distinct": distinct}).from_dict(dice)
        assert SPEC.look_up(position, 0)["suns and moons"].count(says) == 1
    twice = ", in the first turn twice,"
    for rerolls, players, says in (
        ("all", 2, twice),
        ("all", 1, twice),
        ("first", 2, ", seat 0 in its first turn twice,"),
    ):
        assert says in SPEC.aim(SPEC.make_rules({"first_turn_rerolls": rerolls, "players": players}))


@pytest.mark.parametrize(
    ("given", "end"),
    [
        (
            {"armies": [{"add": 1}, {"add": 2, "sub": 1}], "discards": [2, 0]},
            "seat 1 has won, 3 cards unused to 1, with",
        ),
        ({"armies": [{"add": 1}, {"add": 2}], "discards": [3, 0]}, "you have won, 4 cards captured to 2"),
        (
            {"armies": [{"add": 1}, {"add": 2}], "discards": [2, 1]},
            "seat 1 has won, 2 cards unused to 1, with 3 captured",
        ),
        ({"armies": [{"add": 2}, {"add": 1, "sub": 1}], "discards": [1, 1]}, "you and seat 1 share the win, 3 cards"),
    ],
)
def test_the_end_among_several_says_who_has_won_and_by_what(given, end, tmp_path) -> None:
    """Rules 29, 30, P19."""
    deck = write_deck(tmp_path / "deck.toml", [("Rat", ["SS"], "add")] * 4 + [("Toad", ["S"], "sub")] * 2)
    rules = SPEC.make_rules({"deck": str(deck), "players": 2})
    position = rules.from_dict({"deck": [], "quest": [], "turn": 6, **given})
    assert position.is_terminal()
    text = shown(position)
    assert f"Game over: {end}" in text
    assert "Dice" not in text


@pytest.mark.parametrize(
    ("typed", "means"),
    [
        ("keep 3 5 5", "reroll, keep 3 5 5"),
        ("keep 5 3 5", "reroll, keep 3 5 5"),
        ("keep 355", "reroll, keep 3 5 5"),
        ("Keep 3, 5 and 5", "reroll, keep 3 5 5"),
        ("reroll 1 2", "reroll, keep 3 5 5"),
        ("roll 1 2 again", "reroll, keep 3 5 5"),
        ("reroll all", "reroll, keep none"),
        ("keep none", "reroll, keep none"),
        ("keep all", "reroll, keep 1 2 3 5 5"),
        ("reroll 1 2 by card", "reroll card, keep 3 5 5"),
        ("keep 3 5 5, roll 2 again", None),  # words of the menu are no shorthand
        ("about 3", None),
    ],
)
def test_dice_may_be_typed(typed: str, means: str | None, tmp_path) -> None:
    deck = write_deck(tmp_path / "deck.toml", [("Devil", ["666"], "reroll")] * 2)
    rules = SPEC.make_rules({"deck": str(deck)})
    given = {"deck": [], "quest": ["Devil"], "armies": [{"reroll": 1}], "dice": [1, 2, 3, 5, 5]}
    position = rules.from_dict(given)
    action = SPEC.understand(position, typed)
    assert (None if action is None else position.action_to_string(action)) == means
    if means is not None:  # the free one used up, the card is left
        action = SPEC.understand(rules.from_dict({**given, "rerolls": 0}), typed)
        assert position.action_to_string(action).startswith("reroll card, keep ")


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("keep 5 5 5", "not so many 5s: the dice are 1 2 3 5 5"),
        ("reroll 1 1", "not so many 1s"),
        ("keep 4", "so many 4s"),
    ],
)
def test_dice_that_are_not_there_are_named(typed: str, says: str, tmp_path) -> None:
    deck = write_deck(tmp_path / "deck.toml", [("Devil", ["666"], "add")])
    rules = SPEC.make_rules({"deck": str(deck)})
    position = rules.from_dict({"quest": ["Devil"], "dice": [1, 2, 3, 5, 5]})
    with pytest.raises(IllegalActionError, match=says):
        SPEC.understand(position, typed)


def test_the_end_says_how_it_ended() -> None:
    rules = SPEC.make_rules({"scenario": "tiny"})
    lost = rules.from_dict({"quest": ["Marsh Toad", "Stone Gargoyle"], "step": "over"})
    assert "Lost" in shown(lost)
    won = rules.from_dict({"deck": [], "quest": [], "armies": [{"add": 1, "sub": 1}], "discards": [3]})
    assert "Won: 2 cards kept" in shown(won)


def test_every_step_of_a_game_can_be_shown() -> None:
    rules = SPEC.make_rules({"players": 3, "original": True, "scenario": "small"})
    stream = Stream(4)
    position = rules.initial_position()
    for _ in range(200):
        assert shown(position, 2)
        if position.is_terminal():
            break
        if position.is_chance_node():
            position.apply_action(position.sample(stream))
        else:
            position.apply_action(position.random_action(stream))


def test_names_are_no_markup(tmp_path) -> None:
    deck = write_deck(tmp_path / "deck.toml", [("[/bold] Imp [red]", ["S"], "add")])
    rules = SPEC.make_rules({"deck": str(deck)})
    position = rules.from_dict({"quest": ["[/bold] Imp [red]"], "dice": [1, 2, 3, 4, 5]})
    assert "[/bold] Imp [red]" in shown(position)


@pytest.mark.parametrize(
    ("original", "end"),
    [
        (
            False,
            "the game is over: you have captured 2 cards and seat 1 has captured 2; "
            "you have 2 cards unused and seat 1 has 1",
        ),
        (True, "the game is over: you have 2 cards in the army and seat 1 has 1"),
    ],
)
def test_the_last_line_tells_what_decides(original: bool, end: str, tmp_path) -> None:
    """Rules 29, 30 and P12: the cards captured and, level in them, the unused ones; by the original scoring the army.
    Seat 0 has an army card and takes the last creature; seat 1 has one, and has used one."""
    deck = write_deck(tmp_path / "deck.toml", [("Rat", ["SS"], "add"), ("Toad", ["S"], "sub")] * 2)
    rules = SPEC.make_rules({"deck": str(deck), "players": 2, "original": original})
    armies = [{"sub": 1}, {"sub": 1}]
    given = {"deck": [], "quest": ["Rat"], "armies": armies, "discards": [0, 1], "turn": 2, "dice": [2, 2, 3, 4, 5]}
    before = rules.from_dict(given)
    action = before.string_to_action("beat Rat")
    after = before.child(action)
    assert after.returns() == [1, -1]
    assert SPEC.tell([Step(0, action, "beat Rat", before, after)], 0)[-1].text == end


def test_the_aim_says_what_decides_a_tie() -> None:
    """Rules 29 and 30, P12, P19."""
    several = SPEC.aim(SPEC.make_rules({"players": 3}))
    assert "captured most wins, used cards included. Among those level in that, who has most cards unused" in several
    original = SPEC.aim(SPEC.make_rules({"players": 3, "original": True}))
    assert "the largest army wins, used cards not included. Who is level shares the win." in original
    lead = SPEC.aim(SPEC.make_rules({"players": 3, "utility": "score"}))
    assert lead.endswith("your lead over the mean of the others counts.")


def test_cards_that_come_without_a_choice_of_chance_are_told(tmp_path) -> None:
    """Phase 1 fills the quest area to five; where all cards left are alike, none of them is drawn by chance."""
    deck = write_deck(tmp_path / "alike.toml", [("Bee", ["SS"], "add")] + 7 * [("Ant", ["S"], "sub")])
    before = SPEC.make_rules({"deck": str(deck)}).initial_position()
    bee = next(o for o, _ in before.chance_outcomes() if before.action_to_string(-1, o) == "draw Bee")
    after = before.child(bee)
    lines = SPEC.tell([Step(-1, bee, "draw Bee", before, after)], 0)
    assert [line.text for line in lines] == ["Bee, Ant, Ant, Ant and Ant came into the quest area"]
    before = after.child(after.chance_outcomes()[0][0])
    action = before.string_to_action("beat Ant")
    lines = SPEC.tell([Step(0, action, "beat Ant", before, before.child(action))], 0)
    assert [line.text for line in lines] == ["beat Ant", "Ant came into the quest area", "turn 2"]


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({}, "they are the result"),  # rule 23
        ({"players": 2}, "they decide a tie"),  # rule 30
        ({"players": 2, "original": True}, "they alone are the score"),  # P12
        ({"players": 2, "utility": "score"}, "captured cards count whether they are used or not"),  # rule 29
    ],
)
def test_what_unused_cards_are_for(parameters: dict[str, object], text: str) -> None:
    rules = SPEC.make_rules(parameters)
    assert f"{text} (" in SPEC.terms(rules)["unused"]
