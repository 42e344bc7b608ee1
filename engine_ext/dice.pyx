"""Bags, rolls and multisets of dice, for Python: checked, exact, and batched into numpy arrays.

The native functions that rules call are inlined from dice.pxd; what stands here checks its input,
builds tables, lists exact distributions and fills arrays. Multisets are listed in the order of
`itertools.combinations_with_replacement`: by counts, most of class 0 first.

>>> rolls = Rolls(5)                     # five six-sided dice
>>> rolls.n_rolls, rolls.n_keepers
(252, 462)
>>> round(6**5 * rolls.probs[rolls.keeper([0, 0, 0, 0, 0, 5])])   # five sixes
1
"""
import math

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from engine_ext.rng cimport Rng, Stream
from engine_ext.errors import DiceError, TooLargeError

RANK_LIMIT = 2**53              # counts and ranks of multisets stay exact below this
DISTRIBUTION_LIMIT = 2**24      # most rows of a listed distribution

_COUNT_TYPES = (np.uint8, np.int32, np.int64)

ctypedef fused count_t:
    uint8_t
    int32_t
    int64_t


# ---- doors: what comes from Python is checked here, once ----------------------------------------

def _whole(name, value, low, high):
    """`value` as an int in [low, high]."""
    if type(value) is int and low <= value <= high:
        return value
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, np.integer)) or not low <= value <= high:
        raise DiceError(f"{name} is {value!r}, it must be a whole number from {low} to {high}")
    return int(value)


def _count_list(name, values, most_classes, most_dice):
    """`values` as a list of ints: counts per class."""
    array = np.asarray(values)
    if array.ndim != 1 or not 1 <= array.size <= most_classes:
        raise DiceError(f"{name} must list 1 to {most_classes} counts, one a class; its shape is {array.shape}")
    if array.dtype.kind not in "iu":
        raise DiceError(f"{name} is {values!r}, it must hold whole numbers")
    if array.min() < 0 or int(array.sum()) > most_dice:
        raise DiceError(f"{name} is {array.tolist()}, counts must be 0 or more and at most {most_dice} in all")
    return [int(value) for value in array]


def _out_array(out, shape, dtype):
    """A C-contiguous array of counts of this shape: `out` when it fits, a new one when it is None."""
    if out is None:
        if np.dtype(dtype) not in _COUNT_TYPES:
            raise DiceError(f"dtype is {dtype!r}, allowed are uint8, int32 and int64")
        return np.empty(shape, dtype=dtype)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype not in _COUNT_TYPES:
        raise DiceError(f"out must be an array of shape {shape} of uint8, int32 or int64")
    if not out.flags.c_contiguous or not out.flags.writeable:
        raise DiceError("out must be C-contiguous and writeable")
    return out


# ---- multisets ----------------------------------------------------------------------------------

def count_multisets(n, k):
    """How many multisets of n items of k classes there are: C(n + k - 1, n).

    Args:
        n: items, 0 to 255.
        k: classes, 1 to 255.

    Raises:
        DiceError: out of range.
        TooLargeError: 2**53 or more.

    >>> count_multisets(5, 6)
    252
    """
    n, k = _whole("n", n, 0, 255), _whole("k", k, 1, 255)
    exact = math.comb(n + k - 1, n)
    if exact >= RANK_LIMIT:
        raise TooLargeError(f"there are {exact} multisets of {n} items of {k} classes, more than 2**53 - 1")
    return multiset_count(n, k)


def rank_multiset(counts):
    """Place of a multiset among those of as many items of as many classes.

    Args:
        counts: items per class, 1 to 255 classes.

    Returns:
        int in [0, count_multisets(sum(counts), len(counts))).

    Raises:
        DiceError, TooLargeError: as `count_multisets`.

    >>> rank_multiset([5, 0, 0, 0, 0, 0]), rank_multiset([0, 0, 0, 0, 0, 5])
    (0, 251)
    """
    cdef uint8_t row[256]
    counts = _count_list("counts", counts, 255, 255)
    count_multisets(sum(counts), len(counts))
    for i, count in enumerate(counts):
        row[i] = count
    return multiset_rank(row, len(counts))


