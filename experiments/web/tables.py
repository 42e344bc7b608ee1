"""Games in browsers: who waits for whom, how long a bot may think, and what ends it.

A bot thinks in a thread of its own and nobody waits for it: a page that is asked for meanwhile shows
the table as it stands. A search that a clock can end answers within `seconds`; one that it cannot is
given up after `PATIENCE` times that. A bot that solves the game first does so before the first move, however short the
time for a move is: it has `SOLVE_S`, and ends when nobody looks at the page any more. Whoever takes a move back or
begins another game ends the thinking at once, and so does being the longest unused game of too many.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from engine_ext.errors import IllegalActionError, ParameterError, QuandaryError
from experiments import ladder
from experiments.play import odds
from experiments.play.session import Option, Session
from solvers.stopping import Stopped, stoppable

GAMES_KEPT = 500  # the longest unused game goes first
THINKERS = 64  # bots that may think at the same time; more wait for their turn
PATIENCE = 2.0  # times `seconds` until a search that no clock can end is given up
SOLVE_S = 60.0  # for a bot that solves the game before the first move
LEFT_S = 15.0  # without a look at the page until nobody waits for that any more
PREPARE_S = 30.0  # for making a game: playing a saved one again, reading a bot's file
SHORT_S = 0.7  # how long an answer waits for a bot before it shows that one is thinking

_log = logging.getLogger(__name__)


@dataclass
class Thinking:
    """What is being worked out for a table.

    Attributes:
        what: in words: `seat 1 is thinking`.
        after: set when an earlier search of the same bots, which was ended, has heard of it.
        since: when the running decision began, of time.monotonic; None while it waits for its turn.
        given_up_s: how long the running decision may take.
        limit_s: the same, as the page tells it.
        preparing: whether it is what a bot does once for a game.
        left: whether nobody looks at the page any more.
        ended: set by whoever does not want it any more.
        done: set when the thread has left the table alone.
    """

    what: str
    given_up_s: float
    limit_s: float
    left: Callable[[], bool]
    preparing: bool = False
    after: threading.Event | None = None
    since: float | None = None
    ended: bool = False
    done: threading.Event = field(default_factory=threading.Event)

    def asked(self) -> bool:
        """Whether the search should end now."""
        return self.ended or self.late or (self.preparing and self.left())

    @property
    def late(self) -> bool:
        """Whether its time is up."""
        return self.since is not None and time.monotonic() - self.since > self.given_up_s

    @property
    def seconds(self) -> float:
        """How long the running decision has taken."""
        return 0.0 if self.since is None else time.monotonic() - self.since


class Table:
    """A game in a browser. Whoever reads or changes it holds its lock.

    Args:
        session: the game.
        workers: where bots think.
        seconds: how long a bot may think about a decision.

    Attributes:
        told: number of lines of the story that had been told before the person's last move.
        hint: the bot's odds for the position shown; None where not asked for.
        said: what a bot said of its odds after its last move.
        trouble: why the last thinking came to nothing; empty where it did not.
        refused: the error behind it, where a bot could not be made ready for the game.
        looked: when the page was last shown or waited at, of time.monotonic.
        thinking: what is being worked out; None when it is not.
        lock: guards all of this.
    """

    def __init__(self, session: Session, workers: ThreadPoolExecutor, seconds: float) -> None:
        self.session = session
        self.told = 0
        self.hint: tuple[str, list[Option]] | None = None
        self.said = ""
        self.trouble = ""
        self.refused: QuandaryError | None = None
        self.looked = time.monotonic()
        self.thinking: Thinking | None = None
        self.lock = threading.RLock()
        self.seconds = seconds
        self._workers = workers
        self._last: Thinking | None = None

    # ---- what a person does ------------------------------------------------------------------

    def move(self, action: str) -> None:
        """The person's move; bots begin to think about theirs.

        Raises:
            IllegalActionError: not a legal move here; nothing changes.
        """
        self._check_idle()
        if not (action.isascii() and action.isdecimal() and len(action) < 10):
            raise IllegalActionError(f"{action[:40]!r} is not the number of an action")
        before = len(self.session.story)
        self.session.choose(int(action))
        self.told, self.hint, self.said = before, None, ""
        self.go_on()

    def undo(self) -> None:
        """Take the person's last move back, whether or not a bot thinks about its answer.

        Raises:
            IllegalActionError: there is none.
        """
        if not self.session.own_moves:
            raise IllegalActionError("there is no move of yours to take back")
        self.end_thinking()
        self.session.undo()
        self.told, self.hint, self.trouble = len(self.session.story), None, ""
        self.said = "" if self.session.rules.hidden_information else odds.of_rival(self.session)

    def go_on(self) -> None:
        """Let dice and bots go on in the background to the person's next decision or to the end."""
        self._check_idle()
        self.trouble = ""
        self._start("the bots are thinking", self._run_bots)

    def ask_hint(self) -> None:
        """Have the odds of the person's actions worked out.

        Raises:
            IllegalActionError: there is nothing to decide.
        """
        self._check_idle()
        if not self.session.your_turn:
            self.session.hint()  # names what is wrong
        self._start("your odds are being worked out", self._run_hint)

    def stop(self) -> None:
        """End what is being worked out."""
        self.end_thinking()

    def end_thinking(self) -> None:
        """End the thinking, if any; whatever it still finds is dropped."""
        thinking = self.thinking
        if thinking is None:
            return
        thinking.ended = True
        self.thinking = None

    def _check_idle(self) -> None:
        if self.thinking is not None:
            raise IllegalActionError(f"{self.thinking.what}: wait for it, or take your move back")

    # ---- what the thread does ----------------------------------------------------------------

    def _start(self, what: str, run: Callable[[Thinking], None]) -> None:
        after = None if self._last is None else self._last.done
        self.thinking = self._last = thinking = Thinking(
            what, PATIENCE * self.seconds + 1.0, self.seconds, self._is_left, after=after
        )
        self._workers.submit(self._work, thinking, run)

    def look(self) -> None:
        """Note that somebody looks at the page, or waits for the next."""
        self.looked = time.monotonic()

    def _is_left(self) -> bool:
        return time.monotonic() - self.looked > LEFT_S

    @contextlib.contextmanager
    def _preparing(self, thinking: Thinking, what: str) -> Iterator[Callable[[], None]]:
        """Around what a bot does once for a game: it has its own time, from when it begins, and the page says so."""

        def began() -> None:
            thinking.since = time.monotonic()

        before = thinking.what, thinking.given_up_s, thinking.limit_s
        with self.lock:
            thinking.what, thinking.given_up_s, thinking.limit_s = what, SOLVE_S, SOLVE_S
            thinking.since, thinking.preparing = None, True
        yield began
        with self.lock:
            thinking.what, thinking.given_up_s, thinking.limit_s = before
            thinking.since, thinking.preparing = time.monotonic(), False

    def _work(self, thinking: Thinking, run: Callable[[Thinking], None]) -> None:
        trouble = ""
        refused = None
        if thinking.after is not None:
            thinking.after.wait()
        try:
            if not thinking.ended:
                self.session.preparing = functools.partial(self._preparing, thinking)
                with stoppable(thinking.asked):
                    run(thinking)
        except Stopped:
            trouble = "" if thinking.ended else _given_up(thinking)
        except QuandaryError as error:
            trouble = str(error)
            refused = error if thinking.preparing else None
        except Exception:
            _log.exception("%s, and failed", thinking.what)
            trouble = f"{thinking.what}, and failed: the server's log has the details"
        finally:
            with self.lock:
                if self.thinking is thinking:
                    self.thinking, self.trouble, self.refused = None, trouble, refused
            thinking.done.set()

    def _run_bots(self, thinking: Thinking) -> None:
        """Step by step; searches run without the lock, so that the table can be looked at meanwhile."""
        session = self.session
        session.prepare()
        while True:
            with self.lock:
                if thinking.ended:
                    return
                seat = session.bot_to_move
                if seat is None:
                    if session.step() is None:
                        break
                    continue
                session.tell()  # what has happened so far can be read while the bot thinks
                thinking.what = f"seat {seat}, {session.names[seat]}, is thinking"
            thinking.since = time.monotonic()
            result = session.think()
            with self.lock:
                if thinking.ended:
                    return
                session.accept(result)
        said = odds.of_rival(session) if session.rival_decisions else ""
        with self.lock:
            if not thinking.ended:
                session.tell()
                self.said = said

    def _run_hint(self, thinking: Thinking) -> None:
        thinking.since = time.monotonic()
        found = self.session.hint()
        with self.lock:
            if not thinking.ended:
                self.hint = found

    def wait(self, seconds: float) -> None:
        """Wait for the thinking to end, without the lock, but not longer than this."""
        thinking = self.thinking
        if thinking is not None:
            thinking.done.wait(seconds)


