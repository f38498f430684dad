"""Random streams: one 128-bit key per call, one counter-based stream per selection event.

Every draw is a pure function of (key, event, lane, counter): events can be computed in any order, on any number of
threads, natively or here, and give the same bits. A *lane* separates the draws of one purpose from the others: an event
that needs no tie-break, or skips cases that cannot matter, leaves all other draws as they are.

The generator is SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) in counter form. Orders come from 32-bit keys made by a
keyed bijection of the case number, so no two cases of an event share a key.
"""

from __future__ import annotations

import math
import random
import re
import secrets
import sys
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flexicase._checks import shown

if TYPE_CHECKING:
    import torch

MASK32 = (1 << 32) - 1
MASK64 = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
LANE_STEP = 0xD1B54A32D192ED03


class Lane(IntEnum):
    """What a stream's draws are used for."""

    PICK = 1  # the random choice among the candidates left
    HEAD = 2  # the first cases of an order
    KEYS = 3  # the keys that order the cases after them
    LOW_BITS = 4  # further bits of those keys, for weighted orders
    RANKED = 5  # upper bounds, positions and ties of a ranked order
    DEPTH = 6  # how many cases a randomly truncated event uses
    SLIPPAGE = 7  # whether an event ends early
    SAMPLE = 8  # down-samples, cohorts: drawn once per selector
    BASELINE = 9  # tournaments, roulette wheels and the like
    GENESIS = 10  # random genomes
    PIPELINES = 11  # which operators make a child
    VARIATION = 12  # what they do
    SIMPLIFICATION = 13  # what is taken out of a program
    SELECTION = 14  # the key of a generation's selection events
    CASES = 15  # the seed of a run's training and test cases
    NETWORKS = 16  # the initial parameters of networks
    DEALING = 17  # which network is trained on which cases
    TRAINING = 18  # augmentation and dropout while training
    AUGMENTATION = 19  # augmentation of a case that selection uses
    PARENTS = 20  # which of a generation's few winners are the parents of a child


class Key(NamedTuple):
    """The 128 random bits that a seed stands for.

    Example:
        >>> from flexicase.rng import Key, key_from_seed
        >>> key = key_from_seed(7)
        >>> Key.from_hex(key.hex()) == key
        True
    """

    k0: int
    k1: int

    def hex(self) -> str:
        """The key as 32 hexadecimal digits."""
        return f"{self.k0:016x}{self.k1:016x}"

    @classmethod
    def from_hex(cls, digits: str) -> Key:
        """The key that `hex` wrote."""
        if not (isinstance(digits, str) and re.fullmatch("[0-9a-fA-F]{32}", digits)):
            raise ValueError(f"a key must be 32 hexadecimal digits, got {shown(digits)}")
        return cls(int(digits[:16], 16), int(digits[16:], 16))


Seed: TypeAlias = (
    "int | np.integer | np.random.Generator | np.random.RandomState | np.random.BitGenerator | np.random.SeedSequence"
    " | random.Random | torch.Generator | Key | None"
)


def mix64(x: int) -> int:
    """Finalise 64 bits as SplitMix64 does."""
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK64
    return x ^ (x >> 31)


def check_seed(seed: Seed) -> Seed:
    """The seed as it is, if it is one that every function accepts."""
    if type(seed) is int or isinstance(seed, np.integer):
        if seed < 0:
            raise ValueError(f"seed must not be negative, got {shown(int(seed))}")
    elif isinstance(seed, Key):
        if not all(type(word) is int and 0 <= word <= MASK64 for word in seed):
            raise ValueError(f"seed must be a Key of two 64-bit integers, got {shown(seed)}")
    elif not (seed is None or isinstance(seed, np.random.SeedSequence) or _is_generator(seed)):
        raise TypeError(
            "seed must be an int, a numpy.random.Generator, SeedSequence, BitGenerator or RandomState, "
            f"a random.Random, a torch.Generator, a Key or None, not {type(seed).__name__}"
        )
    return seed


