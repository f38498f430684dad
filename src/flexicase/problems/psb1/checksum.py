"""Checksum: a character made of the sum of all characters of a string."""

from __future__ import annotations

from flexicase.problems.cases import FixedCases, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import string, text
from flexicase.push.genome import VISIBLE, RandomChar, RandomInteger, RandomString, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Char, Symbol


def answer(given: str) -> str:
    """The line to print."""
    return "Check sum is " + chr(sum(map(ord, given)) % 64 + 32)


PROBLEM = Problem(
    name="checksum",
    description="Sum the character codes of a string, modulo 64, plus 32, as a character c; print `Check sum is c`.",
    answer=answer,
    domains=(
        FixedCases(carried_inputs("checksum")),
        RandomCases(lambda rng: (text(rng, 2, VISIBLE),), train=55, test=500),
        RandomCases(lambda rng: (text(rng, 3, VISIBLE),), train=50, test=500),
        RandomCases(lambda rng: (string(rng, RandomString(2, 50)),), train=89, test=1000),
    ),
    measures=(ErrorMeasure("output", "levenshtein"), ErrorMeasure("output", "last_character", penalty=1000)),
    stacks=("exec", "integer", "boolean", "string", "char", "print"),
    generators=(
        "Check sum is ",
        Char(" "),
        64,
        RandomInteger(-128, 128),
        RandomChar(),
        RandomTag(("exec", "integer", "boolean", "string", "char")),
        RandomTagged(),
        Symbol("in1"),
    ),
    settings=ProblemSettings(max_points=3200, max_initial_genome=400, steps=1500),
    edge=carried_reader("checksum"),
)
