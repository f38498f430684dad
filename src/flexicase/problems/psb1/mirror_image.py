"""Mirror Image: is one vector the reverse of the other?"""

from flexicase.problems.psb1._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem, suite_settings
from flexicase.problems.random_inputs import integer, integers
from flexicase.push import RandomBoolean


def vector(rng: Rng) -> list[int]:
    """A random first input."""
    return integers(rng, integer(rng, 1, 50), -1000, 1000)


def mirrored(rng: Rng) -> Inputs:
    """A vector and its reverse."""
    first = vector(rng)
    return first, first[::-1]


def equal(rng: Rng) -> Inputs:
    """The same vector twice."""
    first = vector(rng)
    return first, list(first)


def close_call(rng: Rng) -> Inputs:
    """A vector and its reverse with one to five elements set anew."""
    first = vector(rng)
    second = first[::-1]
    for _ in range(integer(rng, 1, 5)):
        second[integer(rng, 0, len(second) - 1)] = integer(rng, -1000, 1000)
    return first, second


def unrelated(rng: Rng) -> Inputs:
    """Two vectors of one length."""
    first = vector(rng)
    return first, integers(rng, len(first), -1000, 1000)


PROBLEM = suite_problem(
    name="mirror-image",
    description="Given two integer vectors of equal length, return true if one is the reverse of the other.",
    answer=lambda first, second: first == second[::-1],
    sources=(
        fixed("mirror-image"),
        RandomCases(mirrored, train=37, test=500),
        RandomCases(equal, train=10, test=100),
        RandomCases(close_call, train=20, test=200),
        RandomCases(unrelated, train=10, test=200),
    ),
    measures=(ErrorMeasure("boolean", "mismatch", penalty=1.0),),
    stacks=("integer", "boolean", "vector_integer", "exec"),
    constants=(RandomBoolean(),),
    settings=suite_settings(max_points=1200, steps=600),
)
