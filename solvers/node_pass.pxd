# cython: language_level=3
"""Declarations of the node pass, for the solvers that run on it."""
from libc.stdint cimport int32_t

from solvers.tree cimport FlatTree


cdef struct Group:
    # Nodes of one depth, kind and number of edges, ascending.
    int32_t start     # first index into `node`, `first` and `sequence`
    int32_t size
    int32_t player    # seat or CHANCE
    int32_t count     # edges of each node


cdef struct NodeArrays:
    const int32_t *node      # inner nodes, by group
    const int32_t *first     # their first edge
    const int32_t *sequence  # decisions: their information set's first sequence
    const double *prob       # [n_edges] of the tree
    const double *utility    # [n_players * n_nodes] per player; 0 at inner nodes


cdef class NodePass:
    cdef readonly FlatTree tree
    cdef readonly dict arrays
    cdef int32_t n_groups
    cdef int32_t n_nodes
    cdef Group *groups
    cdef NodeArrays nodes

    cdef void reach(self, int32_t player, const double *policy, double *out) noexcept nogil
    cdef void counterfactuals(self, int32_t player, const double *policy, double *values, double *gain) noexcept nogil
    cdef double expectation(self, int32_t player, const double *policy, double *values) noexcept nogil
    cdef void own_reach(self, int32_t player, const double *policy, double *out) noexcept nogil
    cdef void add_average(self, int32_t player, double weight, const double *policy, const double *own,
                          double *total) noexcept nogil
