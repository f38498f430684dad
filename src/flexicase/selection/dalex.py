"""`DALex`: the best individual by a randomly weighted sum of errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase._checks import check_not_negative
from flexicase.rng import Key, Lane, Stream, decay, normals
from flexicase.selection.matrix import ErrorMatrix, row_blocks
from flexicase.selection.protocol import Backend, Kernel, Selection


@dataclass(frozen=True, slots=True)
class DALex:
    """Diversely aggregated lexicase selection (Ni, Ding and Spector, EuroGP 2024).

    Every event draws an importance for each case from a normal distribution with mean 0 and
    standard deviation ``std``, turns the importances into weights by a softmax, and selects the
    individual with the lowest weighted sum of errors; equal sums are decided at random.

    All arithmetic is float64. Terms that are equal for all individuals are left out: the softmax's
    denominator, and the best error of every case, which is subtracted first so that the sums keep
    as many digits as possible. A case that is more than about 745 below the heaviest in importance
    has weight 0 and cannot matter, and a term below 2⁻⁵³ of the rest of its sum is lost:
    individuals that differ only there tie.

    Attributes:
        std: Particularity pressure. Large values (200) come close to lexicase selection; smaller
            ones relax it as epsilon or batch lexicase do; 0 selects the lowest total error.

    Example:
        >>> import flexicase as fx
        >>> errors = [[0, 9, 9], [9, 0, 9], [9, 9, 0], [3, 3, 3]]
        >>> sorted(set(fx.select(errors, 100, fx.DALex(std=200), seed=1).indices.tolist()))
        [0, 1, 2]
        >>> set(fx.select(errors, 100, fx.DALex(std=0), seed=1).indices.tolist())
        {3}
    """

    std: float = 200.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "std", check_not_negative(self.std, "std"))

    def describe(self) -> str:
        """The method in words."""
        return f"the lowest sum of errors with random case weights of standard deviation {self.std:g}"

    def prepare(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> Kernel:
        """A kernel that draws events from ``matrix``."""
        return DALexKernel(excess_errors(matrix), self.std, backend)


class DALexKernel:
    """A kernel that draws a weight for every case and takes the lowest weighted sum."""

    def __init__(self, columns: NDArray[np.float64], std: float, backend: Backend) -> None:
        """Keep the errors.

        Args:
            columns: (n_cases, n_individuals) errors above the best of each case.
            std: Standard deviation of the importances.
            backend: Backend to use.
        """
        self.columns = columns
        self.std = std
        self.backend = backend

    def draw(self, key: Key, events: range, counts: bool, threads: int) -> Selection:
        """Run the events with these numbers."""
        out = Selection.empty(len(events), counts=False)
        if self.backend == "native":
            _native.draw_aggregates(
                self.columns, self.std, key.k0, key.k1, events.start, events.step, threads, out.indices
            )
            return out
        for i, event in enumerate(events):
            sums = weighted_sums(self.columns, draw_case_weights(key, event, len(self.columns), self.std))
            tied = np.flatnonzero(sums == sums.min())
            out.indices[i] = tied[Stream.of(key, event, Lane.PICK).bounded(len(tied))]
        return out


def weighted_sums(columns: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up the weighted errors of every individual, case after case, leaving out those of weight 0.

    Args:
        columns: (n_cases, n_individuals) errors.
        weights: (n_cases,) one per case.

    Returns:
        (n_individuals,) sums.
    """
    sums = np.zeros(columns.shape[1])
    with np.errstate(over="ignore"):
        for weight, column in zip(weights, columns, strict=True):
            if weight > 0.0:
                sums += weight * column
    return sums


def draw_case_weights(key: Key, event: int, n_cases: int, std: float) -> NDArray[np.float64]:
    """Draw the weights of the cases in one event.

    Returns:
        (n_cases,) weights, scaled so that the heaviest is 1.
    """
    importance = normals(Stream.of(key, event, Lane.BASELINE), n_cases)
    with np.errstate(over="ignore"):
        return decay((importance - importance.max(initial=-np.inf)) * std)


def excess_errors(matrix: ErrorMatrix) -> NDArray[np.float64]:
    """Errors minus the best error on the same case; 0 where even that is infinite.

    Returns:
        (n_cases, n_individuals) finite or infinite numbers, not negative.
    """
    matrix.check_float64("DALex")
    above = np.empty((matrix.n_cases, matrix.n_individuals))
    for block in row_blocks(*above.shape):
        columns = above[block]
        columns[...] = matrix.values[:, block].T
        best = columns.min(axis=1, keepdims=True)
        with np.errstate(over="ignore", invalid="ignore"):
            columns -= best
        columns[np.isinf(best).reshape(-1)] = 0.0
    return above
