"""What is seen of a run while it goes on: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections import deque
from types import TracebackType
from typing import Any

from flexicase.gp import Generation

SECONDS_BETWEEN_LINES = 1.0
LOOK_BACK = 20


class Progress:
    """Follows a run on standard error.

    Args:
        quiet: Show nothing.
        last: The last generation the run may reach, for the time left; unknown if None.
    """

    def __init__(self, quiet: bool = False, last: int | None = None) -> None:
        """Nothing is shown yet."""
        self._quiet = quiet
        self._last = last
        self._seconds: deque[float] = deque(maxlen=LOOK_BACK)
        self._shown = -SECONDS_BETWEEN_LINES
        self._status: Any = None

    def __enter__(self) -> Progress:
        """Take over the last line of a terminal."""
        if not self._quiet and sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True).status("starting")
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the line back."""
        if self._status is not None:
            self._status.stop()

    def update(self, record: Generation) -> None:
        """Show a generation."""
        self._seconds.append(record.seconds.total)
        if self._status is not None:
            self._status.update(self.line(record))
        elif not self._quiet and (time.monotonic() - self._shown >= SECONDS_BETWEEN_LINES or record.best_error == 0):
            self._shown = time.monotonic()
            self.note(self.line(record))

    def note(self, text: str) -> None:
        """Write a line."""
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()

    def line(self, record: Generation) -> str:
        """A generation in a line."""
        evaluations = "" if record.evaluations is None else f", {record.evaluations:,} evaluations"
        text = (
            f"generation {record.generation}: best error {record.best_error:g}, "
            f"{record.solved_cases} cases solved{evaluations}, {record.seconds.total:.2f} s"
        )
        if self._last is not None and record.events and record.generation < self._last:
            left = (self._last - record.generation) * sum(self._seconds) / len(self._seconds)
            text += f", at most {_duration(left)} left"
        return text


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"
