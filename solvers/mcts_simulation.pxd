# cython: language_level=3
"""Simulations: down the graph, a playout or an estimate, back up; and the loop over them."""
from cpython.time cimport PyTime_MonotonicRaw
from libc.math cimport ceil
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy

from engine_ext.game cimport (
    CHANCE, LEGAL_LIMIT, PLAYER_LIMIT, TERMINAL, ops_playout, ops_random_action, ops_run_chance,
)
from engine_ext.rng cimport rng_below, rng_double
from solvers.common cimport StateBuffer
from solvers.mcts_expansion cimport draw_widened, expand_chance, expand_decision
from solvers.mcts_graph cimport *
from solvers.mcts_selection cimport choose, draw, record, serve_as_reference, spread_moves, untried_root
from solvers.mcts_values cimport back_up, mean_of, repeat, settle_leaf


# ---- the value of a leaf -----------------------------------------------------------------------

cdef inline void returns(Graph *g, const void *state, double *out) noexcept nogil:
    if g.set.playout_depth != NONE or g.set.playout_turns != NONE:
        g.ops.estimate(g.tables, state, out)   # exact where the game is over
    else:
        g.ops.returns(g.tables, state, out)

cdef inline void play_out(Graph *g, void *state) noexcept nogil:
    """Play to the end, or to the depth or the turn at which the estimate takes over."""
    cdef int32_t left = g.set.playout_depth, turns = g.set.playout_turns
    cdef int32_t seat, action
    cdef int64_t clock = g.clock, now
    if left == NONE and turns == NONE and not g.set.greedy and g.set.grave_ref == NONE:
        ops_playout(g.ops, g.tables, state, &g.rng)
        return
    while left != 0:
        if turns != NONE:
            now = g.ops.clock(g.tables, state)
            turns -= now != clock
            clock = now
            if turns == 0:
                return
        ops_run_chance(g.ops, g.tables, state, &g.rng)
        seat = g.ops.turn(g.tables, state)
        if seat == TERMINAL:
            return
        if g.set.greedy and (g.set.epsilon == 0.0 or rng_double(&g.rng) >= g.set.epsilon):
            action = g.ops.suggest(g.tables, state, &g.rng)
        else:
            action = ops_random_action(g.ops, g.tables, state, &g.rng)
        if g.set.grave_ref != NONE:
            record(g, seat, action)
        g.ops.apply(g.tables, state, action)
        left -= 1

cdef inline void evaluate(Graph *g, void *state) noexcept nogil:
    """Play out from a state, which is used up, into `leaf`."""
    cdef StateBuffer scratch
    cdef double values[PLAYER_LIMIT]
    cdef int32_t _run, i
    if g.set.rollouts == 1:
        play_out(g, state)
        returns(g, state, g.leaf)
        return
    for i in range(g.ops.n_players):
        g.leaf[i] = 0.0
    for _run in range(g.set.rollouts):
        memcpy(scratch.bytes, state, g.ops.state_size)
        play_out(g, scratch.bytes)
        returns(g, scratch.bytes, values)
        for i in range(g.ops.n_players):
            g.leaf[i] += values[i] / <double>g.set.rollouts


# ---- closed loop -------------------------------------------------------------------------------

cdef inline void simulate(Graph *g) noexcept nogil:
    """One descent, one evaluation, one way back."""
    cdef StateBuffer buffer
    cdef void *state = buffer.bytes
    cdef int32_t index = g.root, depth = 0, child, action, edge
    cdef bint forced, grave = g.set.grave_ref != NONE, evaluated = False
    cdef Node *node
    cdef Step *step
    reserve(g)
    g.simulation += 1
    g.reference = NONE
    g.n_moves = 0
    memcpy(state, g.root_state, g.ops.state_size)
    while True:
        node = &g.nodes[index]
        node.stamp = g.simulation
        if g.set.playout_turns != NONE:
            g.clock = g.ops.clock(g.tables, state)
        if node.turn == TERMINAL or (g.proving and solved(&g.bounds[index]) and not (
                index == g.root and untried_root(g))):
            node.visits += 0 if node.flags & WEIGHTED else 1
            repeat(g, index)
            break
        if depth >= g.set.max_depth or (
                node.turn >= 0 and not node.flags & EXPANDED and not expand_decision(g, index, state)):
            evaluate(g, state)
            evaluated = True
            if not node.flags & WEIGHTED:
                settle_leaf(g, index)
            break
        forced = False
        if node.turn == CHANCE:
            if node.edges == NONE and not node.flags & WIDENED and (
                    g.set.chance_widening > 0.0 or g.ops.max_outcomes <= SMALL or node.visits == LOOK
                    or (node.flags & EXPANDED and node.visits >= node.n_edges)):
                expand_chance(g, index, state)
            if node.flags & WIDENED:
                edge = draw_widened(g, index, state)
                if edge == NONE:
                    evaluate(g, state)
                    evaluated = True
                    settle_leaf(g, index)
                    break
            elif node.edges == NONE:
                edge = NONE
                action = g.ops.sample(g.tables, state, &g.rng)
            else:
                edge = draw(g, index, state, &forced)
        else:
            if grave:
                serve_as_reference(g, index)
            edge = choose(g, index)
        if edge != NONE:
            action = g.edges[edge].action
            child = g.edges[edge].child
        elif node.edges != NONE:    # all closed by what other paths found out
            break
        else:
            child = NONE
        g.ops.apply(g.tables, state, action)
        if grave:
            g.marks[depth] = g.n_moves
            if node.turn >= 0:
                record(g, node.turn, action)
        if child == NONE:
            child = find(g, child_key(g, index, action, state))
        step = &g.path[depth]
        step.node, step.edge, step.forced = index, edge, forced
        depth += 1
        if child == NONE:
            child = add_node(g, state, child_key(g, index, action, state))
            step.child = child
            if edge != NONE:
                g.edges[edge].child = child
            evaluate(g, state)
            evaluated = True
            if child != NONE:
                settle_leaf(g, child)
            break
        step.child = child
        if edge != NONE:
            g.edges[edge].child = child
        if g.nodes[child].stamp == g.simulation:   # round in a circle: its mean will do
            break
        index = child
    if grave and depth:
        if not evaluated:
            mean_of(g, g.path[depth - 1].child, g.leaf)
        spread_moves(g, depth)
    back_up(g, depth)


