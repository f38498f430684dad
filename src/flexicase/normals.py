"""Normal variables and their exponentials from IEEE basic operations, so that every platform agrees.

Many events at a time: draw number j of an event is the same word that `Stream` gives as its j-th.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from flexicase.rng import GOLDEN, LANE_STEP, MASK64, Key, Lane, negative_log

SINE_SERIES = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(8, -1, -1))
COSINE_SERIES = tuple((-1) ** k / math.factorial(2 * k) for k in range(9, -1, -1))
EXP_SERIES = tuple(1 / math.factorial(k) for k in range(14, -1, -1))
HALF_PI = 1.5707963267948966
LN2_HIGH = 0.693147180369123816490  # 32 bits, so that its multiples are exact
LN2_LOW = 1.90821492927058770002e-10
UNDERFLOW = -800.0


def words(key: Key, events: range, lane: Lane, count: int) -> NDArray[np.uint64]:
    """The first draws of one lane of some events.

    Returns:
        (len(events), count) 64 random bits each.
    """
    numbers = np.array(events, dtype=np.uint64)
    states = _mix64(np.uint64(key.k0) + _mix64(np.uint64(key.k1) + numbers * np.uint64(GOLDEN)))
    lanes = _mix64(states + np.uint64(lane * LANE_STEP & MASK64))
    return _mix64(lanes[:, None] + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(GOLDEN))


def normals(key: Key, events: range, lane: Lane, count: int) -> NDArray[np.float64]:
    """Standard normal variables (Box and Muller, 1958).

    Returns:
        (len(events), count) independent draws.
    """
    pairs = (count + 1) // 2
    uniform = ((words(key, events, lane, 2 * pairs) >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52
    radius = np.sqrt(2.0 * negative_log(uniform[:, :pairs]))
    cosine, sine = cosine_and_sine(uniform[:, pairs:])
    return np.concatenate((radius * cosine, radius * sine), axis=1)[:, :count]


def cosine_and_sine(turns: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cosine and sine of angles given in turns.

    Args:
        turns: (...,) numbers from 0 to 1; 1 is the full circle.
    """
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
    """exp(x) for x ≤ 0, down to the smallest subnormal number and then 0.

    Args:
        x: (...,) numbers not above 0.
    """
    x = np.maximum(x, UNDERFLOW)
    power = np.rint(x * (1.0 / math.log(2.0)))
    rest = (x - power * LN2_HIGH) - power * LN2_LOW
    return np.ldexp(_polynomial(EXP_SERIES, rest), power.astype(np.int32))


def _polynomial(coefficients: tuple[float, ...], x: NDArray[np.float64]) -> NDArray[np.float64]:
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= x
        value += coefficient
    return value


def _mix64(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
