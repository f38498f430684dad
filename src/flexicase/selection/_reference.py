"""Lexicase selection in plain NumPy: the definition that the native kernel is tested against.

Same streams, same draws, same counts; slow, and meant to be read.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from flexicase.rng import Key, Lane, Stream
from flexicase.selection.epsilon import median_absolute_deviation
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.orders import ranked_order, uniform_order, weighted_order
from flexicase.selection.protocol import Ended, EpsilonKind, Events, ResolvedLexicase


class ReferenceKernel:
    """Draws selection events from one error matrix."""

    def __init__(self, matrix: ErrorMatrix, spec: ResolvedLexicase) -> None:
        """Prepare the tolerances."""
        self.errors = matrix.values
        self.groups = matrix.groups
        self.spec = spec
        self.tolerance = np.zeros(matrix.n_cases)
        if spec.tolerance is EpsilonKind.FIXED:
            assert spec.epsilon is not None
            self.tolerance = spec.epsilon
        elif spec.tolerance is EpsilonKind.MAD:
            columns = self.errors.astype(np.float64).T
            self.tolerance = np.array([median_absolute_deviation(column) for column in columns])

    def draw(self, key: Key, events: range, counts: bool, threads: int) -> Events:
        """Run these events, one after another whatever ``threads`` says."""
        out = Events.empty(len(events), counts)
        for i, event in enumerate(events):
            with np.errstate(over="ignore", invalid="ignore"):
                self._run(key, event, out, i)
        return out

    def _run(self, key: Key, event: int, out: Events, i: int) -> None:
        depth = self._depth(key, event)
        cases = iter(itertools.islice(self._order(key, event), depth))
        slips = Stream.of(key, event, Lane.SLIPPAGE)
        pool = np.arange(len(self.errors))
        evaluations = evaluations_distinct = cases_used = 0
        ended = Ended.ONE_LEFT
        while len(pool) > 1:
            if self.spec.slippage > 0 and slips.unit() < self.spec.slippage:
                ended = Ended.CUT_SHORT
                break
            batch = list(itertools.islice(cases, self.spec.batch))
            if not batch:
                ended = Ended.CASES_EXHAUSTED if cases_used == self.errors.shape[1] else Ended.CUT_SHORT
                break
            distinct = len(np.unique(self.groups[pool]))
            evaluations += len(pool) * len(batch)
            evaluations_distinct += distinct * len(batch) if distinct > 1 else 0
            cases_used += len(batch)
            pool = self._survivors(pool, batch)
        out.indices[i] = pool[Stream.of(key, event, Lane.PICK).bounded(len(pool))]
        if out.counted:
            out.evaluations[i] = evaluations
            out.evaluations_distinct[i] = evaluations_distinct
            out.cases_used[i] = cases_used
            out.ended[i] = ended

    def _depth(self, key: Key, event: int) -> int:
        n_cases = int(self.errors.shape[1])
        if self.spec.random_depth:
            return Stream.of(key, event, Lane.DEPTH).bounded(n_cases) + 1 if n_cases else 0
        return min(self.spec.depth, n_cases)

    def _order(self, key: Key, event: int) -> Iterable[int]:
        weights = self.spec.weights
        if weights is None:
            return uniform_order(key, event, self.errors.shape[1])
        return (ranked_order if self.spec.ranked else weighted_order)(key, event, weights)

    def _survivors(self, pool: NDArray[np.int64], batch: list[int]) -> NDArray[np.int64]:
        # A batch is summed by ascending case, whatever order the cases were drawn in, so that the sums of a
        # set of cases are always the same; a sum that is not a number counts as infinite.
        batch = sorted(batch)
        values = self.errors[pool, batch[0]]
        if len(batch) > 1:
            values = values.astype(np.float64)
            for case in batch[1:]:
                values = values + self.errors[pool, case].astype(np.float64)
            values[np.isnan(values)] = np.inf
        if self.spec.tolerance is EpsilonKind.NONE:
            best: NDArray[np.bool_] = values == values.min()
            return pool[best]
        values = values.astype(np.float64)
        if self.spec.tolerance is EpsilonKind.DYNAMIC_MAD:
            tolerance = median_absolute_deviation(values)
        else:
            tolerance = float(self.tolerance[batch[0]])
            for case in batch[1:]:
                tolerance += float(self.tolerance[case])
        close: NDArray[np.bool_] = ~(values > values.min() + tolerance)  # all, if that is -inf + inf
        return pool[close]
