"""Collatz Numbers: how long is the sequence from n to 1?"""

from flexicase.problems.psb1._suite import ErrorMeasure, fixed, integer_cases, suite_problem, suite_settings
from flexicase.push import RandomInteger


def answer(n: int) -> int:
    """The number of terms, both ends counted."""
    terms = 1
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        terms += 1
    return terms


PROBLEM = suite_problem(
    name="collatz-numbers",
    description="Given an integer n from 1 to 10000, return the number of terms of its Collatz sequence down to 1.",
    answer=answer,
    sources=(fixed("collatz-numbers"), integer_cases(11, 9998, train=184, test=2000)),
    measures=(ErrorMeasure("integer", "absolute", penalty=1_000_000),),
    stacks=("integer", "float", "boolean", "exec"),
    constants=(0, 1, RandomInteger(-100, 100)),
    settings=suite_settings(max_points=2400, steps=15000),
)
