"""Negative to Zero: a vector with its negative elements replaced."""

from __future__ import annotations

import numpy as np

from flexicase.problems.cases import FixedCases, Inputs, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import Rng, integer, integers
from flexicase.push.genome import RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol


def mixed(rng: Rng, negative: float) -> Inputs:
    """A vector whose elements are negative with a probability."""
    size = integer(rng, 1, 50)
    is_negative = rng.random(size) < negative
    return (np.where(is_negative, rng.integers(-1000, 0, size), rng.integers(0, 1001, size)).tolist(),)


PROBLEM = Problem(
    name="negative-to-zero",
    title="Negative to Zero",
    description="Given a vector of integers, return it with all negative ones replaced by 0.",
    answer=lambda vector: [max(element, 0) for element in vector],
    domains=(
        FixedCases(carried_inputs("negative-to-zero", 0, 6)),
        RandomCases(lambda rng: (integers(rng, 1, -1000, 1000),), train=5),
        FixedCases(carried_inputs("negative-to-zero", 11)),
        RandomCases(lambda rng: mixed(rng, 1.0), train=9, test=100),
        RandomCases(lambda rng: mixed(rng, 0.0), train=9, test=100),
        RandomCases(lambda rng: mixed(rng, rng.random()), train=165, test=1800),
    ),
    measures=(ErrorMeasure("vector_integer", "levenshtein", penalty=5000),),
    stacks=("exec", "integer", "boolean", "vector_integer"),
    generators=(
        0,
        [],
        RandomTag(("integer", "boolean", "vector_integer", "exec")),
        RandomTagged(),
        Symbol("in1"),
    ),
    settings=ProblemSettings(max_points=2000, max_initial_genome=250, steps=1500),
    edge=carried_reader("negative-to-zero"),
)
