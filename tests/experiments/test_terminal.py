"""What the terminal shows of names and numbers."""

import pytest

from engine_ext.errors import ResultsError
from experiments import report, terminal
from experiments.ratings import Estimate


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ("greedy", "greedy"),
        ("mcts(c=1,simulations=10)", "mcts(c=1, simulations=10)"),
        ('policy(file="a,b (2)=[x].policy")', 'policy(file="a,b (2)=[x].policy")'),
        ('mix(a=policy(file="a,b"),b=greedy)', 'mix(a=policy(file="a,b"), b=greedy)'),
    ],
)
def test_specs_are_spaced_but_not_within_names_of_files(spec, shown):
    assert terminal.spaced(spec) == shown


def test_an_elo_of_nothing_has_no_minus():
    assert report.elo_text(Estimate(-2.9e-15, -76.2, 76.2)) == "+0 [-76, +76]"


def test_a_file_is_no_run_folder(tmp_path):
    file = tmp_path / "a.toml"
    file.write_text("")
    with pytest.raises(ResultsError, match=r"a\.toml is a file: there is no run in it"):
        report.load(file)
