"""Push values, their text, and `Program`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np

from flexicase import _native
from flexicase._checks import check_text, did_you_mean, shown

T = TypeVar("T")


class Symbol(str):
    """The name of an instruction, an input such as ``in1`` or a tag instruction such as ``tag_exec_5``."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Symbol({str.__repr__(self)})"


class Char(str):
    """A character; a plain ``str`` is a Push string."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"Char({str.__repr__(self)})"


class Float32(float):
    """A float of single precision, which prints with fewer digits."""

    __slots__ = ()


class BigInteger(int):
    """An integer that prints with an ``N``, as a result of inexact division."""

    __slots__ = ()


#: int, float, bool, str, ``Symbol``, ``Char``, a list for a vector, a tuple for code in parentheses, None for nil.
#: NumPy scalars count as ints, floats and bools.
Value: TypeAlias = Any

_native.push_set_types(Symbol, Char, Float32, BigInteger, np.integer, np.floating, np.bool_)


def check_sequence(values: Any, name: str, of: str) -> list[Any]:
    """The elements of a sequence that is no string, or the rows of a NumPy array, as a list."""
    is_sequence = isinstance(values, Sequence) and not isinstance(values, str | bytes | bytearray | memoryview)
    if not is_sequence and not (isinstance(values, np.ndarray) and values.ndim > 0):
        raise TypeError(f"{name} must be a sequence of {of}, got {shown(values)}")
    return list(values)


def check_type(value: Any, name: str, kind: type[T]) -> T:
    """Refuse an argument that is not an object of a class."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise TypeError(f"{name} must be {article} {kind.__name__}, got {shown(value)}")
    return value


# White space, commas and comments go before a token. A character is a backslash and whatever follows it, then all that
# belongs to its name.
_TOKEN = re.compile(
    r"""(?:[\s,]|;[^\n]*(?:\n|\Z))*"""
    r"""(?P<token>[()\[\]]|"(?:[^"\\]|\\.)*"|\\(?:[\s,()\[\]";\\]|[^\s,()\[\]";\\]+)|[^\s,()\[\]";\\]+|\Z)""",
    re.DOTALL,
)
_INTEGER = re.compile(r"[+-]?\d+N?")
_FLOAT = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
_CODE_POINT = re.compile(r"u([0-9a-fA-F]{4})")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_NAMES = {"newline": "\n", "space": " ", "tab": "\t", "return": "\r", "formfeed": "\f", "backspace": "\b"}
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r", "f": "\f", "b": "\b"}
_WORDS: dict[str, Value] = {
    "true": True,
    "false": False,
    "nil": None,
    "##NaN": math.nan,
    "##Inf": math.inf,
    "##-Inf": -math.inf,
}
_CLOSERS = {"(": ")", "[": "]"}
#: Largest number of digits of an integer.
_MAX_DIGITS = 1000


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"text: cannot read {text[position : position + 20]!r} at character {position}")
        if match["token"]:
            yield match["token"], match.start("token")
        position = match.end()


def _escaped(name: str) -> str:
    return chr(int(name[1:], 16)) if len(name) > 1 else _ESCAPES.get(name, name)


def _character(name: str) -> Char:
    if len(name) == 1:
        return Char(name)
    code_point = _CODE_POINT.fullmatch(name)
    if code_point is None and name not in _NAMES:
        raise ValueError(f"text: unknown character {name!r}{did_you_mean(name, _NAMES)}")
    return Char(chr(int(code_point[1], 16)) if code_point else _NAMES[name])


def _atom(token: str) -> Value:
    if token[0] == '"':
        return _ESCAPE.sub(lambda found: _escaped(found[1]), token[1:-1])
    if token[0] == "\\":
        return _character(token[1:])
    if token in _WORDS:
        return _WORDS[token]
    if _INTEGER.fullmatch(token):
        if len(token) > _MAX_DIGITS:
            raise ValueError(f"text must have integers of at most {_MAX_DIGITS} digits, got one of {len(token)}")
        return BigInteger(token[:-1]) if token.endswith("N") else int(token)
    return float(token) if _FLOAT.fullmatch(token) else Symbol(token)


def parse_all(text: str) -> list[Value]:
    r"""Read all values of a text. ``;`` starts a comment that ends with the line.

    >>> parse_all("1 (true) ; a comment")
    [1, (True,)]
    """
    open_lists: list[tuple[str, list[Value]]] = [("", [])]
    for token, position in _tokens(check_text(text, "text")):
        if token in _CLOSERS:
            open_lists.append((token, []))
        elif token in _CLOSERS.values():
            opener, items = open_lists.pop()
            if not open_lists or _CLOSERS[opener] != token:
                raise ValueError(f"text: unmatched {token!r} at character {position}")
            open_lists[-1][1].append(tuple(items) if token == ")" else items)
        else:
            open_lists[-1][1].append(_atom(token))
    if len(open_lists) > 1:
        raise ValueError(f"text: {len(open_lists) - 1} {open_lists[-1][0]!r} not closed")
    return open_lists[0][1]


def parse(text: str) -> Value:
    r"""Read a text that holds one value.

    >>> parse("(1 exec_if (true) ([1 2] \\space))")
    (1, Symbol('exec_if'), (True,), ([1, 2], Char(' ')))
    """
    values = parse_all(text)
    if len(values) != 1:
        raise ValueError(f"text must hold one value, such as a program in brackets, got {len(values)}")
    return values[0]


def to_text(value: Value) -> str:
    r"""Write a value as text.

    >>> to_text((1, Symbol("exec_dup"), ("a\n", Char(" "), [1.0, 1e7])))
    '(1 exec_dup ("a\\n" \\space [1.0 1.0E7]))'
    """
    return _native.push_code(value, "value").text()


class Program:
    """A Push program, ready to run. It is immutable and can be pickled.

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
        self.native = _native.push_code(parse(code) if type(code) is str else code, "program code")

    @classmethod
    def from_native(cls, native: _native.PushCode) -> Program:
        """Wrap code made by the engine."""
        program = cls.__new__(cls)
        program.native = native
        return program

    @classmethod
    def from_bytes(cls, data: bytes) -> Program:
        """Read a program written by `to_bytes`.

        Raises:
            ValueError: The bytes are not a program, or the program has an instruction written in Python that is not
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
        """The program as a value."""
        return self.native.to_python()

    @property
    def points(self) -> int:
        """Its size: the number of atoms and pairs of parentheses."""
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
    """A program, given as such, as text or as code."""
    if isinstance(program, Program):
        return program
    if not isinstance(program, str | tuple):
        raise TypeError(f"program must be a Program, a text or a tuple, got {shown(program)}")
    return Program(program)
