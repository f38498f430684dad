"""flexicase: lexicase selection at scale."""

from flexicase.advise import Advice, advise
from flexicase.evaluation.protocol import EvaluationError
from flexicase.selection.api import Method, Selection, Selector, select
from flexicase.selection.baselines import BatchTournament, FitnessProportionate, RandomSelection, Tournament
from flexicase.selection.bias import CaseStatistics, biases
from flexicase.selection.dalex import DALex
from flexicase.selection.epsilon import Mad
from flexicase.selection.exact import Estimate, ProblemTooLarge, probabilities
from flexicase.selection.fast import FastLexicase
from flexicase.selection.fast_outcome import FastSelection, MemoReport
from flexicase.selection.informed import InformedDownSample
from flexicase.selection.lexicase import Lexicase
from flexicase.selection.orders import Ranked, Uniform, Weighted
from flexicase.selection.plexicase import Plexicase
from flexicase.selection.registry import methods, register
from flexicase.selection.sampling import Cohorts, DownSample

__version__ = "0.1.0"

__all__ = [
    "Advice",
    "BatchTournament",
    "CaseStatistics",
    "Cohorts",
    "DALex",
    "DownSample",
    "Estimate",
    "EvaluationError",
    "FastLexicase",
    "FastSelection",
    "FitnessProportionate",
    "InformedDownSample",
    "Lexicase",
    "Mad",
    "MemoReport",
    "Method",
    "Plexicase",
    "ProblemTooLarge",
    "RandomSelection",
    "Ranked",
    "Selection",
    "Selector",
    "Tournament",
    "Uniform",
    "Weighted",
    "advise",
    "biases",
    "methods",
    "probabilities",
    "register",
    "select",
]
