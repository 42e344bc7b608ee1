"""The rules of Quarriors.

The state is a stack of frames over counts of dice. A frame is a step of the turn, or a question
that waits: `run` takes steps from the top of the stack until a player or chance has a choice.
Everything a card does stands in the flat records that `cards.py` compiled; the numbers after B,
A, D, K in the comments are those of the rule statements and readings in docs/games/quarriors.md.

Order of this file: zones, creatures, destruction, the steps of a turn, options, actions, chance,
the contract's functions, and the Python face. state.pxd describes the state, reading.pxd reads it,
greedy.pxd plays it by rule of thumb.
"""
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from engine_ext.debug cimport QUANDARY_CHECK
from engine_ext.game cimport CHANCE, OUTCOME_LIMIT, TERMINAL, ZERO_SUM, hash_bytes
from engine_ext.position cimport Position, Rules, new_position
from engine_ext.rng cimport Rng, rng_below, rng_double
from games.quarriors.greedy cimport heuristic, suggest_option
from games.quarriors.reading cimport *
from games.quarriors.state cimport *

import array
import itertools
import math
from pathlib import Path

from engine_ext.errors import DataError, ParameterError, PositionError
from games.quarriors import cards as data

# ---- names of numbers ----------------------------------------------------------------------------

_FAMILY_NAMES = (
    "done", "to pool", "to aside", "recopy {n}", "use {die}", "use {die}: re-roll only", "use {die}: draw only",
    "reroll {die}", "summon {die}", "cast {die}", "discard {die}", "copy {die}", "rotate {die}",
    "resolve {die}", "resolve {die} of {copier}", "cull {cls}", "cull ready {die}", "cull attached {die}",
    "cull pool {cls}", "take {cls}", "fetch {cls}", "swap {cls} with {seat}", "capture {cls}",
    "spell {seat} {die}", "attached {seat} {die}", "creature {seat} {die} #{n}", "return {die} #{n}",
    "ready {die}", "capture {cls} discounted", "anchored {cls}", "pay {light} light {dark} dark", "lock {die}",
    "lock {die} with {seat}", "unlock {seat}",
)
# How the argument of a family is made up; the engine counts slots where ids count classes.
cdef enum:
    ARG_NONE, ARG_N, ARG_DIE, ARG_CLASS, ARG_CLASS_SEAT, ARG_SEAT_DIE, ARG_SEAT_DIE_N, ARG_DIE_N, ARG_DIE_CLASS,
    ARG_PAY, ARG_SEAT
_ARGUMENTS = (
    ARG_NONE, ARG_NONE, ARG_NONE, ARG_N, ARG_DIE, ARG_DIE, ARG_DIE, ARG_DIE, ARG_DIE, ARG_DIE, ARG_DIE, ARG_DIE,
    ARG_DIE, ARG_DIE, ARG_DIE_CLASS, ARG_CLASS, ARG_DIE, ARG_DIE, ARG_CLASS, ARG_CLASS, ARG_CLASS, ARG_CLASS_SEAT,
    ARG_CLASS, ARG_SEAT_DIE, ARG_SEAT_DIE, ARG_SEAT_DIE_N, ARG_DIE_N, ARG_DIE, ARG_CLASS, ARG_CLASS, ARG_PAY,
    ARG_DIE, ARG_SEAT_DIE, ARG_SEAT,
)
cdef int8_t argument[N_FAMILIES]
for _i, _kind in enumerate(_ARGUMENTS):
    argument[_i] = _kind


# ---- zones ---------------------------------------------------------------------------------------

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

cdef void pay(const Tables *T, State *s, int32_t flavour, int32_t amount) noexcept nogil:
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


# ---- attached spells -----------------------------------------------------------------------------

cdef inline void att_add(const Tables *T, Creature *c, int32_t j, int32_t kind, int32_t change) noexcept nogil:
    cdef int32_t code = (c.att >> (5 * j)) & 31
    cdef int32_t a = T.att_a[code] + (0 if kind else change), b = T.att_b[code] + (change if kind else 0)
    c.att = (c.att & ~(31 << (5 * j))) | (T.att_code[a][b] << (5 * j))

cdef inline void readied_add(Player *p, int32_t j, int32_t kind, int32_t change) noexcept nogil:
    p.spells[j] += change * 16 if kind else change

cdef void drop_attached(const Tables *T, Player *p, Creature *c) noexcept nogil:
    """A creature that leaves sends its attached spells to the pile (B88)."""
    cdef int32_t j
    if c.att == 0:
        return
    for j in range(SPELL_SLOTS):
        p.used[FIRST_SPELL + j] += att_get(T, c, j, 0) + att_get(T, c, j, 1)
    c.att = 0


# ---- creatures and their values ------------------------------------------------------------------

cdef void sort_ready(Player *p) noexcept nogil:
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

cdef void remove_creature(Player *p, int32_t i) noexcept nogil:
    cdef int32_t k
    for k in range(i, p.n_ready - 1):
        p.ready[k] = p.ready[k + 1]
    p.n_ready -= 1
    memset(&p.ready[p.n_ready], 0, sizeof(Creature))

cdef void set_copy(const Tables *T, const State *s, Creature *c, uint8_t die) noexcept nogil:
    c.copy = NONE if face_of(T, s, die).copy_enter else die   # a copy of an uncopied one is uncopied (K27)


# ---- the stack -----------------------------------------------------------------------------------

cdef inline void push(State *s, uint8_t op, uint8_t a=0, uint8_t b=0, uint8_t c=0) noexcept nogil:
    QUANDARY_CHECK(s.n_stack < MAX_STACK, "push: the stack is full")
    if s.n_stack == MAX_STACK:
        return
    s.stack[s.n_stack] = Frame(op, a, b, c)
    s.n_stack += 1

cdef inline void pop(State *s) noexcept nogil:
    s.n_stack -= 1
    memset(&s.stack[s.n_stack], 0, sizeof(Frame))

cdef inline void go(State *s, uint8_t op, uint8_t a=0, uint8_t b=0, uint8_t c=0) noexcept nogil:
    """Replace the top of the stack."""
    s.stack[s.n_stack - 1] = Frame(op, a, b, c)


# ---- the end -------------------------------------------------------------------------------------

cdef int32_t dice_in_ready(const Tables *T, const Player *p) noexcept nogil:
    """Creatures, readied and attached spells, the locked die (A100)."""
    cdef int32_t i, j, count = p.n_ready
    for j in range(SPELL_SLOTS):
        count += readied(p, j, 0) + readied(p, j, 1)
        for i in range(p.n_ready):
            count += att_get(T, &p.ready[i], j, 0) + att_get(T, &p.ready[i], j, 1)
    return count

cdef void finish(const Tables *T, State *s) noexcept nogil:
    """Most Glory, then most dice in the Ready Area, then shared (B87)."""
    cdef int32_t seat, value, best = -1
    for seat in range(T.n_players):
        value = s.player[seat].glory * 256 + dice_in_ready(T, &s.player[seat])
        if value > best:
            best = value
            s.winners = 0
        if value == best:
            s.winners |= 1 << seat
    s.node = TERMINAL

cdef void gain_glory(const Tables *T, State *s, int32_t n) noexcept nogil:
    """Glory for the active seat, and the goal (B25, A6)."""
    s.player[s.active].glory = min(255, s.player[s.active].glory + n)
    if s.player[s.active].glory >= T.goal:
        s.winners = 1 << s.active
        s.node = TERMINAL

cdef void after_capture(const Tables *T, State *s) noexcept nogil:
    """Four creature cards without dice end the game (B82, B83)."""
    cdef int32_t slot, empty = 0
    for slot in range(FIRST_CREATURE, FIRST_SPELL):
        empty += s.card[slot] != NONE and s.wilds[slot] == 0
    if empty >= 4:
        finish(T, s)


# ---- destruction ---------------------------------------------------------------------------------

cdef inline void open_event(State *s, uint8_t cause, uint8_t level, uint8_t defense, uint8_t killer) noexcept nogil:
    s.ev_cause, s.ev_level, s.ev_defense, s.ev_killer = cause, level, defense, killer
    push(s, Q_EVENT)

cdef bint still_doomed(const Tables *T, const State *s, int32_t seat, const Creature *c) noexcept nogil:
    """The destroying condition, checked again after every answer (W2)."""
    if s.ev_cause == EV_DAMAGE:
        return s.rem >= defense_of(T, s, seat, c)
    if s.ev_cause == EV_LEVEL:
        return level_of(T, s, c) <= s.ev_level
    if s.ev_cause == EV_SPELL:
        return (level_of(T, s, c) <= s.ev_level and defense_of(T, s, seat, c) <= s.ev_defense
                and may_target(T, s, s.active, seat, c))
    if s.ev_cause == EV_CLASS:
        return shape(c) >> 3 == s.ev_level
    return eff(T, s, c).no_bq and bq_count(T, s, seat) == 0

cdef void recheck(const Tables *T, State *s) noexcept nogil:
    cdef int32_t seat, i
    cdef Creature *c
    for seat in range(T.n_players):
        for i in range(s.player[seat].n_ready):
            c = &s.player[seat].ready[i]
            if c.flags & F_DOOMED and not still_doomed(T, s, seat, c):
                c.flags &= ~(F_DOOMED | F_KEEP)
                if s.ev_cause == EV_DAMAGE:
                    s.rem = 0                # the chosen creature holds: his defence ends (B70)

cdef int32_t firstkill_bonus(const Tables *T, const State *s, int32_t d) noexcept nogil:
    """What attackers add at a defender's first loss (A34)."""
    cdef int32_t i, bonus = 0
    for i in range(s.n_rec):
        if face_of(T, s, s.rec[i].die).firstkill:
            bonus += value_against(T, s, d, i)
    return bonus

cdef void destroy_doomed(const Tables *T, State *s) noexcept nogil:
    """Steps 2 to 6 of A1, once the set is fixed."""
    cdef int32_t seat, offset, i, slot, killed = 0, n = T.n_players
    cdef int32_t draws[MAX_SEATS]
    cdef uint8_t killer = s.ev_killer
    cdef bint fight = s.ev_cause == EV_DAMAGE or s.ev_cause == EV_LEVEL
    cdef Creature *c
    cdef Creature gone
    cdef Player *p
    cdef const FaceTable *f
    memset(draws, 0, sizeof(draws))
    pop(s)
    for seat in range(n):
        for i in range(s.player[seat].n_ready):
            killed += (s.player[seat].ready[i].flags & F_DOOMED) != 0
    if killed == 0:
        if s.stack[s.n_stack - 1].op == Q_STEPS:
            s.stack[s.n_stack - 1].c = 0                                  # nothing destroyed, no "and then" (D30)
        return
    for seat in range(n):
        i = locked_index(&s.player[seat])
        if i >= 0 and s.player[seat].ready[i].flags & F_DOOMED:
            unlock(T, s, seat)                                            # A115: unlocked, not destroyed
            killed -= 1
    if killed == 0:
        return
    if killer != NONE:
        # A3: Hag's Quiddity now; then Mighty Deathdealer (below), Strong Deathdealer, the Spirits. Pushed in reverse.
        for slot in range(1, SLOTS):
            if s.player[killer].aside[slot]:
                push(s, Q_ASIDE, slot, s.player[killer].aside[slot])      # A26: not those that go aside now
    if s.ev_cause == EV_DAMAGE:
        p = &s.player[s.defender]
        for i in range(p.n_ready):
            if p.ready[i].flags & F_DOOMED:
                s.rem -= defense_of(T, s, s.defender, &p.ready[i])
                break
    if fight:
        s.foes_hit |= 1 << s.defender                                     # A70
        if not s.first_kill:
            s.first_kill = 1
            s.bonus = firstkill_bonus(T, s, s.defender)
            if s.ev_cause == EV_DAMAGE:
                s.rem += s.bonus
    for offset in range(n):
        seat = (s.active + offset) % n
        p = &s.player[seat]
        i = 0
        while i < p.n_ready:
            c = &p.ready[i]
            if not c.flags & F_DOOMED:
                i += 1
                continue
            f = eff(T, s, c)
            drop_attached(T, p, c)
            draws[seat] += f.dead_draw
            gone = c[0]                                                   # its record stands (B69, A29)
            if gone.flags & F_KEEP:                                       # A20, A60; a fresh copy (K27)
                memset(c, 0, sizeof(Creature))
                c.die, c.copy, c.flags = gone.die, NONE, F_SAFE
                if face_of(T, s, c.die).copy_enter:
                    c.flags |= F_MARK
                i += 1
                continue
            remove_creature(p, i)
            slot = gone.die >> 3
            if f.dead_aside and (not p.charm or gone.flags & F_ASIDE):
                p.aside[slot] += 1
            elif f.dead_pool or p.charm:
                if seat == s.active:
                    pool_add(T, s, gone.die)                              # A24
                else:
                    p.wait[slot] += 1
            else:
                p.used[slot] += 1
    if killer != NONE:
        p = &s.player[killer]
        for i in range(p.n_ready):
            f = eff(T, s, &p.ready[i])
            if f.kill_quid and unlocked(&p.ready[i]):
                add_quid(s, 0, f.kill_quid * killed)
        push(s, Q_KILLS)
    for offset in range(n - 1, -1, -1):
        seat = (s.active + offset) % n
        if draws[seat]:
            push(s, Q_DRAW, draws[seat], seat)
        for i in range(s.player[seat].n_ready):
            if s.player[seat].ready[i].flags & F_MARK:
                push(s, Q_COPY, seat)
                break

cdef void unlock(const Tables *T, State *s, int32_t seat) noexcept nogil:
    """The locked die leaves: to the Spent Pile in its owner's turn, else to the pile (LK6, A106)."""
    cdef Player *p = &s.player[seat]
    cdef int32_t i = locked_index(p)
    if i < 0:
        return
    drop_attached(T, p, &p.ready[i])
    if seat == s.active:
        spend(T, s, p.ready[i].die >> 3)
    else:
        p.used[p.ready[i].die >> 3] += 1
    remove_creature(p, i)

cdef void lock_die(const Tables *T, State *s, int32_t seat, uint8_t die) noexcept nogil:
    """A pool die goes to a Locked Area and pushes out what lay there (LK2, LK5, LK22, LK23)."""
    cdef Player *p = &s.player[seat]
    cdef Creature *c
    pool_take(T, s, die)
    unlock(T, s, seat)
    if p.n_ready == MAX_READY:
        p.used[die >> 3] += 1
        return
    c = &p.ready[p.n_ready]
    memset(c, 0, sizeof(Creature))
    c.die, c.copy, c.flags = die, NONE, F_LOCKED
    p.n_ready += 1
    if seat == s.active:
        c.flags |= F_RECOPIED                                             # its owner cannot pay it off now (LK7)
        s.flags |= S_LOCKED
        if face_of(T, s, die).n_ops:
            push(s, Q_STEPS, die, 0, 1)

cdef bint lock_waits(const Tables *T, const State *s) noexcept nogil:
    """Whether a Lock face must still be locked this turn (LK3, LK4)."""
    cdef int32_t slot, face
    if not s.features & FEAT_LOCK or s.flags & S_LOCKED:
        return False
    for slot in range(FIRST_CREATURE, FIRST_SPELL):
        if row(s.pool[slot]):
            for face in range(6):
                if s.pool[slot][face] and T.card[s.card[slot]].face[face].kind & IS_LOCK:
                    return True
    return False

cdef void score_now(const Tables *T, State *s) noexcept nogil:
    """Creatures that score when their player destroys another (A35 to A37, A127)."""
    cdef int32_t i = 0
    cdef Player *p = &s.player[s.active]
    cdef Creature *c
    cdef const FaceTable *f
    pop(s)
    s.n_pend = 0
    while i < p.n_ready:
        c = &p.ready[i]
        f = eff(T, s, c)
        if not f.kill_score or not unlocked(c):
            i += 1
            continue
        s.scored += 1
        collect(T, s, c)
        gain_glory(T, s, T.card[s.card[shape(c) >> 3]].glory + f.score_glory + host_glory(T, s, c))
        if s.node == TERMINAL:
            return
        drop_attached(T, p, c)
        p.used[c.die >> 3] += 1
        remove_creature(p, i)
    if s.n_pend:
        push(s, P_ABILITY, 1)

cdef void collect(const Tables *T, State *s, const Creature *c) noexcept nogil:
    """Put the abilities of a scoring creature and its spells on the waiting list (A5, A126)."""
    cdef const FaceTable *f = eff(T, s, c)
    cdef int32_t j, kind
    s.discount += f.score_discount
    s.captures += f.score_captures
    if f.score_draw or f.score_swap or f.score_fetch or f.score_free or f.score_cull:
        if s.n_pend < MAX_PEND:
            s.pend[s.n_pend][0], s.pend[s.n_pend][1] = shape(c), c.die
            s.n_pend += 1
    if c.att:
        for j in range(SPELL_SLOTS):
            for kind in range(2):
                if att_get(T, c, j, kind) and face_of(T, s, spell_die(T, s, j, kind)).host_cullcapture:
                    for _k in range(att_get(T, c, j, kind)):
                        if s.n_pend < MAX_PEND:
                            s.pend[s.n_pend][0] = s.pend[s.n_pend][1] = spell_die(T, s, j, kind)
                            s.n_pend += 1

