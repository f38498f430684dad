"""The memo: errors that were computed in this generation, so that no pair is computed twice.

A matrix with a row per case when it fits the memory budget (rows cost nothing before they are
written), otherwise a table of pairs that stops growing when the budget is used up.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from flexicase.evaluation.protocol import CaseEvaluator, evaluate_block

Indices = NDArray[np.int64]
Errors = NDArray[np.float64]


class Store(Protocol):
    """Where the errors are kept; NaN stands for unknown."""

    pairs: int
    refused: int

    @property
    def nbytes(self) -> int:
        """Bytes in use."""
        ...

    def lookup(self, individuals: Indices, cases: Indices) -> Errors:
        """What is known: (m, b) errors, NaN where nothing is."""
        ...

    def store(self, individuals: Indices, cases: Indices, errors: Errors) -> None:
        """Keep (m, b) errors that were unknown, as far as there is room."""
        ...

    def forget(self, individuals: Indices, cases: Indices) -> None:
        """Drop what was stored."""
        ...


class MatrixStore:
    """One row per case; a row is filled with NaN when its case is first stored."""

    def __init__(self, n_individuals: int, n_cases: int) -> None:
        """Reserve the matrix without touching it."""
        self.table = np.empty((n_cases, n_individuals))
        self.begun = np.zeros(n_cases, dtype=np.bool_)
        self.rows = self.pairs = self.refused = 0

    @property
    def nbytes(self) -> int:
        """Bytes of the rows begun."""
        return self.rows * self.table.shape[1] * 8 + len(self.begun)

    def lookup(self, individuals: Indices, cases: Indices) -> Errors:
        """What is known: (m, b) errors, NaN where nothing is."""
        block = np.full((len(individuals), len(cases)), np.nan)
        begun = np.flatnonzero(self.begun[cases])
        block[:, begun] = self.table[np.ix_(cases[begun], individuals)].T
        return block

    def store(self, individuals: Indices, cases: Indices, errors: Errors) -> None:
        """Keep (m, b) errors that were unknown."""
        new = cases[~self.begun[cases]]
        self.table[new] = np.nan
        self.begun[new] = True
        self.rows += len(new)
        self.table[np.ix_(cases, individuals)] = errors.T
        self.pairs += errors.size

    def forget(self, individuals: Indices, cases: Indices) -> None:
        """Drop what was stored."""
        self.table[np.ix_(cases, individuals)] = np.nan
        self.pairs -= len(individuals) * len(cases)


class PairStore:
    """One entry per pair, until the budget is used up."""

    BYTES_PER_PAIR = 120

    def __init__(self, n_individuals: int, most_bytes: int) -> None:
        """Start empty."""
        self.entries: dict[int, float] = {}
        self.n_individuals = n_individuals
        self.room = most_bytes // self.BYTES_PER_PAIR
        self.refused = 0

    @property
    def pairs(self) -> int:
        """How many are known."""
        return len(self.entries)

    @property
    def nbytes(self) -> int:
        """Bytes of the entries."""
        return self.pairs * self.BYTES_PER_PAIR

    def _keys(self, individuals: Indices, cases: Indices) -> list[int]:
        keys: list[int] = (individuals[:, None] + cases * self.n_individuals).ravel().tolist()
        return keys

    def lookup(self, individuals: Indices, cases: Indices) -> Errors:
        """What is known: (m, b) errors, NaN where nothing is."""
        known = [self.entries.get(key, np.nan) for key in self._keys(individuals, cases)]
        return np.array(known).reshape(len(individuals), len(cases))

    def store(self, individuals: Indices, cases: Indices, errors: Errors) -> None:
        """Keep (m, b) errors that were unknown, as far as there is room."""
        fits = max(0, self.room - self.pairs)
        self.entries.update(list(zip(self._keys(individuals, cases), errors.ravel().tolist(), strict=True))[:fits])
        self.refused += max(0, errors.size - fits)

    def forget(self, individuals: Indices, cases: Indices) -> None:
        """Drop what was stored."""
        for key in self._keys(individuals, cases):
            self.entries.pop(key, None)


class Memo:
    """Errors of one generation, and the log that takes back what a failed call added.

    Args:
        n_individuals: Size of the population.
        n_cases: Number of cases.
        most_bytes: Memory budget.

    Example:
        >>> import numpy as np
        >>> from flexicase.evaluation.memo import Memo
        >>> calls = []
        >>> def evaluate(individuals, cases):
        ...     calls.append((individuals.tolist(), cases.tolist()))
        ...     return np.zeros((len(individuals), len(cases)))
        >>> memo = Memo(4, 3, most_bytes=1000)
        >>> errors, fresh = memo.fetch(evaluate, np.array([0, 1]), np.array([2]))
        >>> errors, fresh = memo.fetch(evaluate, np.array([0, 1, 3]), np.array([2]))
        >>> calls
        [([0, 1], [2]), ([3], [2])]
    """

    def __init__(self, n_individuals: int, n_cases: int, most_bytes: int) -> None:
        """Choose the store."""
        self.n_individuals = n_individuals
        self.n_cases = n_cases
        self.most_bytes = most_bytes
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        fits = (self.n_individuals * 8 + 1) * self.n_cases <= self.most_bytes
        self.store: Store = (
            MatrixStore(self.n_individuals, self.n_cases) if fits else PairStore(self.n_individuals, self.most_bytes)
        )
        self._log: list[tuple[Indices, Indices]] = []

    def fetch(self, evaluate: CaseEvaluator, individuals: Indices, cases: Indices) -> tuple[Errors, NDArray[np.bool_]]:
        """The errors of some individuals on some cases; unknown ones are computed, each once.

        Args:
            evaluate: Who computes them.
            individuals: (m,) indices.
            cases: (b,) indices.

        Returns:
            (m, b) errors, and (m, b) which of them were computed now.
        """
        block = self.store.lookup(individuals, cases)
        fresh = np.isnan(block)
        for rows, columns in rectangles(fresh):
            errors = evaluate_block(evaluate, individuals[rows], cases[columns])
            block[np.ix_(rows, columns)] = errors
            self._log.append((individuals[rows], cases[columns]))
            self.store.store(individuals[rows], cases[columns], errors)
        return block, fresh

    def commit(self) -> None:
        """Keep what was added since the last commit."""
        self._log.clear()

    def rollback(self) -> None:
        """Take back what was added since the last commit."""
        for individuals, cases in self._log:
            self.store.forget(individuals, cases)
        self._log.clear()


def rectangles(missing: NDArray[np.bool_]) -> list[tuple[Indices, Indices]]:
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
