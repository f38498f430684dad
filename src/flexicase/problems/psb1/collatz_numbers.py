"""Collatz Numbers: how long is the sequence from n to 1?"""

from __future__ import annotations

from flexicase.problems.cases import FixedCases, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import integer
from flexicase.push.genome import RandomInteger, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol


def answer(n: int) -> int:
    """The number of terms, both ends counted."""
    terms = 1
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        terms += 1
    return terms


PROBLEM = Problem(
    name="collatz-numbers",
    description="Given an integer n from 1 to 10000, return the number of terms of its Collatz sequence down to 1.",
    answer=answer,
    domains=(
        FixedCases(carried_inputs("collatz-numbers")),
        RandomCases(lambda rng: (integer(rng, 11, 9998),), train=184, test=2000),
    ),
    measures=(ErrorMeasure("integer", "absolute", penalty=1_000_000),),
    stacks=("exec", "integer", "float", "boolean"),
    generators=(
        0,
        1,
        RandomInteger(-100, 100),
        RandomTag(("integer", "float", "boolean", "exec")),
        RandomTagged(),
        Symbol("in1"),
    ),
    settings=ProblemSettings(max_points=2400, max_initial_genome=300, steps=15000),
    edge=carried_reader("collatz-numbers"),
)