cdef bint usable(const Tables *T, const State *s, int32_t i) noexcept nogil:
    """Whether a waiting on-score ability can do anything now."""
    cdef const FaceTable *f = face_of(T, s, s.pend[i][0])
    cdef const Player *p = &s.player[s.active]
    cdef int32_t slot, seat, own = s.pend[i][1] >> 3
    if f.score_draw and zone_sum(p.bag) + zone_sum(p.used) > 0:
        return True
    if (f.host_cullcapture or f.score_cull) and zone_sum(p.used) > 0:
        return True
    if f.score_swap and p.used[own] > 0:
        for seat in range(T.n_players):
            if seat != s.active and zone_sum(s.player[seat].used) > 0:
                return True
    if f.score_fetch:
        for slot in range(SLOTS):
            if p.used[slot] > (slot == own) and T.card[s.card[slot]].creature_die:
                return True
    if f.score_free:
        for slot in range(FIRST_SPELL, SLOTS):
            if s.card[slot] != NONE and s.wilds[slot] and T.card[s.card[slot]].cost < f.score_free:
                return True
    return False


# ---- the attack ----------------------------------------------------------------------------------

cdef bint deals_quake(const Tables *T, const State *s, int32_t d, int32_t *level) noexcept nogil:
    cdef int32_t i
    level[0] = 0
    for i in range(s.n_rec):
        if s.rec[i].level > foe_bar(T, s, d):
            level[0] = max(level[0], <int32_t>face_of(T, s, s.rec[i].die).quake)
    return level[0] > 0

cdef bint has_react(const Tables *T, const State *s, int32_t seat) noexcept nogil:
    """Whether the seat holds a reaction or a recopy it could use against destruction."""
    cdef const Player *p = &s.player[seat]
    cdef const FaceTable *f
    cdef int32_t i, j, kind
    for j in range(SPELL_SLOTS):
        if p.spells[j]:
            for kind in range(2):
                if readied(p, j, kind):
                    f = face_of(T, s, spell_die(T, s, j, kind))
                    if f.react_def or f.react_pool or f.react_return:
                        return True
    if s.features & FEAT_COPY:
        for i in range(p.n_ready):
            if may_recopy(T, s, seat, &p.ready[i]):
                return True
    return False


# ---- casting -------------------------------------------------------------------------------------

cdef int32_t count_spells(const Tables *T, const State *s) noexcept nogil:
    """Readied and attached spells of all seats."""
    cdef int32_t seat, i, j, count = 0
    for seat in range(T.n_players):
        for j in range(SPELL_SLOTS):
            count += readied(&s.player[seat], j, 0) + readied(&s.player[seat], j, 1)
            for i in range(s.player[seat].n_ready):
                count += att_get(T, &s.player[seat].ready[i], j, 0) + att_get(T, &s.player[seat].ready[i], j, 1)
    return count

cdef bint can_do(const Tables *T, const State *s, const Op *op, int32_t spells_besides) noexcept nogil:
    """Whether a step would do anything now (A8)."""
    cdef const Player *p = &s.player[s.active]
    cdef uint8_t faces[8]
    cdef int32_t i, code = op.code
    if code == O_ATTACK:
        return not s.flags & S_ATTACKED and count_unlocked(p) > 0
    if code == O_DEFENSE:
        return count_unlocked(p) > 0
    if code == O_QUIDDITY or code == O_GLORY or code == O_CAPTURES:
        return True
    if code == O_GLORY_SCORED:
        return s.scored >= 2                                              # A69
    if code == O_GLORY_FOES:
        return s.flags & S_ATTACKED and s.foes_hit != 0                   # A70
    if code == O_DESTROY_ONE:
        return any_target(T, s, op, 0, T.n_players)
    if code == O_DESTROY_PER_FOE:
        return any_target(T, s, op, 1, T.n_players)
    if code == O_DESTROY_CLASS:
        return True
    if code == O_DESTROYSPELL:
        return count_spells(T, s) > spells_besides                        # A55
    if code == O_ROTATE_ALL:
        for i in range(p.n_ready):
            if next_level(T, s, &p.ready[i], True, faces) > 0:
                return True
        return False
    if code == O_ROTATE_OWN:
        return any_target(T, s, op, 0, 1)
    if code == O_ROTATE_ANY:
        return any_target(T, s, op, 0, T.n_players)
    if code == O_DRAWROLL:
        return zone_sum(p.bag) + zone_sum(p.used) > 0
    if code == O_CULL:
        return zone_sum(p.used) > 0
    return False

cdef bint castable(const Tables *T, const State *s, const FaceTable *f) noexcept nogil:
    cdef int32_t i
    if f.attach:
        return s.player[s.active].n_ready > 0
    for i in range(f.n_ops):
        if can_do(T, s, &f.ops[i], 1):
            return True
        if i + 1 < f.n_ops and f.ops[i + 1].then:
            return False
    return False

cdef int32_t add_casts(const Tables *T, const State *s, int32_t *out, int32_t n) noexcept nogil:
    cdef const Player *p = &s.player[s.active]
    cdef int32_t j, kind
    for j in range(SPELL_SLOTS):
        if p.spells[j]:
            for kind in range(2):
                if readied(p, j, kind) and castable(T, s, face_of(T, s, spell_die(T, s, j, kind))):
                    out[n] = A_CAST << SHIFT | spell_die(T, s, j, kind)
                    n += 1
    return n

cdef int32_t add_recopies(const Tables *T, const State *s, int32_t seat, int32_t *out, int32_t n) noexcept nogil:
    cdef int32_t i, k = 0
    if s.features & FEAT_COPY:
        for i in range(s.player[seat].n_ready):
            if may_recopy(T, s, seat, &s.player[seat].ready[i]):
                if k == 0 or not alike(&s.player[seat].ready[i], &s.player[seat].ready[i - 1]):
                    out[n] = A_RECOPY << SHIFT | k
                    n += 1
                k += 1
    return n


# ---- options -------------------------------------------------------------------------------------

cdef int32_t add_creatures(const Tables *T, const State *s, int32_t seat, uint32_t family, uint32_t mask,
                           int32_t *out, int32_t n) noexcept nogil:
    """One option a distinct creature whose bit is in mask; k counts distinct creatures of one die."""
    cdef const Player *p = &s.player[seat]
    cdef int32_t i, k = 0
    for i in range(p.n_ready):
        if i and p.ready[i].die != p.ready[i - 1].die:
            k = 0
        elif i and not alike(&p.ready[i], &p.ready[i - 1]):
            k += 1
        if mask >> i & 1 and not (i and mask >> (i - 1) & 1 and alike(&p.ready[i], &p.ready[i - 1])):
            if family == A_RETURN:
                out[n] = A_RETURN << SHIFT | <int32_t>p.ready[i].die << 4 | k
            else:
                out[n] = A_CREATURE << SHIFT | (seat << 7 | p.ready[i].die) << 4 | k
            n += 1
    return n

cdef int32_t add_uses_of(const Tables *T, const State *s, uint8_t die, bint drawable, int32_t *out,
                         int32_t n) noexcept nogil:
    """The ways to use one immediate face of the pool."""
    cdef const FaceTable *face = face_of(T, s, die)
    cdef const Use *use
    cdef int32_t u
    for u in range(face.n_uses):
        use = &face.uses[u]
        if use.draw and not drawable:                                     # A86: a spent die is in the pile itself
            if use.spend and T.lvd and not use.quid and not use.captures:
                continue
            if not use.spend and face.n_uses > 1:
                continue
        out[n] = (A_USE0 + u) << SHIFT | die
        n += 1
    return n

cdef inline bint may_draw(const State *s) noexcept nogil:
    return zone_sum(s.player[s.active].bag) + zone_sum(s.player[s.active].used) > 0

cdef int32_t add_uses(const Tables *T, const State *s, int32_t *out, int32_t n) noexcept nogil:
    """Immediate faces that may be used (B39)."""
    cdef int32_t slot, i
    cdef bint drawable = may_draw(s)
    for slot in range(1, SLOTS):
        if row(s.pool[slot]) == 0:
            continue
        for i in range(6):
            if s.pool[slot][i] and T.card[s.card[slot]].face[i].kind & IS_IMMEDIATE:
                n = add_uses_of(T, s, slot * 8 + i, drawable, out, n)
    return n

cdef int32_t add_ready(const Tables *T, const State *s, int32_t *out, int32_t n) noexcept nogil:
    """Spell icons that may be readied (D35, A89)."""
    cdef int32_t slot, i
    for slot in range(FIRST_SPELL, SLOTS):
        if s.card[slot] != NONE and row(s.pool[slot]):
            for i in range(6):
                if s.pool[slot][i] and T.card[s.card[slot]].face[i].kind & IS_SPELL:
                    out[n] = A_READY << SHIFT | slot * 8 + i
                    n += 1
    return n

cdef int32_t add_anchored(const Tables *T, const State *s, int32_t *out, int32_t n) noexcept nogil:
    """Anchored Spells of creature cards in the Wilds that can be paid and do something (D26 to D29, A116)."""
    cdef int32_t slot
    cdef const FaceTable *face
    if s.flags & S_ANCHORED:
        return n
    for slot in range(FIRST_CREATURE, FIRST_SPELL):
        if s.card[slot] != NONE:
            face = &T.card[s.card[slot]].face[6]
            if face.n_ops and s.avail[face.flavour] >= face.quid and castable(T, s, face):
                out[n] = A_ANCHORED << SHIFT | slot
                n += 1
    return n

cdef int32_t add_locks(const Tables *T, const State *s, int32_t *out, int32_t n) noexcept nogil:
    """Lock faces of the pool: one into the own area a turn, some into rivals' (LK2, LK3, LK21)."""
    cdef int32_t slot, i, q
    for slot in range(FIRST_CREATURE, FIRST_SPELL):
        if row(s.pool[slot]) == 0:
            continue
        for i in range(6):
            if s.pool[slot][i] == 0 or not T.card[s.card[slot]].face[i].kind & IS_LOCK:
                continue
            if not s.flags & S_LOCKED:
                out[n] = A_LOCK << SHIFT | slot * 8 + i
                n += 1
            if T.card[s.card[slot]].face[i].lock_rival:
                for q in range(T.n_players):
                    if q != s.active:
                        out[n] = A_LOCK_WITH << SHIFT | q << 7 | slot * 8 + i
                        n += 1
    return n

cdef int32_t add_unlocks(const Tables *T, const State *s, int32_t *out, int32_t n) noexcept nogil:
    """Locked dice that 2 Quiddity pay off (LK18 to LK20, A108, A114)."""
    cdef int32_t q, i
    if total_avail(s) < 2:
        return n
    for q in range(T.n_players):
        i = locked_index(&s.player[q])
        if (i >= 0 and not locked_now(&s.player[q].ready[i])
                and not face_of(T, s, s.player[q].ready[i].die).no_payoff):
            out[n] = A_UNLOCK << SHIFT | q
            n += 1
    return n

# Which frames ask something; the others are steps.
cdef int8_t asks[64]
for _i in range(64):
    asks[_i] = _i not in (P_DEAL, P_SCORE, P_SCORED, P_DRAW, P_READY, P_ATTACK, P_NEXT, P_QUAKE, P_TOTAL, P_END, Q_DRAW,
                          Q_ROLL, Q_KILLS, Q_ASIDE, Q_SUMMONED, Q_CAPTURED, Q_ANCHORED, Q_UNLOCKED)

