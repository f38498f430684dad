"""Super Anagrams: are the letters of one string among those of the other?"""

from __future__ import annotations

import string as letters
from collections import Counter

from flexicase.problems.cases import FixedCases, Inputs, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import Rng, chance, integer, pick, shuffled, string
from flexicase.push.genome import RandomBoolean, RandomChar, RandomInteger, RandomString, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol


def answer(first: str, second: str) -> bool:
    """Whether each character occurs in the second string at least as often as in the first."""
    return not Counter(first) - Counter(second)


def related(rng: Rng) -> Inputs:
    """A string and a slightly changed part of it in random order."""
    whole = string(rng, RandomString(1, 20, ((1.0, letters.ascii_lowercase),)))
    changed = [pick(rng, letters.ascii_lowercase) if chance(rng, 0.1) else c for c in whole]
    part = "".join(shuffled(rng, changed)[integer(rng, 0, len(whole) - 1) :])
    return (whole, part) if chance(rng, 0.2) else (part, whole)


PROBLEM = Problem(
    name="super-anagrams",
    description="Given two lower-case strings x and y, return true if every character of x occurs in y at least as "
    "often as in x.",
    answer=answer,
    domains=(FixedCases(carried_inputs("super-anagrams")), RandomCases(related, train=170, test=2000)),
    measures=(ErrorMeasure("boolean", "mismatch"),),
    stacks=("exec", "integer", "boolean", "string", "char"),
    generators=(
        RandomBoolean(),
        RandomInteger(-1000, 1000),
        RandomChar(),
        RandomTag(("string", "char", "integer", "boolean", "exec")),
        RandomTagged(),
        Symbol("in1"),
        Symbol("in2"),
    ),
    settings=ProblemSettings(max_points=3200, max_initial_genome=400, steps=1600),
    edge=carried_reader("super-anagrams"),
)
