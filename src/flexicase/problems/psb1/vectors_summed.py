"""Vectors Summed: two vectors, element by element."""

from __future__ import annotations

from flexicase.problems.cases import FixedCases, Inputs, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import Rng, integer, integers
from flexicase.push.genome import RandomInteger, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol


def pair(rng: Rng, size: int) -> Inputs:
    """Two vectors of one length."""
    return integers(rng, size, -1000, 1000), integers(rng, size, -1000, 1000)


PROBLEM = Problem(
    name="vectors-summed",
    description="Given two integer vectors of equal length, return the vector of the sums of their elements.",
    answer=lambda first, second: [a + b for a, b in zip(first, second, strict=True)],
    domains=(
        FixedCases(carried_inputs("vectors-summed", 0, 6)),
        RandomCases(lambda rng: pair(rng, 1), train=5),
        FixedCases(carried_inputs("vectors-summed", 11)),
        RandomCases(lambda rng: pair(rng, 50), train=10, test=100),
        RandomCases(lambda rng: pair(rng, integer(rng, 1, 50)), train=125, test=1400),
    ),
    measures=(ErrorMeasure("vector_integer", "vector_difference", penalty=1_000_000_000, per_element=10_000),),
    stacks=("exec", "integer", "vector_integer"),
    generators=(
        [],
        RandomInteger(-1000, 1000),
        RandomTag(("integer", "vector_integer", "exec")),
        RandomTagged(),
        Symbol("in1"),
        Symbol("in2"),
    ),
    settings=ProblemSettings(max_points=2000, max_initial_genome=250, steps=1500),
    edge=carried_reader("vectors-summed"),
)
