"""For Loop Index: the values a loop variable takes."""

from flexicase.problems.psb1._suite import ErrorMeasure, Inputs, RandomCases, Rng, suite_problem, suite_settings
from flexicase.problems.random_inputs import integer


def crossing_zero(rng: Rng) -> Inputs:
    """From below zero to zero or above."""
    step = integer(rng, 1, 10)
    return -1 - integer(rng, 0, 10 * step - 1), integer(rng, 0, 10 * step - 1), step


def anywhere(rng: Rng) -> Inputs:
    """Up to twenty values."""
    step = integer(rng, 1, 10)
    start = integer(rng, -500, 499)
    return start, start + 1 + integer(rng, 0, 20 * step - 1), step


PROBLEM = suite_problem(
    name="for-loop-index",
    description="Given integers start, finish and step, print start, start + step, … as long as they are below finish, "
    "one per line, no final newline.",
    answer=lambda start, finish, step: "\n".join(map(str, range(start, finish, step))),
    sources=(RandomCases(crossing_zero, train=10, test=100), RandomCases(anywhere, train=90, test=900)),
    measures=(ErrorMeasure("output", "levenshtein"),),
    stacks=("integer", "boolean", "exec", "print"),
    settings=suite_settings(max_points=1200, steps=600),
)
