"""Monte Carlo tree search on the native contract, for games without hidden information.

UCT (Kocsis and Szepesvari, 2006) over a graph of states, with what makes it strong on dice games:

* *Transpositions.* Nodes are states, found by `state_key`; the same dice reached in two ways are
  one node (Saffidine, Cazenave and Mehat, 2012; Czech, Korus and Kersting, 2021). An edge keeps
  its child's value as it was when last passed, and a node's value is always one of its edges'
  values. With `transpositions=false` keys are paths, and the graph is the plain tree.
* *Backup.* A decision is worth what its most visited edge is worth (Coulom, 2006, "robust max"),
  so that exploring bad actions does not drag it down; `backup=mean` is plain UCT's mean.
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

Units: values are utilities; exploration is scaled by the game's utility range, so that `c`
means the same in every game.
"""
import dataclasses
import math
import threading
import time

from cpython.time cimport PyTime_MonotonicRaw
from libc.math cimport ceil, pow, sqrt
from libc.stdint cimport int16_t, int32_t, int64_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

cimport cython

from engine_ext.debug cimport QUANDARY_CHECK
from engine_ext.game cimport (
    CHANCE, LEGAL_LIMIT, OUTCOME_LIMIT, PLAYER_LIMIT, TERMINAL, HIDDEN_INFORMATION,
    GameOps, ops_playout, ops_random_action, ops_run_chance,
)
from engine_ext.position cimport Position, Rules
from engine_ext.rng cimport Rng, Stream, rng_below, rng_below64, rng_combine, rng_double, rng_seed_keys
from solvers.common cimport StateBuffer, one_value
from solvers.portable cimport portable_log
from solvers.stopping cimport look_up

from engine_ext.errors import SpecError, UnsuitableGameError
from solvers.budget import BATCH_S, simulation_limit
from solvers.contract import ANY, ActionStats, Limit, Parameter, SearchResult, SolverSpec, require_abilities


# ---- the graph: arrays of nodes and edges ------------------------------------------------------

cdef enum:
    EXPANDED = 1        # its edges (or, at a chance node, the number of outcomes) are known
    WEIGHTED = 2        # chance: every outcome was seen; the value is the expectation itself
    WIDENED = 4         # chance: only some outcomes have edges, in the order in which they came up
    CLOSED = 1          # edge: proven, or dominated by a proven bound: no more simulations

    SMALL = 16          # chance nodes of at most this many outcomes get all their edges at once
    LOOK = 8            # others are asked for their number of outcomes at this many visits
    PATH_LIMIT = 4096   # longest descent
    TABLE = 4096        # precomputed square roots
    NONE = -1

cdef struct Node:
    uint64_t key        # state_key, or with transpositions=false the hash of the path
    int32_t edges       # first edge; NONE before there are any
    int32_t n_edges     # decision: legal actions; chance: outcomes
    int32_t n_tried     # decision: edges tried, the first ones; chance: outcomes seen, likewise; open loop: times legal
    int32_t n_open      # edges not CLOSED
    int32_t visits
    int32_t stamp       # the last simulation whose path it was on
    int32_t best        # decision: its most visited edge, or NONE
    int32_t amaf        # its block of all-moves-as-first statistics, or NONE
    int16_t turn        # as GameOps.turn
    uint16_t flags

cdef struct Edge:
    int32_t visits
    int32_t action      # decision or outcome id
    int32_t child       # node, or NONE
    int32_t flags

cdef struct Bounds:
    double low          # utility of seat 0, proven
    double high

cdef struct Amaf:
    double total        # utility of the seat that played the action
    int64_t visits

cdef struct Step:
    int32_t node
    int32_t edge        # NONE at a chance node without edges
    int32_t child       # NONE where the budget forbade one
    int32_t forced      # an outcome visited out of turn, so that all are seen

cdef struct Settings:
    double exploration          # c
    double widening             # actions allowed: widening * visits ** widening_power; 0: all
    double widening_power
    double chance_widening      # outcomes allowed, likewise
    double chance_widening_power
    double epsilon              # share of random moves in a greedy playout
    double grave_bias
    int64_t grave_ref           # visits that make a node a reference; NONE: no GRAVE
    int32_t playout_depth       # decisions played before the estimate; NONE: to the end
    int32_t playout_turns       # turns likewise, the leaf's own among them
    double prior                # share of the suggested action in exploration; 0: all alike
    int32_t rollouts            # playouts a leaf
    int32_t max_depth           # longest descent, steps
    int32_t max_nodes
    bint best_backup            # a decision is worth its most visited edge, not the mean of all
    bint greedy                 # playouts by the game's rule of thumb
    bint transpositions
    bint solve
    bint open_loop              # nodes are sequences of decisions; chance is drawn anew every time
    bint every_action           # each action of the root gets a simulation, whatever widening or proofs say


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


cdef inline double root_log(int32_t n) noexcept nogil:
    return ROOT_LOG[n] if n < TABLE else sqrt(portable_log(<double>n))


cdef inline double inverse_root(int32_t n) noexcept nogil:
    return INVERSE_ROOT[n] if n < TABLE else 1.0 / sqrt(<double>n)


cdef inline bint refresh_due(int32_t visits) noexcept nogil:
    """Four times while the visits double, from 16 on: often enough, and soon a small share of the work."""
    cdef int32_t pace = 4
    if visits < 16:
        return False
    while pace << 3 <= visits:
        pace <<= 1
    return visits & (pace - 1) == 0


cdef inline double power_of(double base, double power) noexcept nogil:
    """base ** power; the default power with the same bits on every machine."""
    return sqrt(base) if power == 0.5 else pow(base, power)


cdef inline bint solved(const Bounds *bounds) noexcept nogil:
    return bounds.low == bounds.high


cdef inline uint64_t open_key(uint64_t parent, int32_t seat, int32_t action) noexcept nogil:
    """Key of a node of an open-loop tree: the hash of its sequence of decisions."""
    return rng_combine(parent, <uint64_t>seat << 32 | <uint64_t>(action + 1))


