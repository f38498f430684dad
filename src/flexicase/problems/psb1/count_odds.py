"""Count Odds: how many elements of a vector are odd?"""

from __future__ import annotations

import numpy as np

from flexicase.problems.cases import FixedCases, Inputs, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import Rng, integer
from flexicase.push.genome import RandomInteger, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol


def answer(vector: list[int]) -> int:
    """The number of odd elements."""
    return sum(element % 2 for element in vector)


def mixed(rng: Rng, odd: float) -> Inputs:
    """A vector whose elements are odd with a probability."""
    size = integer(rng, 1, 50)
    is_odd = rng.random(size) < odd
    return (np.where(is_odd, 2 * rng.integers(-500, 500, size) + 1, 2 * rng.integers(-500, 501, size)).tolist(),)


PROBLEM = Problem(
    name="count-odds",
    description="Given a vector of integers, return the number of odd ones.",
    answer=answer,
    domains=(
        FixedCases(carried_inputs("count-odds")),
        RandomCases(lambda rng: mixed(rng, 1.0), train=9, test=100),
        RandomCases(lambda rng: mixed(rng, 0.0), train=9, test=100),
        RandomCases(lambda rng: mixed(rng, rng.random()), train=150, test=1800),
    ),
    measures=(ErrorMeasure("integer", "absolute", penalty=1000),),
    stacks=("exec", "integer", "boolean", "vector_integer"),
    generators=(
        0,
        1,
        2,
        RandomInteger(-1000, 1000),
        RandomTag(("integer", "boolean", "vector_integer", "exec")),
        RandomTagged(),
        Symbol("in1"),
    ),
    settings=ProblemSettings(max_points=2000, max_initial_genome=250, steps=1500),
    edge=carried_reader("count-odds"),
)
