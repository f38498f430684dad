"""Which kernel runs."""

from __future__ import annotations

import numpy as np
import pytest

import flexicase as fx
from flexicase.rng import Key
from flexicase.selection._reference import ReferenceKernel, ResolvedLexicase
from flexicase.selection.epsilon import EpsilonKind
from flexicase.selection.lexicase import NativeKernel
from flexicase.selection.matrix import ErrorMatrix
from flexicase.selection.orders import OrderKind
from flexicase.selection.protocol import Selection, resolve_backend


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
    message = r"^backend must be one of 'native', 'reference', got 'cuda'$"
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


def test_room_with_counts() -> None:
    events = Selection.empty(3, counts=True)
    assert events.counted
    arrays = [events.indices, events.evaluations, events.evaluations_distinct, events.cases_used]
    assert all(a.dtype == np.int64 and a.shape == (3,) and a.flags.c_contiguous for a in arrays)
    assert events.ended.dtype == np.uint8
    for i, array in enumerate(arrays):
        array[:] = i
    assert [int(a[0]) for a in arrays] == [0, 1, 2, 3], "the arrays must not overlap"


def test_room_without_counts() -> None:
    events = Selection.empty(3, counts=False)
    assert not events.counted
    assert events.indices.shape == (3,)
    for name in ("evaluations", "evaluations_distinct", "cases_used", "ended"):
        with pytest.raises(ValueError, match=f"^{name} was not counted: .* select by a lexicase method"):
            getattr(events, name)


def test_no_events_count_as_counted() -> None:
    assert Selection.empty(0, counts=True).counted


def test_a_spec_is_plain_lexicase_unless_told_otherwise() -> None:
    spec = ResolvedLexicase()
    assert spec.weights is None
    assert spec.epsilon_kind is EpsilonKind.NONE
    assert (spec.batch_size, spec.slippage, spec.max_cases, spec.order) == (1, 0.0, None, OrderKind.UNIFORM)


def test_reasons_for_ending_have_their_documented_numbers() -> None:
    names = {"ONE_LEFT": 0, "CASES_EXHAUSTED": 1, "TRUNCATED": 2, "ELITE": 3, "ALL_FAILED": 4, "OUT_OF_BUDGET": 5}
    assert {e.name: e.value for e in fx.Ended} == names
    labels = ["one left", "cases exhausted", "truncated", "elite", "all failed", "out of budget"]
    assert [e.label for e in fx.Ended] == labels
