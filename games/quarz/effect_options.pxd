# cython: language_level=3
"""What an effect lets its seat choose from, and whether it can be done at all (rule 33, Q77)."""
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memset

from engine_ext.bits cimport bit, count_bits, has_bit, pop_bit
from games.quarz.attack cimport own_kind, reaches
from games.quarz.field cimport home, linked, modifiers, reach
from games.quarz.frames cimport owner
from games.quarz.idol cimport shoved
from games.quarz.moves cimport *
from games.quarz.state cimport *


# ---- what is in reach ----------------------------------------------------------------------------

cdef inline int32_t put_cells(uint64_t cells, int32_t base, int32_t *out, int32_t n) noexcept nogil:
    while cells:
        out[n] = base + pop_bit(&cells)
        n += 1
    return n

cdef inline uint64_t free_hexes(const Tables *t, const State *s) noexcept nogil:
    cdef uint64_t cells = t.modifiable_mask & ~s.occupied
    if s.idol_at >= 0:
        cells &= ~bit(s.idol_at)
    return cells

cdef inline bint may_stand(const Tables *t, const State *s, int32_t m, int32_t cell) noexcept nogil:
    """Rule 45: not in another mob's camp."""
    return not has_bit(t.camp_mask, cell) or cell == home(t, s, owner(m))

cdef inline int32_t list_targets(const Tables *t, const State *s, int32_t m, int32_t kind, bint any_side,
                                 int32_t *out) noexcept nogil:
    """Monsters in reach, as target ids."""
    cdef int32_t target, n = 0
    for target in range(3 * t.players):
        if (any_side or owner(target) != owner(m)) and reaches(t, s, m, target, kind):
            out[n] = A_TARGET + target
            n += 1
    return n

cdef inline bint can_swap(const Tables *t, const State *s, int32_t m, int32_t target) noexcept nogil:
    return s.at[m] != s.at[target] and may_stand(t, s, m, s.at[target]) and may_stand(t, s, target, s.at[m])


# ---- what an effect would change -----------------------------------------------------------------

cdef inline bint wants_cleansing(const State *s, int32_t m) noexcept nogil:
    return s.stun[m] or s.poison[m] or s.frost[m]

cdef inline bint wanted(const Tables *t, const State *s, const Effect *e, int32_t m) noexcept nogil:
    """Whether an effect on an own monster would do something to it."""
    if s.at[m] < 0:
        return False
    if e.op == OP_HEAL:
        return s.spent[m] > 0
    if e.op == OP_SHIELD:
        return s.shield[m] < TOKEN_CAP
    if e.op == OP_CLEANSE:
        return wants_cleansing(s, m)
    if e.op == OP_DRAW:
        return s.deck[m] != 0
    return True

cdef inline bint has_partner(const Tables *t, const State *s, int32_t cell) noexcept nogil:
    """Whether exchanging this free hex with some other would change the board."""
    cdef uint64_t cells = free_hexes(t, s)
    cdef int32_t c
    while cells:
        c = pop_bit(&cells)
        if s.tile[c] != s.tile[cell] or s.turned[c] != s.turned[cell]:
            return True
    return False

cdef inline int32_t step_limit(const Tables *t, const State *s, const Effect *e, int32_t m) noexcept nogil:
    """Rule 55: a carrier moves 1 hex, unless the card or a lasting bonus says otherwise; a jump and the
    Shrine of Movement (rule 116) take it 1 hex in any case."""
    if s.idol_by != m:
        return e.amount
    if e.op == OP_JUMP or e.op == OP_MOVE_ANY:
        return 1
    return min(<int32_t>e.amount, max(<int32_t>e.carry, 1 + s.carry[m] + modifiers(t, s).carry))


# ---- the choices ---------------------------------------------------------------------------------

