"""`policy(file=FILE)`: a policy that `quandary solve --policy` saved plays, in arenas, curves and against people."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pyspiel
import pytest

from engine_ext.errors import QuandaryError, SavedStateError, SpecError
from experiments import gametext, inputs, players, run
from experiments.inputs import Inputs
from experiments.play import saving
from experiments.play.session import Session
from experiments.store import Store, dump
from solvers import specs
from solvers.extraction import extract
from solvers.policies import TabularPolicy
from solvers.saved import write_saved
from solvers.saved_policies import SavedPolicy, source_of
from tests.experiments.command import command_line, quandary

ARENA = """
name = "kept"
seed = 3
[[arena]]
game = "kuhn"
bots = ["random", "policy(file=nash.policy)"]
deals = {deals}
"""
CURVE = """
name = "curve"
[[convergence]]
game = "{game}"
measure = "exploitability"
solvers = ["cfr"]
budgets = [1]
baselines = ["policy(file=nash.policy)"]
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory) -> Path:
    """A folder with policies: an equilibrium of Kuhn poker by the linear program, one of Pig without a tree."""
    folder = tmp_path_factory.mktemp("policies")
    for game, solver, name in (
        ("kuhn", "sequence_form", "nash.policy"),
        ("kuhn_poker", "sequence_form", "openspiel.policy"),
        ("pig(goal=20)", "mccfr_os(iterations=500)", "pig.policy"),
    ):
        done = quandary("solve", game, "--solver", solver, "--policy", folder / name)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def here(kept, tmp_path, monkeypatch) -> Path:
    """The same in a folder that a test may change, with the working directory elsewhere."""
    folder = tmp_path / "configs"
    shutil.copytree(kept, folder)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    return folder


def rows(folder: Path):
    with Store.read(folder / "results.sqlite") as store:
        return dump(store)


def uniform_policy(path: Path) -> None:
    TabularPolicy.uniform(extract(gametext.load("kuhn").rules)).save(path)


# ---- solving with it -----------------------------------------------------------------------------


def test_solve_tells_value_and_exploitability_of_a_file(here, capsys):
    """Uniform play of Kuhn poker earns the first player 1/8 and is exploitable by 11/24 (OpenSpiel says the same); an
    equilibrium earns it -1/18 and is not."""
    uniform_policy(here / "uniform.policy")
    game = pyspiel.load_game("kuhn_poker")
    assert pyspiel.exploitability(game, pyspiel.UniformRandomPolicy(game)) == pytest.approx(11 / 24)
    for name, value, distance in (("uniform.policy", 1 / 8, 11 / 24), ("nash.policy", -1 / 18, 0)):
        code, out, err = command_line(capsys, "solve", "kuhn", "--solver", f"policy(file={here / name})", "--json")
        assert (code, err) == (0, "")
        found = json.loads(out)
        assert found["value"] == pytest.approx([value, -value], abs=1e-9)
        assert found["exploitability"] == pytest.approx(distance, abs=1e-9)
        assert not found["exact"]


def test_one_without_a_tree_tells_what_it_knows(here, capsys):
    code, out, _ = command_line(capsys, "solve", "pig(goal=20)", "--solver", f"policy(file={here / 'pig.policy'})")
    assert code == 0
    assert "information sets" in out
    assert "exploitability" not in out


def test_it_is_listed(capsys):
    code, out, _ = command_line(capsys, "bots")
    assert code == 0
    assert re.search(r"^ policy +file +A policy that", out, re.MULTILINE)
    code, out, _ = command_line(capsys, "bots", "policy")
    assert code == 0
    assert re.search(r"file \(a file, .*; default unset\)", " ".join(out.split()))


def test_it_has_no_checkpoint(here, capsys):
    words = "solve", "kuhn", "--solver", f"policy(file={here / 'nash.policy'})", "--checkpoint", here / "x"
    code, _, err = command_line(capsys, *words)
    assert code == 2
    assert "keeps no checkpoint" in err


# ---- which game it is of -------------------------------------------------------------------------


def test_a_game_of_openspiels_with_the_same_tree_is_the_same_game(here):
    """Identity is the content of the tree, and OpenSpiel's Kuhn poker has that of ours."""
    rules = gametext.load("kuhn").rules
    own, other = (players.make(f"policy(file={here / name})", rules) for name in ("nash.policy", "openspiel.policy"))
    position = rules.initial_position()
    for outcome in (2, 0):
        position.apply_action(outcome)
    choices = [[each.probability for each in player.choose(position, seed=1).actions] for player in (own, other)]
    assert choices[0] == pytest.approx(choices[1], abs=1e-6)


