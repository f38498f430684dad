"""`Plexicase`: sampling from an approximation of lexicase selection's distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexicase import _native
from flexicase._checks import check_not_negative
from flexicase.rng import Key
from flexicase.selection.baselines import roulette_kernel
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.protocol import Backend, Kernel


@dataclass(frozen=True, slots=True)
class Plexicase:
    """Probabilistic lexicase selection (Ding, Pantridge and Spector, GECCO 2023).

    The distribution is computed once and then sampled. Over the distinct error vectors:

    1. A vector is *eligible* if it has the best error on some case and is not Pareto-dominated. The others are never
       selected, as in lexicase.
    2. Let h be the number of cases on which a vector is best. Every case divides 1 / n_cases among the eligible vectors
       that are best on it, in proportion to their h.
    3. The probability of a vector is the sum of its shares, to the power ``alpha``, normalised.

    Individuals with the same error vector share its probability equally. With no cases the choice is uniform.

    Attributes:
        alpha: 1 is the distribution itself; more concentrates it on the likely vectors, less evens it out, 0 makes all
            eligible vectors equally likely.

    Example:
        >>> import flexicase as fx
        >>> errors = [[0, 0, 5], [5, 5, 0], [5, 0, 9], [6, 6, 6]]
        >>> fx.probabilities(errors, "plexicase").round(3).tolist()
        [0.667, 0.333, 0.0, 0.0]
    """

    alpha: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_not_negative(self.alpha, "alpha"))

    def describe(self) -> str:
        return f"from an approximation of lexicase selection's probabilities, to the power {self.alpha:g}"

    def prepare(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> Kernel:
        return roulette_kernel(self._distribution(matrix, backend), backend)

    def probabilities(self, matrix: ErrorMatrix) -> NDArray[np.float64]:
        return self._distribution(matrix, "native")

    def _distribution(self, matrix: ErrorMatrix, backend: Backend) -> NDArray[np.float64]:
        if matrix.n_cases == 0:
            return np.full(matrix.n_individuals, 1.0 / matrix.n_individuals)
        kinds, kind_of, members = np.unique(matrix.first_identical_row, return_inverse=True, return_counts=True)
        if backend == "native":
            shares = np.empty(len(kinds))
            _native.elite_shares(matrix.values, kinds, shares)
        else:
            shares = plexicase_shares(matrix.values[kinds])
        weights = np.zeros_like(shares)
        np.power(shares / shares.max(), self.alpha, out=weights, where=shares > 0)
        result: NDArray[np.float64] = (weights / weights.sum() / members)[kind_of.reshape(-1)]
        return result


def plexicase_shares(errors: NDArray[np.generic]) -> NDArray[np.float64]:
    """(n_vectors,) how many cases' worth of probability each distinct error vector gets."""
    best = errors == errors.min(axis=0)
    won = best.sum(axis=1)
    nowhere_worse = np.array([(errors <= vector).all(axis=1).sum() for vector in errors])
    eligible = (won > 0) & (nowhere_worse == 1)
    shares = np.zeros(len(errors))
    for on_case in best.T:
        sharing = on_case & eligible
        shares[sharing] += won[sharing] / won[sharing].sum()
    return shares
