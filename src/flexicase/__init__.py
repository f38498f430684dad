"""flexicase: lexicase selection at scale."""

from flexicase.selection.api import Method, Selection, Selector, select
from flexicase.selection.bias import CaseStatistics, biases
from flexicase.selection.epsilon import Mad
from flexicase.selection.exact import Estimate, ProblemTooLarge, probabilities
from flexicase.selection.lexicase import Lexicase
from flexicase.selection.orders import Ranked, Uniform, Weighted
from flexicase.selection.registry import methods, register
from flexicase.selection.sampling import DownSample

__version__ = "0.1.0"

__all__ = [
    "CaseStatistics",
    "DownSample",
    "Estimate",
    "Lexicase",
    "Mad",
    "Method",
    "ProblemTooLarge",
    "Ranked",
    "Selection",
    "Selector",
    "Uniform",
    "Weighted",
    "biases",
    "methods",
    "probabilities",
    "register",
    "select",
]
