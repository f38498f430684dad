"""What a selection kernel is told, and what it gives back: the seam between Python and native."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from flexicase._checks import room_for
from flexicase.rng import Key


class Ended(IntEnum):
    """Why a selection event stopped looking at cases."""

    ONE_LEFT = 0
    CASES_EXHAUSTED = 1
    CUT_SHORT = 2
    ELITE = 3


class Tolerance(Enum):
    """How far from the pool's best a survivor may be."""

    NONE = 0
    FIXED = 1
    MAD = 2
    DYNAMIC_MAD = 3


@dataclass(slots=True, kw_only=True, eq=False)
class KernelSpec:
    """One lexicase filter, with everything resolved to numbers.

    Attributes:
        weights: (n_cases,) case weights, or None for the uniform order.
        ranked: Whether the weights are used by ranked instead of weighted shuffle.
        tolerance: The filter.
        epsilon: (n_cases,) for `Tolerance.FIXED`.
        batch: Cases that are summed before each filtering.
        depth: Cases that an event looks at, at most.
        random_depth: Draw the depth anew for every event, uniformly from 1 … n_cases.
        slippage: Probability of ending an event before any one case.
    """

    weights: NDArray[np.float64] | None = None
    ranked: bool = False
    tolerance: Tolerance = Tolerance.NONE
    epsilon: NDArray[np.float64] | None = None
    batch: int = 1
    depth: int = 2**31 - 1
    random_depth: bool = False
    slippage: float = 0.0


@dataclass(slots=True, eq=False)
class Events:
    """The outcome of some selection events; counts are arrays of length 0 when they were not kept.

    Attributes:
        block: (4, n) or, without counts, (1, n): what the next four are rows of.
        indices: (n,) the chosen individuals.
        evaluations: (n,) sizes of the pool, summed over the cases looked at.
        evaluations_distinct: (n,) the same with one individual per distinct error vector.
        cases_used: (n,) cases looked at.
        ended: (n,) an `Ended` each.
        counted: Whether the counts were kept.
    """

    block: NDArray[np.int64]
    indices: NDArray[np.int64]
    evaluations: NDArray[np.int64]
    evaluations_distinct: NDArray[np.int64]
    cases_used: NDArray[np.int64]
    ended: NDArray[np.uint8]
    counted: bool

    @classmethod
    def empty(cls, n: int, counts: bool) -> Events:
        """Room for ``n`` events."""
        if not counts:
            block = room_for((1, n), np.int64, "n")
            return cls(block, block[0], NO_COUNTS, NO_COUNTS, NO_COUNTS, NO_REASONS, False)
        block = room_for((4, n), np.int64, "n")
        return cls(block, block[0], block[1], block[2], block[3], np.empty(n, np.uint8), True)


NO_COUNTS = np.empty(0, np.int64)
NO_REASONS = np.empty(0, np.uint8)


class Kernel(Protocol):
    """Draws selection events from one error matrix."""

    def draw(self, key: Key, events: range, counts: bool, threads: int) -> Events:
        """Run the events with these numbers."""
        ...
