# cython: language_level=3
"""The loop from one decision or chance node to the next."""
from libc.stdint cimport int32_t, uint64_t

from engine_ext.game cimport CHANCE, TERMINAL
from engine_ext.rng cimport rng_combine
from games.quarz.actions cimport choose
from games.quarz.chance cimport list_outcomes, settle_chance
from games.quarz.frames cimport note, pop, top
from games.quarz.hidden cimport hides_pass
from games.quarz.moves cimport *
from games.quarz.options cimport list_choices
from games.quarz.state cimport *
from games.quarz.steps cimport proceed, skip


cdef inline void see_choice(const Tables *t, State *s, int32_t id) noexcept nogil:
    """Who sees a decision: all, but for favor cards and for what was not played where it could be."""
    cdef int32_t seat = s.actor
    if top(s).kind == K_FAVOR or (id == A_PASS and hides_pass(s)):
        s.info[seat] = rng_combine(s.info[seat], <uint64_t>5 << 32 | id)
    else:
        note(t, s, <uint64_t>(6 + seat) << 32 | id)

cdef inline int32_t run(const Tables *t, State *s, int32_t *out) noexcept nogil:
    """Go on to the next decision or chance node with at least two branches, or to the end.
    Returns the number of choices, which stand in `out`; at chance nodes and at the end 0."""
    cdef double probs[N_OUTCOMES]
    cdef int32_t n
    while s.actor != TERMINAL:
        if proceed(t, s):
            continue
        if s.actor == CHANCE:
            n = list_outcomes(t, s, out, probs)
            if n > 1:
                return 0
            if n == 1:
                settle_chance(t, s, out[0])
            else:
                pop(s)
            continue
        n = list_choices(t, s, out)
        if n > 1:
            return n
        if n == 0:
            skip(t, s)
        else:
            see_choice(t, s, out[0])
            choose(t, s, out[0])
    return 0

cdef inline int32_t step(const Tables *t, State *s, int32_t id, int32_t *out) noexcept nogil:
    """One step, then on to the next node; its choices stand in `out`."""
    if s.actor == CHANCE:
        settle_chance(t, s, id)
    else:
        see_choice(t, s, id)
        choose(t, s, id)
    return run(t, s, out)
