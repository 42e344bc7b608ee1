# cython: language_level=3
"""Arrays that grow while a game is walked, and what else the walks of extraction share."""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, realloc

from engine_ext.game cimport TERMINAL, GameOps


cdef enum Status:   # what a walk returns
    DONE = 0
    PAUSED = 1
    NO_MEMORY = 2
    MISMATCH = 3    # members of an information set with different actions
    FULL = 4        # more nodes than node numbers

cdef struct Frame:     # an open node of a walk
    int32_t node
    int32_t next       # index of the edge to follow next

cdef struct Pool:
    char *data
    int64_t size       # items in use
    int64_t capacity   # items allocated
    int32_t item       # bytes an item


cdef inline int pool_grow(Pool *pool, int64_t more) noexcept nogil:
    """Make `more` further items part of the pool, uninitialised; -1 without memory."""
    cdef int64_t capacity
    cdef char *data
    if pool.size + more > pool.capacity:
        capacity = max(pool.size + more, pool.capacity + pool.capacity // 2, <int64_t>256)
        data = <char *>realloc(pool.data, capacity * pool.item)
        if data == NULL:
            return -1
        pool.data = data
        pool.capacity = capacity
    pool.size += more
    return 0


cdef inline int64_t add_utilities(Pool *utility, const GameOps *ops, const void *tables,
                                  const void *state) noexcept nogil:
    """A row with every player's utility at the end, or its estimate where a tree is cut; the row's number, or -1."""
    cdef int64_t row = utility.size // ops.n_players
    if pool_grow(utility, ops.n_players) < 0:
        return -1
    if ops.turn(tables, state) == TERMINAL:
        ops.returns(tables, state, <double *>utility.data + row * ops.n_players)
    else:
        ops.estimate(tables, state, <double *>utility.data + row * ops.n_players)
    return row


cdef inline int32_t *new_slots(uint64_t mask) noexcept nogil:
    """A hash table by open addressing, int32[mask + 1]: a member's number plus 1, 0 where free. NULL without memory."""
    return <int32_t *>calloc(mask + 1, sizeof(int32_t))


cdef inline void put_slot(int32_t *slots, uint64_t mask, uint64_t hash, int32_t member) noexcept nogil:
    """Enter a member that is not there."""
    cdef uint64_t slot = hash & mask
    while slots[slot]:
        slot = (slot + 1) & mask
    slots[slot] = member + 1


cdef object take_pool(Pool *pool, dtype)
