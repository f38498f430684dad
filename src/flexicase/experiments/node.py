"""A run on another machine: it gets its task and what was saved before, and sends back all that shall be kept."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

from flexicase._files import TEMPORARY
from flexicase.experiments.executor import Event, Failed, Finished, LocalExecutor
from flexicase.experiments.jobs import Task
from flexicase.experiments.scratch import ScratchFolder
from flexicase.experiments.study import Study

WAIT_SECONDS = 1.0
SHARE_FOR_SAVING = 0.05
LOCK = "lock"


@dataclass(frozen=True)
class News:
    """What has become of a run since the last time.

    Attributes:
        events: What has happened, with no run's id but its own.
        save: All files that the run has saved, by path, if they have changed.
        rows: The content of its Parquet file, if it has finished.
    """

    events: list[Event]
    save: dict[str, bytes] | None = None
    rows: bytes | None = None


class NodeRun:
    """One run, in a process of its own and a temporary folder of this machine.

    Args:
        task: The run.
        save: What an earlier attempt has saved: contents by path.
        nice: By how much to lower its priority.
        environment: Variables to set.
        save_seconds: Seconds between one sending of what it saves and the next, at least.

    Example:
        >>> from flexicase.experiments import Task
        >>> from flexicase.experiments.node import NodeRun
        >>> task = Task("0", "gp", "digits", "lexicase", "", 0, {"population": 10, "generations": 1})
        >>> run, events = NodeRun(task), []
        >>> while not events or type(events[-1]).__name__ == "Moved":
        ...     news = run.news()
        ...     events += news.events
        >>> type(events[-1]).__name__, len(news.rows) > 0
        ('Finished', True)
    """

    def __init__(
        self,
        task: Task,
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
        self._saved = stamps(self._study.save(task.id))
        self._pause, self._next_save = save_seconds, time.monotonic() + save_seconds
        self._runner = LocalExecutor(self._study, 1, nice)
        self._runner.start(task)

    def news(self) -> News:
        """Wait a second at most for something to happen, and tell."""
        events = [self._told(event) for event in self._runner.events(WAIT_SECONDS)]
        rows = None
        if any(isinstance(event, Finished) for event in events):
            rows = self._study.rows(self._id).read_bytes()
        save = self._changed_save()
        if not self._runner.running:
            self._scratch.remove()
        return News(events, save, rows)

    def end(self) -> None:
        """End the run and leave nothing behind."""
        self._runner.stop()
        self._scratch.remove()

    def _told(self, event: Event) -> Event:
        if isinstance(event, Failed) and event.full_disk:  # here, not where the study is
            return replace(event, reason=f"no space left on {os.uname().nodename}: {event.reason}", full_disk=False)
        return event

    def _changed_save(self) -> dict[str, bytes] | None:
        """What the run has saved, if that has changed, is due, and did not change meanwhile."""
        if time.monotonic() < self._next_save and self._runner.running:
            return None
        start = time.monotonic()
        folder = self._study.save(self._id)
        before = stamps(folder)
        if before == self._saved or not folder.exists():  # as after `end`
            return None
        try:
            files = {path: (folder / path).read_bytes() for path in before}
        except OSError:
            return None
        if stamps(folder) != before:
            return None
        self._saved = before
        self._next_save = time.monotonic() + max(self._pause, (time.monotonic() - start) / SHARE_FOR_SAVING)
        return files


def stamps(folder: Path) -> dict[str, tuple[int, int, int]]:
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
    return {path: (folder / path).read_bytes() for path in stamps(folder)}


def write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Write files by path below a folder."""
    for path, content in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