cdef int32_t options(const Tables *T, const State *s, int32_t *out, int32_t *seat) noexcept nogil:
    """The options of the question on top of the stack and whose it is; 0 for a step that asks nothing."""
    cdef const Frame *f = &s.stack[s.n_stack - 1]
    cdef const Player *p = &s.player[s.active]
    cdef const Player *q
    cdef const FaceTable *face
    cdef const CardTable *card
    cdef Op wanted
    cdef uint8_t dice[MAX_SEATS * MAX_READY]
    cdef uint8_t faces[8]
    cdef int32_t n = 0, slot, i, j, k, u, kind, extra, money, count, h
    cdef uint32_t mask
    cdef bint mandatory
    seat[0] = s.active
    if not asks[f.op]:
        return 0
    if (f.op == P_MAIN or f.op == P_USE) and f.a:
        return 0
    if f.op == P_MAIN or f.op == P_BETWEEN:
        if f.op == P_MAIN:
            extra = surcharge(T, s, s.active)
            money = total_avail(s)
            if p.n_ready < MAX_READY and money > extra:
                for slot in range(1, FIRST_SPELL):
                    if row(s.pool[slot]) == 0:
                        continue
                    for i in range(6):
                        if s.pool[slot][i]:
                            face = &T.card[s.card[slot]].face[i]
                            if (face.kind & IS_CREATURE and face.level + extra <= money
                                    and not (face.summonlimit and s.summoned >= face.summonlimit)):
                                out[n] = A_SUMMON << SHIFT | slot * 8 + i
                                n += 1
            n = add_recopies(T, s, s.active, out, n)
            n = add_ready(T, s, out, n)                                   # base: rolled in this phase (B58)
            if T.lvd:
                n = add_uses(T, s, out, n)
                if s.features & FEAT_LOCK:
                    n = add_locks(T, s, out, n)
            if s.features & FEAT_ANCHORED:
                n = add_anchored(T, s, out, n)
            if s.features & FEAT_LOCK:
                n = add_unlocks(T, s, out, n)
        n = add_casts(T, s, out, n)
        if n:
            out[n] = A_DONE << SHIFT
            n += 1
        return n
    if f.op == P_USE:
        n = add_uses(T, s, out, 0)
        if s.features & FEAT_LOCK:
            n = add_locks(T, s, out, n)
            n = add_unlocks(T, s, out, n)
        if n:
            out[n] = A_DONE << SHIFT
            n += 1
        return n
    if f.op == P_CAPTURE:
        if s.captures:
            money = total_avail(s)
            for slot in range(SLOTS):
                if s.wilds[slot] and T.card[s.card[slot]].cost - s.discount <= money:
                    out[n] = A_CAPTURE << SHIFT | slot
                    n += 1
                if T.lvd and s.wilds[slot]:
                    card = &T.card[s.card[slot]]
                    extra = max(0, card.discounted - s.discount)
                    if (extra < card.cost - s.discount and extra <= money
                            and (s.avail[card.energy] > 0 or extra == 0)):     # D23, A81
                        out[n] = A_CAPTURE_DISCOUNTED << SHIFT | slot
                        n += 1
        if s.features & FEAT_ANCHORED:
            n = add_anchored(T, s, out, n)
        if s.features & FEAT_LOCK:
            n = add_unlocks(T, s, out, n)
        n = add_casts(T, s, out, n)
        if n:
            out[n] = A_DONE << SHIFT
            n += 1
        return n
    if f.op == P_CULL:
        for slot in range(SLOTS):
            if p.used[slot]:
                out[n] = A_CULL << SHIFT | slot
                n += 1
        if n:
            out[n] = A_DONE << SHIFT
            n += 1
        return n
    if f.op == P_CLEAN:
        for j in range(SPELL_SLOTS):
            for kind in range(2):
                if readied(p, j, kind):
                    out[n] = A_DISCARD << SHIFT | spell_die(T, s, j, kind)
                    n += 1
        if n:
            out[n] = A_DONE << SHIFT
            n += 1
        return n
    if f.op == Q_REROLL:
        for slot in range(SLOTS):
            if row(s.pool[slot]):
                for i in range(6):
                    if s.pool[slot][i]:
                        out[n] = A_REROLL << SHIFT | slot * 8 + i
                        n += 1
        if n:
            out[n] = A_DONE << SHIFT
            n += 1
        return n
    if f.op == P_DEFEND:
        seat[0] = s.defender
        q = &s.player[s.defender]
        mask = defenders(q)
        if s.rem <= 0 or mask == 0:
            return 0
        n = add_creatures(T, s, s.defender, A_CREATURE, mask, out, 0)
        if n == 1:
            return 1
        count = 0
        k = NO_CAP
        mandatory = False
        for i in range(q.n_ready):
            if mask >> i & 1:
                h = defense_of(T, s, s.defender, &q.ready[i])
                count += h
                k = min(k, h)
                face = eff(T, s, &q.ready[i])
                mandatory |= face.dead_draw or face.dead_pool or face.dead_aside or face.dead_cull
        if s.rem < k:
            return 0                                                      # A94: below every defence
        if s.rem >= count and not mandatory and not has_react(T, s, s.defender):
            return 1                                                      # enough for all of them
        return n
    if f.op == Q_EVENT:
        seat[0] = (s.active + f.b) % T.n_players
        q = &s.player[seat[0]]
        if f.a == 0:
            mask = 0
            for i in range(q.n_ready):
                if q.ready[i].flags & F_DOOMED and unlocked(&q.ready[i]):  # unlocked is not destroyed (K11, A115)
                    mask |= 1u << i
            if mask == 0:
                return 0
            if seat[0] != s.active:
                for j in range(SPELL_SLOTS):
                    if q.spells[j] == 0:
                        continue
                    for kind in range(2):
                        if readied(q, j, kind) == 0:
                            continue
                        face = face_of(T, s, spell_die(T, s, j, kind))
                        if ((face.react_pool and not q.charm)
                                or (face.react_return and any_not_kept(q))
                                or (face.react_def and defense_helps(T, s, seat[0], face.react_def))):
                            out[n] = A_CAST << SHIFT | spell_die(T, s, j, kind)
                            n += 1
                n = add_recopies(T, s, seat[0], out, n)
            mask = 0
            for i in range(q.n_ready):
                if q.ready[i].flags & F_DOOMED and not q.ready[i].flags & F_KEEP:
                    k = eff(T, s, &q.ready[i]).dead_cull
                    if k and slot_of_class(T, s, k - 1) < SLOTS and q.used[slot_of_class(T, s, k - 1)]:
                        mask |= 1u << i
            if mask:
                n = add_creatures(T, s, seat[0], A_RETURN, mask, out, n)
            if n:
                out[n] = A_DONE << SHIFT
                n += 1
            return n
        if q.charm:                                                       # A13: two forced destinations
            for i in range(q.n_ready):
                if q.ready[i].flags & F_DOOMED and not q.ready[i].flags & (F_KEEP | F_MARK) and eff(
                        T, s, &q.ready[i]).dead_aside:
                    out[0] = A_POOL << SHIFT
                    out[1] = A_ASIDE << SHIFT
                    return 2
        return 0
    if f.op == P_WINDOW:
        seat[0] = s.defender if f.a == 0 else (s.active + f.a) % T.n_players
        if f.a and seat[0] == s.defender:
            return 0
        if count_unlocked(&s.player[s.defender]) == 0 or attack_total(T, s, s.defender) == 0:
            return 0                                                      # nothing to defend, nothing to fear
        q = &s.player[seat[0]]
        for j in range(SPELL_SLOTS):
            if q.spells[j]:
                for kind in range(2):
                    if (readied(q, j, kind) and face_of(T, s, spell_die(T, s, j, kind)).react_zero
                            and zero_targets(T, s, seat[0])):
                        out[n] = A_CAST << SHIFT | spell_die(T, s, j, kind)
                        n += 1
        if f.a == 0:
            n = add_recopies(T, s, seat[0], out, n)
        if n:
            out[n] = A_DONE << SHIFT
            n += 1
        return n
    if f.op == Q_ZERO:
        seat[0] = f.b
        return add_creatures(T, s, s.active, A_CREATURE, zero_targets(T, s, f.b), out, 0)
    if f.op == Q_RETURN:
        seat[0] = f.b
        q = &s.player[f.b]
        mask = 0
        for i in range(q.n_ready):
            if q.ready[i].flags & F_DOOMED and not q.ready[i].flags & (F_KEEP | F_LOCKED):
                mask |= 1u << i
        return add_creatures(T, s, f.b, A_CREATURE, mask, out, 0)
    if f.op == Q_TARGET:
        wanted = face_of(T, s, f.c).ops[f.a]
        for i in range(T.n_players):
            if wanted.code == O_DESTROY_PER_FOE and i != f.b:
                continue
            if wanted.code == O_ROTATE_OWN and i:
                continue
            h = (s.active + i) % T.n_players
            mask = 0
            for k in range(s.player[h].n_ready):
                if legal_target(T, s, &wanted, h, &s.player[h].ready[k]):
                    mask |= 1u << k
            n = add_creatures(T, s, h, A_CREATURE, mask, out, n)
        return n
    if f.op == Q_HOST:
        return add_creatures(T, s, s.active, A_CREATURE, (1u << p.n_ready) - 1, out, 0)
    if f.op == Q_COPY or f.op == P_RECOPY or f.op == P_SURCHARGE:
        seat[0] = f.a if f.op == Q_COPY else ((s.active + f.a) % T.n_players if f.op == P_SURCHARGE else s.active)
        q = &s.player[seat[0]]
        for i in range(q.n_ready):
            if q.ready[i].flags & F_MARK:
                count = copies(T, s, seat[0], &q.ready[i], dice,
                               f.op == Q_COPY and not q.ready[i].flags & F_RECOPIED)
                for k in range(count):
                    if f.op != P_SURCHARGE or face_of(T, s, dice[k]).surcharge:
                        out[n] = A_COPY << SHIFT | dice[k]
                        n += 1
                if n and f.op != Q_COPY:
                    out[n] = A_DONE << SHIFT
                    n += 1
                return n
        return 0
    if f.op == Q_ROTATE:
        for h in range(T.n_players):
            for i in range(s.player[h].n_ready):
                if s.player[h].ready[i].flags & F_MARK:
                    count = next_level(T, s, &s.player[h].ready[i], f.a, faces)
                    for k in range(count):
                        out[k] = A_ROTATE << SHIFT | (s.player[h].ready[i].die & ~7) | faces[k]
                    return count
        return 0
    if f.op == P_CULLSPELLS:
        for j in range(SPELL_SLOTS):
            if s.card[FIRST_SPELL + j] == NONE:
                continue
            for kind in range(2):
                if readied(p, j, kind):
                    out[n] = A_CULL_READY << SHIFT | spell_die(T, s, j, kind)
                    n += 1
                for i in range(p.n_ready):
                    if att_get(T, &p.ready[i], j, kind):
                        out[n] = A_CULL_ATTACHED << SHIFT | spell_die(T, s, j, kind)
                        n += 1
                        break
            if p.wait[FIRST_SPELL + j]:
                out[n] = A_CULL_POOL << SHIFT | (FIRST_SPELL + j)
                n += 1
        if n:
            out[n] = A_DONE << SHIFT
            n += 1
        return n
    if f.op == P_ABILITY:
        mandatory = False
        for i in range(s.n_pend):
            if not usable(T, s, i):
                continue
            mandatory |= face_of(T, s, s.pend[i][0]).score_draw > 0
            if s.pend[i][0] == s.pend[i][1]:
                k = A_RESOLVE << SHIFT | s.pend[i][0]
            else:
                k = A_RESOLVE_OF << SHIFT | <int32_t>s.pend[i][0] << 4 | s.pend[i][1] >> 3
            for u in range(n):
                if out[u] == k:
                    break
            else:
                out[n] = k
                n += 1
        if n and not mandatory:
            out[n] = A_DONE << SHIFT
            n += 1
        return n
    if f.op == Q_SWAP:
        for h in range(T.n_players):
            if h != s.active:
                for slot in range(SLOTS):
                    if s.player[h].used[slot]:
                        out[n] = A_SWAP << SHIFT | slot * 4 + h
                        n += 1
        return n
    if f.op == Q_TAKE:
        for slot in range(FIRST_SPELL if f.a else 0, SLOTS):
            if s.wilds[slot] and T.card[s.card[slot]].cost <= f.b:
                out[n] = A_TAKE << SHIFT | slot
                n += 1
        return n
    if f.op == Q_CULLTAKE:
        for slot in range(SLOTS):
            if p.used[slot]:
                out[n] = A_CULL << SHIFT | slot
                n += 1
        return n
    if f.op == Q_FETCH:
        for slot in range(SLOTS):
            if p.used[slot] > (slot == f.a) and T.card[s.card[slot]].creature_die:
                out[n] = A_FETCH << SHIFT | slot
                n += 1
        return n
    if f.op == Q_STEPS and f.c == 2:                                      # destroyspell asks which
        for h in range(T.n_players):
            for j in range(SPELL_SLOTS):
                if s.card[FIRST_SPELL + j] == NONE:
                    continue
                for kind in range(2):
                    if readied(&s.player[h], j, kind):
                        out[n] = A_SPELL << SHIFT | h << 7 | spell_die(T, s, j, kind)
                        n += 1
                    for i in range(s.player[h].n_ready):
                        if att_get(T, &s.player[h].ready[i], j, kind):
                            out[n] = A_ATTACHED << SHIFT | h << 7 | spell_die(T, s, j, kind)
                            n += 1
                            break
        return n
    if f.op == Q_PAY:                                                     # A80
        for i in range(min(<int32_t>f.a, <int32_t>s.avail[1]) + 1):
            for j in range(min(f.a - i, <int32_t>s.avail[2]) + 1):
                if f.a - i - j <= s.avail[0] and not (f.b == 1 and i == 0) and not (f.b == 2 and j == 0):
                    out[n] = A_PAY << SHIFT | i << 4 | j
                    n += 1
        return n
    if f.op == Q_LOCK:
        return add_locks(T, s, out, 0)
    if f.op == Q_CULL:
        for slot in range(SLOTS):
            if p.used[slot]:
                out[n] = A_CULL << SHIFT | slot
                n += 1
        if n:
            out[n] = A_DONE << SHIFT
            n += 1
        return n
    if f.op == Q_FRESH:                                                   # all that were rolled together, in any order
        i = s.n_stack - 1
        while s.stack[i].op == Q_FRESH:
            if s.pool[s.stack[i].a >> 3][s.stack[i].a & 7]:
                n = add_uses_of(T, s, s.stack[i].a, may_draw(s), out, n)
            i -= 1
        if n:
            out[n] = A_DONE << SHIFT
            n += 1
        return n
    if f.op == Q_SPELLHOST:
        mask = 0
        for i in range(s.player[f.a].n_ready):
            if att_get(T, &s.player[f.a].ready[i], (f.b >> 3) - FIRST_SPELL, spell_kind(T, s, f.b)):
                mask |= 1u << i
        return add_creatures(T, s, f.a, A_CREATURE, mask, out, 0)
    return 0

cdef inline bint any_not_kept(const Player *q) noexcept nogil:
    cdef int32_t i
    for i in range(q.n_ready):
        if q.ready[i].flags & F_DOOMED and not q.ready[i].flags & (F_KEEP | F_LOCKED):
            return True
    return False

cdef bint defense_helps(const Tables *T, const State *s, int32_t seat, int32_t n) noexcept nogil:
    """Whether more defence for all can change the outcome of this event (W2)."""
    cdef const Player *q = &s.player[seat]
    cdef int32_t i, total = 0
    if s.ev_cause == EV_DAMAGE:
        for i in range(q.n_ready):
            if not q.ready[i].flags & (F_SAFE | F_LOCKED):
                total += defense_of(T, s, seat, &q.ready[i]) + n
        return s.rem < total
    if s.ev_cause == EV_SPELL and s.ev_defense != NO_CAP:
        for i in range(q.n_ready):
            if (q.ready[i].flags & F_DOOMED and unlocked(&q.ready[i])
                    and defense_of(T, s, seat, &q.ready[i]) + n > s.ev_defense):
                return True
    return False

cdef uint32_t zero_targets(const Tables *T, const State *s, int32_t caster) noexcept nogil:
    """Bits of the active seat's creatures that attack for more than 0 (W1, A17)."""
    cdef const Player *p = &s.player[s.active]
    cdef int32_t i, offset, d
    cdef uint32_t mask = 0
    for i in range(p.n_ready):
        if p.ready[i].rec == 0 or p.ready[i].flags & F_ZERO or not may_target(T, s, caster, s.active, &p.ready[i]):
            continue
        for offset in range(s.stack[find_frame(s, P_NEXT)].a, T.n_players):
            d = (s.active + offset) % T.n_players
            if count_unlocked(&s.player[d]) and value_against(T, s, d, p.ready[i].rec - 1) > 0:
                mask |= 1u << i
                break
    return mask

cdef inline int32_t find_frame(const State *s, int32_t op) noexcept nogil:
    cdef int32_t i
    for i in range(s.n_stack - 1, -1, -1):
        if s.stack[i].op == op:
            return i
    return 0

cdef inline int32_t slot_of_class(const Tables *T, const State *s, int32_t cls) noexcept nogil:
    """The slot whose card is of this class, or SLOTS."""
    cdef int32_t slot
    for slot in range(SLOTS):
        if s.card[slot] != NONE and T.card[s.card[slot]].cls == cls:
            return slot
    return SLOTS


# ---- steps ---------------------------------------------------------------------------------------

cdef void enter(const Tables *T, State *s, int32_t seat, uint8_t die) noexcept nogil:
    """A creature comes into the Ready Area; what it copies is asked at once (A38)."""
    cdef Player *p = &s.player[seat]
    cdef Creature *c
    QUANDARY_CHECK(p.n_ready < MAX_READY, "enter: the Ready Area is full")
    c = &p.ready[p.n_ready]
    memset(c, 0, sizeof(Creature))
    c.die, c.copy = die, NONE
    p.n_ready += 1
    if face_of(T, s, die).copy_enter:
        c.flags = F_MARK
        push(s, Q_COPY, seat)

cdef void score_all(const Tables *T, State *s) noexcept nogil:
    """Phase 1: every unlocked creature scores (B23 to B25, A5 steps 1 and 2)."""
    cdef Player *p = &s.player[s.active]
    cdef int32_t i, n = count_unlocked(p), glory = 0
    cdef const FaceTable *f
    s.scored = n
    s.culls = 0 if T.lvd else n                                           # B28, D19
    if s.features & FEAT_LOCK:
        glory += locked_sum(T, s, s.active, True)
    for i in range(p.n_ready):
        if not unlocked(&p.ready[i]):
            continue
        f = eff(T, s, &p.ready[i])
        glory += T.card[s.card[shape(&p.ready[i]) >> 3]].glory + f.score_glory + f.score_others * (n - 1)
        glory += host_glory(T, s, &p.ready[i])
        collect(T, s, &p.ready[i])
        if f.score_cullspells:
            s.bonus = max(<int32_t>s.bonus, <int32_t>f.score_cullspells)
    if glory:
        gain_glory(T, s, glory)
    if s.node == TERMINAL:
        return
    if s.bonus:
        go(s, P_CULLSPELLS, s.bonus)
        s.bonus = 0
    else:
        go(s, P_SCORED)

cdef void remove_scored(const Tables *T, State *s) noexcept nogil:
    """Scored dice and their spells to the pile (B26)."""
    cdef Player *p = &s.player[s.active]
    cdef int32_t i = 0
    while i < p.n_ready:
        if unlocked(&p.ready[i]):
            drop_attached(T, p, &p.ready[i])
            p.used[p.ready[i].die >> 3] += 1
            remove_creature(p, i)
        else:
            i += 1
    if s.culls:
        go(s, P_CULL)
    else:
        go(s, P_DRAW)
    if s.n_pend:
        push(s, P_ABILITY)

cdef void ready_spells(const Tables *T, State *s) noexcept nogil:
    """Every spell icon that is not immediate goes to the Ready Area (B58, A89)."""
    cdef Player *p = &s.player[s.active]
    cdef int32_t j, kind
    cdef uint8_t face
    for j in range(SPELL_SLOTS):
        if s.card[FIRST_SPELL + j] == NONE or row(s.pool[FIRST_SPELL + j]) == 0:
            continue
        for kind in range(2):
            face = T.card[s.card[FIRST_SPELL + j]].spell_face[kind]
            if face != NONE and T.card[s.card[FIRST_SPELL + j]].face[face].kind & IS_SPELL:
                readied_add(p, j, kind, s.pool[FIRST_SPELL + j][face])
                s.pool[FIRST_SPELL + j][face] = 0

cdef void begin_attack(const Tables *T, State *s) noexcept nogil:
    """Attackers and their values, fixed for the whole attack (A29)."""
    cdef Player *p = &s.player[s.active]
    cdef int32_t i, seat
    s.phase = 3 if T.lvd else 4
    s.n_rec = 0
    if not T.lvd:                                                         # A20: safe for one attack; D43: for the turn
        for seat in range(T.n_players):
            for i in range(s.player[seat].n_ready):
                s.player[seat].ready[i].flags &= ~F_SAFE
    for i in range(p.n_ready):
        if unlocked(&p.ready[i]):
            s.rec[s.n_rec].value = min(255, attack_of(T, s, s.active, &p.ready[i]))
            s.rec[s.n_rec].level = level_of(T, s, &p.ready[i])
            s.rec[s.n_rec].die = shape(&p.ready[i])
            s.rec[s.n_rec].zero = p.ready[i].flags & F_ZERO != 0
            s.n_rec += 1
            p.ready[i].rec = s.n_rec
    go(s, P_NEXT, 1)

cdef void end_attack(const Tables *T, State *s) noexcept nogil:
    cdef Player *p = &s.player[s.active]
    cdef int32_t i
    for i in range(p.n_ready):
        p.ready[i].rec = 0
    memset(s.rec, 0, sizeof(s.rec))
    s.n_rec = s.defender = s.first_kill = s.ev_cause = s.ev_level = s.ev_defense = s.ev_killer = 0
    s.rem = s.bonus = 0
    s.flags = (s.flags | S_ATTACKED) & ~S_IGNORE
    s.phase = 4 if T.lvd else 5
    go(s, P_CAPTURE)

