"""The whole lexicase family against exact probabilities, and the arguments of `Lexicase`."""

from __future__ import annotations

import numpy as np
import pytest

import flexicase as fx
from tests.selection.agreement import LEAST_P, assert_agrees, chi_square_p, marginal, standard_errors_off, tally
from tests.selection.matrices import small_matrices
from tests.selection.variants import BIAS_NAMES, Variant

SMALL = small_matrices()
DRAWS = 200_000

FAMILY = [
    Variant(),
    Variant(order="weighted", bias="num_nonzeros"),
    Variant(order="weighted", bias=(3.0, 0.0, 1.0, 0.0, 0.0)),
    Variant(order="weighted", bias=(1e-3, 1e3, 1.0, 20.0, 0.0)),
    Variant(order="weighted", bias=(1e300, 1e-3, 0.0, 1e-4, 1.0)),
    Variant(order="weighted", bias=(1.0, 1e-320, 0.0, 0.0, 0.5)),
    Variant(order="ranked", bias="num_nonzeros"),
    Variant(order="ranked", bias=(2.0, 2.0, 1.0, 7.0, 1.0)),
    Variant(order="ranked", bias=(5.0, 4.0, 3.0, 2.0, 1.0)),
    Variant(epsilon=1.0),
    Variant(epsilon=(0.0, 1.0, 0.5, 2.0, 0.0)),
    Variant(epsilon=(0.0, 1.0, 0.5, 2.0, 0.0), order="weighted", bias=(1.0, 2.0, 0.0, 0.5, 3.0)),
    Variant(epsilon="static"),
    Variant(epsilon="semi-dynamic"),
    Variant(epsilon="dynamic"),
    Variant(epsilon="static", order="ranked"),
    Variant(epsilon="semi-dynamic", order="weighted", bias="num_zeros"),
    Variant(epsilon="dynamic", order="ranked", bias="num_zeros"),
    Variant(batch=2),
    Variant(batch=3, order="weighted"),
    Variant(batch=99),
    Variant(batch=2, epsilon="dynamic"),
    Variant(batch=2, epsilon=(0.0, 1.0, 0.5, 2.0, 0.0), order="ranked"),
    Variant(depth=0),
    Variant(depth=2),
    Variant(depth=5),
    Variant(depth=2, order="ranked", epsilon="semi-dynamic"),
    Variant(depth="random"),
    Variant(depth="random", order="weighted", batch=2),
    Variant(slippage=0.25),
    Variant(slippage=1.0),
    Variant(slippage=0.1, order="ranked", epsilon="dynamic"),
    Variant(slippage=0.2, batch=2, depth=3, order="weighted", bias="average", epsilon=0.5),
]


@pytest.mark.parametrize("matrix", ["ties", "duplicates", "eighths"])
@pytest.mark.parametrize("variant", FAMILY, ids=str)
def test_every_variant_has_its_exact_distribution_and_counts(variant: Variant, matrix: str) -> None:
    errors = SMALL[matrix]
    assert_agrees(fx.select(errors, DRAWS, variant.method(), seed=2022), variant.outcomes(errors))


@pytest.mark.parametrize("order", ["uniform", "weighted", "ranked"])
@pytest.mark.parametrize("matrix", sorted(set(SMALL) - {"ties", "duplicates", "eighths"}))
def test_every_order_is_exact_on_degenerate_matrices(order: str, matrix: str) -> None:
    variant = Variant(order=order)
    assert_agrees(fx.select(SMALL[matrix], DRAWS, variant.method(), seed=7), variant.outcomes(SMALL[matrix]))


