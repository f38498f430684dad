"""Jobs for the tests of studies, and what several test modules use.

`Walk` is a random walk in steps, which saves after each. The environment variable FLEXICASE_TEST_TROUBLE makes
something go wrong inside the worker's process, once per run. `Odd` does what a job should not: the problem says what.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from flexicase._files import write_atomically
from flexicase.experiments import JobResult, Monitor, Progress, export_study

KIND = "tests.experiments._helpers:Walk"
TROUBLE, VISITS = "FLEXICASE_TEST_TROUBLE", "FLEXICASE_TEST_VISITS"
PROBLEMS = ("line", "ray")


class WalkSettings(BaseModel):
    model_config = ConfigDict(extra="forbid")

    length: int = 5
    pause: float = 0.0
    padding: int = 0


class Walk:
    """Sums of random steps; those of a ray do not go below zero."""

    settings = WalkSettings

    def check(self, problem, method):
        if problem not in PROBLEMS:
            raise ValueError(f"problem must be one of {', '.join(PROBLEMS)}, got {problem!r}")

    def run(self, task, save, report):
        settings = WalkSettings(**task.settings)
        path = np.load(save / "walk.npy").tolist() if (save / "walk.npy").exists() else []
        while len(path) < settings.length:
            here = (path[-1] if path else 0.0) + np.random.default_rng([task.seed, len(path)]).normal()
            path.append(max(here, 0.0) if task.problem == "ray" else here)
            _visit(task.id, len(path))  # before it is saved: who is killed in between makes this step again
            _save(save, path, settings.padding)
            report(Progress(len(path), settings.length, f"at {path[-1]:.2f}"))
            trouble = os.environ.get(TROUBLE)
            if trouble is not None:
                TROUBLES[trouble](task, save, len(path))
            time.sleep(settings.pause)
        columns = {
            "step": np.arange(settings.length),
            "position": np.array(path),
            "positive": np.array(path) > 0,
            "seconds": np.random.default_rng().random(settings.length),
        }
        return JobResult(columns, {"success": path[-1] > 0, "last": path[-1], "words": f'{task.method}, "so\nto say"'})


def _save(save: Path, path: list[float], padding: int) -> None:
    if padding:
        write_atomically(save / "padding", os.urandom(padding))
    with open(save / "walk.tmp", "wb") as file:
        np.save(file, np.array(path))
    os.replace(save / "walk.tmp", save / "walk.npy")


def _visit(run_id: str, step: int) -> None:
    if VISITS in os.environ:
        with open(Path(os.environ[VISITS]) / run_id, "a", encoding="utf-8") as file:
            file.write(f"{step} {os.getpid()}\n")


def die(task, save, step):
    """The worker is killed after its third step."""
    if step == 3 and _first_time(save):
        os.kill(os.getpid(), signal.SIGKILL)


def always_die(task, save, step):
    """Seed 1 dies at every attempt."""
    if task.seed == 1:
        os.kill(os.getpid(), signal.SIGKILL)


def fail(task, save, step):
    if step == 2 and _first_time(save):
        raise RuntimeError("a passing weakness")


def die_writing(task, save, step):
    """The worker is killed when half of its Parquet file is on the disk."""
    if step == 1 and _first_time(save):
        real = os.fsync

        def fsync(handle):
            half_written = (save.parents[1] / "rows").glob(f"{task.id}*.partial")
            if os.fstat(handle).st_ino in {path.stat().st_ino for path in half_written}:
                os.ftruncate(handle, os.fstat(handle).st_size // 2)
                os.kill(os.getpid(), signal.SIGKILL)
            real(handle)

        os.fsync = fsync


def die_before_telling(task, save, step):
    """The worker is killed when its Parquet file is complete, before it can say so."""
    if step == 1 and _first_time(save):
        real = os.replace

        def replace(source, target):
            real(source, target)
            if str(target).endswith(".parquet"):
                os.kill(os.getpid(), signal.SIGKILL)

        os.replace = replace


def hang(task, save, step):
    if step == 2 and _first_time(save):
        time.sleep(600)


def hang_until_saved(task, save, step):
    """As `hang`, with a file as the mark, and time for it to be sent away."""
    if step == 2 and not (save / "hung").exists():
        (save / "hung").touch()
        time.sleep(600)


def leave_child(task, save, step):
    """A process that the run has forked outlives it, and holds everything that was open."""
    if step == 2 and _first_time(save):
        _fork(task)


def leave_session(task, save, step):
    """As `leave_child`, in a session of its own, where no signal for the run's group finds it."""
    if step == 2 and _first_time(save):
        _fork(task, os.setsid)


def die_with_child(task, save, step):
    """The worker is killed while a process pool works for it."""
    if step == 2 and _first_time(save):
        _fork(task)
        os.kill(os.getpid(), signal.SIGKILL)


