# cython: language_level=3
"""What the game itself thinks of a position: a heuristic value and a greedy move.

Both read only what every seat sees, and `score` the hand of the seat to move. Distances are steps
over the present edges, monsters ignored.
"""
from libc.math cimport exp
from libc.stdint cimport int32_t, uint64_t

from engine_ext.bits cimport bit, count_bits, has_bit, pop_bit
from engine_ext.hexgrid cimport HEX_SWIM, hex_linked
from games.quarz.field cimport frozen, home, modifiers, steps_of
from games.quarz.moves cimport *
from games.quarz.state cimport *

cdef enum:
    FAR = 20                 # steps to what cannot be reached on foot


cdef inline int32_t walk_distance(const Tables *t, const State *s, int32_t seat, int32_t powers,
                                  int32_t start, uint64_t goal) noexcept nogil:
    """Steps from a cell to the nearest of the goal cells, for the seat's monsters; FAR when none."""
    cdef uint64_t closed = s.solid | (t.camp_mask & ~bit(home(t, s, seat)))
    cdef uint64_t seen = bit(start), edge = bit(start), fresh
    cdef int32_t steps = 0, flags = (powers & (SWIM | CLIMB)) | frozen(t, s)
    while edge:
        if seen & goal:
            return steps
        fresh = 0
        while edge:
            fresh |= hex_linked(&t.grid, &s.edges, pop_bit(&edge), flags)
        edge = fresh & ~(seen | closed)
        seen |= edge
        steps += 1
    return FAR


cdef inline double shrine_pull(const Tables *t, const State *s, int32_t m, int32_t cell) noexcept nogil:
    """How good a cell is for getting to a shrine that the mob may still use."""
    cdef int32_t c, seat = m // 3, shrine, distance
    cdef uint64_t goal = 0
    for c in range(t.grid.n_cells):
        shrine = t.shrine_at[c]
        if shrine < 0:
            continue
        if s.uses[seat][shrine] == 0 or (s.uses[seat][shrine] < t.shrine_uses and s.powers[m] & SECOND_SHRINE):
            if not has_bit(s.occupied, c) or c == s.at[m] or c == cell:
                goal |= bit(c)
    if not goal:
        return 0.0
    distance = walk_distance(t, s, seat, s.powers[m], cell, goal)
    return 3.0 / (1.0 + distance)


cdef inline double idol_pull(const Tables *t, const State *s, int32_t m, int32_t cell) noexcept nogil:
    """How good a cell is with regard to the idol: to fetch it, to carry it home, to catch its carrier."""
    cdef int32_t seat = m // 3, distance
    if s.idol_by == m:
        distance = walk_distance(t, s, seat, s.powers[m], cell, bit(home(t, s, seat)))
        return 30.0 - 4.0 * distance
    if s.idol_by >= 0 and s.idol_by // 3 == seat:
        return 0.0
    distance = walk_distance(t, s, seat, s.powers[m], cell, bit(s.idol_at))
    return (8.0 if s.idol_by < 0 else 5.0) - 1.2 * min(distance, 8)


cdef inline double pull(const Tables *t, const State *s, int32_t m, int32_t cell) noexcept nogil:
    return idol_pull(t, s, m, cell) + shrine_pull(t, s, m, cell)


cdef inline double card_worth(const Tables *t, const State *s, int32_t m, int32_t card) noexcept nogil:
    """How dear a hand card is; used for blocks and discards."""
    cdef const Card *c = &t.monsters[s.who[m]].cards[card]
    if card == 0:
        return 3.0
    if c.trigger:
        return 2.0
    return 1.0 + 0.3 * (c.once < 0) - 0.4 * (card >= PUSH_SWAP)


cdef inline double victim_worth(const Tables *t, const State *s, int32_t seat, int32_t m,
                                int32_t damage) noexcept nogil:
    """The good of damaging a monster."""
    cdef double worth
    if m // 3 == seat:
        return -8.0
    worth = 0.7 * min(damage, s.pool[m]) + (1.5 if damage >= s.pool[m] > 0 else 0.0)
    if s.idol_by == m:
        worth += 14.0
    return worth


cdef inline double effect_worth(const Tables *t, const State *s, int32_t m, int32_t prog) noexcept nogil:
    """A rough value of running a list of effects."""
    cdef const Effect *e = &t.code[prog]
    cdef double worth = 0.0
    cdef int32_t amount
    while True:
        amount = 2 if e.amount < 0 else e.amount
        if e.op == OP_DAMAGE or e.op == OP_SPLASH:
            worth += 1.0 * amount
        elif e.op == OP_HEAL:
            worth += 0.6 * (min(amount, s.spent[m]) if m >= 0 and e.who == WHO_SELF else amount)
        elif e.op == OP_DRAW:
            worth += 0.8 * amount
        elif e.op == OP_MOVE or e.op == OP_JUMP or e.op == OP_MARCH:
            worth += 1.0 + 0.4 * amount
        elif e.op == OP_EXTRA or e.op == OP_ATTACK:
            worth += 2.5
        elif e.op == OP_STUN or e.op == OP_POISON or e.op == OP_FROST or e.op == OP_SHIELD:
            worth += 0.5 * amount
        elif e.op == OP_MOVE_ANY or e.op == OP_PUSH:
            worth += 1.2
        else:
            worth += 0.5
        if e.last:
            return worth
        e += 1


