"""Expectimax: exact search to a depth, or of the whole game.

Without a limit the game is solved by memo (solvers/memo.pyx): every state once. With one, a
depth-first search deepens step by step, the game's estimate standing in at the horizon:

* two players with a zero sum, and one player: alpha-beta at decisions, and at chance nodes Star1 or
  Star2 (Ballard, 1983; Hauk, Buro and Schaeffer, 2004). Star1 bounds a chance node by what its
  outcomes not yet searched could be worth at best; Star2 first probes one action below each outcome.
  Without a transposition table Star2 probes best first, with the bounds of everything begun kept in a
  tree of its own, as SSS* does for alpha-beta (Stockman, 1979; Plaat et al., 1996): no node is
  visited twice. The values are those of the plain search.
* more players: max^n (Luckhardt and Irani, 1986), where no bound of one seat prunes another's.

A transposition table on `state_key` keeps bounds, so that the next, deeper round starts from
what this one found; actions are tried in the order: the table's best, the game's suggestion, then
those that cut off most so far (history heuristic).

A *ply* is one step, decision or chance node. Values are utilities of seat 0 inside the search.

This file holds the searcher: what it asks of the compiled search, round by round, and what it reports. The search
itself stands in expectimax_search.pxd and the files that it names.
"""
import math
import time

from cpython.time cimport PyTime_MonotonicRaw
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

cimport cython

from engine_ext.game cimport CYCLIC, PLAYER_LIMIT, GameOps
from engine_ext.position cimport Position, Rules
from engine_ext.rng cimport rng_seed
from solvers.common cimport one_value
from solvers.expectimax_best_first cimport Twig, TwigTree, add_twigs, improve
from solvers.expectimax_depth_first cimport search_value
from solvers.expectimax_maxn cimport search_vector
from solvers.expectimax_search cimport NONE, PLAIN, PLIES, STAR2, Entry, Ply, Pruning, Search, find_entry
from solvers.memo cimport Memo
from solvers.stopping cimport look_up

from engine_ext.errors import SpecError, UnsuitableGameError
from engine_ext.seeds import check_seed
from solvers.contract import (
    ActionStats, Limit, Parameter, SearchResult, SolverSpec, advised, cycle_advice, require_open,
)
from solvers.state_table import require_room

cdef enum:
    HISTORY_LIMIT = 1 << 20  # most actions that get a history


cdef bint somebody_asks(void *rounds) noexcept nogil:
    """Whether a signal came, or `stoppable`'s answer, to be raised at the end of the search."""
    with gil:
        return (<Rounds>rounds).catch()


