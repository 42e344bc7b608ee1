"""solvers/detached.py: calls in a process of their own."""

from __future__ import annotations

import math
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from solvers.detached import call_detached
from tests.signals import stopped_after


def children() -> list[str]:
    """The commands of this process's children."""
    listed = subprocess.run(
        ["ps", "-ww", "-o", "args=", "--ppid", str(os.getpid())], capture_output=True, text=True, check=False
    )
    return [line for line in listed.stdout.splitlines() if "solvers.detached" in line]


def test_results_and_errors_come_back():
    assert call_detached(math.factorial, 5) == 120
    # More than a pipe holds, to a process that takes longer to start than its caller looks away.
    assert call_detached(len, bytes(1 << 23)) == 1 << 23
    with pytest.raises(ValueError, match="not defined for negative"):
        call_detached(math.factorial, -1)


def test_a_signal_ends_the_work_too():
    with stopped_after(0.5):
        call_detached(time.sleep, 600)
    assert not children()


def test_work_that_dies_is_told():
    with pytest.raises(RuntimeError, match="ended with code 3"):
        call_detached(os._exit, 3)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the kernel of this system is not asked to")
def test_the_work_ends_with_the_process_that_asked_for_it(tmp_path):
    """Even by kill -9."""
    told = tmp_path / "pid"
    script = (
        "from solvers.detached import call_detached\nfrom tests.solvers.test_detached import linger\n"
        f"call_detached(linger, {str(told)!r})"
    )
    asking = subprocess.Popen([sys.executable, "-c", script])
    while not told.exists() or not told.read_text().endswith("."):
        assert asking.poll() is None
        time.sleep(0.05)
    asking.kill()
    asking.wait()
    working = Path(f"/proc/{told.read_text()[:-1]}/stat")
    for _ in range(200):
        # A process whose parent has gone may stay a while as a zombie, Z, that nobody has asked about.
        if not working.exists() or working.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the process is still at work")


def linger(path: str) -> None:
    """Say who works, and never come to an end."""
    Path(path).write_text(f"{os.getpid()}.")
    time.sleep(600)


def test_time_ends_it():
    """The process would sleep for an hour; it is ended, and the caller goes on."""
    with pytest.raises(TimeoutError):
        call_detached(time.sleep, 3600, seconds=0.5)
    assert not children()
    assert call_detached(math.factorial, 5, seconds=600.0) == 120
