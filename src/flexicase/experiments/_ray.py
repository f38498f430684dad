"""A run on another machine: it gets its task and what was saved before, and sends back all that shall be kept."""

from __future__ import annotations

import os
import queue
import shutil
import tempfile
import time
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from flexicase._files import TEMPORARY, FileLock, LockedError, write_atomically
from flexicase.experiments.executors import Event, Failed, Finished, LocalExecutor, Progressed, queued_events
from flexicase.experiments.jobs import RunSpec
from flexicase.experiments.study import Study

WAIT_SECONDS = 1.0
SHARE_FOR_SAVING = 0.05
LOCK = "lock"


@dataclass(frozen=True)
class RemoteUpdate:
    """What has become of a run since the last time.

    Attributes:
        events: What has happened, with no run's id but its own.
        save: All files that the run has saved, by path, if they have changed.
        rows: The content of its Parquet file, if it has finished.
    """

    events: list[Event]
    save: dict[str, bytes] | None = None
    rows: bytes | None = None


class RemoteRun:
    """One run, in a process of its own and a temporary folder of this machine.

    Args:
        task: The run.
        save: What an earlier attempt has saved: contents by path.
        nice: By how much to lower its priority.
        environment: Variables to set.
        save_seconds: Seconds between one sending of what it saves and the next, at least.

    Example:
        >>> from flexicase.experiments import RunSpec
        >>> from flexicase.experiments._ray import RemoteRun
        >>> task = RunSpec("0", "gp", "digits", "lexicase", "", 0, {"population": 10, "generations": 1})
        >>> run, events = RemoteRun(task), []
        >>> while not events or type(events[-1]).__name__ == "Progressed":
        ...     news = run.news()
        ...     events += news.events
        >>> type(events[-1]).__name__, len(news.rows) > 0
        ('Finished', True)
    """

    def __init__(
        self,
        task: RunSpec,
        save: dict[str, bytes] | None = None,
        nice: int = 0,
        environment: dict[str, str] | None = None,
        save_seconds: float = 5.0,
    ) -> None:
        """Unpack and start."""
        os.environ.update(environment or {})
        self._scratch = ScratchFolder()
        self._study, self._id = Study(self._scratch.path), task.id
        self._study.make_folders()
        write_files(self._study.save(task.id), save or {})
        self._saved = file_versions(self._study.save(task.id))
        self._pause, self._next_save = save_seconds, time.monotonic() + save_seconds
        self._runner = LocalExecutor(self._study, 1, nice)
        self._runner.start(task)

    def news(self) -> RemoteUpdate:
        """Wait a second at most for something to happen, and tell."""
        events = [self._localize(event) for event in self._runner.events(WAIT_SECONDS)]
        rows = None
        if any(isinstance(event, Finished) for event in events):
            rows = self._study.rows(self._id).read_bytes()
        save = self._changed_save()
        if not self._runner.running:
            self._scratch.remove()
        return RemoteUpdate(events, save, rows)

    def end(self) -> None:
        """End the run and leave nothing behind."""
        self._runner.stop()
        self._scratch.remove()

    def _localize(self, event: Event) -> Event:
        if isinstance(event, Failed) and event.full_disk:  # here, not where the study is
            return replace(event, reason=f"no space left on {os.uname().nodename}: {event.reason}", full_disk=False)
        return event

    def _changed_save(self) -> dict[str, bytes] | None:
        """What the run has saved, if that has changed, is due, and did not change meanwhile."""
        if time.monotonic() < self._next_save and self._runner.running:
            return None
        start = time.monotonic()
        folder = self._study.save(self._id)
        before = file_versions(folder)
        if before == self._saved or not folder.exists():  # as after `end`
            return None
        try:
            files = {path: (folder / path).read_bytes() for path in before}
        except OSError:
            return None
        if file_versions(folder) != before:
            return None
        self._saved = before
        self._next_save = time.monotonic() + max(self._pause, (time.monotonic() - start) / SHARE_FOR_SAVING)
        return files


def file_versions(folder: Path) -> dict[str, tuple[int, int, int]]:
    """The files that a run has saved, with what tells one version of a file from the next."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.name == LOCK or path.name.endswith(TEMPORARY) or not path.is_file():
            continue
        try:
            state = path.stat()
        except FileNotFoundError:
            continue
        found[path.relative_to(folder).as_posix()] = (state.st_ino, state.st_size, state.st_mtime_ns)
    return found


def read_files(folder: Path) -> dict[str, bytes]:
    """What a run has saved: contents by path."""
    return {path: (folder / path).read_bytes() for path in file_versions(folder)}


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Write files by path below a folder."""
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)


VARIABLES = "FLEXICASE"
SECONDS_TO_END = 5.0


