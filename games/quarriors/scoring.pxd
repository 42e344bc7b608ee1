# cython: language_level=3
"""Scoring: in phase 1, at a kill, and the abilities that follow."""
from libc.stdint cimport int32_t, uint8_t

from engine_ext.game cimport TERMINAL
from games.quarriors.reading cimport *
from games.quarriors.state cimport *
from games.quarriors.turn cimport *
from games.quarriors.zones cimport *


# ---- on-score abilities ----------------------------------------------------------------------------

cdef inline void collect(const Tables *T, State *s, const Creature *c) noexcept nogil:
    """Put the abilities of a scoring creature and its spells on the waiting list (A5, A126)."""
    cdef const FaceTable *f = eff(T, s, c)
    cdef int32_t j, kind
    s.discount += f.score_discount
    s.captures += f.score_captures
    if f.score_draw or f.score_swap or f.score_fetch or f.score_free or f.score_cull:
        if s.n_pend < MAX_PEND:
            s.pend[s.n_pend][0], s.pend[s.n_pend][1] = shape(c), c.die
            s.n_pend += 1
    if c.att:
        for j in range(SPELL_SLOTS):
            for kind in range(2):
                if att_get(T, c, j, kind) and face_of(T, s, spell_die(T, s, j, kind)).host_cullcapture:
                    for _k in range(att_get(T, c, j, kind)):
                        if s.n_pend < MAX_PEND:
                            s.pend[s.n_pend][0] = s.pend[s.n_pend][1] = spell_die(T, s, j, kind)
                            s.n_pend += 1

cdef inline bint usable(const Tables *T, const State *s, int32_t i) noexcept nogil:
    """Whether a waiting on-score ability can do anything now."""
    cdef const FaceTable *f = face_of(T, s, s.pend[i][0])
    cdef const Player *p = &s.player[s.active]
    cdef int32_t slot, seat, own = (s.pend[i][1] & ~LEFT) >> 3
    cdef bint there = not s.pend[i][1] & LEFT
    if f.score_draw and zone_sum(p.bag) + zone_sum(p.used) > 0:
        return True
    if (f.host_cullcapture or f.score_cull) and zone_sum(p.used) > 0:
        return True
    if f.score_swap and p.used[own] > 0:
        for seat in range(T.n_players):
            if seat != s.active and zone_sum(s.player[seat].used) > 0:
                return True
    if f.score_fetch:
        for slot in range(SLOTS):
            if p.used[slot] > (slot == own and there) and T.card[s.card[slot]].creature_die:
                return True
    if f.score_free:
        for slot in range(FIRST_SPELL, SLOTS):
            if s.card[slot] != NONE and s.wilds[slot] and T.card[s.card[slot]].cost < f.score_free:
                return True
    return False

cdef inline void resolve(const Tables *T, State *s, int32_t i) noexcept nogil:
    """Begin waiting on-score ability i (A4)."""
    cdef const FaceTable *f = face_of(T, s, s.pend[i][0])
    cdef uint8_t slot = (s.pend[i][1] & ~LEFT) >> 3
    cdef bint left = s.pend[i][1] & LEFT != 0
    cdef int32_t k
    for k in range(i, s.n_pend - 1):
        s.pend[k][0], s.pend[k][1] = s.pend[k + 1][0], s.pend[k + 1][1]
    s.n_pend -= 1
    s.pend[s.n_pend][0] = s.pend[s.n_pend][1] = 0
    if f.score_cull:
        push(s, Q_CULL, f.score_cull, 0, 0)
    if f.score_free:
        push(s, Q_TAKE, 1, f.score_free - 1, 0)
    if f.score_fetch:
        push(s, Q_FETCH, slot, left, 0)
    if f.score_swap and s.player[s.active].used[slot]:
        push(s, Q_SWAP, slot, 0, 0)
    if f.score_draw:
        push(s, Q_DRAW, f.score_draw, s.active, 0)
    if f.host_cullcapture:
        push(s, Q_CULLTAKE, f.host_cullcapture - 1, 0, 0)


# ---- scoring -------------------------------------------------------------------------------------

cdef inline void score_all(const Tables *T, State *s) noexcept nogil:
    """Phase 1: every unlocked creature scores (B23 to B25, A5 steps 1 and 2)."""
    cdef Player *p = &s.player[s.active]
    cdef int32_t i, n = count_unlocked(p), glory = 0
    cdef const FaceTable *f
    s.scored = n
    s.culls = 0 if T.lvd else n                                           # B28, D19
    if s.features & FEAT_LOCK:
        glory += locked_sum(T, s, s.active, True)
    for i in range(p.n_ready):
        if not unlocked(&p.ready[i]):
            continue
        f = eff(T, s, &p.ready[i])
        glory += T.card[s.card[shape(&p.ready[i]) >> 3]].glory + f.score_glory + f.score_others * (n - 1)
        glory += host_glory(T, s, &p.ready[i])
        collect(T, s, &p.ready[i])
        if f.score_cullspells:
            s.bonus = max(<int32_t>s.bonus, <int32_t>f.score_cullspells)
    if glory:
        gain_glory(T, s, glory)
    if s.node == TERMINAL:
        return
    if s.bonus:
        go(s, P_CULLSPELLS, s.bonus, 0, 0)
        s.bonus = 0
    else:
        go(s, P_SCORED, 0, 0, 0)

cdef inline void remove_scored(const Tables *T, State *s) noexcept nogil:
    """Scored dice and their spells to the pile (B26)."""
    cdef Player *p = &s.player[s.active]
    cdef int32_t i = 0
    while i < p.n_ready:
        if unlocked(&p.ready[i]):
            drop_attached(T, p, &p.ready[i])
            p.used[p.ready[i].die >> 3] += 1
            remove_creature(p, i)
        else:
            i += 1
    if s.culls:
        go(s, P_CULL, 0, 0, 0)
    else:
        go(s, P_DRAW, 0, 0, 0)
    if s.n_pend:
        push(s, P_ABILITY, 0, 0, 0)

cdef inline void score_now(const Tables *T, State *s) noexcept nogil:
    """Creatures that score when their player destroys another (A35 to A37, A127)."""
    cdef int32_t i
    cdef Player *p = &s.player[s.active]
    cdef Creature *c
    cdef const FaceTable *f
    pop(s)
    s.n_pend = 0
    for i in range(p.n_ready):                                            # all of them at once
        c = &p.ready[i]
        f = eff(T, s, c)
        if f.kill_score and unlocked(c):
            s.scored += 1
            collect(T, s, c)
            gain_glory(T, s, T.card[s.card[shape(c) >> 3]].glory + f.score_glory + host_glory(T, s, c))
            if s.node == TERMINAL:
                return
    i = 0
    while i < p.n_ready:
        c = &p.ready[i]
        if not eff(T, s, c).kill_score or not unlocked(c):
            i += 1
            continue
        drop_attached(T, p, c)
        p.used[c.die >> 3] += 1
        remove_creature(p, i)
    if s.n_pend:
        push(s, P_ABILITY, 1, 0, 0)
