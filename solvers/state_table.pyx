"""A table of states: each distinct state of a game gets a number, in the order of arrival.

States are found by `state_key` and told apart by their bytes, so that two states whose 64-bit keys
collide stay two. Exact solvers count on it.
"""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp, memcpy

cimport cython

from engine_ext.position cimport Rules


@cython.final
cdef class StateTable:
    """An empty table for one game; not for use from Python.

    Args:
        rules: the game.
        limit: most states, at most 2**31 - 2.
    """

    def __cinit__(self, Rules rules not None, int64_t limit):
        self.rules = rules
        self.ops = &rules.ops
        self.tables = rules.tables
        self.size = rules.ops.state_size
        self.limit = min(limit, <int64_t>2147483646)
        self.n_states = self.room = 0
        self.states = NULL
        self.keys = NULL
        self.slots = NULL

    def __dealloc__(self):
        free(self.states)
        free(self.keys)
        free(self.slots)

    cdef int64_t find(self, const void *state) noexcept nogil:
        """The state's number, or -1."""
        cdef uint64_t key, slot
        cdef int64_t number
        if self.room == 0:
            return -1
        key = self.ops.state_key(self.tables, state)
        slot = key & self.slot_mask
        while self.slots[slot]:
            number = self.slots[slot] - 1
            if self.keys[number] == key and memcmp(self.states + number * self.size, state, self.size) == 0:
                return number
            slot = (slot + 1) & self.slot_mask
        return -1

    cdef int64_t intern(self, const void *state, bint *fresh) noexcept nogil:
        """The state's number, a new one where it is not known yet; -1 when the table is full."""
        cdef uint64_t key = self.ops.state_key(self.tables, state)
        cdef uint64_t slot
        cdef int64_t number
        fresh[0] = False
        if self.room:
            slot = key & self.slot_mask
            while self.slots[slot]:
                number = self.slots[slot] - 1
                if self.keys[number] == key and memcmp(self.states + number * self.size, state, self.size) == 0:
                    return number
                slot = (slot + 1) & self.slot_mask
        if self.n_states == self.room:
            if not self.grow():
                return -1
            slot = key & self.slot_mask
            while self.slots[slot]:
                slot = (slot + 1) & self.slot_mask
        fresh[0] = True
        number = self.n_states
        self.n_states += 1
        self.keys[number] = key
        memcpy(self.states + number * self.size, state, self.size)
        self.slots[slot] = <int32_t>(number + 1)
        return number

    cdef bint grow(self) noexcept nogil:
        """Double the room; False at the limit or without memory (what was there stays)."""
        cdef int64_t room = min(2 * self.room if self.room else 1024, self.limit), number
        cdef uint64_t n_slots = 1024, slot
        cdef void *block
        if room <= self.room:
            return False
        block = realloc(self.states, room * self.size)
        if block == NULL:
            return False
        self.states = <unsigned char *>block
        block = realloc(self.keys, room * sizeof(uint64_t))
        if block == NULL:
            return False
        self.keys = <uint64_t *>block
        while n_slots < 2 * <uint64_t>room:
            n_slots *= 2
        block = calloc(n_slots, sizeof(int32_t))
        if block == NULL:
            return False
        free(self.slots)
        self.slots = <int32_t *>block
        self.slot_mask = n_slots - 1
        for number in range(self.n_states):
            slot = self.keys[number] & self.slot_mask
            while self.slots[slot]:
                slot = (slot + 1) & self.slot_mask
            self.slots[slot] = <int32_t>(number + 1)
        self.room = room
        return True
