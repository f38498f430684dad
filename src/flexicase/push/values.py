"""Python classes of those Push values that Python itself has no type for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from flexicase import _native
from flexicase._checks import shown


class Symbol(str):
    """The name of an instruction, an input such as ``in1`` or a tag instruction such as ``tag_exec_5``.

    >>> Symbol("integer_add")
    Symbol('integer_add')
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Symbol({str.__repr__(self)})"


class Char(str):
    r"""A character; a plain ``str`` is a Push string.

    >>> Char("a")
    Char('a')
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Char({str.__repr__(self)})"


class Single(float):
    """A float of single precision, which prints with fewer digits.

    >>> Single(0.5) + 1
    1.5
    """

    __slots__ = ()


class Big(int):
    """An integer that prints with an ``N``, as inexact division makes them.

    >>> Big(3) + 1
    4
    """

    __slots__ = ()


#: int, float, bool, str, ``Symbol``, ``Char``, a list for a vector, a tuple for code in parentheses, None for nil.
#: NumPy scalars count as ints, floats and bools.
Value: TypeAlias = Any

_native.push_set_types(Symbol, Char, Single, Big, np.integer, np.floating, np.bool_)


def check_sequence(values: Any, name: str, of: str) -> list[Any]:
    """The elements of a list, a tuple or another sequence that is no text; of a NumPy array, its rows."""
    is_sequence = isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray | memoryview)
    if not is_sequence and not (isinstance(values, np.ndarray) and values.ndim > 0):
        raise TypeError(f"{name} must be a sequence of {of}, got {shown(values)}")
    return list(values)
