# cython: language_level=3
"""Dice in bags and dice on the table, for rules and native code.

Three subjects, in this order:

* *multisets*: n items of k classes as counts; ranked in the order in which
  `itertools.combinations_with_replacement(range(k), n)` lists them (all of class 0 first);
* *rolls*: n equal dice of f faces, the multisets they can show (rolls) and the multisets one can
  keep of them (keepers), with every table that a reroll needs, built once (`RollTable`);
* *bags*: counts per class, drawn from without replacement.

Nothing here needs the GIL, nothing allocates. Counts are uint8_t. A *packed* multiset holds the
count of class i in byte i of a uint64_t, so that adding two multisets is one addition; it needs
at most 8 classes and counts below 128.

Several bounded integers are taken from one 64-bit draw by the exact batched method of
Brackett-Rozinsky and Lemire, "Batched Ranged Random Integer Generation" (2024): multiply the
fraction by each bound in turn, reject by the product of the bounds.
"""
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from engine_ext.debug cimport QUANDARY_CHECK
from engine_ext.rng cimport Rng, quandary_mulhi64, rng_below, rng_next


cdef enum:
    ROLL_DICE_LIMIT = 8        # most dice of a RollTable
    ROLL_FACES_LIMIT = 8       # most faces of a RollTable
    ROLL_ORDERED_LIMIT = 1 << 20  # most ordered rolls of a RollTable, faces ** dice
    BAG_CLASSES_LIMIT = 64     # most classes of a bag
    BAG_WORDS = 8              # 64-bit words that hold the counts of that many classes
    BAG_DICE_LIMIT = 127       # most dice in a bag: a byte of a prefix sum keeps its top bit free
    BATCH_LIMIT = 8            # bounded integers taken from one 64-bit draw (127 ** 8 < 2 ** 56)


cdef inline uint64_t _ones() noexcept nogil:
    return <uint64_t>0x0101010101010101u

cdef inline uint64_t _tops() noexcept nogil:
    return <uint64_t>0x8080808080808080u


# ---- multisets ----------------------------------------------------------------------------------

cdef inline uint64_t multiset_count(int32_t n, int32_t k) noexcept nogil:
    """Number of multisets of n items of k classes, C(n + k - 1, n). Exact while that is below
    2**53 and n + k below 1024; n >= 0, k >= 0."""
    cdef int32_t top = n + k - 1
    cdef int32_t choose = n if n < k - 1 else k - 1
    cdef int32_t i
    cdef uint64_t result = 1
    if k == 0:
        return n == 0
    for i in range(1, choose + 1):
        result = result * <uint64_t>(top - choose + i) // <uint64_t>i
    return result


cdef inline uint64_t multiset_rank(const uint8_t *counts, int32_t k) noexcept nogil:
    """Rank of the multiset counts[k] among the multisets of as many items of k classes."""
    cdef int32_t i, left = 0
    cdef uint64_t rank = 0
    for i in range(k):
        left += counts[i]
    for i in range(k):
        left -= counts[i]
        if left == 0:
            break
        rank += multiset_count(left - 1, k - i)   # those that agree so far and have more of class i
    return rank


cdef inline void multiset_unrank(uint64_t rank, int32_t n, int32_t k, uint8_t *counts) noexcept nogil:
    """Write the multiset of n items of k classes with this rank into counts[k]."""
    cdef int32_t i, rest, left = n
    for i in range(k - 1):
        rest = 0
        while rank >= multiset_count(rest, k - i):
            rest += 1
        if rest > 0:
            rank -= multiset_count(rest - 1, k - i)
        counts[i] = <uint8_t>(left - rest)
        left = rest
    if k > 0:
        counts[k - 1] = <uint8_t>left


cdef inline uint64_t pack_counts(const uint8_t *counts, int32_t k) noexcept nogil:
    """counts[k], k at most 8, as a packed multiset."""
    cdef int32_t i
    cdef uint64_t packed = 0
    for i in range(k):
        packed |= <uint64_t>counts[i] << (8 * i)
    return packed


cdef inline int32_t packed_count(uint64_t packed, int32_t i) noexcept nogil:
    """How many of class i a packed multiset holds."""
    return <int32_t>(packed >> (8 * i) & 255)


cdef inline int32_t packed_size(uint64_t packed) noexcept nogil:
    """How many items a packed multiset holds; below 256."""
    return <int32_t>((packed * _ones()) >> 56)


cdef inline bint packed_contains(uint64_t whole, uint64_t part) noexcept nogil:
    """Whether `part` is a sub-multiset of `whole`; all counts below 128."""
    return (((whole | _tops()) - part) & _tops()) == _tops()


# ---- rolls --------------------------------------------------------------------------------------

