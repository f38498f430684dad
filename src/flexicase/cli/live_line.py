"""What is seen of long work while it goes on: a live line on a terminal, plain lines elsewhere."""

from __future__ import annotations

import contextlib
import sys
import time
from types import TracebackType
from typing import Any

SECONDS_BETWEEN_LINES = 1.0


class LiveLine:
    """A line on standard error that is kept up to date.

    Args:
        quiet: Show nothing.
    """

    def __init__(self, quiet: bool = False) -> None:
        """Nothing is shown yet."""
        self._quiet = quiet
        self._shown = -SECONDS_BETWEEN_LINES
        self._status: Any = None

    def __enter__(self) -> LiveLine:
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

    def show(self, text: str, *, always: bool = False) -> None:
        """Show how things stand; where there is no terminal, at most once a second unless ``always``."""
        if self._status is not None:
            from rich.text import Text

            self._status.update(Text(text))  # names in it may have brackets, which are no markup
        elif not self._quiet and (always or time.monotonic() - self._shown >= SECONDS_BETWEEN_LINES):
            self._shown = time.monotonic()
            self.note(text)

    def note(self, text: str) -> None:
        """Write a line; a closed terminal or a full disk does not disturb the work."""
        with contextlib.suppress(OSError):
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()
