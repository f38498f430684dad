"""`trace`: the events of `select`, with the size of the pool at every step, replayed on the reference kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import check_count, check_flag, shown
from flexicase.rng import Key, Seed, key_from_seed
from flexicase.selection._reference import ReferenceKernel, ResolvedLexicase
from flexicase.selection.lexicase import Lexicase
from flexicase.selection.matrix import ErrorMatrix, NanPolicy
from flexicase.selection.methods import resolve_method
from flexicase.selection.protocol import Ended, Method

MAX_TRACED_EVENTS = 1_000_000
PoolSizes: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64]]  # all and distinct


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
    sizes: list[PoolSizes] = [(np.ones(1, np.int64), np.ones(1, np.int64)) for _ in range(n)]  # as of an elite
    kernel = chosen.prepare_with(partial(_RecordingKernel, sizes), matrix, key, "reference")
    indices = kernel.draw(key, range(n), False, 1).indices
    return Trace(indices, [pools for pools, _ in sizes], [distinct for _, distinct in sizes])


class _RecordingKernel(ReferenceKernel):
    """The reference kernel, which records the pool sizes of every event."""

    def __init__(self, sizes: list[PoolSizes], matrix: ErrorMatrix, method: ResolvedLexicase) -> None:
        super().__init__(matrix, method)
        self._sizes = sizes
        self._seen = np.zeros(len(self.errors), dtype=bool)

    def run_event(self, key: Key, event: int, pool: NDArray[np.int64]) -> tuple[int, int, int, int, Ended]:
        self._current = all_sizes, distinct = [len(pool)], [self._count_distinct(pool)]
        outcome = super().run_event(key, event, pool)
        self._sizes[event] = np.array(all_sizes, np.int64), np.array(distinct, np.int64)
        return outcome

    def filter(self, pool: NDArray[np.int64], batch: list[int]) -> NDArray[np.int64]:
        survivors = super().filter(pool, batch)
        for sizes, left in zip(self._current, (len(survivors), self._count_distinct(survivors)), strict=True):
            sizes.extend([sizes[-1]] * (len(batch) - 1))
            sizes.append(left)
        return survivors

    def _count_distinct(self, pool: NDArray[np.int64]) -> int:
        self._seen[:] = False
        self._seen[self.first_identical_row[pool]] = True
        return int(np.count_nonzero(self._seen))
