"""Camel Case: from kebab case."""

import string as letters

from flexicase.problems.psb2._suite import ErrorMeasure, fixed, string_cases, suite_problem
from flexicase.push import Char, RandomChar, RandomWords


def words(least: int) -> RandomWords:
    """Short words with dashes and spaces between them."""
    return RandomWords(least, 20, letters.ascii_lowercase, ((0.66, "-"), (0.34, " ")), ((1.0, 1, 5),))


def answer(given: str) -> str:
    """Each part after a dash starts with an upper-case letter."""
    joined = "".join(part.capitalize() for part in given.split("-"))
    return joined[:1].lower() + joined[1:]


PROBLEM = suite_problem(
    name="camel-case",
    description="Given a string in kebab case, return it in camel case: drop each dash and write the next letter in "
    "upper case; spaces stay.",
    answer=answer,
    sources=(fixed("camel-case"), string_cases(words(1), train=189, test=2000)),
    measures=(ErrorMeasure("string", "levenshtein", penalty=10_000),),
    stacks=("integer", "boolean", "string", "char", "exec", "print"),
    constants=(*map(Char, "- "), RandomChar("abcdefghijklmnopqrstuvwxy"), words(0)),
)
