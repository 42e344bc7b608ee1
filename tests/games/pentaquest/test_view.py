"""The table in the terminal says what there is to see, and where the cards come from."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

import games
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
    assert words[-1] == "take nothing and lose the game"
    assert "use a card, add: a 5 becomes 6" in words
    assert "keep 2 2, roll 3 again" in words
    assert "You have rolled 2 2 3 4 5" in SPEC.ask(position)


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
