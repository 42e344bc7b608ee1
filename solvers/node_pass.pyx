"""The node pass: what CFR needs, by one walk down a flat tree and one walk up.

It serves every tree: any number of players, with or without perfect recall. The walk down gives
each node its counterfactual reach (chance's and the others' probabilities); multiplied by a
terminal's utility it is a value that only has to be summed on the way up, except at the player's
own decisions. Nodes are visited by depth, and within a depth by kind and number of edges, so that
the loops are predictable.

A policy here is a behaviour policy over the tree's sequences, float64[n_sequences].
"""
import numpy as np

from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

from engine_ext.game cimport CHANCE, TERMINAL
from solvers.tree cimport FlatTree, TreeTables

from engine_ext.errors import UnsuitableGameError


cdef inline void reach_group(const NodeArrays *nodes, const Group *group, int32_t count, int32_t player,
                             const double *policy, double *out) noexcept nogil:
    cdef const int32_t *node = nodes.node + group.start
    cdef const int32_t *first = nodes.first + group.start
    cdef const int32_t *sequence = nodes.sequence + group.start
    cdef const double *weight
    cdef double *child
    cdef double reach
    cdef int32_t i, a
    for i in range(group.size):
        reach = out[node[i]]
        child = out + first[i]
        if group.player == player:
            for a in range(count):
                child[a] = reach
        else:
            weight = nodes.prob + first[i] if group.player == CHANCE else policy + sequence[i]
            for a in range(count):
                child[a] = reach * weight[a]


cdef inline void value_group(const NodeArrays *nodes, const Group *group, int32_t count, int32_t player,
                             const double *policy, double *values, double *gain) noexcept nogil:
    cdef const int32_t *node = nodes.node + group.start
    cdef const int32_t *first = nodes.first + group.start
    cdef const int32_t *sequence = nodes.sequence + group.start
    cdef const double *child
    cdef const double *weight
    cdef double *earned
    cdef double value
    cdef int32_t i, a
    if group.player != player:
        for i in range(group.size):
            child = values + first[i]
            value = child[0]
            for a in range(1, count):
                value += child[a]
            values[node[i]] = value
        return
    for i in range(group.size):
        child = values + first[i]
        weight = policy + sequence[i]
        earned = gain + sequence[i]
        value = 0.0
        for a in range(count):
            value += weight[a] * child[a]
        for a in range(count):
            earned[a] += child[a] - value
        values[node[i]] = value


