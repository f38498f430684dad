"""Smallest: the least of four integers."""

from flexicase.problems.psb1._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem, suite_settings
from flexicase.problems.random_inputs import integer, integers, shuffled
from flexicase.push import RandomInteger


def three_equal(rng: Rng) -> Inputs:
    """Three equal integers and another one."""
    thrice, other = integers(rng, 2, -100, 100)
    return tuple(shuffled(rng, [thrice, thrice, thrice, other]))


def all_equal(rng: Rng) -> Inputs:
    """One integer four times."""
    return (integer(rng, -100, 100),) * 4


PROBLEM = suite_problem(
    name="smallest",
    description="Print the smallest of four integers.",
    answer=lambda *four: min(four),
    sources=(
        fixed("smallest"),
        RandomCases(three_equal, train=10, test=100),
        RandomCases(all_equal, train=5, test=100),
        RandomCases(lambda rng: tuple(integers(rng, 4, 0, 100)), train=20, test=200),
        RandomCases(lambda rng: tuple(integers(rng, 4, -100, 100)), train=60, test=600),
    ),
    measures=(ErrorMeasure("output", "mismatch", target=lambda _, least: str(least)),),
    stacks=("exec", "integer", "boolean", "print"),
    constants=(RandomInteger(-100, 100),),
    settings=suite_settings(max_points=800, steps=200, generations=200, alignment_deviation=5),
)
