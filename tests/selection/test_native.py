"""The native kernel behind Python's seam."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import flexicase as fx
from flexicase import _native
from flexicase.rng import Key
from flexicase.selection.kernel import KernelSpec
from flexicase.selection.matrix import as_error_matrix
from flexicase.selection.native import NativeKernel


def test_it_says_which_instruction_set_it_uses() -> None:
    assert _native.isa() in ("base", "avx2", "avx512")


def test_events_may_be_drawn_in_any_sequence() -> None:
    """An event is a function of the key and its number, not of the events before it."""
    matrix = as_error_matrix(np.random.default_rng(1).integers(0, 4, (40, 30)))
    for spec in (KernelSpec(), KernelSpec(weights=np.linspace(0, 1, 30)), KernelSpec(batch=2, slippage=0.1)):
        kernel = NativeKernel(matrix, spec)
        whole = kernel.draw(Key(3, 4), range(100), True, 1)
        for events in (range(50, 60), range(7, 100, 13), range(99, 100), range(0)):
            part = kernel.draw(Key(3, 4), events, True, 2)
            assert part.indices.tolist() == [int(whole.indices[e]) for e in events]
            assert part.evaluations.tolist() == [int(whole.evaluations[e]) for e in events]


def test_event_numbers_may_be_huge() -> None:
    matrix = as_error_matrix(np.eye(5))
    far = NativeKernel(matrix, KernelSpec()).draw(Key(1, 1), range(2**60, 2**60 + 50), True, 1)
    near = NativeKernel(matrix, KernelSpec()).draw(Key(1, 1), range(50), True, 1)
    assert (far.indices != near.indices).any()


def test_one_selector_serves_several_python_threads() -> None:
    """Workspaces must not be shared between simultaneous draws."""
    rng = np.random.default_rng(2)
    for errors, method in (
        (rng.integers(0, 4, (200, 100)), "lexicase"),
        (rng.random((200, 100)), "epsilon-lexicase"),
        (rng.random((100, 50)), "epsilon-lexicase-dynamic"),
    ):
        kernel = fx.selection.registry.resolve_method(method).prepare(as_error_matrix(errors), Key(5, 5), "native")
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


def test_memory_beyond_the_matrix_is_about_a_byte_per_entry_for_discrete_errors() -> None:
    """One byte of code, one bit in the set of best, and little else."""
    errors = np.random.default_rng(3).integers(0, 9, (2000, 1000)).astype(np.float64)
    matrix = as_error_matrix(errors)
    NativeKernel(matrix, KernelSpec()).draw(Key(1, 1), range(100), True, 1)
    assert matrix.native.memory() <= errors.size * (1 + 1 / 8) + 32 * sum(errors.shape)


@pytest.mark.parametrize("bad", [np.zeros((2, 2), dtype=complex), np.zeros(3), np.zeros((2, 2, 2))])
def test_the_extension_itself_refuses_what_it_cannot_read(bad: np.ndarray) -> None:
    with pytest.raises(TypeError):
        _native.Matrix(bad)