@pytest.mark.parametrize(
    ("file", "game", "says"),
    [
        ("nash.policy", "pig(goal=20)", "a policy of another game (quandary_kuhn()) than quandary_pig(goal=20)"),
        ("pig.policy", "pig(goal=30)", "a policy of another game (quandary_pig(goal=20)) than quandary_pig(goal=30)"),
        ("pig.policy", "kuhn", "a policy of another game (quandary_pig(goal=20)) than quandary_kuhn()"),
        ("nash.policy", "pentaquest(scenario=one_card)", "of another game (quandary_kuhn()) than pentaquest("),
        ("nothing", "kuhn", "cannot be read: No such file"),
        ("..", "kuhn", "cannot be read: Is a directory"),
        ("/dev/zero", "kuhn", "cannot be read: Not an ordinary file"),
        ("text", "kuhn", "not a file of saved arrays; a policy was expected"),
        ("cut", "kuhn", "damaged or cut short"),
        ("tree", "kuhn", "holds a flat tree, a policy was expected"),
    ],
)
def test_what_is_no_policy_of_this_game_is_refused_everywhere(file, game, says, here, tmp_path, capsys):
    (here / "text").write_text("hello")
    (here / "cut").write_bytes((here / "nash.policy").read_bytes()[:-9])
    extract(gametext.load("kuhn").rules).save(here / "tree")
    bot = f"policy(file={here / file})"
    words = (["play", game, "--bot", bot], ["solve", game, "--solver", bot])
    for each in words:
        code, out, err = command_line(capsys, *each)
        assert (code, out) == (2, "")
        assert says in err
    config = here / "wrong.toml"
    config.write_text(
        f'name = "wrong"\n[[arena]]\ngame = "{game}"\nbots = ["random", "policy(file={file})"]\ndeals = 1\n'
    )
    code, _, err = command_line(capsys, "run", config, "--out", tmp_path / "r", "--workers", 1)
    assert code == 2
    assert "wrong.toml: arena[1].bots[2]: " in err
    assert says in err
    assert not (tmp_path / "r").exists()


def test_one_of_a_game_with_other_data_is_refused(here):
    """The file says whose rules it is of, and of these rules there is no tree here: then the reason is the tree."""
    rules = gametext.load("pig(goal=20)").rules
    meta = {"identity": {"game": "quandary_pig(goal=20)", "rules": rules.identity, "digest": "other"}}
    write_saved(here / "large", "tabular policy", 2, meta, {"probabilities": np.zeros(1)})
    with pytest.raises(QuandaryError, match="no end"):
        source_of(here / "large", rules, lambda: extract(rules))
    meta["identity"]["rules"] = "others"
    write_saved(here / "large", "tabular policy", 2, meta, {"probabilities": np.zeros(1)})
    with pytest.raises(SavedStateError, match="whose data, version or start are others"):
        source_of(here / "large", rules, lambda: extract(rules))


@pytest.mark.parametrize(("name", "says"), [("nash.policy", "a policy of another game"), ("none", "cannot be read")])
def test_a_curve_is_refused_before_its_first_point(name, says, here, tmp_path, capsys):
    (here / "curve.toml").write_text(CURVE.format(game="leduc_poker").replace("nash.policy", name))
    code, _, err = command_line(capsys, "run", here / "curve.toml", "--out", tmp_path / "r", "--workers", 1)
    assert code == 2
    assert "curve.toml: convergence[1].baselines[1]: " in err
    assert says in err
    assert not (tmp_path / "r").exists()


def test_a_file_must_be_named(capsys):
    for words in (["play", "kuhn", "--bot", "policy"], ["solve", "kuhn", "--solver", "policy"]):
        code, _, err = command_line(capsys, *words)
        assert code == 2
        assert "policy needs the file that holds it, as in policy(file=nash.policy)" in err
    with pytest.raises(SpecError, match="works offline"):
        specs.make_searcher("policy(file=x)")


# ---- in a run ------------------------------------------------------------------------------------