cdef inline double score(const Tables *t, const State *s, int32_t id) noexcept nogil:
    """The greedy value of a choice at this decision; 0 is doing nothing."""
    cdef const Frame *f = &s.stack[s.depth - 1]
    cdef int32_t seat = s.actor, m, k, target, cell, card, damage
    cdef const Card *c
    cdef double worth
    cdef bint ours
    if f.kind == K_ACTION:
        if id == A_PASS:
            return 0.05
        if id < A_ATTACK:
            m = 3 * seat + (id - A_MOVE) // CELLS
            cell = (id - A_MOVE) % CELLS
            if s.idol_by == m and cell == home(t, s, seat):
                return 1000.0
            return pull(t, s, m, cell) - pull(t, s, m, s.at[m]) - 0.3
        if id < A_MARCH:
            m, target = 3 * seat + (id - A_ATTACK) // 12, (id - A_ATTACK) % 12
            damage = s.damage[m] + s.boost[m] + modifiers(t, s).damage
            return victim_worth(t, s, seat, target, damage) - 0.5 * t.monsters[s.who[m]].damage
        if id < A_DRAW:
            return 0.2
        if id < A_PLAY:
            m, k = 3 * seat + (id - A_DRAW) // 3, (id - A_DRAW) % 3
            damage = 0
            for card in range(3 * seat, 3 * seat + 3):
                damage += count_bits(s.hand[card])
            return (0.9 if damage < 6 else 0.1) + (0.4 if k == 0 else 0.0) - 0.1 * k
        if id < A_SWAP:
            m, card = 3 * seat + (id - A_PLAY) // 13, (id - A_PLAY) % 13
            c = &t.monsters[s.who[m]].cards[card]
            return effect_worth(t, s, m, c.prog) - 0.45 * c.cost - 0.3 * card_worth(t, s, m, card)
        if id < A_MUNCH:
            return -0.5
        if id < A_SHRINE:
            m, card = 3 * seat + (id - A_MUNCH) // 13, (id - A_MUNCH) % 13
            c = &t.monsters[s.who[m]].cards[card]
            if c.once >= 0:
                return effect_worth(t, s, m, c.once) - 0.45 * c.munch_cost - 0.5
            return (2.4 if s.slots[m][2] < 0 else -0.5) - 0.45 * c.munch_cost + 0.3 * c.keep.damage + 0.3 * c.keep.move
        if id < A_REGENERATE:
            return 12.0
        if id < A_MELT:
            m = 3 * seat + (id - A_REGENERATE) // 2
            return (0.32 * s.spent[m] - 0.5 if s.pool[m] > 2 else 0.5 * s.spent[m]) + 0.05 * ((id - A_REGENERATE) & 1)
        if id < A_REACT:
            return -3.0
        return 1.0
    if f.kind == K_FAVOR:
        # early when the idol is in reach or in danger, the 0 when little else is left or gems are spent
        k = id - A_FAVOR
        worth = 0.0
        damage = 0
        for m in range(3 * seat, 3 * seat + 3):
            damage += s.spent[m]
        if k == 0:
            return 1.6 if count_bits(s.favor_hand[seat]) <= 2 else 0.12 * damage - 0.6
        if s.idol_by >= 0:
            return 1.0 + 0.3 * k
        return 1.0 + 0.1 * (k if count_bits(s.favor_hand[seat]) > 3 else -k)
    if id == A_PASS:
        return 0.0
    if f.kind == K_WINDOW:
        m, card = 3 * seat + (id - A_REACT) // 13, (id - A_REACT) % 13
        c = &t.monsters[s.who[m]].cards[card]
        if f.a == TRIGGER_ATTACKED:
            damage = s.damage[f.b] + s.boost[f.b] + modifiers(t, s).damage
            return 0.8 * min(damage, s.pool[f.c]) + (10.0 if s.idol_by == f.c else 0.0) - 1.2 - 0.3 * c.cost
        return effect_worth(t, s, m, c.prog) - 1.0 - 0.4 * c.cost
    if f.kind == K_BLOCK:
        # always for a carrier if the damage can be stopped whole; else while energy is short
        k = 1 if s.idol_by == f.a else 0
        return (5.0 if k and count_bits(s.hand[f.a]) >= f.b else 0.0) + (
            1.6 if s.pool[f.a] <= 4 else 0.9) - card_worth(t, s, f.a, id - A_CARD)
    if f.kind == K_BONUS:
        if id - A_CELL == home(t, s, seat):
            return 1000.0
        return pull(t, s, f.a, id - A_CELL) - pull(t, s, f.a, s.at[f.a])
    if f.kind == K_KO or f.kind == K_STRIP:
        m = f.b
        ours = m // 3 == seat
        worth = pull(t, s, m, id - A_CELL) - pull(t, s, m, s.at[m])
        return worth if ours else 0.2 - worth
    if f.kind == K_THROW:
        cell = id - A_CELL
        if cell == home(t, s, seat):
            return 1000.0
        worth = -walk_distance(t, s, seat, 0, cell, s.own[seat])
        for m in range(3 * t.players):
            if s.at[m] == cell:
                worth += 12.0 if m // 3 == seat else -12.0
        return worth
    if f.kind == K_HIT:
        m = id - A_TARGET
        return 4.0 if s.idol_by == f.b else 0.3 * (s.pool[m] - s.pool[f.b]) - 0.2
    if f.kind == K_MARCH:
        m = 3 * seat + (id - A_MOVE) // CELLS
        return pull(t, s, m, (id - A_MOVE) % CELLS) - pull(t, s, m, s.at[m])
    if f.kind == K_FAVOR_ACTION:
        return effect_worth(t, s, -1, t.favor_options[s.favor[seat]][id - A_CHOICE])
    if f.kind == K_HAND_LIMIT:
        m, card = 3 * seat + (id - A_DISCARD) // 13, (id - A_DISCARD) % 13
        return -card_worth(t, s, m, card)
    if f.kind == K_SLOT:
        return 0.5 * (id - A_SLOT)
    if f.kind == K_PROG:
        c = NULL
        k = t.code[f.prog].op
        if A_MOVE <= id < A_ATTACK:
            m = 3 * seat + (id - A_MOVE) // CELLS
            cell = (id - A_MOVE) % CELLS
            if s.idol_by == m and cell == home(t, s, seat):
                return 1000.0
            return pull(t, s, m, cell) - pull(t, s, m, s.at[m])
        if A_TARGET <= id < A_CELL:
            m = id - A_TARGET
            ours = m // 3 == seat
            if k == OP_HEAL or k == OP_CHOOSE_OWN or k == OP_REGENERATE:
                return 0.5 * s.spent[m]
            if k == OP_SHIELD or k == OP_CLEANSE:
                return 1.0 + (2.0 if s.idol_by == m else 0.0)
            if k == OP_DAMAGE or k == OP_ATTACK:
                return victim_worth(t, s, seat, m, max(1, <int32_t>t.code[f.prog].amount))
            if k == OP_PUSH or k == OP_MOVE_ANY:
                return (6.0 if s.idol_by == m else 0.5) if not ours else (0.8 if k == OP_MOVE_ANY else -0.5)
            return (1.0 + (2.0 if s.idol_by == m else 0.0)) * (-1.0 if ours else 1.0)
        if A_CELL <= id < A_TURN:
            cell = id - A_CELL
            if k == OP_PUSH and f.step == 2:
                if cell == home(t, s, seat):
                    return 1000.0
                return -walk_distance(t, s, seat, 0, cell, bit(home(t, s, seat)))
            if k == OP_PUSH or k == OP_MOVE_ANY:
                m = f.f
                worth = pull(t, s, m, cell) - pull(t, s, m, s.at[m])
                return worth if m // 3 == seat else -worth
            if k == OP_JUMP:
                return pull(t, s, f.a, cell) - pull(t, s, f.a, s.at[f.a])
            if k == OP_TRAP:
                return 2.0 - 0.3 * t.grid.distance[cell][s.idol_at]
            return -0.1
        return 0.1 * (id & 1)
    return 0.0


