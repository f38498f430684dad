"""Count Odds: how many elements of a vector are odd?"""

from __future__ import annotations

from flexicase.problems import edge
from flexicase.problems.cases import Drawn, Fixed, Inputs
from flexicase.problems.draws import Rng, chance, integer
from flexicase.problems.problem import Problem
from flexicase.problems.settings import Settings
from flexicase.push.generators import (
    RandomInteger,
    RandomTag,
    RandomTagged,
)
from flexicase.push.measures import Measure
from flexicase.push.values import Symbol


def answer(vector: list[int]) -> int:
    """The number of odd elements."""
    return sum(element % 2 for element in vector)


def mixed(rng: Rng, odd: float) -> Inputs:
    """A vector whose elements are odd with a probability."""
    size = integer(rng, 1, 50)
    return (
        [2 * integer(rng, -500, 499) + 1 if chance(rng, odd) else 2 * integer(rng, -500, 500) for _ in range(size)],
    )


PROBLEM = Problem(
    name="count-odds",
    description="Given a vector of integers, return the number of odd ones.",
    answer=answer,
    domains=(
        Fixed(edge.rows("count-odds")),
        Drawn(lambda rng: mixed(rng, 1.0), train=9, test=100),
        Drawn(lambda rng: mixed(rng, 0.0), train=9, test=100),
        Drawn(lambda rng: mixed(rng, rng.random()), train=150, test=1800),
    ),
    measures=(Measure("integer", "absolute", penalty=1000),),
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
    settings=Settings(max_points=2000, max_initial_genome=250, steps=1500),
    edge=edge.reader("count-odds"),
)
