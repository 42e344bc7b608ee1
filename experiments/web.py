"""`quandary serve`: play in the browser, with the bot's odds beside every move.

Plain pages from the server: no script, nothing to build, nothing fetched from elsewhere. The
table is the same picture that the terminal draws. Games are kept in memory; an address like
/game/3f... is the only key to one.
"""

from __future__ import annotations

import io
import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from urllib.parse import parse_qs

import jinja2
import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup
from rich.console import Console

import games
from engine_ext.errors import ParameterError, QuandaryError
from experiments import gametext, ladder
from experiments.play.session import CHANCE, Option, Session

GAMES_KEPT = 500  # the longest unused game goes first
TABLE_COLUMNS = 92


@dataclass
class Table:
    """A game in a browser.

    Attributes:
        session: the game.
        told: number of steps that had happened before the person's last move.
        hint: the bot's odds for the position shown; None where not asked for.
        lock: one request at a time.
    """

    session: Session
    told: int = 0
    hint: tuple[str, list[Option]] | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def go_on(self) -> None:
        """Let dice and bots move up to the person's next decision."""
        while self.session.step() is not None:
            pass


class Tables:
    """All games in memory, by key."""

    def __init__(self) -> None:
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._lock = threading.Lock()

    def open(self, session: Session) -> str:
        """Keep a new game; returns its key."""
        table = Table(session)
        table.go_on()
        key = secrets.token_urlsafe(9)
        with self._lock:
            self._tables[key] = table
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
    """What the person's seat sees, as the terminal draws it, in HTML."""
    assert session.game.spec is not None
    console = Console(
        file=io.StringIO(),
        record=True,
        width=TABLE_COLUMNS,
        highlight=False,
        force_terminal=True,
        color_system="truecolor",
    )
    console.print(session.game.spec.render(session.position, session.seat))
    return Markup(console.export_html(inline_styles=True, code_format="<pre class='table'>{code}</pre>"))


def verdict(session: Session) -> str:
    """How the game ended for the person."""
    own = session.position.returns()[session.seat]
    chance = session.win_chance(own)
    if chance is None:
        return f"The game is over. Your result: {own:g}"
    return {1.0: "You have won.", 0.0: "You have lost."}.get(chance, "The win is shared.")


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

    def start_page(error: str = "", given: dict[str, str] | None = None) -> HTMLResponse:
        page = templates.get_template("web_start.html").render(
            specs=games.SPECS.values(),
            error=error,
            given={"game": "pentaquest(players=2)", "bot": ladder.NAME, "seat": "0", "seed": ""} | (given or {}),
        )
        return HTMLResponse(page, status_code=400 if error else 200)

    @app.get("/", response_model=None)
    def start() -> HTMLResponse:
        return start_page()

    @app.post("/", response_model=None)
    async def open_game(request: Request) -> Response:
        body = (await request.body())[:10_000].decode(errors="replace")
        given = {key: values[0] for key, values in parse_qs(body).items()}
        try:
            key = tables.open(_session(given))
        except QuandaryError as error:
            return start_page(str(error), given)
        return RedirectResponse(f"/game/{key}", status_code=303)

    def answer(key: str, act: Callable[[Table], None] | None = None) -> Response:
        table = tables.find(key)
        if table is None:
            return start_page("This game is not in memory any more.")
        error = ""
        with table.lock:
            if act is not None:
                try:
                    act(table)
                except QuandaryError as problem:
                    error = str(problem)
                else:
                    return RedirectResponse(f"/game/{key}", status_code=303)
            return HTMLResponse(_game_page(templates, key, table, error), status_code=400 if error else 200)

    @app.get("/game/{key}", response_model=None)
    def show(key: str) -> Response:
        return answer(key)

    @app.post("/game/{key}/move/{action}", response_model=None)
    def move(key: str, action: int) -> Response:
        def act(table: Table) -> None:
            before = len(table.session.events)
            table.session.choose(action)
            table.go_on()
            table.told, table.hint = before, None

        return answer(key, act)

    @app.post("/game/{key}/undo", response_model=None)
    def undo(key: str) -> Response:
        def act(table: Table) -> None:
            table.session.undo()
            table.told, table.hint = len(table.session.events), None

        return answer(key, act)

    @app.post("/game/{key}/hint", response_model=None)
    def hint(key: str) -> Response:
        def act(table: Table) -> None:
            table.hint = table.session.hint()

        return answer(key, act)

    return app


def _session(given: dict[str, str]) -> Session:
    """The game a form asks for.

    Raises:
        QuandaryError: naming the field that is wrong.
    """
    numbers = {"seat": 0, "seed": secrets.randbits(31)}
    for key in numbers:
        text = given.get(key, "").strip()
        if text:
            if not text.isdecimal() or len(text) > 18:
                raise ParameterError(f"{key} is {text!r}, it must be a whole number of at most 18 digits")
            numbers[key] = int(text)
    game = gametext.load(given.get("game", ""), own_only=True)
    return Session(game, numbers["seat"], [given.get("bot", "").strip() or ladder.NAME], numbers["seed"])


def _game_page(templates: jinja2.Environment, key: str, table: Table, error: str) -> str:
    session = table.session
    assert session.game.spec is not None
    odds = {option.action: option for option in table.hint[1]} if table.hint and session.your_turn else {}
    options = [(choice.action, choice.words) for choice in session.choices()] if session.your_turn else []
    if odds:
        order = {option.action: i for i, option in enumerate(table.hint[1])} if table.hint else {}
        options.sort(key=lambda pair: order[pair[0]])
    return templates.get_template("web_game.html").render(
        key=key,
        title=session.game.spec.long_name,
        session=session,
        picture=picture(session),
        events=[(_who(session, event.seat), event.text) for event in session.events[table.told :]],
        options=options,
        odds=odds,
        adviser=table.hint[0] if odds and table.hint else "",
        verdict=verdict(session) if session.over else "",
        error=error,
        reconstructed=session.game.spec.records is not None
        and any(record["provenance"] == "reconstructed" for record in session.game.spec.records(session.rules)),
    )


def _who(session: Session, seat: int) -> str:
    if seat == CHANCE:
        return "dice and cards"
    return "you" if seat == session.seat else f"seat {seat}"


def serve(host: str, port: int) -> None:
    """Serve until interrupted."""
    app = make_app()
    print(f"http://{host}:{port}/ (Ctrl-C ends)", flush=True)
    uvicorn.run(app, host=host, port=port, log_level="warning")
