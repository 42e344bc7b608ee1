# cython: language_level=3
"""What a step holds that its two ends do not show: the attack as it begins."""
from libc.stdint cimport int32_t

from engine_ext.game cimport CHANCE, TERMINAL
from games.quarriors.actions cimport act
from games.quarriors.chance cimport apply_chance, chance_open
from games.quarriors.destruction cimport doom_without_bq
from games.quarriors.ids cimport from_id
from games.quarriors.options cimport options
from games.quarriors.reading cimport is_chance
from games.quarriors.state cimport *
from games.quarriors.steps cimport step
from games.quarriors.zones cimport sort_all


cdef inline bint to_attack(const Tables *T, State *s, int32_t id) noexcept nogil:
    """Carry an action or an outcome out, as `apply` and `run` do, but stop where an attack begins. Returns
    whether one did; s is then at that moment, its records fixed (A29), nobody hit yet."""
    cdef int32_t out[BUFFER]
    cdef int32_t n, seat
    cdef bint ongoing = s.n_rec > 0
    if s.node == CHANCE:
        s.node = 0
        apply_chance(T, s, id)
    else:
        s.decisions += 1
        act(T, s, from_id(T, s, id))
    while s.node != TERMINAL:
        if s.n_rec == 0:
            ongoing = False
        elif not ongoing:
            return True
        if s.features & FEAT_NO_BQ and doom_without_bq(T, s):
            continue
        if is_chance(s.stack[s.n_stack - 1].op):
            if chance_open(T, s):
                return False
            continue
        sort_all(T, s)
        n = options(T, s, out, &seat)
        if n > 1:
            if s.decisions < FORCED or out[n - 1] != A_DONE << SHIFT:
                return False
            act(T, s, out[n - 1])
            continue
        if n == 1:
            act(T, s, out[0])
        else:
            step(T, s)
    return False
