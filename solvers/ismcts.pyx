"""Information-set Monte Carlo tree search and Smooth UCT, over any game of the native contract.

One tree of information sets serves both. Every simulation draws a root state that the searching
seat cannot tell from the real one (`resample`), descends by upper confidence bounds, adds the
first information set that is not in the tree, plays one action from it and then a playout, and
credits every action it took with the return of the seat that took it. Nodes are found by key:

* `observer=multiple`, many-tree IS-MCTS: a node is an information set of the seat to move, so
  every seat decides on what it knows, and one table holds the trees of all seats. This is
  MO-ISMCTS under perfect recall, and what OpenSpiel's `ISMCTSBot` does.
* `observer=single`, SO-ISMCTS: every node is an information set of the searching seat, rivals'
  decisions included; hidden actions of rivals lead into one node. What is legal at a node then
  differs from simulation to simulation, so bounds use how often an action was available.

With perfect information an information set is a state, and this is UCT on the graph of states.

With `favor=cfr+`, a root that belongs to a stage of simultaneous choices (the game's `rewind` tells) is
searched from the stage's first decision: each simulation takes one choice of every seat, descends from
there as always, and the stage is solved as one game in normal form (solvers/stages.pyx). Plain
IS-MCTS takes what rivals have already chosen in secret for random, and answers it with one action.

Smooth UCT takes, at every node, its average strategy instead of the bound with probability
1 - max(gamma, eta / (1 + decay * sqrt(visits))): fictitious play in place of best response.

Sources: Cowling, Powley, Whitehouse, "Information Set Monte Carlo Tree Search" (2012), sections
IV and V; Heinrich, Silver, "Smooth UCT Search in Computer Poker" (2015), section 4.
"""
import time
from concurrent.futures import ThreadPoolExecutor, wait

from cpython.mem cimport PyMem_RawFree, PyMem_RawMalloc
from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

from engine_ext.debug cimport QUANDARY_CHECK, QUANDARY_DEBUG_BUILD
from engine_ext.game cimport (
    CHANCE, HIDDEN_INFORMATION, LEGAL_LIMIT, PLAYER_LIMIT, TERMINAL,
    GameOps, ops_info_key, ops_playout, ops_random_action, ops_run_chance,
)
from engine_ext.position cimport Position
from engine_ext.rng cimport rng_below, rng_double, rng_seed_keys
from solvers.keytable cimport (
    NO_NODE, keytable_free, keytable_init, keytable_put, keytable_reserve, keytable_slot,
)
from solvers.portable cimport LogTable, log_table_fill, portable_log, quick_log

from engine_ext.errors import LimitError, SpecError
from engine_ext.rng import Stream
from solvers.budget import BATCH_S, batches, simulation_limit
from solvers.contract import ANY, ActionStats, Limit, Parameter, SearchResult, SolverSpec, require_abilities
from solvers.extraction import prepare_views
from solvers.specs import parse_spec
from solvers.stages import Stage
from solvers.stopping import look_up
from solvers.tree import TreeRules

cdef enum:
    PATH_LIMIT = 1 << 16       # most decisions of one descent; beyond it the playout takes over
    EDGES_A_NODE = 8           # the edge budget is this many times the node budget
    SEARCH_STREAM = 1          # keys of the random streams that belong to one seed
    MOVE_STREAM = 2
    CAPACITY_LIMIT = 0x7FFF    # most actions of one node
    TABLE = 2048               # precomputed roots, a third of the first-level cache


cdef LogTable LOGS
cdef double INVERSE_ROOT[TABLE]   # 1 / sqrt(n): most counts of a search are small

cdef void _fill_tables() noexcept:
    cdef int32_t n
    log_table_fill(&LOGS)
    INVERSE_ROOT[0] = 0.0
    for n in range(1, TABLE):
        INVERSE_ROOT[n] = 1.0 / sqrt(<double>n)

_fill_tables()


cdef inline double root_log(int32_t n) noexcept nogil:
    return sqrt(quick_log(&LOGS, n))


cdef inline double inverse_root(int32_t n) noexcept nogil:
    return INVERSE_ROOT[n] if n < TABLE else 1.0 / sqrt(<double>n)


def logarithms(double x):
    """(`portable_log`, `quick_log`) of x, for their test."""
    return portable_log(x), quick_log(&LOGS, x)


cdef inline uint64_t seat_key(uint64_t key, int32_t seat) noexcept nogil:
    """The key of an information set of this seat: games need not make theirs differ by seat."""
    return key ^ (<uint64_t>(seat + 1) * <uint64_t>0xC2B2AE3D27D4EB4Fu)


