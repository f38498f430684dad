"""Count Odds: how many elements of a vector are odd?"""

import numpy as np

from flexicase.problems import ErrorMeasure, RandomCases
from flexicase.problems.psb1._suite import Inputs, Rng, fixed, inputs, suite_problem, suite_settings, tags
from flexicase.problems.random_inputs import integer
from flexicase.push import RandomInteger


def answer(vector: list[int]) -> int:
    """The number of odd elements."""
    return sum(element % 2 for element in vector)


def mixed(rng: Rng, odd: float) -> Inputs:
    """A vector whose elements are odd with a probability."""
    size = integer(rng, 1, 50)
    is_odd = rng.random(size) < odd
    return (np.where(is_odd, 2 * rng.integers(-500, 500, size) + 1, 2 * rng.integers(-500, 501, size)).tolist(),)


PROBLEM = suite_problem(
    name="count-odds",
    description="Given a vector of integers, return the number of odd ones.",
    answer=answer,
    sources=(
        fixed("count-odds"),
        RandomCases(lambda rng: mixed(rng, 1.0), train=9, test=100),
        RandomCases(lambda rng: mixed(rng, 0.0), train=9, test=100),
        RandomCases(lambda rng: mixed(rng, rng.random()), train=150, test=1800),
    ),
    measures=(ErrorMeasure("integer", "absolute", penalty=1000),),
    stacks=("exec", "integer", "boolean", "vector_integer"),
    generators=(0, 1, 2, RandomInteger(-1000, 1000), *tags("integer", "boolean", "vector_integer", "exec"), *inputs(1)),
    settings=suite_settings(max_points=2000, steps=1500),
)
