"""A flat tree as a native game, whose state is a node number: every searcher runs on it, and so on every game that can
be extracted.
"""
import contextlib

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from engine_ext.game cimport (
    CHANCE, HIDDEN_INFORMATION, LEGAL_LIMIT, OUTCOME_LIMIT, PLAYER_LIMIT, TERMINAL, ZERO_SUM, GameOps,
)
from engine_ext.debug cimport QUANDARY_CHECK
from engine_ext.position cimport Position, Rules, new_position
from engine_ext.rng cimport Rng, rng_below, rng_combine, rng_mix
from solvers.tree cimport FlatTree, TreeTables, find_edge, tree_child, tree_resample, tree_sample

from engine_ext.errors import PositionError, UnsuitableGameError
from solvers.contract import HIDING, SIMULTANEOUS

_VERSION = 2       # of the game that a tree is, for saved positions


# ---- the functions of the contract ---------------------------------------------------------------

cdef int32_t node_turn(const void *tables, const void *state) noexcept nogil:
    return (<const TreeTables *>tables).player[(<const NodeState *>state).node]


cdef int32_t node_legal(const void *tables, const void *state, int32_t *out) noexcept nogil:
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef int32_t node = (<const NodeState *>state).node
    memcpy(out, t.action + t.first[node], t.count[node] * sizeof(int32_t))
    return t.count[node]


cdef int32_t node_outcomes(const void *tables, const void *state, int32_t *ids, double *probs) noexcept nogil:
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef int32_t node = (<const NodeState *>state).node
    memcpy(ids, t.action + t.first[node], t.count[node] * sizeof(int32_t))
    memcpy(probs, t.prob + t.first[node], t.count[node] * sizeof(double))
    return t.count[node]


cdef int32_t node_sample(const void *tables, const void *state, Rng *rng) noexcept nogil:
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef int32_t node = (<const NodeState *>state).node
    return t.action[t.first[node] + tree_sample(t, node, rng)]


cdef void node_apply(const void *tables, void *state, int32_t id) noexcept nogil:
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef NodeState *s = <NodeState *>state
    cdef int32_t edge = find_edge(t, s.node, id)
    QUANDARY_CHECK(edge >= 0, "an action the node does not have")
    s.node = edge if t.target == NULL else t.target[edge]


cdef void node_returns(const void *tables, const void *state, double *out) noexcept nogil:
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef int32_t node = (<const NodeState *>state).node
    if t.player[node] == TERMINAL:
        memcpy(out, t.utility + <int64_t>t.infoset[node] * t.n_players, t.n_players * sizeof(double))
    else:
        memset(out, 0, t.n_players * sizeof(double))


cdef uint64_t node_state_key(const void *tables, const void *state) noexcept nogil:
    return rng_mix(<uint64_t>(<const NodeState *>state).node + 1)


cdef uint64_t node_knowledge(const TreeTables *t, int32_t node, int32_t observer) noexcept nogil:
    """What names the observer's information: its information set where it is to move; where another
    is, its view if the tree has views; elsewhere its own last sequence."""
    cdef int32_t child
    if t.player[node] == observer:
        return <uint64_t>t.infoset[node] << 1
    if t.view != NULL and t.player[node] >= 0:
        return t.view[<int64_t>node * t.n_players + observer]
    while node > 0:
        child = node
        node = t.parent[node]
        if t.player[node] == observer:
            return <uint64_t>(t.info_first[t.infoset[node]] + child - t.first[node] + 1) << 1 | 1
    return 1


cdef uint64_t node_info_key(const void *tables, const void *state, int32_t observer) noexcept nogil:
    return rng_combine(node_knowledge(<const TreeTables *>tables, (<const NodeState *>state).node, observer), observer)


cdef int32_t node_info_bytes(const void *tables, const void *state, int32_t observer, uint8_t *out) noexcept nogil:
    cdef uint64_t known = node_knowledge(<const TreeTables *>tables, (<const NodeState *>state).node, observer)
    memcpy(out, &known, 8)
    out[8] = observer
    return 9


cdef void node_resample(const void *tables, void *state, int32_t observer, Rng *rng) noexcept nogil:
    """Where the observer is to move: a member of its information set, by chance reach. Elsewhere
    the tree does not know what the observer sees, and the state stays."""
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef NodeState *s = <NodeState *>state
    if t.player[s.node] == observer:
        s.node = tree_resample(t, t.infoset[s.node], rng)


