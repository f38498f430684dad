from __future__ import annotations

import numpy as np
import pytest

import flexicase as fx
from flexicase.rng import Lane, Stream, key_from_seed, normals
from flexicase.selection import dalex
from flexicase.selection.matrix import ErrorMatrix
from tests.selection._helpers import DRAWS, MATRICES, assert_backends_agree, assert_follows, assert_no_counts


def importances(seed, n_events, n_cases, std):
    """(n_events, n_cases) what the events draw, in Python."""
    key = key_from_seed(seed)
    return std * np.array([normals(Stream.of(key, e, Lane.BASELINE), n_cases) for e in range(n_events)])


def by_definition(errors, importances):
    """Softmax, matrix product, argmin: (n_events, n_individuals) who has the lowest sum."""
    weights = np.exp(importances - importances.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    sums = weights @ np.asarray(errors, dtype=float).T
    return sums <= sums.min(axis=1, keepdims=True) * (1 + 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("std", [0.0, 0.5, 3.0, 20.0, 200.0])
def test_selects_the_lowest_weighted_sum_of_errors(std):
    errors = np.random.default_rng(1).random((40, 15))
    drawn = fx.select(errors, 2000, fx.DALex(std), seed=6).indices
    lowest = by_definition(errors, importances(6, 2000, 15, std))
    assert lowest[np.arange(2000), drawn].all()
    assert (lowest.sum(axis=1) == 1).all()


@pytest.mark.slow
@pytest.mark.parametrize("std", [1.0, 3.0])
def test_equal_sums_are_decided_at_random(std):
    errors = np.random.default_rng(2).integers(0, 3, (6, 5))[[0, 1, 1, 2, 3, 4, 5, 5, 5]]
    n = 10_000
    lowest = by_definition(errors, importances(3, n, 5, std))
    share = (lowest / lowest.sum(axis=1, keepdims=True)).mean(axis=0)
    assert_follows(fx.select(errors, n, fx.DALex(std), seed=3, threads=2).indices, share)


@pytest.mark.slow
@pytest.mark.parametrize("std", [0.0, 2.0, 200.0, 1e300])
@pytest.mark.parametrize("name", MATRICES)
def test_native_draws_equal_the_reference(name, std):
    assert_backends_agree(MATRICES[name], fx.DALex(std))


@pytest.mark.parametrize("std", [0.3, 30.0])
def test_native_draws_equal_the_reference_when_many_individuals_nearly_tie(std):
    """Dropping an individual too early would show here."""
    rng = np.random.default_rng(5)
    errors = rng.integers(0, 2, (120, 40)) + rng.random((120, 1)) * 1e-15
    assert_backends_agree(errors, fx.DALex(std), n=200)


def test_large_pressure_gives_lexicase_on_well_separated_cases():
    errors = np.array([[0, 1, 2], [2, 0, 1], [1, 2, 0], [1, 1, 1]])
    drawn = fx.select(errors, DRAWS, fx.DALex(1e6), seed=8, threads=2).indices
    assert_follows(drawn, np.array([1, 1, 1, 0]) / 3)


def test_no_case_is_a_uniform_choice():
    assert_follows(fx.select(np.empty((5, 0)), DRAWS, "dalex", seed=1).indices, np.full(5, 0.2))


def test_an_infinite_error_loses_unless_its_case_has_no_weight():
    errors = [[np.inf, 0.0], [1.0, 1.0]]
    assert set(fx.select(errors, 200, fx.DALex(1.0), seed=1).indices.tolist()) == {1}
    assert set(fx.select(errors, 200, fx.DALex(1e6), seed=1).indices.tolist()) == {0, 1}


@pytest.mark.parametrize("std", [0.5, 200.0])
def test_threads_change_nothing(std):
    errors = np.random.default_rng(3).random((50, 12))
    one = fx.select(errors, 700, fx.DALex(std), seed=2).indices
    np.testing.assert_array_equal(fx.select(errors, 700, fx.DALex(std), seed=2, threads=4).indices, one)


@pytest.mark.parametrize("std", [0.1, 1.0, 5.0])
def test_many_individuals_and_cases_are_summed_as_the_reference_does(std):
    """More individuals than are summed at a time, and weights too even to drop anyone early."""
    rng = np.random.default_rng(6)
    assert_backends_agree(rng.random((1100, 30)), fx.DALex(std), n=30)
    assert_backends_agree(rng.integers(0, 2, (1100, 30)), fx.DALex(std), n=30)


def test_weights_are_a_softmax_up_to_a_factor():
    drawn = importances(4, 1, 9, 5.0)[0]
    expected = np.exp(drawn) / np.exp(drawn).sum()
    weights = dalex.draw_case_weights(key_from_seed(4), 0, 9, 5.0)
    np.testing.assert_allclose(weights / weights.sum(), expected, rtol=1e-13)
    assert weights.max() == 1


def test_the_best_error_of_a_case_is_taken_off_first():
    """Otherwise a large error that all share would swallow the differences on lighter cases."""
    errors = ErrorMatrix.from_array([[1e300, 3.0], [1e300, 2.0]])
    np.testing.assert_array_equal(dalex.excess_errors(errors), [[0, 0], [1, 0]])
    assert set(fx.select(errors.values, 100, "dalex", seed=1).indices.tolist()) == {1}


def test_has_no_counts():
    assert_no_counts("dalex")


@pytest.mark.parametrize(
    ("std", "error", "message"),
    [
        (-1, ValueError, "std must be finite and not negative, got -1"),
        (np.inf, ValueError, "std must be finite and not negative, got inf"),
        (np.nan, ValueError, "std must be a number, got NaN"),
        (None, TypeError, "std must be a number, got None"),
    ],
)
def test_bad_std_is_refused_by_name(std, error, message):
    with pytest.raises(error, match=message):
        fx.DALex(std)
