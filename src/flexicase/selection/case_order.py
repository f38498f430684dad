"""The cases of one selection event, handed out as far as they are needed."""

from __future__ import annotations

import itertools
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flexicase.rng import Key
from flexicase.selection.orders import ranked_order, uniform_order, weighted_order

OrderName: TypeAlias = Literal["weighted", "ranked", "uniform"]
ORDERS = ("weighted", "ranked", "uniform")


class CaseOrder:
    """One event's order, drawn with the weights as they stand when the event begins.

    Args:
        order: Which shuffle.
        key: The selection's key.
        event: Number of the selection event.
        weights: (n_cases,) positive; copied where they are needed later.
    """

    def __init__(self, order: str, key: Key, event: int, weights: NDArray[np.float64]) -> None:
        """Start at the first case."""
        if order == "ranked":
            self._cases = ranked_order(key, event, weights.copy())
        elif order == "uniform":
            self._cases = iter(uniform_order(key, event, len(weights)).tolist())
        else:
            self._cases = iter(weighted_order(key, event, weights).tolist() if len(weights) else [])

    def take(self, count: int) -> NDArray[np.int64]:
        """The next cases: (count,) of them, or as many as are left."""
        return np.array(list(itertools.islice(self._cases, count)), dtype=np.int64)
