"""The rules of Qu'arz as a machine: how a state goes from one decision or chance node to the next.

Rule numbers and readings (Q1 to Q70, Q71 and up in README.md) are named where they are
implemented. The file goes from the small to the large: tokens and cards, movement and the idol,
damage, effects, the choices of each frame, what a choice does, the frames that go on by
themselves, and the functions of the contract. state.pxd describes state and frames.
"""
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from engine_ext.bits cimport bit, count_bits, has_bit, lowest_bit, pop_bit
from engine_ext.debug cimport QUANDARY_CHECK
from engine_ext.game cimport CHANCE, TERMINAL, hash_bytes
from engine_ext.rng cimport Rng, rng_below, rng_combine, rng_double
from games.quarz.field cimport (
    beside, home, linked, modifiers, reach, reach_from, rebuild, recount, sees, steps_of,
)
from games.quarz.greedy cimport heuristic, score
from games.quarz.moves cimport *
from games.quarz.soundness cimport broken_rule
from games.quarz.state cimport *


# ---- frames and what the seats see ---------------------------------------------------------------

cdef inline Frame *top(State *s) noexcept nogil:
    return &s.stack[s.depth - 1]

cdef Frame *push(State *s, int32_t kind, int32_t a, int32_t b, int32_t c) noexcept nogil:
    """A new frame on top; fields not given are 0."""
    cdef Frame *f = &s.stack[s.depth]
    QUANDARY_CHECK(s.depth < DEPTH, "quarz: the stack of frames is full")
    s.depth += 1
    f.kind, f.a, f.b, f.c = kind, a, b, c
    return f

cdef inline void pop(State *s) noexcept nogil:
    s.depth -= 1
    memset(&s.stack[s.depth], 0, sizeof(Frame))

cdef inline void push_prog(State *s, int32_t prog, int32_t self, int32_t seat, int32_t context,
                           int32_t card) noexcept nogil:
    """Run a list of effects; `card` (or -1) goes to self's discard when it is done."""
    cdef Frame *f = push(s, K_PROG, self, seat, context)
    f.prog, f.e = prog, card

cdef inline void note(const Tables *t, State *s, uint64_t event) noexcept nogil:
    """Every seat sees the event."""
    cdef int32_t i
    for i in range(t.players):
        s.info[i] = rng_combine(s.info[i], event)

cdef inline int32_t owner(int32_t m) noexcept nogil:
    return m // 3

cdef inline const Monster *tableau(const Tables *t, const State *s, int32_t m) noexcept nogil:
    return &t.monsters[s.who[m]]

cdef inline const Card *card_of(const Tables *t, const State *s, int32_t m, int32_t card) noexcept nogil:
    return &t.monsters[s.who[m]].cards[card]


# ---- energy, cards, slots ------------------------------------------------------------------------

cdef inline void pay(State *s, int32_t m, int32_t energy) noexcept nogil:
    """Rule 36: spent energy goes to the monster's own spent area."""
    s.pool[m] -= energy
    s.spent[m] += energy

cdef inline void heal(State *s, int32_t m, int32_t energy) noexcept nogil:
    energy = min(energy, s.spent[m])
    s.pool[m] += energy
    s.spent[m] -= energy

cdef inline void lose(State *s, int32_t m, int32_t energy) noexcept nogil:
    """Rule 68: not below 0."""
    pay(s, m, min(energy, s.pool[m]))

cdef inline void leave_hand(const Tables *t, State *s, int32_t m, int32_t card) noexcept nogil:
    """A hand card is shown and leaves the hand; all see which of the backs it was (Q71)."""
    s.hand[m] &= ~(1 << card)
    s.known[m] &= ~(1 << card)
    note(t, s, <uint64_t>1 << 32 | m << 16 | card << 8 | s.drawn[m][card])
    s.drawn[m][card] = 0

cdef inline void add_bonus(const Bonus *bonus, State *s, int32_t m, int32_t *energy) noexcept nogil:
    s.damage[m] += bonus.damage
    s.move[m] += bonus.move
    s.draws[m] += bonus.draw
    s.carry[m] += bonus.carry
    s.powers[m] |= bonus.flags
    energy[0] += bonus.energy

cdef void refresh(const Tables *t, State *s, int32_t m) noexcept nogil:
    """Recompute figures and powers from the tableau and the slots (rules 100, 131; Q25, Q26, Q68)."""
    cdef const Monster *mon = tableau(t, s, m)
    cdef int32_t i, filled = 0, energy = mon.energy
    s.damage[m], s.move[m], s.draws[m], s.carry[m], s.powers[m] = mon.damage, mon.move, 0, 0, 0
    for i in range(3):
        if s.slots[m][i] >= 0:
            filled += 1
            add_bonus(&mon.cards[s.slots[m][i]].keep, s, m, &energy)
    if filled >= 2:
        add_bonus(&mon.slot2, s, m, &energy)
    if filled >= 3:
        add_bonus(&mon.slot3, s, m, &energy)
    if s.gave_up >> m & 1:                                                  # rule 119
        s.powers[m] &= ~SECOND_SHRINE
    energy -= s.pool[m] + s.spent[m]
    if energy >= 0:
        s.pool[m] += energy
    else:
        i = min(-energy, s.spent[m])
        s.spent[m] -= i
        s.pool[m] += energy + i

cdef inline int32_t slots_filled(const State *s, int32_t m) noexcept nogil:
    return (s.slots[m][0] >= 0) + (s.slots[m][1] >= 0) + (s.slots[m][2] >= 0)

cdef inline bint can_keep(const Tables *t, const State *s, int32_t m) noexcept nogil:
    """A free slot, or a slot whose card is not locked (rules 101, 102; Q61)."""
    cdef int32_t i
    for i in range(3):
        if s.slots[m][i] < 0 or not card_of(t, s, m, s.slots[m][i]).lock:
            return True
    return False

cdef void fill_slot(const Tables *t, State *s, int32_t m, int32_t card) noexcept nogil:
    """Rules 96, 98, 100: leftmost free slot; the second one releases the ultimate."""
    cdef int32_t i = slots_filled(s, m)
    s.slots[m][i] = card
    if i == 1 and not (s.hand[m] | s.deck[m] | s.pile[m] | s.gone[m] | s.table[m]) & ULTIMATE \
            and s.slots[m][0] != 0 and s.slots[m][1] != 0 and s.slots[m][2] != 0:
        s.hand[m] |= ULTIMATE
        s.known[m] |= ULTIMATE
    refresh(t, s, m)

cdef inline void shuffle_in(State *s, int32_t m) noexcept nogil:
    """Rule 124: the discard becomes part of the draw pile; a new epoch of what is known (Q71)."""
    cdef int32_t card
    if s.pile[m]:
        s.epoch[m] += 1
        for card in range(CARDS):
            if s.pile[m] >> card & 1:
                s.birth[m][card] = s.epoch[m]
        s.deck[m] |= s.pile[m]
        s.pile[m] = 0

cdef inline void regenerate(State *s, int32_t m) noexcept nogil:
    """Rules 124, 125."""
    s.pool[m] += s.spent[m]
    s.spent[m] = 0
    s.frost[m] = 0
    s.resting |= 1 << m

cdef inline void draw_cards(State *s, int32_t m, int32_t n) noexcept nogil:
    """Rules 81, 83; Q66: as many as are there."""
    n = min(n, count_bits(s.deck[m]))
    if n:
        push(s, K_DRAW, m, n, 0)


# ---- movement and the idol -----------------------------------------------------------------------

cdef inline void win(State *s, int32_t seat) noexcept nogil:
    """Rules 56, 127: at once, whatever is pending."""
    s.winner = seat
    s.actor = TERMINAL

cdef inline void take_idol(const Tables *t, State *s, int32_t m) noexcept nogil:
    """Rules 49-53: control, then the bonus movement before everything else."""
    s.idol_by = m
    s.idol_at = s.at[m]
    if s.idol_at == home(t, s, owner(m)):
        win(s, owner(m))
        return
    push(s, K_BONUS, m, 0, 0)

cdef inline void spring_trap(const Tables *t, State *s, int32_t m) noexcept nogil:
    """A rival's trap where the monster has come to stand, whatever brought it there (Q88)."""
    cdef int32_t other
    for other in range(t.players):
        if other != owner(m) and has_bit(s.traps[other], s.at[m]):
            s.traps[other] &= ~bit(s.at[m])
            lose(s, m, TRAP_LOSS)

cdef void place(const Tables *t, State *s, int32_t m, int32_t cell) noexcept nogil:
    """A monster comes to stand on a cell, whatever moved it; the idol goes with its carrier (rule 54)."""
    cdef int32_t seat = owner(m)
    s.at[m] = cell
    recount(t, s, seat)
    if s.idol_by == m:
        s.idol_at = cell
        if cell == home(t, s, seat):
            win(s, seat)
            return
    spring_trap(t, s, m)
    if s.idol_by < 0 and s.idol_at == cell:
        take_idol(t, s, m)

