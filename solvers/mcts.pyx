"""Monte Carlo tree search on the native contract, for games without hidden information.

UCT (Kocsis and Szepesvari, 2006) over a graph of states, with what makes it strong on dice games:

* *Transpositions.* Nodes are states, found by `state_key`; the same dice reached in two ways are
  one node (Saffidine, Cazenave and Mehat, 2012; Czech, Korus and Kersting, 2021). An edge keeps
  its child's value as it was when last passed, and a node's value is always one of its edges'
  values. With `transpositions=false` keys are paths, and the graph is the plain tree.
* *Backup.* A decision is worth what its most visited edge is worth (Coulom, 2006, "robust max"),
  so that exploring bad actions does not drag it down. Where leaves are valued by random games, it
  is the mean of its visits instead (`backup=auto`; plain UCT): the most visited edges lead to a node seen
  once, and the value would be what one random game brought.
* *Chance nodes.* A node's outcomes are sampled until it was visited as often as it has outcomes;
  then all of them get an edge, and once each was seen its value is the exact expectation over
  its edges instead of a sampled mean. `chance=open` keeps no chance nodes at all (open loop).
* *Proofs.* Bounds on each node's value are kept beside its mean (MCTS-Solver, Winands et al., 2008,
  carried to chance nodes by probability-weighted bounds; Lanctot et al., 2013). Proven and dominated
  edges get no more simulations, and a proven root ends the search with the exact value. Kept for one
  player and for two players with a zero sum.
* *max^n* for any number of players: every node keeps a mean for each seat.
* Progressive widening of actions and of outcomes (Couetoux et al., 2011), exploration weighted by a
  prior for the game's suggestion (PUCT; Rosin, 2011), GRAVE with RAVE as its special case (Cazenave,
  2015), playouts at random or by the game's rule of thumb, cut short with its estimate, a tree kept
  between moves, and root-parallel threads.

Memory: nodes and edges are arrays that grow by doubling up to a set budget and never beyond;
when it is spent the search goes on with the graph it has.

The graph and its memory are in mcts_graph.pxd, what nodes are worth and the way back in mcts_values.pxd,
edges in mcts_expansion.pxd, which one is taken in mcts_selection.pxd, simulations in mcts_simulation.pxd;
here stand the searcher, its threads, and what comes out.

Units: values are utilities; exploration is scaled by the game's utility range, so that `c`
means the same in every game.
"""
import dataclasses
import math
import threading
import time

from cpython.time cimport PyTime_MonotonicRaw
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport malloc
from libc.string cimport memcpy, memset

cimport cython

from engine_ext.game cimport PLAYER_LIMIT, TERMINAL
from engine_ext.position cimport Position, Rules
from engine_ext.rng cimport Stream, rng_seed_keys
from solvers.common cimport one_value
from solvers.mcts_graph cimport *
from solvers.mcts_simulation cimport run
from solvers.mcts_values cimport mean_of, settle_leaf
from solvers.portable cimport portable_log
from solvers.stopping cimport look_up

from engine_ext.errors import SpecError
from engine_ext.seeds import check_seed
from solvers.budget import BATCH_S, simulation_limit
from solvers.contract import (
    ANY, ActionStats, Limit, Parameter, SearchResult, SolverSpec, require_abilities, require_open,
)

# ---- tables --------------------------------------------------------------------------------------

cdef double ROOT_LOG[TABLE]      # sqrt(log(n)), of visits
cdef double INVERSE_ROOT[TABLE]  # 1 / sqrt(n)

cdef void _fill_tables() noexcept:
    cdef int32_t n
    ROOT_LOG[0] = ROOT_LOG[1] = 0.0
    INVERSE_ROOT[0] = 1.0
    for n in range(1, TABLE):
        ROOT_LOG[n] = sqrt(portable_log(<double>n))
        INVERSE_ROOT[n] = 1.0 / sqrt(<double>n)

_fill_tables()


# ---- a graph and its game ------------------------------------------------------------------------

