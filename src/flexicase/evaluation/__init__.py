"""Who evaluates (individual, case) pairs, and what is remembered of them."""

from flexicase.evaluation.pipelined import PipelinedEvaluator
from flexicase.evaluation.processes import ProcessEvaluator
from flexicase.evaluation.protocol import CaseEvaluator, EvaluationError
from flexicase.evaluation.ray_evaluator import RayEvaluator
from flexicase.evaluation.serial import PairEvaluator
from flexicase.evaluation.threads import ThreadEvaluator

__all__ = [
    "CaseEvaluator",
    "EvaluationError",
    "PairEvaluator",
    "PipelinedEvaluator",
    "ProcessEvaluator",
    "RayEvaluator",
    "ThreadEvaluator",
]
