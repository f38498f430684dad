"""Argument checks: every message names the argument, what was expected and what was found.

`as_number_array` is the one rule for what counts as an array of numbers: in ``errors``, in what evaluators return, in
weights and in epsilons.
"""

from __future__ import annotations

import difflib
import importlib.util
import inspect
import math
import operator
import reprlib
from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

MAX_COUNT = 2**63 - 1
MAX_SECONDS = 1e12
MAX_THREADS = 1024
EXACT_INTEGERS = 2**53  # up to here every integer is a float64

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


def did_you_mean(word: str, known: Iterable[str], *, listed: bool = False) -> str:
    """A suggestion to append to an 'unknown name' message, or the known names unless it has ``listed`` them."""
    known = list(known)
    dashed = {name.replace("_", "-"): name for name in known}
    close = difflib.get_close_matches(word.lower().replace("_", "-"), dashed, n=1)
    if close:
        return f"; did you mean {dashed[close[0]]!r}?"
    return "" if listed else f"; known: {', '.join(known)}"


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


def check_size(value: Any, name: str, maximum: int) -> int:
    """The number of entries, at most ``maximum``, from a number or a shape."""
    if type(value) is int and 0 <= value <= maximum:
        return value
    if not isinstance(value, tuple):
        return check_count(value, name, 0, maximum)
    if not value:
        raise ValueError(f"{name} must be an integer or a tuple of at least one, got ()")
    return check_count(math.prod(check_count(length, name, 0, maximum) for length in value), name, 0, maximum)


def check_threads(value: Any) -> int:
    """A number of threads, at most `MAX_THREADS` of which are used."""
    if type(value) is int and 1 <= value <= MAX_THREADS:
        return value
    return min(check_count(value, "threads", 1), MAX_THREADS)


def check_flag(value: Any, name: str) -> bool:
    if value is True or value is False:
        return value
    if not isinstance(value, np.bool_):
        raise TypeError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def check_text(value: Any, name: str) -> str:
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


def check_seconds(value: Any, name: str, *, above_zero: bool = False) -> float:
    """A finite time that is not negative, or above 0."""
    seconds = check_number(value, name)
    if not (0.0 < seconds <= MAX_SECONDS or (seconds == 0.0 and not above_zero)):
        expected = "above 0" if above_zero else "0 or more"
        raise ValueError(f"{name} must be a finite number of seconds, {expected}, got {shown(value)}")
    return seconds


def check_not_negative(value: Any, name: str) -> float:
    """A finite number of at least 0."""
    number = check_number(value, name)
    if not 0.0 <= number < math.inf:
        raise ValueError(f"{name} must be finite and not negative, got {shown(value)}")
    return number


def check_choice(value: Any, name: str, choices: Iterable[str]) -> str:
    """One of a few words."""
    choices = list(choices)
    expected = f"{name} must be one of {', '.join(map(repr, choices))}"
    if not isinstance(value, str):
        raise TypeError(f"{expected}, got {shown(value)}")
    if value not in choices:
        raise ValueError(f"{expected}, got {shown(value)}{did_you_mean(value[:80], choices, listed=True)}")
    return value


def check_indices(values: ArrayLike, name: str, length: int = MAX_COUNT) -> NDArray[np.int64]:
    """(k,) int64 positions in a sequence of this length."""
    array = as_number_array(values, name)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(f"{name} must be a one-dimensional array of integers, got {shown(values)}")
    low, high = int(array.min(initial=0)), int(array.max(initial=0))
    if array.size and (low < 0 or high >= length):
        raise ValueError(f"{name} must be from 0 to {length - 1}, got {low if low < 0 else high}")
    return array.astype(np.int64)


def check_weights(weights: ArrayLike, n_cases: int, name: str) -> NDArray[np.float64]:
    """(n_cases,) finite, non-negative float64 weights, a copy, from as many numbers or one for all cases."""
    array = per_case(weights, n_cases, name)
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        case = int(np.argmax(bad))
        raise ValueError(f"{name} must be finite and not negative, but case {case} has weight {array[case]}")
    return array


def per_case(values: ArrayLike, n_cases: int, name: str) -> NDArray[np.float64]:
    """(n_cases,) float64, a copy, from one number per case or one for all; NaN is accepted."""
    array = as_number_array(values, name)
    if array.shape not in ((), (n_cases,)):
        raise ValueError(f"{name} must have one number per case: expected shape ({n_cases},), got {array.shape}")
    return np.array(np.broadcast_to(array, (n_cases,)), dtype=np.float64)


def room_for(shape: int | tuple[int, ...], dtype: Any, name: str) -> NDArray[Any]:
    """An uninitialised array; a MemoryError names the argument that asks for it."""
    try:
        return np.empty(shape, dtype)
    except (MemoryError, ValueError):
        raise MemoryError(f"{name} is too large: an array of shape {shape} does not fit into memory") from None


