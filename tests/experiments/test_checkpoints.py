"""`quandary solve --checkpoint`: runs that are stopped and taken up again."""

from __future__ import annotations

import json
import signal
import time

import pytest

from engine_ext.errors import SavedStateError
from experiments import checkpoints, gametext, solve
from solvers import specs
from tests.experiments.command import command_line, start


def solved(capsys, *words) -> dict:
    code, out, err = command_line(capsys, "solve", *words, "--json")
    assert code == 0, err
    found = json.loads(out)
    return {key: value for key, value in found.items() if "seconds" not in key and not key.endswith("_per_s")}


@pytest.mark.parametrize("solver", ["cfr+(iterations={})", "mccfr_es(iterations={})", "mccfr_os(iterations={})"])
@pytest.mark.parametrize("game", ["kuhn", "leduc_poker"])
def test_a_run_in_two_sittings_is_one_run(tmp_path, capsys, game, solver):
    kept = tmp_path / "kept"
    solved(capsys, game, "--solver", solver.format(40), "--checkpoint", kept)
    late = solved(capsys, game, "--solver", solver.format(100), "--checkpoint", kept)
    assert late == solved(capsys, game, "--solver", solver.format(100))
    assert late == solved(capsys, game, "--solver", solver.format(100), "--checkpoint", kept)  # nothing is left to do
    code, _, err = command_line(capsys, "solve", game, "--solver", solver.format(50), "--checkpoint", kept)
    assert code == 2
    assert "has 100 iterations already, 50 are asked for" in err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_a_checkpoint_that_the_same_command_takes_up(tmp_path, number):
    kept = tmp_path / "kept"
    words = "leduc_poker", "--solver", "pcfr+(iterations=1000000000)", "--checkpoint", kept
    for wait_s in (2.5, 5, 10, 20):
        running = start("solve", *words)
        time.sleep(wait_s)
        running.send_signal(number)
        _, err = running.communicate()
        assert "Traceback" not in err
        if kept.exists():  # else it came before the run had begun, and there was nothing to keep
            break
    assert running.returncode == 128 + number
    assert "kept in" in err
    assert "goes on" in err
    tree = solve.extract("leduc_poker")
    spec = specs.parse_spec("pcfr+")
    resumed, whole = (solve.make_offline(spec, tree, 0) for _ in range(2))
    resumed.load(kept)
    assert resumed.iterations > 0
    whole.run(resumed.iterations)
    assert resumed.average_policy().probabilities.tolist() == whole.average_policy().probabilities.tolist()


def test_seconds_count_from_the_first_start(tmp_path):
    spec = specs.parse_spec("mccfr_os(seconds=0.05)")
    kept = tmp_path / "kept"
    rules = gametext.load("kuhn").rules
    first, second = (solve.make_offline(spec, rules, 0) for _ in range(2))
    checkpoints.run(spec, first, kept)
    assert first.seconds >= 0.05
    checkpoints.run(spec, second, kept)
    assert second.iterations == first.iterations


@pytest.mark.parametrize("solver", ["sequence_form", "sequence_form(seconds=60)"])
def test_a_linear_program_is_solved_once(tmp_path, capsys, solver):
    words = "kuhn_poker", "--solver", solver, "--checkpoint", tmp_path / "kept"
    first = solved(capsys, *words)
    assert first["exploitability"] < 1e-9
    assert solved(capsys, *words) == first


def test_a_linear_program_taken_up_keeps_its_seconds_and_its_value(tmp_path):
    """-1/18 is the value of Kuhn poker for its first player (Kuhn 1950)."""
    tree = solve.extract("kuhn_poker")
    first, second = (solve.make_offline(specs.parse_spec("sequence_form"), tree, 0) for _ in range(2))
    first.run(1)
    first.save(tmp_path / "kept")
    second.load(tmp_path / "kept")
    assert second.seconds == first.seconds > 0
    assert second.value == pytest.approx(-1 / 18)
    assert second.exact
    other = solve.make_offline(specs.parse_spec("sequence_form"), solve.extract("leduc_poker"), 0)
    with pytest.raises(SavedStateError, match="of another game"):
        other.load(tmp_path / "kept")
    assert (other.iterations, other.seconds, other.exact) == (0, 0.0, False)


@pytest.mark.parametrize("solver", ["cfr", "pcfr+", "mccfr_es", "mccfr_os", "sequence_form"])
def test_what_a_finished_run_tells_is_told_again(tmp_path, capsys, solver):
    """Also its time: nothing is done the second time."""
    budget = "" if solver == "sequence_form" else "(iterations=300)"
    words = "solve", "kuhn_poker", "--solver", solver + budget, "--checkpoint", tmp_path / "kept", "--json"
    first, again = (json.loads(command_line(capsys, *words)[1]) for _ in range(2))
    for key in ("seconds", "iterations", "iterations_per_s", "value", "exploitability", "exact"):
        assert again[key] == first[key], key


def test_a_run_is_saved_again_and_again(tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoints._Keeper, "left_s", lambda keeper: 0.0)
    spec = specs.parse_spec("cfr(iterations=5)")
    solver = solve.make_offline(spec, solve.extract("kuhn_poker"), 0)
    saved: list[int] = []
    save = solver.save

    class Watched:
        """The solver, and when it was saved."""

        def __getattr__(self, name):
            return getattr(solver, name)

        def save(self, path):
            saved.append(solver.iterations)
            save(path)

    checkpoints.run(spec, Watched(), tmp_path / "kept")
    assert saved == [1, 2, 3, 4, 5, 5]


def test_an_error_in_the_run_leaves_what_was_done(tmp_path, capsys):
    """A walk that is too long for its limit: more is allowed the second time."""
    kept = tmp_path / "kept"
    words = "quarz(scenario=favor_duel)", "--solver"
    rules = gametext.load(words[0]).rules
    spec = specs.parse_spec("mccfr_es(iterations=5,walk_nodes=40)")
    solver = spec.solver.make(rules, dict(spec.parameters))
    with pytest.raises(ValueError, match="40 are allowed"):
        checkpoints.run(spec, solver, kept)
    assert "kept in" in capsys.readouterr().err
    spec = specs.parse_spec("mccfr_es(iterations=5)")
    resumed, whole = (spec.solver.make(rules, dict(spec.parameters)) for _ in range(2))
    checkpoints.run(spec, resumed, kept)
    whole.run(5)
    assert resumed.stream.state == whole.stream.state


def test_what_cannot_work_is_refused_at_once(tmp_path, capsys):
    for solver, path, text in (
        ("oos", tmp_path / "kept", "keeps no checkpoint"),
        ("cfr", tmp_path, "it is a folder"),
        ("cfr", tmp_path / "none" / "kept", "no folder that can be written to"),
    ):
        code, _, err = command_line(capsys, "solve", "kuhn_poker", "--solver", solver, "--checkpoint", path)
        assert code == 2
        assert text in err
    kept = tmp_path / "kept"
    solved(capsys, "kuhn_poker", "--solver", "cfr(iterations=3)", "--checkpoint", kept)
    before = kept.read_bytes()
    for game, solver, text in (
        ("leduc_poker", "cfr", "another game (kuhn_poker"),
        ("kuhn_poker", "cfr+", "solver=cfr"),
        ("kuhn_poker", "mccfr_es", "MCCFR checkpoint was expected"),
        ("kuhn_poker", "sequence_form", "linear program checkpoint was expected"),
    ):
        code, _, err = command_line(capsys, "solve", game, "--solver", solver, "--checkpoint", kept)
        assert code == 2
        assert text in err
        assert err.count("\n") == 1
    assert kept.read_bytes() == before
