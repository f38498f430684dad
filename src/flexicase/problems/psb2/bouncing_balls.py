"""Bouncing Balls: how far does a ball travel?"""

from flexicase.problems.psb2._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, single, suite_problem
from flexicase.problems.random_inputs import integer


def answer(height: float, bounce: float, count: int) -> float:
    """The distance, down and up; the ratio of the heights is of single precision, as in the suite."""
    ratio, distance = single(bounce / height), 0.0
    for _ in range(count):
        distance = distance + height + bounce
        height, bounce = bounce, bounce * ratio
    return distance


def ball(rng: Rng) -> Inputs:
    """A height, a lower one after the first bounce, and a number of bounces."""
    height = 1.0 + 99.0 * rng.random()
    return height, 1.0 + (height - 1.0) * rng.random(), integer(rng, 1, 20)


PROBLEM = suite_problem(
    name="bouncing-balls",
    description="Given the height from which a ball falls, the height of its first bounce and a number of bounces, "
    "return the distance that it travels, down and up.",
    answer=answer,
    sources=(fixed("bouncing-balls"), RandomCases(ball, train=190, test=2000)),
    measures=(ErrorMeasure("float", "rounded", penalty=1_000_000, decimals=3),),
    stacks=("integer", "boolean", "exec", "float"),
    constants=(0.0, 1.0, 2.0),
)
