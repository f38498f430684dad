"""Where runs are made: on this machine, each in a process of its own."""

from __future__ import annotations

import json
import os
import queue
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from flexicase._checks import require_package
from flexicase._provenance import usable_cores
from flexicase._ray import RaySession
from flexicase.experiments._outcomes import one_line
from flexicase.experiments.jobs import Progress, RunSpec, module_path
from flexicase.experiments.ledger import RunResult
from flexicase.experiments.study import Study

if TYPE_CHECKING:
    from flexicase.experiments.runner import StudyOptions

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_NUM_THREADS"), "1")
LOG_TAIL = 2000
PIPE_BYTES = 2**20  # more than a pipe holds
SECONDS_TO_NOTICE = 0.2
# Before anything is imported: otherwise modules in the current folder would come first.
WORKER = "import sys; sys.path[:] = sys.argv[1:]; from flexicase.experiments import _worker; _worker.main()"


@dataclass(frozen=True)
class Progressed:
    """A run has made a step."""

    run_id: str
    progress: Progress


def queued_events(run_ids: Iterable[str]) -> list[Progressed]:
    """Signs of life of runs that were started and wait for their turn: nobody shall take them for hung."""
    return [Progressed(run_id, Progress(0, 0, "waiting")) for run_id in run_ids]


@dataclass(frozen=True)
class Finished:
    """A run has come to its end and its rows are written.

    Attributes:
        run_id: Which.
        result: What it gave.
        version: The version of flexicase that made it, which may have changed since the study was started.
        machine: The machine that made it.
    """

    run_id: str
    result: RunResult
    version: str
    machine: str


@dataclass(frozen=True)
class Failed:
    """A run has ended badly.

    Attributes:
        run_id: Which.
        reason: Why, as far as is known.
        full_disk: Whether it could not write, which is no fault of the run.
    """

    run_id: str
    reason: str
    full_disk: bool = False


Event: TypeAlias = Progressed | Finished | Failed


class Executor(Protocol):
    """Makes runs somewhere. Every run that is started ends in one `Finished` or `Failed`, unless it is stopped."""

    @property
    def free(self) -> int:
        """How many more runs can be started now."""

    @property
    def running(self) -> list[str]:
        """Ids of the runs that were started and have not ended."""

    def start(self, task: RunSpec) -> None:
        """Start a run."""

    def events(self, timeout: float) -> list[Event]:
        """What has happened since the last call; waits for something to happen, at most ``timeout`` seconds."""

    def kill(self, run_id: str) -> None:
        """End a run at once; it fails."""

    def stop(self) -> None:
        """End all runs; what they have saved stays."""