@cython.final
cdef class Tree:
    """One search graph and the simulations that grow it. Not for use from Python."""

    cdef Rules rules            # keeps the function table alive
    cdef const GameOps *ops
    cdef const void *tables
    cdef Settings set
    cdef Rng rng
    cdef void *root_state
    cdef int32_t n_values       # values a node: 1 where seat 0's says all, else one a seat
    cdef bint proving           # bounds are kept
    cdef bint out_of_memory
    cdef int32_t stop           # set by another thread: end at the next simulation
    cdef Node *nodes            # [n_nodes] of node_room
    cdef double *totals         # [node, n_values] sum of values over visits; WEIGHTED: the mean itself
    cdef Bounds *bounds         # [node]
    cdef int32_t n_nodes, node_room
    cdef Edge *edges            # [n_edges] of edge_room
    cdef double *means          # [edge, n_values] the child's mean when last passed
    cdef double *weights        # [edge] chance: probability
    cdef Bounds *seen           # [edge] the child's bounds when last passed
    cdef int64_t n_edges, edge_room, edge_budget
    cdef int32_t *slots         # hash table of nodes by key: node + 1, or 0
    cdef uint64_t slot_mask
    cdef Amaf *amaf             # [block, seat, action]
    cdef int32_t n_amaf, amaf_room
    cdef Step *path             # [PATH_LIMIT]
    cdef int32_t *moves         # [move_room, 2] seat and action of every decision of a simulation
    cdef int32_t n_moves, move_room
    cdef int32_t *marks         # [step] number of moves made before it
    cdef int32_t root           # the node to search from
    cdef int32_t reference      # GRAVE: the last node passed that serves as reference, or NONE
    cdef int32_t simulation     # number of the running one, for stamps
    cdef double scale           # 1 / utility range
    cdef int64_t clock          # playout_turns: the turn in which the running simulation came to its leaf
    cdef double leaf[PLAYER_LIMIT]

    def __cinit__(self):
        self.root_state = self.nodes = self.totals = self.bounds = NULL
        self.edges = self.means = self.weights = self.seen = NULL
        self.slots = self.amaf = self.path = self.moves = self.marks = NULL

    def __dealloc__(self):
        free(self.root_state)
        free(self.nodes)
        free(self.totals)
        free(self.bounds)
        free(self.edges)
        free(self.means)
        free(self.weights)
        free(self.seen)
        free(self.slots)
        free(self.amaf)
        free(self.path)
        free(self.moves)
        free(self.marks)

    cdef int start(self, Position position, const Settings *settings, uint64_t seed, uint64_t thread) except -1:
        """Take over the position as the root of an empty graph."""
        cdef double spread
        self.rules = position.rules
        self.ops = position.ops
        self.tables = position.tables
        self.set = settings[0]
        self.n_values = 1 if one_value(self.ops) else self.ops.n_players
        self.proving = self.set.solve and self.n_values == 1
        spread = self.ops.max_utility - self.ops.min_utility
        self.scale = 1.0 / spread if spread > 0.0 else 1.0
        self.proving = self.proving and not self.set.open_loop
        self.edge_budget = 4 * <int64_t>self.set.max_nodes + self.ops.max_legal + self.ops.max_outcomes
        self.root_state = malloc(self.ops.state_size)
        self.path = <Step *>malloc(PATH_LIMIT * sizeof(Step))
        self.marks = <int32_t *>malloc(PATH_LIMIT * sizeof(int32_t))
        if self.root_state == NULL or self.path == NULL or self.marks == NULL:
            raise MemoryError
        memcpy(self.root_state, position.state, self.ops.state_size)
        rng_seed_keys(&self.rng, seed, thread, 0, 0)
        if not self.grow_nodes(min(1024, self.set.max_nodes)) or not self.grow_edges(
                min(self.edge_budget, 4096 + self.ops.max_legal + self.ops.max_outcomes)):
            raise MemoryError
        self.root = self.add_node(self.root_state, self.ops.state_key(self.tables, self.root_state))
        if self.nodes[0].turn == TERMINAL:
            self.ops.returns(self.tables, self.root_state, self.leaf)
            self.settle_leaf(0)
        return 0

    cdef bint go_on(self, Position position, uint64_t seed, uint64_t thread):
        """Search from another position of the same game next, with what is known; False where it is
        not in the graph, or where half the budget is spent."""
        cdef int32_t node
        if self.rules._stamp != position.rules._stamp or 2 * <int64_t>self.n_nodes > self.set.max_nodes:
            return False
        node = self.find(self.ops.state_key(self.tables, position.state))
        if node == NONE:
            return False
        self.root = node
        memcpy(self.root_state, position.state, self.ops.state_size)
        rng_seed_keys(&self.rng, seed, thread, 0, 0)
        return True

    # ---- memory --------------------------------------------------------------------------------

    cdef bint grow_nodes(self, int32_t room) noexcept nogil:
        """Make room for that many nodes; False where memory is short (what was there stays)."""
        cdef void *block
        cdef uint64_t n_slots = 1024
        cdef int32_t node
        block = realloc(self.nodes, room * sizeof(Node))
        if block == NULL:
            return False
        self.nodes = <Node *>block
        block = realloc(self.totals, <size_t>room * self.n_values * sizeof(double))
        if block == NULL:
            return False
        self.totals = <double *>block
        if self.proving:
            block = realloc(self.bounds, room * sizeof(Bounds))
            if block == NULL:
                return False
            self.bounds = <Bounds *>block
        while n_slots < 2 * <uint64_t>room:
            n_slots *= 2
        block = calloc(n_slots, sizeof(int32_t))
        if block == NULL:
            return False
        free(self.slots)
        self.slots = <int32_t *>block
        self.slot_mask = n_slots - 1
        for node in range(self.n_nodes):
            self.enter(node)
        self.node_room = room
        return True

    cdef bint grow_edges(self, int64_t room) noexcept nogil:
        """Make room for that many edges; False where memory is short (what was there stays)."""
        cdef void *block
        block = realloc(self.edges, room * sizeof(Edge))
        if block == NULL:
            return False
        self.edges = <Edge *>block
        block = realloc(self.means, room * self.n_values * sizeof(double))
        if block == NULL:
            return False
        self.means = <double *>block
        block = realloc(self.weights, room * sizeof(double))
        if block == NULL:
            return False
        self.weights = <double *>block
        if self.proving:
            block = realloc(self.seen, room * sizeof(Bounds))
            if block == NULL:
                return False
            self.seen = <Bounds *>block
        self.edge_room = room
        return True

    cdef void reserve(self) noexcept nogil:
        """Before a simulation: room for a node and an expansion, as far as the budget goes."""
        cdef int64_t wanted
        if self.out_of_memory:
            return
        if self.n_nodes == self.node_room and self.node_room < self.set.max_nodes:
            wanted = min(2 * <int64_t>self.node_room, <int64_t>self.set.max_nodes)
            self.out_of_memory = not self.grow_nodes(<int32_t>wanted)
        wanted = self.n_edges + self.ops.max_legal + self.ops.max_outcomes
        if wanted > self.edge_room and self.edge_room < self.edge_budget:
            wanted = min(max(2 * self.edge_room, wanted), self.edge_budget)
            if not self.grow_edges(wanted):
                self.out_of_memory = True

    cdef void enter(self, int32_t node) noexcept nogil:
        """Put a node into the hash table."""
        cdef uint64_t slot = self.nodes[node].key & self.slot_mask
        while self.slots[slot]:
            slot = (slot + 1) & self.slot_mask
        self.slots[slot] = node + 1

    cdef int32_t find(self, uint64_t key) noexcept nogil:
        """The node with this key, or NONE."""
        cdef uint64_t slot = key & self.slot_mask
        cdef int32_t node = self.slots[slot]
        while node:
            if self.nodes[node - 1].key == key:
                return node - 1
            slot = (slot + 1) & self.slot_mask
            node = self.slots[slot]
        return NONE

    cdef int32_t add_node(self, const void *state, uint64_t key) noexcept nogil:
        """A new node, not visited yet; NONE when the budget is spent."""
        cdef int32_t index = self.n_nodes, i
        cdef Node *node
        if index == self.node_room:
            return NONE
        self.n_nodes += 1
        node = &self.nodes[index]
        node.key = key
        node.edges = NONE
        node.n_edges = node.n_tried = node.n_open = node.visits = node.stamp = 0
        node.best = node.amaf = NONE
        node.turn = self.ops.turn(self.tables, state)
        node.flags = 0
        for i in range(self.n_values):
            self.totals[<int64_t>index * self.n_values + i] = 0.0
        if self.proving:
            self.bounds[index].low = self.ops.min_utility
            self.bounds[index].high = self.ops.max_utility
        self.enter(index)
        return index

    cdef int32_t add_edges(self, int32_t count) noexcept nogil:
        """A block of fresh edges, their first index; NONE when there is no room."""
        cdef int64_t first = self.n_edges, e
        if first + count > self.edge_room:
            return NONE
        self.n_edges += count
        for e in range(first, first + count):
            self.edges[e].visits = self.edges[e].flags = 0
            self.edges[e].child = NONE
            if self.proving:
                self.seen[e].low = self.ops.min_utility
                self.seen[e].high = self.ops.max_utility
        return <int32_t>first

    # ---- expansion -----------------------------------------------------------------------------

    cdef bint expand_decision(self, int32_t index, const void *state) noexcept nogil:
        """List the legal actions of a decision; False when there is no room."""
        cdef int32_t ids[LEGAL_LIMIT]
        cdef int32_t count = self.ops.legal(self.tables, state, ids)
        cdef int32_t first = self.add_edges(count), i
        cdef Node *node = &self.nodes[index]
        QUANDARY_CHECK(0 < count <= self.ops.max_legal, "legal() must list 1 to max_legal actions")
        if first == NONE:
            return False
        for i in range(count):
            self.edges[first + i].action = ids[i]
        if self.ops.suggest != NULL and (self.set.widening > 0.0 or self.set.prior > 0.0):
            # The best guess comes first.
            i = self.ops.suggest(self.tables, state, &self.rng)
            self.swap_edges(first, first + self.place_of(first, count, i))
        node.edges = first
        node.n_edges = node.n_open = count
        node.flags |= EXPANDED
        return True

    cdef int32_t place_of(self, int32_t first, int32_t count, int32_t action) noexcept nogil:
        """Where an action or outcome stands in a block sorted by id; 0 where it is missing."""
        cdef int32_t low = 0, high = count - 1, middle
        middle = action - self.edges[first].action     # ids without gaps need no search
        if 0 <= middle < count and self.edges[first + middle].action == action:
            return middle
        while low < high:
            middle = (low + high) >> 1
            if self.edges[first + middle].action < action:
                low = middle + 1
            else:
                high = middle
        QUANDARY_CHECK(self.edges[first + low].action == action, "sample() and outcomes() must agree")
        return low

    cdef void swap_edges(self, int32_t a, int32_t b) noexcept nogil:
        """Exchange two untried edges of a decision."""
        cdef int32_t action = self.edges[a].action
        self.edges[a].action = self.edges[b].action
        self.edges[b].action = action

    cdef void expand_chance(self, int32_t index, const void *state) noexcept nogil:
        """Give a chance node all its edges, joined to the children it has. Without room, nothing."""
        cdef int32_t ids[OUTCOME_LIMIT]
        cdef double probs[OUTCOME_LIMIT]
        cdef StateBuffer scratch
        cdef Node *node = &self.nodes[index]
        cdef int32_t count = self.ops.outcomes(self.tables, state, ids, probs)
        cdef int32_t first = NONE, i, child
        QUANDARY_CHECK(0 < count <= self.ops.max_outcomes, "outcomes() must list 1 to max_outcomes")
        node.n_edges = count
        node.flags |= EXPANDED
        if self.set.chance_widening > 0.0 and self.set.chance_widening * power_of(
                <double>node.visits + 1.0, self.set.chance_widening_power) < count:
            node.flags |= WIDENED
            node.n_open = count     # the outcomes without an edge stay open
            return
        if count <= SMALL or node.visits >= count:
            first = self.add_edges(count)
        if first == NONE:
            return
        node.edges = first
        node.n_open = count
        for i in range(count):
            self.edges[first + i].action = ids[i]
            self.weights[first + i] = probs[i]
        if node.visits <= 1:
            return
        for i in range(count):
            memcpy(scratch.bytes, state, self.ops.state_size)
            self.ops.apply(self.tables, scratch.bytes, ids[i])
            child = self.find(self.child_key(index, ids[i], scratch.bytes))
            if child != NONE and self.nodes[child].visits > 0:
                self.edges[first + i].child = child
                self.edges[first + i].visits = 1
                self.mean_of(child, &self.means[<int64_t>(first + i) * self.n_values])
                if self.proving:
                    self.pass_bounds(index, first + i, child)
        self.weigh(index)

    cdef int32_t draw_widened(self, int32_t index, const void *state) noexcept nogil:
        """The edge a simulation takes from a chance node with progressive widening: an outcome drawn by
        its probability while more of them are allowed, else one of those there are, drawn as
        often as before. NONE when there is no room for a new one."""
        cdef int32_t ids[OUTCOME_LIMIT]
        cdef double probs[OUTCOME_LIMIT]
        cdef Node *node = &self.nodes[index]
        cdef int32_t e, i, count, outcome, room, first
        cdef int64_t total = 0
        cdef double allowed = ceil(self.set.chance_widening * power_of(
            <double>node.visits + 1.0, self.set.chance_widening_power))
        if node.n_tried < allowed or node.n_tried == 0:
            outcome = self.ops.sample(self.tables, state, &self.rng)
            for e in range(node.edges, node.edges + node.n_tried):
                if self.edges[e].action == outcome:
                    return e
            room = 4
            while room < node.n_tried:
                room *= 2
            if node.n_tried == 0 or node.n_tried == room:      # the block is full: move to one twice as large
                room = min(node.n_edges, 4 if node.n_tried == 0 else 2 * room)
                first = self.add_edges(room)
                if first == NONE:
                    return NONE
                for i in range(node.n_tried):
                    self.move_edge(node.edges + i, first + i)
                node.edges = first
            e = node.edges + node.n_tried
            count = self.ops.outcomes(self.tables, state, ids, probs)
            for i in range(count):
                if ids[i] == outcome:
                    self.weights[e] = probs[i]
            self.edges[e].action = outcome
            node.n_tried += 1
            return e
        for e in range(node.edges, node.edges + node.n_tried):
            total += self.edges[e].visits
        total = <int64_t>rng_below64(&self.rng, total)
        for e in range(node.edges, node.edges + node.n_tried - 1):
            total -= self.edges[e].visits
            if total < 0:
                return e
        return node.edges + node.n_tried - 1

    cdef void move_edge(self, int32_t source, int32_t place) noexcept nogil:
        self.edges[place] = self.edges[source]
        self.weights[place] = self.weights[source]
        memcpy(&self.means[<int64_t>place * self.n_values], &self.means[<int64_t>source * self.n_values],
               self.n_values * sizeof(double))
        if self.proving:
            self.seen[place] = self.seen[source]

    cdef inline uint64_t child_key(self, int32_t parent, int32_t action, const void *state) noexcept nogil:
        if self.set.transpositions:
            return self.ops.state_key(self.tables, state)
        return rng_combine(self.nodes[parent].key, <uint64_t>(action + 1))

    # ---- values --------------------------------------------------------------------------------

    cdef inline void mean_of(self, int32_t index, double *out) noexcept nogil:
        """A visited node's value, within its proven bounds."""
        cdef const double *total = &self.totals[<int64_t>index * self.n_values]
        cdef double share = 1.0
        cdef int32_t i
        if self.nodes[index].best != NONE:
            total = &self.means[<int64_t>self.nodes[index].best * self.n_values]
        elif not self.nodes[index].flags & WEIGHTED:
            share = 1.0 / <double>self.nodes[index].visits
        for i in range(self.n_values):
            out[i] = total[i] * share
        if self.proving:
            if out[0] < self.bounds[index].low:
                out[0] = self.bounds[index].low
            elif out[0] > self.bounds[index].high:
                out[0] = self.bounds[index].high

    cdef inline double seat_value(self, const double *values, int32_t seat) noexcept nogil:
        """A seat's share of one node's or edge's values."""
        if self.n_values > 1:
            return values[seat]
        return -values[0] if seat == 1 else values[0]

    cdef void settle_leaf(self, int32_t index) noexcept nogil:
        """Count `leaf` as one visit of a node; a terminal node is thereby proven."""
        cdef int32_t i
        self.nodes[index].visits += 1
        for i in range(self.n_values):
            self.totals[<int64_t>index * self.n_values + i] += self.leaf[i]
        if self.proving and self.nodes[index].turn == TERMINAL:
            self.bounds[index].low = self.bounds[index].high = self.leaf[0]

    cdef void weigh(self, int32_t index) noexcept nogil:
        """Once every outcome was seen, make a chance node's value the expectation itself."""
        cdef Node *node = &self.nodes[index]
        cdef int32_t e, i
        cdef double *total
        if node.flags & (WEIGHTED | WIDENED):
            return
        while node.n_tried < node.n_edges and self.edges[node.edges + node.n_tried].visits:
            node.n_tried += 1
        if node.n_tried < node.n_edges:
            return
        node.flags |= WEIGHTED
        total = &self.totals[<int64_t>index * self.n_values]
        for i in range(self.n_values):
            total[i] = 0.0
            for e in range(node.edges, node.edges + node.n_edges):
                total[i] += self.weights[e] * self.means[<int64_t>e * self.n_values + i]

    # ---- proofs --------------------------------------------------------------------------------

    cdef void pass_bounds(self, int32_t index, int32_t edge, int32_t child) noexcept nogil:
        """Carry a child's bounds over an edge to its parent."""
        cdef Node *node = &self.nodes[index]
        cdef Bounds *seen = &self.seen[edge]
        cdef Bounds *own = &self.bounds[index]
        cdef Bounds new = self.bounds[child]
        cdef Bounds best
        cdef int32_t e, last = node.edges + node.n_edges
        if seen.low == new.low and seen.high == new.high:
            return
        if node.turn == CHANCE:
            own.low += self.weights[edge] * (new.low - seen.low)
            own.high += self.weights[edge] * (new.high - seen.high)
            seen[0] = new
            if solved(seen) and not self.edges[edge].flags & CLOSED:
                self.edges[edge].flags |= CLOSED
                node.n_open -= 1
                if node.n_open == 0:    # exact, free of what adding up differences left behind
                    best.low = 0.0
                    for e in range(node.edges, last):
                        best.low += self.weights[e] * self.seen[e].low
                    own.low = own.high = best.low
            # Rounding must carry them neither past what a game can be worth nor past each other.
            own.high = min(own.high, self.ops.max_utility)
            own.low = min(max(own.low, self.ops.min_utility), own.high)
            return
        seen[0] = new
        best = self.seen[node.edges]
        if node.turn == 0:
            for e in range(node.edges + 1, last):
                best.low = max(best.low, self.seen[e].low)
                best.high = max(best.high, self.seen[e].high)
        else:
            for e in range(node.edges + 1, last):
                best.low = min(best.low, self.seen[e].low)
                best.high = min(best.high, self.seen[e].high)
        own[0] = best
        for e in range(node.edges, node.edges + node.n_tried):
            if not self.edges[e].flags & CLOSED and (solved(&self.seen[e]) or (
                    self.seen[e].high <= best.low if node.turn == 0 else self.seen[e].low >= best.high)):
                self.edges[e].flags |= CLOSED
                node.n_open -= 1

    # ---- selection -----------------------------------------------------------------------------

    cdef int32_t choose(self, int32_t index) noexcept nogil:
        """The edge a simulation takes from a decision; NONE when all are closed."""
        cdef Node *node = &self.nodes[index]
        cdef int32_t first = node.edges, last = first + node.n_tried, allowed = node.n_edges
        cdef int32_t e, pick = NONE
        cdef const Edge *edges = self.edges
        cdef const double *means = self.means
        cdef double explore, score, best = -1e300, scale = self.scale
        cdef int32_t stride = self.n_values
        if self.set.every_action and index == self.root and node.n_tried < allowed:
            return self.try_new(node)
        if self.set.widening > 0.0:
            explore = ceil(self.set.widening * power_of(<double>node.visits, self.set.widening_power))
            if explore < allowed:
                allowed = max(1, <int32_t>explore)
        if self.reference != NONE:
            return self.choose_grave(index, node.n_tried < allowed)
        if node.n_tried < allowed:
            return self.try_new(node)
        if stride > 1:
            means += node.turn
        elif node.turn == 1:
            scale = -scale
        if self.set.prior > 0.0:
            return self.choose_by_prior(node, means, scale)
        explore = self.set.exploration * root_log(node.visits)
        for e in range(first, last):
            if edges[e].flags & CLOSED:
                continue
            score = means[<int64_t>e * stride] * scale + explore * inverse_root(edges[e].visits)
            if score > best:
                best = score
                pick = e
        if pick == NONE and node.n_tried < node.n_edges:
            return self.try_new(node)
        return pick

    cdef inline bint untried_root(self) noexcept nogil:
        """Whether the root owes an action its simulation."""
        cdef const Node *node = &self.nodes[self.root]
        return self.set.every_action and node.turn >= 0 and (
            node.n_tried < node.n_edges if node.edges != NONE else node.visits == 0)

    cdef int32_t choose_by_prior(self, Node *node, const double *means, double scale) noexcept nogil:
        """The tried edge of the highest mean with an exploration bonus in proportion to its prior (PUCT): the
        first edge, which is the suggested action, has `prior`, the others share the rest."""
        cdef int32_t e, pick = NONE, first = node.edges
        cdef double score, best = -1e300, explore = self.set.exploration * sqrt(<double>node.visits)
        cdef double other = (1.0 - self.set.prior) / <double>max(1, node.n_edges - 1)
        for e in range(first, first + node.n_tried):
            if self.edges[e].flags & CLOSED:
                continue
            score = means[<int64_t>e * self.n_values] * scale
            score += explore * (self.set.prior if e == first else other) / (1.0 + self.edges[e].visits)
            if score > best:
                best = score
                pick = e
        if pick == NONE and node.n_tried < node.n_edges:
            return self.try_new(node)
        return pick

    cdef int32_t choose_grave(self, int32_t index, bint more) noexcept nogil:
        """As `choose`, mixing each edge's mean with its action's all-moves-as-first mean at the reference.

        Args:
            more: whether an untried edge may be taken.
        """
        cdef Node *node = &self.nodes[index]
        cdef int32_t e, pick = NONE, tried = node.edges + node.n_tried
        cdef const Amaf *amaf = &self.amaf[
            (<int64_t>self.nodes[self.reference].amaf * self.ops.n_players + node.turn) * self.ops.n_actions]
        cdef const Amaf *other
        cdef double score, share, best = -1e300, explore = self.set.exploration * root_log(node.visits)
        cdef double visits, others
        for e in range(node.edges, node.edges + node.n_edges if more else tried):
            if self.edges[e].flags & CLOSED:
                continue
            other = amaf + self.edges[e].action
            others = <double>other.visits
            if e < tried:
                visits = <double>self.edges[e].visits
                score = self.seat_value(&self.means[<int64_t>e * self.n_values], node.turn)
                if other.visits:
                    share = others / (others + visits + self.set.grave_bias * others * visits)
                    score += share * (other.total / others - score)
                score = score * self.scale + explore * inverse_root(self.edges[e].visits)
            elif other.visits:
                score = other.total / others * self.scale + explore
            else:
                score = 1e200       # never seen anywhere: look at it
            if score > best:
                best = score
                pick = e
        if pick == NONE and tried < node.edges + node.n_edges:
            return self.try_new(node)
        if pick >= tried:
            self.swap_edges(pick, tried)
            node.n_tried += 1
            return tried
        return pick

    cdef void serve_as_reference(self, int32_t index) noexcept nogil:
        """Let a decision that was visited often enough collect statistics, and be the reference."""
        cdef Node *node = &self.nodes[index]
        cdef int64_t size = <int64_t>self.ops.n_players * self.ops.n_actions, wanted
        cdef void *block
        if node.amaf == NONE and 2 * <int64_t>node.visits >= self.set.grave_ref:
            if self.n_amaf == self.amaf_room:
                wanted = min(max(16, 2 * self.amaf_room), max(1, 64 * self.set.max_nodes // (size * sizeof(Amaf))))
                block = NULL
                if wanted > self.amaf_room:
                    block = realloc(self.amaf, wanted * size * sizeof(Amaf))
                if block != NULL:
                    self.amaf = <Amaf *>block
                    self.amaf_room = <int32_t>wanted
            if self.n_amaf < self.amaf_room:
                node.amaf = self.n_amaf
                self.n_amaf += 1
                memset(&self.amaf[node.amaf * size], 0, size * sizeof(Amaf))
        if node.amaf != NONE and node.visits >= self.set.grave_ref:
            self.reference = index

    cdef void record(self, int32_t seat, int32_t action) noexcept nogil:
        """Remember a decision of this simulation for the all-moves-as-first statistics."""
        cdef void *block
        if self.n_moves == self.move_room:
            block = realloc(self.moves, (2 * self.move_room + 1024) * 2 * sizeof(int32_t))
            if block == NULL:
                return
            self.moves = <int32_t *>block
            self.move_room = 2 * self.move_room + 1024
        self.moves[2 * self.n_moves] = seat
        self.moves[2 * self.n_moves + 1] = action
        self.n_moves += 1

    cdef void spread_moves(self, int32_t depth) noexcept nogil:
        """Credit every move after each node with statistics with what this simulation was worth."""
        cdef int32_t step, i, seat
        cdef Amaf *amaf
        cdef Amaf *entry
        for step in range(depth):
            if self.nodes[self.path[step].node].amaf == NONE:
                continue
            amaf = &self.amaf[<int64_t>self.nodes[self.path[step].node].amaf * self.ops.n_players * self.ops.n_actions]
            for i in range(self.marks[step], self.n_moves):
                seat = self.moves[2 * i]
                entry = &amaf[<int64_t>seat * self.ops.n_actions + self.moves[2 * i + 1]]
                entry.total += self.seat_value(self.leaf, seat)
                entry.visits += 1

    cdef inline int32_t try_new(self, Node *node) noexcept nogil:
        """Take an untried edge at random (with widening, the suggested action first)."""
        cdef int32_t place = node.edges + node.n_tried
        cdef int32_t left = node.n_edges - node.n_tried
        if left > 1 and not (node.n_tried == 0 and self.ops.suggest != NULL and (
                self.set.widening > 0.0 or self.set.prior > 0.0)):
            self.swap_edges(place, place + <int32_t>rng_below(&self.rng, left))
        node.n_tried += 1
        return place

    cdef int32_t draw(self, int32_t index, const void *state, bint *forced) noexcept nogil:
        """The edge a simulation takes from a chance node that has edges; NONE when all are closed."""
        cdef Node *node = &self.nodes[index]
        cdef int32_t e, pick = NONE, _attempt
        cdef double score, best = -1.0
        forced[0] = False
        if not node.flags & WEIGHTED:
            if node.visits >= node.n_edges:
                forced[0] = True
                return node.edges + node.n_tried
            return node.edges + self.place_of(
                node.edges, node.n_edges, self.ops.sample(self.tables, state, &self.rng))
        for _attempt in range(4):
            e = node.edges + self.place_of(node.edges, node.n_edges, self.ops.sample(self.tables, state, &self.rng))
            if not self.edges[e].flags & CLOSED:
                return e
        for e in range(node.edges, node.edges + node.n_edges):   # most outcomes are proven: seek the others
            if not self.edges[e].flags & CLOSED:
                score = self.weights[e] / <double>self.edges[e].visits
                if score > best:
                    best = score
                    pick = e
        return pick

    # ---- one simulation ------------------------------------------------------------------------

    cdef void evaluate(self, void *state) noexcept nogil:
        """Play out from a state, which is used up, into `leaf`."""
        cdef StateBuffer scratch
        cdef double values[PLAYER_LIMIT]
        cdef int32_t _run, i
        if self.set.rollouts == 1:
            self.play_out(state)
            self.returns(state, self.leaf)
            return
        for i in range(self.ops.n_players):
            self.leaf[i] = 0.0
        for _run in range(self.set.rollouts):
            memcpy(scratch.bytes, state, self.ops.state_size)
            self.play_out(scratch.bytes)
            self.returns(scratch.bytes, values)
            for i in range(self.ops.n_players):
                self.leaf[i] += values[i] / <double>self.set.rollouts

    cdef inline void returns(self, const void *state, double *out) noexcept nogil:
        if self.set.playout_depth != NONE or self.set.playout_turns != NONE:
            self.ops.estimate(self.tables, state, out)   # exact where the game is over
        else:
            self.ops.returns(self.tables, state, out)

    cdef void play_out(self, void *state) noexcept nogil:
        """Play to the end, or to the depth or the turn at which the estimate takes over."""
        cdef int32_t left = self.set.playout_depth, turns = self.set.playout_turns
        cdef int32_t seat, action
        cdef int64_t clock = self.clock, now
        if left == NONE and turns == NONE and not self.set.greedy and self.set.grave_ref == NONE:
            ops_playout(self.ops, self.tables, state, &self.rng)
            return
        while left != 0:
            if turns != NONE:
                now = self.ops.clock(self.tables, state)
                turns -= now != clock
                clock = now
                if turns == 0:
                    return
            ops_run_chance(self.ops, self.tables, state, &self.rng)
            seat = self.ops.turn(self.tables, state)
            if seat == TERMINAL:
                return
            if self.set.greedy and (self.set.epsilon == 0.0 or rng_double(&self.rng) >= self.set.epsilon):
                action = self.ops.suggest(self.tables, state, &self.rng)
            else:
                action = ops_random_action(self.ops, self.tables, state, &self.rng)
            if self.set.grave_ref != NONE:
                self.record(seat, action)
            self.ops.apply(self.tables, state, action)
            left -= 1

    cdef void simulate(self) noexcept nogil:
        """One descent, one evaluation, one way back."""
        cdef StateBuffer buffer
        cdef void *state = buffer.bytes
        cdef int32_t index = self.root, depth = 0, child, action, edge
        cdef bint forced, grave = self.set.grave_ref != NONE, evaluated = False
        cdef Node *node
        cdef Step *step
        self.reserve()
        self.simulation += 1
        self.reference = NONE
        self.n_moves = 0
        memcpy(state, self.root_state, self.ops.state_size)
        while True:
            node = &self.nodes[index]
            node.stamp = self.simulation
            if self.set.playout_turns != NONE:
                self.clock = self.ops.clock(self.tables, state)
            if node.turn == TERMINAL or (self.proving and solved(&self.bounds[index]) and not (
                    index == self.root and self.untried_root())):
                node.visits += 0 if node.flags & WEIGHTED else 1
                self.repeat(index)
                break
            if depth >= self.set.max_depth or (
                    node.turn >= 0 and not node.flags & EXPANDED and not self.expand_decision(index, state)):
                self.evaluate(state)
                evaluated = True
                if not node.flags & WEIGHTED:
                    self.settle_leaf(index)
                break
            forced = False
            if node.turn == CHANCE:
                if node.edges == NONE and not node.flags & WIDENED and (
                        self.set.chance_widening > 0.0 or self.ops.max_outcomes <= SMALL or node.visits == LOOK
                        or (node.flags & EXPANDED and node.visits >= node.n_edges)):
                    self.expand_chance(index, state)
                if node.flags & WIDENED:
                    edge = self.draw_widened(index, state)
                    if edge == NONE:
                        self.evaluate(state)
                        evaluated = True
                        self.settle_leaf(index)
                        break
                elif node.edges == NONE:
                    edge = NONE
                    action = self.ops.sample(self.tables, state, &self.rng)
                else:
                    edge = self.draw(index, state, &forced)
            else:
                if grave:
                    self.serve_as_reference(index)
                edge = self.choose(index)
            if edge != NONE:
                action = self.edges[edge].action
                child = self.edges[edge].child
            elif node.edges != NONE:    # all closed by what other paths found out
                break
            else:
                child = NONE
            self.ops.apply(self.tables, state, action)
            if grave:
                self.marks[depth] = self.n_moves
                if node.turn >= 0:
                    self.record(node.turn, action)
            if child == NONE:
                child = self.find(self.child_key(index, action, state))
            step = &self.path[depth]
            step.node, step.edge, step.forced = index, edge, forced
            depth += 1
            if child == NONE:
                child = self.add_node(state, self.child_key(index, action, state))
                step.child = child
                if edge != NONE:
                    self.edges[edge].child = child
                self.evaluate(state)
                evaluated = True
                if child != NONE:
                    self.settle_leaf(child)
                break
            step.child = child
            if edge != NONE:
                self.edges[edge].child = child
            if self.nodes[child].stamp == self.simulation:   # round in a circle: its mean will do
                break
            index = child
        if grave and depth:
            if not evaluated:
                self.mean_of(self.path[depth - 1].child, self.leaf)
            self.spread_moves(depth)
        self.back_up(depth)

    # ---- open loop -----------------------------------------------------------------------------

    cdef void simulate_open(self) noexcept nogil:
        """One simulation over sequences of decisions: chance is drawn anew, so a node's mean is over all
        the states that its sequence can lead to, and which actions are legal can differ each time."""
        cdef StateBuffer buffer
        cdef void *state = buffer.bytes
        cdef int32_t ids[LEGAL_LIMIT]
        cdef int32_t index = self.root, depth = 0, seat, count, action, child, i
        self.reserve()
        memcpy(state, self.root_state, self.ops.state_size)
        self.path[0].node = index
        while True:
            ops_run_chance(self.ops, self.tables, state, &self.rng)
            seat = self.ops.turn(self.tables, state)
            if seat == TERMINAL or depth >= self.set.max_depth or depth + 1 >= PATH_LIMIT:
                break
            count = self.ops.legal(self.tables, state, ids)
            if self.set.playout_turns != NONE:
                self.clock = self.ops.clock(self.tables, state)
            action = self.choose_open(index, seat, ids, count, state, &child)
            self.ops.apply(self.tables, state, action)
            if child == NONE:
                child = self.add_node(state, open_key(self.nodes[index].key, seat, action))
                if child == NONE:
                    break
                self.nodes[child].n_tried = 1
            depth += 1
            self.path[depth].node = child
            index = child
            if self.nodes[child].visits == 0:
                break
        self.evaluate(state)
        for i in range(depth + 1):
            self.settle_leaf(self.path[i].node)

    cdef int32_t choose_open(self, int32_t index, int32_t seat, const int32_t *ids, int32_t count, const void *state,
                             int32_t *pick) noexcept nogil:
        """The action a simulation takes, and its node (NONE where it was never taken)."""
        cdef uint64_t key = self.nodes[index].key
        cdef int32_t i, child, action = ids[0], n_new = 0, fresh = NONE, n_tried = 0
        cdef double score, best = -1e300, allowed = count
        cdef const Node *node
        pick[0] = NONE
        for i in range(count):
            child = self.find(open_key(key, seat, ids[i]))
            if child == NONE:
                n_new += 1
                if rng_below(&self.rng, n_new) == 0:    # one of the new ones, each alike likely
                    fresh = ids[i]
                continue
            n_tried += 1
            self.nodes[child].n_tried += 1
            node = &self.nodes[child]
            score = self.seat_value(&self.totals[<int64_t>child * self.n_values], seat) / <double>node.visits
            score = self.scale * score + self.set.exploration * root_log(node.n_tried) * inverse_root(node.visits)
            if score > best:
                best = score
                action, pick[0] = ids[i], child
        if self.set.widening > 0.0 and not (self.set.every_action and index == self.root):
            allowed = self.set.widening * power_of(<double>self.nodes[index].visits, self.set.widening_power)
            allowed = max(1.0, ceil(allowed))
        if n_new and (n_tried < allowed):
            pick[0] = NONE
            action = fresh
            if n_tried == 0 and self.set.widening > 0.0 and self.ops.suggest != NULL:
                action = self.ops.suggest(self.tables, state, &self.rng)
        return action

    cdef void repeat(self, int32_t index) noexcept nogil:
        """After a visit was counted: add the mean once more, so that it stays what it was."""
        cdef Node *node = &self.nodes[index]
        cdef double *total = &self.totals[<int64_t>index * self.n_values]
        cdef int32_t i
        if node.flags & WEIGHTED or node.visits < 2:
            return
        for i in range(self.n_values):
            total[i] *= <double>node.visits / <double>(node.visits - 1)

    cdef void back_up(self, int32_t depth) noexcept nogil:
        """Carry what a simulation found from its last step back to the root."""
        cdef double fresh[PLAYER_LIMIT]
        cdef int32_t i, n_values = self.n_values, visits
        cdef Node *node
        cdef Step *step
        cdef Edge *edge
        cdef double *total
        cdef double *mean
        cdef double weight
        while depth:
            depth -= 1
            step = &self.path[depth]
            node = &self.nodes[step.node]
            total = &self.totals[<int64_t>step.node * n_values]
            if step.child != NONE:
                self.mean_of(step.child, fresh)
            else:
                for i in range(n_values):
                    fresh[i] = self.leaf[i]
            if step.edge == NONE:               # a chance node without edges: a sampled mean
                node.visits += 1
                for i in range(n_values):
                    total[i] += fresh[i]
                continue
            edge = &self.edges[step.edge]
            mean = &self.means[<int64_t>step.edge * n_values]
            visits = edge.visits
            edge.visits += 1
            if step.child == NONE and visits:   # no node to keep the mean: the edge keeps it
                for i in range(n_values):
                    fresh[i] = (mean[i] * visits + fresh[i]) / <double>(visits + 1)
            if node.turn != CHANCE:
                node.visits += 1
                for i in range(n_values):
                    total[i] += (visits + 1) * fresh[i] - (visits * mean[i] if visits else 0.0)
                    mean[i] = fresh[i]
                if self.set.best_backup and step.edge != node.best:
                    if node.best == NONE or visits + 1 > self.edges[node.best].visits or (
                            visits + 1 == self.edges[node.best].visits and self.better(node, step.edge)):
                        node.best = step.edge
            elif node.flags & WEIGHTED:
                node.visits += 1
                weight = self.weights[step.edge]
                for i in range(n_values):
                    total[i] += weight * (fresh[i] - mean[i])
                    mean[i] = fresh[i]
            else:
                if not step.forced:
                    node.visits += 1
                for i in range(n_values):
                    if not step.forced:
                        total[i] += fresh[i]
                    mean[i] = fresh[i]
                self.weigh(step.node)
            if self.proving and step.child != NONE:
                self.pass_bounds(step.node, step.edge, step.child)
            if self.set.transpositions and refresh_due(node.visits):
                self.refresh(step.node)

    cdef void refresh(self, int32_t index) noexcept nogil:
        """Look again at all children that were seen: some have learned through other parents."""
        cdef Node *node = &self.nodes[index]
        cdef double fresh[PLAYER_LIMIT]
        cdef double *total = &self.totals[<int64_t>index * self.n_values]
        cdef double *mean
        cdef double weight
        cdef int32_t e, i, last = node.edges + (
            node.n_tried if node.turn != CHANCE or node.flags & WIDENED else node.n_edges)
        for e in range(node.edges, last):
            if self.edges[e].child == NONE or not self.edges[e].visits or self.edges[e].flags & CLOSED:
                continue
            self.mean_of(self.edges[e].child, fresh)
            mean = &self.means[<int64_t>e * self.n_values]
            weight = <double>self.edges[e].visits
            if node.turn == CHANCE:     # a sampled mean stays what was sampled
                weight = self.weights[e] if node.flags & WEIGHTED else 0.0
            for i in range(self.n_values):
                total[i] += weight * (fresh[i] - mean[i])
                mean[i] = fresh[i]
            if self.proving:
                self.pass_bounds(index, e, self.edges[e].child)

    cdef inline bint better(self, const Node *node, int32_t edge) noexcept nogil:
        """Whether an edge is worth more to the seat that decides than the node's best one."""
        cdef int64_t place = node.turn if self.n_values > 1 else 0
        cdef double gain = self.means[<int64_t>edge * self.n_values + place] - (
            self.means[<int64_t>node.best * self.n_values + place])
        return gain < 0.0 if self.n_values == 1 and node.turn == 1 else gain > 0.0

    cdef int64_t run(self, int64_t simulations, int64_t node_limit, int64_t deadline_ns) noexcept nogil:
        """Simulate until a limit is reached, the root is proven, or `stop` is set; returns how many.

        Args:
            simulations: at most so many.
            node_limit: end when the graph has so many nodes.
            deadline_ns: end at this reading of the monotonic clock; 0: none.
        """
        cdef int64_t done = 0, next_look = 1, start_ns = 0, now_ns, pace
        if deadline_ns:
            start_ns = PyTime_MonotonicRaw()
        while done < simulations and not self.stop and self.n_nodes < node_limit:
            if self.proving and solved(&self.bounds[self.root]) and not self.untried_root():
                break
            if self.set.open_loop:
                self.simulate_open()
            else:
                self.simulate()
            done += 1
            if deadline_ns and done >= next_look:
                now_ns = PyTime_MonotonicRaw()
                if now_ns >= deadline_ns:
                    break
                # Look again after an eighth of the simulations that still fit, or the next one.
                pace = (now_ns - start_ns) / done + 1
                next_look = done + max(1, min(4096, (deadline_ns - now_ns) / pace / 8))
        return done


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
        check(position.rules, self.parameters)
        require_abilities("mcts", PARAMETERS, self.parameters, position.rules)
        limit = self.limit if limit is None else limit
        cdef Settings settings
        chosen = self.parameters
        settings.exploration = chosen["c"]
        settings.widening = chosen["widening"]
        settings.widening_power = chosen["widening_power"]
        settings.best_backup = chosen["backup"] == "best"
        settings.epsilon = chosen["epsilon"]
        settings.prior = chosen["prior"]
        playout, playout_depth = _playout(position.rules, chosen)
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
            made = tree.run(chunk, nodes, deadline)
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
    tree.stop = 1


def _root(Tree tree, legal):
    """What one tree says of its root: {action: (visits, [mean], (low, high))}, mean, bounds, flags."""
    cdef Node *node = &tree.nodes[tree.root]
    cdef double mean[PLAYER_LIMIT]
    cdef int32_t e, i
    actions = {}
    wide = (tree.ops.min_utility, tree.ops.max_utility)
    if tree.set.open_loop and node.turn >= 0:
        for action in legal:
            e = tree.find(open_key(node.key, node.turn, action))
            if e != NONE:
                actions[action] = (tree.nodes[e].visits, [
                    tree.totals[<int64_t>e * tree.n_values + i] / tree.nodes[e].visits for i in range(tree.n_values)],
                    wide)
    elif node.turn >= 0:
        for e in range(node.edges, node.edges + node.n_edges if node.edges != NONE else node.edges):
            bounds = (tree.seen[e].low, tree.seen[e].high) if tree.proving else wide
            values = [tree.means[<int64_t>e * tree.n_values + i] if tree.edges[e].visits else 0.0
                      for i in range(tree.n_values)]
            actions[tree.edges[e].action] = (tree.edges[e].visits, values, bounds)
    values = [0.0] * tree.n_values
    if node.visits:
        tree.mean_of(tree.root, mean)
        values = [mean[i] for i in range(tree.n_values)]
    bounds = (tree.bounds[tree.root].low, tree.bounds[tree.root].high) if tree.proving else wide
    return actions, node.visits, values, bounds, tree.n_nodes


def _variation(Tree tree, action):
    """The most visited line from the root, through its most visited outcomes."""
    cdef int32_t index = tree.root, e, best
    cdef Node *node
    line = [] if action is None or not tree.set.open_loop else [action]   # open loop: what follows depends on chance
    while len(line) < 64 and not tree.set.open_loop:
        node = &tree.nodes[index]
        best = NONE
        if node.edges == NONE:
            break
        for e in range(node.edges, node.edges + (node.n_tried if node.flags & WIDENED else node.n_edges)):
            if not line and action is not None:
                if tree.edges[e].action == action:
                    best = e
            elif tree.edges[e].visits and (best == NONE or tree.edges[e].visits > tree.edges[best].visits):
                best = e
        if best == NONE or not tree.edges[best].visits:
            break
        line.append(tree.edges[best].action)
        index = tree.edges[best].child
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
    return bool(tree.proving)


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
    if rules.ops.flags & HIDDEN_INFORMATION:
        raise UnsuitableGameError(
            f"{rules.name} hides information from a seat, and mcts would see through it; use ismcts, which does not")


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
        "best", "a decision's value: that of its most visited action, or the mean over all visits (plain UCT)",
        choices=("best", "mean")),
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
