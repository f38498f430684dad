"""Super Anagrams: are the letters of one string among those of the other?"""

import string as letters
from collections import Counter

from flexicase.problems import ErrorMeasure, RandomCases
from flexicase.problems.psb1._suite import Inputs, Rng, fixed, inputs, suite_problem, suite_settings, tags
from flexicase.problems.random_inputs import chance, integer, pick, shuffled, string
from flexicase.push import RandomBoolean, RandomChar, RandomInteger, RandomString


def answer(first: str, second: str) -> bool:
    """Whether each character occurs in the second string at least as often as in the first."""
    return not Counter(first) - Counter(second)


def related(rng: Rng) -> Inputs:
    """A string and a slightly changed part of it in random order."""
    whole = string(rng, RandomString(1, 20, ((1.0, letters.ascii_lowercase),)))
    changed = [pick(rng, letters.ascii_lowercase) if chance(rng, 0.1) else c for c in whole]
    part = "".join(shuffled(rng, changed)[integer(rng, 0, len(whole) - 1) :])
    return (whole, part) if chance(rng, 0.2) else (part, whole)


PROBLEM = suite_problem(
    name="super-anagrams",
    description="Given two lower-case strings x and y, return true if every character of x occurs in y at least as "
    "often as in x.",
    answer=answer,
    sources=(fixed("super-anagrams"), RandomCases(related, train=170, test=2000)),
    measures=(ErrorMeasure("boolean", "mismatch"),),
    stacks=("exec", "integer", "boolean", "string", "char"),
    generators=(
        *(RandomBoolean(), RandomInteger(-1000, 1000), RandomChar()),
        *tags("string", "char", "integer", "boolean", "exec"),
        *inputs(2),
    ),
    settings=suite_settings(max_points=3200, steps=1600),
)
