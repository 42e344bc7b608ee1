"""`quandary solve`: one JSON object, on our games and on OpenSpiel's, or one clear line."""

from __future__ import annotations

import itertools
import json

import pytest

from experiments import solve
from tests.experiments.command import command_line, quandary

KEYS = [
    "game", "solver", "value", "exact", "depth", "action", "action_string", "simulations", "searched_nodes",
    "tree_nodes", "infosets",
    "iterations", "iterations_per_s", "setup_seconds", "extract_seconds", "seconds", "evaluation_seconds",
    "error_bound", "exploitability", "policy", "note",
]  # fmt: skip


def solved(capsys, game, solver, *more):
    code, output, errors = command_line(capsys, "solve", game, "--solver", solver, "--json", *more)
    assert (code, errors) == (0, "")
    return json.loads(output)


def test_a_searcher_on_a_game_of_ours(capsys):
    found = solved(capsys, "pig", "mcts(simulations=3000)")
    assert list(found) == KEYS
    assert found["game"] == "quandary_pig"
    assert found["solver"] == "mcts(simulations=3000)"
    assert found["value"][0] == -found["value"][1]
    assert found["action_string"] == "roll"  # with nothing to bank, holding gives the turn away
    assert found["simulations"] == 3000
    assert found["searched_nodes"] > 100
    assert found["exact"] is False
    missing = {key for key, value in found.items() if value is None}
    assert missing == {
        "tree_nodes", "infosets", "iterations", "iterations_per_s", "extract_seconds", "evaluation_seconds",
        "error_bound", "exploitability", "policy", "note", "depth"
    }  # fmt: skip


def test_a_searcher_on_a_game_of_openspiel_goes_through_its_tree(capsys):
    """Kuhn poker has 12 information sets; its root is a chance node, so there is no action."""
    found = solved(capsys, "kuhn_poker", "ismcts(simulations=2000)")
    assert found["infosets"] == 12
    assert found["tree_nodes"] == 58  # 1 + 3 + 6 deals, then 8 nodes of betting below each of the 6
    assert found["action"] is None
    assert found["extract_seconds"] > 0


@pytest.mark.parametrize(
    ("game", "players"), [("goofspiel(num_cards=3)", 2), ("kuhn_poker(players=3)", 3), ("python_kuhn_poker", 2)]
)
def test_games_nobody_tuned_for(game, players, capsys):
    assert len(solved(capsys, game, "ismcts(simulations=500)")["value"]) == players


TINY = "pentaquest(scenario=tiny)"


@pytest.mark.parametrize(
    ("game", "solver", "exact", "depth", "says"),
    [
        (TINY, "expectimax", True, None, "exact: the value of the game"),
        (TINY, "expectimax(depth=2)", False, 2, "an estimate at depth 2"),
        (TINY, "mcts(simulations=50)", False, None, "an estimate"),
        ("tic_tac_toe", "expectimax(depth=9)", True, 9, "exact: the value of the game"),
        ("nim(pile_sizes=1;2)", "mcts(simulations=1000)", True, None, "exact: the value of the game"),
        ("nim(pile_sizes=1;2)", "ismcts(simulations=100)", False, None, "an estimate"),
        ("pig(goal=2)", "value_iteration", True, None, "exact: the value of the game"),
        ("pig(goal=10)", "value_iteration(sweeps=1)", False, None, "an estimate"),
        ("kuhn_poker", "sequence_form", True, None, "exact: the value of the game"),
        ("kuhn_poker", "cfr(iterations=10)", False, None, "the value of the average policy"),
        ("kuhn", "mccfr_os(iterations=10)", False, None, "the value of the average policy"),
        ("nim(pile_sizes=1;2)", "random", None, None, None),
    ],
)
def test_what_the_value_is_worth_is_told(game, solver, exact, depth, says, capsys):
    found = solved(capsys, game, solver)
    assert (found["exact"], found["depth"]) == (exact, depth)
    code, output, _ = command_line(capsys, "solve", game, "--solver", solver)
    told = [line.split(maxsplit=2)[2].strip() for line in output.splitlines() if line.strip().startswith("that is ")]
    assert (code, told) == (0, [says] if says else [])


def test_the_depth_that_a_count_of_nodes_came_to_is_told(capsys):
    """More nodes reach deeper, and enough of them the end of the game."""
    game = "pentaquest(scenario=one_card)"
    few, many, all_of_it = (solved(capsys, game, f"expectimax(nodes={nodes})") for nodes in (20, 3000, 300_000))
    assert 0 <= few["depth"] < many["depth"] < all_of_it["depth"]  # 0: the game's own estimate of where it stands
    assert [few["exact"], many["exact"], all_of_it["exact"]] == [False, False, True]
    assert all_of_it["value"] == pytest.approx(solved(capsys, game, "expectimax")["value"], abs=1e-9)