def as_number_array(values: Any, name: str) -> NDArray[Any]:
    """Turn array-like numbers into an array of booleans, integers or floats, without rounding an integer.

    - Arrays of a real NumPy type are taken as they are, of any number of dimensions.
    - bfloat16 and other floats that NumPy does not have become float32, which holds them exactly.
    - Lists, and arrays of Python objects, may mix integers, floats, fractions and decimals. If all are integers they
      become int64, or uint64 where that is needed; otherwise float64, which has to hold every integer exactly.
    - A masked entry, None and pandas' NA are missing numbers, which become NaN.
    - Text, dates and complex numbers are not numbers, whatever they spell.
    """
    array = values if type(values) is np.ndarray else _to_numpy(values, name)
    kind = array.dtype.kind
    if kind == "O":
        return _from_objects(array, name)
    if kind == "V" and array.dtype.names is None and np.can_cast(array.dtype, np.float32):
        return array.astype(np.float32)
    if kind not in "biuf":
        raise TypeError(f"{name} must be real numbers, got dtype {array.dtype}")
    if kind == "f" and isinstance(values, list | tuple):
        sizes = np.abs(array)
        if ((sizes >= EXACT_INTEGERS) & (sizes < np.inf)).any():  # these may have been integers
            return _from_objects(np.array(values, dtype=object), name)
    return array


def _to_numpy(values: Any, name: str) -> NDArray[Any]:
    try:
        if hasattr(values, "detach"):  # a torch tensor that may require a gradient
            values = values.detach()
            if str(getattr(values, "dtype", "")) == "torch.bfloat16":
                values = values.float()
        if not hasattr(values, "__array__") and hasattr(values, "__dlpack__"):
            return np.from_dlpack(values)
        masked = isinstance(values, np.ma.MaskedArray) or (
            isinstance(values, list | tuple) and any(isinstance(row, np.ma.MaskedArray) for row in values)
        )
        return _unmasked(np.ma.array(values)) if masked else np.asarray(values)
    except MemoryError:
        raise MemoryError(f"{name} must fit into memory, got {shown(values)}") from None
    except ValueError as error:
        raise ValueError(f"{name} must be an array with rows of equal length: {error}") from None
    except Exception as error:
        raise TypeError(f"{name} must be an array on the CPU, but {type(values).__name__} says: {error}") from None


def _unmasked(values: np.ma.MaskedArray[Any, Any]) -> NDArray[Any]:
    """The entries, with None for masked ones."""
    if not np.ma.is_masked(values):
        return np.asarray(values)
    entries = np.array(values.data, dtype=object)
    entries[np.ma.getmaskarray(values)] = None
    return entries


def _from_objects(values: NDArray[Any], name: str) -> NDArray[Any]:
    """An array of integers or floats from an array of Python objects."""
    if values.ndim == 0 and not isinstance(values.item(), int | Fraction | Decimal):
        raise TypeError(f"{name} must be real numbers, got {shown(values.item())}")
    flat = [_number(entry) for entry in values.ravel().tolist()]
    for position, number in enumerate(flat):
        if number is None:
            found = values.flat[position]
            raise TypeError(f"{name} must be real numbers, but {_place(position, values.shape)} is {shown(found)}")
    integers = [number for number in flat if isinstance(number, int)]
    if len(integers) == len(flat) and flat:
        low, high = min(integers), max(integers)
        if low >= -(2**63) and high < 2**64 and (low >= 0 or high < 2**63):
            return np.array(flat, dtype=np.int64 if high < 2**63 else np.uint64).reshape(values.shape)
    for position, number in enumerate(flat):
        if isinstance(number, int) and not is_float(number):
            raise ValueError(
                f"{name} must be integers of 64 bits or floats, but {_place(position, values.shape)} is the integer "
                f"{shown(number)}, which is not exactly a float"
            )
    return np.array(flat, dtype=np.float64).reshape(values.shape)


def _number(entry: Any) -> int | float | None:
    """An integer, a float, NaN for a missing number, or None for what is no number."""
    if isinstance(entry, bool | int | np.integer | np.bool_):
        return int(entry)
    if entry is None or type(entry).__name__ == "NAType":
        return math.nan
    try:
        return float(entry) if isinstance(entry, float | np.floating | Fraction | Decimal) else None
    except (ValueError, OverflowError):
        return None


def is_float(number: int) -> bool:
    """Whether a float64 holds an integer exactly."""
    try:
        return int(float(number)) == number
    except OverflowError:
        return False


def _place(position: int, shape: tuple[int, ...]) -> str:
    where = ", ".join(str(i) for i in np.unravel_index(position, shape))
    return f"entry [{where}]" if shape else "it"


def first_invalid(values: NDArray[Any]) -> tuple[int, int] | None:
    """Row and column of the first NaN of a matrix, or None."""
    if values.dtype.kind != "f":
        return None
    missing = np.isnan(values)
    if not missing.any():
        return None
    row, column = np.argwhere(missing)[0]
    return int(row), int(column)


def refusal(found: Any, individual: int, case: int, hint: str = "") -> str:
    """The rest of a message about an error that is missing or NaN."""
    return f"must be numbers, but individual {individual}, case {case} has {found}" + (f" ({hint})" if hint else "")


def require_package(purpose: str, *packages: str, extra: str = "report") -> None:
    """Raise an ImportError that says what to install if a package is missing.

    >>> require_package("time travel needs", "numpy", "flux_capacitor")
    Traceback (most recent call last):
    ...
    ImportError: time travel needs flux_capacitor: pip install 'flexicase[report]'
    """
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(f"{purpose} {' and '.join(missing)}: pip install 'flexicase[{extra}]'")
