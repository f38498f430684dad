"""Compare String Lengths: are three strings each longer than the one before?"""

from __future__ import annotations

from flexicase.problems.cases import FixedCases, Inputs, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import Rng, string
from flexicase.push.genome import RandomBoolean, RandomString, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol


def answer(first: str, second: str, third: str) -> bool:
    """Whether the lengths increase."""
    return len(first) < len(second) < len(third)


def not_empty(rng: Rng) -> str:
    """A string of 1 to 49 characters."""
    return string(rng, RandomString(1, 49))


def any_length(rng: Rng) -> str:
    """A string of 0 to 49 characters."""
    return string(rng, RandomString(0, 49))


def arrangements(same: str, other: str) -> list[Inputs]:
    """The three orders of two equal strings and another one."""
    return [(other, same, same), (same, other, same), (same, same, other)]


def equal(rng: Rng) -> Inputs:
    """One string three times."""
    given = any_length(rng)
    return given, given, given


def independent(rng: Rng) -> Inputs:
    """Three strings."""
    return any_length(rng), any_length(rng), any_length(rng)


PROBLEM = Problem(
    name="compare-string-lengths",
    description="Given three strings, return true if length(in1) < length(in2) < length(in3).",
    answer=answer,
    domains=(
        FixedCases(carried_inputs("compare-string-lengths", 0, 7)),
        RandomCases(lambda rng: arrangements("", not_empty(rng)), train=6),
        RandomCases(lambda rng: arrangements(not_empty(rng), not_empty(rng)), train=9),
        RandomCases(equal, train=3, test=100),
        RandomCases(lambda rng: tuple(sorted(independent(rng), key=len)), train=25, test=200),
        RandomCases(independent, train=50, test=700),
    ),
    measures=(ErrorMeasure("boolean", "mismatch"),),
    stacks=("exec", "integer", "boolean", "string"),
    generators=(
        RandomBoolean(),
        RandomTag(("integer", "boolean", "string", "exec")),
        RandomTagged(),
        Symbol("in1"),
        Symbol("in2"),
        Symbol("in3"),
    ),
    settings=ProblemSettings(max_points=1600, max_initial_genome=200, steps=600),
    edge=carried_reader("compare-string-lengths"),
)
