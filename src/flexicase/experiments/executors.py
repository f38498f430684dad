"""Executors of runs: on this machine, each run in its own process, or on a cluster."""

from __future__ import annotations

import json
import os
import queue
import selectors
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, NoReturn, Protocol, TypeAlias, TypeVar

from flexicase._checks import require_package
from flexicase._files import FileLock, is_full_disk, write_quickly
from flexicase._provenance import machine, usable_cores, version
from flexicase.experiments._tables import rows_digest, write_rows
from flexicase.experiments.jobs import (
    Progress,
    RunSpec,
    check_outcome,
    check_progress,
    load_job,
    module_path,
    one_line,
)
from flexicase.experiments.ledger import RunResult
from flexicase.experiments.study import Study

Item = TypeVar("Item")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_NUM_THREADS"), "1")
LOG_TAIL = 2000
PIPE_BYTES = 2**20  # more than a pipe holds
POLL_SECONDS = 0.2
SLURM_WORKERS = 100
# The path is set before anything is imported; otherwise modules in the current folder would come first.
WORKER = "import sys; sys.path[:] = sys.argv[1:]; from flexicase.experiments import executors; executors.run_worker()"
EXIT_ORPHANED = 3
PREDECESSOR_SECONDS = 60.0
PROCESSOR_TIME = "processor_seconds"


@dataclass(frozen=True)
class Progressed:
    """A run has made a step."""

    run_id: str
    progress: Progress


@dataclass(frozen=True)
class Finished:
    """A run is finished and its rows are written; the processor time is over all attempts."""

    run_id: str
    result: RunResult
    version: str
    machine: str
    processor_seconds: float


@dataclass(frozen=True)
class Failed:
    """A run has failed; ``full_disk``: because it could not write."""

    run_id: str
    reason: str
    full_disk: bool = False


Event: TypeAlias = Progressed | Finished | Failed


class Executor(Protocol):
    """Makes runs. Every started run ends in one `Finished` or `Failed`, unless it is stopped."""

    @property
    def running(self) -> list[str]:
        """Ids of the runs that have started and not ended."""

    def start(self, task: RunSpec) -> None:
        """Start a run."""

    def events(self, timeout: float) -> list[Event]:
        """Events since the last call; waits up to ``timeout`` seconds for the first."""

    def kill(self, run_id: str) -> None:
        """End a run at once; it fails."""

    def stop(self) -> None:
        """End all runs; their checkpoints stay."""


class LocalExecutor:
    """Makes runs on this machine, each in its own process with one thread; ``nice`` is added to its niceness."""

    def __init__(self, study: Study, nice: int = 0) -> None:
        self.study, self.nice = study, nice
        self._workers: dict[str, tuple[subprocess.Popen[bytes], threading.Thread]] = {}
        self._events: queue.SimpleQueue[Event] = queue.SimpleQueue()

    @property
    def running(self) -> list[str]:
        return list(self._workers)

    def start(self, task: RunSpec) -> None:
        with open(self.study.log(task.id), "ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", WORKER, *module_path()],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, **ONE_THREAD},
                start_new_session=True,  # Ctrl-C is for the coordinator, which then stops its workers
            )
        listener = threading.Thread(target=self._listen, args=(task.id, process), daemon=True)
        self._workers[task.id] = process, listener
        listener.start()
        request = {"folder": str(self.study.folder.resolve()), "task": asdict(task), "nice": self.nice}
        assert process.stdin is not None
        with suppress(BrokenPipeError):  # the listener reports a worker that died at once
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()

    def events(self, timeout: float) -> list[Event]:
        found = drain(self._events, timeout)
        for event in found:
            if not isinstance(event, Progressed):
                process, listener = self._workers.pop(event.run_id)
                listener.join()
                assert process.stdin is not None
                with suppress(BrokenPipeError):
                    process.stdin.close()
        return found

    def kill(self, run_id: str) -> None:
        _kill_group(self._workers[run_id][0])

    def stop(self) -> None:
        """End all runs; `events` then returns the last events, also of runs that finished before the kill."""
        for process, _ in self._workers.values():
            _kill_group(process)
        for _, listener in self._workers.values():
            listener.join()

    def _listen(self, run_id: str, process: subprocess.Popen[bytes]) -> None:
        """Forward a worker's messages; the last one is its result or why there is none."""
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
            self._events.put(last or Failed(run_id, self._exit_reason(run_id, code)))

    def _exit_reason(self, run_id: str, code: int) -> str:
        reason = f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"
        with suppress(OSError, IndexError):  # no log, or an empty one
            with open(self.study.log(run_id), "rb") as log:  # which may be larger than memory
                log.seek(max(0, log.seek(0, os.SEEK_END) - LOG_TAIL))
                tail = log.read(LOG_TAIL).decode(errors="replace")
            reason += f": {one_line(tail.strip().splitlines()[-1])}"
        return f"worker {reason}"