cdef class InfoTree:
    """One tree of information sets, grown from one position.

    Args:
        position: the root; a decision is resampled for its seat, a chance node is not, and then
            nobody searches: nodes are those of the seat to move.
        seed: int in [0, 2**64).
        thread: which of several trees grown at once from that seed.
        settings: the parameters of the searcher, checked.
        node_limit: most nodes, at least 1; memory is bounded by node_limit times 16 bytes and
            8 actions of 24 bytes each, and a table of at least two slots of 16 bytes a node.
        depth: longest descent inside the tree, decisions and chance nodes; None for no such bound.

    Attributes:
        simulations: made so far.
    """

    def __cinit__(self):
        self.root = self.scratch = NULL
        self.nodes = NULL
        self.edges = NULL
        self.path = NULL
        self.totals = self.root_totals = NULL
        self.root_visits = NULL
        self.index.slots = NULL

    def __init__(self, Position position not None, *, seed, thread, dict settings, node_limit, depth):
        cdef const GameOps *ops = position.ops
        cdef uint64_t seed_bits = seed
        self.rules, self.ops, self.tables = position.rules, ops, position.tables
        self.root_turn = ops.turn(position.tables, position.state)
        self.observer = self.root_turn if settings["observer"] == "single" and self.root_turn >= 0 else -1
        self.resamples = self.root_turn >= 0 and (ops.flags & HIDDEN_INFORMATION) and ops.resample != NULL
        # c counts in units of the utility range, so that one constant fits games of any stakes.
        self.c = settings["c"] * (ops.max_utility - ops.min_utility)
        self.smooth = "eta" in settings   # only Smooth UCT has the parameter
        if self.smooth:
            self.eta, self.gamma, self.decay = settings["eta"], settings["gamma"], settings["decay"]
        self.greedy = 1.0 - settings["epsilon"] if settings["playout"] == "greedy" else 0.0
        self.cutoff = -1 if settings["playout_depth"] is None else settings["playout_depth"]
        self.path_limit = min(ops.max_decisions, PATH_LIMIT)
        self.depth = depth or 2**31 - 1
        self.node_limit = node_limit
        self.edge_limit = min(node_limit * EDGES_A_NODE + LEGAL_LIMIT, 2**31 - 1)
        self.node_room, self.edge_room = min(64, node_limit), 256
        rng_seed_keys(&self.rng, seed_bits, SEARCH_STREAM, thread, 0)
        self.root = <unsigned char *>PyMem_RawMalloc(ops.state_size)
        self.scratch = <unsigned char *>PyMem_RawMalloc(ops.state_size)
        self.nodes = <InfoNode *>malloc(self.node_room * sizeof(InfoNode))
        self.edges = <InfoEdge *>malloc(self.edge_room * sizeof(InfoEdge))
        self.path = <int32_t *>malloc(3 * self.path_limit * sizeof(int32_t))
        self.totals = <double *>calloc(ops.n_players, sizeof(double))
        self.root_visits = <int64_t *>calloc(ops.max_legal, sizeof(int64_t))
        self.root_totals = <double *>calloc(ops.max_legal * ops.n_players, sizeof(double))
        if (self.root == NULL or self.scratch == NULL or self.nodes == NULL or self.edges == NULL or self.path == NULL
                or self.totals == NULL or self.root_visits == NULL or self.root_totals == NULL
                or not keytable_init(&self.index, 8)):
            raise MemoryError
        memcpy(self.root, position.state, ops.state_size)
        if self.root_turn >= 0 and settings.get("favor", "none") != "none":
            memcpy(self.scratch, position.state, ops.state_size)
            if ops.rewind(self.tables, self.scratch) >= 0:
                self.stage = Stage(position, seed=seed, thread=thread)
                self.in_stage = True

    def __dealloc__(self):
        PyMem_RawFree(self.root)
        PyMem_RawFree(self.scratch)
        free(self.nodes)
        free(self.edges)
        free(self.path)
        free(self.totals)
        free(self.root_visits)
        free(self.root_totals)
        keytable_free(&self.index)

    # ---- for Python ----------------------------------------------------------------------------

    def run(self, int64_t count):
        """That many more simulations, without the GIL."""
        with nogil:
            self.grow(count)
        if self.in_stage:
            self.stage.check()

    @property
    def size(self):
        """Nodes grown."""
        return self.n_nodes

    @property
    def return_sums(self):
        """Sum of the returns of all simulations, a list of one float a seat."""
        return [self.totals[seat] for seat in range(self.ops.n_players)]

    def statistics(self, Position position not None):
        """What the tree knows of the information set of the seat to move.

        Returns:
            {action: (visits, sum of the mover's returns)}, without the actions it never met; {}
            for an information set outside the tree.
        """
        cdef int32_t seat = self.ops.turn(self.tables, position.state)
        cdef int32_t node = self.find(position.state, seat)
        cdef InfoEdge *edge
        found = {}
        if node == NO_NODE:
            return found
        for i in range(self.nodes[node].count):
            edge = &self.edges[self.nodes[node].first + i]
            found[edge.action] = (edge.visits, edge.total)
        return found

    def root_statistics(self):
        """What the simulations brought that began with each action of the root, a decision.

        Returns:
            {action: (visits, [sum of the returns of each seat])}
        """
        cdef const InfoEdge *edges = self.edges
        cdef int32_t n = self.ops.n_players
        if self.n_nodes == 0:
            return {}
        # The first node is the root's, and it keeps the order of its actions.
        return {
            edges[slot].action: (self.root_visits[slot], [self.root_totals[slot * n + seat] for seat in range(n)])
            for slot in range(self.nodes[0].count)
        }

    # ---- the simulations -----------------------------------------------------------------------

    cdef int64_t grow(self, int64_t count) noexcept nogil:
        """`count` simulations; returns how many were made, fewer where a stage's choices differ."""
        cdef unsigned char *state = self.scratch
        cdef double values[PLAYER_LIMIT]
        cdef int64_t cell = 0, _k
        cdef int32_t seat
        for _k in range(count):
            memcpy(state, self.root, self.ops.state_size)
            if self.resamples:
                self.ops.resample(self.tables, state, self.root_turn, &self.rng)
            if self.in_stage:
                self.ops.rewind(self.tables, state)
                cell = self.stage.draw(&self.rng)
                if not self.stage.take(state, cell):
                    return _k
            self.simulate(state, values)
            if self.in_stage:
                self.stage.credit(cell, values)
            for seat in range(self.ops.n_players):
                self.totals[seat] += values[seat]
        self.simulations += count
        return count

    cdef void simulate(self, unsigned char *state, double *values) noexcept nogil:
        """One descent from the state, one playout, one backup; leaves the returns in `values`."""
        cdef int32_t legal[LEGAL_LIMIT]
        cdef const GameOps *ops = self.ops
        cdef const void *tables = self.tables
        cdef int32_t length = 0, steps = self.stage.n_seats if self.in_stage else 0
        cdef int32_t seat, node, slot, i
        cdef bint grown = False
        cdef InfoEdge *edge
        cdef int32_t *step
        seat = ops.turn(tables, state)
        while seat != TERMINAL:
            if seat == CHANCE:
                steps += ops_run_chance(ops, tables, state, &self.rng)
                seat = ops.turn(tables, state)
                continue
            if grown or length == self.path_limit or steps >= self.depth:
                break
            node = self.find(state, seat)
            if node == NO_NODE:
                if self.full:
                    break
                node = self.add(state, seat)
                if node == NO_NODE:
                    break
                grown = True
            if self.observer < 0:
                if QUANDARY_DEBUG_BUILD:
                    QUANDARY_CHECK(ops.legal(tables, state, legal) == self.nodes[node].count,
                                   "the legal actions must be the same all over an information set")
                slot = self.pick(node)
            else:
                slot = self.pick_legal(node, legal, ops.legal(tables, state, legal))
                if slot < 0:
                    break
            # Visits count on the way down, so that a state that comes again within one descent
            # is not met with the same bounds for ever.
            edge = &self.edges[self.nodes[node].first + slot]
            self.nodes[node].visits += 1
            if edge.visits == 0:
                self.nodes[node].untried -= 1
            edge.visits += 1
            step = self.path + 3 * length
            step[0], step[1], step[2] = node, slot, seat
            length += 1
            steps += 1
            ops.apply(tables, state, edge.action)
            seat = ops.turn(tables, state)
        if seat == TERMINAL:
            ops.returns(tables, state, values)
        else:
            self.playout(state, values)
        for i in range(length):
            # Node and slot, not an edge's address: a node's edges move when it gains an action.
            step = self.path + 3 * i
            self.edges[self.nodes[step[0]].first + step[1]].total += values[step[2]]
        if self.root_turn >= 0 and length > 0 and not self.in_stage:
            slot = self.path[1]
            self.root_visits[slot] += 1
            for i in range(ops.n_players):
                self.root_totals[slot * ops.n_players + i] += values[i]

    cdef bint playout(self, unsigned char *state, double *values) noexcept nogil:
        """Play to the end, or to the cutoff and its estimate; returns whether the end was reached."""
        cdef const GameOps *ops = self.ops
        cdef const void *tables = self.tables
        cdef int32_t seat, action
        cdef int64_t steps = 0
        if self.greedy == 0.0 and self.cutoff < 0:
            ops_playout(ops, tables, state, &self.rng)
            ops.returns(tables, state, values)
            return True
        while True:
            seat = ops.turn(tables, state)
            if seat == TERMINAL:
                ops.returns(tables, state, values)
                return True
            if seat == CHANCE:
                ops_run_chance(ops, tables, state, &self.rng)
                continue
            if self.cutoff >= 0 and steps >= self.cutoff:
                ops.estimate(tables, state, values)
                return False
            if self.greedy > 0.0 and rng_double(&self.rng) < self.greedy:
                action = ops.suggest(tables, state, &self.rng)
            else:
                action = ops_random_action(ops, tables, state, &self.rng)
            ops.apply(tables, state, action)
            steps += 1

    # ---- nodes ---------------------------------------------------------------------------------

    cdef int32_t find(self, const void *state, int32_t seat) noexcept nogil:
        """The node of this decision, or NO_NODE."""
        cdef int32_t observer = seat if self.observer < 0 else self.observer
        cdef uint64_t key = seat_key(ops_info_key(self.ops, self.tables, state, observer), seat)
        return keytable_slot(&self.index, key).node

    cdef int32_t add(self, const void *state, int32_t seat) noexcept nogil:
        """Add the node of this decision; NO_NODE when the budget or the memory is exhausted."""
        cdef int32_t legal[LEGAL_LIMIT]
        cdef int32_t observer = seat if self.observer < 0 else self.observer
        cdef uint64_t key = seat_key(ops_info_key(self.ops, self.tables, state, observer), seat)
        cdef int32_t count = self.ops.legal(self.tables, state, legal)
        cdef int32_t number = self.n_nodes
        cdef InfoNode *node
        cdef int32_t i
        if not self.make_room(1, count) or not keytable_reserve(&self.index):
            self.full = True
            return NO_NODE
        node = &self.nodes[number]
        node.first, node.count, node.capacity, node.visits, node.untried = self.n_edges, count, count, 0, count
        memset(self.edges + self.n_edges, 0, count * sizeof(InfoEdge))
        for i in range(count):
            self.edges[self.n_edges + i].action = legal[i]
        self.n_nodes += 1
        self.n_edges += count
        keytable_put(&self.index, key, number)
        return number

    cdef bint make_room(self, int32_t nodes, int64_t edges) noexcept nogil:
        """Room for so many more nodes (0 or 1) and edges, within the budget; False when there is none."""
        cdef int64_t room
        cdef void *block
        if self.n_nodes + nodes > self.node_limit or self.n_edges + edges > self.edge_limit:
            return False
        if self.n_nodes + nodes > self.node_room:
            room = min(2 * <int64_t>self.node_room, <int64_t>self.node_limit)
            block = realloc(self.nodes, room * sizeof(InfoNode))
            if block == NULL:
                return False
            self.nodes, self.node_room = <InfoNode *>block, <int32_t>room
        if self.n_edges + edges > self.edge_room:
            room = min(max(2 * self.edge_room, self.n_edges + edges), self.edge_limit)
            block = realloc(self.edges, room * sizeof(InfoEdge))
            if block == NULL:
                return False
            self.edges, self.edge_room = <InfoEdge *>block, room
        return True

    cdef int32_t slot_of(self, int32_t number, int32_t action, int32_t start) noexcept nogil:
        """The slot of an action at a node, looked for from `start` on, or -1."""
        cdef const InfoNode *node = &self.nodes[number]
        cdef const InfoEdge *edges = self.edges + node.first
        cdef int32_t i
        for i in range(start, node.count):
            if edges[i].action == action:
                return i
        for i in range(min(start, <int32_t>node.count)):
            if edges[i].action == action:
                return i
        return -1

    cdef void locate(self, int32_t number, const int32_t *legal, int32_t n_legal, int32_t *slots) noexcept nogil:
        """The slots of the legal actions, adding those a node lacks (-1 where there is no room).

        A node keeps its actions in the order it met them, so that slots stay what they are; its
        block moves to a larger one when it is full.
        """
        cdef InfoNode *node = &self.nodes[number]
        cdef InfoEdge *edge
        cdef int32_t i, capacity, slot = -1
        for i in range(n_legal):
            slot = self.slot_of(number, legal[i], slot + 1)
            slots[i] = slot
            if slot >= 0:
                continue
            if node.count == node.capacity:
                capacity = min(max(2 * <int32_t>node.capacity, node.count + n_legal - i), CAPACITY_LIMIT)
                if capacity == node.capacity or not self.make_room(0, capacity):
                    continue
                memcpy(self.edges + self.n_edges, self.edges + node.first, node.count * sizeof(InfoEdge))
                node.first, node.capacity = self.n_edges, capacity
                self.n_edges += capacity
            edge = &self.edges[node.first + node.count]
            memset(edge, 0, sizeof(InfoEdge))
            edge.action = legal[i]
            slots[i] = slot = node.count
            node.count += 1
            node.untried += 1

    # ---- selection -----------------------------------------------------------------------------

    cdef int32_t pick(self, int32_t number) noexcept nogil:
        """The slot to take at a node all of whose actions are legal whenever it is met."""
        cdef const InfoNode *node = &self.nodes[number]
        cdef const InfoEdge *edges = self.edges + node.first
        cdef int32_t i, left, best = 0, ties = 1
        cdef double bound, highest, scale, inverse
        if self.smooth and node.visits > 0 and rng_double(&self.rng) >= self.mixing(node.visits):
            left = rng_below(&self.rng, node.visits)
            for i in range(node.count):
                left -= edges[i].visits
                if left < 0:
                    return i
        if node.untried > 0:
            left = rng_below(&self.rng, node.untried)
            for i in range(node.count):
                if edges[i].visits == 0:
                    if left == 0:
                        return i
                    left -= 1
        scale = self.c * root_log(node.visits)
        highest = -1e300
        for i in range(node.count):
            inverse = inverse_root(edges[i].visits)
            bound = (edges[i].total * inverse + scale) * inverse
            if bound > highest:
                highest, best, ties = bound, i, 1
            elif bound == highest:
                ties += 1
                if rng_below(&self.rng, ties) == 0:
                    best = i
        return best

    cdef int32_t pick_legal(self, int32_t number, const int32_t *legal, int32_t n_legal) noexcept nogil:
        """The slot to take at a node of the searching seat's view, among the actions that are legal
        in this simulation; -1 when the node knows none of them and has no room for them."""
        cdef int32_t slots[LEGAL_LIMIT]
        cdef InfoEdge *edges
        cdef InfoEdge *edge
        cdef int32_t i, best = -1, ties = 0, untried = 0
        cdef int64_t left, visits = 0
        cdef double bound, highest, inverse
        self.locate(number, legal, n_legal, slots)
        edges = self.edges + self.nodes[number].first
        for i in range(n_legal):
            if slots[i] < 0:
                continue
            edge = &edges[slots[i]]
            edge.available += 1
            visits += edge.visits
            if edge.visits == 0:
                untried += 1
                if rng_below(&self.rng, untried) == 0:
                    best = slots[i]
        if self.smooth and visits > 0 and rng_double(&self.rng) >= self.mixing(visits):
            left = rng_below(&self.rng, <uint32_t>visits)
            for i in range(n_legal):
                if slots[i] >= 0:
                    left -= edges[slots[i]].visits
                    if left < 0:
                        return slots[i]
        if best >= 0:
            return best
        highest = -1e300
        for i in range(n_legal):
            if slots[i] < 0:
                continue
            edge = &edges[slots[i]]
            inverse = inverse_root(edge.visits)
            bound = (edge.total * inverse + self.c * root_log(edge.available)) * inverse
            if bound > highest:
                highest, best, ties = bound, slots[i], 1
            elif bound == highest:
                ties += 1
                if rng_below(&self.rng, ties) == 0:
                    best = slots[i]
        return best

    cdef double mixing(self, double visits) noexcept nogil:
        """Smooth UCT: the probability of the bound rather than the average strategy at a node."""
        return max(self.gamma, self.eta / (1.0 + self.decay * sqrt(visits)))


