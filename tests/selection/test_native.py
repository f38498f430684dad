"""The native kernel behind Python's seam."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest

import flexicase as fx
from flexicase import _native
from flexicase.rng import Key
from flexicase.selection._reference import ResolvedLexicase
from flexicase.selection.lexicase import NativeKernel
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.methods import resolve_method


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
import sys
from pathlib import Path

import numpy as np

import flexicase as fx


def kilobytes(name):
    return next(int(x.split()[1]) for x in Path("/proc/self/status").read_text().splitlines() if x.startswith(name))


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