class LocalExecutor:
    """Runs on this machine, each in a process of its own with one thread.

    Args:
        study: Where they write.
        workers: How many at a time.
        nice: By how much to lower their priority.

    Example:
        >>> from pathlib import Path
        >>> from flexicase.experiments.executors import LocalExecutor
        >>> from flexicase.experiments.study import Study
        >>> LocalExecutor(Study(Path("studies/tiny")), workers=2).free
        2
    """

    def __init__(self, study: Study, workers: int, nice: int = 0) -> None:
        """Remember; no process is started yet."""
        self.study, self.workers, self.nice = study, workers, nice
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._listeners: dict[str, threading.Thread] = {}
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()

    @property
    def free(self) -> int:
        """How many more runs can be started now."""
        return self.workers - len(self._processes)

    @property
    def running(self) -> list[str]:
        """Ids of the runs that were started and have not ended."""
        return list(self._processes)

    def start(self, task: RunSpec) -> None:
        """Start a run."""
        with open(self.study.log(task.id), "ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", WORKER, *module_path()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **ONE_THREAD},
                start_new_session=True,  # Ctrl-C is for the coordinator, which then stops its workers
            )
        self._processes[task.id] = process
        self._listeners[task.id] = threading.Thread(target=self._listen, args=(task.id, process), daemon=True)
        self._listeners[task.id].start()
        order = {"folder": str(self.study.folder.resolve()), "task": asdict(task), "nice": self.nice}
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # if it died at once, the listener tells
            process.stdin.write(json.dumps(order).encode() + b"\n")
            process.stdin.flush()

    def events(self, timeout: float) -> list[Event]:
        """What has happened since the last call; waits for something to happen, at most ``timeout`` seconds."""
        found: list[Event] = []
        deadline = time.monotonic() + timeout
        try:
            while True:
                left = 0.0 if found else max(0.0, deadline - time.monotonic())
                found.append(self._events.get(timeout=left) if left else self._events.get_nowait())
        except queue.Empty:
            pass
        for event in found:
            if not isinstance(event, Progressed):
                self._forget(event.run_id)
        return found

    def kill(self, run_id: str) -> None:
        """End a run at once, with every process that it has started; it fails."""
        _kill_group(self._processes[run_id])

    def stop(self) -> None:
        """End all runs; what they have saved stays. `events` then has the last words of those that were faster."""
        for process in self._processes.values():
            _kill_group(process)
        for listener in self._listeners.values():
            listener.join()

    def _forget(self, run_id: str) -> None:
        process = self._processes.pop(run_id)
        self._listeners.pop(run_id).join()
        if process.stdin is not None:
            with suppress(BrokenPipeError):
                process.stdin.close()

    def _listen(self, run_id: str, process: subprocess.Popen[bytes]) -> None:
        """Pass on what a worker says; its last word is its result, or why there is none."""
        last: Event | None = None
        try:
            for line in _lines(process):
                event = _event(run_id, line)
                if isinstance(event, Progressed):
                    self._events.put(event)
                else:
                    last = event or last
        finally:
            code = process.wait()
            _kill_group(process)
            self._events.put(last or Failed(run_id, self._why(run_id, code)))

    def _why(self, run_id: str, code: int) -> str:
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        try:
            tail = self.study.log(run_id).read_bytes()[-LOG_TAIL:].decode(errors="replace").strip()
        except OSError:
            tail = ""
        return f"worker {how}" + (f": {one_line(tail.splitlines()[-1])}" if tail else "")


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """End a worker and what it has started; both may have ended already."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _lines(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """What a worker writes until it ends; a process that it has forked may hold the pipe for longer."""
    assert process.stdout is not None
    rest = b""
    with process.stdout as pipe, selectors.DefaultSelector() as selector:
        os.set_blocking(pipe.fileno(), False)
        selector.register(pipe, selectors.EVENT_READ)
        while True:
            ended = process.poll() is not None  # before reading: then all that it wrote is there
            if not selector.select(0 if ended else SECONDS_TO_NOTICE):
                if ended:
                    return
                continue
            chunk = os.read(pipe.fileno(), PIPE_BYTES)
            *lines, rest = (rest + chunk).split(b"\n")
            yield from lines
            if ended or not chunk:
                return


def _event(run_id: str, line: bytes) -> Event | None:
    """The event that a message tells of; None if it is no message, or was cut off by the worker's end."""
    try:
        message = json.loads(line)
        if "progress" in message:
            return Progressed(run_id, Progress(**message["progress"]))
        if "result" in message:
            return Finished(run_id, RunResult(**message["result"]), message["version"], message["machine"])
        return Failed(run_id, message["failure"], message["full_disk"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None


SLURM_WORKERS = 100


@dataclass(frozen=True)
class ExecutorFactory:
    """Where runs are made.

    Attributes:
        workers: How many at a time, unless somebody says otherwise.
        executor: Makes the executor of a study, as for `run_study`.

    Example:
        >>> from flexicase.experiments.executors import open_cluster
        >>> with open_cluster() as here:
        ...     here.workers >= 1
        True
    """

    workers: int
    executor: Callable[[Study, StudyOptions], Executor]


@contextmanager
def open_cluster(cluster: str | None = None, options: dict[str, Any] | None = None) -> Iterator[ExecutorFactory]:
    """The place that a name stands for, for as long as the context lasts.

    Args:
        cluster: None: this machine. ``"ray"``: the Ray cluster that RAY_ADDRESS names or that runs on this machine, or
            else a Ray of its own; ``"ray://HOST:PORT"``: the one with that address. ``"slurm"``: array jobs.
        options: What Ray's actors or submitit's jobs are started with.

    Raises:
        ValueError: There is no such kind of cluster, or this machine got options.
        ImportError: The package that it takes is not installed.
        ConnectionError: There is no Ray at that address.

    Example:
        >>> from flexicase.experiments.executors import open_cluster
        >>> with open_cluster("cloud") as place:
        ...     pass
        Traceback (most recent call last):
        ...
        ValueError: cluster must be ray, ray://HOST:PORT or slurm, got 'cloud'
    """
    engine, _, address = (cluster or "").partition("://")
    if engine not in ("", "ray", "slurm") or (address and engine != "ray"):
        raise ValueError(f"cluster must be ray, ray://HOST:PORT or slurm, got {cluster!r}")
    if engine == "ray":
        from flexicase.experiments._ray import RayExecutor

        with RaySession("runs on Ray need", address or None) as session:
            yield ExecutorFactory(session.workers(), lambda study, o: RayExecutor(study, o.workers, o.nice, options))
    elif engine == "slurm":
        from flexicase.experiments._slurm import SlurmExecutor

        require_package("runs on Slurm need", "submitit", extra="cluster")
        yield ExecutorFactory(SLURM_WORKERS, lambda study, o: SlurmExecutor(study, o.workers, o.nice, options))
    elif options:
        raise ValueError(f"options are for a cluster, got {', '.join(options)} and no cluster")
    else:
        yield ExecutorFactory(usable_cores(), lambda study, o: LocalExecutor(study, o.workers, o.nice))
