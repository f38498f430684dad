"""Runs as jobs of a Slurm cluster, submitted as arrays through submitit; all machines see the study's folder."""

from __future__ import annotations

import json
import os
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from flexicase._checks import require_package
from flexicase._files import write_atomically
from flexicase.experiments._outcomes import one_line
from flexicase.experiments._worker import FULL_DISK
from flexicase.experiments.executors import Event, Failed, LocalExecutor, Progressed, queued_events
from flexicase.experiments.jobs import Progress, RunSpec
from flexicase.experiments.study import Study

POLL_SECONDS = 0.2
SECONDS_BETWEEN_CHECKS = 60.0
SECONDS_TO_SPEAK = 15.0
SECONDS_UNKNOWN = 600.0
SECONDS_TO_RESUBMIT = 30.0
UNKNOWN = "UNKNOWN"
PROGRESS = "progress.json"
JOBS = "jobs.txt"


class SlurmExecutor:
    """Runs as jobs of a batch system, all that are started together in one array.

    A job writes to the study's folder what a run writes on this machine, and beside it how far it is; its last word
    comes back through submitit. The ledger is not its business.

    Args:
        study: Where everything is kept; every machine must find it at the same path.
        workers: How many runs may be submitted at a time.
        nice: By how much to lower their priority on their machine.
        options: Parameters of the jobs, as for submitit: ``{"timeout_min": 600, "slurm_partition": "long"}``.
        cluster: ``"slurm"``, or ``"local"``: processes of this machine, which submitit has for trying things out.

    Raises:
        ImportError: submitit is not installed.
        OSError: There is no Slurm here.
    """

    def __init__(
        self,
        study: Study,
        workers: int,
        nice: int = 0,
        options: dict[str, Any] | None = None,
        cluster: str = "slurm",
    ) -> None:
        """Cancel what a coordinator that was killed has left in the queue."""
        require_package("runs on Slurm need", "submitit", extra="cluster")
        import submitit

        self.study, self.workers, self.nice = study, workers, nice
        self._folder = (study.folder / cluster).resolve()
        try:
            self._submitter = submitit.AutoExecutor(self._folder, cluster=cluster)
        except RuntimeError as cause:
            raise OSError(f"no Slurm here to submit runs to: {cause}") from cause
        self._submitter.update_parameters(
            **{"timeout_min": 24 * 60, "cpus_per_task": 1, "name": f"flexicase-{study.folder.name}", **(options or {})}
        )
        self._waiting: list[RunSpec] = []
        self._jobs: dict[str, Any] = {}
        self._progress: dict[str, Progress] = {}
        self._ended_at: dict[str, float] = {}
        self._killed_at: dict[str, float] = {}
        self._unknown_since: dict[str, float] = {}
        self._next_submission = 0.0
        self._next_check = time.monotonic() + SECONDS_BETWEEN_CHECKS
        self._cancel_leftovers()

    @property
    def free(self) -> int:
        """How many more runs can be started now."""
        return self.workers - len(self.running)

    @property
    def running(self) -> list[str]:
        """Ids of the runs that were started and have not ended."""
        return [*self._jobs, *(task.id for task in self._waiting)]

    def start(self, task: RunSpec) -> None:
        """Start a run, in the array that the next call of `events` submits."""
        with suppress(FileNotFoundError):
            (self.study.save(task.id) / PROGRESS).unlink()
        self._waiting.append(task)

    def events(self, timeout: float) -> list[Event]:
        """What has happened since the last call; waits for something to happen, at most ``timeout`` seconds."""
        found = self._submit()
        deadline = time.monotonic() + timeout
        while not found and not (found := self._look()) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        queued = self._jobs.keys() - self._progress.keys() - self._unknown_since.keys()
        return found or [*queued_events(queued), *queued_events(task.id for task in self._waiting)]

    def kill(self, run_id: str) -> None:
        """End a run; it fails when the batch system says that it is gone, or a little later."""
        self._jobs[run_id].cancel(check=False)
        self._killed_at.setdefault(run_id, time.monotonic())

    def stop(self) -> None:
        """End all runs; what they have saved stays."""
        self._waiting.clear()
        for job in self._jobs.values():
            job.cancel(check=False)
        (self._folder / JOBS).unlink(missing_ok=True)

    def _submit(self) -> list[Event]:
        """Submit what waits; if that fails, those runs fail, and the next submission waits a little."""
        if not self._waiting or time.monotonic() < self._next_submission:
            return []
        folder = str(self.study.folder.resolve())
        tasks, self._waiting = self._waiting, []
        try:
            with self._submitter.batch():
                jobs = [self._submitter.submit(make_on_node, folder, task, self.nice) for task in tasks]
        except Exception as error:
            self._next_submission = time.monotonic() + SECONDS_TO_RESUBMIT
            full = isinstance(error, OSError) and error.errno in FULL_DISK
            return [Failed(task.id, f"could not be submitted: {one_line(error)}", full) for task in tasks]
        self._jobs.update({task.id: job for task, job in zip(tasks, jobs, strict=True)})
        write_atomically(self._folder / JOBS, "".join(f"{job.job_id}\n" for job in self._jobs.values()).encode())
        return []

    def _look(self) -> list[Event]:
        found: list[Event] = []
        thorough = time.monotonic() >= self._next_check
        if thorough:
            self._next_check = time.monotonic() + SECONDS_BETWEEN_CHECKS
        for run_id, job in list(self._jobs.items()):
            done = job.done(force_check=thorough)
            progress = read_progress(self.study, run_id)
            if progress is not None and progress != self._progress.get(run_id):
                self._progress[run_id] = progress
                found.append(Progressed(run_id, progress))
                self._unknown_since.pop(run_id, None)
            if (done and self._has_spoken(run_id, job)) or (not done and self._is_lost(run_id, job, thorough)):
                found.append(self._ended(run_id, job))
        return found

    def _is_lost(self, run_id: str, job: Any, thorough: bool) -> bool:
        """Whether a job has not ended after it was killed, or the batch system has not known it for long."""
        now = time.monotonic()
        if now > self._killed_at.get(run_id, now) + SECONDS_TO_SPEAK:
            return True
        if job.state.upper() != UNKNOWN or (thorough and is_queued(job.job_id)):
            self._unknown_since.pop(run_id, None)
            return False
        if now <= self._unknown_since.setdefault(run_id, now) + SECONDS_UNKNOWN:
            return False
        job.cancel(check=False)  # if it should be there after all
        return True

    def _has_spoken(self, run_id: str, job: Any) -> bool:
        """Whether a job that has ended has left its result, or had the time to: file systems may be slow."""
        self._ended_at.setdefault(run_id, time.monotonic())
        return job.paths.result_pickle.exists() or time.monotonic() > self._ended_at[run_id] + SECONDS_TO_SPEAK

    def _ended(self, run_id: str, job: Any) -> Event:
        del self._jobs[run_id]
        self._progress.pop(run_id, None)
        for moments in (self._ended_at, self._killed_at, self._unknown_since):
            moments.pop(run_id, None)
        if not job.paths.result_pickle.exists():
            return Failed(run_id, f"job {job.job_id} was lost, {job.state}; its output is in {self._folder}")
        try:
            event: Event = job.result()
        except Exception as failure:  # of the job, or of reading what it has left
            lines = str(failure).strip().splitlines() or [type(failure).__name__]
            return Failed(run_id, f"job {job.job_id} failed: {one_line(lines[-1])}; its output is in {self._folder}")
        for path in self._folder.glob(f"{job.job_id}_*"):
            path.unlink()
        return event

    def _cancel_leftovers(self) -> None:
        import submitit

        listed = self._folder / JOBS
        if listed.exists():
            job_class = submitit.SlurmJob if self._submitter.cluster == "slurm" else submitit.LocalJob
            for job_id in listed.read_text(encoding="utf-8").split():
                job_class(self._folder, job_id).cancel(check=False)
            listed.unlink()


