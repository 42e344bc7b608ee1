"""`quandary solve --policy`: what a solver has found, as a file that others load and play."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pyspiel
import pytest

from engine_ext.errors import SavedStateError
from experiments import gametext, solve
from solvers.bots import PolicyBot
from solvers.extraction import extract
from solvers.policies import KeyedPolicy, TabularPolicy
from tests.experiments.command import command_line

SOLVERS_MD = Path(__file__).parents[2] / "docs" / "solvers.md"


def solved(capsys, *words) -> dict:
    code, out, err = command_line(capsys, "solve", *words, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.mark.parametrize("solver", ["cfr+(iterations=30)", "mccfr_es(iterations=300)", "sequence_form"])
def test_the_policy_is_the_one_whose_exploitability_is_printed(tmp_path, capsys, solver):
    """By OpenSpiel's own exploitability, of the loaded file."""
    kept = tmp_path / "kept.policy"
    found = solved(capsys, "kuhn_poker", "--solver", solver, "--policy", kept)
    assert found["policy"] == str(kept)
    policy = TabularPolicy.load(kept, extract("kuhn_poker"))
    game = pyspiel.load_game("kuhn_poker")
    assert pyspiel.exploitability(game, policy.to_openspiel()) == pytest.approx(found["exploitability"], abs=1e-9)
    with pytest.raises(SavedStateError, match="of another game"):
        TabularPolicy.load(kept, extract("leduc_poker"))
    state = game.new_initial_state()
    state.apply_action(0)
    state.apply_action(1)
    pairs, action = PolicyBot(policy, 0, seed=1).step_with_policy(state)
    assert dict(pairs) == dict(policy.action_probabilities(state))
    assert action in state.legal_actions()


def test_a_policy_sampled_without_a_tree_is_loaded_by_its_rules(tmp_path, capsys):
    kept = tmp_path / "kept.policy"
    found = solved(capsys, "quandary_pig", "--solver", "mccfr_os(iterations=200)", "--policy", kept)
    policy = KeyedPolicy.load(kept, gametext.load("quandary_pig").rules)
    assert len(policy) == found["infosets"] > 0


@pytest.mark.parametrize("solver", ["mcts", "expectimax", "value_iteration", "ismcts", "oos", "greedy", "random"])
def test_a_solver_that_finds_none_is_refused_before_any_work(tmp_path, capsys, monkeypatch, solver):
    monkeypatch.setattr(solve.extraction, "extract", None)  # whoever extracts fails otherwise
    kept = tmp_path / "kept.policy"
    code, out, err = command_line(capsys, "solve", "tic_tac_toe", "--solver", solver, "--policy", kept)
    assert (code, out) == (2, "")
    assert f"{solver} searches from a position and finds no policy" in err
    assert not kept.exists()


def test_a_file_that_cannot_be_is_refused_before_any_work(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(solve.extraction, "extract", None)
    words = "solve", "kuhn_poker", "--solver", "cfr"
    for more, says in (
        (("--policy", tmp_path), "a policy cannot be written to .*: it is a folder"),
        (("--policy", tmp_path / "none" / "kept"), "a policy cannot be written to .*no folder"),
        (("--policy", tmp_path / "kept", "--checkpoint", tmp_path / "kept"), "a file each"),
    ):
        code, out, err = command_line(capsys, *words, *more)
        assert (code, out) == (2, "")
        assert re.search(says, err)


def test_the_example_of_the_documentation_runs(tmp_path, monkeypatch, capsys):
    """As it is printed there, with the figure that its comment has, which is also the table's for `dcfr`."""
    (example,) = re.findall(r"```python\n(.*?)```", SOLVERS_MD.read_text(), flags=re.DOTALL)
    assert "pyspiel.exploitability" in example
    monkeypatch.chdir(tmp_path)
    exec(compile(example, str(SOLVERS_MD), "exec"), {})
    assert float(capsys.readouterr().out) == pytest.approx(1.5e-4, rel=0.1)
