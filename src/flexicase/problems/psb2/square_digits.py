"""Square Digits: the squares of the digits, one after the other."""

from flexicase.problems.psb2._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem
from flexicase.problems.random_inputs import integer
from flexicase.push import RandomInteger

CHOSEN = fixed("square-digits")


def other(rng: Rng) -> Inputs:
    """An integer that is no fixed case."""
    while True:
        case = (integer(rng, 0, 999_998),)
        if case not in CHOSEN.inputs:
            return case


PROBLEM = suite_problem(
    name="square-digits",
    description="Given an integer, square each of its digits and return the squares, one after the other, as a string.",
    answer=lambda n: "".join(str(int(digit) ** 2) for digit in str(n)),
    sources=(CHOSEN, RandomCases(other, train=170, test=2000)),
    measures=(ErrorMeasure("string", "levenshtein", penalty=1_000_000),),
    stacks=("string", "char", "integer", "boolean", "exec"),
    constants=(0, 1, 2, "", RandomInteger(-100, 100)),
)