ctypedef struct RollTable:
    # n_dice equal dice of n_faces faces, all faces alike likely. A *keeper* is a multiset of at
    # most n_dice dice; keepers are numbered by size, then by rank: keeper 0 keeps nothing. A
    # *roll* is a multiset of all n_dice; roll r is keeper first[n_dice] + r.
    int32_t n_dice
    int32_t n_faces
    int32_t n_rolls           # 252 for five six-sided dice
    int32_t n_keepers         # 462 for them
    int32_t n_pairs           # (roll, keeper inside it): 4368 for them
    int32_t first[ROLL_DICE_LIMIT + 2]           # keepers of s dice are first[s] .. first[s + 1] - 1
    uint32_t n_ordered[ROLL_DICE_LIMIT + 1]      # n_faces ** s
    int32_t ordered_start[ROLL_DICE_LIMIT + 1]   # where size s begins in `ordered`
    int32_t rank_part[ROLL_DICE_LIMIT + 1][ROLL_FACES_LIMIT][ROLL_DICE_LIMIT + 1]  # by size, face, dice up to that face
    const uint64_t *packed    # [n_keepers] face counts
    const uint8_t *size       # [n_keepers] dice
    const double *prob        # [n_keepers] that this multiset shows when exactly its number of dice is rolled
    const uint16_t *ordered   # by size s, then ordered roll in 0 .. n_ordered[s] - 1: the keeper it shows
    const int32_t *next_start     # [n_keepers + 1] where keeper k begins in `next_roll`
    const uint16_t *next_roll     # [n_pairs] at next_start[k] + j: what keeper k becomes when the other dice show
    #                               their j-th multiset; ascending in j
    const int32_t *keeper_start   # [n_rolls + 1] where roll r begins in `keeper_of`
    const uint16_t *keeper_of     # [n_pairs] keepers inside roll r, ascending


cdef inline int32_t roll_keeper_id(const RollTable *table, uint64_t packed) noexcept nogil:
    """The keeper with these face counts; at most n_dice dice."""
    cdef int32_t size = packed_size(packed)
    cdef uint64_t upto = packed * _ones()         # byte i: dice of faces 0 .. i
    cdef int32_t i, keeper = table.first[size]
    for i in range(table.n_faces - 1):
        keeper += table.rank_part[size][i][upto >> (8 * i) & 255]
    return keeper


cdef inline int32_t roll_of_keeper(const RollTable *table, int32_t keeper) noexcept nogil:
    """The roll that a keeper of all dice is."""
    return keeper - table.first[table.n_dice]


cdef inline int32_t keeper_of_roll(const RollTable *table, int32_t roll) noexcept nogil:
    """The keeper that keeps the whole roll."""
    return table.first[table.n_dice] + roll


cdef inline uint64_t roll_packed(const RollTable *table, int32_t roll) noexcept nogil:
    """Face counts of a roll."""
    return table.packed[table.first[table.n_dice] + roll]


cdef inline double roll_prob(const RollTable *table, int32_t roll) noexcept nogil:
    """Probability of the roll when all dice are rolled."""
    return table.prob[table.first[table.n_dice] + roll]


cdef inline int32_t roll_after(const RollTable *table, int32_t keeper, Rng *rng) noexcept nogil:
    """Keep the keeper, roll the other dice: the roll that lies there then. Keeper 0 is a fresh roll."""
    cdef int32_t others = table.n_dice - table.size[keeper]
    cdef int32_t shown = table.ordered[table.ordered_start[others] + <int32_t>rng_below(rng, table.n_ordered[others])]
    return table.next_roll[table.next_start[keeper] + shown - table.first[others]]


cdef inline int32_t roll_after_probs(const RollTable *table, int32_t keeper,
                                     int32_t *rolls, double *probs) noexcept nogil:
    """All rolls that can lie there after keeping the keeper, ascending, with their probabilities
    (sum 1), into arrays of up to n_rolls; returns how many."""
    cdef int32_t others = table.n_dice - table.size[keeper]
    cdef int32_t count = table.first[others + 1] - table.first[others]
    cdef int32_t i
    for i in range(count):
        rolls[i] = table.next_roll[table.next_start[keeper] + i]
        probs[i] = table.prob[table.first[others] + i]
    return count


cdef inline int32_t roll_keepers(const RollTable *table, int32_t roll, int32_t *keepers) noexcept nogil:
    """All keepers inside a roll, ascending (nothing first, the whole roll last); returns how many,
    at most 2 ** n_dice."""
    cdef int32_t start = table.keeper_start[roll]
    cdef int32_t count = table.keeper_start[roll + 1] - start
    cdef int32_t i
    for i in range(count):
        keepers[i] = table.keeper_of[start + i]
    return count


