"""Bias metrics: how heavy a case is, from the errors of the whole population on it.

Definitions follow Troise and Helmuth (GPTP XV, 2018): duplicates count, nothing is smoothed and
nothing is normalised. Heavier cases come earlier in a weighted or ranked order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import (
    as_number_array,
    check_choice,
    check_function,
    check_number,
    check_weights,
    did_you_mean,
    room_for,
    shown,
)

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
            raise ValueError(f"unknown bias {shown(bias)}{did_you_mean(bias[:80], BIASES)}")
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


PoolBias: TypeAlias = Literal["num_nonzeros", "num_zeros", "split"] | Callable[[NDArray[np.float64]], float]
Default: TypeAlias = Literal["max", "min"]
POOL_BIASES = ("num_nonzeros", "num_zeros", "split")


class CaseWeights:
    """The weight of every case, its bounds, and the rule that renews it.

    Args:
        n_cases: Number of cases.
        bias: ``"num_nonzeros"`` or ``"num_zeros"``, counted over the pool, plus 1; ``"split"``,
            4 · zeros · nonzeros / pool plus 1: pool + 1 for a case that half of the pool solves, 1
            for one that all or none do; or a callable from the (pool,) errors to a number.
        default: Whether cases nobody has looked at weigh ``"max"`` or ``"min"``.
        w_min: Smallest weight, above 0.
        w_max: Largest weight; None until `settle` sets it to the number of individuals + 1.

    Attributes:
        values: (n_cases,) the weights.
        version: By which a native run knows that it left ``values`` as they are; 0 if none did.

    Example:
        >>> import numpy as np
        >>> from flexicase.selection.weights import CaseWeights
        >>> weights = CaseWeights(3, "num_nonzeros", "min", 1.0, 5.0)
        >>> weights.values[1] = weights.of(np.array([0.0, 2.0, 7.0]))
        >>> weights.values.tolist()
        [1.0, 3.0, 1.0]
    """

    __slots__ = ("bias", "default", "values", "version", "w_max", "w_min")

    def __init__(self, n_cases: int, bias: PoolBias, default: Default, w_min: float, w_max: float | None) -> None:
        """Check the bounds and give every case the default weight."""
        self.bias = check_pool_bias(bias)
        self.default = check_choice(default, "default", ("max", "min"))
        self.w_min = check_number(w_min, "w_min")
        self.w_max = None if w_max is None else check_number(w_max, "w_max")
        if not 0.0 < self.w_min < math.inf:
            raise ValueError(f"w_min must be positive and finite, got {shown(w_min)}")
        if self.w_max is not None:
            check_upper_bound(self.w_max, self.w_min, n_cases)
        unseen = self.w_min if self.default == "min" else (math.inf if self.w_max is None else self.w_max)
        self.values: NDArray[np.float64] = room_for(n_cases, np.float64, "n_cases")
        self.values.fill(unseen)
        self.version = 0

    def settled(self, n_individuals: int) -> CaseWeights:
        """These weights, or, if ``w_max`` is not known yet, a copy in which it is."""
        if self.w_max is not None:
            return self
        copy = self.copy()
        copy.w_max = n_individuals + 1.0
        check_upper_bound(copy.w_max, copy.w_min, len(self.values))
        np.minimum(copy.values, copy.w_max, out=copy.values)
        return copy

    def copy(self) -> CaseWeights:
        """The same weights, to be renewed apart from these."""
        copy = object.__new__(CaseWeights)
        copy.bias, copy.default, copy.w_min, copy.w_max = self.bias, self.default, self.w_min, self.w_max
        copy.values, copy.version = self.values.copy(), 0
        return copy

    def of(self, errors: NDArray[np.float64]) -> float:
        """The new weight of a case.

        Args:
            errors: (pool,) results of the candidates in the pool.
        """
        if self.bias == "num_nonzeros":
            weight = float(np.count_nonzero(errors)) + 1.0
        elif self.bias == "num_zeros":
            weight = float(len(errors) - np.count_nonzero(errors)) + 1.0
        elif self.bias == "split":
            nonzeros = int(np.count_nonzero(errors))
            weight = 4.0 * ((len(errors) - nonzeros) * nonzeros) / len(errors) + 1.0
        else:
            weight = self._by_callable(errors)
        assert self.w_max is not None
        return min(max(weight, self.w_min), self.w_max)

    def _by_callable(self, errors: NDArray[np.float64]) -> float:
        assert callable(self.bias)
        return check_number(self.bias(errors.copy()), "what bias returns")


def check_pool_bias(bias: Any) -> PoolBias:
    """A built-in metric's name, or a callable."""
    if callable(bias):
        return check_function(bias, "bias", 1)  # type: ignore[no-any-return]
    if not isinstance(bias, str):
        raise TypeError(f"bias must be one of {', '.join(map(repr, POOL_BIASES))} or a callable, got {shown(bias)}")
    return check_choice(bias, "bias", POOL_BIASES)  # type: ignore[return-value]


def check_upper_bound(w_max: float, w_min: float, n_cases: int) -> None:
    """Whether ``w_max`` is a weight not below ``w_min`` that can be summed over all cases."""
    if not w_max >= w_min:
        raise ValueError(f"w_max must be at least w_min = {w_min:g}, got {w_max:g}")
    if not math.isfinite(w_max * max(n_cases, 1)):
        raise ValueError(f"w_max times the number of cases must be finite, got w_max = {w_max:g} and {n_cases} cases")
