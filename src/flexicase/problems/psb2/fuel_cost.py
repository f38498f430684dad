"""Fuel Cost: a third of each element, less two."""

from flexicase.problems.psb2._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem
from flexicase.problems.random_inputs import integer, integers
from flexicase.push import RandomInteger


def of_length(rng: Rng, least: int, most: int) -> Inputs:
    """A vector of integers with a cost."""
    return (integers(rng, integer(rng, least, most), 6, 10000),)


PROBLEM = suite_problem(
    name="fuel-cost",
    description="Given a vector of positive integers, divide each by 3, round down, subtract 2, and return the sum.",
    answer=lambda vector: sum(element // 3 - 2 for element in vector),
    sources=(
        fixed("fuel-cost"),
        RandomCases(lambda rng: of_length(rng, 1, 5), train=75, test=1000),
        RandomCases(lambda rng: of_length(rng, 6, 20), train=88, test=1000),
    ),
    measures=(ErrorMeasure("integer", "absolute", penalty=10**12),),
    stacks=("integer", "vector_integer", "boolean", "exec"),
    constants=(0, 1, 2, 3, RandomInteger(-1000, 1000)),
)
