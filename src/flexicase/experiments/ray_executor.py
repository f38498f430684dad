"""Runs on a Ray cluster, whose machines need not share any files with this one."""

from __future__ import annotations

import os
import queue
import time
from concurrent.futures import Future
from functools import partial
from typing import Any

from flexicase._files import write_atomically
from flexicase.experiments.executor import Event, Failed, Moved, waiting
from flexicase.experiments.jobs import Task
from flexicase.experiments.node import News, NodeRun, read_files, stamps
from flexicase.experiments.study import Study

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

    def start(self, task: Task) -> None:
        """Start a run; it waits until the cluster has room."""
        import ray

        variables = {name: value for name, value in os.environ.items() if name.startswith(VARIABLES)}
        save = read_files(self.study.save(task.id))
        maker = ray.remote(NodeRun).options(**self._options)
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
                return found or [*waiting(self._silent)]
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
        news: News = outcome.result()
        if news.save is not None:
            self._keep(run_id, news.save)
        if news.rows is not None:
            write_atomically(self.study.rows(run_id), news.rows)
        if all(isinstance(event, Moved) for event in news.events):
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
        for path in stamps(save).keys() - files.keys():
            (save / path).unlink()

    def _end(self, actors: list[Any]) -> None:
        """Let actors remove their folders; end those that do not answer."""
        import ray

        if actors and ray.is_initialized():
            ray.wait([actor.end.remote() for actor in actors], num_returns=len(actors), timeout=SECONDS_TO_END)
            for actor in actors:
                ray.kill(actor)