cdef inline uint64_t roll_packed_dice(int32_t n_dice, int32_t n_faces, Rng *rng) noexcept nogil:
    """Roll n_dice equal dice of n_faces faces, 1 to 8, at once: the face counts, packed.
    n_dice at most 127. No table needed; 21 dice a 64-bit draw."""
    cdef uint64_t packed = 0, shown, fraction, product
    cdef int32_t _die, now, left = n_dice
    while left > 0:
        now = left if left < 21 else 21              # 8 ** 21 = 2 ** 63
        product = 1
        for _die in range(now):
            product *= <uint64_t>n_faces
        while True:
            fraction = rng_next(rng)
            shown = 0
            for _die in range(now):
                shown += <uint64_t>1 << (8 * quandary_mulhi64(fraction, <uint64_t>n_faces, &fraction))
            if fraction >= product or fraction >= (<uint64_t>0 - product) % product:
                break
        packed += shown
        left -= now
    return packed


# ---- bags ---------------------------------------------------------------------------------------
# A bag is an array of uint8_t, one count a class, padded with zeros to n_words * 8 bytes, and holds
# at most BAG_DICE_LIMIT dice. Drawing works on prefix sums, eight classes a word: the die at place p
# lies in the first class whose prefix sum is above p, and taking it lowers exactly the prefix sums
# that are above p. With the top bit of every byte set, one subtraction compares all eight. No branch
# depends on the draw. Pass n_words as a constant where it is one: the loops over words vanish.

cdef inline int32_t bag_words(int32_t n_classes) noexcept nogil:
    """64-bit words of a bag of so many classes."""
    return (n_classes + 7) >> 3


cdef inline int32_t bag_size(const uint8_t *counts, int32_t n_words) noexcept nogil:
    """Dice in the bag."""
    cdef uint64_t word, total = 0
    cdef int32_t w
    for w in range(n_words):
        memcpy(&word, counts + 8 * w, 8)
        total += (word * _ones()) >> 56
    return <int32_t>total


cdef inline int32_t _bag_load(const uint8_t *counts, int32_t n_words, uint64_t *upto) noexcept nogil:
    """Prefix sums of the counts with the top bit of every byte set; returns the number of dice."""
    cdef int32_t w
    cdef uint64_t word, before = 0
    for w in range(n_words):
        memcpy(&word, counts + 8 * w, 8)
        word = (word + before) * _ones()      # the first byte reaches all of them
        upto[w] = word | _tops()
        before = word >> 56
    return <int32_t>before


cdef inline uint64_t _bag_above(uint64_t upto, uint64_t place) noexcept nogil:
    """A 1 in every byte whose prefix sum is above the place."""
    return ((upto - (place + 1) * _ones()) & _tops()) >> 7


cdef inline int32_t bag_draw_one(uint8_t *counts, int32_t n_words, Rng *rng) noexcept nogil:
    """Take one die from a bag that is not empty; returns its class."""
    cdef uint64_t upto[BAG_WORDS]
    cdef int32_t total = _bag_load(counts, n_words, upto)
    cdef int32_t w, drawn = 8 * n_words
    cdef uint64_t place
    QUANDARY_CHECK(0 < total <= BAG_DICE_LIMIT, "bag_draw_one: the bag is empty or too large")
    place = rng_below(rng, <uint32_t>total)
    for w in range(n_words):
        drawn -= packed_size(_bag_above(upto[w], place))
    counts[drawn] -= 1
    return drawn


cdef inline void bag_draw(uint8_t *counts, int32_t n_words, int32_t k, uint8_t *drawn, Rng *rng) noexcept nogil:
    """Take k dice from a bag that holds at least k; drawn[8 * n_words] gets how many of each class
    (what stood in it is overwritten)."""
    cdef uint64_t upto[BAG_WORDS]
    cdef uint64_t start[BAG_WORDS]
    cdef uint64_t saved[BAG_WORDS]
    cdef uint64_t fraction, product, place, word, taken, before = 0
    cdef int32_t total = _bag_load(counts, n_words, upto)
    cdef int32_t w, i, now, left = k
    QUANDARY_CHECK(0 <= k <= total <= BAG_DICE_LIMIT, "bag_draw: more dice than the bag holds or may hold")
    for w in range(n_words):
        start[w] = upto[w]
    while left > 0:
        now = left if left < BATCH_LIMIT else BATCH_LIMIT
        for w in range(n_words):
            saved[w] = upto[w]
        while True:
            fraction = rng_next(rng)
            for i in range(now):
                place = quandary_mulhi64(fraction, <uint64_t>(total - i), &fraction)
                for w in range(n_words):
                    upto[w] -= _bag_above(upto[w], place)
            if fraction >= <uint64_t>1 << 56:     # above any product of BATCH_LIMIT bounds: nearly always
                break
            product = 1
            for i in range(now):
                product *= <uint64_t>(total - i)
            if fraction >= product or fraction >= (<uint64_t>0 - product) % product:
                break
            for w in range(n_words):
                upto[w] = saved[w]
        total -= now
        left -= now
    for w in range(n_words):
        taken = start[w] - upto[w]                # prefix sums of what was drawn
        place = taken >> 56
        taken -= taken << 8 | before
        before = place
        memcpy(drawn + 8 * w, &taken, 8)
        memcpy(&word, counts + 8 * w, 8)
        word -= taken
        memcpy(counts + 8 * w, &word, 8)


