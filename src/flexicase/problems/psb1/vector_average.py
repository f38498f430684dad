"""Vector Average: the mean of a vector of floats."""

from __future__ import annotations

from functools import reduce
from operator import add

from flexicase.problems.cases import FixedCases, Inputs, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import Rng, floats, integer
from flexicase.push.genome import RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol


def mean(vector: list[float]) -> float:
    """The mean, summed from left to right as every version of Python can."""
    return reduce(add, vector) / len(vector)


def of_length(rng: Rng, least: int, most: int) -> Inputs:
    """A vector of floats."""
    return (floats(rng, integer(rng, least, most), -1000.0, 1000.0),)


PROBLEM = Problem(
    name="vector-average",
    description="Given a vector of floats, return their mean.",
    answer=mean,
    domains=(
        FixedCases(carried_inputs("vector-average", 0, 5)),
        RandomCases(lambda rng: of_length(rng, 1, 1), train=45, test=500),
        FixedCases(carried_inputs("vector-average", 5)),
        RandomCases(lambda rng: of_length(rng, 2, 2), train=45, test=500),
        RandomCases(lambda rng: of_length(rng, 3, 5), train=50, test=500),
        RandomCases(lambda rng: of_length(rng, 50, 50), train=5, test=50),
        RandomCases(lambda rng: of_length(rng, 1, 50), train=95, test=1000),
    ),
    measures=(ErrorMeasure("float", "rounded", penalty=1_000_000, decimals=4),),
    stacks=("exec", "integer", "float", "vector_float"),
    generators=(RandomTag(("vector_float", "float", "integer", "exec")), RandomTagged(), Symbol("in1")),
    settings=ProblemSettings(max_points=1600, max_initial_genome=200, steps=800, error_threshold=1e-3),
    edge=carried_reader("vector-average"),
)
