"""The engine, stepped side by side with the plain model written from the numbered rules."""

from __future__ import annotations

import random

import pytest

import games
from games.pentaquest.cards import read_deck
from tests.games.pentaquest.helpers import write_deck
from tests.reference.pentaquest import SYMBOLS, Card, Game

# Decks with twins, alternatives, requirements of every sort; name, requires, symbol.
MIXED = [
    ("Rat", ["SS"], "add"),
    ("Rat", ["SS"], "add"),
    ("Rat King", ["SS"], "add"),  # interchangeable with the rats under another name
    ("Toad", ["22"], "sub"),
    ("Dog", ["SSS", "16"], "reroll"),
    ("Gargoyle", ["SSMM"], "mirror"),
    ("Ghost", ["1SS"], "addsub"),
    ("Sphinx", ["SSM"], "reroll"),
    ("Roc", ["6"], "mirror"),
]
EASY = [(f"Slime {symbol} {i}", ["S"], symbol) for symbol in SYMBOLS for i in range(3)]

SETTINGS = [
    {"deck": "default", "players": 1},
    {"deck": "mixed", "players": 1, "quest_area": 3},
    {"deck": "easy", "players": 1, "quest_area": 2},
    {"deck": "mixed", "players": 2, "quest_area": 1, "first_turn_rerolls": "first"},
    {"deck": "mixed", "players": 3, "quest_area": 5, "utility": "score"},
    {"deck": "mixed", "players": 2, "quest_area": 4, "original": True},
    {"deck": "easy", "players": 4, "quest_area": 3, "original": True, "utility": "score"},
    {"deck": "mixed", "players": 5, "quest_area": 2, "distinct": True},
    {"deck": "mixed", "players": 6, "quest_area": 64},
    {"deck": "mixed", "players": 7, "quest_area": 6, "first_turn_rerolls": "first", "original": True},
    {"deck": "easy", "players": 8, "quest_area": 5},
]


def cards_of(deck: str, folder) -> tuple[str, list[Card]]:
    """The deck parameter and the model's cards."""
    rows = {"mixed": MIXED, "easy": EASY}.get(deck)
    if rows is None:
        return deck, [Card(c.name, tuple(map(str, c.requires)), c.symbol) for c in read_deck(deck).cards]
    return str(write_deck(folder / "deck.toml", rows)), [Card(name, tuple(req), symbol) for name, req, symbol in rows]


def choose(options: list[str], rng: random.Random) -> str:
    """A step at random, with cards beaten more often, so that games get somewhere."""
    beating = [option for option in options if option.startswith(("beat", "discard"))]
    using = [option for option in options if not option.startswith(("beat", "reroll,", "pass"))]
    for some, share in ((beating, 0.6), (using, 0.4)):
        if some and rng.random() < share:
            return rng.choice(some)
    return rng.choice(options)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda s: "-".join(str(v) for v in s.values()))
def test_engine_and_model_agree_step_by_step(setting, tmp_path) -> None:
    deck, cards = cards_of(setting["deck"], tmp_path)
    rules = games.spec("pentaquest").make_rules({**setting, "deck": deck})
    options = {"area" if key == "quest_area" else key: value for key, value in setting.items() if key != "deck"}
    rng = random.Random(repr(setting))
    steps = finished = 0
    for _ in range(6 if setting["deck"] == "default" else 12):
        model, position = Game(cards, **options), rules.initial_position()
        while steps < 4000:
            assert position.to_dict() == model.summary()
            assert position.returns() == pytest.approx(model.returns(), abs=1e-12)
            assert position.check() == 0
            if model.step == "over":
                assert position.is_terminal()
                finished += 1
                break
            if position.is_chance_node():
                chances = model.chances()
                offered = {position.action_to_string(-1, o): p for o, p in position.chance_outcomes()}
                assert offered == pytest.approx({name: float(p) for name, p in chances.items()}, abs=1e-15)
                step = rng.choices(list(chances), [float(p) for p in chances.values()])[0]
                action = next(o for o in position.legal_actions() if position.action_to_string(-1, o) == step)
            else:
                assert position.current_player() == model.seat
                actions = model.actions()
                assert {position.action_to_string(a) for a in position.legal_actions()} == actions
                step = choose(sorted(actions), rng)
                action = position.string_to_action(step)
            model.apply(step)
            position.apply_action(action)
            steps += 1
    assert steps > 50
    assert finished >= 2
