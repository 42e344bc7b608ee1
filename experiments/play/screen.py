"""The terminal: what is drawn, what can be typed."""

from __future__ import annotations

import contextlib
import itertools
import secrets
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich import box
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.progress import Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from engine_ext.errors import ParameterError, QuandaryError
from experiments import gametext, ladder, signals
from experiments.play import odds, record, saving
from experiments.play.session import Choice, Option, Session
from experiments.terminal import Terminal, width
from games.words import NOBODY, Line

NARROWED = 20  # choices that are listed where a line fits several
SHOWN_ODDS = 10  # rows of odds, where not asked for more
PIPED_COLUMNS = 100
HELP = """\
a number, or words of an action   make that move; words of several list those
hint          the odds of the ten best actions, as a bot sees them; hint all: of every one; hint 15: of so many
why           how the bot saw its last decision (why all, why 15: as with hint)
about NAME    what a card, a piece, a field or a term of the game is; about alone lists the names
aim           how the game is played and won
undo          take your last move back; the same dice come again
save FILE     keep the game in a file (save! writes over one that exists)
record FILE   write down all that has happened, to be read (record! writes over a file that exists)
load FILE     go on with a saved game instead of this one
moves         everything that has happened
look          draw the whole table again
new           the same game again, with other dice
quit          leave (so do Ctrl-D and Ctrl-C; Ctrl-C while a bot thinks takes your move back)
hint, why, about, undo, moves, look and quit may be shortened to their first letter, help to ?."""


def play(
    text: str,
    bots: list[str] | None = None,
    *,
    seat: int | None = None,
    seed: int | None = None,
    load: Path | None = None,
    seconds: float | None = None,
) -> None:
    """Play a game in the terminal until the person leaves.

    Args:
        text: one of our games.
        bots: one spec for all other seats, or one for each; None stands for the strongest known.
        seat: the person's; None is the first.
        seed: of dice and bots; None draws one.
        load: a saved game to go on with; it must be a game of `text`, and brings bots, seat and seed.
        seconds: how long a bot may think about a decision; None: as long as its spec says.

    Raises:
        ParameterError, SpecError, UnsuitableGameError: as `Session`; or something is given that the saved
            game says otherwise.
        SavedStateError: the saved game is damaged, or of another game.
    """
    game = gametext.load(text, own_only=True)
    if load is not None:
        session = _taken_up(load, game, bots, seat, seed, seconds)
    else:
        dice = secrets.randbits(31) if seed is None else seed
        session = Session(game, seat or 0, bots or [ladder.NAME], dice, seconds=seconds)
    screen = Screen(session, Terminal(highlight=False, width=width(PIPED_COLUMNS)))
    with contextlib.suppress(KeyboardInterrupt, EOFError):
        screen.run()
    screen.say_goodbye()


def _taken_up(
    path: Path, game: gametext.Game, bots: list[str] | None, seat: int | None, seed: int | None, seconds: float | None
) -> Session:
    """The saved game, unless what is asked for is another one."""
    session = saving.load(path, seconds=seconds)
    if not session.game.same_as(game):
        raise ParameterError(f"{path} holds a game of {session.game.text}, not of {game.text}")
    rivals = [bot for other, bot in enumerate(session.bots) if other != session.seat]
    kept: list[tuple[str, Any, Any]] = [("seat", seat, session.seat), ("seed", seed, session.seed)]
    if bots and bots not in (session.bots, rivals) and not (len(bots) == 1 and set(rivals) == set(bots)):
        kept.append(("bot", ", ".join(bots), ", ".join(rivals)))
    for name, given, saved in kept:
        if given is not None and given != saved:
            raise ParameterError(
                f"{path} was saved with {name} {saved}, and --load goes on with it: leave out --{name} {given}, or "
                "start a new game without --load"
            )
    return session


