"""Bias metrics: how heavy a case is, from the errors of the whole population on it.

Definitions follow Troise and Helmuth (GPTP XV, 2018): duplicates count, nothing is smoothed and
nothing is normalised. Heavier cases come earlier in a weighted or ranked order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import as_number_array, check_function, check_weights, nearest, shown

Weights: TypeAlias = NDArray[np.float64]

CASES_AT_A_TIME = 256


@dataclass(frozen=True)
class CaseStatistics:
    """What a bias may look at: per-case summaries of an error matrix, computed when asked for.

    Attributes:
        errors: (n_individuals, n_cases) the error matrix.
        zeros: (n_cases,) how many individuals have error exactly 0.

    Example:
        A bias of one's own weighs cases by how much the population disagrees on them:

        >>> import flexicase as fx
        >>> def disagreement(statistics: fx.CaseStatistics):
        ...     return statistics.variance
        >>> method = fx.Lexicase(order=fx.Weighted(disagreement))
        >>> fx.select([[0, 0], [0, 4]], 3, method, seed=1).indices.tolist()
        [0, 0, 0]
    """

    errors: NDArray[np.generic]
    zeros: NDArray[np.int64]

    @property
    def nonzeros(self) -> NDArray[np.int64]:
        """(n_cases,) how many individuals have an error other than 0."""
        return len(self.errors) - self.zeros

    @cached_property
    def average(self) -> Weights:
        """(n_cases,) mean error."""
        if self._squares_fit():
            return np.asarray(self.errors.sum(axis=0, dtype=np.int64) / len(self.errors))
        return self._per_case(lambda block: block.sum(axis=1) / block.shape[1])

    @cached_property
    def median(self) -> Weights:
        """(n_cases,) median error; the mean of the two middle values for an even population."""
        return self._per_case(lambda block: np.median(block, axis=1))

    @cached_property
    def variance(self) -> Weights:
        """(n_cases,) population variance of the errors."""
        if self._squares_fit():
            errors: NDArray[Any] = self.errors
            n, sums = len(errors), errors.sum(axis=0, dtype=np.int64)
            squares = np.einsum("ij,ij->j", errors, errors, dtype=np.int64)
            return np.asarray((n * squares - sums**2) / n**2)
        return self._per_case(lambda block: block.var(axis=1))

    @property
    def split(self) -> Weights:
        """(n_cases,) how evenly a case splits the population into error 0 and not: 1 half and half, 0 not at all.

        Four times the variance of right and wrong.
        """
        return 4.0 * (self.zeros * self.nonzeros) / max(len(self.errors), 1) ** 2

    def _per_case(self, summary: Callable[[Weights], Weights]) -> Weights:
        """Summarise sorted columns, so that neither memory layout nor the order of individuals shows in a rounding.

        Args:
            summary: From (k, n_individuals) sorted errors of k cases to their (k,) summaries.
        """
        n_cases = self.errors.shape[1]
        out = np.empty(n_cases)
        with np.errstate(over="ignore", invalid="ignore"):
            for start in range(0, n_cases, CASES_AT_A_TIME):
                columns = self.errors[:, start : start + CASES_AT_A_TIME].T.astype(np.float64, order="C")
                columns.sort(axis=1)
                out[start : start + CASES_AT_A_TIME] = summary(columns)
        return out

    def _squares_fit(self) -> bool:
        """Whether the errors are integers whose squares can be summed without rounding, so that equal metrics tie."""
        if self.errors.dtype.kind not in "biu" or self.errors.dtype == np.uint64 or not self.errors.size:
            return False
        largest = max(abs(int(self.errors.min())), abs(int(self.errors.max())))
        return (len(self.errors) * largest) ** 2 < 2**63


BiasFunction: TypeAlias = Callable[[CaseStatistics], ArrayLike]
Bias: TypeAlias = str | BiasFunction | ArrayLike


def _inverse(values: ArrayLike, at_zero: float) -> Weights:
    values = np.asarray(values, dtype=np.float64)
    inverses = np.full_like(values, at_zero)
    with np.errstate(over="ignore"):
        np.divide(1.0, values, out=inverses, where=values != 0)
    return inverses


BIASES: dict[str, BiasFunction] = {
    "num_zeros": lambda s: s.zeros,
    "num_nonzeros": lambda s: s.nonzeros,
    "average": lambda s: s.average,
    "median": lambda s: s.median,
    "variance": lambda s: s.variance,
    "split": lambda s: s.split,
    "num_zeros_inverse": lambda s: _inverse(s.zeros, at_zero=2.0),
    "num_nonzeros_inverse": lambda s: _inverse(s.nonzeros, at_zero=2.0),
    "average_inverse": lambda s: _inverse(s.average, at_zero=2.0),
    "median_inverse": lambda s: _inverse(s.median, at_zero=2.0),
    "variance_inverse": lambda s: _inverse(s.variance, at_zero=200.0),
}


def biases() -> list[str]:
    """Names of the built-in bias metrics.

    Example:
        >>> import flexicase as fx
        >>> fx.biases()[:2]
        ['num_zeros', 'num_nonzeros']
    """
    return list(BIASES)


def check_bias(bias: Bias) -> None:
    """Refuse what cannot be a bias before anything is computed."""
    if isinstance(bias, str):
        if bias.replace("-", "_") not in BIASES:
            raise ValueError(f"unknown bias {shown(bias)}{nearest(bias[:80], BIASES)}")
    elif callable(bias):
        check_function(bias, "bias", 1)
    elif as_number_array(bias, "bias").ndim > 1:
        raise ValueError(f"bias must be one number per case, got {np.ndim(bias)} dimensions")


def case_weights(bias: Bias, statistics: CaseStatistics) -> Weights:
    """The weight of every case.

    Args:
        bias: A name, a callable, or the weights themselves.
        statistics: The population's errors, summarised per case.

    Returns:
        (n_cases,) finite, non-negative weights.

    Raises:
        TypeError: The weights are not numbers.
        ValueError: The name is unknown, the weights are negative, not finite or of the wrong shape, or
            given outright and all 0 (a metric may come out as 0 everywhere).
    """
    n_cases = len(statistics.zeros)
    if isinstance(bias, str):
        check_bias(bias)
        return check_weights(BIASES[bias.replace("-", "_")](statistics), n_cases, f"bias {bias!r}")
    if callable(bias):
        name = getattr(bias, "__name__", type(bias).__name__)
        return check_weights(bias(statistics), n_cases, f"bias {name}()")
    return given_weights(bias, n_cases)


def is_given(bias: Bias) -> TypeGuard[ArrayLike]:
    """Whether these are the weights themselves, not a metric."""
    return not isinstance(bias, str) and not callable(bias)


def given_weights(weights: ArrayLike, n_cases: int) -> Weights:
    """Check weights that the user wrote down.

    Args:
        weights: (n_cases,) the weights, or one number for all cases.
        n_cases: How many cases there are.

    Returns:
        (n_cases,) finite, non-negative weights, one of them at least positive.
    """
    checked = check_weights(weights, n_cases, "bias")
    if n_cases and not checked.any():
        raise ValueError(f"bias must have at least one positive value, but all {n_cases} are 0")
    return checked
