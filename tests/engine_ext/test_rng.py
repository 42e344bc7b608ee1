"""The random streams: the published generator, unbiased bounds, keyed streams, replays."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from engine_ext.rng import Stream

MASK = 2**64 - 1


def reference_xoshiro(state: list[int]) -> int:
    """xoshiro256** 1.0 as published by Blackman and Vigna, in plain ints; changes `state`."""

    def rotl(x: int, k: int) -> int:
        return (x << k | x >> (64 - k)) & MASK

    result = rotl(state[1] * 5 & MASK, 7) * 9 & MASK
    t = state[1] << 17 & MASK
    state[2] ^= state[0]
    state[3] ^= state[1]
    state[1] ^= state[2]
    state[0] ^= state[3]
    state[2] ^= t
    state[3] = rotl(state[3], 45)
    return result


def reference_splitmix(seed: int, n: int) -> list[int]:
    """The first n outputs of SplitMix64 as published by Vigna."""
    out = []
    for _ in range(n):
        seed = (seed + 0x9E3779B97F4A7C15) & MASK
        z = seed
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        out.append(z ^ z >> 31)
    return out


@given(st.integers(0, MASK))
def test_stream_is_xoshiro_seeded_by_splitmix(seed: int) -> None:
    stream = Stream(seed)
    state = reference_splitmix(seed, 4)
    assert list(stream.state) == state
    assert [stream.next() for _ in range(5)] == [reference_xoshiro(state) for _ in range(5)]


def test_published_splitmix_value() -> None:
    # First output of SplitMix64 for seed 0, as many libraries' tests state it.
    assert Stream(0).state[0] == 0xE220A8397B1DCDAF


@pytest.mark.parametrize("bound", [1, 2, 3, 6, 7, 252, 1000])
def test_bounded_integers_are_uniform(bound: int) -> None:
    stream = Stream(bound)
    counts = np.bincount([stream.below(bound) for _ in range(20_000)], minlength=bound)
    assert len(counts) == bound
    assert bound == 1 or chisquare(counts).pvalue > 1e-5


def test_large_bounds() -> None:
    stream = Stream(5)
    for bound in (2**32 - 1, 2**32, 2**63, 2**64 - 1):
        draws = [stream.below(bound) for _ in range(2000)]
        assert max(draws) < bound
        assert abs(sum(draws) / len(draws) / bound - 0.5) < 5 / np.sqrt(12 * 2000)


def test_doubles_lie_in_the_unit_interval_with_mean_one_half() -> None:
    stream = Stream(9)
    draws = np.array([stream.double() for _ in range(20_000)])
    assert draws.min() >= 0
    assert draws.max() < 1
    assert abs(draws.mean() - 0.5) < 5 / np.sqrt(12 * 20_000)


def test_keys_name_streams() -> None:
    assert Stream.keyed(1, 2, 3, 4).state == Stream.keyed(1, 2, 3, 4).state
    states = {Stream.keyed(a, b, c, d).state for a in range(3) for b in range(3) for c in range(3) for d in range(3)}
    assert len(states) == 81


def test_seed_sequences() -> None:
    words = np.random.SeedSequence([1, 2]).generate_state(4, np.uint64)
    assert Stream([1, 2]).state == tuple(int(word) for word in words)
    assert Stream(np.random.SeedSequence([1, 2])).state == Stream([1, 2]).state


def test_copies_and_pickles_replay() -> None:
    stream = Stream(3)
    stream.next()
    clone, pickled = stream.clone(), pickle.loads(pickle.dumps(stream))
    assert stream.next() == clone.next() == pickled.next()


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_bad_seeds_are_named(seed: int) -> None:
    with pytest.raises(ValueError, match="seed"):
        Stream(seed)


@pytest.mark.parametrize("bound", [0, -3, 2**64])
def test_bad_bounds_are_named(bound: int) -> None:
    with pytest.raises(ValueError, match="bound"):
        Stream(1).below(bound)


def test_zero_state_is_refused() -> None:
    with pytest.raises(ValueError, match="all-zero"):
        Stream(1).state = (0, 0, 0, 0)
