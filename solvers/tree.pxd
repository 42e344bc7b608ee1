# cython: language_level=3
"""Declarations of flat trees, for the solvers that walk one without Python.

A `FlatTree` holds a whole game as a structure of arrays. Node 0 is the root. The edges of a node
stand side by side: edge `first[node] + i` is its i-th, in ascending order of action ids. In a
tree the number of an edge is also the number of the node it leads to (edge 0 leads to the root
and belongs to nobody), and a parent's number is below its children's. Where equal states were
merged, `target[edge]` says where an edge leads, and parents still stand before children.

A *sequence* is a pair (information set, action): sequence `info_first[infoset] + i` takes the
i-th action. Information sets are numbered so that the one a player passes first comes first.
"""
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t

from engine_ext.game cimport hash_bytes
from engine_ext.rng cimport Rng, rng_below, rng_combine, rng_double


cdef inline uint64_t text_key(str text, uint64_t seed):
    """64-bit hash of a text's UTF-8 bytes."""
    cdef bytes data = text.encode()
    return hash_bytes(<const char *>data, <int32_t>len(data), seed)


cdef inline uint64_t step_key(uint64_t key, int64_t id) noexcept nogil:
    """The key of a history with one more action or outcome."""
    return rng_combine(key, <uint64_t>id)


cdef enum:
    NO_SEQUENCE = -1      # info_parent: the player has not moved before
    MIXED_SEQUENCES = -2  # info_parent: members differ in it, which is imperfect recall


ctypedef struct TreeTables:
    # Plain pointers into one FlatTree's arrays; what nogil code passes around.
    int32_t n_players
    int32_t n_nodes
    int32_t n_edges
    int32_t n_infosets
    int32_t n_sequences
    int32_t n_terminals
    const int8_t *player         # [n_nodes] seat, CHANCE or TERMINAL
    const int32_t *parent        # [n_nodes] -1 at the root; null in a merged graph
    const int32_t *first         # [n_nodes] first edge; 0 at a terminal
    const int32_t *count         # [n_nodes] edges; 0 at a terminal
    const int32_t *infoset       # [n_nodes] decision: information set; terminal: utility row; chance: -1
    const int32_t *action        # [n_edges] the game's action or outcome id
    const double *prob           # [n_edges] chance: its probability; decision: 1
    const int32_t *target        # [n_edges] where the edge leads; null in a tree
    const double *utility        # [n_terminals * n_players]
    const int8_t *info_player    # [n_infosets]
    const int32_t *info_first    # [n_infosets + 1]
    const int32_t *info_parent   # [n_infosets] the player's own last sequence before it
    # ---- filled by tree_views.prepare_views(), null before ----------------------------------
    const uint64_t *view         # [n_nodes * n_players] at decisions of others: key of what a seat knows
    # ---- filled by FlatTree.prepare_sampling(), null before ---------------------------------
    const double *cumulative     # [n_edges] probability of a chance node's edges up to this one
    const uint8_t *uniform       # [n_nodes] whether all outcomes of a chance node are alike likely
    # ---- filled by FlatTree.prepare_members(), null before ----------------------------------
    const int32_t *member_first  # [n_infosets + 1] into `members`
    const int32_t *members       # [decision nodes] nodes, grouped by information set, ascending
    const double *member_reach   # [decision nodes] chance reach of a set's members up to this one


cdef inline int32_t tree_child(const TreeTables *tree, int32_t node, int32_t i) noexcept nogil:
    """The node behind the i-th edge of a node."""
    cdef int32_t edge = tree.first[node] + i
    return edge if tree.target == NULL else tree.target[edge]


cdef inline int32_t tree_sample(const TreeTables *tree, int32_t node, Rng *rng) noexcept nogil:
    """The index of an edge of a chance node, drawn by its probability. Needs prepare_sampling()."""
    cdef int32_t count = tree.count[node]
    cdef const double *cumulative
    cdef int32_t low, high, middle
    cdef double draw
    if tree.uniform[node]:
        return rng_below(rng, count)
    cumulative = tree.cumulative + tree.first[node]
    draw = rng_double(rng)
    if count <= 8:
        for low in range(count - 1):
            if draw < cumulative[low]:
                return low
        return count - 1
    low, high = 0, count - 1
    while low < high:
        middle = (low + high) >> 1
        if draw < cumulative[middle]:
            high = middle
        else:
            low = middle + 1
    return low


cdef inline int32_t tree_resample(const TreeTables *tree, int32_t infoset, Rng *rng) noexcept nogil:
    """A member of an information set, drawn by its chance reach. Needs prepare_members()."""
    cdef int32_t low = tree.member_first[infoset]
    cdef int32_t high = tree.member_first[infoset + 1] - 1
    cdef int32_t middle
    cdef double draw
    if low == high:
        return tree.members[low]
    draw = rng_double(rng) * tree.member_reach[high]
    while low < high:
        middle = (low + high) >> 1
        if draw < tree.member_reach[middle]:
            high = middle
        else:
            low = middle + 1
    return tree.members[low]


cdef inline int32_t find_edge(const TreeTables *t, int32_t node, int32_t action) noexcept nogil:
    """The edge of a node with this id, or -1. Ids often are 0, 1, 2, ..., which is tried first."""
    cdef int32_t low = t.first[node], high = low + t.count[node] - 1, middle
    if 0 <= action <= high - low and t.action[low + action] == action:
        return low + action
    while low <= high:
        middle = (low + high) >> 1
        if t.action[middle] == action:
            return middle
        if t.action[middle] < action:
            low = middle + 1
        else:
            high = middle - 1
    return -1


cdef class FlatTree:
    cdef TreeTables tables           # pointers into `arrays`
    cdef readonly dict arrays        # name -> the numpy array behind the pointer of that name
    cdef readonly str name           # the game, in OpenSpiel's grammar where it comes from there
    cdef readonly int32_t n_actions  # decision ids are 0 .. n_actions - 1
    cdef readonly int32_t n_outcomes  # chance ids are 0 .. n_outcomes - 1
    cdef readonly bint hidden_information  # whether the game declares some
    cdef readonly bint native        # it comes from a native game
    cdef readonly str names          # what info_key is a hash of, see FlatTree
    cdef readonly str rules_identity  # of the game it was extracted from, see solvers/identity.py
    cdef readonly list start         # ids from the start of an OpenSpiel game to the root
    cdef readonly dict action_names  # decision id -> unique text, for the ids that occur
    cdef readonly dict outcome_names  # chance id -> unique text, for the ids that occur
    cdef readonly object source      # the pyspiel.Game or Rules it was extracted from; None after load
    cdef readonly object root        # the state it was extracted from; None after load
    cdef readonly double seconds     # wall-clock time of the extraction
    cdef object _digest
    cdef object _key_order
    cdef object _depths

    cdef _bind(self)
    cpdef prepare_sampling(self)
    cpdef prepare_members(self)
    cpdef add_views(self, view)
