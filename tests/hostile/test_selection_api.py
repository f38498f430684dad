"""Hostile arguments of the selection API end in an error that names the argument, never in one of another package.

Every argument of every call is replaced by a few values of the pool, drawn with a seed; `make hostile` tries all of
them, which takes minutes.
"""

from __future__ import annotations

import random
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.hostile.calls import Call, calls
from tests.hostile.values import EFFORT, POOL, is_raw

SECONDS = 5
VALUES_PER_ARGUMENT = 5
ALL = EFFORT > 1
TOO_LARGE = ("2**31-1", "2**31", "2**40", "claims", "np broadcast", "np huge")  # fill the memory of some machines
OWN_FUNCTIONS = ("bias", "evaluate", "function", "mapping", "select")  # what these raise themselves is not ours
OWN_LABELS = "same_as"  # and what their `__hash__` raises

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the time limit needs SIGALRM")


class TookTooLong(BaseException):
    """A call did not come back."""


@contextmanager
def time_limit() -> Iterator[None]:
    def stop(number: int, frame: Any) -> None:
        raise TookTooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def labels(call: Call, argument: str) -> list[str]:
    known = [label for label in POOL if label not in TOO_LARGE]
    if ALL:
        return known
    return random.Random(f"{call.name} {argument}").sample(known, VALUES_PER_ARGUMENT)


def complaint(call: Call, argument: str, label: str) -> str | None:
    """What is wrong with how a call with a hostile value ends, or None."""
    value = POOL[label]()
    try:
        with time_limit():
            call.function(**call.arguments | {argument: value})
    except TookTooLong:
        return "takes too long"
    except Exception as error:
        if (argument in OWN_FUNCTIONS and callable(value)) or (argument == OWN_LABELS and label == "raises"):
            return None
        reason = is_raw(error, argument)
        return None if reason is None else f"{reason}: {type(error).__name__}: {error}"
    return None


@pytest.mark.parametrize("call", calls(), ids=lambda call: call.name)
def test_valid_calls_succeed(call: Call) -> None:
    call.function(**call.arguments)


@pytest.mark.slow
@pytest.mark.parametrize("name", [call.name for call in calls()])
def test_hostile_arguments_are_refused_by_name(name: str) -> None:
    found = []
    for argument in next(call for call in calls() if call.name == name).arguments:
        for label in labels(next(call for call in calls() if call.name == name), argument):
            call = next(call for call in calls() if call.name == name)  # afresh: a call may use up its arguments
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                problem = complaint(call, argument, label)
            if problem is not None:
                found.append(f"{argument}={label}: {problem}")
    assert not found


def raised_by(call: Any) -> BaseException:
    try:
        call()
    except Exception as error:
        return error
    raise AssertionError("no error")


def test_errors_of_other_packages_are_raw() -> None:
    """The rule itself: it must see what it is there to see."""
    import numpy as np

    import flexicase as fx
    from flexicase import _native

    assert is_raw(raised_by(lambda: fx.select([[1]], -1)), "n") is None
    assert is_raw(raised_by(lambda: fx.select([[1]], -1)), "method") == "does not name method"
    assert is_raw(raised_by(lambda: _native.Matrix("x"))) == "native text"
    assert is_raw(raised_by(lambda: np.ones(2).reshape(3))) == "not raised by the package"
    assert is_raw(raised_by(fx.select)) == "not raised by the package"
    assert is_raw(raised_by(lambda: {}[0])) == "a KeyError"
    assert is_raw(MemoryError()) == "no text"
