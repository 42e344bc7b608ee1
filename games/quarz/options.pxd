# cython: language_level=3
"""The choices of a decision, by the frame that asks."""
from libc.stdint cimport int32_t, uint64_t

from engine_ext.bits cimport count_bits, has_bit, pop_bit
from games.quarz.attack cimport guards, own_kind, reaches
from games.quarz.effect_options cimport can_swap, list_effect, prog_possible, put_cells
from games.quarz.field cimport beside, modifiers, reach, steps_of
from games.quarz.frames cimport card_of, owner, tableau
from games.quarz.idol cimport shoved, throws
from games.quarz.instants cimport list_instants, window_seat
from games.quarz.march cimport can_march, list_march, march_price
from games.quarz.moves cimport *
from games.quarz.state cimport *
from games.quarz.tableau cimport can_keep


cdef inline int32_t list_actions(const Tables *t, const State *s, int32_t seat, int32_t *out) noexcept nogil:
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

cdef inline int32_t list_choices(const Tables *t, const State *s, int32_t *out) noexcept nogil:
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
