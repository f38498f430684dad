"""Super Anagrams: are the letters of one string among those of the other?"""

import string as letters
from collections import Counter

from flexicase.problems.psb1._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem, suite_settings
from flexicase.problems.random_inputs import chance, integer, pick, shuffled, string
from flexicase.push import RandomBoolean, RandomChar, RandomInteger, RandomString


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
    answer=lambda x, y: not Counter(x) - Counter(y),
    sources=(fixed("super-anagrams"), RandomCases(related, train=170, test=2000)),
    measures=(ErrorMeasure("boolean", "mismatch"),),
    stacks=("string", "char", "integer", "boolean", "exec"),
    constants=(RandomBoolean(), RandomInteger(-1000, 1000), RandomChar()),
    settings=suite_settings(max_points=3200, steps=1600),
)
