"""Sum of Squares: 1 + 4 + 9 + … + n²."""

from __future__ import annotations

from flexicase.problems.cases import FixedCases, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import integer
from flexicase.push.genome import RandomInteger, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol

PROBLEM = Problem(
    name="sum-of-squares",
    title="Sum of Squares",
    description="Given an integer n from 1 to 100, return the sum of the squares of 1, 2, …, n.",
    answer=lambda n: sum(k * k for k in range(1, n + 1)),
    domains=(
        FixedCases(carried_inputs("sum-of-squares")),
        RandomCases(lambda rng: (integer(rng, 6, 99),), train=44),
        FixedCases([(n,) for n in range(1, 101)], test=True),
    ),
    measures=(ErrorMeasure("integer", "absolute", penalty=1_000_000_000),),
    stacks=("exec", "integer", "boolean"),
    generators=(
        0,
        1,
        RandomInteger(-100, 100),
        RandomTag(("integer", "boolean", "exec")),
        RandomTagged(),
        Symbol("in1"),
    ),
    settings=ProblemSettings(max_points=1600, max_initial_genome=200, steps=4000),
    edge=carried_reader("sum-of-squares"),
)
