"""Vectors Summed: two vectors, element by element."""

from __future__ import annotations

from flexicase.problems.cases import Drawn, Fixed, Inputs, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, Settings
from flexicase.problems.random_inputs import Rng, integer, integers
from flexicase.push.genome import RandomInteger, RandomTag, RandomTagged
from flexicase.push.measures import Measure
from flexicase.push.program import Symbol


def pair(rng: Rng, size: int) -> Inputs:
    """Two vectors of one length."""
    return integers(rng, size, -1000, 1000), integers(rng, size, -1000, 1000)


PROBLEM = Problem(
    name="vectors-summed",
    description="Given two integer vectors of equal length, return the vector of the sums of their elements.",
    answer=lambda first, second: [a + b for a, b in zip(first, second, strict=True)],
    domains=(
        Fixed(carried_inputs("vectors-summed", 0, 6)),
        Drawn(lambda rng: pair(rng, 1), train=5),
        Fixed(carried_inputs("vectors-summed", 11)),
        Drawn(lambda rng: pair(rng, 50), train=10, test=100),
        Drawn(lambda rng: pair(rng, integer(rng, 1, 50)), train=125, test=1400),
    ),
    measures=(Measure("vector_integer", "vector_difference", penalty=1_000_000_000, per_element=10_000),),
    stacks=("exec", "integer", "vector_integer"),
    generators=(
        [],
        RandomInteger(-1000, 1000),
        RandomTag(("integer", "vector_integer", "exec")),
        RandomTagged(),
        Symbol("in1"),
        Symbol("in2"),
    ),
    settings=Settings(max_points=2000, max_initial_genome=250, steps=1500),
    edge=carried_reader("vectors-summed"),
)
