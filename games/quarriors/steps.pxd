# cython: language_level=3
"""The steps of a turn that ask nothing."""
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memset

from games.quarriors.attack cimport *
from games.quarriors.casting cimport *
from games.quarriors.destruction cimport *
from games.quarriors.reading cimport *
from games.quarriors.scoring cimport *
from games.quarriors.state cimport *
from games.quarriors.turn cimport *
from games.quarriors.zones cimport *


cdef inline void ready_spells(const Tables *T, State *s) noexcept nogil:
    """Every spell icon that is not immediate goes to the Ready Area (B58, A89)."""
    cdef Player *p = &s.player[s.active]
    cdef int32_t j, kind
    cdef uint8_t face
    for j in range(SPELL_SLOTS):
        if s.card[FIRST_SPELL + j] == NONE or row(s.pool[FIRST_SPELL + j]) == 0:
            continue
        for kind in range(2):
            face = T.card[s.card[FIRST_SPELL + j]].spell_face[kind]
            if face != NONE and T.card[s.card[FIRST_SPELL + j]].face[face].kind & IS_SPELL:
                readied_add(p, j, kind, s.pool[FIRST_SPELL + j][face])
                s.pool[FIRST_SPELL + j][face] = 0

cdef inline bint mark_recopy(const Tables *T, State *s, int32_t seat, bint surcharge_only) noexcept nogil:
    """Mark the next creature of the seat that is asked whether it recopies."""
    cdef Player *p = &s.player[seat]
    cdef uint8_t dice[MAX_SEATS * MAX_READY]
    cdef int32_t i, k
    for i in range(p.n_ready):
        if may_recopy(T, s, seat, &p.ready[i]) and not p.ready[i].flags & F_DECLINED:
            if not surcharge_only:
                p.ready[i].flags |= F_MARK
                return True
            for k in range(copies(T, s, seat, &p.ready[i], dice, False)):
                if face_of(T, s, dice[k]).surcharge:
                    p.ready[i].flags |= F_MARK
                    return True
    return False

cdef inline void leave_fresh(State *s) noexcept nogil:
    while s.stack[s.n_stack - 1].op == Q_FRESH:
        pop(s)

cdef inline void clean_up(const Tables *T, State *s) noexcept nogil:
    """Phase 6 and the next turn (B84, B57, I28)."""
    cdef Player *p = &s.player[s.active]
    cdef int32_t slot, face, seat, i
    for slot in range(SLOTS):
        if row(s.pool[slot]):
            for face in range(8):
                p.used[slot] += s.pool[slot][face]
        p.used[slot] += p.wait[slot] + p.spent[slot]
        p.wait[slot] = p.spent[slot] = 0
    if T.lvd:                                                             # D7, D8
        p.aside[0] += p.used[0]
        p.used[0] = 0
    memset(s.pool, 0, sizeof(s.pool))
    memset(s.quid, 0, sizeof(s.quid))
    memset(s.avail, 0, sizeof(s.avail))
    for seat in range(T.n_players):
        s.player[seat].charm = 0
        for i in range(s.player[seat].n_ready):
            s.player[seat].ready[i].atk = s.player[seat].ready[i].dfn = 0
            s.player[seat].ready[i].flags &= F_LOCKED
    p.turns += 1
    s.turn += 1
    s.active = (s.active + 1) % T.n_players
    begin_turn(T, s)
    go(s, P_RECOPY, 0, 0, 0)
    if s.turn >= T.max_turns * T.n_players:                               # A103
        finish(T, s)