def unrank_multiset(rank, n, k):
    """The multiset of n items of k classes at a place: uint8[k] counts.

    Raises:
        DiceError, TooLargeError: as `count_multisets`, or no such rank.

    >>> unrank_multiset(251, 5, 6).tolist()
    [0, 0, 0, 0, 0, 5]
    """
    cdef uint8_t row[256]
    rank = _whole("rank", rank, 0, count_multisets(n, k) - 1)
    multiset_unrank(rank, n, k, row)
    return np.array([row[i] for i in range(k)], dtype=np.uint8)


def list_multisets(n, k):
    """All multisets of n items of k classes in order: uint8[count, k].

    Raises:
        DiceError: out of range.
        TooLargeError: more than DISTRIBUTION_LIMIT of them.
    """
    cdef int64_t rows = count_multisets(n, k)
    cdef int64_t row
    cdef int32_t items = n, classes = k
    if rows > DISTRIBUTION_LIMIT:
        raise TooLargeError(f"{rows} multisets are more than the {DISTRIBUTION_LIMIT} that can be listed")
    table = np.zeros((rows, k), dtype=np.uint8)
    cdef uint8_t[:, ::1] view = table
    with nogil:
        for row in range(rows):
            multiset_unrank(row, items, classes, &view[row, 0])
    return table


def rank_multisets(counts):
    """Ranks of many multisets at once.

    Args:
        counts: uint8[rows, k]; all rows with the same sum share one numbering.

    Returns:
        int64[rows].
    """
    array = np.asarray(counts)
    if array.ndim != 2 or array.dtype.kind not in "iu" or not 1 <= array.shape[1] <= 255:
        raise DiceError(f"counts must be whole numbers of shape [rows, 1 to 255 classes], not {array.shape}")
    if array.size and (array.min() < 0 or int(array.sum(axis=1, dtype=np.int64).max()) > 255):
        raise DiceError("counts must be 0 or more, and at most 255 in a row")
    if array.size:
        count_multisets(int(array.sum(axis=1, dtype=np.int64).max()), array.shape[1])
    cdef const uint8_t[:, ::1] view = np.ascontiguousarray(array, dtype=np.uint8)
    cdef int64_t rows = view.shape[0], row
    cdef int32_t classes = view.shape[1]
    ranks = np.empty(rows, dtype=np.int64)
    cdef int64_t[::1] out = ranks
    with nogil:
        for row in range(rows):
            out[row] = multiset_rank(&view[row, 0], classes)
    return ranks


# ---- rolls --------------------------------------------------------------------------------------

