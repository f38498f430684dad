"""Evaluators of (individual, case) pairs."""

from flexicase.evaluation._async import AsyncEvaluator
from flexicase.evaluation._local import PairEvaluator, ProcessEvaluator, ThreadEvaluator
from flexicase.evaluation._pipelined import PipelinedEvaluator
from flexicase.evaluation._protocol import CaseEvaluator, EvaluationError
from flexicase.evaluation._ray import RayEvaluator

__all__ = [
    "AsyncEvaluator",
    "CaseEvaluator",
    "EvaluationError",
    "PairEvaluator",
    "PipelinedEvaluator",
    "ProcessEvaluator",
    "RayEvaluator",
    "ThreadEvaluator",
]
