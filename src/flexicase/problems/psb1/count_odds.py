"""Count Odds: how many elements of a vector are odd?"""

import numpy as np

from flexicase.problems.psb1._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem, suite_settings
from flexicase.problems.random_inputs import integer
from flexicase.push import RandomInteger


def mixed(rng: Rng, odd: float) -> Inputs:
    """A vector whose elements are odd with a probability."""
    size = integer(rng, 1, 50)
    is_odd = rng.random(size) < odd
    return (np.where(is_odd, 2 * rng.integers(-500, 500, size) + 1, 2 * rng.integers(-500, 501, size)).tolist(),)


PROBLEM = suite_problem(
    name="count-odds",
    description="Given a vector of integers, return the number of odd ones.",
    answer=lambda vector: sum(element % 2 for element in vector),
    sources=(
        fixed("count-odds"),
        RandomCases(lambda rng: mixed(rng, 1.0), train=9, test=100),
        RandomCases(lambda rng: mixed(rng, 0.0), train=9, test=100),
        RandomCases(lambda rng: mixed(rng, rng.random()), train=150, test=1800),
    ),
    measures=(ErrorMeasure("integer", "absolute", penalty=1000),),
    stacks=("integer", "boolean", "vector_integer", "exec"),
    constants=(0, 1, 2, RandomInteger(-1000, 1000)),
    settings=suite_settings(max_points=2000, steps=1500),
)
