"""`strongest`: from the ladder files, or the stated fallback."""

from __future__ import annotations

import re

import pytest

import games
from engine_ext.errors import DataError
from experiments import config, gametext, ladder, players, run
from solvers import specs

GOOD = """[[row]]
game = "quandary_pig"
bot = "greedy"
elo = 10
interval = [1, 20.5]
games = 5
experiment = "x"
seed = 1
remark = "3 deals; not clearly separated from random"
"""


def test_every_row_that_ships_names_a_game_and_a_bot_of_it():
    assert ladder.rows()
    for row in ladder.rows():
        rules = gametext.load(row.game, own_only=True).rules
        players.seat(row.bot, rules)  # which checks it against the game
        assert ladder.find(rules) == row
        assert specs.parse_spec("strongest", rules).name == specs.parse_spec(row.bot, rules).name
        assert config.find(row.experiment).name == f"{row.experiment}.toml"


def test_a_game_without_a_row_falls_back_and_says_so():
    rules = games.spec("pig").make_rules({"goal": 7})
    assert ladder.find(rules) is None
    assert str(specs.parse_spec("strongest", rules)) == "mcts(simulations=2000)"
    assert "no row for this game" in ladder.explain(rules)
    assert "mcts(simulations=2000)" in ladder.explain(rules)


def test_where_information_is_hidden_the_fallback_does_not_see_through_it():
    rules = games.spec("kuhn").make_rules()
    assert ladder.fallback(rules) == "ismcts(simulations=2000)"


def test_a_scenario_is_not_the_full_game():
    tiny = gametext.load("pentaquest(scenario=tiny)").rules
    duel = gametext.load("pentaquest(scenario=duel)").rules
    assert ladder.find(duel).game == "pentaquest(scenario=duel)"
    assert ladder.find(tiny) is None or ladder.find(tiny).game == "pentaquest(scenario=tiny)"


def test_rows_are_read_back_as_written(tmp_path):
    path = tmp_path / "pig.toml"
    path.write_text(GOOD)
    rows = ladder.read(path)
    assert rows[0].interval == (1.0, 20.5)
    again = tmp_path / "again.toml"
    again.write_text(ladder.write(rows))
    assert [(row.game, row.bot, row.elo, row.interval, row.remark) for row in ladder.read(again)] == [
        (row.game, row.bot, row.elo, row.interval, row.remark) for row in rows
    ]
    assert rows[0].remark == "3 deals; not clearly separated from random"


def test_where_a_game_is_solved_at_once_the_strongest_bot_is_an_exact_one():
    """Pig, Kuhn poker, and every scenario whose exact value is stated with it."""
    games_solved = ["quandary_pig", "quandary_kuhn"]
    for spec in games.SPECS.values():
        games_solved += [f"{spec.name}(scenario={name})" for name, each in spec.scenarios.items() if each.solution]
    assert len(games_solved) == 12
    for game in games_solved:
        rules = gametext.load(game).rules
        strongest = specs.parse_spec("strongest", rules)
        assert strongest.exact, game
        assert (strongest.name == "sequence_form") == rules.hidden_information
        row = ladder.find(rules)
        assert ("an equilibrium" if rules.hidden_information else "exact play") in row.remark


def test_every_row_that_ships_says_from_how_many_deals_it_comes_and_whom_they_do_not_separate():
    for row in ladder.rows():
        assert re.match(r"\d[\d,]* deals", row.remark), row.game
        if row.interval is not None and row.interval[0] <= 0:
            assert "not clearly separated" in row.remark, row.game
        assert row.remark in ladder.explain(gametext.load(row.game).rules)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('bot = "greedy"\n', "", "row 1: the key 'bot' is missing"),
        ('bot = "greedy"', "bot = 3", "row 1: bot is 3"),
        ("seed = 1", "sead = 1", "row 1: unknown key 'sead'"),
        ("[[row]]", "[[rows]]", "list of"),
        ("[[row]]", "[[row", "pig.toml"),
        ("[1, 20.5]", "[1]", "interval"),
    ],
)
def test_a_malformed_file_is_named(old, new, says, tmp_path):
    path = tmp_path / "pig.toml"
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(DataError) as caught:
        ladder.read(path)
    assert says in str(caught.value)
    assert "pig.toml" in str(caught.value)


def test_the_quickstart_is_a_valid_experiment():
    path = config.find("quickstart")
    experiment = run.prepare(config.read(path), str(path))
    assert {"pentaquest", "quandary_pig"} <= {game.name for game in experiment.games.values()}
    assert not experiment.timed
