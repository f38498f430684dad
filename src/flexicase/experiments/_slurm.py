"""Runs as jobs of a Slurm cluster, submitted as arrays through submitit; all machines see the study's folder."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from flexicase._files import is_full_disk, write_atomically, write_quickly
from flexicase.experiments.executors import Event, Failed, Progressed, queued_events, run_to_end
from flexicase.experiments.jobs import Progress, RunSpec, one_line
from flexicase.experiments.study import Study

POLL_SECONDS = 0.2
CHECK_SECONDS = 60.0  # between thorough checks
RESULT_SECONDS = 15.0  # that a job has to leave its result after it ended
UNKNOWN_SECONDS = 600.0  # after which a job that Slurm does not know is lost
RESUBMIT_SECONDS = 30.0
PROGRESS = "progress.json"
JOBS = "jobs.txt"


@dataclass
class _Job:
    """A submitted job, and the times at which it ended, was killed, and was last known."""

    job: Any
    progress: Progress | None = None
    ended: float | None = None
    killed: float | None = None
    unknown: float | None = None


class SlurmExecutor:
    """Makes runs as jobs of a batch system; runs that start together form one array.

    A job writes to the study's folder as a local run does, and writes its progress beside its checkpoints. Its result
    comes back through submitit. Jobs that a killed coordinator left in the queue are cancelled first.

    Args:
        study: The study to write to; every machine must find it at the same path.
        nice: Added to the niceness of the processes.
        options: submitit's parameters of the jobs: ``{"timeout_min": 600, "slurm_partition": "long"}``.
        cluster: ``"slurm"``, or ``"local"``: processes of this machine, which submitit offers for tests.
    """

    def __init__(
        self, study: Study, nice: int = 0, options: dict[str, Any] | None = None, cluster: str = "slurm"
    ) -> None:
        import submitit

        self.study, self.nice = study, nice
        self._folder = (study.folder / cluster).resolve()
        try:
            self._submitter = submitit.AutoExecutor(self._folder, cluster=cluster)
        except RuntimeError as cause:
            raise OSError(f"Slurm not found: {cause}") from cause
        self._submitter.update_parameters(
            **{"timeout_min": 24 * 60, "cpus_per_task": 1, "name": f"flexicase-{study.folder.name}", **(options or {})}
        )
        self._waiting: list[RunSpec] = []
        self._jobs: dict[str, _Job] = {}
        self._next_submission = 0.0
        self._next_check = time.monotonic() + CHECK_SECONDS
        listed = self._folder / JOBS
        if listed.exists():
            job_class = submitit.SlurmJob if cluster == "slurm" else submitit.LocalJob
            for job_id in listed.read_text(encoding="utf-8").split():
                job_class(self._folder, job_id).cancel(check=False)
            listed.unlink()

    @property
    def running(self) -> list[str]:
        return [*self._jobs, *(task.id for task in self._waiting)]

    def start(self, task: RunSpec) -> None:
        """Start a run, in the array that the next call of `events` submits."""
        with suppress(FileNotFoundError):
            (self.study.save(task.id) / PROGRESS).unlink()
        self._waiting.append(task)

    def events(self, timeout: float) -> list[Event]:
        found = self._submit()
        deadline = time.monotonic() + timeout
        while not found and not (found := self._poll()) and time.monotonic() < deadline:
            time.sleep(POLL_SECONDS)
        queued = [run_id for run_id, job in self._jobs.items() if job.progress is None and job.unknown is None]
        return found or queued_events([*queued, *(task.id for task in self._waiting)])

    def kill(self, run_id: str) -> None:
        """Cancel a run; it fails when the batch system reports its end, or a little later."""
        job = self._jobs[run_id]
        job.job.cancel(check=False)
        job.killed = job.killed or time.monotonic()

    def stop(self) -> None:
        self._waiting.clear()
        for job in self._jobs.values():
            job.job.cancel(check=False)
        (self._folder / JOBS).unlink(missing_ok=True)

    def _submit(self) -> list[Event]:
        """Submit the waiting runs; if that fails, they fail, and the next submission waits a little."""
        if not self._waiting or time.monotonic() < self._next_submission:
            return []
        folder = str(self.study.folder.resolve())
        tasks, self._waiting = self._waiting, []
        try:
            with self._submitter.batch():
                jobs = [self._submitter.submit(make_on_node, folder, task, self.nice) for task in tasks]
        except Exception as error:
            self._next_submission = time.monotonic() + RESUBMIT_SECONDS
            reason = f"could not be submitted: {one_line(error)}"
            return [Failed(task.id, reason, is_full_disk(error)) for task in tasks]
        self._jobs.update({task.id: _Job(job) for task, job in zip(tasks, jobs, strict=True)})
        listed = "".join(f"{job.job.job_id}\n" for job in self._jobs.values())
        write_atomically(self._folder / JOBS, listed.encode())
        return []

    def _poll(self) -> list[Event]:
        found: list[Event] = []
        thorough = time.monotonic() >= self._next_check
        if thorough:
            self._next_check = time.monotonic() + CHECK_SECONDS
        for run_id, job in list(self._jobs.items()):
            done = job.job.done(force_check=thorough)
            progress = read_progress(self.study, run_id)
            if progress is not None and progress != job.progress:
                job.progress, job.unknown = progress, None
                found.append(Progressed(run_id, progress))
            if _has_result(job) if done else _is_lost(job, thorough):
                del self._jobs[run_id]
                found.append(self._last_event(run_id, job.job))
        return found

    def _last_event(self, run_id: str, job: Any) -> Event:
        if not job.paths.result_pickle.exists():
            return Failed(run_id, f"job {job.job_id} was lost, {job.state}; its output is in {self._folder}")
        try:
            event: Event = job.result()
        except Exception as failure:  # of the job, or of reading its result
            lines = str(failure).strip().splitlines() or [type(failure).__name__]
            return Failed(run_id, f"job {job.job_id} failed: {one_line(lines[-1])}; its output is in {self._folder}")
        for path in self._folder.glob(f"{job.job_id}_*"):
            path.unlink()
        return event


def _has_result(job: _Job) -> bool:
    """Whether a job that ended has left its result, or had the time to: file systems may be slow."""
    job.ended = job.ended or time.monotonic()
    return job.job.paths.result_pickle.exists() or time.monotonic() > job.ended + RESULT_SECONDS


def _is_lost(job: _Job, thorough: bool) -> bool:
    """Whether a job did not end after it was killed, or Slurm has not known it for long."""
    now = time.monotonic()
    if job.killed is not None and now > job.killed + RESULT_SECONDS:
        return True
    if job.job.state.upper() != "UNKNOWN" or (thorough and is_queued(job.job.job_id)):
        job.unknown = None
        return False
    job.unknown = job.unknown or now
    if now <= job.unknown + UNKNOWN_SECONDS:
        return False
    job.job.cancel(check=False)  # in case it exists after all
    return True


def is_queued(job_id: str) -> bool:
    """Whether a job that Slurm's accounting does not know is in the queue."""
    try:
        asked = subprocess.run(["squeue", "-h", "-j", job_id], capture_output=True, text=True, timeout=60, check=False)
    except FileNotFoundError:
        return False
    except (OSError, subprocess.TimeoutExpired):
        return True  # no answer
    return bool(asked.stdout.strip()) if asked.returncode == 0 else "Invalid job id" not in asked.stderr


def make_on_node(folder: str, task: RunSpec, nice: int) -> Event:
    """Make a run in a process of this machine, writing to the study's folder."""
    study = Study(Path(folder))
    path = study.save(task.id) / PROGRESS
    path.parent.mkdir(parents=True, exist_ok=True)

    def write_progress(progress: Progress) -> None:
        write_quickly(path, json.dumps(progress))  # the run itself reports a full disk

    write_progress(Progress(0, 0, "started"))
    return run_to_end(study, task, nice, write_progress)


def read_progress(study: Study, run_id: str) -> Progress | None:
    """The progress of a run on another machine; None if it has reported none."""
    try:
        return Progress(*json.loads((study.save(run_id) / PROGRESS).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
