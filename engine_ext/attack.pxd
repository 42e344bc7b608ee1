# cython: language_level=3
"""Attack allocation: which creatures a defender can lose to an attack total.

The defender puts its creatures in front of the attack one at a time, in an order it chooses. While
something remains of the total, a creature whose defence is at most the remainder is destroyed and
its defence is taken off; the first creature that survives ends the defence, and so does a remainder
of 0, even before a creature of defence 0.

With fixed defences the order matters only through the set lost, and the sets need no walk over
orders: a set S can be lost exactly when it is empty or the total is above 0, its defences sum to at
most the total (those of defence 0 go first), and the defence can end there: everyone is lost, the
remainder is 0, or someone outside S has a defence above the remainder.

A set of creatures is a bit mask, bit i for creature i. Nothing here needs the GIL or allocates.
"""
from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t

from engine_ext.debug cimport QUANDARY_CHECK


cdef enum:
    ATTACK_LIMIT = 20                     # most creatures of one defence
    ATTACK_TABLE = 8                      # up to so many, all sets are looked at together
    ATTACK_TABLE_TOTAL = 4000             # and up to this total: nine times as much is still an int16_t


cdef struct AttackWalk:                   # all outcomes of one attack, in ascending order of their masks
    int32_t total
    int32_t n
    int32_t defenses[ATTACK_LIMIT]
    int32_t largest[ATTACK_LIMIT]         # creatures by falling defence
    uint32_t mask                         # the next candidate
    int32_t left                          # total minus its defences, possibly negative


cdef inline uint32_t attack_resolve(int32_t total, const int32_t *defenses,
                                    const int32_t *order, int32_t n) noexcept nogil:
    """The creatures lost when they defend in this order; order[n] names each creature once."""
    cdef uint32_t lost = 0
    cdef int32_t i
    for i in range(n):
        if total <= 0 or total < defenses[order[i]]:
            break
        total -= defenses[order[i]]
        lost |= <uint32_t>1 << order[i]
    return lost


cdef inline void attack_begin(AttackWalk *walk, int32_t total, const int32_t *defenses, int32_t n) noexcept nogil:
    """Start the walk over the outcomes of an attack of `total` on defenses[n], each 0 or more."""
    cdef int32_t i, j
    QUANDARY_CHECK(0 <= n <= ATTACK_LIMIT, "attack_begin: more creatures than ATTACK_LIMIT")
    walk.total = total
    walk.n = n
    walk.mask = 0
    walk.left = total
    for i in range(n):
        walk.defenses[i] = defenses[i]
        j = i
        while j > 0 and defenses[walk.largest[j - 1]] < defenses[i]:
            walk.largest[j] = walk.largest[j - 1]
            j -= 1
        walk.largest[j] = i


cdef inline bint _attack_ends(const AttackWalk *walk, uint32_t mask, int32_t left) noexcept nogil:
    """Whether the defence can end when exactly these are lost and `left` >= 0 remains."""
    cdef int32_t i
    if left == 0:
        return True
    for i in range(walk.n):
        if not mask >> walk.largest[i] & 1:
            return walk.defenses[walk.largest[i]] > left
    return True


cdef inline int32_t attack_next(AttackWalk *walk) noexcept nogil:
    """The next outcome, or -1 when there is none left."""
    cdef uint32_t mask = walk.mask, step
    cdef uint32_t end = <uint32_t>1 << walk.n
    cdef int32_t left = walk.left, low
    while mask < end:
        if mask != 0 and walk.total <= 0:
            break
        if left >= 0:
            step = 1
        else:
            step = mask & (<uint32_t>0 - mask)     # with more low creatures it would be too much all the more
        # Add `step` to the mask as a binary number and keep `left` in step with it.
        walk.mask = mask
        walk.left = left
        low = 0
        while not step >> low & 1:
            low += 1
        while mask >> low & 1:
            left += walk.defenses[low]
            mask ^= <uint32_t>1 << low
            low += 1
        mask |= <uint32_t>1 << low
        if low < walk.n:
            left -= walk.defenses[low]
        if walk.left >= 0 and _attack_ends(walk, walk.mask, walk.left):
            step = walk.mask
            walk.mask = mask
            walk.left = left
            return <int32_t>step
    walk.mask = end
    return -1


