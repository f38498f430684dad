"""Runs on a Ray cluster: each gets its checkpoints from the coordinator and sends new ones and its rows back."""

from __future__ import annotations

import os
import queue
import shutil
import tempfile
import time
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from flexicase._files import TEMPORARY, FileLock, LockedError, write_atomically
from flexicase.experiments.executors import Event, Failed, Finished, LocalExecutor, Progressed, drain, queued_events
from flexicase.experiments.jobs import RunSpec
from flexicase.experiments.study import Study

WAIT_SECONDS = 1.0
STOP_SECONDS = 5.0
MAX_SAVE_SHARE = 0.05  # of the time of a run
VARIABLES = "FLEXICASE"
LOCK, OWNER_LOCK = "lock", "owner"
PREFIX = "flexicase-run-"


@dataclass(frozen=True)
class RemoteUpdate:
    """What an actor sends: events, and if they have changed, the contents of the saved files and of the rows."""

    events: list[Event]
    save: dict[str, bytes] | None = None
    rows: bytes | None = None


class RemoteRun:
    """The actor of one run: a process and a temporary folder on the actor's machine.

    ``save`` holds the checkpoints of an earlier attempt: contents by path. New ones are sent at most every
    ``save_seconds``.
    """

    def __init__(
        self, task: RunSpec, save: dict[str, bytes], nice: int, environment: dict[str, str], save_seconds: float
    ) -> None:
        os.environ.update(environment)
        self._scratch = ScratchFolder()
        self._study, self._id = Study(self._scratch.path), task.id
        self._study.make_folders()
        write_files(self._study.save(task.id), save)
        self._saved = file_versions(self._study.save(task.id))
        self._pause, self._next_save = save_seconds, time.monotonic() + save_seconds
        self._executor = LocalExecutor(self._study, nice)
        self._executor.start(task)

    def update(self) -> RemoteUpdate:
        """Wait up to a second for events, and return them with the files that changed."""
        events = [self._localize(event) for event in self._executor.events(WAIT_SECONDS)]
        rows = None
        if any(isinstance(event, Finished) for event in events):
            rows = self._study.rows(self._id).read_bytes()
        save = self._changed_save()
        if not self._executor.running:
            self._scratch.remove()
        return RemoteUpdate(events, save, rows)

    def end(self) -> None:
        """End the run and remove its files."""
        self._executor.stop()
        self._scratch.remove()

    def _localize(self, event: Event) -> Event:
        if isinstance(event, Failed) and event.full_disk:  # here, not where the study is
            return replace(event, reason=f"no space left on {os.uname().nodename}: {event.reason}", full_disk=False)
        return event

    def _changed_save(self) -> dict[str, bytes] | None:
        """The saved files, if a transfer is due and they changed before, but not while they were read."""
        if time.monotonic() < self._next_save and self._executor.running:
            return None
        start = time.monotonic()
        folder = self._study.save(self._id)
        before = file_versions(folder)
        if before == self._saved or not folder.exists():  # as after `end`
            return None
        try:
            files = read_files(folder)
        except OSError:
            return None
        if file_versions(folder) != before:
            return None
        self._saved = before
        self._next_save = time.monotonic() + max(self._pause, (time.monotonic() - start) / MAX_SAVE_SHARE)
        return files


def file_versions(folder: Path) -> dict[str, tuple[int, int, int]]:
    """The saved files of a run, by path: inode, size and time, which differ between versions of a file."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.name != LOCK and not path.name.endswith(TEMPORARY) and path.is_file():
            with suppress(FileNotFoundError):  # removed meanwhile
                state = path.stat()
                found[path.relative_to(folder).as_posix()] = (state.st_ino, state.st_size, state.st_mtime_ns)
    return found


def read_files(folder: Path) -> dict[str, bytes]:
    """The contents of a run's saved files, by path."""
    return {path: (folder / path).read_bytes() for path in file_versions(folder)}


def write_files(folder: Path, files: Mapping[str, bytes]) -> None:
    """Replace a run's saved files one by one, so that a whole checkpoint is there at any time."""
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / path, content)
    for path in file_versions(folder).keys() - files.keys():
        (folder / path).unlink()


