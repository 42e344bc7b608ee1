"""Malformed decks, parameters and positions: a named error that says where, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pyspiel
import pytest

import games
from engine_ext.errors import DataError, ParameterError, PositionError
from games.pentaquest.cards import DATA, read_deck
from tests.games.pentaquest.helpers import write_deck

SPEC = games.spec("pentaquest")
CARD = '[[card]]\nname = "Rat"\nrequires = ["SS"]\nsymbol = "add"\nprovenance = "reconstructed"\n'


def changed(field: str, value: str) -> str:
    """The one-card deck with one line replaced; an empty value drops the line."""
    lines = [line for line in CARD.splitlines() if not line.startswith(field)]
    return "\n".join([*lines, f"{field} = {value}"] if value else lines)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[[card]\n", "deck.toml"),
        ("", "array of tables"),
        ("card = 3\n", "array of tables"),
        ("card = []\n", "0 cards"),
        (CARD * 65, "65 cards"),
        ("name = 'X'\n" + CARD, "'name'"),
        (changed("name", ""), "name is missing"),
        (changed("name", '""'), "name is ''"),
        (changed("name", "7"), "name is 7"),
        (changed("name", '" Rat"'), "name is ' Rat'"),
        (changed("name", '"no card 7"'), "name is 'no card 7'"),
        (changed("requires", ""), "requires is missing"),
        (changed("requires", '"SS"'), "requires is 'SS'"),
        (changed("requires", "[]"), "requires is []"),
        (changed("requires", "[22]"), "requires holds 22"),
        (changed("requires", '[""]'), "shows 0 dice"),
        (changed("requires", '["SSSMMM"]'), "shows 6 dice"),
        (changed("requires", '["SX"]'), "'X' is no sign"),
        (changed("requires", '["7"]'), "'7' is no sign"),
        (changed("requires", '["SS", "SS"]'), "twice"),
        (changed("requires", '["12", "21"]'), "twice"),
        (changed("symbol", ""), "symbol is missing"),
        (changed("symbol", '"plus"'), "symbol is 'plus'"),
        (changed("symbol", "[]"), "symbol is []"),
        (changed("provenance", ""), "provenance is missing"),
        (changed("provenance", '"guessed"'), "provenance is 'guessed'"),
        (changed("provenance", '"rulebook"'), "source is missing"),
        (CARD + "source = 3\n", "source is 3"),
        (CARD + "colour = 'red'\n", "'colour'"),
        (CARD + CARD.replace("SS", "22"), "card 2 (Rat): name"),
    ],
)
def test_malformed_decks(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "deck.toml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(DataError) as error:
        SPEC.make_rules({"deck": str(path)})
    assert "deck.toml" in str(error.value)
    assert said in str(error.value)


def test_decks_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="it has: default"):
        read_deck("no_such_deck")
    with pytest.raises(DataError, match=r"missing\.toml"):
        read_deck(str(tmp_path / "missing.toml"))
    (tmp_path / "latin.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(DataError, match=r"latin\.toml"):
        read_deck(str(tmp_path / "latin.toml"))


def test_the_largest_deck_plays(tmp_path: Path) -> None:
    rows = [(f"Card {i}", ["S" * (1 + i % 2)], ("add", "mirror", "reroll")[i % 3]) for i in range(64)]
    path = write_deck(tmp_path / "deck.toml", rows)
    for area in (1, 5, 64):
        game = pyspiel.load_game(f"pentaquest(deck={path},quest_area={area})")
        position = game.new_initial_state().position
        assert len(position.to_dict()["deck"]) == (64 if area < 64 else 0)
        assert position.check() == 0


@pytest.mark.parametrize("path", sorted(DATA.glob("*.toml")), ids=lambda path: path.stem)
def test_shipped_decks_are_reconstructions_and_say_so(path: Path) -> None:
    deck = read_deck(path.stem)
    assert {card.provenance for card in deck.cards} == {"reconstructed"}
    rules = SPEC.make_rules({"deck": path.stem})
    assert SPEC.records is not None
    assert {(r["kind"], r["provenance"]) for r in SPEC.records(rules)} == {("card", "reconstructed")}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"players": 0}, "players is 0"),
        ({"players": 9}, "players is 9"),
        ({"quest_area": 0}, "quest_area is 0"),
        ({"quest_area": 65}, "quest_area is 65"),
        ({"utility": "points"}, "utility is 'points'"),
        ({"first_turn_rerolls": "none"}, "first_turn_rerolls is 'none'"),
        ({"original": True}, "original is an option for several players, not for players=1"),
        ({"first_turn_rerolls": "first"}, "first_turn_rerolls is an option for several players"),
        ({"utility": "score", "scenario": "tiny"}, "utility is an option for several players"),
        ({"distinct": 1}, "parameter distinct"),
        ({"deck": 5}, "parameter deck"),
        ({"scenario": "huge"}, "no scenario 'huge'"),
        ({"seats": 2}, "no parameter 'seats'"),
    ],
)
def test_bad_parameters(given: dict, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        SPEC.make_rules(given)


def test_paths_that_game_strings_cannot_hold(tmp_path: Path) -> None:
    path = write_deck(tmp_path / "a,b.toml", [("Rat", ["SS"], "add")])
    with pytest.raises(ParameterError, match="cannot hold"):
        pyspiel.load_game("pentaquest", {"deck": str(path)})


# One deck: Rat, Rat, Toad, Dog; two players.
@pytest.mark.parametrize(
    ("position", "field"),
    [
        ({"dek": []}, "'dek'"),
        ({"quest": "Rat"}, "quest is"),
        ({"quest": ["Cat"]}, "quest holds 'Cat'"),
        ({"quest": [3]}, "quest holds 3"),
        ({"deck": ["Toad", "Toad"]}, "deck and the rest hold 'Toad' 2 times"),
        ({"quest": ["Rat", "Rat", "Rat"]}, "quest and the rest hold 'Rat' 3 times"),
        ({"quest": ["Rat"], "deck": ["Rat", "Rat"]}, "'Rat' 3 times"),
        ({"quest": ["Rat", "Toad", "Dog"]}, "quest holds 3 cards"),
        ({"deck": [], "quest": ["Rat"]}, "discards sum to 0"),
        ({"armies": [{}]}, "armies is"),
        ({"armies": [[], {}]}, "armies holds []"),
        ({"armies": [{"plus": 1}, {}]}, "armies holds 'plus'"),
        ({"armies": [{"add": -1}, {}]}, "armies is -1"),
        ({"armies": [{"add": True}, {}]}, "armies is True"),
        ({"armies": [{"add": 1}, {}]}, "armies hold 1 or more add"),
        ({"discards": [1]}, "discards is"),
        ({"discards": [1, 0]}, "discards sum to 1"),
        ({"discards": [0.5, 0]}, "discards is 0.5"),
        ({"turn": -1}, "turn is -1"),
        ({"turn": 0, "deck": ["Rat", "Rat", "Toad"], "discards": [1, 0]}, "turn is 0"),
        ({"seat": 2}, "seat is 2"),
        ({"turn": 2, "seat": 1}, "seat is 1"),
        ({"dice": [1, 2, 7, 1, 1]}, "dice is"),
        ({"dice": [1, 2, 3, 4, 5, 6]}, "dice is"),
        ({"dice": "12345"}, "dice is"),
        ({"dice": [1, 2], "quest": ["Rat", "Toad"], "step": "act"}, "dice is [1, 2]"),
        ({"dice": [1, 2, 3, 4, 5], "quest": ["Rat", "Toad"], "step": "roll"}, "dice is"),
        ({"dice": [1, 2, 3, 4, 5]}, "quest holds 0 of 2"),
        ({"step": "rest"}, "step is 'rest'"),
        ({"step": "over"}, "step is 'over'"),
        ({"step": "forfeit", "dice": [1, 2, 3, 4, 5], "quest": ["Rat", "Toad"]}, "step is 'forfeit'"),
        ({"deck": [], "quest": [], "discards": [2, 2], "step": "roll"}, "step is 'roll'"),
        ({"dice": [1, 2, 3, 4, 5], "quest": ["Rat", "Toad"], "rerolls": 3}, "rerolls is 3"),
        ({"dice": [1, 2, 3, 4, 5], "quest": ["Rat", "Toad"], "turn": 2, "rerolls": 2}, "rerolls is 2"),
        ({"rerolls": 1}, "rerolls is 1"),
    ],
)
def test_contradictory_positions(position: dict, field: str, tmp_path: Path) -> None:
    rows = [("Rat", ["SS"], "add"), ("Rat", ["SS"], "add"), ("Toad", ["22"], "sub"), ("Dog", ["SSS"], "reroll")]
    deck = write_deck(tmp_path / "deck.toml", rows)
    rules = SPEC.make_rules({"deck": str(deck), "players": 2, "quest_area": 2})
    with pytest.raises(PositionError) as error:
        rules.from_dict(position)
    assert field in str(error.value)


def test_a_solo_position_fixes_its_turn() -> None:
    rules = SPEC.make_rules({"scenario": "tiny"})
    with pytest.raises(PositionError, match="turn is 3"):
        rules.from_dict({"turn": 3})
