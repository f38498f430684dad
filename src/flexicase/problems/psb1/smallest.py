"""Smallest: the least of four integers."""

from __future__ import annotations

from flexicase.problems.cases import FixedCases, Inputs, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import Rng, integer, integers, shuffled
from flexicase.push.genome import RandomInteger, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol


def three_equal(rng: Rng) -> Inputs:
    """Three equal integers and another one."""
    thrice, other = integers(rng, 2, -100, 100)
    return tuple(shuffled(rng, [thrice, thrice, thrice, other]))


def all_equal(rng: Rng) -> Inputs:
    """One integer four times."""
    return (integer(rng, -100, 100),) * 4


PROBLEM = Problem(
    name="smallest",
    description="Print the smallest of four integers.",
    answer=lambda *four: min(four),
    domains=(
        FixedCases(carried_inputs("smallest")),
        RandomCases(three_equal, train=10, test=100),
        RandomCases(all_equal, train=5, test=100),
        RandomCases(lambda rng: tuple(integers(rng, 4, 0, 100)), train=20, test=200),
        RandomCases(lambda rng: tuple(integers(rng, 4, -100, 100)), train=60, test=600),
    ),
    measures=(ErrorMeasure("output", "mismatch", target=lambda _, least: str(least)),),
    stacks=("exec", "integer", "boolean", "print"),
    generators=(
        RandomInteger(-100, 100),
        RandomTag(("exec", "integer", "boolean")),
        RandomTagged(),
        Symbol("in1"),
        Symbol("in2"),
        Symbol("in3"),
        Symbol("in4"),
    ),
    settings=ProblemSettings(max_points=800, max_initial_genome=100, steps=200, generations=200, alignment_deviation=5),
    edge=carried_reader("smallest"),
)
