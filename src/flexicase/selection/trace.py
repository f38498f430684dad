"""`trace`: the events of `select`, with the size of the pool at every step, replayed on the reference kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import check_count, check_flag, shown
from flexicase.rng import Key, Seed, key_from_seed
from flexicase.selection._reference import ReferenceKernel
from flexicase.selection.lexicase import Elitist, Lexicase
from flexicase.selection.matrix import ErrorMatrix, NanPolicy
from flexicase.selection.methods import resolve_method
from flexicase.selection.protocol import Method
from flexicase.selection.sampling import Partition

MAX_TRACED_EVENTS = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Trace:
    """How the pool of candidates shrank in some selection events.

    Attributes:
        indices: (n,) int64, the parents: those of `select` with the same arguments.
        pools: One (cases_used + 1,) int64 array per event: the size of the pool before each case used, and at the end.
            All but the last entry add up to the event's evaluations.
        pools_distinct: The same with one individual per distinct error vector.

    Example:
        >>> import flexicase as fx
        >>> fx.trace([[0, 0], [0, 1], [1, 0]], 10, seed=1).mean_pool().tolist()
        [3.0, 2.0, 1.0]
    """

    indices: NDArray[np.int64]
    pools: list[NDArray[np.int64]]
    pools_distinct: list[NDArray[np.int64]]

    def mean_pool(self, *, distinct: bool = False) -> NDArray[np.float64]:
        """Mean size of the pool after 0, 1, 2, … cases of the longest event; ended events keep their last pool."""
        pools = self.pools_distinct if check_flag(distinct, "distinct") else self.pools
        total = np.zeros(max(map(len, pools), default=0))
        for pool in pools:
            total[: len(pool)] += pool
            total[len(pool) :] += pool[-1]
        return total / max(len(pools), 1)


def trace(
    errors: ArrayLike,
    n: int = 100,
    method: str | Method = "lexicase",
    *,
    seed: Seed = None,
    nan: NanPolicy = "raise",
    maximize: bool = False,
    solved: ArrayLike | None = None,
) -> Trace:
    """Replay the events of `select` with the same arguments and record every pool size.

    It is slower than `select`. ``n`` is at most a million; ``method`` must be a lexicase method.

    Example:
        >>> import flexicase as fx
        >>> fx.trace([[0, 0], [0, 1], [1, 0]], 1, seed=1).pools[0].tolist()
        [3, 2, 1]
    """
    chosen = resolve_method(method)
    if not isinstance(chosen, Lexicase):
        raise TypeError(f"method must be a lexicase method, which uses one case after another, got {shown(method)}")
    n = check_count(n, "n", 0, MAX_TRACED_EVENTS)
    key = key_from_seed(seed)
    matrix = ErrorMatrix.from_array(errors, nan, maximize, solved)
    chosen = chosen.without_event_samples(matrix.n_cases)
    whole = Partition(None, None)
    parts = [whole] if chosen.sampling is None else chosen.sampling.parts(matrix, key, "reference")
    kernels = [_RecordingKernel(chosen, matrix, part) for part in parts]
    elite = Elitist(matrix, key, chosen.elitism, kernels[0]).elite if chosen.elitism else np.empty(0, np.int64)
    result = Trace(np.empty(n, np.int64), [], [])
    for event in range(n):
        which = event % len(parts)
        parent, pool, distinct = kernels[which].record(key, event)
        individuals = parts[which].individuals
        if event < len(elite):
            parent, pool, distinct = int(elite[event]), [1], [1]
        elif individuals is not None:
            parent = int(individuals[parent])
        result.indices[event] = parent
        result.pools.append(np.array(pool, dtype=np.int64))
        result.pools_distinct.append(np.array(distinct, dtype=np.int64))
    return result


class _RecordingKernel(ReferenceKernel):
    """The reference kernel, which records the size of every pool."""

    def __init__(self, method: Lexicase, matrix: ErrorMatrix, part: Partition) -> None:
        super().__init__(*method.resolve(matrix.submatrix(part.individuals, part.cases), part.cases))
        self._seen = np.zeros(len(self.errors), dtype=bool)

    def record(self, key: Key, event: int) -> tuple[int, list[int], list[int]]:
        """The parent and the pool sizes, all and distinct, of one event."""
        everyone = np.arange(len(self.errors))
        self._pool = [len(everyone)]
        self._distinct = [self._count_distinct(everyone)]
        parent = self.run_event(key, event, everyone)[0]
        return parent, self._pool, self._distinct

    def filter(self, pool: NDArray[np.int64], batch: list[int]) -> NDArray[np.int64]:
        survivors = super().filter(pool, batch)
        for sizes, left in ((self._pool, len(survivors)), (self._distinct, self._count_distinct(survivors))):
            sizes.extend([sizes[-1]] * (len(batch) - 1))
            sizes.append(left)
        return survivors

    def _count_distinct(self, pool: NDArray[np.int64]) -> int:
        self._seen[:] = False
        self._seen[self.first_identical_row[pool]] = True
        return int(np.count_nonzero(self._seen))
