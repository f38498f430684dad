"""Lexicase variants, each as the package spells it and as the oracle does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import flexicase as fx
from tests.selection import oracle

BIAS_NAMES = (
    "num_zeros",
    "num_nonzeros",
    "average",
    "median",
    "variance",
    "split",
    "num_zeros_inverse",
    "num_nonzeros_inverse",
    "average_inverse",
    "median_inverse",
    "variance_inverse",
)


@dataclass(frozen=True)
class Variant:
    """One member of the family."""

    order: str = "uniform"
    bias: str | tuple[float, ...] = "num_nonzeros"
    epsilon: float | tuple[float, ...] | str | None = None
    batch: int = 1
    depth: int | str | None = None
    slippage: float = 0.0

    def __str__(self) -> str:
        """Its distinguishing marks, as a test's id."""
        changed = {k: v for k, v in vars(self).items() if v != getattr(Variant, k)}
        if self.order == "uniform":
            changed.pop("bias", None)
        return "-".join(f"{k}={v}" for k, v in changed.items()) or "plain"

    def method(self) -> fx.Lexicase:
        """As the package spells it."""
        epsilon = fx.MadEpsilon(self.epsilon) if isinstance(self.epsilon, str) else self.epsilon
        order = {"uniform": fx.Uniform, "weighted": fx.Weighted, "ranked": fx.Ranked}[self.order]
        return fx.Lexicase(
            order=order() if self.order == "uniform" else order(self.bias),
            epsilon=epsilon,
            batch_size=self.batch,
            max_cases=self.depth,
            slippage=self.slippage,
        )

    def outcomes(self, errors: np.ndarray) -> dict[oracle.Outcome, float]:
        """Exact probabilities of all outcomes."""
        rows = errors.tolist()
        return oracle.outcomes(
            rows,
            self._orders(rows),
            epsilon=self.epsilon,
            batch=self.batch,
            depth=self.depth,
            slippage=self.slippage,
        )

    def _orders(self, rows: list[list[float]]) -> Iterator[tuple[oracle.Order, float]]:
        if self.order == "uniform":
            return oracle.uniform_orders(len(rows[0]))
        weights = self.bias
        if isinstance(weights, str):
            weights = tuple(oracle.bias_weight(weights, column) for column in zip(*rows, strict=True))
        return (oracle.ranked_orders if self.order == "ranked" else oracle.weighted_orders)(weights)
