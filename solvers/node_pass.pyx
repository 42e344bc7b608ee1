"""The node pass: what CFR needs, by walks over the nodes of a flat tree.

It serves every tree: any number of players, with or without perfect recall. One walk up gives each
node its value to a player under the policies of all; the player's regrets are then added up node
by node, each as (reach of chance and the others) * (value of the action - value of the node).

The operations and their order are those of OpenSpiel's CFR solvers, so that both give the same
bits: regret matching magnifies rounding, and after some hundred iterations programs that add in
another order stand elsewhere (docs/solvers.md). Reach is the product from the root on, and in it
the rivals' parts come in ascending order of seat and chance's last; values are summed by ascending action;
an information set's nodes come in the order in which a recursive walk returns from them.

Nodes are visited by depth, and within a depth by kind and number of edges, so that the loops are
predictable. A policy here is a behaviour policy over the tree's sequences, float64[n_sequences].
"""
import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc

from engine_ext.game cimport CHANCE, TERMINAL
from solvers.tree cimport FlatTree, TreeTables

from engine_ext.errors import UnsuitableGameError


cdef inline void value_group(const NodeArrays *nodes, const Group *group, int32_t count, const double *policy,
                             double *worth) noexcept nogil:
    cdef const int32_t *node = nodes.node + group.start
    cdef const int32_t *first = nodes.first + group.start
    cdef const int32_t *sequence = nodes.sequence + group.start
    cdef const double *child
    cdef const double *weight
    cdef double value
    cdef int32_t i, a
    for i in range(group.size):
        child = worth + first[i]
        weight = nodes.prob + first[i] if group.player == CHANCE else policy + sequence[i]
        value = weight[0] * child[0]
        for a in range(1, count):
            value += weight[a] * child[a]
        worth[node[i]] = value


