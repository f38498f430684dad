"""Last Index of Zero: where is the last 0 of a vector?"""

from itertools import permutations

from flexicase.problems import ErrorMeasure, FixedCases, RandomCases, SplitCases
from flexicase.problems.psb1._suite import Inputs, Rng, fixed, suite_problem, suite_settings
from flexicase.problems.random_inputs import integer, integers, shuffled
from flexicase.push import RandomInteger


def orders(*elements: int) -> list[Inputs]:
    """The different orders of some elements."""
    return [(list(order),) for order in dict.fromkeys(permutations(elements))]


def with_zeros(rng: Rng) -> Inputs:
    """A vector with at least one 0."""
    zeros = [0] * (1 + integer(rng, 0, 5))
    others = integers(rng, integer(rng, 0, 44), -50, 50)
    return (shuffled(rng, zeros + others),)


PROBLEM = suite_problem(
    name="last-index-of-zero",
    title="Last Index of Zero",
    description="Given an integer vector with at least one 0, return the index (from 0) of the last 0.",
    answer=lambda vector: len(vector) - 1 - vector[::-1].index(0),
    sources=(
        fixed("last-index-of-zero", 0, 8),
        SplitCases([([0] * length,) for length in range(1, 51)], train=30, test=20),
        SplitCases(orders(0, 5, -8, 9), train=20, test=4),
        SplitCases(orders(0, 0, -8, 9), train=10, test=2),
        FixedCases(orders(0, 0, 0, 9)),
        RandomCases(with_zeros, train=78, test=974),
    ),
    measures=(ErrorMeasure("integer", "absolute", penalty=1_000_000),),
    stacks=("integer", "boolean", "vector_integer", "exec"),
    constants=(RandomInteger(-50, 50),),
    settings=suite_settings(max_points=1200, steps=600),
)
