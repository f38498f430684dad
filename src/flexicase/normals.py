"""Normal variables and their exponentials from IEEE basic operations, so that every platform agrees.

The native twin is native/include/flexicase/normals.hpp.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from flexicase.rng import LN2, Stream, negative_log

SINE_SERIES = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(8, -1, -1))
COSINE_SERIES = tuple((-1) ** k / math.factorial(2 * k) for k in range(9, -1, -1))
EXP_SERIES = tuple(1 / math.factorial(k) for k in range(14, -1, -1))
HALF_PI = 1.5707963267948966
LN2_HIGH = 0.693147180369123816490  # 32 bits, so that its multiples are exact
LN2_LOW = 1.90821492927058770002e-10
UNDERFLOW = -800.0


def normals(stream: Stream, count: int) -> NDArray[np.float64]:
    """Standard normal variables (Box and Muller, 1958).

    Returns:
        (count,) independent draws.
    """
    pairs = (count + 1) // 2
    words = np.array([stream.word() >> 12 for _ in range(2 * pairs)], dtype=np.float64)
    uniform = (words + 0.5) * 2.0**-52
    radius = np.sqrt(2.0 * negative_log(uniform[:pairs]))
    cosine, sine = cosine_and_sine(uniform[pairs:])
    return np.concatenate((radius * cosine, radius * sine))[:count]


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
    power = np.rint(x * (1.0 / LN2))
    rest = (x - power * LN2_HIGH) - power * LN2_LOW
    return np.ldexp(_polynomial(EXP_SERIES, rest), power.astype(np.int32))


def _polynomial(coefficients: tuple[float, ...], x: NDArray[np.float64]) -> NDArray[np.float64]:
    value = np.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value *= x
        value += coefficient
    return value