@cython.final
cdef class Tree:
    """One search graph, kept for Python. Not for use from Python."""

    cdef Rules rules            # keeps the function table alive
    cdef Graph graph

    def __cinit__(self):
        memset(&self.graph, 0, sizeof(Graph))

    def __dealloc__(self):
        free_graph(&self.graph)

    cdef int start(self, Position position, const Settings *settings, uint64_t seed, uint64_t thread) except -1:
        """Take over the position as the root of an empty graph."""
        cdef Graph *g = &self.graph
        cdef double spread
        self.rules = position.rules
        g.ops = position.ops
        g.tables = position.tables
        g.root_logs, g.inverse_roots = ROOT_LOG, INVERSE_ROOT
        g.set = settings[0]
        g.n_values = 1 if one_value(g.ops) else g.ops.n_players
        g.proving = g.set.solve and g.n_values == 1
        spread = g.ops.max_utility - g.ops.min_utility
        g.scale = 1.0 / spread if spread > 0.0 else 1.0
        g.proving = g.proving and not g.set.open_loop
        g.edge_budget = 4 * <int64_t>g.set.max_nodes + g.ops.max_legal + g.ops.max_outcomes
        g.root_state = malloc(g.ops.state_size)
        g.path = <Step *>malloc(PATH_LIMIT * sizeof(Step))
        g.marks = <int32_t *>malloc(PATH_LIMIT * sizeof(int32_t))
        if g.root_state == NULL or g.path == NULL or g.marks == NULL:
            raise MemoryError
        memcpy(g.root_state, position.state, g.ops.state_size)
        rng_seed_keys(&g.rng, seed, thread, 0, 0)
        if not grow_nodes(g, min(1024, g.set.max_nodes)) or not grow_edges(
                g, min(g.edge_budget, 4096 + g.ops.max_legal + g.ops.max_outcomes)):
            raise MemoryError
        g.root = add_node(g, g.root_state, g.ops.state_key(g.tables, g.root_state))
        if g.nodes[0].turn == TERMINAL:
            g.ops.returns(g.tables, g.root_state, g.leaf)
            settle_leaf(g, 0)
        return 0

    cdef bint go_on(self, Position position, uint64_t seed, uint64_t thread):
        """Search from another position of the same game next, with what is known; False where it is
        not in the graph, or where half the budget is spent."""
        cdef Graph *g = &self.graph
        cdef int32_t node
        if self.rules._stamp != position.rules._stamp or 2 * <int64_t>g.n_nodes > g.set.max_nodes:
            return False
        node = find(g, g.ops.state_key(g.tables, position.state))
        if node == NONE:
            return False
        g.root = node
        memcpy(g.root_state, position.state, g.ops.state_size)
        rng_seed_keys(&g.rng, seed, thread, 0, 0)
        return True


# ---- the searcher ------------------------------------------------------------------------------

_CHUNK_S = 0.05     # time between two looks for Ctrl-C