def key_from_seed(seed: Seed) -> Key:
    """Turn anything accepted as ``seed=`` into a key; a generator is advanced, so two calls with it differ."""
    check_seed(seed)
    if isinstance(seed, Key):
        return seed
    if seed is None:
        return Key(secrets.randbits(64), secrets.randbits(64))
    if type(seed) is int or isinstance(seed, np.integer):
        return _key_from_int(int(seed))
    if isinstance(seed, np.random.SeedSequence):
        words = seed.generate_state(2, np.uint64)
        return Key(int(words[0]), int(words[1]))
    raw = _sixteen_bytes(seed)
    return Key(int.from_bytes(raw[:8], "little"), int.from_bytes(raw[8:], "little"))


def generator_from_seed(seed: Seed) -> np.random.Generator:
    """NumPy's generator for anything accepted as ``seed=``; a `numpy.random.Generator` is returned as it is."""
    check_seed(seed)
    foreign = _is_generator(seed) and not isinstance(seed, np.random.Generator | np.random.BitGenerator)
    return np.random.default_rng(key_from_seed(seed) if foreign else seed)  # type: ignore[arg-type]


def _is_generator(seed: Any) -> bool:
    known = np.random.Generator | np.random.BitGenerator | np.random.RandomState | random.Random
    return isinstance(seed, known) or _is_torch_generator(seed)


def _is_torch_generator(seed: Any) -> bool:
    """Whether it is a `torch.Generator`, which exists only if torch is imported."""
    return isinstance(seed, getattr(sys.modules.get("torch"), "Generator", ()))


def _sixteen_bytes(generator: Any) -> bytes:
    """The next random bytes of a generator of NumPy, Python or torch."""
    if isinstance(generator, np.random.BitGenerator):
        generator = np.random.Generator(generator)
    if isinstance(generator, random.Random):
        return generator.randbytes(16)
    if _is_torch_generator(generator):
        randint = sys.modules["torch"].randint
        return bytes(randint(256, (16,), generator=generator, device=generator.device).tolist())
    drawn: bytes = generator.bytes(16)
    return drawn


def _key_from_int(seed: int) -> Key:
    k0, k1 = 0, GOLDEN
    while True:
        k0 = mix64((k0 + (seed & MASK64) + GOLDEN) & MASK64)
        k1 = mix64(k1 ^ k0)
        seed >>= 64
        if not seed:
            return Key(k0, k1)


def event_state(key: Key, event: int) -> int:
    """The state from which all streams of one event start."""
    return mix64((key.k0 + mix64((key.k1 + event * GOLDEN) & MASK64)) & MASK64)


def lane_state(state: int, lane: Lane) -> int:
    """The state of one lane of an event."""
    return mix64((state + lane * LANE_STEP) & MASK64)


def derived_key(key: Key, event: int, lane: Lane) -> Key:
    """The key of everything that happens in one event of a lane, such as a generation of a run."""
    mirrored = Key(key.k1, key.k0)
    return Key(lane_state(event_state(key, event), lane), lane_state(event_state(mirrored, event), lane))


@dataclass(slots=True)
class Stream:
    """The draws of one lane, in sequence."""

    state: int

    @classmethod
    def of(cls, key: Key, event: int, lane: Lane) -> Stream:
        """The stream of ``lane`` in ``event``."""
        return cls(lane_state(event_state(key, event), lane))

    def word(self) -> int:
        """64 random bits."""
        self.state = (self.state + GOLDEN) & MASK64
        return mix64(self.state)

    def unit(self) -> float:
        """A float uniform on [0, 1) with 53 random bits."""
        return (self.word() >> 11) * 2.0**-53

    def bounded(self, n: int) -> int:
        """An integer uniform on 0 … n-1, without bias (Lemire, TOMACS 2019)."""
        product = self.word() * n
        if product & MASK64 < n:
            threshold = (MASK64 + 1 - n) % n
            while product & MASK64 < threshold:
                product = self.word() * n
        return product >> 64

    def bounded32(self, bits: int, n: int) -> int:
        """The same for n < 2**32 from 32 bits that were drawn already."""
        product = bits * n
        if product & MASK32 < n:
            threshold = (MASK32 + 1 - n) % n
            while product & MASK32 < threshold:
                product = (self.word() & MASK32) * n
        return product >> 32


