"""A profile beside an earlier one: regressions are told from noise and from a slower machine."""

import copy
import json

import pytest

from engine_ext.errors import ConfigError
from experiments import baseline
from tests.experiments.command import command_line


def measured(**ranges):
    """A profile with these slowest and fastest rounds; `python_x_per_s` is the reference."""
    return {
        "profile": "kernels",
        "ranges": {key: list(value) for key, value in ranges.items()},
        "references": ["python_x_per_s"],
        **{key: sum(value) / 2 for key, value in ranges.items()},
    }


def verdicts(now, before):
    return {key: change["verdict"] for key, change in baseline.compare(now, before)["changes"].items()}


@pytest.mark.parametrize(
    ("then", "now", "verdict"),
    [
        ((90, 110), (95, 115), "same"),  # the rounds overlap
        ((90, 110), (80, 90), "same"),  # they touch
        ((100, 110), (97.5, 98), "same"),  # 2 % below the slowest round
        ((100, 110), (90, 96.9), "slower"),  # 3.1 % below
        ((100, 110), (113.4, 120), "faster"),  # 3.1 % above the fastest one
        ((100, 110), (112, 120), "same"),
    ],
)
def test_a_change_is_one_where_no_rounds_meet_and_more_than_3_percent_lie_between(then, now, verdict):
    reference = (50, 60)
    found = verdicts(measured(a_per_s=now, python_x_per_s=reference), measured(a_per_s=then, python_x_per_s=reference))
    assert found == {"a_per_s": verdict, "python_x_per_s": "reference"}


def test_a_machine_at_half_its_speed_is_no_regression():
    before = measured(a_per_s=(100, 110), b_per_s=(100, 110), python_x_per_s=(50, 60))
    now = measured(a_per_s=(50, 55), b_per_s=(100, 110), python_x_per_s=(25, 30))
    found = baseline.compare(now, before)
    assert found["drift"] == 0.5
    assert found["changes"]["a_per_s"] == {"before": 105, "now": 52.5, "ratio": 1.0, "verdict": "same"}
    assert found["changes"]["b_per_s"] == {"before": 105, "now": 105, "ratio": 2.0, "verdict": "faster"}
    assert found["slower"] == []


def test_only_what_both_have_is_compared():
    before = measured(a_per_s=(100, 110), gone_per_s=(1, 2), python_x_per_s=(50, 60))
    now = measured(a_per_s=(100, 110), new_per_s=(1, 2), python_x_per_s=(50, 60))
    assert set(verdicts(now, before)) == {"a_per_s", "python_x_per_s"}
    before["references"] = []
    with pytest.raises(ConfigError, match="no reference in common"):
        baseline.compare(now, before)


def test_the_command_compares_and_tells_a_regression_by_its_exit_code(tmp_path, capsys):
    words = ("profile", "pig(goal=10)", "--seconds", "0.5")
    code, output, _ = command_line(capsys, *words, "--json")
    assert code == 0
    real = json.loads(output)
    assert real["references"] == [
        "reference_cpp_simulations_per_s",
        "reference_python_steps_per_s",
        "openspiel_cpp_mcts_simulations_per_s",
    ]
    file = tmp_path / "before.json"

    # A past in which ours was a hundred times as fast: no noise explains that.
    past = copy.deepcopy(real)
    for key in past["ranges"].keys() - set(past["references"]):
        past["ranges"][key] = [100 * rate for rate in past["ranges"][key]]
        if key in past:
            past[key] *= 100
    file.write_text(json.dumps(past))
    code, output, _ = command_line(capsys, *words, "--json", "--baseline", file)
    assert code == 1
    assert set(json.loads(output)["baseline"]["slower"]) == real["ranges"].keys() - set(real["references"])

    # And one in which it was a hundredth.
    for key in past["ranges"].keys() - set(past["references"]):
        past["ranges"][key] = [rate / 1e4 for rate in past["ranges"][key]]
        if key in past:
            past[key] /= 1e4
    file.write_text(json.dumps(past))
    code, output, _ = command_line(capsys, *words, "--baseline", file)
    assert code == 0
    assert "native_steps_per_s" in output
    assert "faster" in output
    assert "slower" not in output.split("beside the baseline")[1]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (None, "cannot be read"),
        ("{", "cannot be read as JSON"),
        ("[1]", "not what"),
        ('{"profile": "kernels"}', "not what"),
        (
            '{"profile": "kernels", "ranges": {}, "references": []}',
            "a profile of kernels, this is to be one of quandary_pig",
        ),
    ],
)
def test_a_bad_baseline_is_refused_before_anything_is_measured(content, says, tmp_path, capsys):
    file = tmp_path / "before.json"
    if content is not None:
        file.write_text(content)
    code, output, errors = command_line(capsys, "profile", "pig", "--seconds", "1000", "--baseline", file)
    assert (code, output) == (2, "")
    assert says in errors
    assert "before.json" in errors
    assert len(errors.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ranges", None),
        ("ranges", {"a_per_s": None}),
        ("ranges", {"a_per_s": [1.0]}),
        ("ranges", {"a_per_s": [0.0, 1.0]}),
        ("ranges", {"a_per_s": [1.0, float("nan")]}),
        ("ranges", {"a_per_s": "90"}),
        ("a_per_s", "fast"),
        ("references", 3),
        ("machine", None),
    ],
)
def test_a_damaged_baseline_is_refused_before_anything_is_measured(key, value, tmp_path):
    path = tmp_path / "before.json"
    path.write_text(json.dumps(measured(a_per_s=(1, 2), python_x_per_s=(1, 2)) | {key: value}))
    with pytest.raises(ConfigError, match=r"before\.json: (damaged|not what)"):
        baseline.read_profile(path, "kernels")


def test_a_figure_that_is_gone_is_told():
    before = measured(a_per_s=(1, 2), python_x_per_s=(1, 2))
    assert baseline.compare(measured(python_x_per_s=(1, 2)), before)["gone"] == ["a_per_s"]