cdef bint hides_choices(const TreeTables *t, int32_t node, const int32_t *infosets, int32_t levels) noexcept nogil:
    """Whether each level of decisions below a node is the one information set given for it."""
    cdef int32_t edge
    for edge in range(t.first[node], t.first[node] + t.count[node]):
        if t.player[edge] < 0 or t.infoset[edge] != infosets[0]:
            return False
        if levels > 1 and not hides_choices(t, edge, infosets + 1, levels - 1):
            return False
    return True


cdef bint opens_stage(const TreeTables *t, int32_t node) noexcept nogil:
    """Whether this decision stays hidden from another seat that decides next."""
    cdef int32_t child = t.first[node]
    return (t.player[node] >= 0 and t.player[child] >= 0 and t.player[child] != t.player[node]
            and hides_choices(t, node, &t.infoset[child], 1))


cdef int32_t node_rewind(const void *tables, void *state) noexcept nogil:
    """Up from decision to decision for as long as every seat decides once and none of them knows what
    the ones before it chose. Needs a tree with one edge into every node."""
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef int32_t infosets[PLAYER_LIMIT]
    cdef int32_t start = (<NodeState *>state).node, levels = 0
    cdef uint32_t seats
    if t.player[start] < 0:
        return -1
    seats = 1u << t.player[start]
    while start > 0 and t.player[t.parent[start]] >= 0 and not seats >> t.player[t.parent[start]] & 1:
        memmove(infosets + 1, infosets, levels * sizeof(int32_t))
        infosets[0] = t.infoset[start]
        if not hides_choices(t, t.parent[start], infosets, levels + 1):
            break
        start = t.parent[start]
        seats |= 1u << t.player[start]
        levels += 1
    if levels == 0 and not opens_stage(t, start):
        return -1
    (<NodeState *>state).node = start
    return levels


