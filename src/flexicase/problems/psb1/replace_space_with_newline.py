"""Replace Space with Newline: print one, count the other characters."""

from __future__ import annotations

from flexicase.problems.cases import FixedCases, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import string
from flexicase.push.genome import RandomChar, RandomString, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Char, Symbol

GROUPS = ((0.2, " "), (0.8, "".join(map(chr, range(32, 127)))))


def answer(given: str) -> tuple[str, int]:
    """The text to print and the number to return."""
    return given.replace(" ", "\n"), sum(c != " " for c in given)


PROBLEM = Problem(
    name="replace-space-with-newline",
    title="Replace Space with Newline",
    description="Print a string with spaces turned into newlines, and return the number of its other characters.",
    answer=answer,
    domains=(
        FixedCases(carried_inputs("replace-space-with-newline")),
        RandomCases(lambda rng: (string(rng, RandomString(2, 20, GROUPS)),), train=70, test=1000),
    ),
    measures=(
        ErrorMeasure("output", "levenshtein", target=lambda _, expected: expected[0]),
        ErrorMeasure("integer", "absolute", penalty=1000, target=lambda _, expected: expected[1]),
    ),
    stacks=("exec", "integer", "boolean", "string", "char", "print"),
    generators=(
        Char(" "),
        Char("\n"),
        RandomChar(),
        RandomString(0, 20, GROUPS),
        RandomTag(("exec", "integer", "boolean", "string", "char")),
        RandomTagged(),
        Symbol("in1"),
    ),
    settings=ProblemSettings(max_points=3200, max_initial_genome=400, steps=1600),
    edge=carried_reader("replace-space-with-newline"),
)
