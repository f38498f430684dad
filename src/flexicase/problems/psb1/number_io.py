"""Number IO: the sum of a float and an integer."""

from __future__ import annotations

from flexicase.problems.cases import RandomCases, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.psb1._text import float_text, rounded
from flexicase.problems.random_inputs import floats, integer
from flexicase.push.genome import RandomFloat, RandomInteger, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol

PROBLEM = Problem(
    name="number-io",
    title="Number IO",
    description="Given a float and an integer, print their sum as a float.",
    answer=lambda real, whole: real + whole,
    domains=(RandomCases(lambda rng: (*floats(rng, 1, -100.0, 100.0), integer(rng, -100, 100)), train=25, test=1000),),
    measures=(
        ErrorMeasure("output", "number", penalty=1000, decimals=4),
        ErrorMeasure("output", "levenshtein", target=lambda _, total: float_text(rounded(total, 10))),
    ),
    stacks=("float", "integer", "print"),
    generators=(
        RandomInteger(-100, 100),
        RandomFloat(-100.0, 100.0),
        RandomTag(("float", "integer")),
        RandomTagged(),
        Symbol("in1"),
        Symbol("in2"),
    ),
    settings=ProblemSettings(
        max_points=800,
        max_initial_genome=100,
        steps=200,
        generations=200,
        alignment_deviation=5,
        close_marker=False,
        operators={"alternation": 0.3, "uniform_mutation": 0.2, "alternation+uniform_mutation": 0.5},
        error_threshold=1e-4,
    ),
    edge=carried_reader("number-io"),
)
