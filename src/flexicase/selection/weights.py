"""Case weights: biases, from a whole error matrix, and `CaseWeights`, learnt from pools.

Definitions follow Troise and Helmuth (GPTP XV, 2018): duplicates count, and weights are neither smoothed nor
normalised.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Literal, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import (
    as_number_array,
    check_choice,
    check_function,
    check_number,
    check_weights,
    did_you_mean,
    per_case,
    room_for,
    shown,
)
from flexicase.selection.matrix import CaseStatistics

Weights: TypeAlias = NDArray[np.float64]
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


def resolve_weights(bias: Bias, statistics: CaseStatistics) -> Weights:
    """(n_cases,) weights from a bias; explicit ones must not all be 0, those of a metric may."""
    n_cases = len(statistics.zeros)
    if isinstance(bias, str):
        values, name = BIASES[bias.replace("-", "_")](statistics), bias_name(bias)
        return check_weights(values, n_cases, f"{name} of the errors above what is solved")
    if callable(bias):
        return check_weights(bias(statistics), n_cases, bias_name(bias))
    return check_explicit_weights(bias, n_cases)


def bias_name(bias: str | BiasFunction) -> str:
    """What messages call a bias."""
    return f"bias {bias!r}" if isinstance(bias, str) else f"bias {getattr(bias, '__name__', type(bias).__name__)}()"


def is_explicit(bias: Bias) -> TypeGuard[ArrayLike]:
    """Whether these are the weights themselves, not a metric."""
    return not isinstance(bias, str) and not callable(bias)


def check_explicit_weights(weights: ArrayLike, n_cases: int) -> Weights:
    """Check (n_cases,) weights, or one number for all cases; at least one must be positive."""
    checked = check_weights(weights, n_cases, "bias")
    if n_cases and not checked.any():
        raise ValueError(f"bias must have at least one positive value, but all {n_cases} are 0")
    return checked


DefaultWeight: TypeAlias = Literal["max", "min"]


class CaseWeights:
    """The weight of every case, learnt from the pools that use it, within bounds.

    A named bias is taken of the pool's errors, plus 1. ``"split"`` is multiplied by the size of the pool first: a case
    that half of the pool solves weighs the pool's size + 1, one that all or none solve weighs 1. A function of
    `CaseStatistics` gives the weight as it is. If ``w_max`` is None, `with_bounds_for` sets it to the number of
    individuals + 1, and raises it later.

    Attributes:
        values: (n_cases,) the weights; ``default_weight`` of a case not used yet is ``"max"`` or ``"min"``.
        revision: Lets a native run recognise the ``values`` that it left; 0 if none did.
    """

    __slots__ = ("bias", "default_weight", "follows_population", "revision", "values", "w_max", "w_min")

    def __init__(
        self, n_cases: int, bias: str | BiasFunction, default_weight: DefaultWeight, w_min: float, w_max: float | None
    ) -> None:
        self.bias = bias.replace("-", "_") if isinstance(bias, str) else bias
        self.default_weight = check_choice(default_weight, "default_weight", ("max", "min"))
        self.w_min = check_number(w_min, "w_min")
        self.w_max = None if w_max is None else check_number(w_max, "w_max")
        self.follows_population = w_max is None
        if not 0.0 < self.w_min < math.inf:
            raise ValueError(f"w_min must be positive and finite, got {shown(w_min)}")
        if self.w_max is not None:
            check_upper_bound(self.w_max, self.w_min, n_cases)
        unseen = self.w_min if self.default_weight == "min" else (math.inf if self.w_max is None else self.w_max)
        self.values: Weights = room_for(n_cases, np.float64, "n_cases")
        self.values.fill(unseen)
        self.revision = 0

    def with_bounds_for(self, n_individuals: int) -> CaseWeights:
        """These weights, or, if ``w_max`` follows the population and this is the largest yet, a copy with it raised.

        With ``default_weight="max"``, cases that weigh ``w_max`` rise with it: unused cases, and those on which every
        individual counted.
        """
        largest = n_individuals + 1.0
        if self.w_max is not None and (not self.follows_population or largest <= self.w_max):
            return self
        check_upper_bound(largest, self.w_min, len(self.values))
        raised = self.copy()
        raised.w_max = largest
        if self.default_weight == "max" and self.w_max is not None:
            raised.values[raised.values == self.w_max] = largest
        np.minimum(raised.values, largest, out=raised.values)
        return raised

    def copy(self) -> CaseWeights:
        found = copy.copy(self)
        found.values, found.revision = self.values.copy(), 0
        return found

    def weight_of(self, errors: NDArray[np.float64]) -> float:
        """The new weight of a case, from the (pool,) errors on it."""
        zeros = len(errors) - int(np.count_nonzero(errors))
        if self.bias == "split":  # scaled before the division, so that no bit of it is lost
            weight = 4.0 * (zeros * (len(errors) - zeros)) / len(errors) + 1.0
        elif isinstance(self.bias, str):
            weight = float(np.asarray(BIASES[self.bias](CaseStatistics(errors[:, None], np.array([zeros]))))[0]) + 1.0
        else:
            pool = CaseStatistics(errors[:, None].copy(), np.array([zeros]))
            weight = float(per_case(self.bias(pool), 1, bias_name(self.bias))[0])
        if math.isnan(weight):
            raise ValueError(f"{bias_name(self.bias)} must be a number, got NaN for a pool of {len(errors)}")
        assert self.w_max is not None
        return min(max(weight, self.w_min), self.w_max)


def check_upper_bound(w_max: float, w_min: float, n_cases: int) -> None:
    """Whether ``w_max`` is a weight not below ``w_min`` that can be summed over all cases."""
    if not w_max >= w_min:
        raise ValueError(f"w_max must be at least w_min = {w_min:g}, got {w_max:g}")
    if not math.isfinite(w_max * max(n_cases, 1)):
        raise ValueError(f"w_max times the number of cases must be finite, got w_max = {w_max:g} and {n_cases} cases")
