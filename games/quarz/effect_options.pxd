# cython: language_level=3
"""What an effect lets its seat choose from, and whether it can be done at all (rule 33, Q77)."""
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memset

from engine_ext.bits cimport bit, count_bits, has_bit, lowest_bit, pop_bit
from games.quarz.attack cimport own_kind, reaches
from games.quarz.field cimport home, linked, modifiers, reach
from games.quarz.frames cimport owner
from games.quarz.idol cimport shoved
from games.quarz.moves cimport *
from games.quarz.state cimport *


# ---- what is in reach ----------------------------------------------------------------------------

cdef inline int32_t put_each(uint64_t members, int32_t base, int32_t *out, int32_t n) noexcept nogil:
    """Append an id for each member of a set (cells, cards); the new n."""
    while members:
        out[n] = base + pop_bit(&members)
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

cdef inline bint any_target(const Tables *t, const State *s, int32_t m, int32_t kind, bint any_side) noexcept nogil:
    """Whether a monster is in reach."""
    cdef int32_t target
    for target in range(3 * t.players):
        if (any_side or owner(target) != owner(m)) and reaches(t, s, m, target, kind):
            return True
    return False

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

cdef inline bint differ(const State *s, int32_t cell, int32_t other) noexcept nogil:
    """Whether exchanging the tiles of two hexes changes the board."""
    return s.tile[cell] != s.tile[other] or s.turned[cell] != s.turned[other]

cdef inline bint has_partner(const Tables *t, const State *s, int32_t cell) noexcept nogil:
    """Whether there is a free hex to exchange this one with."""
    cdef uint64_t cells = free_hexes(t, s)
    while cells:
        if differ(s, cell, pop_bit(&cells)):
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

cdef inline int32_t list_victims(const Tables *t, const State *s, const Effect *e, int32_t m,
                                 int32_t *out) noexcept nogil:
    """Monsters in reach on which the effect leaves something."""
    cdef int32_t op = e.op, i, victim, kept = 0, n = list_targets(t, s, m, e.kind, e.any, out)
    if op == OP_DAMAGE:
        return n
    for i in range(n):
        victim = out[i] - A_TARGET
        if (op == OP_SAP and s.hand[victim]) or (op == OP_STUN and s.stun[victim] < TOKEN_CAP) \
                or (op == OP_POISON and s.poison[victim] < TOKEN_CAP) \
                or (op == OP_FROST and s.frost[victim] < TOKEN_CAP):
            out[kept] = out[i]
            kept += 1
    return kept

cdef inline int32_t list_friends(const Tables *t, const State *s, const Effect *e, int32_t seat,
                                 int32_t *out) noexcept nogil:
    """Own monsters to which the effect would do something."""
    cdef int32_t m, n = 0
    for m in range(3 * seat, 3 * seat + 3):
        if wanted(t, s, e, m):
            out[n] = A_TARGET + m
            n += 1
    return n

cdef inline int32_t list_moves(const Tables *t, const State *s, const Frame *f, const Effect *e,
                               int32_t *out) noexcept nogil:
    """Free movement of an own monster (move), or of each once (march: those in f.f have moved)."""
    cdef int32_t k, m, n = 1
    out[0] = A_PASS
    for k in range(3):
        m = 3 * f.b + k
        if s.at[m] < 0 or (e.op == OP_MOVE and e.who == WHO_SELF and m != f.a) \
                or (e.op == OP_MARCH and f.f >> k & 1):
            continue
        n = put_each(reach(t, s, m, step_limit(t, s, e, m), s.powers[m] | e.flags), A_MOVE + 48 * k, out, n)
    return n if n > 1 else 0

cdef inline uint64_t crystal_throws(const Tables *t, const State *s, int32_t seat) noexcept nogil:
    """Where a carrier of the seat can throw the idol instead of pushing a monster (rule 107, Q83)."""
    return linked(t, s, s.idol_at) & ~s.solid & ~(t.camp_mask & ~bit(home(t, s, seat)))

