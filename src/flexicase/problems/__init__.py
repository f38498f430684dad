"""Program-synthesis problems: cases, errors, and what programs are made of."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Literal, get_args

from flexicase._checks import check_choice, check_text, did_you_mean, shown
from flexicase.problems import psb1, psb2, random_inputs
from flexicase.problems.cases import Cases, CaseSource, FixedCases, RandomCases, SplitCases
from flexicase.problems.files import from_cases, from_file
from flexicase.problems.problem import Problem
from flexicase.problems.scoring import ProgramScore, read_program, score
from flexicase.problems.settings import OPERATORS, ProblemSettings, Variation
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
    "Variation",
    "from_cases",
    "from_file",
    "load",
    "names",
    "random_inputs",
    "read_program",
    "score",
]

#: The first and the second program synthesis benchmark suite.
Suite = Literal["psb1", "psb2"]
#: The paper's two problems and the quick first one, then the others by suite and name.
_FIRST = ("mirror-image", "last-index-of-zero", "simple-regression")
#: The package of each problem.
_PACKAGES = {
    module.name.replace("_", "-"): package.__name__
    for package in (psb1, psb2)
    for module in iter_modules(package.__path__)
    if not module.name.startswith("_")
}
NAMES = tuple(dict.fromkeys((*_FIRST, *_PACKAGES)))


def names(suite: Suite | None = None) -> list[str]:
    """The names of the problems that `load` knows.

    Args:
        suite: Only the problems of this benchmark suite; Simple Regression is in none.

    >>> from flexicase import problems
    >>> problems.names()[:3]
    ['mirror-image', 'last-index-of-zero', 'simple-regression']
    >>> len(problems.names("psb1")), len(problems.names("psb2"))
    (29, 25)
    """
    if suite is None:
        return list(NAMES)
    check_choice(suite, "suite", get_args(Suite))
    return [name for name in NAMES if _PACKAGES[name].endswith(suite) and name != "simple-regression"]


def load(name: str) -> Problem:
    """Load a problem by its name.

    >>> from flexicase import problems
    >>> problems.load("mirror-image").title
    'Mirror Image'
    """
    if check_text(name, "name") not in NAMES:
        raise ValueError(f"unknown problem name {shown(name)}{did_you_mean(name[:80], NAMES)}")
    problem: Problem = import_module(f"{_PACKAGES[name]}.{name.replace('-', '_')}").PROBLEM
    return problem
