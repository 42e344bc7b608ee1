"""Pages: the start, and a game as its person sees it."""

from __future__ import annotations

import functools
from importlib import resources
from pathlib import Path

import jinja2
from markupsafe import Markup

import games
from engine_ext.errors import QuandaryError
from engine_ext.position import Rules
from experiments import ladder, players
from experiments.play import odds
from experiments.play.session import Session
from experiments.web import drawing
from experiments.web.tables import Table
from games.words import NOBODY
from solvers import specs

LONG_WORDS, MEDIUM_WORDS = 40, 22  # characters of an option that a column has room for, on a wide and a narrow screen
SHOWN_OPTIONS = 12
LEVELS = {
    ladder.NAME: "the strongest known bot",
    ladder.SHORT: "a bot that looks ahead a little",
    "greedy": "a bot that plays by a rule of thumb",
    "random": "a bot that plays at random",
}

TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(str(resources.files("experiments"))) / "templates"),
    autoescape=True,
    trim_blocks=True,
    lstrip_blocks=True,
    undefined=jinja2.StrictUndefined,
)


def sentence(text: str) -> str:
    """A text with a capital at its head. Registered names are not changed by it: a game is called as people call
    it, a bot as it is typed."""
    name, space, rest = text.partition(" ")
    if name in games.SPECS:
        return games.SPECS[name].long_name + space + rest
    if name.partition("(")[0].rstrip(":") in {*games.SPECS, *specs.names()}:
        return text
    return text[:1].upper() + text[1:]


TEMPLATES.filters["sentence"] = sentence


def start_page(error: str = "", given: dict[str, str] | None = None) -> str:
    """The page with the games there are.

    Args:
        error: what went wrong, to be said at the top.
        given: fields of the form as they were sent.
    """
    known = {"game": "pentaquest(players=2)", "bot": ladder.NAME, "seat": "0", "seed": ""}
    return TEMPLATES.get_template("web_start.html").render(
        specs=games.SPECS.values(),
        made=lambda spec, variant: _reconstructed(spec.name, variant),
        bots=tuple(LEVELS),
        levels=lambda spec: _levels(spec.name),
        error=error,
        given=known | {key: value for key, value in (given or {}).items() if key in known},
    )


def game_page(key: str, table: Table, error: str = "") -> str:
    """A game's page. Whoever calls it holds the table's lock.

    Args:
        error: why what was asked for was not done.
    """
    session = table.session
    spec = session.game.spec
    assert spec is not None
    hinted = {option.action: option for option in table.hint[1]} if table.hint and session.your_turn else {}
    choices = list(enumerate(session.choices(), 1)) if session.your_turn and table.thinking is None else []
    if hinted:
        order = {action: i for i, action in enumerate(hinted)}
        choices.sort(key=lambda pair: order.get(pair[1].action, len(order)))
    story = [(_who(session, line.seat), line.text) for line in session.story]
    drawn, steady = picture(session)
    return TEMPLATES.get_template("web_game.html").render(
        key=key,
        step=len(session.events),
        own_moves=session.own_moves,
        title=spec.long_name,
        session=session,
        state="Not done" if error else _state(session, table),
        picture=drawn,
        steady=steady,
        news=story[table.told :],
        story=story[: table.told],
        question=session.question() if choices else "",
        choices=choices,
        long_words=LONG_WORDS,
        medium_words=MEDIUM_WORDS,
        odds=hinted,
        adviser=table.hint[0] if hinted and table.hint else "",
        notes=odds.notes(list(hinted.values())),
        thought_words=odds.briefly(session.thought.options) if session.thought else [],
        thought_notes=odds.notes(session.thought.options) if session.thought else [],
        aim=spec.aim(session.rules),
        thinking=table.thinking,
        trouble=table.trouble,
        paused=table.thinking is None and not session.your_turn and not session.over,
        thought=session.thought if table.thinking is None else None,
        said=table.said if table.thinking is None else "",
        figure=odds.figure,
        known=odds.known,
        heading=odds.heading,
        shown_options=SHOWN_OPTIONS,
        verdict=session.verdict() if session.over else "",
        look_up=spec.look_up(session.position, session.seat),
        error=error,
        bots_explained=[
            note for note in dict.fromkeys(ladder.note(bot, session.rules) for bot in session.bots) if note
        ],
        reconstructed=_any_reconstructed(session),
    )


def picture(session: Session) -> tuple[Markup, Markup]:
    """What the person's seat sees, in HTML: what changes, the board as an SVG where the game draws one, and
    what seldom does."""
    spec = session.game.spec
    assert spec is not None
    parts = dict(spec.sections(session.position, session.seat))
    board = Markup("")
    if spec.picture is not None:
        parts.pop("board", None)
        board = Markup("<div class='board'>%s</div>") % Markup(spec.picture(session.position, session.seat))
    steady = {name: parts.pop(name) for name in spec.steady if name in parts}
    return board + drawing.sections(parts), drawing.sections(steady)


def _state(session: Session, table: Table) -> str:
    """What a game waits for, in two words: what a reader of the window's title has to know."""
    if session.over:
        return session.verdict().partition(".")[0].partition(":")[0]
    if table.thinking is not None:
        return "Thinking"
    return "Your turn" if session.your_turn else "Stopped"


def _who(session: Session, seat: int) -> str:
    if seat == NOBODY:
        return ""
    return "you" if seat == session.seat else f"seat {seat}"


def _any_reconstructed(session: Session) -> bool:
    spec = session.game.spec
    return (
        spec is not None
        and spec.records is not None
        and any(record["provenance"] == "reconstructed" for record in spec.records(session.rules))
    )


@functools.cache
def _levels(name: str) -> dict[str, str]:
    """The opponents that a game can be played against in every variant, with their words."""
    spec = games.SPECS[name]
    variants = [spec.make_rules(spec.variants.get(variant)) for variant in spec.variants or [""]]
    return {bot: words for bot, words in LEVELS.items() if all(_plays(bot, rules) for rules in variants)}


def _plays(bot: str, rules: Rules) -> bool:
    try:
        players.seat(bot, rules)
    except QuandaryError:
        return False
    return True


@functools.cache
def _reconstructed(name: str, variant: str) -> str:
    """How much of the data of a game's variant is reconstructed, in words; empty where it has no data."""
    spec = games.SPECS[name]
    if spec.records is None:
        return ""
    try:
        records = spec.records(spec.make_rules(spec.variants.get(variant)))
    except QuandaryError:
        return ""
    made = sum(record["provenance"] == "reconstructed" for record in records)
    return (
        f"{made} of {len(records)} cards and pieces reconstructed"
        if made
        else "all cards and pieces from published sources"
    )
