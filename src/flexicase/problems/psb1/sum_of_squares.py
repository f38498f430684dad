"""Sum of Squares: 1 + 4 + 9 + … + n²."""

from flexicase.problems import ErrorMeasure, FixedCases, RandomCases
from flexicase.problems.psb1._suite import fixed, inputs, suite_problem, suite_settings, tags
from flexicase.problems.random_inputs import integer
from flexicase.push import RandomInteger

PROBLEM = suite_problem(
    name="sum-of-squares",
    title="Sum of Squares",
    description="Given an integer n from 1 to 100, return the sum of the squares of 1, 2, …, n.",
    answer=lambda n: sum(k * k for k in range(1, n + 1)),
    sources=(
        fixed("sum-of-squares"),
        RandomCases(lambda rng: (integer(rng, 6, 99),), train=44),
        FixedCases([(n,) for n in range(1, 101)], test=True),
    ),
    measures=(ErrorMeasure("integer", "absolute", penalty=1_000_000_000),),
    stacks=("exec", "integer", "boolean"),
    generators=(0, 1, RandomInteger(-100, 100), *tags("integer", "boolean", "exec"), *inputs(1)),
    settings=suite_settings(max_points=1600, steps=4000),
)
