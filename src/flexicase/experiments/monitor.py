"""Who is told how a study goes."""

from __future__ import annotations

from types import TracebackType

from flexicase.experiments.jobs import Progress
from flexicase.experiments.ledger import Ledger


class Monitor:
    """Is told how a study goes; this one does not listen.

    Attributes:
        stop_signal: The signal that stopped the study; None if there was none.

    Example:
        >>> from flexicase.experiments import Monitor
        >>> class Printing(Monitor):
        ...     def noted(self, text):
        ...         print(text)
        >>> with Printing() as monitor:
        ...     monitor.noted("run 0123456789abcdef failed")
        run 0123456789abcdef failed
    """

    stop_signal: int | None = None

    def __enter__(self) -> Monitor:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The study has ended, well or badly."""

    def noted(self, text: str) -> None:
        """Something happened that a person may want to know."""

    def beat(self, ledger: Ledger, running: dict[str, Progress]) -> None:
        """A second has passed; ``running`` has the runs that are being made, by id, and is empty at the end."""
