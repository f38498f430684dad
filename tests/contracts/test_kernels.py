"""One suite over both kernels: what any back end must do, and that they do exactly the same."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import flexicase as fx
from flexicase import _native
from flexicase.selection.matrix import ErrorMatrix
from tests.selection._helpers import KINDS, LAYOUTS

COUNTS = ("indices", "evaluations", "evaluations_distinct", "cases_used", "ended")


def assert_same(a: fx.Selection, b: fx.Selection, context: object = "") -> None:
    for name in COUNTS:
        x, y = getattr(a, name), getattr(b, name)
        assert np.array_equal(x, y), f"{name} differ: {context}"


BACKENDS: Any = ("native", "reference")


def random_method(rng: np.random.Generator, n_cases: int, metrics: list[str]) -> fx.Lexicase:
    """Any combination of order, filter, batch, depth, slippage and elitism."""
    weights = rng.random(n_cases) * (rng.random(n_cases) < 0.7)
    if n_cases:
        weights[rng.integers(n_cases)] = 1.0
    bias = metrics[rng.integers(len(metrics))] if rng.random() < 0.6 else np.round(weights, rng.integers(1, 9))
    order = [fx.Uniform(), fx.Weighted(bias), fx.Ranked(bias)][rng.integers(3)]
    fixed = [0.3, 2.0, np.round(rng.random(n_cases) * 3, 1)][rng.integers(3)]
    filters = [None, None, fixed, fx.MadEpsilon("static"), fx.MadEpsilon("semi-dynamic"), fx.MadEpsilon("dynamic")]
    return fx.Lexicase(
        order=order,
        epsilon=filters[rng.integers(len(filters))],
        batch_size=int(rng.choice([1, 1, 1, 2, 3, 7])),
        max_cases=[None, None, None, "random", int(rng.integers(0, n_cases + 2))][rng.integers(5)],
        slippage=float(rng.choice([0.0, 0.0, 0.0, 0.05])),
        elitism=int(rng.choice([0, 0, 0, 2])),
    )


def usable_metrics(errors: np.ndarray) -> list[str]:
    """Metrics that give finite, non-negative weights here."""
    sizes = errors[errors != 0].astype(np.float64)
    return fx.biases() if ((sizes > 1e-100) & (sizes < 1e100)).all() else ["num_zeros", "num_nonzeros"]


def method_for(rng: np.random.Generator, errors: np.ndarray) -> fx.Lexicase:
    """Any combination that these errors allow: integers that float64 would round can only be compared."""
    method = random_method(rng, errors.shape[1], usable_metrics(errors))
    method = dataclasses.replace(method, elitism=min(method.elitism, len(errors)))
    if ErrorMatrix.from_array(errors).native.inexact_entry() is None:
        return method
    return dataclasses.replace(method, epsilon=None, batch_size=1, elitism=0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_native_and_reference_draw_the_same(kind: str) -> None:
    """On matrices of every type, size and layout, every order and filter: parents and all four counts."""
    rng = np.random.default_rng(list(map(ord, kind)))
    layouts = list(LAYOUTS)
    for trial in range(16):
        n = int(rng.choice([1, 2, 3, 9, 63, 64, 65, rng.integers(4, 200)]))
        m = int(rng.choice([0, 1, 2, 5, 31, 64, rng.integers(3, 300)]))
        errors = KINDS[kind](rng, n, m)
        layout = layouts[trial % len(layouts)]
        view = LAYOUTS[layout](errors)
        before = view.copy()
        for method in (fx.Lexicase(), method_for(rng, errors)):
            seed = int(rng.integers(2**63))
            native = fx.select(view, 14, method, seed=seed, backend="native")
            reference = fx.select(errors, 14, method, seed=seed, backend="reference")
            assert_same(native, reference, (kind, layout, errors.shape, method))
            bare = fx.select_indices(view, 14, method, seed=seed, threads=2, backend="native")
            assert np.array_equal(bare, native.indices), ("counts off", kind, layout, errors.shape, method)
            distinct = [
                fx.select(view, min(n, 14), method, seed=seed, replace=False, backend=backend) for backend in BACKENDS
            ]
            assert_same(*distinct, ("without replacement", kind, layout, errors.shape, method))
        assert np.array_equal(view, before)


LARGE = [
    ("int64", 700, 1500),
    ("two-left", 700, 1500),
    ("float64-rounded", 300, 4000),
    ("bool", 2000, 120),
    ("few-kinds", 1500, 300),
    ("penalties", 65, 6000),
]


@pytest.mark.slow
@pytest.mark.parametrize("order", [fx.Uniform(), fx.Weighted(), fx.Ranked()], ids=["uniform", "weighted", "ranked"])
@pytest.mark.parametrize(("kind", "n", "m"), LARGE)
def test_native_and_reference_draw_the_same_on_large_matrices(
    kind: str, n: int, m: int, order: fx.Uniform | fx.Weighted | fx.Ranked
) -> None:
    """Many cases and long events, so that no shortcut of the kernel is left out."""
    errors = KINDS[kind](np.random.default_rng(n + m), n, m)
    for method in (fx.Lexicase(order=order), fx.Lexicase(order=order, epsilon=1.0)):
        native = fx.select(errors, 6, method, seed=11, backend="native")
        assert_same(native, fx.select(errors, 6, method, seed=11, backend="reference"), kind)


@pytest.mark.parametrize("threads", [2, 3, 8, 100_000])
@pytest.mark.parametrize("method", ["lexicase", "weighted-average", "ranked-num-zeros", "epsilon-lexicase-dynamic"])
def test_the_number_of_threads_changes_nothing(method: str, threads: int) -> None:
    errors = np.random.default_rng(1).integers(0, 5, (60, 40))
    n = 203
    assert_same(fx.select(errors, n, method, seed=1, threads=threads), fx.select(errors, n, method, seed=1))


def test_draws_can_be_split(backend: str) -> None:
    errors = np.random.default_rng(2).integers(0, 4, (30, 20))
    for method in ("lexicase", "weighted-num-zeros", "ranked-num-nonzeros", fx.Lexicase(elitism=4)):
        whole = fx.Selector(errors, method, seed=9, backend=backend).draw(5)
        selector = fx.Selector(errors, method, seed=9, backend=backend)
        parts = [selector.draw(3), selector.draw(0), selector.draw(2)]
        for name in COUNTS:
            assert np.array_equal(np.concatenate([getattr(p, name) for p in parts]), getattr(whole, name))


@pytest.mark.slow
def test_counts_off_gives_the_same_parents(backend: str) -> None:
    errors = np.random.default_rng(3).integers(0, 3, (40, 25))
    for method in fx.methods():
        with_counts = fx.select(errors, 30, method, seed=2, backend=backend)
        without = fx.select_indices(errors, 30, method, seed=2, backend=backend)
        assert np.array_equal(with_counts.indices, without), method
        assert isinstance(without, np.ndarray)


def test_the_papers_example_costs_thirteen_evaluations(backend: str) -> None:
    """Ten individuals, three left after the first case, one after the second: 10 + 3."""
    errors = np.ones((10, 2), dtype=np.int64)
    errors[:3, :] = 0
    errors[1:3, 1] = 1
    errors[5, 1] = 0
    s = fx.select(errors, 4, fx.Lexicase(order=fx.Weighted([1, 0])), seed=1, backend=backend)
    assert (s.indices == 0).all()
    assert (s.evaluations == 13).all()
    assert (s.cases_used == 2).all()
    assert (s.ended == 0).all()


def test_distinct_evaluations_count_each_error_vector_once(backend: str) -> None:
    """Kinds A A B B B C: six individuals, three vectors; one case leaves A A B B B, the next A A."""
    errors = np.array([[0, 0], [0, 0], [0, 1], [0, 1], [0, 1], [1, 0]])
    s = fx.select(errors, 20, fx.Lexicase(order=fx.Weighted([1, 0])), seed=1, backend=backend)
    assert set(s.indices) == {0, 1}
    assert (s.evaluations == 6 + 5).all()
    assert (s.evaluations_distinct == 3 + 2).all()
    assert (s.ended == 1).all()


def test_a_single_individual_costs_nothing(backend: str) -> None:
    s = fx.select([[3, 1, 2]], 3, seed=1, backend=backend)
    assert s.indices.tolist() == s.evaluations.tolist() == s.cases_used.tolist() == s.ended.tolist() == [0, 0, 0]


def test_identical_individuals_cost_no_distinct_evaluation(backend: str) -> None:
    s = fx.select(np.full((4, 3), 7), 400, seed=1, backend=backend)
    assert set(s.indices) == {0, 1, 2, 3}
    assert (s.evaluations == 12).all()
    assert (s.evaluations_distinct == 0).all()
    assert (s.ended == 1).all()


def test_no_cases_is_a_random_pick(backend: str) -> None:
    s = fx.select(np.empty((3, 0)), 300, seed=1, backend=backend)
    assert set(s.indices) == {0, 1, 2}
    assert (s.evaluations == 0).all()
    assert (s.ended == 1).all()


def test_no_events_gives_empty_arrays(backend: str) -> None:
    s = fx.select([[0, 1], [1, 0]], 0, seed=1, backend=backend)
    assert len(s) == 0
    assert [getattr(s, name).dtype.str[1:] for name in COUNTS] == ["i8", "i8", "i8", "i8", "u1"]
    assert all(len(getattr(s, name)) == 0 for name in COUNTS)


def test_results_have_their_documented_types(backend: str) -> None:
    s = fx.select([[0, 1], [1, 0]], 5, seed=1, backend=backend)
    assert [getattr(s, name).dtype.str[1:] for name in COUNTS] == ["i8", "i8", "i8", "i8", "u1"]
    assert all(getattr(s, name).shape == (5,) for name in COUNTS)


def test_depth_and_slippage_are_reported_as_cut_short(backend: str) -> None:
    errors = np.zeros((3, 4))
    assert (fx.select(errors, 5, fx.Lexicase(max_cases=2), seed=1, backend=backend).ended == 2).all()
    assert (fx.select(errors, 5, fx.Lexicase(max_cases=4), seed=1, backend=backend).ended == 1).all()
    assert (fx.select(errors, 5, fx.Lexicase(slippage=1.0), seed=1, backend=backend).ended == 2).all()


def test_infinite_errors_lose_to_finite_ones(backend: str) -> None:
    errors = np.array([[np.inf, np.inf], [1e300, np.inf], [np.inf, 5.0]])
    assert set(fx.select(errors, 50, seed=1, backend=backend).indices) == {1, 2}


@pytest.mark.parametrize("epsilon", [None, np.inf, 1e308, "mad", "mad-dynamic"])
def test_sums_that_overflow_still_select_somebody(backend: str, epsilon: object) -> None:
    """A batch of huge errors sums to -inf, inf or NaN; no warning, no empty pool."""
    errors = np.random.default_rng(1).choice(np.array([1.7e308, -1.7e308, 0.0, np.inf]), (9, 7))
    s = fx.select(errors, 300, fx.Lexicase(batch_size=3, epsilon=epsilon), seed=3, backend=backend)
    assert set(s.indices) <= set(range(9))


def test_signed_zeros_are_equal(backend: str) -> None:
    s = fx.select([[0.0, -0.0], [-0.0, 0.0]], 60, seed=1, backend=backend)
    assert set(s.indices) == {0, 1}
    assert (s.evaluations_distinct == 0).all()


def test_huge_integers_are_not_rounded(backend: str) -> None:
    """2**53 and 2**53 + 1 are the same number in floating point, but not here."""
    errors = np.array([[2**53 + 1], [2**53], [2**53 + 2]])
    assert (fx.select(errors, 20, seed=1, backend=backend).indices == 1).all()
    unsigned = np.array([[2**64 - 1], [2**64 - 2]], dtype=np.uint64)
    assert (fx.select(unsigned, 20, seed=1, backend=backend).indices == 1).all()


def test_different_seeds_differ(backend: str) -> None:
    errors = np.eye(50)
    draws = {tuple(fx.select(1 - errors, 10, seed=s, backend=backend).indices.tolist()) for s in range(20)}
    assert len(draws) == 20


HASH_DRAWS = """
import hashlib, sys
import numpy as np
import flexicase as fx
from flexicase import _native
from tests.contracts.test_kernels import COUNTS, method_for
from tests.selection._helpers import KINDS

