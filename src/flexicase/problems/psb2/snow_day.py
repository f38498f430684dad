"""Snow Day: snow that falls and melts."""

from flexicase.problems.psb2._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem
from flexicase.problems.random_inputs import integer


def answer(hours: int, snow: float, fall: float, melting: float) -> float:
    """The snow after the hours."""
    for _ in range(hours):
        snow = snow * (1.0 - melting) + fall
    return snow


def day(rng: Rng) -> Inputs:
    """Hours, snow on the ground, and how much falls and melts each hour."""
    return integer(rng, 0, 20), 20.0 * rng.random(), 10.0 * rng.random(), rng.random()


PROBLEM = suite_problem(
    name="snow-day",
    description="Given a number of hours, the snow on the ground, the snow that falls each hour and the fraction that "
    "melts each hour, return the snow after these hours.",
    answer=answer,
    sources=(fixed("snow-day"), RandomCases(day, train=188, test=2000)),
    measures=(ErrorMeasure("float", "rounded", penalty=1_000_000, decimals=3),),
    stacks=("integer", "float", "boolean", "exec"),
    constants=(0, 0.0, 1, 1.0, -1, -1.0),
)
