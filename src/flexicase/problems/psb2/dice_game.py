"""Dice Game: who throws the higher number?"""

from fractions import Fraction

from flexicase.problems.psb2._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, single, suite_problem
from flexicase.problems.random_inputs import integer


def answer(sides: int, other: int) -> float:
    """The probability that the first number is higher, in single precision as in the suite."""
    if sides <= other:
        return single(float(Fraction(sides - 1, 2 * other)))
    return single(float(1 - Fraction(other + 1, 2 * sides)))


def equal(rng: Rng) -> Inputs:
    """Dice with the same number of sides."""
    return (integer(rng, 1, 1000),) * 2


PROBLEM = suite_problem(
    name="dice-game",
    description="Given the numbers of sides of two dice, return the probability that the first shows a higher number.",
    answer=answer,
    sources=(
        fixed("dice-game"),
        RandomCases(equal, train=10, test=100),
        RandomCases(lambda rng: (integer(rng, 1, 1000), integer(rng, 1, 1000)), train=175, test=1900),
    ),
    measures=(ErrorMeasure("float", "rounded", penalty=1_000_000, decimals=3),),
    stacks=("integer", "boolean", "exec", "float"),
    constants=(0.0, 1.0),
)
