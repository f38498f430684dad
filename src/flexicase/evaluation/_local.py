"""Evaluators in the calling thread, in threads and in processes."""

from __future__ import annotations

import itertools
import math
import pickle
import signal
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import check_count, check_function
from flexicase._provenance import usable_cores
from flexicase.evaluation._protocol import ClosingEvaluator, EvaluationError, check_block, evaluate_block

Indices: TypeAlias = NDArray[np.int64]


class PairEvaluator(ClosingEvaluator):
    """Calls a function for every (individual, case) pair, one after another.

    Args:
        function: ``function(individual, case)`` gives the error of one pair of indices.

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
        self.function = check_function(function, "function", 2)

    def _fill(self, errors: NDArray[np.float64], individuals: Indices, cases: Indices) -> None:
        for i, individual in enumerate(individuals.tolist()):
            for j, case in enumerate(cases.tolist()):
                errors[i, j] = self._error(individual, case)

    def _error(self, individual: int, case: int) -> float:
        try:
            found: Any = self.function(individual, case)
        except Exception as cause:
            problem = f"the evaluator raised {type(cause).__name__}: {cause}"
            raise EvaluationError(problem, [individual], [case]) from cause
        return check_error(found, individual, case)


def check_error(found: Any, individual: int, case: int) -> float:
    """Check the error of one pair."""
    if type(found) is float and found > -math.inf:  # what `check_block` would say of it
        return found
    return float(check_block([[found]], np.array([individual]), np.array([case]))[0, 0])


MAX_WORKERS = 2**16
BlockFunction: TypeAlias = Callable[[Indices, Indices], ArrayLike]


class PoolEvaluator(ClosingEvaluator):
    """Calls a vectorised function on batches of the block, one per worker; subclasses define the workers."""

    def __init__(self, function: BlockFunction, workers: int | None = None) -> None:
        self.function = check_function(function, "function", 2)
        self.workers = check_count(workers if workers is not None else usable_cores(), "workers", 1, MAX_WORKERS)
        self._evaluate: Callable[[Indices, Indices], NDArray[np.float64]] = partial(evaluate_block, self.function)
        self._pool: Executor | None = None

    def _fill(self, errors: NDArray[np.float64], individuals: Indices, cases: Indices) -> None:
        parts = split_block(len(individuals), len(cases), self.workers)
        pending: list[Future[NDArray[np.float64]]] = []
        try:
            if self._pool is None:
                self._pool = self._start()
            for r, c in parts:
                pending.append(self._pool.submit(self._evaluate, individuals[r], cases[c]))
            for (r, c), part in zip(parts, pending, strict=True):
                errors[r, c] = part.result()
        finally:
            for part in pending:
                part.cancel()

    def _start(self) -> Executor:
        raise NotImplementedError

    def close(self) -> None:
        """End the workers; the next call starts new ones."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)


def split_block(m: int, b: int, parts: int) -> list[tuple[slice, slice]]:
    """Cut an (m, b) block into at most ``parts`` slices of rows and columns, about equal, along its longer side."""
    longer = max(m, b)
    parts = max(1, min(parts, longer))
    ends = sorted({longer * k // parts for k in range(parts + 1)})
    cuts = [slice(start, end) for start, end in itertools.pairwise(ends)]
    return [(cut, slice(0, b)) if m >= b else (slice(0, m), cut) for cut in cuts]


class ThreadEvaluator(PoolEvaluator):
    """Calls a vectorised function on batches of the block, one per thread.

    Pays when the function releases the interpreter lock: NumPy on large arrays, compiled code, files and networks. An
    interrupted call does not wait for pending batches; a thread cannot be stopped from outside.

    Args:
        function: ``function(individuals, cases)`` gives the (m, b) errors of (m,) individuals on (b,) cases; called
            from several threads at once.
        workers: Number of threads; by default one per processor.

    Example:
        >>> import numpy as np
        >>> from flexicase.evaluation import ThreadEvaluator
        >>> with ThreadEvaluator(lambda individuals, cases: np.abs(individuals[:, None] - cases), 2) as evaluate:
        ...     evaluate([0, 1], [2, 3]).tolist()
        [[2.0, 3.0], [1.0, 2.0]]
    """

    def _start(self) -> Executor:
        return ThreadPoolExecutor(self.workers, thread_name_prefix="flexicase")


SECONDS_TO_STOP = 2.0

_function: BlockFunction | None = None


def _start_worker(pickled: bytes) -> None:
    global _function  # noqa: PLW0603
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all processes; the caller stops its workers
    _function = pickle.loads(pickled)


def _work(individuals: Indices, cases: Indices) -> NDArray[np.float64]:
    assert _function is not None
    return evaluate_block(_function, individuals, cases)


class ProcessEvaluator(PoolEvaluator):
    """Calls a picklable vectorised function on batches of the block, one per process.

    The function is sent to each process once, when it starts; what it closes over should be small or loaded there.
    Processes are not forked, so the function must be importable: defined in a module, not typed at a prompt. An
    interrupted call stops the processes at once. A call in which a process dies raises `EvaluationError`, and the next
    call starts new ones.

    Args:
        function: ``function(individuals, cases)`` gives the (m, b) errors of (m,) individuals on (b,) cases.
        workers: Number of processes; by default one per processor.

    Example:
        >>> import numpy as np
        >>> from flexicase.evaluation import ProcessEvaluator
        >>> with ProcessEvaluator(np.subtract.outer, workers=1) as evaluate:
        ...     evaluate([5, 6], [2, 3]).tolist()
        [[3.0, 2.0], [4.0, 3.0]]
    """

    def __init__(self, function: BlockFunction, workers: int | None = None) -> None:
        super().__init__(function, workers)
        self._evaluate = _work
        try:
            self._pickled = pickle.dumps(function)
        except Exception as cause:
            raise TypeError(f"function must be picklable to reach other processes: {cause}") from cause

    def _fill(self, errors: NDArray[np.float64], individuals: Indices, cases: Indices) -> None:
        try:
            super()._fill(errors, individuals, cases)
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

    def _stop(self) -> None:
        # Before Python 3.14, executors have no public list of their processes.
        processes = dict(getattr(self._pool, "_processes", None) or {}).values()
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(SECONDS_TO_STOP)
            if process.is_alive():
                process.kill()
        self.close()