cdef class Rolls:
    """Every roll of n equal dice, every keeper of at most n of them, and what a reroll leads to.

    Args:
        n_dice: 1 to 8.
        n_faces: 2 to 8; n_faces ** n_dice at most 2**20.

    Attributes:
        counts: uint8[n_keepers, n_faces], face counts by keeper; the rolls are the last n_rolls rows.

    Keepers are numbered by size, then by rank: keeper 0 keeps nothing. Roll r is keeper
    `n_keepers - n_rolls + r`. Native code reads `table` (see dice.pxd) and keeps this object alive.

    Raises:
        DiceError: out of range.
    """

    def __init__(self, n_dice, n_faces=6):
        n_dice = _whole("n_dice", n_dice, 1, ROLL_DICE_LIMIT)
        n_faces = _whole("n_faces", n_faces, 2, ROLL_FACES_LIMIT)
        if n_faces**n_dice > ROLL_ORDERED_LIMIT:
            raise DiceError(f"{n_dice} dice of {n_faces} faces have {n_faces**n_dice} ordered rolls, "
                            f"at most {ROLL_ORDERED_LIMIT} can be tabled")
        cdef RollTable *table = &self.table
        memset(table, 0, sizeof(RollTable))
        table.n_dice, table.n_faces = n_dice, n_faces
        sizes = [math.comb(size + n_faces - 1, size) for size in range(n_dice + 1)]
        table.n_rolls, table.n_keepers = sizes[n_dice], sum(sizes)
        table.n_pairs = math.comb(n_dice + 2 * n_faces - 1, n_dice)
        for size in range(n_dice + 1):
            table.first[size + 1] = table.first[size] + sizes[size]
            table.n_ordered[size] = n_faces**size
            for face in range(n_faces):
                # as in multiset_rank: those that agree up to this face and have more of it
                for upto in range(size):
                    table.rank_part[size][face][upto] = multiset_count(size - upto - 1, n_faces - face)
        for size in range(n_dice):
            table.ordered_start[size + 1] = table.ordered_start[size] + table.n_ordered[size]
        self.counts = np.concatenate([list_multisets(size, n_faces) for size in range(n_dice + 1)])
        self._arrays = {
            "packed": np.array([sum(int(c) << 8 * face for face, c in enumerate(row)) for row in self.counts],
                               dtype=np.uint64),
            "size": self.counts.sum(axis=1, dtype=np.uint8),
            "prob": np.array([
                math.factorial(int(row.sum())) / math.prod(math.factorial(int(c)) for c in row)
                / n_faces ** int(row.sum()) for row in self.counts]),
            "ordered": np.empty(int(table.ordered_start[n_dice] + table.n_ordered[n_dice]), dtype=np.uint16),
            "next_start": np.zeros(table.n_keepers + 1, dtype=np.int32),
            "next_roll": np.empty(table.n_pairs, dtype=np.uint16),
            "keeper_start": np.zeros(table.n_rolls + 1, dtype=np.int32),
            "keeper_of": np.empty(table.n_pairs, dtype=np.uint16),
        }
        cdef uint64_t[::1] packed = self._arrays["packed"]
        cdef uint8_t[::1] dice = self._arrays["size"]
        cdef double[::1] prob = self._arrays["prob"]
        cdef uint16_t[::1] ordered = self._arrays["ordered"]
        cdef int32_t[::1] next_start = self._arrays["next_start"]
        cdef uint16_t[::1] next_roll = self._arrays["next_roll"]
        cdef int32_t[::1] keeper_start = self._arrays["keeper_start"]
        cdef uint16_t[::1] keeper_of = self._arrays["keeper_of"]
        table.packed, table.size, table.prob, table.ordered = &packed[0], &dice[0], &prob[0], &ordered[0]
        table.next_start, table.next_roll = &next_start[0], &next_roll[0]
        table.keeper_start, table.keeper_of = &keeper_start[0], &keeper_of[0]
        cdef int32_t s, keeper, roll, other, others, i, _die, base
        cdef uint32_t throw, rest
        cdef uint64_t shown
        for s in range(table.n_dice + 1):
            base = table.ordered_start[s]
            for throw in range(table.n_ordered[s]):
                rest = throw
                shown = 0
                for _die in range(s):
                    shown += <uint64_t>1 << (8 * (rest % <uint32_t>table.n_faces))
                    rest //= <uint32_t>table.n_faces
                ordered[base + <int32_t>throw] = roll_keeper_id(table, shown)
        for keeper in range(table.n_keepers):
            others = table.n_dice - dice[keeper]
            next_start[keeper + 1] = next_start[keeper] + sizes[others]
            for other in range(table.first[others], table.first[others + 1]):
                roll = roll_of_keeper(table, roll_keeper_id(table, packed[keeper] + packed[other]))
                next_roll[next_start[keeper] + other - table.first[others]] = roll
                keeper_start[roll + 1] += 1
        for roll in range(table.n_rolls):
            keeper_start[roll + 1] += keeper_start[roll]
        filled = np.array(self._arrays["keeper_start"])
        cdef int32_t[::1] at = filled
        for keeper in range(table.n_keepers):
            for i in range(next_start[keeper], next_start[keeper + 1]):
                roll = next_roll[i]
                keeper_of[at[roll]] = keeper
                at[roll] += 1
        for array in (self.counts, *self._arrays.values()):
            array.flags.writeable = False

    def __reduce__(self):
        return type(self), (self.table.n_dice, self.table.n_faces)

    def __repr__(self):
        return f"Rolls({self.table.n_dice}, {self.table.n_faces})"

    @property
    def n_dice(self):
        return self.table.n_dice

    @property
    def n_faces(self):
        return self.table.n_faces

    @property
    def n_rolls(self):
        """Multisets that all dice together can show."""
        return self.table.n_rolls

    @property
    def n_keepers(self):
        """Multisets of at most n_dice dice."""
        return self.table.n_keepers

    @property
    def probs(self):
        """float64[n_keepers]: that the multiset shows when exactly its number of dice is rolled."""
        return self._arrays["prob"]

    @property
    def sizes(self):
        """uint8[n_keepers]: dice of each keeper."""
        return self._arrays["size"]

    def keeper(self, counts):
        """Number of the keeper with these face counts.

        Raises:
            DiceError: not one count a face, or more than n_dice dice.
        """
        counts = _count_list("counts", counts, ROLL_FACES_LIMIT, self.table.n_dice)
        if len(counts) != self.table.n_faces:
            raise DiceError(f"counts lists {len(counts)} faces, these dice have {self.table.n_faces}")
        return roll_keeper_id(&self.table, sum(count << 8 * face for face, count in enumerate(counts)))

    def roll(self, counts):
        """Number of the roll with these face counts.

        Raises:
            DiceError: not one count a face, or not n_dice dice.
        """
        keeper = self.keeper(counts)
        if self._arrays["size"][keeper] != self.table.n_dice:
            raise DiceError(f"counts {list(counts)} hold {sum(counts)} dice, a roll has {self.table.n_dice}")
        return roll_of_keeper(&self.table, keeper)

    def keepers(self, roll):
        """Keepers inside a roll, ascending: uint16[at most 2 ** n_dice]."""
        roll = _whole("roll", roll, 0, self.table.n_rolls - 1)
        return self._arrays["keeper_of"][self.table.keeper_start[roll]:self.table.keeper_start[roll + 1]]

    def after(self, keeper):
        """What lies on the table when the keeper is kept and the other dice are rolled.

        Returns:
            (uint16[m] rolls ascending, float64[m] their probabilities, sum 1)
        """
        cdef int32_t chosen = _whole("keeper", keeper, 0, self.table.n_keepers - 1)
        cdef int32_t others = self.table.n_dice - self.table.size[chosen]
        return (self._arrays["next_roll"][self.table.next_start[chosen]:self.table.next_start[chosen + 1]],
                self._arrays["prob"][self.table.first[others]:self.table.first[others + 1]])

    def transitions(self):
        """The matrix float64[n_keepers, n_rolls] of `after`, as a scipy CSR array: for values v[n_rolls],
        `transitions() @ v` is the expected value of every keeper."""
        from scipy.sparse import csr_array

        first = [int(self.table.first[size]) for size in range(self.table.n_dice + 2)]
        probs = np.concatenate([
            self._arrays["prob"][first[self.table.n_dice - size]:first[self.table.n_dice - size + 1]]
            for size in self._arrays["size"].tolist()])
        return csr_array((probs, self._arrays["next_roll"].astype(np.int32), self._arrays["next_start"]),
                         shape=(self.table.n_keepers, self.table.n_rolls))

    def sample(self, Stream stream not None, keeper=0):
        """Number of a random roll after keeping the keeper (0: all dice are rolled)."""
        return roll_after(&self.table, _whole("keeper", keeper, 0, self.table.n_keepers - 1), &stream.rng)

    def sample_batch(self, size, Stream stream not None, keeper=0):
        """Many of `sample`: uint16[size]."""
        cdef int64_t rows = _whole("size", size, 0, 2**40), row
        cdef int32_t kept = _whole("keeper", keeper, 0, self.table.n_keepers - 1)
        rolls = np.empty(rows, dtype=np.uint16)
        cdef uint16_t[::1] out = rolls
        cdef Rng rng = stream.rng
        with nogil:
            for row in range(rows):
                out[row] = roll_after(&self.table, kept, &rng)
        stream.rng = rng
        return rolls


