# cython: language_level=3
"""The set-up: mobs, camps and monsters, shrine cards, tiles, opening hands (rules 5 to 20)."""
from libc.stdint cimport int8_t, int32_t
from libc.string cimport memcpy, memset

from games.quarz.field cimport home, rebuild, recount
from games.quarz.frames cimport pop, push
from games.quarz.state cimport *
from games.quarz.tableau cimport draw_cards, refresh


cdef inline void clear_table(const Tables *t, State *s) noexcept nogil:
    """What lies on the table before the set-up."""
    cdef int32_t i
    memset(s, 0, sizeof(State))
    for i in range(MONSTERS):
        s.who[i] = s.at[i] = -1
        s.slots[i][0] = s.slots[i][1] = s.slots[i][2] = -1
    for i in range(SEATS):
        s.favor_hand[i] = t.favor_mask if i < t.players else 0
        s.favor[i] = s.mob[i] = s.camp[i] = -1
        s.order[i] = i                                                      # Q9
        s.shrine_card[i] = -1
        if i < t.players:
            s.reactions[i] = t.reactions
    s.time_now = s.active = s.winner = s.idol_by = -1
    s.idol_at = t.altar                                                     # rule 13
    if t.placing:
        memcpy(s.pool_left, t.pool, sizeof(s.pool_left))
    memcpy(s.tile, t.laid, sizeof(s.tile))
    memcpy(s.turned, t.laid_turned, sizeof(s.turned))
    rebuild(t, s)

cdef inline int32_t taken(const Tables *t, const int8_t *chosen) noexcept nogil:
    """The mask of the mobs, or camps, that seats have; -1 is none."""
    cdef int32_t seat, mask = 0
    for seat in range(t.players):
        if chosen[seat] >= 0:
            mask |= 1 << chosen[seat]
    return mask

cdef inline void put_tile(const Tables *t, State *s, Frame *f, int32_t orientation) noexcept nogil:
    s.tile[f.d] = f.c + 1
    s.turned[f.d] = orientation
    f.a += 1
    f.step = 0
    if t.water[f.c][orientation] | t.crystal[f.c][orientation]:
        rebuild(t, s)

cdef inline void field_mob(const Tables *t, State *s, int32_t seat, int32_t left_out) noexcept nogil:
    """Rules 8-10, 14: three monsters of the mob (a scenario: the first ones), in camp, at full energy."""
    cdef int32_t j, k = 0, m
    for j in range(4):
        if j != left_out and k < t.squad:
            m = 3 * seat + k
            s.who[m] = 4 * s.mob[seat] + j
            s.at[m] = home(t, s, seat)
            s.slots[m][0] = s.slots[m][1] = s.slots[m][2] = -1
            s.deck[m] = ALL_CARDS & ~ULTIMATE if t.with_cards else 0
            s.gone[m] = 0 if t.with_cards else ALL_CARDS & ~ULTIMATE
            s.pool[m] = s.spent[m] = 0
            refresh(t, s, m)
            k += 1
    recount(t, s, seat)

cdef inline void set_up(const Tables *t, State *s, Frame *f) noexcept nogil:
    """One stage of the set-up; frames are pushed so that the first to act lies on top."""
    cdef int32_t stage = f.step, i, m
    f.step += 1
    if stage == 0:
        for i in range(t.players):                                          # rule 6: reverse turn order
            if t.draft:
                push(s, K_MOB, 0, i, 0)
            else:
                s.mob[i] = i
    elif stage == 1:
        for i in range(t.players - 1, -1, -1):
            if t.draft == 2:
                push(s, K_CAMP, 0, i, 0)
            else:
                s.camp[i] = i
    elif stage == 2:
        for i in range(t.players - 1, -1, -1):
            if t.draft and t.squad == 3:
                push(s, K_LEAVE, 0, i, 0)
            else:
                field_mob(t, s, i, 3)
    elif stage == 3:
        for i in range(t.n_shrines - 1, -1, -1):                            # rule 12
            push(s, K_SHRINE_CARD, i, 0, 0)
    elif stage == 4:
        if t.placing:
            push(s, K_TILE, 0, 0, 0)
    elif stage == 5:
        for m in range(3 * t.players - 1, -1, -1):                          # rule 11
            if s.at[m] >= 0:
                draw_cards(s, m, t.opening)
    elif stage == 6:
        s.time_left = t.n_stack
        if t.n_stack:
            push(s, K_TIME, 0, 0, 0)
    else:
        pop(s)
        push(s, K_ROUND, 0, 0, 0)
