# cython: language_level=3
"""Declarations of the information-set tree that IS-MCTS and Smooth UCT grow."""
from libc.stdint cimport int16_t, int32_t, int64_t, uint64_t

from engine_ext.game cimport GameOps
from engine_ext.position cimport Rules
from engine_ext.rng cimport Rng
from solvers.keytable cimport KeyTable
from solvers.stages cimport Stage


cdef struct InfoNode:      # 16 bytes
    int32_t first          # its first edge
    int32_t visits         # descents through it
    int16_t count          # edges, ascending by action
    int16_t capacity       # edges there is room for
    int32_t untried        # edges never taken


cdef struct InfoEdge:      # 24 bytes: what selection reads of one action stands together
    double total           # sum of the mover's returns over `visits` descents
    int32_t visits         # descents that took it
    int32_t available      # descents through the node in which it was legal (single observer only)
    int32_t action
    int32_t unused


cdef class InfoTree:
    cdef readonly Rules rules
    cdef const GameOps *ops
    cdef const void *tables
    cdef unsigned char *root      # root state, ops.state_size bytes; owned
    cdef unsigned char *scratch   # the state of the simulation under way; owned
    cdef int32_t root_turn        # seat, CHANCE or TERMINAL
    cdef int32_t observer         # single observer: whose information sets the nodes are; else -1
    cdef bint resamples           # whether each simulation starts from a resampled root
    cdef readonly Stage stage     # the root's stage of simultaneous choices, where it is solved as one; else None
    cdef bint in_stage            # whether there is one
    # ---- parameters --------------------------------------------------------------------------
    cdef double c                 # exploration constant in units of utility
    cdef bint smooth              # mix the average strategy in (Smooth UCT)
    cdef double eta, gamma, decay  # its schedule: max(gamma, eta / (1 + decay sqrt(visits)))
    cdef double greedy            # share of the game's own suggestion in playouts
    cdef int32_t cutoff           # playout steps before the game's estimate; 0: to the end
    cdef int32_t path_limit       # most decisions of one descent
    cdef int32_t depth            # most decisions and chance nodes of one
    # ---- the tree ----------------------------------------------------------------------------
    cdef KeyTable index           # mixed key -> node
    cdef InfoNode *nodes
    cdef InfoEdge *edges
    cdef int32_t n_nodes, node_room, node_limit
    cdef int64_t n_edges, edge_room, edge_limit
    cdef bint full                # nothing grows any more
    # ---- what the simulations left -----------------------------------------------------------
    cdef Rng rng
    cdef int32_t *path            # [3 * path_limit] the descent under way: node, slot, seat
    cdef double *totals           # [n_players] sum of returns
    cdef int64_t *root_visits     # [max_legal] simulations that began with each slot of the root
    cdef double *root_totals      # [max_legal, n_players] sums of their returns
    cdef readonly int64_t simulations

    cdef int64_t grow(self, int64_t count) noexcept nogil
    cdef void simulate(self, unsigned char *state, double *values) noexcept nogil
    cdef int32_t descend(self, unsigned char *state, int32_t *turn) noexcept nogil
    cdef void back_up(self, int32_t length, const double *values) noexcept nogil
    cdef bint playout(self, unsigned char *state, double *values) noexcept nogil
    cdef int32_t find(self, const void *state, int32_t seat) noexcept nogil
    cdef int32_t add(self, const void *state, int32_t seat) noexcept nogil
    cdef bint make_room(self, int32_t nodes, int64_t edges) noexcept nogil
    cdef int32_t slot_of(self, int32_t number, int32_t action, int32_t start) noexcept nogil
    cdef void locate(self, int32_t number, const int32_t *legal, int32_t n_legal, int32_t *slots) noexcept nogil
    cdef int32_t pick(self, int32_t number) noexcept nogil
    cdef int32_t pick_legal(self, int32_t number, const int32_t *legal, int32_t n_legal) noexcept nogil
    cdef double mixing(self, double visits) noexcept nogil