class RayExecutor:
    """Makes runs on a Ray cluster, each in its own process with one thread, started by an actor.

    Rows and checkpoints come back through Ray and are written here. Environment variables that start with FLEXICASE are
    passed on; flexicase and your own jobs must be importable on every machine. The runs of a lost machine fail, and
    continue elsewhere from the last checkpoint received. Ray must be connected; ``options`` are those of its actors:
    ``{"num_gpus": 1}``.
    """

    def __init__(
        self, study: Study, nice: int = 0, options: dict[str, Any] | None = None, save_seconds: float = 5.0
    ) -> None:
        self.study, self.nice, self.save_seconds = study, nice, save_seconds
        self._options = {"num_cpus": 1, "max_restarts": 0, **(options or {})}
        self._actors: dict[str, Any] = {}
        self._queued: set[str] = set()  # runs whose actor has not answered yet
        self._messages: queue.SimpleQueue[tuple[str, Any, Future[Any]]] = queue.SimpleQueue()

    @property
    def running(self) -> list[str]:
        return list(self._actors)

    def start(self, task: RunSpec) -> None:
        """Start a run; it waits until the cluster has room."""
        import ray

        variables = {name: value for name, value in os.environ.items() if name.startswith(VARIABLES)}
        save = read_files(self.study.save(task.id))
        actor = ray.remote(RemoteRun).options(**self._options)
        self._actors[task.id] = actor.remote(task, save, self.nice, variables, self.save_seconds)
        self._queued.add(task.id)
        self._request_update(task.id)

    def events(self, timeout: float) -> list[Event]:
        found: list[Event] = []
        for run_id, actor, answer in drain(self._messages, timeout):
            if self._actors.get(run_id) is actor:
                found += self._handle(run_id, answer)
        return found or queued_events(self._queued)

    def kill(self, run_id: str) -> None:
        self._end([self._actors[run_id]])

    def stop(self) -> None:
        self._end(list(self._actors.values()))
        self._actors.clear()
        self._queued.clear()

    def _request_update(self, run_id: str) -> None:
        actor = self._actors[run_id]
        actor.update.remote().future().add_done_callback(lambda answer: self._messages.put((run_id, actor, answer)))

    def _handle(self, run_id: str, answer: Future[Any]) -> list[Event]:
        failure = answer.exception()
        self._queued.discard(run_id)
        if failure is not None:
            del self._actors[run_id]
            lines = str(failure).strip().splitlines() or [type(failure).__name__]
            return [Failed(run_id, f"its process or its machine was lost; Ray says: {lines[0]}")]
        update: RemoteUpdate = answer.result()
        if update.save is not None:
            write_files(self.study.save(run_id), update.save)
        if update.rows is not None:
            write_atomically(self.study.rows(run_id), update.rows)
        if all(isinstance(event, Progressed) for event in update.events):
            self._request_update(run_id)
        else:
            self._end([self._actors.pop(run_id)])
        return update.events

    def _end(self, actors: list[Any]) -> None:
        """Let actors remove their folders; kill those that do not answer."""
        import ray

        if actors and ray.is_initialized():
            ray.wait([actor.end.remote() for actor in actors], num_returns=len(actors), timeout=STOP_SECONDS)
            for actor in actors:
                ray.kill(actor)


class ScratchFolder:
    """A temporary folder, locked while its owner lives. Folders of owners that were killed are removed first."""

    def __init__(self) -> None:
        for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{OWNER_LOCK}"):
            try:
                with FileLock(lock, str(lock.parent)):
                    shutil.rmtree(lock.parent, ignore_errors=True)
            except (LockedError, OSError):  # in use, already removed, or of another user
                continue
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        hidden = self.path / f"{OWNER_LOCK}.new"
        self._lock = FileLock(hidden, str(self.path))
        self._lock.acquire()
        os.rename(hidden, self.path / OWNER_LOCK)  # others find the lock only when it is held

    def remove(self) -> None:
        """Remove the folder; may be called twice."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()
