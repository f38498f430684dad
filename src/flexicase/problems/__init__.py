"""Program-synthesis problems: cases, errors, and what programs are made of."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from flexicase._checks import check_text, did_you_mean, shown
from flexicase.problems import random_inputs
from flexicase.problems.cases import Cases, CaseSource, FixedCases, RandomCases, SplitCases
from flexicase.problems.files import from_cases, from_file
from flexicase.problems.problem import OPERATORS, Problem, ProblemSettings
from flexicase.problems.scoring import ProgramScore, read_program, score
from flexicase.push.measures import ErrorMeasure

__all__ = [
    "OPERATORS",
    "CaseSource",
    "Cases",
    "ErrorMeasure",
    "FixedCases",
    "Problem",
    "ProblemSettings",
    "ProgramScore",
    "RandomCases",
    "SplitCases",
    "from_cases",
    "from_file",
    "load",
    "names",
    "random_inputs",
    "read_program",
    "score",
]

#: The paper's two problems, its third, and the rest of the benchmark suite.
NAMES = (
    "mirror-image",
    "last-index-of-zero",
    "simple-regression",
    "checksum",
    "collatz-numbers",
    "compare-string-lengths",
    "count-odds",
    "digits",
    "double-letters",
    "even-squares",
    "for-loop-index",
    "grade",
    "median",
    "negative-to-zero",
    "number-io",
    "pig-latin",
    "replace-space-with-newline",
    "scrabble-score",
    "small-or-large",
    "smallest",
    "string-differences",
    "string-lengths-backwards",
    "sum-of-squares",
    "super-anagrams",
    "syllables",
    "vector-average",
    "vectors-summed",
    "wallis-pi",
    "word-stats",
    "x-word-lines",
)


def names() -> list[str]:
    """The names that `load` knows.

    >>> from flexicase import problems
    >>> problems.names()[:3]
    ['mirror-image', 'last-index-of-zero', 'simple-regression']
    """
    return list(NAMES)


@cache
def _module_problem(name: str) -> Problem:
    problem: Problem = import_module("flexicase.problems.psb1." + name.replace("-", "_")).PROBLEM
    return problem


def load(name: str) -> Problem:
    """A problem by its name.

    >>> from flexicase import problems
    >>> problems.load("mirror-image").title
    'Mirror Image'
    """
    if check_text(name, "name") not in NAMES:
        raise ValueError(f"name must be the name of a problem, got {shown(name)}{did_you_mean(name[:80], NAMES)}")
    return _module_problem(str(name))