cdef void next_defender(const Tables *T, State *s) noexcept nogil:
    cdef Frame *f = &s.stack[s.n_stack - 1]
    cdef int32_t d
    cdef bint later = f.b
    while f.a < T.n_players and count_unlocked(&s.player[(s.active + f.a) % T.n_players]) == 0:
        f.a += 1                                                          # A96
    if f.a == T.n_players or s.n_rec == 0:
        end_attack(T, s)
        return
    d = (s.active + f.a) % T.n_players
    f.b = 1
    s.defender = d
    s.first_kill = 0
    s.bonus = s.rem = 0
    push(s, P_QUAKE)
    if later and not T.lvd:                                               # W4; D40: there all defend together
        push(s, P_BETWEEN)

cdef void defender_done(State *s) noexcept nogil:
    pop(s)
    s.stack[s.n_stack - 1].a += 1
    s.flags &= ~S_IGNORE
    s.rem = s.bonus = 0

cdef void quake(const Tables *T, State *s) noexcept nogil:
    """What is destroyed before the defender chooses (B76, A30, A131)."""
    cdef Player *q = &s.player[s.defender]
    cdef int32_t i, level
    cdef bint any_doomed = False
    if count_unlocked(q) == 0:
        defender_done(s)
        return
    for i in range(s.n_rec):
        if s.rec[i].level > foe_bar(T, s, s.defender) and face_of(T, s, s.rec[i].die).ignore_attached:
            s.flags |= S_IGNORE
    go(s, P_WINDOW)
    if deals_quake(T, s, s.defender, &level):
        for i in range(q.n_ready):
            if unlocked(&q.ready[i]) and level_of(T, s, &q.ready[i]) <= level:
                q.ready[i].flags |= F_DOOMED
                any_doomed = True
        if any_doomed:
            open_event(s, EV_LEVEL, level, 0, s.active)

cdef void clean_up(const Tables *T, State *s) noexcept nogil:
    """Phase 6 and the next turn (B84, B57, I28)."""
    cdef Player *p = &s.player[s.active]
    cdef int32_t slot, face, seat, i
    for slot in range(SLOTS):
        if row(s.pool[slot]):
            for face in range(6):
                p.used[slot] += s.pool[slot][face]
        p.used[slot] += p.wait[slot] + p.spent[slot]
        p.wait[slot] = p.spent[slot] = 0
    if T.lvd:                                                             # D7, D8
        p.aside[0] += p.used[0]
        p.used[0] = 0
    memset(s.pool, 0, sizeof(s.pool))
    memset(s.quid, 0, sizeof(s.quid))
    memset(s.avail, 0, sizeof(s.avail))
    for seat in range(T.n_players):
        s.player[seat].charm = 0
        for i in range(s.player[seat].n_ready):
            s.player[seat].ready[i].atk = s.player[seat].ready[i].dfn = 0
            s.player[seat].ready[i].flags &= F_LOCKED
    p.turns += 1
    s.turn += 1
    s.active = (s.active + 1) % T.n_players
    begin_turn(T, s)
    go(s, P_RECOPY)
    if s.turn >= T.max_turns * T.n_players:                               # A103
        finish(T, s)

cdef void begin_turn(const Tables *T, State *s) noexcept nogil:
    s.captures = T.captures
    s.discount = s.scored = s.culls = s.foes_hit = s.flags = s.summoned = 0
    s.decisions = 0
    s.phase = 1

cdef bint mark_recopy(const Tables *T, State *s, int32_t seat, bint surcharge_only) noexcept nogil:
    """Mark the next creature of the seat that is asked whether it recopies."""
    cdef Player *p = &s.player[seat]
    cdef uint8_t dice[MAX_SEATS * MAX_READY]
    cdef int32_t i, k
    for i in range(p.n_ready):
        if may_recopy(T, s, seat, &p.ready[i]):
            if not surcharge_only:
                p.ready[i].flags |= F_MARK
                return True
            for k in range(copies(T, s, seat, &p.ready[i], dice, False)):
                if face_of(T, s, dice[k]).surcharge:
                    p.ready[i].flags |= F_MARK
                    return True
    return False

cdef bint creature_in_pool(const Tables *T, const State *s) noexcept nogil:
    cdef int32_t slot, face
    for slot in range(1, FIRST_SPELL):
        if row(s.pool[slot]):
            for face in range(6):
                if s.pool[slot][face] and T.card[s.card[slot]].face[face].kind & IS_CREATURE:
                    return True
    return False

cdef void take_step(const Tables *T, State *s) noexcept nogil:
    """Carry out the step of a cast or summon on top of the stack (can_do has not been asked yet)."""
    cdef Frame *f = &s.stack[s.n_stack - 1]
    cdef const FaceTable *face = face_of(T, s, f.a)
    cdef const Op *op
    cdef Player *p = &s.player[s.active]
    cdef uint8_t faces[8]
    cdef uint8_t die = f.a
    cdef int32_t i, seat, index = f.b
    cdef bint doomed = False
    if f.b >= face.n_ops:
        pop(s)
        return
    op = &face.ops[index]
    f.b += 1
    if (op.then and not f.c) or not can_do(T, s, op, 0):
        f.c = 0
        return
    f.c = 1
    if op.code == O_ATTACK:
        for i in range(p.n_ready):
            if unlocked(&p.ready[i]):
                p.ready[i].atk += op.n
                if p.ready[i].rec:
                    s.rec[p.ready[i].rec - 1].value += op.n
    elif op.code == O_DEFENSE:
        for i in range(p.n_ready):
            p.ready[i].dfn += op.n
    elif op.code == O_QUIDDITY:
        add_quid(s, op.flavour, op.n)
    elif op.code == O_CAPTURES:
        s.captures += op.n
    elif op.code == O_GLORY:
        gain_glory(T, s, op.n)
    elif op.code == O_GLORY_SCORED:
        gain_glory(T, s, s.scored)
    elif op.code == O_GLORY_FOES:
        i = 0
        for seat in range(T.n_players):
            i += s.foes_hit >> seat & 1
        gain_glory(T, s, i)
    elif op.code == O_DESTROY_ONE:
        open_event(s, EV_SPELL, op.level, op.defense, s.active)
        push(s, Q_TARGET, index, 0, die)
    elif op.code == O_DESTROY_PER_FOE:
        open_event(s, EV_SPELL, op.level, op.defense, s.active)
        for i in range(T.n_players - 1, 0, -1):
            push(s, Q_TARGET, index, i, die)
    elif op.code == O_DESTROY_CLASS:
        for seat in range(T.n_players):
            if seat == s.active:
                continue
            for i in range(s.player[seat].n_ready):
                if unlocked(&s.player[seat].ready[i]) and shape(&s.player[seat].ready[i]) >> 3 == die >> 3:
                    s.player[seat].ready[i].flags |= F_DOOMED
                    doomed = True
        if doomed:
            open_event(s, EV_CLASS, die >> 3, 0, s.active)
    elif op.code == O_DESTROYSPELL:
        f.c = 2
    elif op.code == O_ROTATE_ALL:
        for i in range(p.n_ready):
            if next_level(T, s, &p.ready[i], True, faces):
                p.ready[i].flags |= F_MARK
        push(s, Q_ROTATE, 1)
    elif op.code == O_ROTATE_OWN or op.code == O_ROTATE_ANY:
        push(s, Q_TARGET, index, 0, die)
    elif op.code == O_DRAWROLL:
        if s.stack[0].op == P_USE or s.stack[0].op == P_MAIN:
            s.stack[0].a = 0                                              # a forced lock that draws: phase 2 goes on
        push(s, Q_ROLL)
        push(s, Q_DRAW, op.n, s.active)
    elif op.code == O_CULL:
        push(s, Q_CULL, op.n)

cdef void summoned(const Tables *T, State *s) noexcept nogil:
    """A creature that was paid for enters; then its abilities, then the window W5 (B60, B64)."""
    cdef uint8_t die = s.stack[s.n_stack - 1].a
    cdef const FaceTable *face = face_of(T, s, die)
    if face.summonlimit:
        s.summoned += 1
    go(s, P_SURCHARGE, 1)
    if face.n_ops:
        push(s, Q_STEPS, die, 0, 1)
    enter(T, s, s.active, die)

cdef void charge(const Tables *T, State *s, int32_t price, int32_t flavour) noexcept nogil:
    """Pay a price, in Light vs. Dark with the flavours the player names, at least 1 of `flavour` if not 0."""
    if T.lvd and price > 0:
        push(s, Q_PAY, price, flavour)
    else:
        pay(T, s, 0, price)

cdef void step(const Tables *T, State *s) noexcept nogil:
    """The top of the stack asks nothing (any more): carry it out or leave it."""
    cdef Frame *f = &s.stack[s.n_stack - 1]
    cdef int32_t i, slot, op = f.op
    if op == P_RECOPY:
        if not (s.features & FEAT_COPY and mark_recopy(T, s, s.active, False)):
            go(s, P_SCORE)
    elif op == P_SCORE:
        score_all(T, s)
    elif op == P_CULLSPELLS:
        go(s, P_SCORED)
    elif op == P_SCORED:
        remove_scored(T, s)
    elif op == P_ABILITY:
        s.n_pend = 0
        memset(s.pend, 0, sizeof(s.pend))
        pop(s)
    elif op == P_CULL:
        s.culls = 0
        go(s, P_DRAW)
    elif op == P_DRAW:
        s.phase = 2
        i = T.draw
        if T.lvd:
            i = 2 if s.player[s.active].turns < 2 else 3                  # D11
            s.player[s.active].wait[0] += s.player[s.active].aside[0]
            s.player[s.active].aside[0] = 0
            go(s, P_MAIN)
            push(s, P_SURCHARGE, 1)
        else:
            go(s, P_USE)
        if s.features & FEAT_LOCK:
            i = max(0, i + locked_sum(T, s, s.active, False))
        push(s, Q_ROLL)
        push(s, Q_DRAW, i, s.active)
    elif op == P_USE or (op == P_MAIN and T.lvd):
        if lock_waits(T, s):                                              # LK4
            f.a = 1
            push(s, Q_LOCK)
        else:
            go(s, P_ATTACK if T.lvd else P_READY)
    elif op == P_READY:
        s.phase = 3
        ready_spells(T, s)
        go(s, P_MAIN)
        push(s, P_SURCHARGE, 1)
    elif op == P_SURCHARGE:
        if (s.features & (FEAT_COPY | FEAT_SURCHARGE)) != FEAT_COPY | FEAT_SURCHARGE or not creature_in_pool(T, s):
            pop(s)
        elif f.a == T.n_players:
            pop(s)
        elif not mark_recopy(T, s, (s.active + f.a) % T.n_players, True):
            f.a += 1
    elif op == P_MAIN:
        go(s, P_ATTACK)
    elif op == Q_SUMMONED:
        summoned(T, s)
    elif op == Q_CAPTURED:
        slot = f.a
        pop(s)
        s.wilds[slot] -= 1
        s.player[s.active].used[slot] += 1
        s.captures -= 1
        after_capture(T, s)
    elif op == Q_ANCHORED:
        slot = f.a
        s.flags |= S_ANCHORED
        go(s, Q_STEPS, slot * 8 + 6, 0, 1)
    elif op == Q_UNLOCKED:
        i = f.a
        pop(s)
        unlock(T, s, i)
    elif op == P_ATTACK:
        begin_attack(T, s)
    elif op == P_NEXT:
        next_defender(T, s)
    elif op == P_BETWEEN:
        pop(s)
    elif op == P_QUAKE:
        quake(T, s)
    elif op == P_WINDOW:
        f.a += 1
        if f.a >= T.n_players or count_unlocked(&s.player[s.defender]) == 0 or attack_total(T, s, s.defender) == 0:
            go(s, P_TOTAL)
    elif op == P_TOTAL:
        s.rem = attack_total(T, s, s.defender) + s.bonus
        go(s, P_DEFEND)
    elif op == P_DEFEND:
        defender_done(s)
    elif op == P_CAPTURE:
        s.phase = 5 if T.lvd else 6
        go(s, P_CLEAN)
    elif op == P_CLEAN:
        go(s, P_END)
    elif op == P_END:
        clean_up(T, s)
    elif op == Q_EVENT:
        f.b += 1
        if f.b >= T.n_players:
            f.b = 0
            if f.a == 0:
                f.a = 1
            else:
                destroy_doomed(T, s)
    elif op == Q_FRESH:
        leave_fresh(s)
    elif op == Q_KILLS:
        score_now(T, s)
    elif op == Q_STEPS:
        take_step(T, s)
    elif op == Q_COPY:
        for i in range(s.player[f.a].n_ready):
            if s.player[f.a].ready[i].flags & F_MARK:
                s.player[f.a].ready[i].flags &= ~F_MARK
                return
        pop(s)
    else:
        pop(s)

cdef bint doom_without_bq(const Tables *T, State *s) noexcept nogil:
    """The check after every change of Basic Quiddity (A46)."""
    cdef int32_t seat, i, op = s.stack[s.n_stack - 1].op
    cdef bint found = False
    cdef Creature *c
    if op in (P_DEAL, Q_DRAW, Q_ROLL, Q_EVENT, Q_ASIDE, Q_KILLS, Q_COPY, Q_REROLL, Q_TARGET, Q_RETURN):
        return False
    for seat in range(T.n_players):
        for i in range(s.player[seat].n_ready):
            c = &s.player[seat].ready[i]
            if unlocked(c) and eff(T, s, c).no_bq and bq_count(T, s, seat) == 0:
                c.flags |= F_DOOMED
                found = True
    if found:
        open_event(s, EV_NO_BQ, 0, 0, NONE)
    return found


# ---- chance --------------------------------------------------------------------------------------

cdef double binomial[80][16]
for _i in range(80):
    for _k in range(16):
        binomial[_i][_k] = math.comb(_i, _k)

cdef inline bint is_chance(int32_t op) noexcept nogil:
    return op == Q_DRAW or op == Q_ROLL or op == Q_ASIDE or op == P_DEAL

cdef bint draw_open(const Tables *T, State *s) noexcept nogil:
    """Do what is certain of the draw on top; whether chance is still to decide (B34 to B36)."""
    cdef Frame *f = &s.stack[s.n_stack - 1]
    cdef Player *p = &s.player[f.b]
    cdef int32_t slot, count, rest, low, high
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

cdef int32_t draw_fast(const Tables *T, State *s, Rng *rng) noexcept nogil:
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

cdef void fresh(const Tables *T, State *s, uint8_t die) noexcept nogil:
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

cdef void leave_fresh(State *s) noexcept nogil:
    while s.stack[s.n_stack - 1].op == Q_FRESH:
        pop(s)

cdef inline int32_t roll_slot(const State *s) noexcept nogil:
    cdef int32_t slot
    for slot in range(SLOTS):
        if s.player[s.active].wait[slot]:
            return slot
    return SLOTS

cdef int32_t roll_fast(const Tables *T, State *s, Rng *rng) noexcept nogil:
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

cdef void aside_lands(const Tables *T, State *s, uint8_t die) noexcept nogil:
    """A set-aside die was rolled: to the Ready Area on a creature face, else to the pile (A27, A28)."""
    cdef Player *p = &s.player[s.active]
    if face_of(T, s, die).kind & IS_CREATURE and p.n_ready < MAX_READY:
        enter(T, s, s.active, die)
    else:
        p.used[die >> 3] += 1

cdef int32_t deal_kind(const Tables *T, const State *s) noexcept nogil:
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

cdef bint deal_fits(const Tables *T, const State *s, int32_t card, int32_t kind) noexcept nogil:
    cdef int32_t slot
    if T.card[card].kind != kind:
        return False
    for slot in range(SLOTS):
        if s.card[slot] != NONE and T.card[s.card[slot]].cls == T.card[card].cls:
            return False                                                  # B4, B7
    return True

cdef void deal(const Tables *T, State *s, int32_t card) noexcept nogil:
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

cdef void survey(const Tables *T, State *s) noexcept nogil:
    """What the cards in the Wilds can do at all."""
    cdef int32_t slot
    s.features = 0
    for slot in range(SLOTS):
        if s.card[slot] != NONE:
            s.features |= T.card[s.card[slot]].features

cdef void lay_dice(const Tables *T, State *s) noexcept nogil:
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
    go(s, P_RECOPY)

cdef bint chance_open(const Tables *T, State *s) noexcept nogil:
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

cdef int32_t outcomes(const void *tables, const void *state, int32_t *ids, double *probs) noexcept nogil:
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
            probs[n] = binomial[count][k] * binomial[rest][f.a - k] / binomial[count + rest][f.a]
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