class Screen:
    """One person's game in a terminal.

    Args:
        session: the game.
        console: where to draw.
        read: gives the next line; raises EOFError at the end of input.
    """

    def __init__(self, session: Session, console: Console, read: Callable[[str], str] = input) -> None:
        self.session = session
        self.console = console
        self._read = read
        self._own_files: set[Path] = set()
        self._left = False
        self._progress: tuple[Progress, TaskID] | None = None  # what is shown while something is worked out
        self._drawn: dict[str, str] = {}  # what the parts of the table looked like when last drawn
        self._commands: dict[str, Callable[[str], None]] = {
            "help": self._help,
            "hint": self._hint,
            "why": self._why,
            "about": self._about,
            "aim": self._aim,
            "undo": self._undo,
            "save": self._save,
            "save!": self._save_over,
            "record": self._record,
            "record!": self._record_over,
            "load": self._load,
            "moves": self._moves,
            "look": self._look,
            "new": self._new,
            "quit": self._quit,
        }
        self._short = {
            "?": "help",
            "h": "hint",
            "w": "why",
            "a": "about",
            "u": "undo",
            "m": "moves",
            "l": "look",
            "q": "quit",
            "exit": "quit",
        }

    def run(self) -> None:
        """Play until the person leaves.

        Raises:
            EOFError, KeyboardInterrupt: the person left that way.
        """
        self._introduce()
        self._advance()
        while not self._left:
            line = self._read("> ").strip()
            if line:
                self._obey(line)

    def say_goodbye(self) -> None:
        """The last line."""
        state = "over" if self.session.over else f"left after {len(self.session.events)} steps"
        self.console.print(f"\nThe game is {state}. Seed {self.session.seed} brings the same dice again.", markup=False)

    # ---- the course of the game --------------------------------------------------------------

    def _introduce(self) -> None:
        session = self.session
        session.preparing = self._preparing
        assert session.game.spec is not None
        self._drawn = {}
        rivals = [f"seat {i}: {name}" for i, name in enumerate(session.names) if i != session.seat]
        self.console.print(
            Text.assemble(
                (session.game.spec.long_name, "bold"),
                f"  {session.game.text}, seed {session.seed}. "
                + (f"You have seat {session.seat}; {', '.join(rivals)}." if rivals else "You play alone."),
            )
        )
        for note in dict.fromkeys(ladder.note(bot, session.rules) for bot in session.bots):
            if note:
                self.console.print(note, markup=False, style="dim")
        if session.game.spec.records is not None and any(
            record["provenance"] == "reconstructed" for record in session.game.spec.records(session.rules)
        ):
            self.console.print(
                "Some of this game's data are reconstructed: this project's own, in place of what is not public.",
                markup=False,
                style="dim",
            )
        if aim := session.game.spec.aim(session.rules):
            self.console.print(aim, markup=False)
        self.console.print("Type help for what you can type.", style="dim", markup=False)
        if self._shorthand:
            self.console.print(f"In this game also {self._shorthand}", style="dim", markup=False)

    def _advance(self) -> None:
        """Let dice and bots go on to the person's next decision, tell what happened, draw the table."""
        decided = self.session.rival_decisions
        try:
            with self._thinking():
                self.session.prepare()
                lines = self.session.go_on()
                said = odds.of_rival(self.session) if self.session.rival_decisions != decided else ""
        except KeyboardInterrupt:
            if not self.session.undo():
                raise
            signals.answered()
            self._say("Stopped: your move is taken back. Ctrl-C once more leaves.")
            self._look("")
            return
        self._tell(lines)
        if said:
            more = " (why: the rest)" if self.session.thought is not None else ""
            self.console.print(f"{said}{more}", style="dim", markup=False)
        self._show()

    def _say(self, text: str) -> None:
        self.console.print(text, style="yellow", markup=False)

    @contextlib.contextmanager
    def _thinking(self) -> Iterator[None]:
        """A sign that something is worked out, and for how long, on terminals that can take it away again."""
        if not self.console.is_terminal or self.console.is_dumb_terminal:
            yield
            return
        most = "" if self.session.seconds is None else f", at most {self.session.seconds:g} s a move"
        columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
        with Progress(*columns, console=self.console, transient=True) as progress:
            self._progress = progress, progress.add_task(f"thinking{most}")
            try:
                yield
            finally:
                self._progress = None

    @contextlib.contextmanager
    def _preparing(self, what: str) -> Iterator[Callable[[], None]]:
        """The sign says that a bot does what it does once for a game, and what ends that."""
        if self._progress is None:
            yield lambda: None
            return
        progress, task = self._progress
        before = progress.tasks[0].description
        progress.reset(task, description=f"{what} (Ctrl-C ends it)")
        yield lambda: None
        progress.reset(task, description=before)

    def _tell(self, lines: list[Line]) -> None:
        if not lines:
            return
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_column(justify="right", no_wrap=True, min_width=8)
        table.add_column()
        last = None
        for line in lines:
            who, style = self._who(line.seat)
            table.add_row(Text(who if line.seat != last else "", style=style), Text(line.text))
            last = line.seat
        self.console.print(table)

    def _who(self, seat: int) -> tuple[str, str]:
        if seat == NOBODY:
            return "", "cyan"
        return ("you", "bold green") if seat == self.session.seat else (f"seat {seat}", "bold magenta")

    # ---- drawing -----------------------------------------------------------------------------

    def _look(self, _: str) -> None:
        self._drawn = {}
        self._show()

    def _show(self) -> None:
        """Draw what has changed of the table, then the question and the menu."""
        session = self.session
        assert session.game.spec is not None
        changed = []
        for name, part in session.game.spec.sections(session.position, session.seat).items():
            with self.console.capture() as capture:
                self.console.print(part)
            drawn = name in self._drawn and name in session.game.spec.steady
            if not drawn and self._drawn.get(name) != capture.get():
                self._drawn[name] = capture.get()
                changed.append(part)
        if changed:
            whole = "the table" if len(changed) == len(self._drawn) else "what has changed (look: all of it)"
            title = "the end" if session.over else whole
            self.console.print(
                Panel(Group(*changed), title=title, title_align="left", box=box.ROUNDED, border_style="dim")
            )
        if session.over:
            self.console.print(self._verdict())
            self.console.print("undo, save FILE, record FILE, new or quit?", style="dim", markup=False)
        elif session.your_turn:
            self.console.print(Text(session.question(), style="bold"))
            self.console.print(self._menu())

    def _menu(self) -> RenderableType:
        """The choices by number: long ones a line each, runs of short ones in columns."""
        numbered = list(enumerate(self.session.choices(), 1))
        wide = len(str(len(numbered)))
        room = self.console.width // 2 - wide - 6
        parts: list[RenderableType] = []
        for short, run in itertools.groupby(numbered, key=lambda pair: len(pair[1].words) <= room):
            entries = list(run)
            if short and len(entries) > 4:
                cells = [self._entry(number, wide, f"  {choice.words}") for number, choice in entries]
                parts.append(Columns(cells, padding=(0, 3), column_first=True, equal=True))
                continue
            table = Table.grid(padding=(0, 2, 0, 0))
            for number, choice in entries:
                table.add_row(self._entry(number, wide, ""), Text(choice.words))
            parts.append(table)
        return Group(*parts)

    @staticmethod
    def _entry(number: int, wide: int, words: str) -> Text:
        return Text.assemble((f"{number:>{wide}}", "bold cyan"), words)

    def _verdict(self) -> Text:
        chance = self.session.win_chance(self.session.position.returns()[self.session.seat])
        style = "bold yellow" if chance else "bold red" if chance == 0 else "bold"
        return Text(self.session.verdict(), style="bold green" if chance == 1 else style)

    # ---- what can be typed -------------------------------------------------------------------

    def _obey(self, line: str) -> None:
        word, _, rest = line.partition(" ")
        name = self._short.get(word.lower(), word.lower())
        try:
            if name in self._commands:
                self._commands[name](rest.strip())
            else:
                self._move(line)
        except QuandaryError as error:
            self.console.print(str(error), style="yellow", markup=False)

    def _move(self, line: str) -> None:
        if not self.session.your_turn:
            self.console.print("The game is over: undo, save FILE, new or quit.", style="yellow", markup=False)
            return
        action = self._find(line, self.session.choices())
        if action is not None:
            self.session.choose(action)
            self._advance()

    def _find(self, line: str, choices: list[Choice]) -> int | None:
        """The action that a line means; None, with a word about it, where that is not clear."""
        if line.isascii() and line.isdecimal() and len(line) < 10:
            if 1 <= int(line) <= len(choices):
                return choices[int(line) - 1].action
            self.console.print(f"{line} is not on the list: 1 to {len(choices)}.", style="yellow", markup=False)
            return None
        spec = self.session.game.spec
        assert spec is not None
        wanted = " ".join(line.lower().split())
        meant = spec.understand(self.session.position, wanted)
        if meant is not None:
            return meant
        tests: tuple[Callable[[str], bool], ...] = (
            lambda text: text == wanted,
            lambda text: text.endswith(" " + wanted),
            lambda text: wanted in text,
        )
        for of in (lambda choice: choice.name, lambda choice: choice.words):
            for test in tests:
                found = [choice for choice in choices if test(of(choice).lower())]
                if len(found) == 1:
                    return found[0].action
                if found:
                    self._narrow(found, choices)
                    return None
        shown = line if len(line) <= 60 else f"{line[:60]}…"
        self.console.print(f"{shown!r} is no action and no command; help lists them.", style="yellow", markup=False)
        return None

    def _narrow(self, found: list[Choice], choices: list[Choice]) -> None:
        """A line that several choices have in common: those, with their numbers in the whole menu."""
        self._say("That could be:")
        table = Table.grid(padding=(0, 2, 0, 0))
        for choice in found[:NARROWED]:
            number = choices.index(choice) + 1
            table.add_row(self._entry(number, len(str(len(choices))), ""), Text(choice.words))
        self.console.print(table)
        if len(found) > NARROWED:
            self._say(f"and {len(found) - NARROWED} more.")

    def _help(self, _: str) -> None:
        self.console.print(HELP, markup=False)
        if self._shorthand:
            self.console.print(f"in this game also {self._shorthand}.", markup=False)

    @property
    def _shorthand(self) -> str:
        """What else can be typed in the game that is played."""
        spec = self.session.game.spec
        return spec.words.shorthand if spec is not None and spec.words is not None else ""

    def _hint(self, rest: str) -> None:
        most = self._most(rest)
        if most is None:
            return
        try:
            with self._thinking():
                name, options = self.session.hint()
        except KeyboardInterrupt:
            signals.answered()
            self._say("Stopped.")
            return
        numbers = {choice.action: number for number, choice in enumerate(self.session.choices(), 1)}
        self.console.print(hint_table(self.session, f"what {name} sees", options, numbers, most=most, command="hint"))

    def _most(self, rest: str) -> int | None:
        """How many rows of odds are asked for: `all`, a number, or the usual ones; None, with a word, where unclear."""
        if not rest:
            return SHOWN_ODDS
        if rest.lower() == "all":
            return sys.maxsize
        if rest.isascii() and rest.isdecimal() and int(rest[:9]) > 0:
            return int(rest[:9])
        self._say(f"{rest[:60]!r} is no number of answers: hint, hint 15, or hint all.")
        return None

    def _why(self, rest: str) -> None:
        most = self._most(rest)
        if most is None:
            return
        thought = self.session.thought
        if thought is None:
            if not self.session.rival_decisions:
                reason = "There is nothing to see: no bot has decided yet."
            elif self.session.rules.hidden_information and not self.session.over:
                reason = (
                    "A bot's odds would give away what it holds: ask again when the game is over. "
                    "hint shows your own odds."
                )
            else:
                reason = "There is nothing to see: no bot here looks ahead, so none has odds."
            self.console.print(reason, style="yellow", markup=False)
            return
        title = f"how seat {thought.seat}, {thought.name}, saw its last choice"
        self.console.print(hint_table(self.session, title, thought.options, most=most, command="why"))

    def _about(self, rest: str) -> None:
        session = self.session
        assert session.game.spec is not None
        known = session.game.spec.look_up(session.position, session.seat)
        if not known:
            self.console.print("This game has nothing to look up.", markup=False)
            return
        wanted = " ".join(rest.lower().split())
        if not wanted:
            self.console.print("about NAME, for one of: " + ", ".join(known), markup=False)
            return
        found = [name for name in known if name.lower() == wanted]
        found = found or [name for name in known if name.lower().startswith(wanted)]
        found = found or [name for name in known if wanted in name.lower()]
        found = found or [name for name in session.game.spec.terms(session.rules) if name.lower() in wanted]
        if not found:
            shown = rest if len(rest) <= 60 else f"{rest[:60]}…"
            self.console.print(f"Nothing is called {shown!r}; about lists the names.", style="yellow", markup=False)
        for name in found[:8]:
            self.console.print(Text.assemble((name, "bold"), f": {known[name]}"))
        if len(found) > 8:
            self.console.print(f"and {len(found) - 8} more: {', '.join(found[8:])}", style="dim", markup=False)

    def _aim(self, _: str) -> None:
        spec = self.session.game.spec
        assert spec is not None
        self.console.print(spec.aim(self.session.rules) or "Nothing is said about that.", markup=False)

    def _undo(self, _: str) -> None:
        if not self.session.undo():
            self.console.print("There is no move of yours to take back.", style="yellow", markup=False)
            return
        self.console.print("Taken back; the same dice will come again.", style="dim", markup=False)
        self._look("")

    def _save(self, rest: str, *, replace: bool = False) -> None:
        path = self._path(rest)
        if path is None:
            return
        if path.exists() and not replace and path.resolve() not in self._own_files:
            self.console.print(
                f"{path} exists; it is not written over. save! {path} would.", style="yellow", markup=False
            )
            return
        saving.save(self.session, path, replace=True)
        self._own_files.add(path.resolve())
        self.console.print(f"Saved in {path}.", markup=False)

    def _save_over(self, rest: str) -> None:
        self._save(rest, replace=True)

    def _record(self, rest: str, *, replace: bool = False) -> None:
        path = self._path(rest, "record game.txt")
        if path is None:
            return
        if path.exists() and not replace:
            self._say(f"{path} exists; it is not written over. record! {path} would.")
            return
        record.save(self.session, path)
        self.console.print(f"Written to {path}.", markup=False)

    def _record_over(self, rest: str) -> None:
        self._record(rest, replace=True)

    def _load(self, rest: str) -> None:
        path = self._path(rest)
        if path is not None and self._take(saving.load(path, seconds=self.session.seconds)):
            self._own_files.add(path.resolve())

    def _path(self, rest: str, example: str = "save game.json") -> Path | None:
        if not rest:
            self.console.print(f"Which file? For example: {example}", style="yellow", markup=False)
            return None
        try:
            path = Path(rest).expanduser()
            path.stat()
        except FileNotFoundError:
            pass
        except (OSError, RuntimeError, ValueError) as error:  # too long, an unknown ~user, a zero byte
            reason = error.strerror if isinstance(error, OSError) else error
            self.console.print(f"{rest[:60]!r} cannot name a file: {reason}", style="yellow", markup=False)
            return None
        return path

    def _moves(self, _: str) -> None:
        if not self.session.story:
            self.console.print("Nothing has happened yet.", markup=False)
        self._tell(self.session.story)

    def _new(self, _: str) -> None:
        old = self.session
        self._take(Session(old.game, old.seat, old.bots, secrets.randbits(31), seconds=old.seconds))

    def _take(self, session: Session) -> bool:
        """Go on with this game, once its bots are ready; False where that was interrupted, and the old one stays.

        Raises:
            QuandaryError: a bot cannot be made ready; the old game stays.
        """
        try:
            with self._thinking():
                session.preparing = self._preparing
                session.prepare()
        except KeyboardInterrupt:
            signals.answered()
            self._say("Stopped: this game goes on.")
            return False
        self.session = session
        self._introduce()
        self._advance()
        return True

    def _quit(self, _: str) -> None:
        self._left = True


