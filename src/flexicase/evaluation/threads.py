"""An evaluator that splits its blocks over threads."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase.checks import check_count
from flexicase.evaluation.protocol import Closing, check_function, evaluate_block, split_block


class ThreadEvaluator(Closing):
    """Calls a vectorised function on pieces of the block, one per thread.

    Pays when the function releases the interpreter lock: NumPy on large arrays, compiled code,
    files and networks.

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

    def __init__(
        self,
        function: Callable[[NDArray[np.int64], NDArray[np.int64]], ArrayLike],
        workers: int | None = None,
    ) -> None:
        """Check; threads start when they are first needed."""
        self.function = check_function(function)
        self.workers = check_count(workers if workers is not None else os.cpu_count() or 1, "workers", 1)
        self._pool: ThreadPoolExecutor | None = None

    def __call__(self, individuals: ArrayLike, cases: ArrayLike) -> NDArray[np.float64]:
        """The (m, b) errors of (m,) individuals on (b,) cases.

        Raises:
            EvaluationError: The function raised, or returned anything but numbers of the right shape.
        """
        rows, columns = np.asarray(individuals, dtype=np.int64), np.asarray(cases, dtype=np.int64)
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.workers, thread_name_prefix="flexicase")
        errors = np.empty((len(rows), len(columns)))
        parts = split_block(len(rows), len(columns), self.workers)
        pending = [self._pool.submit(evaluate_block, self.function, rows[r], columns[c]) for r, c in parts]
        try:
            for (r, c), part in zip(parts, pending, strict=True):
                errors[r, c] = part.result()
        finally:
            for part in pending:
                part.cancel()
        return errors

    def close(self) -> None:
        """End the threads; the next call starts new ones."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)