cdef inline void travel(const Tables *t, State *s, int32_t m, int32_t cell) noexcept nogil:
    """A voluntary movement: afterwards, and after a bonus movement, rivals nearby may react."""
    if s.depth < WINDOW_DEPTH:
        push(s, K_WINDOW, TRIGGER_ARRIVED, m, m)
    place(t, s, m, cell)

cdef inline uint64_t shoved(const Tables *t, const State *s, int32_t m) noexcept nogil:
    """Where a monster can be displaced by 1 hex, its powers and its helpers counting (rules 71, 76, 89)."""
    return reach(t, s, m, 1, s.powers[m])

cdef inline uint64_t throws(const Tables *t, const State *s, int32_t seat) noexcept nogil:
    """Where a shot can move the idol: a neighbour hex, water and walls ignored (rule 73; Q56, Q57)."""
    return t.grid.near[s.idol_at] & ~s.solid & ~(t.camp_mask & ~bit(home(t, s, seat)))

cdef void land_idol(const Tables *t, State *s, int32_t seat, int32_t cell) noexcept nogil:
    """The idol, moved by this seat without a carrier, comes to lie on a cell (rule 74, Q56)."""
    cdef int32_t m
    s.idol_by = -1
    s.idol_at = cell
    for m in range(3 * t.players):
        if s.at[m] == cell:
            take_idol(t, s, m)
            return
    if cell == home(t, s, seat):
        win(s, seat)

cdef bint can_march(const Tables *t, const State *s, int32_t seat, int32_t moved, int32_t spare,
                    const int8_t *at) noexcept nogil:
    """Whether the monsters not in `moved` can each march in some order, from where `at` has the seat's
    three: 1 step each, and with a spare step 2, unless one carries the idol (rules 77, 78; Q44, Q72)."""
    cdef int8_t later[3]
    cdef int32_t k, j, m, more
    cdef uint64_t friends, cells, near, rivals = s.occupied & ~s.own[seat]
    if moved == 7:
        return True
    for k in range(3):
        if moved >> k & 1:
            continue
        m = 3 * seat + k
        friends = 0
        for j in range(3):
            if j != k:
                friends |= bit(at[j])
            later[j] = at[j]
        near = reach_from(t, s, m, at, friends, rivals, 1, s.powers[m])
        for more in range(2 if spare > 0 and s.idol_by != m else 1):
            cells = near if more == 0 else reach_from(t, s, m, at, friends, rivals, 2, s.powers[m]) & ~near
            while cells:
                later[k] = pop_bit(&cells)
                if can_march(t, s, seat, moved | 1 << k, spare - more, later):
                    return True
    return False

cdef inline int32_t march_price(const Tables *t, const State *s, int32_t seat) noexcept nogil:
    """Rules 77, 80."""
    return t.march_cost + s.stun[3 * seat] + s.stun[3 * seat + 1] + s.stun[3 * seat + 2]


# ---- attacks and damage --------------------------------------------------------------------------

cdef inline bint reaches(const Tables *t, const State *s, int32_t m, int32_t target, int32_t kind) noexcept nogil:
    """Rules 61, 62: whether a strike or a shot (plain: as a shot) gets there."""
    if m == target or s.at[target] < 0 or s.at[m] < 0:
        return False
    return beside(t, s, m, target) if kind == STRIKE else sees(t, s, m, target)

cdef inline int32_t own_kind(const Tables *t, const State *s, int32_t m) noexcept nogil:
    return SHOOT if tableau(t, s, m).shoots else STRIKE

cdef inline int32_t attack_damage(const Tables *t, const State *s, int32_t m) noexcept nogil:
    """Rule 63."""
    return s.damage[m] + s.boost[m] + modifiers(t, s).damage

cdef inline int32_t block_limit(const Tables *t, const State *s, int32_t m) noexcept nogil:
    """Rule 65: the defender's own damage value with its lasting bonuses."""
    return s.damage[m] + modifiers(t, s).damage

cdef inline void hit(State *s, int32_t source, int32_t victim, int32_t damage, int32_t kind) noexcept nogil:
    """Damage on its way: shield tokens, Living Shield, loss, idol, K.O., in this order."""
    cdef Frame *f
    if damage > 0:
        f = push(s, K_HIT, source, victim, damage)
        f.d = kind

cdef inline bint guards(const Tables *t, const State *s, int32_t g, int32_t victim, int32_t source) noexcept nogil:
    """Rule 106; Q50, Q84, Q87."""
    return (g != victim and g != source and s.at[g] >= 0 and s.powers[g] & LIVING_SHIELD and s.pool[g] > 0
            and beside(t, s, g, victim))

cdef bint strike_down(const Tables *t, State *s) noexcept nogil:
    """The last stage of a hit: the loss and what it entails."""
    cdef Frame f = top(s)[0]
    cdef bint alive = s.pool[f.b] > 0
    lose(s, f.b, f.c)
    pop(s)
    # below: what comes later lies deeper
    if s.depth < WINDOW_DEPTH and f.a >= 0:
        push(s, K_WINDOW, TRIGGER_HURT, f.a, f.b)
    if alive and s.pool[f.b] == 0 and f.a >= 0 and f.a != f.b:              # rule 76, Q46
        push(s, K_KO, f.a, f.b, 0)
    if s.idol_by == f.b and f.d != PLAIN and f.a >= 0:                      # Q47: the idol first
        s.idol_by = -1
        if f.d == STRIKE:
            push(s, K_STRIP, f.a, f.b, 0 if beside(t, s, f.a, f.b) else 3)      # Q86: a guard farther off
        else:
            push(s, K_THROW, f.a, f.b, 0)
    return True


# ---- instants ------------------------------------------------------------------------------------

cdef inline bint instant_fits(const Tables *t, const State *s, int32_t m, int32_t card, int32_t trigger,
                              int32_t context, int32_t subject) noexcept nogil:
    """Rules 37, 38, 87: the condition holds, energy and reaction tokens are there; the monster may be at
    rest; there is something to do (Q77)."""
    cdef const Card *c = card_of(t, s, m, card)
    if s.pool[m] < max(1, c.cost) or s.reactions[owner(m)] < c.reactions:
        return False
    if (trigger == TRIGGER_ATTACKED or trigger == TRIGGER_HURT) and m != subject and not c.mob_scope:
        return False
    if trigger == TRIGGER_ARRIVED and not beside(t, s, m, context):
        return False
    return prog_possible(t, s, c.prog, m, owner(m), card)

cdef int32_t list_instants(const Tables *t, const State *s, int32_t seat, int32_t trigger, int32_t context,
                           int32_t subject, int32_t *out) noexcept nogil:
    cdef int32_t k, m, card, n = 0
    cdef uint64_t cards
    for k in range(3):
        m = 3 * seat + k
        if s.at[m] < 0:
            continue
        cards = s.hand[m] & tableau(t, s, m).instants[trigger]
        while cards:
            card = pop_bit(&cards)
            if instant_fits(t, s, m, card, trigger, context, subject):
                out[n] = A_REACT + 13 * k + card
                n += 1
    return n

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