cdef inline int32_t list_pushes(const Tables *t, const State *s, const Frame *f, const Effect *e,
                                int32_t *out) noexcept nogil:
    """Step 0: whom, or the idol itself; step 1: where the monster f.f goes; step 2: where the idol goes."""
    cdef int32_t n
    if f.step == 1:
        return put_each(shoved(t, s, f.f), A_CELL, out, 0)
    if f.step == 2:
        return put_each(crystal_throws(t, s, f.b), A_CELL, out, 0)
    n = list_targets(t, s, f.a, e.kind, e.any, out)
    if s.powers[f.a] & CRYSTAL_THROW and s.idol_by == f.a and f.e >= PUSH_SWAP and crystal_throws(t, s, f.b):
        out[n] = A_CHOICE
        n += 1
    return n

cdef inline int32_t list_swaps(const Tables *t, const State *s, const Effect *e, int32_t m,
                               int32_t *out) noexcept nogil:
    """Monsters in reach with which this one may change places."""
    cdef int32_t i, kept = 0, n = list_targets(t, s, m, e.kind, e.any, out)
    for i in range(n):
        if can_swap(t, s, m, out[i] - A_TARGET):
            out[kept] = out[i]
            kept += 1
    return kept

cdef inline int32_t list_trap_hexes(const Tables *t, const State *s, const Frame *f, const Effect *e,
                                    int32_t *out) noexcept nogil:
    """Free hexes without a trap within the effect's distance."""
    cdef int32_t seat, cell, n = 0
    cdef uint64_t cells = free_hexes(t, s)
    if count_bits(s.traps[f.b]) >= TOKEN_CAP:                               # Q89
        return 0
    for seat in range(t.players):
        cells &= ~s.traps[seat]
    while cells:
        cell = pop_bit(&cells)
        if t.grid.distance[s.at[f.a]][cell] <= e.amount:
            out[n] = A_CELL + cell
            n += 1
    return n

cdef inline int32_t list_jumps(const Tables *t, const State *s, const Frame *f, const Effect *e,
                               int32_t *out) noexcept nogil:
    """Hexes within the distance on which the monster may stand, whatever lies between."""
    cdef int32_t cell, n = 1
    cdef uint64_t base = bit(home(t, s, f.b))
    cdef uint64_t cells = t.grid.cells & ~(s.solid | (t.camp_mask & ~base) | s.occupied)
    out[0] = A_PASS
    cells = (cells | base) & ~bit(s.at[f.a])
    while cells:
        cell = pop_bit(&cells)
        if t.grid.distance[s.at[f.a]][cell] <= step_limit(t, s, e, f.a):
            out[n] = A_CELL + cell
            n += 1
    return n if n > 1 else 0

