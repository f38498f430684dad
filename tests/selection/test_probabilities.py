"""Exact probabilities against brute force over all orders, and what they must satisfy on their own."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import flexicase as fx
from flexicase import _native
from flexicase.selection.lexicase import NativeKernel
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.methods import resolve_method
from flexicase.selection.probabilities import wilson_interval
from tests.selection.brute_force import enumerate_orders, exact_outcome

SHAPES = [(1, 3), (5, 1), (4, 0), (6, 4), (9, 5), (5, 6)]
ORDERS = ["uniform", "weighted", "ranked"]
FILTERS: list[dict[str, Any]] = [
    {},
    {"epsilon": 1.0},
    {"epsilon": "mad"},
    {"epsilon": "mad-static"},
    {"epsilon": "mad-dynamic"},
    {"batch_size": 2},
    {"batch_size": 3, "epsilon": 1.0},
    {"batch_size": 2, "epsilon": "mad-dynamic"},
    {"max_cases": 0},
    {"max_cases": 2},
    {"max_cases": "random"},
    {"max_cases": 3, "batch_size": 2},
    {"max_cases": "random", "batch_size": 2, "epsilon": "mad"},
    {"slippage": 0.3},
    {"slippage": 0.2, "batch_size": 2, "max_cases": "random"},
    {"slippage": 0.1, "max_cases": 3, "epsilon": "mad"},
    {"slippage": 1.0},
]


def random_errors(seed: int, shape: tuple[int, int]) -> np.ndarray:
    """Small integers, with copies of a row and sometimes a constant and a repeated column."""
    rng = np.random.default_rng(seed)
    errors = rng.integers(0, 4, size=shape)
    errors[shape[0] // 2 :: 2] = errors[0]
    if shape[1] > 2 and seed % 2:
        errors[:, 1] = 2
        errors[:, 2] = errors[:, 0]
    return errors


def random_weights(seed: int, n_cases: int) -> np.ndarray:
    """Small integers, so that there are ties and zeros."""
    return np.random.default_rng(seed).integers(0, 4, size=n_cases).astype(float)


def method_of(kind: str, weights: np.ndarray, options: dict[str, Any]) -> fx.Lexicase:
    order = {"uniform": fx.Uniform(), "weighted": fx.Weighted(weights), "ranked": fx.Ranked(weights)}[kind]
    return fx.Lexicase(order=order, **options)


@pytest.mark.slow
@pytest.mark.parametrize("options", FILTERS, ids=str)
@pytest.mark.parametrize("kind", ORDERS)
def test_agrees_with_brute_force(kind: str, options: dict[str, Any]) -> None:
    for seed, shape in enumerate(SHAPES):
        errors, weights = random_errors(seed, shape), random_weights(seed, shape[1])
        expected = exact_outcome(errors, enumerate_orders(kind, weights), **options)[0]
        found = fx.probabilities(errors, method_of(kind, weights, options))
        np.testing.assert_allclose(found, expected, atol=1e-12, err_msg=f"{shape}")


def test_one_epsilon_per_case() -> None:
    errors = random_errors(3, (8, 4)) * 1.0
    epsilon = [0.0, 1.0, 2.5, np.inf]
    expected = exact_outcome(errors, enumerate_orders("uniform", 4), epsilon=epsilon)[0]
    np.testing.assert_allclose(fx.probabilities(errors, fx.Lexicase(epsilon=epsilon)), expected, atol=1e-12)


@pytest.mark.parametrize("kind", ORDERS)
def test_continuous_errors_with_mad(kind: str) -> None:
    """More levels per case than are kept as sets."""
    rng = np.random.default_rng(4)
    errors, weights = rng.exponential(size=(40, 4)), rng.integers(0, 3, size=4)
    for epsilon in ("mad", "mad-dynamic"):
        expected = exact_outcome(errors, enumerate_orders(kind, weights), epsilon=epsilon)[0]
        found = fx.probabilities(errors, method_of(kind, weights, {"epsilon": epsilon}))
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ORDERS)
def test_more_individuals_than_bits_of_a_word(kind: str) -> None:
    rng = np.random.default_rng(6)
    for rows in (100, 150, 200, 300, 400):
        errors, weights = rng.integers(0, 4, size=(rows, 5)), rng.integers(0, 3, size=5)
        errors[errors.sum(axis=1) < 6, 0] += 3
        expected = exact_outcome(errors, enumerate_orders(kind, weights))[0]
        np.testing.assert_allclose(fx.probabilities(errors, method_of(kind, weights, {})), expected, atol=1e-12)
        expected = exact_outcome(errors, enumerate_orders(kind, weights), max_cases=2)[0]
        found = fx.probabilities(errors, method_of(kind, weights, {"max_cases": 2}))
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_more_cases_than_bits_of_a_word() -> None:
    """Repeating every case thirty times leaves a uniform order's probabilities alone, whatever the solver."""
    errors = random_errors(2, (8, 4))
    wide = np.repeat(errors, 30, axis=1)
    expected = fx.probabilities(errors)
    np.testing.assert_allclose(fx.probabilities(wide), expected, atol=1e-12)
    np.testing.assert_allclose(fx.probabilities(wide, fx.Lexicase(slippage=1e-300)), expected, atol=1e-12)
    tied = fx.Lexicase(order=fx.Ranked([1.0] * 119 + [0.0]))
    assert fx.probabilities(wide, tied).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("weights", [[0, 0, 0, 1], [0, 0, 0, 0], [2, 0, 0, 0], [1, 1, 1, 0]])
