# cython: language_level=3
"""Draws, rolls and the deal: what is certain of them, their outcomes, and the fast way through them."""
from libc.stdint cimport int32_t, uint8_t
from libc.string cimport memcpy, memset

from engine_ext.debug cimport QUANDARY_CHECK
from engine_ext.game cimport OUTCOME_LIMIT, TERMINAL
from engine_ext.rng cimport Rng, rng_below, rng_double
from games.quarriors.casting cimport *
from games.quarriors.reading cimport *
from games.quarriors.state cimport *
from games.quarriors.turn cimport *
from games.quarriors.zones cimport *


# ---- draws ---------------------------------------------------------------------------------------

cdef inline void drew(const Tables *T, State *s, int32_t seat) noexcept nogil:
    """A player draws one or more dice: one event, whatever the number (LK25)."""
    cdef int32_t i = locked_index(&s.player[seat])
    cdef const FaceTable *f
    if i >= 0:
        f = face_of(T, s, s.player[seat].ready[i].die)
        if seat == s.active:
            add_quid(s, 0, f.drew_quid)
        gain(T, s, seat, f.drew_glory)

cdef inline bint draw_open(const Tables *T, State *s) noexcept nogil:
    """Do what is certain of the draw on top; whether chance is still to decide (B34 to B36)."""
    cdef Frame *f = &s.stack[s.n_stack - 1]
    cdef Player *p = &s.player[f.b]
    cdef int32_t slot, count, rest, low, high
    if s.features & FEAT_DREW and f.c == 0 and f.a and zone_sum(p.bag) + zone_sum(p.used):
        drew(T, s, f.b)
        if s.node == TERMINAL:
            return False
    while f.c == 0:
        count = zone_sum(p.bag)
        if f.a == 0:
            pop(s)
            return False
        if count > f.a:
            f.c = 1
            s.cursor = 0
            break
        for slot in range(SLOTS):                     # all of them
            p.wait[slot] += p.bag[slot]
            p.bag[slot] = 0
        f.a -= count
        if f.a == 0:
            continue
        memcpy(p.bag, p.used, SLOTS)                  # then the pile becomes the bag
        memset(p.used, 0, SLOTS)
        if zone_sum(p.bag) == 0:                      # B35
            pop(s)
            return False
    while f.a:
        rest = 0
        for slot in range(s.cursor + 1, SLOTS):
            rest += p.bag[slot]
        low = max(0, f.a - rest)
        high = min(<int32_t>p.bag[s.cursor], <int32_t>f.a)
        if low < high:
            return True
        p.wait[s.cursor] += low
        p.bag[s.cursor] -= low
        f.a -= low
        s.cursor += 1
    s.cursor = 0
    pop(s)
    return False

cdef inline int32_t draw_fast(const Tables *T, State *s, Rng *rng) noexcept nogil:
    """The whole draw on top at once; returns the chance nodes it stands for."""
    cdef Frame *f
    cdef Player *p
    cdef int32_t slot, count, pick, n, before, nodes = 0
    cdef uint8_t bag[SLOTS]
    if not draw_open(T, s):
        return 0
    f = &s.stack[s.n_stack - 1]
    p = &s.player[f.b]
    n = f.a
    memcpy(bag, p.bag, SLOTS)
    count = 0
    for slot in range(s.cursor, SLOTS):
        count += bag[slot]
    before = count
    for _i in range(n):
        pick = rng_below(rng, count)
        slot = s.cursor
        while pick >= p.bag[slot]:
            pick -= p.bag[slot]
            slot += 1
        p.bag[slot] -= 1
        p.wait[slot] += 1
        count -= 1
    for slot in range(s.cursor, SLOTS):
        if n == 0:
            break
        before -= bag[slot]
        nodes += max(0, n - before) < min(<int32_t>bag[slot], n)
        n -= bag[slot] - p.bag[slot]
    s.cursor = 0
    pop(s)
    return nodes


# ---- rolls ---------------------------------------------------------------------------------------