digest = hashlib.sha256()
rng = np.random.default_rng(17)
for kind, make in KINDS.items():
    for trial in range(8):
        errors = make(rng, int(rng.integers(1, 150)), int(rng.integers(0, 200)))
        for method in (fx.Lexicase(), method_for(rng, errors)):
            s = fx.select(errors, 40, method, seed=trial)
            for name in COUNTS:
                digest.update(getattr(s, name).tobytes())
print(_native.isa(), digest.hexdigest())
"""


@pytest.mark.slow
def test_every_instruction_set_draws_the_same() -> None:
    """The kernel is compiled for several instruction sets; a machine without one falls back to the next."""
    runs = []
    for wish in ("base", "avx2", "avx512"):
        environment = {**os.environ, "FLEXICASE_ISA": wish, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
        done = subprocess.run(
            [sys.executable, "-c", HASH_DRAWS], env=environment, capture_output=True, text=True, check=True, timeout=120
        )
        runs.append(done.stdout.split())
    assert runs[0][0] == "base"
    assert len({digest for _, digest in runs}) == 1, runs


#: What draws parents or chooses cases in native code.
DRAWING = (
    "Kernel",
    "batch_sums",
    "draw_aggregates",
    "draw_tournaments",
    "draw_wheel",
    "elite_shares",
    "farthest_first",
)


@pytest.mark.parametrize("method", [*fx.methods(), fx.Lexicase(sampling=fx.InformedDownSample(2))], ids=str)
def test_only_the_native_back_end_draws_with_native_code(
    method: str | fx.Lexicase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The two agree on every draw, so only this shows that a back end is the one it says it is."""
    used: set[str] = set()

    def counted(name: str) -> Any:
        original = getattr(_native, name)

        def call(*arguments: Any, **options: Any) -> Any:
            used.add(name)
            return original(*arguments, **options)

        return call

    for name in DRAWING:
        monkeypatch.setattr(_native, name, counted(name))
    for backend in BACKENDS:
        used.clear()
        fx.select([[0, 1, 2], [1, 0, 2], [2, 2, 0]], 3, method, seed=1, backend=backend)
        if method in ("tournament", "fitness-proportionate"):  # total errors are one sum for both
            used.discard("batch_sums")
        assert bool(used) == (backend == "native"), used
