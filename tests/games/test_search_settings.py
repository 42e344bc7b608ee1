"""Recommended search settings: a game names them as data, plain specs take them, and texts say so."""

import pickle

import pytest

import games
from engine_ext.errors import DataError, SpecError
from games.spec import read_search_settings
from solvers import specs
from solvers.contract import RESOURCES

FULL = {"c": 0.25, "prior": 0.5}


@pytest.fixture
def rules():
    made = games.spec("quandary_pig").make_rules()
    made.recommended = {"mcts": FULL}
    return made


def test_a_spec_without_settings_takes_them_and_its_text_says_so(rules):
    spec = specs.parse_spec("mcts(simulations=50,threads=2)", rules)
    assert {key: spec.parameters[key] for key in FULL} == FULL
    assert spec.recommended == tuple(FULL)
    assert str(spec) == "mcts(simulations=50,c=0.25,threads=2,prior=0.5)"
    alone = specs.parse_spec(str(spec))
    assert alone.parameters == spec.parameters == specs.parse_spec(str(spec), rules).parameters


@pytest.mark.parametrize("setting", ["c=0.6", "prior=0", "playout=random"])
def test_any_setting_of_ones_own_switches_them_off(rules, setting):
    spec = specs.parse_spec(f"mcts(simulations=50,{setting})", rules)
    assert spec.recommended == ()
    assert spec.parameters == specs.parse_spec(f"mcts(simulations=50,{setting})").parameters


def test_other_searchers_and_searches_without_a_game_are_left_alone(rules):
    assert specs.parse_spec("mcts(simulations=50)").recommended == ()
    assert specs.parse_spec("ismcts(simulations=50)", rules).recommended == ()


def test_they_survive_pickling(rules):
    assert pickle.loads(pickle.dumps(rules)).recommended == {"mcts": FULL}
    assert pickle.loads(pickle.dumps(rules.initial_position())).rules.recommended == {"mcts": FULL}


@pytest.mark.parametrize(
    ("settings", "words"),
    [({"cc": 1.0}, ["quandary_pig", "cc"]), ({"c": -1.0}, ["c", "-1"]), ({"simulations": 9}, ["simulations"])],
)
def test_a_game_that_recommends_what_is_no_setting_is_named(rules, settings, words):
    rules.recommended = {"mcts": settings}
    with pytest.raises(SpecError) as caught:
        specs.parse_spec("mcts", rules)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize("name", list(games.SPECS))
def test_every_game_recommends_settings_that_searchers_have(name):
    spec = games.spec(name)
    rules = spec.make_rules()
    for searcher, settings in rules.recommended.items():
        parsed = specs.parse_spec(searcher, rules)
        assert dict(parsed.given) == settings
        assert not RESOURCES & set(settings)
        specs.make_searcher(searcher, rules)
    for scenario in spec.scenarios:
        assert spec.make_rules({"scenario": scenario}).recommended == {}


def test_the_first_table_whose_parameters_fit(tmp_path):
    path = tmp_path / "search.toml"
    path.write_text(
        '[[recommended]]\nsearcher = "mcts"\nwhen = { players = [3, 4] }\nsettings = { c = 2.0 }\n'
        '[[recommended]]\nsearcher = "mcts"\nsettings = { c = 1.0 }\n'
    )
    rows = read_search_settings(path, {"players": 2})
    assert [row["when"] for row in rows] == [{"players": [3, 4]}, {}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("recommended = 1", ["list"]),
        ("[[recommended]]\nsettings = {}", ["recommended[1]", "searcher"]),
        ('[[recommended]]\nsearcher = "mcts"\nsettings = {}\nweight = 1', ["recommended[1]", "weight"]),
        ("[[recommended]]\nsearcher = 3\nsettings = {}", ["searcher", "str"]),
        ('[[recommended]]\nsearcher = "mcts"\nsettings = {}\nwhen = { seats = 2 }', ["seats", "players"]),
        ('[[recommended]]\nsearcher = "mcts"\nsettings = {}\nwhen = { players = true }', ["players", "int"]),
        ("[[recommended]", ["search.toml"]),
    ],
)
def test_a_malformed_file_is_named_with_its_place(tmp_path, text, words):
    path = tmp_path / "search.toml"
    path.write_text(text)
    with pytest.raises(DataError) as caught:
        read_search_settings(path, {"players": 2})
    assert all(word in str(caught.value) for word in words)
