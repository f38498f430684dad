"""Number IO: the sum of a float and an integer."""

from flexicase.problems.psb1._suite import ErrorMeasure, RandomCases, rounded, suite_problem, suite_settings
from flexicase.problems.random_inputs import floats, integer
from flexicase.push import RandomFloat, RandomInteger, to_text

PROBLEM = suite_problem(
    name="number-io",
    title="Number IO",
    description="Given a float and an integer, print their sum as a float.",
    answer=lambda real, whole: real + whole,
    sources=(RandomCases(lambda rng: (*floats(rng, 1, -100.0, 100.0), integer(rng, -100, 100)), train=25, test=1000),),
    measures=(
        ErrorMeasure("output", "number", penalty=1000, decimals=4),
        ErrorMeasure("output", "levenshtein", target=lambda _, total: to_text(rounded(total, 10))),
    ),
    stacks=("float", "integer", "print"),
    constants=(RandomInteger(-100, 100), RandomFloat(-100.0, 100.0)),
    settings=suite_settings(
        max_points=800,
        steps=200,
        generations=200,
        alignment_deviation=5,
        close_marker=False,
        operators={"alternation": 0.3, "uniform_mutation": 0.2, "alternation+uniform_mutation": 0.5},
        error_threshold=1e-4,
    ),
)