# ---- the searchers -----------------------------------------------------------------------------


class Grown:
    """The trees of one search, read together.

    Attributes:
        trees: the InfoTrees, one a thread.
        seconds: wall-clock time of growing them.
    """

    def __init__(self, trees, seconds):
        self.trees = trees
        self.seconds = seconds

    @property
    def simulations(self):
        """Simulations of all trees."""
        return sum(tree.simulations for tree in self.trees)

    @property
    def nodes(self):
        """Nodes of all trees."""
        return sum(tree.size for tree in self.trees)

    def values(self):
        """Mean return of all simulations, a tuple of one float a seat."""
        sums = [tree.return_sums for tree in self.trees]
        return tuple(sum(column) / self.simulations for column in zip(*sums))

    def stage(self, position, seed):
        """The root's stage of simultaneous choices, with what the simulations of all trees found of
        it; None where the root was not searched as one."""
        if self.trees[0].stage is None:
            return None
        whole = Stage(position, seed=seed, thread=0)
        for tree in self.trees:
            whole.add(tree.stage)
        return whole

    def root_statistics(self):
        """What the simulations brought that began with each action of the root, a decision.

        Returns:
            {action: (visits, [sum of the returns of each seat])}, ascending by action.
        """
        found = {}
        for tree in self.trees:
            for action, (visits, totals) in tree.root_statistics().items():
                so_far, sums = found.get(action, (0, [0.0] * len(totals)))
                found[action] = (so_far + visits, [a + b for a, b in zip(sums, totals)])
        return dict(sorted(found.items()))

    def statistics(self, position):
        """What the trees know of the information set of the seat to move.

        Returns:
            {action: (visits, sum of the mover's returns)} for every legal action, ascending.
        """
        found = {action: (0, 0.0) for action in position.legal_actions()}
        for tree in self.trees:
            for action, (visits, total) in tree.statistics(position).items():
                if action in found:   # a single observer's node knows actions that are illegal here
                    found[action] = (found[action][0] + visits, found[action][1] + total)
        return found

    def average_policy(self, position):
        """The average strategy at the information set of the seat to move: {action: probability},
        by visits; uniform where no simulation came."""
        visits = {action: count for action, (count, _) in self.statistics(position).items()}
        total = sum(visits.values())
        return {action: count / total if total else 1.0 / len(visits) for action, count in visits.items()}


