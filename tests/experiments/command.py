"""Drives the command in a subprocess, as a user does, or (quicker) inside the test."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from experiments import cli

ROOT = Path(__file__).resolve().parents[2]
PATHS = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
ENVIRONMENT = {**os.environ, "PYTHONPATH": PATHS, "COLUMNS": "120", "NO_COLOR": "1"}


def quandary(
    *words: str | Path, cwd: Path = ROOT, stdin: str | None = "", timeout: float = 120
) -> subprocess.CompletedProcess:
    """Run `quandary WORDS...` to its end."""
    return subprocess.run(
        [sys.executable, "-m", "experiments", *map(str, words)],
        cwd=cwd,
        env=ENVIRONMENT,
        input=stdin,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def start(*words: str | Path, cwd: Path = ROOT) -> subprocess.Popen:
    """Start `quandary WORDS...` and return at once."""
    return subprocess.Popen(
        [sys.executable, "-m", "experiments", *map(str, words)],
        cwd=cwd,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def command_line(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    """Run `quandary WORDS...` in this process: exit code, standard output, standard error."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as ended:
        cli.main([str(word) for word in words])
    code = ended.value.code
    assert isinstance(code, int)
    return code, *capsys.readouterr()


def on_a_dumb_terminal(
    *words: str | Path, width: int, typed: bytes = b"", columns: str = "", piped: bool = False
) -> str:
    """What `quandary WORDS...` shows on a terminal of so many columns.

    Args:
        typed: on the terminal.
        columns: the variable COLUMNS; empty for none.
        piped: the standard output goes elsewhere.
    """
    environment = {key: value for key, value in ENVIRONMENT.items() if key not in ("COLUMNS", "LINES")}
    environment |= {"TERM": "dumb"} | ({"COLUMNS": columns} if columns else {})
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 25, width, 0, 0))
    command = [sys.executable, "-m", "experiments", *map(str, words)]
    out = subprocess.DEVNULL if piped else theirs
    process = subprocess.Popen(command, env=environment, stdin=theirs, stdout=out, stderr=theirs, cwd=ROOT)
    os.close(theirs)
    os.write(ours, typed)
    shown = b""
    with contextlib.suppress(OSError):  # the terminal's other end is closed
        while part := os.read(ours, 65536):
            shown += part
    os.close(ours)
    assert process.wait(60) == 0
    return shown.decode()
