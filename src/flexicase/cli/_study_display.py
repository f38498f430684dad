"""The progress of a study: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, cast

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from flexicase.experiments import Monitor
from flexicase.experiments.jobs import one_line
from flexicase.experiments.study import StudyStatus, study_status

if TYPE_CHECKING:
    from flexicase.experiments import Ledger, Progress
    from flexicase.experiments.ledger import LedgerEntry

SECONDS_BETWEEN_LINES = 60.0
MAX_LINE = 10_000
#: Successes on more problems than this are summed up.
MAX_LISTED_PROBLEMS = 4
#: Runs whose steps are listed.
MAX_LISTED_RUNS = 4


def monitor_for(workers: int, stream: IO[str] | None = None, *, quiet: bool = False) -> Monitor:
    """The display that suits a stream, by default standard error."""
    stream = stream or sys.stderr
    if quiet:
        return Monitor()
    return LiveMonitor(workers, stream) if stream.isatty() else PlainMonitor(workers, stream)


def format_duration(seconds: float | None) -> str:
    """A duration in words.

    >>> format_duration(42), format_duration(3723), format_duration(None)
    ('42 s', '1 h 02 min', '?')
    """
    if seconds is None:
        return "?"
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def headline(status: StudyStatus) -> str:
    """The progress of a study in one line."""
    counts = status.counts
    parts = [f"{counts['done']} of {status.total} runs done"]
    parts += [f"{counts[state]} {state}" for state in ("running", "failed", "quarantined") if counts[state]]
    if counts["planned"] or counts["running"] or counts["failed"]:
        parts.append(f"time left {format_duration(status.seconds_left)}")
    return ", ".join(parts)


def _success_line(status: StudyStatus) -> str:
    """Successes so far, with all variants of a method together, and all problems too if they are many."""
    n_problems = len({cell.problem for cell in status.cells})
    together = f"{n_problems} problems" if n_problems > MAX_LISTED_PROBLEMS else ""
    counted: dict[str, dict[str, list[int]]] = {}
    for cell in status.cells:
        counts = counted.setdefault(together or cell.problem, {}).setdefault(cell.method, [0, 0])
        counts[0] += cell.successes
        counts[1] += cell.done
    return "; ".join(
        f"{problem}: {', '.join(f'{method} {successes}/{done}' for method, (successes, done) in methods.items())}"
        for problem, methods in counted.items()
    )


def _step_line(running: dict[str, Progress]) -> str:
    """The steps of some runs, so that a log shows progress while no run ends."""
    steps = [f"{progress.step}/{progress.steps or '?'}" for progress in running.values()]
    shown = ", ".join(steps[:MAX_LISTED_RUNS]) + (", …" if len(steps) > MAX_LISTED_RUNS else "")
    return f"; at step {shown}" if steps else ""


class _SafeStream:
    """A stream that drops what cannot be written, so that a closed terminal does not stop a study."""

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        with suppress(OSError, ValueError):  # ValueError: the stream was closed
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError, ValueError):
            self._stream.flush()


class PlainMonitor(Monitor):
    """Writes lines for a log file: one per minute, and one for each message."""

    def __init__(self, workers: int, stream: IO[str]) -> None:
        self.workers, self.stream = workers, _SafeStream(stream)
        self._next, self._last = 0.0, ""

    def on_message(self, text: str) -> None:
        if text != self._last:
            self.stream.write(f"{time.strftime('%H:%M:%S')} {one_line(text, MAX_LINE)}\n")
            self.stream.flush()
            self._last = text

    def on_tick(self, ledger: Ledger, running: dict[str, Progress]) -> None:
        if running and time.monotonic() < self._next:
            return
        status = study_status(ledger.entries(), self.workers)
        self.on_message(f"{headline(status)}{_step_line(running)}; successes: {_success_line(status)}")
        self._next = time.monotonic() + SECONDS_BETWEEN_LINES


class LiveMonitor(Monitor):
    """Draws a progress bar, a line per running run, and successes so far on a terminal."""

    def __init__(self, workers: int, stream: IO[str]) -> None:
        self.workers = workers
        self.console = Console(file=cast("IO[str]", _SafeStream(stream)))
        self._live = Live(console=self.console, auto_refresh=False, transient=True)

    def __enter__(self) -> Monitor:
        self._live.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._live.stop()

    def on_message(self, text: str) -> None:
        self.console.print(_plain(text))

    def on_tick(self, ledger: Ledger, running: dict[str, Progress]) -> None:
        entries = ledger.entries()
        self._live.update(picture(study_status(entries, self.workers), entries, running), refresh=True)


def picture(status: StudyStatus, entries: Iterable[LedgerEntry], running: dict[str, Progress]) -> Group:
    """What `LiveMonitor` draws."""
    overall = Table.grid(padding=(0, 2))
    bar = ProgressBar(total=max(status.total, 1), completed=status.counts["done"], width=40)
    overall.add_row(bar, headline(status))
    now = Table.grid(padding=(0, 2))
    for entry in entries:
        task, progress = entry.task, running.get(entry.task.id)
        if progress is not None:
            spent = format_duration(time.time() - entry.started if entry.started else 0.0)
            cells = [task.id[:8], task.problem, task.method, f"seed {task.seed}"]
            cells += [f"{progress.step}/{progress.steps or '?'}", progress.note, spent]
            now.add_row(*map(_plain, cells))
    return Group(overall, now, _success_table(status))


def _plain(text: str) -> Text:
    """Text from data, in which brackets are not markup."""
    return Text(one_line(text, MAX_LINE))


def _success_table(status: StudyStatus) -> Table:
    """Successes, with a column for each variant if there is more than one."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for cell in status.cells:
        rows.setdefault((cell.problem, cell.method), {})[cell.variant] = f"{cell.successes} of {cell.done}"
    variants = list(dict.fromkeys(cell.variant for cell in status.cells))
    table = Table(box=None, padding=(0, 2, 0, 0))
    for header in ("problem", "method", *(variants if len(variants) > 1 else ["successes"])):
        table.add_column(_plain(header))
    for names, row in rows.items():
        table.add_row(*map(_plain, names), *(row.get(variant, "") for variant in variants))
    return table
