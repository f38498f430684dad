"""The memo: errors that were computed in this generation, so that no pair is computed twice.

They are kept natively: in a matrix where it fits the memory budget (pages cost nothing before they
are written), otherwise in a table of pairs that stops growing when the budget is used up.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from flexicase._native import PairStore
from flexicase.evaluation._protocol import CaseEvaluator, evaluate_block

Indices = NDArray[np.int64]
Errors = NDArray[np.float64]


class ErrorCache:
    """Errors of one generation: known ones are looked up, unknown ones computed.

    Args:
        n_individuals: Size of the population.
        n_cases: Number of cases.
        most_bytes: Memory budget.
        worth_keeping: A matrix of up to so many bytes is worth emptying and using again.

    Attributes:
        calls: How many calls of `FastLexicase.select` are at work on it.
        may_serve_again: Whether it is such a matrix.

    Example:
        >>> import numpy as np
        >>> from flexicase.evaluation._cache import ErrorCache
        >>> calls = []
        >>> def evaluate(individuals, cases):
        ...     calls.append((individuals.tolist(), cases.tolist()))
        ...     return np.zeros((len(individuals), len(cases)))
        >>> memo = ErrorCache(4, 3, most_bytes=1000)
        >>> errors, fresh = memo.fetch(evaluate, np.array([0, 1]), np.array([2]))
        >>> errors, fresh = memo.fetch(evaluate, np.array([0, 1, 3]), np.array([2]))
        >>> calls
        [([0, 1], [2]), ([3], [2])]
    """

    __slots__ = ("calls", "may_serve_again", "n_individuals", "store")

    def __init__(self, n_individuals: int, n_cases: int, most_bytes: int, worth_keeping: int = 0) -> None:
        """Choose the store."""
        self.calls = 0
        self.n_individuals = n_individuals
        self.store = PairStore(n_individuals, n_cases, most_bytes)
        self.may_serve_again = self.store.is_matrix and self.store.nbytes <= worth_keeping

    def fetch(self, evaluate: CaseEvaluator, individuals: Indices, cases: Indices) -> tuple[Errors, NDArray[np.bool_]]:
        """The errors of some individuals on some cases; unknown ones are computed, each once.

        Args:
            evaluate: Who computes them.
            individuals: (m,) indices.
            cases: (b,) indices.

        Returns:
            (m, b) errors, and (m, b) which of them were computed now.
        """
        transposed = np.empty((len(cases), len(individuals)))
        self.store.lookup(individuals, cases, transposed)
        block = transposed.T
        fresh = np.isnan(block)
        for rows, columns in missing_rectangles(fresh):
            errors = evaluate_block(evaluate, individuals[rows], cases[columns])
            block[np.ix_(rows, columns)] = errors
            self.store.store(individuals[rows], cases[columns], errors)
        return block, fresh


def missing_rectangles(missing: NDArray[np.bool_]) -> list[tuple[Indices, Indices]]:
    """Cut the missing pairs of a block into rectangles, one per distinct set of missing rows.

    Args:
        missing: (m, b) which pairs are missing.

    Returns:
        Pairs of (rows, columns), which together cover every missing pair exactly once.
    """
    if missing.all():
        return [(np.arange(missing.shape[0]), np.arange(missing.shape[1]))] if missing.size else []
    columns_of: dict[bytes, list[int]] = {}
    for j in np.flatnonzero(missing.any(axis=0)).tolist():
        columns_of.setdefault(missing[:, j].tobytes(), []).append(j)
    return [(np.flatnonzero(missing[:, js[0]]), np.array(js)) for js in columns_of.values()]
