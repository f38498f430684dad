"""Argument checks: every message names the argument, what was expected and what was found."""

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def nearest(word: str, known: Iterable[str]) -> str:
    """A suggestion to append to an 'unknown name' message."""
    known = list(known)
    close = difflib.get_close_matches(word.lower().replace("_", "-"), [k.replace("_", "-") for k in known], n=1)
    if close:
        original = next(k for k in known if k.replace("_", "-") == close[0])
        return f"; did you mean {original!r}?"
    return f"; known: {', '.join(known)}"


def check_count(value: Any, name: str, minimum: int = 0) -> int:
    """An integer argument of at least ``minimum``."""
    if type(value) is int and value >= minimum:
        return value
    if isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be an integer, got {value!r}")
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {value!r}") from None
    if count < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {count}")
    return count


def check_fraction(value: Any, name: str) -> float:
    """A number from 0 to 1."""
    number = check_number(value, name)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"{name} must be between 0 and 1, got {value!r}")
    return number


def check_number(value: Any, name: str) -> float:
    """A real number, not NaN."""
    if isinstance(value, bool | np.bool_ | str):
        raise TypeError(f"{name} must be a number, got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number, got {value!r}") from None
    if math.isnan(number):
        raise ValueError(f"{name} must be a number, got NaN")
    return number


def check_seconds(value: Any, name: str, *, above_zero: bool = False) -> float:
    """A finite time that is not negative, or above 0."""
    seconds = check_number(value, name)
    if not (0.0 < seconds < math.inf or (seconds == 0.0 and not above_zero)):
        expected = "above 0" if above_zero else "0 or more"
        raise ValueError(f"{name} must be a finite number of seconds, {expected}, got {value!r}")
    return seconds


def check_choice(value: Any, name: str, choices: Iterable[str]) -> str:
    """One of a few words."""
    choices = list(choices)
    expected = f"{name} must be one of {', '.join(map(repr, choices))}"
    if not isinstance(value, str):
        raise TypeError(f"{expected}, got {value!r}")
    if value not in choices:
        raise ValueError(f"{expected}, got {value!r}{nearest(value, choices)}")
    return value


def as_numbers(values: ArrayLike | None) -> NDArray[np.float64] | None:
    """A new float64 array, or None if ``values`` are not real numbers (text and dates are not, whatever they spell)."""
    try:
        array = np.asarray(values)
        if values is None or array.dtype.kind not in "biufO":
            return None
        return array.astype(np.float64)
    except (TypeError, ValueError):
        return None


def check_weights(weights: ArrayLike, n_cases: int, name: str) -> NDArray[np.float64]:
    """Case weights: one finite, non-negative number per case.

    Args:
        weights: (n_cases,) the weights, or one number for all cases.
        n_cases: How many cases there are.
        name: What to call them in a message.

    Returns:
        (n_cases,) float64.
    """
    array = as_numbers(weights)
    if array is None:
        raise TypeError(f"{name} must give one number per case, got {weights!r:.80}")
    if array.ndim == 0:
        array = np.full(n_cases, array)
    if array.shape != (n_cases,):
        raise ValueError(f"{name} must have one weight per case: expected shape ({n_cases},), got {array.shape}")
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        case = int(np.argmax(bad))
        raise ValueError(f"{name} must be finite and not negative, but case {case} has weight {array[case]}")
    return array
