"""Simple Regression: x³ − 2x² − x on integers, the quick first problem.

It is not part of the benchmark suite. Training cases are the integers −10 … 10, test cases are drawn from −1000 … 1000;
programs have integer arithmetic and the control of exec, small integer constants and no tags.
"""

from flexicase.problems import ErrorMeasure, FixedCases, Problem
from flexicase.problems.psb1._suite import integer_cases, suite_settings
from flexicase.push import RandomInteger, Symbol

PROBLEM = Problem(
    name="simple-regression",
    description="Given an integer x, return x^3 - 2x^2 - x.",
    answer=lambda x: x**3 - 2 * x**2 - x,
    sources=(FixedCases([(x,) for x in range(-10, 11)]), integer_cases(-1000, 1000, train=0, test=100)),
    measures=(ErrorMeasure("integer", "absolute", penalty=1_000_000),),
    stacks=("exec", "integer"),
    generators=(RandomInteger(-10, 10), Symbol("in1")),
    settings=suite_settings(max_points=400, steps=200, generations=100),
)