@pytest.mark.parametrize(
    ("game", "says"),
    [
        ("matrix_pd", "with a general sum exploitability is NashConv divided"),
        ("kuhn_poker(players=3)", "with more than two players exploitability is NashConv divided"),
        ("kuhn_poker", None),
        ("catch(rows=4,columns=3)", None),  # one player: the distance to the best there is
    ],
)
def test_where_exploitability_is_no_distance_it_says_so(game, says, capsys):
    found = solved(capsys, game, "cfr+(iterations=5)")
    assert found["exploitability"] is not None
    assert (found["note"] or "").startswith(says or "")
    assert (found["note"] is None) == (says is None)
    _, output, _ = command_line(capsys, "solve", game, "--solver", "cfr+(iterations=5)")
    assert ("no distance to a minimax value" in " ".join(output.split())) == (says is not None)


def test_a_run_too_short_for_the_clock_has_no_speed(capsys, monkeypatch):
    """With a clock that is read in steps of a hundredth of the run it has one, also where that is far below a
    millisecond; with coarser ones it has none."""
    monkeypatch.setattr(solve, "clock_step_s", lambda: 0.0)
    found = solved(capsys, "kuhn_poker", "cfr(iterations=2)")
    assert found["iterations_per_s"] == pytest.approx(2 / found["seconds"])
    monkeypatch.setattr(solve, "clock_step_s", lambda: 1e9)
    assert solved(capsys, "kuhn_poker", "cfr(iterations=2)")["iterations_per_s"] is None


