"""Collatz Numbers: how long is the sequence from n to 1?"""

from __future__ import annotations

from flexicase.problems import edge
from flexicase.problems.cases import Drawn, Fixed
from flexicase.problems.draws import integer
from flexicase.problems.problem import Problem
from flexicase.problems.settings import Settings
from flexicase.push.generators import (
    RandomInteger,
    RandomTag,
    RandomTagged,
)
from flexicase.push.measures import Measure
from flexicase.push.values import Symbol


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
        Fixed(edge.rows("collatz-numbers")),
        Drawn(lambda rng: (integer(rng, 11, 9998),), train=184, test=2000),
    ),
    measures=(Measure("integer", "absolute", penalty=1_000_000),),
    stacks=("exec", "integer", "float", "boolean"),
    generators=(
        0,
        1,
        RandomInteger(-100, 100),
        RandomTag(("integer", "float", "boolean", "exec")),
        RandomTagged(),
        Symbol("in1"),
    ),
    settings=Settings(max_points=2400, max_initial_genome=300, steps=15000),
    edge=edge.reader("collatz-numbers"),
)
