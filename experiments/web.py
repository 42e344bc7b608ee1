"""`quandary serve`: play in the browser, with the bot's odds beside every move.

Plain pages from the server: no script, nothing to build, nothing fetched from elsewhere. The
table is the same picture that the terminal draws, and a board is drawn. Games are kept in memory;
an address like /game/3f... is the only key to one. Every form carries the number of steps that had
happened when its page was made, so that a move from an old page is refused instead of being made
in another position.
"""

from __future__ import annotations

import contextlib
import io
import secrets
import socket
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.parser import BytesParser
from importlib import resources
from pathlib import Path
from urllib.parse import parse_qs

import jinja2
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup
from rich.console import Console
from rich.terminal_theme import SVG_EXPORT_THEME
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

import games
from engine_ext.errors import IllegalActionError, ParameterError, QuandaryError, reason
from experiments import gametext, ladder
from experiments.play import odds, saving
from experiments.play.session import Option, Session
from games.words import NOBODY

GAMES_KEPT = 500  # the longest unused game goes first
TABLE_COLUMNS = 112
LARGEST_BODY = 4_000_000  # bytes; a saved game of ten thousand steps is a tenth of that
# Pages need nothing but their own style; whatever else got into one must not run or be fetched.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'self'; base-uri 'none'"


@dataclass
class Table:
    """A game in a browser.

    Attributes:
        session: the game.
        told: number of lines of the story that had been told before the person's last move.
        hint: the bot's odds for the position shown; None where not asked for.
        lock: one request at a time.
    """

    session: Session
    told: int = 0
    hint: tuple[str, list[Option]] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def check_fresh(self, step: str) -> None:
        """Refuse a form of a page that shows an earlier, or another, position.

        Args:
            step: the number of steps in the form; empty where the form says none.

        Raises:
            IllegalActionError: it is another one now.
        """
        if step and step != str(len(self.session.events)):
            raise IllegalActionError(
                "this page was out of date: the game has gone on or back since, in another tab or before you "
                "pressed Back; here is how it stands"
            )

    def move(self, action: str) -> None:
        """The person's move, and what follows up to the next one.

        Raises:
            IllegalActionError: not a legal move here; nothing changes.
        """
        if not (action.isascii() and action.isdecimal() and len(action) < 10):
            raise IllegalActionError(f"{action[:40]!r} is not the number of an action")
        before = len(self.session.story)
        self.session.choose(int(action))
        self.session.go_on()
        self.told, self.hint = before, None

    def undo(self) -> None:
        """Take the person's last move back.

        Raises:
            IllegalActionError: there is none.
        """
        if not self.session.undo():
            raise IllegalActionError("there is no move of yours to take back")
        self.told, self.hint = len(self.session.story), None


class Tables:
    """All games in memory, by key."""

    def __init__(self) -> None:
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, session: Session) -> str:
        """Keep a game; returns its key."""
        session.go_on()
        key = secrets.token_urlsafe(9)
        with self._lock:
            self._tables[key] = Table(session)
            while len(self._tables) > GAMES_KEPT:
                self._tables.popitem(last=False)
        return key

    def find(self, key: str) -> Table | None:
        """The game of a key, now the most recently used."""
        with self._lock:
            table = self._tables.get(key)
            if table is not None:
                self._tables.move_to_end(key)
            return table


def picture(session: Session) -> Markup:
    """What the person's seat sees, in HTML: the board as an SVG where the game draws one, and the
    rest as the terminal shows it."""
    spec = session.game.spec
    assert spec is not None
    parts = dict(spec.sections(session.position, session.seat))
    board = ""
    if spec.picture is not None:
        parts.pop("board", None)
        board = f"<div class='board'>{spec.picture(session.position, session.seat)}</div>"
    console = Console(
        file=io.StringIO(),
        record=True,
        width=TABLE_COLUMNS,
        highlight=False,
        force_terminal=True,
        color_system="truecolor",
    )
    for part in parts.values():
        console.print(part)
    text = console.export_html(
        theme=SVG_EXPORT_THEME, inline_styles=True, code_format="<pre class='table'>{code}</pre>"
    )
    return Markup(board + text)


