"""Blocks from an evaluator that works on many batches at a time.

`PrefetchedBlocks` submits batches further along the case order before it is known which candidates will be left. Pairs
that are not needed are counted as unused, and cached all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexicase.evaluation._cache import ErrorCache
from flexicase.evaluation._lookahead import Block, Blocks, BlockSizer, LookAhead, take
from flexicase.evaluation._pipelined import CompletedBatch, PipelinedEvaluator, even_chunk
from flexicase.evaluation._protocol import EvaluationError

Indices = NDArray[np.int64]
CASES_AHEAD = 16
PossibleSurvivors = Callable[[int, NDArray[np.float64]], NDArray[np.bool_]]


@dataclass(slots=True, eq=False)
class CaseColumn:
    """One of the next cases, and what is known of the pool's errors on it.

    Attributes:
        case: The case.
        errors: (pool,) errors, NaN where not known yet.
        submitted: (pool,) candidates that are being evaluated.
        computed_now: (pool,) candidates that this event submitted.
        failed: (pool,) candidates whose evaluation failed in a batch with others, which may no longer matter.
        expected: (pool,) candidates that may still be in the pool then; None if not worked out yet.
        failure: Why candidates that are needed cannot be evaluated.
    """

    case: int
    errors: NDArray[np.float64]
    submitted: NDArray[np.bool_]
    computed_now: NDArray[np.bool_]
    failed: NDArray[np.bool_]
    expected: NDArray[np.bool_] | None = None
    failure: EvaluationError | None = None

    def missing(self) -> NDArray[np.bool_]:
        """(pool,) expected candidates that have still to be submitted."""
        missing = np.isnan(self.errors) & ~self.submitted
        return missing if self.expected is None else missing & self.expected

    def survivors(self, possible: PossibleSurvivors) -> NDArray[np.bool_]:
        """(pool,) expected candidates that may survive the case."""
        expected = np.ones(len(self.errors), dtype=bool) if self.expected is None else self.expected.copy()
        expected[expected] = possible(self.case, self.errors[expected])
        return expected

    def filter_rows(self, rows: Indices) -> None:
        """Keep (k,) rows."""
        self.errors, self.submitted = self.errors[rows], self.submitted[rows]
        self.computed_now, self.failed = self.computed_now[rows], self.failed[rows]


class InFlight:
    """The batches that an evaluator is working on, by case, including those that earlier events submitted."""

    def __init__(self, evaluate: PipelinedEvaluator, cache: ErrorCache) -> None:
        self.evaluate, self.cache = evaluate, cache
        self._by_case: dict[int, dict[bytes, Indices]] = {}
        for individuals, cases in evaluate.pending():
            self._add(individuals, cases)

    def _add(self, individuals: Indices, cases: Indices) -> None:
        name = individuals.tobytes()
        for case in cases.tolist():
            self._by_case.setdefault(case, {})[name] = individuals

    def submit(self, individuals: Indices, cases: Indices) -> None:
        """Submit a batch: (m,) individuals on (b,) cases."""
        self.evaluate.submit(individuals, cases)
        self._add(individuals, cases)

    def pending_on(self, case: int) -> Iterable[Indices]:
        """(m,) individuals of each batch that includes a case."""
        return self._by_case.get(case, {}).values()

    def collect(self) -> list[CompletedBatch]:
        """Wait until something has happened; cache and return completed batches."""
        done = self.evaluate.collect()
        for individuals, cases, errors in done:
            if not isinstance(errors, EvaluationError):
                self.cache.store.store(individuals, cases, errors)
            name = individuals.tobytes()
            for case in cases.tolist():
                self._by_case.get(case, {}).pop(name, None)
        return done


class PrefetchedBlocks(Blocks):
    """Blocks of one event from an evaluator that works on many batches at a time.

    ``lookahead`` limits the cases worked on at the same time; ``possible`` tells which candidates may survive a case,
    given what is known of their errors.
    """

    def __init__(
        self,
        order: Iterator[int],
        sizer: BlockSizer,
        lookahead: LookAhead,
        in_flight: InFlight,
        pool: Indices,
        *,
        possible: PossibleSurvivors,
    ) -> None:
        super().__init__(sizer)
        self._order, self._in_flight, self._candidates = order, in_flight, pool
        self._possible = possible
        self._max_ahead = lookahead if isinstance(lookahead, int) else None
        self._columns: list[CaseColumn] = []
        self._complete = 0  # so many columns from the first one on have no candidate left to submit

    def _fetch(self, pool: Indices) -> Block | None:
        if len(pool) < len(self._candidates):
            rows = np.searchsorted(self._candidates, pool)
            for column in self._columns:
                column.filter_rows(rows)
            self._candidates = pool
        if not self._columns and not self._add_case():
            return None
        self._fill()
        while not (ready := self._ready()):
            self._retry_failed(self._columns[0])
            for batch in self._in_flight.collect():
                self._store(batch)
            self._fill()
        columns, self._columns = self._columns[:ready], self._columns[ready:]
        cases = np.array([column.case for column in columns], dtype=np.int64)
        errors = np.column_stack([column.errors for column in columns])
        return Block(cases, errors, np.column_stack([column.computed_now for column in columns]))

    def _ready(self) -> int:
        """The number of columns, from the first one on, that are known."""
        for count, column in enumerate(self._columns):
            if np.isnan(column.errors).any():
                return count
        return len(self._columns)

    def _fill(self) -> None:
        """Submit batches along the case order, for the candidates to expect now, while the evaluator has free slots."""
        self._complete = 0
        for column in self._columns:
            column.expected = None
        evaluate = self._in_flight.evaluate
        while evaluate.free_slots() > 0:
            batch = self._next_batch()
            if batch is None:
                return
            rows, columns = batch
            if columns[0] is not self._columns[0] and evaluate.free_slots(speculative=True) <= 0:
                return
            self._submit(rows, columns)

    def _submit(self, rows: Indices, columns: list[CaseColumn]) -> None:
        cases = np.array([column.case for column in columns], dtype=np.int64)
        self._in_flight.submit(self._candidates[rows], cases)
        for column in columns:
            column.submitted[rows] = column.computed_now[rows] = True
        self.computed += len(rows) * len(columns)

    def _next_batch(self) -> tuple[Indices, list[CaseColumn]] | None:
        """The first pairs that are missing: rows of one column, or all that are missing in several."""
        pairs = self._in_flight.evaluate.batch_size()
        chosen: list[CaseColumn] = []
        rows = np.empty(0, dtype=np.int64)
        wanted = 1
        for column in self._upcoming(pairs):
            missing = np.flatnonzero(column.missing())
            if not len(missing):
                if not chosen:
                    self._complete += 1
                continue
            if not chosen:
                rows = missing
                if column is self._columns[0]:
                    pairs = self._in_flight.evaluate.batch_size(n_needed=len(rows))
                if len(rows) >= pairs:
                    return rows[: even_chunk(len(rows), pairs)], [column]
                wanted = math.ceil(pairs / len(rows))
            elif not np.array_equal(missing, rows):
                break
            chosen.append(column)
            if len(chosen) == wanted:
                break
        return (rows, chosen) if chosen else None

    def _upcoming(self, pairs: int) -> Iterator[CaseColumn]:
        """The columns ahead that may have missing pairs, added as far as they are wanted."""
        position = self._complete
        while position < len(self._columns) or (len(self._columns) < self._cases_ahead(pairs) and self._add_case()):
            column = self._columns[position]
            if position and column.expected is None:
                column.expected = self._columns[position - 1].survivors(self._possible)
            if column.expected is not None and np.count_nonzero(column.expected) == 1:
                return  # the event will have ended
            yield column
            position += 1

    def _cases_ahead(self, pairs: int) -> int:
        """The number of cases that may be worked on at the same time."""
        pool = len(self._candidates)
        limit = self._sizer.max_pairs // pool
        if self._max_ahead is not None:
            return max(1, min(self._max_ahead, limit))
        return max(1, min(max(CASES_AHEAD, 2 * self._sizer.n_cases(pool), math.ceil(pairs / pool)), limit))

    def _add_case(self) -> bool:
        """Add the next case of the order; False if there is none."""
        case = take(self._order, 1)
        if not len(case):
            return False
        pool = self._candidates
        errors = np.empty((1, len(pool)))
        self._in_flight.cache.store.lookup(pool, case, errors)
        column = CaseColumn(int(case[0]), errors[0], *np.zeros((3, len(pool)), dtype=bool))
        for individuals in self._in_flight.pending_on(column.case):
            rows, _ = self._rows_of(individuals)
            column.submitted[rows] = True
        self._columns.append(column)
        return True

    def _store(self, batch: CompletedBatch) -> None:
        """Enter a batch's errors into the columns that wait for them."""
        rows, positions = self._rows_of(batch.individuals)
        place = {case: k for k, case in enumerate(batch.cases.tolist())}
        for column in self._columns:
            if column.case not in place:
                continue
            if not isinstance(batch.errors, EvaluationError):
                column.errors[rows] = batch.errors[positions, place[column.case]]
                continue
            column.failed[rows] = True
            if column is self._columns[0] and len(batch.cases) == 1 and len(rows) == len(batch.individuals):
                column.failure = batch.errors

    def _retry_failed(self, column: CaseColumn) -> None:
        """Evaluate candidates that failed in a batch with others again, now that they are certainly needed."""
        if column.failure is not None:
            raise column.failure
        rows = np.flatnonzero(column.failed & np.isnan(column.errors))
        if len(rows):
            column.failed[:] = False
            self._submit(rows, [column])

    def _rows_of(self, individuals: Indices) -> tuple[Indices, Indices]:
        """Rows of the pool that some (m,) individuals have, and which of the individuals those are."""
        rows = np.searchsorted(self._candidates, individuals)
        inside = rows < len(self._candidates)
        inside[inside] = self._candidates[rows[inside]] == individuals[inside]
        return rows[inside], np.flatnonzero(inside)
