"""The seam between Python and the kernels."""

from __future__ import annotations

import numpy as np

from flexicase.selection.protocol import Ended, EpsilonKind, Events, ResolvedLexicase


def test_room_with_counts() -> None:
    events = Events.empty(3, counts=True)
    assert events.counted
    arrays = [events.indices, events.evaluations, events.evaluations_distinct, events.cases_used]
    assert all(a.dtype == np.int64 and a.shape == (3,) and a.flags.c_contiguous for a in arrays)
    assert events.ended.dtype == np.uint8
    for i, array in enumerate(arrays):
        array[:] = i
    assert [int(a[0]) for a in arrays] == [0, 1, 2, 3], "the arrays must not overlap"


def test_room_without_counts() -> None:
    events = Events.empty(3, counts=False)
    assert not events.counted
    assert events.indices.shape == (3,)
    assert len(events.evaluations) == len(events.ended) == 0


def test_no_events_count_as_counted() -> None:
    assert Events.empty(0, counts=True).counted


def test_a_spec_is_plain_lexicase_unless_told_otherwise() -> None:
    spec = ResolvedLexicase()
    assert spec.weights is None
    assert spec.tolerance is EpsilonKind.NONE
    assert (spec.batch, spec.slippage, spec.random_depth, spec.ranked) == (1, 0.0, False, False)


def test_reasons_for_ending_have_their_documented_numbers() -> None:
    assert [e.value for e in Ended] == [0, 1, 2, 3]
    assert [e.name for e in Ended] == ["ONE_LEFT", "CASES_EXHAUSTED", "CUT_SHORT", "ELITE"]
