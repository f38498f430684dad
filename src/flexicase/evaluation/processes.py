"""An evaluator that splits its blocks over processes."""

from __future__ import annotations

import pickle
import signal
from concurrent.futures import BrokenExecutor, Executor, Future

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase.evaluation.pool import BlockFunction, PoolEvaluator
from flexicase.evaluation.protocol import EvaluationError, evaluate_block

SECONDS_TO_STOP = 2.0

_function: BlockFunction | None = None


def _start_worker(pickled: bytes) -> None:
    global _function  # noqa: PLW0603
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches everybody; the caller stops its workers
    _function = pickle.loads(pickled)


def _work(individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> NDArray[np.float64]:
    assert _function is not None
    return evaluate_block(_function, individuals, cases)


class ProcessEvaluator(PoolEvaluator):
    """Calls a picklable vectorised function on pieces of the block, one per process.

    The function travels to each process once, when it starts; what it closes over should be small
    or loaded there. Processes are started afresh, not forked, so the function must be importable:
    defined in a module, not typed in at a prompt. A call that is interrupted, as by Ctrl-C, stops
    the processes at once, whatever they are doing.

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

    def __init__(self, function: BlockFunction, workers: int | None = None) -> None:
        """Check; processes start when they are first needed."""
        super().__init__(function, workers)
        try:
            self._pickled = pickle.dumps(function)
        except Exception as cause:
            raise TypeError(f"function must be picklable to reach other processes: {cause}") from cause

    def __call__(self, individuals: ArrayLike, cases: ArrayLike) -> NDArray[np.float64]:
        """The (m, b) errors of (m,) individuals on (b,) cases.

        Raises:
            EvaluationError: The function raised, or returned anything but numbers of the right
                shape, or a process died; new processes are started at the next call then.
        """
        try:
            return super().__call__(individuals, cases)
        except BrokenExecutor as cause:
            self.close()
            problem = "a worker process died, or could not be started with this function"
            raise EvaluationError(problem, individuals, cases) from cause
        except BaseException as reason:
            if not isinstance(reason, Exception):
                self._stop()
            raise

    def _start(self) -> Executor:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor

        methods = multiprocessing.get_all_start_methods()
        context = multiprocessing.get_context("forkserver" if "forkserver" in methods else "spawn")
        return ProcessPoolExecutor(self.workers, context, _start_worker, (self._pickled,))

    def _submit(
        self, pool: Executor, individuals: NDArray[np.int64], cases: NDArray[np.int64]
    ) -> Future[NDArray[np.float64]]:
        return pool.submit(_work, individuals, cases)

    def _stop(self) -> None:
        """End the processes without waiting for the pieces they are at work on."""
        # Before Python 3.14, executors have no public way to say who works for them.
        processes = dict(getattr(self._pool, "_processes", None) or {}).values()
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(SECONDS_TO_STOP)
            if process.is_alive():
                process.kill()
        self.close()
