"""A table of states: each distinct state of a game gets a number, in the order of arrival.

States are found by `state_key` and told apart by their bytes, so that two states whose 64-bit keys
collide stay two. Exact solvers count on it.

`require_room` tells beforehand when a game has far more states than a table may hold.
"""
import time

import numpy as np
from scipy.stats import chi2

from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport calloc, free, realloc
from libc.string cimport memcmp, memcpy

cimport cython

from engine_ext.game cimport LEGAL_LIMIT, TERMINAL, CHANCE, GameOps
from engine_ext.position cimport Position, Rules
from engine_ext.rng cimport Rng, rng_below, rng_seed
from solvers.common cimport StateBuffer
from solvers.stopping cimport look_up

from engine_ext.errors import TooLargeError

_DEPTHS = (4, 6, 9, 13, 19, 28, 42, 63, 94, 141, 211, 316, 474, 711, 1066, 1600)   # where games are looked at, steps
_GAMES = (2_000, 20_000, 200_000)   # after so many, what they show is looked at
_MOST_GAMES = max(_GAMES)
_SECONDS = 6.0        # for all of it, so that a refusal comes within 10 s
_ODDS = 1e-3     # that the bound is too high, over all depths and looks together


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


# ---- how many states there are, at least --------------------------------------------------------

def require_room(Position position not None, most_states, what, seconds=None):
    """Raise TooLargeError when far more states can be reached from a position than may be kept.

    Random games are looked at after the same number of steps. Were there N states to be in, n games
    would show n(n - 1) / 2N pairs that agree, or more where some states are likelier than others (the
    birthday problem); so few such pairs mean many states. It is a lower bound, wrong with odds of one in
    a thousand; a game that it does not refuse may still be too large.

    Args:
        position: where games start.
        most_states: what may be kept.
        what: the parameter that says so, with its value, for the message.
        seconds: how long to play at most; None for six seconds.
    """
    cdef const GameOps *ops = position.ops
    cdef const void *tables = position.tables
    cdef StateBuffer buffer
    cdef void *state = buffer.bytes
    cdef int32_t depths[32]
    cdef int32_t ids[LEGAL_LIMIT]
    cdef int32_t n_depths = len(_DEPTHS), step, seat, next_depth, game, i
    cdef Rng rng
    for i in range(n_depths):
        depths[i] = _DEPTHS[i]
    keys = np.zeros((n_depths, _MOST_GAMES), dtype=np.uint64)
    cdef uint64_t[:, ::1] seen = keys
    cdef int32_t[::1] counts = np.zeros(n_depths, dtype=np.int32)
    began = time.perf_counter()
    most_s = _SECONDS if seconds is None else min(_SECONDS, seconds)
    rng_seed(&rng, 0)
    for game in range(_MOST_GAMES):
        if not game & 0xFF:
            look_up()
            if game and time.perf_counter() - began > most_s:
                break
        if game in _GAMES and _is_settled(position, most_states, what, keys, np.asarray(counts)):
            return
        if n_depths == len(_DEPTHS) and (game == _GAMES[0] or time.perf_counter() - began > most_s / 4):
            # From here on games are played no further than to where fewest of them agree.
            n_depths = _most_spread(keys, np.asarray(counts), game) + 1
        with nogil:
            memcpy(state, position.state, ops.state_size)
            next_depth = step = 0
            seat = ops.turn(tables, state)
            while seat != TERMINAL and next_depth < n_depths:
                if step == depths[next_depth]:
                    seen[next_depth, counts[next_depth]] = ops.state_key(tables, state)
                    counts[next_depth] += 1
                    next_depth += 1
                if seat == CHANCE:
                    ops.apply(tables, state, ops.sample(tables, state, &rng))
                else:
                    ops.apply(tables, state, ids[rng_below(&rng, ops.legal(tables, state, ids))])
                step += 1
                seat = ops.turn(tables, state)
    _is_settled(position, most_states, what, keys, np.asarray(counts))


def _most_spread(keys, counts, games):
    """The first depth, of those that most games come to, at which the fewest states were met twice; two
    further, where there are, since more games will meet some twice there, too."""
    repeated = [n - len(np.unique(keys[i, :n])) for i, n in enumerate(counts.tolist()) if 2 * n >= games]
    return min(int(np.argmin(repeated)) + 2, len(repeated) - 1) if repeated else 0


def _is_settled(Position position, most_states, what, keys, counts):
    """Raise where there are too many states; else whether more games could hardly show that."""
    odds = _ODDS / len(_GAMES) / len(counts)
    settled = True
    for i, n in enumerate(counts.tolist()):
        if n < 2 or 2 * n < counts.max():     # games that had ended, or are no longer played so far
            continue
        _, repeats = np.unique(keys[i, :n], return_counts=True)
        agreeing, pairs = int((repeats * (repeats - 1) // 2).sum()), n * (n - 1) / 2
        # The largest mean that would show so few agreeing pairs, and the least that would show so many (Poisson).
        states = pairs / (float(chi2.ppf(1 - odds, 2 * (agreeing + 1))) / 2)
        if states > most_states:
            raise TooLargeError(
                f"{position.rules.name}: it has more than {states:.2g} states: of {n} random games only {agreeing} "
                f"pairs are in one state after {_DEPTHS[i]} steps. At most {most_states:.3g} fit ({what}): use mcts or "
                "a smaller scenario")
        settled = settled and agreeing > 0 and pairs / (float(chi2.ppf(odds, 2 * agreeing)) / 2) < most_states
    return settled
