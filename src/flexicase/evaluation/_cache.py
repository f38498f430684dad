"""The error cache: errors computed in this generation, so that no pair is computed twice.

A native matrix if it fits the memory budget (unwritten pages cost nothing), else a table of pairs that stops growing
when the budget is used up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexicase._checks import room_for
from flexicase._native import PairStore
from flexicase.evaluation._protocol import CaseEvaluator, evaluate_block

Indices = NDArray[np.int64]
Errors = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """What the error cache holds.

    Attributes:
        pairs: (individual, case) pairs whose errors are kept.
        bytes: Memory they take.
        max_bytes: Memory they may take.
        n_dropped: Pairs that were computed but not kept, for lack of memory.

    Example:
        >>> import flexicase as fx
        >>> fx.FastLexicase(10).cache_info().pairs
        0
    """

    pairs: int
    bytes: int
    max_bytes: int
    n_dropped: int


class ErrorCache:
    """Errors of one generation: known ones are looked up, unknown ones computed.

    ``is_reusable`` says whether the errors are in a matrix of at most ``reuse_limit`` bytes, to be emptied and used
    again; ``n_users`` counts open transactions.
    """

    __slots__ = ("_is_new", "is_reusable", "n_cases", "n_individuals", "n_users", "store")

    def __init__(self, n_individuals: int, n_cases: int, max_bytes: int, reuse_limit: int = 0) -> None:
        self.n_individuals, self.n_cases = n_individuals, n_cases
        self.n_users = 0
        self.store = PairStore(n_individuals, n_cases, max_bytes)
        self.is_reusable = self.store.is_matrix and self.store.nbytes <= reuse_limit
        self._is_new = True

    def transaction(self) -> ErrorCache:
        """A context that forgets what was stored in it if it ends with an exception.

        The first transaction of a new cache keeps no log: if it fails, the cache must be thrown away.
        """
        return self

    def __enter__(self) -> ErrorCache:
        if not self._is_new:
            self.store.begin()
        self.n_users += 1
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        self.n_users -= 1
        if failed is None:
            self.store.commit()
            self._is_new = False
        else:
            self.store.rollback()

    def clear(self) -> None:
        """Forget all errors."""
        self.store.clear()
        self._is_new = True

    def fetch(self, evaluate: CaseEvaluator, individuals: Indices, cases: Indices) -> tuple[Errors, NDArray[np.bool_]]:
        """(m, b) errors, unknown ones computed, and (m, b) which of them were computed now."""
        block = self._lookup(individuals, cases)
        computed_now = np.isnan(block)
        for rows, columns in missing_rectangles(computed_now):
            errors = evaluate_block(evaluate, individuals[rows], cases[columns])
            block[np.ix_(rows, columns)] = errors
            self.store.store(individuals[rows], cases[columns], errors)
        return block, computed_now

    def missing(self, individuals: Indices, cases: Indices) -> NDArray[np.bool_]:
        """(m, b) pairs that `fetch` would compute."""
        return np.isnan(self._lookup(individuals, cases))

    def _lookup(self, individuals: Indices, cases: Indices) -> Errors:
        """(m, b) errors, NaN where unknown."""
        transposed = room_for((len(cases), len(individuals)), np.float64, "n_individuals")
        self.store.lookup(individuals, cases, transposed)
        return transposed.T

    def n_distinct(self, individuals: Indices) -> int:
        """The number of (m,) individuals that are not known to be copies of another among them."""
        return len(individuals)

    def add(self, known: Errors) -> None:
        """Store what is not NaN of (n_individuals, n_cases) known errors."""
        before = self.store.refused
        for rows, columns in missing_rectangles(~np.isnan(known)):
            self.store.store(rows, columns, np.ascontiguousarray(known[np.ix_(rows, columns)]))
        if self.store.refused > before:
            raise ValueError(f"known must fit into cache_bytes, but {self.store.refused - before} pairs do not")

    def known(self) -> Errors:
        """(n_individuals, n_cases) errors, NaN where unknown."""
        return self._lookup(np.arange(self.n_individuals), np.arange(self.n_cases))


class SharedRows(ErrorCache):
    """A cache in which copies share the errors of the first of them; ``first`` is (n_individuals,)."""

    __slots__ = ("_first",)

    def __init__(self, cache: ErrorCache, first: Indices) -> None:
        self.n_individuals, self.n_cases, self.store = cache.n_individuals, cache.n_cases, cache.store
        self._first = first

    def fetch(self, evaluate: CaseEvaluator, individuals: Indices, cases: Indices) -> tuple[Errors, NDArray[np.bool_]]:
        firsts, position, row = np.unique(self._first[individuals], return_index=True, return_inverse=True)
        errors, computed = super().fetch(evaluate, firsts, cases)
        computed_now = np.zeros((len(individuals), len(cases)), dtype=bool)
        computed_now[position] = computed
        return errors[row], computed_now

    def missing(self, individuals: Indices, cases: Indices) -> NDArray[np.bool_]:
        return super().missing(np.unique(self._first[individuals]), cases)

    def add(self, known: Errors) -> None:
        known = known.copy()
        for copy in np.flatnonzero(self._first != np.arange(self.n_individuals)):
            row = known[self._first[copy]]
            np.copyto(row, known[copy], where=np.isnan(row))
        super().add(known)

    def n_distinct(self, individuals: Indices) -> int:
        return len(np.unique(self._first[individuals]))


def missing_rectangles(missing: NDArray[np.bool_]) -> list[tuple[Indices, Indices]]:
    """Cut the missing pairs of an (m, b) block into rectangles (rows, columns), one per distinct set of rows."""
    if missing.all():
        return [(np.arange(missing.shape[0]), np.arange(missing.shape[1]))] if missing.size else []
    columns_of: dict[bytes, list[int]] = {}
    for j in np.flatnonzero(missing.any(axis=0)).tolist():
        columns_of.setdefault(missing[:, j].tobytes(), []).append(j)
    return [(np.flatnonzero(missing[:, js[0]]), np.array(js)) for js in columns_of.values()]