class RayExecutor:
    """Runs on a Ray cluster, each in a process of its own with one thread, beside an actor that sends what it saves.

    All that a run leaves comes back through Ray and is written here: its rows when it is done, what it saves every few
    seconds. Environment variables that start with FLEXICASE go along; flexicase, and jobs of your own, must be
    importable on every machine. If a machine is lost, its runs fail, and go on elsewhere from what came back last.

    Args:
        study: Where everything is kept.
        workers: How many at a time.
        nice: By how much to lower their priority.
        options: Options of the actors, as for Ray: ``{"num_gpus": 1}``.
        save_seconds: Seconds between one sending of what a run saves and the next, at least.
    """

    def __init__(
        self,
        study: Study,
        workers: int,
        nice: int = 0,
        options: dict[str, Any] | None = None,
        save_seconds: float = 5.0,
    ) -> None:
        """Remember; Ray must be connected."""
        self.study, self.workers, self.nice, self.save_seconds = study, workers, nice, save_seconds
        self._options = {"num_cpus": 1, "max_restarts": 0, **(options or {})}
        self._actors: dict[str, Any] = {}
        self._silent: set[str] = set()  # those whose actor has not answered yet
        self._news: queue.SimpleQueue[tuple[str, Any, Future[Any]]] = queue.SimpleQueue()

    @property
    def free(self) -> int:
        """How many more runs can be started now."""
        return self.workers - len(self._actors)

    @property
    def running(self) -> list[str]:
        """Ids of the runs that were started and have not ended."""
        return list(self._actors)

    def start(self, task: RunSpec) -> None:
        """Start a run; it waits until the cluster has room."""
        import ray

        variables = {name: value for name, value in os.environ.items() if name.startswith(VARIABLES)}
        save = read_files(self.study.save(task.id))
        maker = ray.remote(RemoteRun).options(**self._options)
        self._actors[task.id] = maker.remote(task, save, self.nice, variables, self.save_seconds)
        self._silent.add(task.id)
        self._ask(task.id)

    def events(self, timeout: float) -> list[Event]:
        """What has happened since the last call; waits for something to happen, at most ``timeout`` seconds."""
        found: list[Event] = []
        deadline = time.monotonic() + timeout
        while True:
            left = 0.0 if found else max(0.0, deadline - time.monotonic())
            try:
                run_id, actor, outcome = self._news.get(timeout=left) if left else self._news.get_nowait()
            except queue.Empty:
                return found or [*queued_events(self._silent)]
            if self._actors.get(run_id) is actor:
                found += self._heard(run_id, outcome)

    def kill(self, run_id: str) -> None:
        """End a run at once; it fails."""
        self._end([self._actors[run_id]])

    def stop(self) -> None:
        """End all runs; what they have sent stays."""
        self._end(list(self._actors.values()))
        self._actors.clear()
        self._silent.clear()

    def _ask(self, run_id: str) -> None:
        actor = self._actors[run_id]
        actor.news.remote().future().add_done_callback(partial(self._tell, run_id, actor))

    def _tell(self, run_id: str, actor: Any, outcome: Future[Any]) -> None:
        self._news.put((run_id, actor, outcome))

    def _heard(self, run_id: str, outcome: Future[Any]) -> list[Event]:
        failure = outcome.exception()
        self._silent.discard(run_id)
        if failure is not None:
            del self._actors[run_id]
            lines = str(failure).strip().splitlines() or [type(failure).__name__]
            return [Failed(run_id, f"its process or its machine was lost; Ray says: {lines[0]}")]
        news: RemoteUpdate = outcome.result()
        if news.save is not None:
            self._keep(run_id, news.save)
        if news.rows is not None:
            write_atomically(self.study.rows(run_id), news.rows)
        if all(isinstance(event, Progressed) for event in news.events):
            self._ask(run_id)
        else:
            self._end([self._actors.pop(run_id)])
        return news.events

    def _keep(self, run_id: str, files: dict[str, bytes]) -> None:
        """Put what a run has saved in the place of what was there, file by file: a whole checkpoint is always there."""
        save = self.study.save(run_id)
        for path, content in files.items():
            (save / path).parent.mkdir(parents=True, exist_ok=True)
            write_atomically(save / path, content)
        for path in file_versions(save).keys() - files.keys():
            (save / path).unlink()

    def _end(self, actors: list[Any]) -> None:
        """Let actors remove their folders; end those that do not answer."""
        import ray

        if actors and ray.is_initialized():
            ray.wait([actor.end.remote() for actor in actors], num_returns=len(actors), timeout=SECONDS_TO_END)
            for actor in actors:
                ray.kill(actor)


PREFIX = "flexicase-run-"
OWNER_LOCK = "owner"


class ScratchFolder:
    """A temporary folder of this machine, locked for as long as its owner lives.

    Folders whose owners have died without removing them are removed first.

    Attributes:
        path: Where it is.

    Example:
        >>> from flexicase.experiments._ray import ScratchFolder
        >>> scratch = ScratchFolder()
        >>> _ = (scratch.path / "notes").write_text("for a while")
        >>> scratch.remove()
        >>> scratch.path.exists()
        False
    """

    def __init__(self) -> None:
        """Remove what the dead have left, and make a folder."""
        _remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
        unseen = self.path / f"{OWNER_LOCK}.new"
        self._lock = FileLock(unseen, str(self.path))
        self._lock.acquire()
        os.rename(unseen, self.path / OWNER_LOCK)  # others see the lock only when it is held

    def remove(self) -> None:
        """Remove it and all that is in it; twice does no harm."""
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()


def _remove_abandoned() -> None:
    for lock in Path(tempfile.gettempdir()).glob(f"{PREFIX}*/{OWNER_LOCK}"):
        try:
            with FileLock(lock, str(lock.parent)):
                shutil.rmtree(lock.parent, ignore_errors=True)
        except (LockedError, OSError):  # in use, gone meanwhile, or somebody else's
            continue
