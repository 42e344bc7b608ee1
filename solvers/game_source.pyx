"""Where a tree comes from: a native game or one of OpenSpiel's, what it says of itself, and what looking at it tells.

Source: Knuth, "Estimating the efficiency of backtrack programs", Mathematics of Computation 29 (1975).
"""
import contextlib
import time
from dataclasses import dataclass

from libc.math cimport exp, log, log1p
from libc.stdint cimport int32_t
from libc.string cimport memcpy

from engine_ext.game cimport (
    CHANCE, CYCLIC, LEGAL_LIMIT, OUTCOME_LIMIT, PLAYER_LIMIT, STATE_LIMIT, TERMINAL, GameOps,
)
from engine_ext.position cimport Position, Rules
from engine_ext.rng cimport Rng, rng_below, rng_seed
from solvers.stopping cimport look_up
from solvers.tree cimport FlatTree

import pyspiel

from engine_ext.errors import ParameterError, QuandaryError, UnsuitableGameError
from engine_ext.seeds import check_seed
from solvers.tree import TURN_BASED, take_forced
from solvers.tree_size import summarise

PROBE_SECONDS = 5.0        # probing stops then
SURVEY_GAMES = 100         # to find out what a game does not declare
SURVEY_SECONDS = 1.0
# Counted from when somebody began to wait, all looking is over after this, so that a refusal comes within 10 s,
# with what a process takes to start and one slow call of the game's: the probes, and before them the free walk and the
# survey.
ANSWER_SECONDS = 5.5
WALKED_SECONDS = 3.0
SURVEYED_SECONDS = 2.0
LEAST_SECONDS = 0.25       # of each, also where its time is over

# What OpenSpiel's games raise where they refuse parameters or a call, or fail: C++ exceptions arrive as these, and
# games written in Python raise their own.
LOAD_ERRORS = (pyspiel.SpielError, ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError,
               OSError, RuntimeError, TypeError, ValueError)


@dataclass
class Survey:
    """What random games tell of a game. Each finding that rules something out has been seen; the rest
    may still turn out otherwise.

    Attributes:
        games: played, the last one perhaps not to its end.
        longest: most decisions and chance nodes of one, forced moves left out.
        most_legal: most actions of a decision.
        most_outcomes: most outcomes of a chance node.
        zero_sum: whether every game's utilities summed to 0.
        recalls: whether no seat came to one information state by different own sequences.
        stages: whether a seat's choice was hidden from another that decides next.
        walked: whether the beginning of the tree has been walked to see whether seats recall (`recalls`).
    """

    games: int = 0
    longest: int = 0
    most_legal: int = 0
    most_outcomes: int = 0
    zero_sum: bool = True
    recalls: bool = True
    stages: bool = False
    walked: bool = False


