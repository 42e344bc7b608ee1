"""The regret table of MCCFR without a tree: information sets by key, made as they are met, in bounded memory."""
import numpy as np

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy

from engine_ext.game cimport LEGAL_LIMIT

from engine_ext.errors import SavedStateError, TooLargeError


@cython.final
cdef class RegretTable:
    """Information sets by (key, player), in one block of memory of fixed size.

    Args:
        max_bytes: memory of the block and of the slots that find records in it, at least 64 KB.
    """

    def __cinit__(self, int64_t max_bytes):
        cdef int64_t n_slots = 1 << 10
        while n_slots * 2 * sizeof(int32_t) <= max_bytes // 8:
            n_slots *= 2
        self.mask = n_slots - 1
        self.capacity = min(max_bytes - n_slots * <int64_t>sizeof(int32_t), (<int64_t>1 << 34) - 64)
        # calloc gives pages that take no memory until they are written.
        self.slots = <int32_t *>calloc(n_slots, sizeof(int32_t))
        self.data = <char *>calloc(self.capacity, 1)
        if self.slots == NULL or self.data == NULL:
            raise MemoryError

    def __dealloc__(self):
        free(self.slots)
        free(self.data)

    cdef contents(self):
        """The block in use, uint8[used]."""
        out = np.zeros(self.used, dtype=np.uint8)
        cdef uint8_t[::1] view = out
        if self.used:
            memcpy(&view[0], self.data, self.used)
        return out

    cdef int fill(self, const uint8_t[::1] block) except -1:
        """Take over a block that `contents` gave, into an empty table.

        Raises:
            SavedStateError: the block does not consist of whole records.
            TooLargeError: it does not fit.
        """
        cdef int64_t at = 0, size
        cdef const Record *record
        cdef Record *made
        while at < block.shape[0]:
            if at + <int64_t>sizeof(Record) > block.shape[0]:
                raise SavedStateError("the table of a checkpoint ends within a record")
            record = <const Record *>&block[at]
            size = size_of_record(record.count)
            if not 0 < record.count <= LEGAL_LIMIT or at + size > block.shape[0]:
                raise SavedStateError(f"the table of a checkpoint has a record of {record.count} actions")
            made = self.find(record.key, record.player, record.count, True)
            if made == NULL:
                raise TooLargeError(f"the checkpoint's {block.shape[0]} bytes do not fit into {self.capacity}")
            memcpy(regrets_of(made), &block[at + <int64_t>sizeof(Record)], size - <int64_t>sizeof(Record))
            at += size
        return 0

    cdef keyed(self):
        """The average policy of all records, as `KeyedPolicy` takes it.

        Returns:
            (keys uint64[n], players int32[n], first int64[n + 1], probabilities float64[first[n]]); uniform where
            nobody has passed.
        """
        cdef int64_t at = 0, i = 0, s = 0
        cdef int64_t n_values = (self.used - self.n_records * <int64_t>sizeof(Record)) // (2 * <int64_t>sizeof(double))
        cdef uint64_t[::1] keys = np.zeros(self.n_records, dtype=np.uint64)
        cdef int32_t[::1] players = np.zeros(self.n_records, dtype=np.int32)
        cdef int64_t[::1] first = np.zeros(self.n_records + 1, dtype=np.int64)
        cdef double[::1] probs = np.zeros(n_values)
        cdef Record *record
        cdef double total
        cdef int32_t a
        for i in range(self.n_records):
            record = <Record *>(self.data + at)
            keys[i], players[i] = record.key, record.player
            total = 0.0
            for a in range(record.count):
                total += totals_of(record)[a]
            for a in range(record.count):
                probs[s + a] = totals_of(record)[a] / total if total > 0.0 else 1.0 / <double>record.count
            s += record.count
            first[i + 1] = s
            at += size_of_record(record.count)
        return np.asarray(keys), np.asarray(players), np.asarray(first), np.asarray(probs)
