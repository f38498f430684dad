"""Programs."""

from __future__ import annotations

from flexicase import _native
from flexicase._checks import shown
from flexicase.push.text import parse
from flexicase.push.values import Value


class Program:
    """A Push program, ready to run. It never changes, can be pickled, and copies of it are the program itself.

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
        self.native = _native.push_code(parse(code) if type(code) is str else code, "code")

    @classmethod
    def from_native(cls, native: _native.PushCode) -> Program:
        """The program of code that the engine made."""
        program = cls.__new__(cls)
        program.native = native
        return program

    @classmethod
    def from_bytes(cls, data: bytes) -> Program:
        """The program that `to_bytes` was called on.

        Raises:
            ValueError: The bytes are not those of a program, or it has an instruction written in Python that is not
                registered, or registered with other stacks.
        """
        if not isinstance(data, bytes):
            raise TypeError(f"data must be bytes, got {shown(data)}")
        return cls.from_native(_native.push_code_from_bytes(data))

    def to_bytes(self) -> bytes:
        """The program as bytes, the same in every process.

        >>> print(Program.from_bytes(Program("(1 (in1))").to_bytes()))
        (1 (in1))
        """
        return self.native.to_bytes()

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

    def __reduce__(self) -> tuple[object, tuple[bytes]]:
        return Program.from_bytes, (self.to_bytes(),)

    def __copy__(self) -> Program:
        return self

    def __deepcopy__(self, memo: object) -> Program:
        return self

    def __str__(self) -> str:
        return self.native.text()

    def __repr__(self) -> str:
        return f"Program({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def as_program(program: Program | str | tuple[Value, ...]) -> Program:
    """The program itself, or that of a text or of code."""
    if isinstance(program, Program):
        return program
    if not isinstance(program, str | tuple):
        raise TypeError(f"program must be a Program, a text or a tuple, got {shown(program)}")
    return Program(program)
