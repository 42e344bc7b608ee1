"""The Python handle on a random stream; the generator itself is inlined from rng.pxd."""
import numpy as np

from engine_ext.seeds import check_seed


cdef class Stream:
    """A xoshiro256** stream.

    Args:
        seed: an int in [0, 2**64), a `numpy.random.SeedSequence`, or a sequence of ints each
            in [0, 2**64), which is folded through a SeedSequence; equal seeds give equal
            streams on every machine.

    Raises:
        ParameterError: for a negative or too large seed, which is a ValueError.
        TypeError: for anything else.

    >>> a, b = Stream(7), Stream(7)
    >>> a.below(6) == b.below(6)
    True
    """

    def __init__(self, seed=0):
        if isinstance(seed, (int, np.integer)):
            rng_seed(&self.rng, <uint64_t>check_seed(seed))
            return
        if not isinstance(seed, np.random.SeedSequence):
            seed = np.random.SeedSequence([int(word) for word in seed])
        words = seed.generate_state(4, np.uint64)
        self.rng.s0, self.rng.s1 = int(words[0]), int(words[1])
        self.rng.s2, self.rng.s3 = int(words[2]), int(words[3])
        if not words.any():
            self.rng.s0 = 1

    @staticmethod
    def keyed(a, b=0, c=0, d=0):
        """The stream that belongs to the key (a, b, c, d), each an int taken modulo 2**64."""
        cdef Stream stream = Stream.__new__(Stream)
        mask = 2**64 - 1
        rng_seed_keys(&stream.rng, a & mask, b & mask, c & mask, d & mask)
        return stream

    def next(self):
        """Next 64 random bits, as an int."""
        return rng_next(&self.rng)

    def below(self, bound):
        """Uniform int in [0, bound), bound in [1, 2**64)."""
        if not 1 <= bound < 2**64:
            raise ValueError(f"bound is {bound}, allowed are 1 to 2**64 - 1")
        if bound < 2**32:
            return rng_below(&self.rng, <uint32_t>bound)
        return rng_below64(&self.rng, <uint64_t>bound)

    def double(self):
        """Uniform float in [0, 1)."""
        return rng_double(&self.rng)

    def clone(self):
        """An independent copy that will replay the same numbers."""
        cdef Stream stream = Stream.__new__(Stream)
        stream.rng = self.rng
        return stream

    @property
    def state(self):
        """The four 64-bit words of the generator."""
        return self.rng.s0, self.rng.s1, self.rng.s2, self.rng.s3

    @state.setter
    def state(self, words):
        s0, s1, s2, s3 = words
        if not (s0 or s1 or s2 or s3):
            raise ValueError("an all-zero state is not a state of xoshiro256**")
        self.rng.s0, self.rng.s1, self.rng.s2, self.rng.s3 = s0, s1, s2, s3

    def __reduce__(self):
        return _restore_stream, (self.state,)


def _restore_stream(words):
    stream = Stream()
    stream.state = words
    return stream