cdef inline int32_t attack_list(int32_t total, const int32_t *defenses, int32_t n, uint8_t *masks) noexcept nogil:
    """All outcomes of an attack of at most ATTACK_TABLE_TOTAL on at most ATTACK_TABLE creatures, ascending,
    into masks[1 << n]; returns how many. The same as the walk, without a branch a set."""
    cdef int16_t left[1 << ATTACK_TABLE]      # by set: what remains of the total, negative when it is too much
    cdef int16_t stands[1 << ATTACK_TABLE]    # by set: the largest defence outside it
    cdef int16_t ends[1 << ATTACK_TABLE]      # by set: 1 when the defence can end there
    cdef int16_t defense
    cdef int32_t i, s, half = 1, count = 0
    QUANDARY_CHECK(0 <= n <= ATTACK_TABLE and total <= ATTACK_TABLE_TOTAL, "attack_list: too large for the table")
    if total <= 0:
        masks[0] = 0
        return 1
    left[0] = <int16_t>total
    stands[0] = -1
    for i in range(n):
        defense = <int16_t>(defenses[i] if defenses[i] <= total else total + 1)   # more makes no difference
        for s in range(half):
            left[s + half] = left[s] - defense
            stands[s + half] = stands[s]
            stands[s] = stands[s] if stands[s] > defense else defense
        half *= 2
    stands[half - 1] = ATTACK_TABLE_TOTAL + 1    # all are lost: that ends the defence too
    for s in range(half):                        # in lanes; the next loop cannot be
        ends[s] = (left[s] >= 0) & ((left[s] == 0) | (stands[s] > left[s]))
    for s in range(half):
        masks[count] = <uint8_t>s
        count += ends[s]
    return count


cdef inline uint32_t attack_best(int32_t total, const int32_t *defenses, const double *values, int32_t n,
                                 double *kept) noexcept nogil:
    """The outcome that keeps the most value, the smallest mask among equals; kept[0] gets the value."""
    cdef AttackWalk walk
    cdef uint8_t masks[1 << ATTACK_TABLE]
    cdef double rest[1 << ATTACK_TABLE]       # by set: the value outside it
    cdef uint32_t best = 0
    cdef int32_t lost, i, s, half = 1, count
    cdef double value, most = 0.0
    cdef bint first = True
    if n <= ATTACK_TABLE and total <= ATTACK_TABLE_TOTAL:
        rest[0] = 0.0
        for i in range(n):
            for s in range(half):
                rest[s + half] = rest[s]
                rest[s] = rest[s] + values[i]
            half *= 2
        count = attack_list(total, defenses, n, masks)
        best = masks[0]
        for i in range(1, count):
            if rest[masks[i]] > rest[best]:
                best = masks[i]
        kept[0] = rest[best]
        return best
    attack_begin(&walk, total, defenses, n)
    while True:
        lost = attack_next(&walk)
        if lost < 0:
            break
        value = 0.0
        for i in range(n):
            if not lost >> i & 1:
                value += values[i]
        if first or value > most:
            first = False
            most = value
            best = <uint32_t>lost
    kept[0] = most
    return best


cdef inline void attack_order(const int32_t *defenses, uint32_t lost, int32_t n, int32_t *order) noexcept nogil:
    """An order of defence that loses exactly these, for an outcome `lost`: those of defence 0, the
    others lost, then the survivors by falling defence. order[n] gets all creatures."""
    cdef int32_t i, j, k, count = 0
    for i in range(n):
        if lost >> i & 1 and defenses[i] == 0:
            order[count] = i
            count += 1
    for i in range(n):
        if lost >> i & 1 and defenses[i] != 0:
            order[count] = i
            count += 1
    k = count
    for i in range(n):
        if not lost >> i & 1:
            j = count
            while j > k and defenses[order[j - 1]] < defenses[i]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = i
            count += 1
