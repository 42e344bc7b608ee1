"""The walk that makes one node of equal states: a native game of perfect information as a graph."""
import numpy as np

cimport cython
from libc.stdint cimport int8_t, int32_t, int64_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy

from engine_ext.game cimport CHANCE, LEGAL_LIMIT, OUTCOME_LIMIT, TERMINAL, GameOps, hash_bytes
from engine_ext.rng cimport rng_combine
from solvers.pools cimport (
    DONE, FULL, NO_MEMORY, PAUSED, Frame, Pool, add_utilities, new_slots, pool_grow, put_slot, take_pool,
)
from solvers.tree cimport MIXED_SEQUENCES
from solvers.tree_builder cimport NODE_LIMIT, exact_seed


@cython.final
cdef class Merger:
    """Walks a game of perfect information depth first, following each state once.

    Nodes are numbered as they are met; afterwards they are renumbered by reverse order of leaving,
    which puts every parent before its children.

    Args:
        n_players: utilities a terminal.
        exact: states are equal only where their bytes are, too; else where their keys are.
    """

    def __cinit__(self, n_players, exact):
        self.n_players, self.exact = n_players, exact
        self.player.item = 1
        self.first.item = self.count.item = self.row.item = self.left.item = 4
        self.action.item = self.target.item = 4
        self.key.item = self.check.item = self.prob.item = self.utility.item = 8
        self.frames.item = sizeof(Frame)
        self.states.item = 1
        self.mask = 1023
        self.table = new_slots(self.mask)
        if self.table == NULL:
            raise MemoryError
        self.depth = -1

    def __dealloc__(self):
        cdef Pool *pools[13]
        pools[:] = [
            &self.player, &self.first, &self.count, &self.row, &self.key, &self.check, &self.left, &self.action,
            &self.prob, &self.target, &self.utility, &self.frames, &self.states,
        ]
        for i in range(13):
            free(pools[i].data)
        free(self.table)

    cdef int rehash(self) noexcept nogil:
        """A table four times as large; -1 without memory."""
        cdef uint64_t mask = self.mask * 4 + 3
        cdef int32_t *table = new_slots(mask)
        cdef int32_t i
        if table == NULL:
            return -1
        for i in range(<int32_t>self.player.size):
            put_slot(table, mask, (<uint64_t *>self.key.data)[i], i)
        free(self.table)
        self.table, self.mask = table, mask
        return 0

    cdef int visit(self, const GameOps *ops, const void *tables, const void *state, int32_t depth_left,
                   int32_t *out) noexcept nogil:
        """The node of a state into `out`; a new one gets a frame whose state is in place already."""
        cdef int32_t ids[LEGAL_LIMIT]
        cdef double probs[OUTCOME_LIMIT]
        # A cut leaf is not the state itself, so what is left of the depth belongs to the key.
        cdef uint64_t key = rng_combine(ops.state_key(tables, state), depth_left)
        cdef uint64_t check = hash_bytes(state, ops.state_size, exact_seed()) if self.exact else 0
        cdef uint64_t slot = key & self.mask
        cdef int64_t node = self.player.size, first = self.action.size, row = -1
        cdef int32_t seat, count = 0, found, i
        while self.table[slot]:
            found = self.table[slot] - 1
            if (<uint64_t *>self.key.data)[found] == key and (<uint64_t *>self.check.data)[found] == check:
                out[0] = found
                return DONE
            slot = (slot + 1) & self.mask
        if node >= NODE_LIMIT or first >= NODE_LIMIT - LEGAL_LIMIT:
            return FULL
        seat = ops.turn(tables, state)
        if seat == TERMINAL or depth_left == 0:
            row = add_utilities(&self.utility, ops, tables, state)
            if row < 0:
                return NO_MEMORY
            seat, first = TERMINAL, 0
        else:
            count = ops.outcomes(tables, state, ids, probs) if seat == CHANCE else ops.legal(tables, state, ids)
            if (pool_grow(&self.action, count) < 0 or pool_grow(&self.prob, count) < 0
                    or pool_grow(&self.target, count) < 0):
                return NO_MEMORY
            for i in range(count):
                (<int32_t *>self.action.data)[first + i] = ids[i]
                (<double *>self.prob.data)[first + i] = probs[i] if seat == CHANCE else 1.0
        if (pool_grow(&self.player, 1) < 0 or pool_grow(&self.first, 1) < 0 or pool_grow(&self.count, 1) < 0
                or pool_grow(&self.row, 1) < 0 or pool_grow(&self.key, 1) < 0 or pool_grow(&self.check, 1) < 0
                or pool_grow(&self.left, 1) < 0):
            return NO_MEMORY
        (<int8_t *>self.player.data)[node] = seat
        (<int32_t *>self.first.data)[node] = <int32_t>first
        (<int32_t *>self.count.data)[node] = count
        (<int32_t *>self.row.data)[node] = <int32_t>row
        (<uint64_t *>self.key.data)[node] = key
        (<uint64_t *>self.check.data)[node] = check
        self.table[slot] = <int32_t>node + 1
        if <uint64_t>node * 2 > self.mask and self.rehash() < 0:
            return NO_MEMORY
        out[0] = <int32_t>node
        self.depth += 1
        (<Frame *>self.frames.data)[self.depth].node = <int32_t>node
        (<Frame *>self.frames.data)[self.depth].next = 0
        return DONE

    cdef int room(self, const GameOps *ops) noexcept nogil:
        """Make room for one frame more than there are."""
        if self.frames.size <= self.depth + 1 and (
                pool_grow(&self.frames, 1) < 0 or pool_grow(&self.states, ops.state_size) < 0):
            return NO_MEMORY
        return DONE

    cdef int start(self, const GameOps *ops, const void *tables, const void *state, int32_t limit) noexcept nogil:
        """Open the root. `limit`: where the graph is cut, nodes below the root; -1: nowhere."""
        cdef int32_t node
        if self.room(ops) != DONE:
            return NO_MEMORY
        memcpy(self.states.data, state, ops.state_size)
        return self.visit(ops, tables, self.states.data, limit, &node)

    cdef int walk(self, const GameOps *ops, const void *tables, int64_t pause_at, int32_t limit) noexcept nogil:
        """Go on until the graph is whole (DONE) or has `pause_at` nodes (PAUSED)."""
        cdef Frame *frame
        cdef int32_t node, edge, child
        cdef char *state
        cdef int status
        while self.depth >= 0:
            frame = (<Frame *>self.frames.data) + self.depth
            node = frame.node
            if frame.next == (<int32_t *>self.count.data)[node]:
                (<int32_t *>self.left.data)[node] = <int32_t>self.n_left
                self.n_left += 1
                self.depth -= 1
                continue
            if self.player.size >= pause_at:
                return PAUSED
            edge = (<int32_t *>self.first.data)[node] + frame.next
            frame.next += 1
            if self.room(ops) != DONE:
                return NO_MEMORY
            state = self.states.data + <int64_t>(self.depth + 1) * ops.state_size
            memcpy(state, state - ops.state_size, ops.state_size)
            ops.apply(tables, state, (<int32_t *>self.action.data)[edge])
            status = self.visit(ops, tables, state, limit - self.depth - 1 if limit >= 0 else -1, &child)
            if status != DONE:
                return status
            (<int32_t *>self.target.data)[edge] = child
        return DONE

    cdef dict take(self):
        """The arrays by name, in the final order."""
        free(self.table)
        self.table = NULL
        left = take_pool(&self.left, np.int32)
        place = (len(left) - 1 - left).astype(np.int32)        # node met -> final number
        order = np.empty_like(place)
        order[place] = np.arange(len(place), dtype=np.int32)
        player = take_pool(&self.player, np.int8)[order]
        decisions = np.flatnonzero(player >= 0)
        infoset = take_pool(&self.row, np.int32)[order]
        infoset[decisions] = np.arange(len(decisions), dtype=np.int32)
        count = take_pool(&self.count, np.int32)[order]
        info_first = np.zeros(len(decisions) + 1, dtype=np.int32)
        np.cumsum(count[decisions], out=info_first[1:])
        info_parent = np.full(len(decisions), MIXED_SEQUENCES, dtype=np.int32)
        take_pool(&self.check, np.uint64)
        return {
            "player": player, "first": take_pool(&self.first, np.int32)[order], "count": count, "infoset": infoset,
            "action": take_pool(&self.action, np.int32), "prob": take_pool(&self.prob, np.float64),
            "target": place[take_pool(&self.target, np.int32)],
            "utility": take_pool(&self.utility, np.float64).reshape(-1, self.n_players),
            "info_player": player[decisions], "info_first": info_first, "info_parent": info_parent,
            "info_key": take_pool(&self.key, np.uint64)[order][decisions],
        }
