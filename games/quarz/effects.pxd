# cython: language_level=3
"""What an effect does: those without a choice, and the choices of the others."""
from libc.stdint cimport int32_t, uint8_t

from engine_ext.bits cimport bit, count_bits
from games.quarz.attack cimport hit, running_attack
from games.quarz.effect_options cimport list_targets
from games.quarz.field cimport beside, rebuild, recount
from games.quarz.frames cimport owner, push
from games.quarz.idol cimport exchange, land_idol, place, shoved, take_idol, travel
from games.quarz.moves cimport *
from games.quarz.state cimport *
from games.quarz.tableau cimport add_tokens, cleanse, draw_cards, heal, regenerate, shuffle_in


cdef inline void next_effect(const Tables *t, Frame *f) noexcept nogil:
    f.prog = -1 if t.code[f.prog].last else f.prog + 1
    f.step = f.f = 0
    f.g = 0

cdef inline int32_t amount_of(const Effect *e, const Frame *f) noexcept nogil:
    return f.d if e.amount < 0 else e.amount

cdef inline void run_effect(const Tables *t, State *s, Frame *f) noexcept nogil:
    """An effect without a choice."""
    cdef const Effect *e = &t.code[f.prog]
    cdef int32_t targets[MONSTERS]
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
        n = list_targets(t, s, m, STRIKE, e.any, targets)
        for k in range(n - 1, -1, -1):
            hit(s, m, targets[k] - A_TARGET, amount, e.kind)
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

cdef inline void choose_push(const Tables *t, State *s, Frame *f, int32_t id) noexcept nogil:
    """Whom, then where to; with Crystal Throw the idol instead (rules 89, 107). A carrier is displaced
    by the frame that decides what becomes of the idol (rule 90, Q51, Q80)."""
    cdef int32_t m = f.a, moved = f.f, step = f.step, target = id - A_TARGET
    if step == 0 and id == A_CHOICE:
        f.step = 2
    elif step == 0 and s.idol_by != target:
        f.step = 1
        f.f = target
    else:
        next_effect(t, f)
        if step == 0:
            if shoved(t, s, target):
                s.idol_by = -1
                push(s, K_STRIP, m, target, 1 if beside(t, s, m, target) else 2)
        elif step == 1:
            place(t, s, moved, id - A_CELL)
        else:
            land_idol(t, s, f.b, id - A_CELL)

cdef inline void choose_rotation(const Tables *t, State *s, Frame *f, int32_t id) noexcept nogil:
    """A tile, then how it is to lie; an effect on two tiles goes on with another one."""
    if f.step == 0:
        f.step = 1
        f.f = id - A_CELL
        return
    s.turned[f.f] = id - A_TURN
    rebuild(t, s)
    if f.g == 0 and t.code[f.prog].amount > 1:
        f.g = 64 | f.f
        f.step = 0
    else:
        next_effect(t, f)

cdef inline void choose_trade(const Tables *t, State *s, Frame *f, int32_t cell) noexcept nogil:
    """Two tiles change places."""
    cdef int32_t other = f.f
    if f.step == 0:
        f.step = 1
        f.f = cell
        return
    s.tile[other], s.tile[cell] = s.tile[cell], s.tile[other]
    s.turned[other], s.turned[cell] = s.turned[cell], s.turned[other]
    rebuild(t, s)
    next_effect(t, f)

cdef inline void choose_friend_swap(const Tables *t, State *s, Frame *f, int32_t m) noexcept nogil:
    """Two monsters of the mob change places."""
    cdef int32_t other = f.f
    if f.step == 0:
        f.step = 1
        f.f = m
        return
    next_effect(t, f)
    s.at[m], s.at[other] = s.at[other], s.at[m]
    recount(t, s, f.b)
    if s.idol_by == m:                                                      # Q54: the newcomer takes it
        take_idol(t, s, other)
    elif s.idol_by == other:
        take_idol(t, s, m)

cdef inline void choose_any_move(const Tables *t, State *s, Frame *f, int32_t id) noexcept nogil:
    """Whom, then where to (rule 116)."""
    cdef int32_t moved = f.f
    if f.step == 0:
        f.step = 1
        f.f = id - A_TARGET
        return
    next_effect(t, f)
    if owner(moved) == f.b:                                                 # Q96
        travel(t, s, moved, id - A_CELL)
    else:
        place(t, s, moved, id - A_CELL)

cdef inline void choose_effect(const Tables *t, State *s, Frame *f, int32_t id) noexcept nogil:
    """A choice of the running effect is made. Those of several steps and the march stay on the effect,
    the others go on to the next."""
    cdef const Effect *e = &t.code[f.prog]
    cdef int32_t op = e.op, m = f.a, seat = f.b, amount = amount_of(e, f)
    cdef int32_t target = id - A_TARGET, cell = id - A_CELL, k
    if id == A_PASS:
        next_effect(t, f)
        return
    if op == OP_MARCH:
        k = (id - A_MOVE) // 48
        f.f |= 1 << k
        travel(t, s, 3 * seat + k, (id - A_MOVE) % 48)
        return
    if op == OP_PUSH:
        choose_push(t, s, f, id)
        return
    if op == OP_ROTATE:
        choose_rotation(t, s, f, id)
        return
    if op == OP_TRADE:
        choose_trade(t, s, f, cell)
        return
    if op == OP_SWAP_FRIENDS:
        choose_friend_swap(t, s, f, target)
        return
    if op == OP_MOVE_ANY:
        choose_any_move(t, s, f, id)
        return
    next_effect(t, f)
    if op == OP_DAMAGE:
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