cdef class NodePass:
    """The order of visit and the arrays of one tree.

    A player's *reach*, the product of its own probabilities on the way, is kept once a sequence where
    everyone has perfect recall (`by_sequence`): float64[n_sequences + 1], entry 0 the empty sequence's 1.
    Else it is kept once a node, float64[n_nodes].

    Raises:
        UnsuitableGameError: equal states were merged: values would be counted once a parent.
    """

    def __cinit__(self):
        self.groups = NULL

    def __dealloc__(self):
        free(self.groups)

    def __init__(self, FlatTree tree not None):
        cdef double[:, ::1] worth
        if tree.tables.target != NULL:
            raise UnsuitableGameError(f"{tree.name}: the node pass needs a tree; equal states were merged")
        self.tree = tree
        self.n_nodes = tree.n_nodes
        self.n_rivals = tree.n_players - 1
        self.by_sequence = all(tree.perfect_recall)
        self._group()
        a = tree.arrays
        utility = np.zeros((tree.n_players, tree.n_nodes))
        terminals = np.flatnonzero(a["player"] == TERMINAL)
        utility[:, terminals] = a["utility"][a["infoset"][terminals]].T
        self.arrays["worth"] = worth = utility
        self.worth = &worth[0, 0]
        chance, last = _ways(tree)
        returned = _return_order(tree)
        self.seat_arrays = [self._seat(player, chance, last, returned) for player in range(tree.n_players)]
        for player in range(tree.n_players):
            self._bind(player)

    def _group(self):
        a = self.tree.arrays
        inner = np.flatnonzero(a["count"]).astype(np.int32)
        depth = _depths(self.tree)
        keys = (a["count"][inner], a["player"][inner], depth[inner])
        order = np.lexsort((inner, *keys))
        inner = inner[order]
        infoset = a["infoset"][inner]
        changed = np.zeros(len(inner) + 1, dtype=bool)
        changed[0] = changed[len(inner)] = True
        for key in keys:
            changed[1:len(inner)] |= np.diff(key[order]) != 0
        bounds = np.flatnonzero(changed) if len(inner) else np.zeros(1, dtype=np.int64)
        self.arrays = {
            "node": inner, "first": a["first"][inner],
            "sequence": np.where(infoset >= 0, a["info_first"][infoset], -1).astype(np.int32),
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
        self.nodes.prob = self.tree.tables.prob

    def _seat(self, player, chance, last, returned):
        """The arrays of a player's Seat."""
        a = self.tree.arrays
        sets = np.flatnonzero(a["info_player"] == player)
        nodes = np.flatnonzero(a["player"] == player)
        nodes = nodes[np.lexsort((returned[nodes], a["infoset"][nodes]))].astype(np.int32)
        members = np.bincount(a["infoset"][nodes], minlength=self.tree.n_infosets)[sets]
        rivals = [rival for rival in range(self.tree.n_players) if rival != player]
        if self.by_sequence:
            reached = last[nodes][:, rivals] + 1
        else:
            reached = np.repeat(nodes, len(rivals))
        return {
            "first": a["info_first"][sets], "count": np.diff(a["info_first"])[sets],
            "parent": a["info_parent"][sets] + 1,
            "member": np.concatenate([[0], np.cumsum(members)]).astype(np.int32),
            "node": nodes, "child": a["first"][nodes], "chance": chance[nodes],
            "reached": np.ascontiguousarray(reached, dtype=np.int32),
        }

    def _bind(self, int32_t player):
        cdef Seat *seat = &self.seats[player]
        arrays = self.seat_arrays[player]
        seat.n_sets = len(arrays["first"])
        seat.first = <const int32_t *><size_t>arrays["first"].ctypes.data
        seat.count = <const int32_t *><size_t>arrays["count"].ctypes.data
        seat.parent = <const int32_t *><size_t>arrays["parent"].ctypes.data
        seat.member = <const int32_t *><size_t>arrays["member"].ctypes.data
        seat.node = <const int32_t *><size_t>arrays["node"].ctypes.data
        seat.child = <const int32_t *><size_t>arrays["child"].ctypes.data
        seat.chance = <const double *><size_t>arrays["chance"].ctypes.data
        seat.reached = <const int32_t *><size_t>arrays["reached"].ctypes.data

    cdef void values(self, int32_t player, const double *policy) noexcept nogil:
        """The player's expected utility from every node on, when everyone follows the policy."""
        cdef double *worth = self.worth + <int64_t>player * self.n_nodes
        cdef int32_t g
        cdef Group *group
        for g in range(self.n_groups - 1, -1, -1):
            group = &self.groups[g]
            if group.count == 2:
                value_group(&self.nodes, group, 2, policy, worth)
            elif group.count == 3:
                value_group(&self.nodes, group, 3, policy, worth)
            else:
                value_group(&self.nodes, group, group.count, policy, worth)

    cdef void add_regrets(self, int32_t player, double **reach, double *regret, double *latest) noexcept nogil:
        """regret[sequence] += counterfactual regret, node after node. Needs `values`.

        Args:
            reach: per player, as the class says.
            latest: this iteration's regrets alone, added up beside; null where nobody wants them.
        """
        cdef const Seat *seat = &self.seats[player]
        cdef const double *worth = self.worth + <int64_t>player * self.n_nodes
        cdef const double *rivals[PLAYER_LIMIT]
        cdef const double *child
        cdef const int32_t *reached
        cdef double others, value, r
        cdef int32_t i, m, a, q, n_rivals = 0
        for q in range(self.n_rivals + 1):
            if q != player:
                rivals[n_rivals] = reach[q]
                n_rivals += 1
        for i in range(seat.n_sets):
            for m in range(seat.member[i], seat.member[i + 1]):
                others = 1.0
                reached = seat.reached + <int64_t>m * n_rivals
                for q in range(n_rivals):
                    others *= rivals[q][reached[q]]
                if others == 0.0:
                    continue
                others *= seat.chance[m]
                value = worth[seat.node[m]]
                child = worth + seat.child[m]
                for a in range(seat.count[i]):
                    r = others * (child[a] - value)
                    regret[seat.first[i] + a] += r
                    if latest != NULL:
                        latest[seat.first[i] + a] += r

    cdef void walk_down(self, int32_t player, const double *policy, double *reach) noexcept nogil:
        """reach[node] = the player's own probability of going there."""
        cdef int32_t g, i, a
        cdef const Group *group
        cdef double own
        reach[0] = 1.0
        for g in range(self.n_groups):
            group = &self.groups[g]
            for i in range(group.start, group.start + group.size):
                own = reach[self.nodes.node[i]]
                for a in range(group.count):
                    reach[self.nodes.first[i] + a] = (
                        own * policy[self.nodes.sequence[i] + a] if group.player == player else own)

    cdef void add_average(self, int32_t player, double weight, const double *policy, const double *reach,
                          double *total) noexcept nogil:
        """total[sequence] += weight * own reach * policy, node after node. `reach` is by nodes."""
        cdef const Seat *seat = &self.seats[player]
        cdef int32_t i, m, s
        for i in range(seat.n_sets):
            for m in range(seat.member[i], seat.member[i + 1]):
                for s in range(seat.first[i], seat.first[i] + seat.count[i]):
                    total[s] += weight * reach[seat.node[m]] * policy[s]


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


def _ways(FlatTree tree):
    """How each node is reached: chance's probability, float64[n_nodes], and every player's last sequence
    (-1: none), int32[n_nodes, n_players]."""
    cdef const TreeTables *t = &tree.tables
    reach, sequences = np.ones(tree.n_nodes), np.full((tree.n_nodes, tree.n_players), -1, dtype=np.int32)
    cdef double[::1] chance = reach
    cdef int32_t[:, ::1] last = sequences
    cdef int32_t node, edge, p
    with nogil:
        for node in range(t.n_nodes):
            for edge in range(t.first[node], t.first[node] + t.count[node]):
                for p in range(t.n_players):
                    last[edge, p] = last[node, p]
                chance[edge] = chance[node]
                if t.player[node] == CHANCE:
                    chance[edge] *= t.prob[edge]
                else:
                    last[edge, t.player[node]] = t.info_first[t.infoset[node]] + edge - t.first[node]
    return reach, sequences


def _return_order(FlatTree tree):
    """When a walk that tries actions in ascending order returns from each node, int32[n_nodes]."""
    cdef const TreeTables *t = &tree.tables
    sizes, out = np.ones(tree.n_nodes, dtype=np.int32), np.zeros(tree.n_nodes, dtype=np.int32)
    cdef int32_t[::1] size = sizes
    cdef int32_t[::1] order = out
    cdef int32_t node, edge, start
    with nogil:
        for node in range(t.n_nodes - 1, 0, -1):
            size[t.parent[node]] += size[node]
        order[0] = size[0] - 1
        for node in range(t.n_nodes):
            start = order[node] - size[node] + 1     # the first return from below it
            for edge in range(t.first[node], t.first[node] + t.count[node]):
                order[edge] = start + size[edge] - 1
                start += size[edge]
    return out
