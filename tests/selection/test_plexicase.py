from __future__ import annotations

import numpy as np
import pytest

import flexicase as fx
from flexicase.selection.matrix import ErrorMatrix
from tests.selection._helpers import DRAWS, MATRICES, assert_backends_agree, assert_follows, assert_no_counts


def by_definition(errors, alpha=1.0):
    """The three steps of the docstring, one error vector and one case at a time."""
    vectors = sorted({tuple(row) for row in errors.tolist()})
    cases = range(errors.shape[1])
    best = [min(v[c] for v in vectors) for c in cases]
    won = {v: sum(v[c] == best[c] for c in cases) for v in vectors}
    eligible = [v for v in vectors if won[v] and not any(w != v and all(w[c] <= v[c] for c in cases) for w in vectors)]
    shares = dict.fromkeys(vectors, 0.0)
    for c in cases:
        sharing = [v for v in eligible if v[c] == best[c]]
        for v in sharing:
            shares[v] += won[v] / sum(won[w] for w in sharing) / len(cases)
    powered = {v: s**alpha if s else 0.0 for v, s in shares.items()}
    rows = [tuple(row) for row in errors.tolist()]
    return np.array([powered[r] / sum(powered.values()) / rows.count(r) for r in rows])


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("name", [name for name in MATRICES if name != "no-case"])
def test_probabilities_equal_the_definition(name, alpha):
    exact = fx.Plexicase(alpha).probabilities(ErrorMatrix.from_array(MATRICES[name]))
    np.testing.assert_allclose(exact, by_definition(MATRICES[name], alpha), atol=1e-14)


@pytest.mark.parametrize("seed", range(20))
def test_probabilities_equal_the_definition_on_random_trade_offs(seed):
    rng = np.random.default_rng(seed)
    errors = rng.integers(0, 4, (30, 12))[rng.integers(0, 30, 40)]
    exact = fx.Plexicase().probabilities(ErrorMatrix.from_array(errors))
    np.testing.assert_allclose(exact, by_definition(errors), atol=1e-14)


@pytest.mark.parametrize("alpha", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("name", MATRICES)
def test_native_draws_equal_the_reference(name, alpha):
    assert_backends_agree(MATRICES[name], fx.Plexicase(alpha))


@pytest.mark.parametrize("seed", range(5))
def test_native_distribution_equals_the_reference_to_the_last_bit(seed):
    """A different order of summation would move the wheel's edges."""
    matrix = ErrorMatrix.from_array(np.random.default_rng(seed).integers(0, 3, (60, 40)))
    native, reference = (fx.Plexicase(0.7)._distribution(matrix, b) for b in ("native", "reference"))
    np.testing.assert_array_equal(native, reference)


@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("name", ["duplicates", "uint8", "tenths", "one-case", "no-case", "all-infinite"])
def test_draws_follow_the_exact_probabilities(name, alpha):
    method = fx.Plexicase(alpha)
    exact = method.probabilities(ErrorMatrix.from_array(MATRICES[name]))
    assert_follows(fx.select(MATRICES[name], DRAWS, method, seed=7, threads=2).indices, exact)


def test_distinct_specialists_have_lexicase_probabilities():
    """One individual per case that nobody else is best on: the approximation is exact."""
    errors = np.ones((4, 4)) - np.eye(4)
    np.testing.assert_allclose(fx.Plexicase().probabilities(ErrorMatrix.from_array(errors)), 0.25)


def test_never_selects_what_lexicase_cannot():
    """Eligible is at least what lexicase can reach, and no dominated or nowhere-best individual."""
    errors = np.random.default_rng(1).integers(0, 3, (25, 6))
    reached = set(fx.select(errors, 50_000, "lexicase", seed=1).indices.tolist())
    possible = set(np.flatnonzero(fx.Plexicase().probabilities(ErrorMatrix.from_array(errors))).tolist())
    assert reached <= possible
    best = errors == errors.min(axis=0)
    for i in possible:
        assert best[i].any()
        assert not ((errors <= errors[i]).all(axis=1) & (errors < errors[i]).any(axis=1)).any()


def test_a_large_alpha_does_not_underflow():
    exact = fx.Plexicase(alpha=5000.0).probabilities(ErrorMatrix.from_array([[0, 0, 1], [1, 1, 0]]))
    np.testing.assert_allclose(exact, [1.0, 0.0])


def test_threads_change_nothing():
    errors = np.random.default_rng(3).integers(0, 5, (50, 12))
    one = fx.select(errors, 5000, "plexicase", seed=2).indices
    np.testing.assert_array_equal(fx.select(errors, 5000, "plexicase", seed=2, threads=4).indices, one)


def test_has_no_counts():
    assert_no_counts("plexicase")


@pytest.mark.parametrize(
    ("alpha", "error", "message"),
    [
        (-1, ValueError, "alpha must be finite and not negative, got -1"),
        (np.inf, ValueError, "alpha must be finite and not negative, got inf"),
        (np.nan, ValueError, "alpha must be a number, got NaN"),
        ("1", TypeError, "alpha must be a number, got '1'"),
    ],
)
def test_bad_alpha_is_refused_by_name(alpha, error, message):
    with pytest.raises(error, match=message):
        fx.Plexicase(alpha)