class InformationSetSearcher:
    """What IS-MCTS and Smooth UCT have in common; see the module.

    Args:
        parameters: of the subclass's `PARAMETERS`; missing ones take their defaults.

    Raises:
        SpecError: an unknown parameter, or two that contradict each other.
        LimitError: a limit out of range.
    """

    name = ""
    PARAMETERS = {}

    def __init__(self, **parameters):
        unknown = set(parameters) - set(self.PARAMETERS)
        if unknown:
            raise SpecError(f"{self.name} has no parameter {min(unknown)!r}; it has: {', '.join(self.PARAMETERS)}")
        self.parameters = {key: parameter.default for key, parameter in self.PARAMETERS.items()} | parameters
        if self.parameters["observer"] == "single" and self.parameters["root"] == "game":
            raise SpecError(f"{self.name}: observer=single searches from one seat's view, and root=game from nobody's")
        favor = self.parameters.get("favor", "none")
        if favor != "none":
            self.stage_iterations = _stage_iterations(self.name, favor)
            if self.parameters["root"] == "game":
                raise SpecError(f"{self.name}: favor={favor} solves the stage at hand, and root=game begins elsewhere")
        limits = {key: self.parameters[key] for key in ("simulations", "nodes", "depth", "seconds")}
        if all(limits[key] is None for key in ("simulations", "nodes", "seconds")):
            limits["simulations"] = DEFAULT_SIMULATIONS
        self.limit = Limit(**limits)

    def reset(self):
        """Nothing is kept between searches."""

    def grow(self, position, *, seed, limit=None):
        """Grow the trees of one search and return them as `Grown`.

        Args:
            position: the root. A decision is resampled for its seat in every simulation; a chance
                node is taken as it is, so from the start of a game this is self-play. With
                `favor=cfr+`, a decision of a stage is searched from the start of that stage.
            seed: int in [0, 2**64).
            limit: overrides the searcher's own; a depth alone is not an end, and the searcher's own
                simulations, or the default, come beside it.

        Raises:
            UnsuitableGameError: a parameter needs what the game does not have.
            LimitError: fewer nodes than threads are allowed.
        """
        start_s = time.perf_counter()
        limit = self.limit if limit is None else limit
        simulations = simulation_limit(limit, self.limit.simulations or DEFAULT_SIMULATIONS)
        require_abilities(self.name, self.PARAMETERS, self.parameters, position.rules)
        if self.parameters["observer"] == "single":
            _add_views(position.rules)
        Stream(seed)   # names a bad seed
        count = self.parameters["threads"] if simulations is None else min(self.parameters["threads"], simulations)
        max_nodes = self.parameters["max_nodes"]
        if max_nodes < count:
            raise LimitError(f"max_nodes is {max_nodes}, it must be at least the number of threads, {count}")
        trees = [
            InfoTree(position, seed=seed, thread=thread, settings=self.parameters,
                     node_limit=max_nodes // count, depth=limit.depth)
            for thread in range(count)
        ]
        shares = [None if simulations is None else simulations // count + (thread < simulations % count)
                  for thread in range(count)]
        _run_all(trees, shares, limit.seconds, start_s)
        for tree in trees:
            if not tree.size and position.is_player_node() and tree.stage is None:
                raise MemoryError("not enough memory for the first node of the search")
        return Grown(trees, time.perf_counter() - start_s)

    def search(self, position, *, seed, limit=None):
        """Search from a position; see `solvers.contract.Searcher`."""
        limit = self.limit if limit is None else limit
        if position.is_terminal():
            return SearchResult(None, tuple(position.returns()), (), 0, 0, 0.0, exact=True)
        from_start = self.parameters["root"] == "game" and position.is_player_node()
        root = position.rules.initial_position() if from_start else position
        grown = self.grow(root, seed=seed, limit=limit)
        stage = grown.stage(root, seed)
        if stage is not None:
            return self._stage_result(position, stage, grown, seed, limit)
        values = grown.values()
        if not position.is_player_node():
            return SearchResult(None, values, (), grown.simulations, grown.nodes, grown.seconds,
                                reproducible=limit.reproducible)
        if from_start:
            statistics = grown.statistics(position)
            values = _values_at(position, statistics)
        else:
            returns = grown.root_statistics()
            seat = position.current_player()
            statistics = {each: (visits, totals[seat]) for each, (visits, totals) in returns.items()}
        action, probabilities = self._choose(statistics, seed)
        if not from_start and self.parameters["play"] == "best":
            visits, totals = returns[action]
            values = tuple(total / visits for total in totals)
        return SearchResult(
            action=action,
            values=values,
            actions=tuple(
                ActionStats(each, visits, total / visits if visits else float("nan"), probabilities[each])
                for each, (visits, total) in statistics.items()),
            simulations=grown.simulations,
            nodes=grown.nodes,
            seconds=grown.seconds,
            principal_variation=(action,),
            reproducible=limit.reproducible,
        )

    def _stage_result(self, position, stage, grown, seed, limit):
        """The result of a search from a stage of simultaneous choices: the choice is drawn from the
        seat's policy in the solution, whatever `play` says, since nothing else keeps it secret."""
        policies, values = stage.solution(self.stage_iterations)
        place = stage.turns.index(position.current_player())
        probabilities = policies[place]
        utilities = stage.action_values([list(policy.values()) for policy in policies])[place]
        others = tuple(axis for axis in range(len(policies)) if axis != place)
        visits = stage.cell_visits.sum(axis=others)
        action = draw(probabilities, Stream.keyed(seed, MOVE_STREAM))
        return SearchResult(
            action=action,
            values=values,
            actions=tuple(
                ActionStats(each, int(count), utility, probability)
                for (each, probability), count, utility in zip(probabilities.items(), visits, utilities)),
            simulations=grown.simulations,
            nodes=grown.nodes,
            seconds=grown.seconds,
            principal_variation=(action,),
            reproducible=limit.reproducible,
        )

    def _choose(self, statistics, seed):
        """The action to play, and how likely each was to be: {action: probability}."""
        total = sum(visits for visits, _ in statistics.values())
        if self.parameters["play"] == "sample" or not total:
            shares = {action: visits / total if total else 1.0 / len(statistics)
                      for action, (visits, _) in statistics.items()}
            return draw(shares, Stream.keyed(seed, MOVE_STREAM)), shares
        best = max(statistics, key=lambda action: (statistics[action][0], statistics[action][1], -action))
        return best, {action: float(action == best) for action in statistics}


def _stage_iterations(name, text):
    """The iterations of `favor=cfr+` or `favor=cfr+(iterations=N)`."""
    spec = parse_spec(text)
    if spec.name != STAGE_SOLVER or set(spec.given) - {"iterations"} or spec.parameters["iterations"] < 1:
        raise SpecError(f"{name} parameter favor is {text!r}; allowed: none | {STAGE_SOLVER} | "
                        f"{STAGE_SOLVER}(iterations=N) with N from 1")
    return spec.parameters["iterations"]


def draw(shares, stream):
    """An action drawn from {action: probability}."""
    left = stream.double()
    chosen = None
    for action, share in shares.items():
        if share > 0.0:
            chosen = action     # the last one stands when rounding leaves a rest
            left -= share
            if left < 0.0:
                break
    return chosen


def _values_at(Position position, statistics):
    """Utility per seat at an information set, as far as the mover's statistics tell it."""
    visits = sum(count for count, _ in statistics.values())
    seat = position.current_player()
    unknown = float("nan")
    mean = sum(total for _, total in statistics.values()) / visits if visits else unknown
    if position.num_players() == 2 and position.rules.zero_sum:
        return (mean, -mean) if seat == 0 else (-mean, mean)
    return tuple(mean if each == seat else unknown for each in range(position.num_players()))


def _run_all(trees, shares, seconds, start_s):
    """Run each tree to its share of the limit, side by side; all of them end together on an error."""
    stopped = []

    def work(tree, share):
        left_s = None if seconds is None else max(1e-9, seconds - (time.perf_counter() - start_s))
        for count in batches(share, left_s):
            tree.run(count)
            if stopped:
                return

    if len(trees) == 1:
        work(trees[0], shares[0])
        return
    with ThreadPoolExecutor(len(trees)) as pool:
        jobs = [pool.submit(work, tree, share) for tree, share in zip(trees, shares)]
        try:
            for job in jobs:
                while not wait((job,), BATCH_S).done:
                    look_up()
                job.result()
        except BaseException:
            stopped.append(True)
            raise


# ---- what is declared --------------------------------------------------------------------------

DEFAULT_SIMULATIONS = 1000
STAGE_SOLVER = "cfr+"

_LIMITS = {
    "simulations": Parameter(None, f"simulations a move; {DEFAULT_SIMULATIONS} where no limit is given",
                             kind=int, low=1),
    "nodes": Parameter(None, "end after so many simulations, each of which grows at most one node", kind=int, low=1),
    "depth": Parameter(None, "longest descent, decisions and chance nodes", kind=int, low=1),
    "seconds": Parameter(None, "wall-clock time a move", kind=float, low=1e-6, high=1e8),
}
_TREE = {
    "observer": Parameter("multiple", "whose information sets the nodes are: of the seat to move, or of the "
                          "searching seat alone", choices=("multiple", "single")),
    "root": Parameter("position", "where simulations start: from states that could be this one, or from the start "
                      "of the game", choices=("position", "game")),
    "threads": Parameter(1, "root-parallel threads, each with its share of the simulations", low=1, high=256),
    "playout": Parameter("random", "who plays out from a leaf", choices=("random", "greedy"),
                         needs={"greedy": ("suggest",)}),
    "epsilon": Parameter(0.1, "share of random moves in greedy playouts", low=0.0, high=1.0),
    "playout_depth": Parameter(None, "decisions played out before the game's estimate takes over", kind=int, low=0,
                               needs={ANY: ("estimate",)}),
    "max_nodes": Parameter(1_000_000, f"memory: nodes in all, with {EDGES_A_NODE} actions each",
                           low=1, high=60_000_000),
}
_EXPLORATION = Parameter(0.7, "exploration, in units of the utility range", low=0.0, high=1000.0)
_PLAY = "the move: the most visited action, or one drawn by visits"


class IsmctsSearcher(InformationSetSearcher):
    """Information-set Monte Carlo tree search."""

    name = "ismcts"
    PARAMETERS = {
        **_LIMITS,
        "c": _EXPLORATION,
        "play": Parameter("best", _PLAY, choices=("best", "sample")),
        **_TREE,
        "favor": Parameter("none", "a stage of simultaneous hidden choices, such as an auction of favor cards, is "
                           "solved as one game over estimated continuations; its iterations may be given",
                           choices=("none",), solvers=(STAGE_SOLVER,), needs={ANY: ("rewind",)}),
    }


class SmoothUctSearcher(InformationSetSearcher):
    """Smooth UCT."""

    name = "smooth_uct"
    PARAMETERS = {
        **_LIMITS,
        "c": _EXPLORATION,
        "eta": Parameter(0.9, "share of upper confidence bounds at a new node", low=0.0, high=1.0),
        "gamma": Parameter(0.1, "share they never fall below", low=0.0, high=1.0),
        "decay": Parameter(0.001, "how fast the share falls: eta / (1 + decay sqrt(visits))", low=0.0, high=1000.0),
        "play": Parameter("sample", _PLAY, choices=("best", "sample")),
        **_TREE,
    }


def _add_views(rules):
    """A flat tree gets what a single observer asks: what each seat knows when others move."""
    if isinstance(rules, TreeRules) and rules.tree.hidden_information:
        prepare_views(rules.tree)


def _make_ismcts(parameters):
    return IsmctsSearcher(**parameters)


def _make_smooth(parameters):
    return SmoothUctSearcher(**parameters)


SOLVERS = (
    SolverSpec(
        name="ismcts",
        kind="searcher",
        summary="information-set MCTS: UCT that decides on what each seat knows, from states that could be this one",
        source="Cowling, Powley and Whitehouse 2012, sections IV (single observer) and V (multiple observers)",
        make=_make_ismcts,
        parameters=IsmctsSearcher.PARAMETERS,
    ),
    SolverSpec(
        name="smooth_uct",
        kind="searcher",
        summary="information-set UCT that mixes its average strategy in, as fictitious play does",
        source="Heinrich and Silver 2015, section 4",
        make=_make_smooth,
        parameters=SmoothUctSearcher.PARAMETERS,
    ),
)
