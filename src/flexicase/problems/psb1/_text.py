"""Floats as Push rounds and writes them."""

from __future__ import annotations

import math

from flexicase.push.program import to_text


def rounded(value: float, decimals: int) -> float:
    """The nearest number with some decimals, ties toward infinity.

    >>> rounded(0.66666666, 5), rounded(-0.00005, 4)
    (0.66667, 0.0)
    """
    scaled = value * float(10**decimals)
    below = math.floor(scaled)
    whole: int = below + (scaled - below >= 0.5)
    return float(whole / 10**decimals)


def float_text(value: float) -> str:
    """The text of a float.

    >>> float_text(2.0), float_text(1e7)
    ('2.0', '1.0E7')
    """
    return to_text(value)