@cython.final
cdef class Rounds:
    """The memory of one search, kept from round to round; not for use from Python.

    Args:
        rules: the game.
        pruning: PLAIN, STAR1 or STAR2.
        table_entries: of the transposition table; 0: none.
        twigs: nodes of the best-first search.
    """

    cdef Rules rules            # keeps the borrowed function table alive
    cdef Search search
    cdef TwigTree tree          # for Star2 without a table
    cdef int32_t width          # ids of one ply
    cdef int32_t n_plies
    cdef object caught          # Ctrl-C, to be raised at the end of the search

    def __cinit__(self, Rules rules not None, Pruning pruning, int64_t table_entries, int64_t twigs):
        cdef Search *s = &self.search
        cdef const GameOps *ops = &rules.ops
        cdef uint64_t size = 2      # entries come in pairs
        self.rules = rules
        self.width = max(ops.max_legal, ops.max_outcomes)
        self.n_plies = 0
        memset(s, 0, sizeof(Search))
        memset(&self.tree, 0, sizeof(TwigTree))
        s.ops, s.tables, s.pruning, s.n_players = ops, rules.tables, pruning, ops.n_players
        s.interrupted, s.asker = somebody_asks, <void *>self
        rng_seed(&s.rng, 0)
        self.tree.twig_limit = max(twigs, self.width + 1)    # the root's children at least
        self.tree.scale = 1.0 / max(ops.max_utility - ops.min_utility, 1e-300)
        s.plies = <Ply *>calloc(PLIES + 3, sizeof(Ply))
        if s.plies == NULL:
            raise MemoryError
        if table_entries:
            while 2 * size <= <uint64_t>table_entries:
                size *= 2
            s.table = <Entry *>calloc(size, sizeof(Entry))
            if s.table == NULL:
                raise MemoryError
            s.table_mask = size - 1
            if not one_value(ops):
                s.vectors = <double *>malloc(size * ops.n_players * sizeof(double))
                if s.vectors == NULL:
                    raise MemoryError
        if ops.n_actions <= HISTORY_LIMIT:
            s.history = <double *>calloc(<size_t>ops.n_actions * ops.n_players, sizeof(double))
            if s.history == NULL:
                raise MemoryError

    def __dealloc__(self):
        cdef int32_t ply
        if self.search.plies != NULL:
            for ply in range(self.n_plies):
                free(self.search.plies[ply].state)
        free(self.search.plies)
        free(self.search.table)
        free(self.search.vectors)
        free(self.search.history)
        free(self.tree.twigs)

    cdef int make_room(self, int32_t depth) except -1:
        """Working room for so many plies, two more for probes and leaves."""
        cdef const GameOps *ops = self.search.ops
        cdef size_t state_size = (ops.state_size + 15) & ~<size_t>15
        cdef size_t outcomes = ops.max_outcomes, width = self.width
        cdef unsigned char *block
        cdef Ply *ply
        while self.n_plies < depth + 3:
            block = <unsigned char *>calloc(
                1, state_size + (width + 2 * outcomes) * sizeof(double) + width * sizeof(int32_t))
            if block == NULL:
                raise MemoryError
            ply = &self.search.plies[self.n_plies]
            ply.state = block
            ply.scores = <double *>(block + state_size)
            ply.low = ply.scores + width
            ply.high = ply.low + outcomes
            ply.ids = <int32_t *>(ply.high + outcomes)
            self.n_plies += 1
        return 0

    cdef void put(self, int32_t level, Position position):
        """Begin at a position, which becomes the state of a ply."""
        memcpy(self.search.plies[level].state, position.state, self.search.ops.state_size)

    cdef bint catch(self) noexcept:
        try:
            look_up()
        except BaseException as error:
            self.caught = error
            return True
        return False


# ---- the searcher ------------------------------------------------------------------------------

class ExpectimaxSearcher:
    """Expectimax; see the module and `PARAMETERS`.

    With no limit it solves the whole game, and keeps what it has solved for later moves.

    Raises:
        SpecError: an unknown parameter.
        LimitError: a limit out of range.
    """

    def __init__(self, **parameters):
        unknown = set(parameters) - set(PARAMETERS)
        if unknown:
            raise SpecError(f"expectimax has no parameter {min(unknown)!r}; it has: {', '.join(PARAMETERS)}")
        chosen = {key: parameter.default for key, parameter in PARAMETERS.items()} | parameters
        self.parameters = chosen
        limits = {key: chosen[key] for key in ("nodes", "depth", "seconds")}
        self.limit = Limit(**limits) if any(value is not None for value in limits.values()) else None
        self.memo = None

    def reset(self):
        """Nothing to forget: what was solved stays true."""

    def search(self, position, *, seed=0, limit=None):
        """Search from a position; see `solvers.contract.Searcher`. Nothing is random; the seed is ignored.

        Raises:
            TooLargeError: without a limit, when the game does not fit into `max_states`.
            UnsuitableGameError: hidden information; cycles without a depth limit; a limit without an
                estimate to stand in at the horizon.
        """
        start_s = time.perf_counter()
        check_seed(seed)
        limit = self.limit if limit is None else limit
        check(position.rules, self.parameters)
        if limit is None or (limit.nodes is None and limit.depth is None and limit.seconds is None):
            return self._solve(position, start_s)
        return _deepen(position, self.parameters, limit, start_s)

    def _solve(self, Position position, start_s):
        """The whole game below a position."""
        rules = position.rules
        _check_whole(rules)
        if self.memo is None or (<Rules>self.memo.rules)._stamp != (<Rules>rules)._stamp:
            require_room(position, self.parameters["max_states"], f"max_states={self.parameters['max_states']}")
            self.memo = Memo(rules, self.parameters["max_states"])
        memo = self.memo
        before = memo.steps
        values = memo.value(position)
        seat = position.current_player()
        actions = []
        if seat >= 0:
            for action in position.legal_actions():
                child = position.clone()
                child.apply_action(action)
                value = memo.value(child)[seat]
                actions.append((action, value))
        best = memo.action(position)
        return SearchResult(
            action=best,
            values=values,
            actions=tuple(ActionStats(action, 1, value, float(action == best), (value, value))
                          for action, value in actions),
            simulations=0,
            nodes=memo.steps - before + 1,
            seconds=time.perf_counter() - start_s,
            principal_variation=_memo_variation(memo, position),
            exact=True,
        )


