"""Who is told how a study goes."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import Literal, TypeAlias

from flexicase._checks import check_count, check_seconds
from flexicase._files import describe, remove_partial_files
from flexicase._provenance import Provenance, version
from flexicase.experiments._outcomes import Layout
from flexicase.experiments._tables import DamagedTableError, read_rows, verify_rows
from flexicase.experiments._worker import FULL_DISK
from flexicase.experiments.executors import Executor, Failed, Finished, LocalExecutor, Progressed
from flexicase.experiments.jobs import Progress
from flexicase.experiments.ledger import Ledger
from flexicase.experiments.spec import MAX_RUNS, StudySpec
from flexicase.experiments.study import Study


class Monitor:
    """Is told how a study goes; this one does not listen.

    Attributes:
        stop_signal: The signal that stopped the study; None if there was none.

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
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """The study has ended, well or badly."""

    def on_message(self, text: str) -> None:
        """Something happened that a person may want to know."""

    def on_tick(self, ledger: Ledger, running: dict[str, Progress]) -> None:
        """A second has passed; ``running`` has the runs that are being made, by id, and is empty at the end."""


BEAT_SECONDS = 1.0
MIN_FREE_BYTES = 65_536  # SQLite's largest single request, for sharing the write-ahead log
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
Ending: TypeAlias = Literal["complete", "incomplete", "interrupted"]


class FullDiskError(OSError):
    """The disk is full. Nothing that was recorded is lost, and the same command goes on when there is space."""


@dataclass(frozen=True)
class StudyOptions:
    """How a study is run; none of it changes a result.

    Attributes:
        workers: Runs at a time.
        max_attempts: How often a run may fail before it is quarantined.
        nice: By how much to lower the workers' priority.
        hang_timeout: Seconds without a sign of life after which a run counts as hung and is ended; None: never.
        retry_quarantined: Give quarantined runs another chance.

    Example:
        >>> from flexicase.experiments import StudyOptions
        >>> StudyOptions(workers=2).max_attempts
        3
    """

    workers: int = 1
    max_attempts: int = 3
    nice: int = 0
    hang_timeout: float | None = None
    retry_quarantined: bool = False

    def __post_init__(self) -> None:
        """Refuse numbers that no study can use."""
        check_count(self.workers, "workers", 1, MAX_RUNS)
        check_count(self.max_attempts, "max_attempts", 1)
        check_count(self.nice, "nice", 0, 19)
        if self.hang_timeout is not None:
            check_seconds(self.hang_timeout, "hang_timeout", above_zero=True)


