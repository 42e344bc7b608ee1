"""The arrays of a flat tree while they grow, its information sets, and the walk through a native game."""
import numpy as np

cimport cython
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memcpy

from engine_ext.debug cimport QUANDARY_CHECK
from engine_ext.game cimport (
    CHANCE, INFO_LIMIT, LEGAL_LIMIT, OUTCOME_LIMIT, TERMINAL, GameOps, hash_bytes, ops_info_bytes, ops_info_key,
)
from engine_ext.rng cimport rng_combine
from solvers.pools cimport (
    DONE, FULL, MISMATCH, NO_MEMORY, PAUSED, Frame, Pool, add_utilities, new_slots, pool_grow, put_slot, take_pool,
)
from solvers.tree cimport MIXED_SEQUENCES, NO_SEQUENCE


@cython.final
cdef class Builder:
    """What extraction makes a `FlatTree` of.

    Args:
        n_players: utilities a terminal.
        by_key: information sets by key alone, else by the player's own last sequence and key.
        by_node: every decision is an information set of its own.
    """

    def __cinit__(self, n_players, by_key, by_node=False):
        self.n_players = n_players
        self.by_key = by_key
        self.by_node = by_node
        self.player.item = 1
        self.info_player.item = 1
        self.prob.item = self.utility.item = self.info_key.item = self.info_exact.item = 8
        self.parent.item = self.first.item = self.count.item = self.infoset.item = self.action.item = 4
        self.info_first.item = self.info_parent.item = self.info_node.item = 4
        self.frames.item = sizeof(Frame)
        self.states.item = 1
        self.last.item = 4
        self.mask = 1023
        self.table = new_slots(self.mask)
        if self.table == NULL or pool_grow(&self.info_first, 1) < 0:
            raise MemoryError
        (<int32_t *>self.info_first.data)[0] = 0
        self.depth = -1

    def __dealloc__(self):
        cdef Pool *pools[17]
        pools[:] = [
            &self.player, &self.parent, &self.first, &self.count, &self.infoset, &self.action, &self.prob,
            &self.utility, &self.info_player, &self.info_first, &self.info_parent, &self.info_key,
            &self.info_exact, &self.info_node, &self.frames, &self.states, &self.last,
        ]
        for i in range(17):
            free(pools[i].data)
        free(self.table)

    cdef int add_nodes(self, int32_t parent, int32_t count) noexcept nogil:
        """Room for a node's children side by side; their first number, or a negative status."""
        cdef int64_t start = self.player.size
        cdef int32_t i
        if start + count > NODE_LIMIT:
            return -FULL
        if (pool_grow(&self.player, count) < 0 or pool_grow(&self.parent, count) < 0
                or pool_grow(&self.first, count) < 0 or pool_grow(&self.count, count) < 0
                or pool_grow(&self.infoset, count) < 0 or pool_grow(&self.action, count) < 0
                or pool_grow(&self.prob, count) < 0):
            return -NO_MEMORY
        for i in range(count):
            (<int32_t *>self.parent.data)[start + i] = parent
            (<int32_t *>self.action.data)[start + i] = -1
            (<double *>self.prob.data)[start + i] = 1.0
        return <int>start

    cdef int set_node(self, int32_t node, int32_t player, int32_t first, int32_t count, int32_t infoset) noexcept nogil:
        (<int8_t *>self.player.data)[node] = player
        (<int32_t *>self.first.data)[node] = first
        (<int32_t *>self.count.data)[node] = count
        (<int32_t *>self.infoset.data)[node] = infoset
        return DONE

    cdef int rehash(self) noexcept nogil:
        """A table four times as large; -1 without memory."""
        cdef uint64_t mask = self.mask * 4 + 3
        cdef int32_t *table = new_slots(mask)
        cdef int32_t i
        if table == NULL:
            return -1
        for i in range(<int32_t>self.info_player.size):
            put_slot(table, mask, self.place(i), i)
        free(self.table)
        self.table, self.mask = table, mask
        return 0

    cdef uint64_t place(self, int32_t infoset) noexcept nogil:
        """The hash of an information set that is there."""
        return self.hash_of((<int8_t *>self.info_player.data)[infoset], (<int32_t *>self.info_parent.data)[infoset],
                            (<uint64_t *>self.info_key.data)[infoset], (<uint64_t *>self.info_exact.data)[infoset])

    cdef uint64_t hash_of(self, int32_t player, int32_t last, uint64_t key, uint64_t exact) noexcept nogil:
        """The hash of an information set by what tells it from others."""
        if self.by_key:
            last = NO_SEQUENCE
        return rng_combine(key ^ exact, <uint64_t>player << 32 | <uint64_t>(last + 2))

    cdef int find_infoset(self, int32_t node, int32_t player, int32_t last, uint64_t key, uint64_t exact,
                          const int32_t *actions, int32_t count) noexcept nogil:
        """The information set of a decision node, made if new; or a negative status.

        Args:
            last: the player's own last sequence.
            key: the game's key.
            exact: a second hash of what the key hashes.
            actions: int32[count], the legal action ids.
        """
        cdef uint64_t slot = self.hash_of(player, last, key, exact) & self.mask
        cdef int32_t found, other
        while self.table[slot]:
            found = self.table[slot] - 1
            if ((<uint64_t *>self.info_key.data)[found] == key and (<uint64_t *>self.info_exact.data)[found] == exact
                    and (<int8_t *>self.info_player.data)[found] == player
                    and (self.by_key or (<int32_t *>self.info_parent.data)[found] == last)):
                other = (<int32_t *>self.info_node.data)[found]
                if (<int32_t *>self.count.data)[other] != count or memcmp(
                        (<int32_t *>self.action.data) + (<int32_t *>self.first.data)[other], actions, count * 4):
                    self.clash = found
                    return -MISMATCH
                if (<int32_t *>self.info_parent.data)[found] != last:
                    (<int32_t *>self.info_parent.data)[found] = MIXED_SEQUENCES
                    self.news |= not self.forgets
                    self.forgets = True
                return found
            slot = (slot + 1) & self.mask
        found = self.add_infoset(player, last, key, count)
        if found < 0 or pool_grow(&self.info_exact, 1) < 0 or pool_grow(&self.info_node, 1) < 0:
            return -NO_MEMORY
        (<uint64_t *>self.info_exact.data)[found] = exact
        (<int32_t *>self.info_node.data)[found] = node
        self.table[slot] = found + 1
        if <uint64_t>found * 2 > self.mask and self.rehash() < 0:
            return -NO_MEMORY
        return found

    cdef int add_infoset(self, int32_t player, int32_t last, uint64_t key, int32_t count) noexcept nogil:
        """A new information set; its number, or a negative status."""
        cdef int32_t found = <int32_t>self.info_player.size
        if (pool_grow(&self.info_player, 1) < 0 or pool_grow(&self.info_first, 1) < 0
                or pool_grow(&self.info_parent, 1) < 0 or pool_grow(&self.info_key, 1) < 0):
            return -NO_MEMORY
        (<int8_t *>self.info_player.data)[found] = player
        (<int32_t *>self.info_first.data)[found + 1] = (<int32_t *>self.info_first.data)[found] + count
        (<int32_t *>self.info_parent.data)[found] = last
        (<uint64_t *>self.info_key.data)[found] = key
        return found

    # ---- the native road -------------------------------------------------------------------

    cdef int open_native(self, const GameOps *ops, const void *tables, const void *state, int32_t node,
                         const int32_t *last, int32_t depth_left) noexcept nogil:
        """Fill in one node from its state and number its children. DONE or another status."""
        cdef int32_t ids[LEGAL_LIMIT]
        cdef double probs[OUTCOME_LIMIT]
        cdef uint8_t content[INFO_LIMIT]
        cdef int32_t seat = ops.turn(tables, state)
        cdef int32_t count, first, infoset = -1, size
        cdef int64_t row
        cdef uint64_t exact
        if seat == TERMINAL or depth_left == 0:
            row = add_utilities(&self.utility, ops, tables, state)
            if row < 0:
                return NO_MEMORY
            return self.set_node(node, TERMINAL, 0, 0, <int32_t>row)
        if seat == CHANCE:
            count = ops.outcomes(tables, state, ids, probs)
        else:
            count = ops.legal(tables, state, ids)
        QUANDARY_CHECK(count >= 1, "a node without moves")
        first = self.add_nodes(node, count)
        if first < 0:
            return -first
        memcpy((<int32_t *>self.action.data) + first, ids, count * sizeof(int32_t))
        if seat == CHANCE:
            memcpy((<double *>self.prob.data) + first, probs, count * sizeof(double))
        else:
            size = ops_info_bytes(ops, tables, state, seat, content)
            exact = hash_bytes(content, size, exact_seed())
            self.set_node(node, seat, first, count, -1)   # find_infoset may meet this very node
            infoset = self.find_infoset(node, seat, last[seat], ops_info_key(ops, tables, state, seat), exact,
                                        ids, count)
            if infoset < 0:
                return -infoset
        return self.set_node(node, seat, first, count, infoset)

    cdef int push(self, const GameOps *ops, int32_t node) noexcept nogil:
        """One more frame on the stack, with room for its state and sequences."""
        self.depth += 1
        if self.frames.size <= self.depth:
            if (pool_grow(&self.frames, 1) < 0 or pool_grow(&self.states, ops.state_size) < 0
                    or pool_grow(&self.last, self.n_players) < 0):
                return NO_MEMORY
        (<Frame *>self.frames.data)[self.depth].node = node
        (<Frame *>self.frames.data)[self.depth].next = 0
        return DONE

    cdef int start_native(self, const GameOps *ops, const void *tables, const void *state,
                          int32_t limit) noexcept nogil:
        """Open the root. `limit`: where the tree is cut, nodes below the root; -1: nowhere."""
        cdef int32_t seat
        cdef int status = self.add_nodes(-1, 1)
        if status < 0:
            return -status
        status = self.push(ops, 0)
        if status != DONE:
            return status
        memcpy(self.states.data, state, ops.state_size)
        for seat in range(self.n_players):
            (<int32_t *>self.last.data)[seat] = NO_SEQUENCE
        return self.open_native(ops, tables, state, 0, <int32_t *>self.last.data, limit)

    cdef int walk_native(self, const GameOps *ops, const void *tables, int64_t pause_at, int32_t limit) noexcept nogil:
        """Go on until the tree is whole (DONE) or has `pause_at` nodes (PAUSED)."""
        cdef Frame *frame
        cdef int32_t node, child, i, seat
        cdef char *state
        cdef int32_t *last
        cdef int status
        while self.depth >= 0:
            frame = (<Frame *>self.frames.data) + self.depth
            node, i = frame.node, frame.next
            if i == (<int32_t *>self.count.data)[node]:
                self.depth -= 1
                continue
            if self.player.size >= pause_at:
                return PAUSED
            frame.next = i + 1
            child = (<int32_t *>self.first.data)[node] + i
            status = self.push(ops, child)
            if status != DONE:
                return status
            state = self.states.data + <int64_t>self.depth * ops.state_size
            memcpy(state, state - ops.state_size, ops.state_size)
            ops.apply(tables, state, (<int32_t *>self.action.data)[child])
            last = (<int32_t *>self.last.data) + <int64_t>self.depth * self.n_players
            memcpy(last, last - self.n_players, self.n_players * sizeof(int32_t))
            seat = (<int8_t *>self.player.data)[node]
            if seat >= 0:
                last[seat] = (<int32_t *>self.info_first.data)[(<int32_t *>self.infoset.data)[node]] + i
            status = self.open_native(ops, tables, state, child, last, limit - self.depth)
            if status != DONE:
                return status
        return DONE

    # ---- the end ---------------------------------------------------------------------------

    cdef dict take(self):
        """The arrays by name; the builder is empty afterwards."""
        free(self.table)
        self.table = NULL
        return {
            "player": take_pool(&self.player, np.int8), "parent": take_pool(&self.parent, np.int32),
            "first": take_pool(&self.first, np.int32), "count": take_pool(&self.count, np.int32),
            "infoset": take_pool(&self.infoset, np.int32), "action": take_pool(&self.action, np.int32),
            "prob": take_pool(&self.prob, np.float64),
            "utility": take_pool(&self.utility, np.float64).reshape(-1, self.n_players),
            "info_player": take_pool(&self.info_player, np.int8), "info_first": take_pool(&self.info_first, np.int32),
            "info_parent": take_pool(&self.info_parent, np.int32), "info_key": take_pool(&self.info_key, np.uint64),
        }
