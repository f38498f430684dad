"""Stacks and limits of the problems, copied by hand from their descriptions."""

from __future__ import annotations

from typing import NamedTuple


class Settings(NamedTuple):
    """Stacks whose instructions a problem has, its largest program and its step limit; instructions registered."""

    stacks: str
    points: int
    steps: int
    registered: int


SETTINGS = {
    "checksum": Settings("exec integer boolean string char print", 3200, 1500, 138),
    "collatz-numbers": Settings("exec integer float boolean", 2400, 15000, 104),
    "compare-string-lengths": Settings("exec integer boolean string", 1600, 600, 100),
    "count-odds": Settings("exec integer boolean vector_integer", 2000, 1500, 105),
    "digits": Settings("exec integer boolean string char print", 1200, 600, 138),
    "double-letters": Settings("exec integer boolean string char print", 3200, 1600, 138),
    "even-squares": Settings("exec integer boolean print", 1600, 2000, 75),
    "for-loop-index": Settings("exec integer boolean print", 1200, 600, 75),
    "grade": Settings("exec integer boolean string print", 1600, 800, 105),
    "last-index-of-zero": Settings("exec integer boolean vector_integer", 1200, 600, 105),
    "median": Settings("exec integer boolean print", 800, 200, 75),
    "mirror-image": Settings("exec integer boolean vector_integer", 1200, 600, 105),
    "negative-to-zero": Settings("exec integer boolean vector_integer", 2000, 1500, 105),
    "number-io": Settings("float integer print", 800, 200, 48),
    "pig-latin": Settings("exec integer boolean string char print", 4000, 2000, 138),
    "replace-space-with-newline": Settings("exec integer boolean string char print", 3200, 1600, 138),
    "scrabble-score": Settings("exec integer boolean string char vector_integer", 4000, 2000, 166),
    "simple-regression": Settings("exec integer", 400, 200, 44),
    "small-or-large": Settings("exec integer boolean string print", 800, 300, 105),
    "smallest": Settings("exec integer boolean print", 800, 200, 75),
    "string-differences": Settings("exec integer boolean string char print", 4000, 2000, 138),
    "string-lengths-backwards": Settings("exec integer boolean string vector_string print", 1200, 600, 140),
    "sum-of-squares": Settings("exec integer boolean", 1600, 4000, 71),
    "super-anagrams": Settings("exec integer boolean string char", 3200, 1600, 132),
    "syllables": Settings("exec integer boolean string char print", 3200, 1600, 138),
    "vector-average": Settings("exec integer float vector_float", 1600, 800, 93),
    "vectors-summed": Settings("exec integer vector_integer", 2000, 1500, 68),
    "wallis-pi": Settings("exec integer float boolean", 2400, 8000, 104),
    "word-stats": Settings(
        "exec integer boolean float char string vector_integer vector_float vector_string print", 3200, 6000, 284
    ),
    "x-word-lines": Settings("exec integer boolean string char print", 3200, 1600, 138),
}
