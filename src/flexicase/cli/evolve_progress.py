"""What is seen of a run of genetic programming while it goes on."""

from __future__ import annotations

from collections import deque

from flexicase.cli.live_line import LiveLine
from flexicase.gp import Generation

LOOK_BACK = 20


class Progress(LiveLine):
    """Follows a run on standard error.

    Args:
        quiet: Show nothing.
        last: The last generation the run may reach, for the time left; unknown if None.
    """

    def __init__(self, quiet: bool = False, last: int | None = None) -> None:
        """Nothing is shown yet."""
        super().__init__(quiet)
        self._last = last
        self._seconds: deque[float] = deque(maxlen=LOOK_BACK)

    def __enter__(self) -> Progress:
        """Take over the last line of a terminal."""
        super().__enter__()
        return self

    def update(self, record: Generation) -> None:
        """Show a generation."""
        self._seconds.append(record.seconds.total)
        self.show(self.line(record), always=record.best_error == 0)

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
