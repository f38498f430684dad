"""Hostile arguments, and the rule that says whether an error is fit for a user.

`POOL` maps a label to a function that makes a fresh value (generators and files are used up by a call). `is_raw` judges
what a call with such a value raised. A fuzzer replaces one argument of a valid call at a time and asks `is_raw` about
every error; a call that succeeds, or that raises an error which names the argument, is fine.
"""

from __future__ import annotations

import ctypes
import datetime
import linecache
import math
import os
import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

import flexicase

#: How much longer than usual the fuzzers run; `make hostile` sets it.
EFFORT = int(os.environ.get("FLEXICASE_HOSTILE", "1"))
PACKAGE = str(Path(flexicase.__file__).parent)
NATIVE_TEXT = re.compile(r"incompatible function arguments|std::|nanobind|bad_cast|_native|basic_string|vector::")


class Text(str):
    """A subclass of str."""

    __slots__ = ()


class Raises:
    """An object whose conversions all raise an exception of its own."""

    def _raise(self, *arguments: Any, **options: Any) -> Any:
        raise ZeroDivisionError("hostile")

    __array__ = __len__ = __index__ = __float__ = __iter__ = __bool__ = __getitem__ = _raise  # type: ignore[assignment]


class EqualsNothing:
    """An object that cannot be compared, hashed or printed."""

    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError("hostile")

    def __repr__(self) -> str:
        raise ZeroDivisionError("hostile")

    __hash__ = None  # type: ignore[assignment]


class Claims:
    """A sequence that claims to be endless."""

    def __len__(self) -> int:
        return 2**62

    def __getitem__(self, index: object) -> int:
        return 1


def _numbers() -> Iterator[int]:
    yield from (0, 1)


def _contains_itself() -> list[Any]:
    values: list[Any] = [1]
    values.append(values)
    return values


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


POOL: dict[str, Callable[[], Any]] = {
    "None": lambda: None,
    "True": lambda: True,
    "-1": lambda: -1,
    "0": lambda: 0,
    "1": lambda: 1,
    "2**31-1": lambda: 2**31 - 1,
    "2**31": lambda: 2**31,
    "2**40": lambda: 2**40,
    "2**63-1": lambda: 2**63 - 1,
    "2**63": lambda: 2**63,
    "2**64": lambda: 2**64,
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "1.5": lambda: 1.5,
    "-0.0": lambda: -0.0,
    "nan": lambda: math.nan,
    "inf": lambda: math.inf,
    "-inf": lambda: -math.inf,
    "1e308": lambda: 1e308,
    "5e-324": lambda: 5e-324,
    "1j": lambda: 1j,
    "Fraction": lambda: Fraction(1, 3),
    "Decimal": lambda: Decimal("0.5"),
    "Decimal nan": lambda: Decimal("sNaN"),
    "np.int8": lambda: np.int8(3),
    "np.uint64": lambda: np.uint64(2**64 - 1),
    "np.float16": lambda: np.float16(0.5),
    "np.longdouble": lambda: np.longdouble(0.5),
    "np.bool": lambda: np.bool_(True),
    "np.datetime64": lambda: np.datetime64("2020-01-01"),
    "''": lambda: "",
    "'7'": lambda: "7",
    "'lexicase'": lambda: "lexicase",
    "str subclass": lambda: Text("lexicase"),
    "surrogate": lambda: "\udcff",
    "nul": lambda: "a\0b",
    "long text": lambda: "x" * 5000,
    "bytes": lambda: b"x",
    "bytearray": lambda: bytearray(b"x"),
    "[]": lambda: [],
    "[[]]": lambda: [[]],
    "[1]": lambda: [1],
    "[1, 2]": lambda: [1, 2],
    "[[1, 2], [3]]": lambda: [[1, 2], [3]],
    "[[1, 'a']]": lambda: [[1, "a"]],
    "[['7']]": lambda: [["7", "8"], ["7", "8"]],
    "[[None]]": lambda: [[None, 1], [1, 2]],
    "[10**400]": lambda: [10**400] * 3,
    "[nan]": lambda: [math.nan] * 3,
    "[-1]": lambda: [-1] * 3,
    "deep": lambda: [[[[[[1]]]]]],
    "itself": _contains_itself,
    "()": lambda: (),
    "{}": lambda: {},
    "dict": lambda: {"a": 1},
    "set": lambda: {1, 2},
    "object": object,
    "lambda": lambda: lambda: 0,
    "lambda many": lambda: lambda *arguments, **options: "no number",
    "generator": _numbers,
    "class": lambda: int,
    "module": lambda: math,
    "date": lambda: datetime.date(2020, 1, 1),
    "ellipsis": lambda: ...,
    "raises": Raises,
    "equals nothing": EqualsNothing,
    "claims": Claims,
    "np 0-d": lambda: np.array(1.0),
    "np 0-d int": lambda: np.array(1),
    "np empty": lambda: np.empty(0),
    "np empty rows": lambda: np.empty((0, 3)),
    "np empty columns": lambda: np.empty((3, 0)),
    "np 1-d": lambda: np.ones(3),
    "np 3-d": lambda: np.ones((2, 2, 2)),
    "np bool": lambda: np.ones((4, 3), bool),
    "np float16": lambda: np.ones((4, 3), np.float16),
    "np longdouble": lambda: np.ones((4, 3), np.longdouble),
    "np uint64": lambda: np.full((4, 3), 2**64 - 1, np.uint64),
    "np int64": lambda: np.full((4, 3), -(2**63), np.int64),
    "np big endian": lambda: np.ones((4, 3), ">f8"),
    "np complex": lambda: np.ones((4, 3), complex),
    "np object": lambda: np.array([[1, 2, 3]] * 4, dtype=object),
    "np object mixed": lambda: np.array([[1, None, "x"]] * 4, dtype=object),
    "np text": lambda: np.full((4, 3), "7"),
    "np bytes": lambda: np.full((4, 3), b"7"),
    "np datetime": lambda: np.full((4, 3), np.datetime64("2020-01-01")),
    "np structured": lambda: np.zeros((4, 3), [("a", "f8")]),
    "np void": lambda: np.zeros((4, 3), "V4"),
    "np nan": lambda: np.full((4, 3), np.nan),
    "np -inf": lambda: np.full((4, 3), -np.inf),
    "np masked": lambda: np.ma.masked_array(np.ones((4, 3)), mask=np.eye(4, 3, dtype=bool)),
    "np masked rows": lambda: [np.ma.masked_array(np.ones(3), mask=[True, False, False])] * 4,
    "np.ma.masked": lambda: np.ma.masked,
    "np matrix": lambda: np.asmatrix(np.ones((4, 3))),
    "np broadcast": lambda: np.broadcast_to(np.uint8(1), (2**31, 1)),
    "np huge": lambda: np.broadcast_to(np.float64(1), (2**20, 2**20)),
    "np read only": lambda: _read_only(np.ones((4, 3))),
    "ctypes": lambda: (ctypes.c_double * 3)(1, 2, 3),
    "memoryview": lambda: memoryview(b"abc"),
    "np.dtype": lambda: np.dtype("f8"),
    "Generator": lambda: np.random.default_rng(1),
    "SeedSequence": lambda: np.random.SeedSequence(1),
    "RandomState": lambda: np.random.RandomState(1),
}