cdef inline void fresh(const Tables *T, State *s, uint8_t die) noexcept nogil:
    """A die was rolled. Its immediate face can be used only now if the time for all of them is over (B39, A84): a
    question below the roll on top."""
    cdef int32_t i, top = s.n_stack - 1
    if s.stack[0].op == P_USE or (T.lvd and s.stack[0].op == P_MAIN) or not face_of(T, s, die).kind & IS_IMMEDIATE:
        return
    i = top - 1
    while i > 0 and s.stack[i].op == Q_FRESH:
        if s.stack[i].a == die:
            s.stack[i].b += 1
            return
        i -= 1
    QUANDARY_CHECK(s.n_stack < MAX_STACK, "fresh: the stack is full")
    if s.n_stack < MAX_STACK:
        push(s, s.stack[top].op, s.stack[top].a, s.stack[top].b, s.stack[top].c)
        s.stack[top] = Frame(Q_FRESH, die, 1, 0)

cdef inline int32_t roll_fast(const Tables *T, State *s, Rng *rng) noexcept nogil:
    cdef Player *p = &s.player[s.active]
    cdef int32_t slot, nodes = 0
    cdef uint8_t die
    for slot in range(SLOTS):
        if p.wait[slot]:
            nodes += (p.wait[slot] + ROLL_LIMIT - 1) // ROLL_LIMIT
            while p.wait[slot]:
                p.wait[slot] -= 1
                die = slot * 8 + T.card[s.card[slot]].canon[rng_below(rng, 6)]
                pool_add(T, s, die)
                fresh(T, s, die)
    pop(s)
    return nodes

cdef inline void aside_lands(const Tables *T, State *s, uint8_t die) noexcept nogil:
    """A set-aside die was rolled: to the Ready Area on a creature face, else to the pile (A27, A28)."""
    cdef Player *p = &s.player[s.active]
    if face_of(T, s, die).kind & IS_CREATURE and p.n_ready < MAX_READY:
        enter(T, s, s.active, die)
    else:
        p.used[die >> 3] += 1


# ---- the deal ------------------------------------------------------------------------------------

cdef inline int32_t deal_kind(const Tables *T, const State *s) noexcept nogil:
    """1 when a creature card is dealt next, 2 for a spell card, 3 for an Assistant, 0 when all lie there."""
    cdef int32_t slot, count = 0
    if s.card[1] == NONE:
        return 3                                                          # D2
    for slot in range(FIRST_CREATURE, FIRST_SPELL):
        count += s.card[slot] != NONE
    if count < T.n_creatures:
        return 1
    count = 0
    for slot in range(FIRST_SPELL, SLOTS):
        count += s.card[slot] != NONE
    return 2 if count < T.n_spells else 0

cdef inline bint deal_fits(const Tables *T, const State *s, int32_t card, int32_t kind) noexcept nogil:
    cdef int32_t slot
    if T.card[card].kind != kind:
        return False
    for slot in range(SLOTS):
        if s.card[slot] != NONE and T.card[s.card[slot]].cls == T.card[card].cls:
            return False                                                  # B4, B7
    return True

cdef inline void deal(const Tables *T, State *s, int32_t card) noexcept nogil:
    """Lay a card into the Wilds, in class order."""
    cdef int32_t first = FIRST_CREATURE if T.card[card].kind == 1 else FIRST_SPELL
    cdef int32_t last = FIRST_SPELL if T.card[card].kind == 1 else SLOTS
    cdef int32_t slot = first, k
    if T.card[card].kind == 3:
        s.card[1] = card
        return
    while s.card[slot] != NONE and T.card[s.card[slot]].cls < T.card[card].cls:
        slot += 1
    for k in range(last - 1, slot, -1):
        s.card[k] = s.card[k - 1]
    s.card[slot] = card

cdef inline void survey(const Tables *T, State *s) noexcept nogil:
    """What the cards in the Wilds can do at all."""
    cdef int32_t slot
    s.features = 0
    for slot in range(SLOTS):
        if s.card[slot] != NONE:
            s.features |= T.card[s.card[slot]].features

cdef inline void lay_dice(const Tables *T, State *s) noexcept nogil:
    """Set-up once the cards lie there (B3, B6, B9)."""
    cdef int32_t slot, seat
    for slot in range(FIRST_CREATURE, SLOTS):
        if s.card[slot] != NONE:
            s.wilds[slot] = s.total[slot] = 5
    if T.lvd:                                                             # D6
        s.total[0], s.total[1] = 2 * T.n_players, 4 * T.n_players
        for seat in range(T.n_players):
            s.player[seat].aside[0], s.player[seat].bag[1] = 2, 4
    else:
        s.wilds[1], s.wilds[2] = 2, 5
        s.total[0], s.total[1], s.total[2] = 8 * T.n_players, 4 * T.n_players + 2, 5
        for seat in range(T.n_players):
            s.player[seat].bag[0], s.player[seat].bag[1] = 8, 4
    survey(T, s)
    begin_turn(T, s)
    go(s, P_RECOPY, 0, 0, 0)


