"""How commands end at signals, also where nothing looks up for them."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from experiments import cli, signals
from tests.experiments.command import ENVIRONMENT, ROOT

# One call into compiled code that lets other threads run and looks up for nothing, as a linear program does.
DEAF = """
import hashlib, sys
from experiments import signals
signals.GRACE_S = float(sys.argv[1])
with signals.heard():
    print("on", flush=True)
    hashlib.pbkdf2_hmac("sha512", b"", b"", 2**31 - 1)
"""


def deaf(grace_s: float) -> subprocess.Popen:
    """A process that does not hear signals, at work."""
    process = subprocess.Popen(
        [sys.executable, "-c", DEAF, str(grace_s)],
        cwd=ROOT,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "on\n"
    time.sleep(0.2)
    return process


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_does_not_hear_is_ended_after_a_while(number):
    process = deaf(0.5)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 128 + number
    assert err == "\nquandary: the step under way does not end by itself; ended at once\n"


def test_a_second_signal_ends_it_at_once_and_two_that_come_together_are_one():
    process = deaf(1000)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(timeout=2)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGINT


# An optional import in somebody's `try: ... except: ...`, and then work.
SWALLOWING = """
import signal, sys, time
from experiments import signals
signals.AGAIN_S = 0.3
with signals.heard() as heard:
    try:
        signal.raise_signal(int(sys.argv[1]))
    except:
        print("swallowed", flush=True)
    while True:
        time.sleep(0.01)
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_somebody_swallows_is_sent_again(number):
    process = subprocess.run(
        [sys.executable, "-c", SWALLOWING, str(int(number))],
        cwd=ROOT,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout == "swallowed\n"
    # Nothing catches the KeyboardInterrupt here: Python ends itself by the signal.
    assert process.returncode == (-number if number == signal.SIGINT else 128 + number)


def test_a_signal_that_was_meant_for_one_step_is_not_sent_again(monkeypatch):
    monkeypatch.setattr(signals, "AGAIN_S", 0.05)
    with signals.heard() as heard:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        signals.answered()
        assert heard.received is None
        time.sleep(0.5)  # ten times as long


@pytest.mark.parametrize(("number", "raised"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)])
def test_what_is_put_away_is_put_away_whole(number, raised):
    steps = []

    def put_away():
        with signals.undisturbed():
            with signals.undisturbed():
                signal.raise_signal(number)
                steps.append("whole")
            steps.append("all of it")

    with signals.heard(), pytest.raises(raised):
        put_away()
    assert steps == ["whole", "all of it"]


def test_a_second_signal_is_heard_at_once():
    steps = []

    def put_away():
        with signals.undisturbed():
            signal.raise_signal(signal.SIGINT)
            steps.append("once")
            signal.raise_signal(signal.SIGINT)
            steps.append("twice")

    with signals.heard(), pytest.raises(KeyboardInterrupt):
        put_away()
    assert steps == ["once"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_error_that_foreign_code_makes_of_a_signal_is_no_error(monkeypatch, capsys, number):
    """OpenSpiel's module raises an ImportError where a signal comes while it is loaded."""

    def loading(arguments):
        try:
            signal.raise_signal(number)
        except BaseException:
            raise ImportError("initialization failed") from None

    monkeypatch.setattr(cli, "_invoke", loading)
    with pytest.raises(SystemExit) as ended:
        cli.main(["games"])
    assert ended.value.code == 128 + number
    assert capsys.readouterr() == ("", "\nquandary: interrupted\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(
    ("module", "says"),
    [
        ("typer", "quandary: interrupted while it was starting; nothing was done"),
        ("pyspiel", "quandary: interrupted"),
        ("scipy", "quandary: interrupted"),
    ],
)
def test_a_signal_while_something_is_loaded_is_one_line(module, says, number, tmp_path):
    """In place of the module another one, which signals as soon as it is imported."""
    (tmp_path / f"{module}.py").write_text(f"import signal, time\nsignal.raise_signal({int(number)})\ntime.sleep(60)\n")
    process = subprocess.run(
        [sys.executable, "-m", "experiments", "solve", "pig", "--solver", "mcts"],
        cwd=ROOT,
        env={**ENVIRONMENT, "PYTHONPATH": f"{tmp_path}:{ENVIRONMENT['PYTHONPATH']}"},
        capture_output=True,
        text=True,
        timeout=50,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert (process.returncode, process.stdout, process.stderr) == (128 + number, "", f"\n{says}\n")


def test_handlers_are_put_back(monkeypatch):
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    monkeypatch.setattr(cli, "_invoke", lambda arguments: 0)
    for _ in range(3):
        with pytest.raises(SystemExit):
            cli.main([])
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before