def test_equal_cases_count_as_often_as_they_are_there(weights: list[float]) -> None:
    """Three equal cases, one against them, and two more individuals; all or some cases of weight 0."""
    errors = np.array([[0, 0, 0, 1], [1, 1, 1, 0], [0, 0, 0, 2], [2, 2, 2, 0]])
    for kind in ORDERS:
        expected = exact_outcome(errors, enumerate_orders(kind, weights))[0]
        np.testing.assert_allclose(
            fx.probabilities(errors, method_of(kind, lambda _: weights, {})), expected, atol=1e-12
        )
    mixed = np.column_stack([errors, [3, 3, 3, 3]])
    expected = exact_outcome(mixed, enumerate_orders("weighted", [0, 0, 0, 0, 1]))[0]
    np.testing.assert_allclose(fx.probabilities(mixed, method_of("weighted", np.eye(5)[4], {})), expected, atol=1e-12)


def test_large_integers_are_told_apart() -> None:
    """Two errors above 2**53 that differ by 1 are not the same error."""
    errors = np.array([[2**60 + 1], [2**60], [2**60 + 2]])
    assert fx.probabilities(errors).tolist() == [0.0, 1.0, 0.0]
    assert fx.probabilities(errors, fx.Lexicase(slippage=0.3)).tolist() == pytest.approx([0.1, 0.8, 0.1])


@pytest.mark.parametrize(
    "dtype", ["bool", "uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64", "f4"]
)
def test_every_type_of_entry(dtype: str) -> None:
    errors = random_errors(1, (7, 4)) > 1
    expected = fx.probabilities(errors.astype(float))
    np.testing.assert_allclose(fx.probabilities(errors.astype(dtype)), expected, atol=1e-15)
    np.testing.assert_allclose(fx.probabilities(np.asfortranarray(errors.astype(dtype))), expected, atol=1e-15)


def test_infinite_errors() -> None:
    errors = [[np.inf, 0.0], [np.inf, 1.0], [0.0, np.inf]]
    for options in FILTERS:
        if "mad-static" in options.values():
            continue
        expected = exact_outcome(errors, enumerate_orders("uniform", 2), **options)[0]
        np.testing.assert_allclose(fx.probabilities(errors, fx.Lexicase(**options)), expected, atol=1e-12)


