"""The web application: addresses, and what is answered at each.

| address | |
|---|---|
| `GET /` | the games there are |
| `POST /` | begin a game: `game`, `bot`, `seat`, `seed` |
| `POST /load` | go on with a saved game, a file |
| `GET /game/KEY` | the game as it stands |
| `GET /game/KEY/next?after=N` | waits until more than N steps have happened or nobody thinks, then leads to it |
| `GET /game/KEY/save` | it as a file |
| `GET /game/KEY/record` | all that has happened, as a text |
| `POST /game/KEY/move/ACTION`, `undo`, `hint`, `go`, `stop`, `again` | what its page's buttons do |
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from engine_ext.errors import IllegalActionError, QuandaryError
from experiments.play import record, saving
from experiments.play.session import Session
from experiments.web import tables as tables_of
from experiments.web.forms import body_of, fields, session_for, uploaded
from experiments.web.pages import game_page, start_page
from experiments.web.tables import Table, Tables

SECONDS = 10.0  # how long a bot may think about a decision
HOLD_S = 25.0  # how long a page that waits is kept waiting; servers between may give up after thirty
GLANCE_S = 1.5  # how long a page is left to be read while bots go on
LOOK_S = 0.05
# Pages need nothing but their own style; whatever else got into one must not run or be fetched.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
FORGOTTEN = "This game is not in memory any more: start another, or go on with one that you saved."
PROBLEMS = {404: "There is no such page.", 405: "That page cannot be asked in this way."}


def make_app(seconds: float = SECONDS) -> FastAPI:
    """The web application (ASGI), with games of its own.

    Args:
        seconds: how long a bot may think about a decision.
    """
    tables = Tables(seconds)

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        tables.close()

    app = FastAPI(
        title="Quandary", docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan, redirect_slashes=False
    )

    def refusal(error: str, given: dict[str, str] | None = None, status: int = 400) -> HTMLResponse:
        return HTMLResponse(start_page(error, given), status_code=status)

    @app.exception_handler(HTTPException)
    def refuse(_: Request, problem: HTTPException) -> HTMLResponse:
        return refusal(PROBLEMS.get(problem.status_code, str(problem.detail)), status=problem.status_code)

    @app.middleware("http")
    async def guard(request: Request, go_on: Callable) -> Response:
        answer: Response = await go_on(request)
        answer.headers.update(HEADERS)
        return answer

    @app.get("/", response_model=None)
    def start() -> HTMLResponse:
        return HTMLResponse(start_page())

    def opened(make: Callable[[], Session], given: dict[str, str] | None = None) -> Response:
        try:
            key = tables.open(make)
        except QuandaryError as error:
            return refusal(str(error), given)
        return RedirectResponse(f"/game/{key}", status_code=303)

    @app.post("/", response_model=None)
    async def open_game(request: Request) -> Response:
        given = fields(await body_of(request))
        return await run_in_threadpool(opened, lambda: session_for(given, seconds), given)

    @app.post("/load", response_model=None)
    async def load(request: Request) -> Response:
        body, kind = await body_of(request), request.headers.get("content-type", "")
        return await run_in_threadpool(
            opened, lambda: saving.read(uploaded(kind, body), "the saved game", seconds=seconds)
        )

    @app.get("/game/{key}", response_model=None)
    def show(key: str) -> Response:
        table = tables.find(key)
        if table is None:
            return refusal(FORGOTTEN, status=404)
        table.look()
        with table.lock:
            return HTMLResponse(game_page(key, table))

    @app.get("/game/{key}/next", response_model=None)
    async def show_next(request: Request, key: str, after: str = "") -> Response:
        table = tables.find(key)
        if table is None:
            return refusal(FORGOTTEN, status=404)
        await something_new(table, after, lambda: bool(getattr(app.state, "ending", bool)()), request.is_disconnected)
        return RedirectResponse(f"/game/{key}", status_code=303)

    @app.get("/game/{key}/save", response_model=None)
    def save(key: str) -> Response:
        table = tables.find(key)
        if table is None:
            return refusal(FORGOTTEN, status=404)
        with table.lock:
            text = saving.write(table.session)
        return download(text, "application/json", table, "json")

    @app.get("/game/{key}/record", response_model=None)
    def write_down(key: str) -> Response:
        table = tables.find(key)
        if table is None:
            return refusal(FORGOTTEN, status=404)
        with table.lock:
            text = record.of_session(table.session)
        return download(text, "text/plain; charset=utf-8", table, "txt")

    def acted(key: str, act: Callable[[Table], None], then: Callable[[Table], Response] | None = None) -> Response:
        """Do what a form asks for, with its table's lock; then show its game, or what `then` answers without."""
        table = tables.find(key)
        if table is None:
            return refusal(FORGOTTEN, status=404)
        try:
            with table.lock:
                act(table)
        except QuandaryError as problem:
            with table.lock:
                return HTMLResponse(game_page(key, table, str(problem)), status_code=400)
        if then is not None:
            return then(table)
        table.wait(tables_of.SHORT_S)
        return RedirectResponse(f"/game/{key}", status_code=303)

    def post(
        path: str, act: Callable[[Table, dict[str, str]], None], then: Callable[[Table], Response] | None = None
    ) -> None:
        """A form of the game page. Its address without a form, as somebody may keep it, leads to the game."""

        @app.get(f"/game/{{key}}/{path}", response_model=None)
        def lead_back(request: Request) -> Response:
            key = str(request.path_params["key"])
            if tables.find(key) is None:
                return refusal(FORGOTTEN, status=404)
            return RedirectResponse(f"/game/{key}", status_code=303)

        @app.post(f"/game/{{key}}/{path}", response_model=None)
        async def serve_form(request: Request) -> Response:
            given = fields(await body_of(request)) | {k: str(v) for k, v in request.path_params.items()}
            return await run_in_threadpool(acted, given["key"], lambda table: act(table, given), then)

    def move(table: Table, given: dict[str, str]) -> None:
        check_fresh(table, given)
        table.move(given["action"])

    def hint(table: Table, given: dict[str, str]) -> None:
        check_fresh(table, given)
        table.ask_hint()

    def undo(table: Table, given: dict[str, str]) -> None:
        check_fresh(table, given)
        table.undo()

    def leave(table: Table, given: dict[str, str]) -> None:
        check_fresh(table, given)
        table.end_thinking()

    def again(table: Table) -> Response:
        """At a table of its own: who has pressed it by mistake goes back."""
        old = table.session
        return opened(lambda: Session(old.game, old.seat, old.bots, secrets.randbits(31), seconds=table.seconds))

    post("move/{action}", move)
    post("undo", undo)
    post("hint", hint)
    post("go", lambda table, _: table.go_on())
    post("stop", lambda table, _: table.stop())
    post("again", leave, again)
    return app


