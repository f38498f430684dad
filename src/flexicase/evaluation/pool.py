"""What evaluators that split their blocks over several workers share."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import check_count, check_function, check_indices
from flexicase.evaluation.protocol import Closing

MAX_WORKERS = 2**16
BlockFunction: TypeAlias = Callable[[NDArray[np.int64], NDArray[np.int64]], ArrayLike]


class PoolEvaluator(Closing):
    """Calls a vectorised function on pieces of the block, one per worker.

    What the workers are is up to `_start` and `_submit`.

    Args:
        function: ``function(individuals, cases)`` gives the (m, b) errors of (m,) individuals on
            (b,) cases.
        workers: How many; None: one per processor.
    """

    def __init__(self, function: BlockFunction, workers: int | None = None) -> None:
        """Check; workers start when they are first needed."""
        self.function = check_function(function, "function", 2)
        self.workers = check_count(workers if workers is not None else os.cpu_count() or 1, "workers", 1, MAX_WORKERS)
        self._pool: Executor | None = None

    def __call__(self, individuals: ArrayLike, cases: ArrayLike) -> NDArray[np.float64]:
        """The (m, b) errors of (m,) individuals on (b,) cases.

        Raises:
            EvaluationError: The function raised, or returned anything but numbers of the right shape.
        """
        rows, columns = check_indices(individuals, "individuals"), check_indices(cases, "cases")
        errors = np.empty((len(rows), len(columns)))
        parts = split_block(len(rows), len(columns), self.workers)
        pending: list[Future[NDArray[np.float64]]] = []
        try:
            if self._pool is None:
                self._pool = self._start()
            for r, c in parts:
                pending.append(self._submit(self._pool, rows[r], columns[c]))
            for (r, c), part in zip(parts, pending, strict=True):
                errors[r, c] = part.result()
        finally:
            for part in pending:
                part.cancel()
        return errors

    def _start(self) -> Executor:
        """Start the workers."""
        raise NotImplementedError

    def _submit(
        self, pool: Executor, individuals: NDArray[np.int64], cases: NDArray[np.int64]
    ) -> Future[NDArray[np.float64]]:
        """Have a worker evaluate a piece, and check it.

        Args:
            pool: The workers.
            individuals: (m,) indices.
            cases: (b,) indices.
        """
        raise NotImplementedError

    def close(self) -> None:
        """End the workers; the next call starts new ones."""
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)


def split_block(m: int, b: int, parts: int) -> list[tuple[slice, slice]]:
    """Cut an (m, b) block into at most ``parts`` pieces of about the same size, along its longer side.

    Returns:
        Slices of rows and of columns.
    """
    longer = max(m, b)
    parts = max(1, min(parts, longer))
    ends = sorted({longer * k // parts for k in range(parts + 1)})
    cuts = [slice(start, end) for start, end in itertools.pairwise(ends)]
    return [(cut, slice(0, b)) if m >= b else (slice(0, m), cut) for cut in cuts]
