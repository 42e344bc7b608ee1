# cython: language_level=3
"""What a seat sees of the others' cards, and other hands they might hold."""
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memset

from engine_ext.bits cimport bit, count_bits, lowest_bit, pop_bit
from engine_ext.debug cimport QUANDARY_CHECK
from engine_ext.rng cimport Rng, rng_below
from games.quarz.frames cimport owner
from games.quarz.state cimport *


cdef inline bint hides_pass(const State *s) noexcept nogil:
    """Whether doing nothing here leaves no trace: where instants are asked for, and after the last action (Q91)."""
    cdef int32_t kind = s.stack[s.depth - 1].kind
    return kind == K_WINDOW or (kind == K_ACTION and s.actions <= 0)

cdef inline bint asked_in_secret(const State *s) noexcept nogil:
    """Whether the others do not know that this decision is being made."""
    return s.actor >= 0 and hides_pass(s)

cdef inline void view_of(const Tables *t, const State *s, int32_t observer, State *v) noexcept nogil:
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

cdef inline int32_t take_one(uint64_t *cards, Rng *rng) noexcept nogil:
    """A random card out of a set."""
    cdef uint64_t rest = cards[0]
    cdef int32_t k = rng_below(rng, count_bits(rest))
    while k > 0:
        rest &= rest - 1
        k -= 1
    cards[0] &= ~(rest & -rest)
    return lowest_bit(rest)

cdef inline void redeal(const Tables *t, State *s, int32_t m, Rng *rng) noexcept nogil:
    """Deal a hidden hand anew, with the weight that chance gave it.

    Every way in which the hidden cards can have come into the hand is equally likely: a draw takes
    each set of the pile's cards alike. So the cards drawn in the oldest epoch are any of those that
    were in the pile then, those of the next any of the rest, and so on (Q71). Of a draw that is
    under way the lowest cards have come first.
    """
    cdef uint64_t pool = (s.hand[m] | s.deck[m]) & ~s.known[m]
    cdef uint64_t eligible, chain = 0
    cdef int32_t drawn_in[EPOCH_LIMIT + 1]
    cdef int32_t e, card, k, _k, under_way = 0, coming = 0, frame = -1
    for k in range(s.depth):
        if s.stack[k].kind == K_DRAW and s.stack[k].a == m and s.stack[k].d:
            frame, under_way, coming = k, s.stack[k].d, s.stack[k].b
    QUANDARY_CHECK(s.epoch[m] <= EPOCH_LIMIT, "quarz: more epochs than there is room for")
    memset(drawn_in, 0, sizeof(drawn_in))
    for card in range(CARDS):
        if (s.hand[m] & ~s.known[m]) >> card & 1:
            drawn_in[s.drawn[m][card]] += 1
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