def _memo_variation(memo, position):
    """The best line, through the likeliest outcomes (the first of those alike)."""
    line = []
    position = position.clone()
    while len(line) < 64 and not position.is_terminal():
        if position.is_chance_node():
            step = max(position.chance_outcomes(), key=lambda pair: (pair[1], -pair[0]))[0]
        else:
            step = memo.action(position)
        line.append(step)
        position.apply_action(step)
    return tuple(line)


def _deepen(Position position, parameters, limit, start_s):
    """Search to depth 1, 2, 3, ... until a limit, or until no horizon is met."""
    pruning = ("none", "star1", "star2").index(parameters["pruning"])
    cdef Rounds rounds = Rounds(position.rules, pruning, parameters["table"], parameters["tree"])
    cdef Search *search = &rounds.search
    cdef int32_t depth, deepest = min(limit.depth or PLIES, PLIES)
    search.node_limit = 2**62 if limit.nodes is None else limit.nodes
    if limit.seconds is not None:
        spent_s = time.perf_counter() - start_s
        search.deadline_ns = max(1, PyTime_MonotonicRaw() + int((limit.seconds - spent_s) * 1e9))
    legal = position.legal_actions() if position.is_player_node() else []
    best_line = None    # (action, values, {action: (value, exact)}, exact) of the deepest round
    reached = 0
    # Without an estimate there is nothing to deepen from: one round, to the end of the game.
    for depth in range(1 if search.ops.estimate != NULL else deepest, deepest + 1):
        rounds.make_room(depth)
        search.estimates = 0
        outcome = _root(rounds, position, depth, legal, best_line, bool(parameters["every_action"]))
        if rounds.caught is not None:
            raise rounds.caught
        if search.blind:
            raise UnsuitableGameError(
                f"{position.rules.name} has no estimate to stand in at the horizon of {depth} steps; leave the limit "
                "out to solve it whole, or use mcts")
        if outcome is not None and (not search.aborted or best_line is None or outcome[0] is not None):
            best_line = outcome
        if search.aborted:
            break
        reached = depth
        if search.estimates == 0:
            break
    if best_line is None:   # not even one ply: the estimate is all there is
        values = position.returns() if position.is_terminal() else position.estimate() or (
            [math.nan] * position.num_players())
        best_line = (legal[0] if legal else None, tuple(values), {}, position.is_terminal())
    action, values, _, exact = best_line
    return SearchResult(
        action=action,
        values=values,
        actions=_statistics(position, legal, best_line),
        simulations=0,
        nodes=search.nodes,
        seconds=time.perf_counter() - start_s,
        principal_variation=_table_variation(rounds, position, action, reached),
        exact=exact,
        depth=reached,
        reproducible=limit.reproducible,
    )


def _statistics(Position position, legal, best_line):
    """What the deepest round says of every legal action."""
    best, _, found, exact = best_line
    stats = []
    for action in legal:
        value, sure = found.get(action, (math.nan, False))
        bounds = (position.ops.min_utility, position.ops.max_utility)
        if exact and not math.isnan(value):
            bounds = (value, value) if sure else (bounds[0], value)
        stats.append(ActionStats(action, int(action in found), value, float(action == best), bounds))
    return tuple(stats)


