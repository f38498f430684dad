"""Program-synthesis problems: cases, errors, and what programs are made of."""

from flexicase.problems import draws
from flexicase.problems.cases import Cases, Domain, Drawn, Fixed, Split
from flexicase.problems.problem import Problem
from flexicase.problems.registry import load, names
from flexicase.problems.settings import OPERATORS, Settings
from flexicase.push.measures import Measure

__all__ = [
    "OPERATORS",
    "Cases",
    "Domain",
    "Drawn",
    "Fixed",
    "Measure",
    "Problem",
    "Settings",
    "Split",
    "draws",
    "load",
    "names",
]