def hang_with_child(task, save, step):
    if step == 2 and _first_time(save):
        _fork(task)
        time.sleep(600)


def _fork(task, first=lambda: None):
    child = os.fork()
    if child == 0:
        first()
        _visit(task.id, 0)
        time.sleep(100)
        os._exit(0)


def find_no_space(task, save, step):
    if step == 2 and _first_time(save):
        raise OSError(errno.ENOSPC, "No space left on device")


def talk(task, save, step):
    print("step", step)


def die_of_much_to_say(task, save, step):
    os.ftruncate(2, 2**37)  # with holes, 128 GB: a log that was written for days
    os.write(2, b"\nlast words\n")
    always_die(task, save, step)


def _first_time(save: Path) -> bool:
    try:
        os.mkdir(save / "trouble")
    except FileExistsError:
        return False
    return True


TROUBLES = {
    function.__name__: function
    for function in (
        *(die, always_die, die_of_much_to_say, fail, die_writing, die_before_telling, hang, hang_until_saved),
        *(find_no_space, talk, leave_child, leave_session, die_with_child, hang_with_child),
    )
}


def study_text(name="walks", seeds=2, **settings) -> str:
    """The TOML of a study of walks."""
    lines = [f"{key} = {value}" for key, value in settings.items()]
    return "\n".join(
        [
            f'name = "{name}"',
            f'kind = "{KIND}"',
            'problems = ["line"]',
            'methods = ["short", "long"]',
            f"seeds = {seeds}",
            "[settings]",
            *lines,
        ]
    )


DETERMINED = ("runs.parquet", "rows.parquet", "study.toml", "manifest.json")


class Notes(Monitor):
    """Keeps what it is told."""

    def __init__(self):
        self.notes = []

    def on_message(self, text):
        self.notes.append(text)


def results(study):
    """The bytes of what an export says about the study itself."""
    exported = export_study(study, study.folder / "results")
    return {name: (exported.folder / name).read_bytes() for name in DETERMINED}


ODD_ROWS = {"step": np.arange(3), "seconds": np.zeros(3)}
SURROGATE = "na\udcffme"


class OddSettings(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SilentError(Exception):
    def __str__(self):
        raise RuntimeError("no words")


def throw(error):
    raise error


#: What a run reports before it ends.
ODD_PROGRESS = {
    "surrogate note": Progress(1, 3, SURROGATE),
    "markup note": Progress(1, 3, "[/b] [bold]"),
    "terminal note": Progress(1, 3, "\x1b[2J\r\nend" + "x" * 10_000),
    "numpy step": Progress(np.int64(1), np.int64(3)),
    "huge step": Progress(2**63, 2**63),
    "no step": Progress("1", 3),
}
#: What a run ends with.
ODD_ENDS = {
    "surrogate error": lambda: throw(ValueError(SURROGATE)),
    "surrogate file": lambda: throw(OSError(2, "No such file", SURROGATE)),
    "silent error": lambda: throw(SilentError()),
    "exit": lambda: sys.exit(7),
    "seed in summary": lambda: JobResult(ODD_ROWS, {"seed": 0}),
    "state in summary": lambda: JobResult(ODD_ROWS, {"state": "done"}),
    "id in rows": lambda: JobResult({"id": np.arange(3)}, {}),
    "no rows": lambda: JobResult({"step": np.arange(0)}, {}),
    "list in summary": lambda: JobResult(ODD_ROWS, {"last": [1]}),
    "huge summary": lambda: JobResult(ODD_ROWS, {"last": 2**63}),
    "numpy summary": lambda: JobResult(ODD_ROWS, {"last": np.float64(1.5), "success": np.bool_(True)}),
    "surrogate summary": lambda: JobResult(ODD_ROWS, {"words": SURROGATE}),
    "other type": lambda: JobResult({**ODD_ROWS, "step": np.arange(3.0)}, {}),
    "other column": lambda: JobResult({**ODD_ROWS, "more": np.arange(3)}, {}),
    "other summary": lambda: JobResult(ODD_ROWS, {"success": "yes"}),
}


class Odd:
    settings = OddSettings

    def check(self, problem, method):
        pass

    def run(self, task, save, report):
        report(ODD_PROGRESS.get(task.problem, Progress(1, 3)))
        return ODD_ENDS.get(task.problem, lambda: JobResult(ODD_ROWS, {"success": True}))()


def odd_study_text(problems) -> str:
    """The TOML of a study of odd runs."""
    kind = "tests.experiments._helpers:Odd"
    return f'name = "odd"\nkind = "{kind}"\nproblems = {list(problems)}\nmethods = ["a"]\nseeds = 1'