cdef int32_t node_run_chance(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef int32_t node = (<NodeState *>state).node, steps = 0
    while t.player[node] == CHANCE:
        node = tree_child(t, node, tree_sample(t, node, rng))
        steps += 1
    (<NodeState *>state).node = node
    return steps


cdef int32_t node_random_action(const void *tables, const void *state, Rng *rng) noexcept nogil:
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef int32_t node = (<const NodeState *>state).node
    return t.action[t.first[node] + rng_below(rng, t.count[node])]


cdef int64_t node_playout(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef const TreeTables *t = <const TreeTables *>tables
    cdef int32_t node = (<NodeState *>state).node
    cdef int64_t steps = 0
    while t.player[node] != TERMINAL:
        if t.player[node] == CHANCE:
            node = tree_child(t, node, tree_sample(t, node, rng))
        else:
            node = tree_child(t, node, rng_below(rng, t.count[node]))
        steps += 1
    (<NodeState *>state).node = node
    return steps


# ---- the rules object ----------------------------------------------------------------------------

cdef class TreeRules(Rules):
    """A flat tree as a native game, whose state is a node number.

    Ids and names of actions and outcomes are the source game's. A player's information is known
    where it is to move (its information set), and at decisions of others once the tree has views
    (`tree_views.prepare_views`); elsewhere `info_key` is the key of its own last sequence. For an
    observer who is not to move `resample` does nothing.

    Args:
        tree: the FlatTree.

    Raises:
        UnsuitableGameError: a node has more actions or outcomes than the contract allows.
    """

    def __init__(self, FlatTree tree not None):
        super().__init__({"tree": tree.name}, None)
        cdef GameOps *ops = &self.ops
        counts = tree.arrays["count"]
        player = tree.arrays["player"]
        most_legal = int(counts[player >= 0].max(initial=1))
        most_outcomes = int(counts[player == CHANCE].max(initial=0))
        require_width(tree.name, most_legal, most_outcomes)
        self.tree = tree
        self.name = tree.name.removesuffix("()")
        self.digest = tree.digest
        tree.prepare_sampling()
        if tree.hidden_information:
            tree.prepare_members()
        self.tables = &tree.tables
        ops.game_version = _VERSION
        ops.state_size = sizeof(NodeState)
        ops.n_players = tree.n_players
        ops.n_actions, ops.n_outcomes = max(1, tree.n_actions), tree.n_outcomes
        ops.max_legal, ops.max_outcomes = most_legal, most_outcomes
        ops.max_decisions, ops.max_chances = max(1, tree.depths()[0]), tree.depths()[1]
        ops.flags = ZERO_SUM if tree.zero_sum else 0
        ops.min_utility, ops.max_utility = tree.min_utility, tree.max_utility
        ops.turn, ops.legal, ops.outcomes, ops.sample = node_turn, node_legal, node_outcomes, node_sample
        ops.apply, ops.returns, ops.state_key = node_apply, node_returns, node_state_key
        ops.run_chance, ops.random_action, ops.playout = node_run_chance, node_random_action, node_playout
        if tree.hidden_information:
            ops.flags |= HIDDEN_INFORMATION
            ops.info_size = 9
            ops.info_key, ops.info_bytes, ops.resample = node_info_key, node_info_bytes, node_resample
            if not tree.merged and self._has_stages():
                ops.rewind = node_rewind
        self.seal()

    cdef bint _has_stages(self):
        """Whether several seats ever choose in secret before anything comes to light."""
        cdef const TreeTables *t = &self.tree.tables
        cdef int32_t node
        with nogil:
            for node in range(t.n_nodes):
                if t.player[node] >= 0 and opens_stage(t, node):
                    return True
        return False

    def __reduce__(self):
        return TreeRules, (self.tree,)

    @property
    def perfect_recall(self):
        """Whether every player always knows its own past information sets and actions."""
        return all(self.tree.perfect_recall)

    @property
    def secrecy(self):
        """What it is that a seat does not know, for messages: see `contract.require_open`."""
        return SIMULTANEOUS if self.tree.simultaneous else HIDING

    def position(self, node):
        """The `Position` at a node."""
        return self.restore({"node": int(node)})

    def node(self, Position position not None):
        """The node number of one of this game's positions."""
        return (<NodeState *>position.state).node

    def action_name(self, action):
        return self.tree.action_names.get(action, f"action {action}")

    def outcome_name(self, outcome):
        return self.tree.outcome_names.get(outcome, f"outcome {outcome}")

    def describe(self, Position position):
        node = self.node(position)
        if self.tree.merged:
            return f"node {node}"
        steps = []
        while node > 0:
            parent, action = self.tree.tables.parent[node], self.tree.tables.action[node]
            chance = self.tree.tables.player[parent] == CHANCE
            steps.append(self.outcome_name(action) if chance else self.action_name(action))
            node = parent
        return f"node {self.node(position)}: {', '.join(reversed(steps)) or 'start'}"

    def observe(self, Position position, observer):
        if not self.tree.hidden_information:
            return self.describe(position)
        cdef int32_t node = (<NodeState *>position.state).node
        cdef int32_t infoset
        if self.tree.tables.player[node] == observer:
            infoset = self.tree.tables.infoset[node]
            with contextlib.suppress(UnsuitableGameError):     # of a file whose game is not at hand
                label = self.tree.infoset_label(infoset)
                if isinstance(label, str):
                    return label
            return f"information set {infoset}"
        if self.tree.tables.view != NULL and self.tree.tables.player[node] >= 0:
            return f"view {node_knowledge(&self.tree.tables, node, observer):016x}"
        return f"after own sequence {(node_knowledge(&self.tree.tables, node, observer) >> 1) - 1}"

    def recall(self, Position position, observer):
        return self.observe(position, observer)

    def export(self, Position position):
        return {"node": self.node(position)}

    def restore(self, dict position):
        unknown = set(position) - {"node"}
        if unknown or "node" not in position:
            raise PositionError(
                f"{self.tree.name}: a position of a tree has the one field 'node', not {list(position)}")
        node = position["node"]
        if not isinstance(node, int) or not 0 <= node < self.tree.n_nodes:
            raise PositionError(f"{self.tree.name}: node is {node!r}, allowed are 0 to {self.tree.n_nodes - 1}")
        cdef Position made = new_position(self, self.start)
        (<NodeState *>made.state).node = node
        return made


WIDE_TREES = "cfr+ and the other policy solvers take nodes of any width"


def require_width(name, most_legal, most_outcomes, advice=str):
    """Raise UnsuitableGameError where a node is too wide for the searchers' buffers.

    Args:
        advice: makes of the advice to use another solver what holds for the game.
    """
    for what, most, limit in (("actions", most_legal, LEGAL_LIMIT), ("outcomes", most_outcomes, OUTCOME_LIMIT)):
        if most > limit:
            raise UnsuitableGameError(
                f"{name}: a node has {most} {what}; searchers allow {limit}; {advice(WIDE_TREES)}")