def roll_distribution(n, weights):
    """Exact distribution of n equal dice whose faces have the given weights (multinomial).

    Args:
        n: dice, 0 to 127.
        weights: positive, one a face, 1 to 64 faces; only their ratios matter.

    Returns:
        (uint8[m, faces] face counts in the order of multisets, float64[m] probabilities, sum 1)

    Raises:
        DiceError: out of range.
        TooLargeError: more than DISTRIBUTION_LIMIT rows.
    """
    n = _whole("n", n, 0, BAG_DICE_LIMIT)
    shares = np.asarray(weights, dtype=np.float64)
    if shares.ndim != 1 or not 1 <= shares.size <= BAG_CLASSES_LIMIT:
        raise DiceError(f"weights must list 1 to {BAG_CLASSES_LIMIT} numbers, its shape is {shares.shape}")
    if not (np.isfinite(shares).all() and (shares > 0).all()):
        raise DiceError(f"weights is {shares.tolist()}, every weight must be above 0")
    counts = list_multisets(n, shares.size)
    shares = shares / shares.sum()
    probs = np.ones(len(counts))
    left = np.full(len(counts), n)
    binomial = np.array([[math.comb(a, b) for b in range(n + 1)] for a in range(n + 1)], dtype=np.float64)
    for face in range(shares.size):
        probs *= binomial[left, counts[:, face]] * shares[face] ** counts[:, face].astype(np.float64)
        left = left - counts[:, face]
    return counts, probs


