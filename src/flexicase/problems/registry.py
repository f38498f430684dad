"""Problems by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from flexicase.checks import nearest
from flexicase.problems.problem import Problem

#: The paper's two problems, its third, and the rest of the benchmark suite.
NAMES = (
    "mirror-image",
    "last-index-of-zero",
    "simple-regression",
)


def names() -> list[str]:
    """The names that `load` knows.

    >>> names()[:3]
    ['mirror-image', 'last-index-of-zero', 'simple-regression']
    """
    return list(NAMES)


@cache
def _module_problem(name: str) -> Problem:
    problem: Problem = import_module("flexicase.problems.suite." + name.replace("-", "_")).PROBLEM
    return problem


def load(name: str) -> Problem:
    """A problem by its name.

    >>> load("mirror-image").title
    'Mirror Image'
    """
    if not isinstance(name, str):
        raise TypeError(f"name must be the name of a problem, got {name!r}")
    if name not in NAMES:
        raise ValueError(f"name must be the name of a problem, got {name!r}{nearest(name, NAMES)}")
    return _module_problem(name)