cdef int32_t sample(const void *tables, const void *state, Rng *rng) noexcept nogil:
    cdef int32_t ids[OUTCOME_LIMIT]
    cdef double probs[OUTCOME_LIMIT]
    cdef int32_t n = outcomes(tables, state, ids, probs), i
    cdef double point = rng_double(rng)
    for i in range(n - 1):
        point -= probs[i]
        if point < 0:
            return ids[i]
    return ids[n - 1]

cdef void apply_chance(const Tables *T, State *s, int32_t id) noexcept nogil:
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


# ---- the loop ------------------------------------------------------------------------------------

cdef int32_t run(const Tables *T, State *s, int32_t *out, Rng *rng, int32_t *steps) noexcept nogil:
    """Go on to the next real question: returns the number of its options (in out), 0 at the end, -1
    at a chance node. With an rng, chance is played instead; steps counts the nodes it stands for."""
    cdef int32_t n, seat, op, i
    while s.node != TERMINAL:
        if s.features & FEAT_NO_BQ and doom_without_bq(T, s):
            continue
        op = s.stack[s.n_stack - 1].op
        if is_chance(op):
            if rng == NULL:
                if chance_open(T, s):
                    for i in range(T.n_players):
                        sort_ready(&s.player[i])
                    s.node = CHANCE
                    return -1
            elif op == Q_DRAW:
                steps[0] += draw_fast(T, s, rng)
            elif op == Q_ROLL:
                steps[0] += roll_fast(T, s, rng)
            elif chance_open(T, s):
                apply_chance(T, s, sample(T, s, rng))
                steps[0] += 1
            continue
        for i in range(T.n_players):
            if s.player[i].n_ready > 1:
                sort_ready(&s.player[i])
        n = options(T, s, out, &seat)
        if n > 1:
            if s.decisions >= FORCED and out[n - 1] == A_DONE << SHIFT:
                act(T, s, out[n - 1])
                continue
            s.node = seat
            return n
        if n == 1:
            act(T, s, out[0])
        else:
            step(T, s)
    for i in range(T.n_players):
        sort_ready(&s.player[i])
    return 0


# ---- actions -------------------------------------------------------------------------------------

cdef void use_face(const Tables *T, State *s, uint8_t die, int32_t number) noexcept nogil:
    """Use an immediate face (B37 to B48)."""
    cdef const Use *use = &face_of(T, s, die).uses[number]
    cdef Player *p = &s.player[s.active]
    cdef int32_t slot = die >> 3, i, others = 0
    pool_take(T, s, die)
    if use.itself:
        p.wait[slot] += 1
    else:
        spend(T, s, slot)                                                 # B40
    if use.quid:
        add_quid(s, use.flavour, use.quid)
    s.captures += use.captures
    if use.lone >= 0:
        for i in range(SLOTS):
            if i != slot:
                others += p.bag[i] + p.used[i]
        if others == 0:                                                   # A87
            if T.lvd:
                p.spent[slot] -= 1
            else:
                p.used[slot] -= 1
            pool_add(T, s, slot * 8 + use.lone)
            return
    if use.draw or use.itself or use.others:
        push(s, Q_ROLL)
        if use.draw:
            push(s, Q_DRAW, use.draw, s.active)
        if use.others:
            push(s, Q_REROLL, use.others)

cdef void act(const Tables *T, State *s, int32_t action) noexcept nogil:
    """One option of the question on top of the stack, arguments in slots."""
    cdef Frame *f = &s.stack[s.n_stack - 1]
    cdef Player *p = &s.player[s.active]
    cdef Player *q
    cdef Creature *c
    cdef const FaceTable *face
    cdef int32_t family = action >> SHIFT, arg = action & 0xFFFF
    cdef int32_t op = f.op, slot, i, k, seat, before, kind
    cdef uint8_t die
    if family == A_DONE:
        if op == P_RECOPY or op == P_SURCHARGE:
            q = &s.player[s.active if op == P_RECOPY else (s.active + f.a) % T.n_players]
            for i in range(q.n_ready):
                if q.ready[i].flags & F_MARK:
                    q.ready[i].flags &= ~F_MARK
                    if op == P_RECOPY:
                        q.ready[i].flags |= F_RECOPIED
            if op == P_SURCHARGE:
                f.a += 1
        elif op == Q_EVENT or op == P_WINDOW:
            step(T, s)
        elif op == P_CLEAN:
            go(s, P_END)
        elif op == Q_REROLL:
            pop(s)
        elif op == Q_CULL:
            pop(s)
            if s.stack[s.n_stack - 1].op == Q_STEPS:
                s.stack[s.n_stack - 1].c = 0                              # not carried out (D30)
        else:
            step(T, s)
        return
    if family == A_SUMMON:
        die = arg
        pool_take(T, s, die)
        push(s, Q_SUMMONED, die)
        charge(T, s, face_of(T, s, die).level + surcharge(T, s, s.active), 0)          # B59
        return
    if family == A_CAPTURE:
        push(s, Q_CAPTURED, arg)
        charge(T, s, max(0, <int32_t>T.card[s.card[arg]].cost - s.discount), 0)
        return
    if family == A_CAPTURE_DISCOUNTED:
        push(s, Q_CAPTURED, arg)
        charge(T, s, max(0, <int32_t>T.card[s.card[arg]].discounted - s.discount), T.card[s.card[arg]].energy)
        return
    if family == A_PAY:
        k = f.a
        pop(s)
        pay(T, s, 1, arg >> 4)
        pay(T, s, 2, arg & 15)
        pay(T, s, 0, k - (arg >> 4) - (arg & 15))
        return
    if family == A_READY:
        pool_take(T, s, arg)
        readied_add(p, (arg >> 3) - FIRST_SPELL, spell_kind(T, s, arg), 1)
        return
    if family == A_ANCHORED:
        push(s, Q_ANCHORED, arg)
        pay(T, s, T.card[s.card[arg]].face[6].flavour, T.card[s.card[arg]].face[6].quid)       # D27
        return
    if family == A_LOCK or family == A_LOCK_WITH:
        if op == Q_LOCK:
            pop(s)
        lock_die(T, s, s.active if family == A_LOCK else arg >> 7, arg & 127)
        if op == Q_LOCK and lock_waits(T, s):
            push(s, Q_LOCK)
        return
    if family == A_UNLOCK:
        push(s, Q_UNLOCKED, arg)
        charge(T, s, 2, 0)
        return
    if family == A_USE0 or family == A_USE1 or family == A_USE2:
        if op == Q_FRESH:
            i = s.n_stack - 1
            while s.stack[i].a != arg:
                i -= 1
            s.stack[i].b -= 1
            if s.stack[i].b == 0:
                for k in range(i, s.n_stack - 1):
                    s.stack[k] = s.stack[k + 1]
                pop(s)
        use_face(T, s, arg, family - A_USE0)
        return
    if family == A_REROLL:
        pool_take(T, s, arg)
        p.wait[arg >> 3] += 1
        f.a -= 1
        if f.a == 0:
            pop(s)
        return
    if family == A_CULL:
        p.used[arg] -= 1
        s.wilds[arg] += 1
        if op == P_CULL:
            s.culls -= 1
            if s.culls == 0:
                go(s, P_DRAW)
        elif op == Q_CULL:
            f.a -= 1
            if f.a == 0:
                pop(s)
        else:
            go(s, Q_TAKE, 0, T.card[s.card[arg]].cost + f.a)
        return
    if family == A_CREATURE:
        k = arg & 15
        die = arg >> 4 & 127
        seat = arg >> 11
        q = &s.player[seat]
        c = &q.ready[find_creature(q, die, k)]
        if op == P_DEFEND:
            if s.rem >= defense_of(T, s, seat, c):
                c.flags |= F_DOOMED
                open_event(s, EV_DAMAGE, 0, 0, s.active)
            else:
                c.flags |= F_SAFE
                s.rem = 0
        elif op == Q_TARGET:
            i = face_of(T, s, f.c).ops[f.a].code
            if i == O_ROTATE_OWN or i == O_ROTATE_ANY:
                c.flags |= F_MARK
                go(s, Q_ROTATE, face_of(T, s, f.c).ops[f.a].n)
            else:
                c.flags |= F_DOOMED
                pop(s)
        elif op == Q_HOST:
            att_add(T, c, (f.a >> 3) - FIRST_SPELL, spell_kind(T, s, f.a), 1)
            if c.rec:
                s.rec[c.rec - 1].value += face_of(T, s, f.a).host_atk
            pop(s)
        elif op == Q_ZERO:
            c.flags |= F_ZERO
            s.rec[c.rec - 1].zero = 1
            pop(s)
        elif op == Q_RETURN:
            c.flags |= F_KEEP
            pop(s)
        elif op == Q_SPELLHOST:
            before = 0
            if c.rec:
                before = face_of(T, s, f.b).host_atk
                s.rec[c.rec - 1].value -= before
            att_add(T, c, (f.b >> 3) - FIRST_SPELL, spell_kind(T, s, f.b), -1)
            q.used[f.b >> 3] += 1
            pop(s)
        return
    if family == A_CAST:
        die = arg
        face = face_of(T, s, die)
        seat = s.active
        if op == Q_EVENT:
            seat = (s.active + f.b) % T.n_players
        elif op == P_WINDOW:
            seat = s.defender if f.a == 0 else (s.active + f.a) % T.n_players
        q = &s.player[seat]
        readied_add(q, (die >> 3) - FIRST_SPELL, spell_kind(T, s, die), -1)
        if seat == s.active and face.attach:
            push(s, Q_HOST, die)
            return
        if seat == s.active:
            spend(T, s, die >> 3)                                         # B89
            push(s, Q_STEPS, die, 0, 1)
            return
        q.used[die >> 3] += 1
        if op == P_WINDOW:
            push(s, Q_ZERO, die, seat)
        else:
            q.charm |= face.react_pool
            if face.react_def:
                for i in range(q.n_ready):
                    q.ready[i].dfn += face.react_def
                recheck(T, s)
            if face.react_return and any_not_kept(q):
                push(s, Q_RETURN, die, seat)
        return
    if family == A_RECOPY:
        seat = s.active
        if op == Q_EVENT:
            seat = (s.active + f.b) % T.n_players
        elif op == P_WINDOW:
            seat = s.defender
        q = &s.player[seat]
        k = arg
        for i in range(q.n_ready):
            if may_recopy(T, s, seat, &q.ready[i]):
                if k == 0:
                    q.ready[i].flags |= F_MARK | F_RECOPIED
                    push(s, Q_COPY, seat)
                    return
                k -= 1
        return
    if family == A_COPY:
        seat = f.a if op == Q_COPY else ((s.active + f.a) % T.n_players if op == P_SURCHARGE else s.active)
        q = &s.player[seat]
        for i in range(q.n_ready):
            if q.ready[i].flags & F_MARK:
                set_copy(T, s, &q.ready[i], arg)
                q.ready[i].flags &= ~F_MARK
                if op != Q_COPY:
                    q.ready[i].flags |= F_RECOPIED
                break
        if op == Q_COPY:
            pop(s)
            if s.stack[s.n_stack - 1].op == Q_EVENT:
                recheck(T, s)
        return
    if family == A_RETURN:
        q = &s.player[(s.active + f.b) % T.n_players]
        c = &q.ready[find_creature(q, arg >> 4, arg & 15)]
        slot = slot_of_class(T, s, eff(T, s, c).dead_cull - 1)
        q.used[slot] -= 1
        s.wilds[slot] += 1
        c.flags |= F_KEEP
        return
    if family == A_POOL or family == A_ASIDE:
        q = &s.player[(s.active + f.b) % T.n_players]
        for i in range(q.n_ready):
            if q.ready[i].flags & F_DOOMED and not q.ready[i].flags & (F_KEEP | F_MARK) and eff(
                    T, s, &q.ready[i]).dead_aside:
                q.ready[i].flags |= F_MARK | (F_ASIDE if family == A_ASIDE else 0)
                break
        return
    if family == A_DISCARD:
        readied_add(p, (arg >> 3) - FIRST_SPELL, spell_kind(T, s, arg), -1)
        p.used[arg >> 3] += 1
        return
    if family == A_ROTATE:
        for seat in range(T.n_players):
            q = &s.player[seat]
            for i in range(q.n_ready):
                c = &q.ready[i]
                if c.flags & F_MARK:
                    before = attack_of(T, s, seat, c)
                    c.die = arg
                    c.flags &= ~(F_MARK | F_LOCKED | (F_RECOPIED if locked_now(c) else 0))   # LK17
                    if c.rec:
                        s.rec[c.rec - 1].value += attack_of(T, s, seat, c) - before
                        s.rec[c.rec - 1].level = level_of(T, s, c)
                        s.rec[c.rec - 1].die = shape(c)
                    return
        return
    if family == A_RESOLVE or family == A_RESOLVE_OF:
        for i in range(s.n_pend):
            if ((family == A_RESOLVE and s.pend[i][0] == arg and s.pend[i][1] == arg)
                    or (family == A_RESOLVE_OF and s.pend[i][0] == arg >> 4 and s.pend[i][1] >> 3 == (arg & 15))):
                resolve(T, s, i)
                return
        return
    if family == A_CULL_READY or family == A_CULL_ATTACHED or family == A_CULL_POOL:
        slot = arg if family == A_CULL_POOL else arg >> 3
        if family == A_CULL_POOL:
            p.wait[slot] -= 1
        elif family == A_CULL_READY:
            readied_add(p, slot - FIRST_SPELL, spell_kind(T, s, arg), -1)
        else:
            kind = spell_kind(T, s, arg)
            k = -1
            for i in range(p.n_ready):
                if att_get(T, &p.ready[i], slot - FIRST_SPELL, kind) and (k < 0 or not unlocked(&p.ready[k])):
                    k = i
            att_add(T, &p.ready[k], slot - FIRST_SPELL, kind, -1)
        s.wilds[slot] += 1
        gain_glory(T, s, f.a)
        return
    if family == A_SWAP:
        slot, seat = arg >> 2, arg & 3
        p.used[f.a] -= 1
        p.used[slot] += 1
        s.player[seat].used[slot] -= 1
        s.player[seat].used[f.a] += 1
        pop(s)
        return
    if family == A_TAKE:
        s.wilds[arg] -= 1
        if f.a:
            p.bag[arg] += 1
        else:
            p.used[arg] += 1
        pop(s)
        after_capture(T, s)                                               # A63, A64
        return
    if family == A_FETCH:
        p.used[arg] -= 1
        p.wait[arg] += 1
        pop(s)
        return
    if family == A_SPELL:
        seat, die = arg >> 7, arg & 127
        q = &s.player[seat]
        readied_add(q, (die >> 3) - FIRST_SPELL, spell_kind(T, s, die), -1)
        q.used[die >> 3] += 1
        f.c = 1
        return
    if family == A_ATTACHED:
        f.c = 1
        push(s, Q_SPELLHOST, arg >> 7, arg & 127)
        return

cdef void resolve(const Tables *T, State *s, int32_t i) noexcept nogil:
    """Begin waiting on-score ability i (A4)."""
    cdef const FaceTable *f = face_of(T, s, s.pend[i][0])
    cdef uint8_t slot = s.pend[i][1] >> 3
    cdef int32_t k
    for k in range(i, s.n_pend - 1):
        s.pend[k][0], s.pend[k][1] = s.pend[k + 1][0], s.pend[k + 1][1]
    s.n_pend -= 1
    s.pend[s.n_pend][0] = s.pend[s.n_pend][1] = 0
    if f.score_cull:
        push(s, Q_CULL, f.score_cull)
    if f.score_free:
        push(s, Q_TAKE, 1, f.score_free - 1)
    if f.score_fetch:
        push(s, Q_FETCH, slot)
    if f.score_swap and s.player[s.active].used[slot]:
        push(s, Q_SWAP, slot)
    if f.score_draw:
        push(s, Q_DRAW, f.score_draw, s.active)
    if f.host_cullcapture:
        push(s, Q_CULLTAKE, f.host_cullcapture - 1)


# ---- ids -----------------------------------------------------------------------------------------

cdef inline int32_t class_of(const Tables *T, const State *s, int32_t slot) noexcept nogil:
    return T.card[s.card[slot]].cls

cdef int32_t to_id(const Tables *T, const State *s, int32_t action) noexcept nogil:
    """The stable id of an option: classes instead of slots."""
    cdef int32_t family = action >> SHIFT, x = action & 0xFFFF, kind = argument[action >> SHIFT]
    cdef int32_t dice = 8 * T.n_classes
    if kind == ARG_DIE:
        x = class_of(T, s, x >> 3) << 3 | (x & 7)
    elif kind == ARG_CLASS:
        x = class_of(T, s, x)
    elif kind == ARG_CLASS_SEAT:
        x = class_of(T, s, x >> 2) << 2 | (x & 3)
    elif kind == ARG_SEAT_DIE:
        x = (x >> 7) * dice + (class_of(T, s, x >> 3 & 15) << 3 | (x & 7))
    elif kind == ARG_SEAT_DIE_N:
        x = ((x >> 11) * dice + (class_of(T, s, x >> 7 & 15) << 3 | (x >> 4 & 7))) * 16 + (x & 15)
    elif kind == ARG_DIE_N:
        x = (class_of(T, s, x >> 7) << 3 | (x >> 4 & 7)) * 16 + (x & 15)
    elif kind == ARG_DIE_CLASS:
        x = (class_of(T, s, x >> 7) << 3 | (x >> 4 & 7)) * T.n_classes + class_of(T, s, x & 15)
    # the other arguments hold no slot
    return T.offset[family] + x

