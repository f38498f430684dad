"""Waiting for what other processes do."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_for(condition: Callable[[], object], seconds: float = 20.0) -> bool:
    """Whether something comes true in time."""
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.005)
    return bool(condition())
