"""Program-synthesis problems: cases, errors, and what programs are made of."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from flexicase._checks import check_text, did_you_mean, shown
from flexicase.problems import psb1, random_inputs
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

#: The paper's two problems and the quick first one, then the others by name.
_FIRST = ("mirror-image", "last-index-of-zero", "simple-regression")
_FOUND = [module.name.replace("_", "-") for module in iter_modules(psb1.__path__) if not module.name.startswith("_")]
NAMES = (*_FIRST, *sorted(set(_FOUND) - set(_FIRST)))


def names() -> list[str]:
    """The names of the problems that `load` knows.

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
    """Load a problem by its name.

    >>> from flexicase import problems
    >>> problems.load("mirror-image").title
    'Mirror Image'
    """
    if check_text(name, "name") not in NAMES:
        raise ValueError(f"unknown problem name {shown(name)}{did_you_mean(name[:80], NAMES)}")
    return _module_problem(str(name))