cdef inline int32_t list_effect(const Tables *t, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    """The choices of the running effect, ascending; 0 when there is none and it is skipped."""
    cdef const Effect *e = &t.code[f.prog]
    cdef int32_t op = e.op, m = f.a, seat = f.b, n = 0, k, other, c
    cdef uint64_t cells
    if op == OP_DAMAGE or op == OP_SAP or op == OP_STUN or op == OP_POISON or op == OP_FROST:
        n = list_targets(t, s, m, e.kind, e.any, out)
        if op == OP_DAMAGE:
            return n
        c = 0
        for k in range(n):
            other = out[k] - A_TARGET
            if (op == OP_SAP and s.hand[other]) or (op == OP_STUN and s.stun[other] < TOKEN_CAP) \
                    or (op == OP_POISON and s.poison[other] < TOKEN_CAP) \
                    or (op == OP_FROST and s.frost[other] < TOKEN_CAP):
                out[c] = out[k]
                c += 1
        return c
    if op == OP_HEAL or op == OP_SHIELD or op == OP_CLEANSE:
        for other in range(3 * seat, 3 * seat + 3):
            if wanted(t, s, e, other):
                out[n] = A_TARGET + other
                n += 1
        return n
    if op == OP_MOVE or op == OP_MARCH:
        out[0] = A_PASS
        n = 1
        for k in range(3):
            other = 3 * seat + k
            if s.at[other] < 0 or (op == OP_MOVE and e.who == WHO_SELF and other != m) \
                    or (op == OP_MARCH and f.f >> k & 1):
                continue
            cells = reach(t, s, other, step_limit(t, s, e, other), s.powers[other] | e.flags)
            n = put_cells(cells, A_MOVE + 48 * k, out, n)
        return n if n > 1 else 0
    if op == OP_PUSH:
        if f.step == 1:
            return put_cells(shoved(t, s, f.f), A_CELL, out, 0)
        if f.step == 2:                                                     # Crystal Throw
            return put_cells(linked(t, s, s.idol_at) & ~s.solid & ~(t.camp_mask & ~bit(home(t, s, seat))),
                             A_CELL, out, 0)
        n = list_targets(t, s, m, e.kind, e.any, out)
        if s.powers[m] & CRYSTAL_THROW and s.idol_by == m and f.e >= PUSH_SWAP:   # rule 107
            out[n] = A_CHOICE
            n += 1
        return n
    if op == OP_SWAP:
        n = list_targets(t, s, m, e.kind, e.any, out)
        c = 0
        for k in range(n):
            if can_swap(t, s, m, out[k] - A_TARGET):
                out[c] = out[k]
                c += 1
        return c
    if op == OP_TRAP:
        if count_bits(s.traps[seat]) >= TOKEN_CAP:                          # Q89
            return 0
        cells = free_hexes(t, s)
        for other in range(t.players):
            cells &= ~s.traps[other]
        while cells:
            c = pop_bit(&cells)
            if t.grid.distance[s.at[m]][c] <= e.amount:
                out[n] = A_CELL + c
                n += 1
        return n
    if op == OP_JUMP:
        out[0] = A_PASS
        n = 1
        cells = t.grid.cells & ~(s.solid | (t.camp_mask & ~bit(home(t, s, seat))) | s.occupied)
        cells |= bit(home(t, s, seat))
        cells &= ~bit(s.at[m])
        while cells:
            c = pop_bit(&cells)
            if t.grid.distance[s.at[m]][c] <= step_limit(t, s, e, m):
                out[n] = A_CELL + c
                n += 1
        return n if n > 1 else 0
    if op == OP_ROTATE:
        if f.step == 1:
            for k in range(t.period[s.tile[f.f] - 1]):
                if k != s.turned[f.f]:
                    out[n] = A_TURN + k
                    n += 1
            return n
        out[0] = A_PASS
        n = 1
        cells = free_hexes(t, s)
        while cells:
            c = pop_bit(&cells)
            if s.tile[c] and t.period[s.tile[c] - 1] > 1 and (f.g & 64 == 0 or c != (f.g & 63)):
                out[n] = A_CELL + c
                n += 1
        return n if n > 1 else 0
    if op == OP_TRADE:
        if f.step == 0:
            out[0] = A_PASS
            n = 1
        cells = free_hexes(t, s)
        while cells:
            c = pop_bit(&cells)
            if f.step == 1 and (c == f.f or (s.tile[c] == s.tile[f.f] and s.turned[c] == s.turned[f.f])):
                continue
            if f.step == 0 and not has_partner(t, s, c):
                continue
            out[n] = A_CELL + c
            n += 1
        return n if f.step or n > 1 else 0
    if op == OP_SWAP_FRIENDS:
        if f.step == 0:
            out[0] = A_PASS
            n = 1
        for other in range(3 * seat, 3 * seat + 3):
            if f.step == 1 and other != f.f and s.at[other] >= 0 and s.at[other] != s.at[f.f]:
                out[n] = A_TARGET + other
                n += 1
            elif f.step == 0 and s.at[other] >= 0:
                for k in range(3 * seat, 3 * seat + 3):
                    if s.at[k] >= 0 and s.at[k] != s.at[other]:
                        out[n] = A_TARGET + other
                        n += 1
                        break
        return n if f.step or n > 1 else 0
    if op == OP_MOVE_ANY:
        if f.step == 1:
            return put_cells(reach(t, s, f.f, step_limit(t, s, e, f.f), SWIM | CLIMB), A_CELL, out, 0)
        out[0] = A_PASS
        n = 1
        for other in range(3 * t.players):
            if s.at[other] >= 0 and reach(t, s, other, 1, SWIM | CLIMB):
                out[n] = A_TARGET + other
                n += 1
        return n if n > 1 else 0
    if op == OP_RECOVER:
        return put_cells(s.pile[m], A_CARD, out, 0)
    if op == OP_ATTACK:
        return list_targets(t, s, m, own_kind(t, s, m), True, out)
    if op == OP_CHOOSE_OWN:
        for other in range(3 * seat, 3 * seat + 3):
            if wanted(t, s, &t.code[f.prog + 1], other):
                out[n] = A_TARGET + other
                n += 1
        return n
    if op == OP_REGENERATE:
        out[0], out[1] = A_CHOICE, A_CHOICE + 1
        return 2 if s.pile[m] else 1
    return 0

cdef inline bint asks(const Effect *e) noexcept nogil:
    """Whether the effect has something to choose."""
    if e.op == OP_HEAL or e.op == OP_SHIELD or e.op == OP_CLEANSE:
        return e.who == WHO_FRIEND
    if e.op == OP_DAMAGE or e.op == OP_PUSH:
        return e.kind != CONTEXT
    return not (e.op == OP_SPLASH or e.op == OP_DRAW or e.op == OP_BOOST or e.op == OP_EXTRA or e.op == OP_ROLL
                or e.op == OP_NEGATE or e.op == OP_REDUCE)

cdef inline bint prog_possible(const Tables *t, const State *s, int32_t prog, int32_t m, int32_t seat,
                               int32_t card) noexcept nogil:
    """Whether the first effect of a list can be done (rule 33, Q77)."""
    cdef int32_t scratch[256]
    cdef Frame f
    cdef const Effect *e = &t.code[prog]
    if not asks(e):
        if e.op == OP_HEAL and e.who == WHO_SELF:
            return s.spent[m] > 0
        if e.op == OP_HEAL and e.who == WHO_ALL:
            return s.spent[3 * seat] > 0 or s.spent[3 * seat + 1] > 0 or s.spent[3 * seat + 2] > 0
        if e.op == OP_DRAW:
            return s.deck[m] != 0
        if e.op == OP_SHIELD or e.op == OP_CLEANSE:
            return wanted(t, s, e, m) or not e.last
        if e.op == OP_SPLASH:
            return list_targets(t, s, m, STRIKE, e.any, scratch) > 0
        return True
    memset(&f, 0, sizeof(Frame))
    f.kind, f.a, f.b, f.c, f.e, f.prog = K_PROG, m, seat, -1, card, prog
    return list_effect(t, s, &f, scratch) > 0
