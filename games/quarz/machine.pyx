"""The rules of Qu'arz as a machine: the functions of the contract, over the rules below.

Rule numbers and readings (Q1 to Q70, Q71 and up in README.md) are named where they are
implemented. From the ground up: state.pxd (tables, state and frames), moves.pxd (ids of actions and
outcomes), field.pxd (the board), frames.pxd (the stack), tableau.pxd (energy, cards, slots), idol.pxd,
march.pxd, attack.pxd, effect_options.pxd and effects.pxd (what an effect allows, what it does),
instants.pxd, action_options.pxd and options.pxd (what a turn, what any decision allows), actions.pxd (what
a choice does), set_up.pxd, chance.pxd, rounds.pxd, steps.pxd (what goes on by itself), play.pxd (the
loop), hidden.pxd (what a seat does not see), greedy.pxd (the rule of thumb), soundness.pxd (the invariants).
"""
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset

from engine_ext.bits cimport count_bits
from engine_ext.game cimport CHANCE, TERMINAL, hash_bytes
from engine_ext.rng cimport Rng, rng_below, rng_combine, rng_double
from games.quarz.chance cimport list_outcomes
from games.quarz.frames cimport owner, pop, top
from games.quarz.greedy cimport heuristic, score
from games.quarz.hidden cimport redeal, take_one, view_of
from games.quarz.moves cimport *
from games.quarz.options cimport list_choices
from games.quarz.play cimport run, step
from games.quarz.rounds cimport ask_favors
from games.quarz.soundness cimport broken_rule
from games.quarz.state cimport *


cdef int32_t settle(const Tables *t, State *s, int32_t *out) noexcept nogil:
    return run(t, s, out)


# ---- the functions of the contract ---------------------------------------------------------------

cdef int32_t turn(const void *tables, const void *state) noexcept nogil:
    return (<const State *>state).actor

cdef int32_t legal(const void *tables, const void *state, int32_t *out) noexcept nogil:
    return list_choices(<const Tables *>tables, <const State *>state, out)

cdef int32_t outcomes(const void *tables, const void *state, int32_t *ids, double *probs) noexcept nogil:
    return list_outcomes(<const Tables *>tables, <const State *>state, ids, probs)

cdef int32_t sample(const void *tables, const void *state, Rng *rng) noexcept nogil:
    cdef int32_t ids[N_OUTCOMES]
    cdef double probs[N_OUTCOMES]
    cdef int32_t i, n = list_outcomes(<const Tables *>tables, <const State *>state, ids, probs)
    cdef double u = rng_double(rng)
    for i in range(n - 1):
        u -= probs[i]
        if u < 0.0:
            return ids[i]
    return ids[n - 1]

cdef void apply(const void *tables, void *state, int32_t id) noexcept nogil:
    cdef int32_t scratch[N_ACTIONS]
    step(<const Tables *>tables, <State *>state, id, scratch)

cdef int32_t run_chance(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef State *s = <State *>state
    cdef int32_t scratch[N_ACTIONS]
    cdef int32_t steps = 0
    while s.actor == CHANCE:
        step(<const Tables *>tables, s, sample(tables, s, rng), scratch)
        steps += 1
    return steps

cdef int64_t playout(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef const Tables *t = <const Tables *>tables
    cdef State *s = <State *>state
    cdef int32_t choices[N_ACTIONS]
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

cdef int32_t info_bytes(const void *tables, const void *state, int32_t observer, uint8_t *out) noexcept nogil:
    """What the seat sees now and the hash of all it did and saw before."""
    view_of(<const Tables *>tables, <const State *>state, observer, <State *>out)
    return sizeof(State)

cdef void resample(const void *tables, void *state, int32_t observer, Rng *rng) noexcept nogil:
    cdef const Tables *t = <const Tables *>tables
    cdef State *s = <State *>state
    cdef State origin
    cdef int32_t scratch[N_ACTIONS]
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
    cdef int32_t scratch[N_ACTIONS]
    cdef int32_t i, taken_back = 0
    if s.actor < 0 or top(s).kind != K_FAVOR:
        return -1
    for i in range(t.players):
        taken_back += s.favor[i] >= 0 and count_bits(s.favor_hand[i]) > 1
    if taken_back:
        while top(s).kind == K_FAVOR:
            pop(s)
        ask_favors(t, s)
        run(t, s, scratch)
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
    cdef int32_t choices[N_ACTIONS]
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
