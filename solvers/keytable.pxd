# cython: language_level=3
"""A table from 64-bit keys to node numbers, for the searches that find their nodes by key.

Open addressing with linear probing at a load of at most one half; the slot is the top bits of
the key times an odd constant, so keys that count 0, 1, 2, ... spread as well as hashes do.
Plain C throughout: it grows, fills and is asked without the GIL. Nothing is ever removed.
"""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset


cdef enum:
    NO_NODE = -1


cdef struct KeySlot:
    uint64_t key
    int32_t node     # NO_NODE: the slot is free
    int32_t unused   # fills the slot up to 16 bytes: four to a cache line, none across two


cdef struct KeyTable:
    KeySlot *slots
    int32_t shift    # 64 - log2(number of slots)
    int64_t used


cdef inline bint keytable_init(KeyTable *table, int32_t log2_slots) noexcept nogil:
    """Make an empty table of 2**log2_slots slots; False when memory does not suffice."""
    cdef size_t size = (<size_t>1 << log2_slots) * sizeof(KeySlot)
    table.slots = <KeySlot *>malloc(size)
    table.shift = 64 - log2_slots
    table.used = 0
    if table.slots == NULL:
        return False
    memset(table.slots, 0xFF, size)   # every node NO_NODE
    return True


cdef inline void keytable_free(KeyTable *table) noexcept nogil:
    free(table.slots)
    table.slots = NULL


cdef inline KeySlot *keytable_slot(const KeyTable *table, uint64_t key) noexcept nogil:
    """The slot that holds the key, or the free slot where it belongs."""
    cdef uint64_t mask = ((<uint64_t>1) << (64 - table.shift)) - 1
    cdef uint64_t at = (key * <uint64_t>0x9E3779B97F4A7C15u) >> table.shift
    while table.slots[at].node != NO_NODE and table.slots[at].key != key:
        at = (at + 1) & mask
    return &table.slots[at]


cdef inline bint keytable_reserve(KeyTable *table) noexcept nogil:
    """Make room for one more key, doubling the table at half load; False when memory does not
    suffice, and then the table is as it was. Slots found before may move."""
    cdef KeyTable larger
    cdef KeySlot *slot
    cdef int64_t slots = <int64_t>1 << (64 - table.shift)
    cdef int64_t i
    if 2 * (table.used + 1) <= slots:
        return True
    if not keytable_init(&larger, 64 - table.shift + 1):
        return False
    for i in range(slots):
        if table.slots[i].node != NO_NODE:
            slot = keytable_slot(&larger, table.slots[i].key)
            slot[0] = table.slots[i]
    larger.used = table.used
    free(table.slots)
    table[0] = larger
    return True


cdef inline void keytable_put(KeyTable *table, uint64_t key, int32_t node) noexcept nogil:
    """Enter a key that is not there yet; call keytable_reserve before."""
    cdef KeySlot *slot = keytable_slot(table, key)
    slot.key = key
    slot.node = node
    table.used += 1
