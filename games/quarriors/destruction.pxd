# cython: language_level=3
"""One destruction from the doomed creatures to all that follows from it (A1), and the Locked Area."""
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memset

from games.quarriors.reading cimport *
from games.quarriors.state cimport *
from games.quarriors.turn cimport *
from games.quarriors.zones cimport *


# ---- the Locked Area -----------------------------------------------------------------------------

cdef inline void unlock(const Tables *T, State *s, int32_t seat) noexcept nogil:
    """The locked die leaves: to the Spent Pile in its owner's turn, else to the pile (LK6, A106)."""
    cdef Player *p = &s.player[seat]
    cdef int32_t i = locked_index(p)
    if i < 0:
        return
    drop_attached(T, p, &p.ready[i])
    if seat == s.active:
        spend(T, s, p.ready[i].die >> 3)
    else:
        p.used[p.ready[i].die >> 3] += 1
    remove_creature(p, i)

cdef inline void lock_die(const Tables *T, State *s, int32_t seat, uint8_t die) noexcept nogil:
    """A pool die goes to a Locked Area and pushes out what lay there (LK2, LK5, LK22, LK23)."""
    cdef Player *p = &s.player[seat]
    cdef Creature *c
    pool_take(T, s, die)
    unlock(T, s, seat)
    if p.n_ready == MAX_READY:
        p.used[die >> 3] += 1
        return
    c = &p.ready[p.n_ready]
    memset(c, 0, sizeof(Creature))
    c.die, c.copy, c.flags = die, NONE, F_LOCKED
    p.n_ready += 1
    if seat == s.active:
        c.flags |= F_RECOPIED                                             # its owner cannot pay it off now (LK7)
        s.flags |= S_LOCKED
        if face_of(T, s, die).n_ops:
            push(s, Q_STEPS, die, 0, 1)


# ---- destruction ---------------------------------------------------------------------------------

cdef inline void open_event(State *s, uint8_t cause, uint8_t level, uint8_t defense, uint8_t killer) noexcept nogil:
    s.ev_cause, s.ev_level, s.ev_defense, s.ev_killer = cause, level, defense, killer
    push(s, Q_EVENT, 0, 0, 0)

cdef inline bint still_doomed(const Tables *T, const State *s, int32_t seat, const Creature *c) noexcept nogil:
    """The destroying condition, checked again after every answer (W2)."""
    if s.ev_cause == EV_DAMAGE:
        return s.rem >= defense_of(T, s, seat, c)
    if s.ev_cause == EV_LEVEL:
        return level_of(T, s, c) <= s.ev_level
    if s.ev_cause == EV_SPELL:
        return (level_of(T, s, c) <= s.ev_level and defense_of(T, s, seat, c) <= s.ev_defense
                and may_target(T, s, s.active, seat, c))
    if s.ev_cause == EV_SPELL_LIGHT or s.ev_cause == EV_SPELL_DARK:       # on a creature of that energy
        return (level_of(T, s, c) <= s.ev_level and defense_of(T, s, seat, c) <= s.ev_defense
                and may_target(T, s, s.active, seat, c)
                and T.card[s.card[shape(c) >> 3]].energy == (1 if s.ev_cause == EV_SPELL_LIGHT else 2))
    if s.ev_cause == EV_ABILITY:
        return level_of(T, s, c) <= s.ev_level and defense_of(T, s, seat, c) <= s.ev_defense
    if s.ev_cause == EV_CLASS:
        return shape(c) >> 3 == s.ev_level
    return eff(T, s, c).no_bq and bq_count(T, s, seat) == 0

cdef inline void recheck(const Tables *T, State *s) noexcept nogil:
    cdef int32_t seat, i
    cdef Creature *c
    for seat in range(T.n_players):
        for i in range(s.player[seat].n_ready):
            c = &s.player[seat].ready[i]
            if c.flags & F_DOOMED and not still_doomed(T, s, seat, c):
                c.flags &= ~(F_DOOMED | F_KEEP)
                c.flags |= F_SAFE                # saved: no damage any more (C5, D43)
                if s.ev_cause == EV_DAMAGE:
                    s.rem = 0                # the chosen creature holds: his defence ends (B70)

