"""Orders of cases against their exact probabilities, and against the definition of the ranked shuffle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

import numpy as np
import pytest

from flexicase.rng import Key
from flexicase.selection.orders import ranked_order, uniform_order, weighted_order
from tests.selection import oracle
from tests.selection._helpers import LEAST_P, chi_square_p

DRAWS = 4000


def counted(draw: Callable[[int], Iterable[int]], n: int = DRAWS) -> Counter[tuple[int, ...]]:
    return Counter(tuple(int(c) for c in draw(event)) for event in range(n))


def test_uniform_orders_are_all_equally_likely() -> None:
    seen = counted(lambda e: uniform_order(Key(1, 2), e, 4))
    assert chi_square_p(seen, dict(oracle.uniform_orders(4))) > LEAST_P


@pytest.mark.slow
@pytest.mark.parametrize(
    "weights", [(1, 1, 1, 1), (1, 0.5, 0.25, 0.125), (0.2, 0, 1, 0), (0, 1, 0, 0), (1e-3, 1, 0.3, 0), (1,)], ids=str
)
def test_weighted_orders_are_a_roulette_wheel_without_replacement(weights: tuple[float, ...]) -> None:
    seen = counted(lambda e: weighted_order(Key(3, 4), e, np.array(weights, dtype=float)))
    assert chi_square_p(seen, dict(oracle.weighted_orders(weights))) > LEAST_P


@pytest.mark.slow
@pytest.mark.parametrize("weights", [(4, 3, 2, 1), (1, 2, 2, 1), (0, 0, 0, 0), (0, 5, 0, 1), (2,)], ids=str)
def test_ranked_orders_follow_the_definition_with_ties_at_random(weights: tuple[float, ...]) -> None:
    seen = counted(lambda e: ranked_order(Key(5, 6), e, np.array(weights, dtype=float)))
    assert chi_square_p(seen, dict(oracle.ranked_orders(weights))) > LEAST_P


@pytest.mark.slow
def test_a_wrong_order_distribution_is_noticed() -> None:
    seen = counted(lambda e: weighted_order(Key(3, 4), e, np.array([1, 0.8, 0.8, 0.8])))
    assert chi_square_p(seen, dict(oracle.uniform_orders(4))) < LEAST_P


@pytest.mark.slow
def test_first_pick_of_four_ranked_cases_has_the_published_probabilities() -> None:
    published = [0.5208, 0.2708, 0.1458, 0.0625]
    for rank, probability in enumerate(published, start=1):
        assert oracle.first_rank_probability(rank, 4) == pytest.approx(probability, abs=5e-5)
    weights = np.array([1.0, 9.0, 4.0, 2.0])  # ranks 4, 1, 2, 3
    firsts = Counter(next(iter(ranked_order(Key(7, 8), e, weights))) for e in range(20_000))
    expected = {case: oracle.first_rank_probability(rank, 4) for case, rank in enumerate([4, 1, 2, 3])}
    assert chi_square_p(firsts, expected) > LEAST_P


def test_only_the_ranks_of_weights_matter_to_the_ranked_order() -> None:
    for event in range(50):
        a = list(ranked_order(Key(1, 1), event, np.array([0.0, 1.0, 5.0, 1.0])))
        assert a == list(ranked_order(Key(1, 1), event, np.array([3.0, 10.0, 1e9, 10.0])))


def test_cases_of_weight_zero_come_last() -> None:
    weights = np.array([0.0, 1.0, 0.0, 1e-12, 0.0])
    for event in range(300):
        assert set(weighted_order(Key(1, 9), event, weights)[:2].tolist()) == {1, 3}


@pytest.mark.parametrize("n_cases", [0, 1, 2, 3, 100, 1000])
def test_every_order_is_a_permutation(n_cases: int) -> None:
    weights = np.random.default_rng(n_cases).integers(0, 4, n_cases) / 3.0
    weights[:1] = 1.0
    for event in range(3):
        orders = [uniform_order(Key(1, 1), event, n_cases), list(ranked_order(Key(1, 1), event, weights))]
        if n_cases:
            orders.append(weighted_order(Key(1, 1), event, weights))
        for order in orders:
            assert sorted(order) == list(range(n_cases))
