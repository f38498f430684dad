"""Median: the middle one of three integers."""

from __future__ import annotations

from flexicase.problems.cases import Inputs, RandomCases, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import Rng, integer, integers, shuffled
from flexicase.push.genome import RandomInteger, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol


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


PROBLEM = Problem(
    name="median",
    description="Print the median of three integers.",
    answer=lambda *three: sorted(three)[1],
    domains=(
        RandomCases(any_three, train=60, test=600),
        RandomCases(two_equal, train=30, test=300),
        RandomCases(all_equal, train=10, test=100),
    ),
    measures=(ErrorMeasure("output", "mismatch", target=lambda _, median: str(median)),),
    stacks=("exec", "integer", "boolean", "print"),
    generators=(
        RandomInteger(-100, 100),
        RandomTag(("exec", "integer", "boolean")),
        RandomTagged(),
        Symbol("in1"),
        Symbol("in2"),
        Symbol("in3"),
    ),
    settings=ProblemSettings(max_points=800, max_initial_genome=100, steps=200, generations=200, alignment_deviation=5),
    edge=carried_reader("median"),
)