cdef inline int32_t list_rotations(const Tables *t, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    """Step 0: a free tile that can lie otherwise, but for the one turned before (f.g); step 1: how f.f is to lie."""
    cdef int32_t cell, k, n = 0
    cdef uint64_t cells
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
        cell = pop_bit(&cells)
        if s.tile[cell] and t.period[s.tile[cell] - 1] > 1 and (f.g & 64 == 0 or cell != (f.g & 63)):
            out[n] = A_CELL + cell
            n += 1
    return n if n > 1 else 0

cdef inline int32_t list_trades(const Tables *t, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    """Step 0: a free tile that has a partner; step 1: the tile that f.f changes places with."""
    cdef int32_t cell, n = 0
    cdef uint64_t cells = free_hexes(t, s)
    if f.step == 0:
        out[0] = A_PASS
        n = 1
    while cells:
        cell = pop_bit(&cells)
        if has_partner(t, s, cell) if f.step == 0 else cell != f.f and differ(s, cell, f.f):
            out[n] = A_CELL + cell
            n += 1
    return n if f.step or n > 1 else 0

cdef inline int32_t list_friend_swaps(const State *s, const Frame *f, int32_t *out) noexcept nogil:
    """Step 0: an own monster with another elsewhere; step 1: the one that f.f changes places with."""
    cdef int32_t m, other, n = 0, first = 3 * f.b
    if f.step == 0:
        out[0] = A_PASS
        n = 1
    for m in range(first, first + 3):
        if s.at[m] < 0:
            continue
        for other in range(first, first + 3):
            if s.at[other] >= 0 and s.at[other] != s.at[m] and (f.step == 0 or other == f.f):
                out[n] = A_TARGET + m
                n += 1
                break
    return n if f.step or n > 1 else 0

cdef inline int32_t list_any_moves(const Tables *t, const State *s, const Frame *f, const Effect *e,
                                   int32_t *out) noexcept nogil:
    """Step 0: any monster that can move, water and walls ignored, past its friends as well; step 1: where f.f goes
    (rules 42, 116)."""
    cdef int32_t m, n = 1
    if f.step == 1:
        return put_each(reach(t, s, f.f, step_limit(t, s, e, f.f), SWIM | CLIMB), A_CELL, out, 0)
    out[0] = A_PASS
    for m in range(3 * t.players):
        if s.at[m] >= 0 and reach(t, s, m, step_limit(t, s, e, m), SWIM | CLIMB):
            out[n] = A_TARGET + m
            n += 1
    return n if n > 1 else 0

cdef inline int32_t list_effect(const Tables *t, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    """The choices of the running effect, ascending; 0 when there is none and it is skipped."""
    cdef const Effect *e = &t.code[f.prog]
    cdef int32_t op = e.op, m = f.a, seat = f.b
    if op == OP_DAMAGE or op == OP_SAP or op == OP_STUN or op == OP_POISON or op == OP_FROST:
        return list_victims(t, s, e, m, out)
    if op == OP_HEAL or op == OP_SHIELD or op == OP_CLEANSE:
        return list_friends(t, s, e, seat, out)
    if op == OP_MOVE or op == OP_MARCH:
        return list_moves(t, s, f, e, out)
    if op == OP_PUSH:
        return list_pushes(t, s, f, e, out)
    if op == OP_SWAP:
        return list_swaps(t, s, e, m, out)
    if op == OP_TRAP:
        return list_trap_hexes(t, s, f, e, out)
    if op == OP_JUMP:
        return list_jumps(t, s, f, e, out)
    if op == OP_ROTATE:
        return list_rotations(t, s, f, out)
    if op == OP_TRADE:
        return list_trades(t, s, f, out)
    if op == OP_SWAP_FRIENDS:
        return list_friend_swaps(s, f, out)
    if op == OP_MOVE_ANY:
        return list_any_moves(t, s, f, e, out)
    if op == OP_RECOVER:
        return put_each(s.pile[m], A_CARD, out, 0)
    if op == OP_ATTACK:
        return list_targets(t, s, m, own_kind(t, s, m), True, out)
    if op == OP_CHOOSE_OWN:                                                 # for whom the next effect is
        return list_friends(t, s, &t.code[f.prog + 1], seat, out)
    if op == OP_REGENERATE:
        out[0], out[1] = A_CHOICE, A_CHOICE + 1
        return 2 if s.pile[m] else 1
    return 0


# ---- whether it can be done ----------------------------------------------------------------------

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
    """Whether the first effect of a list can be done (rule 33, Q77). Asked of every card in hand at
    every action: what is asked most gets an answer without a list."""
    cdef int32_t scratch[N_ACTIONS]
    cdef Frame f
    cdef uint64_t cells
    cdef const Effect *e = &t.code[prog]
    cdef int32_t op = e.op
    if not asks(e):
        if op == OP_HEAL and e.who == WHO_SELF:
            return s.spent[m] > 0
        if op == OP_HEAL and e.who == WHO_ALL:
            return s.spent[3 * seat] > 0 or s.spent[3 * seat + 1] > 0 or s.spent[3 * seat + 2] > 0
        if op == OP_DRAW:
            return s.deck[m] != 0
        if op == OP_SHIELD or op == OP_CLEANSE:
            return wanted(t, s, e, m) or not e.last
        if op == OP_SPLASH:
            return any_target(t, s, m, STRIKE, e.any)
        return True
    if op == OP_DAMAGE:
        return any_target(t, s, m, e.kind, e.any)
    if op == OP_TRADE:
        # where the first free tile has no partner, all are alike
        cells = free_hexes(t, s)
        return cells != 0 and has_partner(t, s, lowest_bit(cells))
    memset(&f, 0, sizeof(Frame))
    f.kind, f.a, f.b, f.c, f.e, f.prog = K_PROG, m, seat, -1, card, prog
    return list_effect(t, s, &f, scratch) > 0
