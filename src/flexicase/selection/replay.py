"""Algorithm 1 replayed over a block of errors that were computed together.

The native twin is native/select/fast/replay.cpp.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from flexicase.selection.epsilon import median_absolute_deviation
from flexicase.selection.weights import CaseWeights


@dataclass(frozen=True, slots=True, eq=False)
class Replayed:
    """What one block did to the pool.

    Attributes:
        survivors: (k,) rows of the block that are still in the pool.
        visited: How many of the block's cases were looked at.
        evaluations: Sizes of the pool before each of them, summed.
        fresh_used: How many of the pairs looked at had been computed for this block.
        last_filter: Position of the last case that removed anybody, or None.
        stopped: Whether the last case looked at is one that nobody in the pool solved, and that ends the event.
    """

    survivors: NDArray[np.int64]
    visited: int
    evaluations: int
    fresh_used: int
    last_filter: int | None
    stopped: bool = False


def replay(
    block: NDArray[np.float64],
    fresh: NDArray[np.bool_],
    cases: NDArray[np.int64],
    weights: CaseWeights,
    *,
    epsilon: NDArray[np.float64] | None,
    mad: bool,
    stops: bool = False,
) -> Replayed:
    """Look at the cases one after another until one candidate is left.

    Args:
        block: (m, b) errors of the pool on the next cases.
        fresh: (m, b) which of them were computed for this block.
        cases: (b,) the cases; those looked at get a new weight.
        weights: The weights to renew.
        epsilon: (b,) how far from the best a survivor may be on each case; None: not at all.
        mad: Use the median absolute deviation of the pool instead.
        stops: Whether a case on which nobody in the pool has error 0 ends the event.
    """
    rows = np.arange(len(block))
    visited = evaluations = fresh_used = 0
    last_filter = None
    for j, case in enumerate(cases.tolist()):
        if len(rows) == 1:
            break
        errors = block[rows, j]
        weights.values[case] = weights.of(errors)
        visited += 1
        evaluations += len(rows)
        fresh_used += int(np.count_nonzero(fresh[rows, j]))
        if stops and errors.all():
            return Replayed(rows, visited, evaluations, fresh_used, last_filter, stopped=True)
        limit = errors.min()
        if mad:
            limit += median_absolute_deviation(errors)
        elif epsilon is not None:
            limit += epsilon[j]
        with np.errstate(invalid="ignore"):
            close = ~(errors > limit)
        if not close.all():
            rows, last_filter = rows[close], j
    return Replayed(rows, visited, evaluations, fresh_used, last_filter)
