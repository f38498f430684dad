"""Digits: the digits of an integer, one per line, the last digit first."""

from __future__ import annotations

from flexicase.problems.cases import FixedCases, Inputs, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import Rng, chance, integer
from flexicase.push.genome import RandomInteger, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Char, Symbol


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


PROBLEM = Problem(
    name="digits",
    description="Print the digits of an integer, least significant first, one per line; a minus sign goes directly "
    "before the most significant digit; no final newline.",
    answer=answer,
    domains=(FixedCases(carried_inputs("digits")), RandomCases(any_size, train=85, test=1000)),
    measures=(ErrorMeasure("output", "levenshtein"),),
    stacks=("exec", "integer", "boolean", "string", "char", "print"),
    generators=(
        Char("\n"),
        RandomInteger(-10, 10),
        RandomTag(("integer", "boolean", "string", "char", "exec")),
        RandomTagged(),
        Symbol("in1"),
    ),
    settings=ProblemSettings(max_points=1200, max_initial_genome=150, steps=600),
    edge=carried_reader("digits"),
)
