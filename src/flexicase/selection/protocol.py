"""What a selection kernel is told, and what it gives back: the seam between Python and native."""

from __future__ import annotations

import os
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from flexicase._checks import check_choice, room_for
from flexicase.rng import Key

if TYPE_CHECKING:
    from flexicase.selection.matrix import ErrorMatrix


Backend: TypeAlias = Literal["native", "reference"]


def resolve_backend(backend: Backend | None) -> Backend:
    """The back end to use: the argument, else the environment variable, else native."""
    if backend is None:
        backend = os.environ.get("FLEXICASE_BACKEND", "native")  # type: ignore[assignment]
        if backend == "native":
            return "native"
    return check_choice(backend, "backend", ("native", "reference"))  # type: ignore[return-value]


class Ended(IntEnum):
    """Why a selection event stopped looking at cases."""

    ONE_LEFT = 0
    CASES_EXHAUSTED = 1
    CUT_SHORT = 2
    ELITE = 3


class EpsilonKind(Enum):
    """How far from the pool's best a survivor may be."""

    NONE = 0
    FIXED = 1
    MAD = 2
    DYNAMIC_MAD = 3


@dataclass(slots=True, kw_only=True, eq=False)
class ResolvedLexicase:
    """One lexicase filter, with everything resolved to numbers.

    Attributes:
        weights: (n_cases,) case weights, or None for the uniform order.
        ranked: Whether the weights are used by ranked instead of weighted shuffle.
        tolerance: The filter.
        epsilon: (n_cases,) for `EpsilonKind.FIXED`.
        batch: Cases that are summed before each filtering.
        depth: Cases that an event looks at, at most.
        random_depth: Draw the depth anew for every event, uniformly from 1 … n_cases.
        slippage: Probability of ending an event before any one case.
    """

    weights: NDArray[np.float64] | None = None
    ranked: bool = False
    tolerance: EpsilonKind = EpsilonKind.NONE
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


@runtime_checkable
class Method(Protocol):
    """A selection method: prepares a kernel for one error matrix.

    Example:
        >>> import flexicase as fx
        >>> isinstance(fx.Lexicase(), fx.Method)
        True
    """

    def prepare(self, matrix: ErrorMatrix, key: Key, backend: Backend) -> Kernel:
        """A kernel that draws events from ``matrix``."""
        ...


@dataclass(slots=True, eq=False)
class Selection:
    """The outcome of ``n`` selection events.

    The counts are None when they were not asked for (``counts=False``) and for methods that do
    not look at cases one after another.

    Attributes:
        indices: (n,) int64, the chosen parents.
        evaluations: (n,) int64, the paper's measure: sizes of the pool summed over the cases
            looked at, before each (10, then 3, then 1 left: 10 + 3 = 13).
        evaluations_distinct: (n,) int64, the same with one individual per distinct error vector.
        cases_used: (n,) int64, how many cases were looked at.
        ended: (n,) uint8, why the event ended: 0 one candidate left, 1 cases exhausted (random
            choice among those left), 2 cut short by a depth limit or slippage, 3 an elite.

    Example:
        >>> import flexicase as fx
        >>> s = fx.select([[0, 1], [0, 0], [1, 1]], 1, fx.Lexicase(order=fx.Weighted([1, 0])), seed=1)
        >>> s.indices.tolist(), s.evaluations.tolist(), s.cases_used.tolist()
        ([1], [5], [2])
    """

    indices: NDArray[np.int64]
    evaluations: NDArray[np.int64] | None = None
    evaluations_distinct: NDArray[np.int64] | None = None
    cases_used: NDArray[np.int64] | None = None
    ended: NDArray[np.uint8] | None = None

    def __len__(self) -> int:
        """How many parents were chosen."""
        return len(self.indices)