cdef inline void step(const Tables *T, State *s) noexcept nogil:
    """The top of the stack asks nothing (any more): carry it out or leave it."""
    cdef Frame *f = &s.stack[s.n_stack - 1]
    cdef int32_t i, slot, op = f.op
    if op == P_RECOPY:
        if not (s.features & FEAT_COPY and mark_recopy(T, s, s.active, False)):
            go(s, P_SCORE, 0, 0, 0)
    elif op == P_SCORE:
        score_all(T, s)
    elif op == P_CULLSPELLS:
        go(s, P_SCORED, 0, 0, 0)
    elif op == P_SCORED:
        remove_scored(T, s)
    elif op == P_ABILITY:
        s.n_pend = 0
        memset(s.pend, 0, sizeof(s.pend))
        pop(s)
    elif op == P_CULL:
        s.culls = 0
        go(s, P_DRAW, 0, 0, 0)
    elif op == P_DRAW:
        s.phase = 2
        i = T.draw
        if T.lvd:
            i = 2 if s.player[s.active].turns < 2 else 3                  # D11
            s.player[s.active].wait[0] += s.player[s.active].aside[0]
            s.player[s.active].aside[0] = 0
            go(s, P_MAIN, 0, 0, 0)
            push(s, P_SURCHARGE, 1, 0, 0)
        else:
            go(s, P_USE, 0, 0, 0)
        if s.features & FEAT_LOCK:
            i = max(0, i + locked_sum(T, s, s.active, False))
        push(s, Q_ROLL, 0, 0, 0)
        push(s, Q_DRAW, i, s.active, 0)
    elif op == P_USE or (op == P_MAIN and T.lvd):
        if lock_waits(T, s):                                              # LK4
            f.a = 1
            push(s, Q_LOCK, 0, 0, 0)
        else:
            go(s, P_ATTACK if T.lvd else P_READY, 0, 0, 0)
    elif op == P_READY:
        s.phase = 3
        ready_spells(T, s)
        go(s, P_MAIN, 0, 0, 0)
        push(s, P_SURCHARGE, 1, 0, 0)
    elif op == P_SURCHARGE:
        if (s.features & (FEAT_COPY | FEAT_SURCHARGE)) != FEAT_COPY | FEAT_SURCHARGE or not creature_in_pool(T, s):
            pop(s)
        elif f.a == T.n_players:
            pop(s)
        elif not mark_recopy(T, s, (s.active + f.a) % T.n_players, True):
            for i in range(s.player[(s.active + f.a) % T.n_players].n_ready):
                s.player[(s.active + f.a) % T.n_players].ready[i].flags &= ~F_DECLINED
            f.a += 1
    elif op == P_MAIN:
        go(s, P_ATTACK, 0, 0, 0)
    elif op == Q_SUMMONED:
        summoned(T, s)
    elif op == Q_CAPTURED:
        slot = f.a
        pop(s)
        s.wilds[slot] -= 1
        s.player[s.active].used[slot] += 1
        s.captures -= 1
        after_capture(T, s)
    elif op == Q_ANCHORED:
        slot = f.a
        s.flags |= S_ANCHORED
        go(s, Q_STEPS, slot * 8 + 6, 0, 1)
    elif op == Q_UNLOCKED:
        i = f.a
        pop(s)
        unlock(T, s, i)
    elif op == P_ATTACK:
        begin_attack(T, s)
    elif op == P_NEXT:
        next_defender(T, s)
    elif op == P_BETWEEN:
        pop(s)
    elif op == P_QUAKE:
        quake(T, s)
    elif op == P_WINDOW:
        f.a += 1
        if f.a >= T.n_players or count_unlocked(&s.player[s.defender]) == 0 or attack_total(T, s, s.defender) == 0:
            go(s, P_TOTAL, 0, 0, 0)
    elif op == P_TOTAL:
        fix_total(T, s)
    elif op == P_DEFEND:
        defender_done(s)
    elif op == P_CAPTURE:
        s.phase = 5 if T.lvd else 6
        go(s, P_CLEAN, 0, 0, 0)
    elif op == P_CLEAN:
        go(s, P_END, 0, 0, 0)
    elif op == P_END:
        clean_up(T, s)
    elif op == Q_EVENT:
        f.b += 1
        if f.b >= T.n_players:
            f.b = 0
            if f.a == 0:
                f.a = 1
            else:
                destroy_doomed(T, s)
    elif op == Q_DRAWS:
        f.c -= 1
        if f.c:
            push(s, Q_DRAW, f.a, f.b, 0)
        else:
            go(s, Q_DRAW, f.a, f.b, 0)
    elif op == Q_JOINS:
        join(T, s)
    elif op == Q_TOGETHER:
        leave_together(T, s)
    elif op == Q_CULL:
        leave_cull(s)
    elif op == Q_ORDER:
        pop(s)
        dearer_again(s)
    elif op == Q_FRESH:
        leave_fresh(s)
    elif op == Q_KILLS:
        score_now(T, s)
    elif op == Q_STEPS:
        take_step(T, s)
    elif op == Q_COPY:
        for i in range(s.player[f.a].n_ready):
            if s.player[f.a].ready[i].flags & F_MARK:
                s.player[f.a].ready[i].flags &= ~F_MARK
                return
        pop(s)
    else:
        pop(s)
