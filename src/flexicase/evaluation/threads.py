"""An evaluator that splits its blocks over threads."""

from __future__ import annotations

from concurrent.futures import Executor, Future, ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from flexicase.evaluation.pool import PoolEvaluator
from flexicase.evaluation.protocol import evaluate_block


class ThreadEvaluator(PoolEvaluator):
    """Calls a vectorised function on pieces of the block, one per thread.

    Pays when the function releases the interpreter lock: NumPy on large arrays, compiled code,
    files and networks. A call that is interrupted does not wait for the pieces at work; a thread
    cannot be stopped from outside.

    Args:
        function: ``function(individuals, cases)`` gives the (m, b) errors of (m,) individuals on
            (b,) cases; called from several threads at once.
        workers: How many threads; None: one per processor.

    Example:
        >>> import numpy as np
        >>> from flexicase.evaluation import ThreadEvaluator
        >>> with ThreadEvaluator(lambda individuals, cases: np.abs(individuals[:, None] - cases), 2) as evaluate:
        ...     evaluate([0, 1], [2, 3]).tolist()
        [[2.0, 3.0], [1.0, 2.0]]
    """

    def _start(self) -> Executor:
        return ThreadPoolExecutor(self.workers, thread_name_prefix="flexicase")

    def _submit(
        self, pool: Executor, individuals: NDArray[np.int64], cases: NDArray[np.int64]
    ) -> Future[NDArray[np.float64]]:
        return pool.submit(evaluate_block, self.function, individuals, cases)
