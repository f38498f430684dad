"""An oracle for tests: every order of the cases with its probability, and what comes of each.

Written from the definitions alone and with nothing from the package; for at most six cases or so.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Orders = list[tuple[tuple[int, ...], float]]


def enumerate_orders(kind: str, weights: Sequence[float] | int) -> Orders:
    """All orders that can happen, each with its probability.

    Args:
        kind: ``"uniform"``, ``"weighted"`` or ``"ranked"``.
        weights: One per case; for the uniform order, how many cases there are will do.
    """
    values = [1.0] * weights if isinstance(weights, int) else list(map(float, weights))
    cases = frozenset(range(len(values)))
    if kind == "uniform":
        return list(_draw_one_by_one(cases, lambda left: dict.fromkeys(left, 1 / len(left))))
    if kind == "weighted":
        return list(_draw_one_by_one(cases, lambda left: _wheel(left, values)))
    return _ranked_orders(values)


def _draw_one_by_one(left: frozenset[int], chances: Callable[[frozenset[int]], dict[int, float]]) -> Orders:
    if not left:
        return [((), 1.0)]
    return [
        ((case, *rest), p * q)
        for case, p in chances(left).items()
        if p > 0
        for rest, q in _draw_one_by_one(left - {case}, chances)
    ]


def _wheel(left: frozenset[int], weights: list[float]) -> dict[int, float]:
    total = sum(weights[c] for c in left)
    return {c: weights[c] / total if total > 0 else 1 / len(left) for c in left}


def _ranked_orders(weights: list[float]) -> Orders:
    """Break the ties in every way, then draw positions: an upper bound, and one not above it."""
    levels = sorted(set(weights), reverse=True)
    tied = [[c for c, w in enumerate(weights) if w == level] for level in levels]
    rankings = [tuple(itertools.chain(*parts)) for parts in itertools.product(*map(itertools.permutations, tied))]
    found: dict[tuple[int, ...], float] = {}
    for ranking in rankings:
        for order, p in _positions(ranking):
            found[order] = found.get(order, 0.0) + p / len(rankings)
    return list(found.items())


def _positions(ranking: tuple[int, ...]) -> Orders:
    n = len(ranking)
    if n == 0:
        return [((), 1.0)]
    return [
        ((ranking[at], *rest), sum(1 / bound for bound in range(at + 1, n + 1)) / n * q)
        for at in range(n)
        for rest, q in _positions(ranking[:at] + ranking[at + 1 :])
    ]


def exact_outcome(
    errors: Any,
    orders: Orders,
    *,
    epsilon: float | Sequence[float] | str | None = None,
    batch_size: int = 1,
    max_cases: int | str | None = None,
    slippage: float = 0.0,
) -> tuple[np.ndarray, float, float, float]:
    """What selection gives on average over all orders.

    Args:
        errors: (n_individuals, n_cases) errors.
        orders: From `enumerate_orders`.
        epsilon: A number, one per case, ``"mad"`` (semi-dynamic), ``"mad-static"``, ``"mad-dynamic"`` or None.
        batch_size: Cases summed before each filtering.
        max_cases: Cases looked at, at most; ``"random"`` for each number equally often.
        slippage: Probability of stopping before each filtering.

    Returns:
        (n_individuals,) probabilities, and the expected evaluations, evaluations_distinct and cases_used.
    """
    rows = [[float(x) for x in row] for row in np.asarray(errors)]
    n_cases = np.asarray(errors).shape[1]
    if epsilon == "mad-static":
        limits = [min(column) + _mad(column) for column in zip(*rows, strict=True)]
        rows = [[float(x > limit) for x, limit in zip(row, limits, strict=True)] for row in rows]
        epsilon = None
    tolerance = _tolerance(rows, n_cases, epsilon)
    depths = (
        range(1, n_cases + 1) if max_cases == "random" and n_cases else [n_cases if max_cases is None else max_cases]
    )
    depths = [0 if d == "random" else min(int(d), n_cases) for d in depths]
    probabilities = np.zeros(len(rows))
    means = np.zeros(3)
    for order, p in orders:
        for cut in depths:
            outcome, counts = _follow(rows, order[:cut], tolerance, batch_size, slippage)
            probabilities += outcome * p / len(depths)
            means += counts * p / len(depths)
    return probabilities, *map(float, means)


def _follow(
    rows: list[list[float]],
    order: tuple[int, ...],
    tolerance: Callable[[list[int], list[float]], float],
    batch_size: int,
    slippage: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Who is selected with which probability if the order is this one, and the expected counts."""
    probabilities, counts = np.zeros(len(rows)), np.zeros(3)
    pool, rest, stays = list(range(len(rows))), list(order), 1.0
    while len(pool) > 1:
        probabilities[pool] += stays * slippage / len(pool)
        stays *= 1 - slippage
        if not rest:
            break
        now, rest = rest[:batch_size], rest[batch_size:]
        distinct = len({tuple(rows[i]) for i in pool})
        counts += stays * len(now) * np.array([len(pool), distinct if distinct > 1 else 0, 1])
        sums = [sum(rows[i][c] for c in now) for i in pool]
        limit = min(sums) + tolerance(now, sums)
        pool = [i for i, total in zip(pool, sums, strict=True) if total <= limit]
    probabilities[pool] += stays / len(pool)
    return probabilities, counts


def _tolerance(rows: list[list[float]], n_cases: int, epsilon: Any) -> Callable[[list[int], list[float]], float]:
    if epsilon == "mad-dynamic":
        return lambda now, sums: _mad(sums)
    if epsilon == "mad":
        fixed = [_mad([row[c] for row in rows]) for c in range(n_cases)]
    elif epsilon is None:
        fixed = [0.0] * n_cases
    else:
        fixed = list(np.broadcast_to(np.asarray(epsilon, dtype=float), n_cases))
    return lambda now, sums: sum(fixed[c] for c in now)


def _mad(values: Sequence[float]) -> float:
    middle = statistics.median(values)
    return statistics.median([0.0 if v == middle else abs(v - middle) for v in values])
