"""The random streams: uniform, unbiased, and a pure function of the seed."""

from __future__ import annotations

import itertools
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from flexicase import rng
from flexicase.rng import Key, Lane, Stream, cosine_and_sine, decay, key_from_seed, normals

LEAST_P = 1e-4


def mix64(x: np.ndarray) -> np.ndarray:
    """SplitMix64's finaliser on many words at once."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def lane_states(key: Key, events: int, lane: Lane) -> np.ndarray:
    """(events,) the lane's state in each event."""
    numbers = np.arange(events, dtype=np.uint64)
    states = mix64(np.uint64(key.k0) + mix64(np.uint64(key.k1) + numbers * np.uint64(rng.GOLDEN)))
    return mix64(states + np.uint64((int(lane) * rng.LANE_STEP) & rng.MASK64))


def all_case_keys(lanes: np.ndarray, cases: int | tuple[int, ...]) -> np.ndarray:
    """(events, n_cases) the keys of the first so many cases, or of these, in all events."""
    numbers = np.arange(cases) if isinstance(cases, int) else np.array(cases)
    low, high = (lanes & np.uint64(0xFFFFFFFF)).astype(np.uint32), (lanes >> np.uint64(32)).astype(np.uint32)
    x = numbers.astype(np.uint32)[None, :] * np.uint32(0x9E3779B1) + low[:, None]
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x7FEB352D)
    x ^= high[:, None]
    x = (x ^ (x >> np.uint32(15))) * np.uint32(0x846CA68B)
    return x ^ (x >> np.uint32(16))


def test_the_vectorised_streams_of_these_tests_are_the_packages() -> None:
    key = rng.key_from_seed(5)
    lanes = lane_states(key, 20, Lane.KEYS)
    for event in range(20):
        state = rng.lane_state(rng.event_state(key, event), Lane.KEYS)
        assert state == int(lanes[event])
        assert (rng.case_keys(state, 7) == all_case_keys(lanes[event : event + 1], 7)[0]).all()


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2**70])
def test_keys_order_four_cases_in_all_24_ways_equally_often(seed: int) -> None:
    orders = np.argsort(all_case_keys(lane_states(rng.key_from_seed(seed), 240_000, Lane.KEYS), 4), axis=1)
    counts = Counter(map(tuple, orders.tolist()))
    assert len(counts) == 24
    assert stats.chisquare(list(counts.values())).pvalue > LEAST_P


@pytest.mark.parametrize("pair", [(0, 1), (3, 700), (998, 999), (0, 999)])
def test_any_two_of_a_thousand_cases_come_in_either_order(pair: tuple[int, int]) -> None:
    lanes = lane_states(rng.key_from_seed(3), 100_000, Lane.KEYS)
    keys = all_case_keys(lanes, pair)
    assert stats.binomtest(int((keys[:, 0] < keys[:, 1]).sum()), len(keys)).pvalue > LEAST_P


def test_consecutive_events_have_independent_orders() -> None:
    first = np.argmin(all_case_keys(lane_states(rng.key_from_seed(9), 200_000, Lane.KEYS), 5), axis=1)
    table = np.histogram2d(first[:-1:2], first[1::2], bins=5)[0]
    assert stats.chisquare(table.ravel()).pvalue > LEAST_P


def test_lanes_of_one_event_are_independent() -> None:
    key = rng.key_from_seed(4)
    a = np.argmin(all_case_keys(lane_states(key, 100_000, Lane.KEYS), 4), axis=1)
    b = np.argmin(all_case_keys(lane_states(key, 100_000, Lane.LOW_BITS), 4), axis=1)
    assert stats.chisquare(np.histogram2d(a, b, bins=4)[0].ravel()).pvalue > LEAST_P


@pytest.mark.slow
def test_no_two_cases_share_a_key() -> None:
    for event in range(3):
        lane = rng.lane_state(rng.event_state(Key(1, 2), event), Lane.KEYS)
        assert len(np.unique(rng.case_keys(lane, 200_000))) == 200_000


