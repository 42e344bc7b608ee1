# cython: language_level=3
"""A node's edges: the legal actions of a decision, the outcomes of a chance node."""
from libc.math cimport ceil
from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

from engine_ext.debug cimport QUANDARY_CHECK
from engine_ext.game cimport LEGAL_LIMIT, OUTCOME_LIMIT
from engine_ext.rng cimport rng_below64
from solvers.common cimport StateBuffer
from solvers.mcts_graph cimport *
from solvers.mcts_values cimport mean_of, pass_bounds, weigh


cdef inline int32_t place_of(Graph *g, int32_t first, int32_t count, int32_t action) noexcept nogil:
    """Where an action or outcome stands in a block sorted by id; 0 where it is missing."""
    cdef int32_t low = 0, high = count - 1, middle
    middle = action - g.edges[first].action     # ids without gaps need no search
    if 0 <= middle < count and g.edges[first + middle].action == action:
        return middle
    while low < high:
        middle = (low + high) >> 1
        if g.edges[first + middle].action < action:
            low = middle + 1
        else:
            high = middle
    QUANDARY_CHECK(g.edges[first + low].action == action, "sample() and outcomes() must agree")
    return low

cdef inline void swap_edges(Graph *g, int32_t a, int32_t b) noexcept nogil:
    """Exchange two untried edges of a decision."""
    cdef int32_t action = g.edges[a].action
    g.edges[a].action = g.edges[b].action
    g.edges[b].action = action

cdef inline bint expand_decision(Graph *g, int32_t index, const void *state) noexcept nogil:
    """List the legal actions of a decision; False when there is no room."""
    cdef int32_t ids[LEGAL_LIMIT]
    cdef int32_t count = g.ops.legal(g.tables, state, ids)
    cdef int32_t first = add_edges(g, count), i
    cdef Node *node = &g.nodes[index]
    QUANDARY_CHECK(0 < count <= g.ops.max_legal, "legal() must list 1 to max_legal actions")
    if first == NONE:
        return False
    for i in range(count):
        g.edges[first + i].action = ids[i]
    if g.ops.suggest != NULL and (g.set.widening > 0.0 or g.set.prior > 0.0):
        # The best guess comes first.
        i = g.ops.suggest(g.tables, state, &g.rng)
        swap_edges(g, first, first + place_of(g, first, count, i))
    node.edges = first
    node.n_edges = node.n_open = count
    node.flags |= EXPANDED
    return True


# ---- chance nodes ------------------------------------------------------------------------------

cdef inline void expand_chance(Graph *g, int32_t index, const void *state) noexcept nogil:
    """Give a chance node all its edges, joined to the children it has. Without room, nothing."""
    cdef int32_t ids[OUTCOME_LIMIT]
    cdef double probs[OUTCOME_LIMIT]
    cdef StateBuffer scratch
    cdef Node *node = &g.nodes[index]
    cdef int32_t count = g.ops.outcomes(g.tables, state, ids, probs)
    cdef int32_t first = NONE, i, child
    QUANDARY_CHECK(0 < count <= g.ops.max_outcomes, "outcomes() must list 1 to max_outcomes")
    node.n_edges = count
    node.flags |= EXPANDED
    if g.set.chance_widening > 0.0 and g.set.chance_widening * power_of(
            <double>node.visits + 1.0, g.set.chance_widening_power) < count:
        node.flags |= WIDENED
        node.n_open = count     # the outcomes without an edge stay open
        return
    if count <= SMALL or node.visits >= count:
        first = add_edges(g, count)
    if first == NONE:
        return
    node.edges = first
    node.n_open = count
    for i in range(count):
        g.edges[first + i].action = ids[i]
        g.weights[first + i] = probs[i]
    if node.visits <= 1:
        return
    for i in range(count):
        memcpy(scratch.bytes, state, g.ops.state_size)
        g.ops.apply(g.tables, scratch.bytes, ids[i])
        child = find(g, child_key(g, index, ids[i], scratch.bytes))
        if child != NONE and g.nodes[child].visits > 0:
            g.edges[first + i].child = child
            g.edges[first + i].visits = 1
            mean_of(g, child, &g.means[<int64_t>(first + i) * g.n_values])
            if g.proving:
                pass_bounds(g, index, first + i, child)
    weigh(g, index)

cdef inline void move_edge(Graph *g, int32_t source, int32_t place) noexcept nogil:
    g.edges[place] = g.edges[source]
    g.weights[place] = g.weights[source]
    memcpy(&g.means[<int64_t>place * g.n_values], &g.means[<int64_t>source * g.n_values],
           g.n_values * sizeof(double))
    if g.proving:
        g.seen[place] = g.seen[source]

cdef inline int32_t draw_widened(Graph *g, int32_t index, const void *state) noexcept nogil:
    """The edge a simulation takes from a chance node with progressive widening: an outcome drawn by
    its probability while more of them are allowed, else one of those there are, drawn as
    often as before. NONE when there is no room for a new one."""
    cdef int32_t ids[OUTCOME_LIMIT]
    cdef double probs[OUTCOME_LIMIT]
    cdef Node *node = &g.nodes[index]
    cdef int32_t e, i, count, outcome, room, first
    cdef int64_t total = 0
    cdef double allowed = ceil(g.set.chance_widening * power_of(
        <double>node.visits + 1.0, g.set.chance_widening_power))
    if node.n_tried < allowed or node.n_tried == 0:
        outcome = g.ops.sample(g.tables, state, &g.rng)
        for e in range(node.edges, node.edges + node.n_tried):
            if g.edges[e].action == outcome:
                return e
        room = 4
        while room < node.n_tried:
            room *= 2
        if node.n_tried == 0 or node.n_tried == room:      # the block is full: move to one twice as large
            room = min(node.n_edges, 4 if node.n_tried == 0 else 2 * room)
            first = add_edges(g, room)
            if first == NONE:
                return NONE
            for i in range(node.n_tried):
                move_edge(g, node.edges + i, first + i)
            node.edges = first
        e = node.edges + node.n_tried
        count = g.ops.outcomes(g.tables, state, ids, probs)
        for i in range(count):
            if ids[i] == outcome:
                g.weights[e] = probs[i]
        g.edges[e].action = outcome
        node.n_tried += 1
        return e
    for e in range(node.edges, node.edges + node.n_tried):
        total += g.edges[e].visits
    total = <int64_t>rng_below64(&g.rng, total)
    for e in range(node.edges, node.edges + node.n_tried - 1):
        total -= g.edges[e].visits
        if total < 0:
            return e
    return node.edges + node.n_tried - 1
