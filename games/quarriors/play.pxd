# cython: language_level=3
"""The loop from one question to the next."""
from libc.stdint cimport int32_t

from engine_ext.game cimport CHANCE, TERMINAL
from engine_ext.rng cimport Rng
from games.quarriors.actions cimport act
from games.quarriors.chance cimport apply_chance, chance_open, draw_fast, roll_fast, sample
from games.quarriors.destruction cimport doom_without_bq
from games.quarriors.options cimport options
from games.quarriors.reading cimport is_chance
from games.quarriors.state cimport *
from games.quarriors.steps cimport step
from games.quarriors.zones cimport sort_all


cdef inline int32_t run(const Tables *T, State *s, int32_t *out, Rng *rng, int32_t *steps) noexcept nogil:
    """Go on to the next real question: returns the number of its options (in out), 0 at the end, -1
    at a chance node. With an rng, chance is played instead; steps counts the nodes it stands for."""
    cdef int32_t n, seat, op
    while s.node != TERMINAL:
        if s.features & FEAT_NO_BQ and doom_without_bq(T, s):
            continue
        op = s.stack[s.n_stack - 1].op
        if is_chance(op):
            if rng == NULL:
                if chance_open(T, s):
                    sort_all(T, s)
                    s.node = CHANCE
                    return -1
            elif op == Q_DRAW:
                steps[0] += draw_fast(T, s, rng)
            elif op == Q_ROLL:
                steps[0] += roll_fast(T, s, rng)
            elif chance_open(T, s):
                apply_chance(T, s, sample(T, s, rng))
                steps[0] += 1
            continue
        sort_all(T, s)
        n = options(T, s, out, &seat)
        if n > 1:
            if s.decisions >= FORCED and out[n - 1] == A_DONE << SHIFT:
                act(T, s, out[n - 1])
                continue
            s.node = seat
            return n
        if n == 1:
            act(T, s, out[0])
        else:
            step(T, s)
    sort_all(T, s)
    return 0
