"""Sum of Squares: 1 + 4 + 9 + … + n²."""

from flexicase.problems.psb1._suite import ErrorMeasure, FixedCases, fixed, integer_cases, suite_problem, suite_settings
from flexicase.push import RandomInteger

PROBLEM = suite_problem(
    name="sum-of-squares",
    title="Sum of Squares",
    description="Given an integer n from 1 to 100, return the sum of the squares of 1, 2, …, n.",
    answer=lambda n: sum(k * k for k in range(1, n + 1)),
    sources=(
        fixed("sum-of-squares"),
        integer_cases(6, 99, train=44),
        FixedCases([(n,) for n in range(1, 101)], test=True),
    ),
    measures=(ErrorMeasure("integer", "absolute", penalty=1_000_000_000),),
    stacks=("integer", "boolean", "exec"),
    constants=(0, 1, RandomInteger(-100, 100)),
    settings=suite_settings(max_points=1600, steps=4000),
)
