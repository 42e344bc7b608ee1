"""The server process: an address to listen on, and uvicorn on it."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator

import uvicorn

from engine_ext.errors import ParameterError, reason
from experiments.web.app import SECONDS, make_app


def serve(host: str, port: int, seconds: float = SECONDS) -> None:
    """Serve until interrupted.

    Args:
        seconds: how long a bot may think about a decision.

    Raises:
        ParameterError: there is no such host, or the port is taken or not allowed.
    """
    app = make_app(seconds)
    with _listening(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        print(f"http://{shown}:{port}/ (Ctrl-C ends)", flush=True)
        server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
        app.state.ending = lambda: server.should_exit  # pages that wait do not keep it up
        server.run(sockets=[listener])


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    """A socket that listens, so that what is wrong with the address is known before it is announced."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        listener = socket.create_server(address[:2], family=family)
    except (OSError, UnicodeError, OverflowError) as error:
        why = reason(error).partition(" (while")[0]  # which repeats the address
        raise ParameterError(f"serve cannot listen on host {host!r}, port {port}: {why}") from error
    with listener:
        yield listener
