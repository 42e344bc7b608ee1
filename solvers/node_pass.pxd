# cython: language_level=3
"""Declarations of the node pass, for the solvers that run on it."""
from libc.stdint cimport int32_t

from engine_ext.game cimport PLAYER_LIMIT
from solvers.tree cimport FlatTree


cdef struct Group:
    # Inner nodes of one depth, kind and number of edges, ascending.
    int32_t start     # first index into `node`, `first` and `sequence`
    int32_t size
    int32_t player    # seat or CHANCE
    int32_t count     # edges of each node


cdef struct NodeArrays:
    const int32_t *node      # inner nodes, by group
    const int32_t *first     # their first edge
    const int32_t *sequence  # decisions: their information set's first sequence
    const double *prob       # [n_edges] of the tree


cdef struct Seat:
    # One player's information sets, ascending, and the nodes in them.
    int32_t n_sets
    const int32_t *first     # [n_sets] first sequence
    const int32_t *count     # [n_sets] actions
    const int32_t *parent    # [n_sets] own last sequence plus 1; 0 where there is none
    const int32_t *member    # [n_sets + 1] first index into the following
    const int32_t *node      # nodes, by set, in the order in which a walk comes back from them
    const int32_t *child     # their first edge
    const double *chance     # chance's part of their reach
    const int32_t *reached   # [members * rivals] where the rivals' parts stand, in ascending order of seat


cdef class NodePass:
    cdef readonly FlatTree tree
    cdef readonly bint by_sequence     # where a reach stands: at the last sequence plus 1, or at the node
    cdef readonly dict arrays
    cdef readonly list seat_arrays     # per player, name -> numpy array behind the pointers of `seats`
    cdef int32_t n_groups
    cdef int32_t n_nodes
    cdef int32_t n_rivals
    cdef Group *groups
    cdef NodeArrays nodes
    cdef Seat seats[PLAYER_LIMIT]
    cdef double *worth                 # [n_players * n_nodes] utilities at the ends, else what `values` left

    cdef void values(self, int32_t player, const double *policy) noexcept nogil
    cdef void add_regrets(self, int32_t player, double **reach, double *regret, double *latest) noexcept nogil
    cdef void walk_down(self, int32_t player, const double *policy, double *reach) noexcept nogil
    cdef void add_average(self, int32_t player, double weight, const double *policy, const double *reach,
                          double *total) noexcept nogil
