"""The command: exit codes, one clear line, no traceback."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from tests.experiments.command import ENVIRONMENT, ROOT, command_line, quandary


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["games", "ches"], "no game is called 'ches'"),
        (
            ["games", "chess"],
            "chess is a game of OpenSpiel's own, which `quandary solve` and [[convergence]] take; here",
        ),
        (["games", "chess"], "here it must be one of ours; there are: "),
        (["profile", "leduc_poker"], "which `quandary solve` and [[convergence]] take; here it must be one of ours"),
        (["play", "leduc_poker(players=3)"], "which `quandary solve` and [[convergence]] take"),
        (["games", "quarrior"], "did you mean quarriors or quarz?"),
        (["solve", "kuhn", "--solver", "mccfr_es(seed=9223372036854775808)"], "from 0 up to 9223372036854775807"),
        (["play", "kuhn_poker"], "did you mean kuhn?"),
        (["games", "pig(goal=x)"], "a whole number"),
        (["bots", "nobody"], "nobody"),
        (["run", "no-such-config"], "configs that ship"),
        (["run", "no-such.toml"], "configs that ship"),
        (["report", "no-such-folder"], "no-such-folder"),
        (["fly"], "fly"),
        (["run"], "CONFIG"),
        (["run", "x", "--workers", "many"], "workers"),
        (["run", "quickstart", "--workers", "0"], "workers is 0, it must be 1 to "),
        (["run", "quickstart", "--workers", "100000"], "workers is 100000, it must be 1 to "),
        (["games", "quarz", "--board", "2p", "--svg", "no-such-folder/x.svg"], "no-such-folder"),
        (["games", "quarz", "--board", "2p", "--svg", "/"], "cannot be written"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(words, says, capsys):
    code, output, errors = command_line(capsys, *words)
    assert code == 2
    assert output == ""
    assert says.lower() in errors.lower()
    assert len(errors.strip().splitlines()) == 1


SEEDS = "seed: it must be a whole number from 0 to 9223372036854775807, got "


@pytest.mark.parametrize("seed", [-1, 2**63, 2**64, 10**40])
@pytest.mark.parametrize(
    "words",
    [
        *(["solve", "kuhn", "--solver", name] for name in ("mcts", "oos", "mccfr_es", "mccfr_os", "ismcts", "greedy")),
        *(["solve", "kuhn", "--solver", name] for name in ("smooth_uct", "random", "cfr")),
        *(["profile", name] for name in ("kernels", "solvers", "pig")),
        ["play", "pig"],
    ],
    ids=lambda words: "-".join(words),
)
def test_a_seed_out_of_range_is_refused_alike_everywhere(words, seed, capsys):
    assert command_line(capsys, *words, f"--seed={seed}") == (2, "", f"quandary: {SEEDS}{seed}\n")


@pytest.mark.parametrize("seed", ["-1", "9223372036854775808", "1" + "0" * 40])
def test_a_seed_out_of_range_in_a_config_is_refused_in_the_same_words(seed, tmp_path, capsys):
    config = tmp_path / "x.toml"
    config.write_text(f'name = "x"\nseed = {seed}\n[[arena]]\ngame = "kuhn"\nbots = ["random"]\ndeals = 1\n')
    assert command_line(capsys, "run", config) == (2, "", f"quandary: {config}: {SEEDS}{seed}\n")


def test_a_number_that_python_does_not_read_is_refused(tmp_path, capsys):
    (tmp_path / "x.toml").write_text(f"seed = {'9' * 5000}")
    code, _, errors = command_line(capsys, "run", tmp_path / "x.toml")
    assert code == 2
    assert "x.toml" in errors


@pytest.mark.parametrize(
    "words",
    [["solve", "kuhn", "--json", "--solver", "mccfr_os(iterations=10)"], ["solve", "pig(goal=6)", "--solver", "mcts"]],
)
def test_the_largest_seed_is_taken(words, capsys):
    assert command_line(capsys, *words, "--seed", 2**63 - 1)[0] == 0


@pytest.mark.parametrize("command", ["solve", "play", "profile"])
def test_help_tells_the_range_of_seeds(command, capsys):
    text = " ".join(command_line(capsys, command, "--help")[1].split())
    assert "0 to 9223372036854775807" in text


def test_a_bad_game_in_a_process_of_its_own():
    """What C++ code prints would show here and not above."""
    done = quandary("games", "chess")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("words", [["games"], ["games", "pig"], ["bots"], ["bots", "random"], ["ladder"], ["--help"]])
def test_listings(words, capsys):
    code, _, errors = command_line(capsys, *words)
    assert (code, errors) == (0, "")


def test_the_version_is_told(capsys):
    code, output, errors = command_line(capsys, "--version")
    assert (code, errors) == (0, "")
    assert output.startswith("quandary ")
    assert f"Python {platform.python_version()}" in output


def test_no_arguments_show_the_help():
    done = quandary()
    assert done.returncode == 2
    assert "Commands" in done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device that is always full")
@pytest.mark.parametrize("words", [["games"], ["solve", "kuhn_poker", "--solver", "cfr(iterations=1)", "--json"]])
def test_a_full_disk_is_one_line(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "experiments", *words],
            cwd=ROOT,
            env=ENVIRONMENT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert done.returncode == 2
    assert "cannot be written" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_closed_pipe_ends_quietly():
    running = subprocess.Popen(
        [sys.executable, "-m", "experiments", "games"],
        cwd=ROOT,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    running.stdout.close()
    assert running.stderr.read() == ""
    assert running.wait(timeout=60) == 141


def test_a_board_needs_a_game(capsys):
    code, _, errors = command_line(capsys, "games", "--board", "x")
    assert code == 2
    assert "--board needs a game: quandary games GAME --board x" in errors


def test_a_bot_is_described_by_its_name_or_a_spec(capsys):
    by_name, by_spec = (command_line(capsys, "bots", text) for text in ("mcts", "mcts(simulations=5)"))
    assert by_spec == by_name
    assert by_name[0] == 0
    code, _, errors = command_line(capsys, "bots", "mcts(simulation=5)")
    assert code == 2
    assert "did you mean 'simulations'?" in errors


@pytest.mark.parametrize("text", ["(" * 3000, "pig" + "(" * 3000, "pig(goal=" + "x" * 3000 + ")", "x" * 3000])
@pytest.mark.parametrize("words", [["games"], ["bots"], ["profile"]])
def test_what_is_long_and_wrong_is_not_repeated_whole(words, text, capsys):
    code, _, errors = command_line(capsys, *words, text)
    assert code == 2
    assert len(errors) < 1000
    assert "characters)" in errors