@pytest.mark.parametrize("epsilon", ["static", "semi-dynamic", "dynamic", 1.0])
@pytest.mark.parametrize("matrix", ["one-row", "one-case", "all-equal", "two-rows", "constant-columns"])
def test_every_epsilon_is_exact_on_degenerate_matrices(epsilon: str | float, matrix: str) -> None:
    variant = Variant(epsilon=epsilon)
    assert_agrees(fx.select(SMALL[matrix], DRAWS // 4, variant.method(), seed=8), variant.outcomes(SMALL[matrix]))


@pytest.mark.parametrize("order", ["weighted", "ranked"])
@pytest.mark.parametrize("bias", BIAS_NAMES)
def test_every_bias_orders_cases_as_defined(bias: str, order: str) -> None:
    variant = Variant(order=order, bias=bias)
    assert_agrees(
        fx.select(SMALL["mostly-solved"], DRAWS, variant.method(), seed=3), variant.outcomes(SMALL["mostly-solved"])
    )


@pytest.mark.parametrize("seed", range(8))
def test_random_matrices_are_exact(seed: int) -> None:
    rng = np.random.default_rng(seed)
    errors = rng.integers(0, rng.integers(2, 6), (rng.integers(2, 12), rng.integers(1, 6)))
    for order in ("uniform", "weighted", "ranked"):
        variant = Variant(order=order, bias="num_zeros")
        assert_agrees(fx.select(errors, DRAWS, variant.method(), seed=seed), variant.outcomes(errors))


def test_a_wrong_expectation_is_noticed() -> None:
    """The agreement tests must be able to fail: each of their three parts is given wrong numbers."""
    errors = SMALL["ties"]
    drawn = fx.select(errors, DRAWS, seed=2022)
    wrong = Variant(order="ranked").outcomes(errors)
    assert chi_square_p(marginal(tally(drawn), 0), marginal(wrong, 0)) < LEAST_P / 1e6
    assert chi_square_p(tally(drawn), wrong) < LEAST_P / 1e6
    assert standard_errors_off(drawn.evaluations, marginal(wrong, 1)) > 10
    with pytest.raises(AssertionError, match="parents"):
        assert_agrees(drawn, wrong)


def test_a_small_error_is_noticed() -> None:
    """One percentage point moved from one parent to another is enough to fail."""
    errors = SMALL["trade-offs"]
    exact = marginal(Variant().outcomes(errors), 0)
    moved = {**exact, 1: exact[1] + 0.01, 2: exact[2] - 0.01}
    seen = marginal(tally(fx.select(errors, DRAWS, seed=1)), 0)
    assert chi_square_p(seen, exact) > LEAST_P > chi_square_p(seen, moved)


def test_relabelling_individuals_and_cases_relabels_the_distribution() -> None:
    errors = SMALL["six-cases"]
    rng = np.random.default_rng(4)
    rows, cases = rng.permutation(errors.shape[0]), rng.permutation(errors.shape[1])
    exact = Variant(order="weighted").outcomes(errors)
    relabelled = {(int(np.flatnonzero(rows == o[0])[0]), *o[1:]): p for o, p in exact.items()}
    assert_agrees(fx.select(errors[rows][:, cases], DRAWS, "weighted-num-nonzeros", seed=5), relabelled)


def test_a_metric_that_is_zero_everywhere_gives_the_uniform_order() -> None:
    errors = np.array([[1, 2, 3], [2, 1, 3], [3, 3, 1]])
    assert (fx.CaseStatistics(errors, np.zeros(3, np.int64)).zeros == 0).all()
    variant = Variant()
    for method in ("weighted-num-zeros", "ranked-num-zeros"):
        assert_agrees(fx.select(errors, DRAWS, method, seed=1), variant.outcomes(errors))


def test_a_callable_bias_may_be_zero_everywhere() -> None:
    method = fx.Lexicase(order=fx.Weighted(lambda s: np.zeros(len(s.zeros))))
    errors = SMALL["ties"]
    assert (fx.select(errors, 50, method, seed=1).indices == fx.select(errors, 50, seed=1).indices).all()


def test_zero_epsilon_is_no_epsilon() -> None:
    errors = SMALL["eighths"]
    plain = fx.select(errors, 200, seed=1)
    for epsilon in (0, 0.0, np.zeros(5)):
        assert (fx.select(errors, 200, fx.Lexicase(epsilon=epsilon), seed=1).indices == plain.indices).all()


def test_infinite_epsilon_keeps_everyone() -> None:
    s = fx.select(SMALL["eighths"], 2000, fx.Lexicase(epsilon=np.inf), seed=1)
    assert set(s.indices) == set(range(7))
    assert (s.evaluations == 7 * 5).all()


BAD_ARGUMENTS = [
    ({"order": "ranked"}, TypeError, r"order must be Uniform\(\), Weighted\(bias\) or Ranked\(bias\), got 'ranked'"),
    ({"order": 3}, TypeError, r"order must be Uniform\(\), Weighted\(bias\) or Ranked\(bias\), got 3"),
    ({"order": fx.Weighted}, TypeError, r"order must be Uniform\(\), Weighted\(bias\) or Ranked\(bias\), got <class"),
    ({"batch_size": 0}, ValueError, r"batch_size must be at least 1, got 0"),
    ({"batch_size": 1.5}, TypeError, r"batch_size must be an integer, got 1\.5"),
    ({"max_cases": -1}, ValueError, r"max_cases must be at least 0, got -1"),
    ({"max_cases": 1.5}, TypeError, r"max_cases must be an integer, got 1\.5"),
    ({"max_cases": "randm"}, ValueError, r"max_cases must be one of 'random', got 'randm'; did you mean 'random'"),
    ({"slippage": -0.1}, ValueError, r"slippage must be between 0 and 1, got -0\.1"),
    ({"slippage": 1.1}, ValueError, r"slippage must be between 0 and 1, got 1\.1"),
    ({"slippage": float("nan")}, ValueError, r"slippage must be a number, got NaN"),
    ({"slippage": "often"}, TypeError, r"slippage must be a number, got 'often'"),
    ({"elitism": -1}, ValueError, r"elitism must be at least 0, got -1"),
    ({"elitism": True}, TypeError, r"elitism must be an integer, got True"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), BAD_ARGUMENTS)
def test_bad_arguments_are_named(arguments: dict[str, object], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fx.Lexicase(**arguments)


@pytest.mark.parametrize("order", [fx.Weighted, fx.Ranked])
@pytest.mark.parametrize(
    ("weights", "error", "message"),
    [
        ([1, -1], ValueError, r"bias must be finite and not negative, but case 1 has weight -1\.0"),
        ([np.nan, 1], ValueError, r"bias must be finite and not negative, but case 0 has weight nan"),
        ([1, np.inf], ValueError, r"bias must be finite and not negative, but case 1 has weight inf"),
        ([1, 2, 3], ValueError, r"bias must have one number per case: expected shape \(2,\), got \(3,\)"),
        ([[1, 2]], ValueError, r"bias must be one number per case, got 2 dimensions"),
        ([0, 0], ValueError, r"bias must have at least one positive value, but all 2 are 0"),
        (["1", "2"], TypeError, r"bias must be real numbers, got dtype <U1"),
        (None, TypeError, r"bias must be real numbers, got None"),
        (1j, TypeError, r"bias must be real numbers, got dtype complex128"),
        (np.array([1j, 1]), TypeError, r"bias must be real numbers, got dtype complex128"),
        ([[1], [1, 2]], ValueError, r"bias must be an array with rows of equal length"),
        (lambda s: s.zeros - 5, ValueError, r"bias <lambda>\(\) must be finite and not negative, but case 0"),
        (lambda s: [1, 2, 3], ValueError, r"bias <lambda>\(\) must have one number per case: expected shape \(2,\)"),
        (lambda s: "heavy", TypeError, r"bias <lambda>\(\) must be real numbers, got dtype <U5"),
    ],
)
def test_bad_weights_are_named(order: type, weights: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fx.select([[0, 1], [1, 0]], 1, fx.Lexicase(order=order(weights)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"order": fx.Weighted([1, 2, 3])},
            r"bias must have one number per case: expected shape \(2,\), got \(3,\)",
        ),
        ({"order": fx.Ranked([0, 0])}, r"bias must have at least one positive value"),
        ({"epsilon": [1.0, 2.0, 3.0]}, r"epsilon must have one value per case: expected shape \(2,\), got \(3,\)"),
    ],
)
def test_given_arrays_must_fit_the_whole_matrix_even_when_sampled(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fx.select([[0, 1], [1, 0]], 1, fx.Lexicase(sampling=fx.DownSample(1), **arguments))


def test_given_weights_follow_their_cases_into_a_sample() -> None:
    """A sample in which all given weights are 0 is shuffled uniformly, and one number serves every case."""
    errors = SMALL["ties"]
    for weights in ([0, 0, 0, 0, 1], 2.0):
        method = fx.Lexicase(order=fx.Weighted(weights), sampling=fx.DownSample(2))
        for seed in range(10):
            assert fx.select(errors, 3, method, seed=seed).cases_used.max() <= 2


@pytest.mark.parametrize("bias", ["average", "median", "variance"])
def test_a_metric_that_is_infinite_is_refused_without_a_warning(bias: str) -> None:
    errors = [[np.inf, 1.0], [np.inf, 2.0], [1.0, 3.0]]
    with pytest.raises(ValueError, match=rf"bias '{bias}' must be finite and not negative, but case 0 has weight"):
        fx.select(errors, 1, f"weighted-{bias}")
