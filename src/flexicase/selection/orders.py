"""Orders: the sequence in which a selection event uses the cases (paper, section 2.3).

Every event draws a new order, by weights that are computed once, from the whole population.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from flexicase.rng import MASK32, Key, Lane, Stream, case_keys, event_state, exponential_keys, lane_state
from flexicase.selection.weights import Bias, check_bias


class OrderKind(IntEnum):
    """The shuffle of an order; the values are those of the native code."""

    UNIFORM = 0
    WEIGHTED = 1
    RANKED = 2


@dataclass(frozen=True, slots=True)
class Uniform:
    """Every permutation of the cases is equally likely: plain lexicase selection.

    Example:
        >>> import flexicase as fx
        >>> fx.Lexicase(order=fx.Uniform()).order
        Uniform()
    """

    kind: ClassVar = OrderKind.UNIFORM


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """Weighted shuffle: a roulette wheel without replacement; cases of weight 0 come last.

    Attributes:
        bias: A bias's name (`flexicase.biases()` lists them), a function from `CaseStatistics` to (n_cases,) weights,
            or the weights themselves.

    Example:
        The first case has all the weight, so it always comes first:

        >>> import flexicase as fx
        >>> method = fx.Lexicase(order=fx.Weighted([1.0, 0.0]))
        >>> fx.select([[0, 9], [1, 0]], 3, method, seed=1).indices.tolist()
        [0, 0, 0]
    """

    kind: ClassVar = OrderKind.WEIGHTED
    bias: Bias = "num_nonzeros"

    def __post_init__(self) -> None:
        check_bias(self.bias)


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """Ranked shuffle: rank the remaining cases by weight, draw an upper bound, draw a rank up to it, and repeat.

    Rank 1 is the largest weight; equal weights are ranked in random order, drawn for every event.

    Attributes:
        bias: As for `Weighted`.

    Example:
        Of two cases the heavier comes first with probability 1/2 + 1/4:

        >>> import flexicase as fx
        >>> method = fx.Lexicase(order=fx.Ranked([9.0, 1.0]))
        >>> chosen = fx.select([[0, 1], [1, 0]], 10_000, method, seed=1).indices
        >>> bool(0.73 < (chosen == 0).mean() < 0.77)
        True
    """

    kind: ClassVar = OrderKind.RANKED
    bias: Bias = "num_nonzeros"

    def __post_init__(self) -> None:
        check_bias(self.bias)


Order: TypeAlias = Uniform | Weighted | Ranked


MAX_PREFIX_CASES = 16
MAX_PREFIX_DRAWS = 24


def draw_prefix(draw: Callable[[], int], n_cases: int) -> list[int]:
    """Draw the first cases of an order: at most 16 different cases, in at most 24 draws.

    Where the prefix ends does not change the distribution of the order: the rest depends only on the cases left.
    """
    head: list[int] = []
    for _ in range(MAX_PREFIX_DRAWS):
        case = draw()
        if case not in head:
            head.append(case)
        if len(head) == min(MAX_PREFIX_CASES, n_cases):
            break
    return head


def uniform_order(key: Key, event: int, n_cases: int) -> NDArray[np.int64]:
    """Draw a uniformly random (n_cases,) permutation: a prefix, then the others sorted by random keys."""
    keys = case_keys(lane_state(event_state(key, event), Lane.KEYS), n_cases).astype(np.int64)
    if n_cases:
        stream = Stream.of(key, event, Lane.HEAD)
        head = draw_prefix(lambda: stream.bounded(n_cases), n_cases)
        keys[head] = np.arange(-len(head), 0)
    return np.argsort(keys, kind="stable")


def weighted_order(key: Key, event: int, weights: NDArray[np.float64]) -> NDArray[np.int64]:
    """Draw an (n_cases,) order by weighted shuffle; weights are not negative, the largest is 1.

    The prefix spins the wheel; the others run a race of exponential clocks, which has the same distribution.
    """
    state = event_state(key, event)
    clocks = np.full(len(weights), np.inf)
    np.divide(exponential_keys(state, len(weights)), weights, out=clocks, where=weights > 0)
    wheel = np.cumsum(weights)
    stream = Stream.of(key, event, Lane.HEAD)
    head = draw_prefix(lambda: int(np.searchsorted(wheel, stream.unit() * wheel[-1], side="right")), len(weights))
    clocks[head] = np.arange(-len(head), 0)
    return np.lexsort((case_keys(lane_state(state, Lane.KEYS), len(weights)), clocks))


def ranked_order(key: Key, event: int, weights: NDArray[np.float64]) -> Iterator[int]:
    """Draw an order by ranked shuffle, one case at a time."""
    stream = Stream.of(key, event, Lane.RANKED)
    ties = [list(np.flatnonzero(weights == w)) for w in np.unique(weights)[::-1]]
    for remaining in range(len(weights), 0, -1):
        word = stream.word()
        bound = stream.bounded32(word >> 32, remaining)
        position = stream.bounded32(word & MASK32, bound + 1)
        for tied in ties:
            if position < len(tied):
                break
            position -= len(tied)
        chosen = stream.bounded(len(tied)) if len(tied) > 1 else 0
        tied[chosen], tied[-1] = tied[-1], tied[chosen]
        yield int(tied.pop())


def draw_order(
    kind: OrderKind, key: Key, event: int, n_cases: int, weights: NDArray[np.float64] | None
) -> Iterator[int]:
    """Draw the order of one event, by the (n_cases,) weights as they are now; None for the uniform order."""
    if kind is OrderKind.UNIFORM or weights is None or not n_cases:
        return iter(uniform_order(key, event, n_cases).tolist())
    if kind is OrderKind.RANKED:
        return ranked_order(key, event, weights.copy())
    return iter(weighted_order(key, event, weights).tolist())


def first_case_probabilities(order: OrderKind, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n_cases,) the probability of each case to come first in an order with these weights.

    In a ranked order, rank p of n comes first with probability (1/n)(1/p + 1/(p+1) + … + 1/n); cases of equal weight
    share the probability of their ranks.

    >>> first_case_probabilities(OrderKind.WEIGHTED, np.array([3.0, 1.0, 0.0])).tolist()
    [0.75, 0.25, 0.0]
    >>> first_case_probabilities(OrderKind.RANKED, np.array([9.0, 4.0, 1.0, 0.0])).round(4).tolist()
    [0.5208, 0.2708, 0.1458, 0.0625]
    """
    n = len(weights)
    if order is OrderKind.RANKED:
        by_rank = np.cumsum(1 / np.arange(n, 0, -1))[::-1] / max(n, 1)
        _, group = np.unique(-weights, return_inverse=True)
        ranks_of_group = np.sort(group)
        shared = np.bincount(ranks_of_group, weights=by_rank) / np.bincount(ranks_of_group)
        return np.asarray(shared[group], dtype=np.float64)
    total = weights.sum()
    if order is OrderKind.UNIFORM or total == 0:
        return np.full(n, 1 / max(n, 1))
    return np.asarray(weights / total)
