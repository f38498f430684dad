"""For Loop Index: the values a loop variable takes."""

from __future__ import annotations

from flexicase.problems.cases import Inputs, RandomCases, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import Rng, integer
from flexicase.push.genome import RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol


def crossing_zero(rng: Rng) -> Inputs:
    """From below zero to zero or above."""
    step = integer(rng, 1, 10)
    return -1 - integer(rng, 0, 10 * step - 1), integer(rng, 0, 10 * step - 1), step


def anywhere(rng: Rng) -> Inputs:
    """Up to twenty values."""
    step = integer(rng, 1, 10)
    start = integer(rng, -500, 499)
    return start, start + 1 + integer(rng, 0, 20 * step - 1), step


PROBLEM = Problem(
    name="for-loop-index",
    description="Given integers start, finish and step, print start, start + step, … as long as they are below finish, "
    "one per line, no final newline.",
    answer=lambda start, finish, step: "\n".join(map(str, range(start, finish, step))),
    domains=(RandomCases(crossing_zero, train=10, test=100), RandomCases(anywhere, train=90, test=900)),
    measures=(ErrorMeasure("output", "levenshtein"),),
    stacks=("exec", "integer", "boolean", "print"),
    generators=(
        RandomTag(("integer", "boolean", "exec")),
        RandomTagged(),
        Symbol("in1"),
        Symbol("in2"),
        Symbol("in3"),
    ),
    settings=ProblemSettings(max_points=1200, max_initial_genome=150, steps=600),
    edge=carried_reader("for-loop-index"),
)