class Tables:
    """All games in memory, by key.

    Args:
        seconds: how long a bot may think about a decision.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._lock = threading.Lock()
        self._workers = ThreadPoolExecutor(THINKERS, thread_name_prefix="thinker")

    def open(self, make: Callable[[], Session]) -> str:
        """Make a game and keep it; returns its key.

        Raises:
            QuandaryError: what `make` raises, or it takes too long; or a bot says at once that the game is none for it.
        """
        session = prepared(make)
        table = Table(session, self._workers, self.seconds)
        with table.lock:
            table.go_on()
        table.wait(SHORT_S)
        if table.refused is not None:
            raise table.refused
        key = secrets.token_urlsafe(9)
        dropped = []
        with self._lock:
            self._tables[key] = table
            while len(self._tables) > GAMES_KEPT:
                dropped.append(self._tables.popitem(last=False)[1])
        for each in dropped:
            with each.lock:
                each.end_thinking()
        return key

    def find(self, key: str) -> Table | None:
        """The game of a key, now the most recently used."""
        with self._lock:
            table = self._tables.get(key)
            if table is not None:
                self._tables.move_to_end(key)
            return table

    def close(self) -> None:
        """End all thinking; the server stops."""
        with self._lock:
            for table in self._tables.values():
                table.end_thinking()
        self._workers.shutdown(wait=False, cancel_futures=True)


def _given_up(thinking: Thinking) -> str:
    """Why something that was given up came to nothing."""
    if thinking.late and thinking.preparing:
        why = f"was not ready within {thinking.given_up_s:.0f} seconds. A bot that searches"
        return f"{thinking.what}, and {why}, such as {ladder.SHORT}, needs none, and a smaller game fewer"
    if thinking.preparing:
        return f"{thinking.what}, and that was ended when nobody looked at this page any more"
    return (
        f"{thinking.what}, but came to no end within {thinking.given_up_s:.0f} seconds, and no clock can "
        "end this kind of search earlier"
    )


def prepared(make: Callable[[], Session]) -> Session:
    """A session made within `PREPARE_S`.

    Raises:
        QuandaryError: what `make` raises.
        ParameterError: it takes too long.
    """
    ends = time.monotonic() + PREPARE_S
    try:
        with stoppable(lambda: time.monotonic() > ends):
            return make()
    except Stopped:
        raise ParameterError(
            f"the game was not ready within {PREPARE_S:.0f} seconds: what was saved is too long to be played again, or "
            f"a file that a bot plays too large; choose another bot, such as {ladder.SHORT}, or a smaller game"
        ) from None