# ---- chance nodes --------------------------------------------------------------------------------

cdef inline bint chance_open(const Tables *T, State *s) noexcept nogil:
    """Do what is certain of the chance step on top; whether there is something to decide."""
    cdef int32_t op = s.stack[s.n_stack - 1].op
    if op == Q_DRAW:
        return draw_open(T, s)
    if op == Q_ROLL:
        if roll_slot(s) < SLOTS:
            return True
        pop(s)
        return False
    if op == P_DEAL:
        if deal_kind(T, s):
            return True
        lay_dice(T, s)
        return False
    return True

cdef inline int32_t outcomes(const void *tables, const void *state, int32_t *ids, double *probs) noexcept nogil:
    cdef const Tables *T = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef const Frame *f = &s.stack[s.n_stack - 1]
    cdef const Player *p
    cdef int32_t n = 0, k, slot, rest, low, high, count, cls, card, kind
    if f.op == Q_DRAW:
        p = &s.player[f.b]
        rest = 0
        for slot in range(s.cursor + 1, SLOTS):
            rest += p.bag[slot]
        count = p.bag[s.cursor]
        low, high = max(0, f.a - rest), min(count, <int32_t>f.a)
        cls = T.card[s.card[s.cursor]].cls
        for k in range(low, high + 1):
            ids[n] = cls * 16 + k
            probs[n] = T.binomial[count][k] * T.binomial[rest][f.a - k] / T.binomial[count + rest][f.a]
            n += 1
        return n
    if f.op == P_DEAL:
        kind = deal_kind(T, s)
        for card in range(T.n_cards):
            if deal_fits(T, s, card, kind):
                ids[n] = T.deal_offset + card
                n += 1
        for k in range(n):
            probs[k] = 1.0 / <double>n
        return n
    if f.op == Q_ROLL:
        slot = roll_slot(s)
        count = min(<int32_t>s.player[s.active].wait[slot], ROLL_LIMIT)
    else:
        slot, count = f.a, min(<int32_t>f.b, ROLL_LIMIT)
    cls = T.card[s.card[slot]].cls
    low, high = T.roll_offset[cls][count], T.roll_offset[cls][count + 1]
    for k in range(low, high):
        ids[n] = k
        probs[n] = T.chance[k]
        n += 1
    return n

cdef inline int32_t sample(const void *tables, const void *state, Rng *rng) noexcept nogil:
    cdef int32_t ids[OUTCOME_LIMIT]
    cdef double probs[OUTCOME_LIMIT]
    cdef int32_t n = outcomes(tables, state, ids, probs), i
    cdef double point = rng_double(rng)
    for i in range(n - 1):
        point -= probs[i]
        if point < 0:
            return ids[i]
    return ids[n - 1]

cdef inline void apply_chance(const Tables *T, State *s, int32_t id) noexcept nogil:
    cdef Frame *f = &s.stack[s.n_stack - 1]
    cdef Player *p
    cdef const uint8_t *counts
    cdef int32_t slot, face, k, n
    if f.op == Q_DRAW:
        p = &s.player[f.b]
        k = id & 15
        p.wait[s.cursor] += k
        p.bag[s.cursor] -= k
        f.a -= k
        s.cursor += 1
        return
    if f.op == P_DEAL:
        deal(T, s, id - T.deal_offset)
        return
    counts = T.multiset + 8 * id
    if f.op == Q_ROLL:
        slot = roll_slot(s)
        for face in range(6):
            for _k in range(counts[face]):
                s.player[s.active].wait[slot] -= 1
                pool_add(T, s, slot * 8 + face)
                fresh(T, s, slot * 8 + face)
        return
    slot, n = f.a, f.b
    s.player[s.active].aside[slot] -= n
    pop(s)
    for face in range(6):
        for _k in range(counts[face]):
            aside_lands(T, s, slot * 8 + face)
