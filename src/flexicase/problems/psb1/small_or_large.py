"""Small or Large: a word for a number."""

from __future__ import annotations

from flexicase.problems.cases import FixedCases, RandomCases, carried_inputs, carried_reader
from flexicase.problems.problem import Problem, ProblemSettings
from flexicase.problems.random_inputs import integer
from flexicase.push.genome import Generator, RandomInteger, RandomTag, RandomTagged
from flexicase.push.measures import ErrorMeasure
from flexicase.push.program import Symbol


def answer(n: int) -> str:
    """The word to print."""
    return "small" if n < 1000 else "large" if n >= 2000 else ""


def generators(*tagged: str) -> tuple[Generator, ...]:
    """What genes are made of, besides instructions, when these stacks can be tagged."""
    return "small", "large", RandomInteger(-10000, 10000), RandomTag(tagged), RandomTagged(), Symbol("in1")


PROBLEM = Problem(
    name="small-or-large",
    title="Small or Large",
    description="Print `small` if n < 1000, `large` if n >= 2000, and nothing otherwise.",
    answer=answer,
    domains=(
        FixedCases(carried_inputs("small-or-large")),
        FixedCases([(n,) for n in (*range(980, 1020), *range(1980, 2020))], test=True),
        RandomCases(lambda rng: (integer(rng, -10000, 10000),), train=73, test=920),
    ),
    measures=(ErrorMeasure("output", "levenshtein"),),
    stacks=("exec", "integer", "boolean", "string", "print"),
    generators=generators("integer", "boolean", "exec"),
    other_generators=dict.fromkeys(("M", "L"), generators("integer", "boolean", "string", "exec")),
    settings=ProblemSettings(max_points=800, max_initial_genome=100, steps=300, alignment_deviation=5),
    edge=carried_reader("small-or-large"),
)