def is_raw(error: BaseException, argument: str | None = None) -> str | None:
    """Why an error is not fit for a user, or None if it is.

    An error is raw unless all of this holds:

    1. It is a TypeError or ValueError, a class of flexicase's own, or a MemoryError with a text.
    2. A ``raise`` statement of the package raised it, or its native extension: it does not come from deep inside
       another package, and is not what the interpreter says about an expression.
    3. Its text has no trace of the native extension, such as a C++ signature.
    4. Its text names the argument, where one is given (its singular will do). A MemoryError and a class of flexicase's
       own, such as EvaluationError, may say instead what did not fit, or what was being done.

    What a user's own function raises is the user's: a fuzzer should not ask about it.

    Args:
        error: What a call raised.
        argument: The argument that was hostile.

    Returns:
        The rule that is broken, in a few words, or None.
    """
    text = str(error)
    expected = isinstance(error, TypeError | ValueError | MemoryError | OSError) or _is_own(error)
    argument_matters = isinstance(error, TypeError | ValueError) and not _is_own(error)
    broken = {
        f"a {type(error).__name__}": not expected,
        "an OSError without a file": isinstance(error, OSError) and error.filename is None,
        "native text": NATIVE_TEXT.search(text),
        "no text": not text.strip(),
        "not raised by the package": not isinstance(error, OSError) and not _raised_by_package(error),
        f"does not name {argument}": argument is not None and argument_matters and not _names(text, argument),
    }
    return next((rule for rule, is_broken in broken.items() if is_broken), None)


def _names(text: str, argument: str) -> bool:
    name = re.escape(argument).removesuffix("s")
    return re.search(rf"(?<![a-z]){name}s?(?![a-z])", text, re.IGNORECASE) is not None


def _is_own(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] == "flexicase"


def _raised_by_package(error: BaseException) -> bool:
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None:
        return False
    path = last.tb_frame.f_code.co_filename
    statement = linecache.getline(path, last.tb_lineno).strip()
    by_extension = "_native." in statement and " must " in str(error)
    return path.startswith(PACKAGE) and (statement.startswith("raise") or by_extension)
