# cython: language_level=3
"""Which edge a simulation takes: UCT, PUCT, GRAVE, widening; at chance nodes what is drawn."""
from libc.math cimport ceil, sqrt
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport realloc
from libc.string cimport memset

from engine_ext.rng cimport rng_below
from solvers.mcts_expansion cimport place_of, swap_edges
from solvers.mcts_graph cimport *


cdef inline int32_t try_new(Graph *g, Node *node) noexcept nogil:
    """Take an untried edge at random (with widening, the suggested action first)."""
    cdef int32_t place = node.edges + node.n_tried
    cdef int32_t left = node.n_edges - node.n_tried
    if left > 1 and not (node.n_tried == 0 and g.ops.suggest != NULL and (
            g.set.widening > 0.0 or g.set.prior > 0.0)):
        swap_edges(g, place, place + <int32_t>rng_below(&g.rng, left))
    node.n_tried += 1
    return place

cdef inline bint untried_root(Graph *g) noexcept nogil:
    """Whether the root owes an action its simulation."""
    cdef const Node *node = &g.nodes[g.root]
    return g.set.every_action and node.turn >= 0 and (
        node.n_tried < node.n_edges if node.edges != NONE else node.visits == 0)

cdef inline int32_t choose(Graph *g, int32_t index) noexcept nogil:
    """The edge a simulation takes from a decision; NONE when all are closed."""
    cdef Node *node = &g.nodes[index]
    cdef int32_t first = node.edges, last = first + node.n_tried, allowed = node.n_edges
    cdef int32_t e, pick = NONE
    cdef const Edge *edges = g.edges
    cdef const double *means = g.means
    cdef double explore, score, best = -1e300, scale = g.scale
    cdef int32_t stride = g.n_values
    if g.set.every_action and index == g.root and node.n_tried < allowed:
        return try_new(g, node)
    if g.set.widening > 0.0:
        explore = ceil(g.set.widening * power_of(<double>node.visits, g.set.widening_power))
        if explore < allowed:
            allowed = max(1, <int32_t>explore)
    if g.reference != NONE:
        return choose_grave(g, index, node.n_tried < allowed)
    if node.n_tried < allowed:
        return try_new(g, node)
    if stride > 1:
        means += node.turn
    elif node.turn == 1:
        scale = -scale
    if g.set.prior > 0.0:
        return choose_by_prior(g, node, means, scale)
    explore = g.set.exploration * root_log(g, node.visits)
    for e in range(first, last):
        if edges[e].flags & CLOSED:
            continue
        score = means[<int64_t>e * stride] * scale + explore * inverse_root(g, edges[e].visits)
        if score > best:
            best = score
            pick = e
    if pick == NONE and node.n_tried < node.n_edges:
        return try_new(g, node)
    return pick

cdef inline int32_t choose_by_prior(Graph *g, Node *node, const double *means, double scale) noexcept nogil:
    """The tried edge of the highest mean with an exploration bonus in proportion to its prior (PUCT): the
    first edge, which is the suggested action, has `prior`, the others share the rest."""
    cdef int32_t e, pick = NONE, first = node.edges
    cdef double score, best = -1e300, explore = g.set.exploration * sqrt(<double>node.visits)
    cdef double other = (1.0 - g.set.prior) / <double>max(1, node.n_edges - 1)
    for e in range(first, first + node.n_tried):
        if g.edges[e].flags & CLOSED:
            continue
        score = means[<int64_t>e * g.n_values] * scale
        score += explore * (g.set.prior if e == first else other) / (1.0 + g.edges[e].visits)
        if score > best:
            best = score
            pick = e
    if pick == NONE and node.n_tried < node.n_edges:
        return try_new(g, node)
    return pick


# ---- GRAVE -------------------------------------------------------------------------------------