cdef inline void destroy_doomed(const Tables *T, State *s) noexcept nogil:
    """Steps 2 to 6 of A1, once the set is fixed."""
    cdef int32_t seat, offset, i, slot, killed = 0, n = T.n_players
    cdef uint8_t draws[MAX_SEATS][MAX_DRAW + 1]     # seat, dice of one draw: how many draws
    cdef uint8_t killer = s.ev_killer
    cdef bint fight = s.ev_cause == EV_DAMAGE or s.ev_cause == EV_LEVEL
    cdef Creature *c
    cdef Creature gone
    cdef Player *p
    cdef const FaceTable *f
    memset(draws, 0, sizeof(draws))
    pop(s)
    for seat in range(n):
        for i in range(s.player[seat].n_ready):
            killed += (s.player[seat].ready[i].flags & F_DOOMED) != 0
    if killed == 0:
        if s.stack[s.n_stack - 1].op == Q_STEPS:
            s.stack[s.n_stack - 1].c = 0                                  # nothing destroyed, no "and then" (D30)
        return
    for seat in range(n):
        i = locked_index(&s.player[seat])
        if i >= 0 and s.player[seat].ready[i].flags & F_DOOMED:
            unlock(T, s, seat)                                            # A115: unlocked, not destroyed
            killed -= 1
    if killed == 0:
        return
    if killer != NONE:
        # A3: Hag's Quiddity now; then Mighty Deathdealer (below), Strong Deathdealer, the Spirits. Pushed in reverse.
        for slot in range(SLOTS - 1, 0, -1):
            if s.player[killer].aside[slot]:
                push(s, Q_ASIDE, slot, s.player[killer].aside[slot], 0)      # A26: not those that go aside now
    if s.ev_cause == EV_DAMAGE:
        p = &s.player[s.defender]
        for i in range(p.n_ready):
            if p.ready[i].flags & F_DOOMED:
                s.rem -= defense_of(T, s, s.defender, &p.ready[i])
                break
    if fight:
        s.foes_hit |= 1 << s.defender                                     # A70
        if not s.first_kill and s.ev_cause == EV_DAMAGE:
            s.rem += s.bonus                  # A34; after a kill of Quake Dragon's it is in the total
        s.first_kill = 1
    for offset in range(n):
        seat = (s.active + offset) % n
        p = &s.player[seat]
        i = 0
        while i < p.n_ready:
            c = &p.ready[i]
            if not c.flags & F_DOOMED:
                i += 1
                continue
            f = eff(T, s, c)
            drop_attached(T, p, c)
            draws[seat][f.dead_draw] += 1                                 # each an ability of its own (A1, LK25)
            gone = c[0]                                                   # its record stands (B69, A29)
            if gone.flags & F_KEEP:                                       # A20, A60; a fresh copy (K27)
                memset(c, 0, sizeof(Creature))
                c.die, c.copy, c.flags = gone.die, NONE, F_SAFE
                if face_of(T, s, c.die).copy_enter:
                    c.flags |= F_MARK
                i += 1
                continue
            remove_creature(p, i)
            slot = gone.die >> 3
            if f.dead_aside and (not p.charm or gone.flags & F_ASIDE):
                p.aside[slot] += 1
            elif f.dead_pool or p.charm:
                if seat == s.active:
                    pool_add(T, s, gone.die)                              # A24
                else:
                    p.wait[slot] += 1
            else:
                p.used[slot] += 1
    if killer != NONE:
        p = &s.player[killer]
        for i in range(p.n_ready):
            f = eff(T, s, &p.ready[i])
            if f.kill_quid and unlocked(&p.ready[i]):
                add_quid(s, 0, f.kill_quid * killed)
        push(s, Q_KILLS, 0, 0, 0)
    for offset in range(n - 1, -1, -1):
        seat = (s.active + offset) % n
        for i in range(MAX_DRAW, 0, -1):
            if draws[seat][i]:
                push(s, Q_DRAWS, i, seat, draws[seat][i])
    for offset in range(n - 1, -1, -1):                                   # before any draw (A1): each that returned
        seat = (s.active + offset) % n
        for i in range(s.player[seat].n_ready):
            if s.player[seat].ready[i].flags & F_MARK:
                push(s, Q_COPY, seat, 0, 0)

cdef inline bint doom_without_bq(const Tables *T, State *s) noexcept nogil:
    """The check after every change of Basic Quiddity (A46)."""
    cdef int32_t seat, i, op = s.stack[s.n_stack - 1].op
    cdef bint found = False
    cdef Creature *c
    if op in (P_DEAL, Q_DRAW, Q_ROLL, Q_EVENT, Q_ASIDE, Q_KILLS, Q_COPY, Q_REROLL, Q_TARGET, Q_RETURN, Q_DRAWS):
        return False
    for seat in range(T.n_players):
        for i in range(s.player[seat].n_ready):
            c = &s.player[seat].ready[i]
            if unlocked(c) and eff(T, s, c).no_bq and bq_count(T, s, seat) == 0:
                c.flags |= F_DOOMED
                found = True
    if found:
        open_event(s, EV_NO_BQ, 0, 0, NONE)
    return found
