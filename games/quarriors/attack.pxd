# cython: language_level=3
"""The attack: who attacks with what, and one defender after another."""
from libc.stdint cimport int32_t
from libc.string cimport memset

from games.quarriors.destruction cimport *
from games.quarriors.reading cimport *
from games.quarriors.state cimport *
from games.quarriors.turn cimport *


cdef inline void begin_attack(const Tables *T, State *s) noexcept nogil:
    """Attackers and their values, fixed for the whole attack (A29)."""
    cdef Player *p = &s.player[s.active]
    cdef int32_t i, seat
    s.phase = 3 if T.lvd else 4
    s.n_rec = 0
    if not T.lvd:                                                         # A20: safe for one attack; D43: for the turn
        for seat in range(T.n_players):
            for i in range(s.player[seat].n_ready):
                s.player[seat].ready[i].flags &= ~F_SAFE
    for i in range(p.n_ready):
        if unlocked(&p.ready[i]):
            s.rec[s.n_rec].value = min(255, attack_of(T, s, s.active, &p.ready[i]))
            s.rec[s.n_rec].level = level_of(T, s, &p.ready[i])
            s.rec[s.n_rec].die = shape(&p.ready[i])
            s.rec[s.n_rec].zero = p.ready[i].flags & F_ZERO != 0
            s.n_rec += 1
            p.ready[i].rec = s.n_rec
    go(s, P_NEXT, 1, 0, 0)

cdef inline void end_attack(const Tables *T, State *s) noexcept nogil:
    cdef Player *p = &s.player[s.active]
    cdef int32_t i, seat
    for i in range(p.n_ready):
        p.ready[i].rec = 0
    for seat in range(T.n_players):                                       # one attack a turn: it matters no more
        for i in range(s.player[seat].n_ready):
            s.player[seat].ready[i].flags &= ~F_SAFE
    memset(s.rec, 0, sizeof(s.rec))
    s.n_rec = s.defender = s.first_kill = s.ev_cause = s.ev_level = s.ev_defense = s.ev_killer = 0
    s.rem = s.bonus = 0
    s.flags = (s.flags | S_ATTACKED) & ~S_IGNORE
    s.phase = 4 if T.lvd else 5
    go(s, P_CAPTURE, 0, 0, 0)

cdef inline void next_defender(const Tables *T, State *s) noexcept nogil:
    cdef Frame *f = &s.stack[s.n_stack - 1]
    cdef int32_t d
    cdef bint later = f.b
    while f.a < T.n_players and count_unlocked(&s.player[(s.active + f.a) % T.n_players]) == 0:
        f.a += 1                                                          # A96
    if f.a == T.n_players or s.n_rec == 0:
        end_attack(T, s)
        return
    d = (s.active + f.a) % T.n_players
    f.b = 1
    s.defender = d
    s.first_kill = 0
    s.bonus = s.rem = 0
    push(s, P_QUAKE, 0, 0, 0)
    if later and not T.lvd:                                               # W4; D40: there all defend together
        push(s, P_BETWEEN, 0, 0, 0)

cdef inline void defender_done(State *s) noexcept nogil:
    pop(s)
    s.stack[s.n_stack - 1].a += 1
    s.flags &= ~S_IGNORE
    s.rem = s.bonus = 0

cdef inline void quake(const Tables *T, State *s) noexcept nogil:
    """What is destroyed before the defender chooses (B76, A30, A131)."""
    cdef Player *q = &s.player[s.defender]
    cdef int32_t i, level
    cdef bint any_doomed = False
    if count_unlocked(q) == 0:
        defender_done(s)
        return
    go(s, P_WINDOW, 0, 0, 0)
    if deals_quake(T, s, s.defender, &level):
        for i in range(q.n_ready):
            if unlocked(&q.ready[i]) and level_of(T, s, &q.ready[i]) <= level:
                q.ready[i].flags |= F_DOOMED
                any_doomed = True
        if any_doomed:
            open_event(s, EV_LEVEL, level, 0, s.active)

cdef inline void fix_total(const Tables *T, State *s) noexcept nogil:
    """What the attack counts against this defender, after all that comes before his first choice: Quake Dragon's
    victims bar and cap nothing any more, what W1 did counts (A2, A16, A30 to A34)."""
    cdef const FaceTable *f
    cdef int32_t i, value, total = 0, bonus = 0
    for i in range(s.n_rec):
        f = face_of(T, s, s.rec[i].die)
        value = value_against(T, s, s.defender, i)
        total += value
        if f.firstkill:
            bonus += value
        if f.ignore_attached and s.rec[i].level > foe_bar(T, s, s.defender):
            s.flags |= S_IGNORE
    s.bonus = bonus
    s.rem = total + (bonus if s.first_kill else 0)
    go(s, P_DEFEND, 0, 0, 0)