def test_down_sampling_is_the_mean_over_all_samples() -> None:
    errors, weights = random_errors(5, (8, 6)), random_weights(2, 6)
    method = fx.Lexicase(order=fx.Weighted(weights), sampling=fx.DownSample(3))
    parts = [
        exact_outcome(errors[:, cases], enumerate_orders("weighted", weights[list(cases)]))[0]
        for cases in itertools.combinations(range(6), 3)
    ]
    np.testing.assert_allclose(fx.probabilities(errors, method), np.mean(parts, axis=0), atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"epsilon": [0.1] * 6}, r"epsilon must have one number per case: expected shape \(4,\), got \(6,\)"),
        ({"epsilon": [0.1] * 2}, r"epsilon must have one number per case: expected shape \(4,\), got \(2,\)"),
        ({"order": fx.Weighted([1.0] * 6)}, r"bias must have one number per case: expected shape \(4,\), got \(6,\)"),
        ({"order": fx.Ranked([0.0] * 4)}, "bias must have at least one positive value, but all 4 are 0"),
    ],
)
def test_weights_and_epsilons_of_a_sample_must_fit_the_whole_matrix(options, message):
    method = fx.Lexicase(sampling=fx.DownSample(2), **options)
    for call in (fx.probabilities, lambda errors, method: fx.select(errors, 1, method)):
        with pytest.raises(ValueError, match=message):
            call(np.zeros((3, 4)), method)


def test_too_many_samples_are_refused() -> None:
    with pytest.raises(fx.TooManyStatesError, match="samples of 50 of 100 cases"):
        fx.probabilities(np.zeros((3, 100)), fx.Lexicase(sampling=fx.DownSample(0.5)))


def test_all_samples_together_have_one_budget() -> None:
    """Each of the 20 samples takes one state at least."""
    errors = random_errors(5, (8, 6))
    with pytest.raises(fx.TooManyStatesError, match="stopped at"):
        fx.probabilities(errors, fx.Lexicase(sampling=fx.DownSample(3)), max_states=19)


def test_elites_do_not_count() -> None:
    errors = random_errors(1, (6, 4))
    np.testing.assert_array_equal(fx.probabilities(errors, fx.Lexicase(elitism=3)), fx.probabilities(errors))


@pytest.mark.slow
def test_agrees_with_the_draws() -> None:
    """The solver and the kernel understand every named method alike."""
    errors = random_errors(7, (10, 8)) * 1.0
    for name in fx.methods():
        try:
            expected = fx.probabilities(errors, name)
        except TypeError:
            continue
        estimate = fx.estimate_probabilities(errors, name, 20_000, seed=5)
        assert abs(estimate.probabilities - expected).max() < 0.02, name


ERRORS = hnp.arrays(
    np.int64, hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=7), elements=st.integers(0, 3)
)
KINDS = st.sampled_from([fx.Uniform(), fx.Weighted("num_nonzeros"), fx.Ranked("num_zeros")])
OPTIONS = st.sampled_from(FILTERS)


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(ERRORS, KINDS, OPTIONS)
def test_is_a_distribution_that_copies_share_equally(errors: np.ndarray, order: Any, options: dict[str, Any]) -> None:
    found = fx.probabilities(errors, fx.Lexicase(order=order, **options))
    assert found.shape == (len(errors),)
    assert found.dtype == np.float64
    assert found.min() >= 0.0
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    for i, j in itertools.combinations(range(len(errors)), 2):
        if (errors[i] == errors[j]).all():
            assert found[i] == found[j]


@settings(deadline=None, max_examples=100)
@given(ERRORS, KINDS)
def test_dominated_individuals_are_never_selected(errors: np.ndarray, order: Any) -> None:
    found = fx.probabilities(errors, fx.Lexicase(order=order))
    for i, j in itertools.permutations(range(len(errors)), 2):
        if (errors[i] <= errors[j]).all() and (errors[i] < errors[j]).any():
            assert found[j] == 0.0


