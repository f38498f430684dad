"""An evaluator that works in the calling thread."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase.checks import check_function, check_indices
from flexicase.evaluation.protocol import Closing, EvaluationError, checked_block


class PairEvaluator(Closing):
    """Calls a function for every (individual, case) pair, one after another.

    Args:
        function: ``function(individual, case)`` gives the error of one index on the other.

    Example:
        >>> import flexicase as fx
        >>> from flexicase.evaluation import PairEvaluator
        >>> evaluate = PairEvaluator(lambda individual, case: abs(individual - case))
        >>> evaluate([0, 1, 2], [2]).tolist()
        [[2.0], [1.0], [0.0]]
        >>> fx.FastLexicase(5, seed=1).select(evaluate, 3).indices.shape
        (1,)
    """

    def __init__(self, function: Callable[[int, int], float]) -> None:
        """Keep the function."""
        self.function = check_function(function, "function", 2)

    def __call__(self, individuals: ArrayLike, cases: ArrayLike) -> NDArray[np.float64]:
        """The (m, b) errors of (m,) individuals on (b,) cases.

        Raises:
            EvaluationError: The function raised, or did not return a number; names the pair.
        """
        rows, columns = check_indices(individuals, "individuals"), check_indices(cases, "cases")
        errors = np.empty((len(rows), len(columns)))
        for i, individual in enumerate(rows.tolist()):
            for j, case in enumerate(columns.tolist()):
                errors[i, j] = self._error(individual, case)
        return errors

    def _error(self, individual: int, case: int) -> float:
        try:
            found: Any = self.function(individual, case)
        except Exception as cause:
            problem = f"the evaluator raised {type(cause).__name__}: {cause}"
            raise EvaluationError(problem, [individual], [case]) from cause
        if type(found) is float and found > -math.inf:  # what `checked_block` would say of it
            return found
        return float(checked_block([[found]], np.array([individual]), np.array([case]))[0, 0])
