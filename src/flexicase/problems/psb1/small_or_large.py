"""Small or Large: a word for a number."""

from functools import partial

from flexicase.problems import ErrorMeasure, FixedCases, Problem
from flexicase.problems.files import read_carried
from flexicase.problems.psb1._suite import fixed, integer_cases, suite_settings, tags
from flexicase.push import RandomInteger, Symbol
from flexicase.push.draws import Generator


def answer(n: int) -> str:
    """The word to print."""
    return "small" if n < 1000 else "large" if n >= 2000 else ""


def generators(*tagged: str) -> tuple[Generator, ...]:
    """What genes are made of, besides instructions, when these stacks can be tagged."""
    return "small", "large", RandomInteger(-10000, 10000), *tags(*tagged), Symbol("in1")


PROBLEM = Problem(
    name="small-or-large",
    title="Small or Large",
    description="Print `small` if n < 1000, `large` if n >= 2000, and nothing otherwise.",
    answer=answer,
    sources=(
        fixed("small-or-large"),
        FixedCases([(n,) for n in (*range(980, 1020), *range(1980, 2020))], test=True),
        integer_cases(-10000, 10000, train=73, test=920),
    ),
    measures=(ErrorMeasure("output", "levenshtein"),),
    stacks=("exec", "integer", "boolean", "string", "print"),
    generators=generators("integer", "boolean", "exec"),
    generators_by_list=dict.fromkeys(("2021", "2023"), generators("integer", "boolean", "string", "exec")),
    settings=suite_settings(max_points=800, steps=300, alignment_deviation=5),
    carried_cases=partial(read_carried, "small-or-large"),
)
