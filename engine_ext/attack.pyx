"""Attack allocation for Python: checked, and batched over numpy arrays.

The rule and the native functions stand in attack.pxd. A creature is its place in the list of
defences, a set of creatures lost a bit mask, bit i for creature i.

>>> outcomes(3, [2, 2, 5])            # one of the two small ones falls, then somebody stands
[0, 1, 2]
>>> best(3, [2, 2, 5], [1.0, 1.0, 4.0])
(0, (2, 0, 1))
"""
import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t

from engine_ext.errors import AttackError

DEFENSE_LIMIT = 10**6           # largest attack total and defence
EMPTY = -1                      # in batches: no creature in this place


def _total(total):
    if isinstance(total, bool) or not isinstance(total, (int, np.integer)) or not 0 <= total <= DEFENSE_LIMIT:
        raise AttackError(f"the attack total is {total!r}, it must be a whole number from 0 to {DEFENSE_LIMIT}")
    return int(total)


def _defenses(defenses):
    listed = list(defenses)
    if len(listed) > ATTACK_LIMIT:
        raise AttackError(f"{len(listed)} creatures defend, at most {ATTACK_LIMIT} are allowed")
    for i, defense in enumerate(listed):
        if (isinstance(defense, bool) or not isinstance(defense, (int, np.integer))
                or not 0 <= defense <= DEFENSE_LIMIT):
            raise AttackError(f"the defence of creature {i} is {defense!r}, "
                              f"it must be a whole number from 0 to {DEFENSE_LIMIT}")
    return [int(defense) for defense in listed]


def resolve(total, defenses, order):
    """The creatures lost when they defend in a given order.

    Args:
        total: attack total, 0 to 10**6.
        defenses: defence of each creature, 0 to 10**6, at most 20 creatures.
        order: creatures from first to last, each at most once; those left out never defend.

    Returns:
        int bit mask.

    Raises:
        AttackError: out of range, or an order that names a creature twice or an unknown one.

    >>> resolve(4, [2, 2, 5], [0, 2, 1])
    1
    """
    cdef int32_t stats[ATTACK_LIMIT]
    cdef int32_t line[ATTACK_LIMIT]
    total, defenses, order = _total(total), _defenses(defenses), list(order)
    if len(set(order)) < len(order) or not set(order) <= set(range(len(defenses))):
        raise AttackError(f"order is {order}, it must name creatures 0 to {len(defenses) - 1}, each at most once")
    for i, defense in enumerate(defenses):
        stats[i] = defense
    for i, creature in enumerate(order):
        line[i] = creature
    return attack_resolve(total, stats, line, len(order))


def outcomes(total, defenses):
    """All sets of creatures the defender can lose, over all orders of defence.

    Args:
        total: attack total, 0 to 10**6.
        defenses: defence of each creature, 0 to 10**6, at most 20 creatures.

    Returns:
        ascending list of int bit masks; [0] without creatures or with a total of 0.

    Raises:
        AttackError: out of range.

    >>> outcomes(0, [0]), outcomes(1, [0, 1])
    ([0], [2, 3])
    """
    cdef AttackWalk walk
    cdef uint8_t masks[1 << ATTACK_TABLE]
    cdef int32_t stats[ATTACK_LIMIT]
    cdef int32_t lost, i
    total, defenses = _total(total), _defenses(defenses)
    for i, defense in enumerate(defenses):
        stats[i] = defense
    if len(defenses) <= ATTACK_TABLE and total <= ATTACK_TABLE_TOTAL:
        return [masks[i] for i in range(attack_list(total, stats, len(defenses), masks))]
    attack_begin(&walk, total, stats, len(defenses))
    found = []
    while True:
        lost = attack_next(&walk)
        if lost < 0:
            return found
        found.append(lost)