def test_exponential_keys_are_exponential_and_ordered_like_the_case_keys() -> None:
    state = rng.event_state(Key(11, 13), 0)
    keys = rng.exponential_keys(state, 100_000)
    assert (keys > 0).all()
    assert np.isfinite(keys).all()
    assert stats.kstest(keys, "expon").pvalue > LEAST_P
    cases = rng.case_keys(rng.lane_state(state, Lane.KEYS), 100_000)
    assert (np.diff(keys[np.argsort(cases)]) >= 0).all()


def test_negative_log_is_accurate_to_a_few_units_in_the_last_place() -> None:
    generator = np.random.default_rng(1)
    steps = np.concatenate([np.arange(1, 2000), 2**53 - np.arange(1, 2000)]) * 2.0**-53
    v = np.concatenate([generator.random(100_000), 0.5 ** np.arange(1, 54), steps, [0.7071067811865476]])
    v = v[(v > 0) & (v < 1)]
    exact = -np.log(v.astype(np.longdouble))
    error = np.abs(rng.negative_log(v).astype(np.longdouble) - exact) / np.spacing(exact.astype(np.float64))
    assert error.max() <= 4


@pytest.mark.parametrize("n", [1, 2, 3, 7, 10, 64, 1000])
def test_bounded_integers_are_uniform(n: int) -> None:
    stream = Stream.of(Key(n, 1), 0, Lane.PICK)
    counts = np.bincount([stream.bounded(n) for _ in range(20_000)], minlength=n)
    assert len(counts) == n
    assert stats.chisquare(counts).pvalue > LEAST_P if n > 1 else counts[0] == 20_000