def roll_by_class(counts, n_faces, Stream stream not None):
    """Roll all dice of several classes.

    Args:
        counts: dice per class, 1 to 64 classes, at most 127 dice.
        n_faces: faces, 1 to 8: one number for all classes or one a class.

    Returns:
        uint8[classes, max(n_faces)]: how many dice of the class show the face.
    """
    return roll_by_class_batch(counts, n_faces, 1, stream)[0]


def roll_by_class_batch(counts, n_faces, size, Stream stream not None, out=None, dtype=np.uint8):
    """Many of `roll_by_class`: [size, classes, max(n_faces)] of dtype uint8, int32 or int64."""
    counts = _count_list("counts", counts, BAG_CLASSES_LIMIT, BAG_DICE_LIMIT)
    if np.ndim(n_faces) == 0:
        n_faces = [n_faces] * len(counts)
    if len(n_faces) != len(counts):
        raise DiceError(f"n_faces lists {len(n_faces)} classes, counts {len(counts)}")
    faces = [_whole("n_faces", value, 1, ROLL_FACES_LIMIT) for value in n_faces]
    result = _out_array(out, (_whole("size", size, 0, 2**40), len(counts), max(faces)), dtype)
    flat = result.reshape(-1)
    dice = np.array(counts, dtype=np.int32)
    sides = np.array(faces, dtype=np.int32)
    if result.dtype == np.uint8:
        _fill_rolls[uint8_t](dice, sides, max(faces), flat, stream)
    elif result.dtype == np.int32:
        _fill_rolls[int32_t](dice, sides, max(faces), flat, stream)
    else:
        _fill_rolls[int64_t](dice, sides, max(faces), flat, stream)
    return result


cdef _fill_rolls(const int32_t[::1] dice, const int32_t[::1] sides, int32_t width, count_t[::1] out, Stream stream):
    cdef int64_t _row, rows
    cdef int32_t i, face, classes = dice.shape[0]
    cdef int64_t at = 0
    cdef uint64_t shown
    cdef Rng rng = stream.rng
    rows = out.shape[0] // (classes * width)
    with nogil:
        for _row in range(rows):
            for i in range(classes):
                shown = roll_packed_dice(dice[i], sides[i], &rng)
                for face in range(width):
                    out[at] = <count_t>packed_count(shown, face)
                    at += 1
    stream.rng = rng


# ---- bags ---------------------------------------------------------------------------------------

def hypergeometric_distribution(good, total, k):
    """Exact distribution of the number of good dice among k drawn from `total`.

    Args:
        good, k: 0 to total.
        total: 0 to 127.

    Returns:
        (int smallest possible number, float64[m] probabilities of it and the next ones, sum 1)
    """
    cdef double probs[BAG_DICE_LIMIT + 1]
    cdef int32_t low
    total = _whole("total", total, 0, BAG_DICE_LIMIT)
    count = hypergeometric_probs(_whole("good", good, 0, total), total, _whole("k", k, 0, total), &low, probs)
    return low, np.array([probs[i] for i in range(count)])


def hypergeometric_batch(good, total, k, size, Stream stream not None):
    """Random numbers of good dice among k drawn from `total`: int32[size]."""
    cdef int32_t dice = _whole("total", total, 0, BAG_DICE_LIMIT)
    cdef int32_t hits = _whole("good", good, 0, dice)
    cdef int32_t draw = _whole("k", k, 0, dice)
    cdef int64_t rows = _whole("size", size, 0, 2**40), row
    numbers = np.empty(rows, dtype=np.int32)
    cdef int32_t[::1] out = numbers
    cdef Rng rng = stream.rng
    with nogil:
        for row in range(rows):
            out[row] = draw_hypergeometric(hits, dice, draw, &rng)
    stream.rng = rng
    return numbers


