"""Digits: the digits of an integer, one per line, the last digit first."""

from flexicase.problems.psb1._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem, suite_settings
from flexicase.problems.random_inputs import chance, integer
from flexicase.push import Char, RandomInteger


def answer(n: int) -> str:
    """The lines to print."""
    lines = list(str(abs(n)))[::-1]
    if n < 0:
        lines[-1] = "-" + lines[-1]
    return "\n".join(lines)


def any_size(rng: Rng) -> Inputs:
    """An integer of 1 to 10 digits, of either sign."""
    size = integer(rng, 1, 10)
    magnitude = integer(rng, 10 ** (size - 1) if size > 1 else 0, 10**size - 1)
    return (magnitude if chance(rng, 0.5) else -magnitude,)


PROBLEM = suite_problem(
    name="digits",
    description="Print the digits of an integer, least significant first, one per line; a minus sign goes directly "
    "before the most significant digit; no final newline.",
    answer=answer,
    sources=(fixed("digits"), RandomCases(any_size, train=85, test=1000)),
    measures=(ErrorMeasure("output", "levenshtein"),),
    stacks=("integer", "boolean", "string", "char", "exec", "print"),
    constants=(Char("\n"), RandomInteger(-10, 10)),
    settings=suite_settings(max_points=1200, steps=600),
)
