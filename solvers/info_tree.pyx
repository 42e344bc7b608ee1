"""The tree of information sets that IS-MCTS and Smooth UCT grow, over any game of the native contract.

Every simulation draws a root state that the searching seat cannot tell from the real one (`resample`), descends by
upper confidence bounds, adds the first information set that is not in the tree, plays one action from it and then a
playout, and credits every action it took with the return of the seat that took it. ismcts.py says what for.
"""
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

from engine_ext.seeds import check_seed
from solvers.stages import Stage

cdef enum:
    PATH_LIMIT = 1 << 16       # most decisions of one descent; beyond it the playout takes over
    SEARCH_STREAM = 1          # key of the trees' random streams among those that belong to one seed
    CAPACITY_LIMIT = 0x7FFF    # most actions of one node
    TABLE = 2048               # precomputed roots, a third of the first-level cache


EDGES_A_NODE = 8               # the edge budget is this many times the node budget

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
        cdef uint64_t seed_bits = check_seed(seed)
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
        cdef int32_t turn = self.ops.turn(self.tables, state)
        cdef int32_t length = self.descend(state, &turn)
        if turn == TERMINAL:
            self.ops.returns(self.tables, state, values)
        else:
            self.playout(state, values)
        self.back_up(length, values)

    cdef int32_t descend(self, unsigned char *state, int32_t *turn) noexcept nogil:
        """Go down the tree, and one action beyond the first information set that is new.

        Args:
            state: moved to where the playout begins.
            turn: of the state, kept up to date.

        Returns:
            How many decisions the path holds.
        """
        cdef int32_t legal[LEGAL_LIMIT]
        cdef const GameOps *ops = self.ops
        cdef const void *tables = self.tables
        cdef int32_t length = 0, steps = self.stage.n_seats if self.in_stage else 0
        cdef int32_t seat = turn[0], node, slot
        cdef bint grown = False
        cdef InfoEdge *edge
        cdef int32_t *step
        while seat != TERMINAL:
            if seat == CHANCE:
                steps += ops_run_chance(ops, tables, state, &self.rng)
                seat = ops.turn(tables, state)
                continue
            if grown or length == self.path_limit or steps >= self.depth:
                break
            node = self.find(state, seat)
            if node == NO_NODE:
                node = NO_NODE if self.full else self.add(state, seat)
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
        turn[0] = seat
        return length

    cdef void back_up(self, int32_t length, const double *values) noexcept nogil:
        """Credit every action of the path with the return of the seat that took it."""
        cdef int32_t n = self.ops.n_players, slot, i
        cdef const int32_t *step
        for i in range(length):
            # Node and slot, not an edge's address: a node's edges move when it gains an action.
            step = self.path + 3 * i
            self.edges[self.nodes[step[0]].first + step[1]].total += values[step[2]]
        if self.root_turn >= 0 and length > 0 and not self.in_stage:
            slot = self.path[1]
            self.root_visits[slot] += 1
            for i in range(n):
                self.root_totals[slot * n + i] += values[i]

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
