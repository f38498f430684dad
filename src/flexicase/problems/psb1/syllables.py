"""Syllables: how many vowels has a string?"""

from __future__ import annotations

from flexicase.problems.cases import FixedCases, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import string
from flexicase.push.genome import RandomChar, RandomString, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Char, Symbol

VOWELS = "aeiouy"
GROUPS = ((0.2, VOWELS), (0.8, "".join(map(chr, (*range(32, 65), *range(91, 127))))))


def count(given: str) -> int:
    """The number of vowels."""
    return sum(c in VOWELS for c in given)


PROBLEM = Problem(
    name="syllables",
    description="Print `The number of syllables is X`, where X is the number of characters a e i o u y in a string.",
    answer=lambda given: f"The number of syllables is {count(given)}",
    domains=(
        FixedCases(carried_inputs("syllables")),
        RandomCases(lambda rng: (string(rng, RandomString(1, 20, GROUPS)),), train=83, test=1000),
    ),
    measures=(
        ErrorMeasure("output", "levenshtein"),
        ErrorMeasure("output", "last_integer", penalty=1000, target=lambda inputs, _: count(*inputs)),
    ),
    stacks=("exec", "integer", "boolean", "string", "char", "print"),
    generators=(
        "The number of syllables is ",
        Char("a"),
        Char("e"),
        Char("i"),
        Char("o"),
        Char("u"),
        Char("y"),
        VOWELS,
        RandomChar(),
        RandomString(0, 20, GROUPS),
        RandomTag(("exec", "integer", "boolean", "string", "char")),
        RandomTagged(),
        Symbol("in1"),
    ),
    settings=ProblemSettings(max_points=3200, max_initial_genome=400, steps=1600),
    edge=carried_reader("syllables"),
)
