"""Median: the middle one of three integers."""

from flexicase.problems.psb1._suite import ErrorMeasure, Inputs, RandomCases, Rng, suite_problem, suite_settings
from flexicase.problems.random_inputs import integer, integers, shuffled
from flexicase.push import RandomInteger


def any_three(rng: Rng) -> Inputs:
    """Three integers."""
    return tuple(integers(rng, 3, -100, 100))


def two_equal(rng: Rng) -> Inputs:
    """Two equal integers and another one."""
    twice, other = integers(rng, 2, -100, 100)
    return tuple(shuffled(rng, [twice, twice, other]))


def all_equal(rng: Rng) -> Inputs:
    """One integer three times."""
    return (integer(rng, -100, 100),) * 3


PROBLEM = suite_problem(
    name="median",
    description="Print the median of three integers.",
    answer=lambda *three: sorted(three)[1],
    sources=(
        RandomCases(any_three, train=60, test=600),
        RandomCases(two_equal, train=30, test=300),
        RandomCases(all_equal, train=10, test=100),
    ),
    measures=(ErrorMeasure("output", "mismatch", target=lambda _, median: str(median)),),
    stacks=("exec", "integer", "boolean", "print"),
    constants=(RandomInteger(-100, 100),),
    settings=suite_settings(max_points=800, steps=200, generations=200, alignment_deviation=5),
)
