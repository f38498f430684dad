"""Grade: the letter that a score earns."""

from __future__ import annotations

from flexicase.problems.cases import FixedCases, Inputs, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import Rng, integer, integers
from flexicase.push.genome import RandomInteger, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol


def letter(a: int, b: int, c: int, d: int, score: int) -> str:
    """The grade of a score, given the least scores of A, B, C and D."""
    return next((name for name, least in zip("ABCD", (a, b, c, d), strict=True) if score >= least), "F")


def thresholds_and_score(rng: Rng) -> Inputs:
    """Four different thresholds, descending, and a score."""
    thresholds: list[int] = []
    while len(set(thresholds)) < 4:
        thresholds = integers(rng, 4, 0, 100)
    return (*sorted(thresholds, reverse=True), integer(rng, 0, 100))


PROBLEM = Problem(
    name="grade",
    description="Given the least scores of the grades A, B, C and D, descending, and a score, print "
    "`Student has a X grade.`, where X is A, B, C, D or F.",
    answer=lambda *inputs: f"Student has a {letter(*inputs)} grade.",
    domains=(FixedCases(carried_inputs("grade")), RandomCases(thresholds_and_score, train=159, test=2000)),
    measures=(
        ErrorMeasure("output", "levenshtein"),
        ErrorMeasure(
            "output",
            "letter",
            penalty=1000,
            label="Student has a * grade?",
            target=lambda inputs, _: letter(*inputs),
        ),
    ),
    stacks=("exec", "integer", "boolean", "string", "print"),
    generators=(
        "Student has a ",
        " grade.",
        "A",
        "B",
        "C",
        "D",
        "F",
        RandomInteger(0, 100),
        RandomTag(("exec", "integer", "string", "boolean")),
        RandomTagged(),
        Symbol("in1"),
        Symbol("in2"),
        Symbol("in3"),
        Symbol("in4"),
        Symbol("in5"),
    ),
    settings=ProblemSettings(max_points=1600, max_initial_genome=200, steps=800),
    edge=carried_reader("grade"),
)