def draw_distribution(counts, k):
    """Exact distribution of k dice drawn from a bag without replacement (multivariate hypergeometric).

    Args:
        counts: dice per class, 1 to 64 classes, at most 127 dice.
        k: 0 to their sum.

    Returns:
        (uint8[m, classes] counts drawn in the order of multisets, float64[m] probabilities, sum 1)

    Raises:
        DiceError: out of range.
        TooLargeError: more than DISTRIBUTION_LIMIT rows.
    """
    counts = _count_list("counts", counts, BAG_CLASSES_LIMIT, BAG_DICE_LIMIT)
    k = _whole("k", k, 0, sum(counts))
    ways = [1] + [0] * k                    # ways[j]: sub-multisets of j dice of the classes so far
    for count in counts:
        ways = [sum(ways[j - c] for c in range(min(count, j) + 1)) for j in range(k + 1)]
    if ways[k] > DISTRIBUTION_LIMIT:
        raise TooLargeError(f"{ways[k]} different draws are more than the {DISTRIBUTION_LIMIT} that can be listed")
    draws = np.zeros((ways[k], len(counts)), dtype=np.uint8)
    probs = np.empty(ways[k])
    suffix = np.array([sum(counts[i:]) for i in range(len(counts) + 1)], dtype=np.int32)
    binomial = np.array([[math.comb(a, b) for b in range(k + 1)] for a in range(max(counts) + 1)], dtype=np.float64)
    lines = _DrawLister(np.array(counts, dtype=np.int32), suffix, binomial, draws, probs)
    lines.fill(k, 1.0 / math.comb(sum(counts), k))
    return draws, probs


cdef class _DrawLister:
    """Writes every draw of a bag, class by class, most of the earlier classes first."""
    cdef const int32_t[::1] counts
    cdef const int32_t[::1] suffix
    cdef const double[:, ::1] binomial
    cdef uint8_t[:, ::1] draws
    cdef double[::1] probs
    cdef uint8_t row[BAG_CLASSES_LIMIT]
    cdef int64_t at

    def __init__(self, counts, suffix, binomial, draws, probs):
        self.counts, self.suffix, self.binomial = counts, suffix, binomial
        self.draws, self.probs = draws, probs
        self.at = 0

    def fill(self, k, double weight):
        self._class(0, k, weight)

    cdef void _class(self, int32_t i, int32_t left, double weight) noexcept:
        cdef int32_t take, most
        if i == self.counts.shape[0]:
            memcpy(&self.draws[self.at, 0], self.row, i)
            self.probs[self.at] = weight
            self.at += 1
            return
        most = min(self.counts[i], left)
        for take in range(most, -1, -1):
            if left - take > self.suffix[i + 1]:
                break
            self.row[i] = take
            self._class(i + 1, left - take, weight * self.binomial[self.counts[i], take])


def draw_batch(counts, k, size, Stream stream not None, out=None, dtype=np.int64):
    """Many independent draws of k dice from one bag, each from the full bag.

    Args:
        counts: dice per class, 1 to 64 classes, at most 127 dice.
        k: dice a draw, 0 to their sum.
        size: draws.
        stream: where the randomness comes from.
        out: an array [size, classes] to fill, or None for a new one.
        dtype: of a new array: uint8, int32 or int64 (numpy's own type for this).

    Returns:
        [size, classes] how many of each class were drawn.
    """
    counts = _count_list("counts", counts, BAG_CLASSES_LIMIT, BAG_DICE_LIMIT)
    k = _whole("k", k, 0, sum(counts))
    result = _out_array(out, (_whole("size", size, 0, 2**40), len(counts)), dtype)
    bag = np.array(counts, dtype=np.uint8)
    if result.dtype == np.uint8:
        _fill_draws[uint8_t](bag, k, result, stream)
    elif result.dtype == np.int32:
        _fill_draws[int32_t](bag, k, result, stream)
    else:
        _fill_draws[int64_t](bag, k, result, stream)
    return result


