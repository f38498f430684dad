"""GCD: the greatest common divisor."""

from math import gcd

from flexicase.problems.psb2._suite import ErrorMeasure, RandomCases, fixed, suite_problem
from flexicase.problems.random_inputs import integer
from flexicase.push import RandomInteger

PROBLEM = suite_problem(
    name="gcd",
    title="GCD",
    description="Given two positive integers, return their greatest common divisor.",
    answer=gcd,
    sources=(
        fixed("gcd"),
        RandomCases(lambda rng: (integer(rng, 1, 1_000_000), integer(rng, 1, 1_000_000)), train=194, test=2000),
    ),
    measures=(ErrorMeasure("integer", "absolute", penalty=1_000_000),),
    stacks=("integer", "boolean", "exec"),
    constants=(RandomInteger(-10, 10),),
)