class MctsSearcher:
    """Monte Carlo tree search; see the module and `PARAMETERS`.

    Raises:
        SpecError: parameters that contradict each other.
        LimitError: a limit out of range.
    """

    def __init__(self, **parameters):
        unknown = set(parameters) - set(PARAMETERS)
        if unknown:
            raise SpecError(f"mcts has no parameter {min(unknown)!r}; it has: {', '.join(PARAMETERS)}")
        chosen = {key: parameter.default for key, parameter in PARAMETERS.items()} | parameters
        self.parameters = chosen
        limits = {key: chosen[key] for key in ("simulations", "nodes", "depth", "seconds")}
        if all(limits[key] is None for key in ("simulations", "nodes", "seconds")):
            limits["simulations"] = DEFAULT_SIMULATIONS
        self.limit = Limit(**limits)
        self._trees = None      # kept with reuse=true
        if chosen["playout"] == "none" and chosen["playout_turns"] is not None:
            raise SpecError("mcts: playout_turns has no meaning with playout=none, which plays nothing out")
        if chosen["prior"] > 0.0 and (chosen["chance"] == "open" or chosen["grave_ref"] is not None):
            raise SpecError("mcts: prior has no meaning with chance=open or grave_ref, which explore in their own way")
        if chosen["reuse"] and not chosen["transpositions"]:
            raise SpecError("mcts: reuse=true needs transpositions=true: states are found again by their key")
        if chosen["chance"] == "open":
            for key, unset in (("reuse", False), ("chance_widening", 0.0), ("grave_ref", None)):
                if chosen[key] != unset:
                    raise SpecError(f"mcts: {key} has no meaning with chance=open, which keeps no nodes for chance")

    def reset(self):
        """Forget the graphs of earlier searches."""
        self._trees = None

    def search(self, position, *, seed, limit=None):
        """Search from a position; see `solvers.contract.Searcher`."""
        start_s = time.perf_counter()
        seed = check_seed(seed)
        check(position.rules, self.parameters)
        require_abilities("mcts", PARAMETERS, self.parameters, position.rules)
        limit = self.limit if limit is None else limit
        cdef Settings settings
        chosen = self.parameters
        settings.exploration = chosen["c"]
        settings.widening = chosen["widening"]
        settings.widening_power = chosen["widening_power"]
        settings.epsilon = chosen["epsilon"]
        settings.prior = chosen["prior"]
        playout, playout_depth = _playout(position.rules, chosen)
        by_chance = playout == "random" and playout_depth != 0
        settings.best_backup = chosen["backup"] == "best" or (chosen["backup"] == "auto" and not by_chance)
        settings.playout_depth = NONE if playout_depth is None else playout_depth
        settings.playout_turns = NONE if chosen["playout_turns"] is None else chosen["playout_turns"]
        settings.greedy = playout == "greedy"
        settings.rollouts = chosen["rollouts"]
        settings.max_depth = min(PATH_LIMIT, limit.depth or PATH_LIMIT)
        settings.max_nodes = chosen["max_nodes"]
        settings.transpositions = chosen["transpositions"]
        settings.solve = chosen["solve"]
        settings.chance_widening = chosen["chance_widening"]
        settings.chance_widening_power = chosen["chance_widening_power"]
        settings.grave_ref = NONE if chosen["grave_ref"] is None else chosen["grave_ref"]
        settings.grave_bias = chosen["grave_bias"]
        settings.open_loop = chosen["chance"] == "open"
        settings.every_action = chosen["every_action"]
        cdef int32_t n_threads = chosen["threads"]
        deadline_ns = 0
        if limit.seconds is not None:
            spent_s = time.perf_counter() - start_s
            deadline_ns = max(1, PyTime_MonotonicRaw() + int((limit.seconds - spent_s) * 1e9))
        trees = self._trees or []
        self._trees = None
        for thread in range(n_threads):
            if thread == len(trees):
                trees.append(None)
            if trees[thread] is None or not _go_on(trees[thread], position, seed, thread):
                trees[thread] = _start(position, &settings, seed, thread)
        simulations = _run_all(trees, limit, deadline_ns)
        result = _result(trees, position, simulations, time.perf_counter() - start_s, limit)
        if chosen["reuse"]:
            self._trees = trees
        if chosen["temperature"] > 0.0 and result.action is not None and not result.exact:
            return _tempered(result, chosen["temperature"], seed)
        return result


def _playout(Rules rules, parameters):
    """(greedy or random, decisions played out or None for all), `auto` resolved for a game."""
    playout, depth = parameters["playout"], parameters["playout_depth"]
    to_the_end = depth is None and parameters["playout_turns"] is None
    if playout == "none" or (playout == "auto" and to_the_end and rules.ops.estimate != NULL):
        return "random", 0
    if playout == "auto":
        playout = "random" if rules.ops.suggest == NULL else "greedy"
    return playout, depth


def _tempered(result, temperature, seed):
    """Draw the action in proportion to visits ** (1 / temperature)."""
    most = max(each.visits for each in result.actions) or 1
    weights = [(each.visits / most) ** (1.0 / temperature) for each in result.actions]
    total = sum(weights)
    if total == 0.0:
        return result
    point = Stream.keyed(seed, 1).double() * total
    for stats, weight in zip(result.actions, weights):
        if weight:
            chosen = stats.action
            point -= weight
            if point < 0.0:
                break
    return dataclasses.replace(result, action=chosen, actions=tuple(
        dataclasses.replace(stats, probability=weight / total) for stats, weight in zip(result.actions, weights)))