def test_it_plays_what_its_solver_would_in_any_number_of_workers(here, tmp_path):
    """The names in a config are those of its folder, wherever the command is given; the linear program in the place of
    the file chooses alike from the same dice, where its bot has the same seeds."""
    (here / "kept.toml").write_text(ARENA.format(deals=40))
    for workers in (1, 2):
        done = quandary("run", here / "kept.toml", "--out", tmp_path / f"r{workers}", "--workers", workers)
        assert done.returncode == 0, done.stderr
    assert rows(tmp_path / "r1") == rows(tmp_path / "r2")
    rules = gametext.load("kuhn").rules
    of_file = players.make(f"policy(file={here / 'nash.policy'})", rules)
    of_solver = players.make("sequence_form", rules)
    position = rules.initial_position()
    for outcome in (1, 2):
        position.apply_action(outcome)
    for seed in range(50):
        assert of_file.choose(position, seed).action == of_solver.choose(position, seed).action


def test_the_manifest_keeps_the_files_digest_and_the_report_shows_it(here, tmp_path):
    (here / "kept.toml").write_text(ARENA.format(deals=2))
    run.run(here / "kept.toml", tmp_path / "r", workers=1)
    digest = hashlib.sha256((here / "nash.policy").read_bytes()).hexdigest()
    content = json.loads((tmp_path / "r" / "manifest.json").read_text())
    assert content["identity"]["files"] == {"nash.policy": digest}
    assert digest in (tmp_path / "r" / "report.html").read_text()


def test_runs_without_files_have_the_identity_they_had(tmp_path):
    (tmp_path / "plain.toml").write_text(ARENA.format(deals=1).replace("policy(file=nash.policy)", "greedy"))
    run.run(tmp_path / "plain.toml", tmp_path / "r", workers=1)
    assert "files" not in json.loads((tmp_path / "r" / "manifest.json").read_text())["identity"]


def test_a_changed_file_does_not_resume(here, tmp_path, capsys):
    (here / "kept.toml").write_text(ARENA.format(deals=3))
    run.run(here / "kept.toml", tmp_path / "r", workers=1)
    words = "run", here / "kept.toml", "--out", tmp_path / "r", "--workers", 1, "--resume"
    assert command_line(capsys, *words)[0] == 0
    before = rows(tmp_path / "r")
    uniform_policy(here / "nash.policy")
    code, _, err = command_line(capsys, *words)
    assert code == 2
    assert "the file nash.policy had another content then" in err
    assert rows(tmp_path / "r") == before


def test_a_run_moved_with_its_files_resumes(here, tmp_path, capsys):
    (here / "kept.toml").write_text(ARENA.format(deals=3))
    run.run(here / "kept.toml", tmp_path / "r", workers=1)
    here.rename(tmp_path / "moved")
    words = "run", tmp_path / "moved" / "kept.toml", "--out", tmp_path / "r", "--workers", 1, "--resume"
    assert command_line(capsys, *words)[0] == 0


def test_a_file_that_changes_under_a_run_is_noticed(here):
    spec = specs.parse_spec("policy(file=nash.policy)")
    found = Inputs(here).joined_by(spec)
    assert found.located(spec).parameters["file"] == str(here / "nash.policy")
    uniform_policy(here / "nash.policy")
    with pytest.raises(SavedStateError, match=r"nash\.policy has changed since the run began"):
        found.located(spec)
    assert found.of(specs.parse_spec("random")) is inputs.HERE


def test_it_stands_in_a_curve_as_a_level(here, tmp_path):
    uniform_policy(here / "nash.policy")
    (here / "curve.toml").write_text(CURVE.format(game="kuhn_poker"))
    run.run(here / "curve.toml", tmp_path / "r", workers=1)
    measured = {row[0]: row[2] for row in rows(tmp_path / "r")}
    assert measured["curve1/policy(file=nash.policy)/0000/000000000000"] == pytest.approx(11 / 24)


def test_it_plays_against_a_person_and_is_saved_by_name(here, tmp_path, monkeypatch):
    monkeypatch.chdir(here)
    session = Session(gametext.load("kuhn"), 0, ["policy(file=nash.policy)"], 5)
    while not session.over:
        session.choose(session.choices()[0].action) if session.your_turn else session.step()
    saving.save(session, tmp_path / "saved")
    again = saving.load(tmp_path / "saved")
    assert again.names[1] == "policy(file=nash.policy)"
    assert again.position == session.position
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SavedStateError, match=r"nash\.policy: cannot be read"):
        saving.load(tmp_path / "saved")


def test_a_saved_policy_is_done_before_it_begins(here):
    solver = SavedPolicy(extract(gametext.load("kuhn").rules), here / "nash.policy")
    before = solver.average_policy()
    solver.run(10)
    assert solver.average_policy() is before
    assert (solver.iterations, solver.seconds) == (0, 0.0)