def make_app() -> FastAPI:
    """The web application (ASGI), with games of its own."""
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(str(resources.files("experiments"))) / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    app = FastAPI(title="Quandary", docs_url=None, redoc_url=None, openapi_url=None)
    tables = Tables()

    def start_page(error: str = "", given: dict[str, str] | None = None, status: int = 0) -> HTMLResponse:
        page = templates.get_template("web_start.html").render(
            specs=games.SPECS.values(),
            bots=[ladder.NAME, "greedy", "random", "mcts(simulations=1000)", "ismcts(simulations=300)"],
            error=error,
            given={"game": "pentaquest(players=2)", "bot": ladder.NAME, "seat": "0", "seed": ""} | (given or {}),
        )
        return HTMLResponse(page, status_code=status or (400 if error else 200))

    @app.exception_handler(HTTPException)
    def refuse(_: Request, problem: HTTPException) -> HTMLResponse:
        message = {404: "There is no such page.", 405: "That page cannot be asked in this way."}
        return start_page(message.get(problem.status_code, str(problem.detail)), status=problem.status_code)

    @app.middleware("http")
    async def guard(request: Request, go_on: Callable) -> Response:
        answer: Response = await go_on(request)
        answer.headers["Content-Security-Policy"] = POLICY
        answer.headers["Cache-Control"] = "no-store"
        return answer

    @app.get("/", response_model=None)
    def start() -> HTMLResponse:
        return start_page()

    @app.post("/", response_model=None)
    async def open_game(request: Request) -> Response:
        given = _fields(await _body(request))
        return await _in_thread(lambda: open_form(given))

    def open_form(given: dict[str, str]) -> Response:
        try:
            key = tables.open(_session(given))
        except QuandaryError as error:
            return start_page(str(error), given)
        return RedirectResponse(f"/game/{key}", status_code=303)

    @app.post("/load", response_model=None)
    async def load(request: Request) -> Response:
        body = await _body(request)
        return await _in_thread(lambda: open_saved(request.headers.get("content-type", ""), body))

    def open_saved(kind: str, body: bytes) -> Response:
        try:
            key = tables.open(saving.read(_uploaded(kind, body), "the saved game"))
        except QuandaryError as error:
            return start_page(str(error))
        return RedirectResponse(f"/game/{key}", status_code=303)

    def answer(key: str, act: Callable[[Table], None] | None = None) -> Response:
        table = tables.find(key)
        if table is None:
            return start_page("This game is not in memory any more: start another, or go on with one that you saved.")
        with table.lock:
            if act is None:
                return HTMLResponse(_game_page(templates, key, table, ""))
            try:
                act(table)
            except QuandaryError as problem:
                return HTMLResponse(_game_page(templates, key, table, str(problem)), status_code=400)
            return RedirectResponse(f"/game/{key}", status_code=303)

    @app.get("/game/{key}", response_model=None)
    def show(key: str) -> Response:
        return answer(key)

    @app.get("/game/{key}/save", response_model=None)
    def save(key: str) -> Response:
        table = tables.find(key)
        if table is None:
            return answer(key)
        with table.lock:
            text = saving.write(table.session)
        name = f"{table.session.game.name}-{table.session.seed}.json"
        return Response(
            text, media_type="application/json", headers={"Content-Disposition": f'attachment; filename="{name}"'}
        )

    def post(path: str, act: Callable[[Table, dict[str, str]], None]) -> None:
        """A form of the game page; the thread that serves it may search for a while."""

        @app.post(f"/game/{{key}}/{path}", response_model=None)
        async def serve_form(request: Request) -> Response:
            given = _fields(await _body(request)) | {k: str(v) for k, v in request.path_params.items()}

            def acted(table: Table) -> None:
                table.check_fresh(given.get("step", ""))
                act(table, given)

            return await _in_thread(lambda: answer(given["key"], acted))

    def hint(table: Table, _: dict[str, str]) -> None:
        table.hint = table.session.hint()

    def again(table: Table, _: dict[str, str]) -> None:
        old = table.session
        session = Session(old.game, old.seat, old.bots, secrets.randbits(31))
        session.go_on()
        table.session, table.told, table.hint = session, 0, None

    post("move/{action}", lambda table, given: table.move(given["action"]))
    post("undo", lambda table, _: table.undo())
    post("hint", hint)
    post("again", again)
    return app


