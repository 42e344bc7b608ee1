"""When games are the same: policies, trees and their files keep to one notion of it."""

import numpy as np
import pyspiel
import pytest

import games
from engine_ext.errors import SavedStateError, UnsuitableGameError
from engine_ext.rng import Stream
from solvers.extraction import extract
from solvers.identity import identify
from solvers.mccfr import NativeMCCFR
from solvers.policies import KeyedPolicy, TabularPolicy
from solvers.saved import write_saved


def quarriors(**parameters):
    return games.spec("quarriors").make_rules(parameters)


def decision(rules):
    position = rules.initial_position()
    position.run_chance(Stream(1))
    return position


def keyed(rules):
    solver = NativeMCCFR(rules, sampling="outcome", seed=1, max_bytes=1 << 20)
    solver.run(5)
    return solver.average_policy()


def test_a_game_is_its_parameters_its_start_and_its_data(tmp_path):
    plain = identify(quarriors(scenario="race"))
    assert plain == identify(quarriors(scenario="race"))
    assert plain.digest != identify(quarriors(scenario="skirmish")).digest
    assert plain.rules != identify(quarriors(max_turns=7)).rules
    moved = identify(decision(quarriors(scenario="race")))
    assert (moved.rules, moved.game.endswith("a position of its own")) == (plain.rules, True)
    assert moved.digest != plain.digest


def test_card_files_are_part_of_the_game(tmp_path):
    """The same parameters, one number on a card changed: another game."""
    source = games.spec("pentaquest").folder / "data"
    deck = next(iter(sorted(source.glob("*.toml"))))
    copy = tmp_path / "deck.toml"
    copy.write_text(deck.read_text(encoding="utf-8"), encoding="utf-8")
    make = games.spec("pentaquest").make_rules
    before = identify(make({"deck": str(copy)}))
    assert before == identify(make({"deck": str(copy)}))
    copy.write_text(deck.read_text(encoding="utf-8") + "\n# a word\n", encoding="utf-8")
    assert before.digest != identify(make({"deck": str(copy)})).digest


def test_openspiel_games_are_their_name_and_all_parameters():
    load = pyspiel.load_game
    assert identify(load("kuhn_poker")).digest == identify(load("kuhn_poker(players=2)")).digest
    assert identify(load("kuhn_poker")).digest != identify(load("kuhn_poker(players=3)")).digest
    goofspiel = load("goofspiel(num_cards=3)")
    assert identify(goofspiel).digest == identify(pyspiel.convert_to_turn_based(goofspiel)).digest
    assert identify(load("quandary_kuhn")) == identify(games.spec("kuhn").make_rules({}))


def test_a_keyed_policy_is_of_one_scenario(tmp_path):
    race, skirmish = quarriors(scenario="race"), quarriors(scenario="skirmish")
    policy = keyed(race)
    policy.save(tmp_path / "policy")
    again = KeyedPolicy.load(tmp_path / "policy", quarriors(scenario="race"))
    assert again.action_probabilities(decision(race)) == policy.action_probabilities(decision(race))
    for other in (skirmish, quarriors(), decision(race), games.spec("pig").make_rules({})):
        with pytest.raises(SavedStateError, match="a policy of another game"):
            KeyedPolicy.load(tmp_path / "policy", other)
    with pytest.raises(UnsuitableGameError, match="other parameters or data"):
        policy.action_probabilities(decision(skirmish))


def test_files_of_the_first_version_say_that_they_are_old(tmp_path):
    for kind, load in (
        ("keyed policy", lambda path: KeyedPolicy.load(path, quarriors())),
        ("tabular policy", lambda path: TabularPolicy.load(path, extract("kuhn_poker"))),
    ):
        write_saved(tmp_path / "old", kind, 1, {"game": "quarriors"}, {"probabilities": np.ones(1)})
        with pytest.raises(SavedStateError, match=f"{kind} of version 1, this release reads version 2"):
            load(tmp_path / "old")


def test_a_tabular_policy_plays_its_own_game_alone(tmp_path):
    policy = TabularPolicy.first_action(extract("kuhn_poker"))
    state = pyspiel.load_game("kuhn_poker(players=2)").new_initial_state()
    for action in (0, 1):
        state.apply_action(action)
    assert policy.action_probabilities(state) == {0: 1.0, 1: 0.0}
    three = pyspiel.load_game("kuhn_poker(players=3)").new_initial_state()
    for action in (0, 1, 2):
        three.apply_action(action)
    with pytest.raises(UnsuitableGameError, match="the state is of kuhn_poker"):
        policy.action_probabilities(three)
    native = TabularPolicy.uniform(extract(quarriors(scenario="skirmish")))
    with pytest.raises(UnsuitableGameError, match="other parameters or data"):
        native.action_probabilities(decision(quarriors(scenario="race")))
    policy.save(tmp_path / "policy")
    with pytest.raises(SavedStateError, match="a policy of another game"):
        TabularPolicy.load(tmp_path / "policy", extract("leduc_poker"))
