"""The definition of a lexicase selection event, in NumPy: slow, and meant to be read.

The native kernel makes the same draws from the same random streams, and so the same choices and counts.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flexicase.rng import Key, Lane, Stream
from flexicase.selection.epsilon import EpsilonKind, median_absolute_deviation
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.orders import OrderKind, draw_order
from flexicase.selection.protocol import Ended, Selection, Taken

MaxCases: TypeAlias = int | Literal["random"] | None


@dataclass(slots=True, kw_only=True, eq=False)
class ResolvedLexicase:
    """A `Lexicase` filter, with everything that depends on the errors resolved to numbers.

    ``weights`` are (n_cases,), None for the uniform order; ``epsilon`` is (n_cases,) for `EpsilonKind.FIXED`.
    """

    order: OrderKind = OrderKind.UNIFORM
    weights: NDArray[np.float64] | None = None
    epsilon_kind: EpsilonKind = EpsilonKind.NONE
    epsilon: NDArray[np.float64] | None = None
    batch_size: int = 1
    max_cases: MaxCases = None
    slippage: float = 0.0


def survivors(errors: NDArray[np.generic], epsilon: float | None) -> NDArray[np.bool_]:
    """(pool,) whether each candidate passes a case: at most ``epsilon`` (None: 0) above the best error of the pool."""
    values: NDArray[np.float64] = errors  # type: ignore[assignment]
    if epsilon is None:
        return np.asarray(values == values.min())
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(~(values > values.min() + epsilon))  # all, if that is -inf + inf


class ReferenceKernel:
    """Draws selection events from one error matrix."""

    def __init__(self, matrix: ErrorMatrix, method: ResolvedLexicase) -> None:
        self.errors = matrix.values
        self.first_identical_row = matrix.first_identical_row
        self.method = method
        self.epsilon = method.epsilon
        if method.epsilon_kind is EpsilonKind.MAD:
            self.epsilon = np.array([median_absolute_deviation(case) for case in self.errors.T.astype(np.float64)])

    def draw(self, key: Key, events: range, counts: bool, threads: int, taken: Taken | None = None) -> Selection:
        out = Selection.empty(len(events), counts)
        pool = np.arange(len(self.errors))
        for i, event in enumerate(events):
            if taken is not None:  # without replacement: from the individuals that are left
                pool = np.flatnonzero(taken == 0)
            parent, *counted = self.run_event(key, event, pool)
            out.indices[i] = parent
            if taken is not None:
                taken[parent] = 1
            if counts:
                out.evaluations[i], out.evaluations_distinct[i], out.cases_used[i], out.ended[i] = counted
        return out

    def run_event(self, key: Key, event: int, pool: NDArray[np.int64]) -> tuple[int, int, int, int, Ended]:
        """One event: the parent, evaluations, evaluations of distinct individuals, cases used, and why it ended."""
        method, n_cases = self.method, self.errors.shape[1]
        cases = draw_order(method.order, key, event, n_cases, method.weights)
        cases = itertools.islice(cases, case_limit(method.max_cases, key, event, n_cases))
        slips = Stream.of(key, event, Lane.SLIPPAGE)
        evaluations = evaluations_distinct = cases_used = 0
        ended = Ended.ONE_LEFT
        while len(pool) > 1:
            if method.slippage > 0 and slips.unit() < method.slippage:
                ended = Ended.TRUNCATED
                break
            batch = list(itertools.islice(cases, method.batch_size))
            if not batch:
                ended = Ended.CASES_EXHAUSTED if cases_used == n_cases else Ended.TRUNCATED
                break
            distinct = len(np.unique(self.first_identical_row[pool]))
            evaluations += len(pool) * len(batch)
            evaluations_distinct += distinct * len(batch) if distinct > 1 else 0
            cases_used += len(batch)
            pool = self.filter(pool, sorted(batch))
        parent = pool[Stream.of(key, event, Lane.PICK).bounded(len(pool))]
        return int(parent), evaluations, evaluations_distinct, cases_used, ended

    def filter(self, pool: NDArray[np.int64], batch: list[int]) -> NDArray[np.int64]:
        """The (pool,) candidates that pass a batch of ascending cases, most often of one case."""
        errors = self.errors[pool, batch[0]]
        if len(batch) > 1:  # summed by ascending case, so that the sum does not depend on the order drawn
            with np.errstate(over="ignore", invalid="ignore"):
                errors = errors.astype(np.float64)
                for case in batch[1:]:
                    errors = errors + self.errors[pool, case].astype(np.float64)
                errors[np.isnan(errors)] = np.inf
        if self.method.epsilon_kind is EpsilonKind.NONE:
            return pool[survivors(errors, None)]
        errors = errors.astype(np.float64)
        if self.method.epsilon_kind is EpsilonKind.DYNAMIC_MAD:
            return pool[survivors(errors, median_absolute_deviation(errors))]
        assert self.epsilon is not None
        epsilon = 0.0
        for case in batch:
            epsilon += float(self.epsilon[case])
        return pool[survivors(errors, epsilon)]


def case_limit(max_cases: MaxCases, key: Key, event: int, n_cases: int) -> int | None:
    """The number of cases that an event may use, from 1 … n_cases if it is random; None for all."""
    if max_cases == "random":
        return Stream.of(key, event, Lane.DEPTH).bounded(n_cases) + 1 if n_cases else 0
    return max_cases
