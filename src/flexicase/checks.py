"""Argument checks: every message names the argument, what was expected and what was found."""

from __future__ import annotations

import difflib
import inspect
import math
import operator
import reprlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

MAX_COUNT = 2**63 - 1
MAX_THREADS = 1024

_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 80
_REPR.maxlong = 40


def shown(value: Any) -> str:
    """A value for a message: one short line, even if the value is huge or cannot be printed."""
    try:
        text = " ".join(_REPR.repr(value).split())
    except Exception:
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 80 else f"{text[:77]}..."


def nearest(word: str, known: Iterable[str]) -> str:
    """A suggestion to append to an 'unknown name' message."""
    known = list(known)
    close = difflib.get_close_matches(word.lower().replace("_", "-"), [k.replace("_", "-") for k in known], n=1)
    if close:
        original = next(k for k in known if k.replace("_", "-") == close[0])
        return f"; did you mean {original!r}?"
    return f"; known: {', '.join(known)}"


def check_count(value: Any, name: str, minimum: int = 0, maximum: int = MAX_COUNT) -> int:
    """An integer argument from ``minimum`` to ``maximum``."""
    if type(value) is int and minimum <= value <= maximum:
        return value
    try:
        if isinstance(value, bool | np.bool_):
            raise TypeError
        count = operator.index(value)
    except Exception:
        raise TypeError(f"{name} must be an integer, got {shown(value)}") from None
    if count < minimum:
        raise ValueError(f"{name} must be at least {minimum}, got {shown(count)}")
    if count > maximum:
        raise ValueError(f"{name} must be at most {maximum:,}, got {shown(count)}")
    return count


def check_threads(value: Any) -> int:
    """A number of threads, at most `MAX_THREADS` of which are used."""
    return min(check_count(value, "threads", 1), MAX_THREADS)


def check_flag(value: Any, name: str) -> bool:
    """True or False."""
    if not isinstance(value, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def check_text(value: Any, name: str) -> str:
    """A string."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a string, got {shown(value)}")
    return value


def check_function(function: Any, name: str, n_arguments: int) -> Any:
    """A function that can be called with so many arguments, as far as its signature tells."""
    if not callable(function):
        raise TypeError(f"{name} must be callable, got {shown(function)}")
    try:
        signature = inspect.signature(function)
    except Exception:  # some built-in functions have none
        return function
    try:
        signature.bind(*range(n_arguments))
    except TypeError:
        expected = f"{n_arguments} argument{'s' if n_arguments > 1 else ''}"
        raise TypeError(f"{name} must be a function of {expected}, got one of {signature}") from None
    return function


def check_fraction(value: Any, name: str) -> float:
    """A number from 0 to 1."""
    number = check_number(value, name)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"{name} must be between 0 and 1, got {shown(value)}")
    return number


def check_number(value: Any, name: str) -> float:
    """A real number, not NaN, as a float."""
    try:
        if isinstance(value, bool | np.bool_ | str | bytes | bytearray) or np.ndim(value):
            raise TypeError
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name} must be a number that a float can hold, got {shown(value)}") from None
    except Exception:
        raise TypeError(f"{name} must be a number, got {shown(value)}") from None
    if math.isnan(number):
        raise ValueError(f"{name} must be a number, got NaN")
    return number


def check_not_negative(value: Any, name: str) -> float:
    """A finite number of at least 0."""
    number = check_number(value, name)
    if not 0.0 <= number < math.inf:
        raise ValueError(f"{name} must be finite and not negative, got {shown(value)}")
    return number


def check_seconds(value: Any, name: str, *, above_zero: bool = False) -> float:
    """A finite time that is not negative, or above 0."""
    seconds = check_number(value, name)
    if not (0.0 < seconds < math.inf or (seconds == 0.0 and not above_zero)):
        expected = "above 0" if above_zero else "0 or more"
        raise ValueError(f"{name} must be a finite number of seconds, {expected}, got {shown(value)}")
    return seconds


def check_choice(value: Any, name: str, choices: Iterable[str]) -> str:
    """One of a few words."""
    choices = list(choices)
    expected = f"{name} must be one of {', '.join(map(repr, choices))}"
    if not isinstance(value, str):
        raise TypeError(f"{expected}, got {shown(value)}")
    if value not in choices:
        raise ValueError(f"{expected}, got {shown(value)}{nearest(value[:80], choices)}")
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