cdef _fill_draws(const uint8_t[::1] counts, int32_t k, count_t[:, ::1] out, Stream stream):
    cdef uint8_t full[8 * BAG_WORDS]
    cdef uint8_t drawn[8 * BAG_WORDS]
    cdef int32_t classes = counts.shape[0], words = bag_words(classes), i
    cdef int64_t row, rows = out.shape[0]
    cdef Rng rng = stream.rng
    memset(full, 0, sizeof(full))
    memcpy(full, &counts[0], classes)
    with nogil:
        for row in range(rows):
            _draw_from(full, words, k, drawn, &rng)
            for i in range(classes):
                out[row, i] = <count_t>drawn[i]
    stream.rng = rng


cdef inline void _draw_from(const uint8_t *full, int32_t words, int32_t k, uint8_t *drawn, Rng *rng) noexcept nogil:
    """bag_draw from a copy of the bag, with the usual numbers of words as constants."""
    cdef uint8_t bag[8 * BAG_WORDS]
    if words == 1:
        memcpy(bag, full, 8)
        bag_draw(bag, 1, k, drawn, rng)
    elif words == 2:
        memcpy(bag, full, 16)
        bag_draw(bag, 2, k, drawn, rng)
    else:
        memcpy(bag, full, 8 * words)
        bag_draw(bag, words, k, drawn, rng)


