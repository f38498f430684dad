"""The programs by hand, one for each problem, and what is left of a program when a piece of it is taken out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from flexicase.push import Program
from flexicase.push.program import Value

FOLDER = Path(__file__).parent / "solutions"


def solution(name: str) -> Program:
    """The program that solves a problem."""
    return Program((FOLDER / f"{name}.push").read_text(encoding="utf-8"))


def atoms(code: Value) -> Iterator[Value]:
    """All literals and symbols of a program."""
    for item in code:
        yield from atoms(item) if isinstance(item, tuple) else (item,)


def pieces_left(code: Value) -> Iterator[Value]:
    """The program without its first atom, without its second one, and so on."""
    for i, item in enumerate(code):
        before, after = code[:i], code[i + 1 :]
        if isinstance(item, tuple):
            yield from ((*before, left, *after) for left in pieces_left(item))
        else:
            yield (*before, *after)