class Source:
    """Where a tree comes from: exactly one of `position` (native) and `state` (pyspiel) is set.

    Args:
        source: as for `extraction.extract`.
        depth: likewise.
        whole: whether the whole tree is wanted, which a game with cycles does not have.
        began: `time.perf_counter()` when somebody began to wait; None: now.

    Attributes:
        name: the game in OpenSpiel's grammar.
        n_players: seats.
        hidden, imperfect, simultaneous, declared_zero_sum: what an OpenSpiel game says of itself.
        by_key: whether its information states tell all that a seat did.
        observe: whether information sets go by observation strings.
    """

    def __init__(self, source, depth, whole=True, began=None):
        self.began = time.perf_counter() if began is None else began
        self.position = self.state = self.game = None
        self.depth, self.whole = depth, whole
        if isinstance(source, str):
            source = load_openspiel(source)
        if isinstance(source, FlatTree):
            raise ParameterError("this is a tree already")
        if isinstance(source, pyspiel.State) and isinstance(getattr(source, "position", None), Position):
            source = source.position
        elif isinstance(source, pyspiel.Game) and isinstance(getattr(source, "rules", None), Rules):
            source = source.rules
        if isinstance(source, Rules):
            source = source.initial_position()
        if isinstance(source, Position):
            self._take_position(source)
        elif isinstance(source, pyspiel.Game):
            with named_errors(str(source)):
                self._take_state(source.new_initial_state(), source)
        elif isinstance(source, pyspiel.State):
            with named_errors(str(source.get_game())):
                self._take_state(source.clone(), source.get_game())
        else:
            raise ParameterError(
                f"a tree is extracted from a game, a state or a name, not from {type(source).__name__}")

    def until(self, seconds, since_began):
        """When to stop: so long from now, and so long since somebody began to wait; but not at once."""
        now = time.perf_counter()
        return min(now + seconds, max(self.began + since_began, now + LEAST_SECONDS))

    def _take_position(self, Position position):
        cdef const GameOps *ops = position.ops
        self.position = position.clone()
        self.name = native_name(position.rules)
        self.n_players = ops.n_players
        if self.depth is None:
            if ops.flags & CYCLIC and self.whole:
                who = "ismcts plays it" if position.rules.hidden_information else (
                    "value_iteration solves it, mcts plays it")
                raise UnsuitableGameError(
                    f"{self.name}: a state may come again in one game, so its whole tree has no end; {who}, and "
                    "mccfr_os samples it without a tree")
        elif not 1 <= self.depth < 2**30:
            raise ParameterError(f"depth is {self.depth}, it must be at least 1")
        elif ops.estimate == NULL:
            raise UnsuitableGameError(f"{self.name}: a tree cut at a depth needs the game's own estimate; it has none")

    def _take_state(self, state, game):
        kinds = pyspiel.GameType
        kind = game.get_type()
        self.name = str(game)
        if self.depth is not None:
            raise ParameterError("a tree of an OpenSpiel game cannot be cut at a depth: the game offers no estimate")
        # What a simultaneous game of perfect information calls an information state may forget how it came about
        # (goofspiel's does); its players do not. Where it has no such text, what they observe is all there is to know.
        perfect = kind.information != kinds.Information.IMPERFECT_INFORMATION
        self.imperfect = not perfect
        self.by_key = not perfect
        self.observe = perfect and not kind.provides_information_state_string
        if kind.dynamics == kinds.Dynamics.SIMULTANEOUS:
            if state.history():
                raise UnsuitableGameError(f"{self.called}: a simultaneous game is extracted from its start only")
            game = pyspiel.convert_to_turn_based(game)
            kind = game.get_type()
            state = game.new_initial_state()
        self.simultaneous = kind.short_name == TURN_BASED
        self.hidden = kind.information != kinds.Information.PERFECT_INFORMATION
        self.declared_zero_sum = kind.utility == kinds.Utility.ZERO_SUM
        self.n_players = game.num_players()
        self._require_extractable(kind)
        self.state, self.game = state, game

    def _require_extractable(self, kind):
        """Raise UnsuitableGameError where an OpenSpiel game of this type can be no tree."""
        kinds = pyspiel.GameType
        if kind.dynamics != kinds.Dynamics.SEQUENTIAL:
            raise UnsuitableGameError(
                f"{self.called}: it is a mean-field game, where one player meets a crowd and not every node has a "
                "player to move, so it cannot be made a tree; open_spiel.python.mfg has solvers for it")
        if kind.chance_mode == kinds.ChanceMode.SAMPLED_STOCHASTIC:
            raise UnsuitableGameError(
                f"{self.called}: its chance is only sampled, never listed, and a tree needs every outcome with its "
                "probability; no solver of ours applies. OpenSpiel's own searchers that sample (pyspiel.MCTSBot) may")
        if self.hidden and not kind.provides_information_state_string and not (
                self.observe and kind.provides_observation_string):
            what = "it hides information" if self.imperfect else "it is simultaneous"
            found = "observation strings, from which pyspiel.ISMCTSBot may play it" if (
                kind.provides_observation_string) else "no observation strings either"
            raise UnsuitableGameError(
                f"{self.called}: {what} but offers no information-state strings, so that nobody can say what a seat "
                f"knows; no solver of ours applies. It offers {found}")
        if self.n_players > PLAYER_LIMIT:
            raise UnsuitableGameError(f"{self.called}: {self.n_players} players; at most {PLAYER_LIMIT} are supported")

    def require_mergeable(self):
        """Raise UnsuitableGameError where equal states cannot be told, or not be one node."""
        if self.position is None:
            raise UnsuitableGameError(f"{self.name}: states of OpenSpiel's games have no key to merge them by")
        if self.position.rules.hidden_information:
            raise UnsuitableGameError(f"{self.name}: it hides information, so equal states may be known differently")

    @property
    def called(self):
        """What messages call the game."""
        return self.name.removesuffix("()")

    def moves(self, state, player):
        """The ids of what may happen next: legal actions, or outcomes that have a chance."""
        if player == CHANCE:
            actions = [pair[0] for pair in state.chance_outcomes() if pair[1] > 0]
        else:
            actions = state.legal_actions()
        if not actions:
            raise stuck(self.called, state, player)
        return actions

    def text(self, state, player):
        """What names a player's information set."""
        return state.observation_string(player) if self.observe else state.information_state_string(player)

    def elsewhere(self):
        """Who plays a game of OpenSpiel's that has no tree."""
        if self.simultaneous and self.observe:
            return "OpenSpiel's own solvers cannot take it either, since it offers no information-state strings"
        if self.simultaneous:
            return ("OpenSpiel's own outcome sampling (pyspiel.OutcomeSamplingMCCFRSolver on its "
                    "pyspiel.convert_to_turn_based) works without a tree")
        if not self.hidden and self.game.get_type().reward_model != pyspiel.GameType.RewardModel.TERMINAL:
            return ("OpenSpiel's own searcher (pyspiel.MCTSBot) cannot take it either, since it gives rewards before "
                    "the end of a game")
        bot = "pyspiel.ISMCTSBot, where the game can resample" if self.hidden else "pyspiel.MCTSBot"
        return f"OpenSpiel's own searchers ({bot}) work without a tree"

    # ---- probes ----------------------------------------------------------------------------

    def probe(self, probes, seed, seconds=None):
        """SizeEstimate from so many probes, or from as many as there is time for (None: PROBE_SECONDS)."""
        began = time.perf_counter()
        seed = check_seed(seed)
        deadline = self.until(PROBE_SECONDS if seconds is None else seconds, ANSWER_SECONDS)
        if self.position is not None:
            return self._probe_native(self.position, probes, seed, began, deadline)
        with named_errors(self.called):
            return self._probe_spiel(probes, seed, began, deadline)

    def _probe_spiel(self, probes, seed, double began, double deadline):
        cdef double total, weight
        cdef Rng rng
        rng_seed(&rng, seed)
        sizes, deepest, whole = [], 0, True
        for _ in range(probes):
            state = self.state.clone()
            total = weight = 0.0   # logs of the nodes so far and of the product of branchings
            depth = 0
            while True:
                look_up()
                if time.perf_counter() > deadline:
                    whole = False
                    break
                player = state.current_player()
                if player < 0 and player != CHANCE:
                    break
                actions = self.moves(state, player)
                if len(actions) > 1:
                    weight += log(len(actions))
                    total += log1p(exp(weight - total))
                    depth += 1
                state.apply_action(actions[rng_below(&rng, len(actions))])
            if whole or len(sizes) < 2:
                # A game that was left counts for as far as it came, where there are no others.
                sizes.append(total)
                deepest = max(deepest, depth)
            if not whole:
                break
        return summarise(sizes, deepest, self.n_players, time.perf_counter() - began, whole or len(sizes) > 2)

    def _probe_native(self, Position position, probes, seed, double began, double deadline):
        cdef unsigned char state[STATE_LIMIT]
        cdef int32_t ids[LEGAL_LIMIT]
        cdef double probs[OUTCOME_LIMIT]
        cdef const GameOps *ops = position.ops
        cdef const void *tables = position.tables
        cdef int32_t limit = self.depth or 2**30
        cdef int32_t count, seat, depth, deepest = 0
        cdef double total, weight
        cdef Rng rng
        rng_seed(&rng, seed)
        sizes = []
        for _ in range(probes):
            look_up()
            with nogil:
                memcpy(state, position.state, ops.state_size)
                total = weight = 0.0   # logs of the nodes so far and of the product of branchings
                depth = 0
                seat = ops.turn(tables, state)
                while seat != TERMINAL and depth < limit:
                    if seat == CHANCE:
                        count = ops.outcomes(tables, state, ids, probs)
                    else:
                        count = ops.legal(tables, state, ids)
                    weight += log(<double>count)
                    total += log1p(exp(weight - total))
                    depth += 1
                    ops.apply(tables, state, ids[rng_below(&rng, count)])
                    seat = ops.turn(tables, state)
            sizes.append(total)
            deepest = max(deepest, depth)
            if len(sizes) > 1 and time.perf_counter() > deadline:
                break
        return summarise(sizes, deepest, self.n_players, time.perf_counter() - began)

    def survey(self):
        """What random games of an OpenSpiel game tell of it: a Survey."""
        with named_errors(self.called):
            return self._survey()

    def _survey(self):
        """Play at random for a while and note what the game does not declare."""
        cdef Rng rng
        rng_seed(&rng, 0)
        deadline = self.until(SURVEY_SECONDS, SURVEYED_SECONDS)
        found = Survey()
        last_of = {}          # (player, information state) -> the player's own last sequence
        for _ in range(SURVEY_GAMES):
            state = self.state.clone()
            last = [None] * self.n_players
            steps = 0
            while time.perf_counter() < deadline:
                player = state.current_player()
                if player == TERMINAL:
                    returns = state.returns()
                    found.zero_sum &= abs(sum(returns)) <= 1e-9 * max(1.0, *map(abs, returns))
                    break
                actions = self.moves(state, player)
                action = actions[rng_below(&rng, len(actions))]
                if len(actions) > 1:
                    steps += 1
                    if player < 0:
                        found.most_outcomes = max(found.most_outcomes, len(actions))
                    else:
                        found.most_legal = max(found.most_legal, len(actions))
                        if self.hidden:
                            text = self.text(state, player)
                            if self.by_key:
                                found.recalls &= last_of.setdefault((player, text), last[player]) == last[player]
                                last[player] = text, action
                            found.stages |= not found.stages and self.opens_stage(state, player, actions, deadline)
                state.apply_action(action)
            found.longest = max(found.longest, steps)
            found.games += 1
            if time.perf_counter() >= deadline:
                break
        return found

    def opens_stage(self, state, player, actions, deadline):
        """Whether one other seat decides next and does not know which action was taken."""
        known = None
        for action in actions:
            if time.perf_counter() > deadline:
                return False
            child = state.child(action)
            take_forced(child)
            seat = child.current_player()
            if seat < 0 or seat == player:
                return False
            found = seat, self.text(child, seat)
            if known is None:
                known = found
            elif found != known:
                return False
        return True