cdef inline void heuristic(const Tables *t, const State *s, double *out) noexcept nogil:
    """Utility per seat from points, the way to the idol and home with it, and energy: win shares by
    a logistic of the scores, scaled like a result."""
    cdef double value[SEATS]
    cdef double total = 0.0, late, best
    cdef int32_t seat, m, i, n = t.players, horizon
    if t.turn_limit:
        horizon = t.turn_limit
    else:
        horizon = max(1, (t.n_stack - 1) * t.spaces + t.spaces // 2)
    late = min(1.0, s.turns / <double>horizon)
    for seat in range(n):
        value[seat] = 0.0
        for i in range(t.n_shrines):
            value[seat] += (0.35 + 0.5 * late) * t.shrine_points2 * 0.5 * s.uses[seat][i]
        best = 0.0
        for m in range(3 * seat, 3 * seat + 3):
            if s.at[m] < 0:
                continue
            value[seat] += 0.02 * s.pool[m] + 0.06 * (s.slots[m][0] >= 0)
            value[seat] += 0.06 * (s.slots[m][1] >= 0) + 0.1 * (s.slots[m][2] >= 0)
            if s.idol_by == m:
                i = walk_distance(t, s, seat, s.powers[m], s.at[m], bit(home(t, s, seat)))
                value[seat] += 0.8 + 0.9 * late + (2.4 / max(1, i))
            elif s.idol_by < 0 and s.idol_at >= 0:
                i = walk_distance(t, s, seat, s.powers[m], s.at[m], bit(s.idol_at))
                best = max(best, 0.5 / (1.0 + i))
        value[seat] = exp(1.4 * (value[seat] + best))
        total += value[seat]
    for seat in range(n):
        out[seat] = (n * value[seat] / total - 1.0) / (n - 1)
