"""Elitism: the first events of a selection return the best individuals by total error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexicase.rng import Key, Lane, Stream, case_keys
from flexicase.selection.kernel import Ended, Events, Kernel
from flexicase.selection.matrix import ErrorMatrix


def total_errors(matrix: ErrorMatrix) -> NDArray[np.float64]:
    """(n_individuals,) errors summed case by case, whatever the memory layout."""
    matrix.check_float64("elitism")
    totals = np.zeros(matrix.n_individuals)
    with np.errstate(over="ignore", invalid="ignore"):
        for column in matrix.values.T:
            totals += column
    return totals


class Elitist:
    """A kernel whose events 0 … k-1 are the k individuals with the lowest total error.

    Equal totals are put in random order. Elite events look at no case.
    """

    def __init__(self, matrix: ErrorMatrix, key: Key, k: int, kernel: Kernel) -> None:
        """Find the elite of ``matrix``."""
        n = matrix.n_individuals
        totals = total_errors(matrix)
        ties = case_keys(Stream.of(key, 1, Lane.SAMPLE).word(), n)
        self.elite = np.lexsort((ties, totals))[: min(k, n)]
        self.kernel = kernel

    def draw(self, key: Key, events: range, counts: bool, threads: int) -> Events:
        """Run the events with these numbers."""
        out = self.kernel.draw(key, events, counts, threads)
        for i, event in enumerate(events[: len(self.elite)]):
            if event >= len(self.elite):
                break
            out.indices[i] = self.elite[event]
            if counts:
                out.evaluations[i] = out.evaluations_distinct[i] = out.cases_used[i] = 0
                out.ended[i] = Ended.ELITE
        return out