cdef int32_t from_id(const Tables *T, const State *s, int32_t id) noexcept nogil:
    """The option of an id: slots instead of classes."""
    cdef int32_t family = N_FAMILIES - 1, x, kind, dice = 8 * T.n_classes
    while T.offset[family] > id:
        family -= 1
    x = id - T.offset[family]
    kind = argument[family]
    if kind == ARG_DIE:
        x = slot_of_class(T, s, x >> 3) << 3 | (x & 7)
    elif kind == ARG_CLASS:
        x = slot_of_class(T, s, x)
    elif kind == ARG_CLASS_SEAT:
        x = slot_of_class(T, s, x >> 2) << 2 | (x & 3)
    elif kind == ARG_SEAT_DIE:
        x = (x // dice) << 7 | slot_of_class(T, s, x % dice >> 3) << 3 | (x % dice & 7)
    elif kind == ARG_SEAT_DIE_N:
        x = ((x // 16 // dice) << 7 | slot_of_class(T, s, x // 16 % dice >> 3) << 3 | (x // 16 & 7)) << 4 | (x & 15)
    elif kind == ARG_DIE_N:
        x = (slot_of_class(T, s, x >> 7) << 3 | (x >> 4 & 7)) << 4 | (x & 15)
    elif kind == ARG_DIE_CLASS:
        x = ((slot_of_class(T, s, x // T.n_classes >> 3) << 3 | (x // T.n_classes & 7)) << 4
             | slot_of_class(T, s, x % T.n_classes))
    return family << SHIFT | x


# ---- the contract --------------------------------------------------------------------------------

cdef int32_t turn(const void *tables, const void *state) noexcept nogil:
    return (<const State *>state).node

cdef int32_t legal(const void *tables, const void *state, int32_t *out) noexcept nogil:
    cdef const Tables *T = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef int32_t seat, i, k, x
    cdef int32_t n = options(T, s, out, &seat)
    for i in range(n):
        x = to_id(T, s, out[i])
        k = i
        while k > 0 and out[k - 1] > x:
            out[k] = out[k - 1]
            k -= 1
        out[k] = x
    return n

cdef void apply(const void *tables, void *state, int32_t id) noexcept nogil:
    cdef const Tables *T = <const Tables *>tables
    cdef State *s = <State *>state
    cdef int32_t out[BUFFER]
    if s.node == CHANCE:
        s.node = 0
        apply_chance(T, s, id)
    else:
        s.decisions += 1
        act(T, s, from_id(T, s, id))
    run(T, s, out, NULL, NULL)

cdef int32_t run_chance(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef int32_t out[BUFFER]
    cdef int32_t steps = 0
    cdef State *s = <State *>state
    if s.node == CHANCE:
        s.node = 0
        run(<const Tables *>tables, s, out, rng, &steps)
    return steps

cdef int64_t playout(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef const Tables *T = <const Tables *>tables
    cdef State *s = <State *>state
    cdef int32_t out[BUFFER]
    cdef int32_t chances = 0, n, seat
    cdef int64_t steps = 0
    if s.node == TERMINAL:
        return 0
    if s.node == CHANCE:
        s.node = 0
        n = run(T, s, out, rng, &chances)
    else:
        n = options(T, s, out, &seat)
    while n > 0:
        s.decisions += 1
        steps += 1
        act(T, s, out[rng_below(rng, n)])
        n = run(T, s, out, rng, &chances)
    return steps + chances

cdef void returns(const void *tables, const void *state, double *out) noexcept nogil:
    cdef const Tables *T = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef int32_t seat, winners = 0, total = 0, n = T.n_players
    for seat in range(n):
        out[seat] = 0.0
        winners += s.winners >> seat & 1
        total += min(<int32_t>s.player[seat].glory, T.goal)
    if s.node != TERMINAL:
        return
    for seat in range(n):
        if T.glory_utility:
            out[seat] = (min(<int32_t>s.player[seat].glory, T.goal)
                         - (total - min(<int32_t>s.player[seat].glory, T.goal)) / <double>(n - 1))
        elif s.winners >> seat & 1:
            out[seat] = (n / <double>winners - 1.0) / <double>(n - 1)
        else:
            out[seat] = -1.0 / <double>(n - 1)

cdef uint64_t state_key(const void *tables, const void *state) noexcept nogil:
    cdef const Tables *T = <const Tables *>tables
    return hash_bytes(state, sizeof(State) - (MAX_SEATS - T.n_players) * sizeof(Player), 0)

cdef int32_t suggest(const void *tables, const void *state, Rng *rng) noexcept nogil:
    cdef const Tables *T = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef int32_t out[BUFFER]
    cdef int32_t seat
    cdef int32_t n = options(T, s, out, &seat)
    return to_id(T, s, suggest_option(T, s, out, n, seat))

cdef void estimate(const void *tables, const void *state, double *out) noexcept nogil:
    if (<const State *>state).node == TERMINAL:
        returns(tables, state, out)
    else:
        heuristic(<const Tables *>tables, <const State *>state, out)

cdef int64_t clock(const void *tables, const void *state) noexcept nogil:
    return (<const State *>state).turn

cdef int32_t check(const void *tables, const void *state) noexcept nogil:
    """The invariants of random play by their numbers (I1 to I28); counts cannot be negative by type,
    so a step below 0 shows as a broken sum."""
    cdef const Tables *T = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef const Player *p
    cdef int32_t slot, seat, i, face, count, locked, money, spell
    for slot in range(SLOTS):                                             # I1, I2
        count = s.wilds[slot]
        for seat in range(T.n_players):
            p = &s.player[seat]
            count += p.bag[slot] + p.used[slot] + p.spent[slot] + p.wait[slot] + p.aside[slot]
            for i in range(p.n_ready):
                count += p.ready[i].die >> 3 == slot
                if slot >= FIRST_SPELL:
                    spell = slot - FIRST_SPELL
                    count += att_get(T, &p.ready[i], spell, 0) + att_get(T, &p.ready[i], spell, 1)
            if slot >= FIRST_SPELL:
                count += readied(p, slot - FIRST_SPELL, 0) + readied(p, slot - FIRST_SPELL, 1)
        for face in range(6):
            count += s.pool[slot][face]
        for i in range(s.n_stack):                                        # a spell on its way to its host
            count += (s.stack[i].op == Q_HOST or s.stack[i].op == Q_SUMMONED) and s.stack[i].a >> 3 == slot
        if count != s.total[slot] and s.phase:
            return 1
    money = s.quid[0] + s.quid[1] + s.quid[2]
    for slot in range(SLOTS):
        for face in range(6):
            if s.pool[slot][face]:
                money += s.pool[slot][face] * T.card[s.card[slot]].face[face].quid
    if money != total_avail(s):                                           # I13
        return 13
    for seat in range(T.n_players):
        p = &s.player[seat]
        locked = 0
        for i in range(p.n_ready):
            locked += not unlocked(&p.ready[i])
            if not face_of(T, s, p.ready[i].die).kind & (IS_CREATURE | IS_LOCK):
                return 9
            if s.n_rec == 0 and p.ready[i].flags & F_DOOMED and find_frame(s, Q_EVENT) == 0 and s.node != TERMINAL:
                return 8
        if locked > 1:
            return 10
        if s.node != TERMINAL and p.glory >= T.goal:
            return 12
    if s.node == TERMINAL and s.winners == 0:
        return 26
    # A lock effect may kill in phase 2 and bring a set-aside Spirit back.
    if s.phase == 2 and count_unlocked(&s.player[s.active]) and s.stack[0].op == P_USE and not s.features & FEAT_LOCK:
        return 7
    return 0


# ---- the Python face -----------------------------------------------------------------------------

_OP_NAMES = (
    "deal", "recopy", "score", "cullspells", "scored", "ability", "cull", "begin", "use", "ready", "surcharge",
    "main", "attack", "next", "between", "quake", "window", "total", "defend", "capture", "clean", "end", "draw",
    "roll", "reroll", "event", "kills", "aside", "steps", "target", "host", "copy", "rotate", "swap", "take",
    "culltake", "fetch", "return", "zero", "spellhost", "pay", "summoned", "captured", "anchored", "unlocked",
    "lock", "cullup", "fresh",
)
_MARKS = {"safe": F_SAFE, "recopied": F_RECOPIED, "zero": F_ZERO, "doomed": F_DOOMED, "keep": F_KEEP, "mark": F_MARK,
          "aside": F_ASIDE}
_PHASES = {1: P_RECOPY, 2: P_DRAW, 3: P_READY, 4: P_ATTACK, 5: P_CAPTURE, 6: P_CLEAN}
_PHASES_LVD = {1: P_RECOPY, 2: P_DRAW, 3: P_ATTACK, 4: P_CAPTURE, 5: P_CLEAN}
_SCRATCH = ("discount", "scored", "culls", "foes_hit", "flags", "summoned", "decisions", "cursor", "defender",
            "first_kill", "ev_cause", "ev_level", "ev_defense", "ev_killer", "rem", "bonus")
# What the arguments of a frame are: d die, l slot, s seat, o offset of a seat, i step, f flavour, n a number.
_FRAME_ARGUMENTS = {
    P_NEXT: "o", P_SURCHARGE: "o", P_WINDOW: "o", Q_DRAW: "ns", Q_EVENT: "no", Q_ASIDE: "ln", Q_STEPS: "di",
    Q_TARGET: "iod", Q_HOST: "d", Q_COPY: "s", Q_SWAP: "l", Q_FETCH: "l", Q_RETURN: "ds", Q_ZERO: "ds",
    Q_SPELLHOST: "sd", Q_FRESH: "dn", Q_PAY: "nf", Q_SUMMONED: "d", Q_CAPTURED: "l", Q_ANCHORED: "l", Q_UNLOCKED: "s",
}
_IN_ATTACK = (P_BETWEEN, P_QUAKE, P_WINDOW, P_TOTAL, P_DEFEND)
_BOTTOM = (P_DEAL, P_RECOPY, P_SCORE, P_CULLSPELLS, P_SCORED, P_CULL, P_DRAW, P_USE, P_READY, P_MAIN, P_ATTACK, P_NEXT,
           P_CAPTURE, P_CLEAN, P_END)
_EDITIONS = ("base", "light_vs_dark")
_BASIC = ("Basic Quiddity", "Assistant", "Portal")
_GOALS = {2: 20, 3: 15, 4: 12}


def _whole(name, value, low, high):
    """A whole number of a hand-made position."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise PositionError(f"quarriors: {name} is {value!r}, must be a whole number from {low} to {high}")
    return value


def _fields(name, table, allowed):
    """A table of a hand-made position, with no key but these."""
    if not isinstance(table, dict):
        raise PositionError(f"quarriors: {name} is {table!r}, must be a table")
    for key in table:
        if key not in allowed:
            raise PositionError(f"quarriors: unknown field {key!r} in {name}; allowed: {', '.join(allowed)}")
    return table


def _rows(name, value):
    if not isinstance(value, list):
        raise PositionError(f"quarriors: {name} is {value!r}, must be a list")
    return value


cdef class QuarriorsRules(Rules):
    """The rules for one setting of the parameters.

    Attributes:
        sets: the `cards.CardSet` in use.
        card_names: names by card number.
        class_names: names of dice classes by class number.
    """

    cdef Tables *data
    cdef bytes _multisets
    cdef bytes _chances
    cdef readonly object sets
    cdef readonly list card_names
    cdef readonly list class_names
    cdef readonly list fixed

    def __dealloc__(self):
        PyMem_RawFree(self.data)

    def __init__(self, dict parameters, start=None):
        super().__init__(parameters, start)
        self.name = "quarriors"
        edition, players = parameters["edition"], parameters["players"]
        if edition not in _EDITIONS:
            raise ParameterError(f"quarriors: edition is {edition!r}, allowed are {', '.join(_EDITIONS)}")
        if players not in _GOALS:
            raise ParameterError(f"quarriors: players is {players}, allowed are 2 to 4")
        if parameters["utility"] not in ("win", "glory"):
            raise ParameterError(f"quarriors: utility is {parameters['utility']!r}, allowed are 'win' and 'glory'")
        if not 1 <= parameters["max_turns"] <= 1000:
            raise ParameterError(f"quarriors: max_turns is {parameters['max_turns']}, allowed are 1 to 1000")
        for option in ("mixed", "quantity_capture"):
            if parameters[option] and edition != "light_vs_dark":
                raise ParameterError(
                    f"quarriors: {option} is an option of edition=light_vs_dark, not of edition={edition}")
        lvd = edition == "light_vs_dark"
        names = ["base.toml"] * (not lvd or parameters["mixed"]) + ["light_vs_dark.toml"] * lvd
        names += ["qladiator.toml"] * parameters["qladiator"]
        paths = [data.DATA / name for name in names]
        if parameters["data"]:
            paths.append(Path(parameters["data"]))
        self.sets = data.read_sets(paths)
        self.digest = self.sets.digest
        if lvd:                                                           # D5: the old basic cards stay out
            self.sets = data.restrict(self.sets, [name for name in self.sets.cards if name not in _BASIC])
        PyMem_RawFree(self.data)
        self.data = <Tables *>PyMem_RawCalloc(1, sizeof(Tables))
        if self.data == NULL:
            raise MemoryError
        self.tables = self.data
        self.data.n_players, self.data.goal = players, _GOALS[players]
        self.data.max_turns, self.data.draw = parameters["max_turns"], 6
        self.data.captures = 2 if parameters["quantity_capture"] else 1  # D50
        self.data.lvd, self.data.lock = lvd, parameters["qladiator"]
        self.data.glory_utility = parameters["utility"] == "glory"
        pure = lvd and not parameters["mixed"] and not parameters["qladiator"]
        self.data.n_creatures, self.data.n_spells = (6, 2) if pure else (7, 3)
        self._fill_attachments()
        self._fill_cards()
        self._fill_ids()
        self._fill_outcomes()
        self.fixed = self._read_wilds(parameters["wilds"])
        self._fill_ops()
        self.seal()

    # ---- tables -------------------------------------------------------------------------------

    def _fill_attachments(self):
        code = 0
        for a in range(6):
            for b in range(6 - a):
                self.data.att_a[code], self.data.att_b[code] = a, b
                self.data.att_code[a][b] = code
                code += 1

    def _fill_cards(self):
        cdef Tables *T = self.data
        cdef CardTable *card
        dice, cards = list(self.sets.dice.values()), list(self.sets.cards.values())
        large = [die for die in dice if die.kind == "large"]
        if T.lvd:
            if len(large) != 1:
                raise DataError(f"quarriors: Light vs. Dark has one kind of large dice, the sets have {len(large)}")
            cards.append(data.large_card(large[0]))
        if len(cards) >= MAX_CARDS or len(dice) > MAX_CLASSES:
            raise DataError(
                f"quarriors: {len(cards)} cards of {len(dice)} classes; {MAX_CARDS - 1} of {MAX_CLASSES} fit")
        self.card_names = [made.name for made in cards]
        self.class_names = [die.name for die in dice]
        T.n_cards, T.n_classes = len(cards), len(dice)
        T.basic[0] = T.basic[1] = T.basic[2] = -1
        for number, made in enumerate(cards):
            die = self.sets.dice[made.die]
            card = &T.card[number]
            card.cls = self.class_names.index(made.die)
            card.kind = {"creature": 1, "spell": 2, "assistant": 3 if T.lvd else 0}.get(die.kind, 0)
            card.cost, card.discounted, card.glory = made.cost, made.discounted, made.glory
            card.energy = data.FLAVOURS.index(die.energy or "normal")
            card.creature_die = any(face.creature for face in die.faces)
            spell_faces = [i for i, face in enumerate(die.faces) if face.spell and die.canon[i] == i]
            card.spell_face[0] = spell_faces[0] if spell_faces else NONE
            card.spell_face[1] = spell_faces[1] if len(spell_faces) > 1 else NONE
            distinct = sorted(set(die.canon))
            card.n_faces = len(distinct)
            for i, face in enumerate(distinct):
                card.faces[i], card.weight[i] = face, die.canon.count(face)
            features = 0
            for i in range(data.FACES):
                card.canon[i] = die.canon[i]
                record = data.compile_face(made, die, i, self.sets)
                card.face[i] = record
                features |= FEAT_AURA * bool(record["aura_atk"] or record["aura_def"])
                features |= FEAT_SURCHARGE * bool(record["surcharge"] or record["locked_dearer"])
                features |= FEAT_LOCK * bool(record["kind"] & IS_LOCK)
                features |= FEAT_NO_BQ * record["no_bq"] | FEAT_COPY * record["copy_enter"]
            record = data.compile_anchored(made)
            card.face[6] = record
            features |= FEAT_ANCHORED * bool(record["n_ops"])
            card.features = features
            card.worth, card.mean_attack = data.worth(made, die, self.sets)
        if T.lvd:
            T.basic[0] = len(cards) - 1
            if not any(T.card[i].kind == 3 for i in range(T.n_cards)):
                raise DataError("quarriors: the sets have no Assistant card")
            return
        basic = [made for made in cards if self.sets.dice[made.die].kind in ("basic", "assistant")]
        for slot, name in enumerate(_BASIC):
            if name not in self.sets.cards:
                raise DataError(f"quarriors: the card {name!r} is missing")
            T.basic[slot] = self.card_names.index(name)
        if len(basic) != 3:
            raise DataError("quarriors: the base edition has the basic cards Basic Quiddity, Assistant and Portal only")

    def _fill_ids(self):
        cdef Tables *T = self.data
        dice = 8 * T.n_classes
        sizes = {ARG_NONE: 1, ARG_N: MAX_READY, ARG_DIE: dice, ARG_CLASS: T.n_classes, ARG_CLASS_SEAT: 4 * T.n_classes,
                 ARG_SEAT_DIE: MAX_SEATS * dice, ARG_SEAT_DIE_N: MAX_SEATS * dice * 16, ARG_DIE_N: dice * 16,
                 ARG_DIE_CLASS: dice * T.n_classes, ARG_PAY: 256, ARG_SEAT: MAX_SEATS}
        total = 0
        for family in range(N_FAMILIES):
            T.offset[family], T.size[family] = total, sizes[argument[family]]
            total += T.size[family]
        self.ops.n_actions = total

    def _fill_outcomes(self):
        cdef Tables *T = self.data
        multisets, chances = [[0] * 8] * (16 * T.n_classes), [0.0] * (16 * T.n_classes)
        most = 0
        for cls, die in enumerate(self.sets.dice.values()):
            distinct = sorted(set(die.canon))
            share = {face: die.canon.count(face) / 6 for face in distinct}
            for k in range(1, ROLL_LIMIT + 2):
                T.roll_offset[cls][k] = len(multisets)
                if k > min(ROLL_LIMIT, die.count):
                    continue
                for faces in itertools.combinations_with_replacement(distinct, k):
                    counts = [faces.count(face) for face in range(8)]
                    ways = math.factorial(k)
                    for count in counts:
                        ways //= math.factorial(count)
                    multisets.append(counts)
                    chances.append(ways * math.prod(share[face] for face in faces))
                most = max(most, len(multisets) - T.roll_offset[cls][k])
        T.deal_offset = len(multisets)
        T.n_outcomes = T.deal_offset + T.n_cards
        self._multisets = bytes(count for row_of in multisets for count in row_of)
        self._chances = _packed(chances)
        T.multiset = <const uint8_t *><const char *>self._multisets
        T.chance = <const double *><const char *>self._chances
        self.ops.n_outcomes = T.n_outcomes
        self.ops.max_outcomes = max(most, T.n_cards, 16)
        if self.ops.max_outcomes > OUTCOME_LIMIT:
            raise DataError(f"quarriors: a roll has {most} outcomes; {OUTCOME_LIMIT} fit")

    def _read_wilds(self, text):
        """Card numbers that the parameter `wilds` names."""
        cdef Tables *T = self.data
        numbers, classes = [], {}
        counts = {1: 0, 2: 0, 3: 0}
        for name in (part.strip() for part in text.split(";")):
            if not name:
                continue
            if name not in self.sets.cards:
                raise ParameterError(f"quarriors: wilds names {name!r}, which is no card of the sets in use")
            number = self.card_names.index(name)
            cls = self.sets.cards[name].die
            if cls in classes:
                raise ParameterError(
                    f"quarriors: wilds names {classes[cls]!r} and {name!r}, two cards of class {cls!r}")
            classes[cls] = name
            if T.card[number].kind:
                numbers.append(number)
                counts[T.card[number].kind] += 1
        for kind, most, word in ((1, T.n_creatures, "creature"), (2, T.n_spells, "spell")):
            if counts[kind] > most:
                raise ParameterError(f"quarriors: wilds names {counts[kind]} {word} cards, allowed are {most}")
        for kind, most, word in ((1, T.n_creatures, "creature"), (2, T.n_spells, "spell")):
            there = len({T.card[i].cls for i in range(T.n_cards) if T.card[i].kind == kind})
            if there < most:
                raise DataError(f"quarriors: the sets have {there} {word} classes; {most} are needed")
        return numbers

    def _fill_ops(self):
        cdef int32_t players = self.data.n_players
        self.ops.game_version = 2
        self.ops.state_size = sizeof(State) - (MAX_SEATS - players) * sizeof(Player)
        self.ops.n_players = players
        self.ops.max_legal = BUFFER
        self.ops.max_decisions = self.data.max_turns * players * (FORCED + 200)
        self.ops.max_chances = self.data.max_turns * players * (FORCED + 200) * 4 + 16
        self.ops.flags = ZERO_SUM
        if self.data.glory_utility:
            self.ops.min_utility, self.ops.max_utility = -self.data.goal, self.data.goal
        else:
            self.ops.min_utility, self.ops.max_utility = -1.0 / (players - 1), 1.0
        self.ops.turn, self.ops.legal, self.ops.outcomes, self.ops.sample = turn, legal, outcomes, sample
        self.ops.apply, self.ops.returns, self.ops.state_key = apply, returns, state_key
        self.ops.run_chance, self.ops.playout = run_chance, playout
        self.ops.clock, self.ops.check = clock, check
        self.ops.suggest, self.ops.estimate = suggest, estimate

    cdef void write_start(self, void *state) noexcept:
        cdef State *s = <State *>state
        cdef int32_t out[BUFFER]
        memset(s.card, NONE, SLOTS)
        for slot in range(3):
            s.card[slot] = self.data.basic[slot] if self.data.basic[slot] >= 0 else NONE
        push(s, P_DEAL)
        for number in self.fixed:
            deal(self.data, s, number)
        run(self.data, s, out, NULL, NULL)

    # ---- names --------------------------------------------------------------------------------

    def action_name(self, action):
        family = N_FAMILIES - 1
        while self.data.offset[family] > action:
            family -= 1
        x = action - self.data.offset[family]
        kind, dice, classes = argument[family], 8 * self.data.n_classes, self.data.n_classes
        die = cls = seat = n = copier = light = dark = None
        if kind == ARG_N:
            n = x
        elif kind == ARG_DIE:
            die = x
        elif kind == ARG_CLASS:
            cls = x
        elif kind == ARG_CLASS_SEAT:
            cls, seat = x >> 2, x & 3
        elif kind == ARG_SEAT_DIE:
            seat, die = divmod(x, dice)
        elif kind == ARG_SEAT_DIE_N:
            n, (seat, die) = x & 15, divmod(x >> 4, dice)
        elif kind == ARG_DIE_N:
            die, n = divmod(x, 16)
        elif kind == ARG_DIE_CLASS:
            die, copier = divmod(x, classes)
        elif kind == ARG_PAY:
            light, dark = divmod(x, 16)
        elif kind == ARG_SEAT:
            seat = x
        return _FAMILY_NAMES[family].format(
            n=n, seat=seat, light=light, dark=dark, cls=None if cls is None else self.class_names[cls],
            die=None if die is None else f"{self.class_names[die >> 3]} {die & 7}",
            copier=None if copier is None else self.class_names[copier])

    def outcome_name(self, outcome):
        cdef Tables *T = self.data
        if outcome >= T.deal_offset:
            return f"deal {self.card_names[outcome - T.deal_offset]}"
        if outcome < 16 * T.n_classes:
            return f"draw {outcome & 15} {self.class_names[outcome >> 4]}"
        cls = max(c for c in range(T.n_classes) if T.roll_offset[c][1] <= outcome)
        rolled = [T.multiset[8 * outcome + face] for face in range(6)]
        counts = " ".join(f"{face}x{n}" for face, n in enumerate(rolled) if n)
        return f"roll {self.class_names[cls]}: {counts}"

    # ---- positions as dicts -------------------------------------------------------------------

    cdef dict _die(self, const State *s, int32_t die):
        return {"die": self._name(s, die >> 3), "face": die & 7}

    cdef str _name(self, const State *s, int32_t slot):
        return self.class_names[self.data.card[s.card[slot]].cls]

    cdef dict _zone(self, const State *s, const uint8_t *zone):
        return {self._name(s, slot): zone[slot] for slot in range(SLOTS) if zone[slot]}

    cdef dict _creature(self, const State *s, const Creature *c):
        cdef Tables *T = self.data
        made = self._die(s, c.die)
        attached = []
        for j in range(SPELL_SLOTS):
            for kind in range(2):
                if att_get(T, c, j, kind):
                    attached += [self._die(s, spell_die(T, s, j, kind))] * att_get(T, c, j, kind)
        if attached:
            made["attached"] = attached
        if c.copy != NONE:
            made["copy"] = self._die(s, c.copy)
        if c.atk:
            made["attack"] = c.atk
        if c.dfn:
            made["defense"] = c.dfn
        marks = [name for name, bit in _MARKS.items() if c.flags & bit]
        if marks:
            made["marks"] = marks
        if c.rec:
            made["record"] = c.rec
        return made

    def export(self, Position position):
        cdef const State *s = <const State *>position.state
        cdef const Player *p
        cdef Tables *T = self.data
        players = []
        for seat in range(T.n_players):
            p = &s.player[seat]
            made = {"glory": p.glory, "turns": p.turns, "bag": self._zone(s, p.bag), "used": self._zone(s, p.used),
                    "spent": self._zone(s, p.spent)}
            active = []
            for slot in range(SLOTS):
                active += [{"die": self._name(s, slot), "face": None}] * p.wait[slot] if p.wait[slot] else []
                if seat == s.active:
                    for face in range(6):
                        active += [self._die(s, slot * 8 + face)] * s.pool[slot][face] if s.pool[slot][face] else []
            made["active"] = active
            ready = [self._creature(s, &p.ready[i]) for i in range(p.n_ready) if unlocked(&p.ready[i])]
            for j in range(SPELL_SLOTS):
                for kind in range(2):
                    if readied(p, j, kind):
                        ready += [self._die(s, spell_die(T, s, j, kind))] * readied(p, j, kind)
            made["ready"] = ready
            locked = locked_index(p)
            if locked >= 0:
                made["locked"] = self._creature(s, &p.ready[locked])
            made["aside"] = [self._name(s, slot) for slot in range(SLOTS) for _ in range(p.aside[slot])]
            if p.charm:
                made["charm"] = True
            players.append(made)
        pending = {name: value for name, value in (
            ("discount", s.discount), ("scored", s.scored), ("culls", s.culls), ("foes_hit", s.foes_hit),
            ("flags", s.flags), ("summoned", s.summoned), ("decisions", s.decisions), ("cursor", s.cursor),
            ("defender", s.defender), ("first_kill", s.first_kill), ("ev_cause", s.ev_cause), ("ev_level", s.ev_level),
            ("ev_defense", s.ev_defense), ("ev_killer", s.ev_killer), ("rem", s.rem), ("bonus", s.bonus)) if value}
        pending["stack"] = [[_OP_NAMES[s.stack[i].op], s.stack[i].a, s.stack[i].b, s.stack[i].c]
                            for i in range(s.n_stack)]
        if s.n_pend:
            pending["abilities"] = [[self._die(s, s.pend[i][0]), self._die(s, s.pend[i][1])] for i in range(s.n_pend)]
        if s.n_rec:
            pending["records"] = [[s.rec[i].value, s.rec[i].level, self._die(s, s.rec[i].die), s.rec[i].zero]
                                  for i in range(s.n_rec)]
        if s.winners:
            pending["winners"] = [seat for seat in range(T.n_players) if s.winners >> seat & 1]
        return {
            "edition": self.parameters["edition"], "turn": s.turn, "phase": s.phase, "active": s.active,
            "quiddity": {name: s.quid[i] for i, name in enumerate(data.FLAVOURS) if s.quid[i]},
            "captures": s.captures,
            "wilds": [{"card": self.card_names[s.card[slot]], "dice": s.wilds[slot]} for slot in range(SLOTS)
                      if s.card[slot] != NONE and not (T.lvd and slot == 0)],
            "players": players, "pending": pending,
        }

    cdef int32_t _slot(self, const State *s, where, name) except -1:
        """The slot of a class that is in the Wilds."""
        for slot in range(SLOTS):
            if s.card[slot] != NONE and self._name(s, slot) == name:
                return slot
        raise PositionError(f"quarriors: {where} names {name!r}; the classes in the Wilds are "
                            + ", ".join(self._name(s, slot) for slot in range(SLOTS) if s.card[slot] != NONE))

    cdef int32_t _read_die(self, const State *s, where, table) except -1:
        """slot * 8 + face of {die, face}."""
        _fields(where, table, ("die", "face", "attached", "copy", "attack", "defense", "marks", "record"))
        slot = self._slot(s, where, table.get("die"))
        face = _whole(f"{where}: face", table.get("face"), 0, 5)
        return slot * 8 + self.data.card[s.card[slot]].canon[face]

    cdef _read_zone(self, const State *s, where, value, uint8_t *zone):
        if not isinstance(value, dict):
            raise PositionError(f"quarriors: {where} is {value!r}, must be a table of class names with counts")
        for name, count in value.items():
            slot = self._slot(s, where, name)
            zone[slot] = _whole(f"{where}: {name}", count, 0, 60)

    def restore(self, dict position):
        cdef Position made = new_position(self, self.start)
        cdef State *s = <State *>made.state
        cdef Tables *T = self.data
        cdef int32_t out[BUFFER]
        _fields("the position", position, ("edition", "turn", "phase", "active", "quiddity", "captures", "wilds",
                                           "players", "pending"))
        memset(s, 0, self.ops.state_size)
        memset(s.card, NONE, SLOTS)
        if position.get("edition", self.parameters["edition"]) != self.parameters["edition"]:
            raise PositionError(f"quarriors: edition is {position['edition']!r}, these rules are for "
                                f"{self.parameters['edition']!r}")
        s.phase = _whole("phase", position.get("phase", 1), 0, 6)
        s.turn = _whole("turn", position.get("turn", 0), 0, 4000)
        s.active = _whole("active", position.get("active", 0), 0, T.n_players - 1)
        self._restore_wilds(s, position)
        begin_phase = s.phase
        begin_turn(T, s)
        s.phase = begin_phase
        s.captures = _whole("captures", position.get("captures", T.captures), 0, 60)
        quiddity = _fields("quiddity", position.get("quiddity", {}), data.FLAVOURS)
        for i, flavour in enumerate(data.FLAVOURS):
            add_quid(s, i, _whole(f"quiddity: {flavour}", quiddity.get(flavour, 0), 0, 100))
        players = _rows("players", position.get("players", [{}] * T.n_players))
        if len(players) != T.n_players:
            raise PositionError(f"quarriors: players has {len(players)} entries, these rules are for {T.n_players}")
        for seat, table in enumerate(players):
            self._restore_player(s, seat, table)
        self._restore_pending(s, position.get("pending", {}))
        self._count_dice(s)
        if s.phase:
            survey(T, s)
        if s.node != TERMINAL:
            s.node = 0
            run(T, s, out, NULL, NULL)
            if s.phase and check(T, s):
                raise PositionError(f"quarriors: the position breaks invariant I{check(T, s)}")
        else:
            for seat in range(T.n_players):
                sort_ready(&s.player[seat])
        return made

    cdef _restore_wilds(self, State *s, position):
        cdef Tables *T = self.data
        if "wilds" not in position:
            raise PositionError("quarriors: the field 'wilds' is missing")
        for slot in range(3):
            s.card[slot] = T.basic[slot] if T.basic[slot] >= 0 else NONE
        numbers = {}
        for table in _rows("wilds", position["wilds"]):
            _fields("wilds", table, ("card", "dice"))
            name = table.get("card")
            if name not in self.sets.cards:
                raise PositionError(f"quarriors: wilds names {name!r}, which is no card of the sets in use")
            number = self.card_names.index(name)
            cls = self.sets.cards[name].die
            for other in numbers:
                if self.sets.cards[other].die == cls:
                    raise PositionError(f"quarriors: wilds has {other!r} and {name!r}, two cards of class {cls!r} (B7)")
            numbers[name] = _whole(f"wilds: dice of {name}", table.get("dice", 0), 0, self.sets.dice[cls].count)
            if T.card[number].kind:
                places = {1: (FIRST_CREATURE, FIRST_SPELL), 2: (FIRST_SPELL, SLOTS), 3: (1, 2)}
                first, last = places[T.card[number].kind]
                if s.card[last - 1] != NONE:
                    raise PositionError(f"quarriors: wilds has more than {last - first} "
                                        f"{'creature' if T.card[number].kind == 1 else 'spell'} cards")
                deal(T, s, number)
        if s.card[1] == NONE and s.phase:
            raise PositionError("quarriors: wilds names no Assistant card (D2)")
        for slot in range(SLOTS):
            if s.card[slot] != NONE:
                s.wilds[slot] = numbers.get(self.card_names[s.card[slot]], 0)

    cdef _restore_player(self, State *s, int32_t seat, table):
        cdef Tables *T = self.data
        cdef Player *p = &s.player[seat]
        where = f"players[{seat}]"
        _fields(where, table, ("glory", "turns", "bag", "used", "spent", "active", "ready", "locked", "aside", "charm"))
        p.glory = _whole(f"{where}: glory", table.get("glory", 0), 0, 255)
        p.turns = _whole(f"{where}: turns", table.get("turns", 0), 0, 4000)
        p.charm = bool(table.get("charm", False))
        self._read_zone(s, f"{where}: bag", table.get("bag", {}), p.bag)
        self._read_zone(s, f"{where}: used", table.get("used", {}), p.used)
        self._read_zone(s, f"{where}: spent", table.get("spent", {}), p.spent)
        if zone_sum(p.spent) and not T.lvd:
            raise PositionError(f"quarriors: {where}: spent: the base edition has no Spent Pile")
        if table.get("locked") is not None:
            self._restore_creature(s, p, f"{where}: locked", table["locked"],
                                   self._read_die(s, f"{where}: locked", table["locked"]), True)
        for entry in _rows(f"{where}: active", table.get("active", [])):
            _fields(f"{where}: active", entry, ("die", "face"))
            if entry.get("face") is None:
                p.wait[self._slot(s, f"{where}: active", entry.get("die"))] += 1
            elif seat != s.active:
                raise PositionError(f"quarriors: {where}: active: only the active seat has rolled dice (I6)")
            else:
                pool_add(T, s, self._read_die(s, f"{where}: active", entry))
        for entry in _rows(f"{where}: ready", table.get("ready", [])):
            die = self._read_die(s, f"{where}: ready", entry)
            if die >> 3 >= FIRST_SPELL:
                if not face_of(T, s, die).kind & IS_SPELL or len(set(entry) - {"die", "face"}):
                    raise PositionError(f"quarriors: {where}: ready has {entry!r}; a readied spell shows a spell icon "
                                        "that is not immediate (I9) and carries nothing")
                if readied(p, (die >> 3) - FIRST_SPELL, spell_kind(T, s, die)) == 15:
                    raise PositionError(f"quarriors: {where}: ready has too many {entry['die']} dice")
                readied_add(p, (die >> 3) - FIRST_SPELL, spell_kind(T, s, die), 1)
            else:
                self._restore_creature(s, p, f"{where}: ready", entry, die, False)
        for name in _rows(f"{where}: aside", table.get("aside", [])):
            p.aside[self._slot(s, f"{where}: aside", name)] += 1

    cdef _restore_creature(self, State *s, Player *p, where, entry, int32_t die, bint locked):
        cdef Tables *T = self.data
        cdef Creature *c
        if locked and not face_of(T, s, die).kind & IS_LOCK:
            raise PositionError(f"quarriors: {where} has {entry!r}, whose face shows no Lock symbol")
        if not locked and not face_of(T, s, die).kind & IS_CREATURE:
            raise PositionError(f"quarriors: {where} has {entry!r}, whose face shows no creature (I9)")
        if p.n_ready == MAX_READY:
            raise PositionError(f"quarriors: {where} has more than {MAX_READY} creatures")
        c = &p.ready[p.n_ready]
        p.n_ready += 1
        c.die, c.copy, c.flags = die, NONE, F_LOCKED if locked else 0
        if entry.get("copy") is not None:
            if not face_of(T, s, die).copy_enter:
                raise PositionError(f"quarriors: {where}: {entry['die']} cannot be a copy")
            c.copy = self._read_die(s, f"{where}: copy", entry["copy"])
            if not face_of(T, s, c.copy).kind & IS_CREATURE:
                raise PositionError(f"quarriors: {where}: copy {entry['copy']!r} shows no creature")
        c.atk = _whole(f"{where}: attack", entry.get("attack", 0), 0, 255)
        c.dfn = _whole(f"{where}: defense", entry.get("defense", 0), 0, 255)
        c.rec = _whole(f"{where}: record", entry.get("record", 0), 0, MAX_READY)
        for mark in _rows(f"{where}: marks", entry.get("marks", [])):
            if mark not in _MARKS:
                raise PositionError(f"quarriors: {where}: mark {mark!r}; allowed: {', '.join(_MARKS)}")
            c.flags |= _MARKS[mark]
        for spell in _rows(f"{where}: attached", entry.get("attached", [])):
            attached = self._read_die(s, f"{where}: attached", spell)
            if attached >> 3 < FIRST_SPELL or not face_of(T, s, attached).attach:
                raise PositionError(f"quarriors: {where}: attached {spell!r} is no attach spell")
            j = (attached >> 3) - FIRST_SPELL
            if att_get(T, c, j, 0) + att_get(T, c, j, 1) == 5:
                raise PositionError(f"quarriors: {where}: more than five {spell['die']} dice attached")
            att_add(T, c, j, spell_kind(T, s, attached), 1)

    cdef _restore_pending(self, State *s, pending):
        cdef Tables *T = self.data
        if pending is None:
            pending = {}
        _fields("pending", pending, ("stack", "rolled", "abilities", "records", "winners", *_SCRATCH))
        numbers = {name: _whole(f"pending: {name}", pending.get(name, 0), -4000 if name in ("rem", "bonus") else 0,
                                4000 if name in ("rem", "bonus", "decisions") else 255) for name in _SCRATCH}
        (s.discount, s.scored, s.culls, s.foes_hit, s.flags, s.summoned, s.decisions, s.cursor, s.defender,
         s.first_kill, s.ev_cause, s.ev_level, s.ev_defense, s.ev_killer, s.rem, s.bonus) = (
            numbers[name] for name in _SCRATCH)
        if s.cursor >= SLOTS or s.defender >= T.n_players or (s.ev_killer >= T.n_players and s.ev_killer != NONE):
            raise PositionError("quarriors: pending: cursor, defender or ev_killer is out of range")
        for entry in _rows("pending: abilities", pending.get("abilities", [])):
            if s.n_pend == MAX_PEND or not isinstance(entry, list) or len(entry) != 2:
                raise PositionError(f"quarriors: pending: abilities must be at most {MAX_PEND} pairs of dice")
            s.pend[s.n_pend][0] = self._read_die(s, "pending: abilities", entry[0])
            s.pend[s.n_pend][1] = self._read_die(s, "pending: abilities", entry[1])
            s.n_pend += 1
        for entry in _rows("pending: records", pending.get("records", [])):
            if s.n_rec == MAX_READY or not isinstance(entry, list) or len(entry) != 4:
                raise PositionError(f"quarriors: pending: records must be at most {MAX_READY} lists of four")
            s.rec[s.n_rec].value = _whole("pending: records", entry[0], 0, 255)
            s.rec[s.n_rec].level = _whole("pending: records", entry[1], 0, 9)
            s.rec[s.n_rec].die = self._read_die(s, "pending: records", entry[2])
            s.rec[s.n_rec].zero = _whole("pending: records", entry[3], 0, 1)
            s.n_rec += 1
        for seat in _rows("pending: winners", pending.get("winners", [])):
            s.winners |= 1 << _whole("pending: winners", seat, 0, T.n_players - 1)
        if s.winners:
            s.node = TERMINAL
        stack = _rows("pending: stack", pending.get("stack", []))
        if len(stack) > MAX_STACK:
            raise PositionError(f"quarriors: pending: stack has {len(stack)} frames, allowed are {MAX_STACK}")
        for frame in stack:
            if not isinstance(frame, list) or len(frame) != 4 or frame[0] not in _OP_NAMES:
                raise PositionError(f"quarriors: pending: stack has the frame {frame!r}, which is none")
            a, b, c = (_whole("pending: stack", value, 0, 255) for value in frame[1:])
            self._check_frame(s, frame)
            push(s, _OP_NAMES.index(frame[0]), a, b, c)
        if stack and s.stack[0].op not in _BOTTOM:
            raise PositionError(f"quarriors: pending: stack begins with {stack[0]!r}, which only follows another frame")
        for i in range(1, s.n_stack):
            if s.stack[i].op in _IN_ATTACK and s.stack[0].op != P_NEXT:
                raise PositionError(f"quarriors: pending: stack has {stack[i]!r} outside an attack")
            if s.stack[i].op in _BOTTOM:
                raise PositionError(f"quarriors: pending: stack has {stack[i]!r} above another frame")
        if not stack:
            if s.phase == 0:
                push(s, P_DEAL)
            elif s.phase == 2 and pending.get("rolled"):
                push(s, P_MAIN if T.lvd else P_USE)
            elif s.phase not in (_PHASES_LVD if T.lvd else _PHASES):
                raise PositionError(f"quarriors: phase is {s.phase}, edition {self.parameters['edition']} has 5 phases")
            else:
                push(s, (_PHASES_LVD if T.lvd else _PHASES)[s.phase])
            if s.phase >= (4 if T.lvd else 5):
                s.flags |= S_ATTACKED

    cdef _check_frame(self, const State *s, frame):
        """The arguments of a frame name dice, slots and seats that are there."""
        cdef int32_t value
        op = _OP_NAMES.index(frame[0])
        for kind, number in zip(_FRAME_ARGUMENTS.get(op, ""), frame[1:], strict=False):
            value = number
            if kind == "d":
                fine = value >> 3 < SLOTS and s.card[value >> 3] != NONE and (value & 7) < 7
            elif kind == "l":
                fine = value < SLOTS and s.card[value] != NONE
            elif kind == "f":
                fine = value < len(data.FLAVOURS)
            else:
                players = self.data.n_players
                fine = value < {"s": players, "o": players + 1, "i": MAX_OPS + 1, "n": 256}[kind]
            if not fine:
                raise PositionError(f"quarriors: pending: stack: {number} in {frame!r} is out of range")

    cdef _count_dice(self, State *s):
        """Totals of dice (I1), and what no position of a game shows (A130)."""
        cdef Tables *T = self.data
        cdef Player *p
        for slot in range(SLOTS):
            if s.card[slot] == NONE:
                continue
            count = s.wilds[slot]
            for seat in range(T.n_players):
                p = &s.player[seat]
                count += p.bag[slot] + p.used[slot] + p.spent[slot] + p.wait[slot] + p.aside[slot]
                for i in range(p.n_ready):
                    count += p.ready[i].die >> 3 == slot
                    if slot >= FIRST_SPELL:
                        for kind in range(2):
                            count += att_get(T, &p.ready[i], slot - FIRST_SPELL, kind)
                if slot >= FIRST_SPELL:
                    count += readied(p, slot - FIRST_SPELL, 0) + readied(p, slot - FIRST_SPELL, 1)
            for face in range(6):
                count += s.pool[slot][face]
            for i in range(s.n_stack):
                count += (s.stack[i].op == Q_HOST or s.stack[i].op == Q_SUMMONED) and s.stack[i].a >> 3 == slot
            name = self._name(s, slot)
            if T.lvd and slot == 0:
                self._check_large(s)
            if s.phase and count > self.sets.dice[name].count:
                raise PositionError(f"quarriors: the position has {count} dice of class {name!r}, the box has "
                                    f"{self.sets.dice[name].count} (I1)")
            s.total[slot] = count
        if s.node != TERMINAL:
            for seat in range(T.n_players):
                if s.player[seat].glory >= T.goal:
                    raise PositionError(f"quarriors: players[{seat}]: glory is {s.player[seat].glory}, but {T.goal} "
                                        "wins at once (I12)")

    cdef _check_large(self, const State *s):
        """Large dice lie aside, in the pool or in the Spent Pile, two for each seat at most (D6, D8, I14)."""
        cdef const Player *p
        for seat in range(self.data.n_players):
            p = &s.player[seat]
            name, count = self._name(s, 0), p.aside[0] + p.wait[0] + p.spent[0]
            if seat == s.active:
                count += sum(s.pool[0][face] for face in range(6))
            if p.bag[0] or p.used[0]:
                raise PositionError(f"quarriors: players[{seat}]: {name!r} is in the bag or the Used Pile; allowed are "
                                    "aside, active and spent (I14)")
            if count > 2:
                raise PositionError(f"quarriors: players[{seat}] has {count} dice of {name!r}, allowed are 2 (I14)")

    # ---- text and tensors ---------------------------------------------------------------------

    def describe(self, Position position):
        cdef const State *s = <const State *>position.state
        table = self.export(position)
        lines = [f"turn {table['turn']}, seat {table['active']} in phase {table['phase']}"
                 + (f", Quiddity {table['quiddity']}" if table["quiddity"] else "")
                 + f", captures {table['captures']}"]
        lines.append("wilds: " + ", ".join(f"{entry['card']} {entry['dice']}" for entry in table["wilds"]))
        for seat, p in enumerate(table["players"]):
            parts = [f"seat {seat}: glory {p['glory']}"]
            for zone in ("bag", "used", "spent"):
                if p[zone]:
                    parts.append(f"{zone} " + ", ".join(f"{n} {name}" for name, n in p[zone].items()))
            for zone in ("active", "ready"):
                if p[zone]:
                    parts.append(f"{zone} " + ", ".join(_die_text(entry) for entry in p[zone]))
            if "locked" in p:
                parts.append(f"locked {_die_text(p['locked'])}")
            if p["aside"]:
                parts.append("aside " + ", ".join(p["aside"]))
            if p.get("charm"):
                parts.append("destroyed creatures go to the pool")
            lines.append("; ".join(parts))
        pending = {key: value for key, value in table["pending"].items() if key != "decisions"}
        lines.append(f"pending {pending}, decisions {s.decisions}")
        return "\n".join(lines)

    def tensor_shape(self):
        return [13 + self.data.n_classes * (7 + 10 * self.data.n_players)]

    def observe_tensor(self, Position position, observer, float[::1] out):
        """Seats from the observer on. First 13 numbers: Glory of up to four seats as shares of the goal, whose
        turn it is (4), phase / 6, floating and pool Quiddity / 20, captures / 4, what is left of an attack / 20,
        turn / 100. Then for each class, in tens: dice in the Wilds, the active seat's pool by face (6), and for
        each seat bag, Used Pile, unrolled, readied or attached, Ready Area by face (6)."""
        cdef const State *s = <const State *>position.state
        cdef Tables *T = self.data
        cdef const Player *p
        cdef int32_t i, j, k, seat, slot, base, n = T.n_players
        for k in range(n):
            seat = (observer + k) % n
            out[k] = s.player[seat].glory / <float>T.goal
            out[4 + k] = seat == s.active
        out[8], out[9], out[10] = s.phase / 6.0, total_avail(s) / 20.0, s.captures / 4.0
        out[11], out[12] = s.rem / 20.0, s.turn / 100.0
        for slot in range(SLOTS):
            if s.card[slot] == NONE:
                continue
            base = 13 + T.card[s.card[slot]].cls * (7 + 10 * n)
            out[base] = s.wilds[slot] / 10.0
            for i in range(6):
                out[base + 1 + i] = s.pool[slot][i] / 10.0
            for k in range(n):
                p = &s.player[(observer + k) % n]
                j = base + 7 + 10 * k
                out[j], out[j + 1], out[j + 2] = p.bag[slot] / 10.0, p.used[slot] / 10.0, p.wait[slot] / 10.0
                if slot >= FIRST_SPELL:
                    out[j + 3] = (readied(p, slot - FIRST_SPELL, 0) + readied(p, slot - FIRST_SPELL, 1)) / 10.0
                for i in range(p.n_ready):
                    if p.ready[i].die >> 3 == slot:
                        out[j + 4 + (p.ready[i].die & 7)] += 0.1
                    if slot >= FIRST_SPELL:
                        out[j + 3] += (att_get(T, &p.ready[i], slot - FIRST_SPELL, 0)
                                       + att_get(T, &p.ready[i], slot - FIRST_SPELL, 1)) / 10.0


def _die_text(entry):
    """One die of a zone: `Deathdealer 3 + Death 5`."""
    text = entry["die"] if entry["face"] is None else f"{entry['die']} {entry['face']}"
    if "copy" in entry:
        text += f" as {entry['copy']['die']} {entry['copy']['face']}"
    for spell in entry.get("attached", []):
        text += f" + {spell['die']} {spell['face']}"
    for key in ("attack", "defense"):
        if key in entry:
            text += f" {key} +{entry[key]}"
    if "marks" in entry:
        text += f" ({', '.join(entry['marks'])})"
    return text


def _packed(values):
    """Doubles as bytes; a bytes object is aligned well enough for them."""
    return array.array("d", values).tobytes()
