# cython: language_level=3
"""What nodes are worth: means within proven bounds, expectations, and the way back from a leaf to the root."""
from libc.stdint cimport int32_t, int64_t

from engine_ext.game cimport CHANCE, PLAYER_LIMIT, TERMINAL
from solvers.mcts_graph cimport *


cdef inline void mean_of(Graph *g, int32_t index, double *out) noexcept nogil:
    """A visited node's value, within its proven bounds."""
    cdef const double *total = &g.totals[<int64_t>index * g.n_values]
    cdef double share = 1.0
    cdef int32_t i
    if g.nodes[index].best != NONE:
        total = &g.means[<int64_t>g.nodes[index].best * g.n_values]
    elif not g.nodes[index].flags & WEIGHTED:
        share = 1.0 / <double>g.nodes[index].visits
    for i in range(g.n_values):
        out[i] = total[i] * share
    if g.proving:
        if out[0] < g.bounds[index].low:
            out[0] = g.bounds[index].low
        elif out[0] > g.bounds[index].high:
            out[0] = g.bounds[index].high

cdef inline void settle_leaf(Graph *g, int32_t index) noexcept nogil:
    """Count `leaf` as one visit of a node; a terminal node is thereby proven."""
    cdef int32_t i
    g.nodes[index].visits += 1
    for i in range(g.n_values):
        g.totals[<int64_t>index * g.n_values + i] += g.leaf[i]
    if g.proving and g.nodes[index].turn == TERMINAL:
        g.bounds[index].low = g.bounds[index].high = g.leaf[0]

cdef inline void weigh(Graph *g, int32_t index) noexcept nogil:
    """Once every outcome was seen, make a chance node's value the expectation itg."""
    cdef Node *node = &g.nodes[index]
    cdef int32_t e, i
    cdef double *total
    if node.flags & (WEIGHTED | WIDENED):
        return
    while node.n_tried < node.n_edges and g.edges[node.edges + node.n_tried].visits:
        node.n_tried += 1
    if node.n_tried < node.n_edges:
        return
    node.flags |= WEIGHTED
    total = &g.totals[<int64_t>index * g.n_values]
    for i in range(g.n_values):
        total[i] = 0.0
        for e in range(node.edges, node.edges + node.n_edges):
            total[i] += g.weights[e] * g.means[<int64_t>e * g.n_values + i]


# ---- proofs ------------------------------------------------------------------------------------

cdef inline void pass_bounds(Graph *g, int32_t index, int32_t edge, int32_t child) noexcept nogil:
    """Carry a child's bounds over an edge to its parent."""
    cdef Node *node = &g.nodes[index]
    cdef Bounds *seen = &g.seen[edge]
    cdef Bounds *own = &g.bounds[index]
    cdef Bounds new = g.bounds[child]
    cdef Bounds best
    cdef int32_t e, last = node.edges + node.n_edges
    if seen.low == new.low and seen.high == new.high:
        return
    if node.turn == CHANCE:
        own.low += g.weights[edge] * (new.low - seen.low)
        own.high += g.weights[edge] * (new.high - seen.high)
        seen[0] = new
        if solved(seen) and not g.edges[edge].flags & CLOSED:
            g.edges[edge].flags |= CLOSED
            node.n_open -= 1
            if node.n_open == 0:    # exact, free of what adding up differences left behind
                best.low = 0.0
                for e in range(node.edges, last):
                    best.low += g.weights[e] * g.seen[e].low
                own.low = own.high = best.low
        # Rounding must carry them neither past what a game can be worth nor past each other.
        own.high = min(own.high, g.ops.max_utility)
        own.low = min(max(own.low, g.ops.min_utility), own.high)
        return
    seen[0] = new
    best = g.seen[node.edges]
    if node.turn == 0:
        for e in range(node.edges + 1, last):
            best.low = max(best.low, g.seen[e].low)
            best.high = max(best.high, g.seen[e].high)
    else:
        for e in range(node.edges + 1, last):
            best.low = min(best.low, g.seen[e].low)
            best.high = min(best.high, g.seen[e].high)
    own[0] = best
    for e in range(node.edges, node.edges + node.n_tried):
        if not g.edges[e].flags & CLOSED and (solved(&g.seen[e]) or (
                g.seen[e].high <= best.low if node.turn == 0 else g.seen[e].low >= best.high)):
            g.edges[e].flags |= CLOSED
            node.n_open -= 1


