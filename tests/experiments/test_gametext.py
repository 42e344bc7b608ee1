"""Games as text."""

from __future__ import annotations

import pytest

from engine_ext.errors import ParameterError
from experiments import gametext


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("pig", "quandary_pig"),
        ("pig(winscore=20,horizon=9)", "pig(horizon=9,winscore=20)"),  # OpenSpiel's, by what only it can be asked
        (" quandary_pig ( goal = 50 ) ", "quandary_pig(goal=50)"),
        ("kuhn", "quandary_kuhn"),
        ("kuhn_poker", "kuhn_poker"),
        ("leduc_poker(players=3)", "leduc_poker(players=3)"),
        (
            "turn_based_simultaneous_game(game=goofspiel(num_cards=3))",
            "turn_based_simultaneous_game(game=goofspiel(num_cards=3))",
        ),
        ("cached_tree(game=pig)", "cached_tree(game=quandary_pig())"),
        ("python_kuhn_poker", "python_kuhn_poker"),
    ],
)
def test_canonical_text_loads_and_is_its_own(text, canonical):
    game = gametext.load(text)
    assert game.text == canonical
    assert gametext.load(game.text).text == canonical
    assert game.openspiel().num_players() >= 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("pigg", "did you mean pig"),
        ("", "does not start with the name"),
        ("pig(", "pig"),
        ("pig(goal)", "'goal' is not key=value"),
        ("pig(goal=1,goal=2)", "given twice"),
        ("pig(goal=ten)", "it must be a whole number"),
        ("pig(goal=1)", "allowed are 2 to 1000"),
        ("pig(gaol=10)", "it has: goal"),
        ("pig(goal=(10)", "a ( without its )"),
        ("pig(goal=10))", "a ) without its ("),
        ("pig)", "after pig"),
        ("kuhn_poker(players=99)", "OpenSpiel refuses"),
        ("kuhn_poker(player=2)", "it has: players"),
        ("leduc_poker(action_mapping=maybe)", "true or false"),
        ("cached_tree(game=pigg)", "did you mean pig"),
    ],
)
def test_bad_text_is_named(text, says, capfd):
    with pytest.raises(ParameterError) as caught:
        gametext.load(text)
    assert says in str(caught.value)
    assert capfd.readouterr().err == ""  # OpenSpiel stays quiet


def test_a_game_of_openspiel_is_refused_where_only_ours_will_do():
    with pytest.raises(ParameterError, match="there are: "):
        gametext.load("chess", own_only=True)
