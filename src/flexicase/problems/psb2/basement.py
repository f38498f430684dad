"""Basement: where does the running sum become negative?"""

import numpy as np

from flexicase.problems.psb2._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem
from flexicase.problems.random_inputs import integer
from flexicase.push import RandomInteger

#: Number of vectors that are drawn at once.
BATCH = 256


def answer(vector: list[int]) -> int | None:
    """The first index up to which the sum is negative."""
    total = 0
    for i, element in enumerate(vector):
        total += element
        if total < 0:
            return i
    return None


def vector(rng: Rng) -> Inputs:
    """A vector with a uniform length, then a uniform answer; later elements are more often negative."""
    size = integer(rng, 1, 20)
    wanted = integer(rng, 0, size - 1)
    negative = np.arange(1, size + 1) / (size + 1)
    while True:
        sizes = rng.integers(0, 100, endpoint=True, size=(BATCH, size))
        vectors = np.where(rng.random((BATCH, size)) < negative, -sizes, sizes)
        below = np.cumsum(vectors, axis=1) < 0
        found = np.flatnonzero(below[:, wanted] & ~below[:, :wanted].any(axis=1))
        if found.size:
            return (vectors[found[0]].tolist(),)


PROBLEM = suite_problem(
    name="basement",
    description="Given a vector of integers, return the first index up to which, itself included, the sum is negative.",
    answer=answer,
    sources=(fixed("basement"), RandomCases(vector, train=165, test=2000)),
    measures=(ErrorMeasure("integer", "absolute", penalty=1_000_000),),
    stacks=("integer", "vector_integer", "boolean", "exec"),
    constants=([], -1, 0, 1, RandomInteger(-1000, 1000)),
)
