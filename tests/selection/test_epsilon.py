"""Epsilons: what is accepted, and the median absolute deviation."""

from __future__ import annotations

import statistics
from typing import Any

import numpy as np
import pytest

import flexicase as fx
from flexicase.selection.epsilon import median, median_absolute_deviation, resolve_epsilon
from flexicase.selection.lexicase import static_epsilon_matrix
from flexicase.selection.matrix import ErrorMatrix
from tests.selection import oracle
from tests.selection._helpers import small_matrices


@pytest.mark.parametrize(
    ("epsilon", "error", "message"),
    [
        (-1, ValueError, r"^epsilon must not be negative or NaN, got -1\.0$"),
        (float("nan"), ValueError, r"^epsilon must not be negative or NaN, got nan$"),
        ([0.5, -2], ValueError, r"^epsilon must not be negative or NaN, got -2\.0 for case 1$"),
        ([np.nan, 1], ValueError, r"^epsilon must not be negative or NaN, got nan for case 0$"),
        ([[1, 2]], ValueError, r"^epsilon must be a number or one number per case, got shape \(1, 2\)$"),
        ("mda", ValueError, r"^epsilon must be one of 'mad', .* got 'mda'; did you mean 'mad'\?$"),
        ("static", ValueError, r"^epsilon must be one of 'mad', .* did you mean 'mad-static'\?$"),
        ("0.5", ValueError, r"^epsilon must be one of 'mad', .* got '0\.5'"),
        (["0.5", "1"], TypeError, r"^epsilon must be a number, one number per case, 'mad' or None, got \['0\.5'"),
        (True, TypeError, r"^epsilon must be a number, .* got True$"),
        (1j, TypeError, r"^epsilon must be a number, .* got 1j$"),
        (object(), TypeError, r"^epsilon must be a number, .* got <object"),
        ([[1], [1, 2]], ValueError, r"^epsilon must be an array with rows of equal length"),
    ],
)
def test_bad_epsilons_are_refused(epsilon: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fx.Lexicase(epsilon=epsilon)


@pytest.mark.parametrize("n", [1, 3, 5])
def test_an_epsilon_array_must_fit_the_cases(n: int) -> None:
    with pytest.raises(
        ValueError, match=rf"^epsilon must have one number per case: expected shape \(2,\), got \({n},\)$"
    ):
        fx.select([[0, 1], [1, 0]], 1, fx.Lexicase(epsilon=np.ones(n)))


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^mode must be one of 'static', 'semi-dynamic', 'dynamic', got 'stat'; did"):
        fx.MadEpsilon("stat")
    with pytest.raises(TypeError, match=r"^mode must be one of .* got 3$"):
        fx.MadEpsilon(3)


def test_names_stand_for_modes() -> None:
    assert resolve_epsilon("mad") == fx.MadEpsilon("semi-dynamic") == fx.MadEpsilon()
    for mode in ("static", "semi-dynamic", "dynamic"):
        assert resolve_epsilon(f"mad-{mode}") == fx.MadEpsilon(mode)


def test_an_epsilon_array_is_copied() -> None:
    mine = np.zeros(2)
    method = fx.Lexicase(epsilon=mine)
    mine[:] = 100
    assert (fx.select([[0, 0], [1, 1]], 20, method, seed=1).indices == 0).all()


@pytest.mark.parametrize("size", [1, 2, 3, 8, 33, 100])
def test_median_and_deviation_are_the_usual_ones(size: int) -> None:
    rng = np.random.default_rng(size)
    for values in (rng.random(size), rng.integers(0, 4, size).astype(float)):
        assert median(values) == statistics.median(values.tolist())
        assert median_absolute_deviation(values) == oracle.mad(values.tolist())


def test_infinite_errors_have_a_deviation() -> None:
    inf = np.inf
    assert median_absolute_deviation(np.array([inf, inf, inf])) == 0
    assert median_absolute_deviation(np.array([1.0, inf, inf])) == 0
    assert median_absolute_deviation(np.array([1.0, 2.0, inf])) == 1
    assert median_absolute_deviation(np.array([1.0, 2.0, inf, inf])) == inf


def test_the_largest_numbers_have_a_median() -> None:
    assert median(np.array([1.7e308])) == 1.7e308
    assert median_absolute_deviation(np.array([1.7e308, 1.7e308, 0.0])) == 0


@pytest.mark.parametrize("matrix", ["ties", "duplicates", "eighths", "constant-columns", "one-row"])
def test_static_epsilon_is_pass_or_fail(matrix: str) -> None:
    errors = small_matrices()[matrix]
    assert static_epsilon_matrix(ErrorMatrix.from_array(errors)).values.tolist() == oracle.passes(errors.tolist())


def test_static_epsilon_without_cases_is_a_random_pick() -> None:
    s = fx.select(np.empty((3, 0)), 100, "epsilon-lexicase-static", seed=1)
    assert set(s.indices) == {0, 1, 2}


def test_duplicates_count_in_the_dynamic_deviation() -> None:
    """Six copies of 1 beside 0 and 5: median 1, deviation 0, so only 0 survives; without copies 1 would too."""
    errors = np.array([[0.0], [1.0], [1.0], [1.0], [1.0], [1.0], [1.0], [5.0]])
    assert (fx.select(errors, 30, "epsilon-lexicase-dynamic", seed=1).indices == 0).all()
    once = np.array([[0.0], [1.0], [5.0]])
    assert set(fx.select(once, 60, "epsilon-lexicase-dynamic", seed=1).indices) == {0, 1}


OVERFLOWING = {
    "minus-infinity": [[-1e308, -1e308, np.inf], [0.0, 0.0, 0.0], [1.0, -1e308, -1e308]],
    "all-nan": [[-1e308, -1e308, np.inf]] * 3,
    "both-infinities": [[-1e308, -1e308, -1e308], [1e308, 1e308, 1e308], [0.0, 0.0, 0.0], [np.inf, 0.0, 0.0]],
    "mixed": [[-1e308, -1e308, np.inf], [-1e308, -1e308, -1.0], [1e308, 1e308, 5.0], [3.0, 2.0, 1.0]],
}


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [None, 0.5, np.inf, "mad", "mad-static", "mad-dynamic"])
@pytest.mark.parametrize("name", OVERFLOWING)
@pytest.mark.parametrize("copies", [1, 30])
def test_sums_that_are_not_finite_have_one_meaning_everywhere(name: str, epsilon: Any, copies: int) -> None:
    """A sum that is NaN counts as infinite: the kernels agree, and draws are possible under the exact probabilities."""
    errors = np.array(OVERFLOWING[name] * copies)
    method = fx.Lexicase(batch_size=3, epsilon=epsilon)
    native = fx.select(errors, 200, method, seed=1)
    reference = fx.select(errors, 200, method, seed=1, backend="reference")
    np.testing.assert_array_equal(native.indices, reference.indices)
    np.testing.assert_array_equal(native.evaluations, reference.evaluations)
    exact = fx.probabilities(errors, method)
    assert exact.sum() == pytest.approx(1.0)
    assert (exact[native.indices] > 0).all()
    likely = np.bincount(native.indices, minlength=len(errors)) > 0
    if copies == 1:
        np.testing.assert_array_equal(likely, exact > 0)


def test_medians_of_many_overflowing_sums_stay_in_bounds() -> None:
    """With NaN among the numbers, the search for the median read out of bounds."""
    errors = np.tile([-1e308, -1e308, np.inf], (200_000, 1))
    errors[::3] = 1.0
    method = fx.Lexicase(batch_size=3, epsilon="mad-dynamic")
    assert (fx.select(errors, 3, method, seed=1).indices % 3 == 0).all()


def test_a_median_between_both_infinities_is_infinite() -> None:
    assert median(np.array([-np.inf, np.inf])) == np.inf
    assert median_absolute_deviation(np.array([-np.inf, np.inf])) == np.inf
    assert median_absolute_deviation(np.array([-np.inf, -np.inf, np.inf])) == 0.0
