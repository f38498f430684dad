"""Vector Distance: the Euclidean distance of two vectors."""

from math import sqrt

from flexicase.problems.psb2._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem
from flexicase.problems.random_inputs import floats, integer

#: Smallest and largest length of each source, and its numbers of training and test cases.
LENGTHS = ((1, 1, 5, 50), (2, 2, 30, 300), (3, 3, 30, 300), (4, 4, 20, 200), (5, 5, 10, 100), (6, 20, 100, 1050))


def answer(first: list[float], second: list[float]) -> float:
    """The distance, summed from left to right as every version of Python can."""
    total = 0.0
    for a, b in zip(first, second, strict=False):
        total += (a - b) * (a - b)
    return sqrt(total)


def source(least: int, most: int, train: int, test: int) -> RandomCases:
    """Pairs of vectors of one length."""

    def pair(rng: Rng) -> Inputs:
        size = integer(rng, least, most)
        return floats(rng, size, -100.0, 100.0), floats(rng, size, -100.0, 100.0)

    return RandomCases(pair, train, test)


PROBLEM = suite_problem(
    name="vector-distance",
    description="Given two vectors of floats of equal length, return their Euclidean distance.",
    answer=answer,
    sources=(fixed("vector-distance"), *(source(*lengths) for lengths in LENGTHS)),
    measures=(ErrorMeasure("float", "rounded", penalty=1_000_000, decimals=3),),
    stacks=("integer", "boolean", "exec", "float", "vector_float"),
    constants=([], 0),
)