def best(total, defenses, values):
    """The outcome that keeps the most value, and an order of defence that leads to it.

    Args:
        total, defenses: as `outcomes`.
        values: finite value of each creature to its owner.

    Returns:
        (int bit mask of the creatures lost, tuple of all creatures in the order they defend); among
        equally good outcomes the smallest mask.

    Raises:
        AttackError: out of range, or not one value a creature.
    """
    cdef int32_t stats[ATTACK_LIMIT]
    cdef int32_t line[ATTACK_LIMIT]
    cdef double worth[ATTACK_LIMIT]
    cdef double kept
    total, defenses, values = _total(total), _defenses(defenses), [float(value) for value in values]
    if len(values) != len(defenses) or not np.isfinite(values).all():
        raise AttackError(f"values is {values}, it must be one finite number for each of {len(defenses)} creatures")
    for i, defense in enumerate(defenses):
        stats[i], worth[i] = defense, values[i]
    cdef int32_t n = len(defenses)
    cdef uint32_t lost = attack_best(total, stats, worth, n, &kept)
    attack_order(stats, lost, n, line)
    return lost, tuple([line[i] for i in range(n)])


def _batch(totals, defenses):
    """Checked totals int32[rows] and defences int32[rows, creatures]."""
    totals, defenses = np.asarray(totals), np.asarray(defenses)
    if totals.ndim != 1 or defenses.ndim != 2 or len(totals) != len(defenses):
        raise AttackError(f"totals must have shape [rows] and defenses [rows, creatures], "
                          f"not {totals.shape} and {defenses.shape}")
    if totals.dtype.kind not in "iu" or defenses.dtype.kind not in "iu":
        raise AttackError("totals and defenses must be whole numbers")
    if defenses.shape[1] > ATTACK_LIMIT:
        raise AttackError(f"{defenses.shape[1]} creatures defend, at most {ATTACK_LIMIT} are allowed")
    for name, array, low in (("totals", totals, 0), ("defenses", defenses, EMPTY)):
        if array.size and not (low <= array.min() and array.max() <= DEFENSE_LIMIT):
            raise AttackError(
                f"{name} must be from {low} to {DEFENSE_LIMIT}, they go from {array.min()} to {array.max()}")
    return np.ascontiguousarray(totals, dtype=np.int32), np.ascontiguousarray(defenses, dtype=np.int32)


cdef inline int32_t _gather(const int32_t *row, int32_t width, int32_t *stats, int32_t *places) noexcept nogil:
    """The creatures of a row without its empty places; returns how many there are."""
    cdef int32_t i, n = 0
    for i in range(width):
        if row[i] >= 0:
            stats[n] = row[i]
            places[n] = i
            n += 1
    return n


cdef inline uint32_t _scatter(uint32_t mask, const int32_t *places, int32_t n) noexcept nogil:
    """The mask of gathered creatures as a mask of places."""
    cdef uint32_t spread = 0
    cdef int32_t i
    for i in range(n):
        spread |= (mask >> i & 1) << places[i]
    return spread