cdef void play_card(const Tables *t, State *s, int32_t m, int32_t card, int32_t prog, int32_t cost,
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


# ---- effects -------------------------------------------------------------------------------------

cdef inline bint free_hex(const Tables *t, const State *s, int32_t cell) noexcept nogil:
    """Q21: modifiable, no monster, no idol."""
    return has_bit(t.modifiable_mask & ~s.occupied, cell) and s.idol_at != cell

cdef inline uint64_t free_hexes(const Tables *t, const State *s) noexcept nogil:
    cdef uint64_t cells = t.modifiable_mask & ~s.occupied
    if s.idol_at >= 0:
        cells &= ~bit(s.idol_at)
    return cells

cdef inline int32_t put_cells(uint64_t cells, int32_t base, int32_t *out, int32_t n) noexcept nogil:
    while cells:
        out[n] = base + pop_bit(&cells)
        n += 1
    return n

cdef inline bint may_stand(const Tables *t, const State *s, int32_t m, int32_t cell) noexcept nogil:
    """Rule 45: not in another mob's camp."""
    return not has_bit(t.camp_mask, cell) or cell == home(t, s, owner(m))

cdef int32_t list_targets(const Tables *t, const State *s, int32_t m, int32_t kind, bint any_side,
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

cdef inline int32_t step_limit(const Tables *t, const State *s, const Effect *e, int32_t m) noexcept nogil:
    """Rule 55: a carrier moves 1 hex, unless the card or a lasting bonus says otherwise; a jump and the
    Shrine of Movement (rule 116) take it 1 hex in any case."""
    if s.idol_by != m:
        return e.amount
    if e.op == OP_JUMP or e.op == OP_MOVE_ANY:
        return 1
    return min(<int32_t>e.amount, max(<int32_t>e.carry, 1 + s.carry[m] + modifiers(t, s).carry))

cdef int32_t list_effect(const Tables *t, const State *s, const Frame *f, int32_t *out) noexcept nogil:
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

cdef inline bint has_partner(const Tables *t, const State *s, int32_t cell) noexcept nogil:
    """Whether exchanging this free hex with some other would change the board."""
    cdef uint64_t cells = free_hexes(t, s)
    cdef int32_t c
    while cells:
        c = pop_bit(&cells)
        if s.tile[c] != s.tile[cell] or s.turned[c] != s.turned[cell]:
            return True
    return False

cdef inline bint asks(const Effect *e) noexcept nogil:
    """Whether the effect has something to choose."""
    if e.op == OP_HEAL or e.op == OP_SHIELD or e.op == OP_CLEANSE:
        return e.who == WHO_FRIEND
    if e.op == OP_DAMAGE or e.op == OP_PUSH:
        return e.kind != CONTEXT
    return not (e.op == OP_SPLASH or e.op == OP_DRAW or e.op == OP_BOOST or e.op == OP_EXTRA or e.op == OP_ROLL
                or e.op == OP_NEGATE or e.op == OP_REDUCE)

cdef inline void next_effect(const Tables *t, Frame *f) noexcept nogil:
    f.prog = -1 if t.code[f.prog].last else f.prog + 1
    f.step = f.f = 0
    f.g = 0

cdef bint prog_possible(const Tables *t, const State *s, int32_t prog, int32_t m, int32_t seat,
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

cdef inline Frame *running_attack(State *s) noexcept nogil:
    """The attack that an instant answers."""
    cdef int32_t i = s.depth - 1
    while i > 0 and s.stack[i].kind != K_ATTACK:
        i -= 1
    return &s.stack[i]

cdef inline int32_t amount_of(const Effect *e, const Frame *f) noexcept nogil:
    return f.d if e.amount < 0 else e.amount

cdef inline void add_tokens(int8_t *tokens, int32_t n) noexcept nogil:
    tokens[0] = min(TOKEN_CAP, tokens[0] + n)

cdef void cleanse(State *s, int32_t m) noexcept nogil:
    s.stun[m] = s.poison[m] = s.frost[m] = 0

cdef void run_effect(const Tables *t, State *s, Frame *f) noexcept nogil:
    """An effect without a choice."""
    cdef const Effect *e = &t.code[f.prog]
    cdef int32_t scratch[32]
    cdef int32_t op = e.op, m = f.a, seat = f.b, context = f.c, n, k, amount = amount_of(e, f)
    cdef Frame *attack
    next_effect(t, f)
    if op == OP_DAMAGE:
        if context >= 0 and s.at[context] >= 0:
            hit(s, m, context, amount, STRIKE if beside(t, s, m, context) else SHOOT)
    elif op == OP_PUSH:
        if context >= 0 and shoved(t, s, context):
            if s.idol_by == context:                                        # rule 90, Q51, Q80
                s.idol_by = -1
                push(s, K_STRIP, m, context, 1 if beside(t, s, m, context) else 2)
            else:
                push(s, K_KO, m, context, 1)
    elif op == OP_SPLASH:
        n = list_targets(t, s, m, STRIKE, e.any, scratch)
        for k in range(n - 1, -1, -1):
            hit(s, m, scratch[k] - A_TARGET, amount, e.kind)
    elif op == OP_HEAL:
        if e.who == WHO_SELF:
            heal(s, m, amount)
        else:
            for k in range(3 * seat, 3 * seat + 3):
                heal(s, k, amount)
    elif op == OP_DRAW:
        draw_cards(s, m, amount)
    elif op == OP_SHIELD:
        add_tokens(&s.shield[m], amount)
    elif op == OP_CLEANSE:
        cleanse(s, m)
    elif op == OP_BOOST:
        s.boost[m] = min(BOOST_CAP, s.boost[m] + amount)
    elif op == OP_EXTRA:
        if s.extras < t.extra_limit and s.active == seat:
            s.extras += 1
            s.actions += 1
    elif op == OP_ROLL:
        push(s, K_ROLL, m, 0, 0)
    elif op == OP_NEGATE or op == OP_REDUCE:
        attack = running_attack(s)
        if attack.kind == K_ATTACK:
            if op == OP_NEGATE:
                attack.d = 1
            else:
                attack.c = min(100, attack.c + amount)

cdef void exchange(const Tables *t, State *s, int32_t m, int32_t target) noexcept nogil:
    """Rule 91, Q53, Q88: two monsters change places; a carrier keeps the idol."""
    cdef int8_t at = s.at[m]
    s.at[m] = s.at[target]
    s.at[target] = at
    recount(t, s, owner(m))
    recount(t, s, owner(target))
    if s.idol_by == m or s.idol_by == target:
        s.idol_at = s.at[s.idol_by]
        if s.idol_at == home(t, s, owner(s.idol_by)):
            win(s, owner(s.idol_by))
    spring_trap(t, s, m)
    spring_trap(t, s, target)

cdef void choose_effect(const Tables *t, State *s, Frame *f, int32_t id) noexcept nogil:
    """A choice of the running effect is made."""
    cdef const Effect *e = &t.code[f.prog]
    cdef int32_t op = e.op, m = f.a, seat = f.b, amount = amount_of(e, f)
    cdef int32_t target = id - A_TARGET, cell = id - A_CELL, other
    cdef uint8_t tile
    if id == A_PASS:
        next_effect(t, f)
        return
    if op == OP_MARCH:
        other = (id - A_MOVE) // 48
        f.f |= 1 << other
        travel(t, s, 3 * seat + other, (id - A_MOVE) % 48)
        return
    if op == OP_PUSH and f.step == 0:
        if id == A_CHOICE:
            f.step = 2
        elif s.idol_by == target:
            next_effect(t, f)
            if shoved(t, s, target):
                s.idol_by = -1
                push(s, K_STRIP, m, target, 1 if beside(t, s, m, target) else 2)
        else:
            f.step = 1
            f.f = target
        return
    if op == OP_ROTATE:
        if f.step == 0:
            f.step = 1
            f.f = cell
            return
        s.turned[f.f] = id - A_TURN
        rebuild(t, s)
        if f.g == 0 and e.amount > 1:
            f.g = 64 | f.f
            f.step = 0
            return
        next_effect(t, f)
        return
    if op == OP_TRADE:
        if f.step == 0:
            f.step = 1
            f.f = cell
            return
        other = f.f
        tile = s.tile[other]
        s.tile[other] = s.tile[cell]
        s.tile[cell] = tile
        tile = s.turned[other]
        s.turned[other] = s.turned[cell]
        s.turned[cell] = tile
        rebuild(t, s)
        next_effect(t, f)
        return
    if op == OP_SWAP_FRIENDS or op == OP_MOVE_ANY:
        if f.step == 0:
            f.step = 1
            f.f = target
            return
        other = f.f
        next_effect(t, f)
        if op == OP_MOVE_ANY:
            place(t, s, other, cell)
            return
        tile = s.at[target]
        s.at[target] = s.at[other]
        s.at[other] = tile
        recount(t, s, seat)
        if s.idol_by == target or s.idol_by == other:                       # Q54: the newcomer takes it
            take_idol(t, s, target if s.idol_by == other else other)
        return
    other = f.f
    cell = id - A_CELL
    if op == OP_PUSH and f.step == 2:
        next_effect(t, f)
        land_idol(t, s, seat, cell)
        return
    next_effect(t, f)
    if op == OP_PUSH:
        place(t, s, other, cell)
    elif op == OP_DAMAGE:
        hit(s, m, target, amount, e.kind)
    elif op == OP_STUN:
        add_tokens(&s.stun[target], amount)
    elif op == OP_POISON:
        add_tokens(&s.poison[target], amount)
    elif op == OP_FROST:
        add_tokens(&s.frost[target], amount)
    elif op == OP_SAP:
        push(s, K_SAP, target, min(amount, count_bits(s.hand[target])), 0)
    elif op == OP_HEAL:
        heal(s, target, amount)
    elif op == OP_SHIELD:
        add_tokens(&s.shield[target], amount)
    elif op == OP_CLEANSE:
        cleanse(s, target)
    elif op == OP_MOVE:
        travel(t, s, 3 * seat + (id - A_MOVE) // 48, (id - A_MOVE) % 48)
    elif op == OP_SWAP:
        exchange(t, s, m, target)
    elif op == OP_TRAP:
        s.traps[seat] |= bit(cell)
    elif op == OP_JUMP:
        travel(t, s, m, cell)
    elif op == OP_RECOVER:
        s.pile[m] &= ~(1 << (id - A_CARD))
        s.hand[m] |= 1 << (id - A_CARD)
        s.known[m] |= 1 << (id - A_CARD)
    elif op == OP_ATTACK:
        push(s, K_ATTACK, m, target, 0)
    elif op == OP_CHOOSE_OWN:
        f.a = target
    elif op == OP_REGENERATE:
        regenerate(s, m)
        if id == A_CHOICE + 1:
            shuffle_in(s, m)


# ---- choices by frame ----------------------------------------------------------------------------

cdef int32_t list_actions(const Tables *t, const State *s, int32_t seat, int32_t *out) noexcept nogil:
    """The actions of a turn (rules 34-39), and what is free between them."""
    cdef int32_t able[3]
    cdef int32_t k, m, n = 0, card, target, kind, shrine, cost
    cdef uint64_t cards
    cdef const Card *c
    cdef const Monster *mon
    cdef const Global *g = modifiers(t, s)
    out[0] = A_PASS
    n = 1
    for k in range(3):                                  # who may act, and rule 37
        m = 3 * seat + k
        able[k] = s.at[m] >= 0 and s.pool[m] > 0 and not s.resting >> m & 1
    for k in range(3):
        m = 3 * seat + k
        if able[k] and s.pool[m] >= t.move_cost + s.stun[m]:                # rule 40, Q43
            n = put_cells(reach(t, s, m, steps_of(t, s, m), s.powers[m]), A_MOVE + 48 * k, out, n)
    for k in range(3):
        m = 3 * seat + k
        if not able[k]:
            continue
        mon = tableau(t, s, m)
        if s.pool[m] < mon.damage:                                          # rule 58
            continue
        kind = own_kind(t, s, m)
        for target in range(3 * t.players):
            if reaches(t, s, m, target, kind):
                out[n] = A_ATTACK + 12 * k + target
                n += 1
    if t.squad == 3 and not g.no_march:                                     # rules 77-80
        cost = march_price(t, s, seat)
        if (able[0] and s.pool[3 * seat] >= cost) or (able[1] and s.pool[3 * seat + 1] >= cost) \
                or (able[2] and s.pool[3 * seat + 2] >= cost):
            if s.pool[3 * seat] and s.pool[3 * seat + 1] and s.pool[3 * seat + 2] \
                    and not s.resting >> 3 * seat & 7 and can_march(t, s, seat, 0, t.march_steps - 3, &s.at[3 * seat]):
                for k in range(3):
                    if s.pool[3 * seat + k] >= cost:
                        out[n] = A_MARCH + k
                        n += 1
    for k in range(3):
        m = 3 * seat + k
        if able[k] and s.deck[m]:                                           # rule 81, Q73
            for card in range(3):
                if s.pool[m] >= t.draw_cost[card]:
                    out[n] = A_DRAW + 3 * k + card
                    n += 1
    for k in range(3):
        m = 3 * seat + k
        if not able[k]:
            continue
        mon = tableau(t, s, m)
        cards = s.hand[m]
        while cards:
            card = pop_bit(&cards)
            c = &mon.cards[card]
            if not c.trigger and c.cost <= s.pool[m] and prog_possible(t, s, c.prog, m, seat, card):
                out[n] = A_PLAY + 13 * k + card
                n += 1
    for k in range(3):
        m = 3 * seat + k
        if not able[k] or s.pool[m] < t.swap_cost:
            continue
        cards = s.hand[m] >> PUSH_SWAP
        if not cards:
            continue
        for target in range(3 * t.players):
            if target != m and s.at[target] >= 0 and beside(t, s, m, target) and can_swap(t, s, m, target):
                n = put_cells(cards, A_SWAP + 3 * k, out, n)
                break
    for k in range(3):
        m = 3 * seat + k
        if not able[k]:
            continue
        mon = tableau(t, s, m)
        cards = s.hand[m]
        while cards:
            card = pop_bit(&cards)
            c = &mon.cards[card]
            if c.munch_cost <= s.pool[m] and (can_keep(t, s, m) if c.once < 0
                                              else prog_possible(t, s, c.once, m, seat, -1)):
                out[n] = A_MUNCH + 13 * k + card
                n += 1
    for k in range(3):
        m = 3 * seat + k
        if not able[k]:
            continue
        shrine = t.shrine_at[s.at[m]]
        if shrine >= 0 and s.pool[m] >= t.shrine_cost - g.shrine_discount:  # rules 108-112
            if s.uses[seat][shrine] == 0 or (s.uses[seat][shrine] < t.shrine_uses and s.powers[m] & SECOND_SHRINE):
                out[n] = A_SHRINE + k
                n += 1
    for k in range(3):
        m = 3 * seat + k
        if s.at[m] >= 0 and not s.resting >> m & 1:                         # rules 37, 124; Q38, Q39
            out[n] = A_REGENERATE + 2 * k
            n += 1
            if s.pile[m]:
                out[n] = A_REGENERATE + 2 * k + 1
                n += 1
    for k in range(3):
        m = 3 * seat + k
        if able[k] and s.powers[m] & SECOND_SHRINE:                         # rule 118, Q27
            for card in range(t.n_impassable):
                if has_bit(s.solid, t.impassable[card]):
                    out[n] = A_MELT + 4 * k + card
                    n += 1
    return n + list_instants(t, s, seat, TRIGGER_FREE, -1, -1, out + n)

cdef int32_t list_march(const Tables *t, const State *s, const Frame *f, int32_t *out) noexcept nogil:
    """Rules 77, 78; Q44, Q72: who moves next, and where to."""
    cdef int32_t k, m, n = 0, cell, moved = f.d, spare
    cdef int8_t at[3]
    cdef uint64_t cells, near
    for k in range(3):
        if moved >> k & 1:
            continue
        m = 3 * f.b + k
        spare = max(0, f.c - 3 + count_bits(moved))
        near = reach(t, s, m, 1, s.powers[m])
        cells = reach(t, s, m, 2, s.powers[m]) if spare > 0 and s.idol_by != m else near
        while cells:
            cell = pop_bit(&cells)
            at[0], at[1], at[2] = s.at[3 * f.b], s.at[3 * f.b + 1], s.at[3 * f.b + 2]
            at[k] = cell
            if can_march(t, s, f.b, moved | 1 << k, spare - (not has_bit(near, cell)), at):
                out[n] = A_MOVE + 48 * k + cell
                n += 1
    return n

cdef int32_t list_choices(const Tables *t, const State *s, int32_t *out) noexcept nogil:
    """The choices of a decision's frame, ascending; 0 when it has none and is skipped."""
    cdef const Frame *f = &s.stack[s.depth - 1]
    cdef int32_t kind = f.kind, n = 0, k, m, seat, card, taken, left
    cdef uint64_t cells
    if kind == K_ACTION:
        return list_actions(t, s, f.b, out)
    if kind == K_PROG:
        return list_effect(t, s, f, out)
    if kind == K_FAVOR:
        for k in range(5):
            if s.favor_hand[f.b] >> k & 1:
                out[n] = A_FAVOR + k
                n += 1
        return n
    if kind == K_WINDOW:
        seat = window_seat(t, s, f)
        out[0] = A_PASS
        n = list_instants(t, s, seat, f.a, f.b, f.c, out + 1)
        return n + 1 if n else 0
    if kind == K_BLOCK:
        out[0] = A_PASS
        n = put_cells(s.hand[f.a] & ~((1 << f.c) - 1), A_CARD, out, 1)
        return n if n > 1 else 0
    if kind == K_BONUS or kind == K_KO:
        m = f.a if kind == K_BONUS else f.b
        cells = reach(t, s, m, 1, s.powers[m])
        if kind == K_KO and f.c:                                            # a push: no staying
            return put_cells(cells, A_CELL, out, 0)
        out[0] = A_PASS
        n = put_cells(cells, A_CELL, out, 1)
        return n if n > 1 else 0
    if kind == K_STRIP:
        return put_cells(shoved(t, s, f.b), A_CELL, out, 0)
    if kind == K_THROW:
        return put_cells(throws(t, s, owner(f.a)), A_CELL, out, 0)
    if kind == K_HIT:
        out[0] = A_PASS
        n = 1
        for m in range(3 * owner(f.b), 3 * owner(f.b) + 3):
            if guards(t, s, m, f.b, f.a):
                out[n] = A_TARGET + m
                n += 1
        return n if n > 1 else 0
    if kind == K_MARCH:
        return list_march(t, s, f, out)
    if kind == K_FAVOR_ACTION:
        for k in range(4):
            card = t.favor_options[s.favor[f.b]][k]
            if card >= 0 and prog_possible(t, s, card, -1, f.b, -1):
                out[n] = A_CHOICE + k
                n += 1
        return n
    if kind == K_HAND_LIMIT:
        left = 0
        for k in range(3):
            left += count_bits(s.hand[3 * f.b + k])
        left -= max(0, t.hand_limit + modifiers(t, s).hand_limit)
        if left <= 0:
            return 0
        for k in range(2, -1, -1):
            for card in range(CARDS - 1, -1, -1):
                if 13 * k + card >= f.c and s.hand[3 * f.b + k] >> card & 1:
                    left -= 1
                    if left <= 0:
                        out[n] = A_DISCARD + 13 * k + card
                        n += 1
        for k in range(n // 2):                                             # ascending
            card = out[k]
            out[k] = out[n - 1 - k]
            out[n - 1 - k] = card
        return n
    if kind == K_SLOT:
        for k in range(3):
            if not card_of(t, s, f.a, s.slots[f.a][k]).lock:
                out[n] = A_SLOT + k
                n += 1
        return n
    if kind == K_TILE:
        if f.step == 2:
            for k in range(t.period[f.c]):
                out[n] = A_TURN + k
                n += 1
            return n
        for k in range(t.n_modifiable):
            if not s.tile[t.modifiable[k]]:
                out[n] = A_CELL + t.modifiable[k]
                n += 1
        return n
    if kind == K_MOB or kind == K_CAMP:
        taken = 0
        for seat in range(t.players):
            k = s.mob[seat] if kind == K_MOB else s.camp[seat]
            if k >= 0:
                taken |= 1 << k
        for k in range(4 if kind == K_MOB else t.players):
            if not taken >> k & 1:
                out[n] = (A_MOB if kind == K_MOB else A_CAMP) + k
                n += 1
        return n
    for k in range(4):                                                      # K_LEAVE
        out[k] = A_LEAVE + k
    return 4

cdef void begin_action(const Tables *t, State *s, int32_t seat, int32_t id) noexcept nogil:
    """One of the choices of `list_actions`."""
    cdef int32_t k, m, n, card
    cdef const Card *c
    if id == A_PASS:                                                        # Q36
        s.actions = 0
        return
    if id >= A_MELT:
        if id >= A_REACT:
            react(t, s, seat, id, -1)
            return
        m = 3 * seat + (id - A_MELT) // 4                                   # rules 118, 119, 123
        s.gave_up |= 1 << m
        s.melted |= bit(t.impassable[(id - A_MELT) % 4])
        refresh(t, s, m)
        rebuild(t, s)
        return
    s.actions -= 1
    if id < A_ATTACK:
        m = 3 * seat + (id - A_MOVE) // 48
        pay(s, m, t.move_cost + s.stun[m])
        s.stun[m] = 0
        travel(t, s, m, (id - A_MOVE) % 48)
    elif id < A_MARCH:
        m = 3 * seat + (id - A_ATTACK) // 12
        pay(s, m, tableau(t, s, m).damage)
        push(s, K_ATTACK, m, (id - A_ATTACK) % 12, 0)
    elif id < A_DRAW:
        m = 3 * seat + id - A_MARCH
        pay(s, m, march_price(t, s, seat))
        for k in range(3 * seat, 3 * seat + 3):
            s.stun[k] = 0
        push(s, K_MARCH, 0, seat, t.march_steps)
    elif id < A_PLAY:
        m = 3 * seat + (id - A_DRAW) // 3
        n = (id - A_DRAW) % 3
        pay(s, m, t.draw_cost[n])
        draw_cards(s, m, n + 1 + s.draws[m] + modifiers(t, s).draw)         # rule 82
    elif id < A_SWAP:
        m, card = 3 * seat + (id - A_PLAY) // 13, (id - A_PLAY) % 13
        c = card_of(t, s, m, card)
        play_card(t, s, m, card, c.prog, c.cost, -1)
    elif id < A_MUNCH:
        m, card = 3 * seat + (id - A_SWAP) // 3, PUSH_SWAP + (id - A_SWAP) % 3
        play_card(t, s, m, card, 0, t.swap_cost, -1)                        # instruction 0: swap, strike, any
    elif id < A_SHRINE:
        m, card = 3 * seat + (id - A_MUNCH) // 13, (id - A_MUNCH) % 13
        c = card_of(t, s, m, card)
        pay(s, m, c.munch_cost)
        leave_hand(t, s, m, card)
        s.munched[seat] += 1                                                # Q62
        if c.once >= 0:                                                     # rule 95
            s.gone[m] |= 1 << card
            push_prog(s, c.once, m, seat, -1, -1)
        elif slots_filled(s, m) < 3:
            fill_slot(t, s, m, card)
        else:
            s.table[m] |= 1 << card
            push(s, K_SLOT, m, seat, card)
    elif id < A_REGENERATE:
        m = 3 * seat + id - A_SHRINE
        k = t.shrine_at[s.at[m]]
        pay(s, m, max(0, t.shrine_cost - modifiers(t, s).shrine_discount))
        s.uses[seat][k] += 1                                                # rules 109-111
        push_prog(s, t.shrine_prog[s.shrine_card[k]], m, seat, -1, -1)
    else:
        m = 3 * seat + (id - A_REGENERATE) // 2
        regenerate(s, m)
        if (id - A_REGENERATE) & 1:
            shuffle_in(s, m)

cdef void choose(const Tables *t, State *s, int32_t id) noexcept nogil:
    """A decision's choice takes effect."""
    cdef Frame *f = top(s)
    cdef Frame old = f[0]
    cdef int32_t kind = f.kind, m, k, seat = s.actor
    if kind == K_ACTION:
        begin_action(t, s, f.b, id)
    elif kind == K_PROG:
        choose_effect(t, s, f, id)
    elif kind == K_FAVOR:
        s.favor[f.b] = id - A_FAVOR
        pop(s)
    elif kind == K_WINDOW:
        if id == A_PASS:
            f.d += 1
        else:
            react(t, s, seat, id, f.b)
    elif kind == K_BLOCK:
        if id == A_PASS:
            pop(s)
            return
        k = id - A_CARD
        leave_hand(t, s, f.a, k)
        s.pile[f.a] |= 1 << k
        f.b -= 1
        f.c = k + 1
        s.stack[s.depth - 2].e += 1
    elif kind == K_BONUS or kind == K_KO:
        pop(s)
        if id != A_PASS:
            place(t, s, old.a if kind == K_BONUS else old.b, id - A_CELL)
    elif kind == K_STRIP:                                                   # rules 71, 90
        pop(s)
        k = s.idol_at
        place_apart(t, s, old.b, id - A_CELL)
        if old.c < 2:
            place(t, s, old.a, k)
    elif kind == K_THROW:                                                   # rule 73
        pop(s)
        land_idol(t, s, owner(old.a), id - A_CELL)
    elif kind == K_HIT:
        if id != A_PASS:
            f.b = id - A_TARGET
        f.step = 2
    elif kind == K_MARCH:
        k = (id - A_MOVE) // 48
        m = 3 * f.b + k
        if not has_bit(reach(t, s, m, 1, s.powers[m]), (id - A_MOVE) % 48):
            f.c -= 1
        f.c -= 1
        f.d |= 1 << k
        travel(t, s, m, (id - A_MOVE) % 48)
    elif kind == K_FAVOR_ACTION:
        pop(s)
        push_prog(s, t.favor_options[s.favor[old.b]][id - A_CHOICE], -1, old.b, -1, -1)
    elif kind == K_HAND_LIMIT:
        k = id - A_DISCARD
        m = 3 * f.b + k // 13
        leave_hand(t, s, m, k % 13)
        s.pile[m] |= 1 << k % 13
        f.c = k + 1
    elif kind == K_SLOT:                                                    # rules 101, 103
        pop(s)
        m = old.a
        s.gone[m] |= 1 << s.slots[m][id - A_SLOT]
        for k in range(id - A_SLOT, 2):
            s.slots[m][k] = s.slots[m][k + 1]
        s.slots[m][2] = old.c
        s.table[m] &= ~(1 << old.c)
        refresh(t, s, m)
    elif kind == K_TILE:
        if f.step == 1:
            f.d = id - A_CELL
            f.step = 2
        else:
            put_tile(t, s, f, id - A_TURN)
    elif kind == K_MOB:
        s.mob[f.b] = id - A_MOB
        pop(s)
    elif kind == K_CAMP:
        s.camp[f.b] = id - A_CAMP
        pop(s)
    elif kind == K_LEAVE:
        field_mob(t, s, f.b, id - A_LEAVE)
        pop(s)

cdef inline void place_apart(const Tables *t, State *s, int32_t m, int32_t cell) noexcept nogil:
    """Displace a former carrier; the idol, without a carrier for the moment, stays behind."""
    cdef int8_t idol = s.idol_at
    s.idol_at = -1
    place(t, s, m, cell)
    s.idol_at = idol


# ---- set-up --------------------------------------------------------------------------------------

cdef void put_tile(const Tables *t, State *s, Frame *f, int32_t orientation) noexcept nogil:
    s.tile[f.d] = f.c + 1
    s.turned[f.d] = orientation
    f.a += 1
    f.step = 0
    if t.water[f.c][orientation] | t.crystal[f.c][orientation]:
        rebuild(t, s)

cdef void field_mob(const Tables *t, State *s, int32_t seat, int32_t left_out) noexcept nogil:
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

cdef void set_up(const Tables *t, State *s, Frame *f) noexcept nogil:
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


# ---- chance --------------------------------------------------------------------------------------

cdef inline uint64_t time_choices(const Tables *t, const State *s) noexcept nogil:
    """The tiles that may lie next in the stack: unused ones of the level due (rules 20, 23; Q13)."""
    cdef int32_t level = 0, i, shown = t.n_stack - s.time_left
    cdef uint64_t tiles = 0
    while level < 2 and shown >= t.stack[level]:
        shown -= t.stack[level]
        level += 1
    for i in range(t.n_time):
        if t.time_level[i] == level + 1 and not s.time_used >> i & 1:
            tiles |= bit(i)
    return tiles

cdef inline double choose_count(int32_t n, int32_t k) noexcept nogil:
    """n over k, for cards of one deck."""
    cdef double total = 1.0
    cdef int32_t i
    if k > n:
        return 0.0
    for i in range(k):
        total = total * (n - i) / (i + 1)
    return total

cdef int32_t list_outcomes(const Tables *t, const State *s, int32_t *ids, double *probs) noexcept nogil:
    cdef const Frame *f = &s.stack[s.depth - 1]
    cdef int32_t kind = f.kind, n = 0, k, total, cell, left
    cdef uint64_t cards
    cdef double ways
    if kind == K_DRAW:
        # Cards drawn together come in ascending order, each set once.
        cards = s.deck[f.a] & ~((1 << f.c) - 1)
        left = count_bits(cards)
        ways = choose_count(left, f.b)
        while left >= f.b:
            left -= 1
            ids[n] = O_CARD + pop_bit(&cards)
            probs[n] = choose_count(left, f.b - 1) / ways
            n += 1
            if not cards:
                break
        return n
    if kind == K_SAP:
        cards = s.hand[f.a]
        total = count_bits(cards)
        while cards:
            ids[n] = O_CARD + pop_bit(&cards)
            probs[n] = 1.0 / total
            n += 1
        return n
    if kind == K_TILE:
        if f.step == 2:
            for k in range(t.period[f.c]):
                ids[k] = O_TURN + k
                probs[k] = 1.0 / t.period[f.c]
            return t.period[f.c]
        total = 0
        for k in range(t.n_patterns):
            total += s.pool_left[k]
        for k in range(t.n_patterns):
            if s.pool_left[k]:
                ids[n] = O_PATTERN + k
                probs[n] = s.pool_left[k] / <double>total
                n += 1
        return n
    if kind == K_ROLL:
        for k in range(6):
            total = 0
            for cell in range(6):
                if t.monsters[s.who[f.a]].die[cell] == t.monsters[s.who[f.a]].die[k]:
                    total += 1
                    if cell < k:
                        total = -6
            if total > 0:
                ids[n] = O_FACE + k
                probs[n] = total / 6.0
                n += 1
        return n
    if kind == K_TIME:
        cards = time_choices(t, s)
        total = count_bits(cards)
        while cards:
            ids[n] = O_TIME + pop_bit(&cards)
            probs[n] = 1.0 / total
            n += 1
        return n
    total = 0
    if kind == K_SHRINE_CARD:
        for k in range(f.a):
            total |= 1 << s.shrine_card[k]
    elif kind == K_MOB:
        for k in range(t.players):
            if s.mob[k] >= 0:
                total |= 1 << s.mob[k]
    for k in range(4):
        if not total >> k & 1:
            ids[n] = (O_SHRINE if kind == K_SHRINE_CARD else O_MOB if kind == K_MOB else O_LEAVE) + k
            n += 1
    for k in range(n):
        probs[k] = 1.0 / n
    return n

cdef void settle_chance(const Tables *t, State *s, int32_t id) noexcept nogil:
    """A chance outcome takes effect; only draws are not seen by all."""
    cdef Frame *f = top(s)
    cdef int32_t kind = f.kind, m = f.a, k
    if kind == K_DRAW:
        for k in range(t.players):
            s.info[k] = rng_combine(s.info[k], <uint64_t>2 << 32 | m << 16
                                    | (id + 1 if k == owner(m) else 0))
        s.deck[m] &= ~(1 << id)
        s.hand[m] |= 1 << id
        s.drawn[m][id] = s.epoch[m]
        f.b -= 1
        f.c = id + 1
        f.d += 1
        if f.b == 0:
            pop(s)
        return
    note(t, s, <uint64_t>3 << 32 | id)
    if kind == K_SAP:
        leave_hand(t, s, m, id)
        s.pile[m] |= 1 << id
        f.b -= 1
        if f.b == 0:
            pop(s)
    elif kind == K_TILE:
        if f.step == 2:
            put_tile(t, s, f, id - O_TURN)
        else:
            f.c = id - O_PATTERN
            s.pool_left[f.c] -= 1
            f.step = 1
            if t.placing == 1:
                f.d = t.modifiable[f.a]
                f.step = 2
    elif kind == K_ROLL:
        k = tableau(t, s, m).die[id - O_FACE]
        pop(s)
        top(s).d = k
    elif kind == K_TIME:
        s.time_now = id - O_TIME
        s.time_used |= 1 << s.time_now
        pop(s)
    elif kind == K_SHRINE_CARD:
        s.shrine_card[f.a] = id - O_SHRINE
        pop(s)
    elif kind == K_MOB:
        s.mob[f.b] = id - O_MOB
        pop(s)
    elif kind == K_LEAVE:
        field_mob(t, s, f.b, id - O_LEAVE)
        pop(s)


# ---- the frames that go on by themselves ---------------------------------------------------------

cdef int32_t points2(const Tables *t, const State *s, int32_t seat) noexcept nogil:
    """Twice the victory points (rules 57, 128)."""
    cdef int32_t i, points = 0
    for i in range(t.n_shrines):
        points += t.shrine_points2 * s.uses[seat][i]
    if s.idol_by >= 0 and owner(s.idol_by) == seat:
        points += t.idol_points2
    return points

cdef void time_up(const Tables *t, State *s) noexcept nogil:
    """Rules 57, 128, 129."""
    cdef int32_t seat, best = -1, value
    s.winner = -1
    for seat in range(t.players):
        value = points2(t, s, seat) << 12 | s.munched[seat]
        if value > best:
            best = value
            s.winner = seat
        elif value == best:
            s.winner = -1
    s.actor = TERMINAL

cdef void start_turn(const Tables *t, State *s, int32_t seat) noexcept nogil:
    """Rule 32a, and what tokens and time tiles do at the start of a turn."""
    cdef int32_t m
    cdef const Global *g = modifiers(t, s)
    s.reactions[seat] = t.reactions
    s.actions, s.extras = t.actions, 0
    s.resting &= ~(7 << 3 * seat)
    for m in range(3 * seat, 3 * seat + 3):
        if s.at[m] < 0:
            continue
        heal(s, m, g.start_heal)
        if s.poison[m]:
            s.poison[m] -= 1
            lose(s, m, 1)
        if s.idol_by == m:
            lose(s, m, g.idol_drain)

cdef void finish_turn(const Tables *t, State *s) noexcept nogil:
    """Rules 22-25; Q10-Q15."""
    cdef int32_t m
    for m in range(3 * t.players):
        s.boost[m] = 0
    s.active = -1
    s.resting = 0
    s.turns += 1
    if t.turn_limit:
        if s.turns >= t.turn_limit:
            time_up(t, s)
        return
    if s.time_left == 1 and s.turns % t.spaces == t.spaces // 2:
        time_up(t, s)
    elif s.turns % t.spaces == 0 and s.time_left > 1:
        s.time_left -= 1
        push(s, K_TIME, 0, 0, 0)

cdef void reveal(const Tables *t, State *s, Frame *f) noexcept nogil:
    """Rules 28, 30: all favor cards are shown; higher plays earlier, ties keep their order."""
    cdef int32_t i, j
    cdef int8_t seat
    for i in range(t.players):
        note(t, s, <uint64_t>4 << 32 | i << 8 | s.favor[i])
        s.favor_hand[i] &= ~(1 << s.favor[i])
    for i in range(1, t.players):
        seat = s.order[i]
        j = i
        while j > 0 and s.favor[s.order[j - 1]] < s.favor[seat]:
            s.order[j] = s.order[j - 1]
            j -= 1
        s.order[j] = seat
    f.kind = K_TURNS

cdef void ask_favors(const Tables *t, State *s) noexcept nogil:
    """Rule 27: every seat, in turn order, is to choose a favor card in secret."""
    cdef int32_t i
    for i in range(t.players):
        s.favor[i] = -1
    for i in range(t.players - 1, -1, -1):
        push(s, K_FAVOR, 0, s.order[i], 0)

cdef bint proceed(const Tables *t, State *s) noexcept nogil:
    """Let the top frame go on by itself; False when it waits for a decision or chance (`s.actor`)."""
    cdef Frame *f = top(s)
    cdef int32_t kind = f.kind, seat, i, n
    cdef int32_t scratch[64]
    if kind == K_PROG:
        if f.prog < 0:
            if f.e >= 0:
                s.table[f.a] &= ~(1 << f.e)
                s.pile[f.a] |= 1 << f.e
            pop(s)
            return True
        if not asks(&t.code[f.prog]):
            run_effect(t, s, f)
            return True
        s.actor = f.b
        return False
    if kind == K_ACTION:
        if s.actions <= 0:
            pop(s)
            return True
        s.actor = f.b
        return False
    if kind == K_WINDOW:
        seat = window_seat(t, s, f)
        if seat < 0 or (f.a == TRIGGER_ATTACKED and s.stack[s.depth - 2].d):
            pop(s)
            return True
        if list_instants(t, s, seat, f.a, f.b, f.c, scratch) == 0:
            f.d += 1
            return True
        s.actor = seat
        return False
    if kind == K_BONUS:
        s.actor = owner(f.a)
        return False
    if kind == K_HIT:
        if f.step == 0:
            i = min(s.shield[f.b], f.c)
            s.shield[f.b] -= i
            f.c -= i
            f.step = 1
            if f.c == 0:
                pop(s)
            return True
        if f.step == 2:
            return strike_down(t, s)
        for i in range(3 * owner(f.b), 3 * owner(f.b) + 3):
            if s.powers[i] & LIVING_SHIELD and guards(t, s, i, f.b, f.a):
                s.actor = owner(f.b)
                return False
        f.step = 2
        return True
    if kind == K_ATTACK:
        f.step += 1
        if f.step == 1:
            if s.depth < WINDOW_DEPTH:
                push(s, K_WINDOW, TRIGGER_ATTACKED, f.a, f.b)
            return True
        n = max(0, attack_damage(t, s, f.a) - f.c)
        if f.step == 2:
            if f.d or n == 0 or not reaches(t, s, f.a, f.b, own_kind(t, s, f.a)):   # rules 66, 70
                pop(s)
                return True
            i = min(n, block_limit(t, s, f.b))
            push(s, K_BLOCK, f.b, i, 0)
            return True
        seat, i, n = f.a, f.b, n - f.e
        pop(s)
        hit(s, seat, i, n, own_kind(t, s, seat))
        return True
    if kind == K_BLOCK:
        if f.b <= 0:
            pop(s)
            return True
        s.actor = owner(f.a)
        return False
    if kind == K_DRAW or kind == K_SAP or kind == K_ROLL or kind == K_TIME or kind == K_SHRINE_CARD:
        s.actor = CHANCE
        return False
    if kind == K_KO or kind == K_STRIP or kind == K_THROW:
        s.actor = owner(f.a)
        return False
    if kind == K_MARCH:
        if f.d == 7:
            pop(s)
            return True
        s.actor = f.b
        return False
    if kind == K_TURN:
        f.step += 1
        seat = s.active
        if f.step == 1:
            start_turn(t, s, seat)
            if t.take_back[s.favor[seat]]:                                  # rule 31, Q6
                s.favor_hand[seat] = t.favor_mask
            push(s, K_FAVOR_ACTION, 0, seat, 0)
        elif f.step == 2:
            push(s, K_ACTION, 0, seat, 0)
        elif f.step == 3:
            push(s, K_HAND_LIMIT, 0, seat, 0)
        else:
            pop(s)
            finish_turn(t, s)
        return True
    if kind == K_FAVOR_ACTION or kind == K_HAND_LIMIT or kind == K_FAVOR or kind == K_SLOT:
        s.actor = f.b
        return False
    if kind == K_TURNS:
        if f.a == t.players:
            f.kind, f.a = K_ROUND, 0
            return True
        s.active = s.order[f.a]
        f.a += 1
        push(s, K_TURN, 0, 0, 0)
        return True
    if kind == K_ROUND:
        f.kind = K_REVEAL
        ask_favors(t, s)
        return True
    if kind == K_REVEAL:
        reveal(t, s, f)
        return True
    if kind == K_SETUP:
        set_up(t, s, f)
        return True
    if kind == K_TILE:
        if f.a == t.n_modifiable:
            pop(s)
            return True
        # rule 19: the last player begins, then counterclockwise
        f.b = (t.players - 1 - f.a % t.players) if t.placing == 2 else 0
        s.actor = f.b if t.placing == 2 and f.step else CHANCE
        return False
    s.actor = f.b if t.draft == 2 else CHANCE                               # K_MOB, K_CAMP, K_LEAVE
    return False

cdef void skip(const Tables *t, State *s) noexcept nogil:
    """The top frame asks for a choice and there is none."""
    cdef Frame *f = top(s)
    cdef Frame old = f[0]
    if f.kind == K_PROG:
        next_effect(t, f)
    elif f.kind == K_HIT:
        f.step = 2
    elif f.kind == K_STRIP:                                                 # rule 72, Q51
        pop(s)
        if old.c == 0 or old.c == 3:
            land_strike(t, s, old.a)
        else:
            s.idol_by = old.b
    elif f.kind == K_THROW:
        pop(s)
        s.idol_by = old.b
    else:
        pop(s)

cdef inline void land_strike(const Tables *t, State *s, int32_t m) noexcept nogil:
    """Rule 72: the carrier cannot be displaced; the idol goes to the striker's hex."""
    s.idol_at = s.at[m]
    take_idol(t, s, m)

cdef inline void see_choice(const Tables *t, State *s, int32_t id) noexcept nogil:
    """Who sees a decision: all, but for favor cards and for what was not played in a window."""
    cdef int32_t seat = s.actor, kind = top(s).kind
    if kind == K_FAVOR or (kind == K_WINDOW and id == A_PASS):
        s.info[seat] = rng_combine(s.info[seat], <uint64_t>5 << 32 | id)
    else:
        note(t, s, <uint64_t>(6 + seat) << 32 | id)

cdef int32_t settle(const Tables *t, State *s, int32_t *out) noexcept nogil:
    """Go on to the next decision or chance node with at least two branches, or to the end.
    Returns the number of choices, which stand in `out`; at chance nodes and at the end 0."""
    cdef double probs[64]
    cdef int32_t n
    while s.actor != TERMINAL:
        if proceed(t, s):
            continue
        if s.actor == CHANCE:
            n = list_outcomes(t, s, out, probs)
            if n > 1:
                return 0
            if n == 1:
                settle_chance(t, s, out[0])
            else:
                pop(s)
            continue
        n = list_choices(t, s, out)
        if n > 1:
            return n
        if n == 0:
            skip(t, s)
        else:
            see_choice(t, s, out[0])
            choose(t, s, out[0])
    return 0


# ---- the functions of the contract ---------------------------------------------------------------

cdef int32_t turn(const void *tables, const void *state) noexcept nogil:
    return (<const State *>state).actor

cdef int32_t legal(const void *tables, const void *state, int32_t *out) noexcept nogil:
    return list_choices(<const Tables *>tables, <const State *>state, out)

cdef int32_t outcomes(const void *tables, const void *state, int32_t *ids, double *probs) noexcept nogil:
    return list_outcomes(<const Tables *>tables, <const State *>state, ids, probs)

cdef int32_t sample(const void *tables, const void *state, Rng *rng) noexcept nogil:
    cdef int32_t ids[64]
    cdef double probs[64]
    cdef int32_t i, n = list_outcomes(<const Tables *>tables, <const State *>state, ids, probs)
    cdef double u = rng_double(rng)
    for i in range(n - 1):
        u -= probs[i]
        if u < 0.0:
            return ids[i]
    return ids[n - 1]

cdef inline int32_t step(const Tables *t, State *s, int32_t id, int32_t *out) noexcept nogil:
    """One step, then on to the next node; its choices stand in `out`."""
    if s.actor == CHANCE:
        settle_chance(t, s, id)
    else:
        see_choice(t, s, id)
        choose(t, s, id)
    return settle(t, s, out)

cdef void apply(const void *tables, void *state, int32_t id) noexcept nogil:
    cdef int32_t scratch[512]
    step(<const Tables *>tables, <State *>state, id, scratch)

cdef int32_t run_chance(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef State *s = <State *>state
    cdef int32_t scratch[512]
    cdef int32_t steps = 0
    while s.actor == CHANCE:
        step(<const Tables *>tables, s, sample(tables, s, rng), scratch)
        steps += 1
    return steps

cdef int64_t playout(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef const Tables *t = <const Tables *>tables
    cdef State *s = <State *>state
    cdef int32_t choices[512]
    cdef int32_t n
    cdef int64_t steps = 0
    if s.actor >= 0:
        n = list_choices(t, s, choices)
    while s.actor != TERMINAL:
        if s.actor == CHANCE:
            n = step(t, s, sample(tables, s, rng), choices)
        else:
            n = step(t, s, choices[rng_below(rng, n)], choices)
        steps += 1
    return steps

cdef void returns(const void *tables, const void *state, double *out) noexcept nogil:
    cdef const State *s = <const State *>state
    cdef int32_t seat, n = (<const Tables *>tables).players
    for seat in range(n):
        if s.actor != TERMINAL or s.winner < 0:
            out[seat] = 0.0
        else:
            out[seat] = 1.0 if seat == s.winner else -1.0 / (n - 1)

cdef uint64_t state_key(const void *tables, const void *state) noexcept nogil:
    """Everything but what the seats remember and when cards came into pile and hand."""
    cdef State s = (<const State *>state)[0]
    memset(s.info, 0, sizeof(s.info))
    memset(s.birth, 0, sizeof(s.birth))
    memset(s.drawn, 0, sizeof(s.drawn))
    memset(s.epoch, 0, sizeof(s.epoch))
    memset(s.known, 0, sizeof(s.known))
    return hash_bytes(&s, sizeof(State), 0)

cdef uint64_t info_key(const void *tables, const void *state, int32_t observer) noexcept nogil:
    """What the seat did and saw, and what it holds: `resample` deals rivals other cards than those that
    their memory tells of, and a rival with other cards decides in another information set."""
    cdef const State *s = <const State *>state
    cdef uint64_t key = rng_combine(s.info[observer], <uint64_t>(s.favor[observer] + 1))
    cdef int32_t m
    for m in range(3 * observer, 3 * observer + 3):
        key = rng_combine(key, s.hand[m])
    return key

cdef inline bint asked_in_secret(const State *s) noexcept nogil:
    """Whether the others do not know that this decision is being made."""
    return s.actor >= 0 and s.stack[s.depth - 1].kind == K_WINDOW

cdef void view_of(const Tables *t, const State *s, int32_t observer, State *v) noexcept nogil:
    """The state as a seat sees it: what it does not know is blank, hands are counted in `held`, the
    cards of a rival's hand and draw pile stand together in `deck`."""
    cdef int32_t i, m
    v[0] = s[0]
    for i in range(t.players):
        if i != observer:
            v.info[i] = 0
    if s.actor >= 0 and s.actor != observer and asked_in_secret(s):
        v.depth -= 1
        memset(&v.stack[v.depth], 0, sizeof(Frame))
        v.actor = -2
    for m in range(3 * t.players):
        v.held[m] = count_bits(s.hand[m])
        if owner(m) != observer:
            v.deck[m] = (s.hand[m] | s.deck[m]) & ~s.known[m]
            v.hand[m] = s.known[m]
            memset(&v.drawn[m], 0, sizeof(v.drawn[m]))
    for i in range(s.depth):
        if s.stack[i].kind == K_DRAW and owner(s.stack[i].a) != observer:
            v.stack[i].c = 0
        if s.stack[i].kind == K_REVEAL:
            for m in range(t.players):
                if m != observer:
                    v.favor[m] = -1

cdef int32_t info_bytes(const void *tables, const void *state, int32_t observer, uint8_t *out) noexcept nogil:
    """What the seat sees now and the hash of all it did and saw before."""
    view_of(<const Tables *>tables, <const State *>state, observer, <State *>out)
    return sizeof(State)

cdef inline int32_t take_one(uint64_t *cards, Rng *rng) noexcept nogil:
    """A random card out of a set."""
    cdef uint64_t rest = cards[0]
    cdef int32_t k = rng_below(rng, count_bits(rest))
    while k > 0:
        rest &= rest - 1
        k -= 1
    cards[0] &= ~(rest & -rest)
    return lowest_bit(rest)

cdef void redeal(const Tables *t, State *s, int32_t m, Rng *rng) noexcept nogil:
    """Deal a hidden hand anew, with the weight that chance gave it.

    Every way in which the hidden cards can have come into the hand is equally likely: a draw takes
    each set of the pile's cards alike. So the cards drawn in the oldest epoch are any of those that
    were in the pile then, those of the next any of the rest, and so on (Q71). Of a draw that is
    under way the lowest cards have come first.
    """
    cdef uint64_t pool = (s.hand[m] | s.deck[m]) & ~s.known[m]
    cdef uint64_t eligible, chain = 0
    cdef int32_t drawn_in[64]
    cdef int32_t e, card, k, _k, under_way = 0, coming = 0, frame = -1
    for k in range(s.depth):
        if s.stack[k].kind == K_DRAW and s.stack[k].a == m and s.stack[k].d:
            frame, under_way, coming = k, s.stack[k].d, s.stack[k].b
    memset(drawn_in, 0, sizeof(drawn_in))
    for card in range(CARDS):
        if (s.hand[m] & ~s.known[m]) >> card & 1:
            drawn_in[min(63, <int32_t>s.drawn[m][card])] += 1
    drawn_in[s.epoch[m]] -= under_way
    s.deck[m] = pool
    s.hand[m] = s.known[m]
    for card in range(CARDS):
        if not s.known[m] >> card & 1:
            s.drawn[m][card] = 0
    for e in range(s.epoch[m] + 1):
        for _k in range(drawn_in[e]):
            eligible = 0
            for card in range(CARDS):
                if s.deck[m] >> card & 1 and s.birth[m][card] <= e:
                    eligible |= bit(card)
            card = take_one(&eligible, rng)
            s.deck[m] &= ~(1 << card)
            s.hand[m] |= 1 << card
            s.drawn[m][card] = e
    if frame >= 0:
        eligible = s.deck[m]
        for _k in range(under_way + coming):
            chain |= bit(take_one(&eligible, rng))
        for _k in range(under_way):
            card = pop_bit(&chain)
            s.deck[m] &= ~(1 << card)
            s.hand[m] |= 1 << card
            s.drawn[m][card] = s.epoch[m]
        s.stack[frame].c = card + 1

cdef void resample(const void *tables, void *state, int32_t observer, Rng *rng) noexcept nogil:
    cdef const Tables *t = <const Tables *>tables
    cdef State *s = <State *>state
    cdef State origin
    cdef int32_t scratch[512]
    cdef int32_t _attempt, m, i
    cdef bint choosing = False
    cdef uint64_t cards
    memcpy(&origin, s, sizeof(State))
    for i in range(s.depth):
        choosing |= s.stack[i].kind == K_REVEAL
    for _attempt in range(1000):
        for m in range(3 * t.players):
            if owner(m) != observer and s.who[m] >= 0:
                redeal(t, s, m, rng)
        if choosing:
            for i in range(t.players):
                if i != observer and origin.favor[i] >= 0:
                    cards = s.favor_hand[i]
                    s.favor[i] = take_one(&cards, rng)
        # That this decision exists is itself known of the hand of the seat that makes it.
        if s.actor < 0 or s.actor == observer or list_choices(t, s, scratch) > 1:
            return
        memcpy(s, &origin, sizeof(State))
    # So rare a hand that a thousand deals did not find another: keep the decider's own.
    for m in range(3 * t.players):
        if owner(m) != observer and owner(m) != s.actor and s.who[m] >= 0:
            redeal(t, s, m, rng)

cdef int32_t rewind(const void *tables, void *state) noexcept nogil:
    """The stage of hidden choices is the round's favor cards (rules 27, 28). A seat with one card left
    has nothing to decide, and plays it again at once."""
    cdef const Tables *t = <const Tables *>tables
    cdef State *s = <State *>state
    cdef int32_t scratch[512]
    cdef int32_t i, taken_back = 0
    if s.actor < 0 or top(s).kind != K_FAVOR:
        return -1
    for i in range(t.players):
        taken_back += s.favor[i] >= 0 and count_bits(s.favor_hand[i]) > 1
    if taken_back:
        while top(s).kind == K_FAVOR:
            pop(s)
        ask_favors(t, s)
        settle(t, s, scratch)
    return taken_back

cdef int64_t clock(const void *tables, const void *state) noexcept nogil:
    cdef const State *s = <const State *>state
    return <int64_t>(s.turns + 1) << 8 | (s.active + 1)

cdef int32_t check(const void *tables, const void *state) noexcept nogil:
    return broken_rule(<const Tables *>tables, <const State *>state)

cdef int32_t suggest(const void *tables, const void *state, Rng *rng) noexcept nogil:
    """The choice of the highest greedy score, ties broken at random; favor cards with some noise, since
    a known favor card is a weak one."""
    cdef const Tables *t = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef int32_t choices[512]
    cdef int32_t i, best = 0, ties = 1, n = list_choices(t, s, choices)
    cdef double value, highest = -1e9
    for i in range(n):
        value = score(t, s, choices[i])
        if choices[i] < A_MOVE and choices[i] >= A_FAVOR:
            value += 2.0 * rng_double(rng)
        if value > highest:
            best, highest, ties = choices[i], value, 1
        elif value == highest:
            ties += 1
            if rng_below(rng, ties) == 0:
                best = choices[i]
    return best

cdef void estimate(const void *tables, const void *state, double *out) noexcept nogil:
    if (<const State *>state).actor == TERMINAL:
        returns(tables, state, out)
    else:
        heuristic(<const Tables *>tables, <const State *>state, out)
