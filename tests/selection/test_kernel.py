"""The seam between Python and the kernels."""

from __future__ import annotations

import numpy as np
import pytest

import flexicase as fx
from flexicase.selection._reference import ResolvedLexicase
from flexicase.selection.epsilon import EpsilonKind
from flexicase.selection.orders import OrderKind
from flexicase.selection.protocol import Selection


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
    assert (spec.batch_size, spec.slippage, spec.random_max_cases, spec.order) == (1, 0.0, False, OrderKind.UNIFORM)


def test_reasons_for_ending_have_their_documented_numbers() -> None:
    names = {"ONE_LEFT": 0, "CASES_EXHAUSTED": 1, "TRUNCATED": 2, "ELITE": 3, "ALL_FAILED": 4}
    assert {e.name: e.value for e in fx.Ended} == names
    assert [e.label for e in fx.Ended] == ["one left", "cases exhausted", "truncated", "elite", "all failed"]
