"""Programs."""

from __future__ import annotations

from flexicase import _native
from flexicase.push.text import parse
from flexicase.push.values import Value


class Program:
    """A Push program, ready to run.

    Args:
        code: The program as text or as a value: a tuple of literals, symbols and tuples.

    >>> program = Program("(2 3 integer_add)")
    >>> program.points
    4
    >>> print(program)
    (2 3 integer_add)
    """

    __slots__ = ("native",)

    def __init__(self, code: str | Value) -> None:
        """Parse and prepare the code."""
        self.native = _native.push_code(parse(code) if type(code) is str else code)

    @classmethod
    def from_native(cls, native: _native.PushCode) -> Program:
        """The program of code that the engine made."""
        program = cls.__new__(cls)
        program.native = native
        return program

    @property
    def code(self) -> Value:
        """The program as a value.

        >>> Program("(1 (true))").code
        (1, (True,))
        """
        return self.native.to_python()

    @property
    def points(self) -> int:
        """Its size: one for each atom and each pair of parentheses."""
        return self.native.points()

    def __str__(self) -> str:
        return self.native.text()

    def __repr__(self) -> str:
        return f"Program({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))