cdef inline int32_t bag_draw_refill(uint8_t *counts, uint8_t *spent, int32_t n_words, int32_t k,
                                    uint8_t *drawn, Rng *rng) noexcept nogil:
    """Take k dice; when the bag runs out, the spent dice go into it and drawing goes on. Returns
    how many were drawn, fewer than k only when both ran out."""
    cdef uint8_t more[8 * BAG_WORDS]
    cdef int32_t total = bag_size(counts, n_words)
    cdef int32_t i, short, rest
    if k <= total:
        bag_draw(counts, n_words, k, drawn, rng)
        return k
    memcpy(drawn, counts, 8 * n_words)
    memcpy(counts, spent, 8 * n_words)
    memset(spent, 0, 8 * n_words)
    rest = bag_size(counts, n_words)
    short = k - total if k - total < rest else rest
    bag_draw(counts, n_words, short, more, rng)
    for i in range(8 * n_words):
        drawn[i] += more[i]
    return total + short


cdef inline void _bag_places(int32_t total, int32_t k, uint64_t *places, Rng *rng) noexcept nogil:
    """k <= BATCH_LIMIT independent numbers, the i-th uniform in [0, total - i), from one 64-bit draw."""
    cdef uint64_t fraction, product
    cdef int32_t i
    while True:
        fraction = rng_next(rng)
        for i in range(k):
            places[i] = quandary_mulhi64(fraction, <uint64_t>(total - i), &fraction)
        if fraction >= <uint64_t>1 << 56:
            return
        product = 1
        for i in range(k):
            product *= <uint64_t>(total - i)
        if fraction >= product or fraction >= (<uint64_t>0 - product) % product:
            return


cdef inline int32_t draw_hypergeometric(int32_t good, int32_t total, int32_t k, Rng *rng) noexcept nogil:
    """How many of the `good` dice are among k drawn from `total`; 0 <= good, k <= total <= BAG_DICE_LIMIT."""
    cdef uint64_t places[BATCH_LIMIT]
    cdef bint turned = 2 * k > total         # what stays behind is a draw of total - k
    cdef int32_t draw = total - k if turned else k
    cdef int32_t done = 0, hits = 0
    cdef int32_t i, now
    while done < draw:
        now = draw - done if draw - done < BATCH_LIMIT else BATCH_LIMIT
        _bag_places(total - done, now, places, rng)
        for i in range(now):
            hits += places[i] < <uint64_t>(good - hits)
        done += now
    return good - hits if turned else hits


cdef inline int32_t hypergeometric_probs(int32_t good, int32_t total, int32_t k,
                                         int32_t *low, double *probs) noexcept nogil:
    """Probabilities that `low`, `low` + 1, ... of the good dice are among k drawn from `total`,
    into probs of up to k + 1; returns how many values there are."""
    cdef int32_t least = k - (total - good) if k > total - good else 0
    cdef int32_t most = good if good < k else k
    cdef int32_t i
    cdef double sum_ = 1.0, ratio
    probs[0] = 1.0
    for i in range(least, most):             # ratio of neighbours of the hypergeometric distribution
        ratio = (<double>(good - i) * (k - i)) / (<double>(i + 1) * (total - good - k + i + 1))
        probs[i + 1 - least] = probs[i - least] * ratio
        sum_ += probs[i + 1 - least]
    for i in range(most - least + 1):
        probs[i] /= sum_
    low[0] = least
    return most - least + 1


# ---- the Python handles -------------------------------------------------------------------------

cdef class Rolls:
    cdef RollTable table          # borrowed by rules that keep a reference to this object
    cdef readonly object counts   # uint8[n_keepers, n_faces]: face counts by keeper
    cdef dict _arrays             # the memory behind `table`


cdef class DiceBag:
    cdef readonly int32_t n_classes
    cdef readonly int32_t n_words                # bag_words(n_classes)
    cdef uint8_t in_bag[8 * BAG_WORDS]           # padded with zeros
    cdef uint8_t in_spent[8 * BAG_WORDS]