def is_queued(job_id: str) -> bool:
    """Whether a job that accounting does not know, if there is accounting at all, is in the queue."""
    try:
        asked = subprocess.run(["squeue", "-h", "-j", job_id], capture_output=True, text=True, timeout=60, check=False)
    except FileNotFoundError:
        return False
    except (OSError, subprocess.TimeoutExpired):
        return True  # no answer
    return bool(asked.stdout.strip()) if asked.returncode == 0 else "Invalid job id" not in asked.stderr


def make_on_node(folder: str, task: RunSpec, nice: int) -> Event:
    """Make a run in a process of this machine, writing to the study's folder; gives how it ended.

    Args:
        folder: The study's folder.
        task: The run.
        nice: By how much to lower its priority.
    """
    study = Study(Path(folder))
    runner = LocalExecutor(study, 1, nice)
    study.save(task.id).mkdir(parents=True, exist_ok=True)
    _write_progress(study, Progressed(task.id, Progress(0, 0, "started")))
    runner.start(task)
    try:
        while True:
            for event in runner.events(1.0):
                if not isinstance(event, Progressed):
                    return event
                _write_progress(study, event)
    finally:
        runner.stop()


def _write_progress(study: Study, event: Progressed) -> None:
    path = study.save(event.run_id) / PROGRESS
    temporary = path.with_name(f"{PROGRESS}.{os.getpid()}")
    with suppress(OSError):  # a full disk is the run's own to tell
        temporary.write_text(json.dumps(event.progress), encoding="utf-8")
        temporary.replace(path)


def read_progress(study: Study, run_id: str) -> Progress | None:
    """How far a run on another machine is; None if it has not said so yet."""
    try:
        return Progress(*json.loads((study.save(run_id) / PROGRESS).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
