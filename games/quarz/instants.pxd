# cython: language_level=3
"""Instants: cards played in answer to something, and the windows that ask for them (rules 37, 38, 87)."""
from libc.stdint cimport int32_t, uint64_t

from engine_ext.bits cimport pop_bit
from games.quarz.effect_options cimport prog_possible, wanted
from games.quarz.field cimport beside
from games.quarz.frames cimport card_of, owner, push_prog, tableau
from games.quarz.moves cimport *
from games.quarz.state cimport *
from games.quarz.tableau cimport leave_hand, pay


cdef inline bint instant_fits(const Tables *t, const State *s, int32_t m, int32_t card, int32_t trigger,
                              int32_t context, int32_t subject, int32_t witnesses) noexcept nogil:
    """Rules 37, 38, 87: the condition holds, energy and reaction tokens are there; the monster may be at
    rest; there is something to do (Q77)."""
    cdef const Card *c = card_of(t, s, m, card)
    if s.pool[m] < max(1, c.cost) or s.reactions[owner(m)] < c.reactions:
        return False
    if (trigger == TRIGGER_ATTACKED or trigger == TRIGGER_HURT) and m != subject and not c.mob_scope:
        return False
    if trigger == TRIGGER_ARRIVED and not (witnesses >> m & 1 and beside(t, s, m, context)):    # Q97
        return False
    return prog_possible(t, s, c.prog, m, owner(m), card)

cdef inline int32_t list_instants(const Tables *t, const State *s, int32_t seat, int32_t trigger, int32_t context,
                                  int32_t subject, int32_t witnesses, int32_t *out) noexcept nogil:
    """The instants that a seat may play now; `witnesses`: the monsters beside the one that arrived, as it arrived."""
    cdef int32_t k, m, card, n = 0
    cdef uint64_t cards
    for k in range(3):
        m = 3 * seat + k
        if s.at[m] < 0:
            continue
        cards = s.hand[m] & tableau(t, s, m).instants[trigger]
        while cards:
            card = pop_bit(&cards)
            if instant_fits(t, s, m, card, trigger, context, subject, witnesses):
                out[n] = A_REACT + 13 * k + card
                n += 1
    return n

cdef inline bint of_use(const Tables *t, const State *s, int32_t m, int32_t card) noexcept nogil:
    """Whether an instant changes anything after the last action: damage bonuses of the turn do not any more."""
    cdef int32_t prog = card_of(t, s, m, card).prog
    cdef const Effect *e
    while True:
        e = &t.code[prog]
        if (e.op == OP_CLEANSE or e.op == OP_SHIELD) and e.who == WHO_SELF:
            if wanted(t, s, e, m):
                return True
        elif e.op != OP_BOOST and e.op != OP_ROLL and prog_possible(t, s, prog, m, owner(m), card):
            return True
        if e.last:
            return False
        prog += 1

cdef inline int32_t list_free_instants(const Tables *t, const State *s, int32_t seat, int32_t *out) noexcept nogil:
    """Those of the own turn that need no cause; after its last action those that are still of use (Q91)."""
    cdef int32_t i, kept = 0, n = list_instants(t, s, seat, TRIGGER_FREE, -1, -1, 0, out)
    if s.actions > 0:
        return n
    for i in range(n):
        if of_use(t, s, 3 * seat + (out[i] - A_REACT) // 13, (out[i] - A_REACT) % 13):
            out[kept] = out[i]
            kept += 1
    return kept

cdef inline int32_t witnesses_of(const Tables *t, const State *s, int32_t m) noexcept nogil:
    """The mask of the rivals' monsters beside this one."""
    cdef int32_t other, mask = 0
    for other in range(3 * t.players):
        if owner(other) != owner(m) and s.at[other] >= 0 and beside(t, s, m, other):
            mask |= 1 << other
    return mask

cdef inline int32_t window_seat(const Tables *t, const State *s, const Frame *f) noexcept nogil:
    """Whom a window asks now, -1 when all have been asked (Q78)."""
    cdef int32_t i = 0
    if f.a == TRIGGER_ARRIVED:
        if f.d == t.players - 1:
            return -1
        while s.order[i] != owner(f.c):
            i += 1
        return s.order[(i + 1 + f.d) % t.players]
    return owner(f.c) if f.d == 0 else -1

cdef inline void play_card(const Tables *t, State *s, int32_t m, int32_t card, int32_t prog, int32_t cost,
                           int32_t context) noexcept nogil:
    """Rules 84, 87: pay, show, resolve; the card reaches the discard afterwards."""
    pay(s, m, cost)
    leave_hand(t, s, m, card)
    s.table[m] |= 1 << card
    push_prog(s, prog, m, owner(m), context, card)

cdef inline void react(const Tables *t, State *s, int32_t seat, int32_t id, int32_t context) noexcept nogil:
    cdef int32_t m = 3 * seat + (id - A_REACT) // 13, card = (id - A_REACT) % 13
    cdef const Card *c = card_of(t, s, m, card)
    s.reactions[seat] -= c.reactions
    play_card(t, s, m, card, c.prog, c.cost, context)