# ---- open loop ---------------------------------------------------------------------------------

cdef inline int32_t choose_open(Graph *g, int32_t index, int32_t seat, const int32_t *ids, int32_t count,
                                const void *state, int32_t *pick) noexcept nogil:
    """The action a simulation takes, and its node (NONE where it was never taken)."""
    cdef uint64_t key = g.nodes[index].key
    cdef int32_t i, child, action = ids[0], n_new = 0, fresh = NONE, n_tried = 0
    cdef double score, best = -1e300, allowed = count
    cdef const Node *node
    pick[0] = NONE
    for i in range(count):
        child = find(g, open_key(key, seat, ids[i]))
        if child == NONE:
            n_new += 1
            if rng_below(&g.rng, n_new) == 0:    # one of the new ones, each alike likely
                fresh = ids[i]
            continue
        n_tried += 1
        g.nodes[child].n_tried += 1
        node = &g.nodes[child]
        score = seat_value(g, &g.totals[<int64_t>child * g.n_values], seat) / <double>node.visits
        score = g.scale * score + g.set.exploration * root_log(g, node.n_tried) * inverse_root(g, node.visits)
        if score > best:
            best = score
            action, pick[0] = ids[i], child
    if g.set.widening > 0.0 and not (g.set.every_action and index == g.root):
        allowed = g.set.widening * power_of(<double>g.nodes[index].visits, g.set.widening_power)
        allowed = max(1.0, ceil(allowed))
    if n_new and (n_tried < allowed):
        pick[0] = NONE
        action = fresh
        if n_tried == 0 and g.set.widening > 0.0 and g.ops.suggest != NULL:
            action = g.ops.suggest(g.tables, state, &g.rng)
    return action

cdef inline void simulate_open(Graph *g) noexcept nogil:
    """One simulation over sequences of decisions: chance is drawn anew, so a node's mean is over all
    the states that its sequence can lead to, and which actions are legal can differ each time."""
    cdef StateBuffer buffer
    cdef void *state = buffer.bytes
    cdef int32_t ids[LEGAL_LIMIT]
    cdef int32_t index = g.root, depth = 0, seat, count, action, child, i
    reserve(g)
    memcpy(state, g.root_state, g.ops.state_size)
    g.path[0].node = index
    while True:
        ops_run_chance(g.ops, g.tables, state, &g.rng)
        seat = g.ops.turn(g.tables, state)
        if seat == TERMINAL or depth >= g.set.max_depth or depth + 1 >= PATH_LIMIT:
            break
        count = g.ops.legal(g.tables, state, ids)
        if g.set.playout_turns != NONE:
            g.clock = g.ops.clock(g.tables, state)
        action = choose_open(g, index, seat, ids, count, state, &child)
        g.ops.apply(g.tables, state, action)
        if child == NONE:
            child = add_node(g, state, open_key(g.nodes[index].key, seat, action))
            if child == NONE:
                break
            g.nodes[child].n_tried = 1
        depth += 1
        g.path[depth].node = child
        index = child
        if g.nodes[child].visits == 0:
            break
    evaluate(g, state)
    for i in range(depth + 1):
        settle_leaf(g, g.path[i].node)


# ---- the loop ----------------------------------------------------------------------------------

cdef inline int64_t run(Graph *g, int64_t simulations, int64_t node_limit, int64_t deadline_ns) noexcept nogil:
    """Simulate until a limit is reached, the root is proven, or `stop` is set; returns how many.

    Args:
        simulations: at most so many.
        node_limit: end when the graph has so many nodes.
        deadline_ns: end at this reading of the monotonic clock; 0: none.
    """
    cdef int64_t done = 0, next_look = 1, start_ns = 0, now_ns, pace
    if deadline_ns:
        start_ns = PyTime_MonotonicRaw()
    while done < simulations and not g.stop and g.n_nodes < node_limit:
        if g.proving and solved(&g.bounds[g.root]) and not untried_root(g):
            break
        if g.set.open_loop:
            simulate_open(g)
        else:
            simulate(g)
        done += 1
        if deadline_ns and done >= next_look:
            now_ns = PyTime_MonotonicRaw()
            if now_ns >= deadline_ns:
                break
            # Look again after an eighth of the simulations that still fit, or the next one.
            pace = (now_ns - start_ns) / done + 1
            next_look = done + max(1, min(4096, (deadline_ns - now_ns) / pace / 8))
    return done
