# cython: language_level=3
"""Declarations of the regret table of MCCFR without a tree."""
cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from engine_ext.rng cimport rng_combine


cdef struct Record:
    # One information set in the table; `count` regrets and `count` average weights follow it.
    uint64_t key             # the game's info_key
    int32_t player
    int32_t count            # actions


cdef inline double *regrets_of(Record *record) noexcept nogil:
    return <double *>(record + 1)


cdef inline double *totals_of(Record *record) noexcept nogil:
    return totals_beside(regrets_of(record), record.count)


cdef inline double *totals_beside(double *regrets, int32_t count) noexcept nogil:
    """The average weights of the set whose regrets these are."""
    return regrets + count


cdef inline int64_t size_of_record(int32_t count) noexcept nogil:
    """Bytes of a record with its regrets and weights."""
    return sizeof(Record) + 2 * <int64_t>count * sizeof(double)


@cython.final
cdef class RegretTable:
    cdef char *data          # records, one after another
    cdef int64_t used        # bytes
    cdef int64_t capacity    # bytes
    cdef int32_t *slots      # open addressing: record's place in units of 8 bytes, plus 1; 0 where free
    cdef uint64_t mask
    cdef int64_t n_records
    cdef bint full           # a set was left out

    cdef inline Record *find(self, uint64_t key, int32_t player, int32_t count, bint make) noexcept nogil:
        """The record of a set; null where there is none and none is to be made, or no room."""
        cdef uint64_t slot = rng_combine(key, player) & self.mask
        cdef Record *record
        cdef int64_t size = size_of_record(count)
        while self.slots[slot]:
            record = <Record *>(self.data + <int64_t>(self.slots[slot] - 1) * 8)
            if record.key == key and record.player == player and record.count == count:
                return record
            slot = (slot + 1) & self.mask
        if not make:
            return NULL
        if self.used + size > self.capacity or self.n_records * 4 > <int64_t>self.mask * 3:
            self.full = True
            return NULL
        record = <Record *>(self.data + self.used)
        record.key, record.player, record.count = key, player, count
        self.slots[slot] = <int32_t>(self.used // 8 + 1)
        self.used += size
        self.n_records += 1
        return record

    cdef contents(self)
    cdef int fill(self, const uint8_t[::1] block) except -1
    cdef keyed(self)
