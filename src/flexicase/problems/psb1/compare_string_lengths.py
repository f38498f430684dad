"""Compare String Lengths: are three strings each longer than the one before?"""

from flexicase.problems.psb1._suite import ErrorMeasure, Inputs, RandomCases, Rng, fixed, suite_problem, suite_settings
from flexicase.problems.random_inputs import string
from flexicase.push import RandomBoolean, RandomString

ANY_LENGTH, NOT_EMPTY = RandomString(0, 49), RandomString(1, 49)


def arrangements(same: str, other: str) -> list[Inputs]:
    """The three orders of two equal strings and another one."""
    return [(other, same, same), (same, other, same), (same, same, other)]


def equal(rng: Rng) -> Inputs:
    """One string three times."""
    return (string(rng, ANY_LENGTH),) * 3


def independent(rng: Rng) -> Inputs:
    """Three strings."""
    return tuple(string(rng, ANY_LENGTH) for _ in range(3))


PROBLEM = suite_problem(
    name="compare-string-lengths",
    description="Given three strings, return true if length(in1) < length(in2) < length(in3).",
    answer=lambda first, second, third: len(first) < len(second) < len(third),
    sources=(
        fixed("compare-string-lengths", 0, 7),
        RandomCases(lambda rng: arrangements("", string(rng, NOT_EMPTY)), train=6),
        RandomCases(lambda rng: arrangements(string(rng, NOT_EMPTY), string(rng, NOT_EMPTY)), train=9),
        RandomCases(equal, train=3, test=100),
        RandomCases(lambda rng: tuple(sorted(independent(rng), key=len)), train=25, test=200),
        RandomCases(independent, train=50, test=700),
    ),
    measures=(ErrorMeasure("boolean", "mismatch"),),
    stacks=("integer", "boolean", "string", "exec"),
    constants=(RandomBoolean(),),
    settings=suite_settings(max_points=1600, steps=600),
)