# ---- OpenSpiel's games, and their errors -----------------------------------------------------------

def native_name(rules):
    """A native game with its parameters, in OpenSpiel's grammar."""
    inside = ",".join(f"{key}={value}" for key, value in sorted(rules.parameters.items()) if value != "")
    return f"{rules.name}({inside})"


def load_openspiel(text):
    """The `pyspiel.Game` of this name and parameters.

    Raises:
        ParameterError: OpenSpiel does not know it, or does not load it.
    """
    name = text.partition("(")[0].strip()
    if name not in pyspiel.registered_names():   # OpenSpiel would print all names it knows
        raise ParameterError(f"OpenSpiel knows no game {name!r}; was the module that registers it imported?")
    try:
        return pyspiel.load_game(text)
    except LOAD_ERRORS as error:
        raise ParameterError(f"OpenSpiel does not load {text!r}: {first_line(error)}") from error


@contextlib.contextmanager
def named_errors(game):
    """Say which game it was that raised an error of its own, and raise ours."""
    try:
        yield
    except QuandaryError:
        raise
    except LOAD_ERRORS as error:
        raise UnsuitableGameError(f"{game}: the game itself fails with {first_line(error)}") from error


def first_line(error):
    """What an exception of OpenSpiel's says, without the trace that follows it."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__


def stuck(game, state, player):
    """The error for a game that goes on where nothing can be done."""
    who = "chance has no outcome" if player == CHANCE else f"seat {player} is to move and has no legal action"
    return UnsuitableGameError(
        f"{game}: the game itself is at fault: {who}, after {len(state.history())} moves, and the game is not over; no "
        "solver can go on there. Other parameters may avoid it")
