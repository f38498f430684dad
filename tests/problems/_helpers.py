"""Programs that solve the problems, their parts, and the settings of the problems by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from flexicase.push import Program
from flexicase.push.program import Value

# The programs by hand, one for each problem, and what is left of a program when a piece of it is taken out.


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


# Stacks and limits of the benchmark suite's problems, copied by hand from their descriptions.


class Settings(NamedTuple):
    """Stacks whose instructions a problem has, its largest program, its step limit, entries of its generator list."""

    stacks: str
    points: int
    steps: int
    genes: int


SETTINGS = {
    "checksum": Settings("exec integer boolean string char print", 3200, 1500, 146),
    "collatz-numbers": Settings("exec integer float boolean", 2400, 15000, 110),
    "compare-string-lengths": Settings("exec integer boolean string", 1600, 600, 106),
    "count-odds": Settings("exec integer boolean vector_integer", 2000, 1500, 112),
    "digits": Settings("exec integer boolean string char print", 1200, 600, 143),
    "double-letters": Settings("exec integer boolean string char print", 3200, 1600, 142),
    "even-squares": Settings("exec integer boolean print", 1600, 2000, 78),
    "for-loop-index": Settings("exec integer boolean print", 1200, 600, 80),
    "grade": Settings("exec integer boolean string print", 1600, 800, 120),
    "last-index-of-zero": Settings("exec integer boolean vector_integer", 1200, 600, 109),
    "median": Settings("exec integer boolean print", 800, 200, 81),
    "mirror-image": Settings("exec integer boolean vector_integer", 1200, 600, 110),
    "negative-to-zero": Settings("exec integer boolean vector_integer", 2000, 1500, 110),
    "number-io": Settings("float integer print", 800, 200, 54),
    "pig-latin": Settings("exec integer boolean string char print", 4000, 2000, 151),
    "replace-space-with-newline": Settings("exec integer boolean string char print", 3200, 1600, 145),
    "scrabble-score": Settings("exec integer boolean string char vector_integer", 4000, 2000, 170),
    "small-or-large": Settings("exec integer boolean string print", 800, 300, 111),
    "smallest": Settings("exec integer boolean print", 800, 200, 82),
    "string-differences": Settings("exec integer boolean string char print", 4000, 2000, 145),
    "string-lengths-backwards": Settings("exec integer boolean string vector_string print", 1200, 600, 144),
    "sum-of-squares": Settings("exec integer boolean", 1600, 4000, 77),
    "super-anagrams": Settings("exec integer boolean string char", 3200, 1600, 139),
    "syllables": Settings("exec integer boolean string char print", 3200, 1600, 151),
    "vector-average": Settings("exec integer float vector_float", 1600, 800, 96),
    "vectors-summed": Settings("exec integer vector_integer", 2000, 1500, 74),
    "wallis-pi": Settings("exec integer float boolean", 2400, 8000, 111),
    "word-stats": Settings(
        "exec integer boolean float char string vector_integer vector_float vector_string print", 3200, 6000, 302
    ),
    "x-word-lines": Settings("exec integer boolean string char print", 3200, 1600, 144),
}
