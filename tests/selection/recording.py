"""An evaluator that keeps a record, for the tests of partial evaluation."""

from __future__ import annotations

import itertools

import numpy as np

import flexicase as fx


class Evaluator:
    """Looks errors up, and keeps a record of what was asked for."""

    def __init__(self, errors) -> None:
        self.errors = np.asarray(errors)
        self.asked: list[tuple[list[int], list[int]]] = []

    def __call__(self, individuals: np.ndarray, cases: np.ndarray) -> np.ndarray:
        assert individuals.dtype == cases.dtype == np.int64
        self.asked.append((individuals.tolist(), cases.tolist()))
        return self.errors[np.ix_(individuals, cases)]

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return [pair for asked in self.asked for pair in itertools.product(*asked)]


def method_of(order: str = "weighted", bias: object = "num_nonzeros", epsilon: object = None) -> fx.Lexicase:
    """A lexicase method from the parts that Fast Lexicase can use."""
    orders = {"uniform": fx.Uniform(), "weighted": fx.Weighted(bias), "ranked": fx.Ranked(bias)}
    return fx.Lexicase(order=orders[order], epsilon=epsilon)


def outcome(s: fx.FastSelection) -> list[list[int]]:
    return [a.tolist() for a in (s.indices, s.evaluations, s.cases_used, s.ended)]