# ---- the way back ------------------------------------------------------------------------------

cdef inline void repeat(Graph *g, int32_t index) noexcept nogil:
    """After a visit was counted: add the mean once more, so that it stays what it was."""
    cdef Node *node = &g.nodes[index]
    cdef double *total = &g.totals[<int64_t>index * g.n_values]
    cdef int32_t i
    if node.flags & WEIGHTED or node.visits < 2:
        return
    for i in range(g.n_values):
        total[i] *= <double>node.visits / <double>(node.visits - 1)

cdef inline bint better(Graph *g, const Node *node, int32_t edge) noexcept nogil:
    """Whether an edge is worth more to the seat that decides than the node's best one."""
    cdef int64_t place = node.turn if g.n_values > 1 else 0
    cdef double gain = g.means[<int64_t>edge * g.n_values + place] - (
        g.means[<int64_t>node.best * g.n_values + place])
    return gain < 0.0 if g.n_values == 1 and node.turn == 1 else gain > 0.0

cdef inline void refresh(Graph *g, int32_t index) noexcept nogil:
    """Look again at all children that were seen: some have learned through other parents."""
    cdef Node *node = &g.nodes[index]
    cdef double fresh[PLAYER_LIMIT]
    cdef double *total = &g.totals[<int64_t>index * g.n_values]
    cdef double *mean
    cdef double weight
    cdef int32_t e, i, last = node.edges + (
        node.n_tried if node.turn != CHANCE or node.flags & WIDENED else node.n_edges)
    for e in range(node.edges, last):
        if g.edges[e].child == NONE or not g.edges[e].visits or g.edges[e].flags & CLOSED:
            continue
        mean_of(g, g.edges[e].child, fresh)
        mean = &g.means[<int64_t>e * g.n_values]
        weight = <double>g.edges[e].visits
        if node.turn == CHANCE:     # a sampled mean stays what was sampled
            weight = g.weights[e] if node.flags & WEIGHTED else 0.0
        for i in range(g.n_values):
            total[i] += weight * (fresh[i] - mean[i])
            mean[i] = fresh[i]
        if g.proving:
            pass_bounds(g, index, e, g.edges[e].child)

cdef inline void back_up(Graph *g, int32_t depth) noexcept nogil:
    """Carry what a simulation found from its last step back to the root."""
    cdef double fresh[PLAYER_LIMIT]
    cdef int32_t i, n_values = g.n_values, visits
    cdef Node *node
    cdef Step *step
    cdef Edge *edge
    cdef double *total
    cdef double *mean
    cdef double weight
    while depth:
        depth -= 1
        step = &g.path[depth]
        node = &g.nodes[step.node]
        total = &g.totals[<int64_t>step.node * n_values]
        if step.child != NONE:
            mean_of(g, step.child, fresh)
        else:
            for i in range(n_values):
                fresh[i] = g.leaf[i]
        if step.edge == NONE:               # a chance node without edges: a sampled mean
            node.visits += 1
            for i in range(n_values):
                total[i] += fresh[i]
            continue
        edge = &g.edges[step.edge]
        mean = &g.means[<int64_t>step.edge * n_values]
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
            if g.set.best_backup and step.edge != node.best:
                if node.best == NONE or visits + 1 > g.edges[node.best].visits or (
                        visits + 1 == g.edges[node.best].visits and better(g, node, step.edge)):
                    node.best = step.edge
        elif node.flags & WEIGHTED:
            node.visits += 1
            weight = g.weights[step.edge]
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
            weigh(g, step.node)
        if g.proving and step.child != NONE:
            pass_bounds(g, step.node, step.edge, step.child)
        if g.set.transpositions and refresh_due(node.visits):
            refresh(g, step.node)