cdef _root(Rounds rounds, Position position, int32_t depth, legal, before, bint every):
    """One round from the root: (action, values, {action: (value, exact)}, exact), or None when cut short
    before its first action was done."""
    cdef Search *search = &rounds.search
    if search.pruning == STAR2 and search.table == NULL and one_value(search.ops):
        return _root_best_first(rounds, position, depth, before, every)
    if not legal:
        return _root_chance(rounds, position, depth)
    ordered = list(legal)
    if before is not None and before[2]:
        best_before, _, found_before, _ = before
        ordered.sort(key=lambda each: (each != best_before, -found_before.get(each, (-math.inf,))[0], each))
    return _root_decision(rounds, position, depth, ordered, every)


cdef _values(Search *search, const double *out):
    """Utilities of all seats, from seat 0's where it says all."""
    cdef int32_t seat
    if search.n_players == 1:
        return (out[0],)
    if one_value(search.ops):
        return out[0], -out[0]
    return tuple([out[seat] for seat in range(search.n_players)])


cdef _root_chance(Rounds rounds, Position position, int32_t depth):
    """A root at which nobody decides."""
    cdef Search *search = &rounds.search
    cdef double out[PLAYER_LIMIT]
    rounds.put(0, position)
    with nogil:
        if one_value(search.ops):
            out[0] = search_value(search, 0, depth, search.ops.min_utility, search.ops.max_utility)
        else:
            search_vector(search, 0, depth, out)
    return None if search.aborted else (None, _values(search, out), {}, search.estimates == 0)


cdef _root_decision(Rounds rounds, Position position, int32_t depth, ordered, bint every):
    """The actions one after the other; what cannot beat the best so far is known by its bound only, unless `every`
    action is to be valued."""
    cdef Search *search = &rounds.search
    cdef int32_t seat = position.ops.turn(position.tables, position.state), action
    cdef bint vector = not one_value(search.ops), pruned = not vector and search.pruning != PLAIN
    cdef double low = search.ops.min_utility, high = search.ops.max_utility, value
    cdef double sign = -1.0 if seat == 1 else 1.0
    cdef double out[PLAYER_LIMIT]
    found = {}
    best, best_values, best_value = None, None, -math.inf
    search.nodes += 1
    for action in ordered:
        rounds.put(1, position)
        search.ops.apply(search.tables, search.plies[1].state, action)
        with nogil:
            if vector:
                search_vector(search, 1, depth - 1, out)
            else:
                out[0] = search_value(search, 1, depth - 1, low, high)
        if search.aborted:
            break
        value = out[seat] if vector else sign * out[0]
        sure = not pruned or every or value > best_value or best is None
        found[action] = (value, sure)
        if best is None or value > best_value or (value == best_value and sure and action < best and not pruned):
            best, best_value, best_values = action, value, _values(search, out)
            if pruned and not every:
                if seat == 0:
                    low = max(low, out[0])
                else:
                    high = min(high, out[0])
                if low >= high:     # nothing can be better than the best there is
                    break
    if best is None:
        return None
    return best, best_values, found, search.estimates == 0 and not search.aborted


cdef _root_best_first(Rounds rounds, Position position, int32_t depth, before, bint every):
    """As `_root`, with Star2: bounds of all actions are narrowed side by side."""
    cdef Search *search = &rounds.search
    cdef TwigTree *tree = &rounds.tree
    cdef int32_t seat = position.ops.turn(position.tables, position.state), i
    cdef double sign = -1.0 if seat == 1 else 1.0, value
    cdef int64_t at
    cdef Twig twig, root
    rounds.put(0, position)
    tree.n_twigs = 0
    memset(tree.level_sum, 0, sizeof(tree.level_sum))
    memset(tree.level_count, 0, sizeof(tree.level_count))
    if add_twigs(search, tree, 1) == NONE:
        raise MemoryError
    with nogil:
        improve(search, tree, 0, depth, 0, 1 if seat == 0 else -1, -1e300, 1e300, 1e300)
    root = tree.twigs[0]
    if seat < 0:
        return None if search.aborted else (None, _values(search, &root.low), {}, search.estimates == 0)
    if every and not search.aborted:
        for i in range(root.count):
            at = root.children + i
            if tree.twigs[at].low < tree.twigs[at].high:
                rounds.put(1, position)
                search.ops.apply(search.tables, search.plies[1].state, tree.twigs[at].id)
                with nogil:
                    improve(search, tree, 1, depth - 1, at, 1, -1e300, 1e300, 1e300)
    if search.aborted and before is not None:   # half of this round says less than all of the last one
        return None
    found = {}
    ranked = []     # (what is certain, guess, id) for the seat
    for i in range(root.count):
        twig = tree.twigs[root.children + i]
        if twig.guess == twig.guess:    # seen
            low, high = (twig.low, twig.high) if seat == 0 else (-twig.high, -twig.low)
            found[twig.id] = (sign * twig.guess if search.aborted else high, low == high and not search.aborted)
            ranked.append((low, sign * twig.guess, -twig.id))
    if not ranked:
        return None
    low, guess, best = max(ranked)
    value = sign * (guess if search.aborted else low)
    return -best, _values(search, &value), found, search.estimates == 0 and not search.aborted