def run_to_end(
    study: Study, task: RunSpec, nice: int = 0, report: Callable[[Progress], None] | None = None
) -> Finished | Failed:
    """Make one run on this machine; ``report`` is called with its progress."""
    executor = LocalExecutor(study, nice)
    executor.start(task)
    try:
        while True:
            for event in executor.events(1.0):
                if not isinstance(event, Progressed):
                    return event
                if report is not None:
                    report(event.progress)
    finally:
        executor.stop()


def drain(items: queue.SimpleQueue[Item], timeout: float) -> list[Item]:
    """Empty a queue; waits up to ``timeout`` seconds for the first item."""
    found = []
    with suppress(queue.Empty):
        found.append(items.get(timeout=timeout))
        while True:
            found.append(items.get_nowait())
    return found


def queued_events(run_ids: Iterable[str]) -> list[Event]:
    """Heartbeats of runs that wait in a queue, so that they do not count as hung."""
    return [Progressed(run_id, Progress(0, 0, "waiting")) for run_id in run_ids]


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a worker and the processes that it started; they may have ended already."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _lines(process: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """The lines that a worker writes until it ends; a process that it forked may hold the pipe open for longer."""
    assert process.stdout is not None
    rest = b""
    with process.stdout as pipe, selectors.DefaultSelector() as selector:
        os.set_blocking(pipe.fileno(), False)
        selector.register(pipe, selectors.EVENT_READ)
        ended = False
        while not ended:
            ended = process.poll() is not None  # asked before reading, so that nothing is written after the last read
            if selector.select(0 if ended else POLL_SECONDS):
                chunk = os.read(pipe.fileno(), PIPE_BYTES)
                *lines, rest = (rest + chunk).split(b"\n")
                yield from lines
                ended = ended or not chunk


def _event(run_id: str, line: bytes) -> Event | None:
    """The event in a message; None if the line is not a whole message."""
    try:
        message = json.loads(line)
        if "progress" in message:
            return Progressed(run_id, Progress(**message["progress"]))
        if "result" in message:
            return Finished(run_id, RunResult(**message.pop("result")), **message)
        return Failed(run_id, **message)
    except (ValueError, TypeError, RecursionError):
        return None


def _make_run(study: Study, task: RunSpec, messages: IO[str]) -> None:
    """Make a run, write its rows, and send its progress and its result."""
    save = study.save(task.id)
    save.mkdir(parents=True, exist_ok=True)
    with FileLock(save / "lock", f"run {task.id}", PREDECESSOR_SECONDS):  # a predecessor may be about to end
        earlier = 0.0  # processor time of earlier attempts
        with suppress(OSError, ValueError):
            earlier = float((save / PROCESSOR_TIME).read_text())

        def processor_seconds() -> float:
            return round(earlier + sum(os.times()[:4]), 2)

        def report(progress: Progress) -> None:
            _send(messages, {"progress": check_progress(progress)._asdict()})
            write_quickly(save / PROCESSOR_TIME, str(processor_seconds()))

        outcome = load_job(task.kind, allow_code=True).run(task, save, report)
        rows, summary = check_outcome(outcome)
        result = asdict(RunResult(write_rows(study.rows(task.id), rows), rows_digest(rows), summary))
    made_by = {"version": version(), "machine": machine(), "processor_seconds": processor_seconds()}
    _send(messages, {"result": result, **made_by})


def _send(messages: IO[str], message: dict[str, Any]) -> None:
    print(json.dumps(message), file=messages, flush=True)


def _exit_with(lifeline: IO[bytes]) -> None:
    lifeline.read()
    _exit_group()


def _exit_group() -> NoReturn:
    """End this process and those that it started."""
    if os.getpgrp() == os.getpid():  # as `LocalExecutor` starts it
        os.killpg(0, signal.SIGKILL)
    os._exit(EXIT_ORPHANED)


def run_worker() -> NoReturn:
    """Execute one run in this process: read it from standard input, write messages as lines of JSON to standard output.

    Standard input stays open while the coordinator lives. When it closes, the worker kills itself and every process
    that it started. All files are written atomically, so it can end at any time.
    """
    messages = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what a job prints goes to its log
    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_exit_with, args=(sys.stdin.buffer,), daemon=True).start()
    if request["nice"]:
        os.nice(request["nice"])
    code = 0
    try:
        _make_run(Study(Path(request["folder"])), RunSpec(**request["task"]), messages)
    except BaseException as error:  # a job may also exit
        with suppress(OSError):  # the log cannot be written, on a full disk
            traceback.print_exc()
        reason = f"{type(error).__name__}: {one_line(error)}"
        try:
            _send(messages, {"reason": reason, "full_disk": is_full_disk(error)})
        except BrokenPipeError:  # the coordinator has ended
            _exit_group()
        code = 1
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code)  # without waiting for the thread that watches standard input


@dataclass(frozen=True)
class ExecutorFactory:
    """Makes the executor of a study.

    Attributes:
        workers: Default number of runs at a time.
        executor: Makes the executor from a study and a niceness, as `run_study` expects.
    """

    workers: int
    executor: Callable[[Study, int], Executor]


@contextmanager
def open_cluster(cluster: str | None = None, options: dict[str, Any] | None = None) -> Iterator[ExecutorFactory]:
    """Connect to a cluster for as long as the context lasts.

    Args:
        cluster: None: this machine. ``"ray"``: the Ray cluster that RAY_ADDRESS names or that runs on this machine, or
            else a new one; ``"ray://HOST:PORT"``: the one at that address. ``"slurm"``: array jobs.
        options: Options of Ray's actors or submitit's jobs.

    Raises:
        ValueError: The cluster is unknown, or this machine was given options.
        ImportError: A package is missing.
        ConnectionError: There is no Ray at that address.
    """
    engine, _, address = (cluster or "").partition("://")
    if engine not in ("", "ray", "slurm") or (address and engine != "ray"):
        raise ValueError(f"cluster must be ray, ray://HOST:PORT or slurm, got {cluster!r}")
    if engine == "ray":
        from flexicase._ray import RaySession
        from flexicase.experiments._ray import RayExecutor

        with closing(RaySession("runs on Ray need", address or None)) as session:
            yield ExecutorFactory(session.workers(), lambda study, nice: RayExecutor(study, nice, options))
    elif engine == "slurm":
        from flexicase.experiments._slurm import SlurmExecutor

        require_package("runs on Slurm need", "submitit", extra="cluster")
        yield ExecutorFactory(SLURM_WORKERS, lambda study, nice: SlurmExecutor(study, nice, options))
    elif options:
        raise ValueError(f"options are for a cluster, got {', '.join(options)} and no cluster")
    else:
        yield ExecutorFactory(usable_cores(), LocalExecutor)
