"""Evaluators that work on many batches at a time."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from flexicase.evaluation._protocol import ClosingEvaluator, EvaluationError

Indices = NDArray[np.int64]
SECONDS_PER_BATCH = 0.015
MAX_SECONDS_PER_BATCH = 0.25
MAX_GROWTH = 8
SMOOTHING = 0.25  # the weight of the last observation
MAX_BATCHES = 2**31
BATCHES_PER_WORKER = 2  # one being evaluated, one waiting
LATENCY_SECONDS = 0.002  # between the end of a batch and the start of one that is sent then


class CompletedBatch(NamedTuple):
    """A batch whose evaluation has ended: (m,) individuals, (b,) cases, and (m, b) errors or why there are none."""

    individuals: Indices
    cases: Indices
    errors: NDArray[np.float64] | EvaluationError


class PipelinedEvaluator(ClosingEvaluator):
    """Evaluates many batches at the same time, each some individuals × some cases.

    `FastLexicase` does not wait for a block before it asks for the next: as long as there are `free_slots`, it submits
    batches further along the case order, for the candidates still in the pool. This changes what is computed when,
    never the outcome.

    Attributes:
        generation: A different number for every population, so that errors of one are not used for the next.
    """

    generation: int = 0

    def free_slots(self, *, speculative: bool = False) -> int:
        """The number of batches to submit now to keep all workers busy; ``speculative`` ones may not be needed."""
        raise NotImplementedError

    def batch_size(self, n_needed: int = 0) -> int:
        """The least number of pairs in a batch, with ``n_needed`` pairs certainly needed and not submitted yet."""
        raise NotImplementedError

    def submit(self, individuals: Indices, cases: Indices) -> None:
        """Start the evaluation of a batch: (m,) individuals on (b,) cases."""
        raise NotImplementedError

    def pending(self) -> list[tuple[Indices, Indices]]:
        """Batches of this generation that were submitted and not collected yet: (m,) individuals, (b,) cases."""
        raise NotImplementedError

    def collect(self) -> list[CompletedBatch]:
        """Wait until something has happened; return the batches that have ended, failed ones included."""
        raise NotImplementedError

    def _fill(self, errors: NDArray[np.float64], individuals: Indices, cases: Indices) -> None:
        m, b = errors.shape
        end = b if m else 0
        places: dict[tuple[bytes, bytes], list[tuple[slice, slice]]] = {}
        row = column = left = 0
        while column < end or left:
            while column < end and self.free_slots() > 0:
                r, c = next_batch(m, b, row, column, self.batch_size(m * (end - column) - row))
                self.submit(individuals[r], cases[c])
                places.setdefault((individuals[r].tobytes(), cases[c].tobytes()), []).append((r, c))
                left += 1
                row, column = (r.stop, column) if r.stop < m else (0, c.stop)
            for done in self.collect():
                waiting = places.get((done.individuals.tobytes(), done.cases.tobytes()))
                if not waiting:
                    continue
                if isinstance(done.errors, EvaluationError):
                    raise done.errors
                errors[waiting.pop()] = done.errors
                left -= 1

    def _free_slots(self, workers: int, n_pending: int, sizer: BatchSizer, speculative: bool) -> int:
        """`free_slots` with some workers and pending batches."""
        if not speculative:
            return BATCHES_PER_WORKER * workers - n_pending
        useful = max(BATCHES_PER_WORKER, sizer.worth_sending_ahead())
        return min(batches_ahead(workers, sizer.batch_seconds), useful) - n_pending


def batches_ahead(workers: int, batch_seconds: float) -> int:
    """The number of speculative batches to keep pending: one per worker, and a few that bridge the latency.

    >>> batches_ahead(2, 0.02), batches_ahead(100, 0.02), batches_ahead(100, 1.0)
    (3, 110, 101)
    """
    waiting = math.ceil(workers * LATENCY_SECONDS / max(batch_seconds, LATENCY_SECONDS))
    return workers + max(1, waiting)


def next_batch(m: int, b: int, row: int, column: int, pairs: int) -> tuple[slice, slice]:
    """The next batch of an (m, b) block from (row, column) on: whole columns if those are short, else part of one."""
    if row == 0 and m < pairs:
        return slice(0, m), slice(column, column + even_chunk(b - column, math.ceil(pairs / m)))
    return slice(row, row + even_chunk(m - row, pairs)), slice(column, column + 1)


def even_chunk(whole: int, least: int) -> int:
    """How much of ``whole`` to take, so that equal shares of at least ``least`` leave no small rest.

    >>> even_chunk(100, 30), even_chunk(20, 30)
    (34, 20)
    """
    return math.ceil(whole / max(1, whole // least))


class BatchSizer:
    """The pairs of a batch, and how many batches to send ahead, learnt from what batches have cost.

    Sending a batch costs about a millisecond, so a batch should take 10 ms or more; the aim is 15, since costs vary.
    The first batches are single pairs.
    """

    def __init__(self) -> None:
        self.pairs = 1
        self._pair_seconds: float | None = None
        self._send_seconds = 0.0

    def observe(self, pairs: int, seconds: float) -> None:
        """Learn from the number of pairs in a batch and the time of its evaluation."""
        cost, known = max(seconds, 1e-9) / pairs, self._pair_seconds
        if known is None:
            self._pair_seconds = cost
        elif cost < known or pairs >= self.pairs // 2:  # small batches look expensive: every call has a fixed cost
            weight = 1 - (1 - SMOOTHING) ** max(1.0, pairs / self.pairs)  # a batch as large as several counts like them
            self._pair_seconds = known + (cost - known) * weight
        assert self._pair_seconds is not None
        most = MAX_GROWTH * max(pairs, self.pairs)
        self.pairs = max(1, min(math.ceil(SECONDS_PER_BATCH / self._pair_seconds), most))

    def size_for(self, n_needed: int, workers: int) -> int:
        """The pairs of the next batch: large batches first, then smaller ones, so that all workers end together.

        With so many workers that the caller is the bottleneck, √(n_needed · sending / pair) pairs are best: smaller
        batches take longer to send, of larger ones the last takes longer to evaluate.

        >>> sizer = BatchSizer()
        >>> sizer.observe(1, seconds=0.02)
        >>> [sizer.size_for(n_needed, workers=2) for n_needed in (1000, 40, 8, 3)]
        [12, 10, 2, 1]
        """
        if self._pair_seconds is None:
            return self.pairs
        share = math.ceil(n_needed / (BATCHES_PER_WORKER * max(workers, 1)))
        share = max(share, round(math.sqrt(n_needed * self._send_seconds / self._pair_seconds)))
        return max(self.pairs, min(share, int(MAX_SECONDS_PER_BATCH / self._pair_seconds)))

    def sent(self, seconds: float) -> None:
        """Learn the time it took the caller to send a batch and to collect it."""
        self._send_seconds += (seconds - self._send_seconds) * (SMOOTHING if self._send_seconds else 1.0)

    def worth_sending_ahead(self) -> int:
        """The number of batches that can be sent while one is evaluated; sending more would delay needed ones."""
        return int(min(self.batch_seconds / self._send_seconds, MAX_BATCHES)) if self._send_seconds else 0

    @property
    def batch_seconds(self) -> float:
        """The time of a batch; 0 if unknown."""
        return self.pairs * (self._pair_seconds or 0.0)