def test_the_clocks_step_is_what_it_goes_forward_by(monkeypatch):
    """A clock of milliseconds that is read four times in each; one that goes on with every reading by another step."""
    for readings, step in (((i // 4 / 1000 for i in itertools.count()), 1e-3), (itertools.count(0, 2e-7), 2e-7)):
        monkeypatch.setattr(solve.time, "perf_counter", lambda readings=readings: next(readings))
        solve.clock_step_s.cache_clear()
        found = solve.clock_step_s()
        monkeypatch.undo()
        assert found == pytest.approx(step)
    solve.clock_step_s.cache_clear()


def test_no_iterations_are_the_uniform_policy(capsys):
    """The exploitability of uniform play: OpenSpiel's own figures."""
    for game, expected in (("kuhn_poker", 0.458333), ("leduc_poker", 2.373611)):
        found = solved(capsys, game, "cfr+(iterations=0)")
        assert found["exploitability"] == pytest.approx(expected, abs=1e-6)
        assert found["iterations"] == 0


def test_strongest_is_told_where_it_falls_back(capsys):
    """The ladder has no games of OpenSpiel's own."""
    for game, searcher in (("kuhn_poker", "ismcts"), ("tic_tac_toe", "mcts")):
        found = solved(capsys, game, "strongest")
        assert found["solver"] == f"{searcher}(simulations=2000)"
        assert found["note"] == (
            f"the ladder has no row for this game; strongest falls back to {searcher}(simulations=2000)"
        )


def test_zero_has_no_sign(capsys):
    """Rock, paper, scissors from uniform play is worth 0 to both."""
    code, output, _ = command_line(capsys, "solve", "matrix_rps", "--solver", "cfr(iterations=1)")
    assert code == 0
    assert "-0 " not in output + " "
    assert "+0  +0" in output


def test_games_too_wide_for_searchers_are_refused_before_the_tree(capsys):
    """5,151 ways to share 100 coins among 3 fields; the tree would have their square."""
    game = "blotto(coins=100,fields=3)"
    code, _, errors = command_line(capsys, "solve", game, "--solver", "ismcts(simulations=10)")
    assert code == 2
    assert "a node has 5151 actions; searchers allow 2048; " in errors


def test_the_seed_decides(capsys):
    def value(seed):
        return solved(capsys, "pig", "mcts(simulations=200)", "--seed", seed)["value"]

    assert value(1) == value(1)
    assert value(1) != value(2)


def test_without_json_it_is_a_table(capsys):
    code, output, errors = command_line(capsys, "solve", "pig", "--solver", "mcts(simulations=100)")
    assert (code, errors) == (0, "")
    assert "value by player" in output


@pytest.mark.parametrize(
    ("game", "solver", "says"),
    [
        ("pigg", "mcts", "did you mean pig"),
        ("pig", "mtcs", "mcts"),
        ("pig", "mcts(simulations=0)", "simulations"),
        ("pig", "mcts(simulations=many)", "simulations"),
        ("pig", "mcts(", "spec"),
        ("kuhn", "mcts", "hides information"),
        ("kuhn_poker", "mcts", "hides information"),
        ("kuhn_poker(players=20)", "ismcts", "OpenSpiel refuses"),
    ],
)
@pytest.mark.parametrize("as_json", [True, False])
def test_bad_input_is_one_line_and_nothing_on_the_output(game, solver, says, as_json, capsys):
    code, output, errors = command_line(capsys, "solve", game, "--solver", solver, *["--json"] * as_json)
    assert (code, output) == (2, "")
    assert says in errors
    assert len(errors.strip().splitlines()) == 1


def test_in_a_process_of_its_own_the_output_is_one_object():
    done = quandary("solve", "leduc_poker", "--solver", "ismcts(simulations=100)", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("\n") == 1
    assert json.loads(done.stdout)["infosets"] == 936  # OpenSpiel's count for leduc_poker


@pytest.mark.parametrize(
    ("words", "says"),
    [(["pigg"], "did you mean pig"), (["chess"], "chess"), (["pig", "--seconds", "0"], "seconds")],
)
def test_profiles_of_nothing_are_refused(words, says, capsys):
    code, output, errors = command_line(capsys, "profile", *words)
    assert (code, output) == (2, "")
    assert says in errors
    assert len(errors.strip().splitlines()) == 1


def test_the_first_player_of_pig_wins_with_0_530593(capsys):
    """Value iteration; Neller and Presser 2004. A win is +1, a loss -1. (A goal of 100 takes 15 s: soak.)"""
    found = solved(capsys, "pig(goal=2)", "value_iteration")
    # To 2 points: p = 5/6 + 1/6 (1 - p), as a roll of 2 to 6 wins at the next hold.
    assert (found["value"][0] + 1) / 2 == pytest.approx(6 / 7, abs=1e-9)


@pytest.mark.soak
def test_pig_to_100(capsys):
    found = solved(capsys, "quandary_pig", "value_iteration")
    assert (found["value"][0] + 1) / 2 == pytest.approx(0.530593, abs=1e-6)


def test_the_cfr_family_solves_kuhn_poker(capsys):
    """The value of Kuhn poker for its first player is -1/18 (Kuhn 1950)."""
    found = solved(capsys, "kuhn_poker", "cfr+(iterations=20000)")
    assert found["value"][0] == pytest.approx(-1 / 18, abs=1e-4)
    assert found["iterations"] == 20000
    assert found["iterations_per_s"] > 0
    assert found["exploitability"] < 1e-3
    assert (found["tree_nodes"], found["infosets"]) == (58, 12)
    assert found["searched_nodes"] is None


def test_linear_programming_solves_kuhn_poker_exactly(capsys):
    found = solved(capsys, "kuhn", "sequence_form")
    assert found["value"] == pytest.approx([-1 / 18, 1 / 18], abs=1e-9)
    assert found["exploitability"] == pytest.approx(0, abs=1e-9)
    assert found["iterations"] is None


def test_one_creature_is_beaten_with_the_probability_of_two_rerolls(capsys, tmp_path):
    """One card that asks for five alike: five sixes from five dice with two rerolls is the chance of a
    die showing six within three rolls, to the fifth power."""
    deck = tmp_path / "one.toml"
    deck.write_text('[[card]]\nname = "Wyrm"\nrequires = ["66666"]\nsymbol = "add"\nprovenance = "reconstructed"\n')
    found = solved(capsys, f"pentaquest(deck={deck},quest_area=1)", "expectimax")
    assert found["value"][0] == pytest.approx((1 - (5 / 6) ** 3) ** 5, abs=1e-9)


def test_a_game_too_big_for_a_tree_is_sampled_without_one(capsys):
    found = solved(capsys, "pig", "mccfr_os(iterations=300,megabytes=8)")
    assert found["tree_nodes"] is None
    assert found["extract_seconds"] is None
    assert found["infosets"] > 0
    assert found["iterations"] == 300
    assert found["action_string"] in ("roll", "hold")
    assert (found["value"], found["exploitability"]) == (None, None)


def test_a_game_too_big_for_a_solver_that_needs_its_tree_is_refused(capsys):
    code, output, errors = command_line(capsys, "solve", "pentaquest", "--solver", "cfr+", "--json")
    assert (code, output) == (2, "")
    assert "nodes" in errors
    assert len(errors.strip().splitlines()) == 1


def test_sampling_needs_no_tree(capsys):
    found = solved(capsys, "pig(goal=6)", "mccfr_os(iterations=50000)")  # whose states come again: no tree has an end
    assert found["tree_nodes"] is None
    assert found["exploitability"] is None
    assert found["iterations"] == 50_000
    assert found["infosets"] > 50
    assert found["action"] == 0  # there is nothing to hold yet, so the first seat rolls


@pytest.mark.parametrize(
    ("game", "reason"),
    [("kuhn_poker(players=3)", "two players; it has 3"), ("matrix_pd", "general-sum"), ("blackjack", "two players")],
)
def test_linear_programming_names_what_forbids_it(capsys, game, reason):
    code, output, errors = command_line(capsys, "solve", game, "--solver", "sequence_form")
    assert (code, output) == (2, "")
    assert reason in errors
