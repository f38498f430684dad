"""The whole lexicase family against exact probabilities, and the arguments of `Lexicase`."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter

import numpy as np
import pytest

import flexicase as fx
from flexicase import _native
from flexicase.rng import Key
from flexicase.selection._reference import ResolvedLexicase
from flexicase.selection.lexicase import NativeKernel
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.methods import resolve_method
from tests.selection._helpers import (
    BIAS_NAMES,
    LEAST_P,
    Variant,
    assert_agrees,
    chi_square_p,
    marginal,
    small_matrices,
    standard_errors_off,
    tally,
)

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


@pytest.mark.slow
@pytest.mark.parametrize("matrix", ["ties", "duplicates", "eighths"])
@pytest.mark.parametrize("variant", FAMILY, ids=str)
def test_every_variant_has_its_exact_distribution_and_counts(variant: Variant, matrix: str) -> None:
    errors = SMALL[matrix]
    assert_agrees(fx.select(errors, DRAWS, variant.method(), seed=2022), variant.outcomes(errors))


@pytest.mark.slow
@pytest.mark.parametrize("order", ["uniform", "weighted", "ranked"])
@pytest.mark.parametrize("matrix", sorted(set(SMALL) - {"ties", "duplicates", "eighths"}))
def test_every_order_is_exact_on_degenerate_matrices(order: str, matrix: str) -> None:
    variant = Variant(order=order)
    assert_agrees(fx.select(SMALL[matrix], DRAWS, variant.method(), seed=7), variant.outcomes(SMALL[matrix]))


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["static", "semi-dynamic", "dynamic", 1.0])
@pytest.mark.parametrize("matrix", ["one-row", "one-case", "all-equal", "two-rows", "constant-columns"])
def test_every_epsilon_is_exact_on_degenerate_matrices(epsilon: str | float, matrix: str) -> None:
    variant = Variant(epsilon=epsilon)
    assert_agrees(fx.select(SMALL[matrix], DRAWS // 4, variant.method(), seed=8), variant.outcomes(SMALL[matrix]))


@pytest.mark.slow
@pytest.mark.parametrize("order", ["weighted", "ranked"])
@pytest.mark.parametrize("bias", BIAS_NAMES)
def test_every_bias_orders_cases_as_defined(bias: str, order: str) -> None:
    variant = Variant(order=order, bias=bias)
    assert_agrees(
        fx.select(SMALL["mostly-solved"], DRAWS, variant.method(), seed=3), variant.outcomes(SMALL["mostly-solved"])
    )


@pytest.mark.slow
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
        ({"epsilon": [1.0, 2.0, 3.0]}, r"epsilon must have one number per case: expected shape \(2,\), got \(3,\)"),
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
    with pytest.raises(ValueError, match=rf"bias '{bias}' of the errors .* must be finite .*, but case 0 has weight"):
        fx.select(errors, 1, f"weighted-{bias}")


ERRORS = np.array([[3, 3], [0, 1], [5, 5], [1, 1], [0, 9]])


def test_the_best_come_first_in_sequence(backend: str) -> None:
    s = fx.select(ERRORS, 6, fx.Lexicase(elitism=3), seed=1, backend=backend)
    assert s.indices[:3].tolist() == [1, 3, 0]
    assert s.ended[:3].tolist() == [3, 3, 3]
    assert s.evaluations[:3].tolist() == s.evaluations_distinct[:3].tolist() == s.cases_used[:3].tolist() == [0, 0, 0]


def test_later_events_are_as_without_elitism(backend: str) -> None:
    plain = fx.select(ERRORS, 40, seed=1, backend=backend)
    elite = fx.select(ERRORS, 40, fx.Lexicase(elitism=3), seed=1, backend=backend)
    assert (elite.indices[3:] == plain.indices[3:]).all()
    assert (elite.evaluations[3:] == plain.evaluations[3:]).all()
    assert (elite.ended[3:] == plain.ended[3:]).all()


def test_the_elite_is_not_repeated_by_a_later_draw(backend: str) -> None:
    selector = fx.Selector(ERRORS, fx.Lexicase(elitism=3), seed=1, backend=backend)
    assert selector.draw_indices(2).tolist() == [1, 3]
    assert selector.draw(2).ended.tolist()[0] == 3
    assert 3 not in selector.draw(50).ended


def test_an_elite_that_does_not_fit_is_refused(backend: str) -> None:
    """Cut silently, a program would believe that its best individuals survive."""
    with pytest.raises(ValueError, match=r"^elitism must be at most the number of individuals, 5, got 6$"):
        fx.Selector(ERRORS, fx.Lexicase(elitism=6), backend=backend)
    for select in (fx.select, fx.select_indices):
        for n in (2, 0, (1, 2)):
            with pytest.raises(ValueError, match=r"^n must be at least elitism, 3, got \d$"):
                select(ERRORS, n, fx.Lexicase(elitism=3), backend=backend)
        assert len(select(ERRORS, 3, fx.Lexicase(elitism=3), backend=backend)) == 3


def test_equal_totals_are_in_random_sequence() -> None:
    errors = np.array([[1, 0], [0, 1], [0.5, 0.5], [9, 9]])
    firsts = Counter(int(fx.select(errors, 1, fx.Lexicase(elitism=1), seed=seed).indices[0]) for seed in range(900))
    assert chi_square_p(firsts, {0: 1 / 3, 1: 1 / 3, 2: 1 / 3}) > LEAST_P


def test_totals_do_not_depend_on_the_memory_layout() -> None:
    """Nearly equal totals: sums in another sequence would round differently and change the ranks."""
    rng = np.random.default_rng(1)
    row = rng.random(300)
    errors = np.stack([rng.permutation(row) for _ in range(60)])
    method = fx.Lexicase(elitism=60)
    assert np.array_equal(
        fx.select(errors, 60, method, seed=1).indices, fx.select(np.asfortranarray(errors), 60, method, seed=1).indices
    )


def test_infinite_and_overflowing_totals_come_last() -> None:
    errors = np.array([[np.inf, 0.0], [1.7e308, 1.7e308], [1.0, 1.0]])
    assert fx.select(errors, 1, fx.Lexicase(elitism=1), seed=1).indices.tolist() == [2]


def test_it_says_which_instruction_set_it_uses() -> None:
    assert _native.isa() in ("base", "avx2", "avx512")


def test_events_may_be_drawn_in_any_sequence() -> None:
    """An event is a function of the key and its number, not of the events before it."""
    matrix = ErrorMatrix.from_array(np.random.default_rng(1).integers(0, 4, (40, 30)))
    for spec in (
        ResolvedLexicase(),
        ResolvedLexicase(weights=np.linspace(0, 1, 30)),
        ResolvedLexicase(batch_size=2, slippage=0.1),
    ):
        kernel = NativeKernel(matrix, spec)
        whole = kernel.draw(Key(3, 4), range(100), True, 1)
        for events in (range(50, 60), range(7, 100, 13), range(99, 100), range(0)):
            part = kernel.draw(Key(3, 4), events, True, 2)
            assert part.indices.tolist() == [int(whole.indices[e]) for e in events]
            assert part.evaluations.tolist() == [int(whole.evaluations[e]) for e in events]


def test_event_numbers_may_be_huge() -> None:
    matrix = ErrorMatrix.from_array(np.eye(5))
    far = NativeKernel(matrix, ResolvedLexicase()).draw(Key(1, 1), range(2**60, 2**60 + 50), True, 1)
    near = NativeKernel(matrix, ResolvedLexicase()).draw(Key(1, 1), range(50), True, 1)
    assert (far.indices != near.indices).any()


def test_one_selector_serves_several_python_threads() -> None:
    """Workspaces must not be shared between simultaneous draws."""
    rng = np.random.default_rng(2)
    for errors, method in (
        (rng.integers(0, 4, (200, 100)), "lexicase"),
        (rng.random((200, 100)), "epsilon-lexicase"),
        (rng.random((100, 50)), "epsilon-lexicase-dynamic"),
    ):
        kernel = resolve_method(method).prepare(ErrorMatrix.from_array(errors), Key(5, 5), "native")
        expected = kernel.draw(Key(5, 5), range(2000), True, 1)
        results: dict[int, object] = {}

        def work(i: int, kernel: object = kernel, results: dict[int, object] = results) -> None:
            results[i] = kernel.draw(Key(5, 5), range(2000), True, 2)

        workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        for out in results.values():
            assert np.array_equal(out.indices, expected.indices)
            assert np.array_equal(out.evaluations, expected.evaluations)
        assert len(results) == 4


PEAK = """
import ctypes
import sys
from pathlib import Path

