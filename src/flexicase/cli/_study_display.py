"""How a study goes, while it goes: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, cast

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from flexicase.experiments import Monitor
from flexicase.experiments._outcomes import one_line
from flexicase.experiments.study import StudyStatus, study_status

if TYPE_CHECKING:
    from flexicase.experiments import Progress
    from flexicase.experiments.ledger import Ledger, LedgerEntry

PLAIN_SECONDS = 60.0
LINE_CHARACTERS = 10_000


def monitor_for(workers: int, stream: IO[str] | None = None, *, quiet: bool = False) -> Monitor:
    """The display that fits where messages go, standard error unless told otherwise."""
    stream = stream or sys.stderr
    if quiet:
        return Monitor()
    return LiveMonitor(workers, stream) if stream.isatty() else PlainMonitor(workers, stream)


def duration(seconds: float | None) -> str:
    """A time span for people.

    Example:
        >>> from flexicase.cli._study_display import duration
        >>> duration(42), duration(3723), duration(None)
        ('42 s', '1 h 02 min', '?')
    """
    if seconds is None:
        return "?"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def headline(view: StudyStatus) -> str:
    """How far a study is, in one line."""
    counts = view.counts
    parts = [f"{counts['done']} of {view.total} runs done"]
    parts += [f"{counts[state]} {state}" for state in ("running", "failed", "quarantined") if counts[state]]
    if counts["planned"] or counts["running"] or counts["failed"]:
        parts.append(f"time left {duration(view.seconds_left)}")
    return ", ".join(parts)


def successes(view: StudyStatus) -> str:
    """Successes so far in one line, all variants of a method together."""
    parts = []
    for problem in dict.fromkeys(score.problem for score in view.scores):
        counted = []
        for method in dict.fromkeys(score.method for score in view.scores if score.problem == problem):
            scores = [score for score in view.scores if (score.problem, score.method) == (problem, method)]
            counted.append(f"{method} {sum(s.successes for s in scores)}/{sum(s.done for s in scores)}")
        parts.append(f"{problem}: {', '.join(counted)}")
    return "; ".join(parts)


class Display:
    """A stream for displays: what cannot be written is dropped, since no study shall end for it."""

    def __init__(self, stream: IO[str]) -> None:
        """Write to a stream."""
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        """The rest is up to the stream."""
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write, if that is possible."""
        with suppress(OSError, ValueError):  # ValueError: it was closed
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Flush, if that is possible."""
        with suppress(OSError, ValueError):
            self._stream.flush()


class PlainMonitor(Monitor):
    """Lines for a log file: one per minute, and one for everything that goes wrong."""

    def __init__(self, workers: int, stream: IO[str]) -> None:
        """Write to a stream."""
        self.workers, self.stream = workers, Display(stream)
        self._next, self._last = 0.0, ""

    def on_message(self, text: str) -> None:
        """Print it."""
        self._print(text)

    def on_tick(self, ledger: Ledger, running: dict[str, Progress]) -> None:
        """Print a line, if the last one is a while ago or this is the end."""
        if running and time.monotonic() < self._next:
            return
        view = study_status(ledger.entries(), self.workers)
        self._print(f"{headline(view)}; successes: {successes(view)}")
        self._next = time.monotonic() + PLAIN_SECONDS

    def _print(self, text: str) -> None:
        if text != self._last:
            self.stream.write(f"{time.strftime('%H:%M:%S')} {one_line(text, LINE_CHARACTERS)}\n")
            self.stream.flush()
            self._last = text


class LiveMonitor(Monitor):
    """An overall bar, a line per run that is being made, and successes so far."""

    def __init__(self, workers: int, stream: IO[str]) -> None:
        """Draw on a terminal."""
        self.workers = workers
        self.console = Console(file=cast("IO[str]", Display(stream)))
        self._live = Live(console=self.console, auto_refresh=False, transient=True)

    def __enter__(self) -> Monitor:
        """Start drawing."""
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Stop drawing, and remove the picture."""
        self._live.stop()

    def on_message(self, text: str) -> None:
        """Print it above the display."""
        self.console.print(_plain(text))

    def on_tick(self, ledger: Ledger, running: dict[str, Progress]) -> None:
        """Draw."""
        entries = ledger.entries()
        self._live.update(picture(study_status(entries, self.workers), entries, running), refresh=True)


def picture(view: StudyStatus, entries: Iterable[LedgerEntry], running: dict[str, Progress]) -> Group:
    """What `LiveMonitor` draws."""
    overall = Table.grid(padding=(0, 2))
    overall.add_row(ProgressBar(total=max(view.total, 1), completed=view.counts["done"], width=40), headline(view))
    now = Table.grid(padding=(0, 2))
    for entry in entries:
        progress = running.get(entry.task.id)
        if progress is not None:
            task = entry.task
            spent = time.time() - entry.started if entry.started else 0.0
            cells = (
                *(task.id[:8], task.problem, task.method, f"seed {task.seed}"),
                *(f"{progress.step}/{progress.steps or '?'}", progress.note, duration(spent)),
            )
            now.add_row(*map(_plain, cells))
    return Group(overall, now, _scores(view))


def _plain(text: str) -> Text:
    """Text from data, in which brackets are no markup."""
    return Text(one_line(text, LINE_CHARACTERS))


def _scores(view: StudyStatus) -> Table:
    """Successes, with a column for each variant if there are several."""
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for score in view.scores:
        row = cells.setdefault((score.problem, score.method), {})
        row[score.variant] = f"{score.successes} of {score.done}"
    variants = list(dict.fromkeys(score.variant for score in view.scores))
    headers = variants if len(variants) > 1 else ["successes"]
    table = Table(box=None, padding=(0, 2, 0, 0))
    for header in ("problem", "method", *headers):
        table.add_column(_plain(header))
    for names, row in cells.items():
        table.add_row(*map(_plain, names), *(row.get(variant, "") for variant in variants))
    return table
