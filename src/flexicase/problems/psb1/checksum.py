"""Checksum: a character made of the sum of all characters of a string."""

from flexicase.problems import ErrorMeasure, RandomCases
from flexicase.problems.psb1._suite import fixed, inputs, suite_problem, suite_settings, tags
from flexicase.problems.random_inputs import string, text
from flexicase.push import Char, RandomChar, RandomInteger, RandomString
from flexicase.push.draws import VISIBLE


def answer(given: str) -> str:
    """The line to print."""
    return "Check sum is " + chr(sum(map(ord, given)) % 64 + 32)


PROBLEM = suite_problem(
    name="checksum",
    description="Sum the character codes of a string, modulo 64, plus 32, as a character c; print `Check sum is c`.",
    answer=answer,
    sources=(
        fixed("checksum"),
        RandomCases(lambda rng: (text(rng, 2, VISIBLE),), train=55, test=500),
        RandomCases(lambda rng: (text(rng, 3, VISIBLE),), train=50, test=500),
        RandomCases(lambda rng: (string(rng, RandomString(2, 50)),), train=89, test=1000),
    ),
    measures=(ErrorMeasure("output", "levenshtein"), ErrorMeasure("output", "last_character", penalty=1000)),
    stacks=("exec", "integer", "boolean", "string", "char", "print"),
    generators=(
        *("Check sum is ", Char(" "), 64, RandomInteger(-128, 128), RandomChar()),
        *tags("exec", "integer", "boolean", "string", "char"),
        *inputs(1),
    ),
    settings=suite_settings(max_points=3200, steps=1500),
)