cdef inline int32_t choose_grave(Graph *g, int32_t index, bint more) noexcept nogil:
    """As `choose`, mixing each edge's mean with its action's all-moves-as-first mean at the reference.

    Args:
        more: whether an untried edge may be taken.
    """
    cdef Node *node = &g.nodes[index]
    cdef int32_t e, pick = NONE, tried = node.edges + node.n_tried
    cdef const Amaf *amaf = &g.amaf[
        (<int64_t>g.nodes[g.reference].amaf * g.ops.n_players + node.turn) * g.ops.n_actions]
    cdef const Amaf *other
    cdef double score, share, best = -1e300, explore = g.set.exploration * root_log(g, node.visits)
    cdef double visits, others
    for e in range(node.edges, node.edges + node.n_edges if more else tried):
        if g.edges[e].flags & CLOSED:
            continue
        other = amaf + g.edges[e].action
        others = <double>other.visits
        if e < tried:
            visits = <double>g.edges[e].visits
            score = seat_value(g, &g.means[<int64_t>e * g.n_values], node.turn)
            if other.visits:
                share = others / (others + visits + g.set.grave_bias * others * visits)
                score += share * (other.total / others - score)
            score = score * g.scale + explore * inverse_root(g, g.edges[e].visits)
        elif other.visits:
            score = other.total / others * g.scale + explore
        else:
            score = 1e200       # never seen anywhere: look at it
        if score > best:
            best = score
            pick = e
    if pick == NONE and tried < node.edges + node.n_edges:
        return try_new(g, node)
    if pick >= tried:
        swap_edges(g, pick, tried)
        node.n_tried += 1
        return tried
    return pick

cdef inline void serve_as_reference(Graph *g, int32_t index) noexcept nogil:
    """Let a decision that was visited often enough collect statistics, and be the reference."""
    cdef Node *node = &g.nodes[index]
    cdef int64_t size = <int64_t>g.ops.n_players * g.ops.n_actions, wanted
    cdef void *block
    if node.amaf == NONE and 2 * <int64_t>node.visits >= g.set.grave_ref:
        if g.n_amaf == g.amaf_room:
            wanted = min(max(16, 2 * g.amaf_room), max(1, 64 * g.set.max_nodes // (size * sizeof(Amaf))))
            block = NULL
            if wanted > g.amaf_room:
                block = realloc(g.amaf, wanted * size * sizeof(Amaf))
            if block != NULL:
                g.amaf = <Amaf *>block
                g.amaf_room = <int32_t>wanted
        if g.n_amaf < g.amaf_room:
            node.amaf = g.n_amaf
            g.n_amaf += 1
            memset(&g.amaf[node.amaf * size], 0, size * sizeof(Amaf))
    if node.amaf != NONE and node.visits >= g.set.grave_ref:
        g.reference = index

cdef inline void record(Graph *g, int32_t seat, int32_t action) noexcept nogil:
    """Remember a decision of this simulation for the all-moves-as-first statistics."""
    cdef void *block
    if g.n_moves == g.move_room:
        block = realloc(g.moves, (2 * g.move_room + 1024) * 2 * sizeof(int32_t))
        if block == NULL:
            return
        g.moves = <int32_t *>block
        g.move_room = 2 * g.move_room + 1024
    g.moves[2 * g.n_moves] = seat
    g.moves[2 * g.n_moves + 1] = action
    g.n_moves += 1

cdef inline void spread_moves(Graph *g, int32_t depth) noexcept nogil:
    """Credit every move after each node with statistics with what this simulation was worth."""
    cdef int32_t step, i, seat
    cdef Amaf *amaf
    cdef Amaf *entry
    for step in range(depth):
        if g.nodes[g.path[step].node].amaf == NONE:
            continue
        amaf = &g.amaf[<int64_t>g.nodes[g.path[step].node].amaf * g.ops.n_players * g.ops.n_actions]
        for i in range(g.marks[step], g.n_moves):
            seat = g.moves[2 * i]
            entry = &amaf[<int64_t>seat * g.ops.n_actions + g.moves[2 * i + 1]]
            entry.total += seat_value(g, g.leaf, seat)
            entry.visits += 1


# ---- chance nodes ------------------------------------------------------------------------------

cdef inline int32_t draw(Graph *g, int32_t index, const void *state, bint *forced) noexcept nogil:
    """The edge a simulation takes from a chance node that has edges; NONE when all are closed."""
    cdef Node *node = &g.nodes[index]
    cdef int32_t e, pick = NONE, _attempt
    cdef double score, best = -1.0
    forced[0] = False
    if not node.flags & WEIGHTED:
        if node.visits >= node.n_edges:
            forced[0] = True
            return node.edges + node.n_tried
        return node.edges + place_of(
            g, node.edges, node.n_edges, g.ops.sample(g.tables, state, &g.rng))
    for _attempt in range(4):
        e = node.edges + place_of(g, node.edges, node.n_edges, g.ops.sample(g.tables, state, &g.rng))
        if not g.edges[e].flags & CLOSED:
            return e
    for e in range(node.edges, node.edges + node.n_edges):   # most outcomes are proven: seek the others
        if not g.edges[e].flags & CLOSED:
            score = g.weights[e] / <double>g.edges[e].visits
            if score > best:
                best = score
                pick = e
    return pick