cdef class DiceBag:
    """A bag of dice and a second pile of spent dice that refills it.

    Args:
        counts: dice per class in the bag, 1 to 64 classes.
        spent: dice per class in the second pile; None for none.

    Bag and pile hold at most 127 dice together. Methods that raise change nothing.

    Raises:
        DiceError: a count out of range, or lists of different lengths.

    >>> from engine_ext.rng import Stream
    >>> bag = DiceBag([2, 1], spent=[0, 3])
    >>> bag.draw(3, Stream(1)).tolist()          # all that is in the bag
    [2, 1]
    >>> bag.draw(2, Stream(1)).tolist()          # refilled from the spent dice
    [0, 2]
    >>> bag.counts.tolist(), bag.spent.tolist()
    ([0, 1], [0, 0])
    """

    def __init__(self, counts, spent=None):
        counts = _count_list("counts", counts, BAG_CLASSES_LIMIT, BAG_DICE_LIMIT)
        spent = [0] * len(counts) if spent is None else _count_list("spent", spent, BAG_CLASSES_LIMIT, BAG_DICE_LIMIT)
        if len(spent) != len(counts):
            raise DiceError(f"spent lists {len(spent)} classes, counts {len(counts)}")
        if sum(counts) + sum(spent) > BAG_DICE_LIMIT:
            raise DiceError(f"bag and spent dice are {sum(counts) + sum(spent)}, at most {BAG_DICE_LIMIT} are allowed")
        memset(self.in_bag, 0, sizeof(self.in_bag))
        memset(self.in_spent, 0, sizeof(self.in_spent))
        self.n_classes, self.n_words = len(counts), bag_words(len(counts))
        for i, (count, used) in enumerate(zip(counts, spent, strict=True)):
            self.in_bag[i], self.in_spent[i] = count, used

    def __reduce__(self):
        return type(self), (self.counts, self.spent)

    def __repr__(self):
        return f"DiceBag({self.counts.tolist()}, spent={self.spent.tolist()})"

    def __eq__(self, other):
        if not isinstance(other, DiceBag):
            return NotImplemented
        return self.counts.tolist() == other.counts.tolist() and self.spent.tolist() == other.spent.tolist()

    __hash__ = None

    def __len__(self):
        """Dice in the bag; the spent ones do not count."""
        return bag_size(self.in_bag, self.n_words)

    def clone(self):
        """An independent copy."""
        return DiceBag(self.counts, self.spent)

    @property
    def counts(self):
        """uint8[n_classes]: what is in the bag (a copy)."""
        return np.array([self.in_bag[i] for i in range(self.n_classes)], dtype=np.uint8)

    @property
    def spent(self):
        """uint8[n_classes]: what is in the second pile (a copy)."""
        return np.array([self.in_spent[i] for i in range(self.n_classes)], dtype=np.uint8)

    def draw(self, k, Stream stream not None):
        """Take k dice; when the bag runs out, the spent dice go into it and drawing goes on.

        Returns:
            uint8[n_classes]: how many of each class.

        Raises:
            DiceError: bag and second pile hold fewer than k.
        """
        cdef uint8_t drawn[8 * BAG_WORDS]
        cdef uint8_t[::1] out
        bag_draw_refill(self.in_bag, self.in_spent, self.n_words, self._available(k), drawn, &stream.rng)
        taken = out = np.empty(self.n_classes, dtype=np.uint8)
        memcpy(&out[0], drawn, self.n_classes)
        return taken

    def draw_one(self, Stream stream not None):
        """Take one die, as `draw(1)`; returns its class."""
        self._available(1)
        if bag_size(self.in_bag, self.n_words) == 0:
            memcpy(self.in_bag, self.in_spent, sizeof(self.in_bag))
            memset(self.in_spent, 0, sizeof(self.in_spent))
        return bag_draw_one(self.in_bag, self.n_words, &stream.rng)

    def put(self, counts):
        """Put dice into the bag.

        Raises:
            DiceError: malformed counts, or more than 127 dice in all.
        """
        for i, count in enumerate(self._addition(counts)):
            self.in_bag[i] += <uint8_t>count

    def spend(self, counts):
        """Put dice onto the second pile.

        Raises:
            DiceError: malformed counts, or more than 127 dice in all.
        """
        for i, count in enumerate(self._addition(counts)):
            self.in_spent[i] += <uint8_t>count

    def distribution(self, k):
        """Exact distribution of `draw(k)`: (uint8[m, n_classes] draws, float64[m] probabilities)."""
        k = self._available(k)
        inside = self.counts
        total = int(inside.sum())
        if k <= total:
            return draw_distribution(inside, k)
        draws, probs = draw_distribution(self.spent, k - total)
        return draws + inside, probs

    def draw_batch(self, k, size, Stream stream not None, out=None, dtype=np.int64):
        """Many independent `draw(k)` from the bag as it stands; the bag does not change.

        Returns:
            [size, n_classes], as the function `draw_batch`.
        """
        k = self._available(k)
        inside = self.counts
        total = int(inside.sum())
        if k <= total:
            return draw_batch(inside, k, size, stream, out=out, dtype=dtype)
        draws = draw_batch(self.spent, k - total, size, stream, out=out, dtype=dtype)
        draws += inside.astype(draws.dtype)
        return draws

    def _available(self, k):
        most = bag_size(self.in_bag, self.n_words) + bag_size(self.in_spent, self.n_words)
        return _whole("k", k, 0, most)

    def _addition(self, counts):
        counts = _count_list("counts", counts, BAG_CLASSES_LIMIT, BAG_DICE_LIMIT)
        if len(counts) != self.n_classes:
            raise DiceError(f"counts lists {len(counts)} classes, the bag has {self.n_classes}")
        held = bag_size(self.in_bag, self.n_words) + bag_size(self.in_spent, self.n_words)
        if held + sum(counts) > BAG_DICE_LIMIT:
            raise DiceError(f"{sum(counts)} more dice make {held + sum(counts)}, at most {BAG_DICE_LIMIT} are allowed")
        return counts


# ---- measuring ----------------------------------------------------------------------------------

def time_draws(counts, k, int64_t repeats, Stream stream not None):
    """Draw k dice from a fresh copy of one bag `repeats` times, one call of the native function a
    draw, without the GIL. For benchmarks: time this call.

    Returns:
        int: a checksum of all draws, which keeps them from being optimised away.
    """
    cdef uint8_t full[8 * BAG_WORDS]
    cdef uint8_t drawn[8 * BAG_WORDS]
    counts = _count_list("counts", counts, BAG_CLASSES_LIMIT, BAG_DICE_LIMIT)
    cdef int32_t draw = _whole("k", k, 0, sum(counts)), words = bag_words(len(counts)), w
    cdef uint64_t word, checksum = 0
    cdef int64_t _n
    cdef Rng rng = stream.rng
    memset(full, 0, sizeof(full))
    for i, count in enumerate(counts):
        full[i] = count
    with nogil:
        for _n in range(repeats):
            _draw_from(full, words, draw, drawn, &rng)
            for w in range(words):
                memcpy(&word, drawn + 8 * w, 8)
                checksum += word
    stream.rng = rng
    return checksum
