"""The loop that runs a study: it starts runs, listens to them and records the outcomes in the ledger."""

from __future__ import annotations

import errno
import shutil
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Literal, TypeAlias

from flexicase._checks import check_count, check_seconds
from flexicase._files import describe, is_full_disk, remove_partial_files
from flexicase._provenance import Provenance, version
from flexicase.experiments._tables import DamagedTableError, read_rows, verify_rows
from flexicase.experiments.executors import Executor, Failed, Finished, LocalExecutor, Progressed
from flexicase.experiments.jobs import Layout, Progress
from flexicase.experiments.ledger import Ledger
from flexicase.experiments.spec import MAX_RUNS, StudySpec
from flexicase.experiments.study import Study

TICK_SECONDS = 1.0
MIN_FREE_BYTES = 65_536  # SQLite's largest single request, for sharing the write-ahead log
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
Ending: TypeAlias = Literal["complete", "incomplete", "interrupted"]


class FullDiskError(OSError):
    """The disk is full. Nothing recorded is lost; the same command continues when there is space."""


class Monitor:
    """Observer of a study. The base class ignores every event.

    Attributes:
        stop_signal: The signal that stopped the study, or None.

    Example:
        >>> from flexicase.experiments import Monitor
        >>> class Printing(Monitor):
        ...     def on_message(self, text):
        ...         print(text)
        >>> with Printing() as monitor:
        ...     monitor.on_message("run 0123456789abcdef failed")
        run 0123456789abcdef failed
    """

    stop_signal: int | None = None

    def __enter__(self) -> Monitor:
        return self

    def __exit__(self, *exception: object) -> None:
        """Called when the study ends."""

    def on_message(self, text: str) -> None:
        """Called with a message for the user."""

    def on_tick(self, ledger: Ledger, running: dict[str, Progress]) -> None:
        """Called every second with the progress of the running runs, by id; empty at the end."""


@dataclass(frozen=True)
class StudyOptions:
    """How to run a study; no option changes a result.

    Attributes:
        workers: Runs at a time.
        max_attempts: Failures after which a run is quarantined.
        nice: Added to the niceness of the workers.
        hang_timeout: Seconds without progress after which a run is killed; None: no limit.
        retry_quarantined: Try quarantined runs again.
    """

    workers: int = 1
    max_attempts: int = 3
    nice: int = 0
    hang_timeout: float | None = None
    retry_quarantined: bool = False

    def __post_init__(self) -> None:
        check_count(self.workers, "workers", 1, MAX_RUNS)
        check_count(self.max_attempts, "max_attempts", 1)
        check_count(self.nice, "nice", 0, 19)
        if self.hang_timeout is not None:
            check_seconds(self.hang_timeout, "hang_timeout", above_zero=True)


def run_study(
    studies: Path,
    spec: StudySpec,
    options: StudyOptions | None = None,
    monitor: Monitor | None = None,
    executor: Callable[[Study, int], Executor] = LocalExecutor,
) -> Ending:
    r"""Run a study, or continue it: finished runs are kept, interrupted ones continue from their last checkpoint.

    Args:
        studies: The folder of all studies.
        spec: The study.
        options: How to run it.
        monitor: Observes it.
        executor: Makes the executor from the study and the niceness; see `open_cluster`.

    Returns:
        ``"complete"``: every run is done; ``"incomplete"``: all but quarantined ones; ``"interrupted"``: stopped by
        Ctrl-C, SIGTERM or SIGHUP.

    Raises:
        LockedError: Another process is running this study.
        ChangedSpecError: The folder holds another study of this name.
        FullDiskError: No space is left.

    Example:
        >>> import tempfile
        >>> from pathlib import Path
        >>> from flexicase.experiments import parse_spec, run_study
        >>> text = 'name = "t"\nproblems = ["digits"]\nmethods = ["lexicase"]\nseeds = 1\n[settings]\n'
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     run_study(Path(folder), parse_spec(text + "population = 10\ngenerations = 1"))
        'complete'
    """
    options, monitor = options or StudyOptions(), monitor or Monitor()
    study = Study(studies / spec.name)
    with _explain_full_disk(study):
        study.make_folders()
        with study.lock() as lock, Ledger.open_or_create(study.ledger, spec) as ledger:
            if lock.previous is not None:
                monitor.on_message(f"continuing after {describe(lock.previous)}, which was killed")
            coordinator = Coordinator(study, ledger, executor(study, options.nice), options, monitor)
            coordinator.recover()
            return coordinator.run()


