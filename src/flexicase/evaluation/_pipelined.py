"""Evaluators that work on many pieces at a time, and are told early what will be needed."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import check_indices
from flexicase.evaluation._protocol import ClosingEvaluator, EvaluationError

Indices = NDArray[np.int64]
SECONDS_PER_PIECE = 0.015
MOST_SECONDS_PER_PIECE = 0.25
MOST_GROWTH = 8
NEWS = 0.25  # the weight of the last observation
MOST_PIECES = 2**31
PIECES_PER_WORKER = 2  # one at work, one waiting
SECONDS_ON_THE_WAY = 0.002  # between the end of a piece and the start of one that is sent then


class CompletedBatch(NamedTuple):
    """A piece that is done.

    Attributes:
        individuals: (m,) indices.
        cases: (b,) indices.
        errors: (m, b) their errors, or why there are none.
    """

    individuals: Indices
    cases: Indices
    errors: NDArray[np.float64] | EvaluationError


class PipelinedEvaluator(ClosingEvaluator):
    """Evaluates pieces, each some individuals × some cases, many at the same time.

    `FastLexicase` then does not wait for a block before it asks for the next: as long as there is `room`, it begins
    pieces further along the case order, for the candidates that are still in the pool. Which pieces those are changes
    what is computed when, never the outcome.

    Attributes:
        generation: Another number for every population: errors of one are not those of the next.

    Example:
        >>> from flexicase.evaluation import PipelinedEvaluator, RayEvaluator
        >>> issubclass(RayEvaluator, PipelinedEvaluator)
        True
    """

    generation: int = 0

    def room(self, *, ahead: bool = False) -> int:
        """How many more pieces should be begun now to keep everybody busy.

        Args:
            ahead: Whether those are pieces that may turn out not to be needed.
        """
        raise NotImplementedError

    def piece(self, certain: int = 0) -> int:
        """How many pairs a piece should have at least.

        Args:
            certain: How many pairs have still to be begun that will be needed whatever happens.
        """
        raise NotImplementedError

    def begin(self, individuals: Indices, cases: Indices) -> None:
        """Begin a piece.

        Args:
            individuals: (m,) indices.
            cases: (b,) indices.
        """
        raise NotImplementedError

    def at_work(self) -> list[tuple[Indices, Indices]]:
        """The pieces of this generation that were begun and not handed out yet: (m,) individuals, (b,) cases."""
        raise NotImplementedError

    def finished(self) -> list[CompletedBatch]:
        """Wait until something has happened, and hand out the pieces that are done, if any.

        Those that could not be evaluated are among them: nobody may need them.
        """
        raise NotImplementedError

    def __call__(self, individuals: ArrayLike, cases: ArrayLike) -> NDArray[np.float64]:
        """The (m, b) errors of (m,) individuals on (b,) cases.

        Raises:
            EvaluationError: A piece could not be evaluated.
        """
        rows, columns = check_indices(individuals, "individuals"), check_indices(cases, "cases")
        errors = np.empty((len(rows), len(columns)))
        end = len(columns) if len(rows) else 0
        places: dict[tuple[bytes, bytes], list[tuple[slice, slice]]] = {}
        row = column = left = 0
        while column < end or left:
            while column < end and self.room() > 0:
                certain = len(rows) * (end - column) - row
                r, c = next_batch(len(rows), len(columns), row, column, self.piece(certain))
                self.begin(rows[r], columns[c])
                places.setdefault((rows[r].tobytes(), columns[c].tobytes()), []).append((r, c))
                left += 1
                row, column = (r.stop, column) if r.stop < len(rows) else (0, c.stop)
            for done in self.finished():
                waiting = places.get((done.individuals.tobytes(), done.cases.tobytes()))
                if not waiting:
                    continue
                if isinstance(done.errors, EvaluationError):
                    raise done.errors
                errors[waiting.pop()] = done.errors
                left -= 1
        return errors

    def _room(self, workers: int, begun: int, size: BatchSizer, ahead: bool) -> int:
        """The room with some workers and pieces already begun."""
        if not ahead:
            return PIECES_PER_WORKER * workers - begun
        return (
            min(batches_ahead(workers, size.piece_seconds), max(PIECES_PER_WORKER, size.worth_sending_ahead())) - begun
        )


def batches_ahead(workers: int, piece_seconds: float) -> int:
    """How many pieces that may not be needed should be at work: one per worker, and a few that wait.

    Those that wait bridge the time on the way. Where pieces are long, few end meanwhile, and more would be wasted.

    Args:
        workers: How many.
        piece_seconds: How long a piece takes.

    Example:
        >>> from flexicase.evaluation._pipelined import batches_ahead
        >>> batches_ahead(2, 0.02), batches_ahead(100, 0.02), batches_ahead(100, 1.0)
        (3, 110, 101)
    """
    waiting = math.ceil(workers * SECONDS_ON_THE_WAY / max(piece_seconds, SECONDS_ON_THE_WAY))
    return workers + max(1, waiting)


def next_batch(m: int, b: int, row: int, column: int, pairs: int) -> tuple[slice, slice]:
    """The next piece of an (m, b) block: whole columns if those are short, else a part of one.

    Args:
        m: Rows.
        b: Columns.
        row: Where in the first column that is not done it starts.
        column: That column.
        pairs: How many pairs it should have at least.
    """
    if row == 0 and m < pairs:
        return slice(0, m), slice(column, column + even_chunk(b - column, math.ceil(pairs / m)))
    return slice(row, row + even_chunk(m - row, pairs)), slice(column, column + 1)


def even_chunk(whole: int, least: int) -> int:
    """How much of ``whole`` to take, so that equal shares of at least ``least`` leave no small rest.

    Example:
        >>> from flexicase.evaluation._pipelined import even_chunk
        >>> even_chunk(100, 30), even_chunk(20, 30)
        (34, 20)
    """
    return math.ceil(whole / max(1, whole // least))


class BatchSizer:
    """How many pairs make a piece worth sending, and how many pieces can be sent, learnt from what they have cost.

    Sending a piece somewhere costs about a millisecond, so a piece should be 10 ms of work or more; the aim is
    15, since costs vary. The first pieces are single pairs.

    Attributes:
        pairs: The pairs of a piece.

    Example:
        >>> from flexicase.evaluation._pipelined import BatchSizer
        >>> size = BatchSizer()
        >>> for _ in range(10):
        ...     size.observe(size.pairs, seconds=0.001 * size.pairs)
        >>> size.pairs
        15
    """

    def __init__(self) -> None:
        """Nothing is known yet."""
        self.pairs = 1
        self._pair_seconds: float | None = None
        self._send_seconds = 0.0

    def observe(self, pairs: int, seconds: float) -> None:
        """Learn from a piece.

        Args:
            pairs: How many it had.
            seconds: How long its evaluation took.
        """
        cost, known = max(seconds, 1e-9) / pairs, self._pair_seconds
        if known is None:
            self._pair_seconds = cost
        elif cost < known or pairs >= self.pairs // 2:  # small pieces look dear: a call has a cost of its own
            weight = 1 - (1 - NEWS) ** max(1.0, pairs / self.pairs)  # a piece as large as several counts like them
            self._pair_seconds = known + (cost - known) * weight
        assert self._pair_seconds is not None
        most = MOST_GROWTH * max(pairs, self.pairs)
        self.pairs = max(1, min(math.ceil(SECONDS_PER_PIECE / self._pair_seconds), most))

    def of(self, certain: int, workers: int) -> int:
        """How many pairs the next piece should have: large pieces first, then smaller ones, so that all end together.

        With so many workers that the caller is the bottleneck, pieces of √(certain · sending / pair) pairs are best:
        smaller ones take longer to send, of larger ones the last takes longer to evaluate.

        Args:
            certain: How many pairs have still to be begun that will be needed whatever happens.
            workers: How many there are to share them.

        Example:
            >>> from flexicase.evaluation._pipelined import BatchSizer
            >>> size = BatchSizer()
            >>> size.observe(1, seconds=0.02)
            >>> [size.of(certain, workers=2) for certain in (1000, 40, 8, 3)]
            [12, 10, 2, 1]
        """
        if self._pair_seconds is None:
            return self.pairs
        share = math.ceil(certain / (PIECES_PER_WORKER * max(workers, 1)))
        share = max(share, round(math.sqrt(certain * self._send_seconds / self._pair_seconds)))
        return max(self.pairs, min(share, int(MOST_SECONDS_PER_PIECE / self._pair_seconds)))

    def sent(self, seconds: float) -> None:
        """Learn how long it took the caller to send a piece and to take it back."""
        self._send_seconds += (seconds - self._send_seconds) * (NEWS if self._send_seconds else 1.0)

    def worth_sending_ahead(self) -> int:
        """How many pieces can be sent while one is being evaluated.

        If more than that are at work, the caller is the bottleneck, and sending what may not be needed delays
        what is.
        """
        return int(min(self.piece_seconds / self._send_seconds, MOST_PIECES)) if self._send_seconds else 0

    @property
    def piece_seconds(self) -> float:
        """How long a piece takes; 0 as long as that is not known."""
        return self.pairs * (self._pair_seconds or 0.0)
