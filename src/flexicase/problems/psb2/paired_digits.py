"""Paired Digits: the sum of digits that are followed by themselves."""

from itertools import pairwise

from flexicase.problems.psb2._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem
from flexicase.problems.random_inputs import chance, integer, pick
from flexicase.push import RandomChar, RandomInteger

DIGITS = "0123456789"


def digits(rng: Rng) -> Inputs:
    """Digits that repeat more or less often."""
    size, share = integer(rng, 2, 20), rng.random()
    made = pick(rng, DIGITS)
    while len(made) < size:
        made += made[-1] if chance(rng, share) else pick(rng, DIGITS)
    return (made,)


PROBLEM = suite_problem(
    name="paired-digits",
    description="Given a string of digits, return the sum of the digits that are equal to the next one.",
    answer=lambda given: sum(int(a) for a, b in pairwise(given) if a == b),
    sources=(fixed("paired-digits"), RandomCases(digits, train=160, test=2000)),
    measures=(ErrorMeasure("integer", "absolute", penalty=1_000_000),),
    stacks=("string", "char", "integer", "boolean", "exec"),
    constants=(0, RandomChar(DIGITS), RandomInteger(0, 9)),
)