def run_study(
    root: Path,
    spec: StudySpec,
    options: StudyOptions | None = None,
    monitor: Monitor | None = None,
    executor: Callable[[Study, StudyOptions], Executor] | None = None,
) -> Ending:
    r"""Make all runs of a study that are not done yet, in ``root / spec.name``.

    May be called again at any time, after whatever has happened: finished runs are kept, interrupted ones go on from
    where they last saved.

    Args:
        root: The folder of all studies.
        spec: The study.
        options: How to run it.
        monitor: Is told how it goes.
        executor: Makes the object that makes the runs; by default a `LocalExecutor`.

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
    study = Study(root / spec.name)
    with _clear_full_disk(study):
        study.make_folders()
        with study.lock() as lock, Ledger.open_or_create(study.ledger, spec) as ledger:
            if lock.previous is not None:
                monitor.on_message(f"going on after {describe(lock.previous)}, which did not end by itself")
            recover(study, ledger, options, monitor)
            made_by = (executor or _local)(study, options)
            return Coordinator(study, ledger, made_by, options, monitor).run()


def recover(study: Study, ledger: Ledger, options: StudyOptions, monitor: Monitor) -> None:
    """Bring ledger and folder into agreement, whatever ended the last coordinator; tell what is found on the way."""
    ledger.requeue("running", *(("quarantined",) if options.retry_quarantined else ()))
    remove_partial_files(study.folder / "rows")
    for entry in ledger.entries("done"):
        assert entry.result is not None
        try:
            verify_rows(study.rows(entry.task.id), entry.result.checksum)
        except DamagedTableError as error:
            ledger.reset_run(entry.task.id, str(error))
            monitor.on_message(f"{error}; run {entry.task.id} will be made again")
        else:
            _remove_temporary(study, entry.task.id)
    others = {e.provenance.version for e in ledger.entries("done") if e.provenance is not None} - {version()}
    if others:
        monitor.on_message(f"some finished runs were made by version {', '.join(sorted(others))}; this is {version()}")


@dataclass
class Coordinator:
    """The loop that keeps the executor busy and the ledger true."""

    study: Study
    ledger: Ledger
    executor: Executor
    options: StudyOptions
    monitor: Monitor
    provenance: Provenance = field(default_factory=Provenance.here)
    stopping: bool = False
    progress: dict[str, Progress] = field(default_factory=dict)
    last_heartbeat: dict[str, float] = field(default_factory=dict)
    versions: set[str] = field(init=False)
    layout: Layout = field(default_factory=Layout)

    def __post_init__(self) -> None:
        """So far there is one version of flexicase at work, and the finished runs say what others look like."""
        self.versions = {self.provenance.version}
        for entry in self.ledger.entries("done"):
            assert entry.result is not None
            if self.layout.columns is None:
                rows = read_rows(self.study.rows(entry.task.id), entry.result.checksum)
            self.layout.add(rows, entry.result.summary)

    def run(self) -> Ending:
        """Go on until everything is done, or a signal comes."""
        with _stopping_on_signals(self):
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
        """Start as many runs as there is room for; whether any are going on."""
        while self.executor.free > 0 and (task := self.ledger.next_task()) is not None:
            self.ledger.start(task.id, self.provenance)
            self.executor.start(task)
            self.progress[task.id] = Progress(0, 0)
            self.last_heartbeat[task.id] = time.monotonic()
        return bool(self.executor.running)

    def _listen(self) -> None:
        deadline = time.monotonic() + BEAT_SECONDS
        moved = set()
        room = False
        while not (room or self.stopping) and (left := deadline - time.monotonic()) > 0:
            for event in self.executor.events(left):
                if isinstance(event, Progressed):
                    moved.add(event.run_id)
                    self.progress[event.run_id] = event.progress
                else:
                    moved.discard(event.run_id)
                    self._end(event)
                    room = True
        if moved:
            self.ledger.record_heartbeats({run_id: self.progress[run_id] for run_id in moved})
            self.last_heartbeat.update(dict.fromkeys(moved, time.monotonic()))
        self._end_hung()
        self.monitor.on_tick(self.ledger, self.progress)

    def _end(self, event: Finished | Failed) -> None:
        if isinstance(event, Finished):
            self._record(event)
            return
        del self.progress[event.run_id], self.last_heartbeat[event.run_id]
        rows = self.study.rows(event.run_id)
        remove_partial_files(rows.parent, rows.name)
        if self.stopping:  # and so, it seems, is everything else on this machine
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
        self.ledger.finish(event.run_id, event.result, progress, made_by)
        if event.version not in self.versions:
            self.versions.add(event.version)
            was = self.provenance.version
            self.monitor.on_message(f"runs are now made by version {event.version}; the study was started by {was}")
        _remove_temporary(self.study, event.run_id)

    def _end_hung(self) -> None:
        if self.options.hang_timeout is None:
            return
        for run_id, last_heartbeat in self.last_heartbeat.items():
            if time.monotonic() - last_heartbeat > self.options.hang_timeout:
                self.monitor.on_message(f"run {run_id} gave no sign of life for {self.options.hang_timeout:g} s: ended")
                self.executor.kill(run_id)
                self.last_heartbeat[run_id] = time.monotonic()


def _local(study: Study, options: StudyOptions) -> Executor:
    return LocalExecutor(study, options.workers, options.nice)


def _remove_temporary(study: Study, run_id: str) -> None:
    """Remove what a run needed only until it was done."""
    shutil.rmtree(study.save(run_id), ignore_errors=True)
    study.log(run_id).unlink(missing_ok=True)


@contextmanager
def _stopping_on_signals(coordinator: Coordinator) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        coordinator.stopping = True
        coordinator.monitor.stop_signal = number

    before = {}
    if threading.current_thread() is threading.main_thread():
        heeded = (number for number in STOP_SIGNALS if signal.getsignal(number) is not signal.SIG_IGN)  # nohup
        before = {number: signal.signal(number, stop) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _has_no_space(folder: Path) -> bool:
    """Whether an error of SQLite, which may call it an I/O error, must be due to a full disk."""
    space = os.statvfs(folder)
    return space.f_bavail * space.f_frsize < MIN_FREE_BYTES


@contextmanager
def _clear_full_disk(study: Study) -> Iterator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        full = error.errno in FULL_DISK if isinstance(error, OSError) else _has_no_space(study.folder)
        if not full:
            raise
        raise FullDiskError(
            errno.ENOSPC,
            "no space left; everything recorded is safe: free some space and give the same command again",
            str(study.folder),
        ) from error