def _table_variation(Rounds rounds, Position position, action, depth):
    """The expected line as far as the transposition table knows it."""
    cdef Position here = position.clone()
    cdef Search *search = &rounds.search
    cdef Entry *entry
    line = []
    while len(line) < max(depth, 1) and not here.is_terminal():
        if here.is_chance_node():
            step = max(here.chance_outcomes(), key=lambda pair: (pair[1], -pair[0]))[0]
        elif not line and action is not None:
            step = action
        else:
            entry = find_entry(search, here.state_key()) if search.table != NULL else NULL
            if entry == NULL or entry.best not in here.legal_actions():
                break
            step = entry.best
        line.append(step)
        here.apply_action(step)
    return tuple(line)


# ---- what it can play --------------------------------------------------------------------------

def check(Rules rules, parameters):
    """Raises UnsuitableGameError where a property of the game rules the search out."""
    require_open(rules, "expectimax", "use ismcts to play it, or cfr+ to solve it where its tree fits")
    depth, survey = parameters.get("depth"), getattr(rules, "survey", None)
    if depth is not None and rules.ops.estimate == NULL and survey is not None and survey.longest > depth:
        raise UnsuitableGameError(
            f"expectimax: depth={depth} needs a game with an estimate, and {rules.name} has none; its games go on for "
            f"{survey.longest} steps and more; {advised(rules, 'leave the depth out to solve it whole')}")


def _check_whole(Rules rules):
    if rules.ops.flags & CYCLIC:
        raise UnsuitableGameError(
            f"{rules.name} has cycles: a position can come again, so expectimax without a depth limit would never "
            f"end; {cycle_advice(rules)}")


PARAMETERS = {
    "depth": Parameter(None, "deepest search, decisions and chance nodes", kind=int, low=1, high=PLIES),
    "nodes": Parameter(None, "end after so many nodes", kind=int, low=1),
    "seconds": Parameter(None, "wall-clock time a move", kind=float, low=1e-6, high=1e8),
    "pruning": Parameter("star2", "at chance nodes, under a limit", choices=("none", "star1", "star2")),
    "table": Parameter(1 << 20, "entries of the transposition table (32 bytes each) under a limit; 0: none",
                       low=0, high=1 << 32),
    "tree": Parameter(1 << 20, "star2 without a table: nodes whose bounds are kept (56 bytes each), then depth first",
                      low=1, high=1 << 32),
    "every_action": Parameter(False, "search every action of the root to its exact value, not the best one alone"),
    "max_states": Parameter(50_000_000, "most states kept when the whole game is solved", low=1, high=2_000_000_000),
}


def _solves(parameters):
    """Whether there is no limit, so that the whole game is solved."""
    return all(parameters[key] is None for key in ("nodes", "depth", "seconds"))


def _make(parameters):
    return ExpectimaxSearcher(**parameters)


SOLVERS = (
    SolverSpec(
        name="expectimax",
        kind="searcher",
        summary="exact search: the whole game by memo, or to a depth with Star1 or Star2 pruning; max^n for many",
        source="Michie 1966; Ballard 1983 (Star1, Star2); Hauk, Buro and Schaeffer 2004; Luckhardt and Irani 1986",
        make=_make,
        parameters=PARAMETERS,
        check=check,
        exact=_solves,
    ),
)