@dataclass
class Coordinator:
    """Keeps the executor busy and the ledger up to date."""

    study: Study
    ledger: Ledger
    executor: Executor
    options: StudyOptions
    monitor: Monitor
    provenance: Provenance = field(default_factory=Provenance.here)
    stopping: bool = False
    progress: dict[str, Progress] = field(default_factory=dict)
    last_heartbeat: dict[str, float] = field(default_factory=dict)
    new_versions: set[str] = field(default_factory=set)
    layout: Layout = field(default_factory=Layout)

    def recover(self) -> None:
        """Make ledger and folder agree after the last coordinator ended."""
        self.ledger.requeue("running", *(("quarantined",) if self.options.retry_quarantined else ()))
        remove_partial_files(self.study.folder / "rows")
        versions = set()
        for entry in self.ledger.entries("done"):
            assert entry.result is not None
            try:
                verify_rows(self.study.rows(entry.task.id), entry.result.checksum)
            except DamagedTableError as error:
                self.ledger.reset_run(entry.task.id, str(error))
                self.monitor.on_message(f"{error}; run {entry.task.id} will be repeated")
                continue
            self._remove_temporary(entry.task.id)
            versions |= {entry.provenance.version} if entry.provenance is not None else set()
            if not self.layout.columns:
                rows = self.study.read_rows(entry)
            self.layout.add(rows, entry.result.summary)
        if others := ", ".join(sorted(versions - {version()})):
            self.monitor.on_message(f"some finished runs were made by version {others}; this is {version()}")

    def run(self) -> Ending:
        """Run until every run is done or quarantined, or a signal arrives."""
        with self._stop_on_signals():
            try:
                while not self.stopping and self._fill():
                    self._listen()
            finally:
                self.executor.stop()
            for event in self.executor.events(0.0):
                if isinstance(event, Finished):  # just before it was stopped
                    self._record(event)
        self.ledger.requeue("running")
        self.monitor.on_tick(self.ledger, {})
        if self.stopping:
            return "interrupted"
        return "complete" if self.ledger.counts()["quarantined"] == 0 else "incomplete"

    def _fill(self) -> bool:
        """Start runs until all workers are busy; False if none is running."""
        while len(self.executor.running) < self.options.workers and (task := self.ledger.next_task()) is not None:
            self.ledger.start(task.id, self.provenance)
            self.executor.start(task)
            self.progress[task.id] = Progress(0, 0)
            self.last_heartbeat[task.id] = time.monotonic()
        return bool(self.executor.running)

    def _listen(self) -> None:
        """Handle events for a second, or until a run ends."""
        deadline = time.monotonic() + TICK_SECONDS
        moved = set()
        ended = False
        while not (ended or self.stopping) and (left := deadline - time.monotonic()) > 0:
            for event in self.executor.events(left):
                if isinstance(event, Progressed):
                    moved.add(event.run_id)
                    self.progress[event.run_id] = event.progress
                else:
                    moved.discard(event.run_id)
                    ended = True
                    if isinstance(event, Finished):
                        self._record(event)
                    else:
                        self._drop(event)
        if moved:
            self.ledger.record_heartbeats({run_id: self.progress[run_id] for run_id in moved})
            self.last_heartbeat.update(dict.fromkeys(moved, time.monotonic()))
        self._kill_hung()
        self.monitor.on_tick(self.ledger, self.progress)

    def _drop(self, event: Failed) -> None:
        del self.progress[event.run_id], self.last_heartbeat[event.run_id]
        rows = self.study.rows(event.run_id)
        remove_partial_files(rows.parent, rows.name)
        if self.stopping:  # the machine may be shutting down, which is no fault of the run
            return
        if event.full_disk:
            raise FullDiskError(errno.ENOSPC, "no space left", str(self.study.folder))
        self._fail(event.run_id, event.reason)

    def _fail(self, run_id: str, reason: str) -> None:
        state = self.ledger.fail(run_id, reason, self.options.max_attempts)
        consequence = "it is quarantined" if state == "quarantined" else "it will be tried again"
        self.monitor.on_message(f"run {run_id} failed: {reason}; {consequence}")

    def _record(self, event: Finished) -> None:
        progress = self.progress.pop(event.run_id)
        del self.last_heartbeat[event.run_id]
        path = self.study.rows(event.run_id)
        try:
            self.layout.add(read_rows(path, event.result.checksum), event.result.summary)
        except ValueError as error:  # damaged, or unlike the others
            path.unlink(missing_ok=True)
            self._fail(event.run_id, str(error))
            return
        made_by = Provenance(event.version, event.machine, self.provenance.command)
        self.ledger.finish(event.run_id, event.result, progress, made_by, event.processor_seconds)
        was = self.provenance.version
        if event.version not in (was, *self.new_versions):
            self.new_versions.add(event.version)
            self.monitor.on_message(f"runs are now made by version {event.version}; the study was started by {was}")
        self._remove_temporary(event.run_id)

    def _remove_temporary(self, run_id: str) -> None:
        """Remove the checkpoints and the log of a finished run."""
        shutil.rmtree(self.study.save(run_id), ignore_errors=True)
        self.study.log(run_id).unlink(missing_ok=True)

    def _kill_hung(self) -> None:
        timeout = self.options.hang_timeout
        for run_id, last_heartbeat in self.last_heartbeat.items():
            if timeout is not None and time.monotonic() - last_heartbeat > timeout:
                self.monitor.on_message(f"run {run_id} made no progress for {timeout:g} s: killed")
                self.executor.kill(run_id)
                self.last_heartbeat[run_id] = time.monotonic()

    @contextmanager
    def _stop_on_signals(self) -> Iterator[None]:
        def stop(number: int, frame: FrameType | None) -> None:
            self.stopping = True
            self.monitor.stop_signal = number

        before = {}
        if threading.current_thread() is threading.main_thread():
            handled = (number for number in STOP_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN)  # nohup
            before = {number: signal.signal(number, stop) for number in handled}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextmanager
def _explain_full_disk(study: Study) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        full = is_full_disk(error)
        if isinstance(error, sqlite3.Error):  # SQLite may call it an I/O error
            full = shutil.disk_usage(study.folder).free < MIN_FREE_BYTES
        if not full:
            raise
        raise FullDiskError(
            errno.ENOSPC,
            "no space left; everything recorded is safe: free some space and give the same command again",
            str(study.folder),
        ) from error
