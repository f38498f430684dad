"""Epsilon: how far from the best error a candidate may be and still pass a case.

La Cava, Spector and Danai (GECCO 2016); La Cava, Helmuth, Spector and Moore (ECJ 2019), who name the three variants.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from flexicase._checks import as_number_array, check_choice, shown


class EpsilonKind(Enum):
    """Where epsilon comes from; the values are those of the native code."""

    NONE = 0
    FIXED = 1
    MAD = 2
    DYNAMIC_MAD = 3


MadMode: TypeAlias = Literal["static", "semi-dynamic", "dynamic"]
MAD_MODES = get_args(MadMode)


@dataclass(frozen=True, slots=True)
class MadEpsilon:
    """Epsilon is the median absolute deviation of the errors on a case.

    Attributes:
        mode: ``"static"``: an individual passes a case if it is within epsilon of the best of the whole population, and
            lexicase runs on pass/fail. ``"semi-dynamic"``: epsilon from the whole population, the best from the pool.
            ``"dynamic"``: both from the pool, in which duplicates count.

    Example:
        The third individual is too far from the best to survive any case:

        >>> import flexicase as fx
        >>> errors = [[0.0, 0.1], [0.1, 0.0], [5.0, 5.0]]
        >>> chosen = fx.select(errors, 50, fx.Lexicase(epsilon=fx.MadEpsilon("dynamic")), seed=1).indices
        >>> sorted(set(chosen.tolist()))
        [0, 1]
    """

    mode: MadMode = "semi-dynamic"

    def __post_init__(self) -> None:
        check_choice(self.mode, "mode", MAD_MODES)


Epsilon: TypeAlias = float | ArrayLike | str | MadEpsilon | None


def resolve_epsilon(epsilon: Epsilon) -> NDArray[np.float64] | MadEpsilon | None:
    """Turn anything accepted as ``epsilon=`` into an array of no or one dimension, a `MadEpsilon` or None."""
    if epsilon is None or isinstance(epsilon, MadEpsilon):
        return epsilon
    if isinstance(epsilon, str):
        check_choice(epsilon, "epsilon", ["mad", *(f"mad-{mode}" for mode in MAD_MODES)])
        return MadEpsilon() if epsilon == "mad" else MadEpsilon(epsilon.removeprefix("mad-"))  # type: ignore[arg-type]
    try:
        given = as_number_array(epsilon, "epsilon")
        if given.dtype == np.bool_:
            raise TypeError
    except TypeError:
        raise TypeError(f"epsilon must be a number, one number per case, 'mad' or None, got {shown(epsilon)}") from None
    if given.ndim > 1:
        raise ValueError(f"epsilon must be a number or one number per case, got shape {given.shape}")
    values = given.astype(np.float64)
    bad = np.flatnonzero(~(values >= 0))
    if len(bad):
        where = f" for case {bad[0]}" if values.ndim else ""
        raise ValueError(f"epsilon must not be negative or NaN, got {float(values.flat[bad[0]])}{where}")
    return values


def median(values: NDArray[np.float64]) -> float:
    """The median of numbers without NaN; between -inf and inf it is inf. Twin of native/select/isa/median.hpp."""
    ordered = np.sort(values)
    k = len(ordered)
    if k % 2:
        return float(ordered[k // 2])
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float((ordered[k // 2 - 1] + ordered[k // 2]) / 2.0)
    return math.inf if math.isnan(mean) else mean


def median_absolute_deviation(values: NDArray[np.float64]) -> float:
    """MAD of some errors; an infinite error deviates by 0 from an infinite median."""
    middle = median(values)
    with np.errstate(invalid="ignore", over="ignore"):
        return median(np.where(values == middle, 0.0, np.abs(values - middle)))
