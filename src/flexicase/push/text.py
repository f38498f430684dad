r"""Programs as text: ``(1 in1 exec_if (\a) ("b" [1.5 2.0]))``."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from flexicase import _native
from flexicase.push.values import Big, Char, Symbol, Value

_TOKEN = re.compile(r"""[\s,]*(?P<token>[()\[\]]|"(?:[^"\\]|\\.)*"|\\(?:[a-z]+\b|.)|[^\s,()\[\]"]+)""", re.DOTALL)
_INTEGER = re.compile(r"[+-]?\d+N?")
_FLOAT = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")
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


def _tokens(text: str) -> Iterator[tuple[str, int]]:
    position = 0
    end = len(text.rstrip(" \t\r\n\f,"))
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"text: cannot read {text[position : position + 20]!r} at character {position}")
        yield match["token"], match.start("token")
        position = match.end()


def _atom(token: str) -> Value:
    if token[0] == '"':
        return re.sub(r"\\(.)", lambda found: _ESCAPES.get(found[1], found[1]), token[1:-1], flags=re.DOTALL)
    if token[0] == "\\":
        name = token[1:]
        if len(name) > 1 and name not in _NAMES:
            raise ValueError(f"text: no character is named {name!r}")
        return Char(_NAMES.get(name, name))
    if token in _WORDS:
        return _WORDS[token]
    if _INTEGER.fullmatch(token):
        return Big(token[:-1]) if token.endswith("N") else int(token)
    return float(token) if _FLOAT.fullmatch(token) else Symbol(token)


def parse(text: str) -> Value:
    r"""The value that a text stands for.

    >>> parse("(1 exec_if (true) ([1 2] \\space))")
    (1, Symbol('exec_if'), (True,), ([1, 2], Char(' ')))
    """
    open_lists: list[tuple[str, list[Value]]] = [("", [])]
    for token, position in _tokens(text):
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
    values = open_lists[0][1]
    if len(values) != 1:
        raise ValueError(f"text must hold one value, found {len(values)}")
    return values[0]


def unparse(value: Value) -> str:
    r"""The text of a value.

    >>> unparse((1, Symbol("exec_dup"), ("a\n", Char(" "), [1.0, 1e7])))
    '(1 exec_dup ("a\\n" \\space [1.0 1.0E7]))'
    """
    return _native.push_code(value).text()
