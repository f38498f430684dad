"""Negative to Zero: a vector with its negative elements replaced."""

import numpy as np

from flexicase.problems.psb1._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem, suite_settings
from flexicase.problems.random_inputs import integer, integers


def mixed(rng: Rng, negative: float) -> Inputs:
    """A vector whose elements are negative with a probability."""
    size = integer(rng, 1, 50)
    is_negative = rng.random(size) < negative
    return (np.where(is_negative, rng.integers(-1000, 0, size), rng.integers(0, 1001, size)).tolist(),)


PROBLEM = suite_problem(
    name="negative-to-zero",
    title="Negative to Zero",
    description="Given a vector of integers, return it with all negative ones replaced by 0.",
    answer=lambda vector: [max(element, 0) for element in vector],
    sources=(
        fixed("negative-to-zero", 0, 6),
        RandomCases(lambda rng: (integers(rng, 1, -1000, 1000),), train=5),
        fixed("negative-to-zero", 11),
        RandomCases(lambda rng: mixed(rng, 1.0), train=9, test=100),
        RandomCases(lambda rng: mixed(rng, 0.0), train=9, test=100),
        RandomCases(lambda rng: mixed(rng, rng.random()), train=165, test=1800),
    ),
    measures=(ErrorMeasure("vector_integer", "levenshtein", penalty=5000),),
    stacks=("integer", "boolean", "vector_integer", "exec"),
    constants=(0, []),
    settings=suite_settings(max_points=2000, steps=1500),
)
