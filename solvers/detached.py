"""One call in a process of its own, for work in foreign compiled code that does not hear signals.

The caller waits and stays open to Ctrl-C and SIGTERM; whatever ends its wait ends the work, too. Where
the system can (Linux), the work also ends with the process that asked for it, however that ends.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from solvers.stopping import look_up

_PR_SET_PDEATHSIG = 1
_LOOK_S = 0.1
_START = "import sys; sys.path[:] = sys.argv[1:]; from solvers.detached import _serve; _serve()"


def call_detached(function: Callable[..., Any], *arguments: Any, seconds: float | None = None) -> Any:
    """`function(*arguments)`, worked out by another process; what it raises is raised here.

    Args:
        function: of a module's top level; it, its arguments and its result can be pickled.
        seconds: how long to wait, the start of the process included; None: for ever.

    Raises:
        RuntimeError: the process ended without a result (killed, or out of memory).
        TimeoutError: it was not done in time, and has been ended.
    """
    deadline = None if seconds is None else time.monotonic() + seconds
    request = pickle.dumps((os.getpid(), function.__module__, function.__qualname__, arguments))
    command = [sys.executable, "-c", _START, *(path for path in sys.path if path), os.getcwd()]
    worker = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        answer = _answer(worker, request, deadline)
    except BaseException:
        worker.kill()
        worker.wait()
        raise
    if worker.returncode:
        raise RuntimeError(f"the process for {function.__qualname__} ended with code {worker.returncode}")
    result, error = pickle.loads(answer)
    if error is not None:
        raise error
    return result


def _answer(worker: subprocess.Popen[bytes], request: bytes, deadline: float | None) -> bytes:
    """All that the worker writes until it ends; whoever waits may be ended meanwhile."""
    # A pipe holds little and the worker starts slowly, and `communicate` drops what it could not write before its
    # timeout; so another thread writes.
    pipe, worker.stdin = worker.stdin, None
    threading.Thread(target=_feed, args=(pipe, request), daemon=True).start()
    while True:
        left_s = _LOOK_S if deadline is None else max(0.0, deadline - time.monotonic())
        try:
            return worker.communicate(timeout=min(_LOOK_S, left_s))[0]
        except subprocess.TimeoutExpired:
            look_up()
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError("the process was not done in time") from None


def _feed(pipe: Any, request: bytes) -> None:
    with contextlib.suppress(OSError), pipe:  # a worker that was killed reads no more
        pipe.write(request)


def _serve() -> None:
    """The other process: a call from the standard input, its outcome to the standard output."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal sends it to both; the caller decides
    parent, module, name, arguments = pickle.load(sys.stdin.buffer)
    _end_with(parent)
    outcome: tuple[Any, BaseException | None]
    try:
        outcome = getattr(importlib.import_module(module), name)(*arguments), None
    except Exception as error:
        outcome = None, error
    sys.stdout.buffer.write(pickle.dumps(outcome))


def _end_with(parent: int) -> None:
    """Have the kernel end this process when its parent ends."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it has gone already
        os._exit(1)