@pytest.mark.slow
@settings(deadline=None, max_examples=150)
@given(ERRORS, KINDS, OPTIONS, st.randoms(use_true_random=False))
def test_relabelling_individuals_and_cases_relabels_the_outcome(
    errors: np.ndarray, order: Any, options: dict[str, Any], random: Any
) -> None:
    method = fx.Lexicase(order=order, **options)
    rows = random.sample(range(errors.shape[0]), errors.shape[0])
    cases = random.sample(range(errors.shape[1]), errors.shape[1])
    expected = fx.probabilities(errors, method)[rows]
    np.testing.assert_allclose(fx.probabilities(errors[rows][:, cases], method), expected, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    "method",
    ["lexicase", "ranked-num-nonzeros", "epsilon-lexicase", "epsilon-lexicase-dynamic", "batch-lexicase"],
)
def test_refusal_says_how_large_the_problem_is(method: str) -> None:
    errors = np.random.default_rng(1).integers(0, 2, size=(60, 60))
    with pytest.raises(fx.TooManyStatesError, match=r"stopped at [\d,]+ states.*estimate_probabilities") as refusal:
        fx.probabilities(errors, method, max_states=2000)
    assert isinstance(refusal.value, ValueError)
    assert refusal.value.explored > 2000
    assert refusal.value.estimate >= refusal.value.explored


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "shape", "levels"),
    [
        ("lexicase", (60, 60), 2),
        ("weighted-num-nonzeros", (60, 60), 2),
        ("lexicase", (100, 40), 3),
        ("ranked-num-nonzeros", (60, 14), 2),
        ("ranked-num-nonzeros", (40, 16), 3),
        ("epsilon-lexicase", (50, 50), 4),
        ("epsilon-lexicase-dynamic", (12, 12), 5),
        ("batch-lexicase", (10, 12), 4),
    ],
)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_estimate_of_a_refusal_is_near_the_number_of_states(
    method: str, shape: tuple[int, int], levels: int, seed: int
) -> None:
    """The search stops at a fiftieth of the states, whose number is known from a search to the end."""
    errors = np.random.default_rng(seed).integers(0, levels, size=shape)
    kernel = NativeKernel(*resolve_method(method).resolve(ErrorMatrix.from_array(errors)))
    found, states, _ = _native.probabilities(kernel.native, 10**6)
    assert found is not None
    with pytest.raises(fx.TooManyStatesError, match=r"of an estimated [\d.e+]+; use") as refusal:
        fx.probabilities(errors, method, max_states=max(1, states // 50))
    assert states / 3 <= refusal.value.estimate <= 3 * states


def test_the_estimate_counts_the_samples_that_are_still_to_come() -> None:
    errors = np.random.default_rng(1).integers(0, 2, size=(30, 12))
    method = fx.Lexicase(sampling=fx.DownSample(10))
    with pytest.raises(fx.TooManyStatesError) as refusal:
        fx.probabilities(errors, method, max_states=3000)
    whole = 0
    for cases in itertools.combinations(range(12), 10):
        kernel = NativeKernel(*resolve_method("lexicase").resolve(ErrorMatrix.from_array(errors[:, list(cases)])))
        whole += _native.probabilities(kernel.native, 10**6)[1]
    assert whole / 3 <= refusal.value.estimate <= 3 * whole


def test_the_budget_is_not_a_hair_too_tight() -> None:
    """Two individuals that differ: one state, the pair."""
    assert fx.probabilities([[0, 1], [1, 0]], max_states=1).tolist() == [0.5, 0.5]


def test_a_large_but_simple_problem_is_solved() -> None:
    """Continuous errors leave one candidate after the first case."""
    errors = np.random.default_rng(2).random((3000, 200))
    expected = np.bincount(errors.argmin(axis=0), minlength=3000) / 200
    np.testing.assert_allclose(fx.probabilities(errors), expected, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "repetitions", "draws"),
    [
        ("lexicase", 400, 1000),
        ("epsilon-lexicase", 400, 1000),
        ("ranked-num-zeros", 400, 1000),
        ("down-sampled-lexicase", 80, 300),
    ],
)
def test_intervals_hold_the_exact_probabilities_as_often_as_they_say(method: str, repetitions: int, draws: int) -> None:
    """Intervals that are too narrow or too wide, or a solver and a sampler that differ, miss 95 %."""
    errors = np.random.default_rng(8).integers(0, 10, size=(12, 6))
    exact = fx.probabilities(errors, method)
    possible = exact > 0
    held = []
    for seed in range(repetitions):
        estimate = fx.estimate_probabilities(errors, method, draws, seed=seed)
        assert estimate.n_draws == draws
        assert estimate.probabilities.sum() == pytest.approx(1.0)
        assert (estimate.low[~possible] == 0.0).all()
        held.append((estimate.low <= exact) & (exact <= estimate.high))
    assert 0.92 < np.mean(np.array(held)[:, possible]) < 0.98


def test_approximate_is_reproducible_and_ignores_elites() -> None:
    errors = random_errors(3, (12, 6))
    one = fx.estimate_probabilities(errors, n_draws=500, seed=9)
    two = fx.estimate_probabilities(errors, fx.Lexicase(elitism=400), 500, seed=9, threads=2)
    np.testing.assert_array_equal(one.probabilities, two.probabilities)


def test_wilson_intervals_of_known_counts() -> None:
    """10 of 100: 0.0552 … 0.1744, and 0 and 100 of 100 touch the ends."""
    low, high = wilson_interval(np.array([10, 0, 100]), 100)
    np.testing.assert_allclose(low, [0.0552, 0.0, 0.9630], atol=5e-5)
    np.testing.assert_allclose(high, [0.1744, 0.0370, 1.0], atol=5e-5)


class Always:
    """Selects one individual, and says so."""

    def __init__(self, index: int) -> None:
        self.index = index

    def prepare(self, matrix: Any, key: Any, backend: Any) -> Any:
        raise NotImplementedError

    def describe(self) -> str:
        return "for a test"

    def probabilities(self, matrix: Any) -> np.ndarray:
        return np.eye(matrix.n_individuals)[self.index]


class Unsure:
    """Selects somehow."""

    def prepare(self, matrix: Any, key: Any, backend: Any) -> Any:
        raise NotImplementedError

    def describe(self) -> str:
        return "for a test"


def test_methods_may_know_their_own_probabilities() -> None:
    assert fx.probabilities(np.zeros((3, 2)), Always(1)).tolist() == [0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"method": "lexicas"}, ValueError, "did you mean 'lexicase'"),
        ({"method": Unsure()}, TypeError, "Unsure has no exact probabilities"),
        ({"max_states": 0}, ValueError, "max_states must be at least 1"),
        ({"max_states": "many"}, TypeError, "max_states must be an integer"),
        ({"nan": "ignore"}, ValueError, "nan must be one of"),
        ({"method": fx.Lexicase(epsilon=[1.0, 2.0])}, ValueError, "epsilon must have one number per case"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fx.probabilities(np.zeros((4, 3)), **arguments)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"n_draws": 0}, ValueError, "n_draws must be at least 1"),
        ({"n_draws": 1.5}, TypeError, "n_draws must be an integer"),
        ({"n_draws": 10, "threads": 0}, ValueError, "threads must be at least 1"),
        ({"seed": -1}, ValueError, "seed must not be negative"),
    ],
)
def test_bad_arguments_of_an_estimate(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fx.estimate_probabilities(np.zeros((4, 3)), **arguments)


def test_nan_is_refused_or_counts_as_worst() -> None:
    errors = [[np.nan, 0.0], [1.0, 0.0]]
    with pytest.raises(ValueError, match="individual 0, case 0"):
        fx.probabilities(errors)
    assert fx.probabilities(errors, nan="worst").tolist() == [0.0, 1.0]


@pytest.mark.slow
@pytest.mark.parametrize("order", [fx.Uniform(), fx.Weighted([3, 1, 2, 1, 1]), fx.Ranked([1, 5, 2, 2, 3])], ids=str)
@pytest.mark.parametrize("epsilon", [None, [0.1, 0.2, 0.3, 0.1, 0.7], "mad", "mad-dynamic"], ids=str)
def test_batches_of_ordinary_floats_have_the_probabilities_they_are_drawn_with(order: Any, epsilon: Any) -> None:
    """Sums are rounded, so it matters that a set of cases is summed in one order everywhere."""
    rows = np.array([[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.1, 0.3]])
    errors = np.hstack([rows, rows[:, [1, 0]]])  # equal cases, but not side by side
    method = fx.Lexicase(order=order, batch_size=3, epsilon=epsilon)
    exact = fx.probabilities(errors, method)
    indices = fx.select(errors, 20_000, method, seed=2).indices
    np.testing.assert_array_equal(fx.select(errors, 300, method, seed=2, backend="reference").indices, indices[:300])
    seen = np.bincount(indices, minlength=3) / len(indices)
    np.testing.assert_allclose(seen, exact, atol=0.02)
    assert not seen[exact == 0].any()


def test_three_cases_in_any_order_are_one_batch() -> None:
    errors = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.2, 0.1, 0.3]]
    method = fx.Lexicase(batch_size=3)
    exact = fx.probabilities(errors, method)
    assert set(fx.select(errors, 300, method, seed=1).indices.tolist()) == set(np.flatnonzero(exact).tolist())