def hint_table(
    session: Session,
    title: str,
    options: list[Option],
    numbers: Mapping[int, int] | None = None,
    *,
    most: int = SHOWN_ODDS,
    command: str = "hint",
) -> RenderableType:
    """The odds as a table under its title, best first.

    Args:
        numbers: of the actions in the menu, where they stand in one.
        most: rows that are shown.
        command: what shows all of them with the word `all`.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    table.add_column("action")
    mixed = max(option.share for option in options) < 1
    for column in (odds.heading(options), "searched", *(["plays it"] if mixed else [])):
        table.add_column(column, justify="right")
    shown = options[:most]
    for option, words in zip(shown, odds.briefly(options), strict=False):
        number = "" if numbers is None else f"{numbers[option.action]:>{len(str(len(options)))}}  "
        table.add_row(
            "→" if option.best else "",
            Text(f"{number}{words}"),
            odds.figure(session, option),
            f"{option.visits:,}",
            *([f"{100 * option.share:.0f} %"] if mixed else []),
            style="bold" if option.best else None,
        )
    notes = [f"and {len(options) - most} more that it likes less: {command} all"] if len(options) > most else []
    notes += odds.notes(shown)
    below = [Text("; ".join(notes), style="dim")] if notes else []
    return Group(Text(title, style="italic"), table, *below)
