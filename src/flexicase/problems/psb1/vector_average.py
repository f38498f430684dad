"""Vector Average: the mean of a vector of floats."""

from functools import reduce
from operator import add

from flexicase.problems.psb1._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem, suite_settings
from flexicase.problems.random_inputs import floats, integer


def mean(vector: list[float]) -> float:
    """The mean, summed from left to right as every version of Python can."""
    return reduce(add, vector) / len(vector)


def of_length(rng: Rng, least: int, most: int) -> Inputs:
    """A vector of floats."""
    return (floats(rng, integer(rng, least, most), -1000.0, 1000.0),)


PROBLEM = suite_problem(
    name="vector-average",
    description="Given a vector of floats, return their mean.",
    answer=mean,
    sources=(
        fixed("vector-average", 0, 5),
        RandomCases(lambda rng: of_length(rng, 1, 1), train=45, test=500),
        fixed("vector-average", 5),
        RandomCases(lambda rng: of_length(rng, 2, 2), train=45, test=500),
        RandomCases(lambda rng: of_length(rng, 3, 5), train=50, test=500),
        RandomCases(lambda rng: of_length(rng, 50, 50), train=5, test=50),
        RandomCases(lambda rng: of_length(rng, 1, 50), train=95, test=1000),
    ),
    measures=(ErrorMeasure("float", "rounded", penalty=1_000_000, decimals=4),),
    stacks=("vector_float", "float", "integer", "exec"),
    settings=suite_settings(max_points=1600, steps=800, error_threshold=1e-3),
)
