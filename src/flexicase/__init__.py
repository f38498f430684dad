"""flexicase: lexicase selection at scale.

Names are imported when they are first used: importing the package is quick, and Ctrl-C is heeded from the start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flexicase._lazy import lazy_names

if TYPE_CHECKING:
    from flexicase.evaluation._cache import CacheInfo
    from flexicase.evaluation._protocol import EvaluationError
    from flexicase.gp.sampling import PhylogenyInformed
    from flexicase.records import Record
    from flexicase.rng import Key
    from flexicase.selection.advise import Advice, advise
    from flexicase.selection.baselines import BatchTournament, FitnessProportionate, RandomSelection, Tournament
    from flexicase.selection.dalex import DALex
    from flexicase.selection.epsilon import MadEpsilon
    from flexicase.selection.fast_lexicase import FastLexicase
    from flexicase.selection.lexicase import Lexicase
    from flexicase.selection.matrix import CaseStatistics
    from flexicase.selection.methods import methods, register
    from flexicase.selection.orders import Ranked, Uniform, Weighted
    from flexicase.selection.plexicase import Plexicase
    from flexicase.selection.probabilities import (
        ProbabilityEstimate,
        TooManyStatesError,
        estimate_probabilities,
        probabilities,
    )
    from flexicase.selection.protocol import Ended, FastSelection, Method, Selection
    from flexicase.selection.sampling import Cohorts, DownSample, InformedDownSample
    from flexicase.selection.select import Selector, select, select_indices
    from flexicase.selection.trace import Trace, trace
    from flexicase.selection.verify import Verification, VerificationFailure, verify, verify_draws
    from flexicase.selection.weights import biases

__version__ = "0.1.0"

__all__ = [
    "Advice",
    "BatchTournament",
    "CacheInfo",
    "CaseStatistics",
    "Cohorts",
    "DALex",
    "DownSample",
    "Ended",
    "EvaluationError",
    "FastLexicase",
    "FastSelection",
    "FitnessProportionate",
    "InformedDownSample",
    "Key",
    "Lexicase",
    "MadEpsilon",
    "Method",
    "PhylogenyInformed",
    "Plexicase",
    "ProbabilityEstimate",
    "RandomSelection",
    "Ranked",
    "Record",
    "Selection",
    "Selector",
    "TooManyStatesError",
    "Tournament",
    "Trace",
    "Uniform",
    "Verification",
    "VerificationFailure",
    "Weighted",
    "advise",
    "biases",
    "estimate_probabilities",
    "methods",
    "probabilities",
    "register",
    "select",
    "select_indices",
    "trace",
    "verify",
    "verify_draws",
]

_MODULES = {
    "records": "Record",
    "rng": "Key",
    "selection.advise": "Advice advise",
    "evaluation._cache": "CacheInfo",
    "evaluation._protocol": "EvaluationError",
    "selection.protocol": "Ended FastSelection Method Selection",
    "selection.select": "Selector select select_indices",
    "selection.baselines": "BatchTournament FitnessProportionate RandomSelection Tournament",
    "selection.weights": "biases",
    "selection.dalex": "DALex",
    "selection.matrix": "CaseStatistics",
    "selection.trace": "Trace trace",
    "selection.epsilon": "MadEpsilon",
    "selection.verify": "Verification VerificationFailure verify verify_draws",
    "selection.probabilities": "ProbabilityEstimate TooManyStatesError estimate_probabilities probabilities",
    "selection.fast_lexicase": "FastLexicase",
    "selection.lexicase": "Lexicase",
    "selection.orders": "Ranked Uniform Weighted",
    "selection.plexicase": "Plexicase",
    "selection.methods": "methods register",
    "selection.sampling": "Cohorts DownSample InformedDownSample",
    "gp.sampling": "PhylogenyInformed",
}
if not TYPE_CHECKING:  # which would make every name a known one
    __getattr__, __dir__ = lazy_names(__name__, _MODULES)
