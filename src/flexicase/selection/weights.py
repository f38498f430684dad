"""Case weights that are learnt while selecting (paper, section 3 and Algorithm 1).

Only cases that an event looks at get a new weight. It is computed from the results of the
candidates in the pool at that moment, before they are filtered, and kept within [w_min, w_max].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flexicase._checks import check_choice, check_function, check_number, room_for, shown

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
            check_largest(self.w_max, self.w_min, n_cases)
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
        check_largest(copy.w_max, copy.w_min, len(self.values))
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


def check_largest(w_max: float, w_min: float, n_cases: int) -> None:
    """Whether ``w_max`` is a weight not below ``w_min`` that can be summed over all cases."""
    if not w_max >= w_min:
        raise ValueError(f"w_max must be at least w_min = {w_min:g}, got {w_max:g}")
    if not math.isfinite(w_max * max(n_cases, 1)):
        raise ValueError(f"w_max times the number of cases must be finite, got w_max = {w_max:g} and {n_cases} cases")