cdef class NodePass:
    """The order of visit and the arrays of one tree.

    Raises:
        UnsuitableGameError: equal states were merged: values would be counted once a parent.
    """

    def __cinit__(self):
        self.groups = NULL

    def __dealloc__(self):
        free(self.groups)

    def __init__(self, FlatTree tree not None):
        if tree.tables.target != NULL:
            raise UnsuitableGameError(f"{tree.name}: the node pass needs a tree; equal states were merged")
        self.tree = tree
        self.n_nodes = tree.n_nodes
        a = tree.arrays
        inner = np.flatnonzero(a["count"]).astype(np.int32)
        depth = _depths(tree)
        keys = (a["count"][inner], a["player"][inner], depth[inner])
        order = np.lexsort((inner, *keys))
        inner = inner[order]
        infoset = a["infoset"][inner]
        changed = np.zeros(len(inner) + 1, dtype=bool)
        changed[0] = changed[len(inner)] = True
        for key in keys:
            changed[1:len(inner)] |= np.diff(key[order]) != 0
        bounds = np.flatnonzero(changed) if len(inner) else np.zeros(1, dtype=np.int64)
        utility = np.zeros((tree.n_players, tree.n_nodes))
        terminals = np.flatnonzero(a["player"] == TERMINAL)
        utility[:, terminals] = a["utility"][a["infoset"][terminals]].T
        self.arrays = {
            "node": inner, "first": a["first"][inner],
            "sequence": np.where(infoset >= 0, a["info_first"][infoset], -1).astype(np.int32), "utility": utility,
        }
        self.n_groups = len(bounds) - 1
        self.groups = <Group *>malloc(max(1, self.n_groups) * sizeof(Group))
        if self.groups == NULL:
            raise MemoryError
        for i in range(self.n_groups):
            self.groups[i].start, self.groups[i].size = bounds[i], bounds[i + 1] - bounds[i]
            self.groups[i].player, self.groups[i].count = a["player"][inner[bounds[i]]], a["count"][inner[bounds[i]]]
        self.nodes.node = <const int32_t *><size_t>self.arrays["node"].ctypes.data
        self.nodes.first = <const int32_t *><size_t>self.arrays["first"].ctypes.data
        self.nodes.sequence = <const int32_t *><size_t>self.arrays["sequence"].ctypes.data
        self.nodes.utility = <const double *><size_t>utility.ctypes.data
        self.nodes.prob = tree.tables.prob

    cdef void reach(self, int32_t player, const double *policy, double *out) noexcept nogil:
        """out[node] = probability that chance and everyone but the player go there."""
        cdef int32_t g
        cdef Group *group
        out[0] = 1.0
        for g in range(self.n_groups):
            group = &self.groups[g]
            if group.count == 2:
                reach_group(&self.nodes, group, 2, player, policy, out)
            elif group.count == 3:
                reach_group(&self.nodes, group, 3, player, policy, out)
            else:
                reach_group(&self.nodes, group, group.count, player, policy, out)

    cdef void counterfactuals(self, int32_t player, const double *policy, double *values, double *gain) noexcept nogil:
        """gain[sequence] = counterfactual value of the player's action there, summed over the nodes of the set.

        Summed before anything is subtracted, so that equally good actions come out exactly equal:
        regret matching turns the least positive regret into certainty.

        Args:
            values: float64[n_nodes], scratch; afterwards counterfactual values, at the root the
                player's expected utility.
            gain: float64[n_sequences]; only the player's are written, and they must be 0 before.
        """
        cdef const double *utility = self.nodes.utility + <Py_ssize_t>player * self.n_nodes
        cdef int32_t g, i
        cdef Group *group
        self.reach(player, policy, values)
        for i in range(self.n_nodes):
            values[i] *= utility[i]
        for g in range(self.n_groups - 1, -1, -1):
            group = &self.groups[g]
            if group.count == 2:
                value_group(&self.nodes, group, 2, player, policy, values, gain)
            elif group.count == 3:
                value_group(&self.nodes, group, 3, player, policy, values, gain)
            else:
                value_group(&self.nodes, group, group.count, player, policy, values, gain)

    cdef double expectation(self, int32_t player, const double *policy, double *values) noexcept nogil:
        """The player's expected utility when everyone follows the policy. `values` is scratch."""
        cdef const double *utility = self.nodes.utility + <Py_ssize_t>player * self.n_nodes
        cdef double total = 0.0
        cdef int32_t i
        self.reach(-2, policy, values)    # no player is left out
        for i in range(self.n_nodes):
            total += values[i] * utility[i]
        return total

    cdef void own_reach(self, int32_t player, const double *policy, double *out) noexcept nogil:
        """out[node] = the player's own probability of going there."""
        cdef int32_t g, i, a
        cdef const Group *group
        cdef double reach
        out[0] = 1.0
        for g in range(self.n_groups):
            group = &self.groups[g]
            for i in range(group.start, group.start + group.size):
                reach = out[self.nodes.node[i]]
                for a in range(group.count):
                    out[self.nodes.first[i] + a] = (
                        reach * policy[self.nodes.sequence[i] + a] if group.player == player else reach)

    cdef void add_average(self, int32_t player, double weight, const double *policy, const double *own,
                          double *total) noexcept nogil:
        """total[sequence] += weight * own reach * policy, summed over the nodes of each set."""
        cdef int32_t g, i, a, s
        cdef const Group *group
        for g in range(self.n_groups):
            group = &self.groups[g]
            if group.player == player:
                for i in range(group.start, group.start + group.size):
                    for a in range(group.count):
                        s = self.nodes.sequence[i] + a
                        total[s] += weight * own[self.nodes.node[i]] * policy[s]

    def expected_values(self, double[::1] policy not None):
        """Expected utility per player when everyone follows the policy, float64[n_players]."""
        cdef double[::1] scratch = np.zeros(self.n_nodes)
        cdef int32_t player
        cdef const double *weights = &policy[0] if policy.shape[0] else NULL
        return np.array([self.expectation(player, weights, &scratch[0]) for player in range(self.tree.n_players)])


def _depths(FlatTree tree):
    """Nodes between each node and the root, int32[n_nodes]."""
    cdef const TreeTables *t = &tree.tables
    out = np.zeros(tree.n_nodes, dtype=np.int32)
    cdef int32_t[::1] depth = out
    cdef int32_t node
    with nogil:
        for node in range(1, t.n_nodes):
            depth[node] = depth[t.parent[node]] + 1
    return out