def outcomes_batch(totals, defenses):
    """`outcomes` of many attacks.

    Args:
        totals: int[rows], 0 to 10**6.
        defenses: int[rows, creatures], 0 to 10**6, or -1 where there is no creature.

    Returns:
        (int64[rows + 1] starts, uint32[starts[-1]] masks): row i has the ascending masks
        masks[starts[i]:starts[i + 1]].
    """
    totals, defenses = _batch(totals, defenses)
    cdef const int32_t[::1] total = totals
    cdef const int32_t[:, ::1] table = defenses
    cdef int64_t rows = table.shape[0], row, at = 0
    cdef int32_t width = table.shape[1], lost, n, i, count
    cdef uint8_t few[1 << ATTACK_TABLE]
    cdef int32_t stats[ATTACK_LIMIT]
    cdef int32_t places[ATTACK_LIMIT]
    cdef AttackWalk walk
    starts = np.zeros(rows + 1, dtype=np.int64)
    cdef int64_t[::1] start = starts
    if width == 0:
        return np.arange(rows + 1), np.zeros(rows, dtype=np.uint32)
    masks = np.empty(0, dtype=np.uint32)
    cdef uint32_t[::1] out = masks
    cdef bint fill
    for fill in (False, True):               # count, then write
        if fill:
            masks = out = np.empty(at, dtype=np.uint32)
            at = 0
        with nogil:
            for row in range(rows):
                n = _gather(&table[row, 0], width, stats, places)
                if n <= ATTACK_TABLE and total[row] <= ATTACK_TABLE_TOTAL:
                    count = attack_list(total[row], stats, n, few)
                    if fill:
                        for i in range(count):
                            out[at + i] = _scatter(few[i], places, n) if n < width else few[i]
                    at += count
                    start[row + 1] = at
                    continue
                attack_begin(&walk, total[row], stats, n)
                while True:
                    lost = attack_next(&walk)
                    if lost < 0:
                        break
                    if fill:
                        out[at] = _scatter(<uint32_t>lost, places, n)
                    at += 1
                start[row + 1] = at
    return starts, masks


def best_batch(totals, defenses, values):
    """`best` of many attacks.

    Args:
        totals, defenses: as `outcomes_batch`.
        values: finite float[rows, creatures]; ignored where there is no creature.

    Returns:
        (uint32[rows] masks of the creatures lost, float64[rows] value kept)
    """
    totals, defenses = _batch(totals, defenses)
    values = np.ascontiguousarray(values, dtype=np.float64)
    if values.shape != defenses.shape or not np.isfinite(values).all():
        raise AttackError(f"values must be finite and of the shape of defenses, {defenses.shape}; it is {values.shape}")
    cdef const int32_t[::1] total = totals
    cdef const int32_t[:, ::1] table = defenses
    cdef const double[:, ::1] worth = values
    cdef int64_t rows = table.shape[0], row
    cdef int32_t width = table.shape[1], n, i
    cdef int32_t stats[ATTACK_LIMIT]
    cdef int32_t places[ATTACK_LIMIT]
    cdef double prices[ATTACK_LIMIT]
    masks, kept = np.zeros(rows, dtype=np.uint32), np.zeros(rows)
    cdef uint32_t[::1] out = masks
    cdef double[::1] value = kept
    if width == 0:
        return masks, kept
    with nogil:
        for row in range(rows):
            n = _gather(&table[row, 0], width, stats, places)
            for i in range(n):
                prices[i] = worth[row, places[i]]
            out[row] = _scatter(attack_best(total[row], stats, prices, n, &value[row]), places, n)
    return masks, kept


def resolve_batch(totals, defenses, orders):
    """`resolve` of many attacks, each with a full order.

    Args:
        totals, defenses: as `outcomes_batch`, without empty places.
        orders: int[rows, creatures]; each row names every creature once.

    Returns:
        uint32[rows] masks of the creatures lost.
    """
    totals, defenses = _batch(totals, defenses)
    orders = np.asarray(orders)
    if orders.shape != defenses.shape or orders.dtype.kind not in "iu" or (
            np.sort(orders, axis=1) != np.arange(defenses.shape[1])).any():
        raise AttackError("orders must have the shape of defenses and name every creature of a row once")
    if defenses.size and defenses.min() < 0:
        raise AttackError("defenses has empty places, which an order cannot name")
    cdef const int32_t[::1] total = totals
    cdef const int32_t[:, ::1] table = defenses
    cdef const int32_t[:, ::1] line = np.ascontiguousarray(orders, dtype=np.int32)
    cdef int64_t rows = table.shape[0], row
    cdef int32_t width = table.shape[1]
    masks = np.zeros(rows, dtype=np.uint32)
    cdef uint32_t[::1] out = masks
    if width == 0:
        return masks
    with nogil:
        for row in range(rows):
            out[row] = attack_resolve(total[row], &table[row, 0], &line[row, 0], width)
    return masks
