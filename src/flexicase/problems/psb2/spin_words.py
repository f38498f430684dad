"""Spin Words: reverse the long ones."""

import string as letters

from flexicase.problems.psb2._suite import ErrorMeasure, fixed, string_cases, suite_problem
from flexicase.push import Char, RandomChar, RandomWords


def words(least: int) -> RandomWords:
    """Words of lower-case letters."""
    return RandomWords(least, 20, letters.ascii_lowercase, lengths=((0.8, 1, 8), (0.2, 1, 16)))


def answer(given: str) -> str:
    """Words of five letters and more are reversed."""
    return " ".join(word[::-1] if len(word) > 4 else word for word in given.rstrip(" ").split(" "))


PROBLEM = suite_problem(
    name="spin-words",
    description="Given a string of words, reverse every word of five or more letters.",
    answer=answer,
    sources=(fixed("spin-words"), string_cases(words(1), train=170, test=2000)),
    measures=(ErrorMeasure("string", "levenshtein", penalty=10_000),),
    stacks=("integer", "boolean", "string", "char", "exec"),
    constants=(4, 5, Char(" "), RandomChar("abcdefghijklmnopqrstuvwxy"), words(0)),
)
