"""Python classes of those Push values that Python itself has no type for."""

from __future__ import annotations

from typing import Any, TypeAlias

from flexicase import _native


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
Value: TypeAlias = Any

_native.push_set_types(Symbol, Char, Single, Big)
