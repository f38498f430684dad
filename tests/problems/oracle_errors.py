"""Errors of the problems in plain Python: how far from right an answer is, apart from the package's own functions.

Each function takes the right answer and what a program left, both by stack, None standing for nothing, and then the
inputs; it gives the errors of the case in order.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from .oracle import Answer, float_text, rounded

Errors = Callable[..., list[float]]


def levenshtein(a: Sequence[Any], b: Sequence[Any]) -> int:
    """Insertions, deletions and substitutions that lead from one sequence to another."""
    codes = np.array([ord(x) if isinstance(x, str) else x for x in b], dtype=np.int64)
    columns = np.arange(len(b) + 1)
    row = columns
    for x in a:
        best = np.minimum(row[1:] + 1, row[:-1] + (codes != (ord(x) if isinstance(x, str) else x)))
        row = np.minimum.accumulate(np.append(row[0] + 1, best) - columns) + columns
    return int(row[-1])


def output_edits(right: Answer, found: Answer, *_: Any) -> list[float]:
    return [levenshtein(right["output"], found["output"])]


def unequal(stack: str) -> Errors:
    return lambda right, found, *_: [float(found[stack] is None or found[stack] != right[stack])]


def difference(stack: str, penalty: float) -> Errors:
    return lambda right, found, *_: [penalty if found[stack] is None else abs(found[stack] - right[stack])]


def after(label: str, number: str, text: str) -> float | None:
    """The number that follows the first label in a text."""
    _, found, rest = text.partition(label)
    match = re.match(number, rest) if found else None
    return float(match[0]) if match else None


def checksum(right: Answer, found: Answer, *_: Any) -> list[float]:
    output = found["output"]
    last = abs(ord(output[-1]) - ord(right["output"][-1])) if output else 1000
    return [*output_edits(right, found), last]


def even_squares(right: Answer, found: Answer, *_: Any) -> list[float]:
    lines = found["output"].rstrip("\n").split("\n") if found["output"].rstrip("\n") else []
    correct = [int(line) for line in right["output"].split()]
    numbers = [int(line) for line in lines if re.fullmatch(r"-?[0-9]+", line)]
    pairs = zip_longest(correct, numbers[: len(correct)])
    apart = [100 if y is None or not -(2**31) <= y < 2**31 else abs(x - y) for x, y in pairs]
    return [*output_edits(right, found), abs(len(correct) - len(numbers)) + len(lines) - len(numbers), sum(apart)]


def grade(right: Answer, found: Answer, *_: Any) -> list[float]:
    match = re.fullmatch(r"Student has a (.) grade.", found["output"])
    letter = abs(ord(match[1]) - ord(right["output"][14])) if match else 1000
    return [*output_edits(right, found), letter]


def negative_to_zero(right: Answer, found: Answer, *_: Any) -> list[float]:
    vector = found["vector_integer"]
    return [5000 if vector is None else levenshtein(right["vector_integer"], vector)]


def number_io(right: Answer, found: Answer, x: float, n: int) -> list[float]:
    try:
        apart = rounded(min(1000, abs(x + n - float(found["output"]))), 4)
    except ValueError:
        apart = 1000
    return [apart, *output_edits(right, found)]


def replace_space_with_newline(right: Answer, found: Answer, *_: Any) -> list[float]:
    return [*output_edits(right, found), *difference("integer", 1000)(right, found)]


def string_differences(right: Answer, found: Answer, *_: Any) -> list[float]:
    shaped = [sum(bool(re.fullmatch(r"\d+ \S \S", x)) for x in y["output"].split("\n")) for y in (right, found)]
    return [*output_edits(right, found), abs(shaped[0] - shaped[1])]


def syllables(right: Answer, found: Answer, *_: Any) -> list[float]:
    last = (found["output"].split() or [""])[-1]
    correct = int(right["output"].split()[-1])
    return [*output_edits(right, found), abs(int(last) - correct) if re.fullmatch(r"-?\d+", last) else 1000]


def vector_average(right: Answer, found: Answer, *_: Any) -> list[float]:
    return [1_000_000 if found["float"] is None else rounded(abs(found["float"] - right["float"]), 4)]


def vectors_summed(right: Answer, found: Answer, *_: Any) -> list[float]:
    a, b = right["vector_integer"], found["vector_integer"]
    if b is None:
        return [1_000_000_000]
    return [sum(abs(x - y) for x, y in zip(a, b, strict=False)) + 10_000 * abs(len(a) - len(b))]


def wallis_pi(right: Answer, found: Answer, *_: Any) -> list[float]:
    correct, top = right["float"], found["float"]
    if top is None:
        return [1_000_000, levenshtein(float_text(correct), ":no-stack-item")]
    top = rounded(top, 5)
    return [float(np.float32(abs(top - correct))), levenshtein(float_text(correct), float_text(top))]


def word_stats(right: Answer, found: Answer, *_: Any) -> list[float]:
    labels = {"number of sentences: ": r"-?\d+", "average sentence length: ": r"-?\d+\.\d+"}
    apart = []
    for label, number in labels.items():
        value = after(label, number, found["output"])
        correct = after(label, number, right["output"])
        assert correct is not None
        apart.append(10_000 if value is None else rounded(float(np.float32(abs(value - correct))), 4))
    return [*output_edits(right, found), *apart]


def x_word_lines(right: Answer, found: Answer, _: str, x: int) -> list[float]:
    def words(line: str) -> int:
        return len(line.split()) or 1

    correct = right["output"].split("\n")
    lines = found["output"].rstrip("\n").split("\n")
    newlines = abs(right["output"].count("\n") - found["output"].count("\n"))
    uneven = sum(abs(x - words(line)) for line in lines[:-1]) + abs(words(correct[-1]) - words(lines[-1]))
    return [*output_edits(right, found), newlines, uneven]


ERRORS: dict[str, Errors] = {
    "checksum": checksum,
    "collatz-numbers": difference("integer", 1_000_000),
    "compare-string-lengths": unequal("boolean"),
    "count-odds": difference("integer", 1000),
    "digits": output_edits,
    "double-letters": output_edits,
    "even-squares": even_squares,
    "for-loop-index": output_edits,
    "grade": grade,
    "last-index-of-zero": difference("integer", 1_000_000),
    "median": unequal("output"),
    "mirror-image": unequal("boolean"),
    "negative-to-zero": negative_to_zero,
    "number-io": number_io,
    "pig-latin": output_edits,
    "replace-space-with-newline": replace_space_with_newline,
    "scrabble-score": difference("integer", 1000),
    "simple-regression": difference("integer", 1_000_000),
    "small-or-large": output_edits,
    "smallest": unequal("output"),
    "string-differences": string_differences,
    "string-lengths-backwards": output_edits,
    "sum-of-squares": difference("integer", 1_000_000_000),
    "super-anagrams": unequal("boolean"),
    "syllables": syllables,
    "vector-average": vector_average,
    "vectors-summed": vectors_summed,
    "wallis-pi": wallis_pi,
    "word-stats": word_stats,
    "x-word-lines": x_word_lines,
}
