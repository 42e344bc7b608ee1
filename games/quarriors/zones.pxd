# cython: language_level=3
"""How dice move: between pool, piles and Ready Area, and from a collection to the next."""
from libc.stdint cimport int32_t, uint8_t, uint32_t
from libc.string cimport memcpy, memset

from engine_ext.debug cimport QUANDARY_CHECK
from games.quarriors.reading cimport *
from games.quarriors.state cimport *


# ---- the pool and Quiddity -----------------------------------------------------------------------

cdef inline void pool_add(const Tables *T, State *s, uint8_t die) noexcept nogil:
    cdef const FaceTable *f = face_of(T, s, die)
    s.pool[die >> 3][die & 7] += 1
    s.avail[f.flavour] += f.quid

cdef inline void pool_take(const Tables *T, State *s, uint8_t die) noexcept nogil:
    cdef const FaceTable *f = face_of(T, s, die)
    QUANDARY_CHECK(s.pool[die >> 3][die & 7] > 0, "pool_take: no such die in the pool")
    s.pool[die >> 3][die & 7] -= 1
    s.avail[f.flavour] -= f.quid

cdef inline void add_quid(State *s, int32_t flavour, int32_t n) noexcept nogil:
    s.quid[flavour] += n
    s.avail[flavour] += n

cdef inline void spend(const Tables *T, State *s, int32_t slot) noexcept nogil:
    """A die is spent: to the pile at once, in Light vs. Dark to the Spent Pile (B16, D13)."""
    if T.lvd:
        s.player[s.active].spent[slot] += 1
    else:
        s.player[s.active].used[slot] += 1

cdef inline void pay(const Tables *T, State *s, int32_t flavour, int32_t amount) noexcept nogil:
    """Floating Quiddity first, then dice, largest first (A77). What a die gives too much floats (A76)."""
    cdef int32_t slot, face, best, best_slot, best_face, taken
    taken = min(amount, <int32_t>s.quid[flavour])
    s.quid[flavour] -= taken
    s.avail[flavour] -= taken
    amount -= taken
    while amount > 0:
        best = 0
        best_slot = best_face = 0
        for slot in range(SLOTS):
            if row(s.pool[slot]) == 0:
                continue
            for face in range(6):
                if (s.pool[slot][face] and T.card[s.card[slot]].face[face].quid > best
                        and T.card[s.card[slot]].face[face].flavour == flavour):
                    best = T.card[s.card[slot]].face[face].quid
                    best_slot, best_face = slot, face
        QUANDARY_CHECK(best > 0, "pay: not enough Quiddity")
        if best == 0:
            return
        pool_take(T, s, best_slot * 8 + best_face)
        spend(T, s, best_slot)
        if best > amount:
            add_quid(s, flavour, best - amount)
        amount -= best

cdef inline void left_pile(const Tables *T, State *s, int32_t slot) noexcept nogil:
    """A die left the active seat's pile while on-score abilities wait. It may be that of a creature which has still to
    fetch: for that one, every die of the class that lies there is another (A67)."""
    cdef int32_t i
    for i in range(s.n_pend):
        if s.pend[i][1] >> 3 == slot and face_of(T, s, s.pend[i][0]).score_fetch:       # not one with LEFT
            s.pend[i][1] |= LEFT
            return


# ---- spells --------------------------------------------------------------------------------------

cdef inline void att_add(const Tables *T, Creature *c, int32_t j, int32_t kind, int32_t change) noexcept nogil:
    cdef int32_t code = (c.att >> (5 * j)) & 31
    cdef int32_t a = T.att_a[code] + (0 if kind else change), b = T.att_b[code] + (change if kind else 0)
    c.att = (c.att & ~(31 << (5 * j))) | (T.att_code[a][b] << (5 * j))

cdef inline void readied_add(Player *p, int32_t j, int32_t kind, int32_t change) noexcept nogil:
    p.spells[j] += change * 16 if kind else change

cdef inline void drop_attached(const Tables *T, Player *p, Creature *c) noexcept nogil:
    """A creature that leaves sends its attached spells to the pile (B88)."""
    cdef int32_t j
    if c.att == 0:
        return
    for j in range(SPELL_SLOTS):
        p.used[FIRST_SPELL + j] += att_get(T, c, j, 0) + att_get(T, c, j, 1)
    c.att = 0


# ---- creatures -----------------------------------------------------------------------------------

cdef inline void sort_ready(Player *p) noexcept nogil:
    """Canonical order, so that equal Ready Areas are equal bytes (I24)."""
    cdef int32_t i, k
    cdef Creature c
    for i in range(1, p.n_ready):
        c = p.ready[i]
        k = i
        while k > 0 and order_key(&p.ready[k - 1]) > order_key(&c):
            p.ready[k] = p.ready[k - 1]
            k -= 1
        p.ready[k] = c

cdef inline uint32_t record_key(const Record *r) noexcept nogil:
    return <uint32_t>r.die << 24 | <uint32_t>r.level << 16 | <uint32_t>r.value << 8 | r.zero

cdef inline void sort_records(State *s) noexcept nogil:
    """Attack records in the order of their creatures, then those of creatures that have left by their
    contents: which of two equal attackers was recorded first leaves no trace (I24)."""
    cdef Player *p = &s.player[s.active]
    cdef Record old[MAX_READY]
    cdef uint32_t taken = 0
    cdef int32_t i, k, first, n = 0
    memcpy(old, s.rec, sizeof(old))
    for i in range(p.n_ready):
        if p.ready[i].rec:
            taken |= 1u << (p.ready[i].rec - 1)
            s.rec[n] = old[p.ready[i].rec - 1]
            n += 1
            p.ready[i].rec = n
    first = n
    for i in range(s.n_rec):
        if not taken >> i & 1:
            k = n
            while k > first and record_key(&s.rec[k - 1]) > record_key(&old[i]):
                s.rec[k] = s.rec[k - 1]
                k -= 1
            s.rec[k] = old[i]
            n += 1

cdef inline void sort_all(const Tables *T, State *s) noexcept nogil:
    cdef int32_t seat
    for seat in range(T.n_players):
        if s.player[seat].n_ready > 1:
            sort_ready(&s.player[seat])
    if s.n_rec > 1:
        sort_records(s)

cdef inline void park(State *s) noexcept nogil:
    """Dice that came into the pool unrolled in their owner's turn stay so: a later roll is of other dice (A88)."""
    cdef Player *p = &s.player[s.active]
    cdef int32_t slot
    for slot in range(SLOTS):
        s.pool[slot][IDLE] += p.wait[slot]
        p.wait[slot] = 0

cdef inline void remove_creature(Player *p, int32_t i) noexcept nogil:
    cdef int32_t k
    for k in range(i, p.n_ready - 1):
        p.ready[k] = p.ready[k + 1]
    p.n_ready -= 1
    memset(&p.ready[p.n_ready], 0, sizeof(Creature))

cdef inline void set_copy(const Tables *T, const State *s, Creature *c, uint8_t die) noexcept nogil:
    c.copy = NONE if face_of(T, s, die).copy_enter else die   # a copy of an uncopied one is uncopied (K27)
