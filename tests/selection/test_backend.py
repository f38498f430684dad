"""Which kernel runs."""

from __future__ import annotations

import numpy as np
import pytest

import flexicase as fx
from flexicase.rng import Key
from flexicase.selection._reference import ReferenceKernel
from flexicase.selection.lexicase import NativeKernel
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.protocol import resolve_backend


def test_native_unless_told_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLEXICASE_BACKEND", raising=False)
    assert resolve_backend(None) == "native"


def test_the_environment_decides_when_the_argument_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEXICASE_BACKEND", "reference")
    assert resolve_backend(None) == "reference"
    assert resolve_backend("native") == "native"


def test_the_reference_really_runs_when_the_environment_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    draw = ReferenceKernel.draw
    monkeypatch.setattr(ReferenceKernel, "draw", lambda *a: ran.append(1) or draw(*a))
    fx.select([[0, 1], [1, 0]], 1)
    assert not ran
    monkeypatch.setenv("FLEXICASE_BACKEND", "reference")
    fx.select([[0, 1], [1, 0]], 1)
    assert ran


def test_an_unknown_backend_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    message = r"^backend must be one of 'native', 'reference', got 'cuda'; known: native, reference$"
    with pytest.raises(ValueError, match=message):
        fx.select([[0]], 1, backend="cuda")
    with pytest.raises(TypeError, match=r"^backend must be one of 'native', 'reference', got 3$"):
        fx.select([[0]], 1, backend=3)
    monkeypatch.setenv("FLEXICASE_BACKEND", "natve")
    with pytest.raises(ValueError, match=r"^backend must be one of .* got 'natve'; did you mean 'native'\?$"):
        fx.select([[0]], 1)


def test_kernels_are_of_the_asked_for_kind() -> None:
    matrix, key = ErrorMatrix.from_array(np.eye(3)), Key(1, 2)
    native, reference = (fx.Lexicase().prepare(matrix, key, backend) for backend in ("native", "reference"))
    assert isinstance(native, NativeKernel)
    assert isinstance(reference, ReferenceKernel)
    drawn = [k.draw(key, range(30), True, 1).indices.tolist() for k in (native, reference)]
    assert drawn[0] == drawn[1]
