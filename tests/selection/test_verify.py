"""`verify` passes every backend of every exact method, and catches selectors with known faults."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy import stats

import flexicase as fx
from flexicase.selection.methods import resolve_method
from flexicase.selection.verify import chi_squared_test, read_battery, verify_draws

BATTERY = read_battery()


def survivors(errors, order):
    pool = np.arange(len(errors))
    for case in order:
        pool = pool[errors[pool, case] == errors[pool, case].min()]
    return pool


def correct(errors, n, rng):
    return [rng.choice(survivors(errors, rng.permutation(errors.shape[1]))) for _ in range(n)]


def shuffled_once_per_call(errors, n, rng):
    order = rng.permutation(errors.shape[1])
    return [rng.choice(survivors(errors, order)) for _ in range(n)]


def no_random_tie_break(errors, n, rng):
    return [survivors(errors, rng.permutation(errors.shape[1]))[0] for _ in range(n)]


def one_dropped_individual(errors, n, rng):
    return correct(errors[:-1] if len(errors) > 1 else errors, n, rng)


def cases_used_up_across_parents(errors, n, rng):
    cases, parents = list(rng.permutation(errors.shape[1])), []
    for _ in range(n):
        pool = np.arange(len(errors))
        while len(pool) > 1 and cases:
            pool = pool[survivors(errors[pool], [cases.pop()])]
        parents.append(rng.choice(pool))
    return parents


def weights_with_replacement(errors, n, rng):
    weights = np.count_nonzero(errors, axis=0)
    share = weights / weights.sum()
    return [rng.choice(survivors(errors, rng.choice(len(share), len(share), p=share))) for _ in range(n)]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("select", "method", "cause"),
    [
        (shuffled_once_per_call, "lexicase", "drawn once per call"),
        (no_random_tie_break, "lexicase", "ties are not broken at random"),
        (weights_with_replacement, "weighted-num-nonzeros", "drawn with replacement"),
        (one_dropped_individual, "lexicase", "is never selected: it is left out"),
        (cases_used_up_across_parents, "lexicase", "used up by earlier parents"),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_wrong_selector_is_caught_and_the_cause_named(select, method, cause, seed):
    found = fx.verify(select, method, seed, n_draws=1000)
    assert not found.passed
    assert found.p_value < 1e-9
    assert any(cause in failure.cause for failure in found.failures)
    for failure in found.failures:
        np.testing.assert_allclose(failure.expected, BATTERY["probabilities"][method][failure.matrix], atol=1e-12)
        assert failure.observed.sum() == pytest.approx(1)
        assert failure.matrix in str(found)


@pytest.mark.slow
def test_a_plain_python_selector_passes():
    assert fx.verify(correct, n_draws=1000).passed


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["native", "reference"])
@pytest.mark.parametrize("name", [*BATTERY["probabilities"], "tournament", "fitness-proportionate", "plexicase"])
def test_every_backend_passes(name, backend):
    n_draws = 4000 if backend == "native" else 200

    def select(errors, n, rng):
        return fx.select_indices(errors, n, name, seed=rng, backend=backend)

    found = fx.verify(select, name, n_draws=n_draws)
    assert found.passed, str(found)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["native", "reference"])
def test_partial_evaluation_passes(backend):
    def select(errors, n, rng):
        fast = fx.FastLexicase(errors.shape[1], "lexicase", backend=backend)
        return fast.select(lambda i, c: errors[np.ix_(i, c)], len(errors), n, seed=rng).indices

    found = fx.verify(select, n_draws=1000)
    assert found.passed, str(found)


@pytest.mark.slow
def test_another_method_fails_where_it_differs():
    def tournament(errors, n, rng):
        return fx.select_indices(errors, n, "tournament", seed=rng)

    assert not fx.verify(tournament, n_draws=500).passed
    assert not fx.verify(correct, "epsilon-lexicase", n_draws=1000).passed
    assert not fx.verify(correct, "ranked-num-nonzeros").passed


def test_the_file_has_the_exact_probabilities():
    """Not so? Run ``python tools/make_battery.py``."""
    for method, table in BATTERY["probabilities"].items():
        assert table.keys() == BATTERY["matrices"].keys()
        for name, errors in BATTERY["matrices"].items():
            np.testing.assert_allclose(fx.probabilities(errors, method), table[name], rtol=1e-12, atol=1e-12)


def test_the_battery_covers_every_exact_method_without_an_inverse_bias():
    exact = {
        name
        for name in fx.methods()
        if isinstance(method := resolve_method(name), fx.Lexicase)
        and method.sampling is None
        and not method.slippage
        and not name.endswith("inverse")
    }
    assert exact == set(BATTERY["probabilities"])


def test_the_p_value_is_that_of_scipy():
    rng = np.random.default_rng(1)
    for k in range(2, 12):
        expected = rng.dirichlet(np.full(k, 5.0))
        for sharper in (1.0, 1.2):
            counts = rng.multinomial(2000, expected**sharper / (expected**sharper).sum())
            theirs = stats.chisquare(counts, expected * 2000).pvalue
            assert chi_squared_test(counts, expected) == pytest.approx(theirs, rel=1e-9, abs=1e-300)


def test_rare_individuals_are_tested_together():
    expected = np.array([0.998, 0.001, 0.001])
    assert chi_squared_test(np.array([998, 1, 1]), expected) > 0.5
    assert chi_squared_test(np.array([4990, 5, 5]), expected) > 0.5
    assert chi_squared_test(np.array([4900, 50, 50]), expected) < 1e-9
    assert chi_squared_test(np.array([5, 0]), np.array([1.0, 0.0])) == 1.0
    assert chi_squared_test(np.array([5, 1]), np.array([1.0, 0.0])) == 0.0


def test_p_values_of_a_correct_selector_are_uniform_enough():
    """A false alarm has probability 0.001; the per-matrix p-values must not be systematically small."""
    errors = np.array(BATTERY["matrices"]["graded"])
    expected = fx.probabilities(errors)
    found = [
        chi_squared_test(np.bincount(fx.select_indices(errors, 2000, seed=s), minlength=len(errors)), expected)
        for s in range(400)
    ]
    assert stats.kstest(found, "uniform").pvalue > 0.001


@pytest.mark.slow
def test_a_seed_repeats_the_test():
    one, two = (fx.verify(correct, seed=7, n_draws=200).p_value for _ in range(2))
    assert one == two


def recorded(n=500):
    return {name: fx.select_indices(errors, n, seed=3).tolist() for name, errors in BATTERY["matrices"].items()}


def test_recorded_draws():
    assert verify_draws(recorded()).passed
    assert not verify_draws(recorded() | {"specialists": [5] * 500}).passed
    assert not verify_draws(recorded(), "weighted-num-zeros").passed


@pytest.mark.parametrize(
    ("draws", "message"),
    [
        ([], "draws must be a mapping"),
        ({}, "draws must have parents for every matrix"),
        ({"tie": [0]}, "a name in draws must be one of"),
        (recorded() | {"ties": [0] * 99}, "'ties' must be at least 100 parents, got 99"),
        (recorded() | {"ties": [7] * 100}, "'ties' must be from 0 to 6, got 7"),
        (recorded() | {"ties": [0.5] * 100}, "'ties' must be a one-dimensional array of integers"),
    ],
)
def test_unusable_records_are_refused(draws, message):
    with pytest.raises((TypeError, ValueError), match=message):
        verify_draws(draws)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"select": 3}, "select must be callable"),
        ({"select": lambda errors, n, rng: [0] * (n - 1)}, "must return 50 indices, as requested, got 49"),
        ({"select": lambda errors, n, rng: [len(errors)] * n}, "indices from select must be from 0"),
        ({"method": "down-sampled-lexicase"}, "method must draw its events independently"),
        ({"method": "batch-tournament"}, "method must draw its events independently"),
        ({"method": fx.Lexicase(elitism=1)}, "method must draw its events independently"),
        ({"method": "dalex"}, "has no exact probabilities"),
        ({"n_draws": 99}, "n_draws must be at least 100"),
    ],
)
def test_invalid_arguments_are_refused(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        fx.verify(**({"select": correct} | arguments))


@pytest.mark.slow
def test_a_selector_may_change_the_errors_it_is_given():
    def careless(errors, n, rng):
        parents = correct(errors, n, rng)
        errors[:] = 0
        return parents

    assert fx.verify(careless, n_draws=500).passed


def test_the_battery_is_plain_json():
    assert json.loads(json.dumps(BATTERY)) == BATTERY
    assert BATTERY["format"] == 1
