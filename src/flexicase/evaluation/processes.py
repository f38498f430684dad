"""An evaluator that splits its blocks over processes."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase.checks import check_count
from flexicase.evaluation.protocol import Closing, EvaluationError, check_function, evaluate_block, split_block

_function: Callable[[NDArray[np.int64], NDArray[np.int64]], ArrayLike] | None = None


def _start_worker(pickled: bytes) -> None:
    global _function  # noqa: PLW0603
    _function = pickle.loads(pickled)


def _work(individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> NDArray[np.float64]:
    assert _function is not None
    return evaluate_block(_function, individuals, cases)


class ProcessEvaluator(Closing):
    """Calls a picklable vectorised function on pieces of the block, one per process.

    The function travels to each process once, when it starts; what it closes over should be small
    or loaded there. Processes are started afresh, not forked, so the function must be importable:
    defined in a module, not typed in at a prompt.

    Args:
        function: ``function(individuals, cases)`` gives the (m, b) errors of (m,) individuals on
            (b,) cases.
        workers: How many processes; None: one per processor.

    Example:
        >>> import numpy as np
        >>> from flexicase.evaluation import ProcessEvaluator
        >>> with ProcessEvaluator(np.subtract.outer, workers=1) as evaluate:
        ...     evaluate([5, 6], [2, 3]).tolist()
        [[3.0, 2.0], [4.0, 3.0]]
    """

    def __init__(
        self,
        function: Callable[[NDArray[np.int64], NDArray[np.int64]], ArrayLike],
        workers: int | None = None,
    ) -> None:
        """Check; processes start when they are first needed."""
        self.function = check_function(function)
        try:
            self._pickled = pickle.dumps(function)
        except Exception as cause:
            raise TypeError(f"function must be picklable to reach other processes: {cause}") from cause
        self.workers = check_count(workers if workers is not None else os.cpu_count() or 1, "workers", 1)
        self._pool: Executor | None = None

    def _started(self) -> Executor:
        if self._pool is None:
            import multiprocessing
            from concurrent.futures import ProcessPoolExecutor

            methods = multiprocessing.get_all_start_methods()
            context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
            self._pool = ProcessPoolExecutor(self.workers, context, _start_worker, (self._pickled,))
        return self._pool

    def __call__(self, individuals: ArrayLike, cases: ArrayLike) -> NDArray[np.float64]:
        """The (m, b) errors of (m,) individuals on (b,) cases.

        Raises:
            EvaluationError: The function raised, or returned anything but numbers of the right
                shape, or a process died; new processes are started at the next call then.
        """
        rows, columns = np.asarray(individuals, dtype=np.int64), np.asarray(cases, dtype=np.int64)
        errors = np.empty((len(rows), len(columns)))
        parts = split_block(len(rows), len(columns), self.workers)
        pending = []
        try:
            pool = self._started()
            pending = [pool.submit(_work, rows[r], columns[c]) for r, c in parts]
            for (r, c), part in zip(parts, pending, strict=True):
                errors[r, c] = part.result()
        except BrokenExecutor as cause:
            self._end(wait=True)
            problem = "a worker process died, or could not be started with this function"
            raise EvaluationError(problem, rows, columns) from cause
        except Exception:
            for part in pending:
                part.cancel()
            raise
        except BaseException:
            self._end(wait=False)
            raise
        return errors

    def close(self) -> None:
        """End the processes; the next call starts new ones."""
        self._end(wait=True)

    def _end(self, wait: bool) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=wait, cancel_futures=True)