def download(text: str, kind: str, table: Table, ending: str) -> Response:
    """A text as a file named after its game."""
    name = f"{table.session.game.name}-{table.session.seed}.{ending}"
    return Response(text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


async def something_new(
    table: Table, after: str, ending: Callable[[], bool], gone: Callable[[], Awaitable[bool]]
) -> None:
    """Wait for a table to have something to show: that nobody thinks any more, or for a page that has been shown
    for a while, further steps.

    Args:
        after: number of steps that the page shows, as it was sent.
        ending: whether the server stops.
        gone: whether whoever waits has gone.
    """
    began = time.monotonic()
    while table.thinking is not None and not ending() and not await gone():
        table.look()
        waited = time.monotonic() - began
        if waited > HOLD_S or (waited > GLANCE_S and str(len(table.session.events)) != after):
            return
        await asyncio.sleep(LOOK_S)


def check_fresh(table: Table, given: dict[str, str]) -> None:
    """Refuse a form of a page that shows an earlier, or another, position. A page names the number of
    steps it shows; while a bot thinks steps may follow, so there it names the person's own moves.

    Raises:
        IllegalActionError: the form's number is not the present one.
    """
    now = {"step": len(table.session.events), "own_moves": table.session.own_moves}
    for name, number in now.items():
        if given.get(name, "") not in ("", str(number)):
            raise IllegalActionError(
                "this page was out of date: the game has gone on or back since, in another tab or before you "
                "pressed Back; here is how it stands"
            )
