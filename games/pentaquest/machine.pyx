"""The functions of the contract (engine_ext/game.pxd) for Pentaquest.

play.pxd has the course of a turn, options.pxd what can be decided or happen by chance, soundness.pxd the invariants.
`suggest` is plan.pyx's own.
"""
from libc.stdint cimport int32_t, int64_t, uint64_t

from engine_ext.game cimport CHANCE, TERMINAL, hash_bytes
from engine_ext.rng cimport Rng
from games.pentaquest.options cimport list_decisions, list_outcomes, random_decision, random_outcome
from games.pentaquest.outlook cimport estimate_among
from games.pentaquest.plan cimport estimate_alone
from games.pentaquest.play cimport chance, decide
from games.pentaquest.soundness cimport broken_rule
from games.pentaquest.state cimport DISCARDED, OVER, ROLL, SEAT_LIMIT, State, Tables, army_count, army_size


# ---- steps -------------------------------------------------------------------------------------

cdef int32_t turn(const void *tables, const void *state) noexcept nogil:
    cdef const State *s = <const State *>state
    if s.step <= ROLL:
        return CHANCE
    if s.step == OVER:
        return TERMINAL
    return s.seat


cdef int32_t legal(const void *tables, const void *state, int32_t *out) noexcept nogil:
    return list_decisions(<const Tables *>tables, <const State *>state, out)


cdef int32_t random_action(const void *tables, const void *state, Rng *rng) noexcept nogil:
    return random_decision(<const Tables *>tables, <const State *>state, rng)


cdef int32_t outcomes(const void *tables, const void *state, int32_t *ids, double *probs) noexcept nogil:
    return list_outcomes(<const Tables *>tables, <const State *>state, ids, probs)


cdef int32_t sample(const void *tables, const void *state, Rng *rng) noexcept nogil:
    return random_outcome(<const Tables *>tables, <const State *>state, rng)


cdef void apply(const void *tables, void *state, int32_t id) noexcept nogil:
    cdef State *s = <State *>state
    if s.step <= ROLL:
        chance(<const Tables *>tables, s, id)
    else:
        decide(<const Tables *>tables, s, id)


cdef int32_t run_chance(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef const Tables *t = <const Tables *>tables
    cdef State *s = <State *>state
    cdef int32_t steps = 0
    while s.step <= ROLL:
        chance(t, s, random_outcome(t, s, rng))
        steps += 1
    return steps


cdef int64_t playout(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef const Tables *t = <const Tables *>tables
    cdef State *s = <State *>state
    cdef int64_t steps = 0
    while s.step != OVER:
        if s.step <= ROLL:
            chance(t, s, random_outcome(t, s, rng))
        else:
            decide(t, s, random_decision(t, s, rng))
        steps += 1
    return steps


# ---- values ------------------------------------------------------------------------------------

cdef void returns(const void *tables, const void *state, double *out) noexcept nogil:
    cdef const Tables *t = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef int32_t seat, rank, best = -1, winners = 0
    cdef int32_t ranks[SEAT_LIMIT]
    cdef double total = 0.0, share
    for seat in range(t.players):
        out[seat] = 0.0
    if s.step != OVER:
        return
    if t.players == 1:                       # 22, 23, P14
        if s.in_deck + s.in_quest == 0:
            out[0] = army_size(s.purse[0])
        return
    for seat in range(t.players):            # 29, 30, P12
        rank = points(t, s, seat) * 256
        if not t.original:
            rank += army_size(s.purse[seat])
        ranks[seat] = rank
        total += points(t, s, seat)
        if rank > best:
            best = rank
            winners = 0
        winners += rank == best
    for seat in range(t.players):
        if t.by_score:
            out[seat] = points(t, s, seat) - (total - points(t, s, seat)) / <double>(t.players - 1)
        elif ranks[seat] == best:            # P19
            share = <double>t.players / <double>winners
            out[seat] = (share - 1.0) / <double>(t.players - 1)
        else:
            out[seat] = -1.0 / <double>(t.players - 1)


cdef inline int32_t points(const Tables *t, const State *s, int32_t seat) noexcept nogil:
    """A seat's score among several: its army, and by the common rule its discards. # 29, P12"""
    cdef int32_t score = army_size(s.purse[seat])
    return score if t.original else score + army_count(s.purse[seat], DISCARDED)


cdef void estimate(const void *tables, const void *state, double *out) noexcept nogil:
    if (<const State *>state).step == OVER:
        returns(tables, state, out)
    elif (<const Tables *>tables).players == 1:
        estimate_alone(tables, state, out)
    else:
        estimate_among(tables, state, out)


# ---- states ------------------------------------------------------------------------------------

cdef uint64_t state_key(const void *tables, const void *state) noexcept nogil:
    """Turns matter only through the long turns still to come."""
    cdef const Tables *t = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef uint64_t words[3 + SEAT_LIMIT]
    cdef int32_t seat
    cdef int32_t long_turns = t.long_turns - <int32_t>s.turn - 1 if <int32_t>s.turn < t.long_turns else 0
    words[0] = s.deck
    words[1] = s.quest
    words[2] = (<uint64_t>s.dice | <uint64_t>s.step << 16 | <uint64_t>s.seat << 24
                | <uint64_t>s.rerolls << 32 | <uint64_t>long_turns << 40)
    for seat in range(t.players):
        words[3 + seat] = s.purse[seat] & t.key_mask
    return hash_bytes(words, 8 * (3 + t.players), 0)


cdef int64_t clock(const void *tables, const void *state) noexcept nogil:
    """The running turn by the cards captured before it. Failed turns at the same count are told
    apart by the seat, and those of one seat follow each other."""
    cdef const State *s = <const State *>state
    return <int64_t>((<const Tables *>tables).n_cards - s.in_deck - s.in_quest) * SEAT_LIMIT + s.seat


cdef int32_t check(const void *tables, const void *state) noexcept nogil:
    return broken_rule(<const Tables *>tables, <const State *>state)