import numpy as np

import flexicase as fx


def kilobytes(name):
    return next(int(x.split()[1]) for x in Path("/proc/self/status").read_text().splitlines() if x.startswith(name))


ctypes.CDLL(None).prctl(41, 1, 0, 0, 0)  # PR_SET_THP_DISABLE: huge pages round up what is used
dtype, method, order, rows, cases, copies = sys.argv[1], sys.argv[2], sys.argv[3], *map(int, sys.argv[4:])
errors = np.random.default_rng(3).integers(0, 2 if dtype == "bool" else 9, (rows // copies, cases), dtype=np.int8)
errors = np.tile(errors, (copies, 1)).astype(dtype, order=order)
fx.select(errors[:20, :20].copy(), 5, method, seed=1)
Path("/proc/self/clear_refs").write_text("5")
before = kilobytes("VmRSS")
selector = fx.Selector(errors, method, seed=1)
selector.draw(100)
print((kilobytes("VmHWM") - before) * 1024 / errors.size)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory use of a process the way Linux reports it")
@pytest.mark.parametrize(
    ("dtype", "method", "order", "shape"),
    [
        ("bool", "lexicase", "C", (5000, 1000, 1)),
        ("int8", "lexicase", "C", (5000, 1000, 1)),
        ("int64", "lexicase", "C", (5000, 1000, 1)),
        ("int64", "lexicase", "C", (5000, 1000, 2)),
        ("float64", "ranked-num-zeros", "C", (5000, 1000, 1)),
        ("float32", "weighted-num-nonzeros", "F", (5000, 1000, 1)),
        ("float64", "lexicase", "C", (50_000, 100, 1)),
    ],
)
def test_a_process_grows_by_a_byte_per_entry_of_discrete_errors_at_most(
    dtype: str, method: str, order: str, shape: tuple[int, int, int]
) -> None:
    """At any time, of a matrix so large that a process's other memory does not matter."""
    command = [sys.executable, "-c", PEAK, dtype, method, order, *map(str, shape)]
    grown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert float(grown) <= 1.0


@pytest.mark.parametrize("dtype", [np.bool_, np.int8, np.uint8, np.int64, np.float64])
@pytest.mark.parametrize("shape", [(600, 100), (2000, 300)])
@pytest.mark.parametrize("copies", [1, 2])
def test_what_a_matrix_holds_is_a_byte_per_entry_of_discrete_errors_at_most(
    dtype: type, shape: tuple[int, int], copies: int
) -> None:
    """With every row different, codes of all rows and sets of best would not both fit."""
    rng = np.random.default_rng(3)
    errors = np.tile(rng.integers(0, 2 if dtype is np.bool_ else 9, (shape[0] // copies, shape[1])), (copies, 1))
    matrix = ErrorMatrix.from_array(errors.astype(dtype))
    NativeKernel(matrix, ResolvedLexicase()).draw(Key(1, 1), range(100), True, 1)
    assert matrix.native.memory() <= errors.size


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.int16, np.uint64, np.float32, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("penalty", [None, 1000, 255])
def test_kinds_without_codes_are_selected_as_the_reference_does(dtype: type, order: str, penalty: int | None) -> None:
    """All rows differ, so the last ones are read from the caller's matrix: it must make no difference."""
    rng = np.random.default_rng(7)
    errors = np.where(rng.random((300, 80)) < 0.3, 0, rng.integers(1, 5, (300, 80)))
    errors[150:] = errors[:150]  # two of a kind differ in a case at most
    errors[np.arange(150, 300), rng.integers(0, 80, 150)] += 1
    errors[rng.random(errors.shape) < 0.1] += 2
    if penalty is not None:
        errors[200:][rng.random((100, 80)) < 0.2] = penalty
    errors = np.asarray(errors, dtype=dtype, order=order)
    assert len(np.unique(errors, axis=0)) > 290
    for method in ("lexicase", "weighted-num-zeros", "ranked-num-nonzeros"):
        native, reference = (fx.select(errors, 60, method, seed=2, backend=b) for b in ("native", "reference"))
        quick = fx.select_indices(errors, 60, method, seed=2)
        assert np.array_equal(native.indices, reference.indices)
        assert np.array_equal(native.evaluations, reference.evaluations)
        assert np.array_equal(native.evaluations_distinct, reference.evaluations_distinct)
        assert np.array_equal(quick, reference.indices)
    assert ErrorMatrix.from_array(errors).native.zeros().tolist() == (errors == 0).sum(axis=0).tolist()


def test_a_255_before_or_after_a_penalty_is_not_taken_for_it() -> None:
    """Code 255 stands for the penalty only if no error is 255."""
    rng = np.random.default_rng(8)
    for first, second in ((255, 900), (900, 255), (900, 901)):
        errors = rng.integers(0, 3, (200, 100))
        errors[3, :50], errors[190, :50] = first, second
        errors[:, 0] = np.where(np.arange(200) == 3, first, second)
        native, reference = (fx.select(errors, 200, seed=2, backend=b) for b in ("native", "reference"))
        assert np.array_equal(native.indices, reference.indices)
        assert np.array_equal(native.evaluations, reference.evaluations)


@pytest.mark.parametrize("bad", [np.zeros((2, 2), dtype=complex), np.zeros(3), np.zeros((2, 2, 2))])
def test_the_extension_itself_refuses_what_it_cannot_read(bad: np.ndarray) -> None:
    with pytest.raises(TypeError):
        _native.Matrix(bad)
