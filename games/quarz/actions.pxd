# cython: language_level=3
"""What a decision's choice does, by the frame that asked."""
from libc.stdint cimport int32_t

from engine_ext.bits cimport bit, has_bit
from games.quarz.effects cimport choose_effect
from games.quarz.field cimport modifiers, reach, rebuild
from games.quarz.frames cimport card_of, owner, pop, push, push_prog, tableau, top
from games.quarz.idol cimport land_idol, place, place_apart, travel
from games.quarz.instants cimport play_card, react
from games.quarz.march cimport march_price
from games.quarz.moves cimport *
from games.quarz.set_up cimport field_mob, put_tile
from games.quarz.state cimport *
from games.quarz.tableau cimport draw_cards, fill_slot, leave_hand, pay, refresh, regenerate, shuffle_in, slots_filled


cdef inline void begin_action(const Tables *t, State *s, int32_t seat, int32_t id) noexcept nogil:
    """One of the choices of `list_actions`."""
    cdef int32_t k, m, n, card
    cdef const Card *c
    if id == A_PASS:                                                        # Q36
        s.actions = 0
        pop(s)
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

cdef inline void choose(const Tables *t, State *s, int32_t id) noexcept nogil:
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
    elif kind == K_BONUS:
        pop(s)
        if id != A_PASS:
            travel(t, s, old.a, id - A_CELL)
    elif kind == K_KO:
        pop(s)
        if id != A_PASS:
            place(t, s, old.b, id - A_CELL)
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
