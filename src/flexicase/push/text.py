r"""Programs as text: ``(1 in1 exec_if (\a) ("b" [1.5 2.0]))``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from flexicase import _native
from flexicase._checks import check_text, nearest
from flexicase.push.values import Big, Char, Symbol, Value

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
#: Digits of an integer: more never fit in 64 bits.
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
        raise ValueError(f"text: no character is named {name!r}{nearest(name, _NAMES)}")
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
        return Big(token[:-1]) if token.endswith("N") else int(token)
    return float(token) if _FLOAT.fullmatch(token) else Symbol(token)


def parse_all(text: str) -> list[Value]:
    r"""The values that a text holds, one after the other; ``;`` begins a comment that ends with the line.

    >>> parse_all("1 (true) ; and no more")
    [1, (True,)]
    """
    open_lists: list[tuple[str, list[Value]]] = [("", [])]
    for token, position in _tokens(check_text(text, "text")):
        if token in _CLOSERS:
            open_lists.append((token, []))
        elif token in _CLOSERS.values():
            opener, items = open_lists.pop()
            if not open_lists or _CLOSERS[opener] != token:
                raise ValueError(f"text: {token!r} at character {position} closes nothing")
            open_lists[-1][1].append(tuple(items) if token == ")" else items)
        else:
            open_lists[-1][1].append(_atom(token))
    if len(open_lists) > 1:
        raise ValueError(f"text: {len(open_lists) - 1} {open_lists[-1][0]!r} not closed")
    return open_lists[0][1]


def parse(text: str) -> Value:
    r"""The value that a text stands for.

    >>> parse("(1 exec_if (true) ([1 2] \\space))")
    (1, Symbol('exec_if'), (True,), ([1, 2], Char(' ')))
    """
    values = parse_all(text)
    if len(values) != 1:
        raise ValueError(f"text must hold one value, got {len(values)}")
    return values[0]


def unparse(value: Value) -> str:
    r"""The text of a value.

    >>> unparse((1, Symbol("exec_dup"), ("a\n", Char(" "), [1.0, 1e7])))
    '(1 exec_dup ("a\\n" \\space [1.0 1.0E7]))'
    """
    return _native.push_code(value, "value").text()
