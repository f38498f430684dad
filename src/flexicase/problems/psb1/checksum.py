"""Checksum: a character made of the sum of all characters of a string."""

from flexicase.problems.psb1._suite import ErrorMeasure, RandomCases, fixed, string_cases, suite_problem, suite_settings
from flexicase.problems.random_inputs import text
from flexicase.push import Char, RandomChar, RandomInteger, RandomString
from flexicase.push.draws import VISIBLE

PROBLEM = suite_problem(
    name="checksum",
    description="Sum the character codes of a string, modulo 64, plus 32, as a character c; print `Check sum is c`.",
    answer=lambda given: "Check sum is " + chr(sum(map(ord, given)) % 64 + 32),
    sources=(
        fixed("checksum"),
        RandomCases(lambda rng: (text(rng, 2, VISIBLE),), train=55, test=500),
        RandomCases(lambda rng: (text(rng, 3, VISIBLE),), train=50, test=500),
        string_cases(RandomString(2, 50), train=89, test=1000),
    ),
    measures=(ErrorMeasure("output", "levenshtein"), ErrorMeasure("output", "last_character", penalty=1000)),
    stacks=("exec", "integer", "boolean", "string", "char", "print"),
    constants=("Check sum is ", Char(" "), 64, RandomInteger(-128, 128), RandomChar()),
    settings=suite_settings(max_points=3200, steps=1500),
)
