# cython: language_level=3
"""The frames that go on by themselves, and those that ask in vain."""
from libc.stdint cimport int32_t

from engine_ext.game cimport CHANCE
from games.quarz.action_options cimport anything_free
from games.quarz.attack cimport attack_damage, block_limit, guards, hit, own_kind, reaches, strike_down
from games.quarz.effect_options cimport asks
from games.quarz.effects cimport next_effect, run_effect
from games.quarz.frames cimport owner, pop, push, top
from games.quarz.idol cimport land_strike
from games.quarz.instants cimport list_instants, window_seat, witnesses_of
from games.quarz.moves cimport *
from games.quarz.rounds cimport ask_favors, finish_turn, reveal, start_turn
from games.quarz.set_up cimport set_up
from games.quarz.state cimport *


cdef inline bint proceed_hit(const Tables *t, State *s, Frame *f) noexcept nogil:
    """Damage on its way: shield tokens, then Living Shield (rule 106), then the loss. Waits only where
    a neighbour can take the hit."""
    cdef int32_t m, shields
    if f.step == 2:
        return strike_down(t, s)
    if f.step == 0:
        shields = min(s.shield[f.b], f.c)
        s.shield[f.b] -= shields
        f.c -= shields
        f.step = 1
        if f.c == 0:
            pop(s)
        return True
    for m in range(3 * owner(f.b), 3 * owner(f.b) + 3):
        if s.powers[m] & LIVING_SHIELD and guards(t, s, m, f.b, f.a):
            s.actor = owner(f.b)
            return False
    f.step = 2
    return True

cdef inline void proceed_attack(const Tables *t, State *s, Frame *f) noexcept nogil:
    """First the instants that answer an attack, then blocks, then what is left of it as a hit."""
    cdef int32_t attacker = f.a, target = f.b, kind, damage
    f.step += 1
    if f.step == 1:
        if s.depth < WINDOW_DEPTH:
            push(s, K_WINDOW, TRIGGER_ATTACKED, attacker, target)
        return
    kind = own_kind(t, s, attacker)
    damage = max(0, attack_damage(t, s, attacker) - f.c)
    if f.step == 2:
        if f.d or damage == 0 or not reaches(t, s, attacker, target, kind):     # rules 66, 70
            pop(s)
        else:
            push(s, K_BLOCK, target, min(damage, block_limit(t, s, target)), 0)
    else:
        damage -= f.e
        pop(s)
        hit(s, attacker, target, damage, kind)

cdef inline void proceed_turn(const Tables *t, State *s, Frame *f) noexcept nogil:
    """The favor card's action, the actions, the hand limit, the end (rules 31 to 36)."""
    cdef int32_t seat = s.active
    f.step += 1
    if f.step == 1:
        start_turn(t, s, seat)
        if t.take_back[s.favor[seat]]:                                      # rule 31, Q6
            s.favor_hand[seat] = t.favor_mask
        push(s, K_FAVOR_ACTION, 0, seat, 0)
    elif f.step == 2:
        push(s, K_ACTION, 0, seat, 0)
    elif f.step == 3:
        push(s, K_HAND_LIMIT, 0, seat, 0)
    else:
        pop(s)
        finish_turn(t, s)

cdef inline bint wait_for(State *s, int32_t actor) noexcept nogil:
    """A seat, or CHANCE, is to decide."""
    s.actor = actor
    return False

cdef inline bint finish(State *s) noexcept nogil:
    """The top frame is done."""
    pop(s)
    return True

cdef inline bint proceed_effect(const Tables *t, State *s, Frame *f) noexcept nogil:
    """The next effect of a list, which asks or is done at once; behind the last the card goes to the discard."""
    if f.prog < 0:
        if f.e >= 0:
            s.table[f.a] &= ~(1 << f.e)
            s.pile[f.a] |= 1 << f.e
        return finish(s)
    if asks(&t.code[f.prog]):
        return wait_for(s, f.b)
    run_effect(t, s, f)
    return True

cdef inline bint proceed_window(const Tables *t, State *s, Frame *f) noexcept nogil:
    """The seats that may answer one after the other; nobody answers an attack that has failed."""
    cdef int32_t scratch[N_ACTIONS]
    cdef int32_t seat = window_seat(t, s, f)
    if f.step == 0:
        f.step = 1
        if f.a == TRIGGER_ARRIVED:                                          # Q97: beside whom it has moved
            f.g = witnesses_of(t, s, f.b)
    if seat < 0 or (f.a == TRIGGER_ATTACKED and s.stack[s.depth - 2].d):
        return finish(s)
    if list_instants(t, s, seat, f.a, f.b, f.c, f.g, scratch) == 0:
        f.d += 1
        return True
    return wait_for(s, seat)

cdef inline bint proceed_turns(const Tables *t, State *s, Frame *f) noexcept nogil:
    """The next turn of the round, or the next round."""
    if f.a == t.players:
        f.kind, f.a = K_ROUND, 0
        return True
    s.active = s.order[f.a]
    f.a += 1
    push(s, K_TURN, 0, 0, 0)
    return True

cdef inline bint proceed_tile(const Tables *t, State *s, Frame *f) noexcept nogil:
    """The next tile: chance draws its pattern, a seat places it, or chance does that, too."""
    if f.a == t.n_modifiable:
        return finish(s)
    # rule 19: the last player begins, then counterclockwise
    f.b = (t.players - 1 - f.a % t.players) if t.placing == 2 else 0
    return wait_for(s, f.b if t.placing == 2 and f.step else CHANCE)

cdef inline bint proceed(const Tables *t, State *s) noexcept nogil:
    """Let the top frame go on by itself; False when it waits for a decision or chance (`s.actor`)."""
    cdef Frame *f = top(s)
    cdef int32_t kind = f.kind
    if kind == K_PROG:
        return proceed_effect(t, s, f)
    if kind == K_ACTION:
        return wait_for(s, f.b) if s.actions > 0 or anything_free(t, s, f.b) else finish(s)
    if kind == K_WINDOW:
        return proceed_window(t, s, f)
    if kind == K_HIT:
        return proceed_hit(t, s, f)
    if kind == K_ATTACK:
        proceed_attack(t, s, f)
        return True
    if kind == K_BLOCK:
        return wait_for(s, owner(f.a)) if f.b > 0 else finish(s)
    if kind == K_DRAW or kind == K_SAP or kind == K_ROLL or kind == K_TIME or kind == K_SHRINE_CARD:
        return wait_for(s, CHANCE)
    if kind == K_BONUS or kind == K_KO or kind == K_STRIP or kind == K_THROW:
        return wait_for(s, owner(f.a))
    if kind == K_MARCH:
        return wait_for(s, f.b) if f.d != 7 else finish(s)
    if kind == K_TURN:
        proceed_turn(t, s, f)
        return True
    if kind == K_FAVOR_ACTION or kind == K_HAND_LIMIT or kind == K_FAVOR or kind == K_SLOT:
        return wait_for(s, f.b)
    if kind == K_TURNS:
        return proceed_turns(t, s, f)
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
        return proceed_tile(t, s, f)
    return wait_for(s, f.b if t.draft == 2 else CHANCE)                     # K_MOB, K_CAMP, K_LEAVE

cdef inline void skip(const Tables *t, State *s) noexcept nogil:
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
