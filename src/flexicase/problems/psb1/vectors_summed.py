"""Vectors Summed: two vectors, element by element."""

from flexicase.problems.psb1._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem, suite_settings
from flexicase.problems.random_inputs import integer, integers
from flexicase.push import RandomInteger


def pair(rng: Rng, size: int) -> Inputs:
    """Two vectors of one length."""
    return integers(rng, size, -1000, 1000), integers(rng, size, -1000, 1000)


PROBLEM = suite_problem(
    name="vectors-summed",
    description="Given two integer vectors of equal length, return the vector of the sums of their elements.",
    answer=lambda first, second: [a + b for a, b in zip(first, second, strict=True)],
    sources=(
        fixed("vectors-summed", 0, 6),
        RandomCases(lambda rng: pair(rng, 1), train=5),
        fixed("vectors-summed", 11),
        RandomCases(lambda rng: pair(rng, 50), train=10, test=100),
        RandomCases(lambda rng: pair(rng, integer(rng, 1, 50)), train=125, test=1400),
    ),
    measures=(ErrorMeasure("vector_integer", "vector_difference", penalty=1_000_000_000, per_element=10_000),),
    stacks=("integer", "vector_integer", "exec"),
    constants=([], RandomInteger(-1000, 1000)),
    settings=suite_settings(max_points=2000, steps=1500),
)
