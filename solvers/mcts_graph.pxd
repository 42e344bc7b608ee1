# cython: language_level=3
"""The graph of a Monte Carlo tree search: nodes and edges in arrays, found by key, grown to a budget.

mcts.pyx says what is searched and why. The verbs stand beside this file: mcts_values.pxd (what a node is
worth, proofs, the way back), mcts_expansion.pxd, mcts_selection.pxd, mcts_simulation.pxd.
"""
from libc.math cimport pow, sqrt
from libc.stdint cimport int16_t, int32_t, int64_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free, realloc

from engine_ext.game cimport PLAYER_LIMIT, GameOps
from engine_ext.rng cimport Rng, rng_combine
from solvers.portable cimport portable_log


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

cdef struct Graph:
    const GameOps *ops
    const void *tables
    Settings set
    Rng rng
    void *root_state
    const double *root_logs      # [TABLE] sqrt(log(n)), of visits
    const double *inverse_roots  # [TABLE] 1 / sqrt(n)
    int32_t n_values       # values a node: 1 where seat 0's says all, else one a seat
    bint proving           # bounds are kept
    bint out_of_memory
    int32_t stop           # set by another thread: end at the next simulation
    Node *nodes            # [n_nodes] of node_room
    double *totals         # [node, n_values] sum of values over visits; WEIGHTED: the mean itself
    Bounds *bounds         # [node]
    int32_t n_nodes
    int32_t node_room
    Edge *edges            # [n_edges] of edge_room
    double *means          # [edge, n_values] the child's mean when last passed
    double *weights        # [edge] chance: probability
    Bounds *seen           # [edge] the child's bounds when last passed
    int64_t n_edges
    int64_t edge_room
    int64_t edge_budget
    int32_t *slots         # hash table of nodes by key: node + 1, or 0
    uint64_t slot_mask
    Amaf *amaf             # [block, seat, action]
    int32_t n_amaf
    int32_t amaf_room
    Step *path             # [PATH_LIMIT]
    int32_t *moves         # [move_room, 2] seat and action of every decision of a simulation
    int32_t n_moves
    int32_t move_room
    int32_t *marks         # [step] number of moves made before it
    int32_t root           # the node to search from
    int32_t reference      # GRAVE: the last node passed that serves as reference, or NONE
    int32_t simulation     # number of the running one, for stamps
    double scale           # 1 / utility range
    int64_t clock          # playout_turns: the turn in which the running simulation came to its leaf
    double leaf[PLAYER_LIMIT]


# ---- numbers -----------------------------------------------------------------------------------

cdef inline double root_log(const Graph *g, int32_t n) noexcept nogil:
    return g.root_logs[n] if n < TABLE else sqrt(portable_log(<double>n))

cdef inline double inverse_root(const Graph *g, int32_t n) noexcept nogil:
    return g.inverse_roots[n] if n < TABLE else 1.0 / sqrt(<double>n)

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

cdef inline double seat_value(Graph *g, const double *values, int32_t seat) noexcept nogil:
    """A seat's share of one node's or edge's values."""
    if g.n_values > 1:
        return values[seat]
    return -values[0] if seat == 1 else values[0]


# ---- memory ------------------------------------------------------------------------------------

cdef inline void free_graph(Graph *g) noexcept nogil:
    free(g.root_state)
    free(g.nodes)
    free(g.totals)
    free(g.bounds)
    free(g.edges)
    free(g.means)
    free(g.weights)
    free(g.seen)
    free(g.slots)
    free(g.amaf)
    free(g.path)
    free(g.moves)
    free(g.marks)

cdef inline bint grow_nodes(Graph *g, int32_t room) noexcept nogil:
    """Make room for that many nodes; False where memory is short (what was there stays)."""
    cdef void *block
    cdef uint64_t n_slots = 1024
    cdef int32_t node
    block = realloc(g.nodes, room * sizeof(Node))
    if block == NULL:
        return False
    g.nodes = <Node *>block
    block = realloc(g.totals, <size_t>room * g.n_values * sizeof(double))
    if block == NULL:
        return False
    g.totals = <double *>block
    if g.proving:
        block = realloc(g.bounds, room * sizeof(Bounds))
        if block == NULL:
            return False
        g.bounds = <Bounds *>block
    while n_slots < 2 * <uint64_t>room:
        n_slots *= 2
    block = calloc(n_slots, sizeof(int32_t))
    if block == NULL:
        return False
    free(g.slots)
    g.slots = <int32_t *>block
    g.slot_mask = n_slots - 1
    for node in range(g.n_nodes):
        enter(g, node)
    g.node_room = room
    return True