cdef bint _go_on(Tree tree, Position position, seed, thread):
    return tree.go_on(position, seed, thread)


cdef Tree _start(Position position, const Settings *settings, seed, thread):
    cdef Tree tree = Tree()
    tree.start(position, settings, seed, thread)
    return tree


def _run(Tree tree, simulations, node_limit, deadline_ns):
    """Run one tree to its limits, open to Ctrl-C; returns the simulations made."""
    cdef int64_t most = simulations, nodes = node_limit, deadline = deadline_ns, done = 0, chunk, made, pace = 1
    while done < most:
        chunk = min(most - done, pace)
        start_s = time.perf_counter()
        with nogil:
            made = run(&tree.graph, chunk, nodes, deadline)
        done += made
        if made < chunk or (deadline and PyTime_MonotonicRaw() >= deadline):
            break
        look_up()
        pace = max(1, min(4 * pace, int(chunk * _CHUNK_S / max(time.perf_counter() - start_s, 1e-6))))
    return done


def _run_all(trees, limit, deadline_ns):
    """Run the trees side by side, each with its share of the limit; returns all simulations."""
    nodes = 2**62 if limit.nodes is None else limit.nodes
    most = simulation_limit(limit, DEFAULT_SIMULATIONS) or 2**62
    n = len(trees)
    shares = [(most // n + (k < most % n), max(1, nodes // n), deadline_ns) for k in range(n)]
    if n == 1:
        return _run(trees[0], *shares[0])
    done = [0] * n

    def work(k):
        done[k] = _run(trees[k], *shares[k])

    workers = [threading.Thread(target=work, args=(k,)) for k in range(n)]
    for worker in workers:
        worker.start()
    try:
        for worker in workers:
            while worker.is_alive():
                worker.join(BATCH_S)
                look_up()
    except BaseException:
        for each in trees:
            _stop(each)
        for worker in workers:
            worker.join()
        raise
    return sum(done)


cdef _stop(Tree tree):
    tree.graph.stop = 1


def _root(Tree tree, legal):
    """What one tree says of its root: {action: (visits, [mean], (low, high))}, mean, bounds, flags."""
    cdef Graph *g = &tree.graph
    cdef Node *node = &g.nodes[g.root]
    cdef double mean[PLAYER_LIMIT]
    cdef int32_t e, i
    actions = {}
    wide = (g.ops.min_utility, g.ops.max_utility)
    if g.set.open_loop and node.turn >= 0:
        for action in legal:
            e = find(g, open_key(node.key, node.turn, action))
            if e != NONE:
                actions[action] = (g.nodes[e].visits, [
                    g.totals[<int64_t>e * g.n_values + i] / g.nodes[e].visits for i in range(g.n_values)],
                    wide)
    elif node.turn >= 0:
        for e in range(node.edges, node.edges + node.n_edges if node.edges != NONE else node.edges):
            bounds = (g.seen[e].low, g.seen[e].high) if g.proving else wide
            values = [g.means[<int64_t>e * g.n_values + i] if g.edges[e].visits else 0.0
                      for i in range(g.n_values)]
            actions[g.edges[e].action] = (g.edges[e].visits, values, bounds)
    values = [0.0] * g.n_values
    if node.visits:
        mean_of(g, g.root, mean)
        values = [mean[i] for i in range(g.n_values)]
    bounds = (g.bounds[g.root].low, g.bounds[g.root].high) if g.proving else wide
    return actions, node.visits, values, bounds, g.n_nodes


def _variation(Tree tree, action):
    """The most visited line from the root, through its most visited outcomes."""
    cdef Graph *g = &tree.graph
    cdef int32_t index = g.root, e, best
    cdef Node *node
    line = [] if action is None or not g.set.open_loop else [action]   # open loop: what follows depends on chance
    while len(line) < 64 and not g.set.open_loop:
        node = &g.nodes[index]
        best = NONE
        if node.edges == NONE:
            break
        for e in range(node.edges, node.edges + (node.n_tried if node.flags & WIDENED else node.n_edges)):
            if not line and action is not None:
                if g.edges[e].action == action:
                    best = e
            elif g.edges[e].visits and (best == NONE or g.edges[e].visits > g.edges[best].visits):
                best = e
        if best == NONE or not g.edges[best].visits:
            break
        line.append(g.edges[best].action)
        index = g.edges[best].child
        if index == NONE:
            break
    return tuple(line)


def _result(trees, Position position, simulations, seconds, limit):
    """Put the trees' roots together."""
    cdef int32_t seat = position.ops.turn(position.tables, position.state)
    n_players = position.num_players()
    legal = position.legal_actions() if seat >= 0 else []
    reports = [_root(tree, legal) for tree in trees]
    n_values = len(reports[0][2])
    low = max(report[3][0] for report in reports)
    high = max(low, min(report[3][1] for report in reports))
    nodes = sum(report[4] for report in reports)
    weight = sum(report[1] for report in reports) or 1
    root = [sum(report[1] * report[2][i] for report in reports) / weight for i in range(n_values)]
    proving = _proving(trees[0])

    def spread(values):
        return tuple(values) if n_values == n_players else (values[0], -values[0])

    if seat < 0:
        exact = seat == TERMINAL or (proving and low == high)
        return SearchResult(
            action=None, values=spread([low] if proving and exact else root), actions=(), simulations=simulations,
            nodes=nodes, seconds=seconds, principal_variation=_variation(trees[0], None), exact=exact,
            reproducible=limit.reproducible)

    sign = -1.0 if n_values == 1 and seat == 1 else 1.0
    place = seat if n_values > 1 else 0
    candidates = []     # (action, visits, values, (low, high) for the seat)
    for action in legal:
        parts = [report[0][action] for report in reports if action in report[0]]
        visits = sum(part[0] for part in parts)
        values = [sum(part[0] * part[1][i] for part in parts) / visits if visits else math.nan
                  for i in range(n_values)]
        a_low = max((part[2][0] for part in parts), default=position.ops.min_utility)
        a_high = min((part[2][1] for part in parts), default=position.ops.max_utility)
        a_low = min(a_low, a_high)      # threads add up in different orders: rounding must not cross them
        if proving and a_low == a_high:
            values = [a_low]
        candidates.append((action, visits, values, (a_low, a_high) if sign > 0 else (-a_high, -a_low)))
    chosen = _pick(candidates, place, sign)
    action, _, values, bounds = candidates[chosen]
    exact = bool(proving and bounds[0] == bounds[1] and all(
        each[3][1] <= bounds[0] for k, each in enumerate(candidates) if k != chosen))
    if math.isnan(values[0]):
        values = root
    return SearchResult(
        action=action,
        values=spread(values),
        actions=tuple(
            ActionStats(each, visits, sign * values[place], float(k == chosen), bounds if proving else None)
            for k, (each, visits, values, bounds) in enumerate(candidates)),
        simulations=simulations,
        nodes=nodes,
        seconds=seconds,
        principal_variation=_variation(trees[0], action),
        exact=exact,
        reproducible=limit.reproducible,
    )


def _proving(Tree tree):
    return bool(tree.graph.proving)


def _pick(candidates, place, sign):
    """The index of the action to play: the most visited, unless a proven one is worth more."""
    floor = max(bounds[0] for _, _, _, bounds in candidates)    # so much is certain: drop what cannot reach it
    eligible = [k for k, (_, _, _, bounds) in enumerate(candidates) if bounds[1] >= floor]
    best = max(eligible, key=lambda k: (candidates[k][1], -k))
    value = sign * candidates[best][2][place]
    for k in eligible:
        bounds = candidates[k][3]
        # A closed edge stopped collecting visits when it was proven; compare it by value.
        if bounds[0] == bounds[1] and (math.isnan(value) or bounds[0] > value or (
                bounds[0] == value and candidates[best][3][0] != candidates[best][3][1])):
            best, value = k, bounds[0]
    return best


def check(Rules rules, parameters):
    """Raises UnsuitableGameError where a property of the game rules the search out."""
    require_open(rules, "mcts", "use ismcts, which does not")


DEFAULT_SIMULATIONS = 1000

PARAMETERS = {
    "simulations": Parameter(
        None, f"simulations a move; {DEFAULT_SIMULATIONS} where no limit is given", kind=int, low=1),
    "nodes": Parameter(
        None, "nodes of the graph, and no more simulations than that", kind=int, low=1),
    "depth": Parameter(None, "longest descent, decisions and chance nodes", kind=int, low=1),
    "seconds": Parameter(None, "wall-clock time a move", kind=float, low=1e-6, high=1e8),
    "c": Parameter(0.6, "exploration, in units of the utility range", low=0.0, high=1000.0),
    "threads": Parameter(1, "root-parallel threads, each with its share of the simulations", low=1, high=256),
    "transpositions": Parameter(True, "one node a state, however it is reached"),
    "solve": Parameter(True, "prove values (one player, or two with a zero sum)"),
    "backup": Parameter(
        "auto", "a decision's value: that of its most visited action (best), or the mean over all visits (plain UCT); "
        "auto: mean where leaves are valued by random games, else best",
        choices=("auto", "best", "mean")),
    "playout": Parameter(
        "auto", "how a leaf is valued: by playing on at random or by the game's rule of thumb, or by its estimate "
        "at once (none); auto: the first of none, greedy, random that the game offers",
        choices=("auto", "none", "greedy", "random"), needs={"none": ("estimate",), "greedy": ("suggest",)}),
    "epsilon": Parameter(0.0, "share of random moves in greedy playouts", low=0.0, high=1.0),
    "playout_depth": Parameter(
        None, "decisions played out before the game's estimate takes over", kind=int, low=0,
        needs={ANY: ("estimate",)}),
    "playout_turns": Parameter(
        None, "turns played out before the game's estimate takes over; 1: to the end of the turn in which the leaf is",
        kind=int, low=1, high=10000, needs={ANY: ("estimate", "clock")}),
    "rollouts": Parameter(1, "playouts a leaf", low=1, high=10000),
    "prior": Parameter(
        0.0, "share of the exploration that goes to the action the game suggests, the others sharing the rest "
        "(PUCT); 0: all alike (UCT)", low=0.0, high=0.999, needs={ANY: ("suggest",)}),
    "widening": Parameter(
        0.5, "actions tried at n visits: widening * n ** widening_power, the game's suggestion first; 0: all", low=0.0),
    "widening_power": Parameter(0.5, "see widening", low=0.0, high=1.0),
    "chance": Parameter(
        "closed", "closed: nodes for chance; open: none, chance is drawn anew in every simulation",
        choices=("closed", "open")),
    "chance_widening": Parameter(
        0.0, "outcomes told apart at n visits: chance_widening * n ** chance_widening_power; 0: all", low=0.0),
    "chance_widening_power": Parameter(0.5, "see chance_widening", low=0.0, high=1.0),
    "grave_ref": Parameter(
        None, "visits from which a node lends its all-moves-as-first statistics to those below (GRAVE); 0: every "
        "node uses its own (RAVE); unset: none are kept", kind=int, low=0),
    "grave_bias": Parameter(1e-5, "how soon an action's own mean outweighs them", low=0.0),
    "every_action": Parameter(
        False, "give each action of the root a simulation at least, as far as they go: for the odds of all of them"),
    "temperature": Parameter(0.0, "play actions in proportion to visits ** (1 / temperature); 0: the best", low=0.0),
    "reuse": Parameter(False, "keep the graph from move to move"),
    "max_nodes": Parameter(
        1_000_000, "memory: nodes of one graph, with four edges each, and 64 bytes each of GRAVE statistics",
        low=16, high=500_000_000),
}


def _make(parameters):
    return MctsSearcher(**parameters)


SOLVERS = (
    SolverSpec(
        name="mcts",
        kind="searcher",
        summary="Monte Carlo tree search: UCT on the graph of states, with exact chance nodes and proofs",
        source="Kocsis and Szepesvari 2006 (UCT); Winands, Bjornsson and Saito 2008 (solver)",
        make=_make,
        parameters=PARAMETERS,
        check=check,
    ),
)
