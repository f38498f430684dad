"""Checksum: a character made of the sum of all characters of a string."""

from __future__ import annotations

from flexicase.problems.cases import Drawn, Fixed, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, Settings
from flexicase.problems.random_inputs import string, text
from flexicase.push.genome import VISIBLE, RandomChar, RandomInteger, RandomString, RandomTag, RandomTagged
from flexicase.push.measures import Measure
from flexicase.push.program import Char, Symbol


def answer(given: str) -> str:
    """The line to print."""
    return "Check sum is " + chr(sum(map(ord, given)) % 64 + 32)


PROBLEM = Problem(
    name="checksum",
    description="Sum the character codes of a string, modulo 64, plus 32, as a character c; print `Check sum is c`.",
    answer=answer,
    domains=(
        Fixed(carried_inputs("checksum")),
        Drawn(lambda rng: (text(rng, 2, VISIBLE),), train=55, test=500),
        Drawn(lambda rng: (text(rng, 3, VISIBLE),), train=50, test=500),
        Drawn(lambda rng: (string(rng, RandomString(2, 50)),), train=89, test=1000),
    ),
    measures=(Measure("output", "levenshtein"), Measure("output", "last_character", penalty=1000)),
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
    settings=Settings(max_points=3200, max_initial_genome=400, steps=1500),
    edge=carried_reader("checksum"),
)
