"""Luhn: the sum of a card number's digits, every second one doubled."""

from flexicase.problems.psb2._suite import ErrorMeasure, RandomCases, fixed, suite_problem
from flexicase.problems.random_inputs import integers
from flexicase.push import RandomInteger


def answer(digits: list[int]) -> int:
    """The sum; a doubled digit above 9 counts 9 less."""
    doubled = (2 * digit - 9 * (digit > 4) for digit in digits[::2])
    return sum(doubled) + sum(digits[1::2])


PROBLEM = suite_problem(
    name="luhn",
    description="Given 16 digits, double every second one starting with the first, subtract 9 from those above 9, and "
    "return the sum of all.",
    answer=answer,
    sources=(fixed("luhn"), RandomCases(lambda rng: (integers(rng, 16, 0, 9),), train=180, test=2000)),
    measures=(ErrorMeasure("integer", "absolute", penalty=1_000_000),),
    stacks=("integer", "boolean", "exec", "vector_integer"),
    constants=(0, 2, 9, 10, RandomInteger(-10, 10)),
)
