"""`DALex`: the best individual by a randomly weighted sum of errors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase._checks import check_not_negative
from flexicase.rng import Key, Lane, Stream, decay, normals
from flexicase.selection.matrix import ErrorMatrix, row_blocks
from flexicase.selection.protocol import Backend, Kernel, UncountedKernel


@dataclass(frozen=True, slots=True)
class DALex:
    """Diversely aggregated lexicase selection (Ni, Ding and Spector, EuroGP 2024).

    Every event draws the importance of each case from a normal distribution with standard deviation ``std``, turns
    importances into weights by a softmax, and selects the lowest weighted sum of errors; ties are broken at random.

    Sums are float64, of errors minus the best error on their case, which changes no choice and keeps more digits. A
    case more than about 745 below the heaviest in importance has weight 0. Individuals that differ only in terms below
    2⁻⁵³ of the rest of their sum tie.

    Attributes:
        std: Particularity pressure. Large values (200) approach lexicase selection; smaller ones relax it as epsilon or
            batch lexicase do; 0 selects the lowest total error.

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
        return f"the lowest sum of errors with random case weights of standard deviation {self.std:g}"

    def prepare(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> Kernel:
        columns = excess_errors(matrix)

        def run_event(key: Key, event: int) -> int:
            sums = weighted_sums(columns, draw_case_weights(key, event, len(columns), self.std))
            tied = np.flatnonzero(sums == sums.min())
            return int(tied[Stream.of(key, event, Lane.PICK).bounded(len(tied))])

        return UncountedKernel(backend, partial(_native.draw_aggregates, columns, self.std), run_event)


def weighted_sums(columns: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n_individuals,) weighted errors summed case by case, without cases of weight 0."""
    sums = np.zeros(columns.shape[1])
    with np.errstate(over="ignore"):
        for weight, column in zip(weights, columns, strict=True):
            if weight > 0.0:
                sums += weight * column
    return sums


def draw_case_weights(key: Key, event: int, n_cases: int, std: float) -> NDArray[np.float64]:
    """(n_cases,) weights of the cases in one event, the largest of them 1."""
    importance = normals(Stream.of(key, event, Lane.BASELINE), n_cases)
    with np.errstate(over="ignore"):
        return decay((importance - importance.max(initial=-np.inf)) * std)


def excess_errors(matrix: ErrorMatrix) -> NDArray[np.float64]:
    """(n_cases, n_individuals) errors minus the best on the same case; 0 for the best, also if it is infinite."""
    matrix.check_float64("DALex")
    above = np.empty((matrix.n_cases, matrix.n_individuals))
    for block in row_blocks(*above.shape):
        columns = above[block]
        columns[...] = matrix.values[:, block].T
        best = columns.min(axis=1, keepdims=True)
        is_best = columns == best
        with np.errstate(over="ignore", invalid="ignore"):
            columns -= best
        columns[is_best] = 0.0
    return above
