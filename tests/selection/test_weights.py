"""Case weights: bounds, defaults and renewal."""

from __future__ import annotations

import numpy as np
import pytest

from flexicase.selection.weights import CaseWeights


@pytest.mark.parametrize(("default", "unseen"), [("min", 1.0), ("max", 7.0)])
def test_unseen_cases_have_the_default_weight(default: str, unseen: float) -> None:
    assert CaseWeights(4, "num_zeros", default, 1.0, 7.0).values.tolist() == [unseen] * 4


def test_the_largest_weight_is_one_more_than_the_individuals() -> None:
    weights = CaseWeights(2, "num_zeros", "max", 1.0, None)
    settled = weights.with_bounds_for(9)
    assert (settled.w_max, settled.values.tolist()) == (10.0, [10.0, 10.0])
    assert weights.w_max is None  # the copy alone is settled
    assert settled.with_bounds_for(500).w_max == 10.0  # and for good


def test_a_copy_is_independent() -> None:
    weights = CaseWeights(2, "num_zeros", "max", 1.0, 5.0)
    assert weights.with_bounds_for(9) is weights
    weights.copy().values[0] = 2.0
    assert weights.values.tolist() == [5.0, 5.0]


@pytest.mark.parametrize(
    ("bias", "errors", "expected"),
    [
        ("num_nonzeros", [0.0, 0.0, 0.0], 1.0),
        ("num_nonzeros", [0.0, 3.0, -1.0], 3.0),
        ("num_zeros", [0.0, -0.0, 3.0], 3.0),
        ("num_zeros", [np.inf], 1.0),
        ("split", [0.0, 3.0, 0.0, 1.0], 5.0),
        ("split", [0.0, 0.0, 0.0, 1.0], 4.0),
        ("split", [2.0, 1.0], 1.0),
        ("split", [0.0, 0.0], 1.0),
        (lambda pool: pool.average, [1.0, 2.0], 1.5),
        ("average", [1.0, 2.0], 2.5),
        ("median", [0.0, 2.0, 9.0], 3.0),
        ("variance", [0.0, 2.0], 2.0),
        ("num_zeros_inverse", [0.0, 0.0, 1.0], 1.5),
        ("average", [np.inf], 6.0),
        (lambda pool: -5, [1.0], 1.0),
        (lambda pool: np.inf, [1.0], 6.0),
    ],
)
def test_a_new_weight_is_counted_over_the_pool_and_kept_within_bounds(bias, errors: list, expected: float) -> None:
    assert CaseWeights(1, bias, "min", 1.0, 6.0).weight_of(np.array(errors)) == expected


def test_a_bias_cannot_change_the_errors() -> None:
    errors = np.array([1.0, 2.0])

    def rude(pool):
        pool.errors[:] = 0.0
        return 1.0

    CaseWeights(1, rude, "min", 1.0, 6.0).weight_of(errors)
    assert errors.tolist() == [1.0, 2.0]
