"""Exact outcome distributions of lexicase selection, by brute force over all orders of the cases.

Plain textbook code in the standard library's arithmetic. Nothing here is taken from the package, and
nothing is clever, so that agreement means something.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections import defaultdict
from collections.abc import Iterator, Sequence

Row = Sequence[float]
Order = tuple[int, ...]
# index, evaluations, evaluations_distinct, cases_used, ended
Outcome = tuple[int, int, int, int, int]

ONE_LEFT, EXHAUSTED, CUT_SHORT = 0, 1, 2


def uniform_orders(n_cases: int) -> Iterator[tuple[Order, float]]:
    """Every permutation, all with the same probability."""
    for order in itertools.permutations(range(n_cases)):
        yield order, 1.0 / math.factorial(n_cases)


def weighted_orders(weights: Row) -> Iterator[tuple[Order, float]]:
    """Roulette wheel without replacement; once only zero weights remain, a plain shuffle."""
    for order in itertools.permutations(range(len(weights))):
        probability = 1.0
        remaining = list(range(len(weights)))
        for case in order:
            total = math.fsum(weights[c] for c in remaining)
            probability *= weights[case] / total if total > 0 else 1.0 / len(remaining)
            remaining.remove(case)
        yield order, probability


def first_rank_probability(rank: int, n: int) -> float:
    """That ranked shuffle picks this rank (1 is the heaviest) out of n."""
    return sum(1.0 / bound for bound in range(rank, n + 1)) / n


def ranked_orders(weights: Row) -> Iterator[tuple[Order, float]]:
    """Ranked shuffle, averaged over all ways to break ties."""
    groups = [[c for c, w in enumerate(weights) if w == level] for level in sorted(set(weights), reverse=True)]
    rankings = [list(itertools.chain(*parts)) for parts in itertools.product(*map(itertools.permutations, groups))]
    for order in itertools.permutations(range(len(weights))):
        yield order, statistics.fmean(_ranked_probability(order, ranking) for ranking in rankings)


def _ranked_probability(order: Order, ranking: list[int]) -> float:
    probability = 1.0
    remaining = list(ranking)
    for case in order:
        probability *= first_rank_probability(remaining.index(case) + 1, len(remaining))
        remaining.remove(case)
    return probability


def bias_weight(bias: str, column: Row) -> float:
    """The weight of a case under a named bias metric."""
    zeros = sum(1 for e in column if e == 0)
    values = {
        "num_zeros": float(zeros),
        "num_nonzeros": float(len(column) - zeros),
        "average": statistics.fmean(column),
        "median": float(statistics.median(column)),
        "variance": float(statistics.pvariance(column)),
        "split": 4.0 * statistics.pvariance([float(e != 0) for e in column]),
    }
    if bias in values:
        return values[bias]
    value = values[bias.removesuffix("_inverse")]
    return 1.0 / value if value != 0 else (200.0 if bias == "variance_inverse" else 2.0)


def mad(values: Row) -> float:
    """Median absolute deviation."""
    middle = statistics.median(values)
    return statistics.median([abs(v - middle) for v in values])


def passes(errors: Sequence[Row]) -> list[list[int]]:
    """Static epsilon: 0 within the column's MAD of the best of all, else 1."""
    columns = list(zip(*errors, strict=True))
    return [[int(row[c] > min(columns[c]) + mad(columns[c])) for c in range(len(columns))] for row in errors]


def outcomes(
    errors: Sequence[Row],
    orders: Iterator[tuple[Order, float]],
    *,
    epsilon: float | Row | str | None = None,
    batch: int = 1,
    depth: int | str | None = None,
    slippage: float = 0.0,
) -> dict[Outcome, float]:
    """The probability of every possible outcome of one selection event.

    Args:
        errors: (n_individuals, n_cases) errors.
        orders: Every order with its probability.
        epsilon: None, a number, one per case, or "static", "semi-dynamic" or "dynamic" for MAD.
        batch: Cases summed before each filtering.
        depth: Cases looked at, at most; "random" for uniform on 1 … n_cases.
        slippage: Probability of ending before each filtering.
    """
    n_cases = len(errors[0])
    if epsilon == "static":
        errors, epsilon = passes(errors), None
    if epsilon == "semi-dynamic":
        epsilon = [mad(column) for column in zip(*errors, strict=True)]
    elif isinstance(epsilon, int | float):
        epsilon = [float(epsilon)] * n_cases
    depths = (
        range(1, n_cases + 1) if depth == "random" and n_cases else [n_cases if depth in (None, "random") else depth]
    )
    found: defaultdict[Outcome, float] = defaultdict(float)
    for order, probability in orders:
        for limit in depths:
            looked_at = order[: int(limit)]
            batches = [looked_at[i : i + batch] for i in range(0, len(looked_at), batch)]
            for outcome, p in _event(errors, batches, epsilon, slippage):
                found[outcome] += p * probability / len(depths)
    return dict(found)


def _event(
    errors: Sequence[Row], batches: list[Order], epsilon: Row | str | None, slippage: float
) -> Iterator[tuple[Outcome, float]]:
    pool = list(range(len(errors)))
    evaluations = distinct_evaluations = used = 0
    going_on = 1.0
    for cases in batches:
        if len(pool) == 1:
            break
        if slippage:
            yield from _picks(pool, going_on * slippage, (evaluations, distinct_evaluations, used, CUT_SHORT))
            going_on *= 1.0 - slippage
        distinct = len({tuple(errors[i]) for i in pool})
        evaluations += len(pool) * len(cases)
        distinct_evaluations += distinct * len(cases) if distinct > 1 else 0
        used += len(cases)
        pool = _survivors(errors, pool, cases, epsilon)
    if len(pool) > 1 and slippage:  # the coin is also thrown before finding that no cases are left
        yield from _picks(pool, going_on * slippage, (evaluations, distinct_evaluations, used, CUT_SHORT))
        going_on *= 1.0 - slippage
    ended = ONE_LEFT if len(pool) == 1 else EXHAUSTED if used == len(errors[0]) else CUT_SHORT
    yield from _picks(pool, going_on, (evaluations, distinct_evaluations, used, ended))


def _picks(pool: list[int], probability: float, counts: tuple[int, int, int, int]) -> Iterator[tuple[Outcome, float]]:
    for individual in pool:
        yield (individual, *counts), probability / len(pool)


def _survivors(errors: Sequence[Row], pool: list[int], cases: Order, epsilon: Row | str | None) -> list[int]:
    totals = [sum(errors[i][c] for c in cases) for i in pool]
    if epsilon is None:
        allowance = 0.0
    elif epsilon == "dynamic":
        allowance = mad(totals)
    else:
        allowance = sum(epsilon[c] for c in cases)
    limit = min(totals) + allowance
    return [i for i, total in zip(pool, totals, strict=True) if total <= limit]


def selection_probabilities(found: dict[Outcome, float], n_individuals: int) -> list[float]:
    """Each individual's chance of being selected."""
    chances = [0.0] * n_individuals
    for outcome, p in found.items():
        chances[outcome[0]] += p
    return chances
