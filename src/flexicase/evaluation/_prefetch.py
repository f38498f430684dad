"""Where the errors of one selection event come from, block after block along its case order.

`AskedBlocks` asks the evaluator for a block and waits. `PrefetchedBlocks` keeps an evaluator with many workers busy: it
begins pieces further along the order before it is known who will still be in the pool then. What turns out not to
be needed was speculated, and is remembered all the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexicase.evaluation._cache import ErrorCache
from flexicase.evaluation._lookahead import Block, BlockSizer, LookAhead, take
from flexicase.evaluation._pipelined import CompletedBatch, PipelinedEvaluator, even_chunk
from flexicase.evaluation._protocol import EvaluationError

Indices = NDArray[np.int64]
CASES_AHEAD = 16


@dataclass(slots=True, eq=False)
class CaseColumn:
    """One of the next cases, and what is known of it.

    Attributes:
        case: The case.
        errors: (pool,) errors, NaN where not known yet.
        begun: (pool,) who is being evaluated on it.
        fresh: (pool,) who was begun by this event.
        failed: (pool,) who could not be evaluated together with others, some of whom may no longer matter.
        expected: (pool,) who will be in the pool then, as far as one can tell now; None: not known.
        failure: Why those that are needed cannot be evaluated.
    """

    case: int
    errors: NDArray[np.float64]
    begun: NDArray[np.bool_]
    fresh: NDArray[np.bool_]
    failed: NDArray[np.bool_]
    expected: NDArray[np.bool_] | None = None
    failure: EvaluationError | None = None

    def missing(self) -> NDArray[np.bool_]:
        """(pool,) who has still to be begun, of those that are expected."""
        missing = np.isnan(self.errors) & ~self.begun
        return missing if self.expected is None else missing & self.expected

    def unbeaten(self, tolerance: float) -> NDArray[np.bool_]:
        """(pool,) who of those that are expected may pass it: nobody is known to be better, or not by much."""
        expected = np.ones(len(self.errors), dtype=bool) if self.expected is None else self.expected
        limit = float(np.fmin.reduce(self.errors[expected])) + tolerance
        return expected & ~(self.errors > limit)

    def keep(self, rows: Indices) -> None:
        """Forget all but (k,) rows."""
        self.errors = self.errors[rows]
        self.begun, self.fresh, self.failed = self.begun[rows], self.fresh[rows], self.failed[rows]


class InFlight:
    """The pieces that an evaluator has at work, by their cases; outlives the event that began them.

    Args:
        evaluate: The evaluator.
        memo: Takes what comes back.
    """

    def __init__(self, evaluate: PipelinedEvaluator, memo: ErrorCache) -> None:
        """Take note of what an earlier call has left at work."""
        self.evaluate, self.memo = evaluate, memo
        self._by_case: dict[int, dict[bytes, Indices]] = {}
        for individuals, cases in evaluate.at_work():
            self._add(individuals, cases)

    def _add(self, individuals: Indices, cases: Indices) -> None:
        name = individuals.tobytes()
        for case in cases.tolist():
            self._by_case.setdefault(case, {})[name] = individuals

    def begin(self, individuals: Indices, cases: Indices) -> None:
        """Begin a piece: (m,) individuals on (b,) cases."""
        self.evaluate.begin(individuals, cases)
        self._add(individuals, cases)

    def on(self, case: int) -> Iterable[Indices]:
        """Who is being evaluated on a case: (m,) individuals of each piece."""
        return self._by_case.get(case, {}).values()

    def land(self) -> list[CompletedBatch]:
        """Wait until something has happened; remember and hand out what is done."""
        done = self.evaluate.finished()
        for individuals, cases, errors in done:
            if not isinstance(errors, EvaluationError):
                self.memo.store.store(individuals, cases, errors)
            name = individuals.tobytes()
            for case in cases.tolist():
                self._by_case.get(case, {}).pop(name, None)
        return done


class PrefetchedBlocks:
    """Blocks of one event from an evaluator that works on many pieces at a time.

    Args:
        order: The order of the cases.
        size: Learns how many cases it takes to filter anybody.
        lookahead: How many cases may be at work at the same time, or how that is found out.
        flight: The pieces that are at work.
        pool: (pool,) everybody.
        tolerance: How far from the best a survivor may be on a case.

    Attributes:
        computed: Pairs begun so far.
    """

    def __init__(
        self,
        order: Iterator[int],
        size: BlockSizer,
        lookahead: LookAhead,
        flight: InFlight,
        pool: Indices,
        *,
        tolerance: Callable[[int], float],
    ) -> None:
        """Start at the first case."""
        self._order, self._size, self._flight, self._pool = order, size, flight, pool
        self._tolerance = tolerance
        self._most_ahead = lookahead if isinstance(lookahead, int) else None
        self._columns: list[CaseColumn] = []
        self._by_case: dict[int, CaseColumn] = {}
        self._nothing_missing = 0  # of so many columns from the first one on
        self.computed = 0

    def next(self, pool: Indices) -> Block | None:
        """The next block for the (pool,) candidates left; None if no case is left."""
        if len(pool) < len(self._pool):
            rows = np.searchsorted(self._pool, pool)
            for column in self._columns:
                column.keep(rows)
            self._pool = pool
        if not self._columns and not self._open():
            return None
        self._forget_expectations()
        self._fill()
        while not (ready := self._ready()):
            self._settle_failures(self._columns[0])
            for piece in self._flight.land():
                self._write(piece)
            self._forget_expectations()
            self._fill()
        columns, self._columns = self._columns[:ready], self._columns[ready:]
        for column in columns:
            del self._by_case[column.case]
        cases = np.array([column.case for column in columns], dtype=np.int64)
        errors, fresh = (np.column_stack([getattr(column, name) for column in columns]) for name in ("errors", "fresh"))
        return Block(cases, errors, fresh)

    def observe(self, visited: int, last_filter: int | None) -> None:
        """Learn what a block did to the pool, as `BlockSizer.observe`."""
        self._size.observe(visited, last_filter)

    def _ready(self) -> int:
        """How many columns from the first one on are known."""
        for count, column in enumerate(self._columns):
            if np.isnan(column.errors).any():
                return count
        return len(self._columns)

    def _fill(self) -> None:
        """Begin pieces along the case order while the evaluator has room."""
        evaluate = self._flight.evaluate
        while evaluate.room() > 0:
            piece = self._next_piece()
            if piece is None:
                return
            rows, columns = piece
            if columns[0] is not self._columns[0] and evaluate.room(ahead=True) <= 0:
                return
            self._begin(rows, columns)

    def _begin(self, rows: Indices, columns: list[CaseColumn]) -> None:
        self._flight.begin(self._pool[rows], np.array([column.case for column in columns], dtype=np.int64))
        for column in columns:
            column.begun[rows] = column.fresh[rows] = True
        self.computed += len(rows) * len(columns)

    def _next_piece(self) -> tuple[Indices, list[CaseColumn]] | None:
        """The first pairs that are missing: rows of one column, or all that is missing in several."""
        pairs = self._flight.evaluate.piece()
        chosen: list[CaseColumn] = []
        pattern: NDArray[np.bool_] | None = None
        rows = np.empty(0, dtype=np.int64)
        wanted = 1
        for column in self._upcoming(pairs):
            missing = column.missing()
            if pattern is None:
                if not missing.any():
                    self._nothing_missing += 1
                    continue
                pattern, rows = missing, np.flatnonzero(missing)
                if column is self._columns[0]:
                    pairs = self._flight.evaluate.piece(certain=len(rows))
                if len(rows) >= pairs:
                    return rows[: even_chunk(len(rows), pairs)], [column]
                wanted = math.ceil(pairs / len(rows))
            elif not missing.any():
                continue
            elif not np.array_equal(missing, pattern):
                break
            chosen.append(column)
            if len(chosen) == wanted:
                break
        return (rows, chosen) if chosen else None

    def _upcoming(self, pairs: int) -> Iterator[CaseColumn]:
        """The columns ahead in which somebody may be missing, opened as far as they are wanted."""
        position = self._nothing_missing
        while position < len(self._columns) or (len(self._columns) < self._ahead(pairs) and self._open()):
            column = self._columns[position]
            if position and column.expected is None:
                before = self._columns[position - 1]
                column.expected = before.unbeaten(self._tolerance(before.case))
            if column.expected is not None and np.count_nonzero(column.expected) == 1:
                return  # the event will have ended
            yield column
            position += 1

    def _forget_expectations(self) -> None:
        """Errors have come, or candidates have gone."""
        self._nothing_missing = 0
        for column in self._columns:
            column.expected = None

    def _ahead(self, pairs: int) -> int:
        """How many cases may be at work at the same time."""
        pool = len(self._pool)
        room = self._size.most_pairs // pool
        if self._most_ahead is not None:
            return max(1, min(self._most_ahead, room))
        return max(1, min(max(CASES_AHEAD, 2 * self._size.cases(pool), math.ceil(pairs / pool)), room))

    def _open(self) -> bool:
        """Take the next case of the order; false if there is none."""
        case = take(self._order, 1)
        if not len(case):
            return False
        errors = np.empty((1, len(self._pool)))
        self._flight.memo.store.lookup(self._pool, case, errors)
        column = CaseColumn(int(case[0]), errors[0], *np.zeros((3, len(self._pool)), dtype=bool))
        for individuals in self._flight.on(column.case):
            rows, _ = self._rows_of(individuals)
            column.begun[rows] = True
        self._columns.append(column)
        self._by_case[column.case] = column
        return True

    def _write(self, piece: CompletedBatch) -> None:
        """Enter what has come back into the columns that wait for it."""
        rows, places = self._rows_of(piece.individuals)
        for k, case in enumerate(piece.cases.tolist()):
            column = self._by_case.get(case)
            if column is None:
                continue
            if not isinstance(piece.errors, EvaluationError):
                column.errors[rows] = piece.errors[places, k]
                continue
            column.failed[rows] = True
            if column is self._columns[0] and len(piece.cases) == 1 and len(rows) == len(piece.individuals):
                column.failure = piece.errors

    def _settle_failures(self, column: CaseColumn) -> None:
        """Evaluate who has failed together with others alone, now that this is needed for certain.

        Raises:
            EvaluationError: They fail again.
        """
        if column.failure is not None:
            raise column.failure
        rows = np.flatnonzero(column.failed & np.isnan(column.errors))
        if len(rows):
            column.failed[:] = False
            self._begin(rows, [column])

    def _rows_of(self, individuals: Indices) -> tuple[Indices, Indices]:
        """Rows of the pool that some (m,) individuals have, and which of the individuals those are."""
        rows = np.searchsorted(self._pool, individuals)
        inside = rows < len(self._pool)
        inside[inside] = self._pool[rows[inside]] == individuals[inside]
        return rows[inside], np.flatnonzero(inside)
