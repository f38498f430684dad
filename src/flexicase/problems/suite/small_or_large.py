"""Small or Large: a word for a number."""

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


def answer(n: int) -> str:
    """The word to print."""
    return "small" if n < 1000 else "large" if n >= 2000 else ""


PROBLEM = Problem(
    name="small-or-large",
    title="Small or Large",
    description="Print `small` if n < 1000, `large` if n >= 2000, and nothing otherwise.",
    answer=answer,
    domains=(
        Fixed(edge.rows("small-or-large")),
        Fixed([(n,) for n in (*range(980, 1020), *range(1980, 2020))], test=True),
        Drawn(lambda rng: (integer(rng, -10000, 10000),), train=73, test=920),
    ),
    measures=(Measure("output", "levenshtein"),),
    stacks=("exec", "integer", "boolean", "string", "print"),
    generators=(
        "small",
        "large",
        RandomInteger(-10000, 10000),
        RandomTag(("integer", "boolean", "exec")),
        RandomTagged(),
        Symbol("in1"),
    ),
    settings=Settings(max_points=800, max_initial_genome=100, steps=300, alignment_deviation=5),
    edge=edge.reader("small-or-large"),
)
