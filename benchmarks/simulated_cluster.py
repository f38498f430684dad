"""A cluster that exists on paper: real errors, workers and clock simulated."""

from __future__ import annotations

import heapq
import itertools
from collections import deque

import numpy as np
from numpy.typing import NDArray

from flexicase._checks import check_count, check_function, check_seconds
from flexicase.evaluation._pipelined import BatchSizer, CompletedBatch, PipelinedEvaluator
from flexicase.evaluation._protocol import CaseEvaluator, EvaluationError, evaluate_block


class SimulatedCluster(PipelinedEvaluator):
    """Evaluates at once, and keeps the time that it would have taken on a number of workers.

    Each worker has one piece at work and one waiting, as with `RayEvaluator`. A piece takes its pairs' cost and an
    overhead; sending it costs the caller, who sends one after another, another.

    Args:
        evaluate: ``evaluate(individuals, cases)`` gives the (m, b) errors.
        workers: How many workers.
        pair_seconds: What one (individual, case) pair costs a worker.
        piece_seconds: What a piece costs a worker besides.
        send_seconds: What a piece costs the caller, above 0.

    Attributes:
        clock: Seconds since the beginning.
        busy: Seconds of work, summed over the workers.
        pieces: Pieces begun.

    Example:
        >>> import flexicase as fx
        >>> from simulated_cluster import SimulatedCluster
        >>> from flexicase.data import SyntheticPopulation
        >>> clocks = []
        >>> for workers in (1, 10):
        ...     cluster = SimulatedCluster(SyntheticPopulation(200, 100), workers, pair_seconds=0.02)
        ...     s = fx.FastLexicase(100, seed=1).select(cluster, 200)
        ...     clocks.append(cluster.clock)
        >>> clocks[0] > 5 * clocks[1]
        True
    """

    def __init__(
        self,
        evaluate: CaseEvaluator,
        workers: int,
        *,
        pair_seconds: float,
        piece_seconds: float = 0.0,
        send_seconds: float = 1e-4,
    ) -> None:
        self.workers = check_count(workers, "workers", 1)
        self.clock = self.busy = 0.0
        self.pieces = 0
        self._evaluate = check_function(evaluate, "evaluate", 2)
        self._pair_seconds = check_seconds(pair_seconds, "pair_seconds")
        self._piece_seconds = check_seconds(piece_seconds, "piece_seconds")
        self._send_seconds = check_seconds(send_seconds, "send_seconds", above_zero=True)
        self._size, self._number = BatchSizer(), itertools.count()
        self._waiting: deque[tuple[int, CompletedBatch]] = deque()
        self._working: list[tuple[float, int, int, CompletedBatch]] = []  # when it is done, a number, its generation

    def new_population(self, evaluate: CaseEvaluator) -> None:
        """Evaluate another population from now on; pieces of the old one come to their end and are forgotten."""
        self._evaluate = check_function(evaluate, "evaluate", 2)
        self.generation += 1

    def free_slots(self, *, speculative: bool = False) -> int:
        """How many more batches should be submitted now."""
        return self._free_slots(self.workers, len(self._working) + len(self._waiting), self._size, speculative)

    def batch_size(self, n_needed: int = 0) -> int:
        """How many pairs a batch should have at least."""
        return self._size.size_for(n_needed, self.workers)

    def submit(self, individuals: NDArray[np.int64], cases: NDArray[np.int64]) -> None:
        """Start the evaluation of a batch: (m,) individuals on (b,) cases."""
        self.clock += self._send_seconds
        self._size.sent(self._send_seconds)
        self.pieces += 1
        try:
            errors: NDArray[np.float64] | EvaluationError = evaluate_block(self._evaluate, individuals, cases)
        except EvaluationError as error:
            errors = error
        self._waiting.append((self.generation, CompletedBatch(individuals, cases, errors)))
        self._start()

    def pending(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The batches of this generation that were submitted and not collected yet."""
        begun = (*self._waiting, *(working[2:] for working in self._working))
        return [piece[:2] for generation, piece in begun if generation == self.generation]

    def collect(self) -> list[CompletedBatch]:
        """Let time pass until a batch has ended, and return it."""
        at, _, generation, piece = heapq.heappop(self._working)
        self.clock = max(self.clock, at)
        pairs = len(piece.individuals) * len(piece.cases)
        self._size.observe(pairs, self._pair_seconds * pairs)
        self._start()
        return [piece] if generation == self.generation else []

    def _start(self) -> None:
        while self._waiting and len(self._working) < self.workers:
            generation, piece = self._waiting.popleft()
            seconds = self._piece_seconds + self._pair_seconds * len(piece.individuals) * len(piece.cases)
            self.busy += seconds
            heapq.heappush(self._working, (self.clock + seconds, next(self._number), generation, piece))
