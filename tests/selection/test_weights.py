"""Bias metrics against their definitions, computed with the standard library."""

from __future__ import annotations

import numpy as np
import pytest

import flexicase as fx
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.weights import CaseWeights, check_explicit_weights, resolve_weights
from tests.selection import oracle
from tests.selection._helpers import BIAS_NAMES, small_matrices


def test_every_defined_metric_is_there() -> None:
    assert fx.biases() == list(BIAS_NAMES)


@pytest.mark.parametrize("matrix", ["ties", "constant-columns", "mostly-solved", "eighths", "one-row", "one-case"])
@pytest.mark.parametrize("bias", BIAS_NAMES)
def test_every_metric_is_as_defined(bias: str, matrix: str) -> None:
    errors = small_matrices()[matrix]
    expected = [oracle.bias_weight(bias, column) for column in errors.T.tolist()]
    found = resolve_weights(bias, ErrorMatrix.from_array(errors).statistics)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, expected, rtol=1e-14)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64, np.float32])
@pytest.mark.parametrize("bias", BIAS_NAMES)
def test_metrics_do_not_depend_on_the_type_of_the_errors(bias: str, dtype: type) -> None:
    errors = np.random.default_rng(3).integers(0, 2, (100, 9))
    expected = resolve_weights(bias, ErrorMatrix.from_array(errors.astype(np.float64)).statistics)
    found = resolve_weights(bias, ErrorMatrix.from_array(errors.astype(dtype)).statistics)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


def test_integer_sums_do_not_wrap_around() -> None:
    errors = np.full((300, 2), 127, dtype=np.int8)
    statistics = ErrorMatrix.from_array(errors).statistics
    assert statistics.average.tolist() == [127.0, 127.0]
    assert statistics.variance.tolist() == [0.0, 0.0]
    huge = ErrorMatrix.from_array(np.array([[2**62], [2**62], [0]])).statistics
    assert huge.average[0] == pytest.approx(2**63 / 3)
    assert huge.variance[0] == pytest.approx(2 / 9 * 2.0**124)


def test_metrics_that_are_equal_in_exact_arithmetic_tie() -> None:
    """Two ones in seven vary exactly as much as five; in rounded arithmetic they would not, and ranks would differ."""
    for n in range(2, 40):
        for ones in range(n + 1):
            errors = np.zeros((n, 2), dtype=np.uint8)
            errors[:ones, 0] = errors[ones:, 1] = 1
            variance = ErrorMatrix.from_array(errors).statistics.variance
            assert variance[0] == variance[1]


def test_columns_with_the_same_errors_in_another_sequence_tie() -> None:
    rng = np.random.default_rng(5)
    column = rng.random(200)
    errors = np.stack([rng.permutation(column) for _ in range(20)], axis=1)
    for bias in ("average", "median", "variance"):
        assert len(set(resolve_weights(bias, ErrorMatrix.from_array(errors).statistics))) == 1


def test_many_cases_are_summarised_in_blocks() -> None:
    errors = np.random.default_rng(6).random((7, 1000))
    statistics = ErrorMatrix.from_array(errors).statistics
    np.testing.assert_allclose(statistics.average, errors.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(statistics.median, np.median(errors, axis=0), rtol=1e-14)
    np.testing.assert_allclose(statistics.variance, errors.var(axis=0), rtol=1e-12)


def test_names_may_be_spelt_with_hyphens() -> None:
    statistics = ErrorMatrix.from_array(small_matrices()["ties"]).statistics
    assert (resolve_weights("num-zeros", statistics) == resolve_weights("num_zeros", statistics)).all()


@pytest.mark.parametrize("order", [fx.Weighted, fx.Ranked])
def test_an_unknown_bias_is_answered_with_the_nearest(order: type) -> None:
    with pytest.raises(ValueError, match=r"^unknown bias 'num_nonzero'; did you mean 'num_nonzeros'\?$"):
        fx.Lexicase(order=order("num_nonzero"))
    with pytest.raises(ValueError, match=r"^unknown bias 'xx'; known: num_zeros, num_nonzeros, average"):
        fx.Lexicase(order=order("xx"))


def test_a_callable_sees_the_statistics() -> None:
    errors = small_matrices()["ties"]
    seen: list[fx.CaseStatistics] = []

    def mine(statistics: fx.CaseStatistics) -> np.ndarray:
        seen.append(statistics)
        return statistics.zeros + 1

    weights = resolve_weights(mine, ErrorMatrix.from_array(errors).statistics)
    assert weights.tolist() == ((errors == 0).sum(axis=0) + 1).tolist()
    assert seen[0].errors.shape == errors.shape
    assert (seen[0].nonzeros + seen[0].zeros == len(errors)).all()


def test_check_explicit_weights_must_not_all_be_zero() -> None:
    with pytest.raises(ValueError, match=r"^bias must have at least one positive value, but all 3 are 0$"):
        check_explicit_weights([0, 0.0, -0.0], 3)
    assert check_explicit_weights([], 0).tolist() == []


def test_an_overflowing_inverse_is_refused_without_a_warning() -> None:
    with pytest.raises(ValueError, match=r"^bias 'average_inverse' of the errors .* must be finite .*, but case 0 has"):
        fx.select(np.full((2, 1), 5e-324), 1, "weighted-average-inverse")


def test_negative_averages_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"^bias 'average' of the errors .* must be finite .*, but case 1 has weight -1\.5"
    ):
        fx.select([[0, -1], [0, -2]], 1, "weighted-average")


@pytest.mark.parametrize(("default", "unseen"), [("min", 1.0), ("max", 7.0)])
def test_unseen_cases_have_the_default_weight(default: str, unseen: float) -> None:
    assert CaseWeights(4, "num_zeros", default, 1.0, 7.0).values.tolist() == [unseen] * 4


def test_the_largest_weight_is_one_more_than_the_individuals() -> None:
    weights = CaseWeights(2, "num_zeros", "max", 1.0, None)
    settled = weights.with_bounds_for(9)
    assert (settled.w_max, settled.values.tolist()) == (10.0, [10.0, 10.0])
    assert weights.w_max is None  # the copy alone is settled
    settled.values[1] = 3.0
    grown = settled.with_bounds_for(500)
    assert (grown.w_max, grown.values.tolist()) == (501.0, [501.0, 3.0])  # the unused case rises, the used one does not
    assert (settled.w_max, settled.values.tolist()) == (10.0, [10.0, 3.0])
    assert grown.with_bounds_for(9) is grown  # a smaller population changes nothing


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
