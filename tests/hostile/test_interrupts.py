"""Ctrl-C ends every long call soon, and threads may share objects meanwhile."""

from __future__ import annotations

import pytest

from tests.hostile.interrupts import CALLS, interrupt
from tests.hostile.soak import soak

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("name", list(CALLS))
def test_a_long_call_is_interrupted_and_does_not_stop_other_threads(name: str) -> None:
    """A call that holds the GIL or never polls for signals takes seconds; the promise is 0.1 s on an idle machine."""
    if name == "GradientLexicase.step":
        pytest.importorskip("torch")
    found = interrupt(name)
    assert found.delay < 2.0
    assert found.pause < 2.0


@pytest.mark.filterwarnings("ignore")
def test_four_threads_that_share_objects_find_no_problem() -> None:
    """Valid calls give wrong results, or bad ones are accepted; ``make hostile`` goes on for half an hour."""
    soaked, _ = soak(2.0)
    assert soaked.problems == []
    assert sum(soaked.counts.values()) > 0