cdef inline bint grow_edges(Graph *g, int64_t room) noexcept nogil:
    """Make room for that many edges; False where memory is short (what was there stays)."""
    cdef void *block
    block = realloc(g.edges, room * sizeof(Edge))
    if block == NULL:
        return False
    g.edges = <Edge *>block
    block = realloc(g.means, room * g.n_values * sizeof(double))
    if block == NULL:
        return False
    g.means = <double *>block
    block = realloc(g.weights, room * sizeof(double))
    if block == NULL:
        return False
    g.weights = <double *>block
    if g.proving:
        block = realloc(g.seen, room * sizeof(Bounds))
        if block == NULL:
            return False
        g.seen = <Bounds *>block
    g.edge_room = room
    return True

cdef inline void reserve(Graph *g) noexcept nogil:
    """Before a simulation: room for a node and an expansion, as far as the budget goes."""
    cdef int64_t wanted
    if g.out_of_memory:
        return
    if g.n_nodes == g.node_room and g.node_room < g.set.max_nodes:
        wanted = min(2 * <int64_t>g.node_room, <int64_t>g.set.max_nodes)
        g.out_of_memory = not grow_nodes(g, <int32_t>wanted)
    wanted = g.n_edges + g.ops.max_legal + g.ops.max_outcomes
    if wanted > g.edge_room and g.edge_room < g.edge_budget:
        wanted = min(max(2 * g.edge_room, wanted), g.edge_budget)
        if not grow_edges(g, wanted):
            g.out_of_memory = True


# ---- nodes and edges ---------------------------------------------------------------------------

cdef inline void enter(Graph *g, int32_t node) noexcept nogil:
    """Put a node into the hash table. It holds node numbers alone, four bytes a slot, for the keys stand in the
    nodes; keytable.pxd keeps them in the slots, for searches whose nodes have none."""
    cdef uint64_t slot = g.nodes[node].key & g.slot_mask
    while g.slots[slot]:
        slot = (slot + 1) & g.slot_mask
    g.slots[slot] = node + 1

cdef inline int32_t find(Graph *g, uint64_t key) noexcept nogil:
    """The node with this key, or NONE."""
    cdef uint64_t slot = key & g.slot_mask
    cdef int32_t node = g.slots[slot]
    while node:
        if g.nodes[node - 1].key == key:
            return node - 1
        slot = (slot + 1) & g.slot_mask
        node = g.slots[slot]
    return NONE

cdef inline uint64_t child_key(Graph *g, int32_t parent, int32_t action, const void *state) noexcept nogil:
    if g.set.transpositions:
        return g.ops.state_key(g.tables, state)
    return rng_combine(g.nodes[parent].key, <uint64_t>(action + 1))

cdef inline int32_t add_node(Graph *g, const void *state, uint64_t key) noexcept nogil:
    """A new node, not visited yet; NONE when the budget is spent."""
    cdef int32_t index = g.n_nodes, i
    cdef Node *node
    if index == g.node_room:
        return NONE
    g.n_nodes += 1
    node = &g.nodes[index]
    node.key = key
    node.edges = NONE
    node.n_edges = node.n_tried = node.n_open = node.visits = node.stamp = 0
    node.best = node.amaf = NONE
    node.turn = g.ops.turn(g.tables, state)
    node.flags = 0
    for i in range(g.n_values):
        g.totals[<int64_t>index * g.n_values + i] = 0.0
    if g.proving:
        g.bounds[index].low = g.ops.min_utility
        g.bounds[index].high = g.ops.max_utility
    enter(g, index)
    return index

cdef inline int32_t add_edges(Graph *g, int32_t count) noexcept nogil:
    """A block of fresh edges, their first index; NONE when there is no room."""
    cdef int64_t first = g.n_edges, e
    if first + count > g.edge_room:
        return NONE
    g.n_edges += count
    for e in range(first, first + count):
        g.edges[e].visits = g.edges[e].flags = 0
        g.edges[e].child = NONE
        if g.proving:
            g.seen[e].low = g.ops.min_utility
            g.seen[e].high = g.ops.max_utility
    return <int32_t>first