async def _in_thread(work: Callable[[], Response]) -> Response:
    """Search and drawing in a thread, so that one slow bot holds up nobody else."""
    return await run_in_threadpool(work)


async def _body(request: Request) -> bytes:
    """A request's body.

    Raises:
        HTTPException: it is larger than any form or saved game.
    """
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > LARGEST_BODY:
            raise HTTPException(413, f"A form or saved game has at most {LARGEST_BODY:,} bytes.")
    return bytes(body)


def _fields(body: bytes) -> dict[str, str]:
    """The fields of a form; of a field given twice the first."""
    try:
        found = parse_qs(body.decode(errors="replace"), max_num_fields=50)
    except ValueError:
        return {}
    return {key: values[0] for key, values in found.items()}


def _uploaded(kind: str, body: bytes) -> str:
    """The text of the file in a multipart form.

    Raises:
        ParameterError: there is none.
    """
    message = BytesParser().parsebytes(b"Content-Type: " + kind.encode(errors="replace") + b"\r\n\r\n" + body)
    for part in message.walk():
        if part.get_filename():
            content = part.get_payload(decode=True)
            if isinstance(content, bytes):
                return content.decode(errors="replace")
    raise ParameterError("no file was chosen")


def _session(given: dict[str, str]) -> Session:
    """The game a form asks for.

    Raises:
        QuandaryError: naming the field that is wrong.
    """
    numbers = {"seat": 0, "seed": secrets.randbits(31)}
    for key in numbers:
        text = given.get(key, "").strip()
        if text:
            if not (text.isascii() and text.isdecimal()) or len(text) > 18:
                raise ParameterError(f"{key} is {text[:40]!r}, it must be a whole number of at most 18 digits")
            numbers[key] = int(text)
    game = gametext.load(given.get("game", ""), own_only=True)
    return Session(game, numbers["seat"], [given.get("bot", "").strip() or ladder.NAME], numbers["seed"])


def _game_page(templates: jinja2.Environment, key: str, table: Table, error: str) -> str:
    session = table.session
    spec = session.game.spec
    assert spec is not None
    hinted = {option.action: option for option in table.hint[1]} if table.hint and session.your_turn else {}
    choices = session.choices() if session.your_turn else []
    if hinted:
        order = {action: i for i, action in enumerate(hinted)}
        choices.sort(key=lambda choice: order.get(choice.action, len(order)))
    story = [(_who(session, line.seat), line.text) for line in session.story]
    return templates.get_template("web_game.html").render(
        key=key,
        step=len(session.events),
        title=spec.long_name,
        session=session,
        picture=picture(session),
        news=story[table.told :],
        story=story[: table.told],
        question=session.question() if choices else "",
        choices=choices,
        wide=any(len(choice.words) > 40 for choice in choices),
        odds=hinted,
        adviser=table.hint[0] if hinted and table.hint else "",
        thought=session.thought,
        said=odds.of_rival(session) if session.rival_decisions else "",
        figure=odds.figure,
        heading=odds.heading,
        verdict=session.verdict() if session.over else "",
        look_up=spec.look_up(session.position, session.seat),
        error=error,
        strongest=ladder.explain(session.rules) if ladder.NAME in session.bots else "",
        reconstructed=spec.records is not None
        and any(record["provenance"] == "reconstructed" for record in spec.records(session.rules)),
    )


def _who(session: Session, seat: int) -> str:
    if seat == NOBODY:
        return ""
    return "you" if seat == session.seat else f"seat {seat}"


def serve(host: str, port: int) -> None:
    """Serve until interrupted.

    Raises:
        ParameterError: there is no such host, or the port is taken or not allowed.
    """
    app = make_app()
    with _listening(host, port) as listener:
        shown = f"[{host}]" if ":" in host else host
        print(f"http://{shown}:{port}/ (Ctrl-C ends)", flush=True)
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])


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
