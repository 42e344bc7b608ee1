# cython: language_level=3
"""A value for each seat: max^n (Luckhardt and Irani, 1986), where no bound of one seat prunes another's."""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memcpy, memset

from engine_ext.game cimport CHANCE, PLAYER_LIMIT, TERMINAL
from solvers.expectimax_search cimport *


cdef inline void search_vector(Search *s, int32_t level, int32_t depth, double *out) noexcept nogil:
    """Every seat's value of plies[level].state, each seat maximising its own."""
    cdef Ply *ply = &s.plies[level]
    cdef int32_t turn = s.ops.turn(s.tables, ply.state), count, i, k, action, best = -1
    cdef int64_t estimates = s.estimates
    cdef uint64_t key = 0
    cdef Entry *entry
    cdef double child[PLAYER_LIMIT]
    if not enter(s):
        return
    if turn == TERMINAL:
        s.ops.returns(s.tables, ply.state, out)
        return
    if depth == 0:
        take_estimate(s, ply.state, out)
        return
    if s.table != NULL:
        key = s.ops.state_key(s.tables, ply.state)
        entry = find_entry(s, key)
        if entry != NULL and serves(entry, depth):
            if not entry.depth & WHOLE:
                s.estimates += 1
            memcpy(out, &s.vectors[(entry - s.table) * s.n_players], s.n_players * sizeof(double))
            return
    if turn == CHANCE:
        memset(out, 0, s.n_players * sizeof(double))
        count = s.ops.outcomes(s.tables, ply.state, ply.ids, ply.scores)
        for i in range(count):
            step(s, level, ply.ids[i])
            search_vector(s, level + 1, depth - 1, child)
            if s.aborted:
                return
            for k in range(s.n_players):
                out[k] += ply.scores[i] * child[k]
    else:
        # Nothing is pruned, so the order matters only for ties, which go to the lowest id.
        count = s.ops.legal(s.tables, ply.state, ply.ids)
        for i in range(count):
            action = ply.ids[i]
            step(s, level, action)
            search_vector(s, level + 1, depth - 1, child)
            if s.aborted:
                return
            if best < 0 or child[turn] > out[turn]:
                best = action
                memcpy(out, child, s.n_players * sizeof(double))
    if s.table != NULL:
        store_entry(s, key, depth | WHOLE if s.estimates == estimates else depth, 0.0, 0.0, best, out)