def test_bounded_integers_are_unbiased_for_huge_bounds() -> None:
    """With n = 3/4 of 2**64, a biased method would favour a third of the range twofold."""
    stream = Stream.of(Key(6, 6), 0, Lane.PICK)
    n = 3 << 62
    thirds = np.bincount([stream.bounded(n) * 3 // n for _ in range(30_000)], minlength=3)
    residues = np.bincount([stream.bounded(n) % 3 for _ in range(30_000)], minlength=3)
    assert stats.chisquare(thirds).pvalue > LEAST_P
    assert stats.chisquare(residues).pvalue > LEAST_P


def test_units_are_uniform_below_one() -> None:
    stream = Stream.of(Key(2, 3), 0, Lane.HEAD)
    draws = np.array([stream.unit() for _ in range(20_000)])
    assert draws.min() >= 0
    assert draws.max() < 1
    assert stats.kstest(draws, "uniform").pvalue > LEAST_P


def test_a_stream_depends_on_key_event_and_lane_alone() -> None:
    words = {
        Stream.of(Key(k0, k1), event, lane).word()
        for k0, k1, event, lane in itertools.product(range(3), range(3), range(50), Lane)
    }
    assert len(words) == 3 * 3 * 50 * len(Lane)
    assert Stream.of(Key(1, 2), 3, Lane.PICK).word() == Stream.of(Key(1, 2), 3, Lane.PICK).word()


def test_equal_integers_of_any_type_are_equal_seeds() -> None:
    expected = rng.key_from_seed(7)
    for seed in (np.int8(7), np.int64(7), np.uint64(7), np.int32(7)):
        assert rng.key_from_seed(seed) == expected


def test_integer_seeds_of_any_size_differ() -> None:
    seeds = [*range(200), *(2**k for k in range(8, 300)), *(2**k - 1 for k in range(9, 300)), 2**64 + 1]
    assert len({rng.key_from_seed(s) for s in seeds}) == len(set(seeds))


def test_keys_are_64_bit_words() -> None:
    for seed in (0, 2**200, None, np.random.default_rng(1), np.random.SeedSequence(1)):
        assert all(0 <= word < 2**64 for word in rng.key_from_seed(seed))


def test_a_generator_is_advanced_and_reproducible() -> None:
    generator = np.random.default_rng(1)
    first, second = rng.key_from_seed(generator), rng.key_from_seed(generator)
    assert first != second
    again = np.random.default_rng(1)
    assert (rng.key_from_seed(again), rng.key_from_seed(again)) == (first, second)


GENERATORS = {
    "Generator": lambda: np.random.default_rng(1),
    "RandomState": lambda: np.random.RandomState(1),
    "BitGenerator": lambda: np.random.PCG64(1),
    "random.Random": lambda: random.Random(1),
    "torch.Generator": lambda: torch.Generator().manual_seed(1),
}


@pytest.mark.parametrize("make", GENERATORS.values(), ids=GENERATORS)
def test_a_host_s_generator_is_advanced_and_repeats(make: Callable[[], Any]) -> None:
    """Otherwise every generation of a host would select alike, or its runs could not be repeated."""
    one, other = make(), make()
    keys = [key_from_seed(one) for _ in range(3)]
    assert len(set(keys)) == 3
    assert keys == [key_from_seed(other) for _ in range(3)]
    words = np.array([key_from_seed(one) for _ in range(200)], dtype=np.uint64)
    ones = np.bitwise_count(words).sum() / (words.size * 64)
    assert abs(ones - 0.5) < 0.02, "the bits are not random"
    numbers = [rng.generator_from_seed(make()).integers(2**62) for _ in range(2)]
    assert numbers[0] == numbers[1]


def test_seeds_do_not_import_torch() -> None:
    code = (
        "import sys, random, flexicase.rng as r; r.key_from_seed(random.Random(1)); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_seed_sequence_is_reproducible_and_its_children_differ() -> None:
    assert rng.key_from_seed(np.random.SeedSequence(1)) == rng.key_from_seed(np.random.SeedSequence(1))
    children = np.random.SeedSequence(1).spawn(20)
    assert len({rng.key_from_seed(c) for c in children}) == 20


def test_no_seed_is_fresh_randomness() -> None:
    assert len({rng.key_from_seed(None) for _ in range(20)}) == 20


@pytest.mark.parametrize(
    ("seed", "error", "message"),
    [
        (-1, ValueError, r"seed must not be negative, got -1"),
        (np.int64(-3), ValueError, r"seed must not be negative, got -3"),
        (1.0, TypeError, r"seed must be an int, a numpy\.random\.Generator, .* or None, not float"),
        ("1", TypeError, r"seed must be an int, .* not str"),
        (True, TypeError, r"seed must be an int, .* not bool"),
        (np.bool_(True), TypeError, r"seed must be an int, .* not bool"),
        ([1, 2], TypeError, r"seed must be an int, .* not list"),
        (np.random, TypeError, r"seed must be an int, .* not module"),
    ],
)
def test_bad_seeds_are_named(seed: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rng.key_from_seed(seed)


@pytest.mark.slow
def test_normals_are_standard_normal_and_independent():
    key = key_from_seed(1)
    z = np.array([normals(Stream.of(key, event, Lane.BASELINE), 6) for event in range(20_000)])
    assert stats.kstest(z.reshape(-1), "norm").pvalue > 1e-4
    assert np.abs(np.corrcoef(z.T) - np.eye(6)).max() < 0.04
    assert np.abs(np.corrcoef((z**2).T) - np.eye(6)).max() < 0.04


@pytest.mark.parametrize("count", [0, 1, 2, 5])
def test_as_many_normals_as_asked_for(count):
    assert normals(Stream(1), count).shape == (count,)


def test_cosine_and_sine_around_the_circle():
    turns = np.append(np.random.default_rng(1).random(10_000), [0.0, 0.125, 0.25, 0.375, 0.5, 0.75, 1.0])
    cosine, sine = cosine_and_sine(turns)
    np.testing.assert_allclose(cosine, np.cos(2 * np.pi * turns), atol=1e-15)
    np.testing.assert_allclose(sine, np.sin(2 * np.pi * turns), atol=1e-15)


def test_decay_is_the_exponential_function_down_to_zero():
    x = np.append(-np.random.default_rng(1).random(10_000) * 700, [0.0, -1e-300, -0.5])
    np.testing.assert_allclose(decay(x), np.exp(x), rtol=1e-15)
    np.testing.assert_array_equal(decay(np.array([-760.0, -1e9, -np.inf])), 0.0)