def case_keys(lane: int, n_cases: int) -> NDArray[np.uint32]:
    """(n_cases,) sort keys of one event, all different; the halves of the lane's state key the two rounds."""
    x = np.arange(n_cases, dtype=np.uint32) * np.uint32(0x9E3779B1) + np.uint32(lane & 0xFFFFFFFF)
    x ^= x >> np.uint32(16)
    x *= np.uint32(0x7FEB352D)
    x ^= np.uint32(lane >> 32)
    x ^= x >> np.uint32(15)
    x *= np.uint32(0x846CA68B)
    x ^= x >> np.uint32(16)
    return x


LOG_SERIES = tuple(1.0 / k for k in range(19, 0, -2))
LN2 = 0.6931471805599453


def negative_log(v: NDArray[np.float64]) -> NDArray[np.float64]:
    """-log(v) for 0 < v < 1 from IEEE basic operations only, so that every platform agrees."""
    mantissa, exponent = np.frexp(v)
    small = mantissa < 0.7071067811865476
    mantissa = np.where(small, mantissa * 2.0, mantissa)
    exponent = np.where(small, exponent - 1, exponent)
    s = (mantissa - 1.0) / (mantissa + 1.0)
    return -(exponent * LN2 + (2.0 * s) * _polynomial(LOG_SERIES, s * s))


def exponential_keys(state: int, n_cases: int) -> NDArray[np.float64]:
    """(n_cases,) standard exponential variables of an event, increasing with the case keys.

    Sorting them divided by the weights is a roulette wheel without replacement (Efraimidis and Spirakis, 2006).
    """
    high = case_keys(lane_state(state, Lane.KEYS), n_cases).astype(np.uint64)
    low = case_keys(lane_state(state, Lane.LOW_BITS), n_cases).astype(np.uint64) >> np.uint64(12)
    numerator = (high << np.uint64(21)) | (low << np.uint64(1)) | np.uint64(1)
    return negative_log((np.uint64(1 << 53) - numerator).astype(np.float64) * 2.0**-53)


SINE_SERIES = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(8, -1, -1))
COSINE_SERIES = tuple((-1) ** k / math.factorial(2 * k) for k in range(9, -1, -1))
EXP_SERIES = tuple(1 / math.factorial(k) for k in range(14, -1, -1))
HALF_PI = 1.5707963267948966
LN2_HIGH = 0.693147180369123816490  # 32 bits, so that its multiples are exact
LN2_LOW = 1.90821492927058770002e-10
UNDERFLOW = -800.0


def normals(stream: Stream, count: int) -> NDArray[np.float64]:
    """(count,) independent standard normal variables (Box and Muller, 1958)."""
    pairs = (count + 1) // 2
    words = np.array([stream.word() >> 12 for _ in range(2 * pairs)], dtype=np.float64)
    uniform = (words + 0.5) * 2.0**-52
    radius = np.sqrt(2.0 * negative_log(uniform[:pairs]))
    cosine, sine = cosine_and_sine(uniform[pairs:])
    return np.concatenate((radius * cosine, radius * sine))[:count]


def cosine_and_sine(turns: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cosine and sine of angles in turns, from 0 to 1, the full circle."""
    quarters = turns * 4.0
    quadrant = np.rint(quarters)
    x = (quarters - quadrant) * HALF_PI
    square = x * x
    cosine, sine = _polynomial(COSINE_SERIES, square), x * _polynomial(SINE_SERIES, square)
    odd = quadrant % 2 == 1
    cosine, sine = np.where(odd, -sine, cosine), np.where(odd, cosine, sine)
    half_turn = np.where((quadrant == 2) | (quadrant == 3), -1.0, 1.0)
    return half_turn * cosine, half_turn * sine


def decay(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """exp(x) for x ≤ 0, down to the smallest subnormal number and then 0."""
    x = np.maximum(x, UNDERFLOW)
    power = np.rint(x * (1.0 / LN2))
    rest = (x - power * LN2_HIGH) - power * LN2_LOW
    return np.ldexp(_polynomial(EXP_SERIES, rest), power.astype(np.int32))


def _polynomial(coefficients: tuple[float, ...], x: NDArray[np.float64]) -> NDArray[np.float64]:
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= x
        value += coefficient
    return value
