"""Who evaluates (individual, case) pairs, and what is remembered of them."""

from flexicase.evaluation._local import BlockEvaluator, PairEvaluator, ProcessEvaluator, ThreadEvaluator
from flexicase.evaluation._pipelined import PipelinedEvaluator
from flexicase.evaluation._protocol import CaseEvaluator, EvaluationError
from flexicase.evaluation._ray import RayEvaluator

__all__ = [
    "BlockEvaluator",
    "CaseEvaluator",
    "EvaluationError",
    "PairEvaluator",
    "PipelinedEvaluator",
    "ProcessEvaluator",
    "RayEvaluator",
    "ThreadEvaluator",
]
